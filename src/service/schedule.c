/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

/* No event tells of a new user of a device: a look that was held for longer is made again. */
#define HELD_USEC (2 * USEC_PER_SEC)
/*
 * The look of the next pass begins after a quarter of SettleSec=, or HELD_USEC before its end if
 * that is later, and ends within the rest.
 */
#define AHEAD(settle_usec)  ((settle_usec) - MIN((settle_usec) * 3 / 4, HELD_USEC))
#define AHEAD_AT_START_USEC (60 * USEC_PER_MSEC) /* at most: READY=1 waits for it */
/* The last look before ReadyTimeoutSec= is over leaves this time to write all files. */
#define LAST_LOOK_USEC (5 * USEC_PER_SEC)
#define STORM_USEC     (5 * USEC_PER_SEC) /* events cannot put a pass off for longer */
/* The time to settle while RDMA devices are due: each announces itself by an event. */
#define DUE_USEC       (2 * USEC_PER_SEC)
#define DUE_STORM_USEC (30 * USEC_PER_SEC) /* nor for longer then */
/* Failed passes and changes are tried again at growing intervals, whatever happens meanwhile. */
#define RETRY_FIRST_USEC (10 * USEC_PER_SEC)
#define RETRY_LAST_USEC  (600 * USEC_PER_SEC)
/*
 * The kernel gives no event for GIDs, nor for the state of a port without a netdev: while a pass
 * waits for one of them, looks at growing intervals.
 */
#define LOOK_FIRST_USEC (50 * USEC_PER_MSEC)
#define LOOK_LAST_USEC  (60 * USEC_PER_SEC)
/* The state of an InfiniBand port without IPoIB has no event at all: the service looks as long as
 * one is managed. */
#define LOOK_SILENT_USEC (30 * USEC_PER_SEC)
/* Errors of a PCIe link, its width and its speed have no event either. */
#define LOOK_WATCHED_USEC (300 * USEC_PER_SEC)

/* When the last look begins, a little before READY=1 is due. */
static uint64_t last_look_usec(const struct schedule *s)
{
	return s->ready_usec - MIN(s->ready_timeout_usec / 10, LAST_LOOK_USEC);
}

static void take_config(struct schedule *s, const struct config *c, bool is_other,
			uint64_t now_usec)
{
	s->settle_usec = c->service.settle_usec;
	s->ready_timeout_usec = c->service.ready_timeout_usec;
	s->is_first = s->is_retry = true;
	s->retry_usec = RETRY_FIRST_USEC;
	if (!is_other)
		return;
	/* A time to wait that ends in READY=1 counts from the start. */
	s->is_wait_over = false;
	s->ready_usec = (s->is_ready ? now_usec : s->started_usec) + s->ready_timeout_usec;
	s->at_usec[TIMER_DEADLINE] = last_look_usec(s);
}

void schedule_start(struct schedule *s, bool is_local, const struct config *c, uint64_t now_usec)
{
	*s = (struct schedule){ .is_local = is_local,
				.started_usec = now_usec,
				.look_usec = LOOK_FIRST_USEC };
	for (size_t i = 0; i < ELEMENTSOF(s->at_usec); i++)
		s->at_usec[i] = SCHEDULE_NEVER;
	take_config(s, c, true, now_usec);
	s->at_usec[TIMER_SETTLE] = now_usec;
}

/* Are RDMA devices still to come? Each announces itself by an event; a look before that would find
 * nothing else, and take the processors from the drivers that make them. */
static bool is_ibdev_due(const struct schedule *s)
{
	return !s->is_ready && (int32_t)(s->n_ibdevs_due - s->n_ibdevs) > 0;
}

/*
 * Counted from the last event and not from now: quiet that passed while a pass was running counts.
 * The look of the pass begins before the end of the quiet: any event until then cancels it.
 */
static void arm_settle(struct schedule *s)
{
	uint64_t settle_usec = s->settle_usec, ahead_usec = AHEAD(settle_usec);
	uint64_t storm_usec = STORM_USEC;

	if (is_ibdev_due(s)) {
		settle_usec = ahead_usec = MAX(settle_usec, DUE_USEC);
		storm_usec = DUE_STORM_USEC;
	} else if (!s->is_ready) {
		ahead_usec = MIN(ahead_usec, AHEAD_AT_START_USEC);
	}
	if (!s->is_local)
		s->at_usec[TIMER_AHEAD] = MAX(s->event_usec + ahead_usec, s->not_before_usec);
	s->at_usec[TIMER_SETTLE] =
		MAX(MIN(s->event_usec + settle_usec, s->storm_usec + MAX(storm_usec, settle_usec)),
		    s->not_before_usec);
}

static void begin(struct schedule *s, enum schedule_state state)
{
	s->state = state;
	s->was_first = s->is_first;
	s->was_retry = s->is_retry;
	s->was_by_hand = s->is_by_hand;
	s->is_first = s->is_retry = s->is_by_hand = false;
	s->n_ibdevs_known = s->n_ibdevs;
	s->held_usec = 0;
}

