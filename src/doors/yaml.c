/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml.h"

#include <assert.h>
#include <yaml.h>

#define API_VERSION "kubelet.config.k8s.io/v1beta1"
#define KIND        "KubeletConfiguration"
#define MAX_DEPTH   64 /* of nested collections; also keeps old libyaml from quadratic time */

static const char bom[] = { '\xEF', '\xBB', '\xBF' };

/* libyaml's events and where they are: its marks count characters, we need bytes. */
struct reader {
	yaml_parser_t parser;
	const char *text;
	size_t size;
	size_t n_events;
	size_t at_index, at_byte; /* the last mark that was converted */
};

static size_t bom_size(const char *text, size_t size)
{
	return size >= sizeof(bom) && memcmp(text, bom, sizeof(bom)) == 0 ? sizeof(bom) : 0;
}

static int reader_open(struct reader *rd, const char *text, size_t size)
{
	size_t skip = bom_size(text, size);

	if (!yaml_parser_initialize(&rd->parser))
		return -ENOMEM;

	rd->text = text;
	rd->size = size;
	rd->at_byte = skip; /* libyaml does not count it */
	yaml_parser_set_encoding(&rd->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&rd->parser, (const unsigned char *)text + skip, size - skip);
	return 0;
}

static void reader_done(struct reader *rd)
{
	if (rd->text)
		yaml_parser_delete(&rd->parser);
}

static int reader_next(struct reader *rd, yaml_event_t *ret)
{
	if (!yaml_parser_parse(&rd->parser, ret))
		return rd->parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG;

	rd->n_events++;
	return 0;
}

/* The text was found to be UTF-8 before. */
static size_t byte_of(struct reader *rd, const yaml_mark_t *mark)
{
	if (mark->index < rd->at_index) {
		rd->at_index = 0;
		rd->at_byte = bom_size(rd->text, rd->size);
	}

	for (; rd->at_index < mark->index && rd->at_byte < rd->size; rd->at_index++)
		do
			rd->at_byte++;
		while (rd->at_byte < rd->size &&
		       ((unsigned char)rd->text[rd->at_byte] & 0xC0) == 0x80);

	return rd->at_byte;
}

/* Length of the first character, 0 when it is none. */
static size_t decode(const unsigned char *s, size_t size, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : (s[0] & 0xE0) == 0xC0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : 4;
	uint32_t c;

	if (n == 4 && (s[0] & 0xF8) != 0xF0)
		return 0;
	if (n > size)
		return 0;

	c = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3F);
	}

	*ret = c;
	return c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : n;
}

static bool is_allowed(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	if (c >= 0x7F && c < 0xA0) /* DEL and C1, with U+0085 */
		return false;
	return c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

static int check_text(const char *text, size_t size)
{
	size_t first = 0;

	if (size > YAML_MAX_BYTES)
		return -EFBIG;

	for (size_t i = bom_size(text, size), n; i < size; i += n) {
		uint32_t c;

		n = decode((const unsigned char *)text + i, size - i, &c);
		if (n == 0 || !is_allowed(c))
			return -EILSEQ;
	}

	/* The kubelet's own test for JSON; no blank beyond ASCII is worth a wider one: it is no
	 * YAML. */
	while (first < size && strchr(" \t\r\n", text[first]))
		first++;
	if (first < size && text[first] == '{')
		return -EPROTONOSUPPORT;

	return first == size ? -ENODATA : 0;
}

/* One key of the top level with its value. */
struct entry {
	char value[64]; /* decoded, cut */
	size_t length;  /* of the whole value */
	bool is_scalar;
	bool is_marked; /* has an anchor or a tag */
	yaml_scalar_style_t style;
	size_t key, start, end; /* bytes: of the key's first, of the value's first and behind it */
	size_t event;           /* number of the value's event, from 1 */
	uint32_t line;
};

struct document {
	const char *key;                   /* asked for */
	struct entry kind, version, entry; /* the last of each */
	size_t n_kinds, n_versions, n_entries;
	char *blank; /* not owned: where values of the key are overwritten; NULL: nowhere */
};

static bool is_text(const yaml_event_t *e, const char *text)
{
	return e->data.scalar.length == strlen(text) &&
	       memcmp(e->data.scalar.value, text, strlen(text)) == 0;
}

static bool is_marked(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return e->data.scalar.anchor || e->data.scalar.tag;
	case YAML_MAPPING_START_EVENT:
		return e->data.mapping_start.anchor || e->data.mapping_start.tag;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.anchor || e->data.sequence_start.tag;
	default:
		return true;
	}
}

