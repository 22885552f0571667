/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbour: routers in the neighbour table, and how the kernel is made to keep one resolved.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/* IPv6 entries with NTF_ROUTER or with OWN_PROTOCOL. @ret is owned by the caller. */
int neighbour_list(struct netlink *nl, struct neighbour **ret, size_t *ret_n);

/*
 * Makes the kernel keep @n resolved (NTF_EXT_MANAGED), probing it whenever its time is over. An
 * entry that is there keeps its state. Before Linux 5.16 the flag is not known and not refused:
 * look whether it is there. Source: neigh_add() and neigh_managed_work() in net/core/neighbour.c
 */
int neighbour_manage(struct netlink *nl, const struct neighbour *n);

/* The same for once (NTF_USE): it is probed now, as if a packet were to go there. */
int neighbour_probe(struct netlink *nl, const struct neighbour *n);

/* Forgets an entry; a packet makes it again. 0 also when it is gone. */
int neighbour_remove(struct netlink *nl, const struct neighbour *n);
