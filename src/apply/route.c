/* SPDX-License-Identifier: Apache-2.0 */
#include "../doors/link.h"
#include "verbs.h"

int apply_set_metric(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	return r < 0 ? r
		     : link_set_metric(&w->doors->route, &w->node->addresses[a->address],
				       (uint32_t)strtoul(a->to, NULL, 10));
}
