/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs-ask.h"

#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#define N_WORDS 3 /* beside the names */

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

/* A line "RESULT MTU". -EIO: the program died before it. */
static struct verbs_answer read_answer(FILE *f)
{
	char line[64], *end;
	long result;

	if (!fgets(line, sizeof(line), f) || !strchr(line, '\n'))
		return (struct verbs_answer){ .result = -EIO };
	result = strtol(line, &end, 10);
	if (end == line || result > 0 || result < -4095 || *end != ' ')
		return (struct verbs_answer){ .result = -EIO };
	return (struct verbs_answer){ (int)result, (uint32_t)strtoul(end + 1, NULL, 10) };
}

/* Return: 0, or -errno: it cannot be run. */
static int run(const char *const *words, size_t n, struct verbs_answer *ret)
{
	pid_t pid;
	FILE *f;
	_cleanup_(closep) int fd = start(words, &pid);

	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (f)
		TAKE_FD(fd);
	for (size_t i = 0; i < n; i++)
		ret[i] = f ? read_answer(f) : (struct verbs_answer){ .result = -ENOMEM };
	if (f)
		fclose(f); /* one that has more to say ends by it */
	else
		close(TAKE_FD(fd));
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void verbs_try(const char (*ibdevs)[IBDEV_LEN], size_t n, struct verbs_answer *ret)
{
	_cleanup_(freep) const char **words = calloc(n + N_WORDS, sizeof(*words));
	int r = -ENOMEM;

	if (words) {
		words[0] = "rdma-provision-verbs";
		words[1] = "try";
		for (size_t i = 0; i < n; i++)
			words[i + 2] = ibdevs[i];
		r = run(words, n, ret);
	}
	for (size_t i = 0; i < n && r < 0; i++)
		ret[i] = (struct verbs_answer){ .result = r };
}
