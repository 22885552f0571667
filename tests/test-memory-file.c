/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/os/memory-file.h"
#include "tree.h"

static const struct manifest_record pod = { "/run/pod.yaml" };

static int set_up(void **state)
{
	static struct tree t;

	tree_make(&t);
	*state = &t;
	return 0;
}

static int tear_down(void **state)
{
	tree_remove(*state);
	return 0;
}

static void keys_of_others_stay(void **state)
{
	const struct tree *t = *state;
	_owns_(struct output_records, entries) l = {};
	struct output_record nfd = { OUTPUT_NFD, "/run/nfd" };
	const struct output_records files = { &nfd, 1 }, none = {};
	struct manifest_record back = {}, nothing = {};
	const struct memory_table tables[] = { { &manifest_record_fields, &back },
					       { &output_records_fields, &l } };

	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &output_records_fields, &none), 0);
	assert_false(fs_exists(&t->fs, MEMORY_NODE_PATH));
	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &manifest_record_fields, &pod), 0);
	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &output_records_fields, &files), 0);
	assert_int_equal(memory_read(&t->fs, MEMORY_NODE, &manifest_record_fields, &back), 0);
	assert_string_equal(back.path, pod.path);
	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &manifest_record_fields, &nothing), 0);
	back = nothing;
	assert_int_equal(memory_read_tables(&t->fs, MEMORY_NODE, tables, ELEMENTSOF(tables)), 0);
	assert_int_equal(l.n_entries, 1);
	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &output_records_fields, &none), 0);
	assert_false(fs_exists(&t->fs, MEMORY_NODE_PATH));
}

/* What it had is lost; what cannot even be read may be there still. */
static void what_is_damaged_is_replaced_and_what_cannot_be_read_is_not(void **state)
{
	const struct tree *t = *state;
	struct manifest_record back = {};

	tree_file(t, MEMORY_NODE_PATH, "{\"manifest\": \"/a\"");
	assert_int_equal(memory_read(&t->fs, MEMORY_NODE, &manifest_record_fields, &back), 0);
	assert_string_equal(back.path, "");
	assert_int_equal(memory_write(&t->fs, MEMORY_NODE, &manifest_record_fields, &pod), 0);
	assert_int_equal(memory_read(&t->fs, MEMORY_NODE, &manifest_record_fields, &back), 0);
	assert_string_equal(back.path, pod.path);

	tree_file(t, MEMORY_NODE_PATH, "{\"m\\u0061nifest\": \"/a\"}"); /* JSON for "manifest" */
	assert_int_equal(memory_read(&t->fs, MEMORY_NODE, &manifest_record_fields, &back), 0);
	assert_string_equal(back.path, "/a");

	fs_remove(&t->fs, MEMORY_NODE_PATH);
	tree_file(t, MEMORY_NODE_PATH "/in-a-folder", "");
	back = (struct manifest_record){};
	assert_int_equal(memory_read(&t->fs, MEMORY_NODE, &manifest_record_fields, &back), 0);
	assert_string_equal(back.path, "");
	assert_true(memory_write(&t->fs, MEMORY_NODE, &manifest_record_fields, &pod) < 0);
	assert_true(fs_exists(&t->fs, MEMORY_NODE_PATH "/in-a-folder"));
}

/* Each of two processes has a key of its own, and neither loses what the other one wrote. */
static void two_write_beside_each_other(void **state)
{
	enum {
		TIMES = 100
	};
	const struct tree *t = *state;
	struct autoprobe_entry entries[TIMES];
	struct ledger_entry changes[TIMES] = {};
	_owns_(struct autoprobes, entries) off = {};
	_cleanup_(ledger_done) struct ledger noted = {};
	pid_t child;
	int status;

	assert_int_equal(fs_make_folders(&t->fs, RUN_FOLDER), 0);
	for (int i = 0; i < TIMES; i++) {
		entries[i] = (struct autoprobe_entry){ "b", "p" };
		COPY(changes[i].verb, "set-mtu");
	}
	child = fork();
	assert_true(child >= 0);
	for (size_t n = 1; n <= TIMES; n++) {
		const struct autoprobes l = { entries, n };
		const struct ledger c = { changes, n };
		int r = child == 0 ? memory_write(&t->fs, MEMORY_BOOT, &autoprobes_fields, &l)
				   : memory_write(&t->fs, MEMORY_BOOT, &ledger_fields, &c);

		if (child == 0 && r < 0)
			_exit(1);
		assert_int_equal(r, 0);
	}
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(memory_read(&t->fs, MEMORY_BOOT, &autoprobes_fields, &off), 0);
	assert_int_equal(memory_read(&t->fs, MEMORY_BOOT, &ledger_fields, &noted), 0);
	assert_int_equal(off.n_entries, TIMES);
	assert_int_equal(noted.n_entries, TIMES);
}

/* A process, until it is killed, that has a lock: on the folder, as any user may, or our own. */
static pid_t lock_elsewhere(const struct tree *t, const char *path, int flags)
{
	int fds[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (flock(fs_open(&t->fs, path, flags), LOCK_EX) < 0 || write(fds[1], "", 1) < 0)
			_exit(1);
		_exit(pause());
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void a_lock_of_another_user_or_process_keeps_no_writer_for_ever(void **state)
{
	static const struct {
		const char *path;
		int flags, result;
	} cases[] = {
		{ RUN_FOLDER, O_RDONLY | O_DIRECTORY, 0 },
		{ MEMORY_LOCK_PATH, O_RDWR, -ETIMEDOUT },
	};
	const struct tree *t = *state;
	const struct plugin_record some = { .text = "0123456789abcdef /run/x/config.json" },
				   none = {};
	struct stat st;

	assert_int_equal(fs_make_folders(&t->fs, RUN_FOLDER), 0);
	assert_int_equal(memory_write(&t->fs, MEMORY_BOOT, &plugin_record_fields, &some), 0);
	assert_int_equal(fstatat(t->fs.root, MEMORY_LOCK_PATH, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		pid_t pid = lock_elsewhere(t, cases[i].path, cases[i].flags);

		alarm(15); /* the test is over when the write never is */
		assert_int_equal(memory_write(&t->fs, MEMORY_BOOT, &plugin_record_fields, &none),
				 cases[i].result);
		alarm(0);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	assert_int_equal(memory_write(&t->fs, MEMORY_BOOT, &plugin_record_fields, &none), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_of_others_stay),
		TEST(what_is_damaged_is_replaced_and_what_cannot_be_read_is_not),
		TEST(two_write_beside_each_other),
		TEST(a_lock_of_another_user_or_process_keeps_no_writer_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
