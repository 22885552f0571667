/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept: which keys of a KubeletConfiguration are read at all, and a configuration that has these
 * alone, for a capture.
 *
 * The copy is written from what was read and never made of the file's text: comments, other keys,
 * what is inside of a value that should be a word, and all documents but the first are not in it.
 * Each value is in the line in which it was, and gives the same answer to sources_find().
 */
#pragma once

#include "yaml.h"

/* Only these may be asked for: @sub is "" at the top level. */
bool kept_is_read(const char *key, const char *sub);

/* Release @ret with free(). Return: 0 or -ENOMEM. */
int kept_write(const struct yaml_items *l, char **ret, size_t *ret_size);
