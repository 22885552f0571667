/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revert: takes back what was set in the kernel in this boot, and the files written for others.
 */
#pragma once

#include "../model/world.h"

/*
 * First makes a running service hold still until its next start or reload, or "apply" (HOLD_PATH).
 * Needs no configuration. Each step is logged. @with_vfs: VFs made in this boot as well, unless one
 * is in use.
 *
 * Return: 0 when all is taken back, -EBUSY when something is left that is in use, or -errno.
 */
int revert(const struct world *w, bool with_vfs);
