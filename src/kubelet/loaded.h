/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded: what systemd itself has of a unit, in place of what its files say: they may have been
 * edited after the last daemon-reload. What is the same in both keeps its place in the files.
 */
#pragma once

#include "unit.h"

/*
 * Asks the manager helper, which has to be started for it: where @is_asked, or a file of the unit
 * was changed after the last daemon-reload; unit_read() asks again where a variable is set nowhere.
 * Leaves the unit as it is when systemd does not answer. Return: 0 or -ENOMEM.
 */
int loaded_read(struct unit *u, const struct fs *fs, bool is_asked);
