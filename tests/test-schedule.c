/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/service/schedule.h"

#define SEC   USEC_PER_SEC
#define MSEC  USEC_PER_MSEC
#define START (100 * SEC)

static const struct config config = {
	.service = { .ready_timeout_usec = 300 * SEC, .settle_usec = SEC },
};
static const struct pass_result starting = { .state = NODE_STARTING },
				ready = { .state = NODE_READY },
				failed = { .state = NODE_READY, .n_failed = 1 };

static unsigned at(struct schedule *s, uint64_t now_usec, enum schedule_event event,
		   const struct pass_result *result)
{
	const struct schedule_input in = { .now_usec = now_usec,
					   .is_whole = true,
					   .is_other = true,
					   .config = &config,
					   .result = result };

	return schedule_event(s, event, &in);
}

/* A service after its first pass. */
static struct schedule begun(const struct pass_result *result)
{
	struct schedule s;

	schedule_start(&s, false, &config, START);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START);
	assert_int_equal(at(&s, START, TIMER_SETTLE, NULL), DO_PASS);
	assert_true(s.was_first && s.was_retry);
	at(&s, START, EVENT_RESULT, result);
	return s;
}

static void
a_pass_begins_when_it_is_quiet_and_a_storm_puts_it_off_for_five_seconds(void **state _unused_)
{
	struct schedule s = begun(&ready);

	for (uint64_t usec = 0; usec < 20 * SEC; usec += 100 * MSEC) {
		const uint64_t now = START + 10 * SEC + usec;

		at(&s, now, EVENT_CHANGED, NULL);
		assert_int_equal(s.at_usec[TIMER_SETTLE],
				 MIN(now + SEC, START + 10 * SEC + 5 * SEC));
	}
	assert_int_equal(at(&s, START + 30 * SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 30 * SEC, TIMER_SETTLE, NULL), 0); /* it runs already */

	/* The next storm counts from its own first event. */
	at(&s, START + 40 * SEC, EVENT_RESULT, &ready);
	at(&s, START + 50 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + 51 * SEC);

	/* No storm is shorter than the quiet that is asked for. */
	s.settle_usec = 30 * SEC;
	at(&s, START + 51 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + 80 * SEC);
}

/* While RDMA devices are due, each of them an event, a look would only count them. */
static void devices_that_are_due_put_a_pass_off_for_longer(void **state _unused_)
{
	static const struct pass_result absent = { .state = NODE_STARTING, .n_absent = 14 };
	struct schedule s = begun(&absent);

	for (uint64_t usec = 0; usec < 60 * SEC; usec += 500 * MSEC) {
		const uint64_t now = START + 10 * SEC + usec;

		at(&s, now, EVENT_CHANGED, NULL);
		assert_int_equal(s.at_usec[TIMER_SETTLE],
				 MIN(now + 2 * SEC, START + 10 * SEC + 30 * SEC));
	}
	/* Nor is this storm shorter than the quiet that is asked for. */
	s.settle_usec = 60 * SEC;
	at(&s, START + 20 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + 70 * SEC);
	s.settle_usec = SEC;
	s.n_ibdevs = 14;
	at(&s, START + 12 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + 13 * SEC);
}

static void the_look_begins_ahead_and_an_event_cancels_it(void **state _unused_)
{
	struct schedule s = begun(&ready);

	at(&s, START + 10 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_AHEAD], START + 10 * SEC + 250 * MSEC);
	assert_int_equal(at(&s, START + 10 * SEC, TIMER_AHEAD, NULL), DO_LOOK);
	assert_int_equal(at(&s, START + 11 * SEC, EVENT_CHANGED, NULL), DO_KILL);
	/* A pass that is due while the killed one is still there begins at its end. */
	assert_int_equal(at(&s, START + 12 * SEC, TIMER_SETTLE, NULL), 0);
	assert_int_equal(at(&s, START + 12 * SEC, EVENT_ENDED, NULL), DO_PASS);
	at(&s, START + 13 * SEC, EVENT_RESULT, &ready);

	at(&s, START + 20 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(at(&s, START + 20 * SEC, TIMER_AHEAD, NULL), DO_LOOK);
	/* Ready before: what is whole is not in a hurry. */
	assert_int_equal(at(&s, START + 20 * SEC, EVENT_LOOKED, NULL), 0);
	assert_int_equal(at(&s, START + 21 * SEC, TIMER_SETTLE, NULL), DO_RELEASE);
	/* From here on it changes the node, and is not killed. */
	assert_int_equal(at(&s, START + 21 * SEC, EVENT_CHANGED, NULL), 0);
}

