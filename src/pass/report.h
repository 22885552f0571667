/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Report: outcomes to the log and the journal, the state to its files, and the exit code.
 *
 * The only output of a pass. Silent while nothing changes. Each line in the journal has the fields
 * MESSAGE_ID= (model/message.h), RDMA_TARGET=, RDMA_CODE= and RDMA_DETAIL=.
 */
#pragma once

#include "../model/message.h"
#include "../model/plan.h"
#include "../os/fs.h"

/* Exit codes of apply, status and wait. */
enum {
	EXIT_CODE_DEGRADED = 3,
	EXIT_CODE_NOT_YET = 4,
};

/*
 * Reports an action that was tried in one line: a notice for a change made; for one that failed an
 * error or a warning, as reason_severity() has it.
 */
void report_action(const struct action *a);

/* Logs each in one line, but for SEVERITY_NONE and what report_action() logged for this plan. */
void report_news(const struct plan *p, const struct news *news, size_t n);

/* Logs a notice for a node that became ready, a warning for one that became degraded. */
void report_change_of_state(enum node_state state, const char *summary);

/*
 * Writes state.json and, for a ready node only, the ready file ("BOOT_ID CONFIG_HASH\n"); both only
 * when they differ. Return: 0 or -errno.
 */
int report_state(const struct fs *fs, const struct config *c, const struct node *n,
		 const struct plan *p, const char *state_json);

/* 0, or EXIT_CODE_*: a ready node with open items is not finished either. */
int report_exit_code(const struct plan *p);
