/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what an edit leaves of any text at all.
 *
 * The oracle: what edit_set() gives parses, has our value under our key and every other scalar of
 * the first two levels as it was; a second run changes nothing; edit_unset() of a key that was not
 * there before gives back the text byte for byte. What is refused has no result to look at.
 *
 * meson setup -Dfuzz=true with CC=clang, then: ./fuzz-kubelet -max_total_time=60 tests/fuzz-kubelet
 */
#include <signal.h>

#include "../src/doors/edit.h"
#include "../src/doors/yaml.h"

#define KEY "topologyManagerPolicy"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static bool is_ours(const struct yaml_item *item)
{
	return streq(item->key, KEY);
}

static void compare(const struct yaml_items *a, const struct yaml_items *b)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n_items; i++) {
		const struct yaml_item *x = &a->items[i], *y;

		if (is_ours(x))
			continue;
		while (k < b->n_items && is_ours(&b->items[k]))
			k++;
		require(k < b->n_items);
		y = &b->items[k++];
		require(streq(x->key, y->key) && streq(x->sub, y->sub) && streq(x->text, y->text));
		require(x->is_null == y->is_null && x->is_plain == y->is_plain &&
			x->is_listed == y->is_listed && x->is_odd == y->is_odd);
	}
	while (k < b->n_items && is_ours(&b->items[k]))
		k++;
	require(k == b->n_items);
}

static void look(const char *text, size_t size, const char *value)
{
	_cleanup_(yaml_items_done) struct yaml_items before = {}, after = {};
	_cleanup_(freep) char *out = NULL, *again = NULL, *back = NULL;
	const struct yaml_item *item;
	size_t out_size, again_size, back_size;
	int r;

	r = edit_set(text, size, KEY, value, &out, &out_size);
	if (r < 0)
		return;

	require(yaml_read(text, size, YAML_KUBELET, &before) == 0);
	require(yaml_read(out, out_size, YAML_KUBELET, &after) == 0);
	item = yaml_find(&after, KEY, "");
	require(item && !item->is_odd && !item->is_null && streq(item->text, value));
	compare(&before, &after);
	require((r == 0) == (out_size == size && memcmp(out, text, size) == 0));

	require(edit_set(out, out_size, KEY, value, &again, &again_size) == 0);
	require(again_size == out_size && memcmp(again, out, out_size) == 0);

	if (yaml_find(&before, KEY, ""))
		return;
	require(edit_unset(out, out_size, KEY, &back, &back_size) == 1);
	require(back_size == size && memcmp(back, text, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = malloc(size + 1);

	require(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	look(text, size, "best-effort");
	look(text, size, "0-1,8");
	return 0;
}
