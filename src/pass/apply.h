/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Apply: runs a plan in its order, notes each result in it, goes on after a failure, decides
 * nothing.
 *
 * Changes run in child processes, each with a deadline of its own, since a driver may never come
 * back from a write. A child that does not end when killed is left behind (it is stuck in the
 * kernel) and its action has -ETIMEDOUT; the next one gets another child.
 *
 * Each PF is a lane, and so is the node. In a lane there is one action at a time, in the order of
 * the plan; PFs do not wait for each other. What is of the node waits for all that is before it in
 * the plan, and all that is after it waits for that. Plans follow each other while lanes run on:
 *
 *   state    what runs in the lane          what ends it
 *   FREE     nothing                        an action of the plan begins: RUNNING
 *   RUNNING  an action of the plan          its end: FREE; another plan: OLD
 *   OLD      an action of an earlier plan   an end as the plan takes for granted: FREE, and the
 *                                           lane goes on with this plan; any other end: ENDED
 *   ENDED    nothing; the plan does not     another plan: FREE
 *            know what that action did
 */
#pragma once

#include "../model/world.h"
#include "../os/child.h"
#include "../os/os.h"

struct apply_hooks {
	/* Called before each action; @deadline_usec is how long it may take. */
	void (*on_start)(void *userdata, const struct action *a, uint64_t deadline_usec);
	void (*on_end)(void *userdata, const struct action *a); /* with its result */
	/*
	 * Called right before an action that is destructive (action_is_destructive()), and before
	 * VFs are made by a plan that is older than 2 s, for they keep a LAG from forming or take
	 * it apart: the number of a PF is written after those of all before it. Does a fresh look
	 * still give it? Return: 0; 1: it does, and shows other users of devices, so that nothing
	 * else of the plan is begun; or -errno with words: then it is not run, and that is its
	 * result. NULL: nobody asks.
	 */
	int (*recheck)(void *userdata, const struct action *a, char *words, size_t size);
	void *userdata;
};

/* The lanes, whose actions may run on while plans follow each other. */
struct apply {
	const struct world *world;
	const struct apply_hooks *hooks;
	/* How long the last look took: so long a lane that is free waits for the others, and four
	 * times as long one that binds VFs. */
	uint64_t grace_usec;

	const struct node *node; /* of the present plan */
	const struct memory *memory;
	struct plan *plan;
	uint64_t planned_usec; /* when that was made */
	struct lane *lanes;    /* owned */
	size_t n_lanes;
	struct pollfd *fds; /* owned; one for each */
	size_t n_fds;
	int n_tried;
	bool is_spoiled; /* something got stuck: what may be done now needs another look */
	bool is_stale;   /* something of an earlier plan ended since this plan's look */
};

/**
 * apply_some() - begin what of the open changes of @p may begin, until another look is due
 *
 * It is due when all of them are over, when a lane has nothing left while others go on, when a
 * write got stuck, and at @until_usec. What goes on then is ended by the next call, or by
 * apply_wait(); it is known to the hooks as begun. Where the VFs of a card could not be removed,
 * what the VF step has for the same card after that is left out: not tried, for the next plan; so
 * it is after a VF whose driver failed or was slow. Results are in the actions.
 *
 * Return: how many were begun, or -ENOMEM.
 */
int apply_some(struct apply *ap, const struct node *n, const struct memory *memory, struct plan *p,
	       uint64_t until_usec);
bool apply_is_busy(const struct apply *ap);
const struct action *apply_oldest(const struct apply *ap); /* that goes on; NULL: none does */
/* Ends the first that is over, if one is before @until_usec. */
void apply_wait(struct apply *ap, const struct node *n, uint64_t until_usec);
void apply_done(struct apply *ap);
