/* SPDX-License-Identifier: Apache-2.0 */
#include "action.h"

#include "module-options.h"

#include <assert.h>

const char *action_text(struct action_texts *t, const char *s)
{
	struct text_node *text;

	if (is_empty(s))
		return "";
	text = malloc(sizeof(*text) + strlen(s) + 1);
	if (!text) {
		t->is_short = true;
		return "";
	}
	text->next = t->first;
	t->first = text;
	return strcpy(text->s, s);
}

void action_texts_done(struct action_texts *t)
{
	while (t->first) {
		struct text_node *next = t->first->next;

		free(t->first);
		t->first = next;
	}
	*t = (struct action_texts){};
}

struct action action_copy(struct action_texts *t, const struct action *a)
{
	struct action ret = *a;

	ret.target = action_text(t, a->target);
	ret.subject = action_text(t, a->subject);
	ret.detail = action_text(t, a->detail);
	ret.advice = action_text(t, a->advice);
	ret.error = action_text(t, a->error);
	return ret;
}

bool action_is_open(const struct action *a)
{
	return a->class == CLASS_CHANGE && !a->is_done;
}

static const char *show_number(const struct number *n, char buf[static SHOWN_LEN])
{
	buf[0] = '\0';
	if (n->is_meant && n->n == VALUE_MAX)
		snprintf(buf, SHOWN_LEN, "max");
	else if (n->is_meant)
		snprintf(buf, SHOWN_LEN, "%" PRId64, n->n);
	return buf;
}

const char *action_from(const struct action *a, char buf[static SHOWN_LEN])
{
	switch (verb_value(a->verb)) {
	case VALUE_TEXT:
		return a->text.from;
	case VALUE_NUMBER:
		return show_number(&a->number.from, buf);
	default:
		return "";
	}
}

const char *action_to(const struct action *a, char buf[static SHOWN_LEN])
{
	switch (verb_value(a->verb)) {
	case VALUE_TEXT:
		return a->text.to;
	case VALUE_NUMBER:
		return show_number(&a->number.to, buf);
	case VALUE_ADDRESS:
		return a->subject;
	default:
		return "";
	}
}

static struct number parse_number(const char *text)
{
	struct number n = { .is_meant = true };
	char *end;

	if (streq(text, "max")) {
		n.n = VALUE_MAX;
		return n;
	}
	errno = 0;
	n.n = strtoll(text, &end, 10);
	return end == text || *end || errno ? (struct number){} : n;
}

void action_set(struct action *a, const char *from, const char *to)
{
	switch (verb_value(a->verb)) {
	case VALUE_TEXT:
		COPY(a->text.from, from);
		COPY(a->text.to, to);
		break;
	case VALUE_NUMBER:
		a->number.from = parse_number(from);
		a->number.to = parse_number(to);
		break;
	case VALUE_ADDRESS:
		a->subject = to;
		break;
	default:
		break;
	}
}

void action_set_numbers(struct action *a, int64_t from, int64_t to)
{
	assert(verb_is_numeric(a->verb));
	a->number.from = (struct number){ true, from };
	a->number.to = (struct number){ true, to };
}

bool action_is_to(const struct action *a, int64_t n)
{
	assert(verb_is_numeric(a->verb));
	return a->number.to.is_meant && a->number.to.n == n;
}

static bool is_same_to(const struct action *a, const struct action *b)
{
	char x[SHOWN_LEN], y[SHOWN_LEN];

	return streq(action_to(a, x), action_to(b, y));
}

bool action_is_same_step(const struct action *a, const struct action *b)
{
	char x[SHOWN_LEN], y[SHOWN_LEN];

	return streq(action_from(a, x), action_from(b, y)) && is_same_to(a, b);
}

bool action_is_same_change(const struct action *a, const struct action *b)
{
	return a->verb == b->verb && a->ifindex == b->ifindex && streq(a->target, b->target) &&
	       is_same_to(a, b) && streq(a->subject, b->subject);
}

