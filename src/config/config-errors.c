/* SPDX-License-Identifier: Apache-2.0 */
#include "config-errors.h"

#include <ctype.h>
#include <stdarg.h>

void config_errors_done(struct config_errors *e)
{
	for (size_t i = 0; i < e->n_items; i++)
		free(e->items[i].text);
	free(e->items);
	*e = (struct config_errors){};
}

const char *config_errors_first(const struct config_errors *e)
{
	for (size_t i = 0; i < e->n_items; i++)
		if (!e->items[i].is_unknown)
			return e->items[i].text;

	return e->n_items > 0 ? e->items[0].text : NULL;
}

/* The place comes last: people read what is wrong, programs find "(FILE:LINE)" at the end. */
static char *what_and_where(const char *file, unsigned line, size_t *ret_what, const char *format,
			    va_list ap)
{
	_cleanup_(freep) char *what = NULL;
	char *text;
	int r;

	if (vasprintf(&what, format, ap) < 0) {
		what = NULL; /* vasprintf() leaves it undefined */
		return NULL;
	}

	r = line > 0 ? asprintf(&text, "%s (%s:%u)", what, file, line)
		     : asprintf(&text, "%s: %s", file, what);
	*ret_what = strlen(what);
	return r < 0 ? NULL : text;
}

int config_errors_add(struct config_errors *e, bool is_unknown, const char *file, unsigned line,
		      const char *format, ...)
{
	struct config_error *item;
	size_t *n = is_unknown ? &e->n_unknown : &e->n_malformed;
	size_t n_what;
	char *text;
	va_list ap;

	if (*n >= PROBLEMS_MAX) {
		*n += is_unknown;
		return is_unknown ? 0 : -E2BIG;
	}

	va_start(ap, format);
	text = what_and_where(file, line, &n_what, format, ap);
	va_end(ap);
	if (!text)
		return -ENOMEM;

	item = APPEND(e->items, e->n_items);
	if (!item) {
		free(text);
		return -ENOMEM;
	}

	*item = (struct config_error){ text, n_what, line, is_unknown };
	*n += 1;
	return !is_unknown && *n >= PROBLEMS_MAX ? -E2BIG : 0;
}

/* The bytes of the character at @text, 0 when it is none: RFC 3629, no surrogates, nothing
 * overlong. */
static size_t utf8_len(const unsigned char *text, size_t size)
{
	static const struct {
		unsigned char from, to, second_from, second_to;
		size_t len;
	} forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
		if (*text < forms[i].from || *text > forms[i].to)
			continue;
		if (forms[i].len > size)
			return 0;
		if (forms[i].len > 1 &&
		    (text[1] < forms[i].second_from || text[1] > forms[i].second_to))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if ((text[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}

	return 0;
}

bool config_is_utf8(const char *text, size_t size)
{
	while (size > 0) {
		size_t n = utf8_len((const unsigned char *)text, size);

		if (n == 0)
			return false;
		text += n;
		size -= n;
	}

	return true;
}

const char *config_quoted(const char *text, char buf[static QUOTED_LEN])
{
	const size_t room = QUOTED_LEN - sizeof("...");
	size_t at = 0;

	while (*text) {
		const unsigned char c = (unsigned char)*text;
		size_t n = utf8_len((const unsigned char *)text, strnlen(text, 4));
		bool is_control =
			c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)text[1] < 0xa0);
		bool is_plain = n > 0 && !is_control;

		if (at + (is_plain ? n : 4) > room) {
			memcpy(buf + at, "...", sizeof("..."));
			return buf;
		}

		if (is_plain) {
			memcpy(buf + at, text, n);
			at += n;
			text += n;
		} else {
			at += (size_t)snprintf(buf + at, QUOTED_LEN - at, "\\x%02x", c);
			text++;
		}
	}

	buf[at] = '\0';
	return buf;
}

static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n >= ELEMENTSOF(row))
		return SIZE_MAX;

	for (size_t k = 0; k <= n; k++)
		row[k] = k;

	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < n; k++) {
			size_t change = diagonal + (tolower((unsigned char)a[i]) !=
						    tolower((unsigned char)b[k]));

			diagonal = row[k + 1];
			row[k + 1] = MIN(change, 1 + MIN(diagonal, row[k]));
		}
	}

	return row[n];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t distance = edit_distance(n->word, candidate);

	if (distance > 1 + strlen(n->word) / 3)
		return;
	if (n->best && distance >= n->distance)
		return;

	n->best = candidate;
	n->distance = distance;
}
