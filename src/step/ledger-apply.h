/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledger: notes what is about to be set in the kernel, and what was there before, so that it can be
 * taken back, by the rule of model/ledger.h. For verbs only.
 *
 * Lines of netdevs that are gone are dropped: another netdev may get the number.
 */
#pragma once

#include "verbs.h"

/* How long a lane waits for the lock: each of 64 lanes may write to a disk first. The deadline of
 * its action may end the wait sooner. */
#define LANES_LOCK_USEC (60 * USEC_PER_SEC)

/*
 * Notes a change before it is made, so that a crash in between forgets nothing; an action that
 * takes something back is not noted. @from: the value as the kernel tells it; messages may show
 * another text. Return: 0 or -errno: then the change must not be made.
 */
int ledger_note(struct work *w, const struct action *a, const char *from);

/* Drops the entry of a change that was taken back; @verb is the one that had made it. */
int ledger_forget(struct work *w, const struct action *a, enum verb verb);
