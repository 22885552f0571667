/* SPDX-License-Identifier: Apache-2.0 */
#include "revert.h"

#include "apply/apply.h"
#include "base/log.h"
#include "model/paths.h"
#include "observe/ledger.h"
#include "observe/observe.h"
#include "observe/output.h"
#include "observe/plugin.h"
#include "output/state.h"
#include "plan/revert.h"
#include "report/report.h"
#include "run.h"

#define MAX_ROUNDS 4 /* what is removed may uncover more of the same */

struct progress {
	struct doors *doors;
	struct plan tried;
	bool with_vfs;
};

static int look(struct progress *pr, struct node *n, struct plan *p)
{
	static const struct config nothing; /* is wanted, so that each file of ours is an old one */
	int r;

	r = observe_node(pr->doors, output_parse_memory, &pr->tried, n);
	if (r >= 0)
		r = observe_plugin(&pr->doors->fs, &nothing, n);
	if (r >= 0)
		r = observe_files(&pr->doors->fs, &nothing, n);
	if (r >= 0 && pr->with_vfs)
		r = observe_users(pr->doors, n);
	return r < 0 ? r : plan_revert(n, &pr->tried, pr->with_vfs, p);
}

static void on_start(void *userdata _unused_, const struct action *a _unused_,
		     uint64_t deadline_usec _unused_)
{
}

static void on_end(void *userdata, const struct action *a)
{
	struct progress *pr = userdata;
	struct action *slot = APPEND(pr->tried.actions, pr->tried.n_actions);

	report_action(a);
	if (slot)
		*slot = *a;
}

/* Somebody may have come to the VFs since the look. */
static int recheck(void *userdata, const struct action *a, char *words, size_t size)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	int r;

	r = look(userdata, &n, &p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p.n_actions; i++)
		if (p.actions[i].verb == a->verb && streq(p.actions[i].target, a->target) &&
		    is_open_change(&p.actions[i]))
			return 0;
	snprintf(words, size, "somebody came in between");
	return -EBUSY;
}

static int tell_what_is_left(const struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		if (a->is_done) { /* told when it failed */
			r = a->result;
			continue;
		}
		log_warning("%s: %s is left: %s: %s", a->target, verb_name(a->verb),
			    reason_meaning(a->reason), a->detail);
		r = -EBUSY;
	}
	return r;
}

static int run_rounds(struct progress *pr)
{
	const struct apply_hooks hooks = { on_start, on_end, recheck, pr };

	for (int round = 0;; round++) {
		_cleanup_(node_done) struct node n = {};
		_cleanup_(plan_done) struct plan p = {};
		const size_t n_before = pr->tried.n_actions;
		int r;

		r = look(pr, &n, &p);
		if (r < 0)
			return r;
		if (!has_open_changes(&p) || round == MAX_ROUNDS)
			return tell_what_is_left(&p);
		r = apply_plan(pr->doors, &n, &hooks, &p);
		if (pr->tried.n_actions != n_before + (size_t)r)
			return -ENOMEM;
	}
}

/* What is taken back, and what was somebody else's by then, is past; VFs may be taken back another
 * time. */
static int forget(const struct fs *fs)
{
	_cleanup_(freep) struct ledger_entry *entries = NULL;
	size_t n = 0, kept = 0;
	int r;

	r = fs_remove(fs, MANIFEST_RECORD); /* a crash may have come between the pod and it */
	if (r >= 0)
		r = ledger_read(fs, &entries, &n);
	for (size_t i = 0; i < n && r >= 0; i++)
		if (streq(entries[i].verb, verb_name(VERB_SET_NUM_VFS)))
			entries[kept++] = entries[i];
	if (r < 0 || kept == n)
		return r;
	return kept > 0 ? ledger_write(fs, entries, kept) : fs_remove(fs, LEDGER_PATH);
}

int revert(struct doors *d, bool with_vfs)
{
	struct progress pr = { .doors = d, .with_vfs = with_vfs };
	_cleanup_(closep) int lock = -EBADF;
	int r;

	lock = run_lock(&d->fs, NULL);
	if (lock < 0)
		return log_error_errno(lock, "/" LOCK_PATH);

	r = fs_replace(&d->fs, HOLD_PATH, "", 0, 0644);
	if (r < 0)
		return log_error_errno(r, "/" HOLD_PATH ": the service would do it all again");
	r = fs_remove(&d->fs, READY_PATH);
	if (r >= 0)
		r = run_rounds(&pr);
	if (r >= 0)
		r = forget(&d->fs);
	plan_done(&pr.tried);
	return r;
}
