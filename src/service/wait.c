/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include "../model/paths.h"
#include "../show/state.h"

#include <poll.h>
#include <sys/inotify.h>

int wait_read_state(const struct fs *fs, enum node_state *ret)
{
	_cleanup_(freep) char *text = NULL;
	char boot_id[40];
	int r = fs_read(fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));

	if (r >= 0)
		r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, NULL);
	if (r >= 0)
		r = output_read_state(text, boot_id, ret);
	return r == -EINVAL ? -ENOENT : r;
}

#define FOLDER        "/" RUN_FOLDER
#define FOLDER_EVENTS (IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF)

int wait_open(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int wait_watch(int inotify)
{
	if (inotify_add_watch(inotify, FOLDER, FOLDER_EVENTS) >= 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	if (inotify_add_watch(inotify, "/run", IN_CREATE | IN_ONLYDIR) < 0)
		return -errno;
	/* The folder may have been made between the two. */
	if (inotify_add_watch(inotify, FOLDER, FOLDER_EVENTS) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int wait_drain(int inotify)
{
	char buf[4096];

	while (read(inotify, buf, sizeof(buf)) > 0)
		;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

int wait_event(int inotify, const struct wait *w, uint64_t until, uint64_t *tick)
{
	struct pollfd p[] = { { .fd = inotify, .events = POLLIN },
			      { .fd = w->fd ? *w->fd : -EBADF, .events = POLLIN } };
	const uint64_t now = now_usec(), next = w->on_tick ? MIN(until, *tick) : until;
	int r;

	if (until <= now)
		return -ETIMEDOUT;
	if (w->on_tick && *tick <= now) {
		w->on_tick(w->userdata);
		*tick = now + WAIT_TICK_USEC;
		return 0;
	}
	r = poll(p, ELEMENTSOF(p),
		 next == UINT64_MAX
			 ? -1
			 : (int)MIN((next - now) / USEC_PER_MSEC + 1, UINT64_C(3600000)));
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return p[0].revents ? wait_drain(inotify) : 0;
}

int wait_state(const struct fs *fs, const struct wait *w, enum node_state *ret)
{
	_cleanup_(closep) int inotify = wait_open();
	uint64_t now = now_usec(), tick = now + WAIT_TICK_USEC;
	uint64_t until = w->timeout_usec > UINT64_MAX - now ? UINT64_MAX : now + w->timeout_usec;
	int r;

	if (inotify < 0)
		return inotify;

	for (;;) {
		enum wait_for what;

		/* Watch first, look then: a change in between wakes us. */
		r = wait_watch(inotify);
		if (r < 0)
			return r;
		what = w->what ? w->what(w->userdata) : WAIT_ANY;
		if (what == WAIT_NOTHING)
			return -ESRCH;
		r = wait_read_state(fs, ret);
		if (r >= 0 && what == WAIT_ANY &&
		    (*ret == NODE_READY || (*ret != NODE_STARTING && !w->until_ready)))
			return 0;
		r = wait_event(inotify, w, until, &tick);
		if (r < 0)
			return r;
	}
}
