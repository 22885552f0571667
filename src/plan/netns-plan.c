/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: the RDMA subsystem's mode, which only a boot can change once there is another network
 * namespace.
 */
#include "in-use-plan.h"
#include "steps.h"

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
	 * rdma_compatdev_set() in drivers/infiniband/core/device.c. Those without a name are not
	 * seen: then the kernel says so. */
	if (n->n_netnses > 0) {
		a->class = CLASS_NEEDS_REBOOT;
		a->reason = REASON_NETNS_BUSY;
	}
	for (size_t i = 0; i < n->n_netnses; i++)
		in_use_append(a->detail, sizeof(a->detail), n->netnses[i].name);
	a->mode.from = n->netns_mode;
	a->mode.to = c->rdma.netns_mode;
	return 0;
}
