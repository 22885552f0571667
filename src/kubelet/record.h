/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: what was changed in the kubelet's files, what was there before, and when: the document in
 * /var/lib/rdma-provision-kubelet/record.json, which "revert" undoes and "explain" tells.
 *
 * An edit is noted before it is made: after a crash between the two there is a record of nothing,
 * which does no harm. One entry for each setting and file: a later edit of the same place replaces
 * it, since another program wrote the file in between.
 */
#pragma once

#include "edit.h"

struct record_entry {
	enum kubelet_way way;
	enum kubelet_setting setting;
	char path[256];
	char variable[64]; /* KUBELET_WAY_EXTRA */
	bool was_there;    /* the key or flag */
	bool is_created;   /* the file itself is ours */
	char from[64], to[64];
	char since[32];   /* "2026-01-31T08:00:00Z" */
	char running[80]; /* the kubelet that ran then: "boot id:PID:start"; empty: none */
};

struct record {
	struct record_entry *entries; /* owned, in the order in which they were made */
	size_t n_entries;
};

void record_done(struct record *rec);
/* Return: how many entries were malformed and are left out, -EINVAL or -ENOMEM. */
int record_parse(const char *json, size_t size, struct record *ret);
int record_print(const struct record *rec, char **ret); /* 0 or -ENOMEM */
/* Replaces the entry of that setting and path, or appends it. 0 or -ENOMEM. */
int record_set(struct record *rec, const struct record_entry *e);
void record_drop(struct record *rec, size_t i);
/* The last entry of a setting in a file, or NULL. */
struct record_entry *record_find(const struct record *rec, enum kubelet_setting s,
				 const char *path);

/* No file is an empty record, and so is a damaged one, which is logged. 0 or -errno. */
int record_load(const struct fs *fs, struct record *ret);
int record_save(const struct fs *fs, const struct record *rec); /* 0 or -errno */

/*
 * @k: as it is now. @running: the kubelet that runs, "" for none. Where /var cannot be written that
 * is logged, and the edit may go on: the policy is worth more than the way back. 0 or -ENOMEM.
 */
int record_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
		const char *running);

/* Does only this program write the file of this way? Then it has no value of others to put back. */
bool record_is_own(enum kubelet_way way);
