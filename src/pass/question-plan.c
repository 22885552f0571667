/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Question: which facts a plan depends on that the node does not have yet.
 */
#include "../step/steps.h"

/*
 * Open changes that take something away may depend on who uses it.
 * A change that waits for a reboot because something is in use names who uses it.
 */
static bool needs_users(const struct action *a)
{
	return action_is_destructive(a) && (action_is_open(a) || a->class == CLASS_NEEDS_REBOOT ||
					    (a->is_done && a->result == -EBUSY));
}

/* Asks about each device that is handed out and was not opened before in this boot. */
static void ask_for_verbs(struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const struct ibdev *ib = p->devices[i].ibdev;
		char(*slot)[IBDEV_LEN];

		if (!p->devices[i].is_handed_out || !ib || ib->verbs != 1)
			continue;
		slot = APPEND(p->questions.ibdevs, p->questions.n_ibdevs);
		p->texts.is_short |= !slot;
		if (!slot)
			return;
		COPY(*slot, ib->name);
		p->questions.set |= 1u << QUESTION_VERBS;
	}
}

/* Only managed functions get hints, so no other function is read. */
static void ask_for_functions(struct plan *p)
{
	FOREACH(d, p->devices, p->n_devices) {
		if (d->is_vf)
			continue;
		p->texts.is_short |= questions_add_function(&p->questions, d->pci->address) < 0;
		p->questions.set |= 1u << QUESTION_PCIE;
	}
}

/* Its driver may have said why it does not drive it. A new VF has no driver until it is bound. */
static bool needs_log(const struct plan *p, const struct device *d)
{
	const struct action *first = plan_next(p, d->pci->address, NULL);

	return d->reason == REASON_NO_DRIVER && !(d->is_vf && first && action_is_open(first));
}

int plan_ask(const struct node *n, struct plan *p)
{
	if (ANY(a, p->actions, p->n_actions, needs_users(a)))
		p->questions.set |= 1u << QUESTION_USERS;
	ask_for_verbs(p);
	ask_for_functions(p);
	if (p->questions.n_lookups > 0)
		p->questions.set |= 1u << QUESTION_LOOKUPS;
	if (ANY(d, p->devices, p->n_devices, needs_log(p, d)))
		p->questions.set |= 1u << QUESTION_LOG;
	p->questions.set &= ~n->asked;
	return plan_result(p);
}
