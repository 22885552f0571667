/* SPDX-License-Identifier: Apache-2.0 */
#include "netns.h"

#include "link.h"
#include "nl.h"

#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>

#define NO_ID (-1)

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

/* @fd: -EBADF means the namespace of this process. */
static struct nl_msg *make_request(int type, int fd)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	struct nl_msg *m = netlink_make(type, 0, &g, sizeof(g));

	return put_u32(m, fd < 0 ? NETNSA_PID : NETNSA_FD, (uint32_t)(fd < 0 ? getpid() : fd));
}

static int get_id(struct netlink *nl, int fd, int32_t *ret)
{
	*ret = NO_ID;
	return netlink_dump(nl, make_request(RTM_GETNSID, fd), on_id, ret);
}

static int give_id(struct netlink *nl, int fd)
{
	struct nl_msg *m = make_request(RTM_NEWNSID, fd);
	int r = netlink_ask(nl, put_u32(m, NETNSA_NSID, (uint32_t)NO_ID)); /* any */

	return r == -EEXIST ? 0 : r; /* another program was faster */
}

int netns_get_id(struct netlink *nl, int fd, int32_t *ret)
{
	int r;

	r = get_id(nl, fd, ret);
	if (r < 0 || *ret != NO_ID)
		return r;
	r = give_id(nl, fd);
	if (r >= 0)
		r = get_id(nl, fd, ret);
	return r >= 0 && *ret == NO_ID ? -ESRCH : r;
}

int netns_list_links(struct netlink *nl, int32_t own, int fd, struct netdev **ret, size_t *ret_n)
{
	int32_t id;
	int r = netns_get_id(nl, fd, &id);

	return r < 0 ? r : link_list_of(nl, id, own, ret, ret_n);
}
