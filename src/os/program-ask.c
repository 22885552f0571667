/* SPDX-License-Identifier: Apache-2.0 */
#include "program-ask.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#define ROOT_FD   3
#define MAX_BYTES ((size_t)256 << 20)

/* Return: its standard output, or -errno. */
static int start(const char *path, const char *const *words, int root, pid_t *ret)
{
	_cleanup_(closep) int in = -EBADF, out = -EBADF;
	posix_spawn_file_actions_t actions;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	out = fds[1];
	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0 && root >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, root, ROOT_FD);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, NULL, (char **)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r != 0 ? -r : TAKE_FD(in);
}

static int read_all(int fd, char **ret, size_t *ret_size)
{
	_cleanup_(freep) char *text = NULL;
	size_t used = 0, room = 0;
	ssize_t n = 1;

	while (n != 0) {
		if (used + 1 >= room) {
			char *grown;

			room = MAX(2 * room, 4096);
			grown = room > MAX_BYTES ? NULL : realloc(text, room);
			if (!grown)
				return room > MAX_BYTES ? -EFBIG : -ENOMEM;
			text = grown;
		}
		n = read(fd, text + used, room - used - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		used += (size_t)MAX(n, 0);
	}
	text[used] = '\0';
	*ret = TAKE(text);
	*ret_size = used;
	return 0;
}

int program_ask(const char *path, const char *const *words, int root, char **ret, size_t *ret_size)
{
	_cleanup_(closep) int fd = -EBADF;
	pid_t pid;
	int r;

	fd = start(path, words, root, &pid);
	if (fd < 0)
		return fd;
	r = read_all(fd, ret, ret_size);
	close(TAKE_FD(fd)); /* one that has more to say ends by it */
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return r;
}
