/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include "base/log.h"
#include "doors/manager.h"
#include "model/plan.h"
#include "wait.h"

#define UNIT             "rdma-provision.service"
#define ASK_MANAGER_USEC (2 * USEC_PER_SEC)

/* A service that is active and has left no state could not write one. */
static bool may_come(bool has_state)
{
	char word[32] = "";

	if (manager_unit_state(UNIT, ASK_MANAGER_USEC, word, sizeof(word)) < 0)
		return false;
	return streq(word, "activating") ||
	       (has_state && (streq(word, "active") || streq(word, "reloading")));
}

static void wait_until_settled(const struct fs *fs, const struct config *c)
{
	enum node_state state;
	int r;

	r = wait_state(fs, fs->is_live ? c->service.ready_timeout_usec : 0, may_come, &state);
	if (r == -ETIMEDOUT)
		log_warning("The kubelet starts on a node that is starting: ReadyTimeoutSec= is "
			    "over; see \"rdma-provision status\"");
	else if (r < 0)
		log_warning_errno(r, "The kubelet starts, and the state of the node is not known; "
				     "see \"systemctl status " UNIT "\"");
}

bool gate_pass(const struct fs *fs, const struct config *c)
{
	enum node_state state = NODE_STARTING;

	if (c->kubelet.gate == GATE_DEGRADED)
		wait_until_settled(fs, c);
	if (c->kubelet.gate != GATE_STRICT)
		return true;
	if (wait_read_state(fs, &state) < 0)
		state = NODE_STARTING;
	if (state != NODE_READY)
		log_error("The kubelet is held back: Gate=strict and the node is %s; see "
			  "\"rdma-provision status\"",
			  node_state_name(state));
	return state == NODE_READY;
}
