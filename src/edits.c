/* SPDX-License-Identifier: Apache-2.0 */
#include "edits.h"

#include <time.h>

#include "base/log.h"
#include "model/paths.h"

bool edits_is_own(enum kubelet_way way)
{
	return way == KUBELET_WAY_DROP_IN || way == KUBELET_WAY_RANCHER;
}

int edits_load(const struct fs *fs, struct record *ret)
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

int edits_save(const struct fs *fs, const struct record *rec)
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

/* Before the edit: after a crash between the two there is a record of nothing, which does no harm.
 */
int edits_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
	       const char *running)
{
	_cleanup_(record_done) struct record rec = {};
	int r;

	r = edits_load(fs, &rec);
	for (size_t i = 0; i < e->n_pairs && r >= 0; i++) {
		const struct kubelet_value *v = &k->values[e->pairs[i].setting];
		struct record_entry entry = { .way = e->way, .setting = e->pairs[i].setting };

		entry.was_there = !edits_is_own(e->way) && e->way != KUBELET_WAY_EXTRA &&
				  v->source != KUBELET_DEFAULT && streq(v->path, e->path);
		entry.is_created =
			edits_is_own(e->way) || (e->way == KUBELET_WAY_EXTRA && e->bytes == 0);
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
		r = edits_save(fs, &rec);
	/* "/var" may be read-only: the policy is worth more than the way back. */
	if (r < 0 && r != -ENOMEM) {
		log_warning_errno(r, "/" KUBELET_RECORD_PATH ": revert will not know of it");
		r = 0;
	}
	return MIN(r, 0);
}
