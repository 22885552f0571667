/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qos: the words for what a port does with priorities, in settings and in what the kernel shows.
 *
 * Each value is a text with one form, so that equal values are equal texts: the configuration, the
 * facts, the plan and the ledger have the same. "" is a value that is not set, or not told.
 *
 *   pfc   "3,4": priorities with flow control, or "none"
 *   ets   "00010000 50,50,s,s,s,s,s,s": the traffic class of priorities 0 to 7, then of each
 *         traffic class its share in percent, "s" for strict, "v" for the vendor's own way, "c" for
 *         a credit based shaper
 *   dscp  64 characters, for each DSCP its priority, or "-": none
 */
#pragma once

#include "../base/util.h"

#define QOS_PFC_LEN  16
#define QOS_ETS_LEN  41 /* a card may show 100 for each class, which together are no shares */
#define QOS_DSCP_LEN 65
#define QOS_TOS_LEN  4

#define QOS_N 8 /* priorities, and traffic classes */

enum trust_mode {
	TRUST_MODE_KEEP,
	TRUST_MODE_PCP,  /* the priority in the VLAN tag */
	TRUST_MODE_DSCP, /* the DSCP of the IP header */
	_TRUST_MODE_N
};

enum roce_mode {
	ROCE_MODE_KEEP,
	ROCE_MODE_V1,
	ROCE_MODE_V2,
	_ROCE_MODE_N
};

struct dcb; /* node.h */
struct config;

/* The words of settings, "3 4", "0:50 3:50" and "24-31:3 48:6", into the form above. Return: is it
 * one? */
bool qos_parse_pfc(const char *text, char ret[static QOS_PFC_LEN]);
bool qos_parse_ets(const char *text, char ret[static QOS_ETS_LEN]);
bool qos_parse_dscp(const char *text, char ret[static QOS_DSCP_LEN]);
/* Back again, of what these made. @ret has room for 512 bytes. */
void qos_format_ets(const char *ets, char *ret, size_t size);
void qos_format_dscp(const char *dscp, char *ret, size_t size);

/* Are they in that form, or empty? Of what a file says. */
bool qos_is_valid(const struct dcb *d);

/*
 * The value of "trust", "pfc", "ets" or "dscp/26": the subject of set-dcb. A card trusts DSCP while
 * its map has an entry: mlx5e_dcbnl_ieee_setapp() and _delapp() in
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ice_dcbnl_setapp(). "": not told.
 */
void qos_value(const struct dcb *d, const char *subject, char ret[static QOS_ETS_LEN]);
#define QOS_DSCP_PREFIX "dscp/"

/* Does firmware or another agent below the driver set them: DCB_CAP_DCBX_*, linux/dcbnl.h? */
bool qos_is_firmware(const struct dcb *d);

/* RoceToS=, as NCCL_IB_TC has it; -1: not set. */
int qos_traffic_class(const struct config *c);

/* The priority of RoceToS=, by DSCP= or the map that TrustMode=dscp sets; -1: not known. */
int qos_priority(const struct config *c);
/* A DSCP's priority by TrustMode=dscp in an empty map: its upper three bits, as cards have it. */
char qos_class_of(unsigned dscp);

bool qos_is_dcb_set(const struct config *c);
bool qos_is_set(const struct config *c); /* that, or rdma_cm's defaults */

const char *trust_mode_name(enum trust_mode m);
const char *roce_mode_name(enum roce_mode m);
const char *roce_mode_text(enum roce_mode m); /* as the kernel has it: "IB/RoCE v1" */
