/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "../base/log.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#define VALUE_MAX 65536 /* XATTR_SIZE_MAX and XATTR_LIST_MAX of linux/limits.h */
#define ACL       "system.posix_acl_access"
#define NOT_KNOWN "%s: whether another program has it open for writing is not known here"

void target_done(struct target *t)
{
	if (t->is_leased) /* closing is not enough while a child has the descriptor as well */
		fcntl(t->file, F_SETLEASE, F_UNLCK);
	closep(&t->folder);
	closep(&t->file);
	free(t->text);
}

/* -ENOENT with the folder open: the file is not there, its temporary file may be. */
static int open_folder(const struct fs *fs, const char *path, struct target *t)
{
	char way[PATH_MAX], *slash;
	int r = fs_resolve(fs, path, way);

	if (r == -ENOENT)
		COPY(way, fs_bare(path));
	else if (r < 0)
		return r;
	slash = strrchr(way, '/');
	COPY(t->name, slash ? slash + 1 : way);
	/* Never "*.conf": in a folder of drop-ins the kubelet would read it. */
	if ((size_t)PRINT(t->temporary, ".%s.rdma-provision.tmp", t->name) >= sizeof(t->temporary))
		return -ENAMETOOLONG;
	*(slash ? slash : way) = '\0';
	t->fs = fs;
	t->path = path;
	t->folder = fs_open(fs, *way ? way : ".", O_RDONLY | O_DIRECTORY);
	return t->folder < 0 ? t->folder : r;
}

/*
 * NFS 4 has leases only for files that the server delegated, and answers EAGAIN for all others.
 * Source: nfs4_add_lease() in fs/nfs/nfs4proc.c
 */
static int lease(struct target *t)
{
	struct statfs st;

	/* The signal of a broken lease: SIGIO would end the process, and SIGURG is ignored. */
	if (fcntl(t->file, F_SETSIG, SIGURG) < 0)
		return -errno;
	t->is_leased = fcntl(t->file, F_SETLEASE, F_RDLCK) >= 0;
	if (t->is_leased || errno == EINVAL || errno == EACCES)
		return 0;
	if (errno != EAGAIN || fstatfs(t->file, &st) < 0)
		return -errno;
	return st.f_type == NFS_SUPER_MAGIC ? 0 : -EAGAIN;
}

static int read_target(struct target *t, size_t max)
{
	ssize_t n;
	int r;

	t->file = openat(t->folder, t->name,
			 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->file < 0)
		return -errno;
	r = lease(t);
	if (r < 0)
		return r;
	if (fstat(t->file, &t->st) < 0)
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
	n = fs_read_up_to(t->file, t->text, t->size);
	if (n < 0)
		return (int)n;
	return (size_t)n < t->size ? -EAGAIN : 0; /* another program is writing it */
}

int target_open(const struct fs *fs, const char *path, size_t max, struct target *ret)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r = open_folder(fs, path, &t);

	/* Under the lock one that is there was left by a crash, or planted. */
	if (t.folder >= 0)
		unlinkat(t.folder, t.temporary, 0);
	if (r >= 0)
		r = read_target(&t, max);
	if (r < 0)
		return r;

	*ret = t;
	t = (struct target)TARGET_NONE;
	return 0;
}

