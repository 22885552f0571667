/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doors: every open handle on the world, opened by run.c and passed down.
 *
 * Is a bag, not a layer: it has no functions but open and close. Handles that may not be needed are
 * opened by the door itself at first use (see each header).
 */
#pragma once

#include "fs.h"
#include "module.h"
#include "netlink.h"

struct pci;

struct doors {
	struct fs fs;
	struct netlink route; /* NETLINK_ROUTE; not opened below --root */
	struct netlink rdma;  /* NETLINK_RDMA; opened at first use, for opening it loads ib_core */
	struct netlink devlink; /* NETLINK_GENERIC; opened at first use */
	/* A service's: what a driver may hold for minutes is asked in a child, with a deadline. */
	bool is_service;
	bool is_devlink_held; /* it did not answer in time: not asked again */
	struct pci *told;     /* owned; functions with what devlink told of them last */
	size_t n_told;
	struct netlink ethtool; /* NETLINK_GENERIC; opened at first use */
	struct netlink smc;     /* NETLINK_GENERIC; opened at first use */
	struct modules modules;
};
