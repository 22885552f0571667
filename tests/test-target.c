/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "../src/os/target.h"
#include "skip.h"
#include "tree.h"

#define PATH      "etc/config"
#define TEMPORARY "etc/.config.rdma-provision.tmp"
#define OLD       "old: 1\n"
#define NEW       "new: 2\n"
#define MAX_BYTES 65536
#define ACL       "system.posix_acl_access"

static void full_path(const struct tree *t, const char *path, char ret[512])
{
	tree_path(t, path, ret, 512);
}

static void assert_text(const struct tree *t, const char *path, const char *text)
{
	_cleanup_(freep) char *have = NULL;
	size_t size;

	assert_int_equal(fs_read_all(&t->fs, path, MAX_BYTES, true, &have, &size), 0);
	assert_string_equal(have, text);
	assert_false(fs_exists(&t->fs, TEMPORARY));
}

static int replace(const struct tree *t, const char *text)
{
	_cleanup_(target_done) struct target target = TARGET_NONE;
	int r;

	r = target_open(&t->fs, PATH, MAX_BYTES, &target);
	return r < 0 ? r : target_replace(&target, text, text ? strlen(text) : 0);
}

static int in_child(const struct tree *t, int (*run)(const struct tree *t))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(run(t));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The kernel's part in a test: @on_rename runs in front of each renameat2(). */

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);

static int (*on_rename)(const struct tree *t, int n); /* 0, or the errno that it fails with */
static const struct tree *renamed;
static int n_renames;

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	int error = on_rename ? on_rename(renamed, n_renames++) : 0;

	if (error) {
		errno = error;
		return -1;
	}
	return __real_renameat2(from, old, to, new, flags);
}

static void set_on_rename(const struct tree *t, int (*run)(const struct tree *t, int n))
{
	on_rename = run;
	renamed = t;
	n_renames = 0;
}

/* A program that appends a line. */

static int append(const struct tree *t, const char *line)
{
	_cleanup_(closep) int fd = -EBADF;
	char path[512];

	full_path(t, PATH, path);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : 1;
}

static pid_t appender;

static void start_appender(const struct tree *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	appender = fork();
	if (appender == 0)
		_exit(append(t, "line\n"));
	assert_true(appender > 0);
	/* It waits in open() when the kernel says that the lease is to be given up. */
	assert_int_equal(sigwaitinfo(&set, NULL), SIGURG);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

static void end_appender(void)
{
	int status;

	assert_int_equal(waitpid(appender, &status, 0), appender);
	assert_int_equal(status, 0);
}

static void a_file_that_is_open_for_writing_is_left(void **state)
{
	static const int ways[] = { O_WRONLY, O_RDWR, O_WRONLY | O_APPEND };
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(ways); i++) {
		char path[512];
		int fd;

		tree_file(t, PATH, OLD);
		full_path(t, PATH, path);
		fd = open(path, ways[i] | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(replace(t, NEW), -EAGAIN);
		assert_int_equal(replace(t, NULL), -EAGAIN);
		assert_text(t, PATH, OLD);
		close(fd);
		assert_int_equal(replace(t, NEW), 0);
		assert_text(t, PATH, NEW);
	}
}

static void a_file_that_others_read_is_replaced(void **state)
{
	const struct tree *t = *state;
	_cleanup_(closep) int fd = -EBADF;

	tree_file(t, PATH, OLD);
	fd = fs_open(&t->fs, PATH, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(replace(t, NEW), 0);
	assert_text(t, PATH, NEW);
	assert_int_equal(replace(t, NULL), 0);
	assert_false(fs_exists(&t->fs, PATH));
}

static void what_a_program_writes_that_opened_it_meanwhile_is_kept(void **state)
{
	static const char *const texts[] = { NEW, NULL };
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(target_done) struct target target = TARGET_NONE;

		tree_file(t, PATH, OLD);
		assert_int_equal(target_open(&t->fs, PATH, MAX_BYTES, &target), 0);
		start_appender(t);
		assert_int_equal(target_replace(&target, texts[i], strlen(NEW)), -EAGAIN);
		assert_text(t, PATH, OLD);
		target_done(&target);
		target = (struct target)TARGET_NONE;
		end_appender();
		assert_text(t, PATH, OLD "line\n");
	}
}

static int append_at_first(const struct tree *t, int n)
{
	if (n == 0)
		start_appender(t);
	return 0;
}

static void an_exchange_that_came_after_an_open_is_taken_back(void **state)
{
	static const char *const texts[] = { NEW, NULL };
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		tree_file(t, PATH, OLD);
		set_on_rename(t, append_at_first);
		assert_int_equal(replace(t, texts[i]), -EAGAIN);
		end_appender();
		assert_int_equal(n_renames, 2);
		assert_text(t, PATH, OLD "line\n");
	}
}

