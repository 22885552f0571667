/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait: until the state file says ready or degraded, by inotify, without asking the service.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/* The state that state.json tells of this boot. Return: 0, -ENOENT: there is none, or -errno. */
int wait_read_state(const struct fs *fs, enum node_state *ret);

#define WAIT_TICK_USEC (10 * USEC_PER_SEC)

enum wait_for {
	WAIT_NOTHING, /* what a service that has ended left says nothing of the node as it is now */
	WAIT_NEXT,    /* that which is there is of before */
	WAIT_ANY
};

struct wait {
	uint64_t timeout_usec; /* UINT64_MAX: for ever */
	bool until_ready;      /* a degraded node is waited for as well */
	/* Asked before each look what there is to wait for. NULL: WAIT_ANY. A state that cannot be
	 * read is waited for as well. */
	enum wait_for (*what)(void *userdata);
	void (*on_tick)(void *userdata); /* each WAIT_TICK_USEC; NULL: never */
	const int *fd; /* one that wakes it as well, or a negative number; NULL: none */
	void *userdata;
};

/* Return: 0, -ETIMEDOUT, -ESRCH when no other state may come, or -errno. */
int wait_state(const struct fs *fs, const struct wait *w, enum node_state *ret);

/*
 * Waits for @inotify and drains it, for the other descriptor of @w, or until @until_usec. @tick:
 * when on_tick() is called next; NULL where there is none. Return: 0, -ETIMEDOUT or -errno.
 */
int wait_event(int inotify, const struct wait *w, uint64_t until_usec, uint64_t *tick);

/*
 * For a caller that waits for more than the state: an inotify descriptor that does not block, which
 * becomes readable when a file in the folder of the state file was replaced or removed, or when the
 * folder itself comes or goes. wait_watch() is called before each look, so that no change falls
 * between; wait_drain() takes what has come. Reading the folder is all that it needs: no privilege.
 * Return: fd, or 0, or -errno.
 */
int wait_open(void);
int wait_watch(int inotify);
int wait_drain(int inotify);
