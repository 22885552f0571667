/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Place: a folder of a target's own in memory (TMPDIR, /dev/shm or /tmp), for what is read through
 * os/fs.h. It is removed when the target ends, unless it breaks down: tests/fuzz/run sets TMPDIR
 * and removes that.
 */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "fuzz.h"

static char place_path[256];

static int on_entry(const char *path, _unused_ const struct stat *st, _unused_ int type,
		    _unused_ struct FTW *ftw)
{
	return remove(path);
}

static inline void remove_tree(const char *path)
{
	nftw(path, on_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_place(void)
{
	remove_tree(place_path);
}

static inline const char *place(void)
{
	const char *folder = getenv("TMPDIR");

	if (!folder)
		folder = access("/dev/shm", W_OK) >= 0 ? "/dev/shm" : "/tmp";
	if (!place_path[0]) {
		snprintf(place_path, sizeof(place_path), "%.200s/rdma-provision-fuzz.XXXXXX",
			 folder);
		require(mkdtemp(place_path) != NULL);
		atexit(remove_place);
	}
	return place_path;
}
