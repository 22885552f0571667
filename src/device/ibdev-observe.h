/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ibdev: what sysfs alone tells of one RDMA device: its function, type, ports and GIDs.
 *
 * Asks no netlink, so it is what a container sees of its own devices too. Which netdev is a
 * device's own is not its business (rdma-observe.c).
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

#define IBDEV_FOLDER "sys/class/infiniband"

/* Fills pci alone, of which no driver is asked. Return: 0 or -errno. */
int observe_ibdev_function(const struct fs *fs, struct ibdev *ib);

/*
 * Fills pci, node_guid, node_type and ports of a device whose name is known. GIDs that are zero are
 * left out: their attributes cannot be read. With @is_short also those behind a long row of empty
 * slots, which few tables have: who misses one there has to ask for all. Return: 0 or -errno.
 */
int observe_ibdev(const struct fs *fs, bool is_short, struct ibdev *ib);

/* Reads the GIDs of all ports again, to the last slot. Return: 0 or -errno. */
int observe_all_gids(const struct fs *fs, struct ibdev *ib);

/* Is it known which character devices /dev has? Not of a copy of /sys alone. */
bool ibdev_has_dev(const struct fs *fs, const struct node *n);

/*
 * Gives each ibdev of the node the names of its character devices, "uverbs0" and "umad0", that have
 * a node in /dev. Return: 0 or -errno.
 */
int observe_nodes(const struct fs *fs, struct node *n);

/* Text that may be absent, unreadable now, or longer than anything sensible: it is empty then. */
void observe_text(const struct fs *fs, const char *path, char *ret, size_t size);
