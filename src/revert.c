/* SPDX-License-Identifier: Apache-2.0 */
#include "revert.h"

#include "base/log.h"
#include "model/paths.h"
#include "observe/ledger.h"
#include "plan/revert.h"
#include "run.h"

static int make_plan(const struct pass *pass, const struct node *n, const struct plan *tried,
		     struct plan *ret)
{
	const bool *with_vfs = pass->userdata;

	return plan_revert(n, tried, *with_vfs, ret);
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

int revert(const struct world *w, bool with_vfs)
{
	/* Nothing is wanted, so that each file of ours is an old one. */
	static const struct config nothing;
	const struct pass pass = { .make_plan = make_plan,
				   .config = &nothing,
				   .is_settled = true,
				   .userdata = &with_vfs };
	_cleanup_(closep) int lock = -EBADF;
	const struct fs *fs = &w->doors->fs;
	struct pass_result result = {};
	int r;

	lock = run_lock(fs, NULL);
	if (lock < 0)
		return log_error_errno(lock, "/" LOCK_PATH);

	r = fs_replace(fs, HOLD_PATH, "", 0, 0644);
	if (r < 0)
		return log_error_errno(r, "/" HOLD_PATH ": the service would do it all again");
	r = fs_remove(fs, READY_PATH);
	if (r >= 0)
		r = run_rounds(w, &pass, &result);
	return r < 0 ? r : forget(fs);
}
