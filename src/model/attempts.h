/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts: the changes that a pass tried or is trying, and their results. The rules by which they
 * count in the next plan are in step/attempts-plan.h.
 */
#pragma once

#include "../base/text-index.h"
#include "action.h"
#include "node.h"

struct attempts {
	struct action *actions; /* owned, but for their texts; in the order in which they began */
	size_t n_actions;
	struct action_texts texts;
	struct text_index by_target; /* of actions */
	struct last_change change;   /* of this pass, as far as it has come */
	bool is_asked; /* a person wants it now, also when another program undoes it */
	bool is_first; /* the first pass since a person wanted it: tries once what was left alone */
};

void attempts_done(struct attempts *t);
struct action *attempts_add(struct attempts *t, const struct action *a); /* NULL: no memory */
int attempts_begin(struct attempts *t, const struct action *a); /* -ENOMEM: it is not noted */
void attempts_end(struct attempts *t, const struct action *a);

/* In the functions below @t may be NULL: nothing was tried. */

/* The next attempt on this target, in their order; @last is NULL before the first. NULL: no more.
 */
const struct action *attempts_next(const struct attempts *t, const char *target,
				   const struct action *last);
/* The next attempt on the VFs of a PF, one VF after the other; @at is SIZE_MAX before the first. */
const struct action *attempts_next_of_vfs(const struct attempts *t, const struct node *n,
					  const char *pf, size_t *at, const struct action *last);

/* The attempt at this change that is over, whatever its result; or NULL. */
const struct action *attempts_find(const struct attempts *t, enum verb verb, const char *target,
				   const char *to);
const struct action *attempts_find_number(const struct attempts *t, enum verb verb,
					  const char *target, int64_t to);
/*
 * Is a write to this function going on? A change of its link is none: the kernel holds the lock of
 * all network devices for it, and what is asked of any of them waits for it anyway.
 */
bool attempts_is_being_written(const struct attempts *t, const char *target);
/* The write of its number of VFs that is going on, or NULL. */
const struct action *attempts_changing_vfs(const struct attempts *t, const char *pf);
