/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ahead: what follows once the changes of a plan are made, as far as it is known before.
 *
 * A pass looks again after its changes and makes the next plan from what the kernel shows then: VFs
 * get their identity, their driver and their link in later rounds. Here the changes are made to a
 * copy of the facts, as they turn out when all goes well, and plan_make() says what comes next. Of
 * VFs that are not there yet PF and number are known, no PCI address and no name.
 */
#pragma once

#include "../model/plan.h"

/**
 * plan_ahead() - fill p->later
 * @c, @n: what the plan was made from
 * @p:     of plan_finish(); without open changes nothing follows, and with more than 1,024 VFs to
 *         be made it stays empty
 *
 * Return: 0, or -ENOMEM.
 */
int plan_ahead(const struct config *c, const struct node *n, const struct memory *memory,
	       struct plan *p);
