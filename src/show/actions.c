/* SPDX-License-Identifier: Apache-2.0 */
#include "actions.h"

#include "../base/document.h"
#include "sheet.h"
#include "state.h"

/* "4" is a number where the verb counts, "", "-1" and "max" stay text. */
static json_t *value(const struct action *a, const struct number *n, const char *text)
{
	return verb_is_numeric(a->verb) && n->is_meant && n->n >= 0 && n->n != VALUE_MAX
		       ? json_integer(n->n)
		       : document_text(text);
}

static json_t *make_action(const struct action *a)
{
	char from[SHOWN_LEN], to[SHOWN_LEN];
	json_t *subject = *a->subject ? document_text(a->subject) : NULL;

	if (*a->subject && !subject)
		return NULL;
	return json_pack("{s:s, s:s, s:o, s:o*, s:o, s:o, s:s, s:s, s:o, s:o}", "step",
			 step_name(a->step), "verb", verb_name(a->verb), "target",
			 document_text(a->target), "subject", subject, "from",
			 value(a, &a->number.from, action_from(a, from)), "to",
			 value(a, &a->number.to, action_to(a, to)), "class", class_name(a->class),
			 "code", reason_code(a->reason), "advice", document_text(action_advice(a)),
			 "detail", document_text(a->detail));
}

/* Prints one object of a list on a line of its own, and releases @object. */
static int print_object(FILE *f, size_t i, json_t *object)
{
	int r;

	fputs(i == 0 ? "\n  " : ",\n  ", f);
	r = object ? json_dumpf(object, f, 0) : -1;
	json_decref(object);
	return r < 0 ? -ENOMEM : 0;
}

static int print_json(FILE *f, const struct plan *p)
{
	json_auto_t *needs = output_needs(p);
	int r = 0;

	fputs("{\"actions\":[", f);
	for (size_t i = 0; i < p->n_actions && r >= 0; i++)
		r = print_object(f, i, make_action(&p->actions[i]));
	if (p->n_actions > 0)
		fputc('\n', f);
	fputs("],\n\"needs\":", f);
	if (!needs || json_dumpf(needs, f, 0) < 0)
		r = -ENOMEM;
	fputs("}\n", f);
	return r;
}

/* All but the target. */
static void print_change(FILE *f, const struct action *a)
{
	char change[CHANGE_LEN], buf[SHOWN_LEN];
	const char *to = action_to(a, buf);

	fprintf(f, ": %s", action_change(a, change));
	/* A target may have several netdevs: the detail names the one that is changed. */
	if (a->class == CLASS_CHANGE && *a->detail && (!*to || a->ifindex > 0))
		fprintf(f, " (%s)", a->detail);
	/* A change of the kubelet may be several edits: its detail has the others. VFs may be
	 * without RDMA. */
	if ((a->verb == VERB_ENSURE_KUBELET || a->verb == VERB_SET_NUM_VFS) &&
	    a->class == CLASS_CHANGE && *to && *a->detail)
		fprintf(f, "; %s", a->detail);
}

/* VFs get their identity, their driver and their link once they are there. Return: how many. */
static int64_t print_later(FILE *f, const struct plan *p)
{
	int64_t n = 0;

	FOREACH(a, p->actions, p->n_actions) {
		if (a->verb != VERB_SET_NUM_VFS || !action_is_open(a) || !a->number.to.is_meant ||
		    a->number.to.n == 0)
			continue;
		fprintf(f, "%s%s VF 0", n > 0 ? ", " : "Then identity, driver and link of ",
			a->target);
		if (a->number.to.n > 1)
			fprintf(f, "-%" PRIi64, a->number.to.n - 1);
		n += a->number.to.n;
	}
	if (n > 0)
		fputc('\n', f);
	return n;
}

