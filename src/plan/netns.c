/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

int plan_netns(const struct config *c, const struct node *n, struct plan *p)
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
	COPY(a->from, netns_mode_name(n->netns_mode));
	COPY(a->to, netns_mode_name(c->rdma.netns_mode));
	return 0;
}
