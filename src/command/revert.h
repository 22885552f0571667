/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revert: takes back what was set in the kernel in this boot, and the files written for others.
 */
#pragma once

#include "../model/world.h"

struct command;

/*
 * First makes a running service hold still until its next start or reload, or "apply" (HOLD_PATH).
 * Needs no configuration. Each step is logged. @with_vfs: VFs made in this boot as well, unless one
 * is in use. @cmd: the kubelet's files as well, by their own program; NULL: not. The state is
 * written last.
 *
 * Return: an exit code: 0 when all is taken back.
 */
int revert(const struct world *w, const struct command *cmd, bool with_vfs);
