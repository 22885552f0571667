/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: prefix routes of managed NICs rank below those of everybody else. Tables and rules are
 * route/policy-routing-plan.c.
 */
#include "../model/route-find.h"
#include "nic-netdev-rules.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static bool has_prefix(const struct address *a)
{
	return a->scope == RT_SCOPE_UNIVERSE && a->prefix_len < ip_bits(a->family) &&
	       a->prefix_len > 0 && !(a->flags & IFA_F_SECONDARY);
}

/* Has the kernel made a prefix route for this address that may be ranked? */
static bool has_prefix_route(const struct address *a)
{
	/* The prefix route of an IPv6 address with a lifetime is not moved but doubled by the
	 * kernel: inet6_addr_modify() in net/ipv6/addrconf.c */
	if (a->family == AF_INET6 && !(a->flags & IFA_F_PERMANENT))
		return false;
	return has_prefix(a) && !(a->flags & IFA_F_NOPREFIXROUTE);
}

/* Ours is what the kernel made for the address of a managed netdev. */
static bool is_foreign(const struct plan *p, const struct route *t)
{
	return t->protocol != RTPROT_KERNEL || !nic_netdev_of(p, t->ifindex);
}

static bool is_to_prefix(const struct route *t, const struct address *a)
{
	uint8_t prefix[16];

	if (t->table != RT_TABLE_MAIN || t->family != a->family || t->prefix_len != a->prefix_len)
		return false;
	ip_prefix(a, prefix);
	return memcmp(t->dst, prefix, sizeof(prefix)) == 0;
}

/* The lowest metric that ranks below everybody else's route to this prefix. */
static uint32_t base_metric(const struct config *c, const struct node *n, const struct plan *p,
			    const struct address *a)
{
	uint32_t base = c->route.metric;

	FOREACH(t, n->routes, n->n_routes) {
		/* No metric ranks below the last one, and "+ 1" makes 0 of it. */
		if (is_to_prefix(t, a) && is_foreign(p, t) && t->metric + 1 > base)
			base = t->metric + 1;
	}
	return base;
}

/* Has it an address in this prefix, or will it have one? */
static bool is_in(const struct node *n, const struct nic_netdev *k, const struct address *a)
{
	uint8_t prefix[16];

	ip_prefix(a, prefix);
	if (k->address.family == a->family && k->address.prefix_len == a->prefix_len &&
	    ip_is_in_prefix(k->address.bytes, prefix, a->prefix_len))
		return true;
	return ANY(b, n->addresses, n->n_addresses,
		   b->ifindex == k->netdev->ifindex && b->family == a->family &&
			   b->prefix_len == a->prefix_len && has_prefix_route(b) &&
			   ip_is_in_prefix(b->peer, prefix, a->prefix_len));
}

/* NIC netdevs are in the order of their PCI addresses, so each rail keeps its rank. */
uint32_t nic_netdev_metric(const struct config *c, const struct node *n, const struct plan *p,
			   const struct nic_netdev *k, const struct address *a)
{
	const uint32_t base = base_metric(c, n, p, a);
	uint32_t rank = 0;

	for (const struct nic_netdev *other = p->nic_netdevs; other < k; other++)
		rank += is_in(n, other, a);
	return base + MIN(rank, UINT32_MAX - base);
}

static void want_metric(struct plan *p, const struct nic_netdev *k, const struct address *have,
			uint32_t want)
{
	char subject[64];
	struct action *a;

	if (nic_netdev_metric_of(have) == want)
		return;

	ip_format(have->family, have->local, have->prefix_len, subject, sizeof(subject));
	a = nic_netdev_add_action(p, k, VERB_SET_METRIC, have->ifindex, subject);
	a->number.address = *have;
	action_set_numbers(a, nic_netdev_metric_of(have), want);
}

/* To the prefix of this address, by its netdev, whatever metric it has. */
static bool is_route_to(const struct route *t, const struct address *a)
{
	return t->ifindex == a->ifindex && is_to_prefix(t, a);
}

/* Is this the route that the kernel made for this address? */
static bool is_route_of(const struct route *t, const struct address *a)
{
	return t->protocol == RTPROT_KERNEL && t->metric == nic_netdev_metric_of(a) &&
	       is_route_to(t, a);
}

static bool has_route(const struct node *n, const struct address *a)
{
	return ANY(r, n->routes, n->n_routes, is_route_of(r, a));
}

/*
 * Another program, such as the ACK eRDMA Controller, has ranked this prefix through this very NIC
 * already: its route, with Metric= or more, does what is asked for. To rank below it would only
 * make that program rank below us.
 */
static bool is_ranked(const struct config *c, const struct node *n, const struct nic_netdev *k,
		      const struct address *a)
{
	if (has_route(n, a) && nic_netdev_metric_of(a) < c->route.metric)
		return false;
	return ANY(r, n->routes, n->n_routes,
		   nic_netdev_is_rival(n, k, r) && is_route_to(r, a) &&
			   r->metric >= c->route.metric);
}

static void rank(const struct config *c, const struct node *n, struct plan *p,
		 const struct address *a)
{
	const struct nic_netdev *k = nic_netdev_of(p, a->ifindex);

	if (!k || nic_netdev_is_hands_off(k) || route_vrf_of(n, k->netdev) ||
	    !has_prefix_route(a) || nic_netdev_is_leaving(p, a) || is_ranked(c, n, k, a))
		return;
	want_metric(p, k, a, nic_netdev_metric(c, n, p, k, a));
}

/*
 * NetworkManager adds addresses with IFA_F_NOPREFIXROUTE and makes their routes itself, as the
 * kernel would but with its own metric. It puts back what others change of them, so the metric is
 * told and not contested.
 */
static void hint_route(const struct config *c, const struct node *n, struct plan *p,
		       const struct address *a)
{
	const struct nic_netdev *k = nic_netdev_of(p, a->ifindex);
	const struct route *t;
	char name[64];
	uint32_t least;

	if (!k || nic_netdev_is_hands_off(k) || route_vrf_of(n, k->netdev) || !has_prefix(a) ||
	    !(a->flags & IFA_F_NOPREFIXROUTE))
		return;
	least = base_metric(c, n, p, a);
	t = FIND(it, n->routes, n->n_routes, is_route_to(it, a) && it->metric < least);
	if (!t)
		return;
	ip_format(t->family, t->dst, t->prefix_len, name, sizeof(name));
	plan_add_hint(p, REASON_ROUTE_NOT_RANKED, k->device->pci->address,
		      "%s dev %s has metric %" PRIu32 ", below %" PRIu32, name, k->netdev->name,
		      t->metric, least);
}

/*
 * Nothing of a port of a VRF: its table is the VRF's.
 *
 * In the order of the table: a route that is moved stands behind others of the same metric, so that
 * what is moved back in this order stands as it did before.
 */
void plan_route(const struct config *c, const struct node *n, const struct memory *memory _unused_,
		struct plan *p)
{
	if (!c->route.manage)
		return;

	for (size_t i = 0; i < n->n_routes; i++)
		for (size_t k = 0; k < n->n_addresses; k++)
			if (is_route_of(&n->routes[i], &n->addresses[k]))
				rank(c, n, p, &n->addresses[k]);
	for (size_t i = 0; i < n->n_addresses; i++)
		if (!has_route(n, &n->addresses[i]))
			rank(c, n, p, &n->addresses[i]);
	for (size_t i = 0; i < n->n_addresses; i++)
		hint_route(c, n, p, &n->addresses[i]);
}
