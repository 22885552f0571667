/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml-edit.h"

#include <stdarg.h>

#include "../base/document.h"
#include "yaml-tree.h"

#define BLANKS        " \t\r\n"
#define MAX_OLD_VALUE 256 /* bytes; a longer one is no value of ours */

enum yaml_change {
	CHANGE_VALUE,
	ADD_KEY,
	DROP_KEY,
};

/* A change of the text: new text in the place of some bytes of the old one. */
struct splice {
	enum yaml_change change;
	size_t from, to;
	char *text;  /* owned */
	size_t node; /* the value that changes or goes, or that is before a new key */
	const char *key, *value;
	char odd[2 * EDIT_MAX_VALUE +
		 2]; /* the value in quotes, where no quotes of ours would do */
};

static void splice_done(struct splice *s)
{
	free(s->text);
}

/* Verification */

static bool is_marked(const struct yaml_node *n)
{
	return n->has_anchor || n->has_tag;
}

static bool is_block(const struct yaml_node *n)
{
	return n->type == YAML_SCALAR_EVENT &&
	       (n->style == YAML_LITERAL_SCALAR_STYLE || n->style == YAML_FOLDED_SCALAR_STYLE);
}

/* Where a byte behind the splice is in the new text. */
static size_t moved(const struct splice *s, size_t at)
{
	return at > s->from ? at + strlen(s->text) - (s->to - s->from) : at;
}

/*
 * Is a node that the splice is not about the same in the new text? Its bytes are, and so its anchor
 * and tag, where it stands in the same place.
 */
static bool is_same(const struct yaml_node *a, const struct yaml_node *b, const struct splice *s,
		    size_t n_more)
{
	/* The mapping that begins with a dropped key begins with the next one then. */
	const bool is_dropped = s->change == DROP_KEY && a->at > s->from && a->at < s->to;

	if (a->type != b->type || a->style != b->style || (!is_dropped && b->at != moved(s, a->at)))
		return false;
	if (a->type != YAML_SCALAR_EVENT)
		return b->end == a->end + (a->end > s->node ? n_more : 0);
	/* A block scalar ends behind its line end, and behind the empty lines below it. */
	return (is_block(a) || b->to == moved(s, a->to)) && a->length == b->length &&
	       memcmp(a->text, b->text, a->length) == 0;
}

/* -EUCLEAN unless the new tree has every node of the old one, but for what the splice is about. */
static int compare(const struct yaml_tree *a, const struct yaml_tree *b, const struct splice *s)
{
	const size_t n_more = s->change == ADD_KEY ? 2 : s->change == DROP_KEY ? (size_t)-2 : 0;

	if (b->n_nodes != a->n_nodes + n_more || a->is_ended != b->is_ended)
		return -EUCLEAN;
	for (size_t i = 0; i < a->n_nodes; i++) {
		const bool is_meant = (i == s->node && s->change != ADD_KEY) ||
				      (i + 1 == s->node && s->change == DROP_KEY);

		if (!is_meant &&
		    !is_same(&a->nodes[i], &b->nodes[i > s->node ? i + n_more : i], s, n_more))
			return -EUCLEAN;
	}
	return s->change != ADD_KEY || yaml_node_is_text(&b->nodes[s->node + 1], s->key) ? 0
											 : -EUCLEAN;
}

