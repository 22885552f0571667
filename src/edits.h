/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits: the record of observe/record.h in its file, /var/lib/rdma-provision/kubelet.json: what
 * was changed for the kubelet and what was there before. An edit is noted before it is made; after
 * a crash between the two there is a record of nothing, which does no harm.
 */
#pragma once

#include "apply/kubelet.h"
#include "observe/record.h"

/* No file is an empty record, and so is a damaged one, which is logged. 0 or -errno. */
int edits_load(const struct fs *fs, struct record *ret);
int edits_save(const struct fs *fs, const struct record *rec); /* 0 or -errno */

/*
 * @k: as it is now. @running: the kubelet that runs, "" for none. Where /var cannot be written that
 * is logged, and the edit may go on: the policy is worth more than the way back. 0 or -ENOMEM.
 */
int edits_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
	       const char *running);

/* Makes this way a file that only we write? Then it has no value of somebody else's to put back. */
bool edits_is_own(enum kubelet_way way);
