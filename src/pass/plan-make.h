/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: what has to change on this node, and in which order.
 *
 * Pure: it compares what was asked for with what was seen, and opens nothing. Each step of the
 * mission is a file of its own; they are called in the order of execution, which is the mission's
 * but for one thing: a PF is raised in MTU, and brought up, before its VFs are made. Some are
 * brought up between that and the binding of the VFs (QUIRK_UP_AFTER_VFS).
 */
#pragma once

#include "../model/plan.h"

/**
 * plan_make() - list the steps from what is to what should be
 * @c:      the configuration
 * @n:      what the kernel and files show now
 * @memory: what this service did and saw in earlier passes
 * @tried:  by this pass, or NULL. A change that is in it and still wanted is listed as failed, and
 *          is not tried again
 * @is_wait_over: ReadyTimeoutSec= is over: a node that is not ready is degraded, not starting
 * @ret:    the steps, none if all is well; release with plan_done(). Points into all four
 *
 * Return: 0, or -ENOMEM. What cannot be done is an item of the list, not an error.
 */
int plan_make(const struct config *c, const struct node *n, const struct memory *memory,
	      const struct attempts *tried, bool is_wait_over, struct plan *ret);

/*
 * Adds hints about health, and the files of [Output], which tell of a plan that asks for nothing
 * more. @p: of plan_make(), for the same node. Return: 0 or -ENOMEM: the caller releases @p.
 */
int plan_finish(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p);
