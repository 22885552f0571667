/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include "../model/rtproto.h"
#include "nl.h"

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
	int family;  /* asked for */
	bool is_own; /* ours in all tables; else all of @table */
	uint32_t table;
	struct route *routes; /* owned */
	size_t n;
};

static void routes_done(struct routes *l)
{
	free(l->routes);
}

/* An IPv4 route may have an IPv6 gateway (RTA_VIA): one of another family is none here. */
static void read_gateway(const struct nlattr *a, int family, uint8_t ret[16])
{
	if (a && (size_t)nla_len(a) == address_bytes(family))
		memcpy(ret, nla_data(a), address_bytes(family));
}

static int append(struct routes *list, const struct route *route, uint32_t ifindex,
		  const struct nlattr *gateway)
{
	struct route *to = APPEND(list->routes, list->n);

	if (!to)
		return -ENOMEM;

	*to = *route;
	to->ifindex = ifindex;
	read_gateway(gateway, route->family, to->gateway);
	return 0;
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
			   size > 0 ? nla_find(attrs, size, RTA_GATEWAY) : NULL);
		if (r < 0)
			return r;

		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}

	return 0;
}

static int on_route(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[MAX_ROUTE_ATTR + 1] = {
		[RTA_OIF] = { .type = NLA_U32 },
		[RTA_PRIORITY] = { .type = NLA_U32 },
		[RTA_TABLE] = { .type = NLA_U32 },
		[ATTR_RTA_NH_ID] = { .type = NLA_U32 },
	};
	struct nlattr *tb[MAX_ROUTE_ATTR + 1];
	struct routes *list = userdata;
	struct route route = {};
	const struct rtmsg *m;
	bool is_own;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(h, sizeof(*m), tb, MAX_ROUTE_ATTR, policy) < 0)
		return -EBADMSG;

	/* What the kernel was asked to leave out comes all the same when it is old or has no IPv6.
	 */
	m = nlmsg_data(h);
	is_own = m->rtm_protocol == OWN_PROTOCOL;
	route.table = get_u32(tb[RTA_TABLE], m->rtm_table);
	if (m->rtm_family != list->family || m->rtm_flags & RTM_F_CLONED ||
	    is_own != list->is_own || (!is_own && route.table != list->table))
		return 0;

	route.family = m->rtm_family;
	route.prefix_len = m->rtm_dst_len;
	route.protocol = m->rtm_protocol;
	route.scope = m->rtm_scope;
	route.type = m->rtm_type;
	route.metric = get_u32(tb[RTA_PRIORITY], 0);
	if (tb[RTA_DST])
		nla_memcpy(route.dst, tb[RTA_DST], sizeof(route.dst));
	read_gateway(tb[RTA_PREFSRC], route.family, route.src);

	if (tb[RTA_MULTIPATH])
		return append_hops(list, &route, tb[RTA_MULTIPATH]);
	if (!tb[RTA_OIF])
		route.nexthop = get_u32(tb[ATTR_RTA_NH_ID], 0);
	return append(list, &route, get_u32(tb[RTA_OIF], 0), tb[RTA_GATEWAY]);
}

