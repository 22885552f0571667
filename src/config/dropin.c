/* SPDX-License-Identifier: Apache-2.0 */
#include "dropin.h"

#include "reader.h"

#include <assert.h>

#define BLANKS " \t"

/* What one look at a text is after, and what it finds. Lines are counted from 1. */
struct look {
	const char *section, *key;

	unsigned first, last; /* of the key; 0: it is not set */
	unsigned again;
	char *value;                       /* owned */
	unsigned header, header_last, end; /* of its section; the last one is that of its end */

	unsigned behind; /* the last key of the last section of that name; 0: no such section */
	bool has_keys;   /* else behind is the last line of its header */

	bool is_in;             /* of the section the look is in just now */
	unsigned now, now_last; /* its header */
};

static void look_done(struct look *l)
{
	free(l->value);
}

void dropin_place_done(struct dropin_place *p)
{
	free(p->value);
	*p = (struct dropin_place){};
}

void dropin_done(struct dropin *d)
{
	for (size_t i = 0; i < d->n_lines; i++)
		free(d->lines[i].owned);
	free(d->lines);
	*d = (struct dropin){};
}

/* What is behind "Device" and blanks, or NULL. */
static const char *device_name(const char *section)
{
	const char *name = after(section, "Device");

	return name && strchr(BLANKS, *name) && *name ? name + strspn(name, BLANKS) : NULL;
}

static bool is_same_section(const char *a, const char *b)
{
	const char *name_a = device_name(a), *name_b = device_name(b);

	return name_a && name_b ? streq(name_a, name_b) : streq(a, b);
}

static void end_section(struct look *l, unsigned last)
{
	if (l->first > 0 && l->header == l->now && l->end == 0)
		l->end = last;
}

static int on_section(struct look *l, const char *section, unsigned line, unsigned last)
{
	end_section(l, line - 1);
	l->now = line;
	l->now_last = last;
	l->is_in = is_same_section(section, l->section);
	if (l->is_in) {
		l->behind = last;
		l->has_keys = false;
	}
	return 0;
}

static int on_key(void *userdata, const char *section, const char *name, const char *value,
		  unsigned line, unsigned last)
{
	struct look *l = userdata;

	if (!name)
		return on_section(l, section, line, last);
	if (!l->is_in)
		return 0;
	l->behind = last;
	l->has_keys = true;
	if (!streq(name, l->key))
		return 0;
	if (l->first > 0) {
		l->again = l->again ? l->again : line;
		return 0;
	}

	l->value = strdup(value);
	l->first = line;
	l->last = last;
	l->header = l->now;
	l->header_last = l->now_last;
	return l->value ? 0 : -ENOMEM;
}

static int look_at(const char *text, size_t size, unsigned n_lines, struct look *l)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	int r;

	r = reader_parse("", text, size, &errors, on_key, l);
	if (r < 0 && r != -E2BIG)
		return r;
	end_section(l, n_lines);
	return errors.n_malformed > 0 ? -EBADMSG : 0;
}

int dropin_find(const char *text, size_t size, const char *section, const char *key,
		struct dropin_place *ret)
{
	_cleanup_(look_done) struct look l = { .section = section, .key = key };
	int r;

	r = look_at(text, size, 0, &l);
	if (l.first == 0 || r == -ENOMEM)
		return r;

	/* In a malformed text as well: it tells where it is. */
	*ret = (struct dropin_place){ l.first, l.again, TAKE(l.value) };
	return 1;
}

int dropin_open(const char *text, size_t size, struct dropin *ret)
{
	_cleanup_(dropin_done) struct dropin d = {};

	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) + 1 : size;
		struct dropin_line *line = APPEND(d.lines, d.n_lines);

		if (!line)
			return -ENOMEM;
		*line = (struct dropin_line){ text, n, NULL, (unsigned)d.n_lines };
		text += n;
		size -= n;
	}

	*ret = d;
	d.lines = NULL;
	d.n_lines = 0;
	return 0;
}

int dropin_text(const struct dropin *d, char **ret, size_t *ret_size)
{
	size_t size = 0, at = 0;
	char *text;

	for (size_t i = 0; i < d->n_lines; i++)
		size += d->lines[i].size;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;

	for (size_t i = 0; i < d->n_lines; at += d->lines[i++].size)
		memcpy(text + at, d->lines[i].data, d->lines[i].size);
	text[size] = '\0';
	*ret = text;
	*ret_size = size;
	return 0;
}

static int look_in(const struct dropin *d, struct look *l)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = dropin_text(d, &text, &size);
	return r < 0 ? r : look_at(text, size, (unsigned)d->n_lines, l);
}

