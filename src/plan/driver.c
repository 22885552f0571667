/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

static bool is_planned(const struct plan *p, enum verb verb, const char *target)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (p->actions[i].verb == verb && streq(p->actions[i].target, target))
			return true;
	return false;
}

static int want_module(const struct node *n, struct plan *p, const char *name)
{
	const struct module *m = node_module(n, name);
	struct action *a;

	if ((m && (m->state == MODULE_LOADED || m->state == MODULE_BUILTIN)) ||
	    is_planned(p, VERB_LOAD_MODULE, name))
		return 0;

	if (!m || m->state == MODULE_MISSING)
		a = plan_add_reason(p, STEP_DRIVER, VERB_LOAD_MODULE, CLASS_IMPOSSIBLE, name,
				    REASON_MODULE_MISSING);
	else if (m->state == MODULE_BLACKLISTED)
		a = plan_add_reason(p, STEP_DRIVER, VERB_LOAD_MODULE, CLASS_REFUSED, name,
				    REASON_MODULE_BLACKLISTED);
	else
		a = plan_add(p, STEP_DRIVER, VERB_LOAD_MODULE, CLASS_CHANGE, name);
	return a ? 0 : -ENOMEM;
}

/*
 * A loaded driver binds by itself, unless the VF was born with sriov_drivers_autoprobe off or was
 * unbound since. Only VFs of ours are bound; an unbound PF is left to whoever unbound it.
 */
static int want_binding(const struct node *n, struct plan *p, const struct device *d)
{
	const struct module *m = node_module(n, d->pci->module);
	struct action *a;

	const struct pci *pf = node_pci(n, d->pci->physfn);

	/* Not what this plan removes and makes anew. */
	if (n->stuck[0] || !d->is_vf || !d->is_handed_out || !pf ||
	    wanted_vfs(d->config, pf) != pf->num_vfs || !m ||
	    (m->state != MODULE_LOADED && m->state != MODULE_BUILTIN))
		return 0;

	a = plan_add(p, STEP_DRIVER, VERB_BIND_DRIVER, CLASS_CHANGE, d->pci->address);
	if (!a)
		return -ENOMEM;
	COPY(a->to, d->pci->module);
	return 0;
}

int plan_driver(const struct config *c _unused_, const struct node *n, struct plan *p)
{
	static const char *const always[] = { "ib_uverbs", "rdma_ucm", "ib_umad" };
	int r = 0;

	if (p->n_devices == 0)
		return 0;

	for (size_t i = 0; i < p->n_devices && r >= 0; i++) {
		const struct device *d = &p->devices[i];

		if (d->pci->driver[0] || !d->pci->module[0])
			continue;
		r = want_module(n, p, d->pci->module);
		if (r >= 0)
			r = want_binding(n, p, d);
	}
	for (size_t i = 0; i < ELEMENTSOF(always) && r >= 0; i++)
		r = want_module(n, p, always[i]);
	return r;
}
