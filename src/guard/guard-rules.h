/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard: what may be changed of a managed function, by who uses it. One table, asked by each step
 * that plans a change or hands something out. Pure.
 */
#pragma once

#include "../model/plan.h"

enum guard_change {
	GUARD_NUM_VFS, /* of a PF */
	GUARD_MTU,
	GUARD_DCB,
	GUARD_ROCE,   /* rdma_cm's defaults, of connections that are made later */
	GUARD_ROUTES, /* metrics, rules, tables, sysctls */
	GUARD_MOVE,   /* handed out by a plugin that moves its netdev into a pod */
	_GUARD_CHANGE_N
};

/* Sets d->use, d->used_by, d->is_use_unknown and d->is_port; d->need and d->is_in_pod are known.
 * May ask for sockets. */
void guard_look(const struct config *c, const struct memory *memory, struct plan *p,
		struct device *d);

bool guard_may(const struct device *d, enum guard_change what);

/* Why the table forbids a change: @k, the node needs the function, or a tree does not tell; NULL,
 * the host uses it. */
enum reason guard_reason(const struct need *k);

/* May it not now, but at the next boot, before anything uses it? */
bool guard_may_at_boot(const struct device *d, enum guard_change what);
