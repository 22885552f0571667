/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device: which functions are managed, by which section and by which of their names; which are
 * handed out, and what is left to the host. It adds no action: what is to be done about one that is
 * not usable is pass/node-state-plan.c.
 */
#include "../guard/guard-rules.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/given.h"
#include "../model/in-use.h"
#include "../model/route-find.h"
#include "../step/steps.h"
#include "judge-rules.h"

#include <fnmatch.h>

#define WORD_LEN 257 /* a word that fills it may be cut, and matches nothing */

/* --- which section owns a function --- */

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

/* Does one word of Match= ("driver:mlx5_core") fit? @kind is set to its kind. */
static bool is_word_match(const char *word, const struct node *n, const struct memory *memory,
			  const struct pci *pci, size_t *kind)
{
	static const char *const kinds[] = { "pci:", "id:", "driver:", "netdev:", "ibdev:" };
	const struct netdev *nd = node_own_netdev(n, pci);
	const struct ibdev *ib = node_ibdev_of(n, pci->address);
	const struct device_memory *m = memory_device(memory, pci->address);
	char values[ELEMENTSOF(kinds)][IBDEV_LEN] = {};
	struct netdev away = {};

	/* In a pod it is called as it was last, unless another device has that name now. */
	if (!nd && m && !node_netdev_named(n, m->netdev)) {
		COPY(away.name, m->netdev);
		COPY(away.altnames, m->given.altnames);
		nd = &away;
	}
	COPY(values[0], pci->address);
	PRINT(values[1], "%04x:%04x", pci->vendor, pci->device);
	/* An unbound function matches the driver that its modalias resolves to. */
	COPY(values[2], pci->driver[0]      ? pci->driver
			: pci_is_erdma(pci) ? ERDMA_MODULE /* which may not be on disk yet */
					    : pci->module);
	/* Did a section match another function by this name in this boot? That one keeps it. */
	if (nd && !nd->is_unnamed &&
	    !ANY(d, memory->devices, memory->n_devices,
		 streq(d->matched, nd->name) && !streq(d->pci, pci->address) &&
			 node_pci(n, d->pci)))
		COPY(values[3], nd->name);
	COPY(values[4], ib ? ib->name : m && !node_ibdev_named(n, m->ibdev) ? m->ibdev : "");

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

/* Does pci: or netdev: name this function without a glob? A glob may match what nobody meant. */
static bool is_named(const char *match, const struct node *n, const struct memory *memory,
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

	return nd && ANY(ib, n->ibdevs, n->n_ibdevs,
			 streq(ib->netdev, nd->name) && !streq(ib->pci, pci->address) &&
				 pci_is_erdma(node_pci(n, ib->pci)));
}

/* Is it a VF in a copy that lacks the links between VFs and their PF? A guest has no PF. */
static bool is_unlinked_vf(const struct node *n, const struct pci *pci)
{
	return n->is_copy && !pci->physfn[0] && pci_is_vf(pci) &&
	       ANY(f, n->pcis, n->n_pcis,
		   f->vendor == pci->vendor && pci_is_network(f) && !pci_is_vf(f));
}

/* Could the function be a NIC? A glob such as pci:* must not reach disks. */
static bool is_nic(const struct node *n, const struct pci *pci)
{
	if (pci->is_management || pci_is_for_vfs(pci) || is_unlinked_vf(n, pci))
		return false;
	if (node_ibdev_of(n, pci->address) || pci_is_erdma(pci))
		return true;
	return pci_is_network(pci) && !is_netdev_of_erdma(n, pci);
}

const struct device_config *plan_section_of(const struct config *c, const struct node *n,
					    const struct memory *memory, const struct pci *pci)
{
	const struct netdev *nd = node_own_netdev(n, pci);
	const bool is_due = nd && nd->is_unnamed && !memory_device(memory, pci->address);

	FOREACH_WHILE(d, c->devices, c->n_devices, is_nic(n, pci)) {
		if (plan_is_match(d->match, n, memory, pci))
			return d;
		if (is_due && d->match && strstr(d->match, "netdev:"))
			return NULL; /* it may match by the name that udev is to give */
	}
	return NULL;
}

void plan_forget_names(const struct config *c, const struct node *n, struct memory *memory)
{
	FOREACH(m, memory->devices, memory->n_devices) {
		const struct pci *pci = m->matched[0] ? node_pci(n, m->pci) : NULL;
		const struct device_config *dc = pci ? plan_section_of(c, n, memory, pci) : NULL;

		if (pci && !(dc && strstr(dc->match, "netdev:")))
			m->matched[0] = '\0';
	}
}

/* --- which functions are handed out --- */

bool plan_carries_node(const struct device *d)
{
	return d->need && !d->need->is_by_vf;
}

/*
 * With a type that moves the netdev nothing is handed out that carries the node or that the host
 * uses. The other types share the RDMA device, and move nothing. VFs are never made on what carries
 * the node; those that are there are handed out.
 */
static enum reason find_aside(const struct config *c, const struct device *d)
{
	if (d->has_vf_mode)
		return d->need && !d->is_named && d->pci->num_vfs == 0 ? guard_reason(d->need)
								       : REASON_NONE;
	if (!plugin_moves_netdev(c->plugin.type) || guard_may(d, GUARD_MOVE))
		return REASON_NONE;
	if (d->is_use_unknown)
		return REASON_NOT_RECORDED;
	return guard_reason(d->need);
}

/* Lists the settings of its section or [Route] that the device does not get. */
static void list_left_out(const struct config *c, const struct device *d, char *ret, size_t size)
{
	const bool is_free = d->need && !d->is_named;
	const uint32_t want = d->is_vf ? COUNT_LEAVE : plan_wanted_vfs(d->config, d->pci);

	ret[0] = '\0';
	if (is_free && want != COUNT_LEAVE && want != d->pci->num_vfs)
		append_word(ret, size, ", ", "VirtualFunctions=");
	if (is_free && (!d->is_vf || d->is_handed_out) && d->netdev && d->config->mtu > 0 &&
	    d->config->mtu != d->netdev->mtu)
		append_word(ret, size, ", ", "MTU=");
	if (ret[0] && !d->is_vf && guard_reason(d->need) == REASON_NODE_NIC && !d->need->is_by_vf)
		append_word(ret, size, " ", "(only for pci: or netdev: without a glob in Match=)");
	if (plan_carries_node(d) && d->netdev && c->route.manage)
		append_word(ret, size, ", ", "[Route]");
	if (d->is_vf && d->aside != REASON_NONE)
		append_word(ret, size, ", ", "[DevicePlugin] Type=sriov");
}

/* Reports each function once, as a hint, for a glob may well match it by chance. */
static void tell_aside(const struct config *c, const struct node *n, struct plan *p,
		       const struct device *d)
{
	const enum reason reason = d->need ? guard_reason(d->need) : d->aside;
	const bool is_waiting = d->need && d->need->why == NEED_WAITING;
	const struct netdev *vrf = route_vrf_of(n, d->netdev);
	char detail[448], left_out[128];

	if (plugin_moves_netdev(c->plugin.type) && d->is_handed_out && d->used_by[0] &&
	    (d->use == DEVICE_FREE || d->use == DEVICE_ADDRESSED))
		return plan_add_hint(
			p, REASON_PORT_ADDRESSED, d->pci->address, "%s%s%s%s", d->used_by,
			vrf ? "; it also leaves VRF " : "", vrf ? vrf->name : "",
			vrf ? ", and gets all back once it is a port of that again" : "");
	list_left_out(c, d, left_out, sizeof(left_out));
	if (reason == REASON_NONE || d->is_in_pod || (!left_out[0] && d->aside == REASON_NONE))
		return;
	if (!d->is_vf && plan_vf_of_node(n, p, d)) /* the refused change reports it */
		return;

	if (d->aside != REASON_NONE)
		plan_describe_aside(p, d, detail, sizeof(detail));
	else
		plan_describe_need(d->need, detail, sizeof(detail));
	if (left_out[0])
		snprintf(detail + strlen(detail), sizeof(detail) - strlen(detail), "; left out: %s",
			 left_out);
	if (!is_waiting && !d->is_asked_for)
		return plan_add_hint(p, reason, d->pci->address, "%s", detail);

	plan_add_wait(p, STEP_PLUGIN, is_waiting ? CLASS_WAITING : CLASS_REFUSED, d->pci->address,
		      reason, "%s", detail);
}

static bool gives_nothing(const struct memory *memory, const struct plan *p, const struct device *d)
{
	char detail[VF_PRECHECK_LEN];
	enum class class;

	return d->has_vf_mode && d->pci->num_vfs == 0 && d->wanted_vfs != COUNT_LEAVE &&
	       d->wanted_vfs > 0 &&
	       vf_precheck(p, memory, d->pci, d->wanted_vfs, &class, detail, sizeof(detail)) !=
		       REASON_NONE &&
	       class == CLASS_IMPOSSIBLE;
}

/*
 * Counts of contexts and connections show neither whose they are, nor the PDs of a part of the
 * kernel that has nothing else (SMC-R, SRP). VFs may be thousands: of those that are handed out
 * only connections are asked about, as NVMe over RDMA has them without a context.
 */
static bool needs_users(const struct config *c, const struct device *d)
{
	if (!plugin_moves_netdev(c->plugin.type) || d->is_in_pod || !d->ibdev)
		return false;
	return d->is_handed_out ? !d->is_vf || d->ibdev->n_cm_ids > 0
				: d->aside == REASON_PORT_IN_USE;
}

/*
 * A VF in use keeps its PF here: a netdev that is moved goes down, and no VF has a link then.
 * Source: dev_change_net_namespace() in net/core/dev.c, mlx5e_close() in .../mlx5/core/en_main.c.
 * The netdev of InfiniBand is ib_ipoib's, and leaves the port as it is.
 */
static void add_use_by_vfs(const struct node *n, const struct plan *p, struct device *pf)
{
	const struct device *d = pf;

	if (pf->is_vf || pf->has_vf_mode || pf->is_in_pod || node_is_infiniband(n, pf->pci) ||
	    (pf->use != DEVICE_FREE && pf->use != DEVICE_ADDRESSED))
		return;
	while (++d < p->devices + p->n_devices && d->is_vf)
		if (d->use == DEVICE_VF_USED || d->is_in_pod) {
			pf->use = DEVICE_USED;
			pf->is_use_unknown = d->is_use_unknown;
			PRINT(pf->used_by, "one of its VFs is in use, %s: %.144s", d->pci->address,
			      d->is_in_pod ? "in a pod" : d->used_by);
			return;
		}
}

/* A PF that is to have VFs is no stand-in for them, whatever keeps them from being made. */
static void hand_out(const struct config *c, const struct node *n, const struct plan *p,
		     struct device *d)
{
	const bool is_meant = d->is_vf ? judge_pf_of(p, d)->has_vf_mode
				       : !d->has_vf_mode && !judge_is_part_of_lag(n, d->pci);

	add_use_by_vfs(n, p, d);
	if (is_meant || !d->is_vf) /* VFs of others are not handed out in any case */
		d->aside = find_aside(c, d);
	d->is_handed_out = is_meant && d->aside == REASON_NONE && !d->is_foreign;
}

/* The driver's own last words are the nearest thing to a cause; explain has all of a long line. */
static void quote_driver(const struct node *n, struct device *d)
{
	const size_t at = strlen(d->detail);
	const struct log_line *last =
		FIND_LAST(l, n->log_lines, n->n_log_lines, streq(l->pci, d->pci->address));

	if (last)
		snprintf(d->detail + at, sizeof(d->detail) - at, "%skernel log: %s",
			 at > 0 ? "; " : "", last->text);
}

static struct device device_of(const struct node *n, const struct memory *memory,
			       const struct plan *p, const struct pci *pci,
			       const struct device_config *dc)
{
	struct device d = { .pci = pci,
			    .netdev = node_own_netdev(n, pci),
			    .ibdev = node_ibdev_of(n, pci->address),
			    .config = dc,
			    .need = plan_need(p, pci->address),
			    .is_vf = pci->physfn[0] };

	d.bond = node_bond_of(n, d.netdev);
	d.is_in_pod = judge_is_in_pod(n, &d, memory_device(memory, pci->address));
	return d;
}

static void add_device(const struct config *c, const struct node *n, const struct memory *memory,
		       struct plan *p, const struct pci *pci, const struct device_config *dc)
{
	const struct device_memory *m = memory_device(memory, pci->address);
	struct device *d = APPEND(p->devices, p->n_devices);

	p->texts.is_short |= !d;
	if (!d)
		return;
	*d = device_of(n, memory, p, pci, dc);
	d->has_vf_mode =
		!d->is_vf && (dc->mode == VF_MODE_SHARED || dc->mode == VF_MODE_SHARED_MULTI);
	d->is_by_name = !d->is_vf && strstr(dc->match, "netdev:");
	d->is_named = !d->is_vf && is_named(dc->match, n, memory, pci);
	d->was_exclusive = m && m->was_exclusive;
	guard_look(c, memory, p, d);
	d->wanted_vfs = d->is_vf || (d->need && !guard_may(d, GUARD_NUM_VFS))
				? COUNT_LEAVE
				: plan_wanted_vfs(dc, pci);
	d->unsupported =
		d->is_vf ? judge_pf_of(p, d)->unsupported : judge_unsupported(n, m, p, pci);
	d->is_rebuilt = (m && m->was_rebuilt) || attempts_find_begun(p->tried, VERB_REBIND_DRIVER,
								     pci->address, pci->driver);
	if (!d->is_vf) {
		judge_sick(n, m, p, d);
		d->vf_rdma = vf_precheck_rdma(n, pci);
	}
	/* The GIDs of a bonded port belong to the bond: what the ibdev calls its netdev counts. */
	COPY(d->netdev_name, d->ibdev && d->ibdev->netdev[0] ? d->ibdev->netdev
			     : d->netdev                     ? d->netdev->name
							     : "");
	COPY(d->ibdev_name, d->ibdev ? d->ibdev->name : "");
	d->gives_nothing = gives_nothing(memory, p, d);
	d->is_foreign = in_use_is_foreign(pci, d->detail, sizeof(d->detail));
	if (d->is_foreign) {
		d->is_in_pod = false;
		d->reason = REASON_VF_FOREIGN;
		return;
	}
	if (d->is_in_pod) {
		COPY(d->netdev_name, m->netdev);
		COPY(d->ibdev_name, m->ibdev);
		d->is_usable = true;
		d->reason = REASON_IN_POD;
		return;
	}

	d->reason = judge_device(c, n, memory, p, d);
	d->reason = judge_cause(n, pci, d->reason, d->detail, sizeof(d->detail), &d->advice);
	if (d->reason == REASON_NO_DRIVER)
		quote_driver(n, d);
	d->is_usable = d->reason == REASON_NONE;
	/* On its way into a pod, or back, a device is unusable for a moment: one look proves
	 * nothing. A device that was bound again was never usable. */
	d->is_lost = !d->is_usable && m && m->was_usable && !m->was_lost &&
		     !judge_is_bound_again(d->pci, m);
	if (d->is_lost && m->netdev[0])
		COPY(d->netdev_name, m->netdev);
}

/* The PF is in the plan before its VFs, which look for it there. */
static void add_vfs(const struct config *c, const struct node *n, const struct memory *memory,
		    struct plan *p, const struct pci *pf, const struct device_config *dc)
{
	for (uint32_t i = 0, found = 0;
	     found < pf->num_vfs && i < pf->total_vfs && !p->texts.is_short; i++) {
		const struct pci *vf = node_vf(n, pf->address, i);

		if (!vf)
			continue;
		found++;
		add_device(c, n, memory, p, vf, dc);
	}
}

/* Match= may have changed while pods had them. */
static void add_unmanaged(const struct node *n, const struct memory *memory, struct plan *p)
{
	static const struct device_config keep;

	FOREACH(m, memory->devices, memory->n_devices) {
		const struct pci *pci = m->is_out ? node_pci(n, m->pci) : NULL;

		if (pci && !ANY(d, p->devices, p->n_devices, d->pci == pci))
			PLAN_ADD(p, unmanaged, device_of(n, memory, p, pci, &keep));
	}
}

/* A section needs one NIC unless it says otherwise: having none is a reason of its own. */
static void add_missing(struct plan *p, const struct device_config *dc, uint32_t n_there)
{
	if (n_there > 0 || dc->expect > 1)
		p->n_missing += dc->expect - n_there;
	else if (!p->unmatched)
		p->unmatched = dc;
}

/* Is this PF, or a VF that it has, left to pods? VFs come behind their PF. */
static bool is_given(const struct plan *p, const struct device *pf)
{
	const struct device *d = pf;

	if (pf->aside != REASON_NONE)
		return false;
	while (++d < p->devices + p->n_devices && d->is_vf)
		if (d->aside == REASON_NONE)
			return true;
	return d == pf + 1;
}

/* Expect= counts the PFs that each section matches. A PF that is left to the host counts. */
static void count_missing(const struct config *c, struct plan *p)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		uint32_t n_there = 0, n_given = 0;

		FOREACH(d, p->devices, p->n_devices) {
			const bool is_match = !d->is_vf && d->config == &c->devices[i];

			n_there += is_match;
			n_given += is_match && is_given(p, d);
		}
		FOREACH(d, p->devices, p->n_devices)
			d->is_asked_for |= d->config == &c->devices[i] && d->aside != REASON_NONE &&
					   (d->is_named || n_given < c->devices[i].expect);
		if (n_there < c->devices[i].expect)
			add_missing(p, &c->devices[i], n_there);
	}
}

void plan_devices(const struct config *c, const struct node *n, const struct memory *memory,
		  struct plan *p)
{
	FOREACH_WHILE(pci, n->pcis, n->n_pcis, !p->texts.is_short) {
		const struct device_config *dc;

		if (pci->physfn[0])
			continue;
		dc = plan_section_of(c, n, memory, pci);
		if (!dc)
			continue;

		add_device(c, n, memory, p, pci, dc);
		add_vfs(c, n, memory, p, pci, dc);
	}
	add_unmanaged(n, memory, p);

	plan_put_off(n, memory, p);
	for (size_t i = 0; i < p->n_devices; i++) {
		hand_out(c, n, p, &p->devices[i]);
		if (needs_users(c, &p->devices[i]))
			p->questions.set |= 1u << QUESTION_USERS;
	}
	count_missing(c, p);
	for (size_t i = 0; i < p->n_devices; i++)
		tell_aside(c, n, p, &p->devices[i]);
	/* A card that was pulled, or is being reset, has no function to look at: memory knows it.
	 */
	FOREACH(d, memory->devices, memory->n_devices)
		p->n_gone += d->was_usable && !d->was_lost && !node_pci(n, d->pci);
}
