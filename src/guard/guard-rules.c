/* SPDX-License-Identifier: Apache-2.0 */
#include "guard-rules.h"

#include "../model/in-use.h"
#include "../step/quirk-rules.h"

enum verdict {
	NO,
	YES,
	NAMED,      /* where its section names it: pci: or netdev: without a glob */
	EXCLUSIVE,  /* where its section says VirtualFunctions=exclusive, or did so */
	NO_PORT,    /* unless it is a port of a bond, team, bridge or datapath */
	KEEPS_LINK, /* where its driver keeps the link meanwhile; else at the next boot */
};

/* clang-format off */
static const enum verdict table[_GUARD_CHANGE_N][_DEVICE_USE_N] = {
	/* of what:          free the node needs  the host uses a PF  a PF has addresses  a VF is used */
	[GUARD_NUM_VFS] = { YES, NAMED,           KEEPS_LINK,         YES,                NO },
	[GUARD_MTU]     = { YES, NAMED,           NO_PORT,            YES,                NO },
	[GUARD_DCB]     = { YES, NO,              NO_PORT,            YES,                NO },
	[GUARD_ROCE]    = { YES, NO,              YES,                YES,                YES },
	[GUARD_ROUTES]  = { YES, NO,              YES,                YES,                NO },
	[GUARD_MOVE]    = { YES, NO,              NO,                 EXCLUSIVE,          NO },
};
/* clang-format on */

static enum device_use use_of(const struct config *c, const struct memory *memory, struct plan *p,
			      struct device *d)
{
	const bool is_ra = c->route.manage && c->route.ipv6 == IPV6_RA;
	enum in_use_degree degree;

	if (d->need)
		return DEVICE_NEEDED;
	/* In a pod it stays where it is, in use by that pod. A node may have thousands of VFs:
	 * their users are looked up only where a setting asks. */
	if (d->is_in_pod || (d->is_vf && !plugin_moves_netdev(c->plugin.type) &&
			     d->config->mtu == 0 && !c->route.manage))
		return DEVICE_FREE;
	degree = in_use_degree(&p->graph, memory, d->pci, is_ra, d->used_by, sizeof(d->used_by));
	d->is_use_unknown = degree == IN_USE_UNKNOWN;
	if (degree == IN_USE_FREE)
		return DEVICE_FREE;
	if (d->is_vf)
		return DEVICE_VF_USED;
	if (!p->graph.n->has_socks) /* that of an address may be all there is */
		p->questions.set |= 1u << QUESTION_SOCKS;
	return degree == IN_USE_ADDRESSED ? DEVICE_ADDRESSED : DEVICE_USED;
}

void guard_look(const struct config *c, const struct memory *memory, struct plan *p,
		struct device *d)
{
	d->use = use_of(c, memory, p, d);
	d->is_port = node_is_port(p->graph.n, d->netdev);
}

static bool resolve(const struct device *d, enum verdict answer)
{
	switch (answer) {
	case NAMED:
		return d->is_named;
	case EXCLUSIVE:
		return d->config->mode == VF_MODE_EXCLUSIVE || (d->put_off_by && d->was_exclusive);
	case NO_PORT:
		return !d->is_port;
	case KEEPS_LINK:
		return quirk_has(d->pci, QUIRK_KEEPS_LINK) ||
		       (d->pci->num_vfs == 0 && quirk_has(d->pci, QUIRK_KEEPS_LINK_FROM_0));
	default:
		return answer == YES;
	}
}

bool guard_may(const struct device *d, enum guard_change what)
{
	/* A PF whose VF is needed has routes of its own. */
	const bool is_free = d->use == DEVICE_NEEDED && d->need->is_by_vf && what == GUARD_ROUTES;

	return resolve(d, table[what][is_free ? DEVICE_FREE : d->use]);
}

enum reason guard_reason(const struct need *k)
{
	if (!k)
		return REASON_PORT_IN_USE;
	if (k->why == NEED_NOT_RECORDED)
		return REASON_NOT_RECORDED;
	return k->why >= NEED_UNKNOWN ? REASON_NODE_NIC_UNKNOWN : REASON_NODE_NIC;
}

bool guard_may_at_boot(const struct device *d, enum guard_change what)
{
	return table[what][d->use] == KEEPS_LINK && !guard_may(d, what);
}
