/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs: the functions that the node itself needs, each with the evidence that tells so.
 *
 * Pure, and the only place that decides it. A function is needed when it is below a netdev to which
 * evidence leads, in this order:
 *
 * - [Service] NodeNIC= matches it: then nothing else counts.
 * - The kubelet's address, as the kubelet finds it: --node-ip, a node name that is an address, the
 *   node name in /etc/hosts. Source: NodeAddress() in pkg/kubelet/nodestatus/setters.go.
 * - A packet to a destination of node.destinations leaves by it, all next hops of the route that
 *   matched. A default route that a router advertised (RTPROT_RA) counts only where neither an IPv4
 *   default destination nor the kubelet's address has an answer: RDMA networks advertise a router
 *   on each rail. Source: ndisc_router_discovery() in net/ipv6/ndisc.c. Default routes of a VRF
 *   count where the default destination of their family has no way by the main rules, or a socket
 *   is bound to the VRF.
 * - It was so before: in this boot, and by address and card in the last one until one of the rows
 *   above has an answer in this one. Until the first READY a better answer takes the place of one
 *   whose route is still there, for DHCP may answer to a rail first.
 * - Nothing is known: each function below a netdev with a global address of the host. So it is
 * where no row has an answer, and beside the others where the default destination or an API server
 *   leads to an end that nobody knows (a dummy, a tap, a tunnel without a known end).
 *
 * An answer by hardware that is no PCI function is known as well, and protects nothing.
 *
 * While the last row holds and somebody may still be configuring the node, functions with an
 * address or a sign of that are NEED_WAITING: while there is a sign, for QUIET_USEC after the last
 * change of addresses, routes and PFs' netdevs, and never after ReadyTimeoutSec= or the first READY
 * of the boot. A sign is netdev.sign, or, on a function that this service has not changed, a router
 * that was asked for and has not answered, or YOUNG_USEC after that last change: a DHCP client has
 * no socket for a while after its unit has started (dhcpcd, ifup@).
 */
#pragma once

#include "../model/plan.h"

#define QUIET_USEC (15 * USEC_PER_SEC)
#define YOUNG_USEC (10 * USEC_PER_SEC)

/* Sets p->graph, p->needs and what belongs to them, and p->again_usec. Return: 0 or -ENOMEM. */
int plan_needs(const struct config *c, const struct node *n, const struct memory *memory,
	       struct plan *p);

#define NODE_NIC_AUTO "auto"
#define NODE_NIC_NONE "none"
