/* SPDX-License-Identifier: Apache-2.0 */
#include "route-find.h"

#include "ip.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#define NONE SIZE_MAX

struct packet {
	const struct node *n;
	const struct lookup *l;
	size_t n_own; /* of own_rules that it meets */
	uint32_t oif; /* of the next hop; 0: any, as with a VRF, which only leads to its table */
	const struct netdev *device, *vrf; /* that it is bound to; NULL: none */
};

/* The route of a table that a packet takes. */
struct match {
	const struct route *route;   /* NULL: to an address of this host */
	const struct address *local; /* NULL: it has a route */
	uint32_t prefix_len;
};

const struct netdev *route_vrf_of(const struct node *n, const struct netdev *nd)
{
	if (nd && !streq(nd->kind, "vrf"))
		nd = nd->master ? node_netdev(n, nd->master) : NULL;
	return nd && streq(nd->kind, "vrf") ? nd : NULL;
}

bool route_has_gateway(const struct route *t)
{
	return !is_zero(t->gateway) || *t->via ||
	       (t->family == AF_INET && t->scope == RT_SCOPE_UNIVERSE);
}

/* --- a table --- */

/* Is the netdev up? One that is not recorded counts as up: routes of one that is down are gone. */
static bool is_up(const struct node *n, uint32_t ifindex)
{
	const struct netdev *nd = ifindex ? node_netdev(n, ifindex) : NULL;

	return !nd || nd->is_up;
}

/* IPv4 alone has the whole prefix of an address of lo as local: fib_add_ifaddr(). */
static uint32_t local_len(const struct address *a)
{
	return a->family == AF_INET && a->ifindex == LOOPBACK ? a->prefix_len : ip_bits(a->family);
}

/* An address stays one of this host while its netdev is down. */
static bool is_local(const struct packet *p, uint32_t table, const struct address *a)
{
	const bool is_tentative = a->family == AF_INET6 && a->flags & IFA_F_TENTATIVE &&
				  !(a->flags & IFA_F_OPTIMISTIC);
	const struct netdev *vrf = route_vrf_of(p->n, node_netdev(p->n, a->ifindex));

	return a->family == p->l->family && !is_tentative && (!p->oif || p->oif == a->ifindex) &&
	       (vrf ? vrf->vrf_table : RT_TABLE_LOCAL) == table &&
	       ip_is_in_prefix(p->l->dst, a->local, local_len(a));
}

static bool is_failing(const struct route *t)
{
	return t->type != RTN_UNICAST && t->type != RTN_LOCAL;
}

/* Routes that lead nowhere stand on lo for IPv6, and on nothing for IPv4. */
static bool is_usable(const struct packet *p, const struct route *t)
{
	if (is_failing(t))
		return t->family == AF_INET || !p->oif || p->oif == LOOPBACK;
	return t->nexthop || t->has_more ||
	       (!t->is_dead && (!p->oif || p->oif == t->ifindex) && is_up(p->n, t->ifindex));
}

static bool is_better(const struct route *t, const struct match *than)
{
	if (!than->route)
		return !than->local || t->prefix_len > than->prefix_len;
	return t->prefix_len > than->prefix_len ||
	       (t->prefix_len == than->prefix_len && t->metric < than->route->metric);
}

/* Return: 0, -EAGAIN when the table has no answer, or the error that its answer is. */
static int find_in_table(const struct packet *p, uint32_t table, struct match *ret)
{
	static const int errors[] = { [RTN_BLACKHOLE] = -EINVAL,
				      [RTN_UNREACHABLE] = -EHOSTUNREACH,
				      [RTN_PROHIBIT] = -EACCES,
				      [RTN_THROW] = -EAGAIN };
	const struct node *n = p->n;
	struct match best = {};

	FOREACH(a, n->addresses, n->n_addresses)
		if (is_local(p, table, a) && (!best.local || local_len(a) > best.prefix_len))
			best = (struct match){ .local = a, .prefix_len = local_len(a) };
	FOREACH(t, n->routes, n->n_routes)
		if (t->table == table && t->family == p->l->family && is_better(t, &best) &&
		    is_usable(p, t) && ip_is_in_prefix(p->l->dst, t->dst, t->prefix_len))
			best = (struct match){ .route = t, .prefix_len = t->prefix_len };
	if (!best.route && !best.local)
		return -EAGAIN;
	if (best.route && (best.route->has_more || best.route->nexthop))
		return -ENODATA;
	if (best.route && is_failing(best.route))
		return best.route->type < ELEMENTSOF(errors) && errors[best.route->type]
			       ? errors[best.route->type]
			       : -ENODATA;
	*ret = best;
	return 0;
}

