/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observe: os to struct node. Looks, changes nothing, decides nothing.
 */
#pragma once

#include "../model/attempts.h"
#include "../model/question.h"
#include "../os/os.h"

/*
 * Everything the plan needs, in one look: what there is, and what is remembered, with what this
 * pass @tried. Return: 0 or -errno; release with node_done() and memory_done().
 */
int observe_node(struct os *d, struct attempts *tried, struct node *ret, struct memory *ret_memory);

/*
 * What is remembered, the state that was told last, whether "revert" holds the service; and with
 * memory.tried what is stuck. Needs node.boot_id. Part of observe_node(). Return: 0 or -errno.
 */
int observe_memory(const struct fs *fs, struct node *n, struct memory *memory);

/*
 * A number of VFs that one of our processes still writes, and that memory does not have: its
 * service was killed, or could not write state.json. Fills stuck and stuck_pid; what memory.tried
 * has as running is none. Wants pcis. Part of observe_node(). Live roots only.
 */
void observe_writer(const struct fs *fs, const struct node *n, struct memory *memory);

/*
 * What netlink and others told when a tree was captured: a tree that was captured, or written by
 * hand, has its answers beside its files (snapshot.h). Return: 0, also without any, or -errno.
 */
int observe_snapshot(const struct fs *fs, struct node *n);

/*
 * What devlink tells of the health and the eswitch of functions. A look of its own, because it may
 * only be made when no write to a PCI function is stuck: after memory.stuck is known. Live
 * roots only; a captured one has it in its answers. Return: 0 or -ENOMEM.
 */
int observe_health(struct os *d, struct node *n, struct memory *memory);

/*
 * QUESTION_VERBS: opens each device with libibverbs, once in a pass where that succeeds, and notes
 * the result in ibdev.verbs; a device that left since the look was not tried. Return: how many
 * were, or -ENOMEM.
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
