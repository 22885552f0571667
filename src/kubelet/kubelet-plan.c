/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet plan: what kubelet/decide-rules.c decided about each setting, as actions and hints of the
 * plan.
 */
#include "../step/steps.h"

/* The one change of all settings, which kubelet-ensure makes together; NULL: there is none yet. */
static struct action *find_change(const struct plan *p)
{
	return FIND(a, p->actions, p->n_actions,
		    a->verb == VERB_ENSURE_KUBELET && a->class == CLASS_CHANGE);
}

static void add_change(const struct kubelet_item *item, enum kubelet_setting s, struct plan *p)
{
	struct action *a = find_change(p);

	if (a) {
		a->detail =
			plan_text(p, "%s%s%s %s%s%s", a->detail, *a->detail ? "; " : "",
				  kubelet_key(s), item->from, *item->from ? " -> " : "", item->to);
		return;
	}
	a = plan_add(p, VERB_ENSURE_KUBELET, item->path);
	a->subject = kubelet_key(s);
	COPY(a->text.from, item->from);
	COPY(a->text.to, item->to);
	a->detail = action_text(&p->texts, item->detail);
}

static void add_refused(const struct kubelet_item *item, struct plan *p)
{
	const bool is_reboot = item->reason == REASON_KUBELET_CPU_STATE;
	struct action *a;

	/* A finding that no edit can change is a hint, and no action. */
	if (item->outcome == KUBELET_WAITING || item->reason == REASON_KUBELET_NUMA_NODES)
		return plan_add_hint(p, item->reason, "kubelet", "%s", item->detail);

	a = plan_add_reason(p, VERB_ENSURE_KUBELET, is_reboot ? CLASS_NEEDS_REBOOT : CLASS_REFUSED,
			    item->path, item->reason);
	COPY(a->text.from, item->from);
	COPY(a->text.to, item->to);
	a->detail = action_text(&p->texts, item->detail);
}

/*
 * Devices are aligned by the topology manager, by the NUMA nodes that their plugin reports. The
 * static CPU policy is one of its other hint providers, and does nothing to devices alone.
 * Source: pkg/kubelet/cm/topologymanager/scope.go, policy_none.go
 */
static void hint_alignment(const struct config *c, const struct node *n, struct plan *p)
{
	const struct kubelet_value *has = &n->kubelet.values[KUBELET_TOPOLOGY_POLICY];

	if (p->n_devices == 0 || c->kubelet.cpu_policy != CPU_POLICY_STATIC ||
	    c->kubelet.topology_policy != TOPOLOGY_POLICY_UNSET || has->source == KUBELET_UNKNOWN ||
	    (*has->text && !streq(has->text, topology_policy_name(TOPOLOGY_POLICY_NONE))))
		return;
	plan_add_hint(p, REASON_KUBELET_ALIGNS_NOTHING, "kubelet",
		      "CPUManagerPolicy=static with the topology policy none");
}

/* Hints that none of kubelet_units and kubelet_files is there: "explain kubelet" lists them. */
static void hint_not_found(const struct config *c, const struct node *n, struct plan *p)
{
	if ((!config_has_kubelet_policy(c) && c->kubelet.gate != GATE_STRICT) || n->is_copy ||
	    n->kubelet.is_there || n->kubelet_decision.items[KUBELET_TOPOLOGY_POLICY].row > 0)
		return;
	plan_add_hint(
		p, REASON_KUBELET_NOT_FOUND, "kubelet",
		"there is no kubelet.service, no unit of k3s, RKE2, k0s, MicroShift or a snap, "
		"and no KubeletConfiguration in a usual file");
}

void plan_units(const struct config *c, const struct node *n, const struct memory *memory _unused_,
		struct plan *p)
{
	if (!c->is_invalid && n->is_generated_stale)
		plan_add(p, VERB_RELOAD_UNITS, "kubelet.service");
}

void plan_kubelet(const struct config *c, const struct node *n,
		  const struct memory *memory _unused_, struct plan *p)
{
	const struct kubelet_decision *d = &n->kubelet_decision;
	bool is_done = true;

	/* kubelet-ensure and generator read no last good configuration, and keep their files. */
	if (c->is_invalid)
		return;

	for (int i = 0; i < _KUBELET_SETTING_N; i++) {
		const struct kubelet_item *item = &d->items[i];

		if (item->row == 0 || item->outcome == KUBELET_SATISFIED)
			continue;
		is_done = false;
		if (item->outcome == KUBELET_CHANGED)
			add_change(item, (enum kubelet_setting)i, p);
		else if (!ANY(told, d->items, (size_t)i,
			      told->row > 0 && told->reason == item->reason &&
				      streq(told->detail, item->detail)))
			add_refused(item, p);
	}
	if (d->is_state_removed && !find_change(p)) {
		struct action *a =
			plan_add(p, VERB_ENSURE_KUBELET, n->kubelet.cpus.checkpoint_path);

		COPY(a->text.from, n->kubelet.cpus.checkpoint);
		is_done = false;
	}
	if (is_done && n->kubelet.is_deferred)
		plan_add_hint(p, REASON_KUBELET_DEFERRED, "kubelet", NULL);
	if (*d->would_exit)
		plan_add_hint(p, REASON_KUBELET_WOULD_EXIT, "kubelet", "%s", d->would_exit);
	hint_not_found(c, n, p);
	hint_alignment(c, n, p);
}
