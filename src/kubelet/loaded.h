/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded: what systemd itself has of a unit, in place of what its files say: they may have been
 * edited after the last daemon-reload. Words that are the same in both keep their place in a file.
 */
#pragma once

#include "unit.h"

/*
 * Asks the manager helper, which has to be started for it. It is needed where a file of the unit
 * was changed after the last daemon-reload; and where a variable is set nowhere, unit_read() asks
 * again. Leaves the unit as it is when systemd does not answer. Return: 0 or -ENOMEM.
 */
int loaded_read(struct unit *u, const struct fs *fs, bool is_asking);
