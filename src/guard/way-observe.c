/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Way: by which netdev the node reaches the places that it must reach.
 *
 * Adds to node.destinations what no file tells: for each family, and for each VRF that has a
 * default route of it, an address that only default routes lead to; and the other ends of each
 * tunnel that an answer leads into. A WireGuard packet has the mark of its device, and one of a
 * tunnel with a device is bound to that.
 */
#include "../step/observers.h"

#include "../model/graph.h"
#include "../model/ip.h"
#include "../model/route-find.h"
#include "../os/route.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

/* Return: false: there is no memory. */
static bool add(struct node *n, enum destination_to to, const struct lookup *l, const char *words)
{
	struct destination *d = APPEND(n->destinations, n->n_destinations);

	if (!d)
		return false;
	*d = (struct destination){ .to = to, .lookup = *l };
	d->lookup.result = -ENODATA;
	COPY(d->words, words);
	return true;
}

static bool has_asked(const struct node *n, enum destination_to to, const struct lookup *l)
{
	return ANY(d, n->destinations, n->n_destinations,
		   d->to == to && d->lookup.family == l->family &&
			   d->lookup.ifindex == l->ifindex && d->lookup.mark == l->mark &&
			   memcmp(d->lookup.dst, l->dst, sizeof(l->dst)) == 0);
}

/* --- where default routes lead --- */

static bool has_default(const struct node *n, int family, uint32_t table)
{
	return ANY(t, n->routes, n->n_routes,
		   t->family == family && t->table == table && t->prefix_len == 0 &&
			   t->type == RTN_UNICAST);
}

/* @vrf: NULL: by the main rules */
static bool add_default(struct node *n, const struct lookup *of, const struct netdev *vrf)
{
	const enum destination_to to = vrf ? TO_VRF : TO_DEFAULT;
	struct lookup l = *of;
	char address[INET6_ADDRSTRLEN], words[sizeof(n->destinations->words)];

	l.ifindex = vrf ? vrf->ifindex : 0;
	if (has_asked(n, to, &l))
		return true;
	ip_format(l.family, l.dst, UINT32_MAX, address, sizeof(address));
	snprintf(words, sizeof(words), "default route%s%s, %s", vrf ? " of the VRF " : "",
		 vrf ? vrf->name : "", address);
	return add(n, to, &l, words);
}

/* Documentation has addresses that nobody has: RFC 5737 and 3849. A rule may lead some elsewhere.
 */
static bool add_documentation(struct node *n, struct lookup *l)
{
	static const char *const addresses[] = { "192.0.2.1", "198.51.100.1", "203.0.113.1",
						 "2001:db8::1" };
	const uint32_t longest = l->family == AF_INET6 ? 3 : 1;

	for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
		if (inet_pton(l->family, addresses[i], l->dst) != 1)
			continue;
		if (!ANY(t, n->routes, n->n_routes,
			 t->family == l->family && t->prefix_len > longest &&
				 ip_is_in_prefix(l->dst, t->dst, t->prefix_len)) &&
		    !add_default(n, l, NULL))
			return false;
	}
	return true;
}

static int add_defaults(struct node *n, int family)
{
	struct lookup l = { .family = family };
	int r;

	if (!add_documentation(n, &l))
		return -ENOMEM;
	r = route_find_default(n, family, l.dst);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!add_default(n, &l, NULL))
		return -ENOMEM;
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct netdev *vrf = &n->netdevs[i];

		if (vrf->vrf_table && has_default(n, family, vrf->vrf_table) &&
		    !add_default(n, &l, vrf))
			return -ENOMEM;
	}
	return 0;
}

/* --- where tunnels lead --- */

static bool is_on(const struct graph *g, uint32_t ifindex, const struct netdev *tunnel)
{
	const struct netdev *nd = node_netdev(g->n, ifindex);

	return nd && (nd == tunnel || graph_is_above(g, nd, tunnel));
}

static bool leads_into(const struct graph *g, const struct lookup *l, const struct netdev *tunnel)
{
	for (size_t i = 0; i < l->n_hops && l->result == 0; i++)
		if (is_on(g, l->hops[i], tunnel))
			return true;
	return l->result == 0 && is_on(g, l->found, tunnel);
}

static bool add_end(struct node *n, const struct tunnel_end *end, const struct netdev *tunnel,
		    const char *what_for)
{
	struct lookup l = { .family = end->family, .ifindex = tunnel->link, .mark = end->mark };
	char address[INET6_ADDRSTRLEN], words[2 * sizeof(n->destinations->words)];

	memcpy(l.dst, end->remote, sizeof(l.dst));
	if (has_asked(n, TO_TUNNEL_END, &l))
		return true;
	ip_format(l.family, l.dst, UINT32_MAX, address, sizeof(address));
	snprintf(words, sizeof(words), "the other end of %s, %s, for: %s", tunnel->name, address,
		 what_for);
	return add(n, TO_TUNNEL_END, &l, words);
}

static int add_ends(const struct graph *g, struct node *n, size_t i)
{
	const struct destination d = n->destinations[i]; /* the array may move */

	for (size_t k = 0; k < n->n_tunnel_ends; k++) {
		const struct tunnel_end *end = &n->tunnel_ends[k];
		const struct netdev *tunnel = node_netdev(n, end->ifindex);

		if (tunnel && leads_into(g, &d.lookup, tunnel) && !add_end(n, end, tunnel, d.words))
			return -ENOMEM;
	}
	return 0;
}

/* --- all of them --- */

static int ask(struct os *d, const struct node *n, struct lookup *l)
{
	if (l->result != -ENODATA)
		return 0;
	if (d->fs.is_live)
		return route_lookup(&d->route, l, true);
	route_find(n, l);
	return 0;
}

/* An end that was asked about is not asked about again, so this ends. */
int observe_destinations_ask(struct os *d, struct node *n)
{
	_cleanup_(graph_done) struct graph g = {};
	int r = add_defaults(n, AF_INET);

	if (r >= 0)
		r = add_defaults(n, AF_INET6);
	if (r >= 0 && n->n_tunnel_ends > 0)
		r = graph_make(n, &g);
	for (size_t i = 0; i < n->n_destinations && r >= 0; i++) {
		r = ask(d, n, &n->destinations[i].lookup);
		if (r >= 0)
			r = add_ends(&g, n, i);
	}
	return r;
}