/* --- rules --- */

static const struct rule own_rules[] = {
	{ .table = RT_TABLE_LOCAL, .action = FR_ACT_TO_TBL, .suppress_prefix = -1 },
	{ .preference = 1000, .is_l3mdev = true, .action = FR_ACT_TO_TBL, .suppress_prefix = -1 },
	{ .preference = 32766,
	  .table = RT_TABLE_MAIN,
	  .action = FR_ACT_TO_TBL,
	  .suppress_prefix = -1 },
	{ .preference = 32767, /* of IPv4 alone */
	  .table = RT_TABLE_DEFAULT,
	  .action = FR_ACT_TO_TBL,
	  .suppress_prefix = -1 },
};

/* How many of own_rules stand behind those of the node? A list without any way to the kernel's own
 * tables is no whole one. */
static size_t count_own(const struct node *n, int family)
{
	if (ANY(rule, n->rules, n->n_rules,
		rule->family == family &&
			(rule->table == RT_TABLE_LOCAL || rule->table == RT_TABLE_MAIN)))
		return 0;
	return ELEMENTSOF(own_rules) - (family == AF_INET6);
}

static const struct rule *rule_at(const struct packet *p, size_t i)
{
	return i < p->n->n_rules ? &p->n->rules[i] : &own_rules[i - p->n->n_rules];
}

/* The first rule that stands behind that at @last (NONE: the first of all) and not before
 * @preference. */
static size_t next_rule(const struct packet *p, size_t last, uint32_t preference)
{
	const struct rule *after = last == NONE ? NULL : rule_at(p, last);
	size_t best = NONE;

	for (size_t i = 0; i < p->n->n_rules + p->n_own; i++) {
		const struct rule *rule = rule_at(p, i);

		if ((i < p->n->n_rules && rule->family != p->l->family) ||
		    rule->preference < preference ||
		    (after && (rule->preference < after->preference ||
			       (rule->preference == after->preference && i <= last))))
			continue;
		if (best == NONE || rule->preference < rule_at(p, best)->preference)
			best = i;
	}
	return best;
}

/* A rule for a VRF holds for what is bound to one of its ports as well. */
static bool is_bound_to(const struct packet *p, const char *name)
{
	return (p->device && streq(p->device->name, name)) || (p->vrf && streq(p->vrf->name, name));
}

/* A packet of IPv4 without a source has the source 0.0.0.0, one of IPv6 has none. */
static bool is_from(const struct packet *p, const struct rule *rule)
{
	return !rule->src_len || ((p->l->family == AF_INET || !is_zero(p->l->address)) &&
				  ip_is_in_prefix(p->l->address, rule->src, rule->src_len));
}

/* Kernels differ in whether what a host sends by a VRF comes in by the VRF. */
static bool is_unsure(const struct packet *p, const struct rule *rule)
{
	return rule->has_more || (rule->iif[0] && p->vrf && streq(p->vrf->name, rule->iif));
}

/* Return: 1 or 0, or -ENODATA. */
static int matches(const struct packet *p, const struct rule *rule)
{
	const bool is_met =
		is_from(p, rule) && ip_is_in_prefix(p->l->dst, rule->dst, rule->dst_len) &&
		((rule->mark ^ p->l->mark) & rule->mask) == 0 &&
		(!rule->oif[0] || is_bound_to(p, rule->oif)) && (!rule->is_l3mdev || p->vrf) &&
		(!rule->iif[0] || streq(rule->iif, "lo") || is_unsure(p, rule));

	if (is_met && is_unsure(p, rule))
		return -ENODATA;
	return is_met != rule->is_invert;
}

/* Return: -EAGAIN: the next rule is asked; else as find_in_table(). */
static int follow(const struct packet *p, const struct rule *rule, struct match *ret)
{
	int r;

	switch (rule->action) {
	case FR_ACT_TO_TBL:
		if (rule->is_l3mdev && !p->vrf) /* inverted */
			return -ENODATA;
		r = find_in_table(p, rule->is_l3mdev ? p->vrf->vrf_table : rule->table, ret);
		return r == 0 && (int64_t)ret->prefix_len <= rule->suppress_prefix ? -EAGAIN : r;
	case FR_ACT_NOP:
		return -EAGAIN;
	case FR_ACT_BLACKHOLE:
		return -EINVAL;
	case FR_ACT_UNREACHABLE:
		return -ENETUNREACH;
	case FR_ACT_PROHIBIT:
		return -EACCES;
	default:
		return -ENODATA;
	}
}

