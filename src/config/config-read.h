/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config read: the ini files to struct config, and struct config to the text it came from.
 *
 * Text in, text out: it opens nothing and logs nothing. load.h has the files.
 *
 * Merging, key by key:
 *
 * - Later files override earlier ones (load.h). "Key=" alone takes back what earlier files
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
#include "config-errors.h"

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

/*
 * The setting for a key of a vendor's page: "Mode= in [Driver]" for "preferDriver"; or NULL.
 * @section: where it stands, "" for nowhere.
 */
const char *config_meant_by(const char *section, const char *word);

/**
 * config_merge() - check and merge files
 * @ret:    release with config_done(); .hash, .has_unknown and .problem (the first unknown key) are
 * filled in. No file at all gives the defaults
 * @errors: all that is wrong, also with 0; release with config_errors_done()
 *
 * Return: 0, also with unknown keys; -EINVAL when something is malformed; -ENOMEM.
 */
int config_merge(const struct config_files *files, struct config *ret,
		 struct config_errors *errors);

/* config_merge() of one text; @file: a name for messages. */
int config_parse_text(const char *file, const char *text, size_t size, struct config *ret,
		      struct config_errors *errors);

/**
 * config_text() - the merged configuration in its canonical form
 * @ret: owned by the caller; sections and keys in the order of the table, only what differs from
 * the defaults; each [Device NAME] with all that it has of [Device]; last, where .has_unknown is
 * set, a section [Unknown], which is unknown to each version. Reading it gives the same struct but
 * for .problem
 *
 * It is what is kept as last good configuration, and what .hash is made of (FNV-1a, 64 bits).
 *
 * Return: 0 or -ENOMEM.
 */
int config_text(const struct config *c, char **ret);
