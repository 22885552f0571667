/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule: policy routing rules over rtnetlink.
 */
#pragma once

#include "../model/node.h"
#include "netlink.h"

/* IPv4 and IPv6, of everybody, in the order in which the kernel follows them. @ret is owned by the
 * caller. */
int rule_list(struct netlink *nl, struct rule **ret, size_t *ret_n);

/*
 * Adds a rule with OWN_PROTOCOL that leads into its table; 0 also when another program made
 * the same (-EEXIST): without NLM_F_EXCL the kernel would add it again at each run.
 * Source: fib_nl_newrule() in net/core/fib_rules.c
 */
int rule_add(struct netlink *nl, const struct rule *rule);

/* Removes one of ours; 0 also when it is gone. Never one with another protocol. */
int rule_remove(struct netlink *nl, const struct rule *rule);
