/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link log: what the kernel announced of links, for the pass that judges it.
 *
 * Each announcement has the counter of carrier losses as it was then, and whether the link was to
 * be up: rtnl_fill_ifinfo() in net/core/rtnetlink.c. Between two of them no loss is missed, and
 * no link is set down or up without one: __dev_notify_flags() in net/core/dev.c. Only one that says
 * something new is kept. Plain data, bounded: the oldest ones make room.
 */
#pragma once

#include "node.h"

/* An announcement of the kernel about a link. */
struct link_news {
	uint32_t ifindex;       /* 0: announcements before this one were lost */
	uint32_t carrier_downs; /* IFLA_CARRIER_DOWN_COUNT */
	uint32_t mtu;
	bool is_up; /* IFF_UP */
	bool is_gone;
	uint64_t usec; /* CLOCK_MONOTONIC; no two are equal */
	int64_t sec;   /* CLOCK_REALTIME */
	bool is_vf;    /* its link follows that of its PF */
};

#define LINK_LOG_MAX 256

struct link_log {
	struct link_news items[LINK_LOG_MAX];
	size_t n; /* that were added; the last LINK_LOG_MAX of them are there */
};

/* Adds @news when it is the first of its link, or tells of a change. VFs are left out: they have no
 * losses to count, and thousands of them are announced at once. */
void link_log_add(struct link_log *log, const struct link_news *news);

/* Announcements were lost from here on, or this process did not listen before. */
void link_log_break(struct link_log *log, uint64_t usec);

/* Appends the log to node.link_news. */
void link_log_give(const struct link_log *log, struct node *n);
