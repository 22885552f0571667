/* SPDX-License-Identifier: Apache-2.0 */
#include "way.h"

#include "../model/graph.h"
#include "../model/ip.h"
#include "../model/route-find.h"
#include "../os/route.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#define MAX_DESTINATIONS 512 /* tunnels may lead to each other */

static bool is_same(const struct destination *a, const struct destination *b)
{
	return a->to == b->to && a->lookup.family == b->lookup.family &&
	       a->lookup.ifindex == b->lookup.ifindex && a->lookup.mark == b->lookup.mark &&
	       memcmp(a->lookup.dst, b->lookup.dst, sizeof(a->lookup.dst)) == 0;
}

/* The first of equal ones is the recorded one. */
static void drop_repeated(struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_destinations; i++) {
		bool is_repeated = false;

		for (size_t k = 0; k < kept && !is_repeated; k++)
			is_repeated = n->destinations[i].lookup.result == -ENODATA &&
				      is_same(&n->destinations[k], &n->destinations[i]);
		if (!is_repeated)
			n->destinations[kept++] = n->destinations[i];
	}
	n->n_destinations = kept;
}

static int add(struct node *n, const struct destination *d)
{
	struct destination *to;

	for (size_t i = 0; i < n->n_destinations; i++)
		if (is_same(&n->destinations[i], d))
			return 0;
	if (n->n_destinations == MAX_DESTINATIONS)
		return 0;
	to = APPEND(n->destinations, n->n_destinations);
	if (!to)
		return -ENOMEM;
	*to = *d;
	to->lookup.result = -ENODATA;
	return 0;
}

static bool has_default(const struct node *n, int family, uint32_t table)
{
	const uint32_t longest = family == AF_INET6 ? 3 : 1;

	for (size_t i = 0; i < n->n_routes; i++)
		if (n->routes[i].family == family && n->routes[i].table == table &&
		    n->routes[i].prefix_len <= longest && n->routes[i].type == RTN_UNICAST)
			return true;
	return false;
}

static int add_defaults(struct node *n, int family)
{
	struct destination d = { .to = TO_DEFAULT,
				 .words = "default route",
				 .lookup.family = family };
	int r = route_find_default(n, family, d.lookup.dst);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = add(n, &d);
	d.to = TO_VRF;
	for (size_t i = 0; i < n->n_netdevs && r >= 0; i++) {
		const struct netdev *nd = &n->netdevs[i];

		if (nd->vrf_table == 0 || !has_default(n, family, nd->vrf_table))
			continue;
		d.lookup.ifindex = nd->ifindex;
		snprintf(d.words, sizeof(d.words), "default route of the VRF %s", nd->name);
		r = add(n, &d);
	}
	return r;
}

/* The ends of the tunnel that a packet leaves by, or that it is below. */
static int add_ends(const struct graph *g, struct node *n, size_t i)
{
	const struct netdev *nd = node_netdev(n, n->destinations[i].lookup.found);
	int r = 0;

	for (size_t k = 0; k < n->n_tunnel_ends && nd && r >= 0; k++) {
		const struct tunnel_end *e = &n->tunnel_ends[k];
		const struct netdev *tunnel = node_netdev(n, e->ifindex);
		struct destination d = { .to = TO_TUNNEL_END,
					 .lookup = { .family = e->family, .mark = e->mark } };

		if (!tunnel || (tunnel != nd && !graph_is_above(g, nd, tunnel)))
			continue;
		memcpy(d.lookup.dst, e->remote, sizeof(e->remote));
		snprintf(d.words, sizeof(d.words), "the other end of %s, %.120s", tunnel->name,
			 n->destinations[i].words);
		r = add(n, &d);
	}
	return r;
}

int observe_ways(struct os *d, struct node *n)
{
	_cleanup_(graph_done) struct graph g = {};
	int r = graph_make(n, &g);

	drop_repeated(n);
	if (r >= 0)
		r = add_defaults(n, AF_INET);
	if (r >= 0)
		r = add_defaults(n, AF_INET6);
	for (size_t i = 0; i < n->n_destinations && r >= 0; i++) {
		struct lookup *l = &n->destinations[i].lookup;

		if (l->result == -ENODATA && d->fs.is_live)
			r = route_lookup(&d->route, l, true);
		else if (l->result == -ENODATA)
			route_find(n, l);
		if (r >= 0 && l->result >= 0)
			r = add_ends(&g, n, i);
	}
	return r;
}
