/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rdma: ibdevs with their ports, GIDs and character devices.
 *
 * Facts come from sysfs; index, users and netdev from netlink, live or recorded. The netlink socket
 * is opened only where the kernel has an RDMA subsystem already: opening it would load ib_core.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

struct questions; /* plan.h */

/*
 * Fills node.ibdevs, .netns_mode and .has_rdma_cm; wants node.netdevs and memory.devices.
 *
 * An ibdev's netdev is what rdma_find_netdev() says. A virtual ibdev (rxe) takes the
 * PCI function of its netdev. The kernel's erdma gives its ibdevs no parent either (6.12:
 * erdma_device_register() sets none, the vendor's driver does), and which MAC belongs to a function
 * stands in its registers alone. But a function is bound and its ibdev registered by one probe: the
 * first that was registered is that of the first that was bound. Two probes at one time may be
 * mixed up, and in a captured tree, which has addresses alone, functions that were not bound in
 * their order; netdev and GIDs are right even then.
 */
int observe_rdma(struct os *d, struct node *n, const struct memory *memory);

/*
 * QUESTION_LINK_DOWNED: counters/link_downed of the InfiniBand ports of PFs without a netdev, also
 * in a captured tree. Most drivers ask their firmware. Return: how many were read.
 */
int observe_link_downed(const struct fs *fs, const struct questions *q, struct node *n);

/*
 * Fills netdev of an ibdev with the first that is known: what netlink says, which is there already,
 * the netdev of its GIDs, the netdev of its own PCI function, and for eRDMA the one whose permanent
 * MAC makes its node GUID (drivers/infiniband/hw/erdma/erdma_main.c: addrconf_addr_eui48).
 *
 * Netlink tells only of a netdev in this network namespace: fill_port_info() in
 * drivers/infiniband/core/nldev.c. sysfs does not look: while the netdev of a VF is in a pod,
 * print_ndev() in core/sysfs.c has the name that it has there, and "eth0" is another
 * netdev here. So GIDs name the netdev only where the function has one here, and of functions that
 * never have one, virtual ones and eRDMA, unless the GUID is of another MAC than that of the netdev
 * here. A copy may lack that MAC, and then the name is not in doubt.
 */
void rdma_find_netdev(const struct node *n, struct ibdev *ib);

/*
 * Fills verbs and active_mtu of one that was opened before in this boot: an index is not given
 * twice before its numbers wrap around.
 */
void rdma_recall(const struct node *n, const struct memory *memory, struct ibdev *ib);
