/* SPDX-License-Identifier: Apache-2.0 */
#include "fs.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Numbers for openat2(2): the oldest supported systems lack linux/openat2.h. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define IN_ROOT        0x10 /* RESOLVE_IN_ROOT */
#define NO_MAGIC_LINKS 0x02 /* RESOLVE_NO_MAGICLINKS */

#define MAX_LINKS 40 /* on the way to a file, as the kernel's MAXSYMLINKS */

#define MAX_UEVENT_BYTES 65536

/* Do not wait for a device or FIFO in the place of a file, nor take it as controlling terminal. */
#define CAUTIOUS (O_NONBLOCK | O_NOCTTY)

const char *fs_format(char buf[static FS_PATH_LEN], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf, FS_PATH_LEN, format, ap);
	va_end(ap);
	return buf;
}

int fs_open_root(const char *path, struct fs *ret)
{
	/* "--root=$UNSET" must not mean the running system. */
	if (path && !*path)
		return -EINVAL;

	*ret = (struct fs){ .is_live = !path || !path[strspn(path, "/")] };
	ret->root = open(path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->root < 0 ? -errno : 0;
}

void fs_done(struct fs *fs)
{
	/* Descriptor 0 of a struct that was never filled is not ours: no root is opened as 0. */
	if (fs->root > 0)
		close(fs->root);
	*fs = (struct fs){ .root = -EBADF };
}

static int open_in_root(int root, const char *path, int flags, mode_t mode)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = { (uint64_t)flags, mode, IN_ROOT | NO_MAGIC_LINKS };

	/* EAGAIN: something was renamed while ".." was looked at. */
	for (int tries = 0; tries < 16; tries++) {
		long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

		if (fd >= 0 || errno != EAGAIN)
			return (int)fd;
	}

	return -1;
}

/* Removes the last component of "a/b". */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/*
 * Walks a path by hand where a seccomp filter knows no openat2(2): one part after the other, none
 * of which the kernel may follow. Links are read, and their text is walked below the root; ".." of
 * a folder is the one it was reached from.
 */
struct walk {
	const struct fs *fs;
	bool is_recorded;    /* the recorder gets each link */
	int at;              /* O_PATH of where it stands; owned */
	char done[PATH_MAX]; /* the way there, without links */
	char rest[PATH_MAX]; /* what is ahead */
	int n_links;
};

static void walk_done(struct walk *w)
{
	closep(&w->at);
}

/* Takes @fd as the place to stand at, unless it is an error. */
static int walk_to(struct walk *w, int fd)
{
	if (fd < 0)
		return fd;
	closep(&w->at);
	w->at = fd;
	return 0;
}

