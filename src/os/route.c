/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include "nl.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

/* Nexthop objects, since 5.3, newer than the oldest headers: linux/nexthop.h */
#define ATTR_RTA_NH_ID     30
#define MESSAGE_NEWNEXTHOP 104
#define MESSAGE_GETNEXTHOP 106
#define ATTR_NHA_ID        1
#define ATTR_NHA_GROUP     2
#define ATTR_NHA_OIF       5
#define ATTR_NHA_GATEWAY   6
#define MAX_ROUTE_ATTR     MAX(RTA_MAX, ATTR_RTA_NH_ID)

struct nexthop_header { /* struct nhmsg */
	uint8_t family, scope, protocol, reserved;
	uint32_t flags;
};

struct nexthop_member { /* struct nexthop_grp */
	uint32_t id;
	uint8_t weight, weight_high;
	uint16_t reserved;
};

struct routes {
	struct route *routes; /* owned */
	size_t n;
	int family; /* asked for */
};

static void read_address(const struct nlattr *a, int family, uint8_t ret[16])
{
	if (a && (size_t)nla_len(a) == address_bytes(family))
		memcpy(ret, nla_data(a), address_bytes(family));
}

/* RFC 5549: fib_nexthop_info() in net/ipv4/fib_semantics.c */
static void read_via(const struct nlattr *a, char ret[static INET6_ADDRSTRLEN])
{
	const struct rtvia *via = a ? nla_data(a) : NULL;

	if (via && (size_t)nla_len(a) == sizeof(*via) + 16 && via->rtvia_family == AF_INET6)
		inet_ntop(AF_INET6, via->rtvia_addr, ret, INET6_ADDRSTRLEN);
}

static int append(struct routes *list, const struct route *route, uint32_t ifindex,
		  const struct nlattr *gateway, const struct nlattr *via, unsigned flags)
{
	struct route t = *route;

	t.ifindex = ifindex;
	t.is_dead = flags & RTNH_F_DEAD;
	read_address(gateway, route->family, t.gateway);
	read_via(via, t.via);
	return ADD(list->routes, list->n, t);
}

static int append_hops(struct routes *list, const struct route *route,
		       const struct nlattr *multipath)
{
	const struct rtnexthop *hop = nla_data(multipath);
	int left = nla_len(multipath), r;

	while (left >= (int)sizeof(*hop) && RTNH_OK(hop, left)) { /* which reads before it looks */
		const struct nlattr *attrs = (const struct nlattr *)RTNH_DATA(hop);
		int size = (int)hop->rtnh_len - (int)RTNH_LENGTH(0);

		r = append(list, route, hop->rtnh_ifindex,
			   size > 0 ? nla_find(attrs, size, RTA_GATEWAY) : NULL,
			   size > 0 ? nla_find(attrs, size, RTA_VIA) : NULL, hop->rtnh_flags);
		if (r < 0)
			return r;

		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}

	return 0;
}

