/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml-edit.h"

#include <stdarg.h>

#include "../base/document.h"
#include "yaml-events.h"
#include "yaml.h"

#define BLANKS " \t\r\n"

enum yaml_change {
	CHANGE_VALUE,
	ADD_KEY,
	DROP_KEY,
};

/* A change of the text: new text in the place of some bytes of the old one. */
struct splice {
	enum yaml_change change;
	size_t from, to;
	char *text;   /* owned */
	size_t event; /* the value's that changes or goes, or the one before a new key */
	const char *key, *value;
	char odd[2 * EDIT_MAX_VALUE +
		 2]; /* the value in quotes, where no quotes of ours would do */
};

static void splice_done(struct splice *s)
{
	free(s->text);
}

/* Verification */

static bool is_same_word(const yaml_char_t *a, const yaml_char_t *b)
{
	return a && b ? streq((const char *)a, (const char *)b) : a == b;
}

static bool is_same(const yaml_event_t *a, const yaml_event_t *b)
{
	if (a->type != b->type)
		return false;

	switch (a->type) {
	case YAML_SCALAR_EVENT:
		return a->data.scalar.length == b->data.scalar.length &&
		       memcmp(a->data.scalar.value, b->data.scalar.value, a->data.scalar.length) ==
			       0 &&
		       a->data.scalar.style == b->data.scalar.style &&
		       is_same_word(a->data.scalar.anchor, b->data.scalar.anchor) &&
		       is_same_word(a->data.scalar.tag, b->data.scalar.tag);
	case YAML_SEQUENCE_START_EVENT:
		return a->data.sequence_start.style == b->data.sequence_start.style &&
		       is_same_word(a->data.sequence_start.anchor, b->data.sequence_start.anchor) &&
		       is_same_word(a->data.sequence_start.tag, b->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return a->data.mapping_start.style == b->data.mapping_start.style &&
		       is_same_word(a->data.mapping_start.anchor, b->data.mapping_start.anchor) &&
		       is_same_word(a->data.mapping_start.tag, b->data.mapping_start.tag);
	case YAML_DOCUMENT_END_EVENT:
		return a->data.document_end.implicit == b->data.document_end.implicit;
	default:
		return true;
	}
}

/* -EUCLEAN unless the next event is that scalar. */
static int expect(struct yaml_events *s, const char *text)
{
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	int r;

	r = yaml_events_next(s, &e);
	if (r == -ENOMEM)
		return r;
	return r >= 0 && e.type == YAML_SCALAR_EVENT && !yaml_events_is_marked(&e) &&
			       yaml_events_is_text(&e, text)
		       ? 0
		       : -EUCLEAN;
}

/* Expects the splice's value at event @at of the old text. Return: 1: that event is done with. */
static int expect_splice(struct yaml_events *b, size_t at, const struct splice *s)
{
	int r = 0;

	if (s->change == CHANGE_VALUE && at == s->event)
		r = expect(b, s->value);
	else if (s->change != DROP_KEY || (at != s->event && at + 1 != s->event))
		return 0;
	return r < 0 ? r : 1;
}

/* -EUCLEAN unless @b's document has every event of @a's, but for what the splice is about. */
static int compare(struct yaml_events *a, struct yaml_events *b, const struct splice *s)
{
	bool is_end = false;
	int r = 0;

	while (!is_end) {
		_cleanup_(yaml_event_delete) yaml_event_t old = {}, new = {};

		r = yaml_events_next(a, &old);
		if (r >= 0) {
			r = expect_splice(b, a->n_events, s);
			if (r > 0)
				continue;
		}
		if (r >= 0)
			r = yaml_events_next(b, &new);
		if (r < 0)
			return r == -ENOMEM ? r : -EUCLEAN;
		if (!is_same(&old, &new))
			return -EUCLEAN;

		if (s->change == ADD_KEY && a->n_events == s->event) {
			r = expect(b, s->key);
			if (r >= 0)
				r = expect(b, s->value);
			if (r < 0)
				return r;
		}
		is_end = old.type == YAML_DOCUMENT_END_EVENT || old.type == YAML_STREAM_END_EVENT;
	}

	return 0;
}

static int verify_events(const char *old, size_t old_size, const char *new, size_t new_size,
			 const struct splice *s)
{
	_cleanup_(yaml_events_done) struct yaml_events a = {}, b = {};
	int r;

	r = yaml_events_open(&a, old, old_size);
	if (r >= 0)
		r = yaml_events_open(&b, new, new_size);
	return r < 0 ? r : compare(&a, &b, s);
}

static int verify_json(const char *old, size_t old_size, const char *new, size_t new_size,
		       const struct splice *s)
{
	json_auto_t *a = NULL, *b = NULL;
	int r;

	r = document_parse(old, old_size, 0, &a, NULL);
	if (r >= 0)
		r = document_parse(new, new_size, 0, &b, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : -EUCLEAN;
	if (s->change == DROP_KEY)
		json_object_del(a, s->key);
	else if (json_object_set_new(a, s->key, json_string(s->value)) < 0)
		return -ENOMEM;
	return json_equal(a, b) ? 0 : -EUCLEAN;
}

static int verify_value(const char *new, size_t new_size, const struct splice *s)
{
	struct yaml_document d = { .key = s->key };
	int r;

	r = yaml_document_read(new, new_size, YAML_KUBELET, &d);
	if (r < 0)
		return r == -ENOMEM ? r : -EUCLEAN;
	if (s->change == DROP_KEY)
		return d.n_entries == 0 ? 0 : -EUCLEAN;
	return d.n_entries > 0 && d.entry.is_scalar && !d.entry.is_marked && !d.entry.is_null &&
			       d.entry.length == strlen(s->value) && streq(d.entry.value, s->value)
		       ? 0
		       : -EUCLEAN;
}

/* Splices */

static int put_splice(const char *text, size_t size, bool is_json, const struct splice *s,
		      char **ret, size_t *ret_size)
{
	const size_t n = strlen(s->text), new_size = size - (s->to - s->from) + n;
	_cleanup_(freep) char *new = malloc(new_size + 1);
	int r;

	if (!new)
		return -ENOMEM;
	memcpy(new, text, s->from);
	memcpy(new + s->from, s->text, n);
	memcpy(new + s->from + n, text + s->to, size - s->to);
	new[new_size] = '\0';

	r = verify_events(text, size, new, new_size, s);
	if (r >= 0 && is_json)
		r = verify_json(text, size, new, new_size, s);
	if (r >= 0)
		r = verify_value(new, new_size, s);
	if (r < 0)
		return r;

	*ret = TAKE(new);
	*ret_size = new_size;
	return 1;
}

static _printf_(2, 3) int print_splice(struct splice *s, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&s->text, format, ap);
	va_end(ap);
	if (n >= 0)
		return 0;
	s->text = NULL;
	return -ENOMEM;
}

static void line_end_of(const char *text, size_t size, size_t at, char ret[3])
{
	size_t n = at + 1 < size && text[at] == '\r' && text[at + 1] == '\n' ? 2 : 1;

	memcpy(ret, text + at, n);
	ret[n] = '\0';
}

/* A word needs no quotes where it cannot be a number. */
static bool is_word(const char *s)
{
	return *s >= 'a' && *s <= 'z' && !strchr(s, ',');
}

/* The value as it is written: an odd one has its own quotes, which YAML and JSON read alike. */
static const char *text_of(const struct splice *s)
{
	return *s->odd ? s->odd : s->value;
}

static const char *quote_of(const struct splice *s, const char *quote)
{
	return *s->odd ? "" : quote;
}

static int add_to_yaml(const char *text, size_t size, const struct yaml_document *d,
		       struct splice *s)
{
	size_t line = d->kind.key_at, end = d->kind.to;
	const char *quote = quote_of(s, is_word(s->value) ? "" : "\"");
	char eol[3] = "\n";

	while (line > yaml_events_bom(text, size) && text[line - 1] == ' ')
		line--;
	while (end < size && text[end] != '\n' && text[end] != '\r')
		end++;

	if (end < size)
		line_end_of(text, size, end, eol);
	else /* the file ends without one: as its first line does */
		for (size_t i = 0; i < size; i++)
			if (text[i] == '\n' || text[i] == '\r') {
				line_end_of(text, size, i, eol);
				break;
			}

	s->from = s->to = end;
	return print_splice(s, "%s%.*s%s: %s%s%s", eol, (int)(d->kind.key_at - line), text + line,
			    s->key, quote, text_of(s), quote);
}

/* Adds the key behind the member "kind", spaced like it. */
static int add_to_json(const char *text, const struct yaml_document *d, struct splice *s)
{
	const struct yaml_entry *kind = &d->kind;
	const char *quote = quote_of(s, "\"");
	size_t blanks = kind->key_at;

	while (blanks > 0 && strchr(BLANKS, text[blanks - 1]))
		blanks--;

	s->from = s->to = kind->to;
	return print_splice(s, ",%.*s\"%s\"%.*s%s%s%s", (int)(kind->key_at - blanks), text + blanks,
			    s->key, (int)(kind->at - kind->key_to), text + kind->key_to, quote,
			    text_of(s), quote);
}

/*
 * A block scalar is a header, which may end in a comment, and lines below it: the header becomes
 * the word, the lines go. libyaml's end of it may be behind empty lines.
 */
static int change_block(const char *text, const struct yaml_entry *e, struct splice *s)
{
	size_t header = e->at, line = e->at, end = e->to;

	while (header < end && !strchr(BLANKS, text[header]))
		header++;
	while (line < end && text[line] != '\n' && text[line] != '\r')
		line++;
	while (end > line && strchr(BLANKS, text[end - 1]))
		end--;

	s->from = e->at;
	s->to = end;
	return print_splice(s, "%s%.*s", text_of(s), (int)(line - header), text + header);
}

static int change_value(const char *text, const struct yaml_document *d, struct splice *s)
{
	const struct yaml_entry *e = &d->entry;
	const char *quote = is_word(s->value) ? "" : "\"";

	if (!e->is_scalar || e->is_marked || strlen(e->value) != e->length)
		return -EOPNOTSUPP;

	s->event = e->event;
	if (e->style == YAML_LITERAL_SCALAR_STYLE || e->style == YAML_FOLDED_SCALAR_STYLE)
		return change_block(text, e, s);
	if (e->style == YAML_SINGLE_QUOTED_SCALAR_STYLE)
		quote = "'";
	if (e->style == YAML_DOUBLE_QUOTED_SCALAR_STYLE || d->is_json)
		quote = "\"";

	s->from = e->at;
	s->to = e->to;
	quote = quote_of(s, quote);
	/* An absent value is marked directly behind the colon. */
	return print_splice(s, "%s%s%s%s", e->at == e->to ? " " : "", quote, text_of(s), quote);
}

static bool is_value(const char *s)
{
	return *s && strlen(s) < EDIT_MAX_VALUE &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-,")] == '\0';
}

/* Quotes a value that another program wrote and that is put back. */
static int write_odd(const char *value, char ret[static 2 * EDIT_MAX_VALUE + 2])
{
	char *to = ret;

	if (strlen(value) >= EDIT_MAX_VALUE)
		return -EOPNOTSUPP;
	*to++ = '"';
	for (; *value; value++) {
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return -EOPNOTSUPP;
		if (*value == '"' || *value == '\\')
			*to++ = '\\';
		*to++ = *value;
	}
	*to++ = '"';
	*to = '\0';
	return 0;
}

int edit_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size)
{
	_cleanup_(splice_done) struct splice s = { .key = key, .value = value };
	struct yaml_document d = { .key = key };
	int r;

	r = is_value(value) ? 0 : write_odd(value, s.odd);
	if (r >= 0)
		r = yaml_document_read(text, size, YAML_KUBELET, &d);
	if (r < 0)
		return r;

	if (d.n_entries > 0 && d.entry.is_scalar && !d.entry.is_marked &&
	    d.entry.length == strlen(value) && streq(d.entry.value, value)) {
		char *same = malloc(size + 1);

		if (!same)
			return -ENOMEM;
		memcpy(same, text, size);
		same[size] = '\0';
		*ret = same;
		*ret_size = size;
		return 0;
	}

	s.change = d.n_entries > 0 ? CHANGE_VALUE : ADD_KEY;
	s.event = d.kind.event;
	if (s.change == CHANGE_VALUE)
		r = change_value(text, &d, &s);
	else
		r = d.is_json ? add_to_json(text, &d, &s) : add_to_yaml(text, size, &d, &s);
	return r < 0 ? r : put_splice(text, size, d.is_json, &s, ret, ret_size);
}

