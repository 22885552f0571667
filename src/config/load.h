/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: the configuration that a verb works with, also where its files are malformed.
 */
#pragma once

#include "config-read.h"

/*
 * config_load() of the root, or of @file alone: one named on the command line is of the caller's
 * system, whatever --root says.
 */
int load_file(const struct fs *fs, const char *file, struct config *ret,
	      struct config_errors *errors);

/*
 * Loads the configuration of the root, or @file alone. Problems are logged. A malformed file set
 * gives the last good configuration, or an empty one, with is_invalid set. Return: 0 or -errno.
 */
int load_config(const struct fs *fs, const char *file, struct config *ret);

/*
 * Does the same as load_config() for a program that may do more than the service: -EINVAL for a
 * malformed file set, since the last good configuration is a file that the service writes.
 */
int load_valid(const struct fs *fs, const char *file, struct config *ret);

/*
 * Would load_config() give another configuration than @c, which it gave before? Logs nothing. A
 * file that cannot be read for a passing reason, such as memory, counts as unchanged.
 */
bool load_is_changed(const struct fs *fs, const char *file, const struct config *c);
