/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include "../base/log.h"
#include "../os/conf-files.h"

#include <fnmatch.h>
#include <limits.h>

#define UNREADABLE    "The configuration cannot be read"
#define FOLDERS(name) { "etc/" name, "usr/local/lib/" name, "usr/lib/" name, NULL }

static const char *const main_folders[] = FOLDERS("rdma-provision");
static const char *const folders[] = FOLDERS(CONFIG_NAME ".d");

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

	PRINT(absolute, "/%s", path);
	PRINT(buf, "%s", why);
	r = config_errors_add(errors, false, absolute, 0,
			      "%s: use a readable file of at most %d bytes, or a link to /dev/null",
			      buf, FILE_MAX_BYTES);
	return r < 0 ? r : 1;
}

/* Why a file that is there could not be read. The link comes last: the content tells more. */
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
		PRINT(why, "a link to %s, which does not exist", config_quoted(target, link));
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

const char *load_preset_path(const char *target)
{
	const char *name;

	while (is_prefix(target, "../") || *target == '/')
		target += *target == '/' ? 1 : 3;
	name = after(target, PRESET_FOLDER "/");
	return name && fnmatch("*.conf", name, FNM_PATHNAME | FNM_PERIOD) == 0 ? target : NULL;
}

int load_preset(const struct fs *fs, const char *path, bool may_be_own, char **ret,
		size_t *ret_size)
{
	_cleanup_(fs_done) struct fs own = { .root = -EBADF };
	int r = fs_read_all(fs, path, FILE_MAX_BYTES, false, ret, ret_size);

	if (r != -ENOENT || !may_be_own || fs->is_live || fs_open_root(NULL, &own) < 0)
		return r;
	return fs_read_all(&own, path, FILE_MAX_BYTES, false, ret, ret_size);
}

/* Reads a file, or the preset of the running system for a link to one that a tree does not have. */
static int read_one(const struct fs *fs, const char *path, char **ret, size_t *ret_size)
{
	int r = fs_read_all(fs, path, FILE_MAX_BYTES, true, ret, ret_size);
	char target[PATH_MAX];
	const char *preset;

	if (r != -ENOENT || fs_read_link(fs, path, target, sizeof(target)) < 0)
		return r;
	preset = load_preset_path(target);
	r = preset ? load_preset(fs, preset, true, ret, ret_size) : r;
	if (r >= 0)
		log_warning("/%s: /%s is not in the tree: that of the running system is read", path,
			    preset);
	return r;
}

/* Return: 1 when the file is there, read or refused; 0 when it is not. */
static int load_one(const struct fs *fs, const char *path, struct config_files *f,
		    struct config_errors *errors)
{
	_cleanup_(freep) char *data = NULL;
	size_t size, sum = 0;
	int r = read_one(fs, path, &data, &size);

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
	PRINT(path, "%s/%s", folders[0], draft->name);
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
		int r = load_one(fs, FS_PATH("%s/%s", *of, name), f, errors);

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
	int r = conf_files_list(fs, folders, "*.conf", list);

	for (size_t i = 0; i < n_drafts && r >= 0; i++)
		r = add_draft(list, &drafts[i]);
	if (r < 0 || !list->unread)
		return r;

	/* Which files are in there is not known, so the set of files is not known. */
	PRINT(absolute, "/%s", list->unread);
	return config_errors_add(errors, false, absolute, 0, "%s: use a readable folder",
				 strerror(-list->error));
}

static int load_dropins(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
			struct config_files *f, struct config_errors *errors)
{
	_cleanup_(conf_files_done) struct conf_files list = {};
	int r = list_dropins(fs, drafts, n_drafts, &list, errors);

