/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: the main routing table over rtnetlink.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * Routes of the main table, IPv4 and IPv6, in the kernel's order; multipath routes give one entry
 * for each next hop. The kernel filters by table where it can (NETLINK_GET_STRICT_CHK, 4.20).
 */
int route_list(struct netlink *nl, struct route **ret, size_t *ret_n);
