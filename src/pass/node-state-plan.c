/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: what devices are waited for, and what the node is then: starting, ready or degraded. It
 * adds waits, and no change.
 */
#include "../model/in-use.h"
#include "../step/steps.h"

/* A switch brings a port up within seconds; one that takes longer is ready when it comes. */
#define CARRIER_USEC (60 * USEC_PER_SEC)

static bool is_needed_change(const struct action *a)
{
	return action_is_open(a) && !action_is_best_effort(a);
}

/* Does this plan load a module, which may change any device? */
static bool is_loading(const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions,
		   (a->verb == VERB_LOAD_MODULE || a->verb == VERB_RELOAD_MODULE) &&
			   is_needed_change(a));
}

/* Will this plan change the device or its PF, so that it is too early to say what it lacks? */
static bool is_changing(const struct plan *p, const struct device *d)
{
	const char *const targets[] = { d->pci->address, d->pci->physfn };

	for (size_t i = 0; i < ELEMENTSOF(targets); i++) {
		const struct action *a = NULL;

		while ((a = plan_next(p, targets[i], a)))
			if (is_needed_change(a))
				return true;
	}
	return false;
}

static enum step step_of(enum reason reason)
{
	switch (reason) {
	case REASON_PORT_DOWN:
	case REASON_NO_GID:
	case REASON_NO_IPV6_GID:
	case REASON_NO_ADDRESS:
	case REASON_GID_PENDING:
		return STEP_LINK;
	default:
		return STEP_DRIVER;
	}
}

/* Is nobody at the other end of this port? */
static bool is_cut(const struct node *n, const struct memory *memory, struct plan *p,
		   const struct device *pf)
{
	const struct netdev *nd = pf->netdev;
	const struct device_memory *m = memory_device(memory, pf->pci->address);
	uint64_t until;

	if (!device_lacks_carrier(pf))
		return false;
	if (nd && streq(nd->link_state, LINK_NO_CABLE))
		return true;
	if (n->now_usec == 0) /* a captured tree */
		return false;
	until = (m && m->no_carrier_usec > 0 ? m->no_carrier_usec : n->now_usec) + CARRIER_USEC;
	if (until <= n->now_usec)
		return true;
	p->again_usec = p->again_usec > 0 ? MIN(p->again_usec, until) : until;
	return false;
}

static void find_missing(const struct node *n, const struct memory *memory, struct plan *p)
{
	const struct device *pf = NULL;

	FOREACH(d, p->devices, p->n_devices) {
		if (!d->is_vf)
			pf = d;
		if (d->is_usable || !pf) /* VFs come after their PF */
			continue;
		if (d->reason == REASON_PORT_DOWN)
			d->is_missing = is_cut(n, memory, p, pf);
		else if (d->is_vf ? d->reason == REASON_PF_SICK
				  : in_use_is_vfio(d->pci)) /* of a virtual machine, say */
			d->is_missing = true;
	}
}

static void wait_for_device(struct plan *p, const struct device *d)
{
	const struct action *same = NULL;
	struct action *a;

	if (!d->is_handed_out || d->is_usable || is_changing(p, d))
		return;

	/* The same obstacle may stand there already, as the reason why its VFs cannot be made or it
	 * has no address. */
	while ((same = plan_next(p, d->pci->address, same)))
		if (same->reason == d->reason ||
		    (d->reason == REASON_NO_ADDRESS && same->step == STEP_ROUTE && same->reason))
			return;

	a = plan_add_reason(p, VERB_WAIT, CLASS_WAITING, d->pci->address, d->reason);
	a->step = step_of(d->reason);
	a->detail = action_text(&p->texts, d->detail);
	a->advice = d->advice;
	a->is_missing = d->is_missing;
}

/* A plugin is asked for, and no section that says what it hands out. */
static bool lacks_sections(const struct config *c)
{
	return c->n_devices == 0 && c->plugin.type != PLUGIN_NONE;
}

/* NICs that no section matches and that are bound to a driver of virtual machines: they may be
 * those that are missing. */
static void name_vfio(const struct node *n, const struct plan *p, char *ret, size_t size)
{
	const struct pci *first = NULL;
	size_t n_all = 0;

	FOREACH(pci, n->pcis, n->n_pcis) {
		if (pci->physfn[0] || !pci_is_network(pci) || !in_use_is_vfio(pci) ||
		    plan_device(p, pci))
			continue;
		first = first ?: pci;
		n_all++;
	}
	ret[0] = '\0';
	if (first)
		snprintf(ret, size, "; %zu NIC%s bound to vfio-pci or the like, as %s", n_all,
			 n_all == 1 ? " is" : "s are", first->address);
}

static void wait_for_missing(const struct config *c, const struct node *n,
			     const struct memory *memory, struct plan *p)
{
	const struct device_config *u = p->unmatched;
	const struct device *taken = FIND(d, p->devices, u ? p->n_devices : 0,
					  !d->is_vf && plan_is_match(u->match, n, memory, d->pci));
	struct action *a;
	char vfio[128];

	if (node_lacks(n) && p->n_devices == 0)
		return plan_add_wait(p, STEP_DRIVER, CLASS_WAITING, "", REASON_NOT_RECORDED, "%s",
				     node_lacks(n));
	name_vfio(n, p, vfio, sizeof(vfio));
	if (p->n_missing > 0)
		plan_add_wait(p, STEP_DRIVER, CLASS_WAITING, "", REASON_DEVICES_MISSING,
			      "%" PRIu32 " more expected%s", p->n_missing, vfio);
	if (u)
		plan_add_wait(p, STEP_DRIVER, CLASS_WAITING, "", REASON_NO_DEVICES,
			      taken ? "[Device %s] Match=%s: %s belongs to [Device %s] before it"
			      : u->match ? "[Device %s] Match=%s%s"
					 : "[Device %s] has no Match=",
			      u->name, u->match, taken ? taken->pci->address : vfio,
			      taken ? taken->config->name : NULL);
	if (!lacks_sections(c))
		return;
	a = plan_add_reason(p, VERB_WAIT, CLASS_WAITING, "", REASON_NO_DEVICES);
	a->step = STEP_DRIVER;
	a->advice = "Add a [Device NAME] section with Match= for the NICs to hand out, or choose a "
		    "preset: \"rdma-provision presets\" lists them.";
}

