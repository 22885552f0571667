/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compose: text of the words of a format, with what breaks parsers between them: quotes that stay
 * open, backslashes, lines that are continued, long lines and blocks that are repeated. Bytes alone
 * hardly ever become two words that belong together.
 */
#pragma once

#include "fuzz.h"

#define MAX_RUN 6000u /* of one letter, or times a block is repeated */

struct composer {
	uint64_t seed;
	const char *const *words; /* the last is NULL */
	size_t n_words;
	char *text;
	size_t n, size;
};

static inline uint32_t draw(struct composer *c, uint32_t below)
{
	/* Knuth's MMIX; its high bits are the better ones. */
	c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(c->seed >> 33) % below;
}

static inline void put_bytes(struct composer *c, const char *bytes, size_t n)
{
	n = MIN(n, c->size - c->n);
	memmove(c->text + c->n, bytes, n);
	c->n += n;
}

static inline void put_run(struct composer *c, char letter)
{
	for (uint32_t i = draw(c, draw(c, 4) ? 80 : MAX_RUN); i > 0; i--)
		put_bytes(c, &letter, 1);
}

/* Of what is there the last bytes once more: blocks, and words that grow. */
static inline void put_again(struct composer *c)
{
	const size_t most = (size_t)1 + draw(c, draw(c, 2) ? 8 : 200), n = MIN(c->n, most);
	char block[200];

	memcpy(block, c->text + c->n - n, n);
	for (uint32_t i = draw(c, draw(c, 3) ? 8 : MAX_RUN); i > 0; i--)
		put_bytes(c, block, n);
}

static inline void compose(struct composer *c)
{
	static const char *const joints[] = { "\n", "\n", "\n", " ", "\t", "\\\n", "\\\n", "\\",
					      "\"", "'",  "=",  "#", ";",  ",",    ":",    "\r\n",
					      "0",  "-1", "*",  "[", "]",  "{",    "}",    "%" };

	for (uint32_t i = draw(c, draw(c, 4) ? 12 : 60); i > 0 && c->n < c->size; i--) {
		const uint32_t what = draw(c, 32);
		const char *joint = joints[draw(c, ELEMENTSOF(joints))];
		const char *word = c->words[draw(c, (uint32_t)c->n_words)];
		const char letter = (char)draw(c, 256);

		if (what < 18)
			put_bytes(c, word, strlen(word));
		else if (what < 28)
			put_bytes(c, joint, strlen(joint));
		else if (what < 29)
			put_bytes(c, &letter, 1);
		else if (what < 30)
			put_run(c, draw(c, 2) ? 'A' : ' ');
		else
			put_again(c);
	}
}

/*
 * Puts composed text into @data, anywhere or instead of it. Return: its size then.
 */
static inline size_t compose_into(uint8_t *data, size_t size, size_t max_size, uint32_t seed,
				  const char *const *words)
{
	struct composer c = { .seed = seed, .words = words, .size = max_size };
	_cleanup_(freep) char *text = malloc(max_size + 1);
	size_t from, to;

	require(text != NULL);
	c.text = text;
	while (words[c.n_words])
		c.n_words++;
	draw(&c, 2); /* near seeds give near first numbers */
	from = draw(&c, 3) ? draw(&c, (uint32_t)size + 1) : 0;
	to = draw(&c, 2) ? from : size;
	put_bytes(&c, (const char *)data, from);
	compose(&c);
	put_bytes(&c, (const char *)data + to, size - to);
	memcpy(data, c.text, c.n);
	return c.n;
}
