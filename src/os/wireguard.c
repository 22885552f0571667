/* SPDX-License-Identifier: Apache-2.0 */
#include "wireguard.h"

#include "../model/route-facts.h"
#include "nl.h"

enum { /* linux/wireguard.h, 5.6, is newer than the oldest headers */
	WIREGUARD_GET_DEVICE = 0,
	WIREGUARD_VERSION = 1,
	DEVICE_IFINDEX = 1,
	DEVICE_FWMARK = 7,
	DEVICE_PEERS = 8,
	PEER_ENDPOINT = 4,
};

struct ends {
	uint32_t ifindex;
	struct tunnel_end *list; /* owned */
	size_t n;
};

static int add_peer(const struct nlattr *peer, uint32_t mark, struct ends *ends)
{
	const struct nlattr *a = nla_find(nla_data(peer), nla_len(peer), PEER_ENDPOINT);
	struct tunnel_end end = { .ifindex = ends->ifindex, .mark = mark };

	if (a)
		end.family = get_sockaddr(nla_data(a), (size_t)nla_len(a), end.remote);
	return end.family ? ADD(ends->list, ends->n, end) : 0;
}

static int on_device(struct nlmsghdr *h, void *userdata)
{
	static const struct nla_policy policy[DEVICE_PEERS + 1] = {
		[DEVICE_FWMARK] = { .type = NLA_U32 },
		[DEVICE_PEERS] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[DEVICE_PEERS + 1], *peer;
	int rest, r = 0;

	if (genlmsg_parse(h, 0, tb, DEVICE_PEERS, policy) < 0)
		return -EBADMSG;
	if (!tb[DEVICE_PEERS])
		return 0;
	nla_for_each_nested(peer, tb[DEVICE_PEERS], rest) {
		if (r >= 0)
			r = add_peer(peer, get_u32(tb[DEVICE_FWMARK], 0), userdata);
	}
	return r;
}

int wireguard_list(struct netlink *nl, uint32_t ifindex, struct tunnel_end **list, size_t *n)
{
	struct ends ends = { ifindex, *list, *n };
	struct nl_msg *m;
	uint16_t family;
	int r = netlink_find_family(nl, WIREGUARD_KIND, &family);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	m = netlink_request(family, WIREGUARD_GET_DEVICE, WIREGUARD_VERSION, NLM_F_DUMP);
	r = netlink_list(nl, put_u32(m, DEVICE_IFINDEX, ifindex), on_device, &ends, &ends.n);
	*list = ends.list;
	*n = ends.n;
	return r == -ENOMEM ? r : 0;
}
