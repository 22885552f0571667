/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"
#include "sim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>

#define FILES_MAX 256
#define FDS_MAX   64
#define FD_FIRST  800 /* numbers that no other descriptor of a test has */

/* Nobody declares what the linker makes of --wrap. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
int __real_close(int fd);

struct content {
	bool is_folder, is_synced;
	mode_t mode;
	ino_t number;
	char *data; /* owned */
	size_t size;
};

/* Of a name, what is there, and what is there after a power cut. Pointers: of disk.contents. */
static struct {
	struct entry {
		char path[160];
		uint32_t hash;
		struct content *now, *durable;
	} entries[FILES_MAX];
	size_t n_entries;
	struct content **contents; /* owned */
	size_t n_contents;
} disk;

static struct handle {
	bool is_open;
	char path[160];
	struct content *content;
	size_t at;
	struct dirent name; /* of readdir() */
} handles[FDS_MAX];

/* --- names --- */

static uint32_t hash_of(const char *path)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 16777619u;
	return hash;
}

static struct entry *find(const char *path)
{
	const uint32_t hash = hash_of(path);

	for (size_t i = 0; i < disk.n_entries; i++)
		if (disk.entries[i].hash == hash && streq(disk.entries[i].path, path))
			return &disk.entries[i];
	return NULL;
}

static struct content *content_at(const char *path)
{
	static struct content root = { .is_folder = true, .mode = S_IFDIR | 0755, .number = 1 };
	const struct entry *e = *path ? find(path) : NULL;

	return *path ? (e ? e->now : NULL) : &root;
}

static struct entry *entry_at(const char *path)
{
	struct entry *e = find(path);

	if (e)
		return e;
	if (disk.n_entries == FILES_MAX)
		abort();
	e = &disk.entries[disk.n_entries++];
	*e = (struct entry){ .hash = hash_of(path) };
	if (!COPY(e->path, path))
		abort();
	return e;
}

