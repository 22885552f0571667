/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml-tree.h"

#define MAX_DEPTH   1000             /* of nested collections, as libyaml's own limit */
#define MAX_NODES   ((size_t)262144) /* they take more memory than their text */
#define MAX_ANCHORS ((size_t)256)    /* each alias is looked for among them */

static const char bom[] = { '\xEF', '\xBB', '\xBF' };

/* The state while a text is read. */
struct tree_reader {
	yaml_parser_t parser;
	const char *text;
	size_t size;
	size_t at_index, at_byte; /* the last mark that was converted */
	size_t open;              /* the collection that is being read; its own is in its end */
	int depth;
	struct {
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

const struct yaml_node *yaml_tree_meaning(const struct yaml_tree *t, const struct yaml_node *n)
{
	return &t->nodes[n->meaning];
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

static int next(struct tree_reader *rd, yaml_event_t *ret)
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
	snprintf(fault->why, sizeof(fault->why), "%s%s%s", p->problem ?: "", p->context ? ", " : "",
		 p->context ?: "");
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
	for (size_t i = rd->n_anchors; i-- > 0;)
		if (streq(rd->anchors[i].name, (const char *)name)) {
			*ret = rd->anchors[i].node;
			return 0;
		}
	return -EBADMSG;
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
	r = is_implicit ? next(rd, &e) : 0;
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

		r = next(&rd, &e);
		if (r >= 0)
			r = read_event(&rd, &e);
		is_done = e.type == YAML_DOCUMENT_END_EVENT;
	}
	if (r >= 0)
		ret->fault = (struct yaml_fault){};
	return r;
}
