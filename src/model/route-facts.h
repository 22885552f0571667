/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route facts: addresses, routes, rules and neighbours, as a node shows them and as actions set
 * them.
 */
#pragma once

#include "node.h"

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
	uint8_t gateway[16];           /* all zero: none */
	uint8_t src[16];               /* RTA_PREFSRC; all zero: none */
	uint8_t protocol, scope, type; /* RTPROT_*, RT_SCOPE_*, RTN_* */
	bool is_dead;  /* RTNH_F_DEAD, or RTNH_F_LINKDOWN where the kernel then skips it */
	bool has_more; /* conditions that are not here: TOS, source prefix of IPv6 */
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
