/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Apply: runs a plan in its order, notes each result in it, goes on after a failure, decides
 * nothing.
 *
 * Changes run in a child process, each with a deadline of its own, since a driver may never come
 * back from a write. A child that does not end when killed is left behind (it is stuck in the
 * kernel) and its action has -ETIMEDOUT; the next one gets another child.
 */
#pragma once

#include "../doors/doors.h"
#include "../model/plan.h"

/* What the verbs get beside their action. */
struct work {
	struct doors *doors;     /* the child's own */
	const struct node *node; /* as it was observed for the plan */
	const struct plan *plan; /* the one the action is of, with the texts of its files */
	const char *rules;       /* text of the udev rules, NULL: none are wanted */
	char *error;             /* the verb's own words for a failure, 192 bytes, may stay empty */
};

struct apply_hooks {
	/* Called before each action; @deadline_usec is how long it may take. */
	void (*on_start)(void *userdata, const struct action *a, uint64_t deadline_usec);
	void (*on_end)(void *userdata, const struct action *a); /* with its result */
	/*
	 * Called right before an action that is destructive (is_destructive()): does a fresh look
	 * still give it? Return: 0, or -errno with words: then it is not run, and that is its
	 * result. NULL: nobody asks.
	 */
	int (*recheck)(void *userdata, const struct action *a, char *words, size_t size);
	void *userdata;
};

/*
 * Runs the open changes of @p, up to one that gets stuck (plan_stuck()). Where the VFs of a card
 * could not be removed, what the VF step has for the same card after that is left out: not tried,
 * for the next plan. Return: how many were tried. Results are in the actions.
 */
int apply_plan(struct doors *d, const struct node *n, const struct apply_hooks *hooks,
	       struct plan *p);

/*
 * For the helper that may write below /etc: writes the file of [Output] NCCL=, or removes one of
 * ours. @configured: its path, empty for none; nothing is written elsewhere, and removed only below
 * /etc. @question: the path, a newline, and the text, which is empty to remove the file. Return: 0,
 * -EPERM what must not be written there, -EEXIST a file that is not ours, -EBADMSG, or -errno.
 */
int apply_nccl_file(const struct fs *fs, const char *configured, const char *question);
