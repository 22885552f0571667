/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: notes on disk what can crash the machine, before it is tried.
 *
 * A boot that ends in the middle leaves the note of a step that began and never ended. A step that
 * ended well is removed by the next note, or at the end of the pass, so each step costs one write.
 * A step that cannot be noted is tried all the same: /var may be read-only or not there yet. The
 * notes are kept in /run then, for functions that were needed are needed until the next boot.
 */
#pragma once

#include "../model/boots.h"
#include "../os/fs.h"

/* The notes of one pass. While the struct is all zero, nothing is noted. */
struct boot_notes {
	struct boot *boots; /* owned; the last one is the present boot */
	size_t n;
	struct boot noted; /* the present one as the file has it */
	bool is_in_run;    /* /var cannot be written */
};

/* Takes the boots of this node, and adds the present one. Return: 0 or -ENOMEM. */
int boot_notes_open(const struct node *n, const struct memory *memory, struct boot_notes *ret);
void boot_notes_done(struct boot_notes *b);

/* Call boot_notes_start() before every action, and boot_notes_end() with its result. */
void boot_notes_start(struct boot_notes *b, const struct fs *fs, const struct config *c,
		      const struct node *n, const struct action *a);
void boot_notes_end(struct boot_notes *b, const struct config *c, const struct node *n,
		    const struct action *a);

/* Call it at the end of a pass. It writes the file only if its notes differ. */
void boot_notes_conclude(struct boot_notes *b, const struct fs *fs, const struct config *c,
			 const struct node *n, const struct memory *memory, const struct plan *p);
