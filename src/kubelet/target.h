/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target: a file of another program that is edited: found through its links, read whole, replaced
 * with everything about it kept, and never while another program writes it.
 */
#pragma once

#include <sys/stat.h>

#include "../os/fs.h"

struct target {
	int folder, file;        /* owned */
	char name[NAME_MAX + 1]; /* in the folder; no link */
	char temporary[NAME_MAX + 1];
	struct stat st; /* when it was read */
	char *text;     /* owned; NUL is appended, and may be in it */
	size_t size;
};
#define TARGET_NONE { .folder = -EBADF, .file = -EBADF }

/*
 * Follows links inside the root and reads the file: regular, of at most @max bytes. What a crash
 * left beside it is removed: the caller has the lock of all who edit. Return: 0;
 * -EFBIG, -EINVAL (no file), -ELOOP, -EAGAIN (it is being written), or another -errno.
 */
int target_open(const struct fs *fs, const char *path, size_t max, struct target *ret);

/*
 * Replaces it by a temporary ".NAME.rdma-provision.tmp" beside it, never "*.conf", with owner, mode
 * and SELinux label kept; on the disk when this returns. Return: 0; -EAGAIN when the file
 * was changed since it was opened; -EBUSY (a bind mount), -EROFS, -EPERM, -ENOSPC. The old file is
 * still whole then.
 */
int target_replace(const struct target *t, const char *text, size_t size);
void target_done(struct target *t);
