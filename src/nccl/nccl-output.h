/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: which ports NCCL is to use and with which GID index.
 *
 * Pure, and libc alone: the verb, the file on the host and the static binary for containers ask the
 * same code.
 *
 * The rule, each step on what the one before left:
 *
 * 1. Candidates are active ports of devices with a character device here. With a plan they are of
 *    managed NICs that are not left to the host as the node's own and that no plugin moves into
 *    pods; without any section, of NICs that the node does not need. No port of a synthetic NIC
 *    (netvsc of Hyper-V) counts, no iWARP device.
 * 2. An InfiniBand port counts as it is. An Ethernet port needs a GID of an address that is not of
 *    the link alone (fe80::/10, 169.254.0.0/16). A GID whose netdev is here counts with carrier.
 *    Where no port has such a GID, as in a pod with a network namespace of its own, GIDs of
 *    netdevs elsewhere count: then the state of the port is that of its carrier.
 * 3. One function for each physical port, or LAG of them with one RDMA device: the PF, or the first
 *    VF or subfunction where the PF is no candidate.
 * 4. With a plan no port that the node needs, where others are left that are as fast together. On
 *    eRDMA node and jobs share the card by design.
 * 5. The highest rate. A slower port stays where one with that rate is of the same model, in the
 *    same section and with the same link layer: its link may have a fault.
 * 6. One kind, that of most ports. Among equals InfiniBand, then IPv4, then IPv6; RoCE v1 only
 *    where there is no v2. InfiniBand ports with different subnet prefixes are of different
 *    fabrics: the fabric of most ports, or all where none has more.
 *
 * Each port has one GID of that kind chosen: the first of its own netdev before those of netdevs
 * above it. NCCL_IB_GID_INDEX is their common index. Where they differ, and with IPv6 (where it
 * depends on when a router was heard), NCCL searches the table of each port (NCCL_IB_GID_INDEX=-1)
 * for the first GID of this address family, the smallest address range of the chosen ones, and RoCE
 * version. Where that is another than the chosen one, the common index is used after all, or
 * without one the port is left out. NCCL 2.21 and later,
 * docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; where GIDs are of other network
 * namespaces, 2.26 and later: github.com/NVIDIA/nccl/issues/1573. It has no use for an index on
 * InfiniBand (src/transport/net_ib/connect.cc).
 *
 * NCCL pairs devices of different nodes by their place in the list. Hence it is in order of rails:
 * of PCI addresses, which equal nodes have in common, and not of names.
 */
#pragma once

#include "../model/plan.h"

enum nccl_kind {
	NCCL_INFINIBAND,
	NCCL_V2_IPV4,
	NCCL_V2_IPV6,
	NCCL_V1_IPV4,
	NCCL_V1_IPV6,
	_NCCL_KIND_N
};

struct nccl_port {
	const struct ibdev *ibdev; /* of the node */
	const struct port *port;   /* of the ibdev */
	const char *pci;    /* of the ibdev; of a virtual one or a subfunction its netdev's */
	const char *physfn; /* of a VF: its PF, or the one that has the LAG's device; else "" */
	uint32_t rate;      /* of port_rate() */
	const struct netdev *netdev; /* of its first GID that has one; or NULL */
	const struct pci *function;  /* with the address pci; NULL: not known */
	const struct gid *gid;       /* of a listed one with RoCE: the one to use */
	unsigned here, away; /* kinds it has by netdevs here, by others: 1 << enum nccl_kind */
	const struct device_config *section; /* with a plan */
	const struct need *need;             /* with a plan: the node needs it; or NULL */
	char slow[48];                       /* "it has 200 Gb/s, others 400"; "": none has more */
	char why[160];                       /* it is not listed; "": it is */
	const char *advice; /* the plan leaves it out: what to do; NULL: it does not */
};

struct nccl {
	enum reason reason;      /* REASON_NONE, or REASON_NCCL_NONE: there is no text */
	struct nccl_port *ports; /* owned; all of the node, in order of rails */
	size_t n_ports;
	enum nccl_kind kind; /* of those that are listed */
	bool is_away;        /* their GIDs are of netdevs elsewhere */
	bool is_exact;       /* a listed name is the beginning of another that is not listed */
	bool is_erdma;       /* all of them are, and eth0 is there and has carrier */
	bool is_searched;    /* NCCL has to find the index of each port */
	uint32_t index;      /* else: the common one */
	int traffic_class, service_level; /* with [QoS]; below 0: not known */
	char range[64];     /* where it is searched: "10.0.0.0/23", or "" for any of the family */
	char detail[192];   /* for the reason: the device, why a port is left out */
	const char *advice; /* for the reason, instead of what it says itself; or NULL */
};

/**
 * nccl_choose() - apply the rule
 * @c, @p: the configuration, and its plan of @n; both NULL in a container, where what is there is
 *         for its jobs
 * @n:     ibdevs with their ports, netdevs with has_carrier, addresses, pcis of the ibdevs
 * @ret:   points into @n; release with nccl_done()
 *
 * Devices whose name would not survive in a list of NCCL or in a shell are passed over.
 * Return: 0 or -ENOMEM.
 */
int nccl_choose(const struct config *c, const struct node *n, const struct plan *p,
		struct nccl *ret);
void nccl_done(struct nccl *c);

/**
 * nccl_text() - the settings, a line for each
 * @is_export: "export NCCL_IB_HCA=mlx5_0:1" for a shell; without it as /etc/nccl.conf takes it
 * @is_exact:  "=" before the list in any case. NCCL takes each name as the beginning of others too
 *             (mlx5_1 is also mlx5_10); where it would take one that is not listed, "=" is there
 * @ret:       owned by the caller
 *
 * With RoceToS= also NCCL_IB_TC, the same number, and NCCL_IB_SL, the priority that it leads to,
 * for RoCE: connections of NCCL are none of rdma_cm, and have no default.
 *
 * With eRDMA also NCCL_SOCKET_IFNAME=eth0, as ACK has it: eRDMA interfaces are not for bootstrap.
 * A line that begins with "#" is a comment. Return: 0, -ENODATA when the rule gave a reason
 * instead, or -ENOMEM.
 */
int nccl_text(const struct nccl *c, bool is_export, bool is_exact, char **ret);

/*
 * A comment for each port that is not listed, with the reason, and for each slow one; VFs that are
 * left out are one line. No "=" is in them:
 * an NCCL that knows no comments would take them for settings, setEnvFile() in src/misc/param.cc.
 * Return: 0 or -ENOMEM.
 */
int nccl_left_out(const struct nccl *c, char **ret);
/* "mlx5_0 is listed", "mlx5_1 is listed: it has 200 Gb/s, others 400", "mlx4_0 port 2 is left out:
 * its port is DOWN" */
void nccl_describe(const struct nccl_port *np, char *ret, size_t size);
