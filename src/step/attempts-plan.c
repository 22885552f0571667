/* SPDX-License-Identifier: Apache-2.0 */
#include "attempts-plan.h"

#include "../model/boots.h"
#include "steps.h"

#define MINUTE_USEC (60 * USEC_PER_SEC)
/* So many changes within a minute are a boot of a large node: no more are remembered. */
#define MAX_REPEATS 4096

/* Waits, requests, and switching autoprobe on again after a moment are not counted. */
static bool is_counted(const struct action *a)
{
	return a->verb != VERB_WAIT && a->verb != VERB_ASK_METADATA &&
	       a->verb != VERB_PROBE_NEIGHBOUR &&
	       !(a->verb == VERB_SET_AUTOPROBE && action_is_to(a, 1));
}

/* Autoprobe is switched off only to change the number of VFs: it counts as part of that change. */
static enum verb key_verb(const struct action *a)
{
	return a->verb == VERB_SET_AUTOPROBE && action_is_to(a, 0) ? VERB_SET_NUM_VFS : a->verb;
}

/* --- what an action is known by --- */

static uint64_t instance_of(const struct node *n, const struct action *a)
{
	const struct ibdev *ib = node_ibdev_of(n, a->target);
	const struct pci *pci = node_pci(n, a->target);

	if (a->ifindex > 0)
		return 0; /* that one is reported */
	if (a->verb == VERB_SET_PNETID && ib)
		return ib->index;
	if (a->verb == VERB_SET_ROCE && ib) /* its folder has its name, which udev may change */
		return (hash_text(ib->name) + ib->index) & INT64_MAX;
	return pci ? pci->instance & INT64_MAX : 0;
}

/* The text of the file that is written; NULL: none is, or it has none. */
static const char *text_of(const struct plan *p, const struct action *a)
{
	const struct plan_output *o;

	switch (a->verb) {
	case VERB_WRITE_OPTIONS:
		return p->options;
	case VERB_WRITE_RULES:
		return p->rules;
	case VERB_WRITE_PLUGIN:
		return p->plugin;
	case VERB_WRITE_MANIFEST:
		return p->manifest;
	case VERB_WRITE_OUTPUT:
		o = FIND(it, p->outputs, _OUTPUT_N, it->path && streq(it->path, a->target));
		return o ? o->text : NULL;
	default:
		return NULL;
	}
}

static uint64_t add_text(uint64_t hash, const char *s)
{
	return hash_bytes(hash, s, strlen(s));
}

/* Adds the parts of a route that neither its subject nor its ifindex has. */
static uint64_t add_route(uint64_t hash, const struct route *t)
{
	const uint32_t numbers[] = { t->metric, t->protocol, t->scope, t->type };

	hash = hash_bytes(hash, numbers, sizeof(numbers));
	hash = add_text(hash_bytes(hash, t->gateway, sizeof(t->gateway)), t->via);
	return hash_bytes(hash, t->src, sizeof(t->src));
}

static uint64_t value_of(const struct plan *p, const struct action *a)
{
	uint64_t hash = HASH_START;
	char to[SHOWN_LEN];

	if (key_verb(a) == VERB_SET_NUM_VFS)
		return 0;
	hash = add_text(add_text(hash, action_to(a, to)), text_of(p, a) ?: "");
	if (a->verb == VERB_SET_ROUTE || a->verb == VERB_REMOVE_ROUTE)
		hash = add_route(hash, &a->route.route);
	if (a->verb == VERB_ADD_RULE || a->verb == VERB_REMOVE_RULE)
		hash = hash_bytes(hash, &a->rule.preference, sizeof(a->rule.preference));
	return hash & INT64_MAX; /* JSON's numbers have a sign */
}

static bool is_of(const struct attempt *e, const struct action *a, enum verb verb)
{
	return e->result == 0 && e->verb == verb && e->ifindex == a->ifindex &&
	       e->instance == a->instance && streq(e->target, a->target) &&
	       streq(e->subject, a->subject);
}

static struct attempt *find(const struct memory *memory, const struct action *a, enum verb verb)
{
	size_t i = SIZE_MAX;

	do
		i = text_index_next(&memory->by_target, memory->n_attempts, a->target, i);
	while (i != SIZE_MAX && !is_of(&memory->attempts[i], a, verb));
	return i == SIZE_MAX ? NULL : &memory->attempts[i];
}

/* --- what is left alone --- */

static const struct attempt *contest_of(const struct node *n, const struct memory *memory,
					const struct action *a)
{
	const struct attempt *e = find(memory, a, key_verb(a));

	return e && e->value == a->value && e->pause_usec > 0 && n->now_usec >= e->last_usec &&
			       n->now_usec - e->last_usec < e->pause_usec
		       ? e
		       : NULL;
}

