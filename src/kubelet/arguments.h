/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments: the command line itself: the words of ExecStart= with their variables put in, by the
 * rules of systemd.service(5) "Command lines"; or those of a file of flags, or of a process.
 */
#pragma once

#include "unit.h"

/* Fills program, arguments and exec_at of what was read of a unit. 0 or -ENOMEM. */
int arguments_expand(struct unit *u);

/* Adds the arguments that a page of flags, or of a process, has in it. 0 or -ENOMEM. */
int arguments_add_page(struct unit *u, uint16_t page);

/**
 * arguments_find_literal() - find the one text in a file that gives an argument its value
 * @i:        the argument, in a file of variables or flags
 * @value:    byte of the argument at which the value begins
 * @ret_from: where the value stands in the file, to *ret_to
 *
 * A place counts only when a plain word put there gives that word to this argument, and leaves
 * every other argument as it was; of equal flags from one variable all may change.
 *
 * Return: 1, 0: there is no such place, or -ENOMEM.
 */
int arguments_find_literal(const struct unit *u, size_t i, size_t value, uint32_t *ret_from,
			   uint32_t *ret_to);
