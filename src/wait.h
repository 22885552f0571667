/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait: until the state file says ready or degraded, by inotify, without asking the service.
 */
#pragma once

#include "doors/fs.h"
#include "model/node.h"

/* The state that state.json tells of this boot. Return: 0, -ENOENT when there is none, or -errno.
 */
int wait_read_state(const struct fs *fs, enum node_state *ret);

/*
 * @timeout_usec: UINT64_MAX waits for ever.
 * @may_come:     asked before each wait whether another state than starting is still to be
 * expected; then a state that cannot be read is waited for as well. NULL: it always is Return: 0,
 * -ETIMEDOUT, -ESRCH when none may come, or -errno.
 */
int wait_state(const struct fs *fs, uint64_t timeout_usec, bool (*may_come)(bool has_state),
	       enum node_state *ret);

/*
 * The same for whoever waits for more than that: an inotify descriptor that does not block, which
 * becomes readable when a file in the folder of the state file was replaced or removed, or when the
 * folder itself comes or goes. wait_watch() is called before each look, so that no change falls
 * between; wait_drain() takes what has come. Reading the folder is all that it needs: no privilege.
 * Return: fd, or 0, or -errno.
 */
int wait_open(void);
int wait_watch(int inotify);
int wait_drain(int inotify);