/* No event tells that a process began to use a device, nor of the state of some ports. */
static void a_look_that_was_held_for_long_is_made_again(void **state _unused_)
{
	static const struct {
		uint64_t looked, due; /* looked 0: it still looks */
		enum schedule_event event;
		unsigned todo;
	} cases[] = {
		{ 20 * SEC, 22 * SEC, TIMER_SETTLE, DO_RELEASE },
		{ 20 * SEC, 23 * SEC, TIMER_SETTLE, DO_KILL },
		{ 20 * SEC, 23 * SEC, TIMER_LOOK, DO_KILL },
		{ 20 * SEC, 23 * SEC, TIMER_RETRY, DO_KILL },
		{ 0, 40 * SEC, TIMER_SETTLE, DO_RELEASE },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct schedule s = begun(&ready);

		s.settle_usec = 30 * SEC;
		at(&s, START + 10 * SEC, EVENT_CHANGED, NULL);
		/* Two seconds before the end of the quiet: then it is not held for longer. */
		assert_int_equal(s.at_usec[TIMER_AHEAD], START + 38 * SEC);
		assert_int_equal(at(&s, START + 18 * SEC, TIMER_AHEAD, NULL), DO_LOOK);
		if (cases[i].looked > 0)
			at(&s, START + cases[i].looked, EVENT_LOOKED, NULL);
		assert_int_equal(at(&s, START + cases[i].due, cases[i].event, NULL), cases[i].todo);
		if (cases[i].todo == DO_KILL)
			assert_int_equal(at(&s, START + cases[i].due, EVENT_ENDED, NULL), DO_PASS);
		assert_int_equal(s.was_retry, cases[i].event == TIMER_RETRY);
	}
}

static void a_whole_node_does_not_wait_for_the_end_of_the_quiet(void **state _unused_)
{
	struct schedule s = begun(&starting);

	at(&s, START + 10 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_AHEAD], START + 10 * SEC + 60 * MSEC);
	assert_int_equal(at(&s, START + 10 * SEC, TIMER_AHEAD, NULL), DO_LOOK);
	assert_int_equal(at(&s, START + 10 * SEC, EVENT_LOOKED, NULL), DO_RELEASE);
	assert_true(s.at_usec[TIMER_SETTLE] == SCHEDULE_NEVER);
	assert_int_equal(at(&s, START + 10 * SEC, EVENT_RESULT, &ready), DO_READY);
	assert_int_equal(at(&s, START + 11 * SEC, EVENT_CHANGED, NULL), 0);
}

static void what_happens_during_a_pass_makes_another_one(void **state _unused_)
{
	struct schedule s = begun(&ready);

	at(&s, START + 10 * SEC, TIMER_LOOK, NULL);
	at(&s, START + 12 * SEC, EVENT_CHANGED, NULL);
	assert_true(s.at_usec[TIMER_SETTLE] == SCHEDULE_NEVER);
	at(&s, START + 14 * SEC, EVENT_RESULT, &ready);
	assert_int_equal(s.at_usec[TIMER_SETTLE],
			 START + 13 * SEC); /* quiet counts from the event */
}

