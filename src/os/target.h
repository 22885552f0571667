/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target: a file that other programs write as well and that is edited here: found through its
 * links, read whole, and replaced only at rest and with everything about it, or not at all.
 *
 * At rest: no program has the file open for writing. From target_open() to target_done() this
 * process holds a read lease. The kernel grants none while a program has the file open for writing;
 * afterwards a program that opens it so waits in open(), or fails with EWOULDBLOCK if it asked not
 * to wait, and the lease shows that it is to be given up. Old and new file exchange their names,
 * and exchange them back when that has happened, since the waiting program writes to the old one.
 * Source: fcntl(2); generic_add_lease(), __break_lease() and fcntl_getlease() in fs/locks.c
 * Without leases (many network and FUSE file systems, a foreign owner's file without CAP_LEASE)
 * inode, size and times are compared right before and after, and a line in the log says so.
 *
 * Everything about it: owner, mode, ACL and all extended attributes but security.ima and
 * security.evm, which belong to the bytes. trusted.* is listed with CAP_SYS_ADMIN only.
 *
 * Not noticed: an open() that found the old file before the exchange, and asks for it after the new
 * one is on the disk; two programs that open the file for writing at the moment of the exchange,
 * one the old file and one the new, of which the latter loses.
 */
#pragma once

#include <sys/stat.h>

#include "fs.h"

struct target {
	const struct fs *fs; /* borrowed, as the path */
	const char *path;
	int folder, file;        /* owned */
	char name[NAME_MAX + 1]; /* in the folder; no link */
	char temporary[NAME_MAX + 1];
	bool is_leased;
	struct stat st; /* when it was read */
	char *text;     /* owned; NUL is appended, and may be in it */
	size_t size;
	/* NULL, or called once the new file is on the disk: when it fails, the old one stays. */
	int (*on_written)(const struct fs *fs, const char *path, const struct stat *written);
};
#define TARGET_NONE { .folder = -EBADF, .file = -EBADF }

/*
 * Follows links inside the root and reads the file: regular, of at most @max bytes. A temporary
 * file that a crash left beside it is removed: the caller has the lock of all who edit. @path is
 * kept. Return: 0; -EFBIG, -EINVAL (no file), -ELOOP, -EAGAIN (another program has it open for
 * writing), or another -errno.
 */
int target_open(const struct fs *fs, const char *path, size_t max, struct target *ret);

/* Has a crash left a temporary file beside it? target_open() removes that. */
bool target_is_left(const struct fs *fs, const char *path);

/*
 * Replaces it by a temporary ".NAME.rdma-provision.tmp" beside it, never "*.conf"; on the disk when
 * this returns. @text: NULL removes the file. Return: 0; -EAGAIN when another program changed it or
 * opened it for writing since target_open(); -EMLINK (it has a second name); -EBUSY (a bind mount),
 * -EROFS, -EPERM (immutable, or an attribute cannot be copied: logged), -ENOSPC. The old file is
 * still whole then.
 */
int target_replace(const struct target *t, const char *text, size_t size);
void target_done(struct target *t);

/*
 * target_open() and target_replace() in one, for a file whose bytes are known: @from, NULL for no
 * file, becomes @to, NULL to remove it. A new file has mode 0644. Return: as these two; -EAGAIN
 * when the file is not @from.
 */
int target_change(const struct fs *fs, const char *path, const char *from, size_t n_from,
		  const char *to, size_t n_to);

/* An error of the functions above in words. */
const char *target_problem(int r);
