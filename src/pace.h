/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pace: when the service looks at the node again, as times. Sets no timer and reads no clock, so
 * that the simulation and tests/test-pace.c keep the same pace.
 */
#pragma once

#include "run.h"

#define PACE_STORM_USEC (5 * USEC_PER_SEC) /* events cannot put a pass off for longer */
/* The time to settle while RDMA devices are due: each announces itself by an event. */
#define PACE_DUE_USEC (2 * USEC_PER_SEC)
/* What failed is tried again at growing intervals, whatever happens meanwhile. */
#define PACE_RETRY_FIRST_USEC (10 * USEC_PER_SEC)
#define PACE_RETRY_LAST_USEC  (600 * USEC_PER_SEC)
#define PACE_NEVER            UINT64_MAX

struct pace {
	uint64_t look_usec, retry_usec; /* the next intervals */
	uint64_t retry_at_usec; /* the next pass that tries again; PACE_NEVER: none is due */
};

void pace_start(struct pace *p);
/* An event came: what is waited for is looked at soon again. */
void pace_hurry(struct pace *p);
/* A new configuration: the intervals of retries begin again. */
void pace_renew(struct pace *p);

/*
 * When the pass after an event begins: once it was quiet for @settle_usec, but at most
 * PACE_STORM_USEC after @storm_usec, the first event since the last pass; not before
 * @not_before_usec.
 */
uint64_t pace_settle(uint64_t settle_usec, uint64_t event_usec, uint64_t storm_usec,
		     uint64_t not_before_usec);

/*
 * After a pass: sets retry_at_usec.
 * @result:      of the pass; NULL: it failed as a whole, or died
 * @is_due:      RDMA devices are still expected
 * Return: when to look without an event, PACE_NEVER: not at all.
 */
uint64_t pace_after(struct pace *p, const struct pass_result *result, uint64_t settle_usec,
		    bool is_due, uint64_t now_usec);
