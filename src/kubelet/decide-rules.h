/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decide: what is to be done about each setting of the kubelet that is asked for, by one table.
 *
 * Pure. A stricter value of the operator is never lowered, and what is not understood is left
 * alone.
 */
#pragma once

#include "../model/config.h"
#include "find.h"

/*
 * @n_numa_nodes: above 8 the kubelet refuses to start with a policy. @ret: an item for each setting
 * that is asked for; row 0: is not.
 */
void kubelet_decide(const struct config *c, const struct kubelet_found *k, uint32_t n_numa_nodes,
		    struct kubelet_decision *ret);