/* @table: RT_TABLE_UNSPEC for ours, of all tables */
static int dump(struct netlink *nl, int family, uint32_t table, struct routes *list)
{
	const bool is_own = table == RT_TABLE_UNSPEC;
	struct rtmsg i = { .rtm_family = family,
			   .rtm_table = table < 256 ? table : RT_TABLE_UNSPEC,
			   .rtm_protocol = is_own ? OWN_PROTOCOL : RTPROT_UNSPEC };
	_cleanup_(nlmsg_freep) struct nl_msg *m = NULL;
	int r;

	m = netlink_make(RTM_GETROUTE, NLM_F_DUMP, &i, sizeof(i));
	if (!m || (!is_own && nla_put_u32(m, RTA_TABLE, table) < 0))
		return -ENOMEM;

	list->family = family;
	list->is_own = is_own;
	list->table = table;
	r = netlink_list(nl, TAKE(m), on_route, list, &list->n);

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

static void nexthops_done(struct nexthops *l)
{
	free(l->all);
}

static int append_members(struct nexthops *list, uint32_t id, const struct nlattr *group)
{
	const struct nexthop_member *members = nla_data(group);

	for (size_t i = 0; i < (size_t)nla_len(group) / sizeof(*members); i++) {
		struct nexthop *to = APPEND(list->all, list->n);

		if (!to)
			return -ENOMEM;
		*to = (struct nexthop){ .id = id, .member = members[i].id };
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
	struct nexthop *to;

	if (h->nlmsg_type != MESSAGE_NEWNEXTHOP)
		return 0;
	if (nlmsg_parse(h, sizeof(struct nexthop_header), tb, ATTR_NHA_GATEWAY, policy) < 0)
		return -EBADMSG;
	if (tb[ATTR_NHA_GROUP])
		return append_members(list, get_u32(tb[ATTR_NHA_ID], 0), tb[ATTR_NHA_GROUP]);

	to = APPEND(list->all, list->n);
	if (!to)
		return -ENOMEM;
	*to = (struct nexthop){ .id = get_u32(tb[ATTR_NHA_ID], 0),
				.ifindex = get_u32(tb[ATTR_NHA_OIF], 0) };
	if (tb[ATTR_NHA_GATEWAY])
		to->gateway_bytes =
			(size_t)nla_memcpy(to->gateway, tb[ATTR_NHA_GATEWAY], sizeof(to->gateway));
	return 0;
}

static const struct nexthop *find_nexthop(const struct nexthops *l, uint32_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].id == id)
			return &l->all[i];
	return NULL;
}

/* Groups have no groups as members. */
static int append_by_nexthop(struct routes *list, const struct route *route,
			     const struct nexthops *hops)
{
	for (size_t i = 0; i < hops->n; i++) {
		const struct nexthop *hop = &hops->all[i];
		struct route *to;

		if (hop->id != route->nexthop)
			continue;
		if (hop->member)
			hop = find_nexthop(hops, hop->member);
		to = hop ? APPEND(list->routes, list->n) : NULL;
		if (hop && !to)
			return -ENOMEM;
		if (!hop)
			continue;
		*to = *route;
		to->nexthop = 0;
		to->ifindex = hop->ifindex;
		if (hop->gateway_bytes == address_bytes(route->family))
			memcpy(to->gateway, hop->gateway, hop->gateway_bytes);
	}
	return 0;
}

static int list_nexthops(struct netlink *nl, struct nexthops *ret)
{
	const struct nexthop_header header = {};
	struct nl_msg *m = netlink_make(MESSAGE_GETNEXTHOP, NLM_F_DUMP, &header, sizeof(header));

	return m ? netlink_list(nl, m, on_nexthop, ret, &ret->n) : -ENOMEM;
}

/*
 * With net.ipv4.nexthop_compat_mode=0 the kernel tells of a route by a nexthop object no more than
 * the id of that: fib_dump_info() in net/ipv4/fib_semantics.c, rt6_fill_node() in net/ipv6/route.c.
 * A route whose object is gone by now is gone as well.
 */
static int look_up_nexthops(struct netlink *nl, struct routes *l)
{
	_cleanup_(nexthops_done) struct nexthops hops = {};
	_cleanup_(routes_done) struct routes all = {};
	size_t i = 0;
	int r;

	while (i < l->n && !l->routes[i].nexthop)
		i++;
	if (i == l->n)
		return 0;
	r = list_nexthops(nl, &hops);
	for (i = 0; i < l->n && r >= 0; i++) {
		struct route *to;

		if (l->routes[i].nexthop) {
			r = append_by_nexthop(&all, &l->routes[i], &hops);
			continue;
		}
		to = APPEND(all.routes, all.n);
		if (to)
			*to = l->routes[i];
		else
			r = -ENOMEM;
	}
	if (r < 0)
		return r;
	free(l->routes);
	l->routes = TAKE(all.routes);
	l->n = all.n;
	return 0;
}

int route_list(struct netlink *nl, struct route **ret, size_t *ret_n)
{
	static const uint32_t tables[] = { RT_TABLE_MAIN, RT_TABLE_UNSPEC };
	static const int families[] = { AF_INET, AF_INET6 };
	_cleanup_(routes_done) struct routes list = {};
	int r;

	for (size_t i = 0; i < 2 * ELEMENTSOF(tables); i++) {
		r = dump(nl, families[i % 2], tables[i / 2], &list);
		if (r < 0)
			return r;
	}
	r = look_up_nexthops(nl, &list);
	if (r < 0)
		return r;

	*ret = TAKE(list.routes);
	*ret_n = list.n;
	return 0;
}