/* For output_group(): a change has neither a code nor a neighbour. */
static json_t *make_block(const struct action *a)
{
	const bool is_change = a->class == CLASS_CHANGE;
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return NULL;
	print_change(out.f, a);
	if (stream_close(&out) < 0)
		return NULL;
	return json_pack("{s:o, s:o, s:s, s:s, s:s, s:o, s:o}", "target", document_text(a->target),
			 "change", document_text(out.text), "class",
			 is_change ? "" : class_name(a->class), "code",
			 is_change ? "" : reason_code(a->reason), "meaning",
			 reason_meaning(a->reason), "detail", document_text(a->detail), "advice",
			 document_text(is_change ? "" : action_advice(a)));
}

/* "15 changes now, 4 VFs later, 1 waits" */
static void print_count(FILE *f, const struct plan *p, int64_t n_later)
{
	static const char *const words[_CLASS_N][2] = {
		[CLASS_CHANGE] = { "change now", "changes now" },
		[CLASS_REFUSED] = { "is refused", "are refused" },
		[CLASS_WAITING] = { "waits", "wait" },
		[CLASS_NEEDS_REBOOT] = { "needs a reboot", "need a reboot" },
		[CLASS_IMPOSSIBLE] = { "is impossible", "are impossible" },
	};

	fputs(p->n_actions + p->n_reasons > 0 ? "\n" : "", f);
	if (p->n_actions == 0)
		fputs("Nothing to change on the node", f);
	for (size_t class = 0; class < _CLASS_N; class ++) {
		size_t n = 0;

		for (size_t i = 0; i < p->n_actions; i++)
			n += p->actions[i].class == class;
		if (n > 0 || (class == CLASS_CHANGE && p->n_actions > 0))
			fprintf(f, "%s%zu %s", class == CLASS_CHANGE ? "" : ", ", n,
				words[class][n != 1]);
		if (class == CLASS_CHANGE && n_later > 0)
			fprintf(f, ", %" PRIi64 " VF%s later", n_later, n_later == 1 ? "" : "s");
	}
	fputc('\n', f);
}

static int print_blocks(struct sheet *s, const struct plan *p)
{
	json_auto_t *actions = document_list(a, p->actions, p->n_actions, true, make_block(a)),
		    *hints = document_list(h, p->reasons, p->n_reasons, true,
					   output_reason(h->reason, h->target, h->detail, NULL)),
		    *of_actions = output_group(actions), *of_hints = output_group(hints);
	int64_t n_later;

	if (!actions || !hints || !of_actions || !of_hints)
		return -ENOMEM;
	output_group_print(s, of_actions, "[{target}|node]{change}[{?code}: {class} ({code})]");
	n_later = print_later(s->out.f, p);
	if (p->n_reasons > 0)
		fprintf(s->out.f, "%sHints:\n", p->n_actions > 0 ? "\n" : "");
	output_group_print(s, of_hints, "[{target}|node]: {code}");
	print_count(s->out.f, p, n_later);
	return 0;
}

int output_actions_json(const struct plan *p, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	int r = stream_open(&out);

	if (r >= 0)
		r = print_json(out.f, p);
	return r < 0 ? r : stream_take(&out, ret);
}

int output_actions_text(const struct plan *p, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};
	int r = sheet_open(&s, 0, 0);

	if (r >= 0)
		r = print_blocks(&s, p);
	if (r >= 0)
		r = sheet_close(&s, ret);
	/* Names and words that other programs chose must not move the cursor. */
	if (r >= 0)
		make_still(*ret);
	return r;
}

int output_impossible(const struct plan *p, char **ret)
{
	const struct action *first = NULL;
	size_t n = 0;

	*ret = NULL;
	for (size_t i = p->n_actions; i-- > 0;)
		if (p->actions[i].class == CLASS_IMPOSSIBLE &&
		    !action_is_best_effort(&p->actions[i])) {
			first = &p->actions[i];
			n++;
		}
	if (!first)
		return 0;
	return asprintf(ret, "%zu change%s impossible: %s: %s: %s%s%s. %s", n,
			n > 1 ? "s are" : " is", first->target[0] ? first->target : "the node",
			verb_name(first->verb), reason_meaning(first->reason),
			first->detail[0] ? ": " : "", first->detail, action_advice(first)) < 0
		       ? -ENOMEM
		       : 0;
}
