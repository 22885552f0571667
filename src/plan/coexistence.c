/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coexistence: others who have their hands on managed NICs, told as hints; nothing is done about
 * them.
 */
#include "../model/own.h"
#include "carrier.h"
#include "mode.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Terway's tables: getRouteTableID() in its plugin/driver/utils */
#define TERWAY_TABLE_BASE 1000

static int hint_terway(const struct node *n, struct plan *p, const struct carrier *k)
{
	char detail[160];

	for (size_t i = 0; i < n->n_rules; i++) {
		const struct rule *rule = &n->rules[i];

		if (!is_erdma(k->device->pci) || rule->protocol == OWN_PROTOCOL ||
		    rule->table != TERWAY_TABLE_BASE + k->netdev->ifindex)
			continue;
		snprintf(detail, sizeof(detail),
			 "a rule with preference %" PRIu32 " leads to table %" PRIu32
			 ", which is Terway's for %s",
			 rule->preference, rule->table, k->netdev->name);
		return plan_add_hint(p, REASON_TERWAY_ENI, k->device->pci->address, detail);
	}
	return 0;
}

/* A route for the prefix of the NIC, beside the one of the kernel: an agent of somebody ranks it as
 * well. */
static bool is_rival(const struct node *n, const struct carrier *k, const struct route *t)
{
	if (t->table != RT_TABLE_MAIN || t->ifindex != k->netdev->ifindex || t->prefix_len == 0 ||
	    t->prefix_len == bits_of(t->family) || t->type != RTN_UNICAST ||
	    t->protocol == RTPROT_KERNEL || t->protocol == RTPROT_RA ||
	    t->protocol == RTPROT_DHCP || t->protocol == OWN_PROTOCOL)
		return false;

	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct address *a = &n->addresses[i];

		if (a->ifindex == t->ifindex && a->family == t->family && is_routed_address(a) &&
		    is_in_prefix(a->local, t->dst, t->prefix_len))
			return true;
	}
	return false;
}

static int hint_rival(const struct node *n, struct plan *p, const struct carrier *k)
{
	char dst[64], detail[160];

	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		if (!is_rival(n, k, t))
			continue;
		format_address(t->family, t->dst, t->prefix_len, dst, sizeof(dst));
		snprintf(detail, sizeof(detail), "%s dev %s proto %d metric %" PRIu32, dst,
			 k->netdev->name, t->protocol, t->metric);
		return plan_add_hint(p, REASON_ROUTE_FOREIGN, k->device->pci->address, detail);
	}
	return 0;
}

/* hasDefaultRoute() in pkg/utils/netlink_provider.go of sriov-network-device-plugin: IPv4, any
 * metric. */
static int hint_default_route(const struct node *n, struct plan *p, const struct carrier *k)
{
	char detail[96];

	for (size_t i = 0; i < n->n_routes && k->device->is_handed_out; i++) {
		const struct route *t = &n->routes[i];

		if (t->table != RT_TABLE_MAIN || t->family != AF_INET || t->prefix_len > 0 ||
		    t->ifindex != k->netdev->ifindex)
			continue;
		snprintf(detail, sizeof(detail), "default dev %s proto %d metric %" PRIu32,
			 k->netdev->name, t->protocol, t->metric);
		return plan_add_hint(p, REASON_DEFAULT_ROUTE, k->device->pci->address, detail);
	}
	return 0;
}

/* Not so often that it is put off, but again and again: what an owner does who looks every few
 * minutes. */
static int hint_contested(const struct node *n, struct plan *p, const struct carrier *k)
{
	char detail[192];

	for (size_t i = 0; i < n->n_ledger; i++) {
		const struct ledger_entry *e = &n->ledger[i];

		if (e->ifindex != k->netdev->ifindex || e->total <= OWN_RESTORES_MAX ||
		    (!streq(e->verb, verb_name(VERB_SET_METRIC)) &&
		     !streq(e->verb, verb_name(VERB_SET_SYSCTL))))
			continue;
		snprintf(detail, sizeof(detail),
			 "%s %s is set back to something else again and again", e->verb,
			 e->subject);
		return plan_add_hint(p, REASON_CONTESTED, k->device->pci->address, detail);
	}
	return 0;
}

int plan_coexistence(const struct config *c, const struct node *n, struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_carriers && c->route.manage && r >= 0; i++) {
		const struct carrier *k = &p->carriers[i];

		r = hint_terway(n, p, k);
		if (r >= 0)
			r = hint_rival(n, p, k);
		if (r >= 0)
			r = hint_default_route(n, p, k);
		if (r >= 0)
			r = hint_contested(n, p, k);
	}
	return r;
}
