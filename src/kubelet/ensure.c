/* SPDX-License-Identifier: Apache-2.0 */
#include "ensure.h"

#include "../base/log.h"
#include "../model/paths.h"
#include "../os/target.h"
#include "edit.h"
#include "ledger-files.h"
#include "look.h"
#include "yaml.h"

#define MAX_ROUNDS 16 /* one edit each; four settings, and four ways to try */
#define MAX_AGAIN  3  /* that another program wrote the file meanwhile */

/* Edits */

/* The last setting first: a reservation of CPUs must be there before the policy that needs it. */
static int first_change(const struct kubelet_decision *d)
{
	for (int s = _KUBELET_SETTING_N - 1; s >= 0; s--)
		if (d->items[s].outcome == KUBELET_CHANGED)
			return s;
	return -1;
}

/* An edit has all changes of one way and one file; a flag's value is an edit by itself. */
static void make_edit(const struct kubelet_found *k, const struct kubelet_decision *d, int first,
		      struct kubelet_edit *ret)
{
	const struct kubelet_item *lead = &d->items[first];
	struct kubelet_edit e = { .way = lead->way, .on_written = ledger_files_note_written };

	COPY(e.path, lead->path);
	if (e.way == KUBELET_WAY_TOKEN) {
		const struct kubelet_value *v = &k->seen.values[first];

		kubelet_edit_add(&e, (enum kubelet_setting)first, lead->to);
		COPY(e.path, v->path);
		COPY(e.old, v->text);
		e.from = k->words[first].from;
		e.to = k->words[first].to;
		*ret = e;
		return;
	}

	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		const struct kubelet_item *item = &d->items[s];

		if (item->outcome == KUBELET_CHANGED && item->way == lead->way &&
		    streq(item->path, lead->path))
			kubelet_edit_add(&e, s, item->to);
		else if (kubelet_is_own(e.way) && streq(k->seen.values[s].path, lead->path))
			kubelet_edit_add(&e, s, k->seen.values[s].text);
	}
	e.extra = k->extra;
	*ret = e;
}

struct run {
	const struct fs *fs;
	const struct config *c;
	bool is_locked;
	uint32_t blocked;
	char blocked_detail[256];
	/* As first decided, where it was changed; row 0: it was not. */
	struct kubelet_item first[_KUBELET_SETTING_N];
	char running[80]; /* as in struct kubelet_notes */
};

/*
 * Stores the kubelet's version and command line for the next look or start; without them nothing is
 * wrong. Takes the lock, or one process would rename what another has just begun to write.
 */
static void keep_notes(const struct run *run, const struct kubelet_notes *notes)
{
	_cleanup_(closep) int locked = -EBADF;
	const struct fs *fs = run->fs;
	int r = 0;

	if (!fs->is_live || (!*notes->version && !notes->cmdline))
		return;
	if (!run->is_locked) {
		locked = kubelet_lock(fs);
		if (locked < 0)
			return;
	}
	if (*notes->version)
		r = fs_replace(fs, KUBELET_VERSION_PATH, notes->version, strlen(notes->version),
			       0644);
	if (r < 0)
		log_warning_errno(r, "/" KUBELET_VERSION_PATH);
	r = 0;
	if (notes->cmdline)
		r = fs_replace(fs, KUBELET_CMDLINE_PATH, notes->cmdline, notes->cmdline_size, 0600);
	if (r < 0)
		log_warning_errno(r, "/" KUBELET_CMDLINE_PATH);
}

static int look(struct run *run, struct kubelet_result *res)
{
	_owns_(struct kubelet_notes, cmdline) notes = {};
	int r = kubelet_judge(run->fs, run->c, false, &res->kubelet, &res->decision, &notes);

	if (r < 0)
		return r;
	/* At once: a run looks several times, and may wait for a hanging program only once. */
	keep_notes(run, &notes);
	COPY(run->running, notes.running);
	res->kubelet.blocked = run->blocked;
	COPY(res->kubelet.blocked_detail, run->blocked_detail);
	kubelet_decide(run->c, &res->kubelet, &res->decision);
	return 0;
}

/* Notes why the way of @e is not tried again. */
static int refuse(struct run *run, const struct kubelet_edit *e, const char *why)
{
	run->blocked |= 1u << e->way;
	PRINT(run->blocked_detail, "%.128s: %.120s", e->path, why);
	return 0;
}

/* Takes the settings of KUBELET_WAY_BACK back. Return: were there any? 1, 0 or -errno. */
static int take_back(struct run *run, const struct kubelet_decision *d)
{
	uint32_t settings = 0;
	int r;

	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		const struct kubelet_item *item = &d->items[s];

		if (item->way != KUBELET_WAY_BACK)
			continue;
		log_notice("%s: %s %s of this program is to be taken back: %s", item->path,
			   kubelet_key(s), item->from, item->detail);
		settings |= 1u << s;
	}
	r = settings > 0 ? ledger_files_revert(run->fs, settings) : 0; /* it logs */
	if (r > 0) {
		run->blocked |= 1u << KUBELET_WAY_BACK;
		PRINT(run->blocked_detail, "a value of ours cannot be taken back");
	}
	return r < 0 ? r : settings > 0;
}

