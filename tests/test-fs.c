/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/os/fs.h"
#include "forbid-call.h"
#include "tree.h"

#define SECRET "outside"

static int told = -1; /* of who is in the middle of a write */

static void stay(int sig _unused_)
{
	(void)!write(told, "", 1);
	pause();
}

/* A folder of its own for each test, with a file beside the root that must never be seen. */
struct place {
	char folder[64], root[80], outside[80];
	struct fs fs;
};

static void put(int at, const char *path, const char *data, size_t size)
{
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	snprintf(p->folder, sizeof(p->folder), "/tmp/test-fs-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->root, sizeof(p->root), "%s/root", p->folder);
	snprintf(p->outside, sizeof(p->outside), "%s/outside", p->folder);
	assert_int_equal(mkdir(p->root, 0755), 0);
	put(AT_FDCWD, p->outside, SECRET, strlen(SECRET));
	assert_int_equal(fs_open_root(p->root, &p->fs), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	fs_done(&p->fs);
	tree_remove_at(AT_FDCWD, p->folder);
	free(p);
	return 0;
}

static void the_first_line_is_read_without_its_newline(void **state)
{
	static const struct {
		const char *content, *line;
		int r;
	} cases[] = {
		{ "8\n", "8", 0 },
		{ "8", "8", 0 },
		{ "", "", 0 },
		{ "\n", "", 0 },
		{ "4: ACTIVE\nmore\n", "4: ACTIVE", 0 },
		{ "123456789012345", "123456789012345", 0 },
		{ "123456789012345\n", "123456789012345", 0 },
		{ "12345678901234\nmore\n", "12345678901234", -EMSGSIZE },
		{ "1234567890123456", NULL, -EMSGSIZE },
		{ "12345678901234567", NULL, -EMSGSIZE },
	};
	struct place *p = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char buf[16] = "untouched";

		put(p->fs.root, "file", cases[i].content, strlen(cases[i].content));
		assert_int_equal(fs_read(&p->fs, "file", buf, sizeof(buf)), cases[i].r);
		if (cases[i].r == 0)
			assert_string_equal(buf, cases[i].line);
	}
}

static void numbers_are_whole_and_fit_in_32_bits(void **state)
{
	static const struct {
		const char *content;
		int r;
		uint32_t value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "7\n", 0, 7 },
		{ "0x15b3\n", 0, 0x15b3 },
		{ "4294967295", 0, UINT32_MAX },
		{ "4294967296", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "+1\n", -EINVAL, 0 },
		{ " 1\n", -EINVAL, 0 },
		{ "1 \n", -EINVAL, 0 },
		{ "8 VFs\n", -EINVAL, 0 },
		{ "0x\n", -EINVAL, 0 },
		{ "", -ENOENT, 0 }, /* of a copy: it could not be read */
		{ "1111111111111111111111111111111111111111111111111111111111111111111111", -EINVAL,
		  0 },
	};
	struct place *p = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		uint32_t value = 42;

		put(p->fs.root, "file", cases[i].content, strlen(cases[i].content));
		assert_int_equal(fs_read_u32(&p->fs, "file", &value), cases[i].r);
		assert_int_equal(value, cases[i].r == 0 ? cases[i].value : 42);
	}
}

static void what_is_no_file_is_an_error_and_never_a_wait(void **state)
{
	static const struct {
		const char *path;
		int r;
	} cases[] = {
		{ "folder", -EISDIR },      { "fifo", -EINVAL },  { "absent", -ENOENT },
		{ "folder/none", -ENOENT }, { "loop", -ELOOP },   { "dangling", -ENOENT },
		{ "file/below", -ENOTDIR }, { "/file", -EINVAL },
	};
	struct place *p = *state;
	char *data;
	size_t size;
	char buf[64];

	assert_int_equal(mkdirat(p->fs.root, "folder", 0755), 0);
	assert_int_equal(mkfifoat(p->fs.root, "fifo", 0644), 0);
	assert_int_equal(symlinkat("loop", p->fs.root, "loop"), 0);
	assert_int_equal(symlinkat("nothing", p->fs.root, "dangling"), 0);
	put(p->fs.root, "file", "x", 1);

	alarm(10); /* a wait would end the test */
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(fs_read(&p->fs, cases[i].path, buf, sizeof(buf)), cases[i].r);
		assert_int_equal(fs_read_all(&p->fs, cases[i].path, 9, false, &data, &size),
				 cases[i].r);
	}
	alarm(0);
}

