/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: the RDMA subsystem's mode, which only a boot can change once there is another network
 * namespace; then who has one is named.
 */
#include "in-use-plan.h"
#include "steps.h"

/* "nginx (pid 812) in containerd.service, blue": who has to end for it to go. */
static void put_holder(const struct netns *ns, char *ret, size_t size)
{
	char process[64] = "nobody that is seen";

	if (ns->pid > 0)
		snprintf(process, sizeof(process), "%s (pid %" PRIu32 ")",
			 ns->command[0] ? ns->command : "a process", ns->pid);
	else if (ns->name[0])
		snprintf(process, sizeof(process), "/run/netns/%.48s", ns->name);
	snprintf(ret, size, "network namespace %" PRIu64 ": %s%s%s%s%s", ns->inode, process,
		 ns->unit[0] ? " in " : "", ns->unit, ns->pid > 0 && ns->name[0] ? ", named " : "",
		 ns->pid > 0 ? ns->name : "");
}

int plan_netns(const struct config *c, const struct node *n, const struct memory *memory _unused_,
	       struct plan *p)
{
	struct action *a;

	/* Without an RDMA subsystem yet, the option that "early" wrote decides when it is loaded.
	 */
	if (c->rdma.netns_mode == NETNS_MODE_KEEP || n->netns_mode == NETNS_MODE_KEEP ||
	    c->rdma.netns_mode == n->netns_mode)
		return 0;

	a = plan_add(p, STEP_NETNS, VERB_SET_NETNS_MODE, CLASS_CHANGE, "");
	if (!a)
		return -ENOMEM;
	/* Any namespace but the first one, also an empty one, and in both directions:
	 * rdma_compatdev_set() in drivers/infiniband/core/device.c. */
	if (n->has_users && n->n_netnses > 0) {
		a->class = CLASS_NEEDS_REBOOT;
		a->reason = REASON_NETNS_BUSY;
	}
	for (size_t i = 0; n->has_users && i < n->n_netnses; i++) {
		char item[256];

		put_holder(&n->netnses[i], item, sizeof(item));
		in_use_append(a->detail, sizeof(a->detail), item);
	}
	a->mode.from = n->netns_mode;
	a->mode.to = c->rdma.netns_mode;
	return 0;
}
