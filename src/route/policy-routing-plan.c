/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: for each NIC a routing table of its own, and the rules that lead traffic into it that has
 * an address of the NIC, or is bound to the NIC. Addresses that another program leads out by the
 * NIC already have none.
 *
 * Raw verbs look routes up with the GID's netdev as oif, RDMA-CM and TCP with the address as
 * source: it takes both rules, for without the second an unbound source misses the table, and
 * without the first the main table picks the first NIC of the prefix. Source: addr_resolve() in
 * drivers/infiniband/core/addr.c
 */
#include "../model/route-find.h"
#include "nic-netdev-rules.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#define DEFAULT_METRIC_IPV6 1024 /* IP6_RT_PRIO_USER: the kernel's default */

static const int families[] = { AF_INET, AF_INET6 };

/* The wanted routes and rules, collected before they are compared with the present ones. */
struct tables {
	struct route *routes; /* owned */
	size_t n_routes;
	struct rule *rules; /* owned */
	size_t n_rules;
	bool is_short; /* there was no memory for one of them, which is here instead */
	struct route spare_route;
	struct rule spare_rule;
	struct node others; /* the node without the rules of ours; its rules are owned */
};

static void tables_done(struct tables *t)
{
	free(t->routes);
	free(t->rules);
	free(t->others.rules);
}

static void take_others(const struct node *n, struct tables *l)
{
	l->others = *n;
	l->others.rules = NULL;
	l->others.n_rules = 0;
	FOREACH(rule, n->rules, n->n_rules)
		if (rule->protocol != OWN_PROTOCOL)
			l->is_short |= ADD(l->others.rules, l->others.n_rules, *rule) < 0;
}

static uint32_t table_of(const struct nic_netdev *k)
{
	return OWN_TABLE_BASE + k->netdev->ifindex;
}

/* --- does a NIC need one? --- */

/* Is it an address of the NIC, of this family (AF_UNSPEC: of any), to route for? */
static bool is_of(const struct plan *p, const struct nic_netdev *k, const struct address *a,
		  int family)
{
	return a->ifindex == k->netdev->ifindex && nic_netdev_is_routed(a) &&
	       !nic_netdev_is_leaving(p, a) && (family == AF_UNSPEC || a->family == family);
}

static bool has_routed_address(const struct node *n, const struct plan *p,
			       const struct nic_netdev *k, int family)
{
	return ANY(a, n->addresses, n->n_addresses, is_of(p, k, a, family));
}

static size_t count_rdma_nics(const struct node *n, const struct plan *p)
{
	size_t found = 0;

	FOREACH(k, p->nic_netdevs, p->n_nic_netdevs)
		found += k->device->ibdev && has_routed_address(n, p, k, AF_UNSPEC);
	return found;
}

/* The route of main that counts for this very prefix; NULL: main has none. @ifindex 0: by any. */
static const struct route *main_route(const struct node *n, uint32_t ifindex, int family,
				      const uint8_t *dst, uint32_t prefix_len)
{
	const struct route *best = NULL;

	FOREACH(t, n->routes, n->n_routes)
		if (t->table == RT_TABLE_MAIN && !t->has_more &&
		    (!ifindex || t->ifindex == ifindex) && t->family == family &&
		    t->prefix_len == prefix_len && memcmp(t->dst, dst, sizeof(t->dst)) == 0 &&
		    (!best || t->metric < best->metric))
			best = t;
	return best;
}

/* Does main pick this NIC, on its link and behind its gateway? */
static bool is_picked_by_main(const struct node *n, const struct nic_netdev *k,
			      const struct address *a)
{
	const uint8_t any[16] = {};
	uint8_t prefix[16], gateway[16];
	const struct route *t;

	ip_prefix(a, prefix);
	t = main_route(n, 0, a->family, prefix, a->prefix_len);
	if (t && t->ifindex != k->netdev->ifindex)
		return false;

	t = main_route(n, 0, a->family, any, 0);
	return !nic_netdev_gateway(n, k, a->family, gateway) ||
	       (t && t->ifindex == k->netdev->ifindex);
}

static bool is_wanted(const struct config *c, const struct node *n, const struct plan *p,
		      const struct nic_netdev *k)
{
	if (c->route.rules != POLICY_RULES_AUTO)
		return c->route.rules == POLICY_RULES_YES;
	if (count_rdma_nics(n, p) > 1)
		return true;

	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == k->netdev->ifindex && nic_netdev_is_routed(a) &&
			   !is_picked_by_main(n, k, a));
}