/* A goto leads forwards, to a rule that has the very preference, or is passed over. */
static size_t go_to(const struct packet *p, size_t from)
{
	const uint32_t preference = rule_at(p, from)->to_preference;
	const size_t to = next_rule(p, from, preference);

	return to != NONE && rule_at(p, to)->preference == preference ? to : next_rule(p, from, 0);
}

static int find_match(const struct packet *p, struct match *ret)
{
	size_t i = next_rule(p, NONE, 0);
	int r = -EAGAIN;

	while (i != NONE) {
		const struct rule *rule = rule_at(p, i);
		const int is_met = matches(p, rule);

		if (is_met < 0)
			return is_met;
		if (is_met && rule->action == FR_ACT_GOTO) {
			i = go_to(p, i);
			continue;
		}
		r = is_met ? follow(p, rule, ret) : -EAGAIN;
		if (r != -EAGAIN)
			return r;
		i = next_rule(p, i, 0);
	}
	return -ENETUNREACH;
}

/* --- the answer --- */

static void leave_by(struct lookup *l, uint32_t ifindex)
{
	l->found = ifindex;
	l->hops[0] = ifindex;
	l->n_hops = 1;
}

/* The source is the destination, unless the route says another: ip_route_output_key_hash_rcu(). */
static void take_local(const struct packet *p, uint32_t ifindex, const uint8_t source[static 16],
		       struct lookup *l)
{
	const struct netdev *vrf = route_vrf_of(p->n, node_netdev(p->n, ifindex));

	leave_by(l, vrf ? vrf->ifindex : LOOPBACK);
	memcpy(l->source, is_zero(source) ? l->dst : source, sizeof(l->source));
}

/* The match is the first of them that is alive. The kernel's own routes of one prefix on several
 * netdevs are no hops of one route, and of IPv4 it takes the first: fib_table_lookup() in
 * net/ipv4/fib_trie.c. */
static void take_hops(const struct packet *p, const struct route *match, struct lookup *l)
{
	const bool is_alone = match->family == AF_INET && match->protocol == RTPROT_KERNEL;
	const struct route *first = NULL;

	l->found = match->ifindex;
	memcpy(l->source, match->src, sizeof(l->source));
	FOREACH_WHILE(t, p->n->routes, p->n->n_routes, l->n_hops < LOOKUP_HOPS) {
		if (t->family != match->family || t->table != match->table ||
		    t->type != match->type || t->prefix_len != match->prefix_len ||
		    t->metric != match->metric || memcmp(t->dst, match->dst, sizeof(t->dst)) != 0 ||
		    (is_alone && t != match))
			continue;
		first = first ? first : t;
		l->hops[l->n_hops++] = t->ifindex;
	}
	memcpy(l->gateway, (first ? first : match)->gateway, sizeof(l->gateway));
}

static void take(const struct packet *p, const struct match *m, struct lookup *l)
{
	l->prefix_len = m->prefix_len;
	l->protocol = m->route ? m->route->protocol : RTPROT_KERNEL;
	if (m->local)
		take_local(p, m->local->ifindex, m->local->local, l);
	else if (m->route && m->route->type == RTN_LOCAL)
		take_local(p, m->route->ifindex, m->route->src, l);
	else if (m->route)
		take_hops(p, m->route, l);
}

/* Before any rule: ip_route_output_key_hash_rcu() in net/ipv4/route.c. Return: 1 to go on. */
static int find_first(const struct packet *p, struct lookup *l)
{
	if (l->family == AF_INET ? l->dst[0] >> 4 == 14 : l->dst[0] == 0xff) /* multicast */
		return -ENODATA;
	if (l->family == AF_INET && !is_zero(l->address) &&
	    !ANY(a, p->n->addresses, p->n->n_addresses,
		 a->family == AF_INET && memcmp(a->local, l->address, 16) == 0))
		return -EINVAL;
	if (l->family == AF_INET && p->device && !p->device->is_up)
		return -ENETUNREACH;
	if (!ip_is_loopback(l->family, l->dst) || p->oif)
		return 1;
	leave_by(l, LOOPBACK);
	l->protocol = RTPROT_KERNEL;
	return 0;
}

void route_find(const struct node *n, struct lookup *l)
{
	const uint32_t ifindex = is_zero(l->address) ? l->ifindex : 0;
	struct packet p = { n, l, count_own(n, l->family), ifindex };
	struct match m = {};

	p.device = ifindex ? node_netdev(n, ifindex) : NULL;
	p.vrf = route_vrf_of(n, p.device);
	if (p.device && p.device == p.vrf)
		p.oif = 0;
	l->result = find_first(&p, l);
	if (l->result <= 0)
		return;
	l->result = find_match(&p, &m);
	if (l->result == 0) {
		take(&p, &m, l);
	} else if (l->result != -ENODATA && p.oif && !p.vrf && l->family == AF_INET) {
		leave_by(l, p.oif); /* "assume, that the destination is on link" */
		l->result = 0;
	}
}

