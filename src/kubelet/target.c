/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <fcntl.h>
#include <sys/xattr.h>

#define MAX_LINKS 40 /* as the kernel */
#define LABEL     "security.selinux"

void target_done(struct target *t)
{
	closep(&t->folder);
	closep(&t->file);
	free(t->text);
}

/* Opens the folder of @path, which is cut there; @name is what was behind. */
static int open_folder(const struct fs *fs, char *path, char *name, size_t name_size)
{
	char *slash = strrchr(path, '/');

	if (!copy(name, name_size, slash ? slash + 1 : path))
		return -ENAMETOOLONG;
	if (is_empty(name) || streq(name, ".") || streq(name, ".."))
		return -EISDIR;

	*(slash ? slash : path) = '\0';
	return fs_open(fs, *path ? path : ".", O_RDONLY | O_DIRECTORY);
}

/* Follows links as the kernel would, but inside the root, and stops at the file itself. */
static int open_target(const struct fs *fs, const char *path, struct target *t)
{
	char at[PATH_MAX], link[PATH_MAX];

	if (!COPY(at, path + strspn(path, "/")))
		return -ENAMETOOLONG;

	for (int i = 0; i < MAX_LINKS; i++) {
		_cleanup_(closep) int folder = -EBADF;
		char next[PATH_MAX];
		ssize_t n;

		folder = open_folder(fs, at, t->name, sizeof(t->name));
		if (folder < 0)
			return folder;

		n = readlinkat(folder, t->name, link, sizeof(link) - 1);
		if (n < 0 && errno == EINVAL) { /* no link */
			t->folder = TAKE_FD(folder);
			return 0;
		}
		if (n < 0)
			return -errno;
		link[n] = '\0';

		if ((size_t)snprintf(next, sizeof(next), "%s%s%s", *link == '/' ? "" : at,
				     *link == '/' || !*at ? "" : "/",
				     link + strspn(link, "/")) >= sizeof(next))
			return -ENAMETOOLONG;
		COPY(at, next);
	}

	return -ELOOP;
}

/* Never "*.conf": where the file lies in a folder of drop-ins, the kubelet would read it. */
static bool name_temporary(const struct target *t, char *ret, size_t size)
{
	return (size_t)snprintf(ret, size, ".%s.rdma-provision.tmp", t->name) < size;
}

/* Under the lock one that is there already was left by a crash, or planted. */
static int remove_temporary(const struct target *t)
{
	char temporary[NAME_MAX + 1];

	if (!name_temporary(t, temporary, sizeof(temporary)))
		return -ENAMETOOLONG;
	return unlinkat(t->folder, temporary, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int read_target(struct target *t, size_t max)
{
	size_t n = 0;

	t->file = openat(t->folder, t->name,
			 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->file < 0 || fstat(t->file, &t->st) < 0)
		return -errno;
	if (!S_ISREG(t->st.st_mode))
		return -EINVAL;
	if (t->st.st_size > (off_t)max)
		return -EFBIG;

	t->size = (size_t)t->st.st_size;
	t->text = malloc(t->size + 1);
	if (!t->text)
		return -ENOMEM;

	t->text[t->size] = '\0';
	while (n < t->size) {
		ssize_t got = read(t->file, t->text + n, t->size - n);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EAGAIN; /* another program is writing it */
		n += got > 0 ? (size_t)got : 0;
	}

	return 0;
}

int target_open(const struct fs *fs, const char *path, size_t max, struct target *ret)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r;

	r = open_target(fs, path, &t);
	if (r >= 0)
		r = read_target(&t, max);
	if (r < 0)
		return r;

	remove_temporary(&t); /* where it cannot be removed, nothing can be replaced either */
	*ret = t;
	t = (struct target)TARGET_NONE;
	return 0;
}

/* The name in the folder still means the file that was opened. */
static bool is_named(int folder, const char *name, int fd)
{
	struct stat a, b;

	return fstatat(folder, name, &a, AT_SYMLINK_NOFOLLOW) >= 0 && fstat(fd, &b) >= 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_unchanged(const struct target *t)
{
	struct stat now;

	return is_named(t->folder, t->name, t->file) && fstat(t->file, &now) >= 0 &&
	       now.st_size == t->st.st_size && now.st_mtim.tv_sec == t->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == t->st.st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == t->st.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == t->st.st_ctim.tv_nsec;
}

static int open_temporary(int folder, const char *name)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Owner first: a change of owner may take mode bits back. */
static int copy_attributes(int from, const struct stat *st, int to)
{
	char label[512];
	ssize_t n;

	if (fchown(to, st->st_uid, st->st_gid) < 0 || fchmod(to, st->st_mode & 07777) < 0)
		return -errno;

	n = fgetxattr(from, LABEL, label, sizeof(label));
	if (n < 0)
		return errno == ENODATA || errno == ENOTSUP ? 0 : -errno;
	if (fsetxattr(to, LABEL, label, (size_t)n, 0) < 0 && errno != ENOTSUP)
		return -errno;
	return 0;
}

int target_replace(const struct target *t, const char *text, size_t size)
{
	_cleanup_(closep) int fd = -EBADF;
	char temporary[NAME_MAX + 1];
	int r;

	if (!name_temporary(t, temporary, sizeof(temporary)))
		return -ENAMETOOLONG;
	r = remove_temporary(t);
	if (r < 0)
		return r;
	fd = open_temporary(t->folder, temporary);
	if (fd < 0)
		return fd;

	r = fs_write_all(fd, text, size);
	if (r >= 0)
		r = copy_attributes(t->file, &t->st, fd);
	if (r >= 0 && fsync(fd) < 0)
		r = -errno;
	if (r >= 0 && !is_unchanged(t))
		r = -EAGAIN;
	if (r >= 0 && renameat(t->folder, temporary, t->folder, t->name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(t->folder, temporary, 0);
		return r;
	}

	return fsync(t->folder) < 0 ? -errno : 0;
}
