/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Match: which section owns a function, and by which of its names. What other rooms ask of it is in
 * step/steps.h. Pure.
 */
#pragma once

#include "../model/plan.h"

/* Does pci: or netdev: name this function without a glob? A glob may match what nobody meant. */
bool match_is_named(const char *match, const struct node *n, const struct memory *memory,
		    const struct pci *pci);