static int add_route(struct nlmsghdr *h, struct routes *list)
{
	static const struct nla_policy policy[MAX_ROUTE_ATTR + 1] = {
		[RTA_OIF] = { .type = NLA_U32 },
		[RTA_PRIORITY] = { .type = NLA_U32 },
		[RTA_TABLE] = { .type = NLA_U32 },
		[ATTR_RTA_NH_ID] = { .type = NLA_U32 },
	};
	struct nlattr *tb[MAX_ROUTE_ATTR + 1];
	struct route route = {};
	const struct rtmsg *m;

	if (nlmsg_parse(h, sizeof(*m), tb, MAX_ROUTE_ATTR, policy) < 0)
		return -EBADMSG;

	m = nlmsg_data(h);
	route.family = m->rtm_family;
	route.prefix_len = m->rtm_dst_len;
	route.table = get_u32(tb[RTA_TABLE], m->rtm_table);
	route.protocol = m->rtm_protocol;
	route.scope = m->rtm_scope;
	route.type = m->rtm_type;
	route.has_more = m->rtm_tos > 0 || m->rtm_src_len > 0;
	route.is_partial = tb[RTA_MULTIPATH] || tb[ATTR_RTA_NH_ID] || tb[RTA_METRICS] ||
			   tb[RTA_ENCAP] || m->rtm_flags & RTNH_F_ONLINK;
	route.metric = get_u32(tb[RTA_PRIORITY], 0);
	if (tb[RTA_DST])
		nla_memcpy(route.dst, tb[RTA_DST], sizeof(route.dst));
	/* The kernel's own for multicast: before 5.11 it has the type and protocol of one that a
	 * program made, and that of a port of a VRF is in the VRF's table. Source:
	 * addrconf_add_mroute() in net/ipv6/addrconf.c */
	if (route.family == AF_INET6 && route.prefix_len == 8 && route.dst[0] == 0xff)
		return 0;
	read_address(tb[RTA_PREFSRC], route.family, route.src);

	if (tb[RTA_MULTIPATH])
		return append_hops(list, &route, tb[RTA_MULTIPATH]);
	if (!tb[RTA_OIF])
		route.nexthop = get_u32(tb[ATTR_RTA_NH_ID], 0);
	return append(list, &route, get_u32(tb[RTA_OIF], 0), tb[RTA_GATEWAY], tb[RTA_VIA],
		      m->rtm_flags);
}

/* A kernel without IPv6 answers with the routes of IPv4. */
static bool is_left_out(const struct rtmsg *m, int family)
{
	return m->rtm_family != family || m->rtm_flags & RTM_F_CLONED ||
	       m->rtm_table == RT_TABLE_LOCAL || m->rtm_type == RTN_BROADCAST ||
	       m->rtm_type == RTN_ANYCAST || m->rtm_type == RTN_MULTICAST ||
	       (m->rtm_type == RTN_LOCAL && m->rtm_protocol == RTPROT_KERNEL);
}

static int on_route(struct nlmsghdr *h, void *userdata)
{
	struct routes *list = userdata;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (!nlmsg_valid_hdr(h, sizeof(struct rtmsg)))
		return -EBADMSG;
	return is_left_out(nlmsg_data(h), list->family) ? 0 : add_route(h, list);
}

/* @table: RT_TABLE_UNSPEC for all; a kernel before 4.20 always gives all. */
static int dump_routes(struct netlink *nl, int family, uint32_t table, struct routes *list)
{
	struct rtmsg i = { .rtm_family = family,
			   .rtm_table = table < 256 ? table : RT_TABLE_UNSPEC };
	struct nl_msg *m = netlink_make(RTM_GETROUTE, NLM_F_DUMP, &i, sizeof(i));
	int r;

	if (table)
		m = put_u32(m, RTA_TABLE, table);
	list->family = family;
	r = netlink_list(nl, m, on_route, list, &list->n);

	/* The table is made with its first route; a kernel may be without IPv6. */
	return r == -ENOENT || r == -EAFNOSUPPORT || r == -EOPNOTSUPP ? 0 : r;
}

/* A nexthop object; a group has a row for each of its members. */
struct nexthop {
	uint32_t id, member, ifindex;
	uint8_t gateway[16];
	size_t gateway_bytes;
};

struct nexthops {
	struct nexthop *all; /* owned */
	size_t n;
};

