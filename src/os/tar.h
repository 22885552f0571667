/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar: writes an archive that tar(1) reads, in the POSIX ustar format with pax headers for names
 * over 100 bytes. All owners are root, all times zero: equal nodes give equal archives.
 */
#pragma once

#include "../base/util.h"

struct tar {
	int fd; /* not owned */
};

int tar_add_file(struct tar *t, const char *path, const char *data, size_t size);
int tar_add_link(struct tar *t, const char *path, const char *target);
int tar_add_folder(struct tar *t, const char *path);
int tar_end(struct tar *t);
