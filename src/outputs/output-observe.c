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

static int observe_file(const struct fs *fs, enum output o, const char *path,
			struct output_file *ret)
{
	static const char stand_in[] = "# left out\n";
	_cleanup_(freep) char *text = NULL;
	char target[PATH_LEN];
	bool is_own;
	size_t size;
	int r;

	ret->has_folder = has_folder(fs, path);
	if (!ret->has_folder)
		return 0;

	r = fs_read_link(fs, path + 1, target, sizeof(target));
	ret->is_there = r != -ENOENT;
	if (ret->is_there)
		return 0;

	r = fs_read_all(fs, path + 1, MAX_OUTPUT_BYTES, true, &text, &size);
	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	ret->is_there = true;
	if (r < 0) {
		log_debug_errno(r, "%s", path);
		return 0;
	}
	/* A file of another program may hold anything: a capture has that there is one. */
	is_own = output_is_own(o, text);
	fs_record(fs, RECORD_FILE, path + 1, is_own ? text : stand_in,
		  is_own ? size : strlen(stand_in));
	ret->text = is_own ? TAKE(text) : NULL;
	return 0;
}

static int recall_records(const struct fs *fs, enum memory_lifetime lifetime, struct node *n)
{
	_owns_(struct output_records, entries) l = {};
	int r;

	r = memory_read(fs, lifetime, &output_records_fields, &l);
	for (size_t i = 0; i < l.n_entries && r >= 0; i++)
		r = ADD(n->output_records, n->n_output_records, l.entries[i]);
	return r;
}

int observe_files(const struct fs *fs, const struct config *c, struct node *n)
{
	int r;

	r = recall_records(fs, MEMORY_NODE, n);
	if (r >= 0)
		r = recall_records(fs, MEMORY_BOOT, n);
	for (enum output o = 0; o < _OUTPUT_N && r >= 0; o++)
		if (c->output.paths[o][0])
			r = observe_file(fs, o, c->output.paths[o], &n->outputs[o]);
	return r;
}
