/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netconfig: which netdevs the configuration of network managers will put into bonds.
 *
 * Reads below the root: networkd's .network and .netdev files with their drop-ins, keyfiles of
 * NetworkManager, ifcfg files, and ifupdown's interfaces with what it includes; netplan writes the
 * first two. Of each only what speaks of bonds and of the netdevs meant is understood, and only
 * those lines go into a capture: the others may hold keys. A file that cannot be read (keyfiles are
 * root's) or is larger than anything sensible says nothing.
 *
 * Sources: systemd.network(5), systemd.netdev(5), nm-settings-keyfile(5), nm-settings-ifcfg-rh(5),
 * interfaces(5), interfaces-bond(5)
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

/*
 * Fills enslaves. Files are looked for only when a bound function has SR-IOV: nobody else asks.
 * Return: 0 or -ENOMEM.
 */
int observe_netconfig(const struct fs *fs, struct node *n);
