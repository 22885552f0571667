/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <time.h>

#include "../base/document.h"
#include "../base/fields.h"
#include "../base/log.h"
#include "../model/paths.h"

#define MAX_ENTRIES 256

static bool is_valid(void *item)
{
	const struct record_entry *e = item;

	return e->path[0] == '/' && e->way != KUBELET_WAY_NONE;
}

static const struct field entry_rows[] = {
	WORD_FIELD(struct record_entry, "key", setting, kubelet_key, _KUBELET_SETTING_N,
		   .flags = FIELD_NEEDED),
	WORD_FIELD(struct record_entry, "way", way, kubelet_way_name, _KUBELET_WAY_N,
		   .flags = FIELD_NEEDED),
	FIELD(FIELD_NAME, struct record_entry, "path", path, .flags = FIELD_NEEDED),
	FIELD(FIELD_NAME, struct record_entry, "variable", variable),
	FIELD(FIELD_FLAG, struct record_entry, "was_there", was_there),
	FIELD(FIELD_FLAG, struct record_entry, "created", is_created),
	FIELD(FIELD_NAME, struct record_entry, "from", from),
	FIELD(FIELD_NAME, struct record_entry, "to", to, .flags = FIELD_NEEDED),
	FIELD(FIELD_NAME, struct record_entry, "since", since),
	FIELD(FIELD_NAME, struct record_entry, "running", running),
};
static const struct fields entry_fields =
	FIELDS(entry_rows, struct record_entry, .is_valid = is_valid);

static const struct field rows[] = {
	LIST(FIELD_LIST, struct record, "edits", entries, entry_fields, .max = MAX_ENTRIES,
	     .flags = FIELD_NEEDED | FIELD_FORGET),
};
static const struct fields record_fields = FIELDS(rows, struct record);

void record_done(struct record *rec)
{
	free(rec->entries);
	*rec = (struct record){};
}

int record_parse(const char *json, size_t size, struct record *ret)
{
	_cleanup_(record_done) struct record all = {}, rec = {};
	json_auto_t *document = NULL;
	int n_bad, r;

	r = document_parse(json, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r < 0)
		return r;
	n_bad = fields_parse(&record_fields, document, &all, NULL);
	if (n_bad < 0)
		return n_bad;
	/* The last of a setting and file counts. */
	for (size_t i = 0; i < all.n_entries; i++) {
		r = record_set(&rec, &all.entries[i]);
		if (r < 0)
			return r;
	}

	*ret = TAKE_STRUCT(rec);
	return n_bad;
}

int record_print(const struct record *rec, char **ret)
{
	json_auto_t *document = json_pack("{s:i}", "schema", 1);

	if (!document || fields_update(document, &record_fields, rec) < 0)
		return -ENOMEM;
	return document_print(document, ret);
}

struct record_entry *record_find(const struct record *rec, enum kubelet_setting s, const char *path)
{
	for (size_t i = 0; i < rec->n_entries; i++)
		if (rec->entries[i].setting == s && streq(rec->entries[i].path, path))
			return &rec->entries[i];
	return NULL;
}

int record_set(struct record *rec, const struct record_entry *e)
{
	struct record_entry *slot = record_find(rec, e->setting, e->path);

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

bool record_is_own(enum kubelet_way way)
{
	return way == KUBELET_WAY_DROP_IN || way == KUBELET_WAY_RANCHER;
}

int record_load(const struct fs *fs, struct record *ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, KUBELET_RECORD_PATH, 1u << 20, true, &text, &size);
	if (r >= 0)
		r = record_parse(text, size, ret);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r > 0)
		log_warning("/" KUBELET_RECORD_PATH ": damaged entries are not used: %d", r);
	if (r == -EINVAL) {
		log_warning("/" KUBELET_RECORD_PATH ": is damaged, a new one is begun");
		return 0;
	}
	return MIN(r, 0);
}

int record_save(const struct fs *fs, const struct record *rec)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	if (rec->n_entries == 0)
		return fs_remove(fs, KUBELET_RECORD_PATH);
	r = record_print(rec, &text);
	return r < 0 ? r : fs_replace(fs, KUBELET_RECORD_PATH, text, strlen(text), 0600);
}

static void tell_time(char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || strftime(ret, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*ret = '\0';
}

int record_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
		const char *running)
{
	_cleanup_(record_done) struct record rec = {};
	int r;

	r = record_load(fs, &rec);
	for (size_t i = 0; i < e->n_pairs && r >= 0; i++) {
		const struct kubelet_value *v = &k->values[e->pairs[i].setting];
		struct record_entry entry = { .way = e->way, .setting = e->pairs[i].setting };

		entry.was_there = !record_is_own(e->way) && e->way != KUBELET_WAY_EXTRA &&
				  v->source != KUBELET_DEFAULT && streq(v->path, e->path);
		entry.is_created =
			record_is_own(e->way) || (e->way == KUBELET_WAY_EXTRA && e->bytes == 0);
		COPY(entry.path, e->path);
		COPY(entry.variable, e->variable);
		COPY(entry.from, v->source == KUBELET_DEFAULT ? "" : v->text);
		COPY(entry.to, e->pairs[i].value);
		COPY(entry.running, running);
		tell_time(entry.since, sizeof(entry.since));
		/* A pair of a file of ours that does not change keeps its time. */
		if (!streq(v->path, e->path) || !streq(v->text, entry.to))
			r = record_set(&rec, &entry);
	}
	if (r >= 0)
		r = record_save(fs, &rec);
	/* "/var" may be read-only: the policy is worth more than the way back. */
	if (r < 0 && r != -ENOMEM) {
		log_warning_errno(r, "/" KUBELET_RECORD_PATH ": revert will not know of it");
		r = 0;
	}
	return MIN(r, 0);
}
