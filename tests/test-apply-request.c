/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../src/model/paths.h"
#include "../src/service/apply-request.h"
#include "tree.h"

#define MSEC USEC_PER_MSEC

struct scene {
	struct tree tree;
	pid_t service;
};

/* A service that answers each SIGHUP with the signal that came, and ends by SIGTERM. */
_Noreturn static void serve(const struct fs *fs, int ready, int answers_before)
{
	sigset_t mask;
	int fd, signal;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	fd = apply_request_listen(fs);
	if (fd < 0 || write(ready, "", 1) != 1)
		_exit(EXIT_FAILURE);
	while (sigwait(&mask, &signal) == 0)
		apply_request_answer(fs, apply_request_take(fd) - (uint64_t)answers_before, signal);
	_exit(EXIT_FAILURE);
}

static void start(struct scene *s, int answers_before)
{
	char byte;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	s->service = fork();
	assert_true(s->service >= 0);
	if (s->service == 0)
		serve(&s->tree.fs, fds[1], answers_before);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
}

static void stop(struct scene *s)
{
	kill(s->service, SIGTERM);
	assert_int_equal(waitpid(s->service, NULL, 0), s->service);
}

static int set_up(void **state)
{
	static struct scene s;

	tree_make(&s.tree);
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	tree_remove(&s->tree);
	return 0;
}

static void a_service_is_found_as_long_as_it_runs(void **state)
{
	struct scene *s = *state;
	struct apply_request req = {};

	assert_int_equal(apply_request_find(&s->tree.fs, &req), 0);
	start(s, 0);
	assert_int_equal(apply_request_find(&s->tree.fs, &req), 1);
	assert_int_equal(req.service, s->service);
	assert_int_equal(apply_request_listen(&s->tree.fs), -EBUSY);
	stop(s);
	assert_int_equal(apply_request_find(&s->tree.fs, &req), 0);
	assert_int_equal(apply_request_make(&s->tree.fs, &req), -ESRCH);
	assert_int_equal(apply_request_look(&s->tree.fs), -ESRCH);
}

static void the_exit_code_of_its_pass_comes_back(void **state)
{
	struct scene *s = *state;
	struct apply_request req = {};

	start(s, 0);
	assert_int_equal(apply_request_make(&s->tree.fs, &req), 0);
	assert_int_equal(apply_request_wait(&s->tree.fs, &req, 10000 * MSEC), SIGHUP);
	stop(s);
}

/* A pass that began before was for an earlier request, or for none. */
static void the_answer_to_an_earlier_request_is_none(void **state)
{
	struct scene *s = *state;
	struct apply_request first = {}, second = {};

	start(s, 1);
	assert_int_equal(apply_request_make(&s->tree.fs, &first), 0);
	assert_int_equal(apply_request_wait(&s->tree.fs, &first, 50 * MSEC), -ETIMEDOUT);
	assert_int_equal(apply_request_make(&s->tree.fs, &second), 0);
	assert_true(second.number > first.number);
	assert_int_equal(apply_request_wait(&s->tree.fs, &first, 10000 * MSEC), SIGHUP);
	assert_int_equal(apply_request_wait(&s->tree.fs, &second, 50 * MSEC), -ETIMEDOUT);
	/* The answer to a later one is of a later pass. */
	assert_int_equal(apply_request_answer(&s->tree.fs, second.number + 5, 3), 0);
	assert_int_equal(apply_request_wait(&s->tree.fs, &second, 50 * MSEC), 3);
	stop(s);
}

static void a_service_that_ends_is_not_waited_for(void **state)
{
	struct scene *s = *state;
	struct apply_request req = {};
	pid_t killer;

	start(s, 1);
	assert_int_equal(apply_request_make(&s->tree.fs, &req), 0);
	killer = fork();
	if (killer == 0) {
		poll(NULL, 0, 100);
		kill(s->service, SIGTERM);
		_exit(EXIT_SUCCESS);
	}
	assert_int_equal(apply_request_wait(&s->tree.fs, &req, 60000 * MSEC), -ESRCH);
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	stop(s);
}

static void another_look_is_another_signal(void **state)
{
	struct scene *s = *state;
	struct apply_request req = { .number = 0 };

	start(s, 0);
	req.service = s->service;
	assert_int_equal(apply_request_look(&s->tree.fs), 0);
	assert_int_equal(apply_request_wait(&s->tree.fs, &req, 10000 * MSEC), SIGUSR1);
	stop(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_service_is_found_as_long_as_it_runs),
		TEST(the_exit_code_of_its_pass_comes_back),
		TEST(the_answer_to_an_earlier_request_is_none),
		TEST(a_service_that_ends_is_not_waited_for),
		TEST(another_look_is_another_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
