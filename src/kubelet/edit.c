/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/paths.h"
#include "../os/target.h"
#include "yaml-tree.h"

#define LOCK_USEC (120 * USEC_PER_SEC) /* longer than the process has: kubelet-main.c */

#define MAX_FLAGS_BYTES ((size_t)256 * 1024) /* of a file of variables or flags */
#define OWN_LINE        "# Made by rdma-provision as its [Kubelet] section says; edits are lost.\n"

#define BLANKS        " \t\r\n"
#define MAX_OLD_VALUE 256 /* bytes; a longer one is no value of ours */

/* Changing a value of a KubeletConfiguration */

enum yaml_change {
	CHANGE_VALUE,
	ADD_KEY,
	DROP_KEY,
};

/* A change of the text: new text in the place of some bytes of the old one. */
struct splice {
	char *text; /* owned; first, for _owns_() */
	enum yaml_change change;
	size_t from, to;
	size_t node; /* the value that changes or goes, or that is before a new key */
	const char *key, *value;
	/* The value as it is written: an odd one in quotes, where no quotes of ours would do, which
	 * YAML and JSON read alike. */
	const char *put;
	char odd[2 * EDIT_MAX_VALUE + 2];
};

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
	int r = document_parse(old, old_size, 0, &a, NULL);

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

/* A copy of any text with @put in the place of some bytes. Return: 1 or -ENOMEM. */
static int replace(const char *text, size_t size, size_t from, size_t to, const char *put,
		   char **ret, size_t *ret_size)
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
	int r = replace(text, size, s->from, s->to, s->text, &new, &new_size);

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

/* asprintf() leaves the text undefined when it fails. */
#define print_splice(s, ...)                                                                       \
	(asprintf(&(s)->text, __VA_ARGS__) < 0 ? ((s)->text = NULL, -ENOMEM) : 0)

/* The first byte of a line end from @at on, or @size. */
static size_t line_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] != '\n' && text[at] != '\r')
		at++;
	return at;
}

/* A word needs no quotes where it cannot be a number. */
static bool is_word(const char *s)
{
	return *s >= 'a' && *s <= 'z' && !strchr(s, ',');
}

static const char *quote_of(const struct splice *s, const char *quote)
{
	return s->put == s->value ? quote : "";
}

static int add_to_yaml(const char *text, size_t size, const struct yaml_document *d,
		       struct splice *s)
{
	const size_t key_at = d->kind[-1].at;
	/* Where the file ends without a line end, as its first line does. */
	const size_t end = line_end(text, size, d->kind->to),
		     eol = end < size ? end : line_end(text, size, 0);
	const char *quote = quote_of(s, is_word(s->value) ? "" : "\"");
	size_t line = key_at;
	int n_eol = 1;

	while (line > yaml_tree_bom(text, size) && text[line - 1] == ' ')
		line--;
	if (eol + 1 < size && text[eol] == '\r' && text[eol + 1] == '\n')
		n_eol = 2;

	s->from = s->to = end;
	return print_splice(s, "%.*s%.*s%s: %s%s%s", n_eol, eol < size ? text + eol : "\n",
			    (int)(key_at - line), text + line, s->key, quote, s->put, quote);
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
			    s->key, (int)(kind->at - key->to), text + key->to, quote, s->put,
			    quote);
}

/*
 * A block scalar is a header, which may end in a comment, and lines below it: the header becomes
 * the word, the lines go. libyaml's end of it may be behind empty lines.
 */
