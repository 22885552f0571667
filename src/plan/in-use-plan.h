/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users: is a function in use, and by whom? For plan/ only, pure.
 *
 * Two sources: node.users, which a look into processes filled (only when node.has_users), and
 * in_use_find() of model/in-use.h, which works on every node. What cannot be known counts as a
 * user.
 */
#pragma once

#include "../model/plan.h"

/*
 * Its users, as words with names, pids and containers, separated by "; ". Where there is no room
 * for all, the words end with how many more there are. Return: is there any?
 */
bool in_use_of_function(const struct graph *g, const struct memory *memory, const struct pci *pci,
			char *ret, size_t size);
/* The same over all VFs of a PF. */
bool in_use_of_vfs(const struct graph *g, const struct memory *memory, const struct pci *pf,
		   char *ret, size_t size);
/* Those of its VFs, or else of its own RDMA device; of a port of a LAG also of its other ports',
 * since the RDMA device of a LAG is that of one of them. */
bool in_use_of_port(const struct graph *g, const struct memory *memory, const struct pci *pf,
		    char *ret, size_t size);

/*
 * Everybody who uses a driver, as a list of as many as there is room for: the users of each
 * function that is bound to it, those of the module, its holders and references. eRDMA's ibdevs
 * have their netdev on another function: that one counts. Source: a reference is held by open
 * uverbs contexts only (uverbs_main.c), so that none does not mean that nobody uses it.
 */
bool in_use_of_driver(const struct graph *g, const struct memory *memory, const char *driver,
		      char *ret, size_t size);

/* Appends to a list for people, "a; b"; one that ends in "; ..." had no room for all. */
void in_use_append(char *list, size_t size, const char *item);
