/* SPDX-License-Identifier: Apache-2.0 */
#include "boots.h"

#include "module-options.h"
#include "plan.h"

static const char *driver_of(const struct node *n, const struct action *a)
{
	const struct pci *pci = node_pci(n, a->target);

	switch (a->verb) {
	case VERB_LOAD_MODULE:
	case VERB_RELOAD_MODULE:
		return a->target;
	case VERB_BIND_DRIVER:
	case VERB_PROBE_DRIVER:
	case VERB_REBIND_DRIVER:
		return a->text.to;
	default:
		return pci ? pci->driver : "ib_core";
	}
}

/* Describes the driver that is loaded, else the one that its file has. */
static void format_driver(const struct node *n, const char *name, char *ret, size_t size)
{
	const struct module *m = node_module(n, name);
	const bool is_loaded = m && m->state == MODULE_LOADED;

	snprintf(ret, size, "%.63s %s %s", name,
		 !m          ? ""
		 : is_loaded ? m->loaded_version
			     : m->version,
		 !m          ? ""
		 : is_loaded ? m->loaded_srcversion
			     : m->srcversion);
	for (size_t used = strlen(ret); used > 0 && ret[used - 1] == ' '; used--)
		ret[used - 1] = '\0';
}

bool boots_step(const struct config *c, const struct node *n, const struct action *a,
		struct boot_step *ret)
{
	char to[SHOWN_LEN];
	const struct pci *pci = node_pci(n, a->target);
	const char *target = pci && pci->physfn[0] ? pci->physfn : a->target;
	const struct ibdev *ib = node_ibdev_of(n, target);

	if (!verb_has(a->verb, CAN_CRASH))
		return false;

	*ret = (struct boot_step){ .verb = a->verb };
	COPY(ret->target, target);
	COPY(ret->to, action_to(a, to));
	COPY(ret->config, c->hash);
	COPY(ret->firmware, ib ? ib->firmware : "");
	if (pci)
		node_card(n, pci, ret->card);
	COPY(ret->program, n->program);
	format_driver(n, driver_of(n, a), ret->driver, sizeof(ret->driver));
	return true;
}

static bool is_same(const struct boot_step *a, const struct boot_step *b)
{
	return a->verb == b->verb && streq(a->target, b->target) && streq(a->to, b->to) &&
	       streq(a->config, b->config) && streq(a->driver, b->driver) &&
	       streq(a->program, b->program) &&
	       (!a->firmware[0] || !b->firmware[0] || streq(a->firmware, b->firmware)) &&
	       (!a->card[0] || !b->card[0] || streq(a->card, b->card));
}

const struct boot_step *boots_find(const struct boot *b, const struct boot_step *s)
{
	return FIND(t, b->steps, b->n_steps, is_same(t, s));
}

static bool is_present(const struct node *n, const struct boot *b)
{
	return streq(b->boot_id, n->boot_id);
}

bool boots_is_loop(const struct node *n, const struct memory *memory, const struct boot_step *s)
{
	size_t n_failed = 0;

	for (size_t i = memory->n_boots; i > 0 && n_failed < LOOP_BOOTS; i--) {
		const struct boot *b = &memory->boots[i - 1];

		if (is_present(n, b))
			continue;
		if (!streq(b->kernel, n->kernel) || !boots_find(b, s))
			return false;
		n_failed++;
	}
	return n_failed == LOOP_BOOTS;
}

bool boots_counts(const struct action *a)
{
	const enum reason reason = action_failure(a);

	/* A device that is in use, or was unplugged, says nothing about the step. */
	return !a->is_gone && a->result != -EBUSY && !action_is_best_effort(a) &&
	       (reason == REASON_ACTION_FAILED || reason == REASON_ACTION_TIMEOUT);
}

void boots_put(struct boot *b, const struct boot_step *s)
{
	struct boot_step *to = FIND(t, b->steps, b->n_steps, is_same(t, s));

	if (!to && b->n_steps < MAX_BOOT_STEPS)
		to = &b->steps[b->n_steps++];
	if (to)
		*to = *s;
}

void boots_drop(struct boot *b, const struct boot_step *s)
{
	const struct boot_step *from = boots_find(b, s);

	KEEP(t, b->steps, b->n_steps, t != from);
}

const struct boot_step *boots_last(const struct node *n, const struct memory *memory,
				   const struct boot_step *s)
{
	for (size_t i = memory->n_boots; i > 0; i--) {
		const struct boot_step *found = boots_find(&memory->boots[i - 1], s);

		if (found && !is_present(n, &memory->boots[i - 1]))
			return found;
	}
	return NULL;
}

/* The failed step that @s is, as noted before it was tried, which may have changed its driver. */
static const struct boot_step *noted(const struct boot_step *steps, size_t n,
				     const struct boot_step *s)
{
	return FIND(t, steps, n,
		    t->verb == s->verb && t->result < 0 && !t->is_skipped &&
			    streq(t->target, s->target) && streq(t->to, s->to) &&
			    streq(t->config, s->config))
		       ?: s;
}

