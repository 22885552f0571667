/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modprobe: what the files of a node, and its kernel command line, say about modules before anyone
 * loads them, to node.options. Libkmod tells the same options, but not which file and line said
 * them, and that is what an administrator has to be told.
 *
 * modprobe.d, as libkmod reads it (kmod_config_new(), kmod_config_parse(), freadline_wrapped() and
 * kmod_module_get_options() of kmod 6 to 34):
 *
 * - NAME.conf and NAME.alias below /etc, /run, /usr/local/lib, /usr/lib, /lib; of the same name
 * only that of the first folder counts; all are sorted by name, whatever folder they are in.
 * - A backslash at the end of a line continues it, in comments as well; before any other character
 * it disappears. "#" begins a comment only as the first character of a line. What follows a NUL is
 * not seen.
 * - "options MODULE TEXT": the text of all lines is put together in this order, that of the kernel
 * command line (MODULE.PARAMETER=VALUE, of the modules that cmdline-observe.h looks for) after that
 * of the files. The kernel takes it word by word, so the last one wins. kcmdline_parse_result(): a
 * word without "=" is not for a module.
 *
 * Words are the kernel's (next_arg() in lib/cmdline.c): '"' around a value, or around the whole
 * word, keeps blanks in it; '-' equals '_' in names.
 *
 * modules-load.d is systemd's: the same rule for names, below /etc, /run, /usr/local/lib, /usr/lib,
 * /lib; one module in a line, "#" and ";" begin comments. Its part of the kernel command line is
 * modules_load= and rd.modules_load=, separated by commas. Source: systemd-modules-load.service(8)
 *
 * Bounds: 1 MiB for a file (a larger one, or one that cannot be read, is a warning in the log),
 * 8192 options. Names that are too long for the kernel are left out; a value that is too long is
 * cut, and then equals nothing that is ever wanted. What is not printable in names, values and
 * files is '?'.
 */
#pragma once

#include "../model/module-options.h"
#include "../os/fs.h"

/**
 * observe_options() - fill node.options
 *
 * In the order in which they count: OPTION_MODPROBE by file and line, OPTION_CMDLINE, then
 * OPTION_LOAD. .line is the first one of a continued line.
 *
 * Return: 0; -ENOMEM; -E2BIG when there are too many, for the last of them is the one that counts.
 */
int observe_options(const struct fs *fs, struct node *n);

/*
 * Calls @on_line for each line of modprobe.d, in the order in which they count, continued ones as
 * one; the line may be changed. Return: 0, -ENOMEM, or the first negative value of @on_line.
 */
int modprobe_read(const struct fs *fs, int (*on_line)(void *userdata, char *line), void *userdata);

/*
 * A whole file of ours in modprobe.d. @ret: NULL when there is none, "" when it cannot be read: it
 * is a link to /dev/null then, or a folder. What was in @ret is released. Return: 0 or -ENOMEM.
 */
int observe_option_file(const struct fs *fs, const char *path, char **ret);