bool action_is_destructive(const struct action *a)
{
	switch (a->verb) {
	case VERB_RELOAD_MODULE:
	case VERB_REBIND_DRIVER:
		return true;
	case VERB_SET_NUM_VFS:
		return !a->number.from.is_meant || a->number.from.n != 0;
	default:
		return false;
	}
}

bool action_is_best_effort(const struct action *a)
{
	return (a->verb == VERB_LOAD_MODULE && streq(a->target, PEERMEM_MODULE)) ||
	       verb_has(a->verb, OUTPUT);
}

bool action_is_bad_bind(const struct action *a)
{
	if ((a->verb != VERB_BIND_DRIVER && a->verb != VERB_REBIND_DRIVER) || !a->is_done)
		return false;
	return a->took_usec > SLOW_BIND_USEC || (a->result < 0 && a->result != -EBUSY);
}

void action_describe(const struct action *a, char *ret, size_t size)
{
	const char *target = a->target[0] ? a->target : "the node";
	const char *text = verb_text(a->verb);
	char buf_from[SHOWN_LEN], buf_to[SHOWN_LEN];
	const char *to = action_to(a, buf_to);
	bool has_to = to[0] && !streq(to, a->subject);

	if (a->verb == VERB_SET_NUM_VFS && action_is_to(a, 0))
		snprintf(ret, size, "removing %s VFs of %s", action_from(a, buf_from), target);
	else if (text)
		snprintf(ret, size, text, target, to);
	else
		snprintf(ret, size, "%s: %s%s%s%s%s", target, verb_name(a->verb),
			 a->subject[0] ? " " : "", a->subject, has_to ? " " : "", has_to ? to : "");
}

const char *action_change(const struct action *a, char ret[static CHANGE_LEN])
{
	char buf_from[SHOWN_LEN], buf_to[SHOWN_LEN];
	const char *to = action_to(a, buf_to), *from = *to ? action_from(a, buf_from) : "";
	const char *subject = streq(a->subject, to) ? "" : a->subject;

	snprintf(ret, CHANGE_LEN, "%s%s%s%s%s%s%s", verb_name(a->verb), *subject ? " " : "",
		 subject, *to ? " " : "", from, *from ? " -> " : "", to);
	return ret;
}

uint64_t action_deadline_usec(const struct action *a)
{
	const struct number *from = &a->number.from, *to = &a->number.to;
	uint64_t n = 0;

	if (a->verb == VERB_SET_NUM_VFS && from->is_meant)
		n = (uint64_t)from->n;
	if (a->verb == VERB_SET_NUM_VFS && to->is_meant && to->n != VALUE_MAX)
		n = MAX(n, (uint64_t)to->n);
	return verb_deadline_usec(a->verb, n);
}

NAMES(class_name, enum class, _CLASS_N,
      { [CLASS_CHANGE] = "change",
	[CLASS_REFUSED] = "refused",
	[CLASS_WAITING] = "waiting",
	[CLASS_NEEDS_REBOOT] = "needs-reboot",
	[CLASS_IMPOSSIBLE] = "impossible" });

uint32_t action_unsupported_setting(const struct action *a)
{
	return a->is_done && a->result == -EOPNOTSUPP ? verb_vf_setting(a->verb) : 0;
}

/*
 * Reasons for an errno: the kernel's own for VFs in sriov_numvfs_store() and sriov_enable() in
 * drivers/pci/iov.c, for modules in finit_module(2) and kernel/module/main.c.
 */
