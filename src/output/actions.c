/* SPDX-License-Identifier: Apache-2.0 */
#include "actions.h"

#include "../base/document.h"

/* "4" is a number where the verb counts, "" and "none" stay text. */
static json_t *value(enum verb verb, const char *text)
{
	unsigned long long number;
	char *end;

	if (!is_numeric(verb) || *text < '0' || *text > '9')
		return document_text(text);

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || *end || number > INT64_MAX)
		return document_text(text);

	return json_integer((json_int_t)number);
}

static json_t *make_action(const struct action *a)
{
	json_t *subject = *a->subject ? document_text(a->subject) : NULL;

	return json_pack("{s:s, s:s, s:o, s:o*, s:o, s:o, s:s, s:s, s:o, s:o}", "step",
			 step_name(a->step), "verb", verb_name(a->verb), "target",
			 document_text(a->target), "subject", subject, "from",
			 value(a->verb, a->from), "to", value(a->verb, a->to), "class",
			 class_name(a->class), "code", reason_code(a->reason), "advice",
			 document_text(action_advice(a)), "detail", document_text(a->detail));
}

static int print_json(FILE *f, const struct plan *p)
{
	fputs("{\"actions\":[", f);
	for (size_t i = 0; i < p->n_actions; i++) {
		json_auto_t *object = make_action(&p->actions[i]);

		if (!object)
			return -ENOMEM;

		fputs(i == 0 ? "\n  " : ",\n  ", f);
		if (json_dumpf(object, f, 0) < 0)
			return -ENOMEM;
	}
	fputs(p->n_actions > 0 ? "\n]}\n" : "]}\n", f);

	return 0;
}

static void print_change(FILE *f, const struct action *a)
{
	fprintf(f, "%s: %s", *a->target ? a->target : "node", verb_name(a->verb));
	if (*a->subject && !streq(a->subject, a->to))
		fprintf(f, " %s", a->subject);
	if (*a->from && *a->to)
		fprintf(f, " %s -> %s", a->from, a->to);
	else if (*a->to)
		fprintf(f, " %s", a->to);
	else if (a->class == CLASS_CHANGE && *a->detail)
		fprintf(f, " (%s)", a->detail);
}

static int print_text(FILE *f, const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		print_change(f, a);
		if (a->class != CLASS_CHANGE)
			fprintf(f, ": %s (%s): %s%s%s. %s", class_name(a->class),
				reason_code(a->reason), reason_meaning(a->reason),
				*a->detail ? ": " : "", a->detail, action_advice(a));
		fputc('\n', f);
	}
	for (size_t i = 0; i < p->n_reasons; i++) {
		const enum reason reason = p->reasons[i].reason;
		const char *target = p->reasons[i].target, *detail = p->reasons[i].detail;

		fprintf(f, "%s: hint (%s): %s%s%s. %s\n", *target ? target : "node",
			reason_code(reason), reason_meaning(reason), *detail ? ": " : "", detail,
			reason_advice(reason));
	}

	return 0;
}

static int print(int (*to)(FILE *f, const struct plan *p), const struct plan *p, char **ret)
{
	_cleanup_(freep) char *text = NULL; /* of the stream, valid once that is closed */
	size_t size = 0;
	FILE *f;
	int r;

	f = open_memstream(&text, &size);
	if (!f)
		return -errno;

	r = to(f, p);
	if (text_close(f, &text) < 0)
		r = -ENOMEM;
	if (r < 0)
		return r;

	*ret = TAKE(text);
	return 0;
}

int output_actions_json(const struct plan *p, char **ret)
{
	return print(print_json, p, ret);
}

int output_actions_text(const struct plan *p, char **ret)
{
	int r = print(print_text, p, ret);

	/* What others chose must not move the cursor. */
	if (r >= 0)
		make_still(*ret);
	return r;
}
