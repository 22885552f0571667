/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger-files.h"

#include "../base/log.h"
#include "../model/ledger.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../os/target.h"
#include "find.h"
#include "yaml.h"

#define NO_FILE "?" /* no file is identified so */

static int load(const struct fs *fs, struct ledger *ret)
{
	int r = memory_read_all(fs, MEMORY_KUBELET, &ledger_files_fields, ret);

	return r < 0 ? log_error_errno(r, "/" KUBELET_RECORD_PATH) : r;
}

static int save(const struct fs *fs, const struct ledger *l)
{
	int r = memory_write(fs, MEMORY_KUBELET, &ledger_files_fields, l);

	return r < 0 ? log_error_errno(r, "/" KUBELET_RECORD_PATH) : r;
}

/* Whether a change was made */

/* A rename keeps both. */
static void identify(const struct stat *st, char ret[static 64])
{
	snprintf(ret, 64, "%ju:%jd.%09ld", (uintmax_t)st->st_ino, (intmax_t)st->st_mtim.tv_sec,
		 st->st_mtim.tv_nsec);
}

/* The file that is there now; what a crash left beside it goes. 0 or -errno. */
static int identify_now(const struct fs *fs, const struct ledger_entry *e, char ret[static 64])
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r = target_open(fs, e->target, YAML_MAX_BYTES, &t);

	if (r >= 0)
		identify(&t.st, ret);
	if (e->is_created && kubelet_remove_temporary(fs, e->target) < 0)
		log_debug("%s: what a crash left beside it stays", e->target);
	return r;
}

/* Return: how many entries were closed, or -errno of the last that could not be. */
static int settle(const struct fs *fs, struct ledger *l)
{
	int n_closed = 0, error = 0;

	for (size_t i = l->n_entries; i-- > 0;) {
		struct ledger_entry *e = &l->entries[i];
		char now[64] = "";
		int r;

		if (!*e->file)
			continue;
		r = identify_now(fs, e, now);
		if (r < 0 && r != -ENOENT && r != -ENOTDIR) {
			error = log_warning_errno(r, "%s: whether it was changed is not known",
						  e->target);
			continue;
		}
		/* The new file is there, or, of what is given back, the old one is not. */
		if (streq(now, e->file) != (*e->to != '\0'))
			COPY(e->to, e->before);
		*e->file = *e->before = '\0';
		n_closed++;
		if (!*e->to)
			ledger_drop(l, e);
	}
	return error < 0 ? error : n_closed;
}

int ledger_files_settle(const struct fs *fs)
{
	_cleanup_(ledger_done) struct ledger l = {};
	int r, error;

	r = load(fs, &l);
	if (r < 0)
		return r;
	error = settle(fs, &l);
	r = error == 0 ? 0 : save(fs, &l);
	return r < 0 ? r : MIN(error, 0);
}

/* Before an edit */

