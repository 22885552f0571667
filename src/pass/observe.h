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
int observe_node(struct os *d, const struct attempts *tried, struct node *ret,
		 struct memory *ret_memory);

/*
 * Fills @memory: records of earlier passes, the state that was reported last; and, from @tried,
 * what is stuck. Needs node.boot_id. Part of observe_node(). Return: 0 or -errno.
 */
int observe_memory(const struct fs *fs, const struct attempts *tried, struct node *n,
		   struct memory *memory);

/*
 * Finds a process of ours that still writes a number of VFs and that memory does not have: its
 * service was killed, or could not write state.json. Fills stuck and stuck_pid; a write that is
 * running in @tried does not count. Needs pcis. Part of observe_node(). Live roots only.
 */
void observe_writer(const struct fs *fs, const struct node *n, const struct attempts *tried,
		    struct memory *memory);

/*
 * QUESTION_VERBS: opens each device with libibverbs, once in a pass where that succeeds, and notes
 * the result in ibdev.verbs; a device that left since the look does not count as tried. Return: the
 * number of devices tried, or -ENOMEM.
 */
int observe_verbs(struct os *d, const struct questions *q, struct node *n);
