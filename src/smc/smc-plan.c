/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: the module smc, and the PNETIDs of devices that are handed out and their netdevs. Entries of
 * others stay; which connections use SMC is not looked at.
 */
#include "../model/module-options.h"
#include "../model/pnet.h"
#include "../step/steps.h"

/* Does a managed NIC belong to eRDMA? */
static bool has_erdma(const struct plan *p)
{
	return ANY(d, p->devices, p->n_devices, pci_is_erdma(d->pci));
}

/* With keep the mode is the one that eRDMA's driver is loaded in. */
static enum driver_mode mode_in_force(const struct config *c, const struct node *n,
				      const struct plan *p)
{
	const enum driver_mode mode = node_driver_mode(c, n);

	if (mode != DRIVER_MODE_KEEP)
		return mode;
	return has_erdma(p) && module_options_is_compat(n) ? DRIVER_MODE_COMPAT
							   : DRIVER_MODE_DEFAULT;
}

static void refuse(struct plan *p, enum reason reason)
{
	plan_add_item(p, VERB_LOAD_MODULE, CLASS_REFUSED, SMC_MODULE, reason, NULL);
}

/* Words for people: what it is about, and what is replaced. */
static void describe(const struct pnet_wish *w, const struct pnet *replaced, struct plan *p,
		     struct action *a)
{
	const char *name = !replaced             ? ""
			   : replaced->netdev[0] ? replaced->netdev
						 : replaced->ibdev;

	a->detail = plan_text(p, "%s, %s", w->ibdev, w->netdev);
	if (!replaced)
		return;
	COPY(a->text.from, streq(replaced->id, w->id) ? "" : replaced->id);
	a->detail = plan_text(p, "%s, %s: instead of %s of %s", w->ibdev, w->netdev, replaced->id,
			      name);
}

static void want_entries(const struct node *n, const struct memory *memory, struct plan *p,
			 const struct device *d)
{
	const struct pnet *wrong;
	struct pnet_wish w;
	struct action *a;

	/* A netdev that comes back from a pod gets its MAC first, which the PNETID is made of. */
	if (d->is_changed || !pnet_wish(memory, d->pci->address, d->netdev, d->ibdev, &w))
		return;
	wrong = FIND(e, n->pnets, n->n_pnets, pnet_judge(n, &w, e) == PNET_WRONG);
	if (!wrong && pnet_is_there(n, &w, n->pnets, n->n_pnets, false) &&
	    pnet_is_there(n, &w, n->pnets, n->n_pnets, true))
		return;

	a = plan_add(p, VERB_SET_PNETID, d->pci->address);
	COPY(a->text.to, w.id);
	describe(&w, wrong, p, a);
}

/*
 * smc_ib_add_dev() in net/smc/smc_ib.c takes IB_CA devices alone: eRDMA in mode default is iWARP.
 * The kernels of Alibaba Cloud Linux 3 (".al8") take it as well, from 5.10.134-17 on: README of
 * alibabacloud-erdma-controller, and ACK's page, which name no other system.
 */
static bool takes_iwarp(const char *release)
{
	return strstr(release, ".al8") && strverscmp(release, "5.10.134-17") >= 0;
}

static bool is_refused_by_smc(const struct node *n, const struct device *d)
{
	return ((d->ibdev && streq(d->ibdev->node_type, "RNIC")) || pci_is_erdma(d->pci)) &&
	       !takes_iwarp(n->kernel);
}

/* yes is impossible; auto does without SMC, and hints at it. */
static void tell_iwarp(const struct config *c, const struct node *n, struct plan *p,
		       const struct device *d)
{
	if (c->smc.enable != SMC_YES)
		return plan_add_hint(p, REASON_SMC_IWARP, d->pci->address, "%s", n->kernel);
	plan_add_item(p, VERB_SET_PNETID, CLASS_IMPOSSIBLE, d->pci->address, REASON_SMC_IWARP, "%s",
		      n->kernel);
}

static void want_table(const struct config *c, const struct node *n, const struct memory *memory,
		       struct plan *p)
{
	const struct module *m = node_module(n, SMC_MODULE);

	if (!m)
		return plan_add_hint(p, REASON_NOT_RECORDED, SMC_MODULE, "whether it is installed");
	if (!module_is_in_kernel(m)) {
		/* With auto, a node without the module is ready all the same. */
		if (c->smc.enable == SMC_YES || m->state == MODULE_AVAILABLE)
			return plan_want_module(n, p, SMC_MODULE);
		return plan_add_hint(p, REASON_SMC_ABSENT, SMC_MODULE, "%s",
				     module_state_name(m->state));
	}
	if (!n->has_pnets) {
		if (c->smc.enable == SMC_YES)
			plan_add_reason(p, VERB_LOAD_MODULE, CLASS_IMPOSSIBLE, SMC_MODULE,
					REASON_SMC_NO_TABLE);
		return;
	}
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_handed_out && is_refused_by_smc(n, &p->devices[i]))
			tell_iwarp(c, n, p, &p->devices[i]);
		else if (p->devices[i].is_handed_out)
			want_entries(n, memory, p, &p->devices[i]);
}

static void want_smc(const struct config *c, const struct node *n, const struct memory *memory,
		     struct plan *p)
{
	const enum driver_mode mode = mode_in_force(c, n, p);

	if (c->smc.enable == SMC_NO || p->n_devices == 0 ||
	    (c->smc.enable == SMC_AUTO && mode != DRIVER_MODE_DEFAULT))
		return;
	if (mode == DRIVER_MODE_OFED)
		return refuse(p, REASON_SMC_WITH_OFED);
	if (has_erdma(p) && mode == DRIVER_MODE_COMPAT)
		return refuse(p, REASON_SMC_WITH_COMPAT);
	/* The driver is to be reloaded in another mode: the next look finds its devices. */
	if (has_erdma(p) && module_options_is_compat(n))
		return;
	want_table(c, n, memory, p);
}

void plan_smc(const struct config *c, const struct node *n, const struct memory *memory,
	      struct plan *p)
{
	size_t i = p->n_actions;

	want_smc(c, n, memory, p);
	for (; i < p->n_actions; i++) /* its module is loaded for SMC alone */
		p->actions[i].step = STEP_SMC;
}
