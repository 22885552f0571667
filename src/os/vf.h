/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: what a PF's driver tells of its VFs over rtnetlink, and what it sets of them.
 *
 * All of it goes through the network device of the PF, also for InfiniBand (its IPoIB device), and
 * works while a VF is bound to no driver. Every setter gives -EOPNOTSUPP where the driver has no
 * such setting (or has it not in switchdev), which is no failure: net/core/rtnetlink.c
 * do_setvfinfo().
 */
#pragma once

#include "../model/vf-facts.h"
#include "netlink.h"

/*
 * The VFs of one PF, by index; the PCI address of the PF is left empty. None at all where the
 * driver tells nothing of them. With many VFs the answer may not fit into an attribute:
 * -EMSGSIZE. Output is owned by the caller. Return: 0 or -errno.
 *
 * Source: rtnl_fill_vf() in net/core/rtnetlink.c; without statistics, for which drivers ask their
 * firmware.
 */
int vf_list(struct netlink *nl, uint32_t ifindex, struct vf_info **ret, size_t *ret_n);

struct vf_infos {
	struct vf_info *infos; /* owned */
	size_t n;
};
/* Appends the VFs of one answer to RTM_GETLINK; for vf_list() and its test. 0 or -errno. */
int vf_on_link(struct nlmsghdr *h, void *userdata);

int vf_set_mac(struct netlink *nl, uint32_t ifindex, uint32_t vf, const char *mac); /* "02:..." */
/* The number, and 4096 times the priority, of 802.1Q; 0: none. */
int vf_set_vlan(struct netlink *nl, uint32_t ifindex, uint32_t vf, uint32_t vlan);
int vf_set_trust(struct netlink *nl, uint32_t ifindex, uint32_t vf, bool is_trusted);
int vf_set_link_auto(struct netlink *nl, uint32_t ifindex, uint32_t vf); /* follows its PF */

/*
 * Node and port GUID, "xxxx:xxxx:xxxx:xxxx" each. Two requests: the kernel looks at no further
 * setting once it has seen a node GUID, and says that all is well.
 */
int vf_set_guids(struct netlink *nl, uint32_t ifindex, uint32_t vf, const char *node,
		 const char *port);
