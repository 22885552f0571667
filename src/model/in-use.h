/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In use: who uses a function, as far as links, names and counts of the node alone show it.
 *
 * Pure. Every look at the node has these facts, also one that does not read /proc/PID. plan/
 * decides by them, and observe/ adds them to node.users, so that documents have all users in one
 * list. What cannot be known counts as a use.
 */
#pragma once

#include "node.h"

#define IN_USE_MAX 8 /* of one function; more would only be more names */

/*
 * The users of @f, with pid 0 and the names in their details:
 *
 * - USE_VFIO, USE_VDPA, USE_DRIVER: it is of another program, see in_use_is_foreign(); then these
 * alone.
 * - USE_NETDEV_NETNS: it is bound and its netdev is not here. USE_IBDEV_NETNS: its ibdev was usable
 *   in this boot and is not here. An ibdev can only leave in exclusive netns mode, and a virtual
 *   one (rxe, siw) cannot: ib_device_set_netns_put() in drivers/infiniband/core/device.c.
 * - USE_MASTER: its netdev is enslaved.
 * - USE_CONTEXT: the ibdev has contexts, USE_UNKNOWN: they cannot be counted.
 * - USE_ADDRESS: of a VF, what in_use_by_host() finds.
 * - USE_UPPER: a netdev here is stacked on it, and is up, has an address, a master, or one above
 *   itself that has; or its ibdev has a GID of one elsewhere: a macvlan,
 *   ipvlan or VLAN in another namespace, since net/core/dev.c tells the RDMA core of all uppers
 *   (drivers/infiniband/core/roce_gid_mgmt.c). The name that a GID has is one of that namespace. It
 *   counts only where it means its netdev, the master of that, or what is stacked on one of them;
 *   and with the name of its netdev the address has to be one of that, unless it is link-local.
 *
 * Return: how many, at most IN_USE_MAX.
 */
size_t in_use_find(const struct node *n, const struct memory *memory, const struct pci *f,
		   struct user ret[static IN_USE_MAX]);

/**
 * in_use_by_host() - does the host itself use this netdev for IP?
 * @is_ra_ours: what router advertisements made on it is there because this service asked for it
 * @ret:        "eth1 has 10.0.0.2/24", "eth1 has a route to 10.0.0.0/8"
 *
 * An address of more than its link, or a route of the main table that the kernel did not make of
 * an address. What this service added does not count, nor what a router advertised to a netdev
 * whose IPv6 settings this service has changed: by the ledger.
 */
bool in_use_by_host(const struct node *n, const struct memory *memory, const struct netdev *nd,
		    bool is_ra_ours, char *ret, size_t size);

bool in_use_is_vfio(const struct pci *pci); /* bound to vfio-pci or a driver made of it */

/*
 * Is this VF of another program, whether that has it open now or not? Such a program has bound it
 * to a driver that is not made for it, has set its driver_override while it is unbound, or has made
 * a vDPA device of it. @ret: what it has done, "" when the VF is not of another program.
 */
bool in_use_is_foreign(const struct pci *vf, char *ret, size_t size);

/* The first netdev of a function that is met going down from this one, or NULL. */
const struct netdev *in_use_lowest(const struct node *n, uint32_t ifindex);

struct graph;
enum in_use_degree { IN_USE_FREE, IN_USE_ADDRESSED, IN_USE_USED };
enum in_use_degree in_use_degree(const struct graph *g, const struct memory *memory,
				 const struct pci *f, bool is_ra_ours, char *why, size_t size);
