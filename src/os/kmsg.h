/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kmsg: what drivers said of functions, in the kernel's log.
 *
 * A line that a driver writes of a device has its address in it (dev_vprintk_emit() in
 * drivers/base/core.c). Where the kernel shows its log only to CAP_SYSLOG, which the service does
 * not have, the helper rdma-provision-module.service reads it: syslog(2).
 */
#pragma once

#include "../model/plan.h"
#include "fs.h"

#define KMSG_QUESTION "log"

/*
 * Warnings and errors with a PCI address in them, a line each, oldest first: "<4>[   12.345678]
 * mlx5_core 0000:41:00.1: ...". Of a tree from the file dev/kmsg, in this format or that of
 * /dev/kmsg; a capture gets this file. Release @ret with free(). Return: 0, -ENOENT: the tree has
 * no such file; or another -errno.
 */
int kmsg_read(const struct fs *fs, char **ret);

/*
 * QUESTION_LOG: fills node.log_lines, the last LOG_LINES_MAX of each function that @q names or that
 * has no driver. Return: 1 when there are some, else 0: not everybody may read it.
 */
int observe_log(const struct fs *fs, const struct questions *q, struct node *n);
