/* SPDX-License-Identifier: Apache-2.0 */
#include "contest.h"

#define MINUTE_USEC (60 * USEC_PER_SEC)
/* So many changes within a minute are a boot of a large node: no more are remembered. */
#define MAX_REPEATS 4096

/* Not what only asks, nor what gives back what was switched off for a moment. */
static bool is_counted(const struct action *a)
{
	return a->verb != VERB_WAIT && a->verb != VERB_ASK_METADATA &&
	       a->verb != VERB_PROBE_NEIGHBOUR &&
	       !(a->verb == VERB_SET_AUTOPROBE && streq(a->to, "1"));
}

/* Without it the number of VFs would not be changed: part of that. */
static enum verb key_verb(const struct action *a)
{
	return a->verb == VERB_SET_AUTOPROBE && streq(a->to, "0") ? VERB_SET_NUM_VFS : a->verb;
}

/* The verb that takes back what this one does, or _VERB_N. */
static enum verb opposite(enum verb v)
{
	static const enum verb pairs[][2] = {
		{ VERB_ADD_ADDRESS, VERB_REMOVE_ADDRESS },
		{ VERB_SET_ROUTE, VERB_REMOVE_ROUTE },
		{ VERB_ADD_RULE, VERB_REMOVE_RULE },
		{ VERB_KEEP_NEIGHBOUR, VERB_REMOVE_NEIGHBOUR },
		{ VERB_WRITE_PLUGIN, VERB_REMOVE_PLUGIN },
		{ VERB_WRITE_MANIFEST, VERB_REMOVE_MANIFEST },
		{ VERB_WRITE_OUTPUT, VERB_REMOVE_OUTPUT },
	};

	for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
		for (int k = 0; k < 2; k++)
			if (pairs[i][k] == v)
				return pairs[i][1 - k];
	return _VERB_N;
}

/* --- what an action is known by --- */

static uint64_t instance_of(const struct node *n, const struct action *a)
{
	const struct ibdev *ib = node_ibdev_of(n, a->target);
	const struct pci *pci = node_pci(n, a->target);

	if (a->ifindex > 0)
		return 0; /* it is told by that */
	if (a->verb == VERB_SET_PNETID && ib)
		return ib->index;
	return pci ? pci->instance & INT64_MAX : 0;
}

static const char *text_of(const struct plan *p, const struct action *a)
{
	const char *text = NULL;

	switch (a->verb) {
	case VERB_WRITE_RULES:
		text = p->rules;
		break;
	case VERB_WRITE_PLUGIN:
		text = p->plugin;
		break;
	case VERB_WRITE_MANIFEST:
		text = p->manifest;
		break;
	case VERB_WRITE_OUTPUT:
		for (size_t i = 0; i < _OUTPUT_N; i++)
			if (p->outputs[i].path && streq(p->outputs[i].path, a->target))
				text = p->outputs[i].text;
		break;
	default:
		break;
	}
	return text ? text : "";
}

/* FNV-1a, of 63 bits: JSON's numbers have a sign. */
static uint64_t add_hash(uint64_t hash, const char *s)
{
	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return hash & INT64_MAX;
}

static uint64_t value_of(const struct plan *p, const struct action *a)
{
	if (key_verb(a) == VERB_SET_NUM_VFS)
		return 0;
	return add_hash(add_hash(UINT64_C(14695981039346656037), a->to), text_of(p, a));
}

static bool is_of(const struct repeat *e, const struct action *a, enum verb verb)
{
	return e->ifindex == a->ifindex && e->instance == a->instance &&
	       streq(e->verb, verb_name(verb)) && streq(e->target, a->target) &&
	       streq(e->subject, a->subject);
}

static struct repeat *find(const struct node *n, const struct action *a, enum verb verb)
{
	for (size_t i = 0; i < n->n_repeats; i++)
		if (is_of(&n->repeats[i], a, verb))
			return &n->repeats[i];
	return NULL;
}

/* --- what is left alone --- */

static const struct repeat *contest_of(const struct node *n, const struct action *a)
{
	const struct repeat *e = find(n, a, key_verb(a));

	return e && e->value == a->value && e->pause_usec > 0 && n->now_usec >= e->last_usec &&
			       n->now_usec - e->last_usec < e->pause_usec
		       ? e
		       : NULL;
}

/* Nothing that changes from look to look: it would be told again with each. */
static void leave_alone(const struct node *n, const struct repeat *e, struct action *a)
{
	const char *to = streq(a->to, a->subject) ? "" : a->to;
	char names[sizeof(a->detail)];

	COPY(names, a->detail);
	snprintf(a->detail, sizeof(a->detail),
		 "%s%s%s%s%s%s%s: undone again and again, left alone for %" PRIu64 " s%s", names,
		 *names ? ": " : "", verb_name(a->verb), *a->subject ? " " : "", a->subject,
		 *to ? " " : "", to, e->pause_usec / USEC_PER_SEC,
		 a->step == STEP_ROUTE && n->is_networkd_foreign
			 ? "; systemd-networkd runs with ManageForeignRoutes=yes or "
			   "ManageForeignRoutingPolicyRules=yes"
			 : "");
	a->class = CLASS_WAITING;
	a->reason = REASON_CONTESTED;
}

