// SPDX-License-Identifier: GPL-2.0
/* What the build of the kernel says of each of its modules. */
#include <linux/module.h>

MODULE_INFO(intree, "Y");