static int walk_to_root(struct walk *w)
{
	int fd = openat(w->fs->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	w->done[0] = '\0';
	return walk_to(w, fd < 0 ? -errno : fd);
}

/* Adds the name to the way, also of what is not there. Return: a descriptor of it or -errno. */
static int walk_step(struct walk *w, const char *name, int flags, mode_t mode)
{
	const size_t have = strlen(w->done), size = strlen(name) + 1;
	int fd;

	if (have + 1 + size > sizeof(w->done))
		return -ENAMETOOLONG;
	if (have > 0)
		w->done[have] = '/';
	memcpy(w->done + have + (have > 0), name, size);
	fd = openat(w->at, name, flags | O_NOFOLLOW, mode);
	return fd < 0 ? -errno : fd;
}

static int walk_into(struct walk *w, const char *name)
{
	return walk_to(w, walk_step(w, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
}

static int walk_up(struct walk *w)
{
	char way[PATH_MAX], *rest = way, *name;
	int r;

	COPY(way, w->done);
	cut_last(way);
	r = walk_to_root(w);
	while (r >= 0 && *way && (name = strsep(&rest, "/")))
		r = walk_into(w, name);
	return r;
}

static void walk_record(const struct walk *w, const char *name, const char *target)
{
	char path[PATH_MAX];

	if ((size_t)PRINT(path, "%s%s%s", w->done, *w->done ? "/" : "", name) < sizeof(path))
		w->fs->on_read(w->fs->userdata, RECORD_LINK, path, target, strlen(target));
}

/* When @name is a link here, its text goes before what is ahead. Return: 1, 0 when it is none. */
static int walk_link(struct walk *w, const char *name)
{
	char target[PATH_MAX], next[PATH_MAX];
	ssize_t n = readlinkat(w->at, name, target, sizeof(target));

	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if ((size_t)n >= sizeof(target))
		return -ENAMETOOLONG;
	target[n] = '\0';
	if (++w->n_links > MAX_LINKS)
		return -ELOOP;
	if (w->is_recorded)
		walk_record(w, name, target);
	if ((size_t)PRINT(next, "%s/%s", target, w->rest) >= sizeof(next))
		return -ENAMETOOLONG;
	/* Nothing ahead: what the link leads to is the last part, and may be a file. */
	if (!*w->rest)
		next[strlen(next) - 1] = '\0';
	COPY(w->rest, next);
	n = *target == '/' ? walk_to_root(w) : 0;
	return n < 0 ? (int)n : 1;
}

/* Takes the next part off what is ahead, with the slashes around it. Return: is it the last? */
static bool walk_next(struct walk *w, char name[NAME_MAX + 2])
{
	const char *from = w->rest + strspn(w->rest, "/");
	const size_t n = strcspn(from, "/"), n_taken = MIN(n, (size_t)NAME_MAX + 1);
	const bool is_last = !from[n];

	memcpy(name, from, n_taken);
	name[n_taken] = '\0';
	from += n;
	from += strspn(from, "/");
	memmove(w->rest, from, strlen(from) + 1);
	return is_last;
}

static int walk_open(struct walk *w, int flags, mode_t mode)
{
	char name[NAME_MAX + 2];
	bool is_last;
	int r, fd;

	do {
		is_last = walk_next(w, name);
		if (!*name || streq(name, "."))
			continue;
		r = streq(name, "..") ? walk_up(w) : 0;
		if (r < 0)
			return r;
		if (streq(name, ".."))
			continue;
		if (!is_last || !(flags & O_NOFOLLOW)) {
			r = walk_link(w, name);
			if (r < 0)
				return r;
			is_last = is_last && r == 0;
			if (r > 0)
				continue;
		}
		if (is_last)
			return walk_step(w, name, flags, mode);
		r = walk_into(w, name);
		if (r < 0)
			return r;
	} while (!is_last);

	fd = openat(w->at, ".", flags & ~(O_CREAT | O_EXCL));
	return fd < 0 ? -errno : fd;
}

/* @ret_way: NULL, or the path without links, each of which is recorded; with -ENOENT those of what
 * is not there are not known. */
static int open_by_hand(const struct fs *fs, const char *path, int flags, mode_t mode,
			char *ret_way)
{
	_cleanup_(walk_done) struct walk w;
	int r;

	/* Not = {}: two paths would be filled with zeros for each file that is opened. */
	w.fs = fs;
	w.is_recorded = ret_way && fs->on_read;
	w.at = -EBADF;
	w.n_links = 0;
	if (!COPY(w.rest, path))
		return -ENAMETOOLONG;
	r = walk_to_root(&w);
	if (r >= 0)
		r = walk_open(&w, flags, mode);
	if (ret_way && (r >= 0 || r == -ENOENT))
		snprintf(ret_way, PATH_MAX, "%s%s%s", w.done, *w.rest ? "/" : "", w.rest);
	return r;
}

/* All processes count as one path, "proc/PID". */
static void note_denied(struct fs_unread *unread, const char *path)
{
	const char *shown = is_prefix(path, "proc/") ? "proc/PID" : path;

	for (size_t i = 0; i < MIN(unread->n, ELEMENTSOF(unread->paths)); i++)
		if (streq(unread->paths[i], shown))
			return;
	if (unread->n < ELEMENTSOF(unread->paths))
		COPY(unread->paths[unread->n], shown);
	unread->n++;
}

void fs_note_unread(const struct fs *fs, const char *path, int error)
{
	/* Errors of a disk or of a server, or for want of descriptors or memory. */
	static const int others[] = { -EIO,    -EMFILE,  -ENFILE,  -ENOMEM,
				      -ESTALE, -EUCLEAN, -EBADMSG, -ETIMEDOUT };

	if (!fs->unread)
		return;
	if (error == -EACCES || error == -EPERM)
		note_denied(fs->unread, path);
	for (size_t i = 0; i < ELEMENTSOF(others) && fs->unread->error == 0; i++)
		if (error == others[i]) {
			fs->unread->error = error;
			COPY(fs->unread->path, path);
		}
}

/* An error of read(2) on a file of the running kernel is an answer of its driver. */
static void note_read(const struct fs *fs, const char *path, ssize_t r)
{
	if (r < 0 && !(fs->is_live && (is_prefix(path, "sys/") || is_prefix(path, "proc/"))))
		fs_note_unread(fs, path, (int)r);
}

/* Where the kernel itself finds @path below @ret_at; NULL: its links must stay in the root. */
static const char *path_at(const struct fs *fs, const char *path, int *ret_at)
{
	const size_t length = fs->inside ? strlen(fs->inside) : 0;

	if (length > 0 && is_prefix(path, fs->inside) && path[length] == '/') {
		*ret_at = fs->inside_fd;
		return path + length + 1;
	}
	*ret_at = fs->root;
	return fs->is_live && *path != '/' ? path : NULL;
}

static int open_path(const struct fs *fs, const char *path, int flags)
{
	const mode_t mode = flags & O_CREAT ? 0600 : 0;
	int at, fd = -1;
	const char *name = path_at(fs, path, &at);

	if (name)
		fd = openat(at, name, flags, mode);
	else {
		fd = open_in_root(fs->root, path, flags, mode);
		if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* of an old seccomp filter */
			return open_by_hand(fs, path, flags, mode, NULL);
	}

	return fd < 0 ? -errno : fd;
}

int fs_open(const struct fs *fs, const char *path, int flags)
{
	int fd;

	if (*path == '/')
		return -EINVAL;

	fd = open_path(fs, path, flags | O_CLOEXEC);
	/* Where a copy cannot have links some tools make a file with the target as its text. */
	if (fd == -ENOTDIR && !fs->is_live && !(flags & O_DIRECTORY) && is_prefix(path, "sys/"))
		return -ENOENT;
	if (fd < 0 && !(flags & O_CREAT))
		fs_note_unread(fs, path, fd);
	return fd;
}

int fs_resolve(const struct fs *fs, const char *path, char ret[static PATH_MAX])
{
	_cleanup_(closep) int fd = open_by_hand(fs, path, O_PATH | O_CLOEXEC, 0, ret);

	return MIN(fd, 0);
}

void fs_enter(const struct fs *fs, const char *path, struct fs *ret)
{
	*ret = *fs;
	ret->inside = NULL;
	if (!fs->is_live)
		return;

	ret->inside_fd = open_path(fs, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->inside_fd >= 0)
		ret->inside = path;
}

void fs_leave(struct fs *fs)
{
	if (fs->inside)
		close(fs->inside_fd);
	fs->inside = NULL;
}

static int check_regular(int fd, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return -errno;
	if (S_ISDIR(ret->st_mode))
		return -EISDIR;
	return S_ISREG(ret->st_mode) ? 0 : -EINVAL; /* files of sysfs and procfs are regular */
}

static int open_regular(const struct fs *fs, const char *path, int flags)
{
	struct stat st;
	int r;
	_cleanup_(closep) int fd = fs_open(fs, path, flags | CAUTIOUS);

	if (fd < 0)
		return fd == -ENXIO ? -EINVAL : fd; /* a socket, or a FIFO nobody reads */

	r = check_regular(fd, &st);
	return r < 0 ? r : TAKE_FD(fd);
}

/* Reads to the end, with @is_line also to a newline, or until @buf is full. */
static ssize_t read_up_to(int fd, char *buf, size_t size, bool is_line)
{
	size_t n = 0;

	while (n < size && !(is_line && n > 0 && buf[n - 1] == '\n')) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}

	return (ssize_t)n;
}

ssize_t fs_read_up_to(int fd, char *buf, size_t size)
{
	return read_up_to(fd, buf, size, false);
}

int fs_read(const struct fs *fs, const char *path, char *buf, size_t size)
{
	_cleanup_(closep) int fd = open_regular(fs, path, O_RDONLY);
	ssize_t n = fd < 0 ? fd : read_up_to(fd, buf, size, true);

	note_read(fs, path, n);
	if (n > 0) /* tar fills a file of sysfs up with NULs, to the size that stat(2) says */
		n = (ssize_t)strnlen(buf, (size_t)n);
	if (n < 0 || ((size_t)n == size && buf[size - 1] != '\n')) {
		buf[0] = '\0';
		return n < 0 ? (int)n : -EMSGSIZE;
	}

	fs_record(fs, RECORD_FILE, path, buf, (size_t)n);
	buf[MIN((size_t)n, size - 1)] = '\0';
	buf[strcspn(buf, fs->is_live ? "\n" : "\r\n")] = '\0'; /* a copy may have been on Windows */
	return 0;
}

int fs_read_host_name(const struct fs *fs, char *buf, size_t size)
{
	int r = fs_read(fs, "proc/sys/kernel/hostname", buf, size);

	return r < 0 && !fs->is_live ? fs_read(fs, "etc/hostname", buf, size) : r;
}

void fs_read_machine(const struct fs *fs, char ret[static 17])
{
	_cleanup_(freep) char *id = NULL;

	*ret = '\0';
	if (fs_read_all(fs, "etc/machine-id", 64, true, &id, NULL) < 0)
		return;
	id[strcspn(id, "\n")] = '\0';
	if (strlen(id) == 16) /* of a capture */
		copy(ret, 17, id);
	else if (*id)
		snprintf(ret, 17, "%016" PRIx64, hash_text(id));
	fs_record(fs, RECORD_FILE, "etc/machine-id", ret, strlen(ret));
}

int fs_read_u32(const struct fs *fs, const char *path, uint32_t *ret)
{
	unsigned long long value;
	char buf[64], *end;
	int r = fs_read(fs, path, buf, sizeof(buf));

	if (r < 0)
		return r == -EMSGSIZE ? -EINVAL : r;
	if (*buf < '0' || *buf > '9') /* strtoull() takes blanks and signs */
		return *buf || fs->is_live ? -EINVAL
					   : -ENOENT; /* a copy of what could not be read */

	errno = 0;
	value = strtoull(buf, &end, 0);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || value > UINT32_MAX)
		return -ERANGE;

	*ret = (uint32_t)value;
	return 0;
}

int fs_read_all(const struct fs *fs, const char *path, size_t max, bool secret, char **ret,
		size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	_cleanup_(closep) int fd = -EBADF;
	size_t size = 0, room = 0;

	assert(max < SIZE_MAX);
	fd = open_regular(fs, path, O_RDONLY);
	if (fd < 0)
		return fd;

	/* Files of procfs tell no size. One byte more than allowed is asked for, and one is for the
	 * NUL. */
	while (size == room) {
		ssize_t n;
		char *grown;

		if (size > max)
			return -EFBIG;

		room = MIN(MAX(room * 2, 4096), max + 1);
		grown = realloc(data, room + 1);
		if (!grown)
			return -ENOMEM;
		data = grown;

		n = fs_read_up_to(fd, data + size, room - size);
		note_read(fs, path, n);
		if (n < 0)
			return (int)n;
		size += (size_t)n;
	}

	data[size] = '\0';
	if (!secret)
		fs_record(fs, RECORD_FILE, path, data, size);
	*ret = TAKE(data);
	if (ret_size)
		*ret_size = size;
	return 0;
}

int fs_read_uevent(const struct fs *fs, const char *folder, const char *key, char *buf, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	const char *path = FS_PATH("%s/uevent", folder), *value = NULL, *line;
	int r = fs->is_live ? -ENOENT : fs_read_all(fs, path, MAX_UEVENT_BYTES, false, &text, NULL);

	for (char *rest = text; r >= 0 && !value && (line = strsep(&rest, "\r\n"));)
		value = after(line, key);
	return value && copy(buf, size, value) ? 0 : -ENOENT;
}

int fs_read_link(const struct fs *fs, const char *path, char *buf, size_t size)
{
	_cleanup_(closep) int fd = -EBADF;
	char target[PATH_MAX];
	int at;
	const char *name = path_at(fs, path, &at);
	ssize_t n = name ? readlinkat(at, name, target, sizeof(target)) : -1;

	if (name && n < 0 && (errno == EINVAL || errno == ENOENT))
		return -ENOENT;
	if (n < 0) { /* an error of the link, or of the way to it: below the link itself */
		fd = fs_open(fs, path, O_PATH | O_NOFOLLOW);
		if (fd < 0)
			return fd;
		n = readlinkat(fd, "", target, sizeof(target));
		note_read(fs, path, n < 0 ? -errno : n);
	}
	if (n < 0) /* ENOENT as well when it is no link */
		return errno == ENOENT ? fs_read_uevent(fs, path, "PCI_SLOT_NAME=", buf, size)
				       : -errno;
	target[MIN((size_t)n, sizeof(target) - 1)] = '\0';
	if ((size_t)n >= sizeof(target) || !copy(buf, size, target))
		return -EMSGSIZE;

	fs_record(fs, RECORD_LINK, path, target, strlen(target));
	return 0;
}

int fs_stat(const struct fs *fs, const char *path, struct stat *ret)
{
	_cleanup_(closep) int fd = -EBADF;
	int at;
	const char *name = path_at(fs, path, &at);

	if (name && fstatat(at, name, ret, AT_SYMLINK_NOFOLLOW) >= 0)
		return 0;
	if (name && errno == ENOENT)
		return -ENOENT;
	fd = fs_open(fs, path, O_PATH | O_NOFOLLOW);
	return fd < 0 ? fd : fstat(fd, ret) < 0 ? -errno : 0;
}

int fs_read_link_name(const struct fs *fs, const char *path, char *buf, size_t size)
{
	char target[PATH_MAX];
	const char *slash;
	int r = fs_read_link(fs, path, target, sizeof(target));

	if (r < 0)
		return r;
	slash = strrchr(target, '/');
	return copy(buf, size, slash ? slash + 1 : target) ? 0 : -EMSGSIZE;
}

/*
 * The recorder gets each link on the way to @path, and the path without links: a captured tree has
 * the same links in the same places, and nothing has to be both a link and a folder.
 */
void fs_record(const struct fs *fs, enum record_kind kind, const char *path, const char *data,
	       size_t size)
{
	const int flags = O_PATH | O_CLOEXEC | (kind == RECORD_LINK ? O_NOFOLLOW : 0);
	_cleanup_(closep) int fd = -EBADF;
	char way[PATH_MAX];

	if (!fs->on_read)
		return;

	/* A path that cannot be walked again has changed: record it as it was asked for. */
	fd = open_by_hand(fs, path, flags, 0, way);
	if (fd < 0)
		COPY(way, path);
	fs->on_read(fs->userdata, kind, *way ? way : ".", data, size);
}

int fs_record_stream(const struct fs *fs, const char *path, struct stream *out)
{
	int r = stream_close(out);

	if (r >= 0)
		fs_record(fs, RECORD_FILE, path, out->text, out->size);
	return r;
}

/* Records a link, a folder, or with @with_files a file without its bytes. */
static int record_entry(const struct fs *fs, const char *path, bool with_files)
{
	char target[PATH_MAX];
	struct stat st;
	int r = fs_stat(fs, path, &st);

	if (r < 0 || !fs->on_read)
		return r;
	if (S_ISLNK(st.st_mode))
		return fs_read_link(fs, path, target, sizeof(target));
	if (S_ISDIR(st.st_mode))
		fs_record(fs, RECORD_FOLDER, path, NULL, 0);
	else if (with_files || !S_ISREG(st.st_mode))
		fs_record(fs, RECORD_FILE, path, "", 0);
	return 0;
}

int fs_exists(const struct fs *fs, const char *path)
{
	const int r = record_entry(fs, path, true);

	return r >= 0 ? 1 : r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static int read_names(DIR *d, struct fs_names *names)
{
	const struct dirent *entry;

	while (errno = 0, entry = readdir(d)) {
		char **name;

		if (streq(entry->d_name, ".") || streq(entry->d_name, ".."))
			continue;
		name = APPEND(names->names, names->n_names);
		if (name)
			*name = strdup(entry->d_name);
		if (!name || !*name)
			return -ENOMEM;
	}
	if (errno != 0)
		return -errno;

	SORT(names->names, names->n_names, compare_text_at);
	return 0;
}

/* Records the links and folders in a folder: some callers only count names, as of VFs. */
static void record_list(const struct fs *fs, const char *path, const struct fs_names *names)
{
	char child[PATH_MAX];

	fs_record(fs, RECORD_FOLDER, path, NULL, 0);
	for (size_t i = 0; i < names->n_names; i++)
		if ((size_t)PRINT(child, "%s/%s", path, names->names[i]) < sizeof(child))
			record_entry(fs, child, false);
}

int fs_list(const struct fs *fs, const char *path, struct fs_names *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	_cleanup_(closedirp) DIR *d = NULL;
	int fd, r;

	fd = fs_open(fs, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}

	r = read_names(d, &names);
	note_read(fs, path, r);
	if (r < 0)
		return r;
	if (fs->on_read)
		record_list(fs, path, &names);

	*ret = TAKE_STRUCT(names);
	return 0;
}

int fs_count(const struct fs *fs, const char *path, const char *prefix, uint32_t *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	uint32_t n = 0;
	int r = fs_list(fs, path, &names);

	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n_names; i++)
		n += is_prefix(names.names[i], prefix);
	*ret = n;
	return 0;
}

void fs_names_done(struct fs_names *n)
{
	for (size_t i = 0; i < n->n_names; i++)
		free(n->names[i]);
	free(n->names);
	*n = (struct fs_names){};
}

int fs_write_attribute(const struct fs *fs, const char *path, const char *value)
{
	_cleanup_(closep) int fd = -EBADF;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	const size_t size = strlen(value);
	ssize_t n;

	if (!fs->is_live)
		return -EROFS;

	fd = open_regular(fs, path, O_WRONLY);
	if (fd < 0)
		return fd;

	fcntl(fd, F_SETLK, &lock); /* without it only fs_writer() knows less */
	/* Never twice: the kernel may have acted on it already. */
	n = write(fd, value, size);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

int fs_writer(const struct fs *fs, const char *path)
{
	_cleanup_(closep) int fd = open_regular(fs, path, O_RDONLY);
	/* Not F_WRLCK: a lock for reading, which any user may place, would count as well. */
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_GETLK, &lock) < 0)
		return -errno;
	return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

/* Opens the folder of @path; *ret_name is the name in it. */
static int open_parent(const struct fs *fs, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];

	if (is_empty(name) || streq(name, ".") || streq(name, "..") || *path == '/')
		return -EINVAL;
	if (!COPY(folder, path))
		return -ENAMETOOLONG;
	cut_last(folder);
	*ret_name = name;
	return fs_open(fs, *folder ? folder : ".", O_RDONLY | O_DIRECTORY);
}

