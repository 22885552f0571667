/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#define BUFFER_BYTES (1 << 20)

int events_open(struct netlink *nl)
{
	static const int groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				      RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE };
	int r;

	nl->protocol = NETLINK_ROUTE;
	r = netlink_open(nl);
	if (r < 0)
		return r;

	nl_socket_set_buffer_size(nl->sock, BUFFER_BYTES,
				  0); /* less means lost events, which are told */
	for (size_t i = 0; i < ELEMENTSOF(groups); i++)
		if (nl_socket_add_membership(nl->sock, groups[i]) < 0)
			return errno ? -errno : -EIO;
	return nl_socket_set_nonblocking(nl->sock) < 0 ? -EIO : 0;
}

int events_fd(const struct netlink *nl)
{
	return nl_socket_get_fd(nl->sock);
}

/* veth, bridge, macvlan and so on have a kind; a card has none. */
static bool is_card(struct nlmsghdr *h)
{
	struct nlattr *attrs[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	const char *kind;

	if (nlmsg_parse(h, sizeof(struct ifinfomsg), attrs, IFLA_MAX, NULL) < 0)
		return true; /* not understood: look */
	if (!attrs[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, attrs[IFLA_LINKINFO], NULL) < 0 ||
	    !info[IFLA_INFO_KIND])
		return true;

	kind = nla_data(info[IFLA_INFO_KIND]);
	return streq(kind, "bond");
}

/* The kernel names the device of a card in sysfs; a bond has its ports there. */
static bool is_address_of_card(const struct nlmsghdr *h)
{
	const struct ifaddrmsg *address = NLMSG_DATA(h);
	char name[IF_NAMESIZE], path[64];

	if (!if_indextoname(address->ifa_index, name))
		return true; /* gone: its link tells */
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	if (access(path, F_OK) == 0)
		return true;
	snprintf(path, sizeof(path), "/sys/class/net/%s/bonding", name);
	return access(path, F_OK) == 0;
}

/* Only a prefix can be one that a managed NIC is in as well. */
static bool is_prefix_route(const struct nlmsghdr *h)
{
	const struct rtmsg *route = NLMSG_DATA(h);
	unsigned bits = route->rtm_family == AF_INET ? 32 : 128;

	return route->rtm_table == RT_TABLE_MAIN && route->rtm_dst_len > 0 &&
	       route->rtm_dst_len < bits;
}

static bool matters(struct nlmsghdr *h)
{
	switch (h->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return is_card(h);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return is_address_of_card(h);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return is_prefix_route(h);
	default:
		return false;
	}
}

/* How many messages of one datagram matter. */
static int count_messages(char *buf, int size)
{
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	int n = 0;

	for (; nlmsg_ok(h, size); h = nlmsg_next(h, &size))
		n += matters(h);
	return n;
}

int events_drain(struct netlink *nl)
{
	char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	int n = 0;

	for (;;) {
		ssize_t size = recv(events_fd(nl), buf, sizeof(buf), MSG_DONTWAIT);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return n;
		if (size < 0)
			return -errno;
		n += count_messages(buf, (int)size);
	}
}
