/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing protocol: the numbers by which routes and rules of ours are known.
 *
 * Only routes and rules with OWN_PROTOCOL are ever changed or removed, also when another
 * program made them: "ip route show table all proto 114", "ip rule | grep 'proto 114'". The number
 * is neither in /etc/iproute2/rt_protos nor in include/uapi/linux/rtnetlink.h of Linux 6.12; a line
 * "114 rdma-provision" in rt_protos gives it a name.
 */
#pragma once

#define OWN_PROTOCOL 114 /* RTPROT_*; 'r' */

/* The table of a NIC is this plus its ifindex: 11400003 is of the netdev number 3. */
#define OWN_TABLE_BASE 11400000

/*
 * The rules of a NIC: "from ADDRESS", then "oif DEV". Behind those of network plugins, which lead
 * their pods' packets: Terway 512 and 2048 (plugin/datapath/consts_linux.go), Cilium up to 112
 * (pkg/datapath/linux/linux_defaults). Before main, 32766.
 */
#define OWN_PREFERENCE_FROM 30114
#define OWN_PREFERENCE_OIF  30115

/* A setting that is restored more often than this in a boot, however slowly, is reported as undone
 * by another program. */
#define OWN_RESTORES_MAX 5
