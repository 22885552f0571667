/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs: is some program still at work on the addresses of a netdev?
 *
 *   packet socket    Iface of /proc/net/packet, packet_seq_show() in net/packet/af_packet.c. Every
 *                    DHCP client has one, and LLDP agents that take all protocols; one of LLDP's
 *                    own number, as networkd has for each link, does not count. Which process it is
 *                    nobody asks: its inode would have to be looked for in all of /proc.
 *   networkd         ADMIN_STATE= in /run/systemd/netif/links/IFINDEX is pending, initialized or
 *                    configuring: link_save() in src/network/networkd-state-file.c. It stays
 *                    "configuring" while a netdev without carrier waits for one.
 *   NetworkManager   managed=true in /run/NetworkManager/devices/IFINDEX, and the netdev has
 *                    carrier, but neither master nor address other than link-local IPv6:
 *                    nm_config_device_state_write() in src/core/nm-config.c. What NetworkManager
 *                    leaves alone by configuration has a file without that key. Before it has
 *                    written the file there is no sign.
 *   ifup@            its control group is there (Debian's ifup@.service is a oneshot in
 *                    system.slice), and /run/network/ifstate has no line for the netdev, which ifup
 *                    writes when it is done: ifupdown's state.c. "ifup -a" of networking.service
 *                    has no group for each netdev: of that only DHCP clients are seen.
 *
 * On a running system the files of the two managers count only while the unit has a control group:
 * they stay behind.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills netdev.sign of all netdevs. Wants netdevs and addresses. A recorder gets the lines that are
 * read. Return: 0 or -ENOMEM.
 */
int observe_signs(const struct fs *fs, struct node *n);
