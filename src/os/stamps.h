/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps: was a file, that something was read from, replaced or changed since?
 *
 * fs.stamps has fs_open() note what each path is before it is read; below the same root the notes
 * can be compared later, by another process as well. Of a file that is by its numbers, size and
 * times, of files in /proc and /sys, which have none, by what is in them, and of folders there only
 * that they are there. A path that is not there has a stamp, too. Live roots only.
 *
 * Two changes within one tick of the kernel's clock give a file the same times: one that was
 * changed a moment ago has no stamp that could be trusted. Source: current_time() in fs/inode.c
 */
#pragma once

#include "fs.h"

struct stamp {
	char path[256]; /* without a newline */
	int64_t value;
};

struct stamps {
	struct stamp *items; /* owned; each path once */
	size_t n_items;
	bool is_useless; /* a path that does not fit, no memory, or changed a moment ago */
};

void stamps_done(struct stamps *s);
void stamps_note(struct stamps *s, const struct fs *fs, const char *path);

/*
 * As lines "VALUE PATH", which are read without taking anything apart: hundreds of bytes of JSON
 * cost more than the stamps themselves. Return: 0 or -ENOMEM.
 */
int stamps_print(const struct stamps *s, char **ret);
int stamps_parse(const char *text, struct stamps *ret); /* of one that holds; 0 or -ENOMEM */
/* Is each path of such a text what it was? false for any other text, and for one without a path. */
bool stamps_hold(const char *text, const struct fs *fs);
bool stamps_are_good(const struct stamps *s, const struct fs *fs); /* the same; useless: false */
