/* SPDX-License-Identifier: Apache-2.0 */
#include "pace.h"

/*
 * The kernel gives no event for GIDs, nor for the state of a port without a netdev: while something
 * is waited for, looks at growing intervals.
 */
#define LOOK_FIRST_USEC (50 * USEC_PER_MSEC)
#define LOOK_LAST_USEC  (60 * USEC_PER_SEC)
/* The state of an InfiniBand port without IPoIB has no event at all: looked at as long as one is
 * managed. */
#define LOOK_SILENT_USEC (30 * USEC_PER_SEC)

void pace_start(struct pace *p)
{
	pace_hurry(p);
	pace_renew(p);
	p->retry_at_usec = PACE_NEVER;
}

void pace_hurry(struct pace *p)
{
	p->look_usec = LOOK_FIRST_USEC;
}

void pace_renew(struct pace *p)
{
	p->retry_usec = PACE_RETRY_FIRST_USEC;
}

uint64_t pace_settle(uint64_t settle_usec, uint64_t event_usec, uint64_t storm_usec,
		     uint64_t not_before_usec)
{
	const uint64_t when = MIN(event_usec + settle_usec, storm_usec + PACE_STORM_USEC);

	return MAX(when, not_before_usec);
}

static void retry(struct pace *p, uint64_t now_usec)
{
	p->retry_at_usec = now_usec + p->retry_usec;
	p->retry_usec = MIN(p->retry_usec * 2, PACE_RETRY_LAST_USEC);
}

static uint64_t when_to_look(struct pace *p, const struct pass_result *result, uint64_t settle_usec,
			     bool is_due, uint64_t now_usec)
{
	uint64_t when = result->again_usec > 0 ? result->again_usec : PACE_NEVER;

	if (result->n_waiting > 0 || result->n_lost > 0) {
		if (is_due)
			p->look_usec = MAX(p->look_usec, PACE_DUE_USEC);
		when = MIN(when, now_usec + (result->n_lost > 0 ? MAX(p->look_usec, settle_usec)
								: p->look_usec));
		p->look_usec = MIN(p->look_usec * 2, LOOK_LAST_USEC);
	}
	return result->n_silent > 0 ? MIN(when, now_usec + LOOK_SILENT_USEC) : when;
}

uint64_t pace_after(struct pace *p, const struct pass_result *result, uint64_t settle_usec,
		    bool is_due, uint64_t now_usec)
{
	if (!result) {
		retry(p, now_usec);
		return PACE_NEVER;
	}
	if (result->n_failed == 0) {
		pace_renew(p);
		p->retry_at_usec = PACE_NEVER;
	} else if (p->retry_at_usec == PACE_NEVER || p->retry_at_usec <= now_usec) {
		retry(p, now_usec); /* events do not put it off */
	}
	return when_to_look(p, result, settle_usec, is_due, now_usec);
}
