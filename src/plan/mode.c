/* SPDX-License-Identifier: Apache-2.0 */
#include "mode.h"

#define ID_ERDMA_VENDOR 0x1ded /* drivers/infiniband/hw/erdma/erdma_main.c */
#define ID_ERDMA_DEVICE 0x107f

/* clang-format off */
static const struct duty duties[_DRIVER_MODE_N][_FAMILY_N] = {
	/*                         options ofed   no smc peermem */
	[DRIVER_MODE_DEFAULT] = {
		[FAMILY_ERDMA] = { true,  false, false, false },
		[FAMILY_OTHER] = { false, false, false, false },
	},
	[DRIVER_MODE_COMPAT] = {
		[FAMILY_ERDMA] = { true,  false, false, true },
		[FAMILY_OTHER] = { false, false, false, false },
	},
	[DRIVER_MODE_OFED] = {
		[FAMILY_ERDMA] = { true,  false, true,  true },
		[FAMILY_OTHER] = { false, true,  false, true },
	},
};
/* clang-format on */

bool is_erdma(const struct pci *pci)
{
	return (pci->vendor == ID_ERDMA_VENDOR && pci->device == ID_ERDMA_DEVICE) ||
	       streq(pci->driver[0] ? pci->driver : pci->module, ERDMA_MODULE);
}

enum family family_of(const struct pci *pci)
{
	return is_erdma(pci) ? FAMILY_ERDMA : FAMILY_OTHER;
}

const struct duty *duty_of(enum driver_mode mode, enum family family)
{
	return &duties[mode][family];
}
