/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: reporters and eswitch mode of functions, over devlink. What a sick PF means is
 * guard/vf-precheck-rules.h.
 *
 * A request waits for the lock of each instance, which a driver holds as long as it initialises its
 * firmware or makes VFs: mlx5_init_one() and mlx5_device_enable_sriov() in
 * drivers/net/ethernet/mellanox/mlx5/core, devlink_nl_dumpit() in net/devlink/netlink.c. No signal
 * ends that wait. So the service asks in a child process, and uses the last answers of this pass
 * while it cannot ask. A child that does not come back is remembered, and no other is started until
 * it is gone. A command asks by itself, for a fork is dear, unless a driver may be initialising.
 */
#pragma once

#include "../os/os.h"

/*
 * Asks devlink for the health and the eswitch of functions. This look is separate, because it must
 * not be made while a write to a PCI function is stuck: it needs memory.stuck. Live roots only; a
 * captured tree has the answers. Return: 0 or -ENOMEM.
 */
int observe_health(struct os *d, struct node *n, struct memory *memory);