static const struct {
	enum verb verb; /* LOAD_MODULE: also RELOAD_MODULE; _VERB_N: all of files for others */
	int error;
	enum reason reason;
} failures[] = {
	{ VERB_SET_NUM_VFS, ERANGE, REASON_TOO_MANY_VFS },
	{ VERB_SET_NUM_VFS, EBUSY, REASON_VF_BUSY },
	{ VERB_SET_NUM_VFS, ENOENT, REASON_VF_DRIVER },
	{ VERB_SET_NUM_VFS, EINVAL, REASON_VF_REJECTED },
	{ VERB_SET_NUM_VFS, ENOMEM, REASON_VF_NO_ROOM },
	{ VERB_SET_NUM_VFS, EIO, REASON_VF_FIRMWARE },
	{ VERB_SET_NUM_VFS, EREMOTEIO, REASON_VF_FIRMWARE }, /* ours: fewer than asked for */
	{ VERB_SET_NUM_VFS, EPERM, REASON_VF_ASSIGNED },
	{ VERB_SET_NETNS_MODE, EBUSY, REASON_NETNS_BUSY },
	{ VERB_SET_ROUTE, EEXIST, REASON_ROUTE_FOREIGN },
	{ VERB_ASK_METADATA, EAGAIN, REASON_METADATA_WAITING },
	{ VERB_ASK_METADATA, EBADMSG, REASON_METADATA_REFUSED },
	{ VERB_WRITE_OUTPUT, ENOENT, REASON_OUTPUT_NO_FOLDER },
	{ VERB_WRITE_OUTPUT, EEXIST, REASON_OUTPUT_FOREIGN }, /* it came in between */
	{ VERB_RELOAD_MODULE, EBUSY, REASON_DRIVER_IN_USE },
	{ VERB_LOAD_MODULE, ENOEXEC, REASON_MODULE_VERMAGIC },
	{ VERB_LOAD_MODULE, ENOENT, REASON_MODULE_SYMBOL }, /* the file is there, or it is ENOPKG */
	{ VERB_LOAD_MODULE, ENOPKG, REASON_MODULE_MISSING },
	{ VERB_LOAD_MODULE, ESTALE, REASON_MODULE_REBUILT }, /* of driver/ */
	{ VERB_LOAD_MODULE, EKEYREJECTED, REASON_MODULE_SIGNATURE },
	{ VERB_LOAD_MODULE, ENOKEY, REASON_MODULE_SIGNATURE },
	{ VERB_LOAD_MODULE, EBADMSG, REASON_MODULE_SIGNATURE },
	{ VERB_LOAD_MODULE, EPERM, REASON_MODULE_FORBIDDEN },
	{ VERB_LOAD_MODULE, EINVAL, REASON_MODULE_PARAMETER },
	{ VERB_LOAD_MODULE, ENODEV, REASON_MODULE_NO_DEVICE },
	{ VERB_LOAD_MODULE, EADDRINUSE, REASON_MODULE_PORT_TAKEN },
	{ VERB_LOAD_MODULE, EPROTO, REASON_PARAMETER_MISMATCH }, /* what was read back differs */
	{ _VERB_N, EROFS, REASON_OUTPUT_READ_ONLY },
	{ _VERB_N, EACCES, REASON_OUTPUT_READ_ONLY },
	{ _VERB_N, EPERM, REASON_OUTPUT_READ_ONLY }, /* chattr +i */
	{ _VERB_N, ENOSPC, REASON_OUTPUT_FULL },
	{ _VERB_N, EDQUOT, REASON_OUTPUT_FULL },
	{ _VERB_N, ELOOP, REASON_OUTPUT_LINK },
	{ _VERB_N, ESTALE, REASON_CONFIG_CHANGED }, /* of the helper */
};

static enum reason failure(const struct action *a)
{
	if (!a->is_done || a->result >= 0)
		return REASON_NONE;
	if (a->result == -ETIMEDOUT)
		return REASON_ACTION_TIMEOUT;
	if (a->verb == VERB_LOAD_MODULE && action_is_best_effort(a))
		return REASON_PEERMEM_FAILED;
	FOREACH(f, failures, ELEMENTSOF(failures))
		if (f->error == -a->result &&
		    (f->verb == a->verb ||
		     (f->verb == VERB_LOAD_MODULE && a->verb == VERB_RELOAD_MODULE) ||
		     (f->verb == _VERB_N && verb_has(a->verb, FOR_OTHERS))))
			return f->reason;
	return REASON_ACTION_FAILED;
}

