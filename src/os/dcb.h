/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dcb: what a netdev does with priorities, by dcbnl over rtnetlink, in the texts of model/qos.h.
 *
 * Requests name the netdev, and there is no dump. The answer to a change has the driver's error in
 * its first byte, and the request itself succeeds: dcbnl_ieee_set() in net/dcb/dcbnl.c. The kernel
 * passes over a setting that a driver has no function for, without an error.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/* -EOPNOTSUPP: its driver has no DCB. */
int dcb_read(struct netlink *nl, const char *netdev, struct dcb *ret);

/*
 * Sets what @subject names (qos_value()) to that value; of a struct of the kernel no other member
 * changes. "trust" pcp removes all DSCPs from the map, dscp fills it by qos_class_of().
 * Return: 0, -EINVAL for words that are none, -ENODATA when the driver lacks that part.
 */
int dcb_set(struct netlink *nl, const char *netdev, const char *subject, const char *to);

/* Reads one answer. Exported for tests. */
int dcb_parse(struct nlmsghdr *h, struct dcb *ret);
