/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml.h"

#include "../base/document.h"
#include "../os/target.h"
#include "yaml-tree.h"

#define API_VERSION  "kubelet.config.k8s.io/v1beta1"
#define KIND         "KubeletConfiguration"
#define MAX_ITEMS    65536        /* of the first two levels */
#define MAX_COMPARED (size_t)2048 /* of them, for duplicates */
#define MAX_BEHIND   8            /* merge keys inside of each other */

/* The state while one document is read. */
struct yaml_reader {
	struct yaml_document *d;
	const struct yaml_node *version, *at; /* at: that was looked at last */
	size_t n_kinds, n_versions, n_steps;
	int n_behind;
	bool is_merged;
};

static const struct yaml_node *meaning(const struct yaml_reader *rd, const struct yaml_node *n)
{
	return yaml_tree_meaning(&rd->d->tree, n);
}

static const struct yaml_node *next(const struct yaml_reader *rd, const struct yaml_node *n)
{
	return yaml_tree_next(&rd->d->tree, n);
}

static bool is_scalar(const struct yaml_node *n)
{
	return n->type == YAML_SCALAR_EVENT;
}

bool yaml_node_is_null(const struct yaml_node *n)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	return n->style == YAML_PLAIN_SCALAR_STYLE &&
	       ANY(text, nulls, ELEMENTSOF(nulls), yaml_node_is_text(n, *text));
}

/* The words in a collection; "" when they do not fit, or are no words. */
static void take_words(const struct yaml_reader *rd, const struct yaml_node *n,
		       char ret[static 256])
{
	const struct yaml_node *end = next(rd, n);
	size_t at = 0;

	for (*ret = '\0', n++; n < end; n++) {
		const char *word = is_scalar(n) ? n->text : "";

		if (*word)
			at += (size_t)snprintf(ret + at, 256 - at, "%s\"%s\"", at > 0 ? "," : "",
					       word);
		if (n->type == YAML_ALIAS_EVENT || at >= 256 ||
		    word[strcspn(word, "\"\\,\t\r\n")]) {
			*ret = '\0';
			return;
		}
	}
}