/* Without the end of the line. */
static size_t length(const struct dropin_line *line)
{
	size_t n = line->size;

	n -= n > 0 && line->data[n - 1] == '\n';
	return n - (n > 0 && line->data[n - 1] == '\r');
}

static const char *end_of(const struct dropin_line *line)
{
	return line->data + length(line);
}

static size_t skip_blanks(const struct dropin_line *line)
{
	size_t n = 0;

	while (n < length(line) && (line->data[n] == ' ' || line->data[n] == '\t'))
		n++;
	return n;
}

static bool is_blank(const struct dropin_line *line)
{
	return skip_blanks(line) == length(line);
}

static bool is_comment(const struct dropin_line *line)
{
	size_t n = skip_blanks(line);

	return n < length(line) && (line->data[n] == '#' || line->data[n] == ';');
}

static bool is_continued(const struct dropin_line *line)
{
	size_t n = length(line), n_backslashes = 0;

	while (n > 0 && line->data[--n] == '\\')
		n_backslashes++;
	return n_backslashes % 2 == 1;
}

/* Do the lines before @at, which then are all there are, wait for one more? */
static bool is_dangling(const struct dropin *d, size_t at)
{
	if (at < d->n_lines)
		return false;
	while (at > 0 && is_comment(&d->lines[at - 1]))
		at--;
	return at > 0 && is_continued(&d->lines[at - 1]);
}

static void remove_lines(struct dropin *d, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		free(d->lines[i].owned);
	memmove(d->lines + from, d->lines + to, (d->n_lines - to) * sizeof(*d->lines));
	/* The room that APPEND() believes in is never less than there is. */
	d->n_lines -= to - from;
}

/* As the neighbour ends, which gets an end when it is the last one and has none. */
static int end_of_neighbour(struct dropin *d, size_t at, const char **ret)
{
	struct dropin_line *before = at > 0 ? &d->lines[at - 1] : NULL;
	const struct dropin_line *model = before && length(before) < before->size ? before
					  : at > 1 ? &d->lines[at - 2]
						   : NULL;
	char *grown;

	*ret = model && model->size - length(model) == 2 ? "\r\n" : "\n";
	if (!before || before->data[before->size - 1] == '\n')
		return 0;

	if (asprintf(&grown, "%.*s%s", (int)length(before), before->data, *ret) < 0)
		return -ENOMEM;
	free(before->owned);
	before->data = before->owned = grown;
	before->size = strlen(grown);
	return 0;
}

/* A line before the one with index @at. */
static int insert(struct dropin *d, size_t at, const char *text)
{
	_cleanup_(freep) char *owned = NULL;
	const char *end;
	int r;

	assert(at <= d->n_lines && (d->lines || d->n_lines == 0));
	r = end_of_neighbour(d, at, &end);
	if (r < 0)
		return r;
	if (asprintf(&owned, "%s%s", text, end) < 0) {
		owned = NULL;
		return -ENOMEM;
	}
	if (!APPEND(d->lines, d->n_lines))
		return -ENOMEM;

	memmove(d->lines + at + 1, d->lines + at, (d->n_lines - at - 1) * sizeof(*d->lines));
	d->lines[at] = (struct dropin_line){ owned, strlen(owned), owned, 0 };
	TAKE(owned);
	return 0;
}

/* The value of a key that is there. */
static int change(struct dropin *d, const struct look *l, const char *value)
{
	struct dropin_line *line = &d->lines[l->first - 1];
	const struct dropin_line *last = &d->lines[l->last - 1];
	const char *equals = memchr(line->data, '=', length(line));
	const char *name = equals ? line->data : l->key;
	size_t n = equals ? (size_t)(equals - line->data) + 1 : strlen(name);
	char *owned;

	/* Comments between the lines of a value stay, behind it. */
	for (size_t i = l->first; i < l->last; i++)
		if (is_comment(&d->lines[i]))
			last = line;
	/* "KEY = VALUE" stays like that. */
	while (equals && n < length(line) && (line->data[n] == ' ' || line->data[n] == '\t'))
		n++;
	if (asprintf(&owned, "%.*s%s%s%.*s", (int)n, name, equals ? "" : "=", value,
		     (int)(last->size - length(last)), end_of(last)) < 0)
		return -ENOMEM;
	free(line->owned);
	*line = (struct dropin_line){ owned, strlen(owned), owned, 0 };

	for (size_t i = l->last - 1; i >= l->first; i--)
		if (!is_comment(&d->lines[i]))
			remove_lines(d, i, i + 1);
	return 0;
}