/* Is it as it is to be, or, with @or_missing, as good as it gets? */
static bool is_done(const struct device *d, bool or_missing)
{
	return d->is_usable || (or_missing && d->is_missing);
}

static bool cannot_have_vfs(const struct plan *p, const struct device *d)
{
	const struct action *a = NULL;

	while ((a = plan_next(p, d->pci->address, a)))
		if (a->verb == VERB_SET_NUM_VFS && a->class == CLASS_IMPOSSIBLE)
			return true;
	return false;
}

/* Are there as many such VFs as this PF was asked for? Those of other programs are not missing
 * while there is another one. */
static bool has_all_vfs(const struct plan *p, size_t pf, bool or_missing)
{
	const struct device *d = &p->devices[pf];
	uint32_t want = d->wanted_vfs, usable = 0, foreign = 0;

	if (!d->has_vf_mode || want == COUNT_LEAVE || (or_missing && cannot_have_vfs(p, d)))
		return true;

	for (size_t i = pf + 1; i < p->n_devices && p->devices[i].is_vf; i++) {
		usable += is_done(&p->devices[i], or_missing);
		foreign += p->devices[i].is_foreign;
	}
	return usable > 0 && usable + foreign >= want;
}

/* Is something left out while what tells which NIC carries the node is still to come? */
static bool waits_for_evidence(const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions,
		   a->reason == REASON_NODE_NIC_UNKNOWN && a->class == CLASS_WAITING);
}

static bool is_complete(const struct config *c, const struct plan *p, bool or_missing)
{
	if (waits_for_evidence(p))
		return false;
	if (p->n_missing > 0 || p->unmatched || lacks_sections(c))
		return false;

	return !ANY(d, p->devices, p->n_devices,
		    d->is_asked_for || (d->is_handed_out && !is_done(d, or_missing)) ||
			    (!d->is_vf && !has_all_vfs(p, (size_t)(d - p->devices), or_missing)));
}

/* Does the service stop at this until it is done? Of the rest of a plan a device may be used
 * without. */
static bool is_needed(const struct action *a)
{
	switch (a->verb) {
	case VERB_LOAD_MODULE:
	case VERB_RELOAD_MODULE:
	case VERB_SET_NETNS_MODE:
	case VERB_SET_NUM_VFS:
		return !action_is_best_effort(a);
	default:
		return false;
	}
}

/*
 * Devices may well be usable in a driver mode that nobody asked for, or with other VFs than were
 * asked for: only this shows it. READY: nothing is in the way. STARTING: something
 * that a wait may bring. DEGRADED: something that none will.
 */
static enum node_state judge_changes(const struct plan *p)
{
	enum node_state state = NODE_READY;

	FOREACH(a, p->actions, p->n_actions) {
		if (!is_needed(a) || action_is_open(a))
			continue;
		if (a->class != CLASS_WAITING)
			return NODE_DEGRADED;
		state = NODE_STARTING;
	}
	return state;
}

/*
 * The kernel gives no uevent for the state of an InfiniBand port; the carrier of its IPoIB netdev
 * goes with it: ipoib_event() in drivers/infiniband/ulp/ipoib/ipoib_verbs.c. It has one only when
 * it could join the multicast group of the subnet: ipoib_mcast_carrier_on_task(). A VF of the sriov
 * plugin is judged by its PF.
 */
static bool is_silent(const struct config *c, const struct device *d)
{
	if (!d->ibdev || d->is_in_pod ||
	    (d->netdev && d->netdev->is_up && d->netdev->has_carrier) ||
	    (d->is_vf && (!d->is_handed_out || plugin_gives_vfs(c->plugin.type))))
		return false;
	return ANY(p, d->ibdev->ports, d->ibdev->n_ports, streq(p->link_layer, "InfiniBand"));
}

void plan_state(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	const bool is_early = is_loading(p);

	for (size_t i = 0; i < p->n_devices; i++)
		p->n_silent += is_silent(c, &p->devices[i]);

	find_missing(n, memory, p);
	wait_for_missing(c, n, memory, p);
	for (size_t i = 0; i < p->n_devices && !is_early; i++)
		wait_for_device(p, &p->devices[i]);

	p->state = is_complete(c, p, true) && !node_lacks(n) ? judge_changes(p) : NODE_STARTING;
	if (p->state == NODE_READY && !is_complete(c, p, false))
		p->state = NODE_DEGRADED;
	if (p->state == NODE_STARTING && p->is_told)
		p->state = NODE_DEGRADED;
	/* Without a last good configuration an invalid one stands for an empty one: nothing to wait
	 * for. */
	if (p->state == NODE_READY && (c->has_unknown || c->is_invalid || *c->ignored))
		p->state = NODE_DEGRADED;
}
