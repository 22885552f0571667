/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NIC netdev: the netdevs of managed NICs that have addresses, and what the steps for addresses,
 * routes and rules have in common. Pure.
 */
#pragma once

#include "../model/ip.h"
#include "../step/steps.h"

const struct nic_netdev *nic_netdev_of(const struct plan *p, uint32_t ifindex); /* or NULL */

/*
 * Is @upper, which may be NULL, a VLAN on @nd or on a VLAN on it? One on macsec or a tunnel is not.
 */
bool nic_netdev_is_vlan_on(const struct node *n, const struct netdev *upper,
			   const struct netdev *nd);

/* The next netdev of the device, then NULL; @i is 0 before the first. Both ports of a ConnectX-3
 * are of one function, with one ibdev and a netdev each. */
const struct netdev *nic_netdev_next_port(const struct plan *p, const struct device *d, size_t *i);

/*
 * The next VLAN above @nd, the netdev of @d or its bond, that has the rail's addresses, then NULL;
 * @i is 0 before the first. Where @nd itself has an address to route for, or Address= is to give it
 * one, those of VLANs are the host's, such as of its storage.
 */
const struct netdev *nic_netdev_next_vlan(const struct config *c, const struct plan *p,
					  const struct device *d, const struct netdev *nd,
					  size_t *i);

/*
 * With Address=metadata, a NIC that the metadata service has not described yet may be the primary
 * ENI, which is never touched.
 */
bool nic_netdev_is_hands_off(const struct nic_netdev *k);

/* Is it the netdev of a VF in use, or above one? What is there stays below the VF's user. */
bool nic_netdev_is_used(const struct plan *p, uint32_t ifindex);

/* Is it an address to route for? Not of this link or host alone, nor one that is no good (yet). */
bool nic_netdev_is_routed(const struct address *a);

/*
 * A unicast route in main for the very prefix of an address of this NIC, beside the one of the
 * kernel: another program ranks it as well.
 */
bool nic_netdev_is_rival(const struct node *n, const struct nic_netdev *k, const struct route *t);

bool nic_netdev_is_leaving(const struct plan *p,
			   const struct address *a); /* this plan removes it */

/* "10.0.0.0/24 table 11400003", "from 10.0.0.2 table 11400003", "oif eth1 table 11400003" */
const char *nic_netdev_format_route(struct plan *p, const struct route *t);
const char *nic_netdev_format_rule(struct plan *p, const struct rule *rule);
uint32_t nic_netdev_of_rule(const struct rule *rule); /* of its table, also when the NIC is gone */

/* The metric that the prefix route of this address of this netdev is to have. */
uint32_t nic_netdev_metric(const struct config *c, const struct node *n, const struct plan *p,
			   const struct nic_netdev *k, const struct address *a);

/*
 * The gateway of a netdev: what the configuration or the metadata service says, else that of its
 * own default route in main, the one with the least metric. False: it has none.
 */
bool nic_netdev_gateway(const struct node *n, const struct nic_netdev *k, int family,
			uint8_t ret[static 16]);

uint32_t nic_netdev_metric_of(const struct address *a); /* of the prefix route that it has */

/*
 * With @a on its netdev, and that one up, would packets to a place that the node must reach leave
 * by it, and leave by another now? The kernel makes a route of main for the prefix, which counts
 * before shorter ones, and before those as long with a larger metric.
 * @detail: is set to the address, the place and its netdev
 */
bool nic_netdev_diverts(const struct node *n, const struct address *a, char *detail, size_t size);

/*
 * The same of a prefix that a router may advertise for the link of @nd once that is up, and of
 * places that the node reaches on a link, without a gateway: rails may be on that link as well.
 * Which prefix comes is not known before; it is taken for one of 64 bits, as addresses are made of
 * those alone: addrconf_prefix_rcv() in net/ipv6/addrconf.c.
 */
bool nic_netdev_router_diverts(const struct node *n, const struct netdev *nd);

/**
 * nic_netdev_add_action() - a change of the route step; the caller sets its value
 * @k:       the netdev; NULL: it is not there
 * @subject: of the target, may be empty
 *
 * Return: the action, or NULL: there is no memory.
 */
struct action *nic_netdev_add_action(struct plan *p, const struct nic_netdev *k, enum verb verb,
				     uint32_t ifindex, const char *subject);