static void forget_begin(struct schedule *s)
{
	s->is_first |= s->was_first;
	s->is_retry |= s->was_retry;
	s->is_by_hand |= s->was_by_hand;
}

static unsigned cancel(struct schedule *s)
{
	if (s->state != SCHEDULE_LOOKING)
		return 0;
	s->state = SCHEDULE_CANCELLED;
	forget_begin(s);
	return DO_KILL;
}

/* Also after a look that went on ahead. */
static unsigned start_pass(struct schedule *s, const struct schedule_input *in)
{
	const bool is_old = s->held_usec > 0 && in->now_usec - s->held_usec > HELD_USEC;
	const unsigned todo = is_old ? cancel(s) : 0;

	s->storm_usec = 0;
	s->at_usec[TIMER_AHEAD] = SCHEDULE_NEVER;
	switch (s->state) {
	case SCHEDULE_IDLE:
		begin(s, SCHEDULE_PASS);
		return DO_PASS;
	case SCHEDULE_LOOKING:
		s->state = SCHEDULE_PASS;
		return DO_RELEASE;
	case SCHEDULE_CANCELLED:
		s->is_again = true;
		return todo;
	case SCHEDULE_PASS:
		return 0;
	}
	return 0;
}

/* @is_over: nothing is left to wait for. A degraded node waits on for what can still come. */
static unsigned tell_ready(struct schedule *s, bool is_over)
{
	const bool was_ready = s->is_ready;

	s->is_ready = true;
	s->is_wait_over |= is_over;
	if (s->is_wait_over)
		s->at_usec[TIMER_DEADLINE] = SCHEDULE_NEVER;
	return was_ready ? 0 : DO_READY;
}

static void arm_retry(struct schedule *s, uint64_t now_usec)
{
	s->at_usec[TIMER_RETRY] = now_usec + s->retry_usec;
	s->retry_usec = MIN(s->retry_usec * 2, RETRY_LAST_USEC);
}

static void arm_look(struct schedule *s, const struct pass_result *result, uint64_t now_usec)
{
	uint64_t when = result->again_usec > 0 ? result->again_usec : SCHEDULE_NEVER;

	if (result->n_waiting > 0 || result->n_lost > 0) {
		if (is_ibdev_due(s))
			s->look_usec = MAX(s->look_usec, DUE_USEC);
		when = MIN(when, now_usec + (result->n_lost > 0 ? MAX(s->look_usec, s->settle_usec)
								: s->look_usec));
		s->look_usec = MIN(s->look_usec * 2, LOOK_LAST_USEC);
	}
	if (result->n_silent > 0)
		when = MIN(when, now_usec + LOOK_SILENT_USEC);
	if (result->is_watched)
		when = MIN(when, now_usec + LOOK_WATCHED_USEC);
	s->at_usec[TIMER_LOOK] = when;
}

/* --- one for each event --- */

static unsigned on_changed(struct schedule *s, const struct schedule_input *in)
{
	unsigned todo;

	s->look_usec = LOOK_FIRST_USEC;
	s->event_usec = in->now_usec;
	if (s->storm_usec == 0)
		s->storm_usec = in->now_usec;
	if (s->state == SCHEDULE_PASS) {
		s->is_again = true;
		return 0;
	}
	todo = cancel(s);
	arm_settle(s);
	return todo;
}

/* Unless an event cancels it, the look is as good as one made up to HELD_USEC later. */
static unsigned on_ahead(struct schedule *s, const struct schedule_input *in _unused_)
{
	if (s->state != SCHEDULE_IDLE)
		return 0;
	begin(s, SCHEDULE_LOOKING);
	return DO_LOOK;
}

static unsigned on_retry(struct schedule *s, const struct schedule_input *in)
{
	s->is_retry = true;
	s->is_again = s->state != SCHEDULE_IDLE;
	return start_pass(s, in);
}

/* A driver, a lock or a file may keep a pass for hours, and READY=1 waits for none of them. */
static unsigned on_deadline(struct schedule *s, const struct schedule_input *in)
{
	if (s->is_wait_over)
		return s->is_local || s->is_ready ? 0 : DO_DEGRADE_LATE | tell_ready(s, true);
	s->is_wait_over = true;
	s->is_again = s->state != SCHEDULE_IDLE;
	s->at_usec[TIMER_DEADLINE] = s->ready_usec;
	return start_pass(s, in);
}

/* READY=1 does not wait for the end of the quiet when nothing is left to be done to the node. */
static unsigned on_looked(struct schedule *s, const struct schedule_input *in)
{
	s->held_usec = in->now_usec;
	if (!in->is_whole || s->is_ready || s->state != SCHEDULE_LOOKING)
		return 0;
	s->at_usec[TIMER_SETTLE] = SCHEDULE_NEVER;
	return start_pass(s, in);
}

/*
 * Is "apply" over with this result? It waits for the devices, ports and addresses that its own
 * changes bring, also on a node that was degraded before.
 */
static bool ends_apply(const struct schedule *s, const struct pass_result *result)
{
	return result->exit_code == 0 || result->n_waiting == 0 || s->is_wait_over ||
	       (s->was_first && result->state != NODE_STARTING && result->n_changes == 0);
}

