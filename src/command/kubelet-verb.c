/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: the verbs kubelet-ensure and gate, which run before each start of a kubelet.
 */
#include "../base/log.h"
#include "../config/load.h"
#include "../service/wait.h"
#include "session.h"

#include <sys/prctl.h>

#define STRICT_USEC (2 * USEC_PER_SEC)

int command_kubelet(const struct command *cmd)
{
	return session_become_kubelet(cmd, false);
}

static bool may_come(void *userdata _unused_)
{
	return true;
}

/* Waits whatever the service does: without the wait systemd restarts a kubelet ten times a
 * second. */
static bool is_ready(const struct fs *fs)
{
	const struct wait w = { .timeout_usec = fs->is_live ? STRICT_USEC : 0,
				.until_ready = true,
				.may_come = may_come };
	enum node_state state;

	wait_state(fs, &w, &state);
	if (wait_read_state(fs, &state) < 0)
		state = NODE_STARTING;
	if (state != NODE_READY)
		log_error("The kubelet is held back: Gate=strict and the node is %s; see "
			  "\"rdma-provision status\"",
			  node_state_name(state));
	return state == NODE_READY;
}

/* --strict: by the drop-in of Gate=strict, which holds whatever has become of the files since then.
 */
int command_gate(const struct command *cmd)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	int r;

	/* As in helper-verb.c. A failure is no reason to hold a kubelet. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning_errno(-errno, "PR_SET_DUMPABLE");
	r = fs_open_root(cmd->root, &fs);
	if (r < 0)
		session_refuse_root(cmd, r);
	/* The service reports whatever is wrong with the configuration itself. */
	if (!cmd->is_strict &&
	    (r < 0 || load_valid(&fs, cmd->config, &c) < 0 || c.kubelet.gate != GATE_STRICT))
		return EXIT_SUCCESS;
	return r >= 0 && is_ready(&fs) ? EXIT_SUCCESS : EXIT_FAILURE;
}
