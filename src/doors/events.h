/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: rtnetlink's announcements of links, addresses and routes: something changed, look again.
 *
 * What pods bring and take all day does not count: links of a kind that is made by software (but
 * bonds, which carry RDMA ports), addresses of such links, routes to single hosts, default routes,
 * and routes of other tables than main.
 */
#pragma once

#include "netlink.h"

int events_open(struct netlink *nl);
int events_fd(const struct netlink *nl); /* owned by @nl */

/* Takes all that is there. Return: how many, or -errno; -ENOBUFS: some were lost, look at
 * everything. */
int events_drain(struct netlink *nl);
