/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include "base/log.h"
#include "hand-over.h"
#include "os/program-path.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>

#define WORKER_PROGRAM "/usr/bin/rdma-provision"

int worker_open(void)
{
	char path[PATH_MAX];
	const char *program = program_path("", WORKER_PROGRAM, path);
	int fd = open(program, O_PATH | O_CLOEXEC);

	return fd < 0 ? log_error_errno(-errno, "%s", program) : fd;
}

/* When memory is short the kernel takes the pass, which is made again, and not the service. */
static void go_first(void)
{
	_cleanup_(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) < 0)
		log_debug_errno(-errno, "oom_score_adj");
}

/* Of what the service has open, the worker gets @given and what is named there. */
_Noreturn static void become_worker(int program, int given, const struct hand_over *h)
{
	struct worker_message m = { .kind = WORKER_ENDS };
	char number[16];
	const char *words[] = { "rdma-provision", "pass", number, NULL };
	sigset_t none;

	go_first();
	snprintf(number, sizeof(number), "%d", given);
	/* The service blocks the signals that it reads from a descriptor. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fcntl(given, F_SETFD, 0);
	fcntl(h->pipe, F_SETFD, 0);
	if (h->gate >= 0)
		fcntl(h->gate, F_SETFD, 0);
	fexecve(program, (char **)words, environ);

	m.error = -errno;
	_exit(write(h->pipe, &m, sizeof(m)) == sizeof(m) ? EXIT_SUCCESS : EXIT_FAILURE);
}

int worker_start(int program, const struct pass *pass, bool is_held, struct worker *ret)
{
	_cleanup_(closep) int from = -EBADF, to = -EBADF, gate = -EBADF, given = -EBADF;
	struct hand_over h = { .parent = getpid(), .level = log_level(), .pass = *pass };
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	from = fds[0];
	to = fds[1];
	if (fcntl(from, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (is_held) {
		gate = eventfd(0, EFD_CLOEXEC);
		if (gate < 0)
			return -errno;
	}
	h.pipe = to;
	h.gate = gate;
	given = hand_over_write(&h);
	if (given < 0)
		return given;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_worker(program, given, &h);

	ret->pid = pid;
	ret->pipe = TAKE_FD(from);
	ret->gate = TAKE_FD(gate);
	return 0;
}

int worker_release(struct worker *w)
{
	_cleanup_(closep) int gate = TAKE_FD(w->gate);

	return eventfd_write(gate, 1) < 0 ? -errno : 0;
}

void worker_done(struct worker *w)
{
	close(TAKE_FD(w->pipe));
	if (w->gate >= 0)
		close(TAKE_FD(w->gate));
	w->pid = 0;
}

uint64_t worker_limit(const struct worker_message *m, uint64_t now_usec, uint64_t limit_usec)
{
	const uint64_t usec = now_usec + m->deadline_usec + WORKER_MARGIN_USEC;

	return m->kind == WORKER_LOCKS ? usec : MAX(limit_usec, usec);
}

int worker_read(struct worker *w, struct worker_message *ret)
{
	ssize_t n = read(w->pipe, ret, sizeof(*ret));

	if (n == (ssize_t)sizeof(*ret)) {
		ret->text[sizeof(ret->text) - 1] = '\0';
		return 1;
	}
	if (n == 0)
		return -EPIPE;
	if (n > 0)
		return -EIO;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}
