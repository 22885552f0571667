/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config files: which files make up the configuration, and what is in them.
 *
 * It knows their names and places, not their syntax. The rules are those of systemd, but for /run:
 * the folder there is the service's own, and more privileged programs trust the configuration.
 *
 * - Folders by rank: /etc, /usr/local/lib, /usr/lib, each with rdma-provision/rdma-provision.conf
 * and rdma-provision/rdma-provision.conf.d/NAME.conf.
 * - The main file of the highest rank is the only one read; it hides no drop-in.
 * - Of drop-ins of the same name only that of the highest rank is read. All are sorted by name,
 * whatever folder they are in, and come after the main file.
 * - A link to /dev/null, or an empty file, has nothing in it and hides the others all the same.
 * Names that begin with "." are not looked at.
 *
 * Where systemd goes on in silence, this is an error: a link that leads nowhere, a folder, a file
 * that cannot be read, one over 1 MiB, or those that come after the first 16 MiB.
 */
#pragma once

#include "../os/fs.h"
#include "config-errors.h"

#define CONFIG_NAME    "rdma-provision/rdma-provision.conf"
#define FILE_MAX_BYTES (1024 * 1024)
#define SUM_MAX_BYTES  (16 * FILE_MAX_BYTES) /* of all that are read at once */

struct config_file {
	char *path; /* owned; "/etc/..." */
	char *data; /* owned; what is in it, NUL appended */
	size_t size;
};

struct config_files {
	struct config_file *items; /* owned; later ones override */
	size_t n_items;
};

void config_files_done(struct config_files *f);

/* A drop-in of /etc that is not written yet. */
struct config_draft {
	const char *name; /* "50-set.conf" */
	const char *data; /* NULL: there will be none of this name in /etc */
	size_t size;
};

/**
 * config_files_load() - find and read all of them
 * @drafts: take the place of the drop-ins of these names in /etc; may be NULL
 * @errors: what cannot be read is added here, and the others are read all the same
 *
 * Return: 0, also when there is none, or -ENOMEM or -E2BIG (see config_errors_add()).
 */
int config_files_load(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
		      struct config_files *ret, struct config_errors *errors);

/* The first file below /run that systemd's rules would add; "" for none. Return: 0 or -ENOMEM. */
int config_files_ignored(const struct fs *fs, char *ret, size_t size);

/* Reads one file of any name, which must exist; @path: below the root, with or without "/". */
int config_files_load_one(const struct fs *fs, const char *path, struct config_files *ret,
			  struct config_errors *errors);
