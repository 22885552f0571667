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

/*
 * The id of the namespace that @fd is open on, of our own for -EBADF: it is what a link elsewhere
 * names that is stacked on one of ours. The kernel would give it while it lists links; given
 * before, it is known in time. Return: 0, -EPERM, -EINVAL: @fd is none, or -errno.
 */
int netns_get_id(struct netlink *nl, int fd, int32_t *ret);

/*
 * All links of the namespace that @fd is open on, as link_list_of() gives them; @own: our own id.
 * Output is owned by the caller. Return: 0; -EPERM or -EACCES: it may not be asked; or -errno.
 */
int netns_list_links(struct netlink *nl, int32_t own, int fd, struct netdev **ret, size_t *ret_n);
