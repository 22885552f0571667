/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observe: os to struct node. Looks, changes nothing, decides nothing.
 */
#pragma once

#include "../model/attempts.h"
#include "../model/question.h"
#include "../os/os.h"

/*
 * Everything the plan needs, in one look: the node, and the memory with what this pass @tried.
 * Return: 0 or -errno; release with node_done() and memory_done().
 */
int observe_node(struct os *d, struct attempts *tried, struct node *ret, struct memory *ret_memory);

/*
 * Fills @memory: records of earlier passes, the state that was reported last, whether "revert"
 * holds the service; and, from memory.tried, what is stuck. Needs node.boot_id. Part of
 * observe_node(). Return: 0 or -errno.
 */
int observe_memory(const struct fs *fs, struct node *n, struct memory *memory);

/*
 * Finds a process of ours that still writes a number of VFs and that memory does not have: its
 * service was killed, or could not write state.json. Fills stuck and stuck_pid; a write that is
 * running in memory.tried does not count. Needs pcis. Part of observe_node(). Live roots only.
 */
void observe_writer(const struct fs *fs, const struct node *n, struct memory *memory);

/*
 * Reads the answers of netlink and others that a tree, captured or written by hand, has beside its
 * files (snapshot.h). Return: 0, also without any, or -errno.
 */
int observe_snapshot(const struct fs *fs, struct node *n);

/*
 * Asks devlink for the health and the eswitch of functions. This look is separate, because it must
 * not be made while a write to a PCI function is stuck: it needs memory.stuck. Live roots only; a
 * captured tree has the answers. Return: 0 or -ENOMEM.
 */
int observe_health(struct os *d, struct node *n, struct memory *memory);

/*
 * QUESTION_VERBS: opens each device with libibverbs, once in a pass where that succeeds, and notes
 * the result in ibdev.verbs; a device that left since the look does not count as tried. Return: the
 * number of devices tried, or -ENOMEM.
 */
int observe_verbs(struct os *d, const struct questions *q, struct node *n);

/*
 * QUESTION_USERS: fills users and socks of the node, and sets has_users and has_socks; see users.h.
 * Wants the rest of the node as observe_node() leaves it. Live roots only: a captured one has them
 * in its answers, and is left as it is. Return: 0 or -errno, nothing is known then.
 */
int observe_users(struct os *d, struct node *n, const struct memory *memory);

/*
 * Fills socks where has_socks is false. A tree without them in its answers has them in proc/net.
 * Return: 0, also when they cannot be listed, or -ENOMEM.
 */
int observe_socks(struct os *d, struct node *n);
