/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include "../base/document.h"

#define TARGETS_LEN 1024 /* a line of a sheet has 2048 bytes */

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

	PRINT(key, "%.*s", (int)n, *at + 1);
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

	PRINT(key, "%.*s", (int)n_key, *at + 2);
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
	document_each(item, list)
		sheet_fill(s, item, template);
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

/* Neighbours of one reason */

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	return streq(document_get_text(a, key), document_get_text(b, key));
}

static bool is_alike(const json_t *a, const json_t *b)
{
	return *document_get_text(a, "target") && *document_get_text(b, "target") &&
	       *document_get_text(a, "code") && is_same(a, b, "code") && is_same(a, b, "advice") &&
	       is_same(a, b, "change") && is_same(a, b, "class");
}

static int add_detail(json_t *group, const json_t *reason)
{
	json_t *item = json_pack("{s:o, s:o}", "target",
				 document_text(document_get_text(reason, "target")), "detail",
				 document_text(document_get_text(reason, "detail")));

	return json_array_append_new(json_object_get(group, "details"), item) < 0 ? -ENOMEM : 0;
}

/* Return: 1; 0 when the list of targets would be too long; -ENOMEM. */
static int join(json_t *group, const json_t *reason)
{
	const json_t *details = json_object_get(group, "details");
	char targets[TARGETS_LEN];
	bool is_new = true;

	document_each(item, details) {
		if (is_same(item, reason, "target") && is_same(item, reason, "detail"))
			return 1;
		is_new = is_new && !is_same(item, reason, "target");
	}
	if (is_new && (size_t)PRINT(targets, "%s, %s", document_get_text(group, "target"),
				    document_get_text(reason, "target")) >= sizeof(targets))
		return 0;
	if (is_new && json_object_set_new(group, "target", document_text(targets)) < 0)
		return -ENOMEM;
	return add_detail(group, reason) < 0 ? -ENOMEM : 1;
}

static int begin(json_t *groups, const json_t *reason)
{
	json_t *group = json_copy((json_t *)reason);

	if (json_array_append_new(groups, group) < 0 ||
	    json_object_size(group) != json_object_size(reason) || /* json_copy() hides it */
	    json_object_set_new(group, "details", json_array()) < 0)
		return -ENOMEM;
	return add_detail(group, reason);
}

/* A detail that all targets share stands behind the meaning, instead of a list. */
static int finish(json_t *group)
{
	return document_any(item, json_object_get(group, "details"),
			    !is_same(item, group, "detail"))
		       ? json_object_set_new(group, "detail", json_string(""))
		       : json_object_del(group, "details");
}

json_t *output_group(const json_t *reasons)
{
	json_auto_t *groups = json_array();
	int r = groups ? 0 : -ENOMEM;

	for (size_t i = 0; i < json_array_size(reasons) && r >= 0; i++) {
		const json_t *reason = json_array_get(reasons, i);

		r = 0;
		if (i > 0 && is_alike(json_array_get(reasons, i - 1), reason))
			r = join(json_array_get(groups, json_array_size(groups) - 1), reason);
		if (r == 0)
			r = begin(groups, reason);
	}
	for (size_t i = 0; i < json_array_size(groups) && r >= 0; i++)
		r = finish(json_array_get(groups, i));
	return r >= 0 ? json_incref(groups) : NULL;
}

void output_group_body(struct sheet *s, const json_t *group)
{
	sheet_fill(s, group, "[{?code}  {meaning}[: {detail}]]");
	sheet_fill_list(s, json_object_get(group, "details"), "[  {target}: {detail}]");
	sheet_fill(s, group, "[  → {advice}]");
}

void output_group_print(struct sheet *s, const json_t *groups, const char *template)
{
	document_each(group, groups) {
		sheet_fill(s, group, template);
		output_group_body(s, group);
	}
}
