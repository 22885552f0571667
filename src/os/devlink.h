/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devlink: what the drivers of PCI functions tell about their firmware, over generic netlink.
 *
 * Reads only: a question about a health reporter neither recovers nor dumps anything (those are
 * requests of their own). The kernel holds the lock of a devlink instance while it answers, and a
 * driver may hold the same lock while it makes VFs: never asked after a write got stuck.
 * Source: net/devlink/health.c, net/devlink/dev.c
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/*
 * Fills health of all functions, and eswitch of the bound ones that have SR-IOV. Asks nothing when
 * none has. A fact that is not told stays empty: no devlink in the kernel or in the driver, a
 * driver without reporters or eswitch, the eswitch without CAP_NET_ADMIN. Return: 0, or -ENOMEM.
 */
int devlink_read(struct netlink *nl, struct pci *pcis, size_t n_pcis);

/*
 * Subscribes to announcements. A driver whose probe failed takes its devlink instance away again,
 * and no uevent tells of that: really_probe() in drivers/base/dd.c, mlx5_init_one() in
 * drivers/net/ethernet/mellanox/mlx5/core/main.c. A health reporter tells of each error and of its
 * end: devlink_recover_notify().
 * Return: 0, -ENOENT when this kernel has no devlink, or another -errno.
 */
int devlink_watch(struct netlink *nl);
/* For netlink_drain(): counts the messages of one datagram that tell of a change. */
int devlink_count(void *buf, int size, void *userdata);
/* Callbacks that store one answer. @userdata is a struct devlink_functions. */
struct devlink_functions {
	struct pci *pcis; /* sorted by address */
	size_t n_pcis;
	size_t n_reporters; /* answers of this dump; the first one clears what was known */
};
int devlink_on_reporter(struct nlmsghdr *h, void *userdata);
int devlink_on_eswitch(struct nlmsghdr *h, void *userdata);
