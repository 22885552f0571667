/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program ask: runs another program of this package, and takes what it prints.
 */
#pragma once

#include "../base/util.h"

#define PROGRAM_ROOT "/proc/self/fd/3" /* its --root, where it gets one */

/**
 * program_ask() - run a program and take all that it prints
 * @path:  of the program, as program_path() tells it
 * @words: its arguments, NULL last; the first is its name
 * @root:  a descriptor that it gets as PROGRAM_ROOT; negative: none
 * @ret:   its standard output, NUL appended; release with free()
 *
 * How it ended is not told: what it did not print, it does not know.
 *
 * Return: 0 or -errno: it cannot be run, or prints too much.
 */
int program_ask(const char *path, const char *const *words, int root, char **ret, size_t *ret_size);
