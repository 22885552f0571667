/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include "../step/verbs.h"

#include <poll.h>

#define ROW(verb, name) [verb] = name,
static int (*const verbs[])(struct work *w, const struct action *a) = { VERB_FUNCTIONS(ROW) };
_Static_assert(ELEMENTSOF(verbs) == _VERB_N, "a function for every verb but those that only tell");

/* The part of a plan that a lane's child works on. */
struct apply_job {
	struct work work;
	bool is_own; /* the child has closed the parent's sockets */
};

/* The parent's sockets have its answers in flight: the child opens its own. */
static void take_doors(struct apply_job *job)
{
	if (!job->is_own) {
		netlink_done(&job->work.os->route);
		netlink_done(&job->work.os->rdma);
		netlink_done(&job->work.os->generic);
	}
	job->is_own = true;
	/* The error texts may be those of another action. */
	job->work.os->rdma.error[0] = job->work.os->route.error[0] = '\0';
}

static int run_job(void *userdata, size_t i, char *error)
{
	struct apply_job *job = userdata;
	const struct action *a = &job->work.plan->actions[i];
	int r;

	take_doors(job);
	job->work.error = error;
	r = verbs[a->verb](&job->work, a);
	/* The kernel's own words, where it has some. */
	if (r < 0 && !error[0])
		copy(error, CHILD_ERROR_LEN,
		     job->work.os->rdma.error[0] ? job->work.os->rdma.error
						 : job->work.os->route.error);
	return r;
}

/*
 * Was the function of this node unplugged before or while it was written to? The driver of a PF
 * leaves it first, and takes its VFs along.
 */
static bool is_gone(const struct os *d, const struct node *n, const struct action *a)
{
	const struct pci *pci = node_pci(n, a->target);

	if (!pci)
		return false;
	return !fs_exists(&d->fs,
			  FS_PATH("sys/bus/pci/devices/%s%s", a->target,
				  a->verb == VERB_SET_NUM_VFS && pci->driver[0] ? "/driver" : ""));
}

#define LANE_LEN (PCI_LEN + 8)
#define OLD_USEC (2 * USEC_PER_SEC) /* a plan: the quick case needs no second look */

/* The PF that an action of a slow step is of; "": it is of the node. */
static const char *pf_of(const struct node *n, const struct action *a)
{
	const struct pci *pci =
		a->step == STEP_VF || a->step == STEP_LINK || a->verb == VERB_PROBE_DRIVER
			? node_pci(n, a->target)
			: NULL;

	return !pci ? "" : pci->physfn[0] ? pci->physfn : pci->address;
}

static bool is_link_of_vf(const struct node *n, const struct action *a)
{
	return a->step == STEP_LINK && !streq(pf_of(n, a), a->target);
}

/*
 * Names the lane of an action: a PF, whose driver keeps no other PF waiting; the links of its VFs,
 * each of which is made while the next VF is bound; or the node, "". Only slow steps have the lane
 * of a PF: an action as quick as adding a route keeps its order.
 */
static void name_lane(const struct node *n, const struct action *a, char ret[static LANE_LEN])
{
	snprintf(ret, LANE_LEN, "%s%s", pf_of(n, a), is_link_of_vf(n, a) ? " links" : "");
}

/* VFs get their links, and no larger MTU, after their PF. */
static bool is_after_pf(const struct node *n, const struct plan *p, size_t i)
{
	const char *pf = pf_of(n, &p->actions[i]);

	return is_link_of_vf(n, &p->actions[i]) &&
	       ANY(a, p->actions, i,
		   a->step == STEP_LINK && streq(a->target, pf) && action_is_open(a));
}

/*
 * VFs that could not be removed are there still, in use by a process: what follows of the same
 * card was meant for none. A VF whose driver failed or was slow may not be the last one. What is to
 * be done then the next plan tells.
 */
static bool is_void(const struct node *n, const struct plan *p, size_t i)
{
	const struct action *a = &p->actions[i];
	const struct pci *pci = node_pci(n, a->target);

	FOREACH_WHILE(b, p->actions, i, a->step == STEP_VF) {
		if (b->verb == VERB_SET_NUM_VFS && b->is_done && b->result < 0 &&
		    action_is_to(b, 0) &&
		    (streq(b->target, a->target) || (pci && streq(b->target, pci->physfn))))
			return true;
		if (action_is_bad_bind(b) && streq(pf_of(n, b), pf_of(n, a)))
			return true;
	}
	return false;
}