/* Another program's rename(2) over the file, before the exchange and before it is taken back. */
static void put_by_rename(const struct tree *t, const char *text)
{
	tree_file(t, "etc/other", text);
	assert_int_equal(fs_rename(&t->fs, "etc/other", PATH, false), 0);
}

static int rename_at_first(const struct tree *t, int n)
{
	if (n == 0)
		put_by_rename(t, "first\n");
	return 0;
}

static int rename_at_first_and_second(const struct tree *t, int n)
{
	if (n < 2)
		put_by_rename(t, n == 0 ? "first\n" : "second\n");
	return 0;
}

static void a_file_that_another_program_put_there_meanwhile_stays(void **state)
{
	const struct tree *t = *state;

	tree_file(t, PATH, OLD);
	set_on_rename(t, rename_at_first);
	assert_int_equal(replace(t, NEW), -EAGAIN);
	assert_text(t, PATH, "first\n");
	set_on_rename(t, rename_at_first);
	assert_int_equal(replace(t, NULL), -EAGAIN);
	assert_text(t, PATH, "first\n");
	set_on_rename(t, rename_at_first_and_second);
	assert_int_equal(replace(t, NEW), -EAGAIN);
	assert_text(t, PATH, "second\n");
	set_on_rename(t, rename_at_first_and_second);
	assert_int_equal(replace(t, NULL), -EAGAIN);
	assert_text(t, PATH, "second\n");
}

/* A loop beside a program that appends */

#define EDITS 300

struct beside {
	atomic_bool is_over;
	atomic_uint n_lines;
	bool is_by_rename;
};

/* As "sed -i" does it: what there is and a line more, in a file that gets the name. */
static int append_by_rename(const struct tree *t)
{
	_cleanup_(freep) char *text = NULL;
	char from[512], to[512];
	size_t size;

	if (fs_read_all(&t->fs, PATH, 1u << 20, true, &text, &size) < 0)
		return 1;
	full_path(t, "etc/other", from);
	full_path(t, PATH, to);
	tree_bytes(t, "etc/other", text, size);
	{
		_cleanup_(closep) int fd = open(from, O_WRONLY | O_APPEND | O_CLOEXEC);

		if (fd < 0 || write(fd, "line\n", 5) != 5)
			return 1;
	}
	return rename(from, to) < 0;
}

