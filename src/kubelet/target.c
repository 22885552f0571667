/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <fcntl.h>
#include <sys/xattr.h>

#define LABEL "security.selinux"

void target_done(struct target *t)
{
	closep(&t->folder);
	closep(&t->file);
	free(t->text);
}

static int open_folder(const struct fs *fs, const char *path, struct target *t)
{
	char way[PATH_MAX], *slash;
	int r;

	r = fs_resolve(fs, path, way);
	if (r < 0)
		return r;
	slash = strrchr(way, '/');
	COPY(t->name, slash ? slash + 1 : way);
	/* Never "*.conf": where the file lies in a folder of drop-ins, the kubelet would read it.
	 */
	if ((size_t)snprintf(t->temporary, sizeof(t->temporary), ".%s.rdma-provision.tmp",
			     t->name) >= sizeof(t->temporary))
		return -ENAMETOOLONG;
	*(slash ? slash : way) = '\0';
	t->folder = fs_open(fs, *way ? way : ".", O_RDONLY | O_DIRECTORY);
	return MIN(t->folder, 0);
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

	r = open_folder(fs, path, &t);
	if (r >= 0)
		r = read_target(&t, max);
	if (r < 0)
		return r;

	/* Under the lock one that is there was left by a crash, or planted. */
	unlinkat(t.folder, t.temporary, 0);
	*ret = t;
	t = (struct target)TARGET_NONE;
	return 0;
}

/* The name in the folder still means the file that was read, as it was then. */
static bool is_unchanged(const struct target *t)
{
	struct stat now;

	return fstatat(t->folder, t->name, &now, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       now.st_dev == t->st.st_dev && now.st_ino == t->st.st_ino &&
	       now.st_size == t->st.st_size && now.st_mtim.tv_sec == t->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == t->st.st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == t->st.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == t->st.st_ctim.tv_nsec;
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
	int r;

	if (unlinkat(t->folder, t->temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(t->folder, t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;

	r = fs_write_all(fd, text, size);
	if (r >= 0)
		r = copy_attributes(t->file, &t->st, fd);
	if (r >= 0 && fsync(fd) < 0)
		r = -errno;
	if (r >= 0 && !is_unchanged(t))
		r = -EAGAIN;
	if (r >= 0 && renameat(t->folder, t->temporary, t->folder, t->name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(t->folder, t->temporary, 0);
		return r;
	}

	return fsync(t->folder) < 0 ? -errno : 0;
}
