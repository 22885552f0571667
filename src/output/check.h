/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check: what "check --json" prints.
 */
#pragma once

#include "../base/util.h"

/**
 * output_check() - the verdict on a configuration
 * @ret: {"valid":true,"problems":[]}, or the problems as sentences: file, line, key, value, what is
 * accepted
 *
 * Return: 0 or -ENOMEM.
 */
int output_check(const char *const *problems, size_t n_problems, char **ret);