/* @line: of the alias that leads here; 0: none does. */
static int add_item(struct yaml_reader *rd, const char *key, const char *sub, bool is_listed,
		    const struct yaml_node *n, uint32_t line)
{
	struct yaml_items *l = rd->d->items;
	struct yaml_item *item;

	rd->at = n;
	if (!l)
		return 0;
	if (rd->n_steps++ == MAX_ITEMS)
		return -EOPNOTSUPP;
	item = APPEND(l->items, l->n_items);
	if (!item)
		return -ENOMEM;

	COPY(item->key, key);
	COPY(item->sub, sub);
	item->line = line > 0 ? line : n->line;
	item->is_listed = is_listed;
	n = meaning(rd, n);
	item->is_odd = !is_scalar(n) || n->has_tag;
	if (!is_scalar(n)) {
		if (is_listed && streq(key, YAML_WITH_WORDS))
			take_words(rd, n, item->text);
		return 0;
	}
	/* A NUL can be written as "\0": such a value is longer than it looks. */
	item->is_odd |= !COPY(item->text, n->text) || strlen(n->text) != n->length;
	item->is_null = !item->is_odd && yaml_node_is_null(n);
	item->is_plain = n->style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

/* A key that is no word, or too long, is "?": no caller looks for it. Return: 1 for a merge key. */
static int take_key(struct yaml_reader *rd, const struct yaml_node *n, char ret[static 64])
{
	rd->at = n;
	n = meaning(rd, n);
	rd->d->is_fixed |= n->has_anchor || n->has_tag;
	if (!n->is_string)
		return -EOPNOTSUPP;
	if (!copy(ret, 64, n->text) || strlen(n->text) != n->length || !*ret)
		copy(ret, 64, "?");
	return n->style == YAML_PLAIN_SCALAR_STYLE && yaml_node_is_text(n, "<<");
}

/* The line for what is in @n: of the first alias on the way. */
static uint32_t line_in(const struct yaml_node *n, uint32_t line)
{
	return line > 0 || n->type != YAML_ALIAS_EVENT ? line : n->line;
}

static int read_mapping(struct yaml_reader *rd, const struct yaml_node *n, uint32_t line);
static int read_collection(struct yaml_reader *rd, const char *key, const struct yaml_node *n,
			   uint32_t line);

/*
 * The value of a merge key, in the top level where @key is "": a mapping or a list of mappings,
 * whose keys stand in the place of the merge key.
 */
static int read_merge(struct yaml_reader *rd, const char *key, const struct yaml_node *n,
		      uint32_t line)
{
	const struct yaml_node *list = meaning(rd, n), *item;
	int r = -EBADMSG;

	rd->at = n;
	rd->d->is_fixed = rd->is_merged = true;
	line = line_in(n, line);
	if (rd->n_behind == MAX_BEHIND || rd->n_steps++ == MAX_ITEMS)
		return -EOPNOTSUPP;
	rd->n_behind++;
	if (list->type == YAML_MAPPING_START_EVENT)
		r = *key ? read_collection(rd, key, list, line) : read_mapping(rd, list, line);
	else if (list->type == YAML_SEQUENCE_START_EVENT)
		for (item = list + 1, r = 0; item < next(rd, list) && r >= 0; item = next(rd, item))
			r = meaning(rd, item)->type == YAML_MAPPING_START_EVENT
				    ? read_merge(rd, key, item, line)
				    : -EBADMSG;
	rd->n_behind--;
	return r;
}

/* Notes the scalars right below a collection. */
static int read_collection(struct yaml_reader *rd, const char *key, const struct yaml_node *n,
			   uint32_t line)
{
	const bool is_mapping = n->type == YAML_MAPPING_START_EVENT;
	const struct yaml_node *end = next(rd, n);
	int r = 0;

	for (n++; n < end && r >= 0; n = next(rd, n)) {
		char sub[64] = "";

		r = 0;
		if (is_mapping) {
			COPY(sub, "?");
			if (is_scalar(meaning(rd, n)))
				r = take_key(rd, n, sub);
			n = next(rd, n);
		}
		if (r == 0)
			r = add_item(rd, key, sub, !is_mapping, n, line);
		else if (r > 0)
			r = read_merge(rd, key, n, line);
	}
	return r;
}

static int read_entry(struct yaml_reader *rd, const struct yaml_node *key,
		      const struct yaml_node *n, uint32_t line)
{
	struct yaml_document *d = rd->d;
	const struct yaml_node *value = meaning(rd, n);
	char name[64];
	int r;

	/* "? key" is the only way for a key to stand elsewhere than its mapping begins. */
	d->is_fixed |= !d->is_json && key->column != d->tree.nodes->column;
	r = take_key(rd, key, name);
	if (r > 0)
		return read_merge(rd, "", n, line);
	if (r >= 0)
		r = add_item(rd, name, "", false, n, line);
	if (r >= 0 && !is_scalar(value))
		r = read_collection(rd, name, value, line_in(n, line));
	if (r < 0)
		return r;

	if (streq(name, "kind")) {
		d->kind = value;
		rd->n_kinds++;
	} else if (streq(name, "apiVersion")) {
		rd->version = value;
		rd->n_versions++;
	} else if (d->key && streq(name, d->key)) {
		d->entry = value;
		d->n_entries++;
	}
	return 0;
}

/* A mapping of the top level. */
static int read_mapping(struct yaml_reader *rd, const struct yaml_node *n, uint32_t line)
{
	const struct yaml_node *end = next(rd, n), *value;
	int r = 0;

	for (n++; n < end && r >= 0; n = next(rd, value)) {
		value = next(rd, n);
		r = read_entry(rd, n, value, line);
	}
	return r;
}

static bool is_word(const struct yaml_node *n, const char *text)
{
	return yaml_node_is_text(n, text) && n->style != YAML_LITERAL_SCALAR_STYLE &&
	       n->style != YAML_FOLDED_SCALAR_STYLE;
}

/* Which of a merged key and another of that name counts depends on the kubelet: neither is known.
 */
static int mark_merged(const struct yaml_reader *rd)
{
	const struct yaml_items *l = rd->d->items;

	if (!rd->is_merged || !l)
		return 0;
	if (l->n_items > MAX_COMPARED)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < l->n_items; i++)
		for (size_t k = 0; k < i && !l->items[i].is_listed; k++)
			if (!l->items[k].is_listed && streq(l->items[i].key, l->items[k].key) &&
			    streq(l->items[i].sub, l->items[k].sub))
				l->items[i].is_odd = true;
	return 0;
}

static int read_document(struct yaml_reader *rd)
{
	struct yaml_document *d = rd->d;
	const struct yaml_tree *t = &d->tree;
	const struct yaml_node *root = t->nodes;
	int r;

	if (is_scalar(root) && root->length == 0)
		return -ENODATA;
	if (root->type != YAML_MAPPING_START_EVENT)
		return -EMEDIUMTYPE;
	d->is_fixed = t->has_directive || t->has_alias || root->has_anchor || root->has_tag ||
		      (root->style == (int)YAML_FLOW_MAPPING_STYLE && !d->is_json);
	r = read_mapping(rd, root, 0);
	if (r >= 0)
		r = mark_merged(rd);
	if (r == -EBADMSG || r == -EOPNOTSUPP)
		d->tree.fault.line = rd->at->line;
	return r;
}

