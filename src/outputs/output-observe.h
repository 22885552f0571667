/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output] as they are, and the record of those that were written.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills node.outputs for the paths that are asked for, and node.output_records. A look of its own,
 * since the paths are of the configuration. A link in the place of a file is not ours. What cannot
 * be read counts as a file of another program.
 * Return: 0 or -ENOMEM.
 */
int observe_files(const struct fs *fs, const struct config *c, struct node *n);
