/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../src/os/child.h"

static int child_call(struct child *c, size_t i, uint64_t limit_usec, char *ret_error, size_t size)
{
	int r = child_begin(c, i);

	return r < 0 ? r : child_end(c, now_usec() + limit_usec, ret_error, size);
}

#define MAX_CALLS 8
#define LONG_USEC (60 * USEC_PER_SEC)

/* What a call does, and what it is to give. */
struct row {
	char does; /* Done, Fails, Hangs, is Killed */
	int result;
	const char *words;
};

/* Of all processes. */
struct seen {
	pid_t pids[MAX_CALLS];
	size_t order[MAX_CALLS], n;
};

struct calls {
	const struct row *rows;
	struct seen *seen;
};

static int make_call(void *userdata, size_t i, char *error)
{
	struct calls *calls = userdata;

	calls->seen->pids[i] = getpid();
	calls->seen->order[calls->seen->n++] = i;
	switch (calls->rows[i].does) {
	case 'D':
		return 0;
	case 'F':
		snprintf(error, CHILD_ERROR_LEN, "the kernel's words");
		return -EBUSY;
	case 'K':
		raise(SIGKILL);
		break;
	default:
		for (;;)
			pause();
	}
	return -ENOSYS;
}

static struct seen *make_seen(void)
{
	struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(seen != MAP_FAILED);
	return seen;
}

static void assert_no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static void run_rows(const char *name, const struct row *rows, const char *processes)
{
	struct seen *seen = make_seen();
	struct calls calls = { rows, seen };
	struct child child = { .call = make_call, .userdata = &calls };
	const size_t n = strlen(processes);

	for (size_t i = 0; i < n; i++) {
		const uint64_t begin = now_usec();
		const bool hangs = rows[i].does == 'H';
		char error[CHILD_ERROR_LEN] = "";
		int r;

		/* Each has the time that is its own, whatever those before it took. */
		r = child_call(&child, i, hangs ? 50 * USEC_PER_MSEC : LONG_USEC, error,
			       sizeof(error));
		if (r != rows[i].result || !streq(error, rows[i].words))
			fail_msg("%s: call %zu: %s (%s)", name, i, strerror(-r), error);
		assert_true(now_usec() - begin < LONG_USEC / 2);
		assert_int_equal(seen->n, i + 1);
		assert_int_equal(seen->order[i], i);
	}
	child_done(&child);
	child_done(&child);

	/* Calls with the same letter were of the same process. */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if ((seen->pids[i] == seen->pids[k]) != (processes[i] == processes[k]))
				fail_msg("%s: processes of %zu and %zu", name, k, i);
	while (waitpid(-1, NULL, 0) > 0) /* one that was left behind, and died */
		;
	munmap(seen, sizeof(*seen));
}

static void calls_share_a_process_until_one_ends_badly(void **state _unused_)
{
#define DONE   { 'D', 0, "" }
#define FAILS  { 'F', -EBUSY, "the kernel's words" }
#define HANGS  { 'H', -ETIMEDOUT, "" }
#define KILLED { 'K', -EIO, "" }
	static const struct {
		const char *name;
		struct row rows[MAX_CALLS];
		const char *processes;
	} cases[] = {
		{ "one", { DONE }, "a" },
		{ "all are done", { DONE, DONE, DONE, DONE }, "aaaa" },
		{ "one fails", { DONE, FAILS, DONE, DONE }, "aabb" },
		{ "one hangs", { DONE, HANGS, DONE, DONE }, "aabb" },
		{ "one is killed", { DONE, KILLED, DONE, DONE }, "aabb" },
		{ "one after the other", { FAILS, HANGS, KILLED, FAILS, DONE }, "abcde" },
		{ "the last", { DONE, DONE, HANGS }, "aaa" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		run_rows(cases[i].name, cases[i].rows, cases[i].processes);
}

/* It is killed between two calls: the next one fails, and those after it have another. */
static void a_process_that_died_between_two_calls_is_noticed(void **state _unused_)
{
	static const struct row rows[] = { DONE, DONE, DONE };
	struct seen *seen = make_seen();
	struct calls calls = { rows, seen };
	struct child child = { .call = make_call, .userdata = &calls };
	char error[CHILD_ERROR_LEN] = "";

	assert_int_equal(child_call(&child, 0, LONG_USEC, error, sizeof(error)), 0);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &(siginfo_t){}, WEXITED | WNOWAIT), 0);
	assert_int_equal(child_call(&child, 1, LONG_USEC, error, sizeof(error)), -EIO);
	assert_int_equal(child_call(&child, 2, LONG_USEC, error, sizeof(error)), 0);
	assert_int_equal(seen->n, 2);
	child_done(&child);
	assert_no_child_is_left();
	munmap(seen, sizeof(*seen));
}

