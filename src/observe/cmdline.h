/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cmdline: the words of the kernel's command line that are about modules.
 */
#pragma once

#include "../os/os.h"

/*
 * Calls @on_word for each of them, in order: module_blacklist=, modprobe.blacklist=,
 * modules_load= and the like, and MODULE.PARAMETER=VALUE of the modules that matter here. Quotes
 * are taken off; after "--" come init's own. Nothing else is looked at, and only these words are
 * recorded: a command line may hold passwords, and a capture is given away.
 * Return: 0, also without /proc/cmdline, or the first negative value of @on_word.
 * Source: Documentation/admin-guide/kernel-parameters.rst, parse_args() in kernel/params.c
 */
int cmdline_read(const struct fs *fs, int (*on_word)(void *userdata, const char *word),
		 void *userdata);
