/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the goal of "early" and "bake", files of ours in modprobe.d, through loop.h.
 */
#pragma once

#include "loop.h"
#include "plan/option.h"

struct options {
	struct os *os;
	const struct config *config; /* its NetnsMode= is set as well; NULL: files alone */
	struct option_file files[2]; /* path NULL: no file; have: owned by options_put() */
};

/*
 * Files first: opening the socket that sets the mode loads ib_core. What fails stops nothing that
 * follows. Return: how many changes there were, or the -errno of one that failed.
 */
int options_put(struct options *o);
