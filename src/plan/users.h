/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users: is a function in use, and by whom? For plan/ only, pure.
 *
 * Two sources: node.users, which a look into processes filled (only when node.has_users), and signs
 * that every look has: where netdevs and ibdevs are, what is above them, how many contexts are
 * open. What cannot be known counts as a user.
 */
#pragma once

#include "../model/plan.h"

/* The first user found, as words with names, pids and containers. Return: is there any? */
bool users_of_function(const struct node *n, const struct pci *pci, char *ret, size_t size);
/* The same over all VFs of a PF. */
bool users_of_vfs(const struct node *n, const struct pci *pf, char *ret, size_t size);
