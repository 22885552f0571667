// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: the parameters of the vendor's eRDMA driver and the ports of its compat mode, around
 * the kernel's driver. See vendor.h, and ../README.md for what this can not show.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/net.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#define STANDIN_VENDOR_C
#include "vendor.h"

#define PORTS 16

bool erdma_is_compat;
module_param_named(compat_mode, erdma_is_compat, bool, 0444);
MODULE_PARM_DESC(compat_mode, "stand-in: compat mode support");

static ushort reserve_ports_base = 0x7790;
module_param(reserve_ports_base, ushort, 0444);
MODULE_PARM_DESC(reserve_ports_base, "stand-in: first of the 16 TCP ports reserved in compat mode");

/* --- ports ---------------------------------------------------------------------------------------
 */

static unsigned int ports_id;

struct ports {
	struct socket *sockets[PORTS];
};

static void __net_exit release_ports(struct net *net)
{
	struct ports *ports = net_generic(net, ports_id);
	int i;

	for (i = 0; i < PORTS; i++) {
		if (ports->sockets[i])
			sock_release(ports->sockets[i]);
		ports->sockets[i] = NULL;
	}
}

static int __net_init reserve_ports(struct net *net)
{
	struct ports *ports = net_generic(net, ports_id);
	struct sockaddr_in address = { .sin_family = AF_INET };
	int i, r;

	for (i = 0; i < PORTS; i++) {
		r = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &ports->sockets[i]);
		if (r < 0) {
			ports->sockets[i] = NULL;
			goto failed;
		}
		address.sin_port = htons(reserve_ports_base + i);
		r = kernel_bind(ports->sockets[i], (struct sockaddr *)&address, sizeof(address));
		if (r < 0)
			goto failed;
	}
	return 0;

failed:
	pr_err("stand-in: TCP port %d cannot be reserved: error %d\n", reserve_ports_base + i, r);
	release_ports(net);
	return r;
}

static struct pernet_operations ports_ops = {
	.init = reserve_ports,
	.exit = release_ports,
	.id = &ports_id,
	.size = sizeof(struct ports),
};

/* --- module --------------------------------------------------------------------------------------
 */

#ifdef ERDMA_SYMBOL
void erdma_nobody_has_this(void);
#endif

static int __init standin_init(void)
{
	int r;

#ifdef ERDMA_SYMBOL
	erdma_nobody_has_this();
#endif
	pr_info("stand-in: loading, compat_mode=%c reserve_ports_base=%d\n",
		erdma_is_compat ? 'Y' : 'N', reserve_ports_base);
	if (erdma_is_compat) {
		r = register_pernet_subsys(&ports_ops);
		if (r < 0)
			return r;
	}

	r = erdma_driver_init();
	if (r < 0 && erdma_is_compat)
		unregister_pernet_subsys(&ports_ops);
	return r;
}
module_init(standin_init);

static void __exit standin_exit(void)
{
	erdma_driver_exit();
	if (erdma_is_compat)
		unregister_pernet_subsys(&ports_ops);
	pr_info("stand-in: unloaded\n");
}
module_exit(standin_exit);

MODULE_VERSION("0.2.37-standin");
MODULE_SOFTDEP("pre: ib_uverbs");
