/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: leaves out of the plan what three boots failed at. Which step equals which, and what a
 * failure is, are the rules of model/boots.h.
 */
#include "../model/boots.h"
#include "steps.h"

static void tell_how(const struct node *n, const struct boot_step *s, char *ret, size_t size)
{
	const struct boot_step *last = NULL;

	for (size_t i = 0; i < n->n_boots; i++)
		if (!streq(n->boots[i].boot_id, n->boot_id) && boots_find(&n->boots[i], s))
			last = boots_find(&n->boots[i], s);
	if (last && last->result < 0)
		snprintf(ret, size, "%s%s%s failed in 3 boots: %s", verb_name(s->verb),
			 s->to[0] ? " " : "", s->to, strerror(-last->result));
	else
		snprintf(ret, size, "%s%s%s began in 3 boots and never ended", verb_name(s->verb),
			 s->to[0] ? " " : "", s->to);
}

static void refuse(struct action *a, const char *detail)
{
	a->class = CLASS_REFUSED;
	a->reason = REASON_BOOT_LOOP;
	COPY(a->detail, detail);
}

/* A number of VFs that is not set is no reason to remove others first, or to get ready for it. */
static void drop_rest(struct plan *p, const char *pf)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		const bool is_rest = a->verb == VERB_SET_NUM_VFS ||
				     (a->verb == VERB_SET_AUTOPROBE && streq(a->to, "0"));

		if (!is_open_change(a) || !streq(a->target, pf) || !is_rest)
			p->actions[kept++] = *a;
	}
	p->n_actions = kept;
}

int plan_boots(const struct config *c, const struct node *n, struct plan *p)
{
	struct boot_step s;
	char detail[192];

	/* Who asks by hand wants it now, and stands beside the machine. */
	if (n->is_by_hand)
		return 0;
	for (size_t i = 0; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];

		if (!is_open_change(a) || !boots_step(c, n, a, &s) || !boots_is_loop(n, &s) ||
		    was_tried(p, a->verb, a->target, a->to))
			continue;
		tell_how(n, &s, detail, sizeof(detail));
		refuse(a, detail);
		if (a->verb == VERB_SET_NUM_VFS) {
			drop_rest(p, s.target);
			i = 0; /* places have changed, and the first one was met */
		}
	}
	return 0;
}
