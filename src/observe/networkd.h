/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networkd: does systemd-networkd take away routes and rules that are not its own?
 *
 * Its default, ManageForeignRoutes=yes and since systemd 249 ManageForeignRoutingPolicyRules=yes,
 * when it starts and when it reconfigures a NIC that it manages: networkd.conf(5).
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/* Sets is_networkd_foreign: false too when networkd has not run in this boot. Return: 0 or -ENOMEM.
 */
int observe_networkd(const struct fs *fs, struct node *n);
