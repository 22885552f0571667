/* SPDX-License-Identifier: Apache-2.0 */
#include "attempts.h"

#include <assert.h>

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

const struct action *attempts_find(const struct attempts *t, enum verb verb, const char *target,
				   const char *to)
{
	const struct action *a = NULL;
	char shown[SHOWN_LEN];

	while ((a = attempts_next(t, target, a)))
		if (a->verb == verb && a->is_done && streq(action_to(a, shown), to))
			break;
	return a;
}

const struct action *attempts_find_number(const struct attempts *t, enum verb verb,
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
