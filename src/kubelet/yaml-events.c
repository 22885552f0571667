/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml-events.h"

static const char bom[] = { '\xEF', '\xBB', '\xBF' };

size_t yaml_events_bom(const char *text, size_t size)
{
	return size >= sizeof(bom) && memcmp(text, bom, sizeof(bom)) == 0 ? sizeof(bom) : 0;
}

int yaml_events_open(struct yaml_events *s, const char *text, size_t size)
{
	size_t skip = yaml_events_bom(text, size);

	if (!yaml_parser_initialize(&s->parser))
		return -ENOMEM;

	s->text = text;
	s->size = size;
	s->at_byte = skip;
	yaml_parser_set_encoding(&s->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&s->parser, (const unsigned char *)text + skip, size - skip);
	return 0;
}

void yaml_events_done(struct yaml_events *s)
{
	if (s->text)
		yaml_parser_delete(&s->parser);
}

int yaml_events_next(struct yaml_events *s, yaml_event_t *ret)
{
	if (!yaml_parser_parse(&s->parser, ret))
		return s->parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG;

	s->n_events++;
	return 0;
}

/* The text was found to be UTF-8 before. */
size_t yaml_events_byte(struct yaml_events *s, const yaml_mark_t *mark)
{
	if (mark->index < s->at_index) {
		s->at_index = 0;
		s->at_byte = yaml_events_bom(s->text, s->size);
	}

	for (; s->at_index < mark->index && s->at_byte < s->size; s->at_index++)
		do
			s->at_byte++;
		while (s->at_byte < s->size && ((unsigned char)s->text[s->at_byte] & 0xC0) == 0x80);

	return s->at_byte;
}

static bool is_allowed(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	if (c >= 0x7F && c < 0xA0) /* DEL and C1, with U+0085 */
		return false;
	return c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

int yaml_events_check(const char *text, size_t size, uint32_t *ret_line)
{
	size_t first = 0;

	*ret_line = 0;
	if (size > YAML_MAX_BYTES)
		return -EFBIG;

	for (size_t i = yaml_events_bom(text, size), n; i < size; i += n) {
		uint32_t c;

		n = utf8_decode(text + i, size - i, &c);
		*ret_line += i == 0 || text[i - 1] == '\n';
		if (n == 0 || !is_allowed(c))
			return -EILSEQ;
	}

	/* No blank beyond ASCII is worth a wider test: with one it is neither JSON nor YAML. */
	while (first < size && strchr(" \t\r\n", text[first]))
		first++;
	if (first == size)
		return -ENODATA;
	*ret_line = 0;
	return text[first] == '{';
}

bool yaml_events_is_text(const yaml_event_t *e, const char *text)
{
	return e->data.scalar.length == strlen(text) &&
	       memcmp(e->data.scalar.value, text, strlen(text)) == 0;
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
	return e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
	       : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
	       : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
						      : NULL;
}

bool yaml_events_is_marked(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return anchor_of(e) || e->data.scalar.tag;
	case YAML_MAPPING_START_EVENT:
		return anchor_of(e) || e->data.mapping_start.tag;
	case YAML_SEQUENCE_START_EVENT:
		return anchor_of(e) || e->data.sequence_start.tag;
	default:
		return true;
	}
}

bool yaml_events_is_string(const yaml_event_t *e)
{
	return e->type == YAML_SCALAR_EVENT &&
	       (!e->data.scalar.tag || streq((const char *)e->data.scalar.tag, YAML_STR_TAG));
}

struct yaml_fault yaml_events_fault(const struct yaml_events *s)
{
	const yaml_parser_t *p = &s->parser;
	const yaml_mark_t *mark = p->error ? &p->problem_mark : &p->mark;
	struct yaml_fault fault = { .line = (uint32_t)mark->line + 1 };

	if (!p->error)
		return fault;
	fault.column = (uint32_t)mark->column + 1;
	snprintf(fault.why, sizeof(fault.why), "%s%s%s", p->problem ?: "", p->context ? ", " : "",
		 p->context ?: "");
	return fault;
}

int yaml_events_follow(const struct yaml_events *s, const yaml_event_t *alias,
		       struct yaml_events *behind, yaml_event_t *ret)
{
	const char *name = (const char *)alias->data.alias.anchor;
	size_t found = 0;
	int r;

	r = yaml_events_open(behind, s->text, s->size);
	while (r >= 0 && behind->n_events + 1 < s->n_events) {
		_cleanup_(yaml_event_delete) yaml_event_t e = {};

		r = yaml_events_next(behind, &e);
		if (r >= 0 && anchor_of(&e) && streq((const char *)anchor_of(&e), name))
			found = behind->n_events;
	}
	yaml_events_done(behind);
	*behind = (struct yaml_events){};
	if (r < 0 || found == 0)
		return r < 0 ? r : -EBADMSG;

	r = yaml_events_open(behind, s->text, s->size);
	while (r >= 0 && behind->n_events < found) {
		yaml_event_delete(ret);
		r = yaml_events_next(behind, ret);
	}
	return r;
}
