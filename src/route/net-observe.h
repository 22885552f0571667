/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Net: links, addresses and routes of the caller's network namespace, each link with its PCI
 * function.
 *
 * A captured tree answers from its recorded answers (snapshot.h); a tree without them, such as a
 * mounted image or a plain copy of /sys, gives what sysfs tells: links only.
 */
#pragma once

#include "../model/question.h"
#include "../os/os.h"

/*
 * Fills node.netdevs (unless recorded ones are there already), .tunnel_ends, .addresses, .routes,
 * .rules, .neighbours, .netnses, .aways, .all, .now_usec and .indexes.
 */
int observe_net(struct os *d, struct node *n);

/* QUESTION_LOOKUPS: asks the kernel, into node.lookups. Return: how many were asked, or -ENOMEM. */
int observe_lookups(struct os *d, const struct questions *q, struct node *n);

/*
 * Reads the links of other network namespaces: a macvlan, ipvlan or VLAN of a pod has a trace in
 * ours only where the function has an ibdev, as a GID. Nothing is forked, and no namespace is
 * entered.
 *
 * Fills node.netnses and node.aways of a running system: what is bound to a file of /run/netns
 * (ip-netns(8), the CNI) or /run/docker/netns. The name of one below /run/netns is its file name,
 * else the path. One that ended meanwhile is left out. Wants netdevs. Return: 0 or -ENOMEM.
 */
int observe_namespaces(struct os *d, struct node *n);
