/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users: who uses a function or a module.
 *
 * The users that netdevs, ibdevs and counts show by themselves (model/in-use.h) are included, where
 * no user of that kind is known by name. A look into the resources of the RDMA core adds:
 *
 * - USE_CONTEXT: the processes that have contexts, by kernels newer than 5.10, or PDs. Command and
 *   container are those of /proc/PID/comm and cgroup; where the kernel reports no pid, as of a
 *   process of another PID namespace or of a zombie, the owner is not known.
 * - USE_CM_ID: the processes that have connections, and those that listen on one address; a process
 *   that listens on all addresses does not count. QPs are not listed: the kernel asks the firmware
 *   for each, fill_res_qp_entry_query() in drivers/infiniband/core/nldev.c.
 * - USE_KERNEL: PDs and cm_ids of the kernel, but not those that go with the device: of ib_core
 *   (GSI, SMI), of the driver itself, one PD of ib_srpt while configfs has no SRP target, and one
 *   of ib_ipoib for each netdev of the function that is in this namespace.
 * - USE_MODULE: holders and references of loaded modules that drive a function here, and of erdma.
 *   Nothing is subtracted, for nothing shows whose a reference is.
 * - USE_UNKNOWN: PDs or cm_ids of an ibdev that cannot be listed; a loaded module whose references
 *   cannot be read.
 *
 * Contexts of this process do not count. Processes that have a vfio group open are not looked for:
 * a function that is bound to vfio is in use.
 */
#pragma once

#include "../model/use-facts.h"
#include "../os/os.h"
#include "../os/rdma.h"

/* Parts of observe_users() that take no netlink. */
void users_add_modules(const struct fs *fs, struct node *n);

/* Adds the holders of one kind of resource of one ibdev, as netlink listed them, to the users. */
void users_add_holders(const struct fs *fs, const struct ibdev *ib, enum rdma_resource what,
		       const struct rdma_holder *holders, size_t n_holders, struct node *n);
/* Adds the users that in_use_find() finds, after all others; sets has_users. */
void users_add_found(const struct fs *fs, struct node *n, const struct memory *memory);

/*
 * QUESTION_USERS: fills users and socks of the node, and sets has_users and has_socks.
 * Wants the rest of the node as observe_node() leaves it. Live roots only: a captured one has them
 * in its answers, and is left as it is. Return: 0 or -ENOMEM, as node_result().
 */
int observe_users(struct os *d, struct node *n, const struct memory *memory);

/*
 * Fills socks where has_socks is false. A tree without them in its answers has them in proc/net.
 */
void observe_socks(struct os *d, struct node *n);