/* Makes a folder with its mode in one step, so that a kill leaves none with the mode of umask. */
static int make_folder_in(int parent, const char *name)
{
	const mode_t mask = umask(0);
	const int r = mkdirat(parent, name, 0755) < 0 ? -errno : 0;

	umask(mask);
	return r < 0 ? r : fsync(parent) < 0 ? -errno : 0;
}

static int make_folder(const struct fs *fs, const char *path)
{
	_cleanup_(closep) int parent = -EBADF, made = -EBADF;
	const char *name;
	int r;

	parent = open_parent(fs, path, &name);
	if (parent < 0)
		return parent;
	r = make_folder_in(parent, name);
	if (r != -EEXIST)
		return r;

	/* Another program was faster, or it is a link to nothing. */
	made = fs_open(fs, path, O_PATH | O_DIRECTORY);
	return MIN(made, 0);
}

int fs_make_folders(const struct fs *fs, const char *path)
{
	char part[PATH_MAX];

	if (!COPY(part, path))
		return -ENAMETOOLONG;

	for (size_t end = 0; path[end];) {
		_cleanup_(closep) int fd = -EBADF;
		int r = 0;

		end += strspn(path + end, "/");
		end += strcspn(path + end, "/");
		part[end] = '\0';

		fd = fs_open(fs, part, O_PATH | O_DIRECTORY);
		if (fd < 0)
			r = fd == -ENOENT ? make_folder(fs, part) : fd;
		if (r < 0)
			return r;
		part[end] = path[end];
	}

	return 0;
}

