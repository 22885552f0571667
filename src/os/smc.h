/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: the table of PNETIDs of SMC-R, over generic netlink.
 *
 * Asking for the family loads smc where its alias is known, so nobody asks before it is loaded.
 * Entries of RDMA devices are seen in the first network namespace only. There is no request that
 * removes one entry: all of one PNETID go together, and the one that empties the table is never
 * sent. Source: net/smc/smc_pnet.c, include/uapi/linux/smc.h
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/* The whole table, sorted. -ENOENT: there is none, smc is not loaded or is not the kernel's own. */
int smc_list(struct netlink *nl, struct pnet **ret, size_t *ret_n);

/*
 * Adds an entry. -EEXIST: its device has an entry already, whatever it says, or a PNETID that is
 * not in the table (of the hardware, or of a name that the device had before).
 */
int smc_add(struct netlink *nl, const struct pnet *e);

/* Removes all entries of a PNETID, given as it is in the table. -ENOENT: none has it. */
int smc_remove(struct netlink *nl, const char *id);

/* Appends one answer to @userdata, a struct smc_table. Exported for tests. */
struct smc_table {
	struct pnet *entries; /* owned */
	size_t n;
};
int smc_on_entry(struct nlmsghdr *h, void *userdata);
