/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include "../base/log.h"
#include "../model/paths.h"

#define UNREADABLE "The configuration cannot be read"

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
	int r;

	r = config_load_last_good(fs, ret);
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

	for (size_t i = 0; i < errors->n_items; i++)
		log_line(errors->items[i].is_unknown ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "%s",
			 errors->items[i].text);
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
	int r;

	r = load_told(fs, file, &c, &errors);
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

bool load_is_changed(const struct fs *fs, const char *file, const struct config *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config now = {};
	const char *problem;
	int r;

	r = load_file(fs, file, &now, &errors);
	if ((r < 0 && r != -EINVAL) ||
	    (!file && config_files_ignored(fs, now.ignored, sizeof(now.ignored)) < 0))
		return false;
	problem = config_errors_first(&errors);
	if (c->is_invalid != (r < 0) || !streq(now.ignored, c->ignored) ||
	    strncmp(problem ? problem : "", c->problem, sizeof(c->problem) - 1) != 0)
		return true;
	return r >= 0 && !streq(now.hash, c->hash);
}
