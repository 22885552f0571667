/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/pace.h"

#define SEC  USEC_PER_SEC
#define MSEC USEC_PER_MSEC

static void
a_pass_begins_when_it_is_quiet_and_a_storm_puts_it_off_for_five_seconds(void **state _unused_)
{
	static const struct {
		uint64_t event, storm, not_before, wanted;
	} cases[] = {
		{ 100 * SEC, 100 * SEC, 0, 100 * SEC + 500 * MSEC },
		{ 104 * SEC, 100 * SEC, 0, 104 * SEC + 500 * MSEC },
		{ 105 * SEC, 100 * SEC, 0, 105 * SEC }, /* events for five seconds */
		{ 900 * SEC, 100 * SEC, 0, 105 * SEC },
		{ 100 * SEC, 100 * SEC, 103 * SEC, 103 * SEC }, /* a loss needs two looks */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_int_equal(pace_settle(500 * MSEC, cases[i].event, cases[i].storm,
					     cases[i].not_before),
				 cases[i].wanted);
}

static void what_failed_is_tried_again_at_growing_intervals(void **state _unused_)
{
	static const uint64_t intervals[] = { 10, 20, 40, 80, 160, 320, 600, 600 };
	const struct pass_result failed = { .n_failed = 1 }, good = {};

	for (int has_result = 0; has_result < 2; has_result++) {
		uint64_t now = 1000 * SEC;
		struct pace p;

		pace_start(&p);
		assert_true(p.retry_at_usec == PACE_NEVER);
		for (size_t i = 0; i < ELEMENTSOF(intervals); i++) {
			assert_true(pace_after(&p, has_result ? &failed : NULL, SEC, false, now) ==
				    PACE_NEVER);
			assert_int_equal(p.retry_at_usec, now + intervals[i] * SEC);
			now = p.retry_at_usec;
		}
		pace_after(&p, &good, SEC, false, now);
		assert_true(p.retry_at_usec == PACE_NEVER);
		pace_after(&p, &failed, SEC, false, now);
		assert_int_equal(p.retry_at_usec, now + 10 * SEC);
	}
}

static void events_do_not_put_a_retry_off(void **state _unused_)
{
	const struct pass_result failed = { .n_failed = 1 };
	struct pace p;

	pace_start(&p);
	pace_after(&p, &failed, SEC, false, 100 * SEC);
	pace_after(&p, &failed, SEC, false, 105 * SEC);
	assert_int_equal(p.retry_at_usec, 110 * SEC);
}

static void a_new_configuration_begins_the_intervals_again(void **state _unused_)
{
	struct pace p;

	pace_start(&p);
	pace_after(&p, NULL, SEC, false, 100 * SEC);
	pace_after(&p, NULL, SEC, false, 110 * SEC);
	pace_renew(&p);
	pace_after(&p, NULL, SEC, false, 200 * SEC);
	assert_int_equal(p.retry_at_usec, 210 * SEC);
}

static void what_is_waited_for_is_looked_at_without_an_event(void **state _unused_)
{
	static const struct {
		struct pass_result result;
		bool is_due;
		uint64_t first, second; /* after the pass; PACE_NEVER: not at all */
	} cases[] = {
		{ {}, false, PACE_NEVER, PACE_NEVER },
		{ { .n_waiting = 1 }, false, 50 * MSEC, 100 * MSEC },
		{ { .n_waiting = 1 }, true, 2 * SEC, 4 * SEC },
		{ { .n_lost = 1 }, false, SEC, SEC }, /* SettleSec= apart */
		{ { .n_silent = 1 }, false, 30 * SEC, 30 * SEC },
		{ { .again_usec = 107 * SEC }, false, 7 * SEC, 7 * SEC },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const uint64_t now = 100 * SEC;
		const uint64_t wanted[] = { cases[i].first, cases[i].second };
		struct pace p;

		pace_start(&p);
		for (size_t k = 0; k < ELEMENTSOF(wanted); k++)
			assert_true(pace_after(&p, &cases[i].result, SEC, cases[i].is_due, now) ==
				    (wanted[k] == PACE_NEVER ? PACE_NEVER : now + wanted[k]));
		pace_hurry(&p);
		assert_true(pace_after(&p, &cases[i].result, SEC, cases[i].is_due, now) ==
			    (wanted[0] == PACE_NEVER ? PACE_NEVER : now + wanted[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_pass_begins_when_it_is_quiet_and_a_storm_puts_it_off_for_five_seconds),
		cmocka_unit_test(what_failed_is_tried_again_at_growing_intervals),
		cmocka_unit_test(events_do_not_put_a_retry_off),
		cmocka_unit_test(a_new_configuration_begins_the_intervals_again),
		cmocka_unit_test(what_is_waited_for_is_looked_at_without_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
