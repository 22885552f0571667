/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: which ports NCCL is to use and with which GID index, by VKE's rule.
 *
 * Pure, and libc alone: the verb, the file on the host and the static binary for containers ask the
 * same code.
 *
 * The rule: over all devices and ports take the GIDs that are not zero, whose first group is 0000
 * (an IPv4 address), of type "RoCE v2", and whose netdev has carrier; of these keep the ones on the
 * ports with the highest rate. NCCL_IB_HCA lists their ports, NCCL_IB_GID_INDEX is their common
 * index. No port at all is an error.
 *
 * Beyond the rule, which ends with an error here: where indexes differ, also on one port, NCCL
 * searches the table of each port itself (NCCL_IB_GID_INDEX=-1) for a GID of this address family,
 * address range and RoCE version. NCCL 2.21 and later can:
 * docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html. Where no GID is of an IPv4 address,
 * those of global IPv6 addresses count, always with that search.
 *
 * Where the rule finds nothing and active InfiniBand links are there, the fastest of those are
 * listed, without an index: NCCL has no use for one there (src/transport/net_ib/connect.cc).
 *
 * NCCL pairs devices of different nodes by their place in the list. Hence it is in order of rails:
 * of PCI addresses, which equal nodes have in common, and not of names.
 */
#pragma once

#include "../model/node.h"

struct nccl_port {
	const struct ibdev *ibdev; /* of the node */
	const struct port *port;   /* of the ibdev */
	const struct gid *gid;     /* of the port; NULL: InfiniBand */
	const char *pci;           /* of the ibdev or, for a virtual one, of the GID's netdev */
	uint32_t rate;             /* in hundredths of a Gbit/s; 0: not known */
};

struct nccl {
	enum reason reason;      /* REASON_NONE, or REASON_NCCL_NONE: there is no text */
	struct nccl_port *ports; /* owned; what the rule keeps, in order of rails */
	size_t n_ports;
	bool is_erdma;                    /* all of them are, and eth0 is there and has carrier */
	bool is_ipv6;                     /* their GIDs are of IPv6 addresses */
	bool is_searched;                 /* NCCL has to find the index of each port */
	int traffic_class, service_level; /* with [QoS]; below 0: not known */
	char range[64];                   /* for that: "10.0.0.0/23", or "" for any of the family */
	char detail[128];                 /* for the reason: the device */
	char advice[64]; /* for the reason, instead of what it says itself; or "" */
};

/**
 * nccl_choose() - apply the rule
 * @n:    ibdevs with their ports, netdevs with has_carrier, pcis of the ibdevs; no more is looked
 * at
 * @ret:  points into @n; release with nccl_done()
 *
 * Devices whose name would not survive in a list of NCCL or in a shell are left out.
 * Return: 0 or -ENOMEM.
 */
int nccl_choose(const struct node *n, struct nccl *ret);
void nccl_done(struct nccl *c);

/**
 * nccl_text() - the settings, a line for each
 * @is_export: "export NCCL_IB_HCA=mlx5_0:1" for a shell; without it as /etc/nccl.conf takes it
 * @is_exact: "=" before the list: without it NCCL takes each name as the beginning of others too
 * (mlx5_1 is also mlx5_10), but that is what VKE's rule prints
 * @ret:      owned by the caller
 *
 * With RoceToS= also NCCL_IB_TC, the same number, and NCCL_IB_SL, the priority that it leads to,
 * for RoCE: connections of NCCL are none of rdma_cm, and have no default.
 *
 * With eRDMA also NCCL_SOCKET_IFNAME=eth0, as ACK has it: eRDMA interfaces are not for bootstrap.
 * Return: 0, -ENODATA when the rule gave a reason instead, or -ENOMEM.
 */
int nccl_text(const struct nccl *c, bool is_export, bool is_exact, char **ret);
