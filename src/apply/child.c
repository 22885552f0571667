/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct answer {
	int result;
	char error[CHILD_ERROR_LEN];
};

_Noreturn static void run_child(pid_t parent, int fd, int (*call)(void *userdata, char *error),
				void *userdata)
{
	struct answer answer = {};
	sigset_t none;

	/* The service blocks the signals it reads from a descriptor; this process has to die of
	 * them. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);

	answer.result = call(userdata, answer.error);
	/* Smaller than PIPE_BUF: whole or not at all. */
	_exit(write(fd, &answer, sizeof(answer)) == sizeof(answer) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Return: 1 when something is there or the child is gone, 0 at the deadline, or -errno. */
static int wait_readable(int fd, uint64_t until)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = now_usec();
		int r;

		if (now >= until)
			return 0;
		r = poll(&p, 1, (int)MIN((until - now) / USEC_PER_MSEC + 1, UINT64_C(3600000)));
		if (r > 0)
			return 1;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

int child_call(int (*call)(void *userdata, char *error), void *userdata, uint64_t deadline_usec,
	       char *ret_error, size_t size)
{
	_cleanup_(closep) int from = -EBADF, to = -EBADF;
	const pid_t parent = getpid();
	struct answer answer = {};
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	from = fds[0];
	to = fds[1];

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		run_child(parent, to, call, userdata);
	close(TAKE_FD(to));

	r = wait_readable(from, now_usec() + deadline_usec);
	if (r == 0) {
		kill(pid, SIGKILL);
		/* A process stuck in the kernel does not die: it is not waited for. */
		waitpid(pid, NULL, WNOHANG);
		return -ETIMEDOUT;
	}
	if (r > 0)
		r = read(from, &answer, sizeof(answer)) == sizeof(answer) ? 0 : -EIO;
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;

	answer.error[sizeof(answer.error) - 1] = '\0';
	copy(ret_error, size, answer.error);
	return answer.result;
}