static int verify(const struct yaml_document *old, const char *text, size_t size,
		  const struct splice *s)
{
	_cleanup_(yaml_document_done) struct yaml_document d = { .key = s->key };
	int r = yaml_document_read(text, size, YAML_KUBELET, &d);

	if (r < 0)
		return r == -ENOMEM ? r : -EUCLEAN;
	if (s->change == DROP_KEY ? d.n_entries > 0
				  : d.n_entries == 0 || !yaml_node_is_text(d.entry, s->value) ||
					    is_marked(d.entry) || yaml_node_is_null(d.entry))
		return -EUCLEAN;
	return compare(&old->tree, &d.tree, s);
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

/* Splices */

int edit_replace(const char *text, size_t size, size_t from, size_t to, const char *put, char **ret,
		 size_t *ret_size)
{
	const size_t n = strlen(put), new_size = size - (to - from) + n;
	char *new = malloc(new_size + 1);

	if (!new)
		return -ENOMEM;
	memcpy(new, text, from);
	memcpy(new + from, put, n);
	memcpy(new + from + n, text + to, size - to);
	new[new_size] = '\0';
	*ret = new;
	*ret_size = new_size;
	return 1;
}

static int put_splice(const char *text, size_t size, const struct yaml_document *d,
		      const struct splice *s, char **ret, size_t *ret_size)
{
	_cleanup_(freep) char *new = NULL;
	size_t new_size;
	int r;

	r = edit_replace(text, size, s->from, s->to, s->text, &new, &new_size);
	if (r >= 0)
		r = verify(d, new, new_size, s);
	if (r >= 0 && d->is_json)
		r = verify_json(text, size, new, new_size, s);
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
	const size_t key_at = d->kind[-1].at;
	size_t line = key_at, end = d->kind->to;
	const char *quote = quote_of(s, is_word(s->value) ? "" : "\"");
	char eol[3] = "\n";

	while (line > yaml_tree_bom(text, size) && text[line - 1] == ' ')
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
	return print_splice(s, "%s%.*s%s: %s%s%s", eol, (int)(key_at - line), text + line, s->key,
			    quote, text_of(s), quote);
}

/* Adds the key behind the member "kind", spaced like it. */
static int add_to_json(const char *text, const struct yaml_document *d, struct splice *s)
{
	const struct yaml_node *kind = d->kind, *key = kind - 1;
	const char *quote = quote_of(s, "\"");
	size_t blanks = key->at;

	while (blanks > 0 && strchr(BLANKS, text[blanks - 1]))
		blanks--;

	s->from = s->to = kind->to;
	return print_splice(s, ",%.*s\"%s\"%.*s%s%s%s", (int)(key->at - blanks), text + blanks,
			    s->key, (int)(kind->at - key->to), text + key->to, quote, text_of(s),
			    quote);
}

/*
 * A block scalar is a header, which may end in a comment, and lines below it: the header becomes
 * the word, the lines go. libyaml's end of it may be behind empty lines.
 */
static int change_block(const char *text, const struct yaml_node *e, struct splice *s)
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
	const struct yaml_node *e = d->entry;
	const char *quote = is_word(s->value) ? "" : "\"";

	if (e->type != YAML_SCALAR_EVENT || is_marked(e) || e->length >= MAX_OLD_VALUE ||
	    strlen(e->text) != e->length)
		return -EOPNOTSUPP;

	if (is_block(e))
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
	_cleanup_(yaml_document_done) struct yaml_document d = { .key = key };
	int r;

	r = is_value(value) ? 0 : write_odd(value, s.odd);
	if (r >= 0)
		r = yaml_document_read(text, size, YAML_KUBELET, &d);
	if (r < 0)
		return r;

	if (d.n_entries > 0 && yaml_node_is_text(d.entry, value) && !is_marked(d.entry))
		return MIN(edit_replace(text, size, 0, 0, "", ret, ret_size), 0);

	s.change = d.n_entries > 0 ? CHANGE_VALUE : ADD_KEY;
	s.node = (size_t)((d.n_entries > 0 ? d.entry : d.kind) - d.tree.nodes);
	if (s.change == CHANGE_VALUE)
		r = change_value(text, &d, &s);
	else
		r = d.is_json ? add_to_json(text, &d, &s) : add_to_yaml(text, size, &d, &s);
	return r < 0 ? r : put_splice(text, size, &d, &s, ret, ret_size);
}

/* In JSON with the comma before it, else with the end of the line before it. */
static int drop_entry(const char *text, size_t size, const struct yaml_document *d,
		      struct splice *s)
{
	const struct yaml_node *e = d->entry;

	s->from = e[-1].at;
	s->to = e->to;
	s->node = (size_t)(e - d->tree.nodes);
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
	_cleanup_(yaml_document_done) struct yaml_document d = { .key = key };
	int r;

	r = yaml_document_read(text, size, YAML_KUBELET, &d);
	if (r < 0)
		return r;
	if (d.n_entries != 1 || d.entry->type != YAML_SCALAR_EVENT)
		return -EOPNOTSUPP;

	r = drop_entry(text, size, &d, &s);
	return r < 0 ? r : put_splice(text, size, &d, &s, ret, ret_size);
}
