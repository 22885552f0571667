/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../src/service/worker.h"

#define SEC USEC_PER_SEC

static int read_score(void)
{
	_cleanup_(closep) int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	return fd < 0 || read(fd, text, sizeof(text) - 1) < 0 ? INT_MIN : atoi(text);
}

static void write_score(int score)
{
	_cleanup_(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	assert_true(dprintf(fd, "%d", score) > 0);
}

int __wrap_loop_pass(const struct world *w, const struct pass *pass, struct pass_result *ret);

/* Its summary tells in which state the worker is. */
int __wrap_loop_pass(_unused_ const struct world *w, const struct pass *pass,
		     struct pass_result *ret)
{
	sigset_t blocked;

	if (pass->on_looked)
		pass->on_looked(pass->userdata, true);
	if (sigprocmask(SIG_BLOCK, NULL, &blocked) < 0)
		return -errno;
	snprintf(ret->summary, sizeof(ret->summary), "TERM %d, HUP %d, memory %d",
		 sigismember(&blocked, SIGTERM), sigismember(&blocked, SIGHUP), read_score());
	return 0;
}

/* What the service does to itself before. */
static void be_service(sigset_t *ret_mask)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	assert_int_equal(sigprocmask(SIG_BLOCK, &mask, ret_mask), 0);
}

/* @m: the message that comes next. */
static void read_next(struct worker *w, struct worker_message *m)
{
	struct pollfd p = { .fd = w->pipe, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(worker_read(w, m), 1);
}

static void a_worker_can_be_ended_goes_first_and_has_the_journal_alone_open(void **state _unused_)
{
	const int score = read_score();
	const struct pass pass = {};
	struct worker_message m = {};
	struct worker w = {};
	int status, of_service[2], of_journal[2];
	sigset_t mask;
	char byte;

	be_service(&mask);
	write_score(500);
	assert_int_equal(pipe2(of_service, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, of_journal), 0);
	assert_int_equal(worker_start(&pass, true, &w), 0);
	write_score(score);
	read_next(&w, &m);
	assert_int_equal(m.kind, WORKER_LOOKED);
	assert_true(m.is_ready);
	close(of_service[1]);
	assert_int_equal(read(of_service[0], &byte, 1), 0); /* nobody else has it open */
	close(of_service[0]);
	close(of_journal[1]);
	assert_int_equal(send(of_journal[0], &byte, 1, 0), 1); /* the worker logs by it */
	close(of_journal[0]);
	assert_int_equal(waitpid(w.pid, &status, WNOHANG), 0);
	assert_int_equal(worker_release(&w), 0);
	read_next(&w, &m);
	assert_int_equal(m.kind, WORKER_ENDS);
	assert_int_equal(m.error, 0);
	assert_string_equal(m.result.summary, "TERM 0, HUP 0, memory 0");
	assert_int_equal(waitpid(w.pid, &status, 0), w.pid);
	assert_int_equal(status, 0);
	assert_int_equal(worker_read(&w, &m), -EPIPE);
	worker_done(&w);
	assert_int_equal(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
}

static void a_worker_is_given_up_after_the_longest_of_its_actions(void **state _unused_)
{
	static const struct {
		enum worker_message_kind kind;
		uint64_t at_sec, deadline_sec, limit_sec;
	} rows[] = {
		{ WORKER_STARTS, 0, 0, 60 },    { WORKER_STARTS, 10, 120, 190 },
		{ WORKER_STARTS, 20, 30, 190 }, /* beside it */
		{ WORKER_WAITS, 30, 0, 190 },   { WORKER_STARTS, 180, 30, 270 },
	};
	uint64_t limit_usec = 0;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const struct worker_message m = { .kind = rows[i].kind,
						  .deadline_usec = rows[i].deadline_sec * SEC };

		limit_usec = worker_limit(&m, rows[i].at_sec * SEC, limit_usec);
		assert_int_equal(limit_usec, rows[i].limit_sec * SEC);
	}
}

/* While another pass has the lock that may take an hour, and the pass itself no longer than else.
 */
static void the_time_for_the_lock_is_not_left_to_the_pass(void **state _unused_)
{
	const struct worker_message waits = { .kind = WORKER_LOCKS, .deadline_usec = 3600 * SEC },
				    has = { .kind = WORKER_LOCKS };
	uint64_t limit_usec;

	limit_usec = worker_limit(&waits, 1 * SEC, 60 * SEC);
	assert_int_equal(limit_usec, 3661 * SEC);
	limit_usec = worker_limit(&has, 100 * SEC, limit_usec);
	assert_int_equal(limit_usec, 160 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_can_be_ended_goes_first_and_has_the_journal_alone_open),
		cmocka_unit_test(a_worker_is_given_up_after_the_longest_of_its_actions),
		cmocka_unit_test(the_time_for_the_lock_is_not_left_to_the_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
