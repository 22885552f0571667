/* SPDX-License-Identifier: Apache-2.0 */
#include "apply-request.h"

#include "../model/paths.h"
#include "wait.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* on each architecture, since Linux 5.3 */
#endif

int apply_request_listen(const struct fs *fs)
{
	_cleanup_(closep) int fd = fs_open_lock(fs, REQUEST_PATH);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETLK, &lock) < 0)
		return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

uint64_t apply_request_take(int fd)
{
	uint64_t number;

	return pread(fd, &number, sizeof(number), 0) == sizeof(number) ? number : 0;
}

int apply_request_answer(const struct fs *fs, uint64_t number, int exit_code)
{
	char text[48];
	int r;

	PRINT(text, "%" PRIu64 " %d\n", number, exit_code);
	r = fs_replace(fs, ANSWER_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}

static int find_service(int fd, pid_t *ret)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &lock) < 0)
		return -errno;
	*ret = lock.l_pid;
	return lock.l_type != F_UNLCK;
}

int apply_request_find(const struct fs *fs, struct apply_request *ret)
{
	_cleanup_(closep) int fd = fs_open(fs, REQUEST_PATH, O_RDONLY);

	if (fd == -ENOENT)
		return 0;
	return fd < 0 ? fd : find_service(fd, &ret->service);
}

/* Two requests at a time get two numbers. Return: 0 or -errno. */
static int add_request(int fd, uint64_t *ret)
{
	uint64_t number;
	ssize_t n;
	int r = fs_wait_for_lock(fd, FS_LOCK_USEC);

	if (r < 0)
		return r;
	number = apply_request_take(fd) + 1;
	n = pwrite(fd, &number, sizeof(number), 0);
	if (n != sizeof(number))
		return n < 0 ? -errno : -ENOSPC;
	*ret = number;
	return 0;
}

/* Finds the service and at once sends the signal: the kernel gives the number of a process that has
 * ended to another one. A process of another PID namespace is 0 here. */
static int tell_service(int fd, int signal, pid_t *ret)
{
	int r = find_service(fd, ret);

	if (r <= 0 || *ret <= 0)
		return r < 0 ? r : -ESRCH;
	return kill(*ret, signal) < 0 ? -errno : 0;
}

int apply_request_make(const struct fs *fs, struct apply_request *req)
{
	_cleanup_(closep) int fd = fs_open_lock(fs, REQUEST_PATH);
	int r = fd < 0 ? fd : add_request(fd, &req->number);

	return r < 0 ? r : tell_service(fd, SIGHUP, &req->service);
}

int apply_request_look(const struct fs *fs)
{
	_cleanup_(closep) int fd = fs_open_lock(fs, REQUEST_PATH);
	pid_t service;

	return fd < 0 ? fd : tell_service(fd, SIGUSR1, &service);
}

/* Return: an exit code, -EAGAIN: there is none yet, or -errno. */
static int read_answer(const struct fs *fs, uint64_t number)
{
	uint64_t answered;
	char text[48], *end;
	int r = fs_read(fs, ANSWER_PATH, text, sizeof(text));

	if (r < 0)
		return r == -ENOENT ? -EAGAIN : r;
	answered = strtoull(text, &end, 10);
	return answered < number ? -EAGAIN : (int)strtoul(end, NULL, 10);
}

static bool is_running(const struct fs *fs, const struct apply_request *req)
{
	struct apply_request now;

	return apply_request_find(fs, &now) > 0 && now.service == req->service;
}

/* An inotify descriptor that becomes readable when a file was replaced beside the answer, or
 * -errno. */
static int watch_answers(const struct fs *fs)
{
	_cleanup_(closep) int folder = fs_open(fs, RUN_FOLDER, O_PATH | O_DIRECTORY);
	_cleanup_(closep) int inotify = wait_open();

	if (folder < 0 || inotify < 0)
		return MIN(folder, inotify);
	if (inotify_add_watch(inotify, FS_PATH("/proc/self/fd/%d", folder), IN_MOVED_TO) < 0)
		return -errno;
	return TAKE_FD(inotify);
}

int apply_request_wait(const struct fs *fs, const struct apply_request *req, uint64_t timeout_usec)
{
	_cleanup_(closep) int inotify = watch_answers(fs);
	_cleanup_(closep) int process = (int)syscall(SYS_pidfd_open, req->service, 0);
	const struct wait w = { .fd = &process };
	const uint64_t until_usec = now_usec() + timeout_usec;
	int r = MIN(inotify, 0);

	while (r >= 0) {
		/* The service may answer and end between the two. */
		const bool is_there = is_running(fs, req);

		r = read_answer(fs, req->number);
		if (r != -EAGAIN)
			return r;
		r = is_there ? wait_event(inotify, &w, until_usec, NULL) : -ESRCH;
	}
	return r;
}
