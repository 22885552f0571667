/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main FOLDER...: gives a fuzz target each file of these folders once, without libFuzzer, and as
 * tests/fuzz/run with a limit of time for each, and of memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fuzz.h"

#define MAX_SECONDS 20
#define MAX_MEMORY  ((rlim_t)1 << 30)

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
/* It reserves terabytes of addresses, and has a limit of its own. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "hard_rss_limit_mb=1024:max_allocation_size_mb=256";
}
#endif

static void limit_memory(void)
{
#ifndef HAS_ASAN
	const struct rlimit limit = { MAX_MEMORY, MAX_MEMORY };

	require(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
}

static int is_shown(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void try_file(const char *folder, const char *name)
{
	_cleanup_(freep) char *path = NULL, *data = NULL;
	_cleanup_(closep) int fd = -EBADF;
	struct stat st;

	require(asprintf(&path, "%s/%s", folder, name) > 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0 && fstat(fd, &st) == 0);
	data = malloc((size_t)st.st_size + 1);
	require(data && read(fd, data, (size_t)st.st_size) == st.st_size);

	/* Said before: who aborts has no words. */
	fprintf(stderr, "%s\n", path);
	/* A block of its own size, so that a sanitizer sees each byte that is read behind it. */
	data = realloc(data, MAX((size_t)st.st_size, 1));
	require(data != NULL);
	alarm(MAX_SECONDS);
	LLVMFuzzerTestOneInput((const uint8_t *)data, (size_t)st.st_size);
	alarm(0);
	printf("ok - %s\n", path);
}

static size_t try_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_shown, alphasort);

	for (int i = 0; i < n; i++) {
		try_file(folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return n > 0 ? (size_t)n : 0;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	limit_memory();
	for (int i = 1; i < argc; i++)
		n += try_folder(argv[i]);
	if (n == 0)
		fprintf(stderr, "there is nothing to try\n");
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