static int write_beside(const struct tree *t, struct beside *b)
{
	unsigned seed = 1;

	while (!b->is_over) {
		const struct timespec pause = { .tv_nsec = rand_r(&seed) % 100000 };

		if (b->is_by_rename ? append_by_rename(t) : append(t, "line\n"))
			return 1;
		b->n_lines++;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* The number in the first line counts our edits. Return: as target_replace(). */
static int edit_first_line(const struct tree *t, unsigned n)
{
	_cleanup_(target_done) struct target target = TARGET_NONE;
	char number[8];
	int r;

	r = target_open(&t->fs, PATH, 1u << 20, &target);
	if (r < 0)
		return r;
	snprintf(number, sizeof(number), "%07u", n % 10000000);
	memcpy(target.text, number, 7);
	return target_replace(&target, target.text, target.size);
}

/* In memory where there is such a folder: an edit there does not wait for a disk. */
static void nothing_is_lost_beside(bool is_by_rename)
{
	struct tree tree = {}, *t = &tree;
	struct beside *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_cleanup_(freep) char *text = NULL;
	unsigned n_edits = 0, n_left = 0, n_lines = 0;
	size_t size;

	assert_ptr_not_equal(b, MAP_FAILED);
	*b = (struct beside){ .is_by_rename = is_by_rename };
	tree_make(t);
	tree_file(t, PATH, "0000000\n");
	appender = fork();
	if (appender == 0)
		_exit(write_beside(t, b));
	while (n_edits < EDITS) {
		int r = edit_first_line(t, n_edits + 1);

		assert_true(r == 0 || r == -EAGAIN);
		n_edits += r == 0;
		n_left += r < 0;
		sched_yield();
	}
	b->is_over = true;
	end_appender();

	assert_int_equal(fs_read_all(&t->fs, PATH, 1u << 20, true, &text, &size), 0);
	for (const char *s = text; (s = strstr(s, "line\n")); s += strlen("line\n"))
		n_lines++;
	print_message("  %u edits, %u refused, %u lines\n", n_edits, n_left, n_lines);
	assert_int_equal(n_lines, b->n_lines);
	assert_int_equal(size, 8 + 5 * (size_t)n_lines);
	assert_true(n_lines > 0);
	munmap(b, sizeof(*b));
	tree_remove(t);
}

static void nothing_is_lost_beside_a_program_that_appends(_unused_ void **state)
{
	nothing_is_lost_beside(false);
}

static void nothing_is_lost_beside_a_program_that_renames(_unused_ void **state)
{
	nothing_is_lost_beside(true);
}

/* Without leases, or without the exchange */

/* fcntl() with F_SETLEASE fails as on most network file systems. */
static bool forbid_leases(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLEASE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ELEMENTSOF(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool drop_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	data[capability / 32].effective &= ~(1u << (capability % 32));
	return syscall(SYS_capset, &header, data) == 0;
}

/* Standard error of the rest of this process, to be read by said(). */
static int hear(void)
{
	int fd = memfd_create("said", MFD_CLOEXEC);

	return fd >= 0 && dup2(fd, STDERR_FILENO) >= 0 ? fd : -EBADF;
}

static bool said(int fd, const char *words)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[MAX(n, 0)] = '\0';
	return strstr(text, words);
}

#define NOT_KNOWN PATH ": whether another program has it open for writing is not known here\n"

static int on_file_system_without_leases(const struct tree *t)
{
	int fd = hear();

	if (!forbid_leases())
		return 77;
	return replace(t, NEW) == 0 && said(fd, NOT_KNOWN) ? 0 : 1;
}

static int on_foreign_file_without_capability(const struct tree *t)
{
	int fd = hear();
	char path[512];

	full_path(t, PATH, path);
	if (chown(path, 65534, 65534) < 0 || !drop_capability(CAP_LEASE))
		return 77;
	return replace(t, NEW) == 0 && said(fd, NOT_KNOWN) ? 0 : 1;
}

static int changed_on_file_system_without_leases(const struct tree *t)
{
	_cleanup_(target_done) struct target target = TARGET_NONE;

	if (!forbid_leases())
		return 77;
	if (target_open(&t->fs, PATH, MAX_BYTES, &target) < 0 || append(t, "line\n"))
		return 1;
	return target_replace(&target, NEW, strlen(NEW)) == -EAGAIN ? 0 : 1;
}

static void without_leases_times_are_compared_and_it_is_said(void **state)
{
	static const struct {
		int (*run)(const struct tree *t);
		const char *text;
	} cases[] = { { on_file_system_without_leases, NEW },
		      { on_foreign_file_without_capability, NEW },
		      { changed_on_file_system_without_leases, OLD "line\n" } };
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		int status;

		tree_file(t, PATH, OLD);
		status = in_child(t, cases[i].run);
		if (status == 77) {
			print_message("  case %zu is not allowed here\n", i);
			continue;
		}
		assert_int_equal(status, 0);
		assert_text(t, PATH, cases[i].text);
	}
}

static int refuse_exchange(const struct tree *t _unused_, int n _unused_)
{
	return EINVAL;
}

static int without_exchange(const struct tree *t)
{
	int fd = hear();

	return replace(t, NEW) == 0 && said(fd, NOT_KNOWN) ? 0 : 1;
}

static void without_exchange_it_is_renamed_and_said(void **state)
{
	const struct tree *t = *state;

	tree_file(t, PATH, OLD);
	set_on_rename(t, refuse_exchange);
	assert_int_equal(in_child(t, without_exchange), 0);
	assert_text(t, PATH, NEW);
	assert_int_equal(replace(t, NULL), 0);
	assert_false(fs_exists(&t->fs, PATH));
	assert_int_equal(target_change(&t->fs, PATH, NULL, 0, NEW, strlen(NEW)), 0);
	assert_text(t, PATH, NEW);
	assert_int_equal(target_change(&t->fs, PATH, NULL, 0, OLD, strlen(OLD)), -EAGAIN);
	assert_text(t, PATH, NEW);
}

/* Everything about it */

/* As in linux/posix_acl_xattr.h, little endian: user::rw- user:65534:r-- group::--- mask::r--
 * other::--- */
static const unsigned char acl[] = {
	2,    0, 0, 0,                         /* version */
	0x01, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* owner */
	0x02, 0, 4, 0, 0xfe, 0xff, 0,    0,    /* user 65534 */
	0x04, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, /* group */
	0x10, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* mask */
	0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, /* others */
};

static bool set_attribute(const struct tree *t, const char *path, const char *name,
			  const void *value, size_t size)
{
	char full[512];

	full_path(t, path, full);
	return setxattr(full, name, value, size, 0) == 0;
}

static void assert_attribute(const struct tree *t, const char *name, const void *value, size_t size)
{
	char full[512], have[512];

	full_path(t, PATH, full);
	assert_int_equal(getxattr(full, name, have, sizeof(have)), size);
	assert_memory_equal(have, value, size);
}

static bool has_attribute(const struct tree *t, const char *name)
{
	char full[512];

	full_path(t, PATH, full);
	return getxattr(full, name, NULL, 0) >= 0;
}

static struct stat stat_of(const struct tree *t)
{
	struct stat st;

	assert_int_equal(fs_stat(&t->fs, PATH, &st), 0);
	return st;
}

static void owner_mode_and_acl_are_kept(void **state)
{
	const struct tree *t = *state;
	struct stat before, after;
	char path[512];

	tree_file(t, PATH, OLD);
	full_path(t, PATH, path);
	(void)!chown(path, 1, 2); /* not as anybody but root */
	assert_int_equal(chmod(path, 0600), 0);
	if (!set_attribute(t, PATH, ACL, acl, sizeof(acl)))
		skip_without("ACLs in /tmp: %s", strerror(errno));
	before = stat_of(t);
	assert_int_equal(before.st_mode & 07777, 0640); /* the mask */
	assert_int_equal(replace(t, NEW), 0);
	assert_text(t, PATH, NEW);
	after = stat_of(t);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_gid, before.st_gid);
	assert_attribute(t, ACL, acl, sizeof(acl));
}

