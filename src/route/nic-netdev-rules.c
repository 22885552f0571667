/* SPDX-License-Identifier: Apache-2.0 */
#include "nic-netdev-rules.h"

#include "../guard/guard-rules.h"
#include "../model/metadata.h"
#include "../model/route-facts.h"
#include "../model/route-find.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define PREFIX_METRIC_IPV6 256 /* IP6_RT_PRIO_ADDRCONF in include/net/ip6_route.h */

const struct nic_netdev *nic_netdev_of(const struct plan *p, uint32_t ifindex)
{
	return FIND(n, p->nic_netdevs, p->n_nic_netdevs, n->netdev->ifindex == ifindex);
}

bool nic_netdev_is_leaving(const struct plan *p, const struct address *a)
{
	return ANY(x, p->actions, p->n_actions,
		   x->verb == VERB_REMOVE_ADDRESS && x->ifindex == a->ifindex &&
			   x->address.family == a->family &&
			   x->address.prefix_len == a->prefix_len &&
			   memcmp(x->address.local, a->local, sizeof(a->local)) == 0);
}

bool nic_netdev_is_hands_off(const struct nic_netdev *k)
{
	return k->problem == REASON_METADATA_WAITING || k->problem == REASON_METADATA_REFUSED;
}

bool nic_netdev_is_used(const struct plan *p, uint32_t ifindex)
{
	const struct netdev *nd = node_netdev(p->graph.n, ifindex);

	return nd && ANY(d, p->devices, p->n_devices,
			 d->use == DEVICE_VF_USED && d->netdev &&
				 (d->netdev == nd || graph_is_above(&p->graph, nd, d->netdev)));
}

bool nic_netdev_is_routed(const struct address *a)
{
	/* The same bit is IFA_F_SECONDARY of IPv4, which is as good as any. */
	const uint32_t bad = a->family == AF_INET6 ? IFA_F_TEMPORARY | IFA_F_DADFAILED : 0;

	return a->scope == RT_SCOPE_UNIVERSE && !(a->flags & bad);
}

uint32_t nic_netdev_metric_of(const struct address *a)
{
	return a->metric == 0 && a->family == AF_INET6 ? PREFIX_METRIC_IPV6 : a->metric;
}

/* Is the prefix route of @a better than the route by which packets of this look-up leave? */
static bool is_better(const struct node *n, const struct address *a, const struct lookup *l)
{
	const uint32_t metric = nic_netdev_metric_of(a);

	return a->prefix_len > l->prefix_len ||
	       (a->prefix_len == l->prefix_len &&
		ANY(t, n->routes, n->n_routes,
		    t->table == RT_TABLE_MAIN && t->family == a->family && t->ifindex == l->found &&
			    t->prefix_len == l->prefix_len &&
			    ip_is_in_prefix(l->dst, t->dst, t->prefix_len) && t->metric > metric));
}

bool nic_netdev_diverts(const struct node *n, const struct address *a, char *detail, size_t size)
{
	/* TO_DEFAULT and TO_VRF stand for all places that only a default route leads to, which
	 * this address does not change. A place of the last boot to which only a default route
	 * leads now may have been reached by this address. */
	const struct destination *d =
		FIND(k, n->destinations, n->n_destinations,
		     k->to != TO_DEFAULT && k->to != TO_VRF && k->to != TO_MOUNT &&
			     (k->to != TO_BEFORE || k->lookup.prefix_len > 0) &&
			     k->lookup.family == a->family && k->lookup.result == 0 &&
			     k->lookup.found != a->ifindex &&
			     ip_is_in_prefix(k->lookup.dst, a->local, a->prefix_len) &&
			     is_better(n, a, &k->lookup));
	char to[48], text[48];

	if (!d || a->flags & IFA_F_NOPREFIXROUTE || route_vrf_of(n, node_netdev(n, a->ifindex)))
		return false;
	ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
	ip_format(a->family, d->lookup.dst, UINT32_MAX, to, sizeof(to));
	snprintf(detail, size, "%s: %s, %s, leaves by %s", text, to, d->words,
		 (node_netdev(n, d->lookup.found) ?: &(struct netdev){})->name);
	return true;
}

bool nic_netdev_router_diverts(const struct node *n, const struct netdev *nd)
{
	char detail[256];

	FOREACH(d, n->destinations, n->n_destinations) {
		const struct lookup *l = &d->lookup;
		struct address a = { nd->ifindex, AF_INET6, .prefix_len = 64 };

		memcpy(a.local, l->dst, sizeof(a.local));
		if (l->family == AF_INET6 && l->prefix_len > 0 && is_zero(l->gateway) &&
		    nic_netdev_diverts(n, &a, detail, sizeof(detail)))
			return true;
	}
	return false;
}