/* Udev reloads its rules while links of PFs come up, and while VFs are made that get no driver. */
static bool goes_beside(const struct action *a)
{
	return a->verb == VERB_WRITE_RULES;
}

/* Does it wait for the rules? They are for the netdevs of VFs. */
static bool needs_rules(const struct node *n, const struct plan *p, size_t i)
{
	const struct action *a = &p->actions[i];
	const struct pci *pci = node_pci(n, a->target);

	if (a->verb != VERB_SET_NUM_VFS)
		return a->step != STEP_LINK && a->verb != VERB_SET_AUTOPROBE && !goes_beside(a);
	return !(pci && pci->has_autoprobe && !pci->autoprobe) &&
	       !ANY(b, p->actions, i,
		    b->verb == VERB_SET_AUTOPROBE && streq(b->target, a->target) &&
			    action_is_to(b, 0) && !(b->is_done && b->result < 0));
}

/* No PF may be half made while the module or the netns mode is changed. */
static bool needs_quiet(const struct action *a)
{
	return a->verb == VERB_RELOAD_MODULE || a->verb == VERB_SET_NETNS_MODE;
}

/* An action that takes longer is worth a look at the node meanwhile. No action begins in a look, so
 * that these looks get no more than a fifth of the time. */
#define PATIENCE_USEC (2 * USEC_PER_SEC)
#define LOOK_SHARE    4

#define BESIDE "beside" /* the lane of actions for which goes_beside() */

enum lane_state {
	LANE_FREE,
	LANE_RUNNING,
	LANE_OLD,
	LANE_ENDED,
	_LANE_N
};

enum lane_event {
	LANE_PLAN,  /* there is another plan, or a look for one */
	LANE_BEGIN, /* of an action */
	LANE_GOOD,  /* an action ended as a plan that was made while it ran takes for granted */
	LANE_BAD,   /* it ended otherwise */
	_LANE_EVENT_N
};

enum lane_wait {
	WAIT_NONE,
	WAIT_LANE, /* for actions before it in the plan */
	WAIT_LOOK, /* for an action of an earlier plan, and the plan after that */
};

/* A PF, the links of its VFs, or the node: one action after the other, in a process of its own. */
struct lane {
	char name[LANE_LEN];
	struct child child;
	struct apply_job job;
	struct action action;      /* the one that runs */
	struct action_texts texts; /* of action */
	size_t i;                  /* the number of the action in its plan */
	enum lane_state state;
	enum lane_wait wait; /* of the next action */
	uint64_t begun_usec, until_usec;
};

static bool is_busy(const struct lane *l)
{
	return l->state == LANE_RUNNING || l->state == LANE_OLD;
}

static void lane_event(const struct apply *ap, struct lane *l, enum lane_event event)
{
	static const enum lane_state next[_LANE_N][_LANE_EVENT_N] = {
		/* PLAN, BEGIN, GOOD, BAD */
		[LANE_FREE] = { LANE_FREE, LANE_RUNNING },
		[LANE_RUNNING] = { LANE_OLD, LANE_RUNNING, LANE_FREE, LANE_FREE },
		[LANE_OLD] = { LANE_OLD, LANE_OLD, LANE_FREE, LANE_ENDED },
		[LANE_ENDED] = { LANE_FREE },
	};
	const enum lane_state before = l->state;

	l->state = next[before][event];
	/* The process of a lane has a copy of the plan of its last action. */
	if (l->state == LANE_FREE && before != LANE_RUNNING)
		ap->world->finish(&l->child);
}

static struct lane *find_lane(struct apply *ap, const struct action *a)
{
	char name[LANE_LEN] = BESIDE;
	struct lane *l;

	if (!goes_beside(a))
		name_lane(ap->node, a, name);
	for (size_t i = 0; i < ap->n_lanes; i++)
		if (streq(ap->lanes[i].name, name))
			return &ap->lanes[i];
	if (!APPEND(ap->fds, ap->n_fds))
		return NULL;
	l = APPEND(ap->lanes, ap->n_lanes);
	if (l)
		COPY(l->name, name);
	return l;
}