/* --- what is to be there --- */

static bool is_same_key(const struct route *a, const struct route *b)
{
	return a->family == b->family && a->table == b->table && a->prefix_len == b->prefix_len &&
	       a->metric == b->metric && memcmp(a->dst, b->dst, sizeof(a->dst)) == 0;
}

/* Adds a route, unless the destination has one already. Return: the route. */
static struct route *add_route(struct tables *l, const struct nic_netdev *k, int family,
			       const uint8_t *dst, uint32_t prefix_len)
{
	struct route t = { .family = family,
			   .prefix_len = prefix_len,
			   .table = table_of(k),
			   .ifindex = k->netdev->ifindex,
			   .metric = family == AF_INET6 ? DEFAULT_METRIC_IPV6 : 0,
			   .protocol = OWN_PROTOCOL,
			   .scope = family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
			   .type = RTN_UNICAST };
	struct route *slot;

	memcpy(t.dst, dst, sizeof(t.dst));
	for (size_t i = 0; i < l->n_routes; i++)
		if (is_same_key(&l->routes[i], &t))
			return &l->routes[i];

	slot = APPEND(l->routes, l->n_routes);
	l->is_short |= !slot;
	slot = slot ?: &l->spare_route;
	*slot = t;
	return slot;
}

static void add_prefix(struct tables *l, const struct nic_netdev *k, const struct address *a)
{
	uint8_t prefix[16];
	struct route *t;

	if (a->prefix_len == 0 || a->prefix_len == ip_bits(a->family))
		return; /* nothing but itself is on its link */

	ip_prefix(a, prefix);
	t = add_route(l, k, a->family, prefix, a->prefix_len);
	/* IPv6 refuses a tentative source, and finds the right one by the netdev. */
	if (a->family == AF_INET && (is_zero(t->src) || !(a->flags & IFA_F_SECONDARY)))
		memcpy(t->src, a->local, sizeof(t->src));
}

/* A default route needs its gateway on the link, where a link-local one of IPv6 always is. */
static bool is_on_link(const struct tables *l, const struct nic_netdev *k, int family,
		       const uint8_t *gateway)
{
	if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)gateway))
		return true;
	return ANY(t, l->routes, l->n_routes,
		   t->table == table_of(k) && t->family == family && t->prefix_len > 0 &&
			   ip_is_in_prefix(gateway, t->dst, t->prefix_len));
}

static void add_by_gateway(struct tables *l, const struct nic_netdev *k, int family,
			   const uint8_t *dst, uint32_t prefix_len, const uint8_t *gateway,
			   const char *via)
{
	struct route *t;

	if (!*via && !is_on_link(l, k, family, gateway))
		add_route(l, k, family, gateway, ip_bits(family));
	t = add_route(l, k, family, dst, prefix_len);
	t->scope = RT_SCOPE_UNIVERSE;
	memcpy(t->gateway, gateway, sizeof(t->gateway));
	COPY(t->via, via);
}

static void add_default(const struct node *n, struct tables *l, const struct nic_netdev *k,
			int family)
{
	const uint8_t any[16] = {};
	uint8_t gateway[16];

	if (nic_netdev_gateway(n, k, family, gateway))
		add_by_gateway(l, k, family, any, 0, gateway, "");
}

/*
 * Is @t a route of main by this netdev that its table gets as well? Of several to one destination
 * it is the first with the lowest metric. The kernel makes its own routes from addresses, and
 * add_default() adds that of a gateway of the family. A route whose gateway is not known, as older
 * captures have those with one of IPv6, is left out.
 */
static bool is_copied(const struct node *n, const struct nic_netdev *k, const struct route *t,
		      int family)
{
	return t->table == RT_TABLE_MAIN && t->ifindex == k->netdev->ifindex &&
	       t->family == family && (t->prefix_len > 0 || *t->via) && t->type == RTN_UNICAST &&
	       !t->is_dead && t->protocol != OWN_PROTOCOL && t->protocol != RTPROT_KERNEL &&
	       (!is_zero(t->gateway) || *t->via || !route_has_gateway(t)) &&
	       main_route(n, t->ifindex, family, t->dst, t->prefix_len) == t;
}

