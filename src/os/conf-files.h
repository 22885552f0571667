/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conf-files: the files of one set that are spread over several folders, by systemd's rules.
 *
 * If several files have the same name, only that of the first folder counts, and all are sorted by
 * name, whatever folder they are in. A link to /dev/null, or an empty file, hides those of its name
 * and says nothing itself. Names that begin with "." are not looked at. The content of the files is
 * the caller's business.
 *
 * Source: conf_files_list_strv() in src/basic/conf-files.c of systemd; conf_files_list() in
 * libkmod/libkmod-config.c of kmod does the same, without masks
 */
#pragma once

#include "fs.h"

/* The folders of a set by rank: etc over run over usr/local/lib over usr/lib. */
#define CONF_FOLDERS(name) "etc/" name, "run/" name, "usr/local/lib/" name, "usr/lib/" name

struct conf_file {
	char *path;       /* owned; below the root */
	const char *name; /* in path */
	size_t rank;      /* of its folder, from 0 */
};

struct conf_files {
	struct conf_file *items; /* owned; in the order in which they are to be read */
	size_t n_items;
	char *unread; /* owned; the first folder that could not be listed, NULL: none */
	int error;    /* why: -errno, and never -ENOENT */
};

void conf_files_done(struct conf_files *f);

/**
 * conf_files_list() - list the files that count
 * @folders: by rank, NULL behind the last
 * @pattern: of names, fnmatch(3) with FNM_EXTMATCH: "*.conf"
 *
 * Return: 0, also when no folder is there, or -ENOMEM.
 */
int conf_files_list(const struct fs *fs, const char *const *folders, const char *pattern,
		    struct conf_files *ret);

/* Is it a link to /dev/null, and not to be read? By the link's text: a captured tree has no
 * devices. */
bool conf_file_is_masked(const struct fs *fs, const char *path);
