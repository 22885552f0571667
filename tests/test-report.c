/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "../src/pass/report.h"

/* What @tell writes to the journal, which is stderr here. */
static void heard(const struct plan *p, const struct news *news, size_t n, char *ret, size_t size)
{
	_cleanup_(closep) int file = memfd_create("heard", MFD_CLOEXEC), real = dup(STDERR_FILENO);
	ssize_t len;

	assert_true(file >= 0 && real >= 0);
	assert_true(dup2(file, STDERR_FILENO) >= 0);
	report_news(p, news, n);
	assert_true(dup2(real, STDERR_FILENO) >= 0);
	len = pread(file, ret, size - 1, 0);
	assert_true(len >= 0);
	ret[len] = '\0';
}

static void what_is_no_deviation_is_not_reported(void **state _unused_)
{
	struct plan p = {};
	char text[4096];

	for (enum reason r = REASON_NONE + 1; r < _REASON_N; r++) {
		struct news news = { .reason = r };

		COPY(news.target, "0000:51:00.1");
		for (int is_over = 0; is_over < 2; is_over++) {
			news.is_over = is_over;
			heard(&p, &news, 1, text, sizeof(text));
			assert_int_equal(text[0] != '\0', reason_severity(r) != SEVERITY_NONE);
		}
	}
	assert_int_equal(reason_severity(REASON_IN_POD), SEVERITY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_deviation_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
