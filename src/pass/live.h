/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live: the world of a running system, or of a tree below --root, which only answers. Its look is
 * os to struct node: it changes nothing and decides nothing.
 */
#pragma once

#include "../model/action.h"
#include "../model/plan.h"
#include "../model/world.h"
#include "../os/os.h"

/* @d has to outlive the world that is returned. */
struct world live_world(struct os *d);

/* --- parts of its look, for other worlds and tests --- */

/*
 * Fills @memory: records of earlier passes, the state that was reported last; and, from @tried,
 * what is stuck. Needs node.boot_id. Return: 0 or -ENOMEM: drivers must not be asked then.
 */
int observe_memory(const struct fs *fs, const struct attempts *tried, struct node *n,
		   struct memory *memory);

/*
 * Finds a process of ours that still writes a number of VFs and that memory does not have: its
 * service was killed, or could not write state.json. Fills stuck and stuck_pid; a write that is
 * running in @tried does not count. Needs pcis. Live roots only.
 */
void observe_writer(const struct fs *fs, const struct node *n, const struct attempts *tried,
		    struct memory *memory);

/*
 * QUESTION_VERBS: opens each device with libibverbs, once in a pass where that succeeds, and notes
 * the result in ibdev.verbs; a device that left since the look does not count as tried. Return: the
 * number of devices tried.
 */
int observe_verbs(struct os *d, const struct questions *q, struct node *n);
