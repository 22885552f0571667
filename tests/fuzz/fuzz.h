/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what every target has. A target is one file here: LLVMFuzzerTestOneInput() takes any bytes,
 * and aborts when what came of them breaks a promise of a header.
 *
 * Linked with libFuzzer it looks for such bytes (tests/fuzz/run); linked with main.c it takes the
 * seeds and what was found before, which is a test of each build.
 */
#pragma once

#include <stdint.h>

#include "../../src/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool is_so)
{
	if (!is_so)
		abort();
}

/* A copy with a NUL behind it, as files are read. */
static inline char *text_of(const void *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/*
 * Several files in one input: "=== NAME", a newline, and the bytes up to the next such line. What
 * stands before the first is of no file.
 */
struct part {
	char *name;
	const char *data;
	size_t size;
};

/* The next one from *at on; its name is to be freed. */
static inline bool next_part(const char *text, size_t size, size_t *at, struct part *ret)
{
	static const char mark[] = "\n=== ";
	const size_t length = strlen(mark);
	const char *line, *end, *next;

	if (*at == 0 && is_prefix(text, mark + 1))
		line = text + length - 1;
	else if ((line = memmem(text + *at, size - *at, mark, length)))
		line += length;
	else
		return false;

	end = memchr(line, '\n', size - (size_t)(line - text));
	if (!end)
		return false;
	next = memmem(end, size - (size_t)(end - text), mark, length);
	ret->name = strndup(line, (size_t)(end - line));
	require(ret->name != NULL);
	ret->data = end + 1;
	*at = next ? (size_t)(next - text) : size;
	/* The newline of the mark is the last of the bytes before it. */
	ret->size = next ? (size_t)MAX(next + 1 - ret->data, 0) : size - (size_t)(ret->data - text);
	return true;
}

/* Nothing that a terminal obeys: control characters, in ASCII or as two bytes of UTF-8. */
static inline void require_plain(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		require(*p == '\n' || (*p >= ' ' && *p != 0x7f));
		require(*p != 0xc2 || p[1] >= 0xa0);
	}
}
