/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disk: the files of a life, in memory. disk-fs.c is src/os/fs.c compiled with these in the place
 * of system calls, so that every step by which the program replaces a file is its own.
 *
 * A file that was not given to fsync(2) may be cut short by a power cut, and a name that was made,
 * moved or removed may be as before until its folder was: fsync(2), "Calling fsync() does not
 * necessarily ensure that the entry in the directory containing the file has also reached disk".
 */
#pragma once

#include "../../src/base/util.h"

#include <sys/stat.h>

int disk_open(const char *path, int flags);
int disk_openat(int folder, const char *path, int flags, ...);
int disk_fstat(int fd, struct stat *ret);
int disk_fstatat(int folder, const char *path, struct stat *ret, int flags);
ssize_t disk_read(int fd, void *buf, size_t size);
ssize_t disk_write(int fd, const void *data, size_t size);
int disk_fchmod(int fd, mode_t mode);
int disk_mkdirat(int folder, const char *path, mode_t mode);
int disk_unlinkat(int folder, const char *path, int flags);
int disk_renameat(int from_folder, const char *from, int to_folder, const char *to);
ssize_t disk_readlinkat(int folder, const char *path, char *buf, size_t size);
DIR *disk_fdopendir(int fd);
struct dirent *disk_readdir(DIR *d);
int disk_closedir(DIR *d);

/* --- for the simulation --- */

bool is_life_with_cuts(void);
void disk_begin(void); /* of a life: there is nothing */
void disk_make_folder(const char *path);
void disk_put(const char *path, const char *text);
/* /run is empty after it. @is_cut: what was not on the disk may be lost. */
void disk_boot(bool is_cut);
const char *disk_left_open(void); /* a path; NULL: none */
/* The paths of all files that there are, one after another: @i counts. NULL: no more. */
const char *disk_next_file(size_t *i);