static void a_device_in_place_of_a_file_is_not_read(_unused_ void **state)
{
	struct fs live;
	char buf[64];

	assert_int_equal(fs_open_root("/", &live), 0);
	assert_true(live.is_live);
	assert_int_equal(fs_read(&live, "dev/zero", buf, sizeof(buf)), -EINVAL);
	fs_done(&live);
}

static void files_of_procfs_are_read_though_they_tell_no_size(_unused_ void **state)
{
	struct fs live;
	char *data, line[256];
	size_t size;

	assert_int_equal(fs_open_root(NULL, &live), 0);
	assert_int_equal(fs_read(&live, "proc/sys/kernel/osrelease", line, sizeof(line)), 0);
	assert_true(strlen(line) > 0);
	assert_int_equal(fs_read_all(&live, "proc/self/status", 65536, false, &data, &size), 0);
	assert_true(size > 100);
	assert_int_equal(strlen(data), size);
	free(data);
	fs_done(&live);
}

static void whole_files_may_have_as_many_bytes_as_allowed(void **state)
{
	static const struct {
		size_t size, max;
		int r;
	} cases[] = {
		{ 0, 0, 0 },
		{ 1, 0, -EFBIG },
		{ 10, 10, 0 },
		{ 11, 10, -EFBIG },
		{ 4096, 4096, 0 },
		{ 4097, 5000, 0 },
		{ 4096, 4095, -EFBIG },
		{ 9999, 10000, 0 },
		{ 10000, 10000, 0 },
		{ 10001, 10000, -EFBIG },
		{ 100000, 1000000, 0 },
	};
	struct place *p = *state;
	char *content = malloc(100000);

	assert_non_null(content);
	for (size_t i = 0; i < 100000; i++)
		content[i] = (char)(i * 7); /* NULs among them */

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *data = NULL;
		size_t size = 0;

		put(p->fs.root, "file", content, cases[i].size);
		assert_int_equal(fs_read_all(&p->fs, "file", cases[i].max, false, &data, &size),
				 cases[i].r);
		if (cases[i].r < 0)
			continue;
		assert_int_equal(size, cases[i].size);
		assert_memory_equal(data, content, size);
		assert_int_equal(data[size], 0);
	}
	free(content);
}