/* Goes to the end of the collection whose start is @e: then @e is its end. */
static int skip_collection(struct reader *rd, yaml_event_t *e)
{
	size_t depth = 1;
	int r;

	while (depth > 0) {
		yaml_event_delete(e);
		r = reader_next(rd, e);
		if (r < 0)
			return r;

		if (e->type == YAML_ALIAS_EVENT) /* what it brings in would have to be understood */
			return -EOPNOTSUPP;
		if (e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT)
			depth++;
		else if (e->type == YAML_MAPPING_END_EVENT || e->type == YAML_SEQUENCE_END_EVENT)
			depth--;
		if (depth > MAX_DEPTH)
			return -EOPNOTSUPP;
	}

	return 0;
}

static int read_value(struct reader *rd, struct entry *ret)
{
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	int r;

	r = reader_next(rd, &e);
	if (r < 0)
		return r;

	ret->event = rd->n_events;
	ret->start = byte_of(rd, &e.start_mark);
	ret->line = (uint32_t)e.start_mark.line + 1;
	ret->is_marked = is_marked(&e);
	ret->is_scalar = e.type == YAML_SCALAR_EVENT;

	if (ret->is_scalar) {
		ret->style = e.data.scalar.style;
		ret->length = e.data.scalar.length;
		memcpy(ret->value, e.data.scalar.value, MIN(ret->length, sizeof(ret->value) - 1));
	} else if (e.type == YAML_ALIAS_EVENT) {
		return -EOPNOTSUPP;
	} else {
		r = skip_collection(rd, &e);
		if (r < 0)
			return r;
	}

	ret->end = byte_of(rd, &e.end_mark);
	return 0;
}

static void blank(char *text, const struct entry *entry)
{
	for (size_t i = entry->start; i < entry->end; i++)
		if (!strchr(" \t\r\n", text[i]))
			text[i] = '#';
}

static int read_entry(struct reader *rd, struct document *d, const yaml_event_t *key, size_t column)
{
	struct entry entry = {};
	int r;

	/* "? key" is the only way for a key to stand elsewhere than its mapping begins. */
	if (key->type != YAML_SCALAR_EVENT || is_marked(key) || key->start_mark.column != column ||
	    key->data.scalar.length == 0 || is_text(key, "<<"))
		return -EOPNOTSUPP;

	entry.key = byte_of(rd, &key->start_mark);
	r = read_value(rd, &entry);
	if (r < 0)
		return r;

	if (is_text(key, "kind")) {
		d->kind = entry;
		d->n_kinds++;
	} else if (is_text(key, "apiVersion")) {
		d->version = entry;
		d->n_versions++;
	} else if (is_text(key, d->key)) {
		d->entry = entry;
		d->n_entries++;
		if (d->blank)
			blank(d->blank, &entry);
	}

	return 0;
}

/* To the start of the first document's mapping: @ret is that event. */
static int read_start(struct reader *rd, yaml_event_t *ret)
{
	bool has_directives = false;
	int r;

	for (;;) {
		r = reader_next(rd, ret);
		if (r < 0)
			return r;
		if (ret->type == YAML_DOCUMENT_START_EVENT)
			has_directives = ret->data.document_start.version_directive ||
					 ret->data.document_start.tag_directives.start !=
						 ret->data.document_start.tag_directives.end;
		else if (ret->type != YAML_STREAM_START_EVENT)
			break;
		yaml_event_delete(ret);
	}

	if (has_directives)
		return -EOPNOTSUPP;
	if (ret->type == YAML_STREAM_END_EVENT ||
	    (ret->type == YAML_SCALAR_EVENT && ret->data.scalar.length == 0))
		return -ENODATA;
	if (ret->type != YAML_MAPPING_START_EVENT)
		return -EMEDIUMTYPE;
	if (is_marked(ret) || ret->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE)
		return -EOPNOTSUPP;
	return 0;
}

/*
 * A document that nothing ends must be followed by another or by the end of the file: lines that
 * are indented less than the first key would else be lost without a word.
 */
static int read_end(struct reader *rd)
{
	_cleanup_(yaml_event_delete) yaml_event_t end = {}, next = {};
	int r;

	r = reader_next(rd, &end);
	if (r < 0)
		return r;
	if (end.type != YAML_DOCUMENT_END_EVENT)
		return -EBADMSG;

	return end.data.document_end.implicit ? reader_next(rd, &next) : 0;
}