static void the_default_acl_of_the_folder_opens_nothing(void **state)
{
	const struct tree *t = *state;
	char path[512];

	tree_file(t, PATH, OLD);
	full_path(t, PATH, path);
	assert_int_equal(chmod(path, 0640), 0);
	if (!set_attribute(t, "etc", "system.posix_acl_default", acl, sizeof(acl)))
		skip_without("ACLs in /tmp: %s", strerror(errno));
	assert_int_equal(replace(t, NEW), 0);
	assert_text(t, PATH, NEW);
	assert_int_equal(stat_of(t).st_mode & 07777, 0640);
	assert_false(has_attribute(t, ACL));
}

static void attributes_are_kept_but_for_those_of_the_bytes(void **state)
{
	static const char *const kept[] = { "user.one", "user.two", "trusted.three",
					    "security.selinux" };
	static const char *const left[] = { "security.ima", "security.evm" };
	const struct tree *t = *state;
	bool is_set[ELEMENTSOF(kept)];

	tree_file(t, PATH, OLD);
	for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
		is_set[i] = set_attribute(t, PATH, kept[i], kept[i], strlen(kept[i]));
		if (!is_set[i])
			print_message("  %s cannot be set here: %s\n", kept[i], strerror(errno));
	}
	for (size_t i = 0; i < ELEMENTSOF(left); i++)
		if (!set_attribute(t, PATH, left[i], "\1x", 2))
			print_message("  %s cannot be set here: %s\n", left[i], strerror(errno));
	assert_int_equal(replace(t, NEW), 0);
	for (size_t i = 0; i < ELEMENTSOF(kept); i++)
		if (is_set[i])
			assert_attribute(t, kept[i], kept[i], strlen(kept[i]));
	for (size_t i = 0; i < ELEMENTSOF(left); i++)
		assert_false(has_attribute(t, left[i]));
}

