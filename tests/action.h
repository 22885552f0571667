/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../src/model/action.h"

/* Sets the texts that a test leaves out to "", as plan_add() does. */
static inline void complete_actions(struct action *actions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct action *a = &actions[i];

		a->target = a->target ? a->target : "";
		a->subject = a->subject ? a->subject : "";
		a->detail = a->detail ? a->detail : "";
		a->error = a->error ? a->error : "";
	}
}
