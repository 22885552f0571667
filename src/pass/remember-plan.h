/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remember: what the next pass of this boot must know of this one.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_memory() - what pass_memory_fields of model/memory.h has
 * @n:   the node as it was last seen
 * @p:   the plan for it, with what was tried of it and failed
 * @ret: release it with memory_done()
 *
 * A function was usable when it is, or was before in this boot. Names of what is not seen now are
 * kept. "index" is of the ibdev that libibverbs opened.
 *
 * Return: 0 or -ENOMEM.
 */
int output_memory(const struct config *c, const struct node *n, const struct memory *memory,
		  const struct plan *p, struct memory *ret);
