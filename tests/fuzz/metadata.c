/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: what the metadata service says to the helper, what the helper says to us, and what was kept
 * of it in a file.
 *
 * What is accepted is written and read again as the same, and an address is that of a host inside
 * its prefix. What is reported of the rest has no control characters.
 */
#include <arpa/inet.h>

#include "../../src/metadata/metadata-apply.h"
#include "fuzz.h"

/* The helper is one file, and its main() the one thing of it that is not wanted here. */
int helper_main(void);
#define main helper_main
#include "../../src/metadata/metadata-main.c"
#undef main

static void require_same(const struct metadata *m)
{
	char line[METADATA_LINE_LEN];
	struct metadata again;

	require(m->state == METADATA_KNOWN);
	require(m->prefix_len >= 8 && m->prefix_len <= 30);
	for (uint32_t bit = 0; bit < m->prefix_len; bit++)
		require(((m->address[bit / 8] ^ m->gateway[bit / 8]) >> (7 - bit % 8) & 1) == 0);
	metadata_format(m, line, sizeof(line));
	require(metadata_parse(line, &again) == 0);
	require(memcmp(m->address, again.address, 4) == 0 &&
		memcmp(m->gateway, again.gateway, 4) == 0 && m->prefix_len == again.prefix_len);
}

/* As libcurl gives it: in pieces. */
static bool receive_answer(struct metadata_session *s, char *data, size_t size,
			   struct http_answer *a)
{
	const size_t half = size / 2;

	if (on_body(data, 1, half, a) != half ||
	    on_body(data + half, 1, size - half, a) != size - half) {
		require(a->is_too_large);
		return false;
	}
	if (take_body(s, NIC_PATH, a) == 0)
		return true;
	require_plain(s->problem);
	return false;
}

/* The answers to three questions, each ended by a byte 0xff. */
static void try_service(char *text, size_t size)
{
	struct http_answer answers[3] = {};
	struct metadata_session s = {};
	struct metadata m;
	char *end;

	for (size_t i = 0; i < ELEMENTSOF(answers); i++) {
		end = memchr(text, 0xff, size);
		if (!receive_answer(&s, text, end ? (size_t)(end - text) : size, &answers[i]))
			return;
		size -= end ? (size_t)(end + 1 - text) : size;
		text = end ? end + 1 : text;
	}
	if (metadata_make(answers[0].body, answers[1].body, answers[2].body, &m, s.problem,
			  sizeof(s.problem)) == 0)
		require_same(&m);
	else
		require_plain(s.problem);
}

/* As it is remembered. */
static void try_kept(const char *text)
{
	struct metadata m;

	if (metadata_parse(text, &m) == 0)
		require_same(&m);
}

/* One line of the helper. */
static void try_helper(const char *text)
{
	char line[2 * METADATA_LINE_LEN];
	struct metadata m;

	COPY(line, text);
	if (metadata_parse_answer(line, &m) < 0)
		return;
	require_plain(m.detail);
	if (m.state == METADATA_KNOWN)
		require_same(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size);
	struct metadata_session s = {};

	try_kept(text);
	try_helper(text);
	set_service(&s, text);
	metadata_is_mac(text);
	try_service(text, size);
	return 0;
}
