/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: the table of PNETIDs as it is, whosever its entries are.
 */
#pragma once

#include "../doors/doors.h"
#include "../model/node.h"

/*
 * The table of PNETIDs, where the module smc is in the kernel: wants node.modules. Live roots only;
 * a captured one has it in its answers. A table that cannot be read is not known, which is no
 * error. Return: 0 or -ENOMEM.
 */
int observe_smc(struct doors *d, struct node *n);
