/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fs: access to files, all below one folder, so that a captured tree is a node.
 *
 * Paths are relative to that folder and never begin with "/". Below a --root other than "/" the
 * kernel keeps links inside it (openat2 with RESOLVE_IN_ROOT); where a seccomp filter refuses that
 * call, each part of a path is walked by hand, with the same result.
 * A recorder, when set, receives every file, link and folder that was read: "capture" is a look at
 * the node with the recorder on. It receives real paths, and each link on the way
 * there, so that a path below a link is never recorded; of a folder that was listed, it receives
 * the links and folders in it as well. It may receive the same thing twice, and of a file once
 * without and once with its bytes.
 */
#pragma once

#include "../base/util.h"

#include <limits.h>

struct stat;

enum record_kind {
	RECORD_FILE,
	RECORD_LINK,
	RECORD_FOLDER,
};

/*
 * Files of which a look learned nothing, not even that they are absent: those that could not be
 * opened for want of permission, each once, and the first with another error, such as EIO or
 * EMFILE.
 */
struct fs_unread {
	size_t n; /* without permission; may be more than there is room for */
	char paths[3][128];
	int error; /* of the other one: -errno; 0: there is none */
	char path[256];
};

struct fs {
	int root;     /* O_PATH of the folder; owned */
	bool is_live; /* the root is "/": the kernel behind it is the running one */
	void (*on_read)(void *userdata, enum record_kind kind, const char *path, const char *data,
			size_t size);
	void *userdata;
	struct fs_unread *unread; /* filled, when not NULL */
	const char *inside;       /* NULL, or the folder of fs_enter(), borrowed */
	int inside_fd;            /* O_PATH of it */
};

/* A path made in place, which lives as long as the block; what does not fit is cut. */
#define FS_PATH_LEN  512
#define FS_PATH(...) fs_format((char[FS_PATH_LEN]){}, __VA_ARGS__)
_printf_(2, 3) const char *fs_format(char buf[static FS_PATH_LEN], const char *format, ...);

/* An absolute path as one below the root, as it is taken here. */
static inline const char *fs_bare(const char *path)
{
	return path + strspn(path, "/");
}

int fs_open_root(const char *path, struct fs *ret); /* NULL or "/": the running system */
void fs_done(struct fs *fs);

/*
 * Opens @path once for many reads below it, which then skip the way there, for a device in sysfs a
 * dozen parts and links. Paths stay what they are, and files elsewhere are reached as before; so is
 * all in a --root, or when @path cannot be opened. A folder that is removed and made again under
 * the same name meanwhile is not there any more. @path and @fs stay the caller's and must live
 * until fs_leave(), which takes a zeroed one as well.
 */
void fs_enter(const struct fs *fs, const char *path, struct fs *ret);
void fs_leave(struct fs *fs);

/* Adds @path to fs.unread if @error says that this or another process could not look at it. */
void fs_note_unread(const struct fs *fs, const char *path, int error);

/*
 * Opens a file below the root with these open(2) flags; O_CLOEXEC is added, O_CREAT makes it 0600.
 * Return: fd or -errno.
 */
int fs_open(const struct fs *fs, const char *path, int flags);

/* The way to a file without links, all of which were followed inside the root. Return: 0 or -errno;
 * with -ENOENT @ret is the way as far as it is known. */
int fs_resolve(const struct fs *fs, const char *path, char ret[static PATH_MAX]);

/* Reads to the end or until @buf is full. Return: how many bytes, or -errno. */
ssize_t fs_read_up_to(int fd, char *buf, size_t size);
/*
 * Reads a line of sysfs or procfs, without its newline; @buf is empty when that fails. -EMSGSIZE:
 * no room for the line and a NUL. A file in /dev, a FIFO or a folder in its place gives -EISDIR or
 * -EINVAL, never a wait.
 */
int fs_read(const struct fs *fs, const char *path, char *buf, size_t size);
/* The node's host name, as above. A tree that lacks the kernel's has that of /etc/hostname. */
int fs_read_host_name(const struct fs *fs, char *buf, size_t size);
/* A hash of the machine id, which a capture has instead of the id; "": there is none. */
void fs_read_machine(const struct fs *fs, char ret[static 17]);
int fs_read_u32(const struct fs *fs, const char *path,
		uint32_t *ret); /* any base; -EINVAL, -ERANGE */

/*
 * Reads a whole regular file of at most @max bytes, and appends NUL (it may hold others). It is not
 * recorded when @secret: the caller records what may be seen, by fs_record(). -EFBIG above @max.
 * @ret_size: may be NULL.
 */
int fs_read_all(const struct fs *fs, const char *path, size_t max, bool secret, char **ret,
		size_t *ret_size);
void fs_record(const struct fs *fs, enum record_kind kind, const char *path, const char *data,
	       size_t size);
/* Closes @out, and records its text as that of a file. Return: 0 or -ENOMEM. */
int fs_record_stream(const struct fs *fs, const char *path, struct stream *out);