static unsigned answer(struct schedule *s)
{
	const bool was_asked = s->is_asked;

	s->is_asked = false;
	return was_asked ? DO_ANSWER : 0;
}

static unsigned on_result(struct schedule *s, const struct schedule_input *in)
{
	const struct pass_result *result = in->result;
	unsigned todo = 0;

	s->state = SCHEDULE_IDLE;
	if (s->is_local && ends_apply(s, result))
		return DO_EXIT;
	if (s->is_reloading && !s->is_again) {
		s->is_reloading = false;
		todo |= DO_RELOADED;
	}
	/* A configuration that was read during this pass is in force after the next one. */
	if (!s->is_first && ends_apply(s, result))
		todo |= answer(s);
	if (!s->is_local && !s->is_first && !(s->is_ready && s->is_asked) &&
	    result->state != NODE_STARTING)
		todo |= tell_ready(s, result->state == NODE_READY);

	s->n_ibdevs_due = s->n_ibdevs_known + result->n_absent;
	s->not_before_usec = result->n_lost > 0 ? in->now_usec + s->settle_usec : 0;
	if (s->is_again) {
		s->is_again = false;
		s->storm_usec = in->now_usec; /* the last look of this pass has seen the rest */
		arm_settle(s);
		return todo;
	}
	if (result->n_failed == 0) {
		s->retry_usec = RETRY_FIRST_USEC;
		s->at_usec[TIMER_RETRY] = SCHEDULE_NEVER;
	} else if (s->at_usec[TIMER_RETRY] == SCHEDULE_NEVER) {
		arm_retry(s, in->now_usec); /* events do not put it off */
	}
	arm_look(s, result, in->now_usec);
	return todo;
}

/* The worker died, hung or could not look at the node: READY=1 does not wait for a better one. */
static unsigned on_failed(struct schedule *s, const struct schedule_input *in)
{
	unsigned todo = 0;

	s->state = SCHEDULE_IDLE;
	if (s->is_local)
		return DO_EXIT;
	s->is_again = false;
	s->is_first |= s->was_first;
	s->is_by_hand |= s->was_by_hand;
	s->storm_usec = 0;
	if (s->is_wait_over) {
		todo = answer(s) | DO_DEGRADE_FAILED | (s->is_reloading ? DO_RELOADED : 0) |
		       tell_ready(s, false);
		s->is_reloading = false;
	}
	arm_retry(s, in->now_usec);
	return todo;
}

/* Starts a pass that became due meanwhile; otherwise the timers are set for the next one. */
static unsigned on_ended(struct schedule *s, const struct schedule_input *in)
{
	s->state = SCHEDULE_IDLE;
	if (!s->is_again)
		return 0;
	s->is_again = false;
	return start_pass(s, in);
}

static unsigned on_config(struct schedule *s, const struct schedule_input *in)
{
	const unsigned todo = cancel(s);

	s->is_again |= s->state != SCHEDULE_IDLE;
	/* An "apply" that waits gives the devices of the node as long to appear as a new
	 * configuration. */
	take_config(s, in->config, in->is_other || in->is_asked, in->now_usec);
	s->is_by_hand |= in->is_asked;
	s->is_asked |= in->is_asked;
	return todo;
}

static unsigned on_reload(struct schedule *s, const struct schedule_input *in)
{
	unsigned todo = on_changed(s, in);

	if (s->is_ready) {
		s->is_reloading = true;
		todo |= DO_RELOADING;
	}
	if (s->state == SCHEDULE_IDLE || s->state == SCHEDULE_CANCELLED)
		s->at_usec[TIMER_SETTLE] = in->now_usec;
	return todo;
}

unsigned schedule_event(struct schedule *s, enum schedule_event event,
			const struct schedule_input *in)
{
	static unsigned (*const handlers[])(struct schedule *s, const struct schedule_input *in) = {
		[TIMER_AHEAD] = on_ahead,       [TIMER_SETTLE] = start_pass,
		[TIMER_LOOK] = start_pass,      [TIMER_RETRY] = on_retry,
		[TIMER_DEADLINE] = on_deadline, [EVENT_CHANGED] = on_changed,
		[EVENT_LOOKED] = on_looked,     [EVENT_RESULT] = on_result,
		[EVENT_FAILED] = on_failed,     [EVENT_ENDED] = on_ended,
		[EVENT_CONFIG] = on_config,     [EVENT_RELOAD] = on_reload,
	};

	_Static_assert(ELEMENTSOF(handlers) == _EVENT_N, "a handler for every event");
	if (event < _TIMER_N)
		s->at_usec[event] = SCHEDULE_NEVER;
	return handlers[event](s, in);
}

void schedule_fill(const struct schedule *s, struct pass *ret)
{
	ret->is_first = s->was_first;
	ret->is_retry = s->was_retry;
	ret->is_by_hand = s->is_local || s->was_by_hand;
	ret->is_wait_over = s->is_wait_over;
	ret->wait_end_usec = s->is_wait_over ? 0 : last_look_usec(s);
	ret->is_service = !s->is_local;
}
