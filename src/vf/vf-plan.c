/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vf: how many VFs each PF is to have, and the way there, which begins with the udev rules.
 * vf-precheck-rules.h has what forbids it, vf/vf-setup-plan.c the setup of the VFs.
 */
#include "../device/judge-rules.h"
#include "../guard/guard-rules.h"
#include "../guard/in-use-plan.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/paths.h"
#include "../model/udev-rules.h"
#include "../step/identity-rules.h"
#include "../step/steps.h"

#define MAX_LATER 4 /* sections that are named */

uint32_t plan_wanted_vfs(const struct device_config *dc, const struct pci *pf)
{
	switch (dc->mode) {
	case VF_MODE_EXCLUSIVE:
		return 0;
	case VF_MODE_SHARED:
		return 1;
	case VF_MODE_SHARED_MULTI:
		return dc->count == COUNT_MAX ? pf->total_vfs : dc->count;
	default:
		return COUNT_LEAVE;
	}
}

static struct action *add_change(struct plan *p, enum class class, enum reason reason,
				 const struct pci *pf, uint32_t from, uint32_t to)
{
	struct action *a = plan_add_reason(p, VERB_SET_NUM_VFS, class, pf->address, reason);

	action_set_numbers(a, from, to == COUNT_MAX ? VALUE_MAX : to);
	return a;
}

bool plan_is_making_vfs(const struct plan *p, const char *pf)
{
	const struct action *a = NULL;

	while ((a = plan_next(p, pf, a)))
		if (a->verb == VERB_SET_NUM_VFS && a->class == CLASS_CHANGE &&
		    !attempts_find_ended(p->tried, VERB_SET_NUM_VFS, pf, a->number.to.n))
			return true;
	return false;
}

/* Is there anything that the VFs should get before a driver looks at them? */
static bool is_staged(const struct node *n, const struct device *d)
{
	uint32_t missing = d->unsupported;
	bool is_ib = node_is_infiniband(n, d->pci);

	if (!d->pci->has_autoprobe || !d->pci->autoprobe)
		return false;
	if (d->config->identity == IDENTITY_DERIVED &&
	    !(missing & (is_ib ? VF_SETTING_GUID : VF_SETTING_MAC)))
		return true;
	if (d->config->trust != TRUST_KEEP && !(missing & VF_SETTING_TRUST))
		return true;
	return is_ib && !(missing & VF_SETTING_LINK); /* the link of a VF is down until it is set */
}

bool plan_makes_unbound_vfs(const struct node *n, const struct device *pf)
{
	const bool has_wish = pf->wanted_vfs != COUNT_LEAVE && pf->wanted_vfs > pf->pci->num_vfs;

	return has_wish && (is_staged(n, pf) || (pf->pci->has_autoprobe && !pf->pci->autoprobe));
}

static void add_changes(const struct node *n, struct plan *p, const struct device *d, uint32_t want)
{
	const struct pci *pf = d->pci;
	struct action *a;

	/* A number that was tried and is not there has failed. Fewer VFs than asked for are better
	 * than none: they are not removed for another try. */
	if (attempts_find_ended(p->tried, VERB_SET_NUM_VFS, pf->address, want)) {
		add_change(p, CLASS_CHANGE, REASON_NONE, pf, pf->num_vfs, want);
		return;
	}

	if (pf->num_vfs > 0) {
		add_change(p, CLASS_CHANGE, REASON_NONE, pf, pf->num_vfs, 0);
		if (attempts_find_ended(p->tried, VERB_SET_NUM_VFS, pf->address, 0))
			return;
	}
	if (want > 0 && is_staged(n, d)) {
		a = plan_add(p, VERB_SET_AUTOPROBE, pf->address);
		action_set_numbers(a, 1, 0);
	}
	if (want == 0)
		return;
	a = add_change(p, CLASS_CHANGE, REASON_NONE, pf, 0, want);
	if (d->vf_rdma == VF_RDMA_UNKNOWN)
		a->detail = "whether these have RDMA is not known";
}

