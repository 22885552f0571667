/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports: those that eRDMA takes in compat mode. For plan/ only, pure.
 *
 * 16 TCP ports in every network namespace, from reserve_ports_base on: when one is taken the module
 * is not loaded (EADDRINUSE), which is not predicted: no namespace shows the ports of another.
 * Built with MAD it takes UDP 4791 of the first namespace as well. Source: erdma_port_init() and
 * sw_net_init() in erdma_compat.c of the out-of-tree driver.
 */
#pragma once

#include "../model/module-options.h"
#include "../model/plan.h"

/*
 * The first port that the driver takes when it is loaded now: what is wanted, else of modprobe.d,
 * else its own. With @in_force: the one that a loaded driver says it has.
 */
uint32_t ports_base(const struct node *n, const struct module_options *w, bool in_force);

/* The range lies in that of NodePorts: a hint, while ReservePortsBase= is not set. 0 or -ENOMEM. */
int ports_hint_nodeport(const struct config *c, struct plan *p, uint32_t base);

/* Before it is loaded in compat mode, and only for what looks like a build with MAD. A hint. */
int ports_hint_roce(const struct node *n, struct plan *p);