static struct nl_msg *make(int request, int flags, const struct route *t)
{
	struct rtmsg i = {
		.rtm_family = t->family,
		.rtm_dst_len = t->prefix_len,
		.rtm_table = t->table < 256 ? t->table : RT_TABLE_UNSPEC,
		.rtm_protocol = OWN_PROTOCOL,
		.rtm_scope = t->scope,
		.rtm_type = RTN_UNICAST,
	};
	_cleanup_(nlmsg_freep) struct nl_msg *m = netlink_make(request, flags, &i, sizeof(i));
	const size_t bytes = address_bytes(t->family);

	if (!m || nla_put_u32(m, RTA_TABLE, t->table) < 0 ||
	    nla_put_u32(m, RTA_OIF, t->ifindex) < 0 ||
	    (t->metric && nla_put_u32(m, RTA_PRIORITY, t->metric) < 0) ||
	    (t->prefix_len && nla_put(m, RTA_DST, bytes, t->dst) < 0) ||
	    (!is_zero(t->gateway) && nla_put(m, RTA_GATEWAY, bytes, t->gateway) < 0) ||
	    (!is_zero(t->src) && nla_put(m, RTA_PREFSRC, bytes, t->src) < 0))
		return NULL;
	return TAKE(m);
}

/*
 * Is there one of another program with the same destination and metric? The kernel replaces the
 * first of them: fib_table_insert() in net/ipv4/fib_trie.c, fib6_add_rt2node() in
 * net/ipv6/ip6_fib.c
 */
static int find_foreign(struct netlink *nl, const struct route *t)
{
	_cleanup_(routes_done) struct routes list = {};
	int r = dump(nl, t->family, t->table, &list);

	for (size_t i = 0; i < list.n && r >= 0; i++)
		if (list.routes[i].metric == t->metric &&
		    list.routes[i].prefix_len == t->prefix_len &&
		    memcmp(list.routes[i].dst, t->dst, sizeof(t->dst)) == 0)
			r = -EEXIST;
	return r;
}

int route_set(struct netlink *nl, const struct route *t, bool is_replaced)
{
	int r = is_replaced ? find_foreign(nl, t) : 0;
	struct nl_msg *m;

	if (r < 0)
		return r;
	m = make(RTM_NEWROUTE, NLM_F_CREATE | (is_replaced ? NLM_F_REPLACE : NLM_F_EXCL), t);
	return m ? netlink_ask(nl, m) : -ENOMEM;
}

int route_remove(struct netlink *nl, const struct route *t)
{
	struct nl_msg *m = make(RTM_DELROUTE, 0, t);
	int r;

	r = m ? netlink_ask(nl, m) : -ENOMEM;
	return r == -ESRCH || r == -ENODEV ? 0 : r;
}

/* The answer to a lookup has the route that was found, cloned. */
static int on_found(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[RTA_MAX + 1];
	uint32_t *ifindex = userdata;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(h, sizeof(struct rtmsg), tb, RTA_MAX, NULL) < 0)
		return -EBADMSG;
	if (tb[RTA_OIF] && nla_len(tb[RTA_OIF]) == sizeof(uint32_t))
		*ifindex = nla_get_u32(tb[RTA_OIF]);
	return 0;
}

int route_lookup(struct netlink *nl, int family, const uint8_t *src, const uint8_t *dst,
		 uint32_t oif, uint32_t *ret_ifindex)
{
	const size_t bytes = address_bytes(family);
	struct rtmsg i = { .rtm_family = family,
			   .rtm_dst_len = bytes * 8,
			   .rtm_src_len = src ? bytes * 8 : 0 };
	_cleanup_(nlmsg_freep) struct nl_msg *m = NULL;
	uint32_t ifindex = 0;
	int r;

	m = netlink_make(RTM_GETROUTE, 0, &i, sizeof(i));
	if (!m || nla_put(m, RTA_DST, bytes, dst) < 0 ||
	    (src && nla_put(m, RTA_SRC, bytes, src) < 0) ||
	    (oif && nla_put_u32(m, RTA_OIF, oif) < 0))
		return -ENOMEM;

	r = netlink_dump(nl, TAKE(m), on_found, &ifindex);
	if (r < 0)
		return r;
	*ret_ifindex = ifindex;
	return 0;
}
