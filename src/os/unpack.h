/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpack: an archive of a tree, as a temporary folder that --root= can be. The archive may come
 * from anybody: no entry is written outside the folder or through a link, a device node, FIFO or
 * socket becomes an empty file, owners and modes are not kept, and files above 16 MiB, which no
 * look reads, are left out with a warning. libarchive is loaded only when an archive is named.
 */
#pragma once

#include "../base/util.h"

#include <limits.h>
#include <signal.h>

struct unpacked {
	char folder[PATH_MAX]; /* temporary; empty: there is none */
	char root[PATH_MAX];   /* the one folder in it that has "sys" */
	char problem[256];
	sigset_t mask; /* of the process before: signals wait for unpacked_remove() */
};

/*
 * @file is tar, or tar compressed by gzip, bzip2, xz or zstd; unpacked below TMPDIR or /var/tmp.
 * Return: 0, 1 when @file is no regular file, or -errno with the problem.
 */
int unpack(const char *file, struct unpacked *ret);
void unpacked_remove(struct unpacked *u);
