/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cmdline: the words of the kernel's command line that are about modules, or about the network that
 * the node was started from.
 */
#pragma once

#include "../os/os.h"

/*
 * Calls @on_word for each of them, in order: module_blacklist=, modprobe.blacklist=,
 * modules_load= and the like, and MODULE.PARAMETER=VALUE of the modules that matter here; ip=,
 * root=, netroot= and the like, of which user and password before "@" are taken off. So are quotes;
 * after "--" come init's own. Nothing else is looked at, and only these words are
 * recorded: a command line may hold passwords, and a capture is given away.
 * Return: 0, also without /proc/cmdline, or the first negative value of @on_word.
 * Source: Documentation/admin-guide/kernel-parameters.rst, parse_args() in kernel/params.c
 */
int cmdline_read(const struct fs *fs, int (*on_word)(void *userdata, const char *word),
		 void *userdata);
