/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route facts: addresses, routes, rules and neighbours, as a node shows them and as actions set
 * them; and the places that the node must reach, with the netdev by which a packet leaves.
 *
 * Only routes and rules with OWN_PROTOCOL are ever changed or removed, also when another
 * program made them: "ip route show table all proto 114", "ip rule | grep 'proto 114'". The number
 * is neither in /etc/iproute2/rt_protos nor in include/uapi/linux/rtnetlink.h of Linux 6.12; a line
 * "114 rdma-provision" in rt_protos gives it a name.
 */
#pragma once

#include "node.h"

#include <netinet/in.h>

#define OWN_PROTOCOL 114 /* RTPROT_*; 'r' */

#define LOOPBACK 1 /* ifindex of "lo" in each namespace */

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

struct address {
	uint32_t ifindex;
	int family;        /* AF_INET, AF_INET6 */
	uint8_t local[16]; /* network order, 4 bytes for AF_INET */
	uint8_t peer[16];  /* IFA_ADDRESS: differs from local on point-to-point links only */
	uint32_t prefix_len;
	uint32_t metric; /* IFA_RT_PRIORITY; 0: the kernel's default */
	uint32_t flags;  /* IFA_F_*: man 7 rtnetlink */
	uint8_t scope;   /* RT_SCOPE_* */
};

/*
 * A route of any table but "local" (255), and without those the kernel keeps for broadcast and
 * multicast; each next hop of several is a route.
 */
struct route {
	int family;
	uint8_t dst[16];
	uint32_t prefix_len;
	uint32_t table;
	uint32_t ifindex;              /* RTA_OIF, 0: none */
	uint32_t nexthop;              /* RTA_NH_ID that was not looked up; 0: none */
	uint32_t metric;               /* RTA_PRIORITY */
	uint8_t gateway[16];           /* all zero: none of its family */
	char via[INET6_ADDRSTRLEN];    /* of IPv4: a gateway of IPv6, "fe80::1"; empty: none */
	uint8_t src[16];               /* RTA_PREFSRC; all zero: none */
	uint8_t protocol, scope, type; /* RTPROT_*, RT_SCOPE_*, RTN_* */
	bool is_dead;  /* RTNH_F_DEAD, or RTNH_F_LINKDOWN where the kernel then skips it */
	bool has_more; /* conditions that are not here: TOS, source prefix of IPv6 */
	/* Other attributes are not here: further next hops, a nexthop object, onlink, metrics such
	 * as an MTU, an encapsulation. The route cannot be written again as it is. */
	bool is_partial;
};

/* A policy rule. */
struct rule {
	int family;
	uint32_t preference, table;
	uint8_t protocol; /* RTPROT_*, 0: not told */
	uint8_t action;   /* FR_ACT_* */
	uint8_t src[16];  /* with src_len; 0: any */
	uint32_t src_len;
	char oif[IFNAME_LEN]; /* by name: a rename leaves it behind; empty: any */
	uint8_t dst[16];      /* with dst_len; 0: any */
	uint32_t dst_len;
	uint32_t mark, mask;     /* FRA_FWMARK, FRA_FWMASK; mask 0: any */
	char iif[IFNAME_LEN];    /* "lo": what this host sends; empty: any */
	uint32_t to_preference;  /* of FR_ACT_GOTO */
	int32_t suppress_prefix; /* routes of that prefix length or less do not count; -1: all do */
	bool is_l3mdev, is_invert; /* FRA_L3MDEV, FIB_RULE_INVERT */
	bool has_more; /* conditions that are not here: TOS, uid, protocol, ports, ... */
};

/* An entry of the neighbour table for a managed gateway that is a router. */
struct neighbour {
	uint32_t ifindex;
	int family;
	uint8_t address[16];
	uint16_t state;   /* NUD_* */
	uint8_t protocol; /* RTPROT_*; ours: we keep it resolved */
	bool is_managed;  /* NTF_EXT_MANAGED: the kernel keeps it resolved; since 5.16 */
};

#define LOOKUP_HOPS 16

/* A question to the kernel, RTM_GETROUTE, and the answer: by which netdev does a packet leave? */
struct lookup {
	int family;
	uint8_t dst[16];
	uint8_t address[16]; /* as source; all zero: none */
	uint32_t ifindex; /* of the NIC that is meant; without a source the output device: 0: any */
	uint32_t mark;    /* of the packet, 0: none */

	int result;         /* 0 or -errno; -ENODATA: not asked, and it could not be computed;
			     * -EDESTADDRREQ: nothing tells the address of the destination */
	uint32_t found;     /* ifindex that it would leave by */
	uint8_t source[16]; /* that the packet would have; all zero: not told */
	/* The route that matched (RTM_F_FIB_MATCH), where a destination is asked about: */
	uint32_t hops[LOOKUP_HOPS]; /* ifindex of each next hop */
	size_t n_hops;
	uint8_t gateway[16]; /* of the first next hop; all zero: none */
	uint8_t protocol;    /* RTPROT_* */
	uint32_t prefix_len;
};

/* A place that the node reaches, or the other end of a tunnel by which it reaches one. */
enum destination_to {
	TO_DEFAULT, /* an address that only default routes lead to */
	TO_VRF,     /* the same, with the VRF as output device */
	TO_API_SERVER,
	TO_NAME_SERVER,
	TO_STORAGE,    /* of the root file system, and those that kubelet and runtime live on */
	TO_MOUNT,      /* of the other network mounts: not needed, but the netdev is in use */
	TO_BEFORE,     /* the last boot needed a function for it, and no file names it yet */
	TO_TUNNEL_END, /* the remote end of a tunnel that a packet to one of the others leaves by */
	_TO_N
};

struct destination {
	enum destination_to to;
	char words[160];   /* where it comes from: "API server, /etc/kubernetes/kubelet.conf" */
	char pci[PCI_LEN]; /* the function that a disk is below; else empty */
	bool is_rdma;      /* it is reached over RDMA, at least by one of those who reach it */
	struct lookup lookup;
};

/* The ends of a tunnel: of a WireGuard device one for each peer that has an endpoint. */
struct tunnel_end {
	uint32_t ifindex; /* of the tunnel */
	int family;
	uint8_t remote[16], local[16]; /* all zero: not told */
	uint32_t mark;                 /* that its own packets have, 0: none */
};

/* A line of /etc/hosts that has the name of the node, or of a place it must reach. */
struct host {
	char name[HOST_NAME_LEN];
	int family;
	uint8_t address[16];
	uint32_t line; /* from 1 */
};

const char *destination_to_name(enum destination_to to); /* "api-server" */
