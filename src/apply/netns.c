/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: the RDMA subsystem's mode, shared or exclusive. No namespace is made or entered.
 */
#include "../doors/rdma.h"
#include "verbs.h"

int apply_set_netns_mode(struct work *w, const struct action *a)
{
	enum netns_mode mode = streq(a->to, netns_mode_name(NETNS_MODE_SHARED))
				       ? NETNS_MODE_SHARED
				       : NETNS_MODE_EXCLUSIVE;
	int r;

	r = netlink_open(&w->doors->rdma);
	if (r >= 0)
		r = rdma_set_netns_mode(&w->doors->rdma, mode);
	if (r == -EBUSY)
		copy(w->error, sizeof(a->error),
		     "another network namespace exists; the mode is set at the next boot");
	return r;
}
