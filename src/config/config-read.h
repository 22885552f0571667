/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config read: the ini files to struct config, and struct config to the text it came from.
 *
 * Reads files by os/fs.h, writes nothing, logs nothing. Which verb goes on with the last good
 * configuration, and how loud a problem is, is its caller's business.
 *
 * Merging, key by key:
 *
 * - Later files override earlier ones (config-files.h). "Key=" alone takes back what earlier files
 * said: of a [Device NAME] then [Device] holds, else the default.
 * - A list (Match=) may have several lines in a file, and each adds to it; "Key=" clears what
 * is before it, and the first of a later file replaces what earlier files said.
 * - Each [Device NAME] has all that [Device] says and it does not say itself, wherever [Device]
 * stands. Sections are in the order of their first appearance; the first that matches a NIC is the
 * one.
 * - Malformed: a value that is not accepted; a key that is no list twice in the same section of one
 * file, also when the section is opened twice; more than 256 [Device NAME] sections; names of
 * theirs with other than letters, digits, "_", "-" and ".".
 * - Unknown, skipped: keys and sections that are not in the table.
 *
 * And once merged, malformed in the line of the later of the two keys:
 *
 * - VirtualFunctions=shared with Count= other than 1; shared-multi without Count=; exclusive or
 * keep with Count=, unless the Count= is of [Device] and the mode is not: then it is meant for the
 * others, and is dropped.
 * - NetnsMode=exclusive with Type=rdma-shared or hca: devices that all pods share must be in all
 * namespaces.
 * - StaticAddress= in [Device] itself, for it is of one NIC; Gateway= without it, or outside its
 * prefix, unless link-local.
 * - IPv6=ra with a [Device NAME] whose Match= is about eRDMA: that network has no IPv6.
 * - Resource= with a name that the plugin of Type= does not take: k8s-rdma-shared-dev-plugin takes
 * letters, digits and "_", sriov-network-device-plugin also "-", and mode hca has its own name.
 * - Two Resource= of equal names and other prefixes with Type=rdma-shared: the plugin compares
 * names alone, and refuses the whole file.
 * - Manifest= without Image=.
 * - [Device] with Match= and no [Device NAME] at all: a default for nothing.
 */
#pragma once

#include "../model/config.h"
#include "../model/paths.h"
#include "../os/fs.h"
#include "config-errors.h"
#include "config-files.h"

/**
 * config_load() - read, check and merge the configuration
 * @only_file: the one file to read instead of all others, below the root of @fs, with or without
 * "/"; NULL: the files of config-files.h
 * @ret:       release with config_done(); .hash, .has_unknown and .problem (the first unknown key)
 * are filled in. No file at all gives the defaults
 * @errors:    all that is wrong, also with 0; release with config_errors_done()
 *
 * Return: 0, also with unknown keys; -EINVAL when something is malformed or cannot be read;
 * -ENOMEM.
 */
int config_load(const struct fs *fs, const char *only_file, struct config *ret,
		struct config_errors *errors);

/*
 * The setting for a key of a vendor's page: "Mode= in [Driver]" for "preferDriver"; or NULL.
 * @section: where it stands, "" for nowhere.
 */
const char *config_meant_by(const char *section, const char *word);

/* config_load() of files that were read before. */
int config_merge(const struct config_files *files, struct config *ret,
		 struct config_errors *errors);

/* config_load() of a text in memory; @file: a name for messages. */
int config_parse_text(const char *file, const char *text, size_t size, struct config *ret,
		      struct config_errors *errors);

int config_load_default(
	struct config *ret); /* as without any file: changes nothing; 0 or -ENOMEM */

/**
 * config_load_last_good() - what was valid before
 *
 * Return: 0; -ENOENT when there is none; -EINVAL when it is malformed; what else fs_read_all()
 * says.
 */
int config_load_last_good(const struct fs *fs, struct config *ret);

/**
 * config_text() - the merged configuration in its canonical form
 * @ret: owned by the caller; sections and keys in the order of the table, only what differs from
 * the defaults; each [Device NAME] with all that it has of [Device]. Reading it gives the same
 * struct
 *
 * It is what is kept as last good configuration, and what .hash is made of (FNV-1a, 64 bits).
 *
 * Return: 0 or -ENOMEM.
 */
int config_text(const struct config *c, char **ret);