static uint32_t wish_of(const struct device *d)
{
	/* max is a wish for VFs, also where it means 0 */
	return d->config->count == COUNT_MAX && d->config->mode == VF_MODE_SHARED_MULTI &&
			       d->wanted_vfs == 0
		       ? COUNT_MAX
		       : d->wanted_vfs;
}

const struct need *plan_vf_of_node(const struct node *n, const struct plan *p,
				   const struct device *d)
{
	const uint32_t want = wish_of(d);

	if (want == COUNT_LEAVE || want == d->pci->num_vfs)
		return NULL;
	for (size_t i = 0; i < p->n_needs; i++) {
		const struct pci *pci = node_pci(n, p->needs[i].pci);

		if (pci && streq(pci->physfn, d->pci->address))
			return &p->needs[i];
	}
	return NULL;
}

/* Finds what keeps the number of VFs of this PF from changing now, and its class. REASON_NONE:
 * nothing.
 */
static enum reason judge(const struct node *n, const struct memory *memory, const struct plan *p,
			 const struct device *d, enum class *ret, char *detail, size_t size)
{
	const struct need *vf = plan_vf_of_node(n, p, d);
	const uint32_t want = wish_of(d);
	enum reason obstacle;

	if (vf) {
		*ret = CLASS_REFUSED;
		plan_describe_need(vf, detail, size);
		return guard_reason(vf);
	}
	obstacle = vf_precheck(p, memory, d->pci, want, ret, detail, size);
	if (obstacle == REASON_PF_SICK && d->is_in_pod) {
		*ret = CLASS_NEEDS_REBOOT;
		in_use_of_function(&p->graph, memory, d->pci, detail, size);
		return REASON_VF_IN_USE;
	}
	if (obstacle != REASON_NONE)
		return obstacle;
	*ret = CLASS_WAITING;
	if (d->sick[0]) {
		copy(detail, size, d->sick);
		return REASON_PF_SICK;
	}
	*ret = CLASS_NEEDS_REBOOT;
	if (in_use_of_vfs(&p->graph, memory, d->pci, detail, size))
		return REASON_VF_IN_USE;
	if (guard_may_at_boot(d, GUARD_NUM_VFS)) {
		copy(detail, size, d->used_by);
		return REASON_PF_IN_USE;
	}
	*ret = CLASS_WAITING;
	/* Without ib_ipoib on the PF new VFs would get no GUIDs, and be unreachable. */
	if (want > 0 && identity_lacks_ipoib(n, d)) {
		snprintf(detail, size, "%s is %s", IPOIB_MODULE,
			 module_is_in_kernel(node_module(n, IPOIB_MODULE)) ? "loaded"
									   : "not loaded");
		return REASON_NO_IPOIB;
	}
	*ret = CLASS_CHANGE;
	return REASON_NONE;
}

/* A change that was tried without effect has failed, and holds up no other NIC. */
static bool wants_change(const struct plan *p, const struct device *d)
{
	const uint32_t want = wish_of(d);

	return !d->is_vf && want != COUNT_LEAVE && want != d->pci->num_vfs &&
	       !attempts_find_ended(p->tried, VERB_SET_NUM_VFS, d->pci->address, want);
}

void plan_put_off(const struct node *n, const struct memory *memory, struct plan *p)
{
	char detail[VF_PRECHECK_LEN];
	enum class class;

	FOREACH(by, p->devices, p->n_devices) {
		bool has_vfs = false;

		if (by->put_off_by || !wants_change(p, by) ||
		    judge(n, memory, p, by, &class, detail, sizeof(detail)) != REASON_VF_IN_USE)
			continue;
		for (size_t k = 0; k < p->n_devices; k++)
			has_vfs |= p->devices[k].is_vf && p->devices[k].config == by->config;
		FOREACH(d, p->devices, p->n_devices) {
			/* A NIC that the node needs is left as it is. A NIC without VFs, beside one
			 * that has them, is in the middle of its change, or has just come. */
			if (d->wanted_vfs == COUNT_LEAVE || d->config != by->config ||
			    (d->pci->num_vfs == 0 && wish_of(d) > 0 && by->pci->num_vfs > 0))
				continue;
			d->put_off_by = by;
			d->has_vf_mode = has_vfs;
		}
	}
}