static void links_stay_inside_the_root(void **state)
{
	struct place *p = *state;
	char buf[64], absolute[128];
	int fd;

	put(p->fs.root, "inside", "inside", 6);
	snprintf(absolute, sizeof(absolute), "%s", p->outside);
	assert_int_equal(symlinkat(absolute, p->fs.root, "absolute"), 0);
	assert_int_equal(symlinkat("../outside", p->fs.root, "up"), 0);
	assert_int_equal(symlinkat("/inside", p->fs.root, "rooted"), 0);

	assert_int_equal(fs_read(&p->fs, "up", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_read(&p->fs, "absolute", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_read(&p->fs, "../outside", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_read(&p->fs, "rooted", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "inside");
	assert_int_equal(fs_replace(&p->fs, "../new", "x", 1, 0644), 1);
	fd = openat(p->fs.root, "new", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
}

/* Ways through links, "..", and both, with what each gives: the same by the kernel and by hand. */
static void ways_end_where_a_root_has_them(void **state)
{
	static const struct {
		const char *path;
		int r;
	} cases[] = {
		{ "a/b/file", 0 },
		{ "a/./b//file", 0 },
		{ "a/b/../b/file", 0 },
		{ "../../a/b/file", 0 },
		{ "to-b/file", 0 },
		{ "to-b/../b/file", 0 },
		{ "to-b/../../a/b/file", 0 },
		{ "a/rooted/file", 0 },
		{ "a/rooted/../to-file", 0 },
		{ "to-file", 0 },
		{ "a/b/up/a/b/file", 0 },
		{ "chain", 0 },
		{ "loop", -ELOOP },
		{ "loop/file", -ELOOP },
		{ "out/file", -ENOENT },
		{ "out-file", -ENOENT },
		{ "a/b/file/x", -ENOTDIR },
		{ "a/absent/../b/file", -ENOENT },
		{ "a/b", -EISDIR },
		{ "a/b/..", -EISDIR },
		{ ".", -EISDIR },
	};
	const struct place *p = *state;
	char buf[64], out[128], way[PATH_MAX];

	assert_int_equal(fs_make_folders(&p->fs, "a/b"), 0);
	put(p->fs.root, "a/b/file", "inside", 6);
	snprintf(out, sizeof(out), "%s", p->outside);
	assert_int_equal(symlinkat(out, p->fs.root, "out-file"), 0);
	*strrchr(out, '/') = '\0';
	assert_int_equal(symlinkat(out, p->fs.root, "out"), 0);
	assert_int_equal(symlinkat("a/b", p->fs.root, "to-b"), 0);
	assert_int_equal(symlinkat("/a/b/", p->fs.root, "a/rooted"), 0);
	assert_int_equal(symlinkat("b/file", p->fs.root, "a/to-file"), 0);
	assert_int_equal(symlinkat("to-b/file", p->fs.root, "to-file"), 0);
	assert_int_equal(symlinkat("../../../../..", p->fs.root, "a/b/up"), 0);
	assert_int_equal(symlinkat("./a/../to-file", p->fs.root, "chain"), 0);
	assert_int_equal(symlinkat("loop", p->fs.root, "loop"), 0);

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		print_message("  %s\n", cases[i].path);
		assert_int_equal(fs_read(&p->fs, cases[i].path, buf, sizeof(buf)), cases[i].r);
		if (cases[i].r == -EISDIR)
			continue; /* it has a way, and is no file */
		assert_int_equal(fs_resolve(&p->fs, cases[i].path, way), cases[i].r);
		if (cases[i].r < 0)
			continue;
		assert_string_equal(buf, "inside");
		assert_string_equal(way, "a/b/file");
	}

	/* As far as it is known, when the end is not there. */
	assert_int_equal(fs_resolve(&p->fs, "to-b/absent/x", way), -ENOENT);
	assert_string_equal(way, "a/b/absent/x");

	/* What is written goes the same ways. */
	assert_int_equal(fs_replace(&p->fs, "out/made", "x", 1, 0644), -ENOENT);
	assert_int_equal(fs_replace(&p->fs, "to-b/made", "x", 1, 0644), 1);
	assert_int_equal(fs_read(&p->fs, "a/b/made", buf, sizeof(buf)), 0);
	assert_int_equal(fs_remove(&p->fs, "a/rooted/made"), 0);
	assert_false(fs_exists(&p->fs, "a/b/made"));
}

static void links_are_read_and_not_followed(void **state)
{
	struct place *p = *state;
	char buf[32], tiny[4];

	assert_int_equal(symlinkat("../../bus/pci/drivers/igb", p->fs.root, "driver"), 0);
	assert_int_equal(symlinkat("igb", p->fs.root, "short"), 0);
	put(p->fs.root, "file", "x", 1);

	assert_int_equal(fs_read_link(&p->fs, "driver", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "../../bus/pci/drivers/igb");
	assert_int_equal(fs_read_link_name(&p->fs, "driver", tiny, sizeof(tiny)), 0);
	assert_string_equal(tiny, "igb");
	assert_int_equal(fs_read_link_name(&p->fs, "short", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "igb");
	assert_int_equal(fs_read_link(&p->fs, "driver", tiny, sizeof(tiny)), -EMSGSIZE);
	assert_int_equal(fs_read_link_name(&p->fs, "driver", tiny, 3), -EMSGSIZE);
	assert_int_equal(fs_read_link(&p->fs, "absent", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_read_link(&p->fs, "file", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_exists(&p->fs, "driver"), 1);
	assert_int_equal(fs_exists(&p->fs, "file"), 1);
	assert_int_equal(fs_exists(&p->fs, "absent"), 0);
	assert_int_equal(fs_exists(&p->fs, "file/absent"), 0);
	assert_int_equal(symlinkat("loop", p->fs.root, "loop"), 0);
	assert_int_equal(fs_exists(&p->fs, "loop/file"), -ELOOP); /* nobody knows */
}

static void names_are_sorted_by_bytes(void **state)
{
	static const char *const names[] = {
		"virtfn10", "virtfn2", "A", "a", ".hidden", "virtfn1"
	};
	static const char *const sorted[] = {
		".hidden", "A", "a", "virtfn1", "virtfn10", "virtfn2"
	};
	struct place *p = *state;
	struct fs_names list = {};

	assert_int_equal(mkdirat(p->fs.root, "folder", 0755), 0);
	assert_int_equal(fs_list(&p->fs, "folder", &list), 0);
	assert_int_equal(list.n_names, 0);
	fs_names_done(&list);

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		char path[64];

		snprintf(path, sizeof(path), "folder/%s", names[i]);
		put(p->fs.root, path, "", 0);
	}
	assert_int_equal(fs_list(&p->fs, "folder", &list), 0);
	assert_int_equal(list.n_names, ELEMENTSOF(sorted));
	for (size_t i = 0; i < ELEMENTSOF(sorted); i++)
		assert_string_equal(list.names[i], sorted[i]);
	fs_names_done(&list);

	assert_int_equal(fs_list(&p->fs, "absent", &list), -ENOENT);
	assert_int_equal(fs_list(&p->fs, "folder/a", &list), -ENOTDIR);
}

struct record {
	char text[4096];
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	static const char *const words[] = { "file", "link", "folder" };
	struct record *rec = userdata;
	const size_t n = strlen(rec->text);

	snprintf(rec->text + n, sizeof(rec->text) - n, "%s %s=%.*s\n", words[kind], path, (int)size,
		 data ? data : "");
}

/* As in sysfs: bus/igb0 is a link to devices/igb0, whose virtfn0 is a link, and driver another. */
static void make_devices(int root)
{
	static const char *const folders[] = { "bus",         "devices", "devices/igb0",
					       "devices/vf0", "drivers", "drivers/igb" };

	for (size_t i = 0; i < ELEMENTSOF(folders); i++)
		assert_int_equal(mkdirat(root, folders[i], 0755), 0);
	put(root, "devices/igb0/vendor", "0x8086\n", 7);
	put(root, "devices/vf0/vendor", "0x8087\n", 7);
	assert_int_equal(symlinkat("../devices/igb0", root, "bus/igb0"), 0);
	assert_int_equal(symlinkat("../vf0", root, "devices/igb0/virtfn0"), 0);
	assert_int_equal(symlinkat("../../drivers/igb", root, "devices/igb0/driver"), 0);
}

static void the_recorder_gets_real_paths(void **state)
{
	struct place *p = *state;
	struct fs_names names;
	struct record rec = {};
	char buf[64], *data;
	size_t size;

	make_devices(p->fs.root);
	p->fs.on_read = on_read;
	p->fs.userdata = &rec;

	fs_read(&p->fs, "devices/igb0/vendor", buf, sizeof(buf));
	assert_string_equal(rec.text, "file devices/igb0/vendor=0x8086\n\n");

	rec = (struct record){};
	assert_int_equal(fs_read(&p->fs, "bus/igb0/virtfn0/vendor", buf, sizeof(buf)), 0);
	assert_string_equal(rec.text, "link bus/igb0=../devices/igb0\n"
				      "link devices/igb0/virtfn0=../vf0\n"
				      "file devices/vf0/vendor=0x8087\n\n");

	rec = (struct record){};
	assert_int_equal(fs_read_link_name(&p->fs, "bus/igb0/driver", buf, sizeof(buf)), 0);
	assert_string_equal(rec.text, "link bus/igb0=../devices/igb0\n"
				      "link devices/igb0/driver=../../drivers/igb\n");

	rec = (struct record){};
	assert_int_equal(fs_list(&p->fs, "devices/igb0", &names), 0);
	fs_names_done(&names);
	assert_string_equal(rec.text, "folder devices/igb0=\n"
				      "link devices/igb0/driver=../../drivers/igb\n"
				      "link devices/igb0/virtfn0=../vf0\n");

	rec = (struct record){};
	assert_true(fs_exists(&p->fs, "bus"));
	assert_true(fs_exists(&p->fs, "devices/igb0/vendor"));
	assert_true(fs_exists(&p->fs, "devices/igb0/driver"));
	assert_string_equal(rec.text, "folder bus=\n"
				      "file devices/igb0/vendor=\n"
				      "link devices/igb0/driver=../../drivers/igb\n");

	/* Failures and secrets leave nothing. */
	rec = (struct record){};
	assert_int_equal(fs_read(&p->fs, "absent", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(fs_read(&p->fs, "devices/igb0/vendor", buf, 3), -EMSGSIZE);
	assert_false(fs_exists(&p->fs, "absent"));
	assert_int_equal(fs_read_all(&p->fs, "devices/vf0/vendor", 64, true, &data, &size), 0);
	free(data);
	assert_string_equal(rec.text, "");
}

static ino_t inode(const struct place *p, const char *path, mode_t *mode)
{
	struct stat st;

	assert_int_equal(fstatat(p->fs.root, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	if (mode)
		*mode = st.st_mode;
	return st.st_ino;
}

static void files_are_replaced_whole_and_only_when_different(void **state)
{
	struct place *p = *state;
	struct timespec before = {};
	_cleanup_(freep) char *data = NULL;
	struct stat st;
	size_t size;
	mode_t mode;

	umask(077);
	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "one", 3, 0644), 1);
	umask(022);
	inode(p, "run/deep", &mode);
	assert_int_equal(mode & 07777, 0755);
	inode(p, "run/deep/state.json", &mode);
	assert_int_equal(mode & 07777, 0644);

	assert_int_equal(fstatat(p->fs.root, "run/deep", &st, 0), 0);
	before = st.st_mtim;
	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "one", 3, 0644), 0);
	assert_int_equal(fstatat(p->fs.root, "run/deep", &st, 0), 0);
	assert_memory_equal(&before, &st.st_mtim, sizeof(before));

	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "one", 3, 0640), 0);
	inode(p, "run/deep/state.json", &mode);
	assert_int_equal(mode & 07777, 0640);

	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "two", 3, 0600), 1);
	inode(p, "run/deep/state.json", &mode);
	assert_int_equal(mode & 07777, 0600);
	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "", 0, 0600), 1);
	assert_int_equal(fs_replace(&p->fs, "run/deep/state.json", "longer", 6, 0600), 1);
	assert_int_equal(fs_read_all(&p->fs, "run/deep/state.json", 64, false, &data, &size), 0);
	assert_string_equal(data, "longer");
	assert_int_equal(fs_replace(&p->fs, "top", "x", 1, 0644), 1);
}

static void an_output_follows_no_link_on_its_way(void **state)
{
	static const struct {
		const char *path;
		int result;
	} cases[] = {
		{ "out/a/file", 1 },       { "out/a/file", 0 },         { "new/b/file", 1 },
		{ "link/file", -ELOOP },   { "out/link/file", -ELOOP }, { "nothing/file", -ELOOP },
		{ "text/file", -ENOTDIR }, { "out/../file", -EINVAL },  { "/out/file", -EINVAL },
		{ "out//file", -EINVAL },  { "out/", -EINVAL },         { "out/..", -EINVAL },
	};
	struct place *p = *state;

	assert_int_equal(fs_make_folders(&p->fs, "out/a"), 0);
	assert_int_equal(fs_make_folders(&p->fs, "victim"), 0);
	assert_int_equal(fs_replace(&p->fs, "text", "x", 1, 0644), 1);
	assert_int_equal(symlinkat("victim", p->fs.root, "link"), 0);
	assert_int_equal(symlinkat("../victim", p->fs.root, "out/link"), 0);
	assert_int_equal(symlinkat("nowhere", p->fs.root, "nothing"), 0);

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct fs_names names = {};
		int r = fs_output(&p->fs, cases[i].path, "new", 3, 0644);

		if (r != cases[i].result)
			fail_msg("%s: %s", cases[i].path, strerror(-r));
		/* Nothing is made or left behind where a link leads. */
		assert_int_equal(fs_list(&p->fs, "victim", &names), 0);
		assert_int_equal(names.n_names, 0);
		fs_names_done(&names);
	}

	assert_int_equal(fs_output_remove(&p->fs, "link/file"), -ELOOP);
	assert_int_equal(fs_output_remove(&p->fs, "out/a/file"), 0);
	assert_int_equal(fs_output_remove(&p->fs, "out/a/file"), 0);
	assert_int_equal(fs_output_remove(&p->fs, "not/there"), 0);
	assert_false(fs_exists(&p->fs, "out/a/file"));
}

