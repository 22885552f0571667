/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper: a question and its answer over a datagram and a descriptor, what becomes of either side
 * when the other one misbehaves, and what the helper for systemd accepts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../src/os/helper.h"
#include "../src/os/manager.h"
#include "tree.h"

#define QUESTION "load mlx5_ib"

static int open_server(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	COPY(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	poll(&p, 1, 20000);
}

/* Serves one question in a process of its own: @raw instead of a proper answer. NULL: none. */
static pid_t play(int server, int result, const char *text, const char *raw)
{
	struct helper_question q = { .fd = -EBADF };
	const pid_t pid = fork();

	if (pid > 0)
		return pid;
	wait_readable(server);
	if (helper_take(server, &q) < 0 || !streq(q.text, QUESTION))
		_exit(1);
	if (raw)
		_exit(write(q.fd, raw, strlen(raw)) == (ssize_t)strlen(raw) ? 0 : 1);
	_exit(helper_answer(&q, result, text) < 0);
}

static void a_question_is_answered_or_has_failed(_unused_ void **state)
{
	static char large[200000];
	static const struct {
		int result;
		const char *text, *raw;
		int expected;
	} rows[] = {
		{ 0, "done", NULL, 0 },
		{ 1, "", NULL, 1 },
		{ 0, NULL, NULL, 0 },
		{ -EBUSY, "words\nof two lines", NULL, -EBUSY },
		{ 0, large, NULL, 0 },
		{ 0, NULL, "", -EIO },
		{ 0, NULL, "0", -EBADMSG },
		{ 0, NULL, "none\n", -EBADMSG },
		{ 0, NULL, "\n", -EBADMSG },
		{ 0, NULL, "-99999\n", -EBADMSG },
		{ 0, NULL, "99999999999999999999\n", -EBADMSG },
	};

	memset(large, 'x', sizeof(large) - 1);
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *answer = NULL;
		_cleanup_(closep) int server = -EBADF;
		char path[96];
		struct tree t;
		int status;
		pid_t pid;

		tree_make(&t);
		snprintf(path, sizeof(path), "%s/socket", t.root);
		server = open_server(path);
		pid = play(server, rows[i].result, rows[i].text, rows[i].raw);
		assert_int_equal(helper_ask(path, QUESTION, 20 * USEC_PER_SEC, &answer),
				 rows[i].expected);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		if (!rows[i].raw)
			assert_string_equal(answer, rows[i].text ? rows[i].text : "");
		else
			assert_null(answer);
		tree_remove(&t);
	}
}

static void nobody_waits_for_a_helper_that_does_not_answer(_unused_ void **state)
{
	static char long_one[HELPER_QUESTION_LEN + 1];
	struct helper_question q = { .fd = -EBADF };
	_cleanup_(closep) int server = -EBADF;
	char path[96];
	struct tree t;

	tree_make(&t);
	snprintf(path, sizeof(path), "%s/socket", t.root);
	assert_int_equal(helper_ask(path, QUESTION, USEC_PER_SEC, NULL), -EHOSTDOWN);
	assert_int_equal(helper_wake(path), -EHOSTDOWN);
	server = open_server(path);
	/* It is started, and asked nothing. */
	assert_int_equal(helper_wake(path), 0);
	assert_int_equal(helper_take(server, &q), -ESRCH);
	assert_int_equal(helper_ask(path, QUESTION, 100 * USEC_PER_MSEC, NULL), -ETIMEDOUT);
	memset(long_one, 'x', sizeof(long_one) - 1);
	assert_int_equal(helper_ask(path, long_one, USEC_PER_SEC, NULL), -EMSGSIZE);

	/* It is there still, but nobody wants it any more. */
	assert_int_equal(helper_take(server, &q), -ESRCH);
	assert_int_equal(helper_take(server, &q), -EAGAIN);
	assert_int_equal(q.fd, -EBADF);
	close(TAKE_FD(server));
	assert_int_equal(helper_ask(path, QUESTION, USEC_PER_SEC, NULL), -EHOSTDOWN);
	tree_remove(&t);
}

/* Sends @n descriptors with the text. */
static void send_odd(const char *path, const void *text, size_t size, int n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { .header = { CMSG_LEN((size_t)n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec io = { (void *)text, size };
	struct msghdr m = { &to, sizeof(to), &io, 1, &control, n > 0 ? sizeof(control) : 0, 0 };
	_cleanup_(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int zero[] = { fd, fd };

	COPY(to.sun_path, path);
	memcpy(CMSG_DATA(&control.header), zero, sizeof(zero));
	assert_int_equal(sendmsg(fd, &m, 0), size);
}

static size_t count_descriptors(void)
{
	_cleanup_(closedirp) DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	return n;
}

static void what_is_no_question_is_refused(_unused_ void **state)
{
	static const struct {
		const char *text;
		size_t size;
		int n_descriptors;
	} rows[] = { { "load", 4, 0 }, { "load\0x", 6, 1 }, { "load", 4, 2 } };
	struct helper_question q = { .fd = -EBADF };
	_cleanup_(closep) int server = -EBADF;
	char path[96], *large;
	struct tree t;
	size_t before;

	tree_make(&t);
	snprintf(path, sizeof(path), "%s/socket", t.root);
	server = open_server(path);
	before = count_descriptors();
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		send_odd(path, rows[i].text, rows[i].size, rows[i].n_descriptors);
		assert_int_equal(helper_take(server, &q), -EBADMSG);
	}
	large = malloc(HELPER_QUESTION_LEN);
	memset(large, 'x', HELPER_QUESTION_LEN);
	send_odd(path, large, HELPER_QUESTION_LEN, 1);
	assert_int_equal(helper_take(server, &q), -EBADMSG);
	assert_int_equal(count_descriptors(), before);
	free(large);
	tree_remove(&t);
}

static void systemd_is_asked_for_nothing_else(_unused_ void **state)
{
	static const struct {
		const char *question;
		int expected;
	} rows[] = {
		{ "unit sshd.service", -EPERM },
		{ "unit ", -EPERM },
		{ "unit", -EOPNOTSUPP },
		{ "start sshd.service", -EOPNOTSUPP },
		{ "", -EOPNOTSUPP },
		{ "units", -EOPNOTSUPP },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *answer = NULL;

		assert_int_equal(manager_serve(rows[i].question, &answer), rows[i].expected);
		assert_null(answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered_or_has_failed),
		cmocka_unit_test(nobody_waits_for_a_helper_that_does_not_answer),
		cmocka_unit_test(what_is_no_question_is_refused),
		cmocka_unit_test(systemd_is_asked_for_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
