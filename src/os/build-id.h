/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-id: which build of a module a file is, and which one is in the kernel.
 *
 * The linker writes a hash of all that it links into a note of the file, and the kernel shows the
 * notes of what it loaded: add_notes_attrs() in kernel/module/sysfs.c.
 */
#pragma once

#include "fs.h"

#define BUILD_ID_LEN 65 /* 32 bytes as hex digits; 20 are usual */

/*
 * Reads the build-id of a module's file, as hex digits. The file must be uncompressed, of 64 bits
 * and of this machine's byte order. Return: 0; -ENOENT there is no such file or no such note;
 * -ENOEXEC no such file of a module, compressed or damaged; -ENOMEM, or another -errno.
 */
int build_id_of_file(const struct fs *fs, const char *path, char ret[static BUILD_ID_LEN]);

/* Reads the build-id of a loaded module. Return: as build_id_of_file(). */
int build_id_of_module(const struct fs *fs, const char *module, char ret[static BUILD_ID_LEN]);

/* Finds the build-id in the bytes of a module's file. Pure. */
int build_id_parse(const char *bytes, size_t size, char ret[static BUILD_ID_LEN]);