static uint64_t now(const struct apply *ap)
{
	return ap->world->now_usec(ap->world->userdata);
}

bool apply_is_busy(const struct apply *ap)
{
	return ANY(l, ap->lanes, ap->n_lanes, is_busy(l));
}

const struct action *apply_oldest(const struct apply *ap)
{
	const struct lane *oldest = NULL;

	FOREACH(l, ap->lanes, ap->n_lanes)
		if (is_busy(l) && (!oldest || l->begun_usec < oldest->begun_usec))
			oldest = l;
	return oldest ? &oldest->action : NULL;
}

/*
 * The lane that blocks this action: its own unless free, or one that changes a VF count. The
 * kernel takes one lock for all such changes, and behind one that hangs all others would hang as
 * well: pci_lock_rescan_remove() in drivers/pci/iov.c since Linux 6.18. NULL: none does.
 */
static const struct lane *find_before(const struct apply *ap, const struct lane *own,
				      const struct action *a)
{
	if (own->state != LANE_FREE)
		return own;
	if (a->verb != VERB_SET_NUM_VFS)
		return NULL;
	return FIND(l, ap->lanes, ap->n_lanes, is_busy(l) && l->action.verb == a->verb);
}

static void take_plan(struct apply *ap, const struct node *n, const struct memory *memory,
		      struct plan *p)
{
	ap->node = n;
	ap->memory = memory;
	ap->plan = p;
	ap->planned_usec = now(ap);
	for (size_t i = 0; i < ap->n_lanes; i++)
		lane_event(ap, &ap->lanes[i], LANE_PLAN);
}

static void end_action(struct apply *ap, struct action *a)
{
	a->is_running = false;
	a->is_done = true;
	a->is_gone = a->result < 0 && is_gone(ap->world->os, ap->node, a);
	ap->hooks->on_end(ap->hooks->userdata, a);
}

static bool needs_look(const struct apply *ap, const struct action *a)
{
	return action_is_destructive(a) ||
	       (a->verb == VERB_SET_NUM_VFS && now(ap) - ap->planned_usec > OLD_USEC);
}

/* Return: is it running? An action that could not be begun has ended. */
static bool begin_action(struct apply *ap, struct lane *l, size_t i)
{
	const struct apply_hooks *hooks = ap->hooks;
	struct action *a = &ap->plan->actions[i];
	char error[CHILD_ERROR_LEN] = "";

	a->result = hooks->recheck && needs_look(ap, a)
			    ? hooks->recheck(hooks->userdata, a, error, sizeof(error))
			    : 0;
	ap->is_spoiled |= a->result > 0;
	a->error = action_text(&ap->plan->texts, error);
	a->is_refused = a->result < 0;
	hooks->on_start(hooks->userdata, a, action_deadline_usec(a));
	ap->n_tried++;
	if (a->result >= 0) {
		l->job = (struct apply_job){ .work = { .os = ap->world->os,
						       .node = ap->node,
						       .memory = ap->memory,
						       .plan = ap->plan,
						       .rules = ap->plan->rules } };
		l->child.call = run_job;
		l->child.userdata = &l->job;
		a->result = ap->world->begin(ap->world->userdata, &l->child, i);
	}
	if (a->result < 0) {
		end_action(ap, a);
		return false;
	}
	a->is_running = true;
	action_texts_done(&l->texts);
	l->action = action_copy(&l->texts, a);
	l->i = i;
	lane_event(ap, l, LANE_BEGIN);
	l->begun_usec = now(ap);
	l->until_usec = l->begun_usec + action_deadline_usec(a);
	return true;
}

/* Did the action end as the next plan, made while it ran, takes for granted? */
static bool is_good(const struct action *a)
{
	return a->result >= 0 && !action_is_bad_bind(a) && a->verb != VERB_REBIND_DRIVER &&
	       (a->step == STEP_VF || a->step == STEP_LINK);
}