static int change_block(const char *text, const struct yaml_node *e, struct splice *s)
{
	size_t header = e->at, end = e->to;
	const size_t line = line_end(text, end, header);

	while (header < end && !strchr(BLANKS, text[header]))
		header++;
	while (end > line && strchr(BLANKS, text[end - 1]))
		end--;

	s->from = e->at;
	s->to = end;
	return print_splice(s, "%s%.*s", s->put, (int)(line - header), text + header);
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
	return print_splice(s, "%s%s%s%s", e->at == e->to ? " " : "", quote, s->put, quote);
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

/* In JSON with the comma before it, else with the end of the line before it. */
static int drop_entry(const char *text, size_t size, const struct yaml_document *d,
		      struct splice *s)
{
	const struct yaml_node *e = d->entry;

	if (d->n_entries != 1 || e->type != YAML_SCALAR_EVENT)
		return -EOPNOTSUPP;
	s->from = e[-1].at;
	s->to = e->to;
	while (s->from > 0 && strchr(d->is_json ? BLANKS : " ", text[s->from - 1]))
		s->from--;
	if (s->from == 0 || (d->is_json ? text[s->from - 1] != ','
					: line_end(text, s->from, s->from - 1) == s->from ||
						  line_end(text, size, s->to) > s->to))
		return -EOPNOTSUPP; /* it is the first line or member, or shares a line */
	s->from--;
	if (s->from > 0 && text[s->from] == '\n' && text[s->from - 1] == '\r')
		s->from--;
	return print_splice(s, "%s", "");
}

int edit_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size)
{
	_owns_(struct splice, text) s = { .key = key, .value = value };
	_cleanup_(yaml_document_done) struct yaml_document d = { .key = key };
	int r = !value || is_value(value) ? 0 : write_odd(value, s.odd);

	s.put = *s.odd ? s.odd : value;
	if (r >= 0)
		r = yaml_document_read(text, size, YAML_KUBELET, &d);
	if (r < 0)
		return r;

	if (value && d.n_entries > 0 && yaml_node_is_text(d.entry, value) && !is_marked(d.entry))
		return MIN(replace(text, size, 0, 0, "", ret, ret_size), 0);

	s.change = !value ? DROP_KEY : d.n_entries > 0 ? CHANGE_VALUE : ADD_KEY;
	s.node = (size_t)((d.n_entries > 0 ? d.entry : d.kind) - d.tree.nodes);
	if (s.change == DROP_KEY)
		r = drop_entry(text, size, &d, &s);
	else if (s.change == CHANGE_VALUE)
		r = change_value(text, &d, &s);
	else
		r = d.is_json ? add_to_json(text, &d, &s) : add_to_yaml(text, size, &d, &s);
	return r < 0 ? r : put_splice(text, size, &d, &s, ret, ret_size);
}

/* Carrying a change out */

void kubelet_undo_done(struct kubelet_undo *u)
{
	free(u->before);
	free(u->after);
	*u = (struct kubelet_undo){};
}

bool kubelet_is_own(enum kubelet_way way)
{
	return way == KUBELET_WAY_DROP_IN || way == KUBELET_WAY_RANCHER;
}

void kubelet_edit_add(struct kubelet_edit *e, enum kubelet_setting s, const char *value)
{
	e->pairs[e->n_pairs].setting = s;
	COPY(e->pairs[e->n_pairs].value, value);
	e->n_pairs++;
}

/*
 * Only one kubelet-ensure edits at a time; another one waits a few milliseconds. The lock is a file
 * that only root can open: a lock on the temporary file, which gets the mode of the real one, could
 * be held by any user who can read it.
 */
int kubelet_lock(const struct fs *fs)
{
	int fd = fs_lock(fs, KUBELET_LOCK_PATH, LOCK_USEC);

	return fd < 0 ? log_error_errno(fd, "/" KUBELET_LOCK_PATH) : fd;
}

/* Texts */

static int set_values(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		      size_t *ret_size)
{
	_cleanup_(freep) char *now = NULL;
	int is_changed = 0, r = 0;

	for (size_t i = 0; i < e->n_pairs && r >= 0; i++) {
		char *next;

		r = edit_set(now ?: text, size, kubelet_key(e->pairs[i].setting), e->pairs[i].value,
			     &next, &size);
		if (r < 0)
			return r;
		free(now);
		now = next;
		is_changed |= r;
	}
	*ret = TAKE(now);
	*ret_size = size;
	return is_changed;
}

/* The old value must still stand where it was seen. */
static int set_token(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		     size_t *ret_size)
{
	if (e->from > e->to || e->to > size || e->to - e->from != strlen(e->old) ||
	    memcmp(text + e->from, e->old, e->to - e->from) != 0)
		return -EAGAIN;
	return replace(text, size, e->from, e->to, e->pairs[0].value, ret, ret_size);
}

static int print_flags(const struct kubelet_edit *e, const char *end, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_pairs && n < size; i++)
		n += (size_t)snprintf(ret + n, size - n, "%s--%s=%s", i > 0 ? end : "",
				      kubelet_flag(e->pairs[i].setting), e->pairs[i].value);
	return n < size ? 0 : -EOPNOTSUPP;
}

/* Into the variable, or as a line of its own at the end, which ends as the line before it did. */
static int add_flags(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		     size_t *ret_size)
{
	char flags[512], put[700];
	bool is_open;
	int r;

	if (e->extra.bytes != size)
		return -EAGAIN;
	r = print_flags(e, *e->extra.variable ? " " : "\n", flags, sizeof(flags));
	if (r < 0)
		return r;
	if (e->extra.at != UINT32_MAX) {
		if (e->extra.at > size)
			return -EAGAIN;
		PRINT(put, "%s%s", e->extra.is_empty ? "" : " ", flags);
		return replace(text, size, e->extra.at, e->extra.at, put, ret, ret_size);
	}
	is_open = size > 0 && text[size - 1] != '\n';
	PRINT(put, *e->extra.variable ? "%s%s=\"%s\"%s" : "%s%s%s%s", is_open ? "\n" : "",
	      e->extra.variable, flags, is_open ? "" : "\n");
	return replace(text, size, size, size, put, ret, ret_size);
}

