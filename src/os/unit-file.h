/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit file: the files that a systemd unit is made of, and the settings in them, for those who
 * cannot or need not ask systemd: systemd.unit(5), systemd.syntax(7).
 */
#pragma once

#include "fs.h"

/* Has it a file, which is not masked? */
bool unit_file_is_there(const struct fs *fs, const char *unit);
bool unit_file_is_masked(const struct fs *fs, const char *unit);

/*
 * The names of the units of /etc that match the pattern and start this program. A capture gets
 * nothing of it. Return: 0 or -ENOMEM.
 */
int unit_file_find(const struct fs *fs, const char *pattern, const char *program,
		   struct fs_names *ret);

/*
 * Has it a control group in system.slice, or in the slice that its files name, of the unified
 * hierarchy or systemd's own of version 1? And the PIDs in that, a line each. Return: 0, or -errno.
 */
bool unit_file_has_cgroup(const struct fs *fs, const char *unit);
int unit_file_read_pids(const struct fs *fs, const char *unit, bool secret, char **ret,
			size_t *ret_size);
/* The PIDs of the control group "/path" in the first of these that has it. Return: 0, or -errno. */
int unit_file_read_group(const struct fs *fs, const char *path, char **ret, size_t *ret_size);

struct unit_paths {
	char (*items)[512]; /* owned; below the root, in the order in which they count */
	size_t n;
	/* A file of these, or a folder of drop-ins, changed after the last daemon-reload. */
	bool is_newer;
};
void unit_paths_done(struct unit_paths *l);

/*
 * The main file and the drop-ins, also those of all services and of "a-.service" for
 * "a-b.service"; nothing of a unit that is masked or not there. Return: 0 or -ENOMEM.
 */
int unit_file_list(const struct fs *fs, const char *unit, struct unit_paths *ret);
int unit_file_list_manager(const struct fs *fs, struct unit_paths *ret); /* of system.conf */

/* "Key=Value" in [Service] or [Manager]. */
struct unit_setting {
	char *text;        /* owned */
	const char *key;   /* in it */
	const char *value; /* in it; continued lines are joined by a blank */
	size_t from, to;   /* bytes of the file */
};
void unit_setting_done(struct unit_setting *s);

/*
 * The next setting from *at on, 0 for the first; @is_service is kept for the next call. A NUL in
 * the file is left out. Return: 1, 0 at the end, or -ENOMEM.
 */
int unit_file_next(const char *text, size_t size, size_t *at, bool *is_service,
		   struct unit_setting *ret);
