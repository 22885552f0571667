/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: rtnetlink's announcements of links, addresses and routes: something changed, look again.
 *
 * Changes that are no part of any plan do not count: link-local addresses of IPv6, but their loss;
 * and things that pods bring and take all day: links of a kind that is made by software (but bonds
 * and teams, which carry RDMA ports, VLANs and bridges above cards and Open vSwitch, which may
 * carry the node, and IPoIB, whose carrier is the only event of an InfiniBand port), addresses and
 * settings of links that are above no card, routes to single hosts, default routes of such links,
 * rules and routes in other tables than main, but those of ours (model/route-facts.h).
 */
#pragma once

#include "../model/link-log.h"
#include "netlink.h"

int events_open(struct netlink *nl);

/*
 * Adds announcements of neighbours that are IPv6 routers: before Linux 5.16 these have to be probed
 * again and again. Not asked for otherwise, because a node with pods has many neighbours. Return: 0
 * or -errno.
 */
int events_add_neighbours(struct netlink *nl);

/* Is a link a card, above one, or perhaps a port of a switch that has one? @net is a descriptor of
 * /sys/class/net. Exported for a test. */
bool events_has_card(int net, const char *name);

/* For netlink_drain(): counts the messages of one datagram that matter. @log: a struct link_log for
 * what they tell of links of cards, or NULL. */
int events_count(void *buf, int size, void *log);
