/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include "fs.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct child_answer {
	int result;
	char error[CHILD_ERROR_LEN];
};

_Noreturn static void run_child(const struct child *c, pid_t parent, int fd)
{
	struct child_answer answer;
	sigset_t none;
	size_t i;

	/* The service blocks the signals it reads from a descriptor; this process has to die of
	 * them. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);

	/* A message is whole or not at all; none comes any more when the other end is closed. */
	while (recv(fd, &i, sizeof(i), 0) == sizeof(i)) {
		answer = (struct child_answer){};
		answer.result = c->call(c->userdata, i, answer.error);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			_exit(EXIT_FAILURE);
	}
	_exit(EXIT_SUCCESS);
}

static int start(struct child *c)
{
	_cleanup_(closep) int ours = -EBADF, theirs = -EBADF;
	const pid_t parent = getpid();
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	ours = fds[0];
	theirs = fds[1];

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(TAKE_FD(ours));
		run_child(c, parent, theirs);
	}
	c->pid = pid;
	c->fd = TAKE_FD(ours);
	return 0;
}

void child_done(struct child *c)
{
	if (c->pid == 0)
		return;
	shutdown(c->fd, SHUT_RDWR); /* a child that began later has inherited it */
	close(TAKE_FD(c->fd));
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* A process stuck in the kernel does not die: it is not waited for. */
void child_leave(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, WNOHANG);
	close(TAKE_FD(c->fd));
	c->pid = 0;
}

int child_begin(struct child *c, size_t i)
{
	int r = c->pid ? 0 : start(c);

	if (r < 0)
		return r;
	if (send(c->fd, &i, sizeof(i), MSG_NOSIGNAL) == sizeof(i))
		return 0;
	kill(c->pid, SIGKILL);
	child_done(c);
	return -EIO;
}

int child_end(struct child *c, uint64_t until_usec, char *ret_error, size_t size)
{
	struct child_answer answer = {};
	int r = fs_wait_readable(c->fd, until_usec);

	if (r == 0) {
		child_leave(c);
		return -ETIMEDOUT;
	}
	if (r > 0)
		r = recv(c->fd, &answer, sizeof(answer), 0) == sizeof(answer) ? 0 : -EIO;
	if (r < 0)
		kill(c->pid, SIGKILL);
	if (r < 0 || answer.result < 0)
		child_done(c);
	if (r < 0)
		return r;

	answer.error[sizeof(answer.error) - 1] = '\0';
	copy(ret_error, size, answer.error);
	return answer.result;
}

const char *program_path(const char *suffix, const char *installed, char path[static PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;
	size_t used;

	if (n <= 0)
		return installed;
	path[n] = '\0';
	slash = strrchr(path, '/');
	used = slash ? (size_t)(slash + 1 - path) : 0;
	if ((size_t)snprintf(path + used, PATH_MAX - used, "rdma-provision%s", suffix) >=
	    PATH_MAX - used)
		return installed;
	return access(path, X_OK) == 0 ? path : installed;
}
