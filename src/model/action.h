/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Action: one change of the node, or why one cannot be made now, and what came of it; and the
 * attempts of a pass: the changes that it tried or is trying, and their results. The rules by which
 * those count in the next plan are in step/attempts-plan.h.
 */
#pragma once

#include "../base/text-index.h"
#include "reason.h"
#include "route-facts.h"
#include "verb.h"

enum class {
	CLASS_CHANGE,
	CLASS_REFUSED,      /* unsafe */
	CLASS_WAITING,      /* for a device, a port, an address */
	CLASS_NEEDS_REBOOT, /* safe only when nothing runs */
	CLASS_IMPOSSIBLE,   /* never by this configuration, on this hardware and kernel */
	_CLASS_N
};

#define SHOWN_LEN 48
#define GUID_LEN  20        /* "xxxx:xxxx:xxxx:xxxx" */
#define VALUE_MAX INT64_MAX /* of a number: "max", as many as there can be */

struct number {
	bool is_meant; /* false: not known, and not shown */
	int64_t n;
};

/* Texts of the actions of a plan, of the attempts of a pass, or of a lane: each owns its own. */
struct action_texts {
	struct text_node {
		struct text_node *next;
		char s[];
	} *first;      /* owned */
	bool is_short; /* no memory for one of them, which is empty; or for a part of the plan */
};

#define ACTION_TEXT_LEN 512 /* of the longest detail */

/*
 * Its texts are constants, or in the struct action_texts of the plan or the attempts that it is in:
 * a copy that outlives those is made by action_copy().
 */
struct action {
	enum step step;
	enum verb verb;
	enum class class;
	enum reason reason; /* why it is no change; REASON_NONE for a change */
	const char *target; /* PCI address, module or path, by the verb; empty: the whole node */
	/* Present and wanted value, by verb_value(), as action_from() and action_to() show them. */
	union {
		struct {
			char from[SHOWN_LEN], to[SHOWN_LEN]; /* empty: not meant */
		} text;
		struct {
			struct number from, to; /* VFs, bytes, metrics, and 0 and 1 */
			struct address address; /* of VERB_SET_METRIC: whose */
		} number;
		struct address address;
		struct {
			struct route route;
			bool is_replaced; /* one of ours with that destination is there */
		} route;
		struct rule rule;
		struct neighbour neighbour;
	};
	uint32_t ifindex;    /* of the netdev meant, for the link and route verbs */
	const char *subject; /* part of the target, where "to" does not say it: an address, a key */
	const char *detail;  /* more for people: names, users, limits; may be empty */
	const char *advice;  /* what to do about it; "" or NULL: reason_advice() says it */

	/* Instance it changes and hash of the new value, to see an undo: step/attempts-plan.h. */
	uint64_t instance, value;

	bool is_missing; /* of VERB_WAIT: as that of the device */
	bool is_back;    /* it takes something back: the ledger forgets it */

	/* set by apply */
	bool is_running;  /* it was begun and is not over: it is not begun once more */
	bool is_done;     /* it was tried */
	bool is_recalled; /* it failed in a pass before this one */
	bool is_refused;  /* not begun: the look right before it did not want it */
	bool is_noted;    /* set by the pass: memory was written with its count */
	uint64_t took_usec;
	uint32_t pid;      /* of the process that did not come back; 0: it did */
	bool is_gone;      /* it failed as its function was unplugged, or unbound, meanwhile */
	int result;        /* 0 or -errno */
	const char *error; /* the text of the failed call; empty: strerror() says it */
	bool is_vain;      /* set by the next plan: it was accepted, and is wanted still */
};
_Static_assert(sizeof(struct action) <= 300, "plans have thousands");

/* A copy of @s, "" of NULL; "" as well without memory for it, which is_short tells. */
const char *action_text(struct action_texts *t, const char *s);
void action_texts_done(struct action_texts *t);
/* A copy whose texts are in @t. */
struct action action_copy(struct action_texts *t, const struct action *a);

/* A change that was not tried yet in this pass. */
bool action_is_open(const struct action *a);
bool action_is_same_change(const struct action *a, const struct action *b); /* of two plans */

/* The value as text, "" when it is not meant; @buf is what it may be written into. */
const char *action_from(const struct action *a, char buf[static SHOWN_LEN]);
const char *action_to(const struct action *a, char buf[static SHOWN_LEN]);
/* Sets the values from their texts, as memory has them. An impossible one is not meant; of an
 * address only the subject is set, to @to itself. */
void action_set(struct action *a, const char *from, const char *to);
void action_set_numbers(struct action *a, int64_t from, int64_t to);
bool action_is_to(const struct action *a,
		  int64_t n); /* does it set that number? Numeric verbs only */
/* Have both the same from and to? Of one verb. */
bool action_is_same_step(const struct action *a, const struct action *b);

/* May it fail without changing the state, and does nothing wait for it? nvidia_peermem, files of
 * [Output]. */
bool action_is_best_effort(const struct action *a);

/* Takes away what a process may be using: looked at once more right before it is done. */
bool action_is_destructive(const struct action *a);

/*
 * Binding a VF that failed, or took longer than any healthy one: what the next of the same PF would
 * do as well, one after the other.
 */
#define SLOW_BIND_USEC (20 * USEC_PER_SEC)
bool action_is_bad_bind(const struct action *a);

/* "creating 4 VFs on 0000:41:00.0", for STATUS= and for people who wait. */
void action_describe(const struct action *a, char *ret, size_t size);
/* "set-num-vfs 0 -> 4": verb, subject, from and to, as the journal, plan and state tell it. */
#define CHANGE_LEN 512
const char *action_change(const struct action *a, char ret[static CHANGE_LEN]);
uint64_t action_deadline_usec(const struct action *a); /* how long it may take */

const char *class_name(enum class c); /* "needs-reboot" */
/* A setting that the driver of a VF's PF does not have: no failure, but an answer. */
uint32_t action_unsupported_setting(const struct action *a); /* its vf_setting bit, or 0 */
/* Why an action that was tried failed; REASON_NONE: it did not. */
enum reason action_failure(const struct action *a);
/* The advice about an action that is no change: its own, or that of its reason. */
const char *action_advice(const struct action *a);

/* --- attempts --- */

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

/* The next attempt on this target, in their order; @last: NULL before the first. NULL: no more. */
const struct action *attempts_next(const struct attempts *t, const char *target,
				   const struct action *last);
/* The next attempt on the VFs of a PF, one VF after the other; @at is SIZE_MAX before the first. */
const struct action *attempts_next_of_vfs(const struct attempts *t, const struct node *n,
					  const char *pf, size_t *at, const struct action *last);

/* An attempt at this change that is over, whatever its result; or NULL. One that was refused before
 * it began is ended, and not begun: a refused removal of VFs has to end its plan. */
const struct action *attempts_find_begun(const struct attempts *t, enum verb verb,
					 const char *target, const char *to);
const struct action *attempts_find_ended(const struct attempts *t, enum verb verb,
					 const char *target, int64_t to);
/*
 * Is a write to this function going on? A change of its link is none: the kernel holds the lock of
 * all network devices for it, and what is asked of any of them waits for it anyway.
 */
bool attempts_is_being_written(const struct attempts *t, const char *target);
/* The write of its number of VFs that is going on, or NULL. */
const struct action *attempts_changing_vfs(const struct attempts *t, const char *pf);