static bool is_word(const struct entry *e, const char *text)
{
	return e->is_scalar && !e->is_marked && e->length == strlen(text) &&
	       streq(e->value, text) && e->style != YAML_LITERAL_SCALAR_STYLE &&
	       e->style != YAML_FOLDED_SCALAR_STYLE;
}

static int read_document(const char *text, size_t size, struct document *d)
{
	_cleanup_(reader_done) struct reader rd = {};
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	size_t column;
	int r;

	r = check_text(text, size);
	if (r >= 0)
		r = reader_open(&rd, text, size);
	if (r >= 0)
		r = read_start(&rd, &e);
	if (r < 0)
		return r;

	for (column = e.start_mark.column;;) {
		yaml_event_delete(&e);
		r = reader_next(&rd, &e);
		if (r < 0)
			return r;
		if (e.type == YAML_MAPPING_END_EVENT)
			break;
		r = read_entry(&rd, d, &e, column);
		if (r < 0)
			return r;
	}

	r = read_end(&rd);
	if (r < 0)
		return r;

	return d->n_kinds == 1 && d->n_versions == 1 && is_word(&d->kind, KIND) &&
			       is_word(&d->version, API_VERSION)
		       ? 0
		       : -EMEDIUMTYPE;
}

static bool is_null(const struct entry *e)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; i < ELEMENTSOF(nulls); i++)
		if (e->style == YAML_PLAIN_SCALAR_STYLE && streq(e->value, nulls[i]))
			return true;
	return false;
}

/* A NUL can be written as "\0": such a value is longer than it looks. */
static bool is_understood(const struct entry *e)
{
	return e->is_scalar && !e->is_marked &&
	       strlen(e->value) == MIN(e->length, sizeof(e->value) - 1);
}

int yaml_get(const char *text, size_t size, const char *key, struct yaml_value *ret)
{
	struct document d = { .key = key };
	int r;

	r = read_document(text, size, &d);
	if (r < 0)
		return r;
	if (d.n_entries == 0)
		return 0;
	if (!is_understood(&d.entry))
		return -EOPNOTSUPP;

	*ret = (struct yaml_value){ .line = d.entry.line, .is_null = is_null(&d.entry) };
	COPY(ret->text, d.entry.value);
	return 1;
}

/* What is put in, between which bytes of the old text. */
struct splice {
	size_t from, to;
	char text[192];
	bool is_new_key;
	size_t event; /* the value's that changes, or the one before a new key */
};

static void line_end_of(const char *text, size_t size, size_t at, char ret[3])
{
	size_t n = at + 1 < size && text[at] == '\r' && text[at + 1] == '\n' ? 2 : 1;

	memcpy(ret, text + at, n);
	ret[n] = '\0';
}

static int splice_new(const char *text, size_t size, const struct document *d, const char *value,
		      struct splice *ret)
{
	size_t line = d->kind.key, end = d->kind.end, n;
	char eol[3] = "\n";

	while (line > bom_size(text, size) && text[line - 1] == ' ')
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

	n = (size_t)snprintf(ret->text, sizeof(ret->text), "%s%.*s%s: %s", eol,
			     (int)MIN(d->kind.key - line, sizeof(ret->text)), text + line, d->key,
			     value);
	ret->from = ret->to = end;
	ret->is_new_key = true;
	ret->event = d->kind.event;
	return n < sizeof(ret->text) ? 0 : -EOPNOTSUPP;
}