static void what_failed_is_tried_again_at_growing_intervals(void **state _unused_)
{
	static const uint64_t intervals[] = { 10, 20, 40, 80, 160, 320, 600, 600 };

	for (int has_result = 0; has_result < 2; has_result++) {
		const enum schedule_event end = has_result ? EVENT_RESULT : EVENT_FAILED;
		struct schedule s = begun(&ready);
		uint64_t now = 1000 * SEC;

		assert_true(s.at_usec[TIMER_RETRY] == SCHEDULE_NEVER);
		assert_int_equal(at(&s, now, TIMER_LOOK, NULL), DO_PASS);
		for (size_t i = 0; i < ELEMENTSOF(intervals); i++) {
			at(&s, now, end, &failed);
			assert_int_equal(s.at_usec[TIMER_RETRY], now + intervals[i] * SEC);
			now = s.at_usec[TIMER_RETRY];
			assert_int_equal(at(&s, now, TIMER_RETRY, NULL), DO_PASS);
			assert_true(s.was_retry);
		}
		at(&s, now, EVENT_RESULT, &ready);
		assert_true(s.at_usec[TIMER_RETRY] == SCHEDULE_NEVER);
		assert_true(s.at_usec[TIMER_SETTLE] == SCHEDULE_NEVER);
		at(&s, now, TIMER_LOOK, NULL);
		assert_false(s.was_retry);
		at(&s, now, EVENT_RESULT, &failed);
		assert_int_equal(s.at_usec[TIMER_RETRY], now + 10 * SEC);

		/* Nothing happened while it ran: one pass is enough. */
		at(&s, now, TIMER_LOOK, NULL);
		at(&s, now, end, &failed);
		at(&s, now, TIMER_LOOK, NULL);
		at(&s, now, EVENT_RESULT, &ready);
		assert_true(s.at_usec[TIMER_SETTLE] == SCHEDULE_NEVER);
	}
}

static void events_do_not_put_a_retry_off(void **state _unused_)
{
	struct schedule s = begun(&failed);

	at(&s, START + 5 * SEC, EVENT_CHANGED, NULL);
	at(&s, START + 6 * SEC, TIMER_SETTLE, NULL);
	at(&s, START + 6 * SEC, EVENT_RESULT, &failed);
	assert_int_equal(s.at_usec[TIMER_RETRY], START + 10 * SEC);
}

static void a_new_configuration_begins_the_intervals_again(void **state _unused_)
{
	struct schedule s = begun(&failed);

	at(&s, START + 10 * SEC, TIMER_RETRY, NULL);
	at(&s, START + 10 * SEC, EVENT_RESULT, &failed);
	assert_int_equal(s.at_usec[TIMER_RETRY], START + 30 * SEC);
	at(&s, START + 30 * SEC, TIMER_RETRY, NULL);
	at(&s, START + 30 * SEC, EVENT_CONFIG, NULL);
	at(&s, START + 30 * SEC, EVENT_RESULT, &failed);
	at(&s, START + 31 * SEC, TIMER_SETTLE, NULL);
	at(&s, START + 31 * SEC, EVENT_RESULT, &failed);
	assert_int_equal(s.at_usec[TIMER_RETRY], START + 41 * SEC);
}

static void what_gives_no_event_is_looked_at_by_a_timer(void **state _unused_)
{
	static const struct {
		struct pass_result result;
		uint64_t first, second; /* after the pass; SCHEDULE_NEVER: not at all */
	} cases[] = {
		{ {}, SCHEDULE_NEVER, SCHEDULE_NEVER },
		{ { .n_waiting = 1 }, 50 * MSEC, 100 * MSEC },
		{ { .n_waiting = 1, .n_absent = 1 }, 2 * SEC, 4 * SEC }, /* each is announced */
		{ { .n_lost = 1 }, SEC, SEC },                           /* SettleSec= apart */
		{ { .n_silent = 1 }, 30 * SEC, 30 * SEC },
		{ { .is_watched = true }, 300 * SEC, 300 * SEC },
		{ { .again_usec = START + 7 * SEC }, 7 * SEC, 7 * SEC },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct schedule s = begun(&cases[i].result);

		assert_true(s.at_usec[TIMER_LOOK] == (cases[i].first == SCHEDULE_NEVER
							      ? SCHEDULE_NEVER
							      : START + cases[i].first));
		at(&s, START, TIMER_LOOK, NULL);
		at(&s, START, EVENT_RESULT, &cases[i].result);
		assert_true(s.at_usec[TIMER_LOOK] == (cases[i].second == SCHEDULE_NEVER
							      ? SCHEDULE_NEVER
							      : START + cases[i].second));
	}
}