/* The way of a VF count through zero is one item. Return: true when @a has become part of another.
 */
static bool is_merged(struct plan *p, const struct action *a)
{
	for (struct action *b = p->actions; b < a; b++) {
		if (b->reason != REASON_CONTESTED || key_verb(b) != VERB_SET_NUM_VFS ||
		    key_verb(a) != VERB_SET_NUM_VFS || !streq(a->target, b->target))
			continue;
		if (a->verb == VERB_SET_NUM_VFS) {
			if (b->verb == VERB_SET_NUM_VFS)
				COPY(b->to, a->to);
			else
				*b = *a;
		}
		return true;
	}
	return false;
}

static void drop(struct plan *p, size_t i)
{
	memmove(&p->actions[i], &p->actions[i + 1], (p->n_actions - i - 1) * sizeof(*p->actions));
	p->n_actions--;
}

void plan_contest(const struct config *c, const struct node *n, size_t first, struct plan *p)
{
	const bool is_asked = p->tried && p->tried->is_asked;

	for (size_t i = first; i < p->n_actions; i++) {
		struct action *a = &p->actions[i];
		const struct repeat *e;
		uint64_t end;

		if (!is_open_change(a))
			continue;
		a->instance = instance_of(n, a);
		a->value = value_of(p, a);
		if (is_asked || !is_counted(a) || !streq(n->last_hash, c->hash))
			continue;
		e = contest_of(n, a);
		if (!e)
			continue;

		end = e->last_usec + e->pause_usec;
		if (p->again_usec == 0 || end < p->again_usec)
			p->again_usec = end;
		leave_alone(n, e, a);
		if (is_merged(p, a))
			drop(p, i--);
	}
}

/* --- what is remembered --- */

/* A netdev that comes back from a pod may have the number that it had: it begins anew. */
static void forget_gone(struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_repeats; i++)
		if (n->repeats[i].ifindex == 0 || node_netdev(n, n->repeats[i].ifindex))
			n->repeats[kept++] = n->repeats[i];
	n->n_repeats = kept;
}

static void forget_past(struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_repeats; i++) {
		const struct repeat *e = &n->repeats[i];

		if (n->now_usec >= e->last_usec &&
		    n->now_usec - e->last_usec <= MAX(MINUTE_USEC, 2 * e->pause_usec))
			n->repeats[kept++] = *e;
	}
	/* APPEND() finds at least the room that it expects. */
	n->n_repeats = kept;
}

static void forget_opposite(const struct action *a, struct node *n)
{
	struct repeat *e = find(n, a, opposite(a->verb));

	if (e)
		*e = n->repeats[--n->n_repeats];
}

/* Once more, or for the first time when e->n is 0. */
static void count(const struct action *a, uint64_t now, struct repeat *e)
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

/* Is it part of a change that was counted: the way of a VF count through zero? */
static bool is_part(const struct plan *tried, const struct action *a)
{
	for (const struct action *b = tried->actions; b < a; b++)
		if (b->is_done && b->result >= 0 && b->ifindex == a->ifindex &&
		    b->instance == a->instance && key_verb(b) == key_verb(a) &&
		    streq(b->target, a->target) && streq(b->subject, a->subject) &&
		    b->value == a->value)
			return true;
	return false;
}

static int note(const struct action *a, struct node *n)
{
	struct repeat *e;

	forget_opposite(a, n);
	e = find(n, a, key_verb(a));
	if (!e && n->n_repeats == MAX_REPEATS)
		return 0;
	if (!e) {
		e = APPEND(n->repeats, n->n_repeats);
		if (!e)
			return -ENOMEM;
		COPY(e->verb, verb_name(key_verb(a)));
		COPY(e->target, a->target);
		COPY(e->subject, a->subject);
		e->ifindex = a->ifindex;
		e->instance = a->instance;
	}
	count(a, n->now_usec, e);
	return 0;
}

void plan_forget_replaced(const struct node *n, struct plan *tried)
{
	for (size_t i = 0; i < tried->n_actions; i++) {
		struct action *a = &tried->actions[i];
		const uint64_t now = instance_of(n, a);

		/* These make a new one themselves. */
		if (a->verb == VERB_BIND_DRIVER || a->verb == VERB_REBIND_DRIVER ||
		    a->verb == VERB_PROBE_DRIVER)
			continue;
		if (a->instance > 0 && now > 0 && a->instance != now)
			a->is_done = false;
	}
}

int plan_note_repeats(const struct config *c, const struct plan *tried, struct node *n)
{
	bool is_begun = false;
	int r = 0;

	forget_gone(n);
	for (size_t i = 0; i < tried->n_actions && r >= 0; i++) {
		const struct action *a = &tried->actions[i];

		if (!a->is_done || a->result < 0 || !is_counted(a))
			continue;
		if (!is_begun) {
			forget_past(n);
			if (tried->is_asked || !streq(n->last_hash, c->hash))
				n->n_repeats = 0;
			is_begun = true;
		}
		/* A probe is no more due for being asked for. */
		if ((!tried->is_asked || a->verb == VERB_PROBE_DRIVER) && !is_part(tried, a))
			r = note(a, n);
	}
	return r;
}
