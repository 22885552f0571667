/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "../src/hand-over.h"
#include "../src/worker.h"

/* What is handed over: each byte of each field is set, but for those of addresses. */
struct handed {
	struct device_config devices[3];
	struct config config;
	struct link_log link_log;
	struct hand_over h;
};

static void give(struct handed *g)
{
	static char first[] = "driver:mlx5_core pci:*", empty[] = "";

	memset(g, 1, sizeof(*g));
	memset(&g->devices[1], 2, sizeof(g->devices[1]));
	g->devices[0].match = first;
	g->devices[1].match = NULL;
	g->devices[2].match = empty;
	g->config.devices = g->devices;
	g->config.n_devices = ELEMENTSOF(g->devices);
	g->h.config = NULL;
	g->h.link_log = NULL;
	g->h.pass.config = &g->config;
	g->h.pass.link_log = &g->link_log;
	g->h.pass.make_plan = NULL;
}

static void assert_device(const struct device_config *got, struct device_config want)
{
	if (want.match)
		assert_string_equal(got->match, want.match);
	else
		assert_null(got->match);
	want.match = got->match;
	assert_memory_equal(got, &want, sizeof(want));
}

/* @g: is changed where @got has addresses of its own. */
static void assert_given(const struct hand_over *got, struct handed *g)
{
	const struct config *c = got->pass.config;

	assert_ptr_equal(c, got->config);
	assert_ptr_equal(got->pass.link_log, got->link_log);
	assert_int_equal(c->n_devices, ELEMENTSOF(g->devices));
	for (size_t i = 0; i < c->n_devices; i++)
		assert_device(&c->devices[i], g->devices[i]);
	g->config.devices = c->devices;
	assert_memory_equal(c, &g->config, sizeof(*c));

	if (g->h.pass.link_log)
		assert_memory_equal(got->link_log, &g->link_log, sizeof(g->link_log));
	else
		assert_null(got->link_log);
	g->h.config = got->config;
	g->h.link_log = got->link_log;
	g->h.pass.config = got->config;
	g->h.pass.link_log = got->link_log;
	assert_memory_equal(got, &g->h, sizeof(*got));
}

static int hand_over(const struct handed *g)
{
	int fd = hand_over_write(&g->h);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	return fd;
}

static void all_that_is_given_arrives(_unused_ void **state)
{
	for (int has_log = 0; has_log < 2; has_log++) {
		_cleanup_(hand_over_done) struct hand_over got = {};
		_cleanup_(closep) int fd = -EBADF;
		struct handed g;

		give(&g);
		if (!has_log)
			g.h.pass.link_log = NULL;
		fd = hand_over(&g);
		assert_int_equal(hand_over_read(fd, &got), 0);
		assert_given(&got, &g);
	}
}

static void assert_refused(int fd)
{
	struct hand_over got = {};

	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	assert_int_equal(hand_over_read(fd, &got), -EBADMSG);
	assert_null(got.config);
}

static void what_is_cut_anywhere_or_goes_on_is_refused(_unused_ void **state)
{
	_cleanup_(closep) int fd = -EBADF;
	struct handed g;
	off_t size;

	give(&g);
	fd = hand_over(&g);
	size = lseek(fd, 0, SEEK_END);
	assert_true(size > (off_t)sizeof(g.config));
	assert_int_equal(ftruncate(fd, size + 1), 0);
	assert_refused(fd);
	while (size-- > 0) {
		assert_int_equal(ftruncate(fd, size), 0);
		assert_refused(fd);
	}
}

static void what_another_build_wrote_is_refused(_unused_ void **state)
{
	_cleanup_(closep) int fd = -EBADF, none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct handed g;

	give(&g);
	fd = hand_over(&g);
	for (off_t at = 0; at < 64; at++) {
		char byte, other;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = (char)(byte + 1);
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		assert_refused(fd);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_refused(none);
}

/* Return: the code of waitid(). */
static int run(const char *program, struct worker_message *ret)
{
	_cleanup_(closep) int fd = open(program, O_PATH | O_CLOEXEC);
	struct pollfd p = { .events = POLLIN };
	struct worker w = {};
	siginfo_t si = {};
	struct handed g;
	int r;

	give(&g);
	assert_true(fd >= 0);
	assert_int_equal(worker_start(fd, &g.h.pass, true, &w), 0);
	assert_int_equal(waitid(P_PID, (id_t)w.pid, &si, WEXITED), 0);
	p.fd = w.pipe;
	assert_int_equal(poll(&p, 1, 0), 1);
	r = worker_read(&w, ret);
	worker_done(&w);
	assert_int_equal(w.pid, 0);
	assert_int_equal(r, ret->kind == WORKER_ENDS ? 1 : -EPIPE);
	return si.si_status;
}

static void a_program_that_cannot_be_run_is_a_failed_pass(_unused_ void **state)
{
	struct worker_message m = { .kind = WORKER_LOOKED };

	assert_int_equal(run("/bin/false", &m), EXIT_FAILURE);
	assert_int_equal(m.kind, WORKER_LOOKED);

	assert_int_equal(run("/dev/null", &m), EXIT_SUCCESS);
	assert_int_equal(m.kind, WORKER_ENDS);
	assert_int_equal(m.error, -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_given_arrives),
		cmocka_unit_test(what_is_cut_anywhere_or_goes_on_is_refused),
		cmocka_unit_test(what_another_build_wrote_is_refused),
		cmocka_unit_test(a_program_that_cannot_be_run_is_a_failed_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
