/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Given: names and MAC of a netdev that a pod left changed.
 */
#include "../os/link.h"

#include "../step/verbs.h"

/* Most drivers take no other MAC while it is up, and kernels before 6.2 no other name. */
static int set_while_down(struct work *w, const struct action *a,
			  int (*set)(struct netlink *nl, uint32_t ifindex, const char *value))
{
	int r = set(&w->os->route, a->ifindex, a->text.to), r_up;

	if (r != -EBUSY)
		return r;
	r = link_set_down(&w->os->route, a->ifindex);
	if (r < 0)
		return r;
	r = set(&w->os->route, a->ifindex, a->text.to);
	r_up = link_set_up(&w->os->route, a->ifindex);
	return r < 0 ? r : r_up;
}

int apply_set_mac(struct work *w, const struct action *a)
{
	return set_while_down(w, a, link_set_mac);
}

int apply_set_name(struct work *w, const struct action *a)
{
	return set_while_down(w, a, link_set_name);
}

int apply_change_altname(struct work *w, const struct action *a)
{
	return link_change_altname(&w->os->route, a->ifindex, a->text.to,
				   a->verb == VERB_ADD_ALTNAME);
}
