/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: the RDMA subsystem's mode, shared or exclusive. No namespace is made or entered.
 */
#include "../os/rdma.h"
#include "../step/verbs.h"

int apply_set_netns_mode(struct work *w, const struct action *a)
{
	int r;

	r = netlink_open(&w->os->rdma);
	if (r >= 0)
		r = rdma_set_netns_mode(&w->os->rdma, a->mode.to);
	if (r == -EBUSY)
		copy(w->error, CHILD_ERROR_LEN,
		     "another network namespace exists; the mode is set at the next boot");
	return r;
}