/* Takes the result of a lane's action, which is there or does not come. */
static void end_lane(struct apply *ap, struct lane *l)
{
	const bool is_old = l->state == LANE_OLD;
	struct action *a = is_old ? &l->action : &ap->plan->actions[l->i];
	const uint32_t pid = (uint32_t)l->child.pid;
	char error[CHILD_ERROR_LEN] = "";

	a->result =
		ap->world->end(ap->world->userdata, &l->child, l->until_usec, error, sizeof(error));
	a->error = action_text(is_old ? &l->texts : &ap->plan->texts, error);
	a->took_usec = now(ap) - l->begun_usec;
	if (a->result == -ETIMEDOUT)
		a->pid = pid;
	end_action(ap, a);
	lane_event(ap, l, is_good(a) ? LANE_GOOD : LANE_BAD);
	/* The next plan knows which PCI functions may still be written to. */
	ap->is_spoiled |= a->result == -ETIMEDOUT;
	ap->is_stale |= is_old;
}

/* Marks an action of an earlier plan as done in this one, which takes for granted how it ended. */
static void join_plan(struct apply *ap, const struct action *ended)
{
	FOREACH(a, ap->plan->actions, ap->plan->n_actions) {
		if (a->verb != ended->verb || !streq(a->target, ended->target))
			continue;
		a->is_running = false;
		a->is_done = true;
		a->took_usec = ended->took_usec;
	}
}

/*
 * Begins the actions that can begin. An action waits for those before it in its lane; an action of
 * the node waits for all before it, and all after it wait for that. An action of an earlier plan
 * that still runs keeps only its lane waiting. Numbers of VFs change in the order of the plan, so
 * that a PF whose change hangs keeps none before it from its VFs.
 */
static int begin_all(struct apply *ap)
{
	struct plan *p = ap->plan;
	bool is_first = true, has_beside = false, is_number_due = false;

	for (size_t i = 0; i < ap->n_lanes; i++) {
		ap->lanes[i].wait = WAIT_NONE;
		/* An earlier plan's action counts: the file is there, udev has not read it yet. */
		has_beside |= streq(ap->lanes[i].name, BESIDE) && is_busy(&ap->lanes[i]);
	}
	for (size_t i = 0; i < p->n_actions && !ap->is_spoiled; i++) {
		struct action *a = &p->actions[i];
		const struct lane *before;
		struct lane *l;
		bool is_of_node;

		if (a->class != CLASS_CHANGE || a->is_done || is_void(ap->node, p, i))
			continue;
		if (has_beside && needs_rules(ap->node, p, i))
			break;
		l = find_lane(ap, a);
		if (!l)
			return -ENOMEM;
		is_of_node = !l->name[0] || streq(l->name, BESIDE);
		before = find_before(ap, l, a);
		if (before && before->state >= LANE_OLD)
			l->wait = WAIT_LOOK;
		else if (!a->is_running &&
			 (before || (is_of_node && !is_first) || is_after_pf(ap->node, p, i) ||
			  (needs_quiet(a) && apply_is_busy(ap)) ||
			  (is_number_due && a->verb == VERB_SET_NUM_VFS)))
			l->wait = MAX(l->wait, WAIT_LANE);
		is_number_due |= l->wait == WAIT_LANE && a->verb == VERB_SET_NUM_VFS;
		if (l->wait == WAIT_NONE && !a->is_running && !begin_action(ap, l, i))
			continue;
		if (l->texts.is_short)
			return -ENOMEM;
		if (goes_beside(a) && l->state == LANE_RUNNING)
			has_beside = true;
		else if (is_of_node)
			break;
		else if (l->wait != WAIT_LOOK)
			is_first = false;
	}
	return 0;
}

/* A lane that has an answer or is out of time, or NULL at @until_usec. */
static struct lane *wait_lane(struct apply *ap, uint64_t until_usec)
{
	struct pollfd *fds = ap->fds;

