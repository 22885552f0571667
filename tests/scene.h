/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scene: what tests of plans and of model/ make their nodes and plans with.
 */
#pragma once

#include <arpa/inet.h>

#include "../src/model/route-find.h"
#include "../src/model/use-facts.h"
#include "../src/pass/plan-make.h"

static inline struct attempts attempts_of(const struct plan *p)
{
	return p ? (struct attempts){ .actions = p->actions, .n_actions = p->n_actions }
		 : (struct attempts){};
}

/*
 * The default destination of each family that has one, with the answer that the routes of the node
 * give: as observe_ways() has it for a captured tree. Return: how many.
 */
static inline size_t scene_destinations(const struct node *n, struct destination ret[static 2])
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t count = 0;

	for (size_t i = 0; i < ELEMENTSOF(families); i++) {
		struct destination d = { .to = TO_DEFAULT,
					 .words = "default route",
					 .lookup.family = families[i] };

		if (route_find_default(n, families[i], d.lookup.dst) < 0)
			continue;
		route_find(n, &d.lookup);
		ret[count++] = d;
	}
	return count;
}

/* As loop.c makes it, but for hints about health and the files of [Output]. A node without
 * destinations gets those of scene_destinations(). */
static inline int make_whole_plan(const struct config *c, struct node *n, struct memory *memory,
				  const struct attempts *tried, bool is_wait_over, struct plan *ret)
{
	struct destination destinations[2];
	struct destination *const own = n->destinations;
	const size_t n_own = n->n_destinations;
	int r;

	if (!own) {
		n->destinations = destinations;
		n->n_destinations = scene_destinations(n, destinations);
	}
	r = plan_make(c, n, memory, tried, is_wait_over, ret);
	ret->tried = NULL; /* it may end before the plan */
	n->destinations = own;
	n->n_destinations = n_own;
	return r;
}

/* Equal texts; the name of the row goes along, so that a difference tells where it is. */
static inline void assert_row(const char *row, const char *is, const char *expected)
{
	char a[4608], b[4608];

	snprintf(a, sizeof(a), "%s:\n%s", row, is);
	snprintf(b, sizeof(b), "%s:\n%s", row, expected);
	assert_string_equal(a, b);
}

/* An address in words to its family and bytes. */
static inline void parse(const char *text, int *family, uint8_t ret[16])
{
	*family = strchr(text, ':') ? AF_INET6 : AF_INET;
	memset(ret, 0, 16);
	assert_int_equal(inet_pton(*family, text, ret), 1);
}
