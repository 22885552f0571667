/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot: what netlink, libkmod and libibverbs answered, as a file of a captured tree.
 *
 * Is only what files cannot hold; everything else of a capture is the files themselves. The format
 * is JSON that a person can write by hand: see tests/nodes/README.md. Sources of the numbers:
 * rtnetlink(7) for flags, protocol, scope and type.
 *
 * The order of a list in the file means nothing: each entry says its place as "order". Entries
 * without one come in the order of their text, in which numbers count as numbers.
 */
#pragma once

#include "../model/node.h"

#define ANSWERS_PATH "rdma-provision-answers.json"

/* The answers that are in this node. Release @ret with free(). Return: 0 or -ENOMEM. */
int snapshot_write(const struct node *n, char **ret);

/*
 * Fills netdevs, aways, addresses, routes, rules, neighbours, lookups, destinations, tunnel_ends,
 * host_name, hosts, socks (has_socks only when the answers have a list of them), ibdevs (name,
 * index, netdev, n_contexts, verbs and active_mtu), vf_infos, modules (state, and what their files
 * said), is_dkms_building, memlocks, netns_mode, users, netnses (has_users only when the answers
 * have a list of users), health and eswitch of functions in node.pcis, and the module of each
 * function in node.pcis whose modalias is known. Return: 0, -ENOMEM, or -EINVAL with the place in
 * @problem.
 */
int snapshot_read(const char *text, struct node *n, char *problem, size_t size);
