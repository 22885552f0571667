/* SPDX-License-Identifier: Apache-2.0 */
#include "config-errors.h"

#include <ctype.h>

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

	if (ADD(e->items, e->n_items, (struct config_error){ text, n_what, line, is_unknown }) <
	    0) {
		free(text);
		return -ENOMEM;
	}

	*n += 1;
	return !is_unknown && *n >= PROBLEMS_MAX ? -E2BIG : 0;
}

bool config_is_utf8(const char *text, size_t size)
{
	uint32_t c;

	for (size_t n; size > 0; text += n, size -= n) {
		n = utf8_decode(text, size, &c);
		if (n == 0)
			return false;
	}

	return true;
}

const char *config_quoted(const char *text, char buf[static QUOTED_LEN])
{
	const size_t room = QUOTED_LEN - sizeof("...");
	size_t at = 0;

	while (*text) {
		uint32_t c;
		size_t n = utf8_decode(text, SIZE_MAX, &c);
		bool is_plain = n > 0 && c >= ' ' && (c < 0x7f || c >= 0xa0);

		if (at + (is_plain ? n : 4) > room) {
			memcpy(buf + at, "...", sizeof("..."));
			return buf;
		}

		if (is_plain) {
			memcpy(buf + at, text, n);
			at += n;
			text += n;
		} else {
			at += (size_t)snprintf(buf + at, QUOTED_LEN - at, "\\x%02x",
					       (unsigned char)*text);
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
	const size_t distance = edit_distance(n->word, candidate), len = strlen(n->word);

	if (distance > 1 + len / 3)
		return;
	if (2 * distance > len &&
	    tolower((unsigned char)*n->word) != tolower((unsigned char)*candidate))
		return; /* "Foo" is no typo of "QoS" */
	if (n->best && distance >= n->distance)
		return;

	n->best = candidate;
	n->distance = distance;
}