static void planted_links_are_replaced_and_not_followed(void **state)
{
	static const char *const planted[] = { "file", ".file.tmp" };
	struct place *p = *state;

	for (size_t i = 0; i < ELEMENTSOF(planted); i++) {
		char buf[32] = "";
		mode_t mode;

		put(p->fs.root, "victim", SECRET, strlen(SECRET));
		assert_int_equal(symlinkat("victim", p->fs.root, planted[i]), 0);
		assert_int_equal(fs_replace(&p->fs, "file", SECRET, strlen(SECRET), 0644), 1);
		inode(p, "file", &mode);
		assert_true(S_ISREG(mode));
		assert_int_equal(faccessat(p->fs.root, ".file.tmp", F_OK, AT_SYMLINK_NOFOLLOW), -1);
		assert_int_equal(fs_read(&p->fs, "victim", buf, sizeof(buf)), 0);
		assert_string_equal(buf, SECRET);
		assert_int_equal(fs_remove(&p->fs, "file"), 0);
	}
}

static void a_failed_replacement_leaves_the_old_file(void **state)
{
	static const struct {
		const char *path;
		int r;
	} cases[] = {
		{ "folder", -EISDIR },        { "file/below", -ENOTDIR }, { "folder/", -EINVAL },
		{ "/file", -EINVAL },         { "folder/..", -EINVAL },   { "", -EINVAL },
		{ "dangling/file", -ENOENT },
	};
	struct place *p = *state;
	struct fs_names names;
	char long_name[NAME_MAX + 1], buf[8];

	put(p->fs.root, "file", "old", 3);
	assert_int_equal(mkdirat(p->fs.root, "folder", 0755), 0);
	assert_int_equal(symlinkat("nothing", p->fs.root, "dangling"), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_int_equal(fs_replace(&p->fs, cases[i].path, "new", 3, 0644), cases[i].r);

	memset(long_name, 'n', NAME_MAX);
	long_name[NAME_MAX] = '\0';
	assert_int_equal(fs_replace(&p->fs, long_name, "new", 3, 0644), -ENAMETOOLONG);

	assert_int_equal(fs_read(&p->fs, "file", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "old");
	assert_int_equal(fs_list(&p->fs, ".", &names), 0);
	assert_int_equal(names.n_names, 3); /* no temporary file is left */
	fs_names_done(&names);
}

static void what_a_crash_left_goes_with_the_file(void **state)
{
	static const struct {
		bool is_there, is_output;
	} cases[] = { { true, false }, { false, false }, { true, true }, { false, true } };
	struct place *p = *state;
	struct fs_names names;

	assert_int_equal(fs_make_folders(&p->fs, "folder"), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(fs_replace(&p->fs, "folder/.file.tmp", "ha", 2, 0644), 1);
		if (cases[i].is_there)
			assert_int_equal(fs_replace(&p->fs, "folder/file", "old", 3, 0644), 1);
		assert_int_equal(fs_replace(&p->fs, "folder/.file.tmp", "half", 4, 0644), 1);
		assert_int_equal(cases[i].is_output ? fs_output_remove(&p->fs, "folder/file")
						    : fs_remove(&p->fs, "folder/file"),
				 0);
		assert_int_equal(fs_list(&p->fs, "folder", &names), 0);
		assert_int_equal(names.n_names, 0);
		fs_names_done(&names);
	}
}

/* The largest size a file may have stands for a full disk: the write is cut short, then fails. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	const struct rlimit limit = { 4096, 4096 };
	static const char big[8192];
	struct place *p = *state;
	struct fs_names names;
	char buf[8];
	int status;
	pid_t pid;

	put(p->fs.root, "file", "old", 3);
	pid = fork(); /* for the limit is for good */
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(fs_replace(&p->fs, "file", big, sizeof(big), 0644) == -EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);

	assert_int_equal(fs_read(&p->fs, "file", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "old");
	assert_int_equal(fs_list(&p->fs, ".", &names), 0);
	assert_int_equal(names.n_names, 1);
	fs_names_done(&names);
}

static void removing_what_is_absent_is_success(void **state)
{
	struct place *p = *state;

	put(p->fs.root, "file", "x", 1);
	assert_int_equal(fs_remove(&p->fs, "file"), 0);
	assert_false(fs_exists(&p->fs, "file"));
	assert_int_equal(fs_remove(&p->fs, "file"), 0);
	assert_int_equal(fs_remove(&p->fs, "absent/file"), 0);
	assert_int_equal(mkdirat(p->fs.root, "folder", 0755), 0);
	assert_int_equal(fs_remove(&p->fs, "folder"), -EISDIR);
}

static void attributes_are_written_on_the_running_system_only(void **state)
{
	struct place *p = *state;
	struct fs live;
	char path[128], buf[64];

	put(p->fs.root, "sriov_numvfs", "0\n", 2);
	assert_int_equal(fs_write_attribute(&p->fs, "sriov_numvfs", "4"), -EROFS);

	assert_int_equal(fs_open_root("/", &live), 0);
	snprintf(path, sizeof(path), "%s/sriov_numvfs", p->root + 1);
	assert_int_equal(fs_write_attribute(&live, path, "4"), 0);
	assert_int_equal(fs_read(&live, path, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "4");
	snprintf(path, sizeof(path), "%s/absent", p->root + 1);
	assert_int_equal(fs_write_attribute(&live, path, "4"), -ENOENT);
	fs_done(&live);
}

/* SIGXFSZ stops the write in its middle: generic_write_check_limits() in fs/read_write.c. */
static pid_t write_and_stay(const struct fs *fs, const char *path)
{
	const struct rlimit none = { 0, 0 };
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		told = fds[1];
		signal(SIGXFSZ, stay);
		setrlimit(RLIMIT_FSIZE, &none);
		fs_write_attribute(fs, path, "4");
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

/* Any user may open an attribute of mode 0644 and place such a lock. */
static void who_locks_an_attribute_for_reading_does_not_write_it(void **state)
{
	struct place *p = *state;
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fds[2];
	pid_t pid;
	char byte;

	p->fs.is_live = true;
	put(p->fs.root, "sriov_numvfs", "0\n", 2);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = openat(p->fs.root, "sriov_numvfs", O_RDONLY | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fcntl(fd, F_SETLK, &lock) < 0 || write(fds[1], "", 1) < 0)
			_exit(EXIT_FAILURE);
		_exit(pause());
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	assert_int_equal(fs_writer(&p->fs, "sriov_numvfs"), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void who_writes_an_attribute_is_known_until_it_is_gone(void **state)
{
	struct place *p = *state;
	pid_t first, second;

	p->fs.is_live = true;
	put(p->fs.root, "sriov_numvfs", "0\n", 2);
	assert_int_equal(fs_writer(&p->fs, "sriov_numvfs"), 0);
	assert_int_equal(fs_writer(&p->fs, "absent"), -ENOENT);
	first = write_and_stay(&p->fs, "sriov_numvfs");
	assert_int_equal(fs_writer(&p->fs, "sriov_numvfs"), first);
	second = write_and_stay(&p->fs, "sriov_numvfs"); /* is not kept waiting */
	assert_int_equal(fs_writer(&p->fs, "sriov_numvfs"), first);
	kill(first, SIGKILL);
	assert_int_equal(waitpid(first, NULL, 0), first);
	assert_int_equal(fs_writer(&p->fs, "sriov_numvfs"), 0);
	kill(second, SIGKILL);
	assert_int_equal(waitpid(second, NULL, 0), second);
}

static void read_inside(const struct fs *fs, const char *root, const char *name, const char *want)
{
	char path[128], buf[64];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(fs_read(fs, path, buf, sizeof(buf)), want ? 0 : -ENOENT);
	if (want)
		assert_string_equal(buf, want);
}

/* The way there is walked once: what is made again under the same name is another folder. */
static void a_folder_is_entered_on_the_running_system_only(void **state)
{
	struct place *p = *state;
	const char *root = p->root + 1; /* below "/" */
	struct fs live, inside;
	char folder[128];

	assert_int_equal(mkdirat(p->fs.root, "a", 0755), 0);
	assert_int_equal(mkdirat(p->fs.root, "ab", 0755), 0);
	put(p->fs.root, "a/x", "1\n", 2);
	put(p->fs.root, "ab/x", "2\n", 2);

	assert_int_equal(fs_open_root("/", &live), 0);
	snprintf(folder, sizeof(folder), "%s/a", root);
	fs_enter(&live, folder, &inside);
	read_inside(&inside, root, "a/x", "1");
	read_inside(&inside, root, "ab/x", "2");
	read_inside(&inside, root, "a/absent", NULL);
	assert_true(fs_exists(&inside, folder));
	tree_remove_at(p->fs.root, "a");
	assert_int_equal(mkdirat(p->fs.root, "a", 0755), 0);
	put(p->fs.root, "a/x", "3\n", 2);
	read_inside(&inside, root, "a/x", NULL);
	fs_leave(&inside);
	read_inside(&inside, root, "a/x", "3");
	fs_leave(&inside);
	fs_done(&live);

	fs_enter(&p->fs, "a", &inside);
	tree_remove_at(p->fs.root, "a");
	assert_int_equal(mkdirat(p->fs.root, "a", 0755), 0);
	put(p->fs.root, "a/x", "4\n", 2);
	read_inside(&inside, "a", "x", "4");
	fs_leave(&inside);

	fs_enter(&p->fs, "absent", &inside);
	read_inside(&inside, "absent", "x", NULL);
	read_inside(&inside, "a", "x", "4");
	fs_leave(&inside);
}

#define LOCK "run/x.lock"

/* Another process that holds the lock until it is killed. */
static pid_t hold(const struct fs *fs)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (fs_lock(fs, LOCK, 0) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_true(pid > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void a_lock_is_of_one_user_and_has_a_deadline(void **state)
{
	const struct place *p = *state;
	const uint64_t begin = now_usec();
	struct stat st;
	pid_t holder;
	int fd;

	holder = hold(&p->fs);
	assert_int_equal(fstatat(p->fs.root, LOCK, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fs_lock(&p->fs, LOCK, 0), -EWOULDBLOCK);
	assert_int_equal(fs_lock(&p->fs, LOCK, USEC_PER_SEC), -ETIMEDOUT);
	assert_in_range(now_usec() - begin, USEC_PER_SEC, 20 * USEC_PER_SEC);

	/* One that was killed leaves the file, and not the lock. */
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	fd = fs_lock(&p->fs, LOCK, USEC_PER_SEC);
	assert_true(fd >= 0);
	fs_unlock(&p->fs, LOCK, fd);
	assert_int_not_equal(fstatat(p->fs.root, LOCK, &st, 0), 0);
}

/* Of two that wait, the second does not take the file that the first has removed. */
static void a_lock_is_of_the_file_that_is_there(void **state)
{
	const struct place *p = *state;
	int first, second;

	first = fs_lock(&p->fs, LOCK, 0);
	assert_true(first >= 0);
	assert_int_equal(unlinkat(p->fs.root, LOCK, 0), 0);
	second = fs_lock(&p->fs, LOCK, 0);
	assert_true(second >= 0);
	assert_int_equal(fs_lock(&p->fs, LOCK, 0), -EWOULDBLOCK);
	close(first);
	fs_unlock(&p->fs, LOCK, second);
}

static void an_unset_root_is_not_the_running_system(_unused_ void **state)
{
	static const struct {
		const char *path;
		int r;
		bool is_live;
	} cases[] = {
		{ NULL, 0, true },    { "/", 0, true },       { "//", 0, true },
		{ "/tmp", 0, false }, { "", -EINVAL, false }, { "/absent", -ENOENT, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct fs fs = {};

		assert_int_equal(fs_open_root(cases[i].path, &fs), cases[i].r);
		if (cases[i].r == 0)
			assert_int_equal(fs.is_live, cases[i].is_live);
		fs_done(&fs);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_first_line_is_read_without_its_newline),
		TEST(numbers_are_whole_and_fit_in_32_bits),
		TEST(what_is_no_file_is_an_error_and_never_a_wait),
		TEST(a_device_in_place_of_a_file_is_not_read),
		TEST(files_of_procfs_are_read_though_they_tell_no_size),
		TEST(whole_files_may_have_as_many_bytes_as_allowed),
		TEST(links_stay_inside_the_root),
		TEST(ways_end_where_a_root_has_them),
		TEST(links_are_read_and_not_followed),
		TEST(names_are_sorted_by_bytes),
		TEST(the_recorder_gets_real_paths),
		TEST(files_are_replaced_whole_and_only_when_different),
		TEST(an_output_follows_no_link_on_its_way),
		TEST(planted_links_are_replaced_and_not_followed),
		TEST(a_failed_replacement_leaves_the_old_file),
		TEST(what_a_crash_left_goes_with_the_file),
		TEST(a_full_disk_leaves_the_old_file),
		TEST(removing_what_is_absent_is_success),
		TEST(attributes_are_written_on_the_running_system_only),
		TEST(who_writes_an_attribute_is_known_until_it_is_gone),
		TEST(who_locks_an_attribute_for_reading_does_not_write_it),
		TEST(a_folder_is_entered_on_the_running_system_only),
		TEST(a_lock_is_of_one_user_and_has_a_deadline),
		TEST(a_lock_is_of_the_file_that_is_there),
		TEST(an_unset_root_is_not_the_running_system),
	};
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);

	/* The same by hand, as in a container whose filter does not know the call. */
	if (!forbid_call(SYS_openat2, EPERM))
		print_message("skipped: no seccomp filter can be set here\n");
	else
		n_failed += cmocka_run_group_tests_name("without openat2", tests, NULL, NULL);
	return n_failed;
}
