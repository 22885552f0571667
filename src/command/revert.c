/* SPDX-License-Identifier: Apache-2.0 */
#include "revert.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../pass/live.h"
#include "../pass/loop.h"
#include "../step/steps.h"
#include "session.h"

#include <sys/wait.h>

static int make_plan(const struct pass *pass, const struct node *n, const struct memory *memory,
		     const struct attempts *tried, struct plan *ret)
{
	const bool *with_vfs = pass->userdata;

	return plan_revert(n, memory, tried, *with_vfs, ret);
}

/* Forgets the changes that were taken back, or that another program had changed by then; VFs may be
 * taken back another time. */
static int forget(const struct fs *fs)
{
	static const struct manifest_record none;
	_cleanup_(ledger_done) struct ledger l = {};
	size_t n_before;
	int r;

	/* A crash may have left the record without its static pod. */
	r = memory_write(fs, MEMORY_NODE, &manifest_record_fields, &none);
	if (r >= 0)
		r = memory_read_all(fs, MEMORY_BOOT, &ledger_fields, &l);
	n_before = l.n_entries;
	KEEP(e, l.entries, l.n_entries, streq(e->verb, verb_name(VERB_SET_NUM_VFS)));
	if (r < 0 || l.n_entries == n_before)
		return r;
	return memory_write(fs, MEMORY_BOOT, &ledger_fields, &l);
}

/* Looks once and changes nothing, as the service does while it is held. Without this look the state
 * would still have what was taken back. */
static int write_state(const struct world *w)
{
	_cleanup_(config_done) struct config c = {};
	const struct pass pass = { .config = &c, .is_service = true };
	struct pass_result result = {};
	int r = load_config(&w->os->fs, NULL, &c);

	return r < 0 ? r : loop_rounds(w, &pass, &result);
}

/* The kubelet's files are taken back by a program of its own, whatever became of the node. */
static int revert_kubelet(const struct command *cmd, bool is_failed)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(session_become_kubelet(cmd, is_failed));
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		log_error_errno(-errno, KUBELET_PROGRAM);
		return EXIT_FAILURE;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int revert(const struct world *w, const struct command *cmd, bool with_vfs)
{
	/* Nothing is wanted, so that each file of ours is an old one. */
	static const struct config nothing;
	const struct pass pass = { .make_plan = make_plan,
				   .config = &nothing,
				   .is_wait_over = true,
				   .userdata = &with_vfs };
	const struct fs *fs = &w->os->fs;
	struct pass_result result = {};
	int r, code;
	bool is_held;
	_cleanup_(closep) int lock = loop_lock(fs, NULL);

	r = lock < 0 ? lock : fs_replace(fs, HOLD_PATH, "", 0, 0644);
	is_held = r >= 0;
	if (is_held)
		r = fs_remove(fs, READY_PATH);
	else if (lock >= 0)
		log_error_errno(r, "/" HOLD_PATH ": the service would do it all again");
	if (r >= 0)
		r = loop_rounds(w, &pass, &result);
	if (r >= 0)
		r = forget(fs);
	code = cmd ? revert_kubelet(cmd, r < 0) : r < 0;
	/* A look that is not held would begin to change the node. */
	return is_held && write_state(w) < 0 ? EXIT_FAILURE : code;
}

int command_revert(const struct command *cmd)
{
	struct os d = {};
	struct world w;
	int r = session_open_root(cmd, &d);

	if (r < 0)
		return EXIT_FAILURE;

	w = live_world(&d);
	/* A tree that is no running system has only files of the kubelet to take back. */
	r = d.fs.is_live ? revert(&w, cmd, cmd->with_vfs) : session_become_kubelet(cmd, false);
	os_close(&d);
	return r;
}
