/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: the routes of all tables but "local", and the kernel's own lookup, over rtnetlink; policy
 * routing rules and neighbours.
 */
#pragma once

#include "../model/route-facts.h"
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

/* Policy routing rules: */

/* IPv4 and IPv6, of everybody, in the order in which the kernel follows them. @ret is owned by the
 * caller. */
int rule_list(struct netlink *nl, struct rule **ret, size_t *ret_n);

/*
 * Adds a rule with OWN_PROTOCOL that leads into its table; 0 also when another program made
 * the same (-EEXIST): without NLM_F_EXCL the kernel would add it again at each run.
 * Source: fib_nl_newrule() in net/core/fib_rules.c
 */
int rule_add(struct netlink *nl, const struct rule *rule);

/* Removes one of ours; 0 also when it is gone. Never one with another protocol. */
int rule_remove(struct netlink *nl, const struct rule *rule);

/* Routers in the neighbour table: */

/* IPv6 entries with NTF_ROUTER or with OWN_PROTOCOL. @ret is owned by the caller. */
int neighbour_list(struct netlink *nl, struct neighbour **ret, size_t *ret_n);

/*
 * Makes the kernel keep @n resolved (NTF_EXT_MANAGED), probing it whenever its time is over. An
 * entry that is there keeps its state. Before Linux 5.16 the flag is not known and not refused:
 * look whether it is there. Source: neigh_add() and neigh_managed_work() in net/core/neighbour.c
 * With @is_once it is only probed now, as if a packet were to go there (NTF_USE).
 */
int neighbour_resolve(struct netlink *nl, const struct neighbour *n, bool is_once);

/* Forgets an entry; a packet makes it again. 0 also when it is gone. */
int neighbour_remove(struct netlink *nl, const struct neighbour *n);
