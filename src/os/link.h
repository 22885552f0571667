/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link: network devices and their addresses over rtnetlink.
 *
 * Lists only what the caller's network namespace shows, but for link_list_of(), which asks about
 * another one without entering it. That takes CAP_NET_ADMIN in the user namespaces of both, and
 * nothing else: setns(2) would take CAP_SYS_ADMIN. A namespace without an id here is given one,
 * which goes when the namespace goes.
 * Source: rtnl_net_newid() in net/core/net_namespace.c, rtnl_get_net_ns_capable() and
 * rtnl_fill_link_netnsid() in net/core/rtnetlink.c.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

struct link_list;

/*
 * All links with what the kernel tells of their settings in /proc/sys/net, by ifindex; pci is left
 * empty (sysfs tells it). @ret_ends, which may be NULL: the ends of tunnels, but for
 * WireGuard's (wireguard.h); one to a multicast address, one that takes its end from each packet,
 * and one whose own packets leave in another namespace, has no remote end. Outputs are owned by the
 * caller.
 */
int link_list(struct netlink *nl, struct netdev **ret, size_t *ret_n, struct tunnel_end **ret_ends,
	      size_t *ret_n_ends);

/*
 * The id of the namespace that @fd is open on, of our own for -EBADF: it is what a link elsewhere
 * names that is stacked on one of ours. The kernel would give it while it lists links; given
 * before, it is known in time. Return: 0, -EPERM, -EINVAL: @fd is none, or -errno.
 */
int link_get_netns_id(struct netlink *nl, int fd, int32_t *ret);

/*
 * All links of the namespace that @fd is open on, as node.aways has them but for netns; pci is left
 * empty by kernels before 5.14. @own: our own id. Output is owned by the caller. Return: 0; -EPERM
 * or -EACCES: it may not be asked; -EOPNOTSUPP of kernels before 4.20; or -errno.
 */
int link_list_of(struct netlink *nl, int fd, int32_t own, struct netdev **ret, size_t *ret_n);

/*
 * A message of such a list; @own is NULL for the caller's namespace, -1: it has no number. @links:
 * the ends of tunnels are added to; or NULL. Exported for a test.
 */
int link_parse(struct nlmsghdr *h, const int32_t *own, struct netdev *ret, struct link_list *links);

/* IPv4 and IPv6, by ifindex; those of one netdev in the kernel's order, the primary one first. */
int link_list_addresses(struct netlink *nl, struct address **ret, size_t *ret_n);

int link_set_up(struct netlink *nl, uint32_t ifindex);
int link_set_down(struct netlink *nl, uint32_t ifindex);
/*
 * Changes nothing, and returns when a change of any link that was going on is over: a request takes
 * the kernel's lock of links. A new name is there before the settings below /proc/sys/net have it:
 * dev_change_name() in net/core/dev.c, addrconf_notify() in net/ipv6/addrconf.c.
 */
int link_sync(struct netlink *nl, uint32_t ifindex);
int link_set_mtu(struct netlink *nl, uint32_t ifindex, uint32_t mtu);
/* -EBUSY while it is up: eth_prepare_mac_addr_change() in net/ethernet/eth.c; before Linux 6.2 also
 * for a name, dev_change_name(). */
int link_set_mac(struct netlink *nl, uint32_t ifindex, const char *mac);
int link_set_name(struct netlink *nl, uint32_t ifindex, const char *name);
/* Adds or removes an alternative name; since Linux 5.5. */
int link_change_altname(struct netlink *nl, uint32_t ifindex, const char *name, bool is_added);

/*
 * Sets the metric of an existing address (IFA_RT_PRIORITY), as "ip address change" does: the kernel
 * moves its own prefix route in place. Everything else the address has is read again and sent back
 * as it is: flags, label, broadcast, scope, remaining lifetimes.
 *
 * The address is known by family, netdev, local, peer and prefix length. An IPv6 address that will
 * expire (no IFA_F_PERMANENT: SLAAC, DHCPv6) is refused: for it the kernel adds a second prefix
 * route and keeps the first, even after the address is gone.
 *
 * Return: 0, -EADDRNOTAVAIL when the address is gone, -EOPNOTSUPP as said, or -errno.
 *
 * Source: inet_rtm_newaddr() in net/ipv4/devinet.c, inet6_addr_modify() in net/ipv6/addrconf.c
 */
int link_set_metric(struct netlink *nl, const struct address *address, uint32_t metric);

/*
 * Adds an address with the metric of its prefix route, so that there is no instant with another
 * one. An older kernel does not know IFA_PROTO, and takes no offence. Return: 0, -EEXIST, or
 * -errno.
 */
int link_add_address(struct netlink *nl, const struct address *a);
int link_remove_address(struct netlink *nl, const struct address *a); /* 0 also when it is gone */
