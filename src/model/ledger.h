/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledger: what this program has set, and what others had there before, so that it can be given
 * back. Plain data, and one rule for all of it.
 *
 * "from" is the value of another program that was found first. It stays as long as the present
 * value is ours, however often we change that. When another program writes a value of its own, that
 * one becomes "from".
 *
 * An entry is written before the change, so that a crash in between forgets nothing; without an
 * entry nothing is changed.
 *
 * There are two files. Values in the kernel last one boot: the service keeps their entries in /run.
 * Values in the kubelet's files last over boots: rdma-provision-kubelet alone, which may write to
 * any folder, keeps theirs in /var/lib: it must not do what a file of the service says.
 */
#pragma once

#include "kubelet.h"

struct fields;

struct ledger_entry {
	char target[256]; /* PCI address, for people, and of verbs without ifindex; or the file */
	char from[64];    /* what others wrote last; empty: nothing */
	char to[64];      /* what was to be set last; empty: @from was to be given back */
	char before[64];  /* what we had set before "to", and is there still when that failed */

	/* A change of the kernel: */
	char verb[24]; /* verb_name() */
	uint32_t ifindex;
	char subject[96]; /* of the action */
	uint32_t n; /* times it was done since since_usec, which is a minute at most: for the probes
		       of a neighbour */
	uint64_t since_usec;
	uint32_t total; /* times that this very value was set in this boot */

	/* A change of a file: */
	enum kubelet_setting setting;
	enum kubelet_way way;
	bool was_there;   /* the key or flag */
	bool is_created;  /* the file itself is ours */
	char added[64];   /* the variable that was set with the flag; empty: it was there */
	char since[32];   /* "2026-01-31T08:00:00Z" */
	char running[80]; /* the kubelet that ran then: "boot id:PID:start"; empty: none */
	char file[64];    /* kubelet/ledger-files.h; empty: the change is known to be made */
};

struct ledger {
	struct ledger_entry *entries; /* owned, in the order in which they were made */
	size_t n_entries;
};
void ledger_done(struct ledger *l);

extern const struct fields ledger_fields;       /* "changes", of the kernel */
extern const struct fields ledger_files_fields; /* "edits", of the kubelet's files */

/* The last entry of the kernel, or NULL. With @ifindex, @target does not count. */
struct ledger_entry *ledger_find(struct ledger_entry *entries, size_t n, const char *verb,
				 const char *target, uint32_t ifindex, const char *subject);
/* The last entry of a setting in a file of the kubelet, or NULL. */
struct ledger_entry *ledger_find_file(const struct ledger *l, enum kubelet_setting s,
				      const char *path);

/* Is the value that is there now one that we have set? */
bool ledger_is_ours(const struct ledger_entry *e, const char *now);

/* Enters a change of the present value @now to @to. */
void ledger_enter(struct ledger_entry *e, const char *now, const char *to);

void ledger_drop(struct ledger *l, struct ledger_entry *e);