/* Carries out one edit, and looks whether it took effect. */
static int edit(struct run *run, const struct kubelet_edit *e, struct kubelet_result *res)
{
	_cleanup_(kubelet_undo_done) struct kubelet_undo undo = {};
	struct kubelet_decision before = res->decision;
	const uint64_t rest = res->kubelet.rest;
	int r = ledger_files_note(run->fs, &res->kubelet.seen, e, run->running);

	if (kubelet_is_refusal(r) && r != -EAGAIN)
		return refuse(run, e, "what is there now cannot be noted");
	if (r >= 0)
		r = kubelet_edit(run->fs, e, &undo);
	if (r == -EEXIST)
		return refuse(run, e, "another program made it");
	if (kubelet_is_refusal(r) && r != -EAGAIN)
		return refuse(run, e, yaml_problem(r));
	if (r < 0)
		return r;

	r = look(run, res);
	if (r < 0)
		return r;
	if (res->kubelet.rest == rest && /* nothing else took effect */
	    !ANY(p, e->pairs, e->n_pairs,
		 !streq(res->kubelet.seen.values[p->setting].text, p->value))) {
		FOREACH(p, e->pairs, e->n_pairs)
			if (before.items[p->setting].outcome == KUBELET_CHANGED)
				run->first[p->setting] = before.items[p->setting];
		return 0;
	}

	/* Another program overwrote it at once, or a value that was not seen overrides it. */
	r = kubelet_undo(run->fs, &undo);
	if (r < 0 && r != -EAGAIN && r != -ENOENT)
		return r;
	return refuse(run, e, "the edit had no effect and was taken back");
}

static int remove_state(const struct fs *fs, struct kubelet_result *res)
{
	const char *path = res->kubelet.seen.cpus.checkpoint_path;
	int r = fs_remove(fs, fs_bare(path));

	if (r < 0)
		return log_error_errno(r, "%s", path);
	log_notice("%s: removed, for it was of policy %s and the kubelet has not run in this boot",
		   path, res->kubelet.seen.cpus.checkpoint);
	return 0;
}

/* Reports the settings that were changed as changed, with their values before. */
static void note_changes(const struct run *run, struct kubelet_result *res)
{
	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		struct kubelet_item *item = &res->decision.items[s];

		if (run->first[s].row > 0) {
			if (item->outcome != KUBELET_SATISFIED && s != KUBELET_RESERVED_CPUS)
				continue;
			*item = run->first[s];
			item->outcome =
				res->kubelet.seen.is_running ? KUBELET_DEFERRED : KUBELET_CHANGED;
		} else if (item->outcome == KUBELET_CHANGED) { /* it could not be made */
			item->outcome = KUBELET_REFUSED;
			item->reason = REASON_KUBELET_FILE_REFUSED;
			PRINT(item->detail, "%.200s: another program is writing it", item->path);
		}
	}
}

/*
 * A run that was killed when its edit was made, and not yet over, left the old text beside the file
 * that now has our value. An edit, or its way back, removes it as well.
 */
static int tidy(const struct run *run, const struct kubelet_result *res, int *locked)
{
	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++) {
		_cleanup_(target_done) struct target t = TARGET_NONE;
		const char *path = res->kubelet.seen.values[s].path;

		if (!*path || !target_is_left(run->fs, path))
			continue;
		if (*locked < 0)
			*locked = kubelet_lock(run->fs);
		if (*locked < 0)
			return *locked;
		target_open(run->fs, path, YAML_MAX_BYTES, &t); /* that removes it */
	}
	return 0;
}

static int make_rounds(struct run *run, struct kubelet_result *res)
{
	_cleanup_(closep) int locked = -EBADF;
	int again = 0, r;

	/* The first look needs no lock: most of the time there is nothing to do. */
	r = look(run, res);
	for (int i = 0; i < MAX_ROUNDS && r >= 0; i++) {
		struct kubelet_edit e;
		int first = first_change(&res->decision);

		if (first < 0 && !res->decision.is_state_removed &&
		    (run->is_locked || !res->kubelet.is_open))
			break;
		if (locked < 0) {
			locked = kubelet_lock(run->fs);
			if (locked < 0)
				return locked;
			run->is_locked = true;
			ledger_files_settle(run->fs); /* of a killed run; it logs */
			r = look(run, res);           /* another run may have done it meanwhile */
			continue;
		}
		if (first < 0) {
			r = remove_state(run->fs, res);
			if (r >= 0) /* a take-back may have waited for it */
				r = look(run, res);
			continue;
		}

		r = take_back(run, &res->decision);
		if (r == 0) {
			make_edit(&res->kubelet, &res->decision, first, &e);
			r = edit(run, &e, res);
			ledger_files_settle(run->fs);
		}
		if (r >= 0 || (r == -EAGAIN && again++ < MAX_AGAIN))
			r = look(run, res);
	}
	return r >= 0 ? tidy(run, res, &locked) : r == -EAGAIN ? 0 : r;
}

int kubelet_ensure(const struct fs *fs, const struct config *c, struct kubelet_result *ret)
{
	struct run run = { .fs = fs, .c = c };
	struct kubelet_result res = {};
	int r = 0;

	/* With what is noted as ours the kubelet may exit when nothing is asked for any more. */
	if (config_has_kubelet_policy(c) || fs_exists(fs, KUBELET_RECORD_PATH) != 0)
		r = make_rounds(&run, &res);
	if (r < 0)
		return r;

	note_changes(&run, &res);
	*ret = res;
	return 0;
}