/* The text of the item is the same at each look: a new text would be reported again. */
static void leave_alone(const struct attempt *e, struct plan *p, struct action *a)
{
	char buf[SHOWN_LEN];
	const char *shown = action_to(a, buf), *to = streq(shown, a->subject) ? "" : shown;

	a->detail = plan_text(
		p, "%s%s%s%s%s%s%s: undone again and again, left alone for %" PRIu64 " s",
		a->detail, *a->detail ? ": " : "", verb_name(a->verb), *a->subject ? " " : "",
		a->subject, *to ? " " : "", to, e->pause_usec / USEC_PER_SEC);
	a->class = CLASS_WAITING;
	a->reason = REASON_CONTESTED;
}

/* Drops the open actions of a change of a VF count: the way through zero, and its preparations. */
static void drop_rest(struct plan *p, const char *pf)
{
	KEEP(a, p->actions, p->n_actions,
	     !action_is_open(a) || !streq(a->target, pf) || key_verb(a) != VERB_SET_NUM_VFS);
	plan_index(p);
}

/* The way of a VF count through zero is one item, at the place of its first action. */
static void leave_count_alone(const struct attempt *e, struct plan *p, struct action *a)
{
	const struct action *b = a;

	while ((b = plan_next(p, a->target, b)))
		if (action_is_open(b) && b->verb == VERB_SET_NUM_VFS) {
			if (a->verb == VERB_SET_NUM_VFS)
				a->number.to = b->number.to;
			else
				*a = *b;
		}
	leave_alone(e, p, a);
	drop_rest(p, a->target);
}

void plan_contest(const struct config *c, const struct node *n, const struct memory *memory,
		  size_t first, struct plan *p)
{
	const bool is_asked = p->tried && p->tried->is_asked;

	for (size_t i = first; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];
		const struct attempt *e;
		uint64_t end;

		if (!action_is_open(a))
			continue;
		a->instance = instance_of(n, a);
		a->value = value_of(p, a);
		if (is_asked || !is_counted(a) || !streq(memory->last_hash, c->hash))
			continue;
		e = contest_of(n, memory, a);
		if (!e)
			continue;

		end = e->last_usec + e->pause_usec;
		if (p->again_usec == 0 || end < p->again_usec)
			p->again_usec = end;
		if (key_verb(a) == VERB_SET_NUM_VFS)
			leave_count_alone(e, p, a);
		else
			leave_alone(e, p, a);
	}
}

/* --- what is remembered --- */

/* A netdev that comes back from a pod may have the number that it had: its count begins again. */
static bool is_of_gone(const struct node *n, const struct memory *memory, const struct attempt *e)
{
	const struct device_memory *m;

	if (e->ifindex > 0)
		return !node_netdev(n, e->ifindex);
	m = memory_device(memory, e->target);
	return m && m->is_out && !node_netdev_of(n, e->target);
}

static bool is_past(const struct node *n, const struct attempt *e)
{
	return n->now_usec < e->last_usec ||
	       n->now_usec - e->last_usec > MAX(MINUTE_USEC, 2 * e->pause_usec);
}

/*
 * Failures that count are in the attempts of the pass. Counts that are past, and with @is_new all
 * but those of probes, which a request makes no more due, go with the next change that is counted:
 * a pass without changes writes nothing.
 */
static void forget(const struct node *n, struct memory *memory, bool is_counting, bool is_new)
{
	KEEP(e, memory->attempts, memory->n_attempts,
	     e->result >= 0 && !is_of_gone(n, memory, e) &&
		     !(is_counting && (is_past(n, e) || (is_new && e->verb != VERB_PROBE_DRIVER))));
	text_index_done(&memory->by_target);
	for (size_t i = 0; i < memory->n_attempts; i++)
		text_index_add(&memory->by_target, memory->attempts[i].target);
}

static void forget_opposite(const struct action *a, struct memory *memory)
{
	const enum verb opposite = verb_opposite(a->verb);
	struct attempt *e = opposite != _VERB_N ? find(memory, a, opposite) : NULL;

	if (e)
		e->n = e->last_usec = e->pause_usec = 0;
}

/* Counts a change once more, or for the first time when e->n is 0. */
static void count(const struct action *a, uint64_t now, struct attempt *e)
{
	const bool is_past = e->pause_usec > 0 ? now - e->last_usec > 2 * e->pause_usec
					       : now - e->since_usec >= MINUTE_USEC;

	if (e->n == 0 || e->value != a->value || is_past) {
		e->n = 0;
		e->since_usec = now;
		e->pause_usec = 0;
	}
	e->n++;
	if (e->pause_usec > 0)
		e->pause_usec = MIN(2 * e->pause_usec, CONTEST_LAST_USEC);
	else if (e->n >= CONTEST_MAX)
		e->pause_usec = CONTEST_FIRST_USEC;
	e->last_usec = now;
	e->value = a->value;
}

