/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Way: by which netdevs the node reaches what it must reach.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/*
 * Adds to node.destinations the default destinations of both families, that of each VRF with a
 * default route, and the other ends of tunnels by which a packet to one of them leaves; fills the
 * answers. A live node asks the kernel. Of a captured tree the recorded answer counts, else it is
 * computed: model/route-find.h.
 *
 * Wants links, addresses, routes, rules and tunnel ends, and what observe_places() appends. Return:
 * 0 or -ENOMEM.
 */
int observe_ways(struct os *d, struct node *n);
