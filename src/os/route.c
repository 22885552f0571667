/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include "../model/rtproto.h"
#include "nl.h"

#include <linux/rtnetlink.h>

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
	static const struct nla_policy policy[RTA_MAX + 1] = {
		[RTA_OIF] = { .type = NLA_U32 },
		[RTA_PRIORITY] = { .type = NLA_U32 },
		[RTA_TABLE] = { .type = NLA_U32 },
	};
	struct nlattr *tb[RTA_MAX + 1];
	struct routes *list = userdata;
	struct route route = {};
	const struct rtmsg *m;
	bool is_own;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(h, sizeof(*m), tb, RTA_MAX, policy) < 0)
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

int route_list(struct netlink *nl, struct route **ret, size_t *ret_n)
{
	static const uint32_t tables[] = { RT_TABLE_MAIN, RT_TABLE_UNSPEC };
	_cleanup_(routes_done) struct routes list = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(tables) && r >= 0; i++) {
		r = dump(nl, AF_INET, tables[i], &list);
		if (r >= 0)
			r = dump(nl, AF_INET6, tables[i], &list);
	}
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