	FOREACH_WHILE(file, list.items, list.n_items, r >= 0) {
		const struct config_draft *draft =
			FIND(d, drafts, n_drafts, streq(d->name, file->name));

		if (!draft)
			r = load_one(fs, file->path, f, errors);
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
	int r = load_first(fs, main_folders, "rdma-provision.conf", &f, errors);

	if (r >= 0)
		r = load_dropins(fs, drafts, n_drafts, &f, errors);
	return GIVE(r, f, ret);
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

/* Reads one file of any name, which must exist; @path: below the root, with or without "/". */
static int load_only(const struct fs *fs, const char *path, struct config_files *ret,
		     struct config_errors *errors)
{
	_cleanup_(config_files_done) struct config_files f = {};
	int r;

	path += strspn(path, "/");
	r = load_one(fs, path, &f, errors);
	if (r == 0)
		r = refuse(errors, path, strerror(ENOENT));
	return GIVE(r, f, ret);
}

/* The configuration */

int config_load(const struct fs *fs, const char *only_file, struct config *ret,
		struct config_errors *errors)
{
	_cleanup_(config_files_done) struct config_files files = {};
	int r = only_file ? load_only(fs, only_file, &files, errors)
			  : config_files_load(fs, NULL, 0, &files, errors);

	return r == -E2BIG ? -EINVAL : r < 0 ? r : config_merge(&files, ret, errors);
}

int config_load_default(struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};

	return config_parse_text("", "", 0, ret, &errors);
}

int config_load_last_good(const struct fs *fs, struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = fs_read_all(fs, LAST_GOOD_PATH, FILE_MAX_BYTES, false, &text, &size);

	return r < 0 ? r : config_parse_text("/" LAST_GOOD_PATH, text, size, ret, &errors);
}

int load_file(const struct fs *fs, const char *file, struct config *ret,
	      struct config_errors *errors)
{
	_cleanup_(fs_done) struct fs here = { .root = -EBADF };
	_cleanup_(freep) char *folder = NULL, *path = NULL;
	int r;

	if (!file)
		return config_load(fs, NULL, ret, errors);

	folder = get_current_dir_name();
	if (asprintf(&path, "%s/%s", file[0] == '/' || !folder ? "" : folder, file) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = fs_open_root(NULL, &here);
	if (r < 0)
		return r;
	here.on_read = fs->on_read;
	here.userdata = fs->userdata;
	return config_load(&here, path + strspn(path, "/") - 1, ret, errors);
}

/* Loads, in place of a malformed configuration, the last good one, or an empty one. */
static int load_instead(const struct fs *fs, struct config *ret)
{
	int r = config_load_last_good(fs, ret);

	if (r == -ENOMEM)
		return r;
	if (r < 0 && r != -ENOENT)
		log_error_errno(r, "/" LAST_GOOD_PATH ": not used");
	else if (r == 0)
		log_warning("Going on with the last good configuration, /" LAST_GOOD_PATH);
	return r < 0 ? config_load_default(ret) : 0;
}

/* Loads and logs all errors. The first one in @errors is the configuration's problem. */
static int load_told(const struct fs *fs, const char *file, struct config *ret,
		     struct config_errors *errors)
{
	int r = load_file(fs, file, ret, errors);

	FOREACH(item, errors->items, errors->n_items)
		log_line(item->is_unknown ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "%s", item->text);
	return r;
}

int load_valid(const struct fs *fs, const char *file, struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	int r = load_told(fs, file, ret, &errors);

	return r < 0 && r != -EINVAL ? log_error_errno(r, UNREADABLE) : r;
}

int load_config(const struct fs *fs, const char *file, struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config c = {};
	const char *problem;
	int r = load_told(fs, file, &c, &errors);

	if (r == -EINVAL && fs->unread && fs->unread->n > 0)
		r = -EACCES; /* to a user who may not read it, it is neither valid nor invalid */
	if (r == -EINVAL) {
		r = load_instead(fs, &c);
		c.is_invalid = true;
	}
	if (r >= 0 && !file)
		r = config_files_ignored(fs, c.ignored, sizeof(c.ignored));
	if (r < 0)
		return log_error_errno(r, UNREADABLE);
	if (*c.ignored)
		log_warning("%s: is not read, as no configuration below /run is", c.ignored);

	problem = config_errors_first(&errors);
	if (problem)
		COPY(c.problem, problem);
	c.is_one_file = file != NULL;
	*ret = TAKE_STRUCT(c);
	return 0;
}

bool load_is_same(const struct fs *fs, const struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config files = {};

	return config_load(fs, NULL, &files, &errors) >= 0 && streq(files.hash, c->hash);
}

bool load_is_changed(const struct fs *fs, const char *file, const struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config now = {};
	const char *problem;
	int r = load_file(fs, file, &now, &errors);

	if ((r < 0 && r != -EINVAL) ||
	    (!file && config_files_ignored(fs, now.ignored, sizeof(now.ignored)) < 0))
		return false;
	problem = config_errors_first(&errors);
	if (c->is_invalid != (r < 0) || !streq(now.ignored, c->ignored) ||
	    strncmp(problem ? problem : "", c->problem, sizeof(c->problem) - 1) != 0)
		return true;
	return r >= 0 && !streq(now.hash, c->hash);
}