const struct boot *boots_present(const struct node *n, const struct memory *memory)
{
	return FIND_LAST(b, memory->boots, memory->n_boots, is_present(n, b));
}

const struct boot *boots_before(const struct node *n, const struct memory *memory,
				const struct boot *b)
{
	size_t i = b ? (size_t)(b - memory->boots) : memory->n_boots;

	if (b && b->has_needs && b->state != NODE_STARTING)
		return NULL;
	do
		b = i > 0 ? &memory->boots[--i] : NULL;
	while (b && is_present(n, b));
	return b;
}

/* Are device and function number the same? The number of a bus changes with other cards. */
static bool is_number(const char *a, const char *b)
{
	return strrchr(a, ':') && strrchr(b, ':') && streq(strrchr(a, ':'), strrchr(b, ':'));
}

const struct pci *boots_function(const struct node *n, const struct boot_need *k)
{
	const struct pci *at = node_pci(n, k->pci), *ret = NULL;
	char card[MAC_LEN] = "", other[MAC_LEN];

	if (at)
		node_card(n, at, card);
	if (at && streq(card, k->card))
		return at;
	FOREACH_WHILE(pci, n->pcis, n->n_pcis, k->card[0]) {
		node_card(n, pci, other);
		if (streq(other, k->card) && !pci->physfn[0] == !k->pf[0] &&
		    (is_number(pci->address, k->pci) || (!ret && !k->pf[0])))
			ret = pci;
	}
	return ret || (card[0] && k->card[0]) ? ret : at;
}

/* A function that is gone, or is elsewhere now, stays; of others the plan tells what is better. */
static bool is_still_needed(const struct node *n, const struct plan *p, const struct boot_need *k)
{
	const struct pci *pci = boots_function(n, k);
	const struct need *now = plan_need(p, k->pci);

	return !pci || !streq(pci->address, k->pci) ||
	       (now && now->is_kept && now->why == NEED_BEFORE);
}

/* Leaves out a PF that is needed for its VF alone: the VF leads to it again. */
static void note_needs(const struct node *n, const struct plan *p, struct boot *b)
{
	b->has_needs |= p->has_needs;
	KEEP(k, b->needs, b->n_needs, is_still_needed(n, p, k));
	FOREACH_WHILE(k, p->needs, p->n_needs, b->n_needs < MAX_NEEDS) {
		const struct pci *pci = node_pci(n, k->pci);
		struct boot_need *to;

		if (!k->is_kept || k->is_by_vf || !pci ||
		    (k->why == NEED_BEFORE &&
		     ANY(have, b->needs, b->n_needs, boots_function(n, have) == pci)))
			continue;
		to = &b->needs[b->n_needs++];
		*to = (struct boot_need){};
		COPY(to->pci, k->pci);
		COPY(to->pf, pci->physfn);
		node_card(n, pci, to->card);
		COPY(to->of, k->of);
		COPY(to->words, k->words);
	}
}

void boots_conclude(const struct config *c, const struct node *n, const struct memory *memory,
		    const struct plan *p, struct boot *b)
{
	struct boot_step before[MAX_BOOT_STEPS];
	const size_t n_before = b->n_steps;

	memcpy(before, b->steps, sizeof(before));
	/* While a write goes on or hangs, the plan waits for it and has no change that tells of it.
	 */
	KEEP(s, b->steps, b->n_steps,
	     s->verb == VERB_SET_NUM_VFS && streq(s->target, memory->stuck));
	FOREACH(a, p->actions, p->n_actions) {
		struct boot_step s;

		if (!boots_step(c, n, a, &s))
			continue;
		s.is_skipped = a->reason == REASON_BOOT_LOOP && boots_is_loop(n, memory, &s);
		s.result = s.is_skipped ? boots_last(n, memory, &s)->result : a->result;
		if (s.is_skipped)
			boots_put(b, &s);
		else if (a->class == CLASS_CHANGE && boots_counts(a))
			boots_put(b, noted(before, n_before, &s));
	}
	if (p->state != NODE_STARTING)
		b->state = p->state;
	note_needs(n, p, b);
}

size_t boots_telling(const struct node *n, const struct memory *memory, size_t *ret_first)
{
	size_t n_last = memory->n_boots, first;
	bool is_telling = false;

	if (n_last > 0 && is_present(n, &memory->boots[n_last - 1]))
		n_last--;
	first = n_last - MIN(n_last, (size_t)LOOP_BOOTS);
	for (size_t i = first; i < n_last; i++)
		is_telling |= memory->boots[i].n_steps > 0 || memory->boots[i].state != NODE_READY;
	*ret_first = first;
	return is_telling ? n_last - first : 0;
}
