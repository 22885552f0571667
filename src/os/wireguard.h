/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WireGuard: where its devices send their packets, over generic netlink.
 *
 * Asking for the family loads the module, so this asks only about devices that exist. Source:
 * drivers/net/wireguard/netlink.c, include/uapi/linux/wireguard.h
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

#define WIREGUARD_KIND "wireguard"

/*
 * Appends the endpoint of each peer of this device, with the mark of the device; a peer that has
 * not spoken yet may have none. Return: 0, also for what the kernel does not tell (without
 * CAP_NET_ADMIN, or a device that is gone), or -ENOMEM.
 */
int wireguard_list(struct netlink *nl, uint32_t ifindex, struct tunnel_end **list, size_t *n);