	for (;;) {
		const uint64_t now_usec = now(ap);
		uint64_t end = until_usec;

		for (size_t i = 0; i < ap->n_lanes; i++) {
			const struct lane *l = &ap->lanes[i];

			fds[i] = (struct pollfd){ is_busy(l) ? l->child.fd : -1, POLLIN, 0 };
			if (is_busy(l))
				end = MIN(end, l->until_usec);
		}
		if (ap->world->wait(ap->world->userdata, fds, ap->n_lanes, end) > 0)
			for (size_t i = 0; i < ap->n_lanes; i++)
				if (fds[i].revents) {
					ap->lanes[i].until_usec = UINT64_MAX;
					return &ap->lanes[i];
				}
		for (size_t i = 0; i < ap->n_lanes; i++)
			if (fds[i].fd >= 0 && ap->lanes[i].until_usec <= now_usec)
				return &ap->lanes[i];
		if (until_usec <= now_usec)
			return NULL;
	}
}

/* Does an action of this plan wait for one of an earlier plan to end? */
static bool is_held(const struct apply *ap)
{
	return ANY(l, ap->lanes, ap->n_lanes, l->wait == WAIT_LOOK && is_busy(l));
}

/*
 * The time of the next look if no action ends. A lane with nothing left waits for a look: lanes
 * that are free soon wait for the same one, which keeps each lane waiting that has more to do. A
 * lane that only another lane keeps waiting needs none, nor does a VF that was bound for its link,
 * nor one that has it, unless running actions take long. The end of BESIDE lets others begin, and
 * needs no look.
 */
static uint64_t when_to_look(const struct apply *ap, size_t ended, bool has_bound)
{
	const struct lane *l = ended < ap->n_lanes ? &ap->lanes[ended] : NULL;
	uint32_t n_more = 0;

	if (!l || streq(l->name, BESIDE) || (is_busy(l) && !has_bound))
		return UINT64_MAX;
	if (is_busy(l) || is_link_of_vf(ap->node, &l->action))
		return now(ap) + MAX(PATIENCE_USEC, LOOK_SHARE * ap->grace_usec);
	if (l->wait == WAIT_LANE)
		return now(ap) + PATIENCE_USEC;
	FOREACH(it, ap->lanes, ap->n_lanes)
		n_more += is_busy(it) && it->wait == WAIT_LANE;
	return now(ap) + MAX(n_more, 1U) * ap->grace_usec;
}

int apply_some(struct apply *ap, const struct node *n, const struct memory *memory, struct plan *p,
	       uint64_t until_usec)
{
	uint64_t look_usec = until_usec, idle_usec;
	size_t ended = SIZE_MAX; /* the lane that was busy last */
	bool has_bound = false;
	int r;

	take_plan(ap, n, memory, p);
	idle_usec = MIN(until_usec, ap->planned_usec + ap->grace_usec);
	ap->n_tried = 0;
	ap->is_spoiled = ap->is_stale = false;
	for (;;) {
		struct lane *l;
		bool was_old;

		r = begin_all(ap);
		if (r < 0)
			return r;
		if (!apply_is_busy(ap) || ap->is_spoiled || (ap->n_tried == 0 && !is_held(ap)))
			return ap->n_tried;
		if (ap->n_tried > 0)
			look_usec = MIN(look_usec, when_to_look(ap, ended, has_bound));
		l = wait_lane(ap, ap->n_tried > 0 ? look_usec : idle_usec);
		if (!l)
			return ap->n_tried;
		has_bound = l->action.verb == VERB_BIND_DRIVER;
		was_old = l->state == LANE_OLD;
		end_lane(ap, l);
		if (was_old && l->state == LANE_FREE)
			join_plan(ap, &l->action);
		ended = (size_t)(l - ap->lanes);
	}
}

void apply_wait(struct apply *ap, const struct node *n, uint64_t until_usec)
{
	struct lane *l;

	ap->node = n;
	for (size_t i = 0; i < ap->n_lanes; i++)
		lane_event(ap, &ap->lanes[i], LANE_PLAN);
	l = apply_is_busy(ap) ? wait_lane(ap, until_usec) : NULL;
	if (l)
		end_lane(ap, l);
}

void apply_done(struct apply *ap)
{
	for (size_t i = 0; i < ap->n_lanes; i++) {
		if (is_busy(&ap->lanes[i]))
			ap->world->leave(&ap->lanes[i].child);
		ap->world->finish(&ap->lanes[i].child);
		action_texts_done(&ap->lanes[i].texts);
	}
	free(ap->lanes);
	free(ap->fds);
	*ap = (struct apply){};
}
