/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml.h"

#include "../base/document.h"
#include "../os/target.h"
#include "yaml-events.h"

#define API_VERSION  "kubelet.config.k8s.io/v1beta1"
#define KIND         "KubeletConfiguration"
#define MAX_DEPTH    1000         /* of nested collections, as libyaml's own limit */
#define MAX_ITEMS    65536        /* of the first two levels */
#define MAX_COMPARED (size_t)2048 /* of them, for duplicates */
#define MAX_BEHIND   8            /* aliases and merge keys inside of each other: "&a [*a]" */
#define MAX_FOLLOWED ((size_t)32 * 1024 * 1024) /* bytes that are parsed again for aliases */

/* The place at which the document is read: itself, or what an alias means. */
struct yaml_place {
	struct yaml_events *scan;
	uint32_t line; /* of the alias; 0: of each event */
	int n_behind;
};

/* The state while one document is read. */
struct yaml_reader {
	struct yaml_events document;
	struct yaml_place at;
	struct yaml_document *d;
	struct yaml_entry version;
	size_t n_kinds, n_versions, n_followed, column;
	bool is_merged;
};

static void reader_done(struct yaml_reader *rd)
{
	yaml_events_done(&rd->document);
}

static void take_text(char *ret, size_t size, const yaml_event_t *e)
{
	const size_t n = MIN(e->data.scalar.length, size - 1);

	memcpy(ret, e->data.scalar.value, n);
	ret[n] = '\0';
}

static bool is_null_text(const yaml_event_t *e)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	return ANY(n, nulls, ELEMENTSOF(nulls),
		   e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && yaml_events_is_text(e, *n));
}

