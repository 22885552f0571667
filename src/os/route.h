/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: the routes of all tables but "local", and the kernel's own lookup, over rtnetlink.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * IPv4 and then IPv6 routes, in the kernel's order; a multipath route is one for each of its next
 * hops. Without what the kernel keeps for itself: the table "local", in any table the routes of
 * broadcast, multicast and anycast addresses and of its own local ones, and cached routes. @ret is
 * owned by the caller.
 *
 * is_dead is the kernel's RTNH_F_DEAD, which it also tells of a next hop without carrier where it
 * skips those. Source: fib_nexthop_info() in net/ipv4/fib_semantics.c
 */
int route_list(struct netlink *nl, struct route **ret, size_t *ret_n);

/*
 * Adds a unicast route, with OWN_PROTOCOL where it has none. @is_replaced: one of ours with the
 * same destination, table and metric is there, and is replaced in place. Return: 0 or -errno:
 * -EEXIST there is one of another program, which stays, -ENETDOWN the netdev is down, -ENETUNREACH
 * or -EHOSTUNREACH the gateway is not on a link of it, -EINVAL src is no address of this host.
 */
int route_set(struct netlink *nl, const struct route *t, bool is_replaced);

/* Removes one of ours; 0 also when it is gone. Never one with another protocol. */
int route_remove(struct netlink *nl, const struct route *t);

/*
 * Which netdev would this packet leave by? Asks for l->dst, as the kernel does for a socket that is
 * bound to l->address, or else to the netdev l->ifindex, with l->mark; fills the answer. A local
 * address leaves by "lo", or by the VRF that it is in.
 *
 * @with_hops: asks for the route that matched as well, with all its next hops; without it, and by
 * kernels before 4.13, the only hop is the netdev that was found.
 *
 * l->result is 0, or -ENETUNREACH without a route, -EHOSTUNREACH, -EINVAL and -EACCES of an
 * unreachable, blackhole and prohibit route or rule, another -errno of the kernel for instance
 * when l->address is no address of this host (-EINVAL, -ENETUNREACH). Return: 0 or -ENOMEM.
 */
int route_lookup(struct netlink *nl, struct lookup *l, bool with_hops);
