/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespace: the network namespaces that have a name, and the links in them.
 *
 * A macvlan, ipvlan or VLAN of a pod is not among our links, and has a trace in ours only where the
 * function has an ibdev, as a GID. Nothing is forked, and no namespace is entered.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"

/*
 * Fills node.netnses and node.aways of a running system: what is bound to a file of /run/netns
 * (ip-netns(8), the CNI) or /run/docker/netns. The name of one below /run/netns is its file name,
 * else the path. One that ended meanwhile is left out. Wants netdevs. Return: 0 or -ENOMEM.
 */
int observe_namespaces(struct os *d, struct node *n);
