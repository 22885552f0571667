/* SPDX-License-Identifier: Apache-2.0 */
#include "config-files.h"

#include "../os/conf-files.h"

#include <limits.h>

#define FOLDERS(name) { "etc/" name, "usr/local/lib/" name, "usr/lib/" name, NULL }

static const char *const main_folders[] = FOLDERS("rdma-provision");
static const char *const folders[] = FOLDERS(CONFIG_NAME ".d");

void config_files_done(struct config_files *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		free(f->items[i].path);
		free(f->items[i].data);
	}
	free(f->items);
	*f = (struct config_files){};
}

static int add(struct config_files *f, const char *path, char *data, size_t size)
{
	char *copied;

	if (asprintf(&copied, "/%s", path) < 0)
		return -ENOMEM;
	if (ADD(f->items, f->n_items, (struct config_file){ copied, data, size }) >= 0)
		return 0;
	free(copied);
	return -ENOMEM;
}

static int refuse(struct config_errors *errors, const char *path, const char *why)
{
	char absolute[PATH_MAX + 1], buf[QUOTED_LEN * 2];
	int r;

	snprintf(absolute, sizeof(absolute), "/%s", path);
	snprintf(buf, sizeof(buf), "%s", why);
	r = config_errors_add(errors, false, absolute, 0,
			      "%s: use a readable file of at most %d bytes, or a link to /dev/null",
			      buf, FILE_MAX_BYTES);
	return r < 0 ? r : 1;
}

/* Why a file that is there could not be read. The link is asked for last: the content tells more.
 */
static int on_unreadable(const struct fs *fs, const char *path, int result, struct config_files *f,
			 struct config_errors *errors)
{
	char target[PATH_MAX], link[QUOTED_LEN], why[QUOTED_LEN + 64];
	bool is_link;

	if (conf_file_is_masked(fs, path) || streq(path, "dev/null")) {
		int r = add(f, path, NULL, 0);

		return r < 0 ? r : 1;
	}
	is_link = fs_read_link(fs, path, target, sizeof(target)) >= 0;

	switch (result) {
	case -ENOENT:
		if (!is_link)
			return 0;
		snprintf(why, sizeof(why), "a link to %s, which does not exist",
			 config_quoted(target, link));
		return refuse(errors, path, why);
	case -EISDIR:
		return refuse(errors, path, "a folder");
	case -EINVAL:
		return refuse(errors, path, "no regular file");
	case -EFBIG:
		return refuse(errors, path, "too large");
	default:
		return refuse(errors, path, strerror(-result));
	}
}

/*
 * A recorder gets blanks in place of comments. The bytes that decide about a line stay as they are:
 * its end, its length, and a NUL.
 */
static int record(const struct fs *fs, const char *path, const char *data, size_t size)
{
	_cleanup_(freep) char *copied = NULL;
	bool is_comment = false, is_begun = false;
	const size_t n_bom = is_prefix(data, "\xef\xbb\xbf") ? 3 : 0;

	if (!fs->on_read)
		return 0;
	copied = malloc(size + 1);
	if (!copied)
		return -ENOMEM;
	for (size_t i = 0; i <= size; i++) { /* the NUL behind it as well */
		copied[i] = is_comment && data[i] && !strchr("\r\n", data[i]) ? ' ' : data[i];
		is_comment |= !is_begun && (data[i] == '#' || data[i] == ';');
		is_begun |= i >= n_bom && !strchr(" \t", data[i]);
		if (data[i] == '\n')
			is_comment = is_begun = false;
	}
	fs_record(fs, RECORD_FILE, path, copied, size);
	return 0;
}

/* Return: 1 when the file is there, read or refused; 0 when it is not. */
static int load(const struct fs *fs, const char *path, struct config_files *f,
		struct config_errors *errors)
{
	_cleanup_(freep) char *data = NULL;
	size_t size, sum = 0;
	int r;

	r = fs_read_all(fs, path, FILE_MAX_BYTES, true, &data, &size);
	if (r >= 0)
		r = record(fs, path, data, size);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return on_unreadable(fs, path, r, f, errors);
	for (size_t i = 0; i < f->n_items; i++)
		sum += f->items[i].size;
	if (sum + size > SUM_MAX_BYTES)
		return refuse(errors, path, "too large together with those before it");

	r = add(f, path, data, size);
	if (r < 0)
		return r;

