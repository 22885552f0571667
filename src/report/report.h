/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Report: outcomes to the log and the journal, the state to its files, and the exit code.
 *
 * The only output of a pass. Silent while nothing changes.
 */
#pragma once

#include "../doors/fs.h"
#include "../model/plan.h"

/* Exit codes of apply, status and wait. */
enum {
	EXIT_CODE_DEGRADED = 3,
	EXIT_CODE_NOT_YET = 4,
};

/* One line for an action that was tried: a notice for a change made, an error for one that failed.
 */
void report_action(const struct action *a);

/*
 * Writes state.json and, for a ready node only, the ready file ("BOOT_ID CONFIG_HASH\n"); both only
 * when they differ. With @is_news each deviation is logged as a warning.
 * Return: 0 or -errno.
 */
int report_state(const struct fs *fs, const struct config *c, const struct node *n,
		 const struct plan *p, const char *state_json, bool is_news);

/* 0, or EXIT_CODE_*: a ready node with open items is not finished either. */
int report_exit_code(const struct plan *p);
