/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbour: routers in the neighbour table, and how the kernel is made to keep one resolved.
 */
#include "route.h"

#include "../model/route-facts.h"
#include "../model/rtproto.h"
#include "nl.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

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
	_cleanup_(freep) struct neighbours list = {};
	struct ndmsg i = { .ndm_family = AF_INET6 };
	struct nl_msg *m = netlink_make(RTM_GETNEIGH, NLM_F_DUMP, &i, sizeof(i));
	int r = netlink_list(nl, m, on_neighbour, &list, &list.n);

	if (r < 0 && r != -EAFNOSUPPORT && r != -EOPNOTSUPP) /* a kernel may be without IPv6 */
		return r;

	*ret = TAKE(list.neighbours);
	*ret_n = list.n;
	return 0;
}

/* Without NTF_ROUTER the kernel would take the flag away. */
static struct nl_msg *make(int request, int how, const struct neighbour *n, uint8_t flags)
{
	struct ndmsg i = { .ndm_family = n->family,
			   .ndm_ifindex = (int)n->ifindex,
			   .ndm_flags = flags };
	struct nl_msg *m = netlink_make(request, how, &i, sizeof(i));

	return netlink_put(m, NDA_DST, n->address, address_bytes(n->family));
}

int neighbour_manage(struct netlink *nl, const struct neighbour *n)
{
	struct nl_msg *m = make(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, n, NTF_ROUTER);

	m = put_u32(m, ATTR_NDA_FLAGS_EXT, EXT_MANAGED);
	return netlink_ask(nl, put_u8(m, ATTR_NDA_PROTOCOL, OWN_PROTOCOL));
}

int neighbour_probe(struct netlink *nl, const struct neighbour *n)
{
	struct nl_msg *m =
		make(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, n, NTF_ROUTER | NTF_USE);

	return netlink_ask(nl, put_u8(m, ATTR_NDA_PROTOCOL, OWN_PROTOCOL));
}

int neighbour_remove(struct netlink *nl, const struct neighbour *n)
{
	int r = netlink_ask(nl, make(RTM_DELNEIGH, 0, n, 0));
	return r == -ENOENT || r == -ENODEV ? 0 : r;
}
