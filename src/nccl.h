/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: the verb "nccl-env", which is also the whole of the static binary rdma-nccl-env.
 *
 * Links nothing but libc.
 */
#pragma once

#include "base/util.h"

struct fs;
struct node;

/*
 * Prints the settings on stdout; without any, why, and what to do, on stderr. @recorded: netdevs of
 * a captured tree, taken over; NULL for none. Return: 0, or -errno with the reason told.
 */
int nccl_env(const struct fs *fs, struct node *recorded, bool is_export, bool is_exact);
