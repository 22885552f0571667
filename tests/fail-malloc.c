/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fail-malloc: with LD_PRELOAD and FAIL_MALLOC=N the N-th allocation of a program has no memory,
 * and no other. The program's children begin to count again with exec. FAIL_MALLOC=0: none fails. A
 * file COUNT_MALLOC gets the number of allocations when the program ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of glibc, which is what is below malloc(3) there; dlsym(3) would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_ulong n_calls;
static unsigned long failing;
static int is_counting;

/* What libraries do before main() is theirs. */
__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAIL_MALLOC");

	failing = text ? strtoul(text, NULL, 10) : 0;
	is_counting = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("COUNT_MALLOC");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%lu\n", (unsigned long)n_calls);
	close(fd);
}

static int is_failing(void)
{
	if (!is_counting || atomic_fetch_add(&n_calls, 1) + 1 != failing)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return is_failing() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_failing() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return is_failing() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}
