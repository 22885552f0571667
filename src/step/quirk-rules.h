/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quirk: what single drivers do in another way than all the others, as one table. Pure.
 *
 * It only adds: a card without a row here gets its VFs by sysfs alone, whatever its vendor. A row
 * has to change something that the plan does, and has to name its source.
 */
#pragma once

#include "../model/node.h"

enum quirk {
	/* Ports of one card that are bonded in mode 1, 2 or 4 become one RDMA device, a RoCE LAG.
	 * In legacy eswitch mode no LAG forms beside VFs, and making VFs ends one that runs. */
	QUIRK_ROCE_LAG,
	/* While the PF's netdev is down, VFs are refused with a message in the kernel's log and no
	 * error. */
	QUIRK_UP_FIRST,
	/* Making VFs closes the PF's netdev if it is up, and opens it again, so that its link is
	 * lost. It is brought up when the VFs are there, before they get their drivers. */
	QUIRK_UP_AFTER_VFS,
	/* A PF keeps its link while VFs are made or removed. */
	QUIRK_KEEPS_LINK,
	QUIRK_KEEPS_LINK_FROM_0, /* only while VFs are made where there are none */
	/* VFs are made when the driver is loaded, by its parameter num_vfs, and never by sysfs. */
	QUIRK_VFS_BY_PARAMETER,
	_QUIRK_N
};

bool quirk_has(const struct pci *pf, enum quirk q);
