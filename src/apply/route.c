/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: ranks, addresses, routes, rules, neighbours and sysctls of netdevs, each with its line in
 * the ledger first, so that it can be taken back. Decides on none of them.
 */
#include "../doors/route.h"
#include "../doors/link.h"
#include "../doors/neighbour.h"
#include "../doors/rule.h"
#include "ledger.h"
#include "verbs.h"

#include <net/if.h>

static const struct item *item_of(const struct work *w, const struct action *a)
{
	return &w->plan->items[a->item];
}

/* The door, and the line in the ledger, before anything is changed. */
static int begin(struct work *w, const struct action *a, const char *from)
{
	int r = netlink_open(&w->doors->route);

	return r < 0 ? r : ledger_note(w, a, from);
}

/* @verb: the one whose line in the ledger means nothing any more. */
static int end(struct work *w, const struct action *a, enum verb verb, int r)
{
	return r < 0 ? r : ledger_forget(w, a, verb);
}

int apply_set_metric(struct work *w, const struct action *a)
{
	const struct address *address = &item_of(w, a)->address;
	char from[16];
	int r;

	/* Of IPv6 no metric shows as the one that the kernel makes of it. */
	snprintf(from, sizeof(from), "%" PRIu32, address->metric);
	r = begin(w, a, from);
	if (r >= 0)
		r = link_set_metric(&w->doors->route, address, (uint32_t)strtoul(a->to, NULL, 10));
	return a->is_back ? end(w, a, VERB_SET_METRIC, r) : r;
}

int apply_add_address(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r : link_add_address(&w->doors->route, &item_of(w, a)->address);
}

int apply_remove_address(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	if (r >= 0)
		r = link_remove_address(&w->doors->route, &item_of(w, a)->address);
	if (r >= 0)
		r = ledger_forget(w, a, VERB_SET_METRIC);
	return end(w, a, VERB_ADD_ADDRESS, r);
}

int apply_set_route(struct work *w, const struct action *a)
{
	const struct item *item = item_of(w, a);
	int r = begin(w, a, "");

	return r < 0 ? r : route_set(&w->doors->route, &item->route, item->is_replaced);
}

int apply_remove_route(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	if (r >= 0)
		r = route_remove(&w->doors->route, &item_of(w, a)->route);
	return a->is_back ? end(w, a, VERB_SET_ROUTE, r) : r;
}

int apply_add_rule(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r : rule_add(&w->doors->route, &item_of(w, a)->rule);
}

int apply_remove_rule(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	if (r >= 0)
		r = rule_remove(&w->doors->route, &item_of(w, a)->rule);
	return a->is_back ? end(w, a, VERB_ADD_RULE, r) : r;
}

int apply_keep_neighbour(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r : neighbour_manage(&w->doors->route, &item_of(w, a)->neighbour);
}

int apply_probe_neighbour(struct work *w, const struct action *a)
{
	int r = begin(w, a, "");

	return r < 0 ? r : neighbour_probe(&w->doors->route, &item_of(w, a)->neighbour);
}

int apply_remove_neighbour(struct work *w, const struct action *a)
{
	int r = netlink_open(&w->doors->route);

	if (r >= 0)
		r = neighbour_remove(&w->doors->route, &item_of(w, a)->neighbour);
	return a->is_back ? end(w, a, VERB_KEEP_NEIGHBOUR, r) : r;
}

/*
 * Per netdev only: the folder has the netdev's own name, that of now, since udev may have given it
 * another one after the look.
 */
static int write_netconf(const struct fs *fs, const struct action *a)
{
	const char *slash = strchr(a->subject, '/');
	char name[IF_NAMESIZE], path[128];

	if (!slash || !if_indextoname(a->ifindex, name))
		return -ENODEV;
	snprintf(path, sizeof(path), "proc/sys/net/%.*s/conf/%s/%s", (int)(slash - a->subject),
		 a->subject, name, slash + 1);
	return fs_write_attribute(fs, path, a->to);
}

int apply_set_sysctl(struct work *w, const struct action *a)
{
	int r = ledger_note(w, a, a->from);

	if (r >= 0)
		r = write_netconf(&w->doors->fs, a);
	if (r == -ENOENT && netlink_open(&w->doors->route) >= 0 &&
	    link_sync(&w->doors->route, a->ifindex) >= 0) /* it is being renamed */
		r = write_netconf(&w->doors->fs, a);
	return a->is_back ? end(w, a, VERB_SET_SYSCTL, r) : r;
}