int kubelet_own_text(const struct kubelet_edit *e, char **ret)
{
	const bool is_drop_in = e->way == KUBELET_WAY_DROP_IN;
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(OWN_LINE, out.f);
	fputs(is_drop_in ? "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
			 : "kubelet-arg+:\n",
	      out.f);
	FOREACH(pair, e->pairs, e->n_pairs)
		if (is_drop_in)
			fprintf(out.f, "%s: \"%s\"\n", kubelet_key(pair->setting), pair->value);
		else
			fprintf(out.f, "- \"%s=%s\"\n", kubelet_flag(pair->setting), pair->value);
	return stream_take(&out, ret);
}

/* Files */

static int edit_target(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *u)
{
	const bool is_file = e->way == KUBELET_WAY_FILE;
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r, is_changed;

	r = target_open(fs, e->path, is_file ? YAML_MAX_BYTES : MAX_FLAGS_BYTES, &t);
	if (r < 0)
		return r;
	if (is_file)
		r = set_values(t.text, t.size, e, &u->after, &u->after_size);
	else if (e->way == KUBELET_WAY_TOKEN)
		r = set_token(t.text, t.size, e, &u->after, &u->after_size);
	else
		r = add_flags(t.text, t.size, e, &u->after, &u->after_size);
	if (r < 0)
		return r;

	is_changed = r;
	r = replace(t.text, t.size, 0, 0, "", &u->before, &u->before_size);
	if (r < 0)
		return r;
	t.on_written = e->on_written;
	r = is_changed ? target_replace(&t, u->after, u->after_size) : 0;
	return r < 0 ? r : is_changed;
}

/* The name of the temporary file of @path, as fs_remove() knows it. */
static const char *name_temporary(const char *path, char ret[static FS_PATH_LEN])
{
	const char *slash = strrchr(path, '/');
	const int n = slash ? (int)(slash + 1 - path) : 0;

	snprintf(ret, FS_PATH_LEN, "%.*s.%s.tmp", n, path, path + n);
	return ret;
}

int kubelet_remove_temporary(const struct fs *fs, const char *path)
{
	return fs_remove(fs, name_temporary(fs_bare(path), (char[FS_PATH_LEN]){}));
}

/* A file of ours, or one of variables that was not there. */
static int make_file(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *u)
{
	const char *path = fs_bare(e->path);
	char temporary[FS_PATH_LEN];
	struct stat written;
	int r = fs_read_all(fs, path, MAX_FLAGS_BYTES, true, &u->before, &u->before_size);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r >= 0 && !is_prefix(u->before, OWN_LINE))
		return -EEXIST;
	r = e->way == KUBELET_WAY_EXTRA ? add_flags("", 0, e, &u->after, &u->after_size)
					: kubelet_own_text(e, &u->after);
	if (r < 0)
		return r;
	u->after_size = strlen(u->after);
	if (u->before && streq(u->before, u->after))
		return 0;
	name_temporary(path, temporary);
	r = fs_replace(fs, temporary, u->after, u->after_size, 0644);
	if (r >= 0)
		r = fs_stat(fs, temporary, &written);
	if (r >= 0 && e->on_written)
		r = e->on_written(fs, e->path, &written);
	if (r >= 0)
		r = fs_rename(fs, temporary, path, e->way == KUBELET_WAY_EXTRA);
	if (r < 0)
		fs_remove(fs, temporary);
	return r < 0 ? r : 1;
}

int kubelet_edit(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *ret)
{
	_cleanup_(kubelet_undo_done) struct kubelet_undo u = {};
	int r;

	COPY(u.path, e->path);
	if (kubelet_is_own(e->way)) {
		r = make_file(fs, e, &u);
	} else {
		r = edit_target(fs, e, &u);
		if (r == -ENOENT && e->way == KUBELET_WAY_EXTRA && e->extra.bytes == 0)
			r = make_file(fs, e, &u);
	}
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return r;
}

int kubelet_undo(const struct fs *fs, const struct kubelet_undo *u)
{
	return target_change(fs, u->path, u->after, u->after_size, u->before, u->before_size);
}

/* Takes our value back only where it still is the one that counts in the file. */
static int unset_value(const struct target *t, const struct kubelet_edit *e, bool was_there,
		       char **ret, size_t *ret_size)
{
	const char *key = kubelet_key(e->pairs[0].setting);
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	const struct yaml_item *item;
	struct yaml_fault fault;
	int r = yaml_read(t->text, t->size, YAML_KUBELET, &items, &fault);

	if (r < 0)
		return r;
	item = yaml_find(&items, key, "");
	if (!item || !streq(item->text, e->old))
		return 0;
	return edit_set(t->text, t->size, key, was_there ? e->pairs[0].value : NULL, ret, ret_size);
}

