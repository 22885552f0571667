/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Apply request: how "apply" has the running service read its files and make a pass, so that one
 * process alone changes the node, with one configuration.
 *
 *   apply    adds 1 to the number in REQUEST_PATH, and sends SIGHUP to the service
 *   service  takes the number, and then reads its files; once a pass that began later is over, it
 *            replaces ANSWER_PATH: the number, and the exit code of "apply"
 *   apply    waits, by inotify, for an answer to its number or to a later one
 *
 * The answer to a pass that began before the request has a smaller number. Signals that the kernel
 * merges lose nothing, because the number is in the file. The service has REQUEST_PATH
 * locked as long as it runs, with fcntl(2): F_GETLK tells its process, and the kernel releases the
 * lock when that ends. An "apply" that adds to the number has it locked with flock(2) meanwhile.
 */
#pragma once

#include "../os/fs.h"

#include <sys/types.h>

/*
 * The service: locks REQUEST_PATH. SIGHUP and SIGUSR1 have to be blocked by then. The process must
 * not open that file once more: closing any descriptor of it would release the lock. Return: fd;
 * -EBUSY: another service has it; or -errno.
 */
int apply_request_listen(const struct fs *fs);
/* The last number, 0 before the first one. @fd: of apply_request_listen(), or negative. */
uint64_t apply_request_take(int fd);
/* Return: 0 or -errno. */
int apply_request_answer(const struct fs *fs, uint64_t number, int exit_code);

struct apply_request {
	uint64_t number;
	pid_t service;
};

/* Return: 1, with the process alone; 0: no service runs; or -errno. */
int apply_request_find(const struct fs *fs, struct apply_request *ret);
/* Asks the service of apply_request_find(). Return: 0; -ESRCH: it is gone; or -errno. */
int apply_request_make(const struct fs *fs, struct apply_request *req);
/* For "clear": has the service look at the node, with the configuration that it has. Return: as
 * above. */
int apply_request_look(const struct fs *fs);
/* Return: the exit code of "apply"; -ETIMEDOUT; -ESRCH: the service ended without an answer; or
 * -errno. */
int apply_request_wait(const struct fs *fs, const struct apply_request *req, uint64_t timeout_usec);
