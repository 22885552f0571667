/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs-ask.h"

#include "program-path.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_WORDS      3 /* beside the names */
#define LINE_MAX_LEN 64

/* Return: its standard output, or -errno. */
static int start(const char *const *words, pid_t *ret)
{
	_cleanup_(closep) int in = -EBADF, out = -EBADF;
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	out = fds[1];
	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret, program_path("-verbs", VERBS_PROGRAM, path), &actions, NULL,
				(char **)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r != 0 ? -r : TAKE_FD(in);
}

/* All that it says, and its end. Return: 0 or -errno; what it did not say is not in @ret. */
static int run(const char *const *words, char *ret, size_t size)
{
	_cleanup_(closep) int fd = -EBADF;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	*ret = '\0';
	fd = start(words, &pid);
	if (fd < 0)
		return fd;
	while (used + 1 < size) {
		n = read(fd, ret + used, size - 1 - used);
		if (n == 0)
			break;
		if (n > 0)
			used += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	ret[used] = '\0';
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Takes one line, "RESULT REST", from @text. Return: RESULT; -EIO: the program died before it. */
static int take_line(char **text, char **ret_rest)
{
	char *line = strsep(text, "\n"), *end;
	long result;

	*ret_rest = NULL;
	if (!line || !*text)
		return -EIO;
	result = strtol(line, &end, 10);
	if (end == line || result > 0 || result < -4095 || *end != ' ')
		return -EIO;
	*ret_rest = end + 1;
	return (int)result;
}

void verbs_try(const char (*ibdevs)[IBDEV_LEN], size_t n, struct verbs_answer *ret)
{
	_cleanup_(freep) const char **words = calloc(n + N_WORDS, sizeof(*words));
	_cleanup_(freep) char *said = calloc(n + 1, LINE_MAX_LEN);
	char *rest = said, *mtu;
	int r = -ENOMEM;

	if (words && said) {
		words[0] = "rdma-provision-verbs";
		words[1] = "try";
		for (size_t i = 0; i < n; i++)
			words[i + 2] = ibdevs[i];
		r = run(words, said, (n + 1) * LINE_MAX_LEN);
	}
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct verbs_answer){ .result = r };
		if (r < 0)
			continue;
		ret[i].result = take_line(&rest, &mtu);
		ret[i].active_mtu = mtu ? (uint32_t)strtoul(mtu, NULL, 10) : 0;
	}
}

int verbs_ping(const char *ibdev, uint8_t port, int gid_index, char *ret_step, size_t size)
{
	char number[8], index[16], said[256], *rest = said, *step;
	const char *words[] = { "rdma-provision-verbs", "ping", ibdev, number, index, NULL };
	int r;

	snprintf(number, sizeof(number), "%u", port);
	snprintf(index, sizeof(index), "%d", gid_index);
	r = run(words, said, sizeof(said));
	if (r < 0) {
		copy(ret_step, size, VERBS_PROGRAM);
		return r;
	}
	r = take_line(&rest, &step);
	copy(ret_step, size, step ? step : VERBS_PROGRAM);
	return r;
}
