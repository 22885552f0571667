/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netconfig: which ports a file of a network manager names as ports of a bond that is to come.
 *
 * Reads below the root: .network files of networkd with their drop-ins, keyfiles of NetworkManager,
 * ifcfg files, and ifupdown's interfaces with what it includes; netplan writes the first two. The
 * mode of that bond, and what else is in it, is not looked for: as soon as it is there the kernel
 * tells both. A condition that is not understood may hold where a bond follows from it. A file that
 * cannot be read (keyfiles are root's) or is larger than anything sensible says nothing.
 *
 * A capture has the keys that are used, written by us, and nothing else of these files: they may
 * hold passwords.
 *
 * Sources: systemd.network(5), nm-settings-keyfile(5), nm-settings-ifcfg-rh(5), interfaces(5),
 * interfaces-bond(5)
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

/*
 * Fills bond_file of netdevs whose bound function has SR-IOV, and which have no master: without any
 * no file is read. Return: 0 or -ENOMEM.
 */
int observe_netconfig(const struct fs *fs, struct node *n);
