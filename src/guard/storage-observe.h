/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage: where the file systems come from that the node, its kubelet and its container runtime
 * live on, and what the kernel's command line says of that.
 *
 * The mounts of these folders, as /proc/PID/mountinfo has them (proc(5)), with the layers of an
 * overlay and the files of loop devices: of a network file system the peers in its options or its
 * source; of a block device, through partitions, dm and md (slaves in sysfs), the address of
 *
 *   iSCSI    each connection of its session, and the netdev that its host is bound to:
 *            drivers/scsi/scsi_transport_iscsi.c
 *   NVMe     traddr= and host_iface= of each controller with transport tcp or rdma:
 *            nvmf_get_address() in drivers/nvme/host/fabrics.c
 *   nbd      the first address in the command line of its client, if that still runs
 *   RBD      the address of this host that its client has
 *   others   the function that the disk is below: SRP, FCoE, and offloads of iSCSI
 *
 * Where sysfs does not tell what a disk is made of, and for ZFS, all sessions and controllers
 * count.
 *
 * On the command line ip= of kernel and dracut (Documentation/admin-guide/nfs/nfsroot.rst,
 * dracut.cmdline(7)), bootdev=, BOOTIF= of pxelinux, nfsroot=, netroot=, root=, nbdroot= and
 * iscsi_target_ip=.
 *
 * Not seen: what is behind DRBD, AoE, or FCoE on a VLAN; the other devices of a btrfs; data servers
 * of pNFS; servers of Lustre behind the first colon.
 */
#pragma once

#include "places-observe.h"

int storage_add(struct places *p); /* Appends to node.destinations. Return: 0 or -ENOMEM. */