static int splice_value(const struct document *d, const char *value, struct splice *ret)
{
	const struct entry *e = &d->entry;
	const char *quote = "";

	if (!is_understood(e) || e->style == YAML_LITERAL_SCALAR_STYLE ||
	    e->style == YAML_FOLDED_SCALAR_STYLE)
		return -EOPNOTSUPP;

	if (e->style == YAML_SINGLE_QUOTED_SCALAR_STYLE)
		quote = "'";
	if (e->style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
		quote = "\"";

	/* An absent value is marked directly behind the colon. */
	snprintf(ret->text, sizeof(ret->text), "%s%s%s%s", e->start == e->end ? " " : "", quote,
		 value, quote);
	ret->from = e->start;
	ret->to = e->end;
	ret->event = e->event;
	return 0;
}

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
static int expect(struct reader *rd, const char *text)
{
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	int r;

	r = reader_next(rd, &e);
	if (r == -ENOMEM)
		return r;
	return r >= 0 && e.type == YAML_SCALAR_EVENT && !is_marked(&e) && is_text(&e, text)
		       ? 0
		       : -EUCLEAN;
}

/* -EUCLEAN unless @b's document has every event of @a's, but for what the splice is about. */
static int compare(struct reader *a, struct reader *b, const struct splice *s, const char *key,
		   const char *value)
{
	bool is_end = false;
	int r = 0;

	while (!is_end) {
		_cleanup_(yaml_event_delete) yaml_event_t old = {}, new = {};

		r = reader_next(a, &old);
		if (r >= 0 && a->n_events == s->event && !s->is_new_key) {
			r = expect(b, value);
			if (r < 0)
				return r;
			continue;
		}
		if (r >= 0)
			r = reader_next(b, &new);
		if (r < 0)
			return r == -ENOMEM ? r : -EUCLEAN;
		if (!is_same(&old, &new))
			return -EUCLEAN;

		if (a->n_events == s->event) {
			r = expect(b, key);
			if (r >= 0)
				r = expect(b, value);
			if (r < 0)
				return r;
		}
		is_end = old.type == YAML_DOCUMENT_END_EVENT || old.type == YAML_STREAM_END_EVENT;
	}

	return 0;
}

static int verify(const char *old, size_t old_size, const char *new, size_t new_size,
		  const struct splice *s, const char *key, const char *value)
{
	_cleanup_(reader_done) struct reader a = {}, b = {};
	struct yaml_value v;
	int r;

	r = reader_open(&a, old, old_size);
	if (r >= 0)
		r = reader_open(&b, new, new_size);
	if (r >= 0)
		r = compare(&a, &b, s, key, value);
	if (r < 0)
		return r;

	r = yaml_get(new, new_size, key, &v);
	if (r == -ENOMEM)
		return r;
	return r > 0 && !v.is_null && streq(v.text, value) ? 0 : -EUCLEAN;
}

static bool is_plain_word(const char *s)
{
	return *s >= 'a' && *s <= 'z' && strlen(s) < sizeof(((struct yaml_value *)0)->text) &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

int yaml_set(const char *text, size_t size, const char *key, const char *value, char **ret,
	     size_t *ret_size)
{
	_cleanup_(freep) char *new = NULL;
	struct document d = { .key = key };
	struct splice s = {};
	size_t n, new_size;
	bool is_there;
	int r;

	assert(is_plain_word(value));

	r = read_document(text, size, &d);
	if (r < 0)
		return r;

	is_there = d.n_entries > 0 && is_understood(&d.entry) && streq(d.entry.value, value);
	if (!is_there) {
		r = d.n_entries > 0 ? splice_value(&d, value, &s)
				    : splice_new(text, size, &d, value, &s);
		if (r < 0)
			return r;
	}

	n = strlen(s.text);
	new_size = size - (s.to - s.from) + n;
	new = malloc(new_size + 1);
	if (!new)
		return -ENOMEM;
	memcpy(new, text, s.from);
	memcpy(new + s.from, s.text, n);
	memcpy(new + s.from + n, text + s.to, size - s.to);
	new[new_size] = '\0';

	if (!is_there) {
		r = verify(text, size, new, new_size, &s, key, value);
		if (r < 0)
			return r;
	}

	*ret = TAKE(new);
	*ret_size = new_size;
	return !is_there;
}

int yaml_blank(const char *text, size_t size, const char *key, char **ret)
{
	_cleanup_(freep) char *copy_of = malloc(size + 1);
	struct document d = { .key = key, .blank = copy_of };
	int r;

	if (!copy_of)
		return -ENOMEM;
	memcpy(copy_of, text, size);
	copy_of[size] = '\0';

	r = read_document(text, size, &d);
	if (r < 0)
		return r;

	*ret = TAKE(copy_of);
	return 0;
}

const char *yaml_problem(int r)
{
	static const struct {
		int r;
		const char *text;
	} problems[] = {
		{ -ENODATA, "is empty" },
		{ -EFBIG, "is larger than 1 MiB" },
		{ -EILSEQ, "is not UTF-8 or has characters that no configuration has" },
		{ -EPROTONOSUPPORT, "is JSON, which is not edited" },
		{ -EBADMSG, "is not valid YAML" },
		{ -EMEDIUMTYPE, "is not a " KIND " of " API_VERSION },
		{ -EOPNOTSUPP,
		  "uses YAML that is not edited: aliases, tags, complex keys, blocks" },
		{ -EUCLEAN, "would not read as meant after the edit" },
	};

	for (size_t i = 0; i < ELEMENTSOF(problems); i++)
		if (problems[i].r == r)
			return problems[i].text;
	return strerror(-r);
}
