/* SPDX-License-Identifier: Apache-2.0 */
#include "conf-files.h"

#include <fnmatch.h>

void conf_files_done(struct conf_files *f)
{
	for (size_t i = 0; i < f->n_items; i++)
		free(f->items[i].path);
	free(f->items);
	free(f->unread);
	*f = (struct conf_files){};
}

bool conf_file_is_masked(const struct fs *fs, const char *path)
{
	static const char null[] = "/dev/null";
	char target[PATH_MAX];
	size_t n;

	if (fs_read_link(fs, path, target, sizeof(target)) < 0)
		return false;
	n = strlen(target);
	return n >= strlen(null) && streq(target + n - strlen(null), null);
}

static int add(struct conf_files *f, const char *folder, size_t rank, const char *name)
{
	struct conf_file *file = APPEND(f->items, f->n_items);

	if (!file)
		return -ENOMEM;
	if (asprintf(&file->path, "%s/%s", folder, name) < 0) {
		file->path = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}
	file->name = file->path + strlen(folder) + 1;
	file->rank = rank;
	return 0;
}

static int add_folder(const struct fs *fs, const char *folder, size_t rank, const char *pattern,
		      struct conf_files *f)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, folder, &names);

	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	if (r < 0 && !f->unread) {
		f->unread = strdup(folder);
		f->error = r;
		return f->unread ? 0 : -ENOMEM;
	}

	for (size_t i = 0; i < names.n_names; i++)
		if (fnmatch(pattern, names.names[i], FNM_PERIOD | FNM_EXTMATCH) == 0 &&
		    add(f, folder, rank, names.names[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct conf_file *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r != 0 ? r : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts, and drops the files that one of a higher rank hides. */
static void sort(struct conf_files *f)
{
	size_t n = 0;

	SORT(f->items, f->n_items, compare);
	for (size_t i = 0; i < f->n_items; i++) {
		if (n > 0 && streq(f->items[n - 1].name, f->items[i].name))
			free(f->items[i].path);
		else
			f->items[n++] = f->items[i];
	}
	f->n_items = n;
}

int conf_files_list(const struct fs *fs, const char *const *folders, const char *pattern,
		    struct conf_files *ret)
{
	_cleanup_(conf_files_done) struct conf_files f = {};

	for (size_t i = 0; folders[i]; i++)
		if (add_folder(fs, folders[i], i, pattern, &f) < 0)
			return -ENOMEM;
	sort(&f);
	*ret = TAKE_STRUCT(f);
	return 0;
}
