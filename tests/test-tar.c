/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/os/tar.h"

#include "skip.h"
#include "tree.h"

#define LONG_50  "0123456789012345678901234567890123456789012345678"
#define LONG_99  "a" LONG_50 LONG_50
#define LONG_100 "ab" LONG_50 LONG_50
#define LONG_101 "abc" LONG_50 LONG_50
#define LONG_245 LONG_50 LONG_50 LONG_50 LONG_50 LONG_50
#define LONG_980 LONG_245 LONG_245 LONG_245 LONG_245
#define LONG_250 LONG_99 LONG_99 "/" LONG_50 "x"

static const struct {
	enum record_kind kind;
	const char *path, *data; /* of a link: its target */
	size_t size;
} entries[] = {
	{ RECORD_FOLDER, "sys", NULL, 0 },
	{ RECORD_FILE, "sys/empty", "", 0 },
	{ RECORD_FILE, "sys/vendor", "0x8086\n", 7 },
	{ RECORD_FILE, "sys/nul", "a\0b", 3 },
	{ RECORD_FILE, "sys/block", LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 "123456789012",
	  512 },
	{ RECORD_FILE, "sys/more", LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 "1234567890123",
	  513 },
	{ RECORD_LINK, "sys/driver", "../../bus/pci/drivers/igb", 0 },
	{ RECORD_LINK, "sys/to-100", LONG_100, 0 },
	{ RECORD_LINK, "sys/to-101", LONG_101, 0 },
	{ RECORD_LINK, "sys/to-985", LONG_980 "12345", 0 },  /* a record of 999 bytes */
	{ RECORD_LINK, "sys/to-986", LONG_980 "123456", 0 }, /* and of 1001 */
	{ RECORD_FILE, LONG_99, "99", 2 },
	{ RECORD_FILE, LONG_100, "100", 3 },
	{ RECORD_FILE, LONG_101, "101", 3 },
	{ RECORD_FILE, LONG_250, "250", 3 },
	{ RECORD_FOLDER, "d/" LONG_101, NULL, 0 },
	{ RECORD_LINK, "d/" LONG_101 "/link", LONG_250, 0 },
};

static char folder[] = "/tmp/test-tar-XXXXXX";

static void write_archive(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	for (size_t i = 0; i < ELEMENTSOF(entries); i++)
		assert_int_equal(tar_add(fd, entries[i].kind, entries[i].path, entries[i].data,
					 entries[i].size),
				 0);
	assert_int_equal(tar_end(fd), 0);
	close(fd);
}

static int run_tar(const char *verb, const char *archive, const char *into)
{
	const char *const argv[] = { "tar", "--same-permissions", verb, "-f", archive, "-C", into,
				     NULL };
	const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, "tar", NULL, NULL, (char *const *)argv,
			 (char *const *)environment) != 0)
		return -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

static void check_entry(int at, size_t i)
{
	char data[2048];
	struct stat st;
	ssize_t n;
	int fd;

	assert_int_equal(fstatat(at, entries[i].path, &st, AT_SYMLINK_NOFOLLOW), 0);
	if (entries[i].kind == RECORD_FOLDER) {
		assert_int_equal(st.st_mode, S_IFDIR | 0755);
		return;
	}
	if (entries[i].kind == RECORD_LINK) {
		n = readlinkat(at, entries[i].path, data, sizeof(data));
		assert_int_equal(n, strlen(entries[i].data));
		assert_memory_equal(data, entries[i].data, (size_t)n);
		return;
	}

	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(st.st_mtime, 0);
	fd = openat(at, entries[i].path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, data, sizeof(data));
	close(fd);
	assert_int_equal(n, entries[i].size);
	assert_memory_equal(data, entries[i].data, (size_t)n);
}

static void tar_takes_out_what_was_put_in(_unused_ void **state)
{
	char archive[64], into[64];
	int at, r;

	snprintf(archive, sizeof(archive), "%s/one.tar", folder);
	snprintf(into, sizeof(into), "%s/out", folder);
	write_archive(archive);
	assert_int_equal(mkdir(into, 0755), 0);
	r = run_tar("-x", archive, into);
	if (r < 0)
		skip_without("tar(1)");
	assert_int_equal(r, 0);

	at = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(at >= 0);
	for (size_t i = 0; i < ELEMENTSOF(entries); i++)
		check_entry(at, i);
	close(at);
}

static size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, size);
	assert_true(n > 0 && (size_t)n < size);
	close(fd);
	return (size_t)n;
}

static void equal_entries_give_equal_archives(_unused_ void **state)
{
	static char one[65536], two[65536];
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "%s/a.tar", folder);
	write_archive(path);
	n = read_file(path, one, sizeof(one));
	assert_int_equal(n % 512, 0);
	snprintf(path, sizeof(path), "%s/b.tar", folder);
	write_archive(path);
	assert_int_equal(read_file(path, two, sizeof(two)), n);
	assert_memory_equal(one, two, n);
}

static void a_full_disk_is_an_error(_unused_ void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(tar_add(fd, RECORD_FILE, "file", "x", 1), -ENOSPC);
	assert_int_equal(tar_add(fd, RECORD_FOLDER, LONG_101, NULL, 0), -ENOSPC);
	assert_int_equal(tar_end(fd), -ENOSPC);
	assert_int_equal(tar_add(fd, RECORD_FILE, "", "x", 1), -EINVAL);
	close(fd);
}

static int set_up(_unused_ void **state)
{
	umask(022);
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(_unused_ void **state)
{
	tree_remove_at(AT_FDCWD, folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tar_takes_out_what_was_put_in),
		cmocka_unit_test(equal_entries_give_equal_archives),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