static void tell_time(char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || strftime(ret, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*ret = '\0';
}

static bool is_absent(const struct fs *fs, const char *path)
{
	struct stat st;

	return fs_stat(fs, fs_bare(path), &st) == -ENOENT;
}

/*
 * The entry of a setting. Where ours is gone, a new one takes its place, and is the last: they are
 * in the order of the edits. Where another file counts, ours may be here still, unless nothing is.
 * NULL: no memory.
 */
static struct ledger_entry *take_entry(const struct fs *fs, struct ledger *l,
				       const struct kubelet_value *v, const struct kubelet_edit *e,
				       enum kubelet_setting s)
{
	const bool is_own = kubelet_is_own(e->way), is_set = v->source != KUBELET_DEFAULT,
		   is_here = streq(v->path, e->path), is_extra = e->way == KUBELET_WAY_EXTRA,
		   is_added = is_extra && e->extra.at == UINT32_MAX;
	struct ledger_entry *entry = ledger_find_file(l, s, e->path);
	bool is_kept = is_own;

	if (entry && !is_own && is_here)
		is_kept = ledger_is_ours(entry, v->text);
	else if (entry && !is_own)
		is_kept = is_set && entry->way == e->way && !is_added && !e->extra.is_empty;
	if (entry && is_kept)
		return entry;
	if (entry)
		ledger_drop(l, entry);
	entry = APPEND(l->entries, l->n_entries);
	if (!entry)
		return NULL;
	*entry = (struct ledger_entry){
		.way = e->way,
		.setting = s,
		.was_there = is_set && is_here && !is_own && !is_extra,
		.is_created = is_own || (is_extra && is_absent(fs, e->path)),
	};
	COPY(entry->target, e->path);
	COPY(entry->added, is_added ? e->extra.variable : "");
	return entry;
}

/* A file of ours will have what is in @e, and nothing else. */
static void drop_others(struct ledger *l, const struct kubelet_edit *e)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < e->n_pairs; i++)
		kept |= 1u << e->pairs[i].setting;
	for (size_t i = l->n_entries; i-- > 0 && kubelet_is_own(e->way);)
		if (streq(l->entries[i].target, e->path) && !(kept & 1u << l->entries[i].setting))
			ledger_drop(l, &l->entries[i]);
}

int ledger_files_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
		      const char *running)
{
	_cleanup_(ledger_done) struct ledger l = {};
	int r = load(fs, &l);

	if (r >= 0)
		r = settle(fs, &l);
	drop_others(&l, e);
	FOREACH_WHILE(p, e->pairs, e->n_pairs, r >= 0) {
		const enum kubelet_setting s = p->setting;
		const struct kubelet_value *v = &k->values[s];
		const char *now = v->source == KUBELET_DEFAULT ? "" : v->text;
		struct ledger_entry *entry = take_entry(fs, &l, v, e, s);

		if (!entry)
			return -ENOMEM;
		/* A pair of a file of ours that does not change keeps its time. */
		if (streq(v->path, e->path) && streq(now, p->value) && streq(entry->to, now))
			continue;
		ledger_enter(entry, streq(v->path, e->path) || !*entry->to ? now : entry->to,
			     p->value);
		COPY(entry->file, NO_FILE);
		COPY(entry->running, running);
		tell_time(entry->since, sizeof(entry->since));
	}
	return r < 0 ? r : save(fs, &l);
}

int ledger_files_note_written(const struct fs *fs, const char *path, const struct stat *written)
{
	_cleanup_(ledger_done) struct ledger l = {};
	int r = load(fs, &l);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n_entries; i++)
		if (streq(l.entries[i].target, path) && streq(l.entries[i].file, NO_FILE))
			identify(written, l.entries[i].file);
	return save(fs, &l);
}

/* The way back */

/* Removes a value from a file of ours, which goes with the last. Return: as kubelet_take_back(). */
static int revert_own(const struct fs *fs, const struct ledger *l, const struct ledger_entry *e,
		      const char *ours)
{
	_cleanup_(freep) char *text = NULL, *rest_text = NULL, *have = NULL;
	struct kubelet_edit edit = { .way = e->way }, rest = { .way = e->way };
	size_t size;
	int r;

	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		const struct ledger_entry *other = ledger_find_file(l, s, e->target);

		if (other)
			kubelet_edit_add(&edit, s, other == e ? ours : other->to);
		if (other && other != e)
			kubelet_edit_add(&rest, s, other->to);
	}
	r = fs_read_all(fs, fs_bare(e->target), YAML_MAX_BYTES, true, &have, &size);
	if (r >= 0)
		r = kubelet_own_text(&edit, &text);
	if (r >= 0)
		r = kubelet_own_text(&rest, &rest_text);
	if (r < 0)
		return r;
	if (strlen(text) != size || memcmp(text, have, size) != 0)
		return 0; /* another program changed it */
	r = rest.n_pairs == 0
		    ? fs_remove(fs, fs_bare(e->target))
		    : fs_replace(fs, fs_bare(e->target), rest_text, strlen(rest_text), 0644);
	return r < 0 ? r : 1;
}

