/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include "../model/route-facts.h"
#include "fs.h"
#include "nl.h"

#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#define BUFFER_BYTES                 (8 << 20) /* a quarter of a second while a pass goes on */
#define ATTR_IFLA_CARRIER_DOWN_COUNT 48        /* since 4.16, newer than the oldest headers */
#define MAX_STACKED                  8         /* the kernel's MAX_NEST_DEV */

int events_open(struct netlink *nl)
{
	static const int groups[] = { RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				      RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,  RTNLGRP_IPV4_RULE,
				      RTNLGRP_IPV6_RULE,  RTNLGRP_IPV4_NETCONF };
	const int size = BUFFER_BYTES;
	int r;

	nl->protocol = NETLINK_ROUTE;
	r = netlink_open(nl);
	if (r < 0)
		return r;

	/* Less means lost events, which are logged. */
	if (setsockopt(netlink_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		nl_socket_set_buffer_size(nl->sock, size, 0);
	for (size_t i = 0; i < ELEMENTSOF(groups) && r >= 0; i++)
		r = netlink_join(nl, groups[i]);
	return r;
}

int events_add_neighbours(struct netlink *nl)
{
	return netlink_join(nl, RTNLGRP_NEIGH);
}

/*
 * The kernel names the device of a card in sysfs. A netdev above others, or with ports, has a
 * link "lower_NAME" for each: netdev_adjacent_sysfs_add() in net/core/dev.c.
 */
static bool leads_to_card(const struct fs *net, const char *name, int depth)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = 0;

	if (fs_exists(net, FS_PATH("%s/device", name)) != 0) /* also when it cannot be told */
		return true;
	if (depth > 0)
		r = fs_list(net, name, &names);
	if (r < 0)
		return r != -ENOENT && r != -ENOTDIR;
	return ANY(n, names.names, names.n_names,
		   is_prefix(*n, "lower_") && leads_to_card(net, *n + strlen("lower_"), depth - 1));
}

static uint32_t read_index(const struct fs *net, const char *name, const char *file)
{
	uint32_t index = 0;

	fs_read_u32(net, FS_PATH("%s/%s", name, file), &index);
	return index;
}

/*
 * An internal port of Open vSwitch has no link to what is below it: only the datapath has. Beside a
 * datapath with a card each netdev that is above no other may be one; a veth names its peer.
 */
static bool may_be_of_switch(const struct fs *net, const char *name)
{
	return !streq(name, "lo") && leads_to_card(net, "ovs-system", 1) &&
	       read_index(net, name, "iflink") == read_index(net, name, "ifindex");
}

bool events_has_card(int net, const char *name)
{
	const struct fs fs = { .root = net, .is_live = true };

	return leads_to_card(&fs, name, MAX_STACKED) || may_be_of_switch(&fs, name);
}

static bool is_of_card(uint32_t ifindex)
{
	_cleanup_(closep) int net = open("/sys/class/net", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[IF_NAMESIZE];

	if (net < 0 || !if_indextoname(ifindex, name))
		return true; /* gone: its link tells */
	return events_has_card(net, name);
}

/*
 * veth, macvlan and so on have a kind; a card has none, but of InfiniBand: "ipoib". Those
 * of partitions, which pods bring, name the one that they are above: ipoib_get_iflink() in
 * drivers/infiniband/ulp/ipoib/ipoib_main.c. VLANs and bridges may be of pods or of the node.
 */
static bool is_card(struct nlmsghdr *h)
{
	static const struct nla_policy policy[IFLA_INFO_MAX + 1] = {
		[IFLA_INFO_KIND] = { .type = NLA_STRING },
	};
	struct nlattr *attrs[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	const struct ifinfomsg *link = NLMSG_DATA(h);
	const char *kind;

	if (nlmsg_parse(h, sizeof(*link), attrs, IFLA_MAX, NULL) < 0)
		return true; /* not understood: look */
	if (!attrs[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, attrs[IFLA_LINKINFO], policy) < 0 ||
	    !info[IFLA_INFO_KIND])
		return true;

	kind = nla_get_string(info[IFLA_INFO_KIND]);
	if (streq(kind, "vlan") || streq(kind, "bridge"))
		return is_of_card((uint32_t)link->ifi_index);
	return streq(kind, "bond") || streq(kind, "team") || streq(kind, "openvswitch") ||
	       (streq(kind, "ipoib") && !attrs[IFLA_LINK]);
}

/*
 * The kernel gives each IPv6 link a link-local address and tells of it up to 2 s later, when it is
 * known to be nobody else's: addrconf_dad_completed(). Its GID was there before, see
 * ipv6_add_addr(), and so was its prefix route.
 */
static bool is_address_to_see(const struct nlmsghdr *h)
{
	const struct ifaddrmsg *address = NLMSG_DATA(h);

	if (!nlmsg_valid_hdr(h, sizeof(*address)))
		return true;
	if (h->nlmsg_type == RTM_NEWADDR && address->ifa_family == AF_INET6 &&
	    address->ifa_scope == RT_SCOPE_LINK && !(address->ifa_flags & IFA_F_DADFAILED))
		return false;
	return is_of_card(address->ifa_index);
}

/* Only a prefix can be one that a managed NIC is in as well; a default route tells what carries the
 * node. */
static bool is_route_to_see(struct nlmsghdr *h)
{
	const struct rtmsg *route = NLMSG_DATA(h);

	if (!nlmsg_valid_hdr(h, sizeof(*route)) || route->rtm_protocol == OWN_PROTOCOL)
		return true;
	return route->rtm_table == RT_TABLE_MAIN &&
	       route->rtm_dst_len != (route->rtm_family == AF_INET ? 32 : 128);
}

static bool is_own_rule(struct nlmsghdr *h)
{
	static const struct nla_policy policy[FRA_MAX + 1] = {
		[FRA_PROTOCOL] = { .type = NLA_U8 },
	};
	struct nlattr *attrs[FRA_MAX + 1];

	if (nlmsg_parse(h, sizeof(struct fib_rule_hdr), attrs, FRA_MAX, policy) < 0)
		return true; /* not understood: look */
	return attrs[FRA_PROTOCOL] && nla_get_u8(attrs[FRA_PROTOCOL]) == OWN_PROTOCOL;
}

/* Is it a setting of conf/all or of a card? The index of "all" and "default" is negative. */
static bool is_setting_of_card(struct nlmsghdr *h)
{
	static const struct nla_policy policy[NETCONFA_MAX + 1] = {
		[NETCONFA_IFINDEX] = { .type = NLA_U32 },
	};
	struct nlattr *attrs[NETCONFA_MAX + 1];
	int32_t ifindex;

	if (nlmsg_parse(h, sizeof(struct netconfmsg), attrs, NETCONFA_MAX, policy) < 0)
		return true; /* not understood: look */
	if (!attrs[NETCONFA_IFINDEX] || !attrs[NETCONFA_RP_FILTER])
		return false;
	ifindex = (int32_t)nla_get_u32(attrs[NETCONFA_IFINDEX]);
	return ifindex == NETCONFA_IFINDEX_ALL || (ifindex > 0 && is_of_card((uint32_t)ifindex));
}

static bool is_router_of_card(const struct nlmsghdr *h)
{
	const struct ndmsg *n = NLMSG_DATA(h);

	if (!nlmsg_valid_hdr(h, sizeof(*n)))
		return true;
	return n->ndm_family == AF_INET6 && n->ndm_flags & NTF_ROUTER &&
	       n->ndm_state & (NUD_STALE | NUD_FAILED) && is_of_card((uint32_t)n->ndm_ifindex);
}

static bool matters(struct nlmsghdr *h)
{
	switch (h->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return is_card(h);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return is_address_to_see(h);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return is_route_to_see(h);
	case RTM_NEWRULE:
	case RTM_DELRULE:
		return is_own_rule(h);
	case RTM_NEWNETCONF:
		return is_setting_of_card(h);
	case RTM_NEWNEIGH:
		return is_router_of_card(h);
	default:
		return false;
	}
}

/* Only sysfs tells that a link is a VF's, and asks no driver for it. */
static bool is_of_vf(struct nlattr *name)
{
	char path[sizeof("/sys/class/net//device/physfn") + IFNAMSIZ];

	if (!name || strchr(nla_get_string(name), '/'))
		return false;
	PRINT(path, "/sys/class/net/%s/device/physfn", nla_get_string(name));
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Where in the order of announcements it is counts, not when it was made. */
static void note_link(struct nlmsghdr *h, struct link_log *log)
{
	static const struct nla_policy policy[ATTR_IFLA_CARRIER_DOWN_COUNT + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING, .maxlen = IFNAMSIZ },
		[IFLA_MTU] = { .type = NLA_U32 },
		[ATTR_IFLA_CARRIER_DOWN_COUNT] = { .type = NLA_U32 },
	};
	struct nlattr *attrs[ATTR_IFLA_CARRIER_DOWN_COUNT + 1];
	const struct ifinfomsg *i = nlmsg_data(h);
	struct link_news news = { .usec = now_usec(), .sec = time(NULL) };

	if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
	    nlmsg_parse(h, sizeof(*i), attrs, ATTR_IFLA_CARRIER_DOWN_COUNT, policy) < 0 ||
	    !attrs[IFLA_MTU] || !attrs[ATTR_IFLA_CARRIER_DOWN_COUNT])
		return;
	news.ifindex = (uint32_t)i->ifi_index;
	news.is_up = i->ifi_flags & IFF_UP;
	news.is_gone = h->nlmsg_type == RTM_DELLINK;
	news.mtu = nla_get_u32(attrs[IFLA_MTU]);
	news.carrier_downs = nla_get_u32(attrs[ATTR_IFLA_CARRIER_DOWN_COUNT]);
	news.is_vf = is_of_vf(attrs[IFLA_IFNAME]);
	link_log_add(log, &news);
}

int events_count(void *buf, int size, void *log)
{
	struct nlmsghdr *h = buf;
	int n = 0;

	for (; nlmsg_ok(h, size); h = nlmsg_next(h, &size)) {
		if (!matters(h))
			continue;
		n++;
		if (log)
			note_link(h, log);
	}
	return n;
}
