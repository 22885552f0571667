/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph: which netdevs stand on which, and on which PCI functions.
 *
 * Pure, made once in a look, and the only way from a netdev to what is below or above it. A netdev
 * stands on
 *
 * - each port that has it as IFLA_MASTER, whatever its kind: bond, team, bridge, VRF;
 * - its IFLA_LINK: VLAN, macvlan, ipvlan, macsec, IPoIB child, a tunnel or VXLAN with a device;
 * - of kind openvswitch, all ports of the datapath: an internal port has neither of the above.
 *   Source: ovs_netdev_link() in net/openvswitch/vport-netdev.c makes the datapath's netdev the
 *   master of each port;
 * - of kind ppp, each netdev that a PPPoE session leaves by: it has no IFLA_LINK, and
 *   /proc/net/pppoe does not name the ppp netdev of a session;
 * - of a veth whose peer is here as well, the master of that peer. The peer itself is the other end
 *   of a wire: two netdevs that are each other's IFLA_LINK do not stand on each other.
 *
 * Netdevs of named network namespaces (node.aways) are part of it; what is stacked in a namespace
 * without a name is not seen. A circle of netdevs is data: nothing stands on itself.
 *
 * A function has its own netdevs, those of its scalable functions and representors, of an RDMA
 * device the netdev that it names (eRDMA: the netdev is another function's), and what stands on
 * them.
 */
#pragma once

#include "node.h"

/* Numbers: those of node.netdevs, then node.aways; those of node.pcis for functions. */
struct graph_pair {
	uint32_t of, is;
};

struct graph_pairs {
	struct graph_pair *items; /* owned; sorted, each once */
	size_t n;
	bool is_short; /* there was no memory for a pair */
};

struct graph {
	const struct node *n;
	struct graph_pairs below, above, functions; /* over any number of steps */
};

int graph_make(const struct node *n, struct graph *ret); /* 0 or -ENOMEM; graph_done() */
void graph_done(struct graph *g);

/*
 * The next netdev below or above @nd, or the next one that is of the function @pci or stands on
 * one of it; NULL after the last. @i is 0 before the first.
 */
const struct netdev *graph_below(const struct graph *g, const struct netdev *nd, size_t *i);
const struct netdev *graph_above(const struct graph *g, const struct netdev *nd, size_t *i);
const struct netdev *graph_of(const struct graph *g, const char *pci, size_t *i);

bool graph_is_above(const struct graph *g, const struct netdev *upper, const struct netdev *lower);
const char *graph_function(const struct netdev *nd); /* its PCI address; "": it has none */