static bool is_in(const char *path, const char *folder)
{
	const char *rest = after(path, folder);

	if (rest && *folder)
		rest = *rest == '/' ? rest + 1 : NULL;
	return rest && !strchr(rest, '/');
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_folder(const char *path)
{
	const struct content *folder;
	char text[160];

	COPY(text, path);
	text[MAX(last_of(path) - path - 1, 0)] = '\0';
	folder = content_at(text);
	return folder && folder->is_folder;
}

static struct handle *handle_of(int fd)
{
	const bool is_one =
		fd >= FD_FIRST && fd < FD_FIRST + FDS_MAX && handles[fd - FD_FIRST].is_open;

	return is_one ? &handles[fd - FD_FIRST] : NULL;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* The whole path of one below an open folder. */
static int whole(int folder, const char *path, char ret[static 160])
{
	const struct handle *h = handle_of(folder);

	if (!h || *path == '/')
		return fail(EBADF);
	if (streq(path, ".") || !*path)
		strcpy(ret, h->path);
	else if (snprintf(ret, 160, "%s%s%s", h->path, h->path[0] ? "/" : "", path) >= 160)
		return fail(ENAMETOOLONG);
	return 0;
}

/* Only in some, so that the others stay what they were. */
bool is_life_with_cuts(void)
{
	return sim.seed % 8 == 7;
}

/* Before what changes a file of /var: after a power cut nothing does. */
static int may_change(const char *path)
{
	if (!sim.is_cut && is_life_with_cuts() && is_prefix(path, "var/") &&
	    sim_chance(sim.rates.kill)) {
		sim_trace("the power is cut, with /%s being written", path);
		sim.is_cut = sim.is_dead = true;
	}
	return sim.is_cut ? fail(EIO) : 0;
}

static struct content *make(const char *path, mode_t mode)
{
	struct content *c = sim_must(calloc(1, sizeof(*c)));

	*GROW(disk.contents, disk.n_contents) = c;
	c->number = disk.n_contents + 1;
	c->mode = mode;
	c->is_folder = S_ISDIR(mode);
	entry_at(path)->now = c;
	return c;
}

/* --- system calls --- */

/* Locks are those of a real file: all are of this process. */
static int make_descriptors(void)
{
	static bool is_made;
	int fd = is_made ? -EBADF : memfd_create("disk", MFD_CLOEXEC);

	if (is_made)
		return 0;
	for (int i = 0; i < FDS_MAX; i++)
		if (fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST + i) != FD_FIRST + i)
			return -1;
	is_made = true;
	return __real_close(fd);
}

static int open_at(const char *path, int flags)
{
	struct content *c = content_at(path);

	if (c && flags & O_CREAT && flags & O_EXCL)
		return fail(EEXIST);
	if (!c && (!(flags & O_CREAT) || !has_folder(path)))
		return fail(ENOENT);
	if (c && flags & O_DIRECTORY && !c->is_folder)
		return fail(ENOTDIR);
	if (c && c->is_folder && flags & (O_WRONLY | O_RDWR))
		return fail(EISDIR);
	if (make_descriptors() < 0 || (!c && may_change(path) < 0))
		return -1;
	for (int i = 0; i < FDS_MAX; i++) {
		struct handle *h = &handles[i];

		if (h->is_open)
			continue;
		h->is_open = true;
		h->content = c ? c : make(path, S_IFREG | 0600);
		h->at = 0;
		strcpy(h->path, path);
		return FD_FIRST + i;
	}
	return fail(EMFILE);
}

int disk_open(const char *path _unused_, int flags)
{
	return open_at("", flags);
}

int disk_openat(int folder, const char *path, int flags, ...)
{
	char text[160];

	return whole(folder, path, text) < 0 ? -1 : open_at(text, flags);
}

int __wrap_close(int fd)
{
	struct handle *h = handle_of(fd);

	if (!h)
		return __real_close(fd);
	h->is_open = false;
	return 0;
}

static int tell(const struct content *c, struct stat *ret)
{
	if (!c)
		return fail(ENOENT);
	*ret = (struct stat){ .st_mode = c->mode, .st_ino = c->number, .st_size = (off_t)c->size };
	return 0;
}

int disk_fstat(int fd, struct stat *ret)
{
	const struct handle *h = handle_of(fd);

	return h ? tell(h->content, ret) : fail(EBADF);
}

int disk_fstatat(int folder, const char *path, struct stat *ret, int flags _unused_)
{
	char text[160];

	return whole(folder, path, text) < 0 ? -1 : tell(content_at(text), ret);
}

ssize_t disk_read(int fd, void *buf, size_t size)
{
	struct handle *h = handle_of(fd);
	size_t n;

	if (!h)
		return fail(EBADF);
	n = MIN(size, h->content->size - h->at);
	if (n > 0)
		memcpy(buf, h->content->data + h->at, n);
	h->at += n;
	return (ssize_t)n;
}

ssize_t disk_write(int fd, const void *data, size_t size)
{
	struct handle *h = handle_of(fd);
	struct content *c = h ? h->content : NULL;

	if (!c)
		return fail(EBADF);
	if (may_change(h->path) < 0)
		return -1;
	c->data = sim_must(realloc(c->data, c->size + size + 1));
	memcpy(c->data + c->size, data, size);
	c->size += size;
	c->is_synced = false;
	return (ssize_t)size;
}

int disk_fchmod(int fd, mode_t mode)
{
	struct handle *h = handle_of(fd);

	if (!h)
		return fail(EBADF);
	h->content->mode = (h->content->mode & S_IFMT) | mode;
	return 0;
}

int __wrap_fsync(int fd)
{
	struct handle *h = handle_of(fd);

	if (!h)
		return fail(EBADF);
	if (may_change(h->path) < 0)
		return -1;
	h->content->is_synced = true;
	for (size_t i = 0; i < disk.n_entries && h->content->is_folder; i++)
		if (is_in(disk.entries[i].path, h->path))
			disk.entries[i].durable = disk.entries[i].now;
	return 0;
}

int disk_mkdirat(int folder, const char *path, mode_t mode)
{
	char text[160];

	if (whole(folder, path, text) < 0)
		return -1;
	if (content_at(text))
		return fail(EEXIST);
	if (may_change(text) < 0)
		return -1;
	make(text, S_IFDIR | mode);
	return 0;
}

int disk_unlinkat(int folder, const char *path, int flags _unused_)
{
	char text[160];

	if (whole(folder, path, text) < 0)
		return -1;
	if (!content_at(text))
		return fail(ENOENT);
	if (may_change(text) < 0)
		return -1;
	find(text)->now = NULL;
	return 0;
}

int disk_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	char text[160], other[160];
	struct content *c;

	if (whole(from_folder, from, text) < 0 || whole(to_folder, to, other) < 0)
		return -1;
	c = content_at(text);
	if (!c)
		return fail(ENOENT);
	if (may_change(other) < 0)
		return -1;
	find(text)->now = NULL;
	entry_at(other)->now = c;
	return 0;
}