/* A later process has inherited the end of the earlier one, and neither waits for it. */
static void two_go_on_beside_each_other(void **state _unused_)
{
	static const struct row rows[] = { DONE, FAILS, DONE, HANGS };
	struct seen *seen = make_seen();
	struct calls calls = { rows, seen };
	struct child earlier = { .call = make_call, .userdata = &calls }, later = earlier;
	const uint64_t begin = now_usec();
	char error[CHILD_ERROR_LEN] = "";

	assert_int_equal(child_begin(&earlier, 0), 0);
	assert_int_equal(child_call(&later, 2, LONG_USEC, error, sizeof(error)), 0);
	assert_int_equal(child_end(&earlier, now_usec() + LONG_USEC, error, sizeof(error)), 0);
	assert_true(seen->pids[0] != seen->pids[2]);

	assert_int_equal(child_begin(&earlier, 1), 0);
	assert_int_equal(child_begin(&later, 3), 0);
	assert_int_equal(child_end(&earlier, now_usec() + LONG_USEC, error, sizeof(error)), -EBUSY);
	assert_string_equal(error, "the kernel's words");
	assert_true(seen->pids[0] == seen->pids[1]);
	assert_int_equal(child_end(&later, now_usec() + 50 * USEC_PER_MSEC, error, sizeof(error)),
			 -ETIMEDOUT);

	assert_int_equal(child_begin(&earlier, 0), 0);
	assert_int_equal(child_begin(&later, 2), 0);
	assert_int_equal(child_end(&later, now_usec() + LONG_USEC, error, sizeof(error)), 0);
	assert_int_equal(child_end(&earlier, now_usec() + LONG_USEC, error, sizeof(error)), 0);
	child_done(&earlier);
	child_done(&later);
	assert_true(now_usec() - begin < LONG_USEC / 2);
	while (waitpid(-1, NULL, 0) > 0) /* the one that was left behind */
		;
	munmap(seen, sizeof(*seen));
}

/* As a worker that is killed: what hangs in a call, and what waits for one, dies with it. */
static void a_child_dies_with_its_parent(void **state _unused_)
{
	static const struct row rows[] = { DONE, { 'H', 0, "" } };

	for (size_t last = 0; last < ELEMENTSOF(rows); last++) {
		struct seen *seen = make_seen();
		struct calls calls = { rows, seen };
		struct child child = { .call = make_call, .userdata = &calls };
		char error[CHILD_ERROR_LEN], end;
		int fds[2];
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			for (size_t i = 0; i <= last; i++)
				child_call(&child, i, LONG_USEC, error, sizeof(error));
			for (;;)
				pause();
		}
		close(fds[1]);
		while (__atomic_load_n(&seen->n, __ATOMIC_SEQ_CST) <= last)
			usleep(1000);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		/* Its end is the last one of the pipe. */
		assert_int_equal(read(fds[0], &end, 1), 0);
		close(fds[0]);
		munmap(seen, sizeof(*seen));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_share_a_process_until_one_ends_badly),
		cmocka_unit_test(a_process_that_died_between_two_calls_is_noticed),
		cmocka_unit_test(two_go_on_beside_each_other),
		cmocka_unit_test(a_child_dies_with_its_parent),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
