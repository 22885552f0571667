/* SPDX-License-Identifier: Apache-2.0 */
#include "mode.h"

/* clang-format off */
static const struct duty duties[_DRIVER_MODE_N][_FAMILY_N] = {
	/*                         options ofed   no smc peermem */
	[DRIVER_MODE_DEFAULT] = {
		[FAMILY_ERDMA] = { true,  false, false, false },
		[FAMILY_OTHER] = { false, false, false, false },
	},
	[DRIVER_MODE_COMPAT] = {
		[FAMILY_ERDMA] = { true,  false, false, false },
		[FAMILY_OTHER] = { false, false, false, false },
	},
	[DRIVER_MODE_OFED] = {
		[FAMILY_ERDMA] = { true,  false, true,  true },
		[FAMILY_OTHER] = { false, true,  false, true },
	},
};
/* clang-format on */

enum family mode_family(const struct pci *pci)
{
	return pci_is_erdma(pci) ? FAMILY_ERDMA : FAMILY_OTHER;
}

const struct duty *mode_duty(enum driver_mode mode, enum family family)
{
	return &duties[mode][family];
}
