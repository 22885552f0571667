/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include <linux/rtnetlink.h>
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

/* How many messages of one datagram matter. */
static int count_messages(const char *buf, ssize_t size)
{
	int n = 0;

	for (const struct nlmsghdr *h = (const void *)buf; NLMSG_OK(h, size);
	     h = NLMSG_NEXT(h, size)) {
		const struct rtmsg *route = NLMSG_DATA(h);

		if ((h->nlmsg_type == RTM_NEWROUTE || h->nlmsg_type == RTM_DELROUTE) &&
		    route->rtm_table != RT_TABLE_MAIN)
			continue;
		n++;
	}
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
		n += count_messages(buf, size);
	}
}