static int append_members(struct nexthops *list, uint32_t id, const struct nlattr *group)
{
	const struct nexthop_member *members = nla_data(group);

	FOREACH(member, members, (size_t)nla_len(group) / sizeof(*members)) {
		if (ADD(list->all, list->n, (struct nexthop){ .id = id, .member = member->id }) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int on_nexthop(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[ATTR_NHA_GATEWAY + 1] = {
		[ATTR_NHA_ID] = { .type = NLA_U32 },
		[ATTR_NHA_OIF] = { .type = NLA_U32 },
	};
	struct nlattr *tb[ATTR_NHA_GATEWAY + 1];
	struct nexthops *list = userdata;
	struct nexthop hop = {};
	if (h->nlmsg_type != MESSAGE_NEWNEXTHOP)
		return 0;
	if (nlmsg_parse(h, sizeof(struct nexthop_header), tb, ATTR_NHA_GATEWAY, policy) < 0)
		return -EBADMSG;
	if (tb[ATTR_NHA_GROUP])
		return append_members(list, get_u32(tb[ATTR_NHA_ID], 0), tb[ATTR_NHA_GROUP]);

	hop.id = get_u32(tb[ATTR_NHA_ID], 0);
	hop.ifindex = get_u32(tb[ATTR_NHA_OIF], 0);
	if (tb[ATTR_NHA_GATEWAY])
		hop.gateway_bytes =
			(size_t)nla_memcpy(hop.gateway, tb[ATTR_NHA_GATEWAY], sizeof(hop.gateway));
	return ADD(list->all, list->n, hop);
}

/* Groups have no groups as members. */
static int append_by_nexthop(struct routes *list, const struct route *route,
			     const struct nexthops *hops)
{
	FOREACH(row, hops->all, hops->n) {
		const struct nexthop *hop =
			row->member ? FIND(a, hops->all, hops->n, a->id == row->member) : row;
		struct route t = *route;

		if (row->id != route->nexthop || !hop)
			continue;
		t.nexthop = 0;
		t.ifindex = hop->ifindex;
		if (hop->gateway_bytes == address_bytes(route->family))
			memcpy(t.gateway, hop->gateway, hop->gateway_bytes);
		else if (hop->gateway_bytes == address_bytes(AF_INET6))
			inet_ntop(AF_INET6, hop->gateway, t.via, sizeof(t.via));
		if (ADD(list->routes, list->n, t) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * With net.ipv4.nexthop_compat_mode=0 the kernel tells of a route by a nexthop object no more than
 * the id of that: fib_dump_info() in net/ipv4/fib_semantics.c, rt6_fill_node() in net/ipv6/route.c.
 * A route whose object is gone by now is gone as well.
 */
static int look_up_nexthops(struct netlink *nl, struct routes *l)
{
	const struct nexthop_header header = {};
	_owns_(struct nexthops, all) hops = {};
	_owns_(struct routes, routes) all = {};
	struct nl_msg *m;
	int r;

	if (!ANY(t, l->routes, l->n, t->nexthop))
		return 0;
	m = netlink_make(MESSAGE_GETNEXTHOP, NLM_F_DUMP, &header, sizeof(header));
	r = netlink_list(nl, m, on_nexthop, &hops, &hops.n);
	for (size_t i = 0; i < l->n && r >= 0; i++)
		r = l->routes[i].nexthop ? append_by_nexthop(&all, &l->routes[i], &hops)
					 : ADD(all.routes, all.n, l->routes[i]);
	if (r < 0)
		return r;
	free(l->routes);
	l->routes = TAKE(all.routes);
	l->n = all.n;
	return 0;
}

int route_list(struct netlink *nl, struct route **ret, size_t *ret_n)
{
	_owns_(struct routes, routes) list = {};
	int r = dump_routes(nl, AF_INET, RT_TABLE_UNSPEC, &list);

	if (r >= 0)
		r = dump_routes(nl, AF_INET6, RT_TABLE_UNSPEC, &list);
	if (r >= 0)
		r = look_up_nexthops(nl, &list);
	return TAKE_LIST(r, list.routes, list.n, ret, ret_n);
}

static struct nl_msg *make_route(int request, int flags, uint8_t protocol, const struct route *t)
{
	struct rtmsg i = {
		.rtm_family = t->family,
		.rtm_dst_len = t->prefix_len,
		.rtm_table = t->table < 256 ? t->table : RT_TABLE_UNSPEC,
		.rtm_protocol = protocol,
		.rtm_scope = t->scope,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *m = netlink_make(request, flags, &i, sizeof(i));
	const size_t bytes = address_bytes(t->family);
	struct {
		uint16_t family;
		uint8_t address[16];
	} via = { .family = AF_INET6 }; /* struct rtvia */

	m = put_u32(m, RTA_TABLE, t->table);
	m = put_u32(m, RTA_OIF, t->ifindex);
	if (t->metric)
		m = put_u32(m, RTA_PRIORITY, t->metric);
	if (t->prefix_len)
		m = netlink_put(m, RTA_DST, t->dst, bytes);
	if (!is_zero(t->gateway))
		m = netlink_put(m, RTA_GATEWAY, t->gateway, bytes);
	if (inet_pton(AF_INET6, t->via, via.address) == 1)
		m = netlink_put(m, RTA_VIA, &via, sizeof(via));
	if (!is_zero(t->src))
		m = netlink_put(m, RTA_PREFSRC, t->src, bytes);
	return m;
}

/*
 * Is there one of another program with the same destination and metric? The kernel replaces the
 * first of them: fib_table_insert() in net/ipv4/fib_trie.c, fib6_add_rt2node() in
 * net/ipv6/ip6_fib.c
 */
static int find_foreign(struct netlink *nl, const struct route *t)
{
	_owns_(struct routes, routes) list = {};
	int r = dump_routes(nl, t->family, t->table, &list);

	for (size_t i = 0; i < list.n && r >= 0; i++)
		if (list.routes[i].protocol != OWN_PROTOCOL && list.routes[i].table == t->table &&
		    list.routes[i].metric == t->metric &&
		    list.routes[i].prefix_len == t->prefix_len &&
		    memcmp(list.routes[i].dst, t->dst, sizeof(t->dst)) == 0)
			r = -EEXIST;
	return r;
}

int route_set(struct netlink *nl, const struct route *t, bool is_replaced)
{
	const int how = NLM_F_CREATE | (is_replaced ? NLM_F_REPLACE : NLM_F_EXCL);
	const uint8_t protocol = t->protocol ? t->protocol : OWN_PROTOCOL;
	int r = is_replaced ? find_foreign(nl, t) : 0;

	return r < 0 ? r : netlink_ask(nl, make_route(RTM_NEWROUTE, how, protocol, t));
}

int route_remove(struct netlink *nl, const struct route *t)
{
	int r = netlink_ask(nl, make_route(RTM_DELROUTE, 0, OWN_PROTOCOL, t));
	return r == -ESRCH || r == -ENODEV ? 0 : r;
}

static int on_answer(struct nlmsghdr *h, void *userdata)
{
	return h->nlmsg_type == RTM_NEWROUTE ? add_route(h, userdata) : 0;
}

/* @flags: RTM_F_FIB_MATCH, or 0 for the netdev that the kernel chooses */
static int ask(struct netlink *nl, const struct lookup *l, unsigned flags, struct routes *ret)
{
	const size_t bytes = address_bytes(l->family);
	const bool has_source = !is_zero(l->address);
	struct rtmsg i = { .rtm_family = l->family,
			   .rtm_dst_len = bytes * 8,
			   .rtm_src_len = has_source ? bytes * 8 : 0,
			   .rtm_flags = flags };
	struct nl_msg *m = netlink_make(RTM_GETROUTE, 0, &i, sizeof(i));

	m = netlink_put(m, RTA_DST, l->dst, bytes);
	if (has_source)
		m = netlink_put(m, RTA_SRC, l->address, bytes);
	else if (l->ifindex)
		m = put_u32(m, RTA_OIF, l->ifindex);
	if (l->mark)
		m = put_u32(m, RTA_MARK, l->mark);
	return netlink_dump(nl, m, on_answer, ret);
}

/*
 * A local address has its netdev as next hop, and leaves by another one. Without a match the packet
 * goes where it was bound to: ip_route_output_key_hash_rcu() in net/ipv4/route.c
 */
static int take_hops(struct netlink *nl, struct lookup *l)
{
	_owns_(struct routes, routes) list = {};
	int r = ask(nl, l, RTM_F_FIB_MATCH, &list);

	if (r >= 0)
		r = look_up_nexthops(nl, &list);
	if (r < 0 || list.n == 0)
		return r == -ENOMEM ? r : 0;
	memcpy(l->gateway, list.routes[0].gateway, sizeof(l->gateway));
	l->protocol = list.routes[0].protocol;
	l->prefix_len = list.routes[0].prefix_len;
	if (list.routes[0].type != RTN_UNICAST)
		return 0;
	for (l->n_hops = 0; l->n_hops < MIN(list.n, (size_t)LOOKUP_HOPS); l->n_hops++)
		l->hops[l->n_hops] = list.routes[l->n_hops].ifindex;
	return 0;
}

int route_lookup(struct netlink *nl, struct lookup *l, bool with_hops)
{
	_owns_(struct routes, routes) list = {};
	int r = ask(nl, l, 0, &list);

	l->result = r >= 0 && list.n == 0 ? -ENETUNREACH : r;
	if (l->result < 0)
		return r == -ENOMEM ? r : 0;
	l->found = list.routes[0].ifindex;
	memcpy(l->source, list.routes[0].src, sizeof(l->source));
	l->hops[0] = l->found;
	l->n_hops = 1;
	return with_hops ? take_hops(nl, l) : 0;
}

/* --- policy routing rules --- */

struct rules {
	struct rule *rules; /* owned */
	size_t n;
};

#define RULE_FIND_SOURCE 0x10000 /* FIB_RULE_FIND_SADDR */

/* Conditions that struct rule lacks, and all that newer kernels have: no condition is not sent. */
static bool has_more(const struct nlmsghdr *h, const struct fib_rule_hdr *i,
		     struct nlattr *tb[static FRA_MAX + 1])
{
	static const int conditions[] = { FRA_FLOW,       FRA_TUN_ID,   FRA_SUPPRESS_IFGROUP,
					  FRA_UID_RANGE,  FRA_IP_PROTO, FRA_SPORT_RANGE,
					  FRA_DPORT_RANGE };
	const struct nlattr *a;
	int rest;

	for (size_t k = 0; k < ELEMENTSOF(conditions); k++)
		if (tb[conditions[k]])
			return true;
	nlmsg_for_each_attr(a, h, sizeof(*i), rest)
		if (nla_type(a) > FRA_DPORT_RANGE)
			return true;
	return i->tos > 0 || i->flags & RULE_FIND_SOURCE;
}

/* A mark without a mask counts whole: fib_nl_fill_rule() in net/core/fib_rules.c sends both. */
static void read_conditions(const struct fib_rule_hdr *i, struct nlattr *tb[static FRA_MAX + 1],
			    struct rule *ret)
{
	ret->src_len = i->src_len;
	ret->dst_len = i->dst_len;
	if (tb[FRA_SRC])
		nla_memcpy(ret->src, tb[FRA_SRC], sizeof(ret->src));
	if (tb[FRA_DST])
		nla_memcpy(ret->dst, tb[FRA_DST], sizeof(ret->dst));
	if (tb[FRA_OIFNAME])
		nla_strlcpy(ret->oif, tb[FRA_OIFNAME], sizeof(ret->oif));
	if (tb[FRA_IIFNAME])
		nla_strlcpy(ret->iif, tb[FRA_IIFNAME], sizeof(ret->iif));
	ret->mark = get_u32(tb[FRA_FWMARK], 0);
	ret->mask = get_u32(tb[FRA_FWMASK], tb[FRA_FWMARK] ? UINT32_MAX : 0);
	ret->suppress_prefix = (int32_t)get_u32(tb[FRA_SUPPRESS_PREFIXLEN], UINT32_MAX);
	ret->is_l3mdev = tb[FRA_L3MDEV] && nla_get_u8(tb[FRA_L3MDEV]);
	ret->is_invert = i->flags & FIB_RULE_INVERT;
}

static int on_rule(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[FRA_MAX + 1] = {
		[FRA_PRIORITY] = { .type = NLA_U32 },
		[FRA_TABLE] = { .type = NLA_U32 },
		[FRA_PROTOCOL] = { .type = NLA_U8 },
		[FRA_OIFNAME] = { .type = NLA_STRING },
		[FRA_IIFNAME] = { .type = NLA_STRING },
		[FRA_FWMARK] = { .type = NLA_U32 },
		[FRA_FWMASK] = { .type = NLA_U32 },
		[FRA_GOTO] = { .type = NLA_U32 },
		[FRA_SUPPRESS_PREFIXLEN] = { .type = NLA_U32 },
		[FRA_L3MDEV] = { .type = NLA_U8 },
	};
	struct nlattr *tb[FRA_MAX + 1];
	const struct fib_rule_hdr *i;
	struct rules *list = userdata;
	struct rule *rule;

	if (h->nlmsg_type != RTM_NEWRULE)
		return 0;
	if (nlmsg_parse(h, sizeof(*i), tb, FRA_MAX, policy) < 0)
		return -EBADMSG;
	i = nlmsg_data(h);
	if (i->family != AF_INET && i->family != AF_INET6)
		return 0;

	rule = APPEND(list->rules, list->n);
	if (!rule)
		return -ENOMEM;
	rule->family = i->family;
	rule->action = i->action;
	rule->table = get_u32(tb[FRA_TABLE], i->table);
	rule->preference = get_u32(tb[FRA_PRIORITY], 0);
	rule->protocol = tb[FRA_PROTOCOL] ? nla_get_u8(tb[FRA_PROTOCOL]) : RTPROT_UNSPEC;
	rule->to_preference = get_u32(tb[FRA_GOTO], 0);
	read_conditions(i, tb, rule);
	rule->has_more = has_more(h, i, tb);
	return 0;
}

int rule_list(struct netlink *nl, struct rule **ret, size_t *ret_n)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	_owns_(struct rules, rules) list = {};
	int r = 0;

	for (size_t k = 0; k < ELEMENTSOF(families) && r >= 0; k++) {
		const struct fib_rule_hdr i = { .family = families[k] };
		struct nl_msg *m = netlink_make(RTM_GETRULE, NLM_F_DUMP, &i, sizeof(i));

		r = netlink_list(nl, m, on_rule, &list, &list.n);
		if (r == -EAFNOSUPPORT || r == -EOPNOTSUPP) /* without IPv6, or without rules */
			r = 0;
	}
	return TAKE_LIST(r, list.rules, list.n, ret, ret_n);
}

static struct nl_msg *make_rule(int request, int flags, const struct rule *rule)
{
	struct fib_rule_hdr i = { .family = rule->family,
				  .src_len = rule->src_len,
				  .table = rule->table < 256 ? rule->table : RT_TABLE_UNSPEC,
				  .action = FR_ACT_TO_TBL };
	struct nl_msg *m = netlink_make(request, flags, &i, sizeof(i));

	m = put_u32(m, FRA_TABLE, rule->table);
	m = put_u32(m, FRA_PRIORITY, rule->preference);
	m = put_u8(m, FRA_PROTOCOL, OWN_PROTOCOL);
	if (rule->src_len)
		m = netlink_put(m, FRA_SRC, rule->src, address_bytes(rule->family));
	return rule->oif[0] ? put_string(m, FRA_OIFNAME, rule->oif) : m;
}

int rule_add(struct netlink *nl, const struct rule *rule)
{
	int r = netlink_ask(nl, make_rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule));
	return r == -EEXIST ? 0 : r;
}

int rule_remove(struct netlink *nl, const struct rule *rule)
{
	int r = netlink_ask(nl, make_rule(RTM_DELRULE, 0, rule));
	return r == -ENOENT || r == -ESRCH ? 0 : r;
}

/* --- neighbours --- */

enum {                           /* newer than the oldest headers */
	ATTR_NDA_PROTOCOL = 12,  /* 5.2 */
	ATTR_NDA_FLAGS_EXT = 15, /* 5.16 */
	EXT_MANAGED = 1,
};

struct neighbours {
	struct neighbour *neighbours; /* owned */
	size_t n;
};

static int on_neighbour(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[ATTR_NDA_FLAGS_EXT + 1] = {
		[ATTR_NDA_PROTOCOL] = { .type = NLA_U8 },
		[ATTR_NDA_FLAGS_EXT] = { .type = NLA_U32 },
	};
	struct nlattr *tb[ATTR_NDA_FLAGS_EXT + 1];
	struct neighbours *list = userdata;
	const struct ndmsg *i;
	struct neighbour *n;
	uint8_t protocol;

	if (h->nlmsg_type != RTM_NEWNEIGH)
		return 0;
	if (nlmsg_parse(h, sizeof(*i), tb, ATTR_NDA_FLAGS_EXT, policy) < 0)
		return -EBADMSG;
	i = nlmsg_data(h);
	protocol = tb[ATTR_NDA_PROTOCOL] ? nla_get_u8(tb[ATTR_NDA_PROTOCOL]) : 0;
	if (i->ndm_family != AF_INET6 || !tb[NDA_DST] || nla_len(tb[NDA_DST]) != 16 ||
	    (!(i->ndm_flags & NTF_ROUTER) && protocol != OWN_PROTOCOL))
		return 0;

	n = APPEND(list->neighbours, list->n);
	if (!n)
		return -ENOMEM;
	n->ifindex = (uint32_t)i->ndm_ifindex;
	n->family = i->ndm_family;
	n->state = i->ndm_state;
	n->protocol = protocol;
	n->is_managed = tb[ATTR_NDA_FLAGS_EXT] && nla_get_u32(tb[ATTR_NDA_FLAGS_EXT]) & EXT_MANAGED;
	memcpy(n->address, nla_data(tb[NDA_DST]), sizeof(n->address));
	return 0;
}

int neighbour_list(struct netlink *nl, struct neighbour **ret, size_t *ret_n)
{
	_owns_(struct neighbours, neighbours) list = {};
	struct ndmsg i = { .ndm_family = AF_INET6 };
	struct nl_msg *m = netlink_make(RTM_GETNEIGH, NLM_F_DUMP, &i, sizeof(i));
	int r = netlink_list(nl, m, on_neighbour, &list, &list.n);

	if (r == -EAFNOSUPPORT || r == -EOPNOTSUPP) /* a kernel may be without IPv6 */
		r = 0;
	return TAKE_LIST(r, list.neighbours, list.n, ret, ret_n);
}

/* Without NTF_ROUTER the kernel would take the flag away. */
static struct nl_msg *make_neighbour(int request, int how, const struct neighbour *n, uint8_t flags)
{
	struct ndmsg i = { .ndm_family = n->family,
			   .ndm_ifindex = (int)n->ifindex,
			   .ndm_flags = flags };
	struct nl_msg *m = netlink_make(request, how, &i, sizeof(i));

	return netlink_put(m, NDA_DST, n->address, address_bytes(n->family));
}

int neighbour_resolve(struct netlink *nl, const struct neighbour *n, bool is_once)
{
	struct nl_msg *m = make_neighbour(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, n,
					  NTF_ROUTER | (is_once ? NTF_USE : 0));

	if (!is_once)
		m = put_u32(m, ATTR_NDA_FLAGS_EXT, EXT_MANAGED);
	return netlink_ask(nl, put_u8(m, ATTR_NDA_PROTOCOL, OWN_PROTOCOL));
}

int neighbour_remove(struct netlink *nl, const struct neighbour *n)
{
	int r = netlink_ask(nl, make_neighbour(RTM_DELNEIGH, 0, n, 0));
	return r == -ENOENT || r == -ENODEV ? 0 : r;
}
