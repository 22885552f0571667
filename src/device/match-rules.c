/* SPDX-License-Identifier: Apache-2.0 */
#include "match-rules.h"

#include "../model/given.h"
#include "../step/steps.h"

#include <fnmatch.h>

#define WORD_LEN 257 /* a word that fills it may be cut, and matches nothing */

/* Writes '_' for '-', except in ranges: "[a-z]". */
static void spell_as_module(char *name)
{
	bool is_in_brackets = false;

	for (; *name; name++) {
		if (*name == '[' || *name == ']')
			is_in_brackets = *name == '[';
		else if (*name == '-' && !is_in_brackets)
			*name = '_';
	}
}

/* Drivers may have '-' in their names ("xen-netfront"), which their modules spell '_'. */
static bool is_driver_match(const char *glob, const char *name)
{
	char module_glob[256], module[IBDEV_LEN];

	COPY(module_glob, glob);
	COPY(module, name);
	spell_as_module(module_glob);
	spell_as_module(module);
	return fnmatch(glob, name, 0) == 0 || fnmatch(module_glob, module, 0) == 0;
}

/* Did a section match another function by this name in this boot? That one keeps it. */
static bool is_name_of_other(const struct node *n, const struct memory *memory,
			     const struct pci *pci, const char *name)
{
	return ANY(d, memory->devices, memory->n_devices,
		   streq(d->matched, name) && !streq(d->pci, pci->address) && node_pci(n, d->pci));
}

/* Does one word of Match= ("driver:mlx5_core") fit? @kind is set to its kind. */
static bool is_word_match(const char *word, const struct node *n, const struct memory *memory,
			  const struct pci *pci, size_t *kind)
{
	static const char *const kinds[] = { "pci:", "id:", "driver:", "netdev:", "ibdev:" };
	const struct netdev *nd = node_own_netdev(n, pci);
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const struct device_memory *m = memory_device(memory, pci->address);
	char values[ELEMENTSOF(kinds)][IBDEV_LEN] = {};

	COPY(values[0], pci->address);
	snprintf(values[1], sizeof(values[1]), "%04x:%04x", pci->vendor, pci->device);
	/* An unbound function matches the driver that its modalias resolves to. */
	COPY(values[2], pci->driver[0] ? pci->driver : pci->module);
	COPY(values[3], nd && !is_name_of_other(n, memory, pci, nd->name) ? nd->name : "");
	COPY(values[4], ib ? ib->name : "");

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		const char *glob = after(word, kinds[i]);

		if (!glob || strlen(word) + 1 == WORD_LEN)
			continue;
		*kind = i;
		if (streq(kinds[i], "netdev:") && m && m->matched[0] &&
		    fnmatch(glob, m->matched, 0) == 0)
			return true;
		if (!values[i][0])
			return false;
		if (streq(kinds[i], "netdev:"))
			return netdev_is_called(nd, glob);
		return streq(kinds[i], "driver:") ? is_driver_match(glob, values[i])
						  : fnmatch(glob, values[i], 0) == 0;
	}

	*kind = 0;
	return false;
}

/* Words of the same kind are alternatives; every kind that is named has to fit. */
bool plan_is_match(const char *match, const struct node *n, const struct memory *memory,
		   const struct pci *pci)
{
	unsigned named = 0, fits = 0;
	char word[WORD_LEN];
	size_t kind;

	while (match && given_next_word(&match, word, sizeof(word))) {
		const bool fit = is_word_match(word, n, memory, pci, &kind);

		named |= 1u << kind;
		fits |= fit ? 1u << kind : 0;
	}
	return named != 0 && fits == named;
}

bool match_is_named(const char *match, const struct node *n, const struct memory *memory,
		    const struct pci *pci)
{
	char word[WORD_LEN];
	size_t kind;

	while (match && given_next_word(&match, word, sizeof(word)))
		if ((is_prefix(word, "pci:") || is_prefix(word, "netdev:")) &&
		    !strpbrk(word, "*?[\\") && is_word_match(word, n, memory, pci, &kind))
			return true;
	return false;
}

/* The function of an eRDMA device's netdev has nothing of its own: netdev:eth1 means the eRDMA
 * function. */
static bool is_netdev_of_erdma(const struct node *n, const struct pci *pci)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);

	for (size_t i = 0; nd && i < n->n_ibdevs; i++) {
		const struct pci *owner = node_pci(n, n->ibdevs[i].pci);

		if (owner && owner != pci && pci_is_erdma(owner) &&
		    streq(n->ibdevs[i].netdev, nd->name))
			return true;
	}
	return false;
}

/* Could the function be a NIC? A glob such as pci:* must not reach disks. */
static bool is_nic(const struct node *n, const struct pci *pci)
{
	if (pci->is_management)
		return false;
	if (node_ibdev_of(n, pci->address) || pci_is_erdma(pci))
		return true;
	return pci_is_network(pci) && !is_netdev_of_erdma(n, pci);
}

const struct device_config *plan_section_of(const struct config *c, const struct node *n,
					    const struct memory *memory, const struct pci *pci)
{
	if (!is_nic(n, pci))
		return NULL;
	return FIND(d, c->devices, c->n_devices, plan_is_match(d->match, n, memory, pci));
}

void plan_forget_names(const struct config *c, const struct node *n, struct memory *memory)
{
	for (size_t i = 0; i < memory->n_devices; i++) {
		struct device_memory *m = &memory->devices[i];
		const struct pci *pci = m->matched[0] ? node_pci(n, m->pci) : NULL;
		const struct device_config *dc = pci ? plan_section_of(c, n, memory, pci) : NULL;

		if (pci && !(dc && strstr(dc->match, "netdev:")))
			m->matched[0] = '\0';
	}
}