/* --- where only default routes lead --- */

struct prefix {
	uint8_t first[16];
	uint32_t length;
};

struct prefixes {
	struct prefix *items; /* owned */
	size_t n;
	bool is_short; /* there was no memory for one */
};

static int compare_prefix(const void *a, const void *b)
{
	const struct prefix *x = a, *y = b;
	const int r = memcmp(x->first, y->first, sizeof(x->first));

	return r ? r : compare_u32(&x->length, &y->length);
}

static void add_prefix(struct prefixes *l, const uint8_t *bytes, uint32_t length)
{
	struct prefix to = { .length = length };

	memcpy(to.first, bytes, sizeof(to.first));
	for (uint32_t bit = length; bit < 128; bit++)
		to.first[bit / 8] &= ~(0x80 >> bit % 8);
	l->is_short |= ADD(l->items, l->n, to) < 0;
}

/* Not global, of IPv4: the registry of RFC 6890. Of IPv6 the global ones are 2000::/3. */
static void add_reserved(struct prefixes *l, int family)
{
	static const struct prefix reserved[] = {
		{ { 10 }, 8 },        { { 100, 64 }, 10 }, { { 127 }, 8 },
		{ { 169, 254 }, 16 }, { { 172, 16 }, 12 }, { { 192, 0, 0 }, 24 },
		{ { 192, 168 }, 16 }, { { 198, 18 }, 15 },
	};

	for (size_t i = 0; family == AF_INET && i < ELEMENTSOF(reserved); i++)
		add_prefix(l, reserved[i].first, reserved[i].length);
}

static void collect(const struct node *n, int family, struct prefixes *l)
{
	const uint32_t shortest = family == AF_INET ? 1 : 3;

	add_reserved(l, family);
	for (size_t i = 0; i < n->n_routes; i++)
		if (n->routes[i].family == family && n->routes[i].prefix_len > shortest)
			add_prefix(l, n->routes[i].dst, n->routes[i].prefix_len);
	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].family == family)
			add_prefix(l, n->addresses[i].local, n->addresses[i].prefix_len);
	for (size_t i = 0; i < n->n_rules; i++)
		if (n->rules[i].family == family && n->rules[i].dst_len > shortest)
			add_prefix(l, n->rules[i].dst, n->rules[i].dst_len);
}

/* The first address behind a prefix; false: there is none. */
static bool go_behind(const struct prefix *prefix, uint8_t ret[static 16])
{
	memcpy(ret, prefix->first, 16);
	for (uint32_t bit = prefix->length; bit-- > 0;) {
		ret[bit / 8] ^= 0x80 >> bit % 8;
		if (ret[bit / 8] & 0x80 >> bit % 8)
			return true;
	}
	return false;
}

/* Prefixes are in order: what the next one does not begin at or before is in a gap. */
static bool find_gap(const struct prefixes *l, int family, uint8_t ret[static 16])
{
	uint8_t at[16] = { family == AF_INET ? 1 : 0x20 }, behind[16];
	const uint8_t last = family == AF_INET ? 223 : 0x3f;

	for (size_t i = 0; i < l->n && memcmp(l->items[i].first, at, sizeof(at)) <= 0; i++) {
		if (!go_behind(&l->items[i], behind))
			return false;
		if (memcmp(behind, at, sizeof(at)) > 0)
			memcpy(at, behind, sizeof(at));
	}
	memcpy(ret, at, sizeof(at));
	return at[0] <= last;
}

int route_find_default(const struct node *n, int family, uint8_t ret[static 16])
{
	static const struct {
		int family;
		uint8_t bytes[16];
	} nobodys[] = {
		{ AF_INET, { 192, 0, 2, 1 } },
		{ AF_INET, { 198, 51, 100, 1 } },
		{ AF_INET, { 203, 0, 113, 1 } },
		{ AF_INET6, { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
	};
	_owns_(struct prefixes, items) l = {};

	collect(n, family, &l);
	if (l.is_short)
		return -ENOMEM;
	for (size_t i = 0; i < ELEMENTSOF(nobodys); i++)
		if (nobodys[i].family == family &&
		    !ANY(item, l.items, l.n,
			 ip_is_in_prefix(nobodys[i].bytes, item->first, item->length))) {
			memcpy(ret, nobodys[i].bytes, 16);
			return 0;
		}
	SORT(l.items, l.n, compare_prefix);
	return find_gap(&l, family, ret) ? 0 : -ENOENT;
}
