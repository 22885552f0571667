/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config errors: what is wrong with a configuration, in sentences for people.
 *
 * Is a list, not a log: the caller decides how loud a problem is. Two kinds:
 * what is malformed makes the file set unusable; what is unknown to this version was skipped, for a
 * newer configuration must not take down a node.
 */
#pragma once

#include "../base/util.h"

#define PROBLEMS_MAX 32 /* of each kind: more are not read, and garbage has no end */

struct config_error {
	char *text;    /* owned; "Count=8 VFs is not valid: use ... (/etc/x.conf:12)" */
	size_t n_what; /* with a line: bytes of text before " (FILE:LINE)" */
	unsigned line; /* 0: the file as a whole, "FILE: ..." */
	bool is_unknown;
};

struct config_errors {
	struct config_error *items; /* owned, in the order they were found */
	size_t n_items;
	size_t n_malformed, n_unknown; /* unknown ones are counted beyond what is listed */
};

void config_errors_done(struct config_errors *e);

/* The first malformed one, else the first unknown one, else NULL. */
const char *config_errors_first(const struct config_errors *e);

/**
 * config_errors_add() - note one problem: subject, value, what is wrong, ": use " what is accepted
 * @is_unknown: a key or section this version does not know
 * @file:       absolute below the root, "/etc/..."
 * @line:       from 1; 0: the file as a whole
 *
 * Return: 0, -ENOMEM, or -E2BIG when there are PROBLEMS_MAX malformed ones: stop reading.
 */
int config_errors_add(struct config_errors *e, bool is_unknown, const char *file, unsigned line,
		      const char *format, ...) _printf_(5, 6);

/*
 * Text of a file as a terminal may see it: control characters and broken UTF-8 as "\x1b", long text
 * cut with "...". Returns @buf.
 */
#define QUOTED_LEN 96
const char *config_quoted(const char *text, char buf[static QUOTED_LEN]);

bool config_is_utf8(const char *text, size_t size);

/*
 * The nearest of several words, by the number of letters to change, add or drop, whatever their
 * case. Fill in .word, then offer candidates; .best is NULL while nothing is near enough to be a
 * typo.
 */
struct nearest {
	const char *word, *best;
	size_t distance; /* of best */
};
void nearest_offer(struct nearest *n, const char *candidate);
