/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ethtool: why a port that is up has no link, over generic netlink.
 *
 * Reads only, and without any privilege. The kernel asks the driver while it holds RTNL, and only
 * of a netdev that is up and without carrier; most drivers have no answer (mlx5 has, igb has none).
 * Source: linkstate_prepare_data() in net/ethtool/linkstate.c; since Linux 5.9
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * Fills link_state of the netdevs that are up without carrier, have a function and are no VF's: a
 * VF's port is that of its PF. A state that is not told stays empty. Asks nothing when there is no
 * such netdev. Return: 0 or -ENOMEM.
 */
int ethtool_read(struct netlink *nl, const struct node *n, struct netdev *netdevs,
		 size_t n_netdevs);

/* Stores one answer in the struct netdev @userdata. Exported for tests. */
int ethtool_on_link(struct nlmsghdr *h, void *userdata);
