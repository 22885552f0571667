/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NIC netdev: the netdevs of managed NICs that have addresses, and what the steps for addresses,
 * routes and rules have in common. For plan/ only, pure.
 */
#pragma once

#include "steps.h"

const struct nic_netdev *nic_netdev_of(const struct plan *p, uint32_t ifindex); /* or NULL */

/*
 * With Address=metadata, a NIC that the metadata service has not described yet may be the primary
 * ENI, which is never touched.
 */
bool is_hands_off(const struct nic_netdev *k);

/* Is it an address to route for? Not of this link or host alone, nor one that is no good (yet). */
bool is_routed_address(const struct address *a);

/*
 * A unicast route in main for the prefix of this NIC, beside the one of the kernel: another agent
 * ranks it as well.
 */
bool is_rival(const struct node *n, const struct nic_netdev *k, const struct route *t);

bool is_leaving(const struct plan *p, const struct address *a); /* this plan removes it */

/* The prefix of an address, host bits cleared. */
void prefix_of(const struct address *a, uint8_t ret[static 16]);
bool is_in_prefix(const uint8_t *bytes, const uint8_t *prefix, uint32_t prefix_len);

/* "10.0.0.2/24"; without the length when it is UINT32_MAX. */
void format_address(int family, const uint8_t *bytes, uint32_t prefix_len, char *ret, size_t size);

/* "10.0.0.0/24 table 11400003", "from 10.0.0.2 table 11400003", "oif eth1 table 11400003" */
void format_route(const struct route *t, char *ret, size_t size);
void format_rule(const struct rule *rule, char *ret, size_t size);
uint32_t ifindex_of_rule(const struct rule *rule); /* of its table, also when the NIC is gone */

/* The metric that the prefix route of this address of this netdev is to have. */
uint32_t wanted_metric(const struct config *c, const struct node *n, const struct plan *p,
		       const struct nic_netdev *k, const struct address *a);

/*
 * The gateway of a netdev: what the configuration or the metadata service says, else that of its
 * own default route in main, the one with the least metric. False: it has none.
 */
bool gateway_of(const struct node *n, const struct nic_netdev *k, int family,
		uint8_t ret[static 16]);

/* "network, then a length": 32 or 128. */
uint32_t bits_of(int family);

/**
 * add_route_action() - a change of the route step; the caller sets its value
 * @k:       the netdev; NULL: it is not there
 * @subject: of the target, may be empty
 *
 * Return: the action, or NULL: there is no memory.
 */
struct action *add_route_action(struct plan *p, const struct nic_netdev *k, enum verb verb,
				uint32_t ifindex, const char *subject);
