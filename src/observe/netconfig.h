/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netconfig: does a file of a network manager name this port as a port of a bond, or give it a
 * default route?
 *
 * Two small questions per port: for the rule that no VFs are made on what is about to become a RoCE
 * LAG, and for what is to carry the node (node-nic.h). Reads below the root: .network files of
 * networkd, keyfiles of NetworkManager, ifcfg files, and ifupdown's interfaces and interfaces.d;
 * netplan writes the first two. A file names a port by its name, MAC, path or driver, with globs. A
 * .network file in /etc hides one of its name in /run, and networkd reads the first that names a
 * netdev: one with other conditions may be that or not, and the next counts as well. Which of two
 * other files wins, whether it starts at boot, the mode of the bond and its other ports are not
 * looked for: VFs are refused once too often at worst, and as soon as the bond is there the kernel
 * shows it. Drop-ins of .network files are not read. A default route comes by DHCP or a gateway; a
 * port of a bond, bridge or VLAN counts as well, for that may have one. Of ip= on the kernel
 * command line systemd-network-generator and nm-initrd-generator write such files; the kernel is
 * done with it before systemd starts. DHCP of NetworkManager without any file is not seen. A file
 * that cannot be read (keyfiles are root's) or is larger than anything sensible says nothing.
 *
 * A capture has the lines that are used, and nothing else of these files: they may hold passwords.
 *
 * Sources: systemd.network(5), nm-settings-keyfile(5), nm-settings-ifcfg-rh(5), interfaces(5),
 * interfaces-bond(5)
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills bond_file of netdevs whose bound function has SR-IOV, and which have no master; and, in a
 * first boot, way_file of all. Where neither is asked for no file is read. Return: 0 or -ENOMEM.
 */
int observe_netconfig(const struct fs *fs, const struct memory *memory, struct node *n);
