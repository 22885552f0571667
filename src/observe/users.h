/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users: who uses a function or a module.
 *
 * What netdevs, ibdevs and counts tell by themselves (model/in-use.h) is among them, where no user
 * of that kind is known with a name. Beside it, what takes a look into processes and into the
 * resources of the RDMA core:
 *
 * - USE_CONTEXT: the processes that have /dev/infiniband/uverbsN open, by the texts of their
 *   descriptors and, on kernels newer than 5.10, by netlink. The texts only give names to what
 *   netlink counts (ibdev.n_contexts): a node of another name, or a descriptor in flight, is missed
 *   here but not there.
 * - USE_QP, USE_CM_ID: of processes; QPs only where nobody has a context. USE_KERNEL: QPs and
 * cm_ids of the kernel, but not those that go with the device: of ib_core (GSI, SMI), of the driver
 * itself, and one QP of ib_ipoib for each netdev of the function that is in this namespace.
 * - USE_VFIO, USE_KVM: the processes that have the function's vfio group or device open; KVM when
 *   the same one has /dev/kvm.
 * - USE_MODULE: holders and references of loaded modules that drive a function here, and of erdma.
 *   Nothing is subtracted, for nothing tells whose reference it is.
 * - USE_UNKNOWN: QPs or cm_ids of an ibdev that cannot be listed; a loaded module whose references
 *   cannot be read; and, only for an ibdev whose contexts netlink does not count, a process whose
 *   descriptors may not be seen. Where netlink counts them, such a process hides nothing. The same
 *   process hides who has a vfio group open, for which nobody has a count.
 *
 * This process and those that it started are no users.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"
#include "../os/rdma.h"
#include "process.h"

/*
 * The part of observe_users() that takes no netlink: descriptors and modules. @fs may be of any
 * tree. Return: 0 or -errno.
 */
int users_look(const struct fs *fs, struct processes *p, struct node *n);

/*
 * What has to read /proc/PID, for the helper that has the capability: users but those
 * of modules and of in_use_find(), of a node that has its functions and devices. The process @asker
 * and its children do not count as users; 0: this process. Return: 0 or -errno.
 */
int users_find(struct os *d, uint32_t asker, struct node *n);

/*
 * Is this kind asked for? Who has a QP has a context, which costs nothing to count, while the
 * kernel asks the firmware for each QP that it lists: fill_res_qp_entry_query() in
 * drivers/infiniband/core/nldev.c. Without a context they are the kernel's, and few.
 */
bool users_need(const struct ibdev *ib, enum rdma_resource what);

/* What netlink said of one kind of resource of one ibdev, as users. Return: 0 or -ENOMEM. */
int users_add_holders(const struct fs *fs, const struct processes *p, const struct ibdev *ib,
		      enum rdma_resource what, const struct rdma_holder *holders, size_t n_holders,
		      struct node *n);
/* Adds what in_use_find() tells of each function, after all others; sets has_users. Return: 0 or
 * -ENOMEM. */
int users_add_found(const struct fs *fs, struct node *n, const struct memory *memory);
void users_sort(struct node *n);

/*
 * The user of that kind, made when it is not there yet: one process uses a function in one way
 * once. @p may be NULL when @pid is 0. NULL: no memory.
 */
struct user *users_add(const struct fs *fs, const struct processes *p, const char *target,
		       enum use use, uint32_t pid, const char *detail, struct node *n);