/* In JSON with the comma before it, else with the end of the line before it. */
static int drop_entry(const char *text, size_t size, const struct yaml_document *d,
		      struct splice *s)
{
	const struct yaml_entry *e = &d->entry;

	s->from = e->key_at;
	s->to = e->to;
	s->event = e->event;
	while (s->from > 0 && strchr(d->is_json ? BLANKS : " ", text[s->from - 1]))
		s->from--;
	if (d->is_json) {
		if (s->from == 0 || text[s->from - 1] != ',')
			return -EOPNOTSUPP;
		s->from--;
		return print_splice(s, "%s", "");
	}

	if (s->from == 0 || (text[s->from - 1] != '\n' && text[s->from - 1] != '\r') ||
	    (s->to < size && text[s->to] != '\n' && text[s->to] != '\r'))
		return -EOPNOTSUPP; /* it is the first line, or shares one */
	s->from--;
	if (s->from > 0 && text[s->from] == '\n' && text[s->from - 1] == '\r')
		s->from--;
	return print_splice(s, "%s", "");
}

int edit_unset(const char *text, size_t size, const char *key, char **ret, size_t *ret_size)
{
	_cleanup_(splice_done) struct splice s = { .change = DROP_KEY, .key = key };
	struct yaml_document d = { .key = key };
	int r;

	r = yaml_document_read(text, size, YAML_KUBELET, &d);
	if (r < 0)
		return r;
	if (d.n_entries != 1 || !d.entry.is_scalar)
		return -EOPNOTSUPP;

	r = drop_entry(text, size, &d, &s);
	return r < 0 ? r : put_splice(text, size, d.is_json, &s, ret, ret_size);
}