static void plan_pf(const struct node *n, const struct memory *memory, struct plan *p,
		    const struct device *d)
{
	const uint32_t want = wish_of(d);
	char detail[ACTION_TEXT_LEN];
	const char *advice = NULL;
	enum class class;
	enum reason reason;
	struct action *a;
	const struct action *running = attempts_changing_vfs(p->tried, d->pci->address);

	if (running) { /* its end tells how many VFs there are */
		a = plan_add(p, VERB_SET_NUM_VFS, d->pci->address);
		*a = *running;
		return;
	}
	if (want == COUNT_LEAVE || want == d->pci->num_vfs)
		return;
	reason = judge(n, memory, p, d, &class, detail, sizeof(detail));
	if (reason == REASON_NONE && d->put_off_by)
		reason = judge(n, memory, p, d->put_off_by, &class, detail, sizeof(detail));
	if (reason == REASON_NONE)
		return add_changes(n, p, d, want);
	reason = judge_cause(n, d->pci, reason, detail, sizeof(detail), &advice);
	if (reason == REASON_NOT_RECORDED)
		class = CLASS_WAITING;
	a = add_change(p, class, reason, d->pci, d->pci->num_vfs, want);
	a->detail = action_text(&p->texts, detail);
	a->advice = advice;
}

/* Has this PF, or gets it by this plan, more than one VF to share? */
static bool has_several_vfs(const struct plan *p, const struct device *d)
{
	return d->config->mode == VF_MODE_SHARED_MULTI &&
	       (d->pci->num_vfs > 1 ||
		(d->wanted_vfs > 1 && plan_is_making_vfs(p, d->pci->address)));
}

/* VKE advises against it: GPU jobs want all of a port. */
static void hint_gpus(const struct node *n, struct plan *p)
{
	const struct pci *gpu = FIND_LAST(f, n->pcis, n->n_pcis, pci_is_gpu(f));
	const struct device *d = FIND(it, p->devices, p->n_devices, has_several_vfs(p, it));

	if (gpu && d)
		plan_add_hint(p, REASON_GPU_SHARED_MULTI, "", "[Device %s], GPU %s",
			      d->config->name, gpu->address);
}

void plan_vf(const struct config *c _unused_, const struct node *n, const struct memory *memory,
	     struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (!p->devices[i].is_vf)
			plan_pf(n, memory, p, &p->devices[i]);
	hint_gpus(n, p);
}

/* ", before [Device a], [Device b] and 3 more, which match too" */
static void format_later(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct pci *pf, const struct device_config *first, char *ret,
			 size_t size)
{
	uint32_t n_later = 0;

	ret[0] = '\0';
	for (size_t i = (size_t)(first - c->devices) + 1; i < c->n_devices; i++)
		if (plan_is_match(c->devices[i].match, n, memory, pf) && ++n_later <= MAX_LATER)
			append_word(ret, size, "", "%s[Device %s]",
				    n_later == 1 ? ", before " : ", ", c->devices[i].name);
	if (n_later > MAX_LATER)
		append_word(ret, size, "", " and %" PRIu32 " more", n_later - MAX_LATER);
	if (n_later > 0)
		append_word(ret, size, "", ", which %s too", n_later == 1 ? "matches" : "match");
}

static void explain_unmanaged(const struct pci *pf, const char *whose, char *ret, size_t size)
{
	if (pf->is_management || pci_is_for_vfs(pf))
		snprintf(ret, size, "%s%s, so no [Device NAME] section matches it", whose,
			 pf->is_management ? "it manages NVSwitches (SW_MNG in its VPD)"
					   : "its driver uses it to make VFs alone");
	else if (pf->num_vfs > 0)
		snprintf(ret, size,
			 "%sno [Device NAME] section matches: %" PRIu32
			 " VF%s there, left alone (a section with VirtualFunctions=exclusive would "
			 "remove them)",
			 whose, pf->num_vfs, pf->num_vfs == 1 ? "" : "s");
	else
		snprintf(ret, size, "%sno [Device NAME] section matches: it is not managed", whose);
}

