/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: the files of [Output] as they are, and the record of those that were written.
 */
#include "../step/observers.h"

#include <fcntl.h>

#include "../base/log.h"
#include "../model/memory.h"
#include "../os/memory-file.h"

static bool has_folder(const struct fs *fs, const char *path)
{
	_cleanup_(closep) int fd = -EBADF;
	char folder[PATH_LEN];

	COPY(folder, path);
	*strrchr(folder, '/') = '\0';
	fd = fs_open(fs, *folder ? folder + 1 : ".", O_PATH | O_DIRECTORY);
	return fd >= 0;
}

static void observe_file(const struct fs *fs, enum output o, const char *path, struct node *n)
{
	static const char stand_in[] = "# left out\n";
	struct output_file *ret = &n->outputs[o];
	_cleanup_(freep) char *text = NULL;
	char target[PATH_LEN];
	bool is_own;
	size_t size;
	int r;

	ret->has_folder = has_folder(fs, path);
	if (!ret->has_folder)
		return;

	r = fs_read_link(fs, path + 1, target, sizeof(target));
	ret->is_there = r != -ENOENT;
	if (ret->is_there)
		return;

	r = fs_read_all(fs, path + 1, MAX_OUTPUT_BYTES, true, &text, &size);
	ret->is_there = r != -ENOENT;
	if (!node_note(n, r)) {
		if (r != -ENOENT && r != -ENOMEM)
			log_debug_errno(r, "%s", path);
		return;
	}
	/* A file of another program may hold anything: a capture has that there is one. */
	is_own = output_is_own(o, text);
	fs_record(fs, RECORD_FILE, path + 1, is_own ? text : stand_in,
		  is_own ? size : strlen(stand_in));
	ret->text = is_own ? TAKE(text) : NULL;
}

static void recall_records(const struct fs *fs, enum memory_lifetime lifetime, struct node *n)
{
	_owns_(struct output_records, entries) l = {};

	node_note(n, memory_read(fs, lifetime, &output_records_fields, &l));
	for (size_t i = 0; i < l.n_entries; i++)
		NODE_ADD(n, output_records, l.entries[i]);
}

void observe_files(const struct fs *fs, const struct config *c, struct node *n)
{
	recall_records(fs, MEMORY_NODE, n);
	recall_records(fs, MEMORY_BOOT, n);
	for (enum output o = 0; o < _OUTPUT_N; o++)
		if (c->output.paths[o][0])
			observe_file(fs, o, c->output.paths[o], n);
}