bool nic_netdev_gateway(const struct node *n, const struct nic_netdev *k, int family,
			uint8_t ret[static 16])
{
	const struct route *best = NULL;

	if (k->gateway.family == family) {
		memcpy(ret, k->gateway.bytes, 16);
		return true;
	}

	FOREACH(t, n->routes, n->n_routes)
		if (t->table == RT_TABLE_MAIN && t->family == family && t->prefix_len == 0 &&
		    t->ifindex == k->netdev->ifindex && !is_zero(t->gateway) &&
		    t->type == RTN_UNICAST && (!best || t->metric < best->metric))
			best = t;
	if (best)
		memcpy(ret, best->gateway, 16);
	return best;
}

struct action *nic_netdev_add_action(struct plan *p, const struct nic_netdev *k, enum verb verb,
				     uint32_t ifindex, const char *subject)
{
	struct action *a = plan_add(p, verb, k ? k->device->pci->address : "");

	a->ifindex = ifindex;
	a->subject = action_text(&p->texts, subject);
	if (k)
		a->detail = action_text(&p->texts, k->netdev->name);
	return a;
}

const char *nic_netdev_format_route(struct plan *p, const struct route *t)
{
	char dst[64];

	ip_format(t->family, t->dst, t->prefix_len, dst, sizeof(dst));
	return plan_text(p, "%s table %" PRIu32, dst, t->table);
}

const char *nic_netdev_format_rule(struct plan *p, const struct rule *rule)
{
	char src[64];

	ip_format(rule->family, rule->src,
		  rule->src_len == ip_bits(rule->family) ? UINT32_MAX : rule->src_len, src,
		  sizeof(src));
	return plan_text(p, "%s %s table %" PRIu32 "%s", rule->src_len ? "from" : "oif",
			 rule->src_len ? src : rule->oif, rule->table,
			 !rule->src_len && rule->family == AF_INET6 ? " of IPv6" : "");
}

uint32_t nic_netdev_of_rule(const struct rule *rule)
{
	return rule->table > OWN_TABLE_BASE ? rule->table - OWN_TABLE_BASE : 0;
}

/* --- the NIC netdevs of a plan --- */

/* GIDs and addresses of a port are of its bond or team. */
static const struct netdev *netdev_of(const struct node *n, const struct device *d)
{
	const struct netdev *bond;

	if (d->is_in_pod || d->is_foreign || d->is_restore_due || !d->netdev)
		return NULL;
	bond = node_bond_of(n, d->netdev);
	return bond ? bond : d->netdev;
}

static bool has_routed_address(const struct node *n, const struct netdev *nd)
{
	size_t n_of;
	const struct address *of = node_addresses_of(n, nd->ifindex, &n_of);

	return ANY(a, of, n_of, nic_netdev_is_routed(a));
}

const struct netdev *nic_netdev_next_port(const struct plan *p, const struct device *d, size_t *i)
{
	const struct netdev *nd;

	if (!d->ibdev || d->ibdev->n_ports < 2)
		return (*i)++ == 0 ? d->netdev : NULL;
	while ((nd = graph_of(&p->graph, d->pci->address, i)))
		if (nd == d->netdev || (nd->netns == 0 && !nd->link && nd->perm_mac[0] &&
					streq(nd->pci, d->pci->address)))
			break; /* neither a representor nor a child of IPoIB */
	return nd;
}

bool nic_netdev_is_vlan_on(const struct node *n, const struct netdev *upper,
			   const struct netdev *nd)
{
	for (int depth = 0; depth < 8 && upper && streq(upper->kind, "vlan"); depth++) {
		if (upper->link == nd->ifindex)
			return true;
		upper = node_netdev(n, upper->link);
	}
	return false;
}

/* Is it to have an address from the configuration or the metadata service? */
static bool is_given_address(const struct config *c, const struct device *d)
{
	return c->route.manage && !d->is_vf &&
	       (c->route.address == ADDRESS_METADATA ||
		(c->route.address == ADDRESS_STATIC && d->config->address.family != 0));
}

const struct netdev *nic_netdev_next_vlan(const struct config *c, const struct plan *p,
					  const struct device *d, const struct netdev *nd,
					  size_t *i)
{
	const struct netdev *upper;

	if (is_given_address(c, d) || has_routed_address(p->graph.n, nd))
		return NULL;
	while ((upper = graph_above(&p->graph, nd, i)))
		if (upper->netns == 0 && nic_netdev_is_vlan_on(p->graph.n, upper, nd) &&
		    has_routed_address(p->graph.n, upper))
			return upper;
	return NULL;
}

/* Has the section of this NIC that address? */
static bool is_to_have(const struct device *d, const struct ip *address)
{
	const struct ip *own = &d->config->address;

	return !d->is_vf && own->family == address->family &&
	       memcmp(own->bytes, address->bytes, sizeof(own->bytes)) == 0;
}

/* Is it the netdev of the device, not that of another port? */
static bool is_first(const struct plan *p, const struct nic_netdev *k)
{
	return k->netdev == netdev_of(p->graph.n, k->device);
}

/* A bond counts once, and a NIC whose driver has made no netdev yet counts as well. */
static uint32_t n_nics_with(const struct plan *p, const struct ip *address)
{
	uint32_t n = 0;

	FOREACH(k, p->nic_netdevs, p->n_nic_netdevs)
		n += is_first(p, k) && is_to_have(k->device, address);
	FOREACH(d, p->devices, p->n_devices)
		n += is_to_have(d, address) && !d->netdev && !device_is_infiniband(d) &&
		     !plan_carries_node(d);
	return n;
}

