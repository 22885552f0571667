/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: rtnetlink's announcements of links, addresses and routes: something changed, look again.
 *
 * Routes count only when they are of the main table: the local table changes with every address.
 */
#pragma once

#include "netlink.h"

int events_open(struct netlink *nl);
int events_fd(const struct netlink *nl); /* owned by @nl */

/* Takes all that is there. Return: how many, or -errno; -ENOBUFS: some were lost, look at
 * everything. */
int events_drain(struct netlink *nl);