static int add_key(struct dropin *d, size_t at, const char *key, const char *value)
{
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	if (asprintf(&text, "%s=%s", key, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	if (is_dangling(d, at))
		r = insert(d, at++, "");
	return r < 0 ? r : insert(d, at, text);
}

static int add_section(struct dropin *d, const char *section, const char *key, const char *value)
{
	const char *name = device_name(section);
	_cleanup_(freep) char *header = NULL;
	int r = 0;

	if (asprintf(&header, "[%s%s]", name ? "Device " : "", name ? name : section) < 0) {
		header = NULL;
		return -ENOMEM;
	}
	if (d->n_lines > 0 && !is_blank(&d->lines[d->n_lines - 1]))
		r = insert(d, d->n_lines, "");
	if (r >= 0)
		r = insert(d, d->n_lines, header);
	return r < 0 ? r : add_key(d, d->n_lines, key, value);
}

/* In a section without keys: behind the comments that stand at its header. */
static size_t behind_header(const struct dropin *d, size_t at)
{
	while (at < d->n_lines && is_comment(&d->lines[at]))
		at++;
	return at;
}

static int copy_of(const struct dropin *d, struct dropin *ret)
{
	_cleanup_(dropin_done) struct dropin c = {};

	for (size_t i = 0; i < d->n_lines; i++) {
		struct dropin_line *line = APPEND(c.lines, c.n_lines);

		if (!line)
			return -ENOMEM;
		*line = d->lines[i];
		if (!line->owned)
			continue;
		line->owned = strdup(d->lines[i].owned);
		if (!line->owned)
			return -ENOMEM;
		line->data = line->owned;
	}
	*ret = c;
	c.lines = NULL;
	c.n_lines = 0;
	return 0;
}

/* What was written must be read as it was meant. */
static int check(const struct dropin *d, const char *section, const char *key, const char *value)
{
	_cleanup_(look_done) struct look l = { .section = section, .key = key };
	int r;

	r = look_in(d, &l);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !value != !l.value || (value && !streq(l.value, value)))
		return -EINVAL;
	return 0;
}

int dropin_set(struct dropin *d, const char *section, const char *key, const char *value)
{
	_cleanup_(look_done) struct look l = { .section = section, .key = key };
	_cleanup_(dropin_done) struct dropin c = {};
	struct dropin before;
	int r;

	r = look_in(d, &l);
	if (r < 0)
		return r;
	if (l.again)
		return -EEXIST;
	if (l.value && streq(l.value, value))
		return 0;

	r = copy_of(d, &c);
	if (r < 0)
		return r;
	if (l.first > 0)
		r = change(&c, &l, value);
	else if (l.behind > 0)
		r = add_key(&c, l.has_keys ? l.behind : behind_header(&c, l.behind), key, value);
	else
		r = add_section(&c, section, key, value);
	if (r >= 0)
		r = check(&c, section, key, value);
	if (r < 0)
		return r;

	before = *d;
	*d = c;
	c = before;
	return 1;
}

/* Nothing of a section is left but its header and blank lines. */
static bool is_empty_section(const struct dropin *d, const struct look *l)
{
	for (unsigned i = l->header; i < l->end; i++)
		if ((i >= l->header_last || is_comment(&d->lines[i])) && !is_blank(&d->lines[i]) &&
		    (i + 1 < l->first || i + 1 > l->last || is_comment(&d->lines[i])))
			return false;
	return true;
}

int dropin_unset(struct dropin *d, const char *section, const char *key)
{
	_cleanup_(look_done) struct look l = { .section = section, .key = key };
	size_t from, to;
	int r;

	r = look_in(d, &l);
	if (r < 0)
		return r;
	if (l.first == 0)
		return -ENOENT;
	if (l.again)
		return -EEXIST;

	if (!is_empty_section(d, &l)) {
		for (size_t i = l.last; i >= l.first; i--)
			if (!is_comment(&d->lines[i - 1]))
				remove_lines(d, i - 1, i);
		return 0;
	}

	from = l.header - 1;
	to = l.end;
	/* The line that set it apart from what was before it. */
	while (to == d->n_lines && from > 0 && is_blank(&d->lines[from - 1]))
		from--;
	remove_lines(d, from, to);
	return 0;
}

bool dropin_is_bare(const struct dropin *d, const char *header)
{
	for (size_t i = 0; i < d->n_lines; i++) {
		const struct dropin_line *line = &d->lines[i];

		if (!is_blank(line) && (length(line) != strlen(header) ||
					memcmp(line->data, header, strlen(header)) != 0))
			return false;
	}
	return true;
}
