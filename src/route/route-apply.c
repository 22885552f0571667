/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: netdevs are brought up and get their MTU, and back the MAC and names that a pod left
 * changed; ranks, addresses, routes, rules, neighbours and sysctls of them, each with its line in
 * the ledger first, so that it can be taken back. Decides on none of them.
 */
#include "../os/link.h"
#include "../os/route.h"
#include "../step/ledger-apply.h"
#include "../step/verbs.h"

#include <net/if.h>

int apply_set_mtu(struct work *w, const struct action *a)
{
	return link_set_mtu(&w->os->route, a->ifindex, (uint32_t)a->number.to.n);
}

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

/* Notes the change in the ledger before it is made, unless there is no socket to make it with. */
static int begin(struct work *w, const struct action *a, const char *from)
{
	int r = netlink_open(&w->os->route);

	return r < 0 ? r : ledger_note(w, a, from);
}

/* The link of a VF is noted for in-use.c, which reads it as leave to take what routers advertise.
 */
int apply_set_link_up(struct work *w, const struct action *a)
{
	const struct pci *pci = node_pci(w->node, a->target);
	int r = pci && pci->physfn[0] ? begin(w, a, "") : 0;

	return r < 0 ? r : link_set_up(&w->os->route, a->ifindex);
}

/* @verb: the verb whose entry in the ledger means nothing any more. */
static int end(struct work *w, const struct action *a, enum verb verb, int r)
{
	return r < 0 ? r : ledger_forget(w, a, verb);
}

int apply_set_metric(struct work *w, const struct action *a)
{
	const struct address *address = &a->number.address;
	char from[16];
	int r;

	/* An IPv6 address without a metric shows the one that the kernel gives it. */
	PRINT(from, "%" PRIu32, address->metric);
	r = begin(w, a, from);
	if (r >= 0)
		r = link_set_metric(&w->os->route, address, (uint32_t)a->number.to.n);
	return a->is_back ? end(w, a, VERB_SET_METRIC, r) : r;
}

int apply_add_address(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	r = r < 0 ? r : link_add_address(&w->os->route, &a->address);
	/* A network manager may have put the address back sooner. */
	return r == -EEXIST && a->is_back ? 0 : r;
}

int apply_remove_address(struct work *w, const struct action *a)
{
	int r = link_remove_address(&w->os->route, &a->address);

	if (r >= 0)
		r = ledger_forget(w, a, VERB_SET_METRIC);
	return end(w, a, VERB_ADD_ADDRESS, r);
}

int apply_set_route(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	r = r < 0 ? r : route_set(&w->os->route, &a->route.route, a->route.is_replaced);
	return r == -EEXIST && a->is_back ? 0 : r;
}

int apply_remove_route(struct work *w, const struct action *a)
{
	int r = route_remove(&w->os->route, &a->route.route);

	return a->is_back ? end(w, a, VERB_SET_ROUTE, r) : r;
}

int apply_add_rule(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r : rule_add(&w->os->route, &a->rule);
}

int apply_remove_rule(struct work *w, const struct action *a)
{
	int r = rule_remove(&w->os->route, &a->rule);

	return a->is_back ? end(w, a, VERB_ADD_RULE, r) : r;
}

int apply_resolve_neighbour(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r
		     : neighbour_resolve(&w->os->route, &a->neighbour,
					 a->verb == VERB_PROBE_NEIGHBOUR);
}

int apply_remove_neighbour(struct work *w, const struct action *a)
{
	int r = neighbour_remove(&w->os->route, &a->neighbour);

	return a->is_back ? end(w, a, VERB_KEEP_NEIGHBOUR, r) : r;
}

/*
 * Per netdev only: the folder has the netdev's own name, that of now, since udev may have given it
 * another one after the look.
 */
static int write_netconf(const struct fs *fs, const struct action *a)
{
	const char *slash = strchr(a->subject, '/');
	char name[IF_NAMESIZE], value[SHOWN_LEN];

	if (!slash || !if_indextoname(a->ifindex, name))
		return -ENODEV;
	return fs_write_attribute(fs,
				  FS_PATH("proc/sys/net/%.*s/conf/%s/%s", (int)(slash - a->subject),
					  a->subject, name, slash + 1),
				  action_to(a, value));
}

int apply_set_sysctl(struct work *w, const struct action *a)
{
	char from[SHOWN_LEN];
	int r = ledger_note(w, a, action_from(a, from));

	if (r >= 0)
		r = write_netconf(&w->os->fs, a);
	if (r == -ENOENT && link_sync(&w->os->route, a->ifindex) >= 0) /* it is being renamed */
		r = write_netconf(&w->os->fs, a);
	return a->is_back ? end(w, a, VERB_SET_SYSCTL, r) : r;
}
