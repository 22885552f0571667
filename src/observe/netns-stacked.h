/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upper: what is of our functions, or stacked on them, in other network namespaces.
 *
 * A macvlan, ipvlan or VLAN of a pod is not among our links, and has a trace in ours only where the
 * function has an ibdev, as a GID. So each namespace of node.netnses is asked for its links.
 */
#pragma once

#include "../model/node.h"
#include "../os/netns.h"
#include "../os/os.h"
#include "process.h"

/*
 * Adds users: USE_NETDEV_NETNS for a netdev of one of our functions, USE_UPPER for what is stacked
 * on one, both with who holds the namespace; and USE_UNKNOWN, to each function with a netdev here,
 * where a namespace that is there could not be asked. One that ended meanwhile is none.
 * Return: 0 or -ENOMEM.
 */
int observe_uppers(struct os *d, const struct fs *fs, const struct processes *p, struct node *n);

/* The links of one namespace, as users. Return: 0 or -ENOMEM. */
int netns_stacked_add(const struct fs *fs, const struct processes *p, const struct netns *ns,
		      const struct far_link *links, size_t n_links, struct node *n);
