/* SPDX-License-Identifier: Apache-2.0 */
#include "text-index.h"

#define NONE UINT32_MAX

void text_index_done(struct text_index *x)
{
	free(x->places);
	*x = (struct text_index){};
}

static uint32_t hash(const char *text)
{
	const uint64_t h = hash_text(text);

	return (uint32_t)(h ^ h >> 32);
}

static void link_element(struct text_index *x, size_t room, uint32_t i)
{
	struct text_place *bucket = &x->places[x->places[i].hash & (room - 1)];

	x->places[i].next = NONE;
	if (bucket->first == NONE)
		bucket->first = i;
	else
		x->places[bucket->last].next = i;
	bucket->last = i;
}

static size_t room_of(size_t n)
{
	return n < 2 ? n + 1 : (size_t)1 << (64 - __builtin_clzll(n));
}

static int grow(struct text_index *x, size_t room)
{
	struct text_place *grown = reallocarray(x->places, room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	x->places = grown;
	for (size_t i = 0; i < room; i++)
		grown[i].first = NONE;
	for (size_t i = 0; i < x->n; i++)
		link_element(x, room, (uint32_t)i);
	return 0;
}

int text_index_add(struct text_index *x, const char *text)
{
	const size_t room = room_of(x->n);

	/* As APPEND() does: at each power of two. */
	if ((x->n & (x->n - 1)) == 0 && grow(x, room) < 0)
		return -ENOMEM;
	x->places[x->n].hash = hash(text);
	link_element(x, room, (uint32_t)x->n);
	x->n++;
	return 0;
}

size_t text_index_next(const struct text_index *x, size_t n, const char *text, size_t last)
{
	uint32_t h, i;

	if (x->n != n || n == 0)
		return last + 1 < n ? last + 1 : SIZE_MAX; /* SIZE_MAX + 1 is 0 */
	h = last == SIZE_MAX ? hash(text) : x->places[last].hash;
	i = last == SIZE_MAX ? x->places[h & (room_of(n - 1) - 1)].first : x->places[last].next;
	while (i != NONE && x->places[i].hash != h)
		i = x->places[i].next;
	return i == NONE ? SIZE_MAX : i;
}
