/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include <stdarg.h>

int sheet_open(struct sheet *s, int indent, int width)
{
	*s = (struct sheet){ .label = "", .indent = indent, .width = width };
	return stream_open(&s->out);
}

/* Characters that move the cursor become '?', the end of a line as well. */
static void plain(char *text)
{
	make_still(text);
	while ((text = strchr(text, '\n')))
		*text = '?';
}

static void add(struct sheet *s, const char *format, va_list ap)
{
	char text[SHEET_LINE_LEN];

	vsnprintf(text, sizeof(text), format, ap);
	plain(text);
	if (!s->is_begun)
		fprintf(s->out.f, "%*s%-*s", s->indent, "", s->width, s->label);
	fputs(text, s->out.f);
	s->is_begun = true;
	s->label = "";
}

void sheet_add(struct sheet *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(s, format, ap);
	va_end(ap);
}

void sheet_end(struct sheet *s)
{
	fputc('\n', s->out.f);
	s->is_begun = false;
}

void sheet_line(struct sheet *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(s, format, ap);
	va_end(ap);
	sheet_end(s);
}

/* Templates */

static const json_t *find(const json_t *d, const char *key)
{
	char name[64], *rest = NULL;

	COPY(name, key);
	for (char *part = strtok_r(name, ".", &rest); part; part = strtok_r(NULL, ".", &rest))
		d = json_object_get(d, part);
	return d;
}

static void get_value(const json_t *d, const char *key, char *ret, size_t size)
{
	const bool is_positive = *key == '+' || *key == '#';

	d = find(d, key + is_positive);
	*ret = '\0';
	if (json_is_string(d))
		copy(ret, size, json_string_value(d));
	else if (json_is_integer(d) && json_integer_value(d) >= is_positive)
		snprintf(ret, size, "%" JSON_INTEGER_FORMAT, json_integer_value(d));
	else if (json_array_size(d) > 0)
		snprintf(ret, size, "%zu", json_array_size(d));
	else if (json_is_true(d) || json_is_object(d))
		copy(ret, size, "yes");
	plain(ret);
}

static bool get_time(const json_t *d, const char *key, char *ret, size_t size)
{
	const time_t seconds = (time_t)json_integer_value(find(d, key));
	struct tm tm;

	return gmtime_r(&seconds, &tm) && strftime(ret, size, "%Y-%m-%d %H:%M UTC", &tm) > 0;
}

/* "key" or "key=word". */
static bool is_so(const json_t *d, char *condition)
{
	char *word = strchr(condition, '='), value[SHEET_LINE_LEN], other[SHEET_LINE_LEN];

	if (word)
		*word++ = '\0';
	get_value(d, condition, value, sizeof(value));
	if (!word)
		return *value;
	if (*word == '@')
		get_value(d, word + 1, other, sizeof(other));
	else
		COPY(other, word);
	return streq(value, other);
}

/* At "{". Return: it has a value */
static bool render_key(const json_t *d, const char **at, char *ret, size_t size)
{
	const size_t n = strcspn(*at + 1, "}");
	char key[64];

	snprintf(key, sizeof(key), "%.*s", (int)n, *at + 1);
	*at += n + 2;
	*ret = '\0';
	if (*key == '?' || *key == '!')
		return is_so(d, key + 1) == (*key == '?');
	if (*key == '@')
		return get_time(d, key + 1, ret, size);
	get_value(d, key, ret, size);
	return *ret;
}

static bool render(const json_t *d, const char **at, char *ret, size_t size);

/* Behind "[". */
static void render_choice(const json_t *d, const char **at, char *ret, size_t size)
{
	bool is_found = false;
	char text[SHEET_LINE_LEN];

	*ret = '\0';
	do {
		*at += **at == '|';
		if (render(d, at, text, sizeof(text)) && !is_found) {
			copy(ret, size, text);
			is_found = true;
		}
	} while (**at == '|');
	*at += **at == ']';
}

/* At "{*". Return: the list has an item */
static bool render_list(const json_t *d, const char **at, char *ret, size_t size)
{
	const size_t n_key = strcspn(*at + 2, ","), n = strcspn(*at, "}");
	const char *separator = *at + 3 + n_key, *template = *at + n + 1;
	char key[64], text[SHEET_LINE_LEN];
	const json_t *list;
	size_t i = 0;

	snprintf(key, sizeof(key), "%.*s", (int)n_key, *at + 2);
	list = find(d, key);
	*ret = '\0';
	do {
		*at = template;
		render(json_array_get(list, i), at, text, sizeof(text));
		if (i < json_array_size(list))
			snprintf(ret + strlen(ret), size - strlen(ret), "%.*s%s",
				 i > 0 ? (int)(template - 1 - separator) : 0, separator, text);
	} while (++i < json_array_size(list));
	*at += strlen("{/}");
	return i <= json_array_size(list);
}

/* Up to the end of a part. Return: all its keys have a value */
static bool render(const json_t *d, const char **at, char *ret, size_t size)
{
	bool is_whole = true;

	*ret = '\0';
	while (!strchr("|]", **at) && !is_prefix(*at, "{/}")) {
		const size_t n = strcspn(*at, "[]{|");

		snprintf(ret, size, "%.*s", (int)n, *at);
		*at += n;
		size -= strlen(ret);
		ret += strlen(ret);
		if (is_prefix(*at, "{*"))
			is_whole &= render_list(d, at, ret, size);
		else if (**at == '{' && !is_prefix(*at, "{/}"))
			is_whole &= render_key(d, at, ret, size);
		else if (**at == '[' && (*at)++)
			render_choice(d, at, ret, size);
		size -= strlen(ret);
		ret += strlen(ret);
	}
	return is_whole;
}

void sheet_format(const json_t *document, const char *template, char *ret, size_t size)
{
	render(document, &template, ret, size);
}

void sheet_fill(struct sheet *s, const json_t *document, const char *template)
{
	char text[2 * SHEET_LINE_LEN], *rest = NULL;

	render(document, &template, text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		sheet_line(s, "%s", line);
}

void sheet_fill_list(struct sheet *s, const json_t *list, const char *template)
{
	if (json_is_object(list))
		sheet_fill(s, list, template);
	for (size_t i = 0; i < json_array_size(list); i++)
		sheet_fill(s, json_array_get(list, i), template);
}

void sheet_fill_rows(struct sheet *s, const json_t *document, const struct sheet_row *rows,
		     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].label)
			s->label = rows[i].label;
		sheet_fill_list(s, find(document, rows[i].list), rows[i].template);
	}
}

int sheet_close(struct sheet *s, char **ret)
{
	return stream_take(&s->out, ret);
}

void sheet_done(struct sheet *s)
{
	stream_done(&s->out);
}