static int without_administration(const struct tree *t)
{
	int fd = hear();

	if (!drop_capability(CAP_SYS_ADMIN))
		return 77;
	return replace(t, NEW) == -EPERM && said(fd, "its attribute security.test cannot be copied")
		       ? 0
		       : 1;
}

static void an_attribute_that_cannot_be_copied_refuses(void **state)
{
	const struct tree *t = *state;
	int status;

	tree_file(t, PATH, OLD);
	if (!set_attribute(t, PATH, "security.test", "x", 1))
		skip_without("attributes security.* in /tmp: %s", strerror(errno));
	status = in_child(t, without_administration);
	if (status == 77)
		skip_without("capabilities that can be dropped");
	assert_int_equal(status, 0);
	assert_text(t, PATH, OLD);
	assert_attribute(t, "security.test", "x", 1);
}

static void a_file_with_two_names_is_left(void **state)
{
	const struct tree *t = *state;
	char path[512], other[512];

	tree_file(t, PATH, OLD);
	full_path(t, PATH, path);
	full_path(t, "etc/second", other);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(replace(t, NEW), -EMLINK);
	assert_int_equal(replace(t, NULL), -EMLINK);
	assert_text(t, PATH, OLD);
	assert_text(t, "etc/second", OLD);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(replace(t, NEW), 0);
}

/* One that got its second name between the look and the exchange. */
static void a_name_or_mode_that_came_meanwhile_refuses(void **state)
{
	_cleanup_(target_done) struct target target = TARGET_NONE;
	const struct tree *t = *state;
	char path[512], other[512];

	tree_file(t, PATH, OLD);
	full_path(t, PATH, path);
	full_path(t, "etc/second", other);
	assert_int_equal(target_open(&t->fs, PATH, MAX_BYTES, &target), 0);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(target_replace(&target, NEW, strlen(NEW)), -EAGAIN);
	assert_text(t, PATH, OLD);
	assert_text(t, "etc/second", OLD);
}

static void immutable_and_append_only_files_are_left(void **state)
{
	static const int kinds[] = { FS_IMMUTABLE_FL, FS_APPEND_FL };
	const struct tree *t = *state;

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		_cleanup_(closep) int fd = -EBADF;
		int before = 0, flags, r, r_removed;

		tree_file(t, PATH, OLD);
		fd = fs_open(&t->fs, PATH, O_RDONLY);
		assert_true(fd >= 0);
		r = ioctl(fd, FS_IOC_GETFLAGS, &before);
		flags = before | kinds[i];
		if (r < 0 || ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0)
			skip_without("files in /tmp that can be made immutable: %s",
				     strerror(errno));
		r = replace(t, NEW);
		r_removed = replace(t, NULL);
		assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &before), 0);
		assert_int_equal(r, -EPERM);
		assert_int_equal(r_removed, -EPERM);
		assert_text(t, PATH, OLD);
	}
}

/* The bytes are known */