static void want_static(const struct plan *p, struct nic_netdev *k)
{
	const struct device_config *dc = k->device->config;

	if (!is_first(p, k))
		return;
	if (n_nics_with(p, &dc->address) > 1) {
		k->problem = REASON_ADDRESS_AMBIGUOUS;
		PRINT(k->detail, "[Device %s]", dc->name);
		return;
	}
	k->address = dc->address;
	k->gateway = dc->gateway;
}

static void want_metadata(const struct node *n, struct nic_netdev *k)
{
	const struct metadata *m = node_metadata(n, k->netdev->mac);

	if (!m || m->state != METADATA_KNOWN) {
		k->problem = m && m->state == METADATA_REFUSED ? REASON_METADATA_REFUSED
							       : REASON_METADATA_WAITING;
		COPY(k->detail, m ? m->detail : "");
		return;
	}
	k->address = (struct ip){ .family = AF_INET, .prefix_len = m->prefix_len };
	memcpy(k->address.bytes, m->address, sizeof(m->address));
	memcpy(k->gateway.bytes, m->gateway, sizeof(m->gateway));
	k->gateway.family = is_zero(k->gateway.bytes) ? 0 : AF_INET;
}

static void add_nic_netdev(const struct config *c, struct plan *p, const struct device *d,
			   const struct netdev *nd)
{
	/* Only what is above several of them, as a bond, may have come before. */
	struct nic_netdev *k = streq(nd->pci, d->pci->address)
				       ? NULL
				       : (struct nic_netdev *)nic_netdev_of(p, nd->ifindex);
	const bool is_ra = c->route.manage && c->route.ipv6 == IPV6_RA && d->is_handed_out &&
			   !pci_is_erdma(d->pci);

	if (k)
		k->is_ra |= is_ra;
	else
		PLAN_ADD(p, nic_netdevs, (struct nic_netdev){ nd, d, .is_ra = is_ra });
}

/*
 * A NIC that was a rail, or taken for one, and carries the node now: what was set on it in this
 * boot goes back. Its routes and rules go with those that are not wanted any more.
 */
static void release(const struct node *n, const struct memory *memory, struct plan *p,
		    const struct device *d)
{
	const struct netdev *nd = netdev_of(n, d);

	/* Both ports of a bond have the same: once. */
	for (const struct device *before = p->devices; before < d; before++)
		if (plan_carries_node(before) && netdev_of(n, before) == nd)
			return;
	if (nd)
		plan_revert_netdev(n, memory, p, nd->ifindex);
	for (size_t i = 0; nd && (nd = nic_netdev_next_port(p, d, &i));)
		if (nd != d->netdev)
			plan_revert_netdev(n, memory, p, nd->ifindex);
}

/* Its own netdev, or the bond above it, and VLANs above that have the addresses instead. */
static void add_netdevs(const struct config *c, struct plan *p, const struct device *d,
			const struct netdev *nd)
{
	const struct netdev *vlan;

	add_nic_netdev(c, p, d, nd);
	for (size_t i = 0; (vlan = nic_netdev_next_vlan(c, p, d, nd, &i));)
		add_nic_netdev(c, p, d, vlan);
}

void plan_nic_netdevs(const struct config *c, const struct node *n, const struct memory *memory,
		      struct plan *p)
{
	for (size_t i = 0; i < p->n_devices && c->route.manage; i++)
		if (plan_carries_node(&p->devices[i]))
			release(n, memory, p, &p->devices[i]);

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		const struct netdev *nd;

		if (!netdev_of(n, d) || !guard_may(d, GUARD_ROUTES))
			continue;
		for (size_t k = 0; (nd = nic_netdev_next_port(p, d, &k));)
			add_netdevs(c, p, d, node_bond_of(n, nd) ?: nd);
	}

	for (size_t i = 0; i < p->n_nic_netdevs; i++) {
		if (!is_given_address(c, p->nic_netdevs[i].device))
			continue;
		if (c->route.address == ADDRESS_STATIC)
			want_static(p, &p->nic_netdevs[i]);
		else
			want_metadata(n, &p->nic_netdevs[i]);
	}
}

bool nic_netdev_is_rival(const struct node *n, const struct nic_netdev *k, const struct route *t)
{
	if (t->table != RT_TABLE_MAIN || t->ifindex != k->netdev->ifindex || t->prefix_len == 0 ||
	    t->prefix_len == ip_bits(t->family) || t->type != RTN_UNICAST ||
	    t->protocol == RTPROT_KERNEL || t->protocol == RTPROT_RA ||
	    t->protocol == RTPROT_DHCP || t->protocol == OWN_PROTOCOL)
		return false;

	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == t->ifindex && a->family == t->family &&
			   a->prefix_len == t->prefix_len && nic_netdev_is_routed(a) &&
			   ip_is_in_prefix(a->local, t->dst, t->prefix_len));
}