/* Routes on the link come before those by a gateway on it. */
static void add_routes(const struct node *n, struct tables *l, const struct nic_netdev *k,
		       int family, bool by_gateway)
{
	FOREACH(t, n->routes, n->n_routes) {
		if (!is_copied(n, k, t, family) || route_has_gateway(t) != by_gateway)
			continue;
		if (by_gateway)
			add_by_gateway(l, k, family, t->dst, t->prefix_len, t->gateway, t->via);
		else
			add_route(l, k, family, t->dst, t->prefix_len);
	}
}

/* Finds an address that the route leads to and that is not one of this host. */
static void find_place(const struct node *n, const struct route *t, uint8_t ret[static 16])
{
	/* RFC 5737 and 3849: addresses of no network, so the default route has them. */
	static const uint8_t nobodys[2][16] = { { 192, 0, 2, 0 }, { 0x20, 0x01, 0x0d, 0xb8 } };
	const uint8_t *dst = t->prefix_len > 0 ? t->dst : nobodys[t->family == AF_INET6];
	const uint32_t bits = ip_bits(t->family);

	memcpy(ret, dst, 16);
	/* The first address is of the network itself, but of two and of one alone. */
	for (uint8_t last = t->prefix_len < bits - 1; last < 255; last++) {
		ret[bits / 8 - 1] = dst[bits / 8 - 1] | last;
		if (!ANY(a, n->addresses, n->n_addresses,
			 a->family == t->family && memcmp(a->local, ret, 16) == 0))
			return;
	}
}

/*
 * Has another program a rule for all that this address sends, and does that leave by this very NIC,
 * wherever its table leads? A rule of ours would come before that one, with another gateway.
 */
static bool is_led(const struct node *n, const struct tables *l, const struct nic_netdev *k,
		   const struct address *a)
{
	if (!ANY(rule, l->others.rules, l->others.n_rules,
		 rule->family == a->family && rule->src_len > 0 && !rule->is_invert &&
			 rule->mask == 0 && rule->dst_len == 0 && !rule->has_more &&
			 rule->table != table_of(k) &&
			 ip_is_in_prefix(a->local, rule->src, rule->src_len)))
		return false;

	FOREACH(t, l->routes, l->n_routes) {
		struct lookup way = { .family = a->family };

		if (t->table != table_of(k) || t->family != a->family)
			continue;
		memcpy(way.address, a->local, sizeof(way.address));
		find_place(n, t, way.dst);
		route_find(&l->others, &way);
		if (way.result < 0 || ANY(hop, way.hops, way.n_hops, *hop != k->netdev->ifindex))
			return false;
	}
	return true;
}

static struct rule *add_rule(struct tables *l, const struct nic_netdev *k, int family,
			     uint32_t preference)
{
	struct rule *rule = APPEND(l->rules, l->n_rules);

	l->is_short |= !rule;
	rule = rule ?: &l->spare_rule;
	*rule = (struct rule){ .family = family,
			       .preference = preference,
			       .table = table_of(k),
			       .protocol = OWN_PROTOCOL,
			       .action = FR_ACT_TO_TBL,
			       .suppress_prefix = -1 };
	return rule;
}

static void add_source_rule(struct tables *l, const struct nic_netdev *k, const struct address *a)
{
	struct rule *rule = add_rule(l, k, a->family, OWN_PREFERENCE_FROM);

	memcpy(rule->src, a->local, sizeof(rule->src));
	rule->src_len = ip_bits(a->family);
}

/* The rules for @k, whose routes are there. What is bound to the NIC has an address that another
 * program leads, where it does. */
static void add_rules(const struct node *n, const struct plan *p, struct tables *l,
		      const struct nic_netdev *k, int family)
{
	bool has_led = false;

	FOREACH(a, n->addresses, n->n_addresses) {
		if (!is_of(p, k, a, family))
			continue;
		if (is_led(n, l, k, a))
			has_led = true;
		else
			add_source_rule(l, k, a);
	}
	if (!has_led)
		COPY(add_rule(l, k, family, OWN_PREFERENCE_OIF)->oif, k->netdev->name);
}

static void add_family(const struct node *n, const struct plan *p, struct tables *l,
		       const struct nic_netdev *k, int family)
{
	const size_t n_routes = l->n_routes, n_rules = l->n_rules;

	if (!has_routed_address(n, p, k, family))
		return;

	FOREACH(a, n->addresses, n->n_addresses)
		if (is_of(p, k, a, family))
			add_prefix(l, k, a);
	add_routes(n, l, k, family, false);
	add_routes(n, l, k, family, true);
	add_default(n, l, k, family);
	add_rules(n, p, l, k, family);
	if (l->n_rules == n_rules) /* no packet would look into the table */
		l->n_routes = n_routes;
}