static void a_loss_needs_two_looks_settle_sec_apart(void **state _unused_)
{
	static const struct pass_result lost = { .state = NODE_READY, .n_lost = 1 };
	struct schedule s = begun(&lost);

	at(&s, START - 10 * SEC, EVENT_CHANGED, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + SEC);
	assert_int_equal(s.at_usec[TIMER_AHEAD], START + SEC);
}

static void ready_comes_by_its_deadline_whatever_a_pass_does(void **state _unused_)
{
	struct schedule s = begun(&starting);

	assert_int_equal(s.at_usec[TIMER_DEADLINE], START + 295 * SEC);
	assert_int_equal(at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL), DO_PASS);
	assert_true(s.is_wait_over);
	assert_int_equal(s.at_usec[TIMER_DEADLINE], START + 300 * SEC);
	assert_int_equal(at(&s, START + 300 * SEC, TIMER_DEADLINE, NULL),
			 DO_DEGRADE_LATE | DO_READY);
	assert_int_equal(at(&s, START + 400 * SEC, EVENT_RESULT, &ready), 0);

	/* A pass that gives no result keeps nobody waiting longer either. */
	s = begun(&starting);
	at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL);
	assert_int_equal(at(&s, START + 296 * SEC, EVENT_FAILED, NULL),
			 DO_DEGRADE_FAILED | DO_READY);
}

/* A bond may still get the ports of another section: READY=1 is told, and the wait goes on. */
static void a_node_that_is_degraded_at_once_waits_on(void **state _unused_)
{
	static const struct pass_result degraded = { .state = NODE_DEGRADED, .n_waiting = 1 };
	struct schedule s = begun(&starting);
	struct pass pass = {};

	at(&s, START + SEC, TIMER_LOOK, NULL);
	assert_int_equal(at(&s, START + SEC, EVENT_RESULT, &degraded), DO_READY);
	schedule_fill(&s, &pass);
	assert_false(pass.is_wait_over);
	assert_int_equal(pass.wait_end_usec, START + 295 * SEC);
	at(&s, START + 2 * SEC, TIMER_LOOK, NULL);
	assert_int_equal(at(&s, START + 2 * SEC, EVENT_RESULT, &degraded), 0);

	assert_int_equal(at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL), DO_PASS);
	schedule_fill(&s, &pass);
	assert_true(pass.is_wait_over);
	assert_int_equal(at(&s, START + 296 * SEC, EVENT_RESULT, &degraded), 0);
	assert_true(s.at_usec[TIMER_DEADLINE] == SCHEDULE_NEVER);

	/* What is ready waits for nothing. */
	s = begun(&ready);
	schedule_fill(&s, &pass);
	assert_true(pass.is_wait_over && s.at_usec[TIMER_DEADLINE] == SCHEDULE_NEVER);
}

