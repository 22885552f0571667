/* SPDX-License-Identifier: Apache-2.0 */
#include "tar.h"

#include "../base/log.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#if HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#endif

#define BLOCK_BYTES 512

/* ustar of POSIX.1-1988, as in pax(1p). Numbers are octal digits. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type;
	char target[100];
	char magic[8]; /* "ustar", NUL, "00" */
	char user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK_BYTES, "a header is one block");

static const struct {
	char type;
	unsigned mode;
} kinds[] = {
	[RECORD_FILE] = { '0', 0644 },
	[RECORD_LINK] = { '2', 0777 },
	[RECORD_FOLDER] = { '5', 0755 },
};

static int write_padded(int fd, const char *data, size_t size)
{
	static const char zeroes[BLOCK_BYTES];
	int r = fs_write_all(fd, data, size);

	return r < 0 ? r
		     : fs_write_all(fd, zeroes, (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES);
}

static int write_header(int fd, char type, unsigned mode, const char *path, const char *target,
			size_t size)
{
	struct header h = { .type = type,
			    .uid = "0000000",
			    .gid = "0000000",
			    .mtime = "00000000000",
			    .major = "0000000",
			    .minor = "0000000",
			    .magic = "ustar\00000",
			    .user = "root",
			    .group = "root" };
	const unsigned char *byte = (const unsigned char *)&h;
	unsigned sum = 0;

	if ((uint64_t)size >> 33) /* 11 octal digits */
		return -EFBIG;

	/* Names that fill their field have no NUL; longer ones are whole in the pax header. */
	memcpy(h.name, path, strnlen(path, sizeof(h.name)));
	memcpy(h.target, target, strnlen(target, sizeof(h.target)));
	PRINT(h.mode, "%07o", mode);
	PRINT(h.size, "%011zo", size);

	/* Summed up as if the sum itself were blanks. */
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += byte[i];
	snprintf(h.checksum, sizeof(h.checksum) - 1, "%06o", sum);

	return fs_write_all(fd, (const char *)&h, sizeof(h));
}

/* "LENGTH KEY=VALUE\n", where the length counts its own digits. */
static int append_record(char **records, size_t *size, const char *key, const char *value)
{
	const size_t rest = strlen(key) + strlen(value) + 3;
	size_t length = rest + 1;
	char *grown;

	while (length != rest + (size_t)snprintf(NULL, 0, "%zu", length))
		length++;

	grown = realloc(*records, *size + length + 1);
	if (!grown)
		return -ENOMEM;
	*records = grown;

	snprintf(grown + *size, length + 1, "%zu %s=%s\n", length, key, value);
	*size += length;
	return 0;
}

static int write_pax(int fd, const char *path, const char *target)
{
	_cleanup_(freep) char *records = NULL;
	size_t size = 0;
	int r = 0;

	if (strlen(path) > sizeof(((struct header *)0)->name))
		r = append_record(&records, &size, "path", path);
	if (r >= 0 && strlen(target) > sizeof(((struct header *)0)->target))
		r = append_record(&records, &size, "linkpath", target);
	if (r < 0 || size == 0)
		return r;

	r = write_header(fd, 'x', 0644, "pax-header", "", size);
	return r < 0 ? r : write_padded(fd, records, size);
}

int tar_add(int fd, enum record_kind kind, const char *path, const char *data, size_t size)
{
	const char *target = kind == RECORD_LINK ? data : "";
	int r;

	if (is_empty(path))
		return -EINVAL;
	if (kind != RECORD_FILE)
		size = 0;
	r = write_pax(fd, path, target);
	if (r >= 0)
		r = write_header(fd, kinds[kind].type, kinds[kind].mode, path, target, size);
	return r < 0 ? r : write_padded(fd, data, size);
}

int tar_end(int fd)
{
	static const char zeroes[2 * BLOCK_BYTES];

	return fs_write_all(fd, zeroes, sizeof(zeroes));
}

/* --- unpacking --- */

#if HAVE_LIBARCHIVE
#define MAX_ENTRIES 250000
#define MAX_BYTES   (1 << 30)
#define MAX_FILE    (16 << 20)

/* Without the functions for all formats and filters: some of those start programs. */
#define FUNCTIONS(f)                                                                               \
	f(read_new) f(read_free) f(read_open_filename) f(read_next_header) f(read_extract2)        \
		f(read_support_format_tar) f(read_support_filter_gzip)                             \
			f(read_support_filter_bzip2) f(read_support_filter_xz)                     \
				f(read_support_filter_zstd) f(write_disk_new)                      \
					f(write_disk_set_options) f(write_free) f(error_string)    \
						f(entry_filetype) f(entry_pathname) f(entry_size)  \
							f(entry_set_filetype) f(entry_set_perm)
#define AS_MEMBER(name) __typeof__(archive_##name) *name;
#define AS_LOOKUP(name) r = r < 0 || (x->name = dlsym(library, "archive_" #name)) ? r : -ELIBACC;

struct extraction {
	FUNCTIONS(AS_MEMBER)
	struct unpacked *u;
	struct archive *from, *to; /* owned */
	uint64_t n_entries, n_bytes;
	char common[PATH_MAX]; /* the longest path that all folders with "sys" begin with */
};

/* Is it @folder, or below it? */
static bool is_below(const char *path, const char *folder)
{
	const char *rest = after(path, folder);

	return rest && (!*rest || *rest == '/');
}

/* By the folders that sysfs alone has, and /proc/sys has not. */
static void note_root(struct extraction *x, const char *path)
{
	const char *rest = path + strlen(x->u->folder),
		   *sys = strstr(rest, "/sys/bus")
				  ?: strstr(rest, "/sys/class") ?: strstr(rest, "/sys/devices");
	char head[PATH_MAX];

	if (!sys)
		return;
	PRINT(head, "%.*s", (int)(sys - path), path);
	if (!x->u->root[0] || strlen(head) < strlen(x->u->root))
		COPY(x->u->root, head);
	if (!x->common[0])
		COPY(x->common, head);
	while (!is_below(head, x->common))
		*strrchr(x->common, '/') = '\0';
}

static int extract(struct extraction *x, struct archive_entry *e)
{
	const char *name = x->entry_pathname(e);
	const unsigned type = x->entry_filetype(e);
	const int64_t size = x->entry_size(e);
	char path[PATH_MAX];

	x->n_bytes += (uint64_t)MAX(size, 0);
	if (++x->n_entries > MAX_ENTRIES || x->n_bytes > MAX_BYTES)
		return -EFBIG;
	if (name && size > MAX_FILE) {
		PRINT(path, "%s", name);
		make_printable(path);
		log_warning("%s is larger than 16 MiB and not unpacked", path);
	}
	if (!name || size > MAX_FILE)
		return 0;
	PRINT(path, "%.100s/%s", x->u->folder, name);
	note_root(x, path);
	x->entry_set_perm(e, type == AE_IFDIR ? 0700 : 0600);
	if (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		x->entry_set_filetype(e, AE_IFREG);
	/* A refused entry is a warning there. */
	return x->read_extract2(x->from, e, x->to) == ARCHIVE_OK ? 0 : -EINVAL;
}

static int extract_all(struct extraction *x, const char *file)
{
	struct archive_entry *e;
	const char *problem;
	int r = x->read_open_filename(x->from, file, 1 << 16) < ARCHIVE_WARN ? -EINVAL : 0;

	if (r >= 0 && chdir(x->u->folder) < 0)
		return -errno;
	while (r >= 0) {
		r = x->read_next_header(x->from, &e);
		if (r == ARCHIVE_EOF)
			break;
		r = r < ARCHIVE_WARN ? -EINVAL : extract(x, e);
	}
	if (r >= 0)
		r = !x->u->root[0] ? -ENOENT : streq(x->u->root, x->common) ? 0 : -EMLINK;
	problem = r == -ENOENT   ? "no folder in it has /sys/bus, /sys/class or /sys/devices"
		  : r == -EMLINK ? "more than one folder in it has \"sys\": unpack it, and take one"
				 : "more than 250,000 entries or 1 GiB";
	COPY(x->u->problem, problem);
	problem = x->error_string(x->from);
	if (r == -EINVAL)
		PRINT(x->u->problem, "neither a folder nor an archive that can be read (%s)",
		      problem ?: "");
	make_printable(x->u->problem);
	return r;
}

static int unpack_file(const char *file, struct unpacked *u)
{
	_cleanup_(closep) int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct extraction extraction = { .u = u }, *x = &extraction;
	void *library = dlopen("libarchive.so.13", RTLD_NOW);
	int r = library ? 0 : -ELIBACC;

	FUNCTIONS(AS_LOOKUP)
	COPY(u->problem, r < 0 ? "install libarchive13, libarchive13t64 or libarchive"
			       : "it cannot be unpacked");
	if (r < 0 || here < 0)
		return r < 0 ? r : -EBADF;
	x->from = x->read_new();
	x->to = x->write_disk_new();
	r = -ENOMEM;
	if (x->from && x->to) {
		x->read_support_filter_gzip(x->from);
		x->read_support_filter_bzip2(x->from);
		x->read_support_filter_xz(x->from);
		x->read_support_filter_zstd(x->from);
		x->read_support_format_tar(x->from);
		x->write_disk_set_options(x->to, ARCHIVE_EXTRACT_SECURE_NODOTDOT |
							 ARCHIVE_EXTRACT_SECURE_SYMLINKS |
							 ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS);
		r = extract_all(x, file);
	}
	x->write_free(x->to);
	x->read_free(x->from);
	return fchdir(here) < 0 ? -errno : r;
}
#else
static int unpack_file(const char *file _unused_, struct unpacked *u)
{
	COPY(u->problem, "this program was built without libarchive: unpack it yourself");
	return -ELIBACC;
}
#endif

int tar_unpack(const char *file, struct unpacked *ret)
{
	const char *above = getenv("TMPDIR");
	struct stat st;
	sigset_t all;

	*ret = (struct unpacked){};
	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return 1;
	PRINT(ret->folder, "%.80s/rdma-provision-XXXXXX",
	      above && *above == '/' ? above : "/var/tmp");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &ret->mask);
	if (mkdtemp(ret->folder))
		return unpack_file(file, ret);
	PRINT(ret->problem, "%.90s: %s", ret->folder, strerror(errno));
	return -EIO;
}

static int remove_one(const char *path, const struct stat *st _unused_, int type _unused_,
		      struct FTW *ftw _unused_)
{
	return remove(path);
}

void tar_remove(struct unpacked *u)
{
	if (!u->folder[0])
		return;
	nftw(u->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	sigprocmask(SIG_SETMASK, &u->mask, NULL);
}
