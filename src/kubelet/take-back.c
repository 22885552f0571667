/* SPDX-License-Identifier: Apache-2.0 */
#include "take-back.h"

#include "../base/log.h"
#include "../model/paths.h"
#include "find.h"
#include "record.h"
#include "yaml.h"

/* What is in a file of ours as the record has it. Return: as kubelet_take_back(). */
static int revert_own(const struct fs *fs, const struct record *rec, const struct record_entry *e)
{
	_cleanup_(freep) char *text = NULL, *have = NULL;
	struct kubelet_edit edit = { .way = e->way };
	size_t size;
	int r;

	for (int s = 0; s < _KUBELET_SETTING_N; s++) {
		const struct record_entry *other =
			record_find(rec, (enum kubelet_setting)s, e->path);

		if (other)
			kubelet_edit_add(&edit, (enum kubelet_setting)s, other->to);
	}
	r = fs_read_all(fs, fs_bare(e->path), YAML_MAX_BYTES, true, &have, &size);
	if (r == -ENOENT) { /* only a temporary one of a crash, perhaps */
		r = fs_remove(fs, fs_bare(e->path));
		return r < 0 ? r : 1;
	}
	if (r >= 0)
		r = kubelet_own_text(&edit, &text);
	if (r < 0)
		return r;
	if (strlen(text) != size || memcmp(text, have, size) != 0)
		return 0; /* another program changed it */
	r = fs_remove(fs, fs_bare(e->path));
	return r < 0 ? r : 1;
}

static int revert_entry(const struct fs *fs, const struct record *rec, const struct record_entry *e,
			const struct kubelet_found *k)
{
	const struct kubelet_value *v = &k->seen.values[e->setting];
	struct kubelet_edit edit = { .way = e->way };

	if (record_is_own(e->way))
		return revert_own(fs, rec, e);

	COPY(edit.path, e->path);
	COPY(edit.old, e->to);
	kubelet_edit_add(&edit, e->setting, e->from);
	if (e->way == KUBELET_WAY_TOKEN && k->words[e->setting].to > 0 && streq(v->path, e->path) &&
	    streq(v->text, e->to)) {
		edit.from = k->words[e->setting].from;
		edit.to = k->words[e->setting].to;
	}
	return kubelet_take_back(fs, &edit, e->was_there, e->is_created);
}

/* With the static policy's state in place the kubelet would not start without the policy. */
static bool is_bound(const struct record_entry *e, const struct kubelet_found *k)
{
	return (e->setting == KUBELET_CPU_POLICY || e->setting == KUBELET_RESERVED_CPUS) &&
	       streq(k->seen.cpus.checkpoint, "static");
}

int kubelet_revert(const struct fs *fs)
{
	_cleanup_(record_done) struct record rec = {};
	_cleanup_(closep) int locked = -EBADF;
	_cleanup_(freep) bool *is_left = NULL;
	int n_left = 0, r;

	if (!fs_exists(fs, KUBELET_RECORD_PATH))
		return 0;
	locked = kubelet_lock(fs, true);
	if (locked < 0)
		return locked;
	r = record_load(fs, &rec);
	is_left = calloc(rec.n_entries + 1, sizeof(*is_left));
	if (!is_left)
		return -ENOMEM;

	/* The last edit first; of one file of ours all at once. */
	for (size_t i = rec.n_entries; i-- > 0 && r >= 0;) {
		const struct record_entry *e = &rec.entries[i];
		struct kubelet_found k;
		const char *left = NULL;
		bool is_back = false;

		r = kubelet_find(fs, false, &k, NULL);
		if (r < 0)
			return r;
		if (is_bound(e, &k)) {
			left = "the state file of the static CPU policy is there";
		} else {
			r = revert_entry(fs, &rec, e, &k);
			if (r < 0 && !kubelet_is_refusal(r))
				return r;
			if (r < 0 && r != -ENOENT)
				left = yaml_problem(r);
			is_back = r > 0;
			r = 0;
		}
		if (left)
			log_warning("%s: %s is left: %s", e->path, kubelet_key(e->setting), left);
		else
			log_notice("%s: %s %s", e->path, kubelet_key(e->setting),
				   is_back ? "is as it was before"
					   : "was changed by another program since, and stays");
		n_left += left != NULL;
		is_left[i] = left != NULL;
	}
	for (size_t i = rec.n_entries; i-- > 0 && r >= 0;)
		if (!is_left[i])
			record_drop(&rec, i);
	if (r >= 0)
		r = record_save(fs, &rec);
	return r < 0 ? r : n_left;
}
