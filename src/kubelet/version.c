/* SPDX-License-Identifier: Apache-2.0 */
#include "version.h"

#include "../base/log.h"
#include "../model/paths.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RUN_USEC (3 * USEC_PER_SEC) /* kubelet-ensure has 5 s for all it does */

uint32_t version_parse(const char *output, char *ret_text, size_t size)
{
	unsigned long major, minor;
	const char *at = output;
	char *end;
	size_t n;

	*ret_text = '\0';
	while (*at && (*at != 'v' || !isdigit((unsigned char)at[1])))
		at++;
	if (!*at)
		return 0;

	major = strtoul(at + 1, &end, 10);
	if (*end != '.' || !isdigit((unsigned char)end[1]))
		return 0;
	minor = strtoul(end + 1, NULL, 10);
	n = strcspn(at, " \t\r\n");
	if (n < size) {
		memcpy(ret_text, at, n);
		ret_text[n] = '\0';
	}
	/* "v0.0.0-master+$Format:%H$" is what a build without its history says. */
	return major == 1 && minor < 1000 ? (uint32_t)minor : 0;
}

/* Is the version remembered? On the running system only while the file is the same, by @key. */
static bool is_remembered(const struct fs *fs, const char *binary, const char *key,
			  struct version *ret)
{
	char line[400];
	const char *rest;

	if (fs_read(fs, KUBELET_VERSION_PATH, line, sizeof(line)) < 0)
		return false;
	rest = after(line, fs->is_live ? key : binary);
	if (!rest)
		return false;
	ret->minor = version_parse(rest, ret->text, sizeof(ret->text));
	return true;
}

int version_observe(const struct fs *fs, const char *binary, bool may_run, struct version *ret)
{
	_cleanup_(closep) int fd = -EBADF;
	char key[320] = "", output[512];
	struct version v = {};
	struct stat st;
	int r;

	*ret = v;
	if (!*binary)
		return 0;
	if (fs->is_live) {
		fd = fs_open(fs, fs_bare(binary), O_PATH);
		if (fd < 0 || fstat(fd, &st) < 0)
			return 0;
		PRINT(key, "%s %llu %lld.%09ld ", binary, (unsigned long long)st.st_ino,
		      (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
	if (is_remembered(fs, binary, key, ret) || !may_run || !fs->is_live)
		return 0;

	r = program_output(binary, "--version", RUN_USEC, output, sizeof(output));
	if (r < 0)
		log_warning_errno(r, "%s --version", binary);
	else
		v.minor = version_parse(output, v.text, sizeof(v.text));
	/* A failure is remembered too: a program that hangs would delay every start. */
	PRINT(v.line, "%s%s\n", key, v.text);
	*ret = v;
	return 0;
}

/* Gives the program the pipe twice: it stays open where the program closes its output. */
static void run(const char *path, const char *argument, int out)
{
	char *const argv[] = { (char *)path, (char *)argument, NULL };
	char *const environment[] = { (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
				      (char *)"HOME=/", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rlimit limit;

	setpgid(0, 0);
	if (getrlimit(RLIMIT_DATA, &limit) >= 0) {
		limit.rlim_cur =
			limit.rlim_max; /* what our own process took is not the program's */
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(null, STDERR_FILENO) >= 0 && dup(out) >= 0)
		execve(path, argv, environment);
	_exit(127);
}

static int left_msec(uint64_t deadline)
{
	const uint64_t now = now_usec();

	return now >= deadline ? 0 : (int)((deadline - now + USEC_PER_MSEC - 1) / USEC_PER_MSEC);
}

/* Reads until nobody has the other end of @in. Bytes that do not fit in @ret are dropped. */
static int read_output(int in, uint64_t deadline, char *ret, size_t size)
{
	struct pollfd fd = { .fd = in, .events = POLLIN };
	ssize_t got = -1;
	size_t n = 0;

	while (got != 0) {
		char buf[512];
		int r = poll(&fd, 1, left_msec(deadline));

		if (r == 0)
			return -ETIMEDOUT;
		got = r < 0 ? r : read(in, buf, sizeof(buf));
		if (got < 0 && errno != EINTR)
			return -errno;
		for (ssize_t i = 0; i < got && n < size - 1; i++)
			ret[n++] = buf[i];
		ret[n] = '\0';
	}
	return 0;
}

int program_output(const char *path, const char *argument, uint64_t timeout_usec, char *ret,
		   size_t size)
{
	const uint64_t deadline = now_usec() + timeout_usec;
	_cleanup_(closep) int in = -EBADF, out = -EBADF;
	int ends[2], status = 0, r;
	pid_t pid;

	*ret = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	out = ends[1];

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		run(path, argument, out);
	setpgid(pid, pid); /* both processes call it: either may be first */
	close(TAKE_FD(out));

	r = read_output(in, deadline, ret, size);
	if (r < 0) {
		kill(-pid, SIGKILL);
		return r;
	}
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}
