/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml.h"

#include "../base/document.h"
#include "../os/target.h"
#include "yaml-tree.h"

#define API_VERSION  "kubelet.config.k8s.io/v1beta1"
#define KIND         "KubeletConfiguration"
#define MAX_ITEMS    65536            /* of the first two levels */
#define MAX_COMPARED (size_t)2048     /* of them, for duplicates */
#define MAX_BEHIND   8                /* merge keys inside of each other */
#define MAX_DEPTH    1000             /* of nested collections, as libyaml's own limit */
#define MAX_NODES    ((size_t)262144) /* they take more memory than their text */
#define MAX_ANCHORS  ((size_t)256)    /* each alias is looked for among them */

/* The tree */

static const char bom[] = { '\xEF', '\xBB', '\xBF' };

/* The state while a text is read. */
struct tree_reader {
	yaml_parser_t parser;
	const char *text;
	size_t size;
	size_t at_index, at_byte; /* the last mark that was converted */
	size_t open;              /* the collection that is being read; its own is in its end */
	int depth;
	struct anchor {
		char *name; /* owned */
		size_t node;
	} anchors[MAX_ANCHORS];
	size_t n_anchors;
	struct yaml_tree *t;
};

static void reader_done(struct tree_reader *rd)
{
	for (size_t i = 0; i < rd->n_anchors; i++)
		free(rd->anchors[i].name);
	yaml_parser_delete(&rd->parser);
}

void yaml_tree_done(struct yaml_tree *t)
{
	for (size_t i = 0; i < t->n_nodes; i++)
		free(t->nodes[i].text);
	free(t->nodes);
	*t = (struct yaml_tree){};
}

size_t yaml_tree_bom(const char *text, size_t size)
{
	return size >= sizeof(bom) && memcmp(text, bom, sizeof(bom)) == 0 ? sizeof(bom) : 0;
}

const struct yaml_node *yaml_tree_next(const struct yaml_tree *t, const struct yaml_node *n)
{
	return t->nodes + n->end;
}

bool yaml_node_is_text(const struct yaml_node *n, const char *text)
{
	return n->type == YAML_SCALAR_EVENT && n->length == strlen(text) && streq(n->text, text);
}

static uint32_t line_of(const char *text, size_t at)
{
	uint32_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/*
 * Is it text a kubelet could read? libyaml refuses what is not UTF-8, and control characters; but
 * of those that only YAML takes for line breaks, and of a byte order mark inside, it makes
 * something.
 */
static int check(const char *text, size_t size, struct yaml_tree *t)
{
	static const char *const refused[] = { "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9",
					       "\xEF\xBB\xBF" };
	size_t first = yaml_tree_bom(text, size);

	if (size > YAML_MAX_BYTES)
		return -EFBIG;
	for (size_t i = 0; i < ELEMENTSOF(refused); i++) {
		const char *at = memmem(text + first, size - first, refused[i], strlen(refused[i]));

		if (!at)
			continue;
		t->fault.line = line_of(text, (size_t)(at - text));
		return -EILSEQ;
	}
	return 0;
}

/* The text is known to be UTF-8 up to the mark. */
static size_t byte_of(struct tree_reader *rd, const yaml_mark_t *mark)
{
	for (; rd->at_index > mark->index; rd->at_index--)
		do
			rd->at_byte--;
		while (((unsigned char)rd->text[rd->at_byte] & 0xC0) == 0x80);
	for (; rd->at_index < mark->index && rd->at_byte < rd->size; rd->at_index++)
		do
			rd->at_byte++;
		while (rd->at_byte < rd->size &&
		       ((unsigned char)rd->text[rd->at_byte] & 0xC0) == 0x80);
	return rd->at_byte;
}

static int next_event(struct tree_reader *rd, yaml_event_t *ret)
{
	const yaml_parser_t *p = &rd->parser;
	struct yaml_fault *fault = &rd->t->fault;

	if (yaml_parser_parse(&rd->parser, ret))
		return 0;
	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR) {
		fault->line =
			line_of(rd->text, MIN(rd->size, p->problem_offset +
								yaml_tree_bom(rd->text, rd->size)));
		return -EILSEQ;
	}
	fault->line = (uint32_t)p->problem_mark.line + 1;
	fault->column = (uint32_t)p->problem_mark.column + 1;
	PRINT(fault->why, "%s%s%s", p->problem ?: "", p->context ? ", " : "", p->context ?: "");
	return -EBADMSG;
}

static int add_anchor(struct tree_reader *rd, const yaml_char_t *name)
{
	if (!name)
		return 0;
	if (rd->n_anchors == MAX_ANCHORS)
		return -EOPNOTSUPP;
	rd->anchors[rd->n_anchors].name = strdup((const char *)name);
	rd->anchors[rd->n_anchors].node = rd->t->n_nodes - 1;
	return rd->anchors[rd->n_anchors++].name ? 0 : -ENOMEM;
}

/* The last anchor of that name counts. */
static int find_anchor(const struct tree_reader *rd, const yaml_char_t *name, size_t *ret)
{
	const struct anchor *last =
		FIND_LAST(a, rd->anchors, rd->n_anchors, streq(a->name, (const char *)name));

	if (last)
		*ret = last->node;
	return last ? 0 : -EBADMSG;
}

