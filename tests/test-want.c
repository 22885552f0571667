/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Want: a wish and its end, against processes that do what a path unit and its oneshot do to the
 * two folders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/os/want.h"
#include "tree.h"

#define SYSTEMD "run/systemd/system/x"
#define RULES   "run/rdma-provision/want/rules"
#define UNITS   "run/rdma-provision/want/units"
#define WORK    "run/rdma-provision-work/reload"
#define STOP    "stop" /* the end of the test */

/* The oneshot's side runs in a process of its own, and may use these. */

static void wait_for(const struct fs *fs, const char *path)
{
	while (fs_exists(fs, path) == 0)
		usleep(1000);
}

static void begin_work(const struct fs *fs)
{
	if (fs_make_folders(fs, WORK) < 0)
		_exit(2);
}

static void end_work(const struct fs *fs)
{
	if (unlinkat(fs->root, WORK, AT_REMOVEDIR) < 0)
		_exit(3);
}

/* want_make() removes a wish that is there, and makes it anew: between the two there is none. */
static void take(const struct fs *fs, enum want what)
{
	int r;

	while ((r = want_take(fs, what)) == 0)
		usleep(1000);
	if (r != 1)
		_exit(4);
}

static void run_once(const struct fs *fs)
{
	wait_for(fs, RULES);
	begin_work(fs);
	take(fs, WANT_RULES);
	usleep(50000);
	if (want_take(fs, WANT_RULES) != 0)
		_exit(5);
	end_work(fs);
}

/* systemd before 246: a wish that came during the run is found only when it is made again. */
static void run_deaf(const struct fs *fs)
{
	struct stat before, st;

	wait_for(fs, RULES);
	if (fs_stat(fs, RULES, &before) < 0)
		_exit(6);
	end_work(fs);
	do {
		usleep(1000);
	} while (fs_stat(fs, RULES, &st) < 0 || st.st_ino == before.st_ino);
	begin_work(fs);
	take(fs, WANT_RULES);
	end_work(fs);
}

/* From 246 on each wish that is there has a run, at once. */
static void run_each(const struct fs *fs)
{
	for (; fs_exists(fs, STOP) == 0; usleep(1000)) {
		if (fs_exists(fs, RULES) == 0)
			continue;
		begin_work(fs);
		take(fs, WANT_RULES);
		end_work(fs);
	}
}

static void run_again(const struct fs *fs)
{
	wait_for(fs, RULES);
	usleep(20000);
	end_work(fs);
	run_each(fs);
}

/* Another wish that the same oneshot carries out. */
static void run_for_another(const struct fs *fs)
{
	wait_for(fs, RULES);
	begin_work(fs);
	if (want_take(fs, WANT_UNITS) != 0)
		_exit(7);
	take(fs, WANT_RULES);
	end_work(fs);
}

static void stay_away(const struct fs *fs _unused_)
{
}

static void hang(const struct fs *fs)
{
	wait_for(fs, RULES);
	begin_work(fs);
	take(fs, WANT_RULES);
}

static void a_wish_is_carried_out_or_has_failed(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*run)(const struct fs *fs);
		bool is_working; /* already before the wish */
		bool is_left;    /* a wish of before is there still */
		int expected;
	} rows[] = {
		{ "one run", run_once, false, false, 0 },
		{ "a wish that was left", run_each, false, true, 0 },
		{ "during a run, before 246", run_deaf, true, false, 0 },
		{ "during a run", run_again, true, false, 0 },
		{ "two wishes", run_for_another, false, false, 0 },
		{ "nobody takes it", stay_away, false, false, -EHOSTDOWN },
		{ "the run does not end", hang, false, false, -ETIMEDOUT },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const bool is_good = rows[i].expected == 0;
		struct tree t;
		int status;
		pid_t pid;

		tree_make(&t);
		tree_file(&t, SYSTEMD, "");
		if (rows[i].is_working)
			assert_int_equal(fs_make_folders(&t.fs, WORK), 0);
		if (rows[i].is_left)
			tree_file(&t, RULES, "");
		pid = fork();
		if (pid == 0) {
			alarm(60);
			rows[i].run(&t.fs);
			_exit(0);
		}
		if (want_make(&t.fs, WANT_RULES, is_good ? 20 * USEC_PER_SEC : USEC_PER_SEC / 2) !=
		    rows[i].expected)
			fail_msg("%s", rows[i].name);
		tree_file(&t, STOP, "");
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status != 0)
			fail_msg("%s: %x", rows[i].name, status);
		assert_int_equal(fs_exists(&t.fs, RULES), 0); /* taken or withdrawn */
		tree_remove(&t);
	}
}

static void without_systemd_nobody_waits(_unused_ void **state)
{
	struct tree t;

	tree_make(&t);
	assert_int_equal(want_make(&t.fs, WANT_UNITS, 20 * USEC_PER_SEC), -EHOSTDOWN);
	assert_int_equal(fs_exists(&t.fs, UNITS), 0);
	assert_int_equal(want_take(&t.fs, WANT_UNITS), 0);
	tree_remove(&t);
}

/* The folder belongs to the service, and the oneshot may do more. */
static void a_link_leads_the_oneshot_nowhere(_unused_ void **state)
{
	struct tree t;

	tree_make(&t);
	tree_file(&t, "etc/rules", "");
	tree_link(&t, "run/rdma-provision/want", "../../etc");
	assert_int_equal(want_take(&t.fs, WANT_RULES), -ELOOP);
	assert_int_equal(fs_exists(&t.fs, "etc/rules"), 1);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wish_is_carried_out_or_has_failed),
		cmocka_unit_test(without_systemd_nobody_waits),
		cmocka_unit_test(a_link_leads_the_oneshot_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