static int revert_edit(const struct fs *fs, const struct ledger_entry *e, const char *ours,
		       const struct kubelet_found *k)
{
	const struct kubelet_value *v = &k->seen.values[e->setting];
	struct kubelet_edit edit = { .way = e->way };

	COPY(edit.path, e->target);
	COPY(edit.extra.variable, e->added);
	COPY(edit.old, ours);
	kubelet_edit_add(&edit, e->setting, e->from);
	if (streq(v->path, e->target) && streq(v->text, ours)) {
		edit.from = k->words[e->setting].from;
		edit.to = k->words[e->setting].to;
	}
	return kubelet_take_back(fs, &edit, e->was_there, e->is_created);
}

/* Opens the entry first: where it is killed in between, what others write then is theirs. */
static int revert_entry(const struct fs *fs, struct ledger *l, struct ledger_entry *e,
			const struct kubelet_found *k)
{
	char ours[64];
	int r;

	r = identify_now(fs, e, e->file);
	if (r < 0)
		return r == -ENOENT ? e->is_created : r;
	COPY(ours, e->to);
	COPY(e->before, ours);
	*e->to = '\0';
	r = save(fs, l);
	if (r >= 0)
		r = kubelet_is_own(e->way) ? revert_own(fs, l, e, ours)
					   : revert_edit(fs, e, ours, k);
	if (r < 0) {
		COPY(e->to, ours);
		*e->file = *e->before = '\0';
	}
	return r;
}

/* Return: is it left although it still holds? 1, 0 or -errno. */
static int try_entry(const struct fs *fs, struct ledger *l, struct ledger_entry *e,
		     uint32_t settings)
{
	const char *left = "whether it was changed is not known";
	struct kubelet_found k;
	int r = kubelet_find(fs, false, &k, NULL);

	if (r < 0)
		return r;
	/* With the static policy's state in place the kubelet would not start without the policy.
	 */
	if ((e->setting == KUBELET_CPU_POLICY || e->setting == KUBELET_RESERVED_CPUS) &&
	    settings >> KUBELET_CPU_POLICY & 1 && streq(k.seen.cpus.checkpoint, "static")) {
		left = "the state file of the static CPU policy is there";
	} else if (!*e->file) {
		r = revert_entry(fs, l, e, &k);
		if (r < 0 && !kubelet_is_refusal(r))
			return r;
		left = r < 0 && r != -ENOENT ? yaml_problem(r) : NULL;
	}
	if (left)
		log_warning("%s: %s is left: %s", e->target, kubelet_key(e->setting), left);
	else
		log_notice("%s: %s %s", e->target, kubelet_key(e->setting),
			   r > 0 ? "is as it was before"
				 : "was changed by another program since, and stays");
	return left != NULL;
}

int ledger_files_revert(const struct fs *fs, uint32_t settings)
{
	_cleanup_(ledger_done) struct ledger l = {};
	int n_left = 0, r;

	r = load(fs, &l);
	if (r >= 0 && settle(fs, &l) == -ENOMEM)
		r = -ENOMEM;
	if (r < 0)
		return r;

	for (size_t i = l.n_entries; i-- > 0 && r >= 0;) { /* the last edit first */
		if (!(settings >> l.entries[i].setting & 1))
			continue;
		r = try_entry(fs, &l, &l.entries[i], settings);
		if (r == 0)
			ledger_drop(&l, &l.entries[i]);
		n_left += r > 0;
	}
	if (r < 0) {
		log_error_errno(r, "kubelet");
		save(fs, &l);
		return r;
	}
	r = save(fs, &l);
	return r < 0 ? r : n_left;
}

int kubelet_revert(const struct fs *fs)
{
	_cleanup_(closep) int locked = -EBADF;

	if (is_absent(fs, KUBELET_RECORD_PATH))
		return 0;
	locked = kubelet_lock(fs);
	return locked < 0 ? locked : ledger_files_revert(fs, UINT32_MAX);
}
