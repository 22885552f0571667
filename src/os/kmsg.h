/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kmsg: what drivers said of a function, in the kernel's log.
 *
 * A line that a driver writes of a device has its address in it, or in the record's DEVICE=
 * (dev_printk_emit() in drivers/base/core.c; Documentation/ABI/testing/dev-kmsg). Needs CAP_SYSLOG,
 * which the service does not have: only the command line looks.
 */
#pragma once

#include "../model/node.h"
#include "fs.h"

/*
 * The last warnings and errors about @pci with the time since the boot, oldest first, at most @max;
 * of a captured tree from a file dev/kmsg of such records, where there is one. Never waits. Return:
 * how many, or -errno.
 */
int kmsg_read(const struct fs *fs, const char *pci, struct log_line *ret, size_t max);
