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
 * index. Different indexes, also on one port, are an error, for NCCL takes one index for all; so is
 * no port at all.
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
	/* REASON_NONE, REASON_NCCL_NONE or REASON_NCCL_MIXED_INDEX; but for the first there is no
	 * text. */
	enum reason reason;
	struct nccl_port *ports; /* owned; what the rule keeps, in order of rails */
	size_t n_ports;
	bool is_erdma;    /* all of them are, and eth0 is there and has carrier */
	char detail[512]; /* for the reason: devices and indexes */
	char advice[384]; /* for the reason: settings that would do, or "" */
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
 * With eRDMA also NCCL_SOCKET_IFNAME=eth0, as ACK has it: eRDMA interfaces are not for bootstrap.
 * Return: 0, -ENODATA when the rule gave a reason instead, or -ENOMEM.
 */
int nccl_text(const struct nccl *c, bool is_export, bool is_exact, char **ret);