/* @e: a scalar, or the start of a collection, which is noted as odd. */
static int add_item(struct yaml_reader *rd, const char *key, const char *sub, bool is_listed,
		    const yaml_event_t *e)
{
	struct yaml_items *l = rd->d->items;
	struct yaml_item *item;

	if (!l)
		return 0;
	if (l->n_items == MAX_ITEMS)
		return -EOPNOTSUPP;
	item = APPEND(l->items, l->n_items);
	if (!item)
		return -ENOMEM;

	COPY(item->key, key);
	COPY(item->sub, sub);
	item->line = rd->at.line ? rd->at.line : (uint32_t)e->start_mark.line + 1;
	item->is_listed = is_listed;
	item->is_odd = e->type != YAML_SCALAR_EVENT || e->data.scalar.tag;
	if (e->type != YAML_SCALAR_EVENT)
		return 0;

	take_text(item->text, sizeof(item->text), e);
	/* A NUL can be written as "\0": such a value is longer than it looks. */
	item->is_odd |= strlen(item->text) != e->data.scalar.length;
	item->is_null = !item->is_odd && is_null_text(e);
	item->is_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static bool is_start(const yaml_event_t *e)
{
	return e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT;
}

static bool is_end(const yaml_event_t *e)
{
	return e->type == YAML_MAPPING_END_EVENT || e->type == YAML_SEQUENCE_END_EVENT;
}

/*
 * The next event. In the place of an alias the first one of what it means, which is read from
 * @behind until the caller goes back to where it was.
 */
static int next_node(struct yaml_reader *rd, struct yaml_events *behind, yaml_event_t *e)
{
	_cleanup_(yaml_event_delete) yaml_event_t alias = {};
	int r;

	r = yaml_events_next(rd->at.scan, e);
	if (r < 0 || e->type != YAML_ALIAS_EVENT)
		return r;
	alias = TAKE_STRUCT(*e);
	rd->d->is_fixed = true;
	rd->n_followed += rd->at.scan->size;
	if (rd->at.n_behind == MAX_BEHIND || rd->n_followed > MAX_FOLLOWED)
		return -EOPNOTSUPP;
	r = yaml_events_follow(rd->at.scan, &alias, behind, e);
	if (r < 0)
		return r;
	if (rd->at.line == 0)
		rd->at.line = (uint32_t)alias.start_mark.line + 1;
	rd->at.scan = behind;
	rd->at.n_behind++;
	return 0;
}

/* A key that is no word, or too long, is "?": no caller looks for it. Return: 1 for a merge key. */
static int take_key(struct yaml_reader *rd, const yaml_event_t *e, char ret[static 64])
{
	const bool is_scalar = e->type == YAML_SCALAR_EVENT;

	rd->d->is_fixed |= yaml_events_is_marked(e);
	if (!yaml_events_is_string(e))
		return -EOPNOTSUPP;
	take_text(ret, 64, e);
	if (strlen(ret) != e->data.scalar.length || !*ret)
		copy(ret, 64, "?");
	return is_scalar && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       yaml_events_is_text(e, "<<");
}

static int read_mapping(struct yaml_reader *rd, yaml_event_t *e);
static int read_collection(struct yaml_reader *rd, const char *key, yaml_event_t *e);

/*
 * The value @e of a merge key, in the top level where @key is "": a mapping or a list of mappings,
 * whose keys stand in the place of the merge key.
 */
static int read_merge(struct yaml_reader *rd, const char *key, yaml_event_t *e)
{
	rd->d->is_fixed = rd->is_merged = true;
	if (rd->at.n_behind++ == MAX_BEHIND)
		return -EOPNOTSUPP;
	if (e->type == YAML_MAPPING_START_EVENT)
		return *key ? read_collection(rd, key, e) : read_mapping(rd, e);
	if (e->type != YAML_SEQUENCE_START_EVENT)
		return -EBADMSG;

	for (;;) {
		_cleanup_(yaml_events_done) struct yaml_events behind = {};
		const struct yaml_place here = rd->at;
		int r;

		yaml_event_delete(e);
		r = next_node(rd, &behind, e);
		if (r < 0 || is_end(e))
			return r;
		r = e->type == YAML_MAPPING_START_EVENT ? read_merge(rd, key, e) : -EBADMSG;
		rd->at = here;
		if (r < 0)
			return r;
	}
}

/* Adds a scalar to the words of a collection. Return: false when they are not all there. */
static bool add_word(const yaml_event_t *e, char ret[static 256])
{
	const char *word = e->type == YAML_SCALAR_EVENT ? (const char *)e->data.scalar.value : "";
	const size_t at = strlen(ret), left = 256 - at;

	return e->type != YAML_ALIAS_EVENT && !word[strcspn(word, "\"\\,\t\r\n")] &&
	       (!*word ||
		snprintf(ret + at, left, "%s\"%s\"", at > 0 ? "," : "", word) < (int)left);
}

/*
 * Goes to the end of the collection that @e begins, where it begins one: then @e is its end.
 * @words: NULL, or room for those in it.
 */
static int skip(struct yaml_reader *rd, yaml_event_t *e, char *words)
{
	size_t depth = is_start(e);
	bool is_whole = true;
	int r;

	while (depth > 0) {
		yaml_event_delete(e);
		r = yaml_events_next(rd->at.scan, e);
		if (r < 0)
			return r;
		rd->d->is_fixed |= e->type == YAML_ALIAS_EVENT;
		is_whole = words && is_whole && add_word(e, words);
		if (words && !is_whole)
			*words = '\0';
		depth += is_start(e);
		depth -= is_end(e);
		if (depth > MAX_DEPTH)
			return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Goes to the end of the collection whose start is @e: then @e is its end. The scalars right below
 * it are noted.
 */
static int read_collection(struct yaml_reader *rd, const char *key, yaml_event_t *e)
{
	const bool is_mapping = e->type == YAML_MAPPING_START_EVENT;
	const struct yaml_items *l = rd->d->items;
	const bool has_words = l && !is_mapping && streq(key, YAML_WITH_WORDS);
	bool is_key = is_mapping; /* the next one */
	char sub[64] = "";
	int is_merge = 0;

	for (;;) {
		_cleanup_(yaml_events_done) struct yaml_events behind = {};
		const struct yaml_place here = rd->at;
		int r;

		yaml_event_delete(e);
		r = next_node(rd, &behind, e);
		if (r < 0 || is_end(e))
			return r;
		if (is_key && e->type == YAML_SCALAR_EVENT)
			r = is_merge = take_key(rd, e, sub);
		else if (is_key)
			COPY(sub, "?");
		else if (is_merge)
			r = read_merge(rd, key, e);
		else
			r = add_item(rd, key, sub, !is_mapping, e);
		if (r >= 0 && (is_key || !is_merge))
			r = skip(rd, e, has_words ? l->items[l->n_items - 1].text : NULL);
		if (r < 0)
			return r;
		rd->at = here;
		is_key = is_mapping && !is_key;
	}
}

static int read_value(struct yaml_reader *rd, bool is_merge, struct yaml_entry *ret)
{
	_cleanup_(yaml_events_done) struct yaml_events behind = {};
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	const struct yaml_place here = rd->at;
	int r;

	r = next_node(rd, &behind, &e);
	if (r < 0)
		return r;

	ret->event = rd->at.scan->n_events;
	ret->at = yaml_events_byte(rd->at.scan, &e.start_mark);
	ret->line = (uint32_t)e.start_mark.line + 1;
	ret->is_marked = yaml_events_is_marked(&e);
	ret->is_scalar = e.type == YAML_SCALAR_EVENT;

	if (ret->is_scalar) {
		ret->style = (int)e.data.scalar.style;
		ret->length = e.data.scalar.length;
		ret->is_null = !ret->is_marked && is_null_text(&e);
		take_text(ret->value, sizeof(ret->value), &e);
	}
	r = is_merge ? read_merge(rd, "", &e) : add_item(rd, ret->key, "", false, &e);
	if (r >= 0 && !is_merge && !ret->is_scalar)
		r = read_collection(rd, ret->key, &e);
	if (r < 0)
		return r;

	ret->to = yaml_events_byte(rd->at.scan, &e.end_mark);
	rd->at = here;
	return 0;
}

static int read_entry(struct yaml_reader *rd, const yaml_event_t *key,
		      const struct yaml_place *here)
{
	struct yaml_document *d = rd->d;
	struct yaml_entry entry = {};
	int r;

	/* "? key" is the only way for a key to stand elsewhere than its mapping begins. */
	d->is_fixed |= !d->is_json && key->start_mark.column != rd->column;
	entry.key_at = yaml_events_byte(rd->at.scan, &key->start_mark);
	entry.key_to = yaml_events_byte(rd->at.scan, &key->end_mark);
	r = take_key(rd, key, entry.key);
	rd->at = *here;
	if (r >= 0)
		r = read_value(rd, r > 0, &entry);
	if (r < 0)
		return r;

	if (streq(entry.key, "kind")) {
		d->kind = entry;
		rd->n_kinds++;
	} else if (streq(entry.key, "apiVersion")) {
		rd->version = entry;
		rd->n_versions++;
	} else if (d->key && streq(entry.key, d->key)) {
		d->entry = entry;
		d->n_entries++;
	}

	return 0;
}

/* A mapping of the top level, whose start is @e, to its end. */
static int read_mapping(struct yaml_reader *rd, yaml_event_t *e)
{
	for (;;) {
		_cleanup_(yaml_events_done) struct yaml_events behind = {};
		const struct yaml_place here = rd->at;
		int r;

		yaml_event_delete(e);
		r = next_node(rd, &behind, e);
		if (r >= 0 && e->type != YAML_MAPPING_END_EVENT)
			r = read_entry(rd, e, &here);
		else
			return r;
		if (r < 0)
			return r;
	}
}

/* To the start of the first document's mapping: @ret is that event. */
static int read_start(struct yaml_reader *rd, yaml_event_t *ret)
{
	int r;

	for (;;) {
		r = yaml_events_next(rd->at.scan, ret);
		if (r < 0)
			return r;
		if (ret->type == YAML_DOCUMENT_START_EVENT)
			rd->d->is_fixed = ret->data.document_start.version_directive ||
					  ret->data.document_start.tag_directives.start !=
						  ret->data.document_start.tag_directives.end;
		else if (ret->type != YAML_STREAM_START_EVENT)
			break;
		yaml_event_delete(ret);
	}

	if (ret->type == YAML_STREAM_END_EVENT ||
	    (ret->type == YAML_SCALAR_EVENT && ret->data.scalar.length == 0))
		return -ENODATA;
	if (ret->type != YAML_MAPPING_START_EVENT)
		return -EMEDIUMTYPE;
	rd->d->is_fixed |=
		yaml_events_is_marked(ret) ||
		(ret->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE && !rd->d->is_json);
	rd->column = ret->start_mark.column;
	return 0;
}

/*
 * A document that nothing ends must be followed by another or by the end of the file: lines that
 * are indented less than the first key would else be lost without a word.
 */
static int read_end(struct yaml_reader *rd)
{
	_cleanup_(yaml_event_delete) yaml_event_t end = {}, next = {};
	int r;

	r = yaml_events_next(rd->at.scan, &end);
	if (r < 0)
		return r;
	if (end.type != YAML_DOCUMENT_END_EVENT)
		return -EBADMSG;

	return end.data.document_end.implicit ? yaml_events_next(rd->at.scan, &next) : 0;
}

static bool is_word(const struct yaml_entry *e, const char *text)
{
	return e->is_scalar && e->length == strlen(text) && streq(e->value, text) &&
	       e->style != YAML_LITERAL_SCALAR_STYLE && e->style != YAML_FOLDED_SCALAR_STYLE;
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
	_cleanup_(yaml_event_delete) yaml_event_t e = {};
	int r;

	r = read_start(rd, &e);
	if (r >= 0)
		r = read_mapping(rd, &e);
	if (r >= 0)
		r = read_end(rd);
	return r < 0 ? r : mark_merged(rd);
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
	_cleanup_(reader_done) struct yaml_reader rd = { .d = d };
	int r;

	rd.at.scan = &rd.document;
	r = yaml_events_check(text, size, &d->fault.line);
	if (r < 0)
		return r;
	d->is_json = r > 0;
	r = d->is_json ? check_json(text, size, &d->fault) : 0;
	if (r >= 0)
		r = yaml_events_open(&rd.document, text, size);
	if (r < 0)
		return r;
	r = read_document(&rd);
	if (r == -EBADMSG || r == -EOPNOTSUPP)
		d->fault = yaml_events_fault(&rd.document);
	if (r < 0)
		return r;
	d->is_fixed |= d->kind.is_marked;
	if (kind == YAML_KUBELET &&
	    (rd.n_kinds != 1 || rd.n_versions != 1 || !is_word(&d->kind, KIND) ||
	     !is_word(&rd.version, API_VERSION)))
		return -EMEDIUMTYPE;
	return d->is_fixed && !d->items ? -EOPNOTSUPP : 0;
}

int yaml_read(const char *text, size_t size, enum yaml_kind kind, struct yaml_items *ret,
	      struct yaml_fault *fault)
{
	_cleanup_(yaml_items_done) struct yaml_items l = {};
	struct yaml_document d = { .items = &l };
	int r;

	r = yaml_document_read(text, size, kind, &d);
	*fault = d.fault;
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