int64_t plan_explain_vfs(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct pci *pci, char *ret, size_t size)
{
	const struct pci *pf = pci->physfn[0] ? node_pci(n, pci->physfn) : pci;
	const struct device_config *dc = pf ? plan_section_of(c, n, memory, pf) : NULL;
	char later[MAX_LATER * (sizeof(dc->name) + 12) + 64], whose[PCI_LEN + 16] = "";
	uint32_t want;

	ret[0] = '\0';
	if (pf && pf != pci)
		PRINT(whose, "its PF %s: ", pf->address);
	if (pf && !dc)
		explain_unmanaged(pf, whose, ret, size);
	if (!dc)
		return -1;

	want = plan_wanted_vfs(dc, pf);
	format_later(c, n, memory, pf, dc, later, sizeof(later));
	snprintf(ret, size,
		 "%s[Device %s] is the first section that matches%s: VirtualFunctions=%s", whose,
		 dc->name, later, vf_mode_name(dc->mode));
	if (want == COUNT_LEAVE && pf->num_vfs > 0)
		append_word(ret, size, "", ", %" PRIu32 " VF%s there, left alone", pf->num_vfs,
			    pf->num_vfs == 1 ? "" : "s");
	else if (want != COUNT_LEAVE && want > 0 && n->is_copy && !pf->has_sriov && !pf->has_config)
		append_word(ret, size, "",
			    ", %" PRIu32 " VF%s asked for, those possible not in this tree", want,
			    want == 1 ? "" : "s");
	else if (want != COUNT_LEAVE && (want > 0 || pf->has_sriov))
		append_word(ret, size, "",
			    ", %" PRIu32 " VF%s asked for, %" PRIu32 " there, %" PRIu32 " possible",
			    want, want == 1 ? "" : "s", pf->num_vfs, pf->total_vfs);
	return want == COUNT_LEAVE ? -1 : (int64_t)want;
}

/* --- udev rules of the PFs that are to have VFs of ours --- */

/* A manager may have what carries the node, or a VF that the host uses, and is to keep it. */
static bool gets_vfs(const struct plan *p, const struct memory *memory, const struct pci *pci)
{
	const struct device *d = plan_device(p, pci), *vf = d;

	if (!d || d->is_vf || d->wanted_vfs == COUNT_LEAVE || d->gives_nothing || !d->has_vf_mode)
		return false;
	while (++vf < p->devices + p->n_devices && vf->is_vf)
		if (vf->need ||
		    (vf->netdev && node_has_host_address(p->graph.n, memory, vf->netdev->ifindex)))
			return false;
	return true;
}

/* VFs that are left as they are when their section goes would be taken at their next event. */
static bool keeps_vfs(const struct node *n, const struct pci *pci)
{
	char path[PCI_LEN + 4];

	PRINT(path, "/%s/", pci->address);
	return pci->num_vfs > 0 && n->rules_file && strstr(n->rules_file, path);
}

/* NULL when no PF of ours is to have VFs. */
static int make_rules(const struct node *node, const struct memory *memory, const struct plan *p,
		      char **ret, size_t *ret_n)
{
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return -ENOMEM;
	FOREACH(pci, node->pcis, node->n_pcis)
		if (pci->has_sriov && (gets_vfs(p, memory, pci) || keeps_vfs(node, pci))) {
			fprintf(out.f, "%s\n", pci->address);
			*ret_n += 1;
		}
	return stream_close(&out) < 0 ? -ENOMEM : udev_rules_make(out.text, ret);
}

void plan_udev_rules(const struct config *c, const struct node *n, const struct memory *memory,
		     struct plan *p)
{
	struct action *a;
	size_t n_pfs = 0;

	p->texts.is_short |= make_rules(n, memory, p, &p->rules, &n_pfs) < 0;
	if (!p->rules && (!n->rules_file || c->is_invalid))
		return;
	if (p->rules && n->rules_file && streq(p->rules, n->rules_file))
		return;

	a = plan_add(p, VERB_WRITE_RULES, "/" RULES_PATH);
	if (p->rules)
		a->detail = plan_text(p, "keep networkd and NetworkManager off the VFs of %zu PF%s",
				      n_pfs, n_pfs == 1 ? "" : "s");
	else
		COPY(a->text.to, "none"); /* told apart from the other way by what was tried */
}
