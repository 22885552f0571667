/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pnet: which entries SMC's table should have for one device, and how each of its entries compares.
 *
 * Pure, and called by both that have to agree: a plan compares it with the table that was seen,
 * smc/smc-apply.c with the one it finds. The kernel's side is net/smc/smc_pnet.c: it compares names
 * only when an entry is made or a device appears, so a rename leaves the old name in the table, and
 * the RDMA device takes no other PNETID while the old one is applied to it.
 */
#pragma once

#include "node.h"

/*
 * An entry of SMC's table, as "smc_pnet -s" lists it: of a netdev or of an RDMA device, never of
 * both. Names need not exist, and are those of the time when it was made.
 */
struct pnet {
	char id[PNETID_LEN];     /* upper case */
	char netdev[IFNAME_LEN]; /* empty: of an RDMA device */
	char ibdev[IBDEV_LEN];   /* empty: of a netdev */
	uint32_t port;           /* of an RDMA device, from 1; 0: of a netdev */
};

struct pnet_wish {
	char id[PNETID_LEN]; /* the MAC in upper case without colons, "5254001A0B0C" */
	char netdev[IFNAME_LEN];
	char ibdev[IBDEV_LEN];
	char old_netdev[IFNAME_LEN]; /* as it was called before in this boot; empty: not known */
	char old_ibdev[IBDEV_LEN];
};

enum pnet_worth {
	PNET_FOREIGN, /* made by another program, or for another device: it stays */
	PNET_RIGHT,
	PNET_WRONG, /* another PNETID or port of this device, or ours under an old name */
};

/*
 * Only for a netdev with a MAC of 6 bytes and an RDMA device with an Ethernet port: SMC-R runs over
 * RoCE. A device in a pod lacks one of the two here, and keeps its entry.
 * Return: false when the device has no wish.
 */
bool pnet_wish(const struct memory *memory, const char *pci, const struct netdev *netdev,
	       const struct ibdev *ibdev, struct pnet_wish *ret);

enum pnet_worth pnet_judge(const struct node *n, const struct pnet_wish *w, const struct pnet *e);

/* Is the entry that is right for the netdev (or, @of_ibdev, for the RDMA device) in this table? */
bool pnet_is_there(const struct node *n, const struct pnet_wish *w, const struct pnet *table,
		   size_t n_table, bool of_ibdev);
