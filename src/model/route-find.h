/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route find: by which netdev a packet leaves, computed from a node's rules, routes, addresses and
 * links as the kernel would; for trees in which the kernel was not asked.
 *
 * Pure. A family without a rule to the table local or main gets the kernel's own three (of IPv6
 * two), and the one for VRFs, beside the rules that it has. Sources: fib_rules_lookup() in
 * net/core/fib_rules.c, fib_table_lookup() in net/ipv4/fib_trie.c, fib6_table_lookup() in
 * net/ipv6/route.c, l3mdev_update_flow() in net/l3mdev/l3mdev.c
 */
#pragma once

#include "route-facts.h"

/*
 * Fills the answer of @l as route_lookup() of os/route.h does. Next hops are those of all routes of
 * the destination that matched with its metric, for the kernel may choose between them.
 *
 * l->result is 0 or -errno. -ENODATA: it cannot be computed, because a rule
 * or a route that may decide has conditions that are not known, or a nexthop object that was not
 * looked up, or because the destination is multicast. -EINVAL also when l->address is no address of
 * this host, of IPv4.
 */
void route_find(const struct node *n, struct lookup *l);

/*
 * An address that only default routes lead to: neither a route of any table longer than /1 (of IPv6
 * /3), nor an address or a rule covers it. One for documentation (RFC 5737 and 3849) if there is
 * such, else the first global one. Return: 0, -ENOENT there is none, or -ENOMEM.
 */
int route_find_default(const struct node *n, int family, uint8_t ret[static 16]);

/* The VRF that this netdev is, or is a port of; NULL: none. @nd may be NULL. */
const struct netdev *route_vrf_of(const struct node *n, const struct netdev *nd);

/* By another router. Captures before 0.2.0 tell of a gateway of IPv6 (RTA_VIA) by the scope alone,
 * so that a device route of IPv4 for which a program left the scope at 0 counts as well. */
bool route_has_gateway(const struct route *t);
