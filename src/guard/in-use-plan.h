/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-use plan: is a function in use, and by whom? Pure.
 *
 * Two sources: node.users, which a look into processes filled (only when node.has_users), and
 * in_use_find() of model/in-use.h, which works on every node. What cannot be known counts as a
 * user.
 */
#pragma once

#include "../model/plan.h"

/*
 * Lists the users of a function, with names, pids and containers, separated by "; ". Where there is
 * no room for all, the list ends with the number of the others. Return: is there any?
 */
bool in_use_of_function(const struct graph *g, const struct memory *memory, const struct pci *pci,
			char *ret, size_t size);
/* Lists the users of all VFs of a PF, and what the host does with their representors, which go with
 * them: a VF may be free to be handed out while its other end is a port of a bridge. */
bool in_use_of_vfs(const struct graph *g, const struct memory *memory, const struct pci *pf,
		   char *ret, size_t size);
/* Lists the users of a PF's VFs, or else of its own RDMA device; for a port of a LAG also of the
 * other ports' devices, since the RDMA device of a LAG is that of one port. */
bool in_use_of_port(const struct graph *g, const struct memory *memory, const struct pci *pf,
		    char *ret, size_t size);

/*
 * Lists the users of a driver, as many as there is room for: the users of each function that is
 * bound to it and in_use_over_rdma(), those of the module, its holders and references. eRDMA's
 * ibdevs have their netdev on another function: that one counts. It is no user that the node needs
 * this netdev, whose own driver stays. Source: a reference is held by open uverbs contexts only
 * (uverbs_main.c), so that no reference does not mean no user.
 */
bool in_use_of_driver(const struct graph *g, const struct memory *memory, const char *driver,
		      char *ret, size_t size);

/* Appends to a list for people, "a; b"; one that ends in "; ..." had no room for all. */
_printf_(3, 4) void in_use_append(char *list, size_t size, const char *format, ...);
