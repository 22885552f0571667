/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: which files make up the configuration, what is in them, and the configuration that a verb
 * works with, also where they are malformed.
 *
 * It knows their names and places, not their syntax (config-read.h). The rules are those of
 * systemd, but for /run: the folder there is the service's own, and more privileged programs trust
 * the configuration.
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

#include "../model/paths.h"
#include "../os/fs.h"
#include "config-read.h"

#define CONFIG_NAME    "rdma-provision/rdma-provision.conf"
#define FILE_MAX_BYTES (1024 * 1024)
#define SUM_MAX_BYTES  (16 * FILE_MAX_BYTES) /* of all that are read at once */

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

/**
 * config_load() - read, check and merge the configuration
 * @only_file: the one file to read instead of all others, below the root of @fs, with or without
 * "/"; NULL: all the files
 * @ret, @errors: as of config_merge()
 *
 * Logs that a preset of the running system is read in place of one that a tree does not have, and
 * nothing else. Return: as config_merge(), and -EINVAL also when a file cannot be read.
 */
int config_load(const struct fs *fs, const char *only_file, struct config *ret,
		struct config_errors *errors);

/* The path of the preset, "usr/lib/.../NAME.conf", that a link with this target leads to; NULL: it
 * leads to none. */
const char *load_preset_path(const char *target);

/* Reads a preset; of a tree that has no such one, that of the running system, if it @may_be_own.
 * Return: as fs_read_all(). */
int load_preset(const struct fs *fs, const char *path, bool may_be_own, char **ret,
		size_t *ret_size);

int config_load_default(
	struct config *ret); /* as without any file: changes nothing; 0 or -ENOMEM */

/**
 * config_load_last_good() - what was valid before
 *
 * Return: 0; -ENOENT when there is none; -EINVAL when it is malformed; what else fs_read_all()
 * says.
 */
int config_load_last_good(const struct fs *fs, struct config *ret);

/*
 * config_load() of the root, or of @file alone: one named on the command line is of the caller's
 * system, whatever --root says.
 */
int load_file(const struct fs *fs, const char *file, struct config *ret,
	      struct config_errors *errors);

/*
 * Loads the configuration of the root, or @file alone. Problems are logged. A malformed file set
 * gives the last good configuration, or an empty one, with is_invalid set. Return: 0 or -errno.
 */
int load_config(const struct fs *fs, const char *file, struct config *ret);

/*
 * Does the same as load_config() for a program that may do more than the service: -EINVAL for a
 * malformed file set, since the last good configuration is a file that the service writes.
 */
int load_valid(const struct fs *fs, const char *file, struct config *ret);

/* Are the files of the root valid, and this configuration? Logs nothing. */
bool load_is_same(const struct fs *fs, const struct config *c);

/*
 * Would load_config() give another configuration than @c, which it gave before? Logs nothing. A
 * file that cannot be read for a passing reason, such as memory, counts as unchanged.
 */
bool load_is_changed(const struct fs *fs, const char *file, const struct config *c);