static void a_reload_is_over_with_the_pass_that_has_its_configuration(void **state _unused_)
{
	struct schedule s = begun(&ready);

	at(&s, START + 10 * SEC, TIMER_LOOK, NULL);
	assert_int_equal(at(&s, START + 11 * SEC, EVENT_CONFIG, NULL), 0);
	assert_int_equal(at(&s, START + 11 * SEC, EVENT_RELOAD, NULL), DO_RELOADING);
	assert_int_equal(at(&s, START + 12 * SEC, EVENT_RESULT, &ready), 0);
	assert_int_equal(at(&s, START + 13 * SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_true(s.was_first && s.was_retry);
	assert_int_equal(at(&s, START + 14 * SEC, EVENT_RESULT, &ready), DO_RELOADED);

	/* With nothing running the pass begins at once; a held look is of the old configuration. */
	at(&s, START + 20 * SEC, EVENT_RELOAD, NULL);
	assert_int_equal(s.at_usec[TIMER_SETTLE], START + 20 * SEC);
	at(&s, START + 20 * SEC, TIMER_AHEAD, NULL);
	assert_int_equal(at(&s, START + 20 * SEC, EVENT_CONFIG, NULL), DO_KILL);
	assert_int_equal(at(&s, START + 20 * SEC, EVENT_ENDED, NULL), DO_PASS);
}

static void ready_is_only_told_of_the_configuration_that_was_read_last(void **state _unused_)
{
	static const struct pass_result degraded = { .state = NODE_DEGRADED };
	struct schedule s;

	/* Files changed during the first pass. */
	schedule_start(&s, false, &config, START);
	assert_int_equal(at(&s, START, TIMER_SETTLE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 2 * SEC, EVENT_CONFIG, NULL), 0);
	assert_int_equal(at(&s, START + 2 * SEC, EVENT_RESULT, &ready), 0);
	assert_false(s.is_ready);
	assert_true(s.at_usec[TIMER_SETTLE] <= START + 2 * SEC);
	assert_int_equal(at(&s, START + 2 * SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 3 * SEC, EVENT_RESULT, &ready), DO_READY);

	/* A reload during a later pass: its devices still have ReadyTimeoutSec= to appear. */
	at(&s, START + 10 * SEC, TIMER_LOOK, NULL);
	at(&s, START + 11 * SEC, EVENT_CONFIG, NULL);
	at(&s, START + 11 * SEC, EVENT_RELOAD, NULL);
	assert_int_equal(at(&s, START + 12 * SEC, EVENT_RESULT, &degraded), 0);
	assert_false(s.is_wait_over);
	assert_int_equal(s.at_usec[TIMER_DEADLINE], START + 11 * SEC + 295 * SEC);

	/* Its deadline is kept by a start that reads one configuration after the other. */
	schedule_start(&s, false, &config, START);
	at(&s, START, TIMER_SETTLE, NULL);
	at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL);
	assert_int_equal(at(&s, START + 296 * SEC, EVENT_CONFIG, NULL), 0);
	assert_int_equal(at(&s, START + 296 * SEC, EVENT_RESULT, &ready), 0);
	assert_int_equal(at(&s, START + 296 * SEC, TIMER_DEADLINE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 300 * SEC, TIMER_DEADLINE, NULL),
			 DO_DEGRADE_LATE | DO_READY);
}

/* "apply", with the configuration of before. */
static unsigned ask(struct schedule *s, uint64_t now_usec)
{
	const struct schedule_input in = { .now_usec = now_usec,
					   .is_asked = true,
					   .config = &config };
	const unsigned todo = schedule_event(s, EVENT_CONFIG, &in);

	return todo | schedule_event(s, EVENT_RELOAD, &in);
}

static bool is_by_hand(const struct schedule *s)
{
	struct pass pass = {};

	schedule_fill(s, &pass);
	assert_true(pass.is_service == !s->is_local);
	return pass.is_by_hand;
}

static void apply_is_answered_by_a_pass_that_began_after_its_request(void **state _unused_)
{
	struct schedule s = begun(&ready);

	at(&s, START + 10 * SEC, TIMER_LOOK, NULL);
	assert_int_equal(ask(&s, START + 11 * SEC), DO_RELOADING);
	assert_false(is_by_hand(&s));
	assert_int_equal(at(&s, START + 12 * SEC, EVENT_RESULT, &ready), 0);
	assert_int_equal(at(&s, START + 13 * SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_true(is_by_hand(&s));
	assert_int_equal(at(&s, START + 14 * SEC, EVENT_RESULT, &ready), DO_ANSWER | DO_RELOADED);
	at(&s, START + 15 * SEC, TIMER_LOOK, NULL);
	assert_false(is_by_hand(&s));
	assert_int_equal(at(&s, START + 16 * SEC, EVENT_RESULT, &ready), 0);

	/* A held look is of before the request; the killed worker's place is taken by its pass. */
	at(&s, START + 20 * SEC, EVENT_CHANGED, NULL);
	at(&s, START + 20 * SEC, TIMER_AHEAD, NULL);
	assert_int_equal(ask(&s, START + 21 * SEC), DO_KILL | DO_RELOADING);
	assert_int_equal(at(&s, START + 21 * SEC, EVENT_ENDED, NULL), DO_PASS);
	assert_true(is_by_hand(&s));
	assert_int_equal(at(&s, START + 22 * SEC, EVENT_RESULT, &ready), DO_ANSWER | DO_RELOADED);

	/* One that is cancelled by an event is made again as what it was. */
	ask(&s, START + 30 * SEC);
	at(&s, START + 30 * SEC, TIMER_AHEAD, NULL);
	assert_int_equal(at(&s, START + 30 * SEC, EVENT_CHANGED, NULL), DO_KILL);
	at(&s, START + 30 * SEC, EVENT_ENDED, NULL);
	assert_int_equal(at(&s, START + 31 * SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_true(is_by_hand(&s));
	at(&s, START + 31 * SEC, EVENT_RESULT, &ready);

	/* A reload has nobody who waits. */
	at(&s, START + 40 * SEC, EVENT_CONFIG, NULL);
	at(&s, START + 40 * SEC, EVENT_RELOAD, NULL);
	at(&s, START + 40 * SEC, TIMER_SETTLE, NULL);
	assert_false(is_by_hand(&s));
	assert_int_equal(at(&s, START + 41 * SEC, EVENT_RESULT, &ready), DO_RELOADED);
}

/* As without a service: the last test. */
static void apply_by_the_service_waits_for_what_its_changes_bring(void **state _unused_)
{
	static const struct pass_result changed = { .state = NODE_DEGRADED,
						    .exit_code = 3,
						    .n_waiting = 1,
						    .n_changes = 1 },
					waiting = { .state = NODE_DEGRADED,
						    .exit_code = 3,
						    .n_waiting = 1 },
					refused = { .state = NODE_READY, .exit_code = 3 };
	struct schedule s = begun(&ready);

	ask(&s, START + 1000 * SEC);
	at(&s, START + 1000 * SEC, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START + 1001 * SEC, EVENT_RESULT, &changed), DO_RELOADED);
	at(&s, START + 1002 * SEC, TIMER_LOOK, NULL);
	assert_int_equal(at(&s, START + 1003 * SEC, EVENT_RESULT, &waiting), 0);
	assert_int_equal(s.at_usec[TIMER_DEADLINE], START + 1295 * SEC);
	assert_int_equal(at(&s, START + 1295 * SEC, TIMER_DEADLINE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 1295 * SEC, EVENT_RESULT, &waiting), DO_ANSWER);

	/* Nothing was changed that could bring anything. */
	ask(&s, START + 2000 * SEC);
	at(&s, START + 2000 * SEC, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START + 2001 * SEC, EVENT_RESULT, &waiting),
			 DO_ANSWER | DO_RELOADED);
	ask(&s, START + 3000 * SEC);
	at(&s, START + 3000 * SEC, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START + 3001 * SEC, EVENT_RESULT, &refused),
			 DO_ANSWER | DO_RELOADED);
}

static void a_pass_that_failed_is_made_again_before_apply_is_answered(void **state _unused_)
{
	struct schedule s = begun(&ready);

	ask(&s, START + 10 * SEC);
	at(&s, START + 10 * SEC, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START + 10 * SEC, EVENT_FAILED, NULL), 0);
	assert_int_equal(at(&s, START + 20 * SEC, TIMER_RETRY, NULL), DO_PASS);
	assert_true(is_by_hand(&s));
	at(&s, START + 305 * SEC, TIMER_DEADLINE, NULL);
	assert_int_equal(at(&s, START + 306 * SEC, EVENT_FAILED, NULL),
			 DO_DEGRADE_FAILED | DO_ANSWER | DO_RELOADED);
}

/* READY=1 and its deadline are those of the start. */
static void apply_does_not_put_the_start_off(void **state _unused_)
{
	static const struct pass_result waiting = {
		.state = NODE_DEGRADED, .exit_code = 3, .n_waiting = 1, .n_changes = 1
	};
	struct schedule s = begun(&starting);

	assert_int_equal(ask(&s, START + 200 * SEC), 0);
	assert_int_equal(s.at_usec[TIMER_DEADLINE], START + 295 * SEC);
	at(&s, START + 200 * SEC, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START + 201 * SEC, EVENT_RESULT, &waiting), DO_READY);
	at(&s, START + 202 * SEC, TIMER_LOOK, NULL);
	assert_int_equal(at(&s, START + 203 * SEC, EVENT_RESULT, &waiting), 0);
	at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL);
	assert_int_equal(at(&s, START + 296 * SEC, EVENT_RESULT, &waiting), DO_ANSWER);
}

