/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard: the descriptors 0, 1 and 2, and what is printed to standard output.
 */
#pragma once

#include "util.h"

/*
 * Opens /dev/null as those of the three that are closed: the first call of each main(), so that no
 * file that is opened later becomes one of them. In the wrong direction: reading from the first of
 * them and writing to the others is an error (EBADF), as it is for a closed one.
 * Return: 0 or -errno.
 */
int standard_open(void);

/*
 * Prints @text and all that was printed before. Return: 0, or -errno where some of it could not be
 * written, which is logged.
 */
int standard_print(const char *text);
