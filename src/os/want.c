/* SPDX-License-Identifier: Apache-2.0 */
#include "want.h"

#include "../model/paths.h"

#include <fcntl.h>
#include <sys/inotify.h>

static const struct {
	const char *path, *work; /* of the wish; the folder of its oneshot */
} wants[] = {
	[WANT_KUBELET] = { WANT_FOLDER "/kubelet", WORK_FOLDER "/kubelet" },
	[WANT_RULES] = { WANT_FOLDER "/rules", WORK_FOLDER "/reload" },
	[WANT_UNITS] = { WANT_FOLDER "/units", WORK_FOLDER "/reload" },
};
_Static_assert(ELEMENTSOF(wants) == _WANT_N, "a line for every wish");

int want_take(const struct fs *fs, enum want what)
{
	int r = fs_exists(fs, wants[what].path), k;

	if (r <= 0)
		return r;
	k = fs_output_remove(fs, wants[what].path);
	return k < 0 ? k : 1;
}

/* Watches a folder of this root, unless there is none. Return: 0 or -errno. */
static int watch(const struct fs *fs, int inotify, const char *path, uint32_t events)
{
	_cleanup_(closep) int fd = fs_open(fs, path, O_RDONLY | O_DIRECTORY);
	char link[32];

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	PRINT(link, "/proc/self/fd/%d", fd);
	return inotify_add_watch(inotify, link, events) < 0 ? -errno : 0;
}

int want_watch(const struct fs *fs)
{
	_cleanup_(closep) int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int r = inotify < 0 ? -errno : watch(fs, inotify, WANT_FOLDER, IN_CREATE | IN_MOVED_TO);

	return r < 0 ? r : TAKE_FD(inotify);
}

/* Removes the file and makes a new one: a file that is there already causes no event. */
static int put(const struct fs *fs, const char *path)
{
	int r = fs_remove(fs, path);

	if (r < 0)
		return r;
	/* The process that takes a wish removes the temporary file beside it, which may be this
	 * one: there is no other cause, since the folder is made. */
	do
		r = fs_create(fs, path, "", 0, 0644);
	while (r == -ENOENT);
	return r == -EEXIST ? 0 : MIN(r, 0); /* another process has the same wish */
}

/* Waits for an event, and takes all there are. Return: 0, -ETIMEDOUT, or -errno. */
static int wait_for(int inotify, uint64_t until)
{
	char events[4096];
	int r = fs_wait_readable(inotify, until);

	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	while (read(inotify, events, sizeof(events)) > 0)
		;
	return 0;
}

/* Looks at the wish and its oneshot; what changes after that is an event. Return: 0 or -errno. */
static int look(const struct fs *fs, int inotify, enum want what, bool *ret_is_there,
		bool *ret_is_working)
{
	int is_there, is_working, r = watch(fs, inotify, WANT_FOLDER, IN_DELETE);

	if (r >= 0)
		r = watch(fs, inotify, WORK_FOLDER, IN_DELETE);
	if (r < 0)
		return r;
	/* The folder of the oneshot comes before the wish goes, which is hence looked at first. */
	is_there = fs_exists(fs, wants[what].path);
	is_working = fs_exists(fs, wants[what].work);
	*ret_is_there = is_there > 0;
	*ret_is_working = is_working > 0;
	return MIN(0, MIN(is_there, is_working));
}

int want_make(const struct fs *fs, enum want what, uint64_t timeout_usec)
{
	_cleanup_(closep) int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const uint64_t until = now_usec() + timeout_usec;
	bool is_there = false, is_working = false, was_working;
	const int blind = inotify < 0 ? -errno : 0;
	int r = fs_exists(fs, "run/systemd/system");

	if (r <= 0)
		return r < 0 ? r : -EHOSTDOWN;
	if (blind < 0) { /* too many inotify instances: it is carried out all the same */
		r = put(fs, wants[what].path);
		return r < 0 ? r : blind;
	}
	r = look(fs, inotify, what, &is_there, &is_working);
	for (bool is_due = true; r >= 0; is_due = is_there && was_working && !is_working) {
		r = is_due ? put(fs, wants[what].path) : wait_for(inotify, until);
		was_working = is_working;
		if (r >= 0)
			r = look(fs, inotify, what, &is_there, &is_working);
		if (r >= 0 && !is_there && !is_working)
			return 0;
	}
	if (r != -ETIMEDOUT || !is_there || is_working)
		return r;
	/* A unit that cannot start would be started for it again and again. */
	r = fs_remove(fs, wants[what].path);
	return r < 0 ? r : -EHOSTDOWN;
}
