// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-in: a driver of a physical function that is bad at making virtual functions.
 *
 * It binds functions whose driver_override names it, and nothing else: it has no table of ids. The
 * network device that it registers carries nothing; it is there for an rxe to sit on. What a write
 * to sriov_numvfs does is chosen by parameters, which can be changed at any time:
 *
 * hang=Y    it does not return, and no signal ends it, until hang=N is written
 * error=N   it returns -N
 * missing=N it enables N virtual functions fewer than asked for
 *
 * They are enabled by the PCI core only: the card's own part of it does not know them, so their
 * driver finds nobody at the other end of the mailbox and gives them a random MAC. There is no
 * ndo_set_vf_mac() either.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>

static bool hang;
module_param(hang, bool, 0644);
MODULE_PARM_DESC(hang, "a write to sriov_numvfs does not return");

static int error;
module_param(error, int, 0644);
MODULE_PARM_DESC(error, "what a write to sriov_numvfs fails with, an errno");

static int missing;
module_param(missing, int, 0644);
MODULE_PARM_DESC(missing, "how many virtual functions fewer than asked for are enabled");

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

static int configure(struct pci_dev *pf, int n_vfs)
{
	int r;

	/* As a driver does that waits for firmware. Short sleeps, so that the kernel sees no hung
	 * task. */
	while (READ_ONCE(hang))
		msleep(50);

	if (error)
		return -error;

	if (n_vfs == 0) {
		pci_disable_sriov(pf);
		return 0;
	}

	n_vfs = max(n_vfs - missing, 0);
	r = n_vfs ? pci_enable_sriov(pf, n_vfs) : 0;
	return r ? r : n_vfs;
}

static int probe(struct pci_dev *pf, const struct pci_device_id *id)
{
	struct net_device *nd;
	int r;

	if (!pf->is_physfn)
		return -ENODEV;

	r = pci_enable_device_mem(pf);
	if (r)
		return r;
	pci_set_master(pf);

	nd = alloc_etherdev(0);
	if (!nd) {
		r = -ENOMEM;
		goto disable;
	}
	SET_NETDEV_DEV(nd, &pf->dev);
	nd->netdev_ops = &netdev_ops;
	nd->max_mtu = 9000;
	eth_hw_addr_random(nd);
	nd->addr_assign_type = NET_ADDR_PERM; /* as if the card had it */

	r = register_netdev(nd);
	if (r)
		goto free;
	pci_set_drvdata(pf, nd);
	return 0;

free:
	free_netdev(nd);
disable:
	pci_disable_device(pf);
	return r;
}

static void remove(struct pci_dev *pf)
{
	struct net_device *nd = pci_get_drvdata(pf);

	pci_disable_sriov(pf);
	unregister_netdev(nd);
	free_netdev(nd);
	pci_disable_device(pf);
}

static struct pci_driver stuck_pf = {
	.name = "stuck_pf",
	.probe = probe,
	.remove = remove,
	.sriov_configure = configure,
};
module_pci_driver(stuck_pf);

MODULE_DESCRIPTION("Stand-in: a PF whose driver hangs or fails when it makes VFs");
MODULE_LICENSE("GPL");