bool target_is_left(const struct fs *fs, const char *path)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;

	open_folder(fs, path, &t);
	return t.folder >= 0 && faccessat(t.folder, t.temporary, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* --- everything about it --- */

static int copy_attribute(int from, int to, const char *name, char *value)
{
	char *have = value + VALUE_MAX;
	ssize_t n = fgetxattr(from, name, value, VALUE_MAX);

	if (n < 0)
		return -errno;
	/* A label that the new file has already may be one that this process may not set. */
	if (fgetxattr(to, name, have, VALUE_MAX) == n && memcmp(value, have, (size_t)n) == 0)
		return 0;
	return fsetxattr(to, name, value, (size_t)n, 0) < 0 ? -errno : 0;
}

static int copy_attributes(const struct target *t, int to)
{
	_cleanup_(freep) char *names = malloc(3 * (size_t)VALUE_MAX);
	ssize_t n;
	int r;

	if (!names)
		return -ENOMEM;
	n = flistxattr(t->file, names, VALUE_MAX);
	if (n < 0)
		return errno == ENOTSUP ? 0 : -errno;

	for (const char *name = names; name < names + n; name += strlen(name) + 1) {
		if (streq(name, "security.ima") || streq(name, "security.evm"))
			continue;
		r = copy_attribute(t->file, to, name, names + VALUE_MAX);
		if (r >= 0)
			continue;
		log_warning_errno(r, "%s: is not replaced, for its attribute %s cannot be copied",
				  t->path, name);
		return r == -ENOSPC || r == -EDQUOT ? r : -EPERM;
	}
	return 0;
}

/* Owner first: a change of owner may take mode bits back, and so may an ACL. */
static int make_alike(const struct target *t, int to)
{
	int r;

	if (fchown(to, t->st.st_uid, t->st.st_gid) < 0)
		return -errno;
	r = copy_attributes(t, to);
	if (r < 0)
		return r;
	return fchmod(to, t->st.st_mode & 07777) < 0 ? -errno : 0;
}

static int write_temporary(const struct target *t, const char *text, size_t size)
{
	_cleanup_(closep) int fd = -EBADF;
	struct stat written;
	int r;

	if (unlinkat(t->folder, t->temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(t->folder, t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;

	/* Inherited from the folder, it would open the file to others once the mode is set. */
	if (fremovexattr(fd, ACL) < 0 && errno != ENODATA && errno != ENOTSUP)
		return -errno;
	r = fs_write_all(fd, text, size);
	if (r >= 0)
		r = make_alike(t, fd);
	if (r >= 0 && (fsync(fd) < 0 || fstat(fd, &written) < 0))
		r = -errno;
	return r >= 0 && t->on_written ? t->on_written(t->fs, t->path, &written) : r;
}

/* --- at rest --- */

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* This name means the file that was read, as it was then, and no program waits to write to it. */
static bool is_at_rest(const struct target *t, const char *name, struct stat *ret)
{
	return fstatat(t->folder, name, ret, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       ret->st_dev == t->st.st_dev && ret->st_ino == t->st.st_ino &&
	       ret->st_size == t->st.st_size && is_same_time(ret->st_mtim, t->st.st_mtim) &&
	       (!t->is_leased || fcntl(t->file, F_GETLEASE) == F_RDLCK);
}

/*
 * The old file has the temporary name by now. An open() that found it by the old one may still be
 * on its way, and breaks the lease once it is there: each processor leaves the kernel once
 * meanwhile. A task that a preemptible kernel keeps right between the two is not waited for. A file
 * that another program put there is seen at once, before more is built upon the new one.
 * Source: membarrier(2), CMD_GLOBAL; do_dentry_open() in fs/open.c
 */
static bool is_at_rest_for_all(const struct target *t)
{
	struct stat now;

	if (!is_at_rest(t, t->temporary, &now))
		return false;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		log_notice(NOT_KNOWN, t->path);
	return is_at_rest(t, t->temporary, &now);
}

/* Moves the old file to the name of the temporary one, or with @is_back from there. */
static int move(const struct target *t, bool is_removed, bool is_back)
{
	const char *from = is_back ? t->temporary : t->name, *to = is_back ? t->name : t->temporary;

	return renameat2(t->folder, from, t->folder, to,
			 is_removed ? RENAME_NOREPLACE : RENAME_EXCHANGE) < 0
		       ? -errno
		       : 0;
}

/* For a file system that cannot exchange names: what another program writes to the old file from
 * here on is lost. */
static int move_plainly(const struct target *t, bool is_removed)
{
	int r = is_removed ? unlinkat(t->folder, t->name, 0)
			   : renameat(t->folder, t->temporary, t->folder, t->name);

	return r < 0 ? -errno : 0;
}

/*
 * Return: 0 when the old file has its name again, or one does that another program gave the name to
 * after @new had it, and which is newer than both.
 */
static int move_back(const struct target *t, bool is_removed, const struct stat *new)
{
	struct stat now;
	int r = move(t, is_removed, true);

	if (r == -EEXIST)
		return 0;
	if (r >= 0 && !is_removed &&
	    fstatat(t->folder, t->temporary, &now, AT_SYMLINK_NOFOLLOW) >= 0 &&
	    now.st_ino != new->st_ino)
		r = move(t, is_removed, true);
	return r;
}

static int put(const struct target *t, bool is_removed)
{
	struct stat now, new = {};
	int r, r_back;

	/* With the time of its attributes, which a change of its name changes as well. */
	if (!is_at_rest(t, t->name, &now) || !is_same_time(now.st_ctim, t->st.st_ctim))
		return -EAGAIN;
	if (!is_removed && fstatat(t->folder, t->temporary, &new, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	r = move(t, is_removed, false);
	if (r == -EINVAL || !t->is_leased)
		log_notice(NOT_KNOWN, t->path);
	if (r < 0)
		return r == -EINVAL ? move_plainly(t, is_removed) : r;

	r = is_at_rest_for_all(t) ? 0 : -EAGAIN;
	if (r >= 0 && fsync(t->folder) < 0)
		r = -errno;
	if (r >= 0)
		return 0;
	r_back = move_back(t, is_removed, &new);
	return r_back < 0 ? r_back : r;
}

int target_replace(const struct target *t, const char *text, size_t size)
{
	int r;

	if (t->st.st_nlink > 1)
		return -EMLINK;
	r = text ? write_temporary(t, text, size) : 0;
	if (r >= 0)
		r = put(t, !text);
	/* The old file may have that name now, and the caller reports that it stays there. */
	if (unlinkat(t->folder, t->temporary, 0) < 0 && errno != ENOENT && r >= 0)
		r = -errno;
	return r < 0 ? r : fsync(t->folder) < 0 ? -errno : 0;
}

int target_change(const struct fs *fs, const char *path, const char *from, size_t n_from,
		  const char *to, size_t n_to)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r;

	if (!from) {
		r = fs_create(fs, fs_bare(path), to, n_to, 0644);
		return r == -EEXIST ? -EAGAIN : MIN(r, 0);
	}
	r = target_open(fs, path, n_from, &t);
	if (r < 0)
		return r == -EFBIG ? -EAGAIN : r;
	return t.size != n_from || memcmp(t.text, from, n_from) != 0 ? -EAGAIN
								     : target_replace(&t, to, n_to);
}

const char *target_problem(int r)
{
	return r == -EAGAIN   ? "another program is writing it"
	       : r == -EMLINK ? "has a second name (a hard link)"
			      : strerror(-r);
}
