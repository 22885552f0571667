/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child: calls in a process of their own, each with a deadline; and where our other programs are.
 *
 * Calls one after the other share a process, since most take less than a fork. It announces when
 * the next one begins, so the parent knows at any instant which one that is. A call that fails,
 * hangs or dies is the last one of its process: what it left behind reaches no other call.
 */
#pragma once

#include "../base/util.h"

#include <limits.h>

#define CHILD_ERROR_LEN 192

struct child {
	/* @i: which call; @error: room for CHILD_ERROR_LEN bytes of words, empty. 0 or -errno. */
	int (*call)(void *userdata, size_t i, char *error);
	void *userdata; /* the process has a copy, of the moment it began */

	pid_t pid; /* 0: there is none */
	int fd;    /* owned; only while there is one */
};

/*
 * Begins call @i in the child process, a new one if there is none; not more than one at a time. The
 * child dies with its parent (PR_SET_PDEATHSIG); a write that the kernel has begun it still ends.
 * Return: 0, -EIO or -errno of fork().
 */
int child_begin(struct child *c, size_t i);

/*
 * Waits for it, until the child is killed. @ret_error: its words, empty when it had none. Return:
 * what the call returned, -ETIMEDOUT, or -EIO when the child died.
 */
int child_end(struct child *c, uint64_t until_usec, char *ret_error, size_t size);

/* Kills the process and does not wait for its end: its call may be stuck in the kernel. */
void child_leave(struct child *c);
/* Ends the process, which is between two calls. */
void child_done(struct child *c);

/*
 * Where another program of this package is: "rdma-provision" + @suffix in the folder of this
 * program, as in a build, where that can be executed; else @installed. @path: room for the answer.
 */
const char *program_path(const char *suffix, const char *installed, char path[static PATH_MAX]);
