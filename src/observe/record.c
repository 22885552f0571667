/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include "../base/document.h"

#define MAX_ENTRIES 256

void record_done(struct record *rec)
{
	free(rec->entries);
	*rec = (struct record){};
}

static int parse_entry(const json_t *object, struct record_entry *ret)
{
	char key[64], way[16];
	struct record_entry e = {};

	if (!document_get_name(object, "key", key, sizeof(key)) ||
	    !document_get_name(object, "way", way, sizeof(way)) ||
	    !document_get_name(object, "path", e.path, sizeof(e.path)) || e.path[0] != '/' ||
	    !document_get_name(object, "variable", e.variable, sizeof(e.variable)) ||
	    !document_get_name(object, "from", e.from, sizeof(e.from)) ||
	    !document_get_name(object, "to", e.to, sizeof(e.to)) || !e.to[0] ||
	    !document_get_name(object, "since", e.since, sizeof(e.since)) ||
	    !document_get_name(object, "running", e.running, sizeof(e.running)))
		return -EINVAL;

	e.was_there = json_is_true(json_object_get(object, "was_there"));
	e.is_created = json_is_true(json_object_get(object, "created"));
	e.setting = _KUBELET_SETTING_N;
	for (int i = 0; i < _KUBELET_SETTING_N; i++)
		if (streq(key, kubelet_key((enum kubelet_setting)i)))
			e.setting = (enum kubelet_setting)i;
	for (int i = KUBELET_WAY_NONE + 1; i < _KUBELET_WAY_N; i++)
		if (streq(way, kubelet_way_name((enum kubelet_way)i)))
			e.way = (enum kubelet_way)i;
	if (e.setting == _KUBELET_SETTING_N || e.way == KUBELET_WAY_NONE)
		return -EINVAL;
	*ret = e;
	return 0;
}

int record_parse(const char *json, size_t size, struct record *ret)
{
	_cleanup_(record_done) struct record rec = {};
	json_auto_t *document = NULL;
	const json_t *list;
	int n_bad = 0, r;

	r = document_parse(json, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r < 0)
		return r;
	list = json_object_get(document, "edits");
	if (!json_is_array(list))
		return -EINVAL;
	for (size_t i = 0; i < MIN(json_array_size(list), MAX_ENTRIES); i++) {
		struct record_entry e;

		if (parse_entry(json_array_get(list, i), &e) < 0) {
			n_bad++;
			continue;
		}
		r = record_set(&rec, &e);
		if (r < 0)
			return r;
	}

	*ret = TAKE_STRUCT(rec);
	return n_bad;
}

int record_print(const struct record *rec, char **ret)
{
	json_auto_t *list = json_array(), *document = NULL;
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < rec->n_entries; i++) {
		const struct record_entry *e = &rec->entries[i];
		json_t *object =
			json_pack("{s:s, s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "key",
				  kubelet_key(e->setting), "way", kubelet_way_name(e->way), "path",
				  document_name(e->path), "variable", document_name(e->variable),
				  "was_there", e->was_there, "created", e->is_created, "from",
				  document_name(e->from), "to", document_name(e->to), "since",
				  document_name(e->since), "running", document_name(e->running));

		if (json_array_append_new(list, object) < 0)
			return -ENOMEM;
	}
	document = json_pack("{s:i, s:O}", "schema", 1, "edits", list);
	text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
	if (!text || asprintf(ret, "%s\n", text) < 0)
		return -ENOMEM;
	return 0;
}

static struct record_entry *find(const struct record *rec, enum kubelet_setting s, const char *path)
{
	for (size_t i = 0; i < rec->n_entries; i++)
		if (rec->entries[i].setting == s && streq(rec->entries[i].path, path))
			return &rec->entries[i];
	return NULL;
}

const struct record_entry *record_find(const struct record *rec, enum kubelet_setting s,
				       const char *path)
{
	return find(rec, s, path);
}

int record_set(struct record *rec, const struct record_entry *e)
{
	struct record_entry *slot = find(rec, e->setting, e->path);

	if (!slot)
		slot = APPEND(rec->entries, rec->n_entries);
	if (!slot)
		return -ENOMEM;
	*slot = *e;
	return 0;
}

void record_drop(struct record *rec, size_t i)
{
	memmove(&rec->entries[i], &rec->entries[i + 1],
		(rec->n_entries - i - 1) * sizeof(*rec->entries));
	rec->n_entries--;
}