/* The last component of a symbolic link's target: "igb" of ".../driver". -ENOENT: no such link. */
int fs_read_link_name(const struct fs *fs, const char *path, char *buf, size_t size);

/* In a copy, the value of "KEY=" in the file uevent of a folder. Return: 0, or -ENOENT. */
int fs_read_uevent(const struct fs *fs, const char *folder, const char *key, char *buf,
		   size_t size);

/* The whole target of a symbolic link. A PCI function that a copy has as a folder in the place of
 * the link gives its address. */
int fs_read_link(const struct fs *fs, const char *path, char *buf, size_t size);

/* Looks at a file, folder or link itself; in sysfs one that was made again has another inode. */
int fs_stat(const struct fs *fs, const char *path, struct stat *ret);

/*
 * Is there a file, folder or link of this name? It is recorded as what it is, a file without its
 * bytes. Return: 1, 0, or -errno when that is not known.
 */
int fs_exists(const struct fs *fs, const char *path);

/* The names in a folder without "." and "..", sorted by bytes. Release with fs_names_done(). */
struct fs_names {
	char **names; /* owned */
	size_t n_names;
};
int fs_list(const struct fs *fs, const char *path, struct fs_names *ret);
void fs_names_done(struct fs_names *n);
/* How many names in a folder begin with @prefix: "virtfn" counts the VFs of a PF. */
int fs_count(const struct fs *fs, const char *path, const char *prefix, uint32_t *ret);

/*
 * Writes into an existing kernel file (sysfs) in one write(2). Live roots only. Until the write
 * returns the process holds a POSIX lock on the file, unless another process holds one already.
 */
int fs_write_attribute(const struct fs *fs, const char *path, const char *value);

/*
 * The process that is in fs_write_attribute() of this file. A killed one counts until the kernel
 * lets go of it: locks are released when its files are closed, by exit_files() in kernel/exit.c.
 * Opening waits for no driver: kernfs_fop_open() in fs/kernfs/file.c. Return: its number, 0 for
 * none, or -errno.
 */
int fs_writer(const struct fs *fs, const char *path);

/*
 * Replaces a file: temporary beside it (".NAME.tmp"), fsync, rename, fsync of the folder, which is
 * made when missing. Equal bytes are not written; when their mode is another one it is set. A link
 * in the last component is replaced, not followed; one planted as the temporary file is not
 * followed either.
 * Return: 1 when written, 0 when it was equal, or -errno with the old file still whole.
 */
int fs_replace(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode);
/* fs_replace() for a new file; -EEXIST when there is one, also when it was made just now. */
int fs_create(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode);
/* Writes to an open descriptor, also in more than one write(2). Return: 0 or -errno. */
int fs_write_all(int fd, const char *data, size_t size);
/* Return: 1 when something is there or the other end is gone, 0 at CLOCK_MONOTONIC @until, or
 * -errno. */
int fs_wait_readable(int fd, uint64_t until);
/*
 * Renames within one file system; @to is replaced, or with @is_new there is to be none: -EEXIST. On
 * the disk when this returns 0; or -errno.
 */
int fs_rename(const struct fs *fs, const char *from, const char *to, bool is_new);
/* fs_replace() for a link to @target; what is no link is not replaced: -EEXIST. */
int fs_replace_link(const struct fs *fs, const char *path, const char *target);
/* Removes a file, and the temporary one of a crash, with fsync of the folder; 0 when absent. */
int fs_remove(const struct fs *fs, const char *path);

/*
 * fs_replace() and fs_remove() for files that others read, in folders that others may write to: no
 * part of the path may be a link (-ELOOP), so that a link planted there leads nowhere. Folders that
 * are missing are made.
 */
int fs_output(const struct fs *fs, const char *path, const char *data, size_t size, unsigned mode);
int fs_output_remove(const struct fs *fs, const char *path);

/* For a lock that is held for milliseconds, unless its holder was stopped. */
#define FS_LOCK_USEC (5 * USEC_PER_SEC)
/*
 * A lock among those that ask for it here: flock(2) on a file of mode 0600, which no other user can
 * open. It is held until the fd is closed; fs_unlock() removes the file as well, which makes it fit
 * for any tree. A timer sends SIGRTMIN while it waits, so that alarm(2) stays the caller's. Return:
 * fd, -EWOULDBLOCK when another process has it and @limit_usec is 0, -ETIMEDOUT, or -errno.
 */
int fs_lock(const struct fs *fs, const char *path, uint64_t limit_usec);
/* fs_lock() of a file that fs_open_lock() opened. Return: 0 or the same errors. */
int fs_wait_for_lock(int fd, uint64_t limit_usec);
/* Opens a file that is to be locked; makes it, and its folders. */
int fs_open_lock(const struct fs *fs, const char *path);
void fs_unlock(const struct fs *fs, const char *path, int fd);

int fs_make_folders(const struct fs *fs, const char *path); /* every missing part, mode 0755 */
