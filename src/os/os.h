/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Os: every open handle on the world, opened by each verb and passed down.
 *
 * Is a bag, not a layer: it has few functions but open and close. Handles that may not be needed
 * are opened by their own file at first use (see each header).
 */
#pragma once

#include "fs.h"
#include "module.h"
#include "netlink.h"

struct link_log;
struct pci;

/* An RDMA device that libibverbs opened in this pass. */
struct opened {
	uint32_t index, active_mtu; /* of the device */
	uint32_t mtu;               /* of its netdev, on which the other one depends */
};

struct os {
	struct fs fs;
	struct netlink route; /* NETLINK_ROUTE; not opened below --root */
	struct netlink rdma;  /* NETLINK_RDMA; opened at first use, for opening it loads ib_core */
	struct netlink generic; /* NETLINK_GENERIC, for each family of it; opened at first use */
	/* A service's: what a driver may hold for minutes is asked in a child, with a deadline. */
	bool is_service;
	const struct link_log *link_log; /* of the same, what links told; NULL: nobody listens */
	uint32_t devlink_pid; /* of a process that asked devlink in this pass and hangs */
	struct pci *told;     /* owned; functions with what devlink told of them last */
	size_t n_told;
	struct opened *opened; /* owned */
	size_t n_opened;
	struct netlink socks; /* NETLINK_SOCK_DIAG; opened at first use */
	struct modules modules;
};

int os_open(const char *root, struct os *ret); /* NULL: the running system */
void os_close(struct os *d);
/* Did some list of the kernel change each time that it was read? See struct netlink. */
bool os_is_incomplete(const struct os *d);
#define OS_INCOMPLETE                                                                              \
	"Links, addresses, routes or RDMA devices changed each time that they were listed, for "   \
	"a second"

/*
 * Is there a node to look at? Not in the tree of an image, nor in a chroot, where sysfs, when there
 * is one, shows the machine that builds.
 */
bool os_has_node(const struct fs *fs);
