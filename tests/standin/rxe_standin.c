// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: gives a rdma_rxe device the place in the device tree that a hardware HCA has.
 *
 * A newer kernel keeps every rxe in /sys/devices/virtual. Each rxe is moved below the PCI function
 * of its network device while it is registered, before udev hears of it; at the load of this
 * module, those that are there. A kernel that puts it there by itself is left as it is, and so is an
 * rxe on a dummy or veth, which have no function. What this can not show is in README.md.
 *
 * A driver of hardware takes its RDMA device back before it lets go of the function. An rxe goes
 * some time after its network device, which may be later than the function below which it is: then
 * sysfs warns. So the function is held until the rxe is gone.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

static struct net_device *netdev_of(struct ib_device *ibdev)
{
	struct net_device *nd, *found = NULL;
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net) {
		for_each_netdev_rcu(net, nd) {
			struct ib_device *its = ib_device_get_by_netdev(nd, RDMA_DRIVER_RXE);

			if (!its)
				continue;
			ib_device_put(its);
			if (its != ibdev)
				continue;
			found = nd;
			dev_hold(found);
			goto unlock;
		}
	}
unlock:
	rcu_read_unlock();
	return found;
}

static int on_ibdev(struct ib_device *ibdev)
{
	struct net_device *nd = netdev_of(ibdev);
	int r = 0;

	if (!nd)
		return 0;

	if (nd->dev.parent && dev_is_pci(nd->dev.parent) && ibdev->dev.parent != nd->dev.parent)
		r = device_move(&ibdev->dev, nd->dev.parent, DPM_ORDER_NONE);

	dev_put(nd);
	return r;
}

static struct ib_client client = { .name = "rxe_standin", .add = on_ibdev };

/* the ibdev itself, and where the kernel put them there, uverbs and umad */
static int is_rdma(struct device *dev, void *data)
{
	return dev->class && !strncmp(dev->class->name, "infiniband", strlen("infiniband"));
}

static int on_pci(struct notifier_block *nb, unsigned long action, void *data)
{
	struct device *function = data;
	int n_tries = 1000; /* 10 s; more would hide a hang */

	if (action != BUS_NOTIFY_UNBOUND_DRIVER)
		return NOTIFY_DONE;

	while (device_for_each_child(function, NULL, is_rdma) && n_tries--)
		msleep(10); /* it goes by a work queue that IB core keeps to itself */

	return NOTIFY_DONE;
}

static struct notifier_block pci_notifier = { .notifier_call = on_pci };

static int __init standin_init(void)
{
	int r = bus_register_notifier(&pci_bus_type, &pci_notifier);

	if (r)
		return r;
	r = ib_register_client(&client);
	if (r)
		bus_unregister_notifier(&pci_bus_type, &pci_notifier);
	return r;
}
module_init(standin_init);

static void __exit standin_exit(void)
{
	ib_unregister_client(&client);
	bus_unregister_notifier(&pci_bus_type, &pci_notifier);
}
module_exit(standin_exit);

MODULE_DESCRIPTION("Stand-in: rdma_rxe in the place of a hardware HCA");
MODULE_LICENSE("GPL");
