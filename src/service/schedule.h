/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedule: what the service does at each event, as a state machine. Pure: it reads no clock, sets
 * no timer and starts no process, so that tests/sim drives exactly what the service runs.
 *
 *   state      what runs                               what ends it
 *   IDLE       nothing                                 a timer: LOOKING or PASS
 *   LOOKING    a worker that looks and is then held    quiet: PASS; an event, or quiet when it was
 *                                                      held for two seconds: CANCELLED
 *   PASS       a worker that changes the node          its result or its failure: IDLE
 *   CANCELLED  a worker that was killed                its end: IDLE, or PASS when one is due
 *
 *   timer      armed by                                for
 *   AHEAD      an event                                the look of the next pass, before the quiet
 *                                                      is over
 *   SETTLE     an event                                a pass, once it was quiet for SettleSec=
 *   LOOK       a pass that waits for what gives no     a pass
 *              event
 *   RETRY      a pass that failed, or with changes     a pass that tries again what failed
 *              that failed
 *   DEADLINE   a start, a new configuration            the last pass before ReadyTimeoutSec= is
 *                                                      over, then READY=1 without a pass
 */
#pragma once

#include "../pass/loop.h"

#define SCHEDULE_NEVER UINT64_MAX

enum schedule_state {
	SCHEDULE_IDLE,
	SCHEDULE_LOOKING,
	SCHEDULE_PASS,
	SCHEDULE_CANCELLED,
};

enum schedule_event {
	TIMER_AHEAD, /* each timer has expired */
	TIMER_SETTLE,
	TIMER_LOOK,
	TIMER_RETRY,
	TIMER_DEADLINE,
	_TIMER_N,
	EVENT_CHANGED = _TIMER_N, /* a device, link or address of the node */
	EVENT_LOOKED,             /* the worker of LOOKING waits: is_whole */
	EVENT_RESULT,             /* of the worker: result */
	EVENT_FAILED,             /* the worker is gone, without a result */
	EVENT_ENDED,              /* the killed worker is gone */
	EVENT_CONFIG,             /* another configuration was read: config, is_other */
	EVENT_RELOAD,             /* the administrator asks for a pass with it */
	_EVENT_N
};

struct schedule_input {
	uint64_t now_usec; /* CLOCK_MONOTONIC */
	bool is_whole;     /* nothing is left to be done to the node, but its files may be */
	bool is_other;     /* not the same configuration once more */
	bool is_asked;     /* "apply" waits for a pass with it */
	const struct config *config;
	const struct pass_result *result;
};

/* The actions to take after an event, in this order. */
enum {
	DO_DEGRADE_FAILED = 1 << 0, /* passes fail: the state says so */
	DO_DEGRADE_LATE = 1 << 1,   /* ReadyTimeoutSec= is over: so it does */
	DO_ANSWER = 1 << 2,         /* "apply" waits for this result, or failure */
	DO_RELOADING = 1 << 3,
	DO_RELOADED = 1 << 4, /* the new configuration is in force */
	DO_READY = 1 << 5,    /* for the first time */
	DO_KILL = 1 << 6,     /* the worker, which has changed nothing yet */
	DO_LOOK = 1 << 7,     /* start a worker that is held */
	DO_PASS = 1 << 8,     /* start a worker */
	DO_RELEASE = 1 << 9,  /* the worker that is held */
	DO_EXIT = 1 << 10,    /* of "apply" in this process: it is over */
};

struct schedule {
	enum schedule_state state;
	uint64_t at_usec[_TIMER_N]; /* when each timer expires; SCHEDULE_NEVER: it is off */
	bool is_local;     /* passes run in this process: there is no LOOKING, and an end */
	bool is_again;     /* another pass is due after the present one */
	bool is_wait_over; /* the time to wait is over */
	bool is_ready;     /* READY=1 was sent */
	bool is_reloading;
	bool is_asked;                          /* "apply" waits for the service */
	bool is_first, is_retry, is_by_hand;    /* the next pass is; see struct pass */
	bool was_first, was_retry, was_by_hand; /* the present one is */
	uint32_t n_ibdevs;       /* RDMA devices announced so far; the caller counts them */
	uint32_t n_ibdevs_known; /* as many when the present pass or its last action began */
	uint32_t n_ibdevs_due;   /* as many are announced when all are there */
	uint64_t settle_usec, ready_timeout_usec;
	uint64_t started_usec;          /* READY=1 comes by ReadyTimeoutSec= after this */
	uint64_t ready_usec;            /* ReadyTimeoutSec= is over */
	uint64_t event_usec;            /* of the last event */
	uint64_t storm_usec;            /* since when events put the next pass off; 0: none does */
	uint64_t held_usec;             /* since when the worker of LOOKING is held; 0: it looks */
	uint64_t not_before_usec;       /* of the next look: a loss needs two, SettleSec= apart */
	uint64_t look_usec, retry_usec; /* the next intervals */
};

/* Starts the schedule of a service; the first pass is due at once. */
void schedule_start(struct schedule *s, bool is_local, const struct config *c, uint64_t now_usec);
/* Return: DO_* bits. */
unsigned schedule_event(struct schedule *s, enum schedule_event event,
			const struct schedule_input *in);
/* Fills in the members of the next pass that the schedule decides. */
void schedule_fill(const struct schedule *s, struct pass *ret);
