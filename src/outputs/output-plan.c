/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output], after everything else: they tell of the plan that was made.
 *
 * Pure. Nobody waits for them, and they change no state when they cannot be written.
 */
#include "../step/steps.h"

#include "../step/attempts-plan.h"

static void remove_output(struct plan *p, enum output o, const char *path)
{
	COPY(plan_add(p, VERB_REMOVE_OUTPUT, path)->text.to, output_name(o));
}

/* Nothing can be written that would be true. */
static void plan_without_text(const struct node *n, struct plan *p, enum output o)
{
	const struct plan_output *wanted = &p->outputs[o];

	if (wanted->is_kept)
		return;
	if (wanted->reason != REASON_NONE)
		plan_add_hint(p, wanted->reason, wanted->path, "%s", wanted->detail);
	if (n->outputs[o].text)
		remove_output(p, o, wanted->path);
}

/* Yesterday's truth must not be read while the node is being made. */
static void write_first(struct plan *p, const char *path)
{
	struct action first;

	plan_add(p, VERB_WRITE_OUTPUT, path);
	if (p->texts.is_short)
		return;
	first = p->actions[p->n_actions - 1];
	memmove(p->actions + 1, p->actions, (p->n_actions - 1) * sizeof(*p->actions));
	p->actions[0] = first;
	plan_index(p);
}

static void plan_file(const struct node *n, const struct memory *memory, struct plan *p,
		      enum output o, bool is_last)
{
	const struct plan_output *wanted = &p->outputs[o];
	const struct output_file *file = &n->outputs[o];

	if (!file->has_folder)
		return plan_add_item(p, VERB_WRITE_OUTPUT, CLASS_WAITING, wanted->path,
				     REASON_OUTPUT_NO_FOLDER, NULL);
	if (file->is_there && !file->text)
		return plan_add_item(p, VERB_WRITE_OUTPUT, CLASS_REFUSED, wanted->path,
				     REASON_OUTPUT_FOREIGN, NULL);
	if (!is_last && memory->last_state == NODE_STARTING && wanted->text && file->text &&
	    output_is_ready(o, file->text))
		return write_first(p, wanted->path);
	if (!is_last)
		return plan_add_item(p, VERB_WRITE_OUTPUT, CLASS_WAITING, wanted->path,
				     REASON_OUTPUT_LAST, NULL);
	if (!wanted->text)
		return plan_without_text(n, p, o);
	if (file->text && streq(file->text, wanted->text))
		return;
	plan_add(p, VERB_WRITE_OUTPUT, wanted->path);
}

void plan_outputs(const struct config *c, const struct node *n, const struct memory *memory,
		  struct plan *p)
{
	const bool is_last = !plan_has_needed_changes(p);

	FOREACH_WHILE(rec, n->output_records, n->n_output_records, !c->is_invalid)
		if (!streq(rec->path, c->output.paths[rec->output]))
			remove_output(p, rec->output, rec->path);
	for (enum output o = 0; o < _OUTPUT_N; o++)
		if (p->outputs[o].path)
			plan_file(n, memory, p, o, is_last);
	plan_contest(c, n, memory, 0, p);
	plan_mark_tried(p);
}
