// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: a PCI driver with the name, the parameters and the manners of the eRDMA driver.
 *
 * It drives QEMU's "edu" function, which does nothing. The RDMA device is the rxe of another
 * function's network device, found by its permanent MAC, as an ERDMA function finds its ENI. Making
 * the rxe needs user space: the test node's unit reads "standin_ibdev" and "standin_netdev" of the
 * bound function and runs "rdma link add". That rxe is then taken over here, before anybody hears of
 * it: it goes below the function, an open context of it counts as a user of this module, and it goes
 * when the function loses its driver.
 *
 * Built four times, see Makefile. What this can not show is in ../README.md.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/idr.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#define PORTS 16

static bool compat_mode;
static ushort reserve_ports_base = 0x7790;

#ifndef ERDMA_INTREE
module_param(compat_mode, bool, 0444);
MODULE_PARM_DESC(compat_mode, "stand-in: compat mode support");
module_param(reserve_ports_base, ushort, 0444);
MODULE_PARM_DESC(reserve_ports_base, "stand-in: first of the 16 TCP ports reserved in compat mode");
#endif

/* --- ports --------------------------------------------------------------------------------------- */

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

/* --- functions ----------------------------------------------------------------------------------- */

struct function {
	struct list_head list;
	struct pci_dev *pdev;
	int number; /* N of erdma_N */
	u8 mac[ETH_ALEN];
	struct ib_device *ibdev; /* taken over; NULL: none now */
};

static LIST_HEAD(functions);
static DEFINE_MUTEX(functions_lock);
static DEFINE_IDA(numbers);
static struct module *rxe; /* held from the first ibdev on: its code is below ours */

/*
 * Hardware tells the ENI's MAC in a register. Here it follows from the number of the slot: slot 21
 * belongs to 52:54:00:00:02:21.
 */
static int get_mac(struct pci_dev *pdev, u8 *mac)
{
	struct pci_dev *port = pci_upstream_bridge(pdev);
	u32 capabilities;
	int number;

	if (!port || pcie_capability_read_dword(port, PCI_EXP_SLTCAP, &capabilities))
		return -ENODEV;

	number = capabilities >> 19; /* PCI_EXP_SLTCAP_PSN */
	if (number < 1 || number > 99)
		return -ENODEV;
	u64_to_ether_addr(0x525400000200 | number / 10 << 4 | number % 10, mac);
	return 0;
}

/* In the first network namespace only, as the driver of the kernel does. To be put by the caller. */
static struct net_device *get_netdev(const u8 *mac)
{
	struct net_device *nd, *found = NULL;

	rcu_read_lock();
	for_each_netdev_rcu(&init_net, nd) {
		if (!ether_addr_equal_unaligned(nd->perm_addr, mac))
			continue;
		dev_hold(nd);
		found = nd;
		break;
	}
	rcu_read_unlock();
	return found;
}

static ssize_t standin_ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct function *f = dev_get_drvdata(dev);

	return sysfs_emit(buf, "erdma_%d\n", f->number);
}
static DEVICE_ATTR_RO(standin_ibdev);

static ssize_t standin_netdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct function *f = dev_get_drvdata(dev);
	struct net_device *nd = get_netdev(f->mac);
	ssize_t n;

	if (!nd)
		return -ENODEV;
	n = sysfs_emit(buf, "%s\n", nd->name);
	dev_put(nd);
	return n;
}
static DEVICE_ATTR_RO(standin_netdev);

static struct attribute *function_attrs[] = {
	&dev_attr_standin_ibdev.attr,
	&dev_attr_standin_netdev.attr,
	NULL,
};
ATTRIBUTE_GROUPS(function);

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct net_device *nd;
	struct function *f;
	int r;

	f = devm_kzalloc(&pdev->dev, sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->pdev = pdev;

	r = get_mac(pdev, f->mac);
	if (r < 0)
		return r;
	nd = get_netdev(f->mac);
	if (!nd) {
		pci_info(pdev, "stand-in: waits for the network device %pM\n", f->mac);
		return -EPROBE_DEFER;
	}
	dev_put(nd);

	f->number = ida_alloc(&numbers, GFP_KERNEL);
	if (f->number < 0)
		return f->number;
	pci_set_drvdata(pdev, f);

	mutex_lock(&functions_lock);
	list_add_tail(&f->list, &functions);
	mutex_unlock(&functions_lock);
	pci_info(pdev, "stand-in: erdma_%d of %pM\n", f->number, f->mac);
	return 0;
}

