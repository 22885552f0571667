/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: a small root of files and links for tests of what is read below --root.
 */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include "../src/os/fs.h"

struct tree {
	char root[32];
	struct fs fs;
};

/* size: of ret, which holds an empty folder then: in memory where meson.build found room. */
static inline void tree_make_folder(char *ret, size_t size)
{
	assert_true((size_t)snprintf(ret, size, "%s/test-tree-XXXXXX", getenv("TMPDIR") ?: "/tmp") <
		    size);
	assert_non_null(mkdtemp(ret));
}

static inline void tree_make(struct tree *t)
{
	tree_make_folder(t->root, sizeof(t->root));
	assert_int_equal(fs_open_root(t->root, &t->fs), 0);
}

static inline void tree_path(const struct tree *t, const char *path, char *ret, size_t size)
{
	assert_true((size_t)snprintf(ret, size, "%s/%s", t->root, path) < size);
	for (char *slash = ret; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		assert_true(mkdir(ret, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static inline void tree_bytes(const struct tree *t, const char *path, const char *data, size_t size)
{
	_cleanup_(closep) int fd = -EBADF;
	char full[512];

	tree_path(t, path, full, sizeof(full));
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
}

static inline void tree_file(const struct tree *t, const char *path, const char *text)
{
	tree_bytes(t, path, text, strlen(text));
}

static inline void tree_link(const struct tree *t, const char *path, const char *target)
{
	char full[512];

	tree_path(t, path, full, sizeof(full));
	assert_true(unlink(full) == 0 || errno == ENOENT);
	assert_int_equal(symlink(target, full), 0);
}

static inline void tree_remove_at(int at, const char *name);

/* All that is in the folder @fd, which belongs to it from now on. */
static inline void tree_empty_at(int fd)
{
	_cleanup_(closedirp) DIR *d = fdopendir(fd);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (!streq(e->d_name, ".") && !streq(e->d_name, ".."))
			tree_remove_at(dirfd(d), e->d_name);
}

static inline void tree_remove_at(int at, const char *name)
{
	int fd;

	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		unlinkat(at, name, 0);
		return;
	}

	tree_empty_at(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

static inline void tree_empty(const struct tree *t)
{
	tree_empty_at(open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static inline void tree_remove(struct tree *t)
{
	fs_done(&t->fs);
	tree_remove_at(AT_FDCWD, t->root);
}

/* For cmocka: a tree of its own for each test. */
static inline int tree_set_up(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	tree_make(t);
	*state = t;
	return 0;
}

static inline int tree_tear_down(void **state)
{
	tree_remove(*state);
	free(*state);
	return 0;
}
