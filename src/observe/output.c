/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <fcntl.h>

#include "../base/log.h"
#include "../model/paths.h"

#define MAX_RECORD_BYTES 65536

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
	if (!is_own_output(o, text)) {
		fs_record(fs, RECORD_FILE, path + 1, stand_in, strlen(stand_in));
		return 0;
	}
	fs_record(fs, RECORD_FILE, path + 1, text, size);
	ret->text = TAKE(text);
	return 0;
}

/* "NFD /etc/..." */
static int parse_record(const char *line, size_t len, struct node *n)
{
	struct output_record record = {}, *slot;

	for (enum output o = 0; o < _OUTPUT_N; o++) {
		const char *name = output_name(o);
		const size_t used = strlen(name) + 1;

		if (len <= used || strncmp(line, name, used - 1) != 0 || line[used - 1] != ' ' ||
		    line[used] != '/' || len - used >= sizeof(record.path))
			continue;
		record.output = o;
		memcpy(record.path, line + used, len - used);
		slot = APPEND(n->output_records, n->n_output_records);
		if (!slot)
			return -ENOMEM;
		*slot = record;
	}
	return 0;
}

static int observe_records(const struct fs *fs, const char *path, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_RECORD_BYTES, false, &text, &size);
	if (r < 0) {
		if (r != -ENOENT)
			log_debug_errno(r, "/%s", path);
		return r == -ENOMEM ? r : 0;
	}
	for (const char *line = text; *line && r >= 0; line += strspn(line, "\n")) {
		const size_t len = strcspn(line, "\n");

		r = parse_record(line, len, n);
		line += len;
	}
	return r;
}

int observe_files(const struct fs *fs, const struct config *c, struct node *n)
{
	int r;

	r = observe_records(fs, OUTPUTS_PATH, n);
	if (r >= 0)
		r = observe_records(fs, OUTPUTS_RUN_PATH, n);
	for (enum output o = 0; o < _OUTPUT_N && r >= 0; o++)
		if (c->output.paths[o][0])
			r = observe_file(fs, o, c->output.paths[o], &n->outputs[o]);
	return r;
}
