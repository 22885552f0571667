// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: a driver of virtual functions that takes its time to bind one, as mlx5 does that waits
 * for the firmware of each.
 *
 * It binds the virtual functions of an igb card, where a line of modprobe.d gives it their
 * modalias: it exports none, so that nothing else of the node loads it. The network device that it
 * registers carries nothing; it is there for an rxe to sit on. Parameters, which can be changed at
 * any time:
 *
 * delay=MS   each probe takes so long
 * hang=BDF   those of the virtual functions of this PF do not return until it says something else
 * error=N    they return -N after their time
 *
 * The kernel's log has when a probe begins and ends.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>

static unsigned int delay = 1000;
module_param(delay, uint, 0644);
MODULE_PARM_DESC(delay, "how many milliseconds a probe takes");

static char hang[32];
module_param_string(hang, hang, sizeof(hang), 0644);
MODULE_PARM_DESC(hang, "PCI address of the PF of whose virtual functions no probe returns");

static int error;
module_param(error, int, 0644);
MODULE_PARM_DESC(error, "what a probe fails with, an errno");

static netdev_tx_t on_packet(struct sk_buff *skb, struct net_device *nd)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = on_packet,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static bool hangs(struct pci_dev *vf)
{
	const char *pf = pci_name(pci_physfn(vf));

	return strncmp(hang, pf, strlen(pf)) == 0;
}

static int probe(struct pci_dev *vf, const struct pci_device_id *id)
{
	struct net_device *nd;
	unsigned int ms; /* Linux 5.10 is C89 */
	int r;

	if (!vf->is_virtfn)
		return -ENODEV;

	/* Short sleeps, so that the kernel sees no hung task. */
	pci_info(vf, "probe begins\n");
	for (ms = 0; ms < delay || hangs(vf); ms += 50)
		msleep(50);
	pci_info(vf, "probe ends\n");
	if (error)
		return -error;

	nd = alloc_etherdev(0);
	if (!nd)
		return -ENOMEM;
	SET_NETDEV_DEV(nd, &vf->dev);
	nd->netdev_ops = &netdev_ops;
	nd->max_mtu = 9000;
	eth_hw_addr_random(nd);
	nd->addr_assign_type = NET_ADDR_PERM; /* as if the card had it */

	r = register_netdev(nd);
	if (r) {
		free_netdev(nd);
		return r;
	}
	pci_set_drvdata(vf, nd);
	return 0;
}

static void remove(struct pci_dev *vf)
{
	struct net_device *nd = pci_get_drvdata(vf);

	unregister_netdev(nd);
	free_netdev(nd);
}

/* Those of igb in QEMU. There is no MODULE_DEVICE_TABLE(). */
static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, 0x10ca) },
	{},
};

static struct pci_driver slow_vf = {
	.name = "slow_vf",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};
module_pci_driver(slow_vf);

MODULE_DESCRIPTION("Stand-in: a driver of VFs whose probe is slow, hangs or fails");
MODULE_LICENSE("GPL");
