/* SPDX-License-Identifier: Apache-2.0 */
#include "stamps.h"

#include "../base/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TICK_NSEC INT64_C(10000000) /* of CONFIG_HZ=100, the longest one */

void stamps_done(struct stamps *s)
{
	free(s->items);
	*s = (struct stamps){};
}

static uint64_t add(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t add_file(uint64_t hash, const struct stat *st, struct timespec *newest)
{
	const uint64_t numbers[] = {
		st->st_dev,
		st->st_ino,
		(uint64_t)st->st_size,
		st->st_mode,
		st->st_uid,
		(uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec,
		(uint64_t)st->st_ctim.tv_sec,
		(uint64_t)st->st_ctim.tv_nsec,
	};

	if (st->st_ctim.tv_sec > newest->tv_sec ||
	    (st->st_ctim.tv_sec == newest->tv_sec && st->st_ctim.tv_nsec > newest->tv_nsec))
		*newest = st->st_ctim;
	return add(hash, numbers, sizeof(numbers));
}

/* Of what the kernel makes as it is read. */
static uint64_t add_content(uint64_t hash, const struct fs *fs, const char *path)
{
	_cleanup_(closep) int fd = -EBADF;
	char buf[4096];
	ssize_t n;

	fd = openat(fs->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return add(hash, &errno, sizeof(errno));
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		hash = add(hash, buf, (size_t)n);
	return n < 0 ? add(hash, &errno, sizeof(errno)) : hash;
}

/* @newest: of the changes that it goes by; left alone where it goes by others. */
static int64_t make(const struct fs *fs, const char *path, struct timespec *newest)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct stat st;

	if (is_prefix(path, "proc/") || is_prefix(path, "sys/"))
		return (int64_t)(add_content(hash, fs, path) & INT64_MAX);
	if (fstatat(fs->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	hash = add_file(hash, &st, newest);
	if (S_ISLNK(st.st_mode)) {
		if (fstatat(fs->root, path, &st, 0) < 0)
			hash = add(hash, &errno, sizeof(errno));
		else
			hash = add_file(hash, &st, newest);
	}
	return (int64_t)(hash & INT64_MAX);
}

static bool is_of_this_moment(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - t->tv_sec) * INT64_C(1000000000) + now.tv_nsec - t->tv_nsec <
	       TICK_NSEC;
}

void stamps_note(struct stamps *s, const struct fs *fs, const char *path)
{
	struct timespec newest = {};
	struct stamp *stamp;

	for (size_t i = 0; i < s->n_items; i++)
		if (streq(s->items[i].path, path))
			return;
	stamp = APPEND(s->items, s->n_items);
	if (!stamp || !COPY(stamp->path, path) || strchr(path, '\n')) {
		s->is_useless = true;
		return;
	}
	stamp->value = make(fs, path, &newest);
	s->is_useless |= is_of_this_moment(&newest);
}

int stamps_print(const struct stamps *s, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	int r;

	r = stream_open(&out);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n_items; i++)
		fprintf(out.f, "%" PRId64 " %s\n", s->items[i].value, s->items[i].path);
	return stream_take(&out, ret);
}

/* One line, which goes on from *text to the next one. */
static bool take_line(const char **text, struct stamp *ret)
{
	const char *line = *text, *end = line + strcspn(line, "\n");
	char *path;

	ret->value = strtoll(line, &path, 10);
	if (*path != ' ' || *end != '\n' || (size_t)(end - path) > sizeof(ret->path))
		return false;
	snprintf(ret->path, sizeof(ret->path), "%.*s", (int)(end - path - 1), path + 1);
	*text = end + 1;
	return true;
}

int stamps_parse(const char *text, struct stamps *ret)
{
	while (*text) {
		struct stamp *s = APPEND(ret->items, ret->n_items);

		if (!s || !take_line(&text, s))
			return s ? -EINVAL : -ENOMEM;
	}
	return 0;
}

static bool is_same(const struct stamp *s, const struct fs *fs)
{
	struct timespec newest = {};

	if (make(fs, s->path, &newest) == s->value)
		return true;
	log_debug("/%s is not what it was", s->path);
	return false;
}

bool stamps_hold(const char *text, const struct fs *fs)
{
	bool has_any = false;

	for (struct stamp s; *text; has_any = true)
		if (!take_line(&text, &s) || !is_same(&s, fs))
			return false;
	return has_any;
}

bool stamps_are_good(const struct stamps *s, const struct fs *fs)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (!is_same(&s->items[i], fs))
			return false;
	return s->n_items > 0 && !s->is_useless;
}