enum reason action_failure(const struct action *a)
{
	const enum reason reason = failure(a);

	/* The kernel accepts a change in vain: its result is no errno to be looked up. */
	return reason != REASON_NONE && a->is_vain ? REASON_NO_EFFECT : reason;
}

const char *action_advice(const struct action *a)
{
	return is_empty(a->advice) ? reason_advice(a->reason) : a->advice;
}

/* --- attempts --- */

void attempts_done(struct attempts *t)
{
	free(t->actions);
	action_texts_done(&t->texts);
	text_index_done(&t->by_target);
	*t = (struct attempts){};
}

struct action *attempts_add(struct attempts *t, const struct action *a)
{
	struct action *slot = APPEND(t->actions, t->n_actions);

	if (!slot)
		return NULL;
	*slot = action_copy(&t->texts, a);
	/* Without memory for the index a search compares each attempt. */
	text_index_add(&t->by_target, a->target);
	return t->texts.is_short ? NULL : slot;
}

int attempts_begin(struct attempts *t, const struct action *a)
{
	struct action *slot = attempts_add(t, a);

	if (!slot)
		return -ENOMEM;
	slot->is_running = true;
	return 0;
}

const struct action *attempts_next(const struct attempts *t, const char *target,
				   const struct action *last)
{
	size_t i = last ? (size_t)(last - t->actions) : SIZE_MAX;

	if (!t)
		return NULL;
	do
		i = text_index_next(&t->by_target, t->n_actions, target, i);
	while (i != SIZE_MAX && !streq(t->actions[i].target, target));
	return i == SIZE_MAX ? NULL : &t->actions[i];
}

const struct action *attempts_next_of_vfs(const struct attempts *t, const struct node *n,
					  const char *pf, size_t *at, const struct action *last)
{
	size_t i;

	if (last)
		last = attempts_next(t, last->target, last);
	while (t && !last && (i = node_next(n, NODE_INDEX_VF, pf, at)) != SIZE_MAX)
		last = attempts_next(t, n->pcis[i].address, NULL);
	return last;
}

void attempts_end(struct attempts *t, const struct action *a)
{
	const struct action *b = NULL;

	while ((b = attempts_next(t, a->target, b)))
		if (b->is_running && action_is_same_change(b, a)) {
			t->actions[b - t->actions] = action_copy(&t->texts, a);
			return;
		}
}

const struct action *attempts_find_begun(const struct attempts *t, enum verb verb,
					 const char *target, const char *to)
{
	const struct action *a = NULL;
	char shown[SHOWN_LEN];

	while ((a = attempts_next(t, target, a)))
		if (a->verb == verb && a->is_done && !a->is_refused &&
		    streq(action_to(a, shown), to))
			break;
	return a;
}

const struct action *attempts_find_ended(const struct attempts *t, enum verb verb,
					 const char *target, int64_t to)
{
	const struct action *a = NULL;

	assert(verb_is_numeric(verb));
	while ((a = attempts_next(t, target, a)))
		if (a->verb == verb && a->is_done && action_is_to(a, to))
			break;
	return a;
}

bool attempts_is_being_written(const struct attempts *t, const char *target)
{
	const struct action *a = NULL;

	while ((a = attempts_next(t, target, a)))
		if (a->is_running && a->step != STEP_LINK)
			return true;
	return false;
}

const struct action *attempts_changing_vfs(const struct attempts *t, const char *pf)
{
	const struct action *a = NULL;

	while ((a = attempts_next(t, pf, a)))
		if (a->is_running && a->verb == VERB_SET_NUM_VFS)
			break;
	return a;
}
