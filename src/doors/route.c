/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#define ATTEMPTS 5 /* at a dump that changes while it is read */

struct routes {
	int family;           /* asked for */
	struct route *routes; /* owned */
	size_t n;
};

static void routes_done(struct routes *l)
{
	free(l->routes);
}

static int append(struct routes *list, const struct route *route, uint32_t ifindex)
{
	struct route *to = APPEND(list->routes, list->n);

	if (!to)
		return -ENOMEM;

	*to = *route;
	to->ifindex = ifindex;
	return 0;
}

static int append_hops(struct routes *list, const struct route *route,
		       const struct nlattr *multipath)
{
	const struct rtnexthop *hop = nla_data(multipath);
	int left = nla_len(multipath), r;

	while (left >= (int)sizeof(*hop) && RTNH_OK(hop, left)) { /* which reads before it looks */
		r = append(list, route, hop->rtnh_ifindex);
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

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(h, sizeof(*m), tb, RTA_MAX, policy) < 0)
		return -EBADMSG;

	/* What the kernel was asked to leave out comes all the same when it is old or has no IPv6.
	 */
	m = nlmsg_data(h);
	if (m->rtm_family != list->family || m->rtm_flags & RTM_F_CLONED ||
	    (tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : m->rtm_table) != RT_TABLE_MAIN)
		return 0;

	route.family = m->rtm_family;
	route.prefix_len = m->rtm_dst_len;
	route.protocol = m->rtm_protocol;
	route.scope = m->rtm_scope;
	route.type = m->rtm_type;
	if (tb[RTA_PRIORITY])
		route.metric = nla_get_u32(tb[RTA_PRIORITY]);
	if (tb[RTA_DST])
		nla_memcpy(route.dst, tb[RTA_DST], sizeof(route.dst));

	if (tb[RTA_MULTIPATH])
		return append_hops(list, &route, tb[RTA_MULTIPATH]);
	return append(list, &route, tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0);
}

static int dump(struct netlink *nl, int family, struct routes *list)
{
	struct rtmsg i = { .rtm_family = family, .rtm_table = RT_TABLE_MAIN };
	_cleanup_(nlmsg_freep) struct nl_msg *m = NULL;
	int r;

	m = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_DUMP);
	if (!m || nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO) < 0)
		return -ENOMEM;

	list->family = family;
	r = netlink_dump(nl, TAKE(m), on_route, list);

	/* The table is made with its first route; a kernel may be without IPv6. */
	return r == -ENOENT || r == -EAFNOSUPPORT || r == -EOPNOTSUPP ? 0 : r;
}

static int list_once(struct netlink *nl, struct route **ret, size_t *ret_n)
{
	_cleanup_(routes_done) struct routes list = {};
	int r;

	r = dump(nl, AF_INET, &list);
	if (r >= 0)
		r = dump(nl, AF_INET6, &list);
	if (r < 0)
		return r;

	*ret = TAKE(list.routes);
	*ret_n = list.n;
	return 0;
}

int route_list(struct netlink *nl, struct route **ret, size_t *ret_n)
{
	int r = -EAGAIN;

	for (unsigned i = 0; i < ATTEMPTS && r == -EAGAIN; i++)
		r = list_once(nl, ret, ret_n);

	return r;
}
