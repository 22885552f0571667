/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disk fs: src/os/fs.c on the disk of a life. close() is wrapped, since other files call it.
 */
#include "disk.h"

#include <fcntl.h>

#define open       disk_open
#define openat     disk_openat
#define fstat      disk_fstat
#define fstatat    disk_fstatat
#define read       disk_read
#define write      disk_write
#define fchmod     disk_fchmod
#define mkdirat    disk_mkdirat
#define unlinkat   disk_unlinkat
#define renameat   disk_renameat
#define readlinkat disk_readlinkat
#define fdopendir  disk_fdopendir
#define readdir    disk_readdir
#define closedir   disk_closedir

#include "../../src/os/fs.c"