static void apply_ends_when_nothing_is_waited_for(void **state _unused_)
{
	static const struct pass_result waiting = { .exit_code = 3, .n_waiting = 1 };
	struct schedule s;

	schedule_start(&s, true, &config, START);
	at(&s, START, TIMER_SETTLE, NULL);
	assert_int_equal(at(&s, START, EVENT_RESULT, &waiting), 0);
	at(&s, START, EVENT_CHANGED, NULL);
	assert_true(s.at_usec[TIMER_AHEAD] == SCHEDULE_NEVER);
	assert_int_equal(at(&s, START + SEC, TIMER_SETTLE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + SEC, EVENT_RESULT, &waiting), 0);
	assert_int_equal(at(&s, START + 295 * SEC, TIMER_DEADLINE, NULL), DO_PASS);
	assert_int_equal(at(&s, START + 295 * SEC, EVENT_RESULT, &waiting), DO_EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_pass_begins_when_it_is_quiet_and_a_storm_puts_it_off_for_five_seconds),
		cmocka_unit_test(devices_that_are_due_put_a_pass_off_for_longer),
		cmocka_unit_test(the_look_begins_ahead_and_an_event_cancels_it),
		cmocka_unit_test(a_look_that_was_held_for_long_is_made_again),
		cmocka_unit_test(a_whole_node_does_not_wait_for_the_end_of_the_quiet),
		cmocka_unit_test(what_happens_during_a_pass_makes_another_one),
		cmocka_unit_test(what_failed_is_tried_again_at_growing_intervals),
		cmocka_unit_test(events_do_not_put_a_retry_off),
		cmocka_unit_test(a_new_configuration_begins_the_intervals_again),
		cmocka_unit_test(what_gives_no_event_is_looked_at_by_a_timer),
		cmocka_unit_test(a_loss_needs_two_looks_settle_sec_apart),
		cmocka_unit_test(ready_comes_by_its_deadline_whatever_a_pass_does),
		cmocka_unit_test(a_node_that_is_degraded_at_once_waits_on),
		cmocka_unit_test(a_reload_is_over_with_the_pass_that_has_its_configuration),
		cmocka_unit_test(ready_is_only_told_of_the_configuration_that_was_read_last),
		cmocka_unit_test(apply_is_answered_by_a_pass_that_began_after_its_request),
		cmocka_unit_test(apply_by_the_service_waits_for_what_its_changes_bring),
		cmocka_unit_test(a_pass_that_failed_is_made_again_before_apply_is_answered),
		cmocka_unit_test(apply_does_not_put_the_start_off),
		cmocka_unit_test(apply_ends_when_nothing_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
