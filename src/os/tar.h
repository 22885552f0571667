/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar: an archive of a tree, which "capture" writes and --root= can be.
 *
 * It is written as tar(1) reads it, in the POSIX ustar format with pax headers for names over 100
 * bytes. All owners are root, all times zero: equal nodes give equal archives.
 *
 * An archive that is read may come from anybody: it is unpacked into a temporary folder, no entry
 * is written outside the folder or through a link, a device node, FIFO or socket becomes an empty
 * file, owners and modes are not kept, and files above 16 MiB, which no look reads, are left out
 * with a warning. libarchive is loaded only when an archive is named.
 */
#pragma once

#include "fs.h"

#include <signal.h>

/* @data: the bytes of a file, or the target of a link. Return: 0 or -errno. */
int tar_add(int fd, enum record_kind kind, const char *path, const char *data, size_t size);
int tar_end(int fd);

struct unpacked {
	char folder[PATH_MAX]; /* temporary; empty: there is none */
	char root[PATH_MAX];   /* the one folder in it that has "sys" */
	char problem[256];
	sigset_t mask; /* of the process before: signals wait for tar_remove() */
};

/*
 * @file is tar, or tar compressed by gzip, bzip2, xz or zstd; unpacked below TMPDIR or /var/tmp.
 * Return: 0, 1 when @file is no regular file, or -errno with the problem.
 */
int tar_unpack(const char *file, struct unpacked *ret);
void tar_remove(struct unpacked *u);
