/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main FOLDER...: gives a fuzz target each file of these folders once, without libFuzzer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"

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
	LLVMFuzzerTestOneInput((const uint8_t *)data, (size_t)st.st_size);
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

	for (int i = 1; i < argc; i++)
		n += try_folder(argv[i]);
	if (n == 0)
		fprintf(stderr, "there is nothing to try\n");
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
