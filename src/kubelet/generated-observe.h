/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated: whether the drop-ins that rdma-provision-generator wrote are those that a
 * configuration asks for. The configuration may have changed since systemd ran its generators.
 */
#pragma once

#include "../model/config.h"
#include "../os/fs.h"

/*
 * Not stale: where systemd does not run, in a captured tree, for a file of --config, and where
 * another generator of that name, in /etc, /run or /usr/local, takes the place of ours. Return: 1
 * stale, 0, or -ENOMEM.
 */
int observe_generated(const struct fs *fs, const struct config *c);
