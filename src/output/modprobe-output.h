/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modprobe: the file of modprobe.d that gives modules the options that are wanted.
 *
 * Pure. The text depends on nothing but the options, so that what was baked into an image and what
 * is written at boot can be compared by bytes.
 */
#pragma once

#include "../model/module-options.h"

/* One line "options MODULE ..." for each module, below a first line that says whose it is.
 * Return: 0, or -ENOMEM; @ret is NULL when nothing is wanted. */
int output_modprobe(const struct module_options *w, char **ret);

/* Is this a text of output_modprobe(), of any version: may it be replaced? */
bool output_is_modprobe(const char *text);
