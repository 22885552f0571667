/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Way: by which netdev the node reaches the places that it must reach.
 *
 * Adds to node.destinations what no file tells: for each family, and for each VRF that has a
 * default route of it, an address that only default routes lead to; and the other ends of each
 * tunnel that an answer leads into. A WireGuard packet has the mark of its device, and one of a
 * tunnel with a device is bound to that.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/*
 * Asks the kernel about each destination without an answer (result -ENODATA). Below --root an
 * answer that the capture recorded stays, and others are computed: model/route-find.h. Wants
 * netdevs, addresses, routes, rules, tunnel_ends and the destinations of files. Return: 0 or
 * -ENOMEM.
 */
int observe_destinations_ask(struct os *d, struct node *n);