static void a_change_needs_the_bytes_that_it_was_made_for(void **state)
{
	const struct tree *t = *state;

	assert_int_equal(target_change(&t->fs, PATH, OLD, strlen(OLD), NEW, strlen(NEW)), -ENOENT);
	assert_int_equal(target_change(&t->fs, PATH, NULL, 0, OLD, strlen(OLD)), 0);
	assert_text(t, PATH, OLD);
	assert_int_equal(target_change(&t->fs, PATH, NULL, 0, NEW, strlen(NEW)), -EAGAIN);
	assert_int_equal(target_change(&t->fs, PATH, NEW, strlen(NEW), "", 0), -EAGAIN);
	assert_int_equal(target_change(&t->fs, PATH, "o", 1, "", 0), -EAGAIN);
	assert_text(t, PATH, OLD);
	assert_int_equal(target_change(&t->fs, PATH, OLD, strlen(OLD), NEW, strlen(NEW)), 0);
	assert_text(t, PATH, NEW);
	assert_int_equal(target_change(&t->fs, PATH, NEW, strlen(NEW), NULL, 0), 0);
	assert_false(fs_exists(&t->fs, PATH));
}

static int create_at_first(const struct tree *t, int n)
{
	if (n == 0)
		tree_file(t, PATH, "first\n");
	return 0;
}

static void a_file_that_another_program_made_meanwhile_stays(void **state)
{
	const struct tree *t = *state;

	set_on_rename(t, create_at_first);
	assert_int_equal(target_change(&t->fs, PATH, NULL, 0, NEW, strlen(NEW)), -EAGAIN);
	assert_text(t, PATH, "first\n");
	assert_false(fs_exists(&t->fs, "etc/.config.tmp"));
}

static void what_a_crash_left_is_found_and_removed(void **state)
{
	_cleanup_(target_done) struct target target = TARGET_NONE;
	const struct tree *t = *state;

	tree_file(t, PATH, NEW);
	tree_link(t, "lib/link", "../" PATH);
	assert_false(target_is_left(&t->fs, PATH));
	tree_file(t, TEMPORARY, OLD);
	assert_true(target_is_left(&t->fs, "lib/link"));
	assert_int_equal(target_open(&t->fs, "lib/link", MAX_BYTES, &target), 0);
	assert_false(fs_exists(&t->fs, TEMPORARY));

	/* It was killed when the file was to be removed. */
	assert_int_equal(fs_rename(&t->fs, PATH, TEMPORARY, false), 0);
	assert_true(target_is_left(&t->fs, PATH));
	assert_int_equal(target_change(&t->fs, PATH, NEW, strlen(NEW), NULL, 0), -ENOENT);
	assert_false(fs_exists(&t->fs, TEMPORARY));
}

static int set_up(void **state)
{
	set_on_rename(NULL, NULL);
	return tree_set_up(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tree_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_open_for_writing_is_left),
		TEST(a_file_that_others_read_is_replaced),
		TEST(what_a_program_writes_that_opened_it_meanwhile_is_kept),
		TEST(an_exchange_that_came_after_an_open_is_taken_back),
		TEST(a_file_that_another_program_put_there_meanwhile_stays),
		TEST(nothing_is_lost_beside_a_program_that_appends),
		TEST(nothing_is_lost_beside_a_program_that_renames),
		TEST(without_leases_times_are_compared_and_it_is_said),
		TEST(without_exchange_it_is_renamed_and_said),
		TEST(owner_mode_and_acl_are_kept),
		TEST(the_default_acl_of_the_folder_opens_nothing),
		TEST(attributes_are_kept_but_for_those_of_the_bytes),
		TEST(an_attribute_that_cannot_be_copied_refuses),
		TEST(a_file_with_two_names_is_left),
		TEST(a_name_or_mode_that_came_meanwhile_refuses),
		TEST(immutable_and_append_only_files_are_left),
		TEST(a_change_needs_the_bytes_that_it_was_made_for),
		TEST(a_file_that_another_program_made_meanwhile_stays),
		TEST(what_a_crash_left_is_found_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
