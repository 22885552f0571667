/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sysctl: what several NICs in one network need of the kernel, by settings of each netdev alone.
 *
 * arp_ignore 1: only the NIC that has an address answers for it. arp_announce 2: ARP requests have
 * an address of the NIC they leave by. rp_filter not 1: the way back may be another NIC. The
 * effective value of each is the larger of conf/all and the netdev's:
 * Documentation/networking/ip-sysctl.rst. What is right in effect is left as it is.
 */
#include "nic-netdev-rules.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

static bool is_known(const struct netconf *c, enum netconf_key key)
{
	return c->known & 1u << key;
}

static void want_value(struct plan *p, const struct nic_netdev *k, enum netconf_key key,
		       int32_t value)
{
	struct action *a =
		nic_netdev_add_action(p, k, VERB_SET_SYSCTL, k->netdev->ifindex, netconf_name(key));

	action_set_numbers(a, k->netdev->conf.values[key], value);
}

/* --- IPv4 --- */

static bool has_ipv4(const struct node *n, const struct nic_netdev *k)
{
	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == k->netdev->ifindex && a->family == AF_INET &&
			   nic_netdev_is_routed(a)) ||
	       k->address.family == AF_INET;
}

static void tell_strict(struct plan *p, const struct nic_netdev *k, enum netconf_key key,
			int32_t all)
{
	struct action *a = plan_add_reason(p, VERB_SET_SYSCTL, CLASS_REFUSED,
					   k->device->pci->address, REASON_SYSCTL_STRICT);
	const char *name = netconf_name(key);

	a->ifindex = k->netdev->ifindex;
	a->subject = name;
	a->detail = plan_text(p, "net/ipv4/conf/all/%s is %" PRId32 ", %s", name + 5, all,
			      k->netdev->name);
}

static void plan_ipv4(const struct node *n, struct plan *p, const struct nic_netdev *k)
{
	static const struct {
		enum netconf_key key;
		int32_t wrong[2];    /* effective values, first and last, that need another */
		int32_t value, most; /* what is set then; conf/all above most has its own way */
	} wants[] = {
		{ NETCONF_ARP_IGNORE, { 0, 0 }, 1, 2 },
		{ NETCONF_ARP_ANNOUNCE, { 0, 1 }, 2, 2 },
		{ NETCONF_RP_FILTER, { 1, 1 }, 2, 2 },
	};

	for (size_t i = 0; i < ELEMENTSOF(wants); i++) {
		const enum netconf_key key = wants[i].key;
		const int32_t own = k->netdev->conf.values[key];
		const int32_t all = is_known(&n->all, key) ? n->all.values[key] : 0;
		const int32_t effective = MAX(own, all);

		if (!is_known(&k->netdev->conf, key))
			continue;
		if (all > wants[i].most)
			tell_strict(p, k, key, all);
		else if (effective > wants[i].most ||
			 (effective >= wants[i].wrong[0] && effective <= wants[i].wrong[1]))
			want_value(p, k, key, wants[i].value);
	}
}

/* --- IPv6=ra --- */

/* Below the default routes of everybody else, IPv6 of this node as a whole does not go by an RDMA
 * NIC. */
static int32_t defrtr_metric(const struct node *n, const struct plan *p)
{
	uint32_t highest = 4095;

	FOREACH(t, n->routes, n->n_routes) {
		const struct nic_netdev *k = nic_netdev_of(p, t->ifindex);

		if (t->table == RT_TABLE_MAIN && t->family == AF_INET6 && t->prefix_len == 0 &&
		    t->metric > highest && t->metric < INT32_MAX && !(k && k->is_ra) &&
		    t->type == RTN_UNICAST)
			highest = t->metric;
	}
	return (int32_t)highest + 1;
}

/*
 * A host that forwards, as every Kubernetes node does, listens to routers only with accept_ra=2;
 * forwarding is left as it is. By EUI-64 and without temporary addresses the GID is the same at
 * every boot.
 */
static void plan_ipv6(const struct node *n, struct plan *p, const struct nic_netdev *k)
{
	const struct {
		enum netconf_key key;
		int32_t value;
	} wants[] = {
		{ NETCONF_DISABLE_IPV6, 0 },     { NETCONF_ADDR_GEN_MODE, 0 },
		{ NETCONF_USE_TEMPADDR, 0 },     { NETCONF_AUTOCONF, 1 },
		{ NETCONF_ACCEPT_RA_DEFRTR, 1 }, { NETCONF_RA_DEFRTR_METRIC, defrtr_metric(n, p) },
		{ NETCONF_ACCEPT_RA_PINFO, 1 },  { NETCONF_ACCEPT_RA, 2 },
	};

	for (size_t i = 0; i < ELEMENTSOF(wants); i++) {
		const struct netconf *have = &k->netdev->conf;
		const enum netconf_key key = wants[i].key;

		if (!is_known(have, key) || have->values[key] == wants[i].value ||
		    (key == NETCONF_USE_TEMPADDR && have->values[key] < 0)) /* -1: never */
			continue;
		want_value(p, k, key, wants[i].value);
	}
}

/* The network of eRDMA has no IPv6. "check" sees it where Match= says so; here it is known. */
static void refuse_erdma(const struct config *c, struct plan *p)
{
	for (size_t i = 0; i < p->n_devices && c->route.ipv6 == IPV6_RA; i++)
		if (pci_is_erdma(p->devices[i].pci))
			plan_add_wait(p, STEP_ROUTE, CLASS_IMPOSSIBLE, p->devices[i].pci->address,
				      REASON_IPV6_ERDMA, NULL);
}

void plan_sysctl(const struct config *c, const struct node *n, const struct memory *memory _unused_,
		 struct plan *p)
{
	if (!c->route.manage)
		return;

	FOREACH(k, p->nic_netdevs, p->n_nic_netdevs) {
		if (nic_netdev_is_hands_off(k))
			continue;
		if (has_ipv4(n, k))
			plan_ipv4(n, p, k);
		if (k->is_ra)
			plan_ipv6(n, p, k);
	}
	refuse_erdma(c, p);
}