/* The ibdev goes first, as with hardware; that waits for open contexts, which an rxe cannot cut off. */
static void remove(struct pci_dev *pdev)
{
	struct function *f = pci_get_drvdata(pdev);
	struct ib_device *ibdev = NULL;

	mutex_lock(&functions_lock);
	list_del(&f->list);
	if (f->ibdev && ib_device_try_get(f->ibdev))
		ibdev = f->ibdev;
	mutex_unlock(&functions_lock);

	if (ibdev)
		ib_unregister_device_and_put(ibdev);
	ida_free(&numbers, f->number);
}

/* --- RDMA devices -------------------------------------------------------------------------------- */

static bool is_rxe_of(struct ib_device *ibdev, const u8 *mac)
{
	struct net_device *nd = get_netdev(mac);
	struct ib_device *other;

	if (!nd)
		return false;
	other = ib_device_get_by_netdev(nd, RDMA_DRIVER_RXE);
	dev_put(nd);
	if (other)
		ib_device_put(other);
	return other == ibdev;
}

/* uverbs counts open files where the owner is: ib_uverbs_open() in drivers/infiniband/core. */
static int take_over(struct function *f, struct ib_device *ibdev)
{
	int r;

	r = device_move(&ibdev->dev, &f->pdev->dev, DPM_ORDER_NONE);
	if (r < 0)
		return r;

	if (!rxe) {
		rxe = ibdev->ops.owner;
		__module_get(rxe);
	}
	ibdev->ops.owner = THIS_MODULE;
	f->ibdev = ibdev;
	return 0;
}

/* Called before an ibdev is announced, so nobody has opened it. */
static int on_ibdev(struct ib_device *ibdev)
{
	struct function *f;
	int r = -EOPNOTSUPP;

	if (ibdev->ops.driver_id != RDMA_DRIVER_RXE)
		return r;

	mutex_lock(&functions_lock);
	list_for_each_entry(f, &functions, list) {
		if (f->ibdev || !is_rxe_of(ibdev, f->mac))
			continue;
		r = take_over(f, ibdev);
		break;
	}
	mutex_unlock(&functions_lock);
	return r;
}

static void on_ibdev_gone(struct ib_device *ibdev, void *data)
{
	struct function *f;

	mutex_lock(&functions_lock);
	list_for_each_entry(f, &functions, list)
		if (f->ibdev == ibdev)
			f->ibdev = NULL;
	mutex_unlock(&functions_lock);
}

static struct ib_client client = {
	.name = "erdma_standin",
	.add = on_ibdev,
	.remove = on_ibdev_gone,
};

/* --- module -------------------------------------------------------------------------------------- */

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(0x1234, 0x11e8) }, /* QEMU's edu */
	{},
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = "erdma",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	.dev_groups = function_groups,
#else
	.driver.dev_groups = function_groups,
#endif
};

#ifdef ERDMA_SYMBOL
void erdma_nobody_has_this(void);
#endif

static int __init standin_init(void)
{
	int r;

#ifdef ERDMA_SYMBOL
	erdma_nobody_has_this();
#endif
	pr_info("stand-in: loading, compat_mode=%c reserve_ports_base=%d\n", compat_mode ? 'Y' : 'N',
		reserve_ports_base);
	if (compat_mode) {
		r = register_pernet_subsys(&ports_ops);
		if (r < 0)
			return r;
	}

	r = ib_register_client(&client);
	if (r < 0)
		goto ports;
	r = pci_register_driver(&driver);
	if (r < 0)
		goto client;
	return 0;

client:
	ib_unregister_client(&client);
ports:
	if (compat_mode)
		unregister_pernet_subsys(&ports_ops);
	return r;
}
module_init(standin_init);

static void __exit standin_exit(void)
{
	pci_unregister_driver(&driver);
	ib_unregister_client(&client);
	if (compat_mode)
		unregister_pernet_subsys(&ports_ops);
	module_put(rxe);
	pr_info("stand-in: unloaded\n");
}
module_exit(standin_exit);

#ifdef ERDMA_INTREE
MODULE_INFO(intree, "Y");
#else
MODULE_VERSION("0.2.37-standin");
#endif
MODULE_SOFTDEP("pre: ib_uverbs");
MODULE_DESCRIPTION("Stand-in: eRDMA driver on QEMU's edu function");
MODULE_LICENSE("GPL");
