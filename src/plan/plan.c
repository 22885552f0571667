/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "contest.h"
#include "steps.h"

/*
 * A file of ours that was written is there. When it is wanted again within one pass, devices became
 * usable or VFs went meanwhile, and what is to be in it is another text.
 */
static bool is_written(const struct action *tried)
{
	return tried->result >= 0 &&
	       (tried->verb == VERB_WRITE_RULES || is_file_for_others(tried->verb));
}

/* Was it kept from being done by somebody who came in between, which a reboot would mend? */
static void settle_busy(struct action *a)
{
	if ((a->verb != VERB_SET_NETNS_MODE && a->verb != VERB_RELOAD_MODULE) ||
	    a->result != -EBUSY)
		return;
	a->class = CLASS_NEEDS_REBOOT;
	a->reason = action_failure(a);
	COPY(a->detail, a->error);
}

/* No answer is nothing that failed: it is waited for one, unless it came and is no good. */
static void settle_metadata(struct action *a)
{
	if (a->verb != VERB_ASK_METADATA || (a->result != -EAGAIN && a->result != -EBADMSG))
		return;
	a->class = a->result == -EAGAIN ? CLASS_WAITING : CLASS_REFUSED;
	a->reason = action_failure(a);
	snprintf(a->detail + strlen(a->detail), sizeof(a->detail) - strlen(a->detail), ": %s",
		 a->error);
}

/*
 * What came in between may have been on its way: an ibdev is in sysfs before netlink counts its
 * users (ib_register_device() in drivers/infiniband/core/device.c). Nothing was done, so the next
 * look may ask for it again, once.
 */
static bool is_first_refusal(const struct plan *tried, const struct action *t)
{
	for (const struct action *b = tried->actions; b < t; b++)
		if (b->is_refused && is_same_change(b, t))
			return false;
	return t->is_refused;
}

void plan_mark_tried(const struct plan *tried, struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];

		for (size_t k = 0; k < tried->n_actions; k++) {
			const struct action *t = &tried->actions[k];

			if (a->class != CLASS_CHANGE || (!t->is_done && !t->is_running) ||
			    !is_same_change(a, t) || is_written(t) || is_first_refusal(tried, t))
				continue;

			a->is_running = t->is_running;
			if (a->is_running)
				break;
			a->is_done = true;
			a->is_vain = t->result >= 0;
			a->result = a->is_vain ? -EIO : t->result;
			COPY(a->error,
			     t->result < 0
				     ? t->error
				     : "the kernel accepted it, but it did not take effect, or "
				       "somebody undid it at once");
			settle_busy(a);
			settle_metadata(a);
			break;
		}
	}
}

const struct action *was_tried(const struct plan *p, enum verb verb, const char *target,
			       const char *to)
{
	for (size_t i = 0; p->tried && i < p->tried->n_actions; i++) {
		const struct action *t = &p->tried->actions[i];

		if (t->verb == verb && t->is_done && streq(t->target, target) && streq(t->to, to))
			return t;
	}
	return NULL;
}

int plan_make(const struct config *c, const struct node *n, const struct plan *tried, bool settled,
	      int (*documents)(const struct config *c, const struct node *n, struct plan *p),
	      struct plan *ret)
{
	static int (*const steps[])(const struct config *c, const struct node *n,
				    struct plan *p) = {
		plan_devices,  plan_driver,      plan_netns,     plan_carriers, plan_sysctl,
		plan_rules,    plan_link_pf,     plan_vf,        plan_boots,    plan_birth,
		plan_link_vf,  plan_metadata,    plan_addresses, plan_route,    plan_table,
		plan_gateways, plan_coexistence, plan_gids,      plan_smc,      plan_late,
		plan_boots,    plan_kubelet,     plan_health,
	};
	_cleanup_(plan_done) struct plan p = { .tried = tried };
	size_t n_before;
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(steps) && r >= 0; i++) {
		const size_t first = p.n_actions;

		r = steps[i](c, n, &p);
		plan_contest(c, n, first, &p); /* the next step is to know what is left alone */
	}
	if (r >= 0 && tried)
		plan_mark_tried(tried, &p);
	if (r >= 0)
		r = plan_state(c, n, settled, &p);
	p.is_whole = p.state == NODE_READY && !has_needed_changes(&p);
	if (r >= 0)
		r = documents(c, n, &p);
	n_before = p.n_actions;
	if (r >= 0)
		r = plan_plugin(c, n, &p);
	plan_contest(c, n, n_before, &p);
	if (r >= 0 && tried)
		plan_mark_tried(tried, &p);
	if (r < 0)
		return r;

	/* Ready, or as good as it gets, is what nothing has to be done to. */
	if (p.state != NODE_STARTING && has_needed_changes(&p))
		p.state = is_settled(c, n, settled) ? NODE_DEGRADED : NODE_STARTING;

	p.tried = NULL;
	*ret = TAKE_STRUCT(p);
	return 0;
}