/* Compares the mode as well: a different one is set; if that fails, the file is not equal. */
static bool is_equal(int folder, const char *name, const char *data, size_t size, mode_t mode)
{
	char buf[4096];
	struct stat st;
	size_t at = 0;
	_cleanup_(closep) int fd =
		openat(folder, name, O_RDONLY | O_NOFOLLOW | CAUTIOUS | O_CLOEXEC);

	if (fd < 0 || check_regular(fd, &st) < 0 || (uint64_t)st.st_size != size)
		return false;

	while (at < size) {
		ssize_t n = fs_read_up_to(fd, buf, MIN(sizeof(buf), size - at));

		if (n <= 0 || memcmp(buf, data + at, (size_t)n) != 0)
			return false;
		at += (size_t)n;
	}

	return (st.st_mode & 07777) == mode || fchmod(fd, mode) == 0;
}

int fs_wait_readable(int fd, uint64_t until)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = now_usec();
		int r;

		if (now >= until)
			return 0;
		r = poll(&p, 1, (int)MIN((until - now) / USEC_PER_MSEC + 1, UINT64_C(3600000)));
		if (r > 0)
			return 1;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

int fs_write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}

	return 0;
}

/* Writes a new file, which is on the disk when this returns. */
static int write_new(int folder, const char *name, const char *data, size_t size, mode_t mode)
{
	int r;
	_cleanup_(closep) int fd =
		openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;

	r = fs_write_all(fd, data, size);
	return r < 0 ? r : fchmod(fd, mode) < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int open_parent_made(const struct fs *fs, const char *path, const char **ret_name)
{
	const int fd = open_parent(fs, path, ret_name);
	char folder[PATH_MAX];
	int r;

	if (fd != -ENOENT)
		return fd;
	COPY(folder, path);
	cut_last(folder);
	r = fs_make_folders(fs, folder);
	return r < 0 ? r : open_parent(fs, path, ret_name);
}

static bool name_temporary(const char *name, char *ret, size_t size)
{
	return (size_t)snprintf(ret, size, ".%s.tmp", name) < size;
}

/* Names the temporary file, and removes one that a crash left. */
static int begin_replacing(int folder, const char *name, char temporary[static NAME_MAX + 1])
{
	if (!name_temporary(name, temporary, NAME_MAX + 1))
		return -ENAMETOOLONG;
	return unlinkat(folder, temporary, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * A second name is one that no other file has: NFS has no RENAME_NOREPLACE.
 * Source: nfs_rename() in fs/nfs/dir.c
 */
static int rename_new(int from, const char *temporary, int to, const char *name)
{
	if (renameat2(from, temporary, to, name, RENAME_NOREPLACE) >= 0)
		return 0;
	if (errno != EINVAL || linkat(from, temporary, to, name, 0) < 0)
		return -errno;
	return unlinkat(from, temporary, 0) < 0 ? -errno : 0;
}

/* @r: 0 or -errno of writing the temporary file. Return: 1 or -errno. */
static int end_replacing(int folder, const char *temporary, const char *name, bool is_new, int r)
{
	if (r >= 0 && is_new)
		r = rename_new(folder, temporary, folder, name);
	else if (r >= 0 && renameat(folder, temporary, folder, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(folder, temporary, 0);
		return r;
	}
	return fsync(folder) < 0 ? -errno : 1;
}

/* @is_new: there is to be no file of this name. Return: 1, 0 when it was equal, or -errno. */
static int replace_in(int folder, const char *name, const char *data, size_t size, mode_t mode,
		      bool is_new)
{
	char temporary[NAME_MAX + 1];
	int r;

	if (!is_new && is_equal(folder, name, data, size, mode))
		return 0;
	r = begin_replacing(folder, name, temporary);
	if (r < 0)
		return r;
	r = write_new(folder, temporary, data, size, mode);
	return end_replacing(folder, temporary, name, is_new, r);
}

int fs_replace(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode)
{
	const char *name;
	_cleanup_(closep) int folder = open_parent_made(fs, path, &name);

	return folder < 0 ? folder : replace_in(folder, name, data, size, mode, false);
}

int fs_create(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode)
{
	const char *name;
	_cleanup_(closep) int folder = open_parent_made(fs, path, &name);

	return folder < 0 ? folder : replace_in(folder, name, data, size, mode, true);
}

int fs_rename(const struct fs *fs, const char *from, const char *to, bool is_new)
{
	_cleanup_(closep) int folder_from = -EBADF, folder_to = -EBADF;
	const char *name_from, *name_to;
	int r = 0;

	folder_from = open_parent(fs, from, &name_from);
	if (folder_from < 0)
		return folder_from;
	folder_to = open_parent(fs, to, &name_to);
	if (folder_to < 0)
		return folder_to;
	if (is_new)
		r = rename_new(folder_from, name_from, folder_to, name_to);
	else if (renameat(folder_from, name_from, folder_to, name_to) < 0)
		r = -errno;
	return r < 0 ? r : fsync(folder_to) < 0 ? -errno : 0;
}

static bool is_link_to(int folder, const char *name, const char *target)
{
	char buf[PATH_MAX];
	ssize_t n = readlinkat(folder, name, buf, sizeof(buf));

	return n >= 0 && (size_t)n == strlen(target) && memcmp(buf, target, (size_t)n) == 0;
}

int fs_replace_link(const struct fs *fs, const char *path, const char *target)
{
	char temporary[NAME_MAX + 1];
	const char *name;
	struct stat st;
	int r;
	_cleanup_(closep) int folder = open_parent_made(fs, path, &name);

	if (folder < 0)
		return folder;
	if (is_link_to(folder, name, target))
		return 0;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
		return -EEXIST;
	r = begin_replacing(folder, name, temporary);
	if (r < 0)
		return r;
	r = symlinkat(target, folder, temporary) < 0 ? -errno : 0;
	return end_replacing(folder, temporary, name, false, r);
}

static void on_timer(_unused_ int signal)
{
	/* The signal only ends a call that waits. */
}

/* With repeated signals: the first one may come before the call that it is to end. */
static int wait_until(int fd, uint64_t limit_usec)
{
	const struct itimerspec often = { { 0, 100 * 1000 * 1000 },
					  { (time_t)(limit_usec / USEC_PER_SEC), 1 } };
	const struct sigaction ours = { .sa_handler = on_timer };
	const uint64_t until = now_usec() + limit_usec;
	struct sigevent event = { .sigev_signo = SIGRTMIN };
	timer_t timer;
	int r;

	if (sigaction(SIGRTMIN, &ours, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return -errno;
	r = timer_settime(timer, 0, &often, NULL) < 0 ? -errno : 0;
	while (r == 0 && flock(fd, LOCK_EX) < 0) {
		const int error = errno;

		if (error != EINTR || now_usec() >= until)
			r = error == EINTR ? -ETIMEDOUT : -error;
	}
	timer_delete(timer);
	return r;
}

int fs_wait_for_lock(int fd, uint64_t limit_usec)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK && limit_usec > 0 ? wait_until(fd, limit_usec) : -errno;
}

int fs_open_lock(const struct fs *fs, const char *path)
{
	const char *name;
	_cleanup_(closep) int folder = open_parent_made(fs, path, &name);

	return folder < 0 ? folder : fs_open(fs, path, O_RDWR | O_CREAT | O_NOFOLLOW);
}

int fs_lock(const struct fs *fs, const char *path, uint64_t limit_usec)
{
	/* If the holder removed the file, no other process will find the one locked here. */
	for (;;) {
		_cleanup_(closep) int fd = fs_open_lock(fs, path);
		int r = fd < 0 ? fd : fs_wait_for_lock(fd, limit_usec);
		struct stat st, now;

		if (r < 0)
			return r;
		if (fstat(fd, &st) < 0)
			return -errno;
		r = fs_stat(fs, path, &now);
		if (r < 0 && r != -ENOENT)
			return r;
		if (r >= 0 && now.st_ino == st.st_ino)
			return TAKE_FD(fd);
	}
}

void fs_unlock(const struct fs *fs, const char *path, int fd)
{
	if (fd < 0)
		return;
	fs_remove(fs, path); /* a file that cannot be removed serves the next lock */
	close(fd);
}

/* Removes a file, and the temporary file that a crash left beside it. @folder: or -errno. */
static int remove_in(int folder, const char *name)
{
	char temporary[NAME_MAX + 1];
	bool is_left = folder >= 0 && name_temporary(name, temporary, sizeof(temporary)) &&
		       unlinkat(folder, temporary, 0) >= 0;

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	if (unlinkat(folder, name, 0) < 0 && (errno != ENOENT || !is_left))
		return errno == ENOENT ? 0 : -errno;

	return fsync(folder) < 0 ? -errno : 0;
}

int fs_remove(const struct fs *fs, const char *path)
{
	const char *name;
	_cleanup_(closep) int folder = open_parent(fs, path, &name);

	return remove_in(folder, name);
}

/* Opens a folder in another one; a link is refused. */
static int open_step(int folder, const char *name, bool is_made)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd, r;

	fd = openat(folder, name, flags);
	if (fd < 0 && errno == ENOENT && is_made) {
		r = make_folder_in(folder, name);
		if (r < 0 && r != -EEXIST)
			return r;
		fd = openat(folder, name, flags);
	}
	if (fd >= 0)
		return fd;
	if (errno == ENOTDIR && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return -errno;
}

/* Opens the folder of @path without following a link; *ret_name is the name in it. */
static int open_steps(const struct fs *fs, const char *path, bool is_made, const char **ret_name)
{
	const char *at = path;
	char part[NAME_MAX + 1];
	int next;
	_cleanup_(closep) int folder = openat(fs->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return -errno;

	for (size_t n; n = strcspn(at, "/"), at[n] == '/'; at += n + 1) {
		if (n == 0 || n > NAME_MAX || is_prefix(at, "../"))
			return n > NAME_MAX ? -ENAMETOOLONG : -EINVAL;
		memcpy(part, at, n);
		part[n] = '\0';
		next = open_step(folder, part, is_made);
		if (next < 0)
			return next;
		close(folder);
		folder = next;
	}
	if (is_empty(at) || streq(at, ".") || streq(at, ".."))
		return -EINVAL;

	*ret_name = at;
	return TAKE_FD(folder);
}

int fs_output(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode)
{
	const char *name;
	_cleanup_(closep) int folder = open_steps(fs, path, true, &name);

	return folder < 0 ? folder : replace_in(folder, name, data, size, mode, false);
}

int fs_output_remove(const struct fs *fs, const char *path)
{
	const char *name;
	_cleanup_(closep) int folder = open_steps(fs, path, false, &name);

	return remove_in(folder, name);
}
