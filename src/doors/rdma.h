/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rdma: the RDMA subsystem over netlink (NETLINK_RDMA, "nldev").
 *
 * Opening that socket loads ib_core and so fixes the netns mode given in modprobe.d
 * (MODULE_ALIAS_NET_PF_PROTO in drivers/infiniband/core/netlink.c): the caller looks for
 * /sys/class/infiniband first.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * What netlink alone tells of each ibdev: name, index, n_contexts ("ctx" of RES_GET, UINT32_MAX
 * when the kernel does not tell), and the netdev of port 1 when it is in the caller's namespace.
 * Return: 0 or -errno. Sorted by name.
 */
int rdma_list(struct netlink *nl, struct ibdev **ret, size_t *ret_n);

/* NETNS_MODE_SHARED or _EXCLUSIVE. -EOPNOTSUPP, -EINVAL: a kernel that has no such mode. */
int rdma_get_netns_mode(struct netlink *nl, enum netns_mode *ret);

/*
 * -EBUSY: another network namespace exists.
 * Source: rdma_compatdev_set() in drivers/infiniband/core/device.c
 */
int rdma_set_netns_mode(struct netlink *nl, enum netns_mode mode);
