/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar: writes an archive that tar(1) reads, in the POSIX ustar format with pax headers for names
 * over 100 bytes. All owners are root, all times zero: equal nodes give equal archives.
 */
#pragma once

#include "fs.h"

/* @data: the bytes of a file, or the target of a link. Return: 0 or -errno. */
int tar_add(int fd, enum record_kind kind, const char *path, const char *data, size_t size);
int tar_end(int fd);