/* The routes of a netdev that is down are gone, and cannot be made: its rules go with them. */
static void collect(const struct config *c, const struct node *n, const struct plan *p,
		    struct tables *l)
{
	FOREACH(k, p->nic_netdevs, p->n_nic_netdevs) {
		if (!k->netdev->is_up || nic_netdev_is_hands_off(k) || route_vrf_of(n, k->netdev) ||
		    !is_wanted(c, n, p, k))
			continue;
		for (size_t f = 0; f < ELEMENTSOF(families); f++)
			add_family(n, p, l, k, families[f]);
	}
}

/* --- the difference --- */

static bool is_same_route(const struct route *a, const struct route *b)
{
	return is_same_key(a, b) && a->ifindex == b->ifindex && a->protocol == b->protocol &&
	       a->scope == b->scope && a->type == b->type &&
	       memcmp(a->gateway, b->gateway, sizeof(a->gateway)) == 0 && streq(a->via, b->via) &&
	       memcmp(a->src, b->src, sizeof(a->src)) == 0;
}

static bool is_same_rule(const struct rule *a, const struct rule *b)
{
	return a->family == b->family && a->preference == b->preference && a->table == b->table &&
	       a->protocol == b->protocol && a->action == b->action && a->src_len == b->src_len &&
	       a->dst_len == b->dst_len && a->mark == b->mark && a->mask == b->mask &&
	       a->to_preference == b->to_preference && a->suppress_prefix == b->suppress_prefix &&
	       a->is_l3mdev == b->is_l3mdev && a->is_invert == b->is_invert &&
	       a->has_more == b->has_more && streq(a->oif, b->oif) && streq(a->iif, b->iif) &&
	       memcmp(a->src, b->src, sizeof(a->src)) == 0 &&
	       memcmp(a->dst, b->dst, sizeof(a->dst)) == 0;
}

static bool has_rule(const struct node *n, const struct rule *want)
{
	return ANY(r, n->rules, n->n_rules, is_same_rule(r, want));
}

static void describe_route(struct plan *p, const struct route *t, struct action *a,
			   const char *netdev)
{
	char gateway[INET6_ADDRSTRLEN + 6] = "";

	if (a->class != CLASS_CHANGE)
		return;
	if (!is_zero(t->gateway))
		ip_format(t->family, t->gateway, UINT32_MAX, gateway, sizeof(gateway));
	else if (*t->via)
		PRINT(gateway, "inet6 %s", t->via);
	a->detail = plan_text(p, "%s%s%sdev %s", gateway[0] ? "via " : "", gateway,
			      gateway[0] ? " " : "", netdev);
}

static void change_route(const struct node *n, struct plan *p, enum verb verb,
			 const struct route *t)
{
	const struct netdev *nd = node_netdev(n, t->ifindex);
	struct action *a = nic_netdev_add_action(p, nic_netdev_of(p, t->ifindex), verb, t->ifindex,
						 nic_netdev_format_route(p, t));

	a->route.route = *t;
	FOREACH(r, n->routes, n->n_routes)
		a->route.is_replaced |= r->protocol == OWN_PROTOCOL && is_same_key(r, t);
	describe_route(p, t, a, nd ? nd->name : "?");
}

static void change_rule(struct plan *p, enum verb verb, const struct rule *rule)
{
	const uint32_t ifindex = nic_netdev_of_rule(rule);
	struct action *a = nic_netdev_add_action(p, nic_netdev_of(p, ifindex), verb, ifindex,
						 nic_netdev_format_rule(p, rule));

	a->rule = *rule;
}

/* Is the wanted state of the NIC unknown, or is it in use? Then its routes and rules stay. */
static bool is_left_alone(const struct plan *p, uint32_t ifindex)
{
	const struct nic_netdev *k = nic_netdev_of(p, ifindex);

	return (k && nic_netdev_is_hands_off(k)) || nic_netdev_is_used(p, ifindex);
}

/* Removes rules of ours that are not wanted; a rule that is there twice is wanted once. */
static void remove_rules(const struct node *n, struct plan *p, const struct tables *want)
{
	for (size_t i = 0; i < n->n_rules; i++) {
		const struct rule *have = &n->rules[i];

		if (have->protocol != OWN_PROTOCOL || is_left_alone(p, nic_netdev_of_rule(have)) ||
		    (ANY(w, want->rules, want->n_rules, is_same_rule(w, have)) &&
		     !ANY(other, n->rules, i, is_same_rule(other, have))))
			continue;
		change_rule(p, VERB_REMOVE_RULE, have);
	}
}