/* Widens to whole lines where only @rest is left; an open last line goes with the end before it. */
static void widen(const struct target *t, const char *rest, size_t *from, size_t *to)
{
	const size_t n = strlen(rest);
	size_t line = *from, end = *to;

	while (line > 0 && t->text[line - 1] != '\n')
		line--;
	while (end < t->size && t->text[end] != '\n')
		end++;
	if (*from - line + end - *to != n || memcmp(t->text + line, rest, *from - line) != 0 ||
	    memcmp(t->text + *to, rest + (*from - line), end - *to) != 0)
		return;
	*from = line > 0 && end == t->size ? line - 1 : line;
	*to = MIN(end + 1, t->size);
}

/* Where "--FLAG=OLD" is: at its place if that is known, else there must be one alone. A longer one,
 * or one in a comment, is not ours. Return: 1, 0 or -ENOTUNIQ. */
static int find_flag(const struct target *t, const struct kubelet_edit *e, size_t *ret_from,
		     size_t *ret_to)
{
	char flag[160];
	const char *at, *end, *line;
	const size_t n = (size_t)PRINT(flag, "--%s=%s", kubelet_flag(e->pairs[0].setting), e->old);

	at = memmem(t->text, t->size, flag, n);
	if (e->to >= n && e->to <= t->size && memcmp(t->text + e->to - n, flag, n) == 0)
		at = t->text + e->to - n;
	else if (at && memmem(at + n, t->size - (size_t)(at + n - t->text), flag, n))
		return -ENOTUNIQ;
	if (!at)
		return 0;
	for (line = at; line > t->text && line[-1] != '\n';)
		line--;
	if (strchr("#;", line[strspn(line, BLANKS)]))
		return 0;
	end = at + n;
	*ret_from = (size_t)(at - t->text);
	*ret_to = (size_t)(end - t->text);
	return end == t->text + t->size || strchr(" \t\r\n\"'", *end);
}

/* Puts back what was in place of ours, also where it is not in force any more. */
static int restore_flag(const struct target *t, const struct kubelet_edit *e, char **ret,
			size_t *ret_size)
{
	struct kubelet_edit edit = *e;
	size_t from, to;
	int r;

	if (e->from >= e->to) {
		r = find_flag(t, e, &from, &to);
		if (r <= 0)
			return r;
		edit.from = (uint32_t)(to - strlen(e->old));
		edit.to = (uint32_t)to;
	}
	return set_token(t->text, t->size, &edit, ret, ret_size);
}

/* The flag as it was added, with the blank before it, and with a variable that was added for it. */
static int remove_flag(const struct target *t, const struct kubelet_edit *e, char **ret,
		       size_t *ret_size)
{
	const char *end;
	char rest[80];
	size_t from, to;
	int r = find_flag(t, e, &from, &to);

	if (r <= 0)
		return r;
	end = t->text + to;
	if (from > 0 && t->text[from - 1] == ' ')
		from--;
	else if (*end == ' ')
		to++;
	PRINT(rest, "%s%s", e->extra.variable, *e->extra.variable ? "=\"\"" : "");
	widen(t, rest, &from, &to);
	return replace(t->text, t->size, from, to, "", ret, ret_size);
}

/* Is nothing in it but a variable without a value? */
static bool is_hollow(const char *text, size_t size)
{
	const char *quote = memmem(text, size, "=\"\"\n", 4);

	return size == 0 || (quote && quote + 4 == text + size && !memchr(text, '\n', size - 1));
}

int kubelet_take_back(const struct fs *fs, const struct kubelet_edit *e, bool was_there,
		      bool is_created)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	int r = target_open(fs, e->path, YAML_MAX_BYTES, &t);

	if (r == -ENOENT) /* with what a crash left of making it */
		return is_created ? fs_remove(fs, fs_bare(e->path)) : 0;
	if (r < 0)
		return r;
	if (e->way == KUBELET_WAY_FILE)
		r = unset_value(&t, e, was_there, &text, &size);
	else if (e->way == KUBELET_WAY_TOKEN)
		r = restore_flag(&t, e, &text, &size);
	else
		r = remove_flag(&t, e, &text, &size);
	if (r <= 0)
		return r;

	r = target_replace(&t, is_created && is_hollow(text, size) ? NULL : text, size);
	return r < 0 ? r : 1;
}

bool kubelet_is_refusal(int r)
{
	return r < 0 && r != -ENOMEM && r != -ENOSPC && r != -EDQUOT && r != -EIO;
}
