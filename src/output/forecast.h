/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forecast: what the device plugin exposes when the plan is done, beside what it exposes now.
 *
 * Pure. A device counts for later when it is handed out and usable, or waits for something that
 * comes; VFs that the plan makes count, VFs that it refuses to make do not.
 */
#pragma once

#include "../model/plan.h"

struct forecast {
	struct forecast_pool {
		char resource[RESOURCE_LEN];
		size_t n_now, n_after; /* devices */
		size_t n_infiniband;   /* of those of later */
		size_t n_nics;         /* PFs that the devices of later belong to */
	} *pools;                      /* owned; in the order of the devices */
	size_t n_pools;
};

int forecast_make(const struct config *c, const struct plan *p, struct forecast *ret);
void forecast_done(struct forecast *f);
