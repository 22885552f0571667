/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netns: the links of other network namespaces, over rtnetlink and without entering them.
 *
 * Takes CAP_NET_ADMIN in the user namespaces of both, and nothing else: setns(2) would take
 * CAP_SYS_ADMIN. A namespace without an id here is given one, which goes when the namespace goes.
 * Source: rtnl_net_newid() in net/core/net_namespace.c, rtnl_get_net_ns_capable() and
 * rtnl_fill_link_netnsid() in net/core/rtnetlink.c.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

struct far_link {
	char name[IFNAME_LEN];
	char kind[16];     /* IFLA_INFO_KIND; empty: plain */
	char mac[MAC_LEN]; /* empty: none */
	char pci[PCI_LEN]; /* its function; empty: virtual, or a kernel before 5.14 */
	/* Ifindex in our namespace of what it is stacked on; 0: nothing that is here. */
	uint32_t near;
	/*
	 * The same, when that namespace cannot be known: of an ipvlan before 5.13,
	 * which has the MAC of what it is on.
	 */
	uint32_t maybe_near;
};

/*
 * All links of the namespace of a process, or of a descriptor where @pid is 0. Output is owned by
 * the caller. Return: 0; -ESRCH: there is no such process; -EPERM or -EACCES: it may not be asked;
 * or -errno.
 */
int netns_list_links(struct netlink *nl, uint32_t pid, int fd, struct far_link **ret,
		     size_t *ret_n);

/* One answer of that dump, for it and its test; @own: the id of our namespace, -1: it has none. */
int netns_parse_link(struct nlmsghdr *h, int32_t own, struct far_link *ret);
