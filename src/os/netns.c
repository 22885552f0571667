/* SPDX-License-Identifier: Apache-2.0 */
#include "netns.h"

#include "nl.h"

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>

#define NO_ID (-1)

enum {                             /* newer than the oldest headers */
	ATTR_TARGET_NETNSID = 46,  /* 4.20 */
	ATTR_PARENT_DEV_NAME = 56, /* 5.14 */
	ATTR_PARENT_DEV_BUS_NAME = 57,
};

struct netns_links {
	int32_t own;
	struct far_link *items; /* owned */
	size_t n;
};

static void links_done(struct netns_links *l)
{
	free(l->items);
}

/* --- ids --- */

static int on_id(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[NETNSA_NSID + 1] = {
		[NETNSA_NSID] = { .type = NLA_S32 },
	};
	struct nlattr *tb[NETNSA_NSID + 1];

	if (h->nlmsg_type != RTM_NEWNSID)
		return 0;
	if (nlmsg_parse(h, sizeof(struct rtgenmsg), tb, NETNSA_NSID, policy) < 0 ||
	    !tb[NETNSA_NSID])
		return -EBADMSG;
	*(int32_t *)userdata = nla_get_s32(tb[NETNSA_NSID]);
	return 0;
}

static struct nl_msg *make_request(int type, uint32_t pid, int fd)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	_cleanup_(nlmsg_freep) struct nl_msg *m = netlink_make(type, 0, &g, sizeof(g));
	const int key = pid > 0 ? NETNSA_PID : NETNSA_FD;

	return m && nla_put_u32(m, key, pid > 0 ? pid : (uint32_t)fd) >= 0 ? TAKE(m) : NULL;
}

static int get_id(struct netlink *nl, uint32_t pid, int fd, int32_t *ret)
{
	struct nl_msg *m = make_request(RTM_GETNSID, pid, fd);

	*ret = NO_ID;
	return m ? netlink_dump(nl, m, on_id, ret) : -ENOMEM;
}

static int give_id(struct netlink *nl, uint32_t pid, int fd)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = make_request(RTM_NEWNSID, pid, fd);
	int r;

	if (!m || nla_put_s32(m, NETNSA_NSID, NO_ID) < 0) /* any */
		return -ENOMEM;
	r = netlink_ask(nl, TAKE(m));
	return r == -EEXIST ? 0 : r; /* another program was faster */
}

/* --- links --- */

static void read_kind(struct nlattr *linkinfo, struct far_link *l)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	if (linkinfo && nla_parse_nested(tb, IFLA_INFO_MAX, linkinfo, NULL) >= 0 &&
	    tb[IFLA_INFO_KIND])
		nla_strlcpy(l->kind, tb[IFLA_INFO_KIND], sizeof(l->kind));
}

static void read_parent(struct nlattr *name, const struct nlattr *bus, struct far_link *l)
{
	char parent[32] = "", kind[16] = "";

	if (name && bus) {
		nla_strlcpy(parent, name, sizeof(parent));
		nla_strlcpy(kind, bus, sizeof(kind));
	}
	if (!streq(kind, "pci") || !COPY(l->pci, parent))
		l->pci[0] = '\0';
}

int netns_parse_link(struct nlmsghdr *h, int32_t own, struct far_link *ret)
{
	static const struct nla_policy policy[ATTR_PARENT_DEV_BUS_NAME + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING },
		[IFLA_LINK] = { .type = NLA_U32 },
		[IFLA_LINK_NETNSID] = { .type = NLA_S32 },
		[IFLA_LINKINFO] = { .type = NLA_NESTED },
		[ATTR_PARENT_DEV_NAME] = { .type = NLA_STRING },
		[ATTR_PARENT_DEV_BUS_NAME] = { .type = NLA_STRING },
	};
	struct nlattr *tb[ATTR_PARENT_DEV_BUS_NAME + 1];
	struct far_link l = {};

	if (nlmsg_parse(h, sizeof(struct ifinfomsg), tb, ATTR_PARENT_DEV_BUS_NAME, policy) < 0 ||
	    !tb[IFLA_IFNAME])
		return -EBADMSG;
	if (!tb[ATTR_TARGET_NETNSID]) /* these are our own: it did not understand */
		return -EOPNOTSUPP;

	nla_strlcpy(l.name, tb[IFLA_IFNAME], sizeof(l.name));
	format_mac(tb[IFLA_ADDRESS], l.mac, sizeof(l.mac));
	read_kind(tb[IFLA_LINKINFO], &l);
	read_parent(tb[ATTR_PARENT_DEV_NAME], tb[ATTR_PARENT_DEV_BUS_NAME], &l);
	if (!tb[IFLA_LINK_NETNSID] && is_prefix(l.kind, "ipv")) /* ipvlan, ipvtap */
		l.maybe_near = get_u32(tb[IFLA_LINK], 0);
	else if (tb[IFLA_LINK_NETNSID] && own != NO_ID && nla_get_s32(tb[IFLA_LINK_NETNSID]) == own)
		l.near = get_u32(tb[IFLA_LINK], 0);
	*ret = l;
	return 0;
}

static int on_link(struct nlmsghdr *h, void *userdata)
{
	struct netns_links *links = userdata;
	struct far_link l, *slot;
	int r;

	if (h->nlmsg_type != RTM_NEWLINK)
		return 0;
	r = netns_parse_link(h, links->own, &l);
	if (r < 0)
		return r;
	slot = APPEND(links->items, links->n);
	if (!slot)
		return -ENOMEM;
	*slot = l;
	return 0;
}

static int list_links(struct netlink *nl, int32_t id, int32_t own, struct far_link **ret,
		      size_t *ret_n)
{
	_cleanup_(links_done) struct netns_links links = { .own = own };
	_cleanup_(nlmsg_freep) struct nl_msg *m = NULL;
	struct ifinfomsg i = { .ifi_family = AF_UNSPEC };
	int r;

	m = netlink_make(RTM_GETLINK, NLM_F_DUMP, &i, sizeof(i));
	if (!m || nla_put_s32(m, ATTR_TARGET_NETNSID, id) < 0 ||
	    nla_put_u32(m, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) < 0)
		return -ENOMEM;

	r = netlink_list(nl, TAKE(m), on_link, &links, &links.n);
	if (r < 0)
		return r;
	*ret = TAKE(links.items);
	*ret_n = links.n;
	return 0;
}

/*
 * The id of a namespace in itself is what a link elsewhere names that is stacked on one of it. The
 * kernel would give it while it lists; given before, it is known in time.
 */
static int get_or_give_id(struct netlink *nl, uint32_t pid, int fd, int32_t *ret)
{
	int r;

	r = get_id(nl, pid, fd, ret);
	if (r < 0 || *ret != NO_ID)
		return r;
	r = give_id(nl, pid, fd);
	if (r >= 0)
		r = get_id(nl, pid, fd, ret);
	return r >= 0 && *ret == NO_ID ? -ESRCH : r;
}

int netns_list_links(struct netlink *nl, uint32_t pid, int fd, struct far_link **ret, size_t *ret_n)
{
	int32_t id, own;
	int r;

	r = get_or_give_id(nl, (uint32_t)getpid(), -1, &own);
	if (r >= 0)
		r = get_or_give_id(nl, pid, fd, &id);
	return r < 0 ? r : list_links(nl, id, own, ret, ret_n);
}
