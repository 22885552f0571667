/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VF facts: settings of VFs, and which files of other programs set their number.
 */
#pragma once

#include "node.h"

/* The settings of a VF that its PF's driver reports: IFLA_VFINFO_LIST. */
struct vf_info {
	char pf[PCI_LEN]; /* of the PF; sorted by it and by index */
	uint32_t index;
	char mac[MAC_LEN];  /* admin MAC, "00:00:00:00:00:00" when it was never set */
	int vlan;           /* 4096 times its priority and its number; -1: not told */
	int trust;          /* 0, 1; -1: not told */
	int link_state;     /* IFLA_VF_LINK_STATE_*; -1: not told */
	char node_guid[24]; /* InfiniBand; empty: not told */
	char port_guid[24];
};

/* A file by which another program sets a number of VFs: step/observers.h. */
struct vf_owner {
	char path[160], key[32]; /* "/etc/netplan/50-rails.yaml", "virtual-function-count" */
	char pci[PCI_LEN];       /* of the PF that it sets it of */
};
