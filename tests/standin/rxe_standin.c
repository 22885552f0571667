// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: gives a rdma_rxe device the place in the device tree that a hardware HCA has.
 *
 * A newer kernel keeps every rxe in /sys/devices/virtual. Writing the name of a network device to
 * the parameter "attach" moves the rxe made on it below that device's PCI function. A kernel that
 * puts it there by itself is left as it is. What this can not show is in README.md.
 *
 * A driver of hardware takes its RDMA device back before it lets go of the function. An rxe goes
 * some time after its network device, which may be later than the function below which it is: then
 * sysfs warns. So the function is held until the rxe is gone.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static int attach(const char *value, const struct kernel_param *kp)
{
	struct ib_device *ibdev;
	struct net_device *nd;
	char name[IFNAMSIZ];
	int r = 0;

	if (strscpy(name, value, sizeof(name)) < 0)
		return -ENAMETOOLONG;
	nd = dev_get_by_name(current->nsproxy->net_ns, strim(name));
	if (!nd)
		return -ENODEV;

	if (!nd->dev.parent || !dev_is_pci(nd->dev.parent)) {
		r = -EINVAL; /* dummy, veth: there is no function to move it to */
		goto put_nd;
	}

	ibdev = ib_device_get_by_netdev(nd, RDMA_DRIVER_RXE);
	if (!ibdev) {
		r = -ENOENT;
		goto put_nd;
	}

	if (ibdev->dev.parent != nd->dev.parent)
		r = device_move(&ibdev->dev, nd->dev.parent, DPM_ORDER_NONE);

	ib_device_put(ibdev);
put_nd:
	dev_put(nd);
	return r;
}

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
	return bus_register_notifier(&pci_bus_type, &pci_notifier);
}
module_init(standin_init);

static void __exit standin_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &pci_notifier);
}
module_exit(standin_exit);

static const struct kernel_param_ops attach_ops = { .set = attach };

module_param_cb(attach, &attach_ops, NULL, 0200);
MODULE_PARM_DESC(attach, "network device whose rxe is moved below its PCI function");

MODULE_DESCRIPTION("Stand-in: rdma_rxe in the place of a hardware HCA");
MODULE_LICENSE("GPL");
