/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: what was tried in the last boots that can crash or hang a machine, and did not end well.
 *
 * Plain data and the rules about it: pass/boots-observe.c has the file, pass/boots-apply.h
 * writes it while a pass goes on, a plan leaves out what failed in three boots.
 *
 * A step is what was tried, and with what: configuration, card, driver, firmware, program and the
 * kernel of its boot. When one of these differs, it is another step, and is tried. VFs are bound
 * one by one, and any of them may crash the machine, so a change of a VF is a step of its PF.
 *
 * Not every failure counts. A kernel that answers with a reason of its own (too-many-vfs,
 * module-signature) has hung nothing; the remedy is often none of the above (a setting of the BIOS,
 * a key of the firmware), and asking once more at the next boot costs nothing. A step counts when
 * it never ended, when it did not return in time, or when it failed for no known reason.
 */
#pragma once

#include "action.h"
#include "node.h"

struct plan;

#define MAX_BOOTS      16
#define MAX_BOOT_STEPS 16 /* of one boot; what comes after them is not kept */
#define LOOP_BOOTS     3
#define MAX_NEEDS      32 /* of one boot */
#define NEED_OF_LEN    64
#define NEED_OF_BEFORE "last boot" /* a packet to where the last boot needed it for */

struct boot_step {
	enum verb verb;
	char target[MODULE_LEN]; /* PCI address of the PF, module, or "" for the node */
	char to[48];
	char config[17];   /* hash of the configuration */
	char driver[192];  /* "mlx5_core 6.1 ABCDEF...": name, version, srcversion, if known */
	char firmware[64]; /* of the PF's RDMA device; "" is not known, and equals any */
	char program[64];  /* ours */
	int result;        /* -errno; 0: it never ended */
	bool is_skipped;   /* not tried in this boot; the result is that of the last one that did */
	char card[MAC_LEN]; /* node_card() of the PF; "" is not known, and equals any */
};

struct boot {
	char boot_id[40], kernel[128];
	int64_t time; /* seconds since 1970 by the clock of that moment, when the entry was made */
	enum node_state state; /* STARTING: the boot came to no end */
	struct boot_step steps[MAX_BOOT_STEPS];
	size_t n_steps;
	char machine[17]; /* node.machine of it; empty: not known */
	bool has_needs;   /* something told in it what the node needs, be it no function */
	struct boot_need {
		char pci[PCI_LEN];
		char card[MAC_LEN];   /* node_card(); empty: not known */
		char of[NEED_OF_LEN]; /* as in struct need; NEED_OF_BEFORE: in this boot alone */
		char words[128];
		char pf[PCI_LEN]; /* of a VF */
	} needs[MAX_NEEDS];       /* functions that the node needed in it, at any time */
	size_t n_needs;
};

/* Makes @ret the step that @a is. Return: false when @a can crash nothing, and is none. */
bool boots_step(const struct config *c, const struct node *n, const struct action *a,
		struct boot_step *ret);

/* Did each of the last LOOP_BOOTS boots before this one, with this kernel, fail at that step? */
bool boots_is_loop(const struct node *n, const struct memory *memory, const struct boot_step *s);
/* The step of @b that is the same as @s, or NULL. */
const struct boot_step *boots_find(const struct boot *b, const struct boot_step *s);

/* The same step as @s in the last boot before this one that has it, or NULL. */
const struct boot_step *boots_last(const struct node *n, const struct memory *memory,
				   const struct boot_step *s);

/* Does the result of an action that was tried count as one that failed? */
bool boots_counts(const struct action *a);

/* Adds a step to the entry of the present boot, or updates its result; removes a step. */
void boots_put(struct boot *b, const struct boot_step *s);
void boots_drop(struct boot *b, const struct boot_step *s);

/*
 * At the end of a pass: a step that this plan does not tell as failed, or as left out, is over,
 * however it began, but for a number of VFs whose write goes on or hangs. A boot that came to an
 * end keeps it while the node starts again. Functions that the node needs are kept:
 * guard/needs-rules.c.
 */
void boots_conclude(const struct config *c, const struct node *n, const struct memory *memory,
		    const struct plan *p, struct boot *b);

/* The entry of the present boot, or NULL. */
const struct boot *boots_present(const struct node *n, const struct memory *memory);
/*
 * The boot before @b, from NULL for the last one before the present boot, or NULL: back to the last
 * one that ended and tells what the node needs. One that lost power early may tell a part of it.
 */
const struct boot *boots_before(const struct node *n, const struct memory *memory,
				const struct boot *b);
/*
 * The function that a need is of: the one with its card, of several the one with its device and
 * function number, and of VFs no other. The one at its address where the card of one of them is not
 * known. NULL: it is not there.
 */
const struct pci *boots_function(const struct node *n, const struct boot_need *k);

/*
 * The boots worth telling: up to LOOP_BOOTS before the present one, none when all of them ended
 * ready and without a step that failed. Return: how many, at the end of memory.boots but for
 * the present one; @ret_first is the index of the first.
 */
size_t boots_telling(const struct node *n, const struct memory *memory, size_t *ret_first);