/* There are no links. */
ssize_t disk_readlinkat(int folder, const char *path, char *buf _unused_, size_t size _unused_)
{
	char text[160];

	if (whole(folder, path, text) < 0)
		return -1;
	return fail(*path && content_at(text) ? EINVAL : ENOENT);
}

/* Its position is that of the descriptor. */
DIR *disk_fdopendir(int fd)
{
	return (DIR *)handle_of(fd);
}

struct dirent *disk_readdir(DIR *d)
{
	struct handle *h = (struct handle *)d;

	while (h->at < disk.n_entries) {
		const struct entry *e = &disk.entries[h->at++];

		if (!e->now || !is_in(e->path, h->path))
			continue;
		COPY(h->name.d_name, last_of(e->path));
		return &h->name;
	}
	return NULL;
}

int disk_closedir(DIR *d)
{
	((struct handle *)d)->is_open = false;
	return 0;
}

/* --- for the simulation --- */

void disk_begin(void)
{
	for (size_t i = 0; i < disk.n_contents; i++) {
		free(disk.contents[i]->data);
		free(disk.contents[i]);
	}
	disk.n_contents = disk.n_entries = 0;
	free(TAKE(disk.contents));
	for (size_t i = 0; i < FDS_MAX; i++)
		handles[i].is_open = false;
}

void disk_make_folder(const char *path)
{
	struct entry *e = entry_at(path);

	if (!e->now)
		e->durable = make(path, S_IFDIR | 0755);
}

void disk_put(const char *path, const char *text)
{
	struct content *c = make(path, S_IFREG | 0644);

	c->data = sim_must(strdup(text));
	c->size = strlen(text);
	c->is_synced = true;
	find(path)->durable = c;
}

/* What is on the disk of a file that nobody gave to fsync(2): all, its beginning or nothing. */
static void cut_short(struct content *c)
{
	if (!c || c->is_folder || c->is_synced)
		return;
	c->size = c->size * sim_random(3) / 2;
	c->is_synced = true;
}

/* A folder comes before what is in it: its entry is older. */
static void lose(struct entry *e)
{
	if (e->now != e->durable && sim_random(2) == 0) {
		sim_trace("/%s is as it was before", e->path);
		e->now = e->durable;
	}
	if (!has_folder(e->path))
		e->now = NULL;
	cut_short(e->now);
}

void disk_boot(bool is_cut)
{
	for (size_t i = 0; i < disk.n_entries; i++) {
		struct entry *e = &disk.entries[i];

		if (is_prefix(e->path, "run/"))
			e->now = e->durable = NULL;
		if (is_cut && is_life_with_cuts())
			lose(e);
		e->durable = e->now;
	}
}

const char *disk_left_open(void)
{
	for (size_t i = 0; i < FDS_MAX; i++)
		if (handles[i].is_open)
			return handles[i].path;
	return NULL;
}

const char *disk_next_file(size_t *i)
{
	while (*i < disk.n_entries) {
		const struct entry *e = &disk.entries[(*i)++];

		if (e->now && !e->now->is_folder)
			return e->path;
	}
	return NULL;
}
