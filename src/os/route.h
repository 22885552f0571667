/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: the main table, routes of ours in any table, and the kernel's own lookup, over rtnetlink.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * IPv4 and IPv6 routes of the main table, then those with OWN_PROTOCOL in all tables; a multipath
 * route is one for each of its next hops. Routes that the kernel cached are left out. @ret is owned
 * by the caller.
 *
 * A kernel before 4.20 cannot filter a dump: then all tables come, and what is not meant is dropped
 * here. Source: inet_dump_fib() in net/ipv4/fib_frontend.c, inet6_dump_fib() in net/ipv6/ip6_fib.c
 */
int route_list(struct netlink *nl, struct route **ret, size_t *ret_n);

/*
 * Adds a unicast route with OWN_PROTOCOL. @is_replaced: one of ours with the same destination,
 * table and metric is there, and is replaced in place. Return: 0 or -errno: -EEXIST there is one of
 * another program, which stays, -ENETDOWN the netdev is down, -ENETUNREACH or -EHOSTUNREACH the
 * gateway is not on a link of it, -EINVAL src is no address of this host.
 */
int route_set(struct netlink *nl, const struct route *t, bool is_replaced);

/* Removes one of ours; 0 also when it is gone. Never one with another protocol. */
int route_remove(struct netlink *nl, const struct route *t);

/*
 * Where would a packet to @dst leave? Asks as the kernel itself does for a socket that is bound to
 * @src (NULL: to no address) and to the netdev @oif (0: to none).
 *
 * Return: 0 with the ifindex, or -errno: -ENETUNREACH no route, -EINVAL @src is no address here.
 */
int route_lookup(struct netlink *nl, int family, const uint8_t *src, const uint8_t *dst,
		 uint32_t oif, uint32_t *ret_ifindex);
