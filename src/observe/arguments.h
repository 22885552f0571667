/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments: the command line itself: the words of ExecStart= with their variables put in, by the
 * rules of systemd.service(5) "Command lines"; or those of a file of flags, or of a process.
 */
#pragma once

#include "unit.h"

/* Fills program and arguments of what was read of a unit. 0 or -ENOMEM. */
int arguments_expand(struct unit *u);

/* Adds the arguments that a page of flags, or of a process, has in it. 0 or -ENOMEM. */
int arguments_add_page(struct unit *u, uint16_t page);
