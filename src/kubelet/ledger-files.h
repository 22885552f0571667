/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledger of files: what was changed in the kubelet's files, which "revert" gives back and "explain"
 * tells: /var/lib/rdma-provision-kubelet/record.json. model/ledger.h has the format and the rule.
 *
 * An entry is open from before its change until it is known that the change was made. It then has
 * the inode and the time of a file: of the new one, which is on the disk before it takes the place
 * of the old one; or, where a value is given back, of the old one. After a crash these tell whether
 * the change was made: what an administrator wrote since is in another file, though it be the same
 * value.
 *
 * For callers that have the lock of edit.h, but for kubelet_revert(), which takes it.
 */
#pragma once

#include "edit.h"

/*
 * Enters @e, which is about to be made. @k: as it is now. @running: the kubelet that runs, "" for
 * none. Return: 0 or -errno: then the edit must not be made.
 */
int ledger_files_note(const struct fs *fs, const struct kubelet *k, const struct kubelet_edit *e,
		      const char *running);

/* ledger_files_note() once the new file is on the disk: for struct kubelet_edit. */
int ledger_files_note_written(const struct fs *fs, const char *path, const struct stat *written);

/*
 * Closes the open entries: an entry whose change was not made goes, or is what it was. An entry
 * that cannot be told stays open. Return: 0 or -errno, which was logged.
 */
int ledger_files_settle(const struct fs *fs);

/*
 * kubelet_revert() of some settings, by bits. CPUs that are reserved are given back while the state
 * file of the static policy is there, unless the policy is to go as well.
 */
int ledger_files_revert(const struct fs *fs, uint32_t settings);

/**
 * kubelet_revert() - give back what was there before our edits
 * @fs: the node, or a folder
 *
 * Only where the file still holds our value; a value that another program changed stays. The static
 * CPU policy stays while its state file does. A line in the log tells what became of each edit.
 *
 * Return: how many were left although they still hold, or -errno, which was logged.
 */
int kubelet_revert(const struct fs *fs);
