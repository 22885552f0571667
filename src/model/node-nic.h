/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node-nic: which PCI functions carry the node itself. The plan changes nothing of them.
 *
 * Pure, and the only place that decides it. The node leaves by
 *
 * - the best default route of the main table, of each family: the lowest metric, all its next hops.
 *   Of equal metrics one that a router advertised (RTPROT_RA) comes after one that was configured;
 * - the netdev that owns the node's address: the preferred source of that route, and each address
 *   of the kubelet's --node-ip.
 *
 * An advertised default route counts only where neither an IPv4 default route nor --node-ip tells
 * which NIC is the node's, and only above a function that carried it before, if one did: RDMA
 * networks advertise a router on each rail, and the kernel takes it on every link that comes up.
 * Source: ndisc_router_discovery() in net/ipv6/ndisc.c, rt6_add_dflt_router() in net/ipv6/route.c
 * (RTPROT_RA, metric 1024).
 *
 * While there is neither, because DHCP has no answer yet or the link lost its carrier, the
 * functions count that carried the node before: boots_carrying(). In a first boot nothing is known
 * of that. Those count to which a network manager's file gives a default route, by DHCP or a
 * gateway (netdev.way_file), until there is one, and none has carried the node in this boot; and
 * those whose netdev has no name by udev yet (netdev.is_unnamed), for such a file may name it. DHCP
 * may answer to a rail first, or a router advertise itself there: beside what only a default route
 * tells, those without an IPv4 address count for the first SOON_USEC of the boot.
 *
 * From those netdevs it goes down to all functions below: to the lower netdev of what is stacked
 * (VLAN, macvlan, ipvlan, IPoIB child: IFLA_LINK) and to the ports of a bond, team or bridge
 * (IFLA_MASTER). An internal port of Open vSwitch has no link to what is below it, and all bridges
 * share one datapath: so all its ports count. Source: ovs_netdev_link() in
 * net/openvswitch/vport-netdev.c makes the datapath's netdev the master of each port.
 *
 * A scalable function is none of PCI: the one that it was made of is below its netdev. The RDMA
 * function of eRDMA is another one than that of its netdev: it carries the node when its
 * RDMA device has such a netdev. Of a VF that carries the node its PF is listed as well.
 */
#pragma once

#include "node.h"

enum node_nic_why {
	NODE_NIC_ROUTE,   /* the best default route of a family leaves by the netdev */
	NODE_NIC_ADDRESS, /* the netdev owns the node's address */
	NODE_NIC_SOON,    /* it is to get a default route, in the first boot */
	NODE_NIC_BEFORE,  /* it carried the node in the last boot, or before its link was lost */
};

#define SOON_USEC (60 * USEC_PER_SEC)

/* One function that carries the node. */
struct node_nic {
	char pci[PCI_LEN];
	char netdev[IFNAME_LEN]; /* what has the route or the address: "bond0"; else "" */
	enum node_nic_why why;
	bool is_by_vf; /* of a PF: one of its VFs carries the node, the PF itself does not */
	char file[NETCONFIG_LEN]; /* NODE_NIC_SOON: that gives it the route, "" by its name; else ""
				   */
};

/*
 * Sorted by address, each function once; release with free(). @ret_until_usec: CLOCK_MONOTONIC when
 * those that count as before, or soon, no longer do; 0: no time ends it. Return: 0 or -ENOMEM.
 */
int node_nic_find(const struct node *n, const struct memory *memory, struct node_nic **ret,
		  size_t *ret_n, uint64_t *ret_until_usec);

/* The entry of a function, or NULL: it does not carry the node. */
const struct node_nic *node_nic_of(const struct node_nic *list, size_t n, const char *pci);

/* "eth0 has the default route", "bond0 has the node's address", "by one of its VFs: ..." */
void node_nic_describe(const struct node_nic *k, char *ret, size_t size);