/* Is @a part of a change that was counted, as the way of a VF count through zero? */
static bool is_part(const struct attempts *tried, const struct action *a)
{
	const struct action *b = NULL;

	while ((b = attempts_next(tried, a->target, b)) && b < a)
		if (b->is_done && b->result >= 0 && b->ifindex == a->ifindex &&
		    b->instance == a->instance && key_verb(b) == key_verb(a) &&
		    streq(b->subject, a->subject) && b->value == a->value)
			return true;
	return false;
}

static int note(const struct action *a, const struct node *n, struct memory *memory)
{
	struct attempt *e;

	forget_opposite(a, memory);
	e = find(memory, a, key_verb(a));
	if (!e && memory->n_attempts >= MAX_REPEATS)
		return 0;
	if (!e) {
		e = APPEND(memory->attempts, memory->n_attempts);
		if (!e)
			return -ENOMEM;
		e->verb = key_verb(a);
		COPY(e->target, a->target);
		COPY(e->subject, a->subject);
		e->ifindex = a->ifindex;
		e->instance = a->instance;
		text_index_add(&memory->by_target, e->target);
	}
	count(a, n->now_usec, e);
	return 0;
}

int plan_note_repeats(const struct config *c, const struct node *n, const struct attempts *tried,
		      struct memory *memory)
{
	const bool is_counting = ANY(a, tried->actions, tried->n_actions,
				     a->is_done && a->result >= 0 && is_counted(a));
	int r = 0;

	forget(n, memory, is_counting, tried->is_asked || !streq(memory->last_hash, c->hash));
	FOREACH_WHILE(a, tried->actions, tried->n_actions, r >= 0)
		if (a->is_done && !a->is_noted && a->result >= 0 && is_counted(a) &&
		    (!tried->is_asked || a->verb == VERB_PROBE_DRIVER) && !is_part(tried, a))
			r = note(a, n, memory);
	return r;
}

/* --- what is past, or was of an earlier pass --- */

void plan_forget_replaced(const struct node *n, struct attempts *tried)
{
	FOREACH(a, tried->actions, tried->n_actions) {
		const uint64_t now = instance_of(n, a);

		/* These verbs make a new instance themselves. */
		if (a->verb == VERB_BIND_DRIVER || a->verb == VERB_REBIND_DRIVER ||
		    a->verb == VERB_PROBE_DRIVER)
			continue;
		if (a->instance > 0 && now > 0 && a->instance != now)
			a->is_done = false;
	}
}

/* Did this action end the VFs of its PF, or of its driver's PFs? An action of an earlier pass has
 * no "from". */
static bool has_ended_vfs(const struct action *a)
{
	if (!a->is_done)
		return false;
	if (a->verb == VERB_RELOAD_MODULE)
		return a->result >= 0;
	return a->verb == VERB_SET_NUM_VFS && a->number.from.is_meant &&
	       (a->result >= 0 || a->result == -EREMOTEIO || a->result == -ETIMEDOUT);
}

static bool is_of_ended_vf(const struct attempts *tried, const struct node *n,
			   const struct device_memory *m)
{
	const struct pci *vf = node_pci(n, m->pci);
	const struct pci *pf = vf ? node_pci(n, vf->physfn) : NULL;

	const char *const targets[] = { pf ? pf->address : "", pf ? pf->driver : "" };

	for (size_t i = 0; i < ELEMENTSOF(targets) && pf; i++) {
		const struct action *a = NULL;

		while ((a = attempts_next(tried, targets[i], a)))
			if (has_ended_vfs(a))
				return true;
	}
	return false;
}

void plan_forget_ended(const struct node *n, const struct attempts *tried, struct memory *memory)
{
	KEEP(m, memory->devices, memory->n_devices, !is_of_ended_vf(tried, n, m));
}

/* A driver that is in use, or has no file yet, was not unloaded for it. */
static bool takes_away(const struct node *n, const struct attempt *f)
{
	const struct pci *pf = node_pci(n, f->target);

	if (f->verb == VERB_RELOAD_MODULE)
		return f->result != -EBUSY && f->result != -ENOENT;
	return f->verb == VERB_SET_NUM_VFS && pf && pf->num_vfs > 0 && !streq(f->to, "0");
}

int plan_recall_failures(const struct config *c, const struct node *n, const struct memory *memory,
			 bool is_timer, struct attempts *tried)
{
	if (!streq(memory->last_hash, c->hash))
		return 0;

	FOREACH(f, memory->attempts, memory->n_attempts) {
		struct action a = { .class = CLASS_CHANGE,
				    .is_done = true,
				    .is_recalled = true,
				    .verb = f->verb,
				    .target = f->target,
				    .subject = f->subject,
				    .error = f->error,
				    .ifindex = f->ifindex,
				    .result = f->result,
				    .is_vain = f->is_vain,
				    .instance = f->instance,
				    .value = f->value };

		if (f->result >= 0 || (is_timer && !takes_away(n, f)))
			continue;
		action_set(&a, "", f->to);
		if (!attempts_add(tried, &a))
			return -ENOMEM;
	}
	return 0;
}

