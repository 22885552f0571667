/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: a network namespace of the test's own, and links and addresses to fill it with.
 *
 * For tests of the netlink os only. Requests are built here by hand and sent through
 * netlink_ask(): what the os read was not made by the os.
 */
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <sys/socket.h>

#include "../src/os/netlink.h"

unsigned if_nametoindex(const char *name); /* <net/if.h> clashes with <linux/if.h> */

#define EXIT_SKIP 77

static inline int netns_write(const char *path, const char *text)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Return: 0, or -errno when this system does not let us */
static inline int netns_enter(void)
{
	char uids[32], gids[32];
	int r;

	snprintf(uids, sizeof(uids), "0 %u 1", getuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getgid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -errno;

	r = netns_write("/proc/self/setgroups", "deny");
	if (r >= 0)
		r = netns_write("/proc/self/uid_map", uids);
	if (r >= 0)
		r = netns_write("/proc/self/gid_map", gids);
	return r;
}

/* A pair, down; the peer's name may be NULL. */
static inline int netns_add_veth(struct netlink *nl, const char *name, const char *peer)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg i = {};
	struct nlattr *info, *data, *other;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "veth");
	if (peer) {
		data = nla_nest_start(m, IFLA_INFO_DATA);
		other = nla_nest_start(m, VETH_INFO_PEER);
		nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
		nla_put_string(m, IFLA_IFNAME, peer);
		nla_nest_end(m, other);
		nla_nest_end(m, data);
	}
	nla_nest_end(m, info);
	return netlink_ask(nl, m);
}

static inline int netns_add_bridge(struct netlink *nl, const char *name)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg i = {};
	struct nlattr *info;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "bridge");
	nla_nest_end(m, info);
	return netlink_ask(nl, m);
}

static inline int netns_add_bond(struct netlink *nl, const char *name, uint8_t mode)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg i = {};
	struct nlattr *info, *data;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "bond");
	data = nla_nest_start(m, IFLA_INFO_DATA);
	nla_put_u8(m, IFLA_BOND_MODE, mode);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	return netlink_ask(nl, m);
}

static inline int netns_set_u32(struct netlink *nl, uint32_t ifindex, int attribute, uint32_t value)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg i = { .ifi_index = ifindex };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_u32(m, attribute, value);
	return netlink_ask(nl, m);
}

static inline int netns_up(struct netlink *nl, uint32_t ifindex)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg i = { .ifi_index = ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	return netlink_ask(nl, m);
}

static inline int netns_delete(struct netlink *nl, uint32_t ifindex)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_DELLINK, 0);
	struct ifinfomsg i = { .ifi_index = ifindex };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	return netlink_ask(nl, m);
}

struct netns_address {
	const char *local, *peer, *broadcast, *label; /* NULL: none */
	uint8_t prefix_len;
	uint32_t flags, metric;
	uint32_t valid, preferred; /* seconds; 0: forever */
};

static inline size_t netns_parse(const char *text, uint8_t ret[16])
{
	memset(ret, 0, 16);
	if (inet_pton(AF_INET, text, ret) == 1)
		return 4;
	return inet_pton(AF_INET6, text, ret) == 1 ? 16 : 0;
}

static inline int netns_add_address(struct netlink *nl, uint32_t ifindex,
				    const struct netns_address *a)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	struct ifa_cacheinfo times = { .ifa_valid = a->valid, .ifa_prefered = a->preferred };
	struct ifaddrmsg i = { .ifa_index = ifindex, .ifa_prefixlen = a->prefix_len };
	uint8_t bytes[16];
	size_t n = netns_parse(a->local, bytes);

	i.ifa_family = n == 4 ? AF_INET : AF_INET6;
	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put(m, IFA_LOCAL, n, bytes);
	if (a->peer)
		netns_parse(a->peer, bytes);
	nla_put(m, IFA_ADDRESS, n, bytes);
	if (a->broadcast) {
		netns_parse(a->broadcast, bytes);
		nla_put(m, IFA_BROADCAST, n, bytes);
	}
	if (a->label)
		nla_put_string(m, IFA_LABEL, a->label);
	if (a->flags)
		nla_put_u32(m, IFA_FLAGS, a->flags);
	if (a->metric)
		nla_put_u32(m, IFA_RT_PRIORITY, a->metric);
	if (a->valid)
		nla_put(m, IFA_CACHEINFO, sizeof(times), &times);
	return netlink_ask(nl, m);
}

struct netns_route {
	const char *dst; /* NULL: default, of the family of the gateway or IPv4 */
	uint8_t prefix_len, table, protocol, scope, type;
	uint32_t metric, oif;
	const char *gateways[2]; /* two: multipath, over oif and oif2 */
	uint32_t oif2;
};

static inline void netns_put_hop(struct nl_msg *m, uint32_t ifindex, const char *gateway)
{
	struct rtnexthop *hop = nlmsg_reserve(m, sizeof(*hop), NLMSG_ALIGNTO);
	uint8_t bytes[16];
	size_t n = netns_parse(gateway, bytes);

	nla_put(m, RTA_GATEWAY, n, bytes);
	*hop = (struct rtnexthop){ .rtnh_ifindex = ifindex, .rtnh_len = sizeof(*hop) + 4 + n };
}

static inline int netns_route(struct netlink *nl, int request, int how, const struct netns_route *a)
{
	struct nl_msg *m = nlmsg_alloc_simple(request, how);
	const char *any = a->dst ? a->dst : a->gateways[0] ? a->gateways[0] : "0.0.0.0";
	struct rtmsg i = {
		.rtm_dst_len = a->prefix_len,
		.rtm_table = a->table ? a->table : RT_TABLE_MAIN,
		.rtm_protocol = a->protocol ? a->protocol : RTPROT_STATIC,
		.rtm_scope = a->scope,
		.rtm_type = a->type ? a->type : RTN_UNICAST,
	};
	struct nlattr *multipath;
	uint8_t bytes[16];
	size_t n = netns_parse(any, bytes);

	i.rtm_family = n == 4 ? AF_INET : AF_INET6;
	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	if (a->dst)
		nla_put(m, RTA_DST, n, bytes);
	if (a->metric)
		nla_put_u32(m, RTA_PRIORITY, a->metric);
	if (a->gateways[1]) {
		multipath = nla_nest_start(m, RTA_MULTIPATH);
		netns_put_hop(m, a->oif, a->gateways[0]);
		netns_put_hop(m, a->oif2, a->gateways[1]);
		nla_nest_end(m, multipath);
		return netlink_ask(nl, m);
	}
	if (a->oif)
		nla_put_u32(m, RTA_OIF, a->oif);
	if (a->gateways[0]) {
		n = netns_parse(a->gateways[0], bytes);
		nla_put(m, RTA_GATEWAY, n, bytes);
	}
	return netlink_ask(nl, m);
}

static inline int netns_add_route(struct netlink *nl, const struct netns_route *a)
{
	return netns_route(nl, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_APPEND, a);
}

static inline int netns_delete_route(struct netlink *nl, const struct netns_route *a)
{
	return netns_route(nl, RTM_DELROUTE, 0, a);
}

/* For main(): in a namespace of its own with a pair of links, or the exit code. */
static inline int netns_begin(struct netlink *nl, const char *a, const char *b)
{
	int r;

	r = netns_enter();
	if (r < 0) {
		printf("skipped: no network namespace of our own: %s\n", strerror(-r));
		return EXIT_SKIP;
	}

	r = netns_add_veth(nl, a, b);
	if (r < 0) {
		printf("skipped: no veth: %s\n", strerror(-r));
		return EXIT_SKIP;
	}

	return 0;
}