/* libyaml takes more for JSON than the kubelet does: comments, trailing commas, single quotes. */
static int check_json(const char *text, size_t size, struct yaml_fault *fault)
{
	json_error_t error = {};
	json_auto_t *value = NULL;
	const int r = document_parse(text, size, 0, &value, &error);

	if (r == -EINVAL) { /* the words of the file behind " near " are not shown */
		fault->line = (uint32_t)error.line;
		fault->column = (uint32_t)MAX(error.column, 1);
		COPY(fault->why, error.text);
		if (strstr(fault->why, " near "))
			*strstr(fault->why, " near ") = '\0';
	}
	return json_is_object(value) ? 0 : r == -ENOMEM ? r : -EBADMSG;
}

int yaml_document_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_document *d)
{
	struct yaml_reader rd = { .d = d };
	size_t first = 0;
	int r = 0;

	/* No blank beyond ASCII is worth a wider test: with one it is neither JSON nor YAML. */
	while (first < size && memchr(" \t\r\n", text[first], 4))
		first++;
	if (size > YAML_MAX_BYTES || first == size)
		return first == size ? -ENODATA : -EFBIG;
	d->is_json = text[first] == '{';
	if (d->is_json)
		r = check_json(text, size, &d->tree.fault);
	if (r >= 0)
		r = yaml_tree_read(text, size, &d->tree);
	if (r >= 0)
		r = read_document(&rd);
	if (r < 0)
		return r;
	if (kind == YAML_KUBELET && (rd.n_kinds != 1 || rd.n_versions != 1 ||
				     !is_word(d->kind, KIND) || !is_word(rd.version, API_VERSION)))
		return -EMEDIUMTYPE;
	d->is_fixed |= d->kind && (d->kind->has_anchor || d->kind->has_tag);
	return d->is_fixed && !d->items ? -EOPNOTSUPP : 0;
}

void yaml_document_done(struct yaml_document *d)
{
	yaml_tree_done(&d->tree);
}

int yaml_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_items *ret,
	      struct yaml_fault *fault)
{
	_cleanup_(yaml_items_done) struct yaml_items l = {};
	_cleanup_(yaml_document_done) struct yaml_document d = { .items = &l };
	int r;

	r = yaml_document_read(text, size, kind, &d);
	*fault = d.tree.fault;
	if (r < 0)
		return r;

	l.is_json = d.is_json;
	l.is_fixed = d.is_fixed;
	*ret = TAKE_STRUCT(l);
	return 0;
}

void yaml_items_done(struct yaml_items *l)
{
	free(l->items);
	*l = (struct yaml_items){};
}

static bool is_top(const struct yaml_item *item)
{
	return !item->is_listed && !item->sub[0];
}

const struct yaml_item *yaml_find(const struct yaml_items *l, const char *key, const char *sub)
{
	/* The items in a collection follow the item of the collection itself. */
	for (size_t i = l->n_items; i-- > 0;) {
		const struct yaml_item *item = &l->items[i];

		if (!streq(item->key, key))
			continue;
		if (!item->is_listed && streq(item->sub, sub))
			return item;
		if (is_top(item))
			return NULL; /* what an earlier one of that key has does not count */
	}
	return NULL;
}

bool yaml_has_duplicates(const struct yaml_items *l)
{
	for (size_t i = 0; i < MIN(l->n_items, MAX_COMPARED); i++)
		for (size_t k = 0; k < i && is_top(&l->items[i]); k++)
			if (is_top(&l->items[k]) && streq(l->items[i].key, l->items[k].key))
				return true;
	return false;
}

const char *yaml_problem(int r)
{
	static const struct {
		int r;
		const char *text;
	} problems[] = {
		{ -ENODATA, "is empty" },
		{ -EFBIG, "is larger than 4 MiB" },
		{ -EILSEQ, "is not UTF-8 or has characters that no configuration has" },
		{ -EBADMSG, "is not valid YAML or JSON" },
		{ -EMEDIUMTYPE, "is not a " KIND " of " API_VERSION },
		{ -EOPNOTSUPP,
		  "uses YAML that is not understood or not edited: aliases, tags, ..." },
		{ -EUCLEAN, "would not read as meant after the edit" },
	};

	for (size_t i = 0; i < ELEMENTSOF(problems); i++)
		if (problems[i].r == r)
			return problems[i].text;
	return target_problem(r);
}
