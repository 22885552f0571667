/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program: the door to other programs, for the one question that no file answers: which version a
 * kubelet is. No shell, no environment, no input, and never longer than its deadline.
 */
#pragma once

#include "../base/util.h"

/**
 * program_output() - run a program with one argument and keep what it prints
 * @path:     absolute
 * @argument: "--version"
 * @ret:      the first bytes of its standard output, NUL appended
 *
 * The program, and what it starts, is killed at the deadline.
 *
 * Return: 0 when it ended with 0; -ETIMEDOUT, -EIO when it failed, or why it could not be run.
 */
int program_output(const char *path, const char *argument, uint64_t timeout_usec, char *ret,
		   size_t size);
