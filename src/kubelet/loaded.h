/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded: what systemd itself has of a unit, in place of what its files say: they may have been
 * edited after the last daemon-reload. What is the same in both keeps its place in the files.
 */
#pragma once

#include "unit.h"

/*
 * Leaves the unit as it is when systemd does not answer. @may_help: where this process does not
 * reach it, the manager helper is asked (os/request.h). Return: 0 or -ENOMEM.
 */
int loaded_read(struct unit *u, bool may_help);