	TAKE(data);
	return 1;
}

static int load_draft(const struct config_draft *draft, struct config_files *f)
{
	_cleanup_(freep) char *data = malloc(draft->size + 1);
	char path[PATH_MAX];
	int r;

	if (!data)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", folders[0], draft->name);
	memcpy(data, draft->data, draft->size);
	data[draft->size] = '\0';
	r = add(f, path, data, draft->size);
	if (r < 0)
		return r;
	TAKE(data);
	return 0;
}

/* The file of the first of these folders that has one. */
static int load_first(const struct fs *fs, const char *const *of, const char *name,
		      struct config_files *f, struct config_errors *errors)
{
	for (; *of; of++) {
		int r;

		r = load(fs, FS_PATH("%s/%s", *of, name), f, errors);
		if (r != 0)
			return MIN(r, 0);
	}

	return 0;
}

/* A file of /etc that is not there yet takes its place in the list. */
static int add_draft(struct conf_files *list, const struct config_draft *draft)
{
	struct conf_file file = {};
	size_t i = 0;

	while (i < list->n_items && strcmp(list->items[i].name, draft->name) < 0)
		i++;
	if (i < list->n_items && streq(list->items[i].name, draft->name))
		return 0;
	if (asprintf(&file.path, "%s/%s", folders[0], draft->name) < 0)
		return -ENOMEM;
	if (!APPEND(list->items, list->n_items)) {
		free(file.path);
		return -ENOMEM;
	}

	file.name = strrchr(file.path, '/') + 1;
	memmove(list->items + i + 1, list->items + i,
		(list->n_items - 1 - i) * sizeof(*list->items));
	list->items[i] = file;
	return 0;
}

static int list_dropins(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
			struct conf_files *list, struct config_errors *errors)
{
	char absolute[PATH_MAX + 1];
	int r;

	r = conf_files_list(fs, folders, "*.conf", list);
	for (size_t i = 0; i < n_drafts && r >= 0; i++)
		r = add_draft(list, &drafts[i]);
	if (r < 0 || !list->unread)
		return r;

	/* Which files are in there is not known, so the set of files is not known. */
	snprintf(absolute, sizeof(absolute), "/%s", list->unread);
	return config_errors_add(errors, false, absolute, 0, "%s: use a readable folder",
				 strerror(-list->error));
}

static int load_dropins(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
			struct config_files *f, struct config_errors *errors)
{
	_cleanup_(conf_files_done) struct conf_files list = {};
	int r;

	r = list_dropins(fs, drafts, n_drafts, &list, errors);
	for (size_t i = 0; i < list.n_items && r >= 0; i++) {
		const struct conf_file *file = &list.items[i];
		const struct config_draft *draft =
			FIND(d, drafts, n_drafts, streq(d->name, file->name));

		if (!draft)
			r = load(fs, file->path, f, errors);
		else if (draft->data)
			r = load_draft(draft, f);
		else
			r = load_first(fs, folders + 1, draft->name, f, errors);
	}

	return MIN(r, 0);
}

int config_files_load(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
		      struct config_files *ret, struct config_errors *errors)
{
	_cleanup_(config_files_done) struct config_files f = {};
	int r;

	r = load_first(fs, main_folders, "rdma-provision.conf", &f, errors);
	if (r >= 0)
		r = load_dropins(fs, drafts, n_drafts, &f, errors);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(f);
	return 0;
}

int config_files_ignored(const struct fs *fs, char *ret, size_t size)
{
	static const char *const run[] = { "run/" CONFIG_NAME ".d", NULL };
	_cleanup_(conf_files_done) struct conf_files list = {};
	const char *path = "run/" CONFIG_NAME;
	int r = 0;

	if (!fs_exists(fs, path)) {
		r = conf_files_list(fs, run, "*.conf", &list);
		path = list.n_items > 0 ? list.items[0].path : list.unread;
	}
	snprintf(ret, size, "%s%s", path ? "/" : "", path ? path : "");
	return r;
}

int config_files_load_one(const struct fs *fs, const char *path, struct config_files *ret,
			  struct config_errors *errors)
{
	_cleanup_(config_files_done) struct config_files f = {};
	int r;

	path += strspn(path, "/");
	r = load(fs, path, &f, errors);
	if (r == 0)
		r = refuse(errors, path, strerror(ENOENT));
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(f);
	return 0;
}
