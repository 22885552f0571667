/* SPDX-License-Identifier: Apache-2.0 */
#include "attempts.h"

#include <assert.h>

void attempts_done(struct attempts *t)
{
	free(t->actions);
	*t = (struct attempts){};
}

int attempts_begin(struct attempts *t, const struct action *a)
{
	struct action *slot = APPEND(t->actions, t->n_actions);

	if (!slot)
		return -ENOMEM;
	*slot = *a;
	slot->is_running = true;
	return 0;
}

void attempts_end(struct attempts *t, const struct action *a)
{
	for (size_t i = 0; i < t->n_actions; i++)
		if (t->actions[i].is_running && action_is_same_change(&t->actions[i], a)) {
			t->actions[i] = *a;
			return;
		}
}

const struct action *attempts_find(const struct attempts *t, enum verb verb, const char *target,
				   const char *to)
{
	for (size_t i = 0; t && i < t->n_actions; i++) {
		const struct action *a = &t->actions[i];
		char shown[SHOWN_LEN];

		if (a->verb == verb && a->is_done && streq(a->target, target) &&
		    streq(action_to(a, shown), to))
			return a;
	}
	return NULL;
}

const struct action *attempts_find_number(const struct attempts *t, enum verb verb,
					  const char *target, int64_t to)
{
	assert(verb_is_numeric(verb));
	for (size_t i = 0; t && i < t->n_actions; i++) {
		const struct action *a = &t->actions[i];

		if (a->verb == verb && a->is_done && streq(a->target, target) &&
		    action_is_to(a, to))
			return a;
	}
	return NULL;
}

const struct action *attempts_stuck(const struct attempts *t)
{
	return t ? actions_stuck(t->actions, t->n_actions) : NULL;
}

bool attempts_is_being_written(const struct attempts *t, const char *target)
{
	for (size_t i = 0; t && i < t->n_actions; i++)
		if (t->actions[i].is_running && t->actions[i].step != STEP_LINK &&
		    streq(t->actions[i].target, target))
			return true;
	return false;
}

const struct action *attempts_changing_vfs(const struct attempts *t, const char *pf)
{
	for (size_t i = 0; t && i < t->n_actions; i++)
		if (t->actions[i].is_running && t->actions[i].verb == VERB_SET_NUM_VFS &&
		    streq(t->actions[i].target, pf))
			return &t->actions[i];
	return NULL;
}
