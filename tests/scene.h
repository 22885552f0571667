/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scene: what tests of plan/ and model/ make their nodes and plans with.
 */
#pragma once

#include <arpa/inet.h>

#include "../src/plan/plan.h"

/* For plan_make(), where no plugin is asked for. */
static inline int no_document(_unused_ const struct config *c, _unused_ const struct node *n,
			      _unused_ struct plan *p)
{
	return 0;
}

/* An address in words to its family and bytes. */
static inline void parse(const char *text, int *family, uint8_t ret[16])
{
	*family = strchr(text, ':') ? AF_INET6 : AF_INET;
	memset(ret, 0, 16);
	assert_int_equal(inet_pton(*family, text, ret), 1);
}
