/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pci: every PCI function that is not a bridge, from sysfs.
 *
 * Never reads sriov_numvfs: that waits for a write in flight (sriov_numvfs_show() in
 * drivers/pci/iov.c takes the device lock since 5.5). VFs are counted by their virtfn* links.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills node.pcis but module and has_other_driver. A machine without PCI has none.
 * memory.stuck and memory.devices are known before. Return: 0 or -errno.
 *
 * The driver container of NVIDIA's network operator reloads mlx5_core, makes the VFs that were
 * there before and binds them. It has its files in /run/mellanox/drivers, and .driver-ready there
 * when it is done: https://github.com/Mellanox/doca-driver-build.
 *
 * HGX machines with NVLink 5 have NICs that only the fabric manager may use, to manage the
 * NVSwitches. They are InfiniBand functions of vendor 15b3 with "SMDL=SW_MNG" in their VPD, in
 * whose first 1024 bytes it is looked for. Each 4 bytes are a question to the card, 125 ms at most
 * if it does not answer, which ends it (pci_vpd_wait() in drivers/pci/vpd.c). So one that was
 * managed in this boot is not asked again.
 */
int observe_pci(const struct fs *fs, struct node *n, const struct memory *memory);
bool observe_is_management(const struct fs *fs, const char *address); /* of one, at each call */

/*
 * Fills has_adev and is_adev_bound of the ports of bonds and teams, which may be a LAG. The
 * auxiliary device is there as long as the driver wants a module to make an RDMA device, and has no
 * driver before that is loaded and where it failed: Documentation/driver-api/auxiliary_bus.rst;
 * mlx5_adev_devices[] in .../mlx5/core/dev.c, bnxt_rdma_aux_device_add() in .../bnxt/bnxt_ulp.c.
 * Other drivers, and kernels before 5.11, have none.
 */
void observe_adevs(const struct fs *fs, struct node *n);

/*
 * The PCI function in a sysfs device path: its last component that is one. False when there is
 * none, and below a scalable function ("0000:41:00.0/mlx5_core.sf.2"), which is a function of its
 * own: Documentation/networking/devlink/devlink-port.rst.
 */
bool parse_pci_of_path(const char *path, char *ret, size_t size);

/*
 * Fills pci or scalable_of of a netdev whose name is known; both are left empty for a virtual one.
 * Its ifindex tells whether it was renamed since it was listed: then it gets its present name, and
 * in a copy both are left empty where another has the name by now.
 * Return: 0 or -errno.
 */
int observe_netdev_pci(const struct fs *fs, struct netdev *nd);
/*
 * Fills is_unnamed of a netdev with a function. udev writes the file of a network device once it
 * has renamed it, and from systemd 250 on also before that, with ID_RENAMING=1 in it until it has
 * seen the new name: rename_netdev() in src/udev/udev-event.c. Where udev has no files, nothing is
 * to be named.
 */
void observe_netdev_name(const struct fs *fs, struct netdev *nd);
