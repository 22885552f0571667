/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redact: copies of units, files of variables and command lines for a recorder, that give the same
 * answer with nothing else in them.
 *
 * The copies keep the lines at which things stand, the program, the names of variables and of files
 * of variables, and the flags that flags.h knows with their values, but of the node's labels only
 * those that are looked at. Tokens, proxies with passwords and the like are not copied at all,
 * rather than looked for.
 */
#pragma once

#include "unit.h"

/* Tells the recorder of @fs, if there is one, a copy of every page of the unit. 0 or -ENOMEM. */
int redact_unit(const struct fs *fs, const struct unit *u);
