/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In use: who uses a function, as far as links, names and counts of the node alone show it.
 *
 * Pure. Every look at the node has these facts, also one that does not read /proc/PID. A plan
 * decides by them, and guard/users-observe.c adds them to node.users, so that documents have all
 * users in one list. A fact that cannot be known counts as a use.
 */
#pragma once

#include "graph.h"
#include "use-facts.h"

#define IN_USE_MAX     8 /* of one function; more would only be more names */
#define IN_USE_WHY_LEN 160

/*
 * The users of @f, with pid 0 and the names in their details:
 *
 * - USE_VFIO, USE_VDPA, USE_DRIVER: it is of another program, see in_use_is_foreign(); then these
 *   alone.
 * - USE_CONTEXT: an ibdev of it has contexts, USE_UNKNOWN: they cannot be counted.
 * - USE_MANAGER: a PF, of which a subnet manager has a port open; without the RDMA device the
 *   fabric loses it.
 * - USE_NETDEV_NETNS: a netdev of it is in a named namespace, or it is bound and its netdev is not
 *   here. USE_IBDEV_NETNS: its ibdev is not here, and its folder tells that it is elsewhere, or,
 *   where no folder was asked (is_searched), it was usable in this boot. An ibdev can only leave in
 *   exclusive netns mode, and a virtual one (rxe, siw) cannot: ib_device_set_netns_put() in
 *   drivers/infiniband/core/device.c.
 * - USE_MASTER: a netdev of it is a port of a bridge, bond, team or OVS, not of a VRF alone.
 * - USE_ADDRESS: the host uses it, as in_use_degree() says; of a PF that is only addressed it is
 *   left out.
 * - USE_UPPER: a netdev stands on it that is in a named namespace, is a port, a tap that is up, or
 *   has an address or route of the host. Or its ibdev has a GID of a netdev elsewhere: a macvlan,
 *   ipvlan or VLAN in another namespace, since net/core/dev.c tells the RDMA core of all uppers
 *   (drivers/infiniband/core/roce_gid_mgmt.c). The name that a GID has is one of that namespace. It
 *   counts only where it means its netdev or what stands on that; and with the name of its netdev
 *   the address has to be one of that, unless it is link-local.
 * - USE_UNKNOWN: a namespace has a name, and its links cannot be listed.
 *
 * Return: how many, at most IN_USE_MAX.
 */
size_t in_use_find(const struct graph *g, const struct memory *memory, const struct pci *f,
		   struct user ret[static IN_USE_MAX]);

enum in_use_degree {
	IN_USE_FREE,
	IN_USE_ADDRESSED, /* a PF, of which the host loses nothing but an address */
	IN_USE_USED,
	IN_USE_UNKNOWN, /* as used; of a copy that shows no use */
};

/**
 * in_use_degree() - may a function be taken from the host?
 * @why: of what is not free: "eth1 has 10.0.0.2/24", "10.30.2.2 has a connection of process 812
 *       (mount.nfs) to 10.30.9.9 port 2049", or as in_use_words() without the target;
 *       IN_USE_WHY_LEN is enough for the first kind
 *
 * A PF is only addressed when no user of node.users and in_use_find() uses it, and all that the
 * host has on its netdevs are addresses, routes to their own prefixes, to 169.254/16 or to one that
 * a router advertised for the link, and two kinds of routes to a single address: to the gateway of
 * another route by the netdev, and those that DHCP gave. No socket of the host is connected from
 * one of these addresses, listens on one of them alone, or is bound to the netdev or one that
 * stands on it. If a VRF has ports of several functions, a server bound to it counts for none of
 * them, a connection from an address of the VRF for each. DHCP clients and programs that listen on
 * the same port of every address that is up do not count, nor does a listener on a link-local
 * address whose port has one on every other address. No tunnel that is up begins at one of these
 * addresses, or leads into one of these networks, by its end or by the gateway of a route, where
 * its packets are not known to leave by another netdev. No packet to the server of a mounted file
 * system leaves by such a netdev, since a client may have no socket while it is idle, nor is there
 * a mount from a place that nothing tells. Nothing but a VRF stands on it, not even what is idle: a
 * VLAN or macvlan goes down when the PF leaves, vlan_device_event() in net/8021q/vlan.c. While
 * node.has_socks is false, an address is a use; one on a scalable function of it always is. An
 * address or route that given_look() cannot keep whole is a use, for the host would not get it
 * back. A use that was seen goes before one that could not be told.
 */
enum in_use_degree in_use_degree(const struct graph *g, const struct memory *memory,
				 const struct pci *f, bool is_ra_ours, char *why, size_t size);

/* Does the host reach a file system or disk over RDMA by this function? That counts also while its
 * client is idle and has closed the connection. @why: "eth1 leads over RDMA to 10.0.0.9, nfs4
 * server" */
bool in_use_over_rdma(const struct graph *g, const struct pci *f, char *why, size_t size);

/* "0000:41:00.1: open-context by python3 (pid 812) in cri-0123, mlx5_2" */
void in_use_words(const struct user *u, char *ret, size_t size);

bool in_use_is_vfio(const struct pci *pci); /* bound to vfio-pci or a driver made of it */

/*
 * Is this VF of another program, whether that has it open now or not? Such a program has bound it
 * to a driver that is not made for it, has set its driver_override while it is unbound, or has made
 * a vDPA device of it. @ret: what it has done, "" when the VF is not of another program.
 */
bool in_use_is_foreign(const struct pci *vf, char *ret, size_t size);
