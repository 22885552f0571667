/* SPDX-License-Identifier: Apache-2.0 */
#include "quirk-rules.h"

static const struct {
	uint16_t vendor;
	enum quirk quirk;
	const char *driver;
} quirks[] = {
	/* mlx5_lag_check_prereq() and mlx5_eswitch_enable() in
	 * drivers/net/ethernet/mellanox/mlx5/core */
	{ 0x15b3, QUIRK_ROCE_LAG, "mlx5_core" },
	/* bnxt_sriov_configure() in drivers/net/ethernet/broadcom/bnxt/bnxt_sriov.c;
	 * https://github.com/systemd/systemd/issues/40739 */
	{ 0x14e4, QUIRK_UP_FIRST, "bnxt_en" },
	/* igb_sriov_reinit() in drivers/net/ethernet/intel/igb/igb_main.c */
	{ 0x8086, QUIRK_UP_AFTER_VFS, "igb" },
	/* mlx5_core_sriov_configure() in .../mlx5/core/sriov.c: the PF's netdev is not closed */
	{ 0x15b3, QUIRK_KEEPS_LINK, "mlx5_core" },
	/* hns3_pci_sriov_configure() in drivers/net/ethernet/hisilicon/hns3/hns3_enet.c */
	{ 0x19e5, QUIRK_KEEPS_LINK, "hns3" },
	/* ionic_sriov_configure() in drivers/net/ethernet/pensando/ionic/ionic_bus_pci.c */
	{ 0x1dd8, QUIRK_KEEPS_LINK, "ionic" },
	/* bnxt_sriov_enable() in .../bnxt/bnxt_sriov.c does not close the PF's netdev;
	 * bnxt_sriov_disable() does where there are VFs, in bnxt_restore_pf_fw_resources() */
	{ 0x14e4, QUIRK_KEEPS_LINK_FROM_0, "bnxt_en" },
	/* mlx4_driver in drivers/net/ethernet/mellanox/mlx4/main.c has no sriov_configure() */
	{ 0x15b3, QUIRK_VFS_BY_PARAMETER, "mlx4_core" },
};

bool quirk_has(const struct pci *pf, enum quirk q)
{
	return ANY(k, quirks, ELEMENTSOF(quirks),
		   k->quirk == q && k->vendor == pf->vendor && streq(k->driver, pf->driver));
}
