/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity: MACs and GUIDs for VFs that have none, the same on every boot. Pure.
 *
 * They follow from what belongs to the card (its permanent MAC or node GUID) and from the index of
 * the VF, so that neither a reboot, a reinstallation, another name, nor what happens in other slots
 * changes them. Local bit set, group bit clear: no hardware has them.
 */
#pragma once

#include "../model/plan.h"

/*
 * The seed of the identity of this PF's VFs: node_card(), else the node GUID of its ibdev, else its
 * present MAC, which can be changed. @ret is "" when there is none of these. Return: whether the
 * seed lasts.
 */
bool identity_seed(const struct node *n, const struct pci *pf, char ret[static MAC_LEN]);

/*
 * The MAC, "02:...", of a VF. A MAC that a netdev, a VF or a request of this plan has already is
 * passed over for the next one, in an order that is always the same.
 */
void identity_mac(const struct node *n, const struct plan *p, const char *seed,
		  const struct pci *vf, char *ret, size_t size);

/* Node and port GUID of a VF, chosen as in identity_mac(). A GUID that is set already stays. */
void identity_guids(const struct node *n, const struct plan *p, const char *seed,
		    const struct pci *vf, const struct vf_info *v, char ret_node[static GUID_LEN],
		    char ret_port[static GUID_LEN]);

/* Notes that @p gives this MAC or GUID to a VF, so that no other one gets it. */
void identity_give(struct plan *p, const struct pci *vf, const char *text);

/*
 * Is the MAC of a VF unset? That is an admin MAC of all zero, or one that the driver of the VF made
 * up: igb reports that as the admin MAC (IGB_VF_SET_MAC_ADDR in
 * drivers/net/ethernet/intel/igb/igb_main.c).
 *
 * A bound VF may have got a MAC without its PF: from the firmware, or from a person or udev through
 * its netdev. So for a bound VF zero means unset only with a netdev whose MAC is random
 * (addr_assign_type), with no netdev, or with an ibdev that has no node GUID.
 */
bool identity_is_unset_mac(const struct node *n, const struct pci *vf, const struct vf_info *v);

/**
 * identity_is_other() - did a VF come up with another MAC or GUID than this service gave it?
 * @vf:     bound, with @nd and @ib as they are here; either may be NULL
 * @detail: what it has and what it was given
 *
 * Only what follows from the card is compared: what an administrator or a CNI set has been changed
 * on purpose. What it came up with is its permanent MAC, which the kernel copies when the netdev is
 * registered (register_netdevice() in net/core/dev.c), so that a later change counts for nothing,
 * unless it is to the MAC that was given; a driver that made up a MAC has none, and its present one
 * counts.
 */
bool identity_is_other(const struct node *n, const struct plan *p, const struct pci *vf,
		       const struct netdev *nd, const struct ibdev *ib, char *detail, size_t size);

/* Is a GUID of the VF zero, and its ibdev has none? False where the PF does not report one. */
bool identity_is_unset_guid(const struct node *n, const struct pci *vf, const struct vf_info *v);

/*
 * Can the VFs of this PF get no GUIDs, because it has no IPoIB netdev to set them through?
 * handle_vf_guid() in net/core/rtnetlink.c takes no other.
 */
bool identity_lacks_ipoib(const struct node *n, const struct device *pf);