/* --- what this pass tried --- */

/*
 * Was a file of ours written? If one pass wants it again, devices became usable or VFs went
 * meanwhile, and the file is to have another text.
 */
static bool is_written(const struct action *tried)
{
	return tried->result >= 0 &&
	       (tried->verb == VERB_WRITE_RULES || verb_has(tried->verb, FOR_OTHERS));
}

/* An action that failed with -EBUSY, as a process came in between, needs a reboot. */
static void settle_busy(struct action *a)
{
	if ((a->verb != VERB_SET_NETNS_MODE && a->verb != VERB_RELOAD_MODULE) ||
	    a->result != -EBUSY)
		return;
	a->class = CLASS_NEEDS_REBOOT;
	a->reason = action_failure(a);
	a->detail = a->error;
}

/* A missing answer of the metadata service is waited for, no failure; a bad one is refused. */
static void settle_metadata(struct plan *p, struct action *a)
{
	if (a->verb != VERB_ASK_METADATA || (a->result != -EAGAIN && a->result != -EBADMSG))
		return;
	a->class = a->result == -EAGAIN ? CLASS_WAITING : CLASS_REFUSED;
	a->reason = action_failure(a);
	a->detail = plan_text(p, "%s: %s", a->detail, a->error);
}

/*
 * Was the action refused by the look right before it, for the first time? That look may have seen
 * half a device: an ibdev is in sysfs before netlink counts its users (ib_register_device() in
 * drivers/infiniband/core/device.c). Nothing was done, so the next look may want the action again,
 * once.
 */
static bool is_first_refusal(const struct attempts *tried, const struct action *t)
{
	const struct action *b = NULL;

	while (t->is_refused && (b = attempts_next(tried, t->target, b)) != t)
		if (b->is_refused && action_is_same_change(b, t))
			return false;
	return t->is_refused;
}

/* Does @a set another value, as a file with another text or a route by another gateway? */
static bool is_of_other_value(const struct action *t, const struct action *a)
{
	return t->is_done && t->value > 0 && a->value > 0 && t->value != a->value;
}

static const struct action *find_tried(const struct attempts *tried, const struct action *a)
{
	const struct action *t = NULL;

	while ((t = attempts_next(tried, a->target, t)))
		if ((t->is_done || t->is_running) && action_is_same_change(a, t) &&
		    !is_written(t) && !is_of_other_value(t, a) && !is_first_refusal(tried, t))
			break;
	return t;
}

static void mark(const struct action *t, struct plan *p, struct action *a)
{
	a->is_running = t->is_running;
	if (a->is_running)
		return;
	a->is_done = true;
	a->is_vain = t->is_vain || t->result >= 0;
	a->result = t->result >= 0 ? -EIO : t->result;
	a->error = t->result < 0 ? action_text(&p->texts, t->error)
				 : "the kernel accepted it, but it did not take effect, or "
				   "another program undid it at once";
	settle_busy(a);
	settle_metadata(p, a);
}

void plan_mark_tried(struct plan *p)
{
	FOREACH(a, p->actions, p->n_actions) {
		const struct action *t = a->class == CLASS_CHANGE ? find_tried(p->tried, a) : NULL;

		if (t)
			mark(t, p, a);
	}
}

/* --- what three boots failed at: the rules of model/boots.h --- */

static void refuse_loop(const struct node *n, const struct memory *memory,
			const struct boot_step *s, struct plan *p, struct action *a)
{
	const int result = boots_last(n, memory, s)->result;

	a->class = CLASS_REFUSED;
	a->reason = REASON_BOOT_LOOP;
	a->detail =
		plan_text(p, "%s%s%s %s%s", verb_name(s->verb), s->to[0] ? " " : "", s->to,
			  result < 0 ? "failed in 3 boots: " : "began in 3 boots and never ended",
			  result < 0 ? strerror(-result) : "");
}

void plan_boots(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	struct boot_step s;

	/* A person who runs a pass by hand wants the step now, and stands beside the machine. */
	if (n->is_by_hand)
		return;
	for (size_t i = 0; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];

		if (!action_is_open(a) || !boots_step(c, n, a, &s) ||
		    !boots_is_loop(n, memory, &s) ||
		    attempts_find_begun(p->tried, a->verb, a->target, s.to))
			continue;
		refuse_loop(n, memory, &s, p, a);
		if (a->verb == VERB_SET_NUM_VFS) {
			drop_rest(p, s.target);
			i = 0; /* places have changed, and the first one was met */
		}
	}
}
