/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fail-open: with LD_PRELOAD, files below a --root that cannot be looked at. Each path that is
 * opened there, by openat2(2) through syscall(3), is a line of the file OPEN_LIST. A path
 * FAIL_OPEN cannot be opened, with the error number FAIL_ERRNO; with FAIL_READ it can, and its
 * bytes cannot be read.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static void note(const char *path)
{
	const char *list = getenv("OPEN_LIST");
	int fd = list ? open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%s\n", path);
	close(fd);
}

/* Return: a descriptor, -1 with errno, or -2 when this file is opened as it is. */
static long fail(const char *path, uint64_t flags)
{
	const char *failing = getenv("FAIL_OPEN"), *error = getenv("FAIL_ERRNO");

	if (!failing || strcmp(failing, path) != 0 || flags & O_CREAT)
		return -2;
	if (error) {
		errno = atoi(error);
		return -1;
	}
	/* Nothing is mapped at address 0: a regular file whose first read(2) gives EIO. */
	return flags & (O_PATH | O_DIRECTORY) ? -2 : open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	long a[6], r = -2;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);

	if (number == SYS_openat2) {
		note((const char *)a[1]);
		r = fail((const char *)a[1], *(const uint64_t *)a[2]);
	}
	if (r != -2)
		return r;
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