static void remove_routes(const struct node *n, struct plan *p, const struct tables *want)
{
	FOREACH(have, n->routes, n->n_routes) {
		/* A route that differs is replaced in its place. */
		if (have->protocol != OWN_PROTOCOL || is_left_alone(p, have->ifindex) ||
		    ANY(w, want->routes, want->n_routes, is_same_key(w, have)))
			continue;
		change_route(n, p, VERB_REMOVE_ROUTE, have);
	}
}

/* --- does it hold? --- */

/* Finds a destination that the table of this rule has a route for. */
static bool find_destination(const struct node *n, const struct tables *want,
			     const struct rule *rule, uint8_t ret[static 16])
{
	const struct route *best = NULL;

	FOREACH(t, want->routes, want->n_routes)
		if (t->table == rule->table && t->family == rule->family &&
		    (!best || t->prefix_len < best->prefix_len))
			best = t;
	if (!best || best->prefix_len == ip_bits(rule->family))
		return false;
	find_place(n, best, ret);
	return true;
}

static const struct lookup *find_lookup(const struct node *n, const struct lookup *check)
{
	return FIND(l, n->lookups, n->n_lookups,
		    l->ifindex == check->ifindex && l->family == check->family &&
			    memcmp(l->address, check->address, sizeof(l->address)) == 0);
}

static void tell_overruled(const struct node *n, struct plan *p, const struct lookup *l)
{
	const struct nic_netdev *k = nic_netdev_of(p, l->ifindex);
	const struct netdev *found = node_netdev(n, l->found);
	char address[INET6_ADDRSTRLEN + 8], dst[INET6_ADDRSTRLEN];

	ip_format(l->family, l->dst, UINT32_MAX, dst, sizeof(dst));
	if (is_zero(l->address)) {
		PRINT(address, "oif %s", k->netdev->name);
	} else {
		COPY(address, "from ");
		ip_format(l->family, l->address, UINT32_MAX, address + 5, sizeof(address) - 5);
	}
	return plan_add_wait(p, STEP_ROUTE, CLASS_WAITING, k->device->pci->address,
			     REASON_ROUTE_OVERRULED, "\"ip route get %s %s\": %s%s", dst, address,
			     l->result < 0 ? strerror(-l->result) : "leaves by ",
			     l->result < 0 ? ""
			     : found       ? found->name
					   : "another netdev");
}

/* Asks for a lookup by each rule that is in place; the answer has to be the NIC. */
static void check_rules(const struct node *n, struct plan *p, const struct tables *want)
{
	FOREACH(rule, want->rules, want->n_rules) {
		struct lookup check = { .ifindex = nic_netdev_of_rule(rule),
					.family = rule->family };
		const struct lookup *l;

		if (!has_rule(n, rule) || !find_destination(n, want, rule, check.dst))
			continue;
		memcpy(check.address, rule->src, sizeof(check.address));
		l = find_lookup(n, &check);
		if (!l)
			p->texts.is_short |=
				ADD(p->questions.lookups, p->questions.n_lookups, check) < 0;
		else if (l->result < 0 || l->found != l->ifindex)
			tell_overruled(n, p, l);
	}
}

/* Routes are added before the rules that lead to them, and removed after them. */
static void plan_difference(const struct node *n, struct plan *p, const struct tables *want)
{
	const size_t n_before = p->n_actions;

	remove_rules(n, p, want);
	remove_routes(n, p, want);
	FOREACH(t, want->routes, want->n_routes)
		if (!ANY(r, n->routes, n->n_routes, is_same_route(r, t)))
			change_route(n, p, VERB_SET_ROUTE, t);
	for (size_t i = 0; i < want->n_rules; i++)
		if (!has_rule(n, &want->rules[i]))
			change_rule(p, VERB_ADD_RULE, &want->rules[i]);
	if (p->n_actions == n_before)
		check_rules(n, p, want);
}

void plan_policy_routing(const struct config *c, const struct node *n,
			 const struct memory *memory _unused_, struct plan *p)
{
	_cleanup_(tables_done) struct tables want = {};

	if (!c->route.manage)
		return;

	take_others(n, &want);
	collect(c, n, p, &want);
	plan_difference(n, p, &want);
	p->texts.is_short |= want.is_short;
}
