/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: the kubelet's configuration files, in the order in which it merges them: the file of
 * --config, then the drop-ins of --config-dir.
 *
 * Rules of the drop-in folder (mergeKubeletConfigurations() in cmd/kubelet/app/server.go): names
 * that end in ".conf", hidden ones too, by bytes, folders gone into where they stand; maps merge by
 * key, everything else is replaced, null takes back. A drop-in that is fatal to the kubelet is
 * reported as a problem.
 */
#pragma once

#include "../os/fs.h"
#include "yaml.h"

struct source {
	char path[256]; /* absolute */
	char name[256]; /* of a drop-in: below its folder, "20-x/a.conf"; empty: the file itself */
	struct yaml_items items; /* owned */
};

struct sources {
	struct source *sources; /* owned */
	size_t n_sources;
	/* "PATH:LINE: why" of the first file whose values are not known; empty: all are. */
	char problem[256];
};

void sources_done(struct sources *l);

/*
 * Reads a file, absolute @path; @name as in struct source; @kind as yaml_read() takes it. A
 * recorder gets the keys that are read (sources_write_kept()); if the file is refused, it gets a
 * text that is refused for the same reason, which is noted as a problem. Return: 0, -ENOENT,
 * -ENOMEM, or an error of yaml.h.
 */
int sources_add_file(struct sources *l, const struct fs *fs, const char *path, const char *name,
		     enum yaml_kind kind);

/* The drop-ins below an absolute @folder, which is no link. Return: 0 or -ENOMEM. */
int sources_add_folder(struct sources *l, const struct fs *fs, const char *folder);

/*
 * Only these keys may be asked for, and are in a capture: @sub is "" at the top level, NULL for the
 * key with whatever is below it.
 */
bool sources_are_read(const char *key, const char *sub);

/*
 * The item that counts for a key, @sub "" at the top level: the last one that sets it. NULL: none
 * does, or the key was taken back. @ret: the file that sets it; may be NULL.
 */
const struct yaml_item *sources_find(const struct sources *l, const char *key, const char *sub,
				     const struct source **ret);

/*
 * Reads YAML of any kind. For a file that is refused, a text is recorded that is refused for the
 * same reason; a file that is understood is recorded by the caller. @problem: as in struct sources,
 * written to unless the file is not there. Return: as sources_add_file().
 */
int source_read(const struct fs *fs, const char *path, enum yaml_kind kind,
		char problem[static 256], struct yaml_items *ret);

/*
 * Writes a KubeletConfiguration that has the keys alone that are read, for a capture.
 *
 * The copy is written from what was read and never made of the file's text: comments, other keys,
 * what is inside of a value that should be a word, and all documents but the first are not in it.
 * Each value is in the line in which it was, and gives the same answer to sources_find(). @ret: is
 * opened. Return: 0 or -ENOMEM.
 */
int sources_write_kept(const struct yaml_items *l, struct stream *ret);
