/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nccl: what the choice of NCCL's ports (output/nccl-output.h) needs, from the caller's sysfs,
 * devices and addresses alone.
 *
 * Needs no privilege and no library, so it works in a container as well, where only the
 * devices and netdevs of that container count.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills ibdevs; netdevs (those that GIDs name, and eth0: name, ifindex, pci and has_carrier only),
 * on the running system their addresses; pcis of the ibdevs (vendor, device, driver and physfn
 * only). NICs that manage NVSwitches are without ports. A node without RDMA has none. Return: 0 or
 * -errno.
 */
int observe_nccl(const struct fs *fs, struct node *n);