static int add_node(struct tree_reader *rd, yaml_event_t *e)
{
	struct yaml_tree *t = rd->t;
	const yaml_char_t *anchor = NULL, *tag = NULL;
	struct yaml_node *n = t->n_nodes < MAX_NODES ? APPEND(t->nodes, t->n_nodes) : NULL;

	t->fault.line = (uint32_t)e->start_mark.line + 1;
	if (!n)
		return t->n_nodes == MAX_NODES ? -EOPNOTSUPP : -ENOMEM;
	n->type = e->type;
	n->line = t->fault.line;
	n->column = (uint32_t)e->start_mark.column;
	n->at = byte_of(rd, &e->start_mark);
	n->to = byte_of(rd, &e->end_mark);
	n->meaning = t->n_nodes - 1;
	n->end = t->n_nodes;
	if (e->type == YAML_ALIAS_EVENT) {
		t->has_alias = true;
		return find_anchor(rd, e->data.alias.anchor, &n->meaning);
	}
	if (e->type == YAML_SCALAR_EVENT) {
		n->text = (char *)TAKE(e->data.scalar.value);
		n->length = e->data.scalar.length;
		n->style = (int)e->data.scalar.style;
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
		n->is_string = !tag || streq((const char *)tag, YAML_STR_TAG);
	} else {
		const bool is_mapping = e->type == YAML_MAPPING_START_EVENT;

		n->style = is_mapping ? (int)e->data.mapping_start.style
				      : (int)e->data.sequence_start.style;
		anchor = is_mapping ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
		tag = is_mapping ? e->data.mapping_start.tag : e->data.sequence_start.tag;
		n->end = rd->open;
		rd->open = n->meaning;
		if (++rd->depth > MAX_DEPTH)
			return -EOPNOTSUPP;
	}
	n->has_anchor = anchor;
	n->has_tag = tag;
	return add_anchor(rd, anchor);
}

static void end_node(struct tree_reader *rd, const yaml_event_t *e)
{
	struct yaml_node *n = &rd->t->nodes[rd->open];

	n->to = byte_of(rd, &e->end_mark);
	rd->open = n->end;
	n->end = rd->t->n_nodes;
	rd->depth--;
}

/*
 * A document that nothing ends must be followed by another or by the end of the file: lines that
 * are indented less than the first key would else be lost without a word.
 */
static int read_end(struct tree_reader *rd, bool is_implicit)
{
	yaml_event_t e = {};
	int r;

	rd->t->is_ended = !is_implicit;
	r = is_implicit ? next_event(rd, &e) : 0;
	yaml_event_delete(&e);
	return r;
}

static int read_event(struct tree_reader *rd, yaml_event_t *e)
{
	switch (e->type) {
	case YAML_STREAM_START_EVENT:
		return 0;
	case YAML_STREAM_END_EVENT:
		return -ENODATA;
	case YAML_DOCUMENT_START_EVENT:
		rd->t->has_directive = e->data.document_start.version_directive ||
				       e->data.document_start.tag_directives.start !=
					       e->data.document_start.tag_directives.end;
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		return read_end(rd, e->data.document_end.implicit);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		end_node(rd, e);
		return 0;
	default:
		return add_node(rd, e);
	}
}

int yaml_tree_read(const char *text, size_t size, struct yaml_tree *ret)
{
	const size_t skip = yaml_tree_bom(text, size);
	_cleanup_(reader_done) struct tree_reader rd = {
		.text = text, .size = size, .at_byte = skip, .t = ret
	};
	bool is_done = false;
	int r = check(text, size, ret);

	if (r < 0)
		return r;
	if (!yaml_parser_initialize(&rd.parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&rd.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&rd.parser, (const unsigned char *)text + skip, size - skip);
	while (r >= 0 && !is_done) {
		_cleanup_(yaml_event_delete) yaml_event_t e = {};

		r = next_event(&rd, &e);
		if (r >= 0)
			r = read_event(&rd, &e);
		is_done = e.type == YAML_DOCUMENT_END_EVENT;
	}
	if (r >= 0)
		ret->fault = (struct yaml_fault){};
	return r;
}

/* The document */

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
	return &rd->d->tree.nodes[n->meaning];
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

	for (*ret = '\0', n++; n < end; n++) {
		const char *word = is_scalar(n) ? n->text : "";

		if (n->type == YAML_ALIAS_EVENT || word[strcspn(word, "\"\\,\t\r\n")] ||
		    (*word && !append_word(ret, 256, ",", "\"%s\"", word))) {
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

/* Which of a merged key and another of its name counts is the kubelet's: neither is known. */
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
	int r = yaml_document_read(text, size, kind, &d);

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

const struct yaml_item *yaml_find(const struct yaml_items *l, const char *key, const char *sub)
{
	/* The items in a collection follow the item of the collection itself: what an earlier one
	 * of that key has does not count. */
	const struct yaml_item *last = FIND_LAST(item, l->items, l->n_items,
						 streq(item->key, key) && !item->is_listed &&
							 (!item->sub[0] || streq(item->sub, sub)));

	return last && streq(last->sub, sub) ? last : NULL;
}

bool yaml_has_duplicates(const struct yaml_items *l)
{
	/* Keys that are not known, "?", are not told apart. */
	FOREACH(a, l->items, MIN(l->n_items, MAX_COMPARED))
		if (!a->is_listed && !streq(a->key, "?") && !streq(a->sub, "?") &&
		    ANY(b, l->items, (size_t)(a - l->items),
			!b->is_listed && streq(a->key, b->key) && streq(a->sub, b->sub)))
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
		{ -ENOTUNIQ, "has the flag more than once" },
		{ -EUCLEAN, "would not read as meant after the edit" },
	};

	for (size_t i = 0; i < ELEMENTSOF(problems); i++)
		if (problems[i].r == r)
			return problems[i].text;
	return target_problem(r);
}
