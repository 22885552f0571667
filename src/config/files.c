/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <limits.h>

static const char *const folders[] = { "etc", "run", "usr/local/lib", "usr/lib" };

struct dropin {
	const char *name; /* of the listing, or the draft */
	const char *folder;
	const struct config_draft *draft; /* NULL: what the file says */
};

void config_files_done(struct config_files *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		free(f->items[i].path);
		free(f->items[i].data);
	}
	free(f->items);
	*f = (struct config_files){};
}

static bool is_null_device(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash && slash - target >= 4 && strncmp(slash - 4, "/dev/null", 9) == 0;
}

static int add(struct config_files *f, const char *path, char *data, size_t size)
{
	_cleanup_(freep) char *copied = NULL;
	struct config_file *file;

	if (asprintf(&copied, "/%s", path) < 0) {
		copied = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}

	file = APPEND(f->items, f->n_items);
	if (!file)
		return -ENOMEM;

	*file = (struct config_file){ TAKE(copied), data, size };
	return 0;
}

static int refuse(struct config_errors *errors, const char *path, const char *why)
{
	char absolute[PATH_MAX + 1], buf[QUOTED_LEN * 2];
	int r;

	snprintf(absolute, sizeof(absolute), "/%s", path);
	snprintf(buf, sizeof(buf), "%s", why);
	r = config_errors_add(errors, false, absolute, 0,
			      "%s: accepted: a readable file of at most %d bytes, or a link to "
			      "/dev/null",
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

	is_link = fs_read_link(fs, path, target, sizeof(target)) >= 0;
	if (is_link && is_null_device(target)) {
		int r = add(f, path, NULL, 0);

		return r < 0 ? r : 1;
	}

	switch (result) {
	case -ENOENT:
		if (!is_link)
			return 0;
		snprintf(why, sizeof(why), "a link to %s, which does not exist",
			 quoted(target, link));
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

/* Return: 1 when the file is there, read or refused; 0 when it is not. */
static int load(const struct fs *fs, const char *path, struct config_files *f,
		struct config_errors *errors)
{
	_cleanup_(freep) char *data = NULL;
	size_t size, sum = 0;
	int r;

	r = fs_read_all(fs, path, FILE_MAX_BYTES, false, &data, &size);
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

static int load_draft(const char *path, const struct config_draft *draft, struct config_files *f)
{
	_cleanup_(freep) char *data = malloc(draft->size + 1);
	int r;

	if (!data)
		return -ENOMEM;
	memcpy(data, draft->data, draft->size);
	data[draft->size] = '\0';
	r = add(f, path, data, draft->size);
	if (r < 0)
		return r;
	TAKE(data);
	return 0;
}

static int load_main(const struct fs *fs, struct config_files *f, struct config_errors *errors)
{
	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		char path[PATH_MAX];
		int r;

		snprintf(path, sizeof(path), "%s/" CONFIG_NAME, folders[i]);
		r = load(fs, path, f, errors);
		if (r != 0)
			return r < 0 ? r : 0;
	}

	return 0;
}

static bool is_dropin(const char *name)
{
	size_t n = strlen(name);

	return name[0] != '.' && n > strlen(".conf") && streq(name + n - strlen(".conf"), ".conf");
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

static const struct config_draft *find_draft(const struct config_draft *drafts, size_t n_drafts,
					     const char *name)
{
	for (size_t i = 0; i < n_drafts; i++)
		if (streq(drafts[i].name, name))
			return &drafts[i];
	return NULL;
}

/* Drafts are of the highest rank, whether there is a file or not. */
static int add_drafts(const struct config_draft *drafts, size_t n_drafts, struct dropin **dropins,
		      size_t *n_dropins)
{
	for (size_t i = 0; i < n_drafts; i++) {
		struct dropin *d = drafts[i].data ? APPEND(*dropins, *n_dropins) : NULL;

		if (d)
			*d = (struct dropin){ drafts[i].name, folders[0], &drafts[i] };
		else if (drafts[i].data)
			return -ENOMEM;
	}
	return 0;
}

/* What a folder of lower rank adds to the names there are. */
static int add_names(const char *folder, const struct fs_names *names,
		     const struct config_draft *drafts, size_t n_drafts, struct dropin **dropins,
		     size_t *n_dropins)
{
	const size_t n_before = *n_dropins;

	for (size_t i = 0; i < names->n_names; i++) {
		struct dropin *d;
		bool is_hidden =
			!is_dropin(names->names[i]) ||
			(folder == folders[0] && find_draft(drafts, n_drafts, names->names[i]));

		for (size_t k = 0; k < n_before && !is_hidden; k++)
			is_hidden = streq((*dropins)[k].name, names->names[i]);
		if (is_hidden)
			continue;

		d = APPEND(*dropins, *n_dropins);
		if (!d)
			return -ENOMEM;
		*d = (struct dropin){ names->names[i], folder, NULL };
	}

	return 0;
}

static int list_dropins(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
			struct fs_names names[], struct dropin **dropins, size_t *n_dropins,
			struct config_errors *errors)
{
	if (add_drafts(drafts, n_drafts, dropins, n_dropins) < 0)
		return -ENOMEM;

	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		char path[PATH_MAX];
		int r;

		snprintf(path, sizeof(path), "%s/" CONFIG_NAME ".d", folders[i]);
		r = fs_list(fs, path, &names[i]);
		if (r == -ENOENT)
			continue;
		if (r >= 0)
			r = add_names(folders[i], &names[i], drafts, n_drafts, dropins, n_dropins);
		else if (r != -ENOMEM) {
			/* What may be in there is not known: then nothing is. */
			char absolute[PATH_MAX + 1];

			snprintf(absolute, sizeof(absolute), "/%s", path);
			r = config_errors_add(errors, false, absolute, 0,
					      "%s: accepted: a readable folder", strerror(-r));
		}
		if (r < 0)
			return r;
	}

	if (*n_dropins > 0)
		qsort(*dropins, *n_dropins, sizeof(**dropins), compare);
	return 0;
}

static int load_dropins(const struct fs *fs, const struct dropin *dropins, size_t n_dropins,
			struct config_files *f, struct config_errors *errors)
{
	for (size_t i = 0; i < n_dropins; i++) {
		char path[PATH_MAX];
		int r;

		snprintf(path, sizeof(path), "%s/" CONFIG_NAME ".d/%s", dropins[i].folder,
			 dropins[i].name);
		r = dropins[i].draft ? load_draft(path, dropins[i].draft, f)
				     : load(fs, path, f, errors);
		if (r < 0)
			return r;
	}

	return 0;
}

int config_files_load(const struct fs *fs, const struct config_draft *drafts, size_t n_drafts,
		      struct config_files *ret, struct config_errors *errors)
{
	_cleanup_(config_files_done) struct config_files f = {};
	_cleanup_(freep) struct dropin *dropins = NULL;
	struct fs_names names[ELEMENTSOF(folders)] = {};
	size_t n_dropins = 0;
	int r;

	r = load_main(fs, &f, errors);
	if (r >= 0)
		r = list_dropins(fs, drafts, n_drafts, names, &dropins, &n_dropins, errors);
	if (r >= 0)
		r = load_dropins(fs, dropins, n_dropins, &f, errors);
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		fs_names_done(&names[i]);
	if (r < 0)
		return r;

	*ret = f;
	f = (struct config_files){};
	return 0;
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

	*ret = f;
	f = (struct config_files){};
	return 0;
}
