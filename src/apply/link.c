/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link: brings a netdev up, sets its MTU. Which one, and whether VFs forbid it, the plan knows.
 */
#include "../doors/link.h"

#include "verbs.h"

int apply_set_link_up(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	return r < 0 ? r : link_set_up(&w->doors->route, a->ifindex);
}

int apply_set_mtu(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	return r < 0 ? r
		     : link_set_mtu(&w->doors->route, a->ifindex,
				    (uint32_t)strtoul(a->to, NULL, 10));
}
