/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output], after everything else: they tell of the plan that was made.
 *
 * Pure. Nobody waits for them, and they change no state when they cannot be written.
 */
#include "../step/steps.h"

#include "../step/attempts-plan.h"

static int add(struct plan *p, enum output o, enum verb verb, enum class class, const char *path,
	       enum reason reason)
{
	struct action *a = plan_add_reason(p, STEP_OUTPUT, verb, class, path, reason);

	if (!a)
		return -ENOMEM;
	if (verb == VERB_REMOVE_OUTPUT)
		COPY(a->text.to, output_name(o));
	return 0;
}

/* Nothing can be written that would be true. */
static int plan_without_text(const struct node *n, struct plan *p, enum output o)
{
	const struct plan_output *wanted = &p->outputs[o];
	int r = 0;

	if (wanted->is_kept)
		return 0;
	if (wanted->reason != REASON_NONE)
		r = plan_add_hint(p, wanted->reason, wanted->path, "%s", wanted->detail);
	if (r >= 0 && n->outputs[o].text)
		r = add(p, o, VERB_REMOVE_OUTPUT, CLASS_CHANGE, wanted->path, REASON_NONE);
	return r;
}

/* Yesterday's truth must not be read while the node is being made. */
static int write_first(struct plan *p, enum output o, const char *path)
{
	struct action first;
	int r;

	r = add(p, o, VERB_WRITE_OUTPUT, CLASS_CHANGE, path, REASON_NONE);
	if (r < 0)
		return r;
	first = p->actions[p->n_actions - 1];
	memmove(p->actions + 1, p->actions, (p->n_actions - 1) * sizeof(*p->actions));
	p->actions[0] = first;
	plan_index(p);
	return 0;
}

static int plan_file(const struct node *n, const struct memory *memory, struct plan *p,
		     enum output o, bool is_last)
{
	const struct plan_output *wanted = &p->outputs[o];
	const struct output_file *file = &n->outputs[o];

	if (!file->has_folder)
		return add(p, o, VERB_WRITE_OUTPUT, CLASS_WAITING, wanted->path,
			   REASON_OUTPUT_NO_FOLDER);
	if (file->is_there && !file->text)
		return add(p, o, VERB_WRITE_OUTPUT, CLASS_REFUSED, wanted->path,
			   REASON_OUTPUT_FOREIGN);
	if (!is_last && memory->last_state == NODE_STARTING && wanted->text && file->text &&
	    output_is_ready(o, file->text))
		return write_first(p, o, wanted->path);
	if (!is_last)
		return add(p, o, VERB_WRITE_OUTPUT, CLASS_WAITING, wanted->path,
			   REASON_OUTPUT_LAST);
	if (!wanted->text)
		return plan_without_text(n, p, o);
	if (file->text && streq(file->text, wanted->text))
		return 0;
	return add(p, o, VERB_WRITE_OUTPUT, CLASS_CHANGE, wanted->path, REASON_NONE);
}

int plan_outputs(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p)
{
	const bool is_last = !plan_has_needed_changes(p);
	int r = 0;

	for (size_t i = 0; i < n->n_output_records && !c->is_invalid && r >= 0; i++) {
		const struct output_record *rec = &n->output_records[i];

		if (!streq(rec->path, c->output.paths[rec->output]))
			r = add(p, rec->output, VERB_REMOVE_OUTPUT, CLASS_CHANGE, rec->path,
				REASON_NONE);
	}
	for (enum output o = 0; o < _OUTPUT_N && r >= 0; o++)
		if (p->outputs[o].path)
			r = plan_file(n, memory, p, o, is_last);
	plan_contest(c, n, memory, 0, p);
	if (r >= 0)
		plan_mark_tried(p);
	return r;
}
