/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child: one call in a process of its own, with a deadline.
 */
#pragma once

#include "../base/util.h"

#define CHILD_ERROR_LEN 192

/**
 * child_call() - run @call in a child process and wait for its answer
 * @call:          gets room for CHILD_ERROR_LEN bytes of words
 * @deadline_usec: after which the child is killed
 * @ret_error:     its words, empty when it had none
 *
 * The child dies with its parent (PR_SET_PDEATHSIG); a write that the kernel has begun it still
 * ends. Return: what @call returned, -ETIMEDOUT, -EIO when the child died, or -errno of fork().
 */
int child_call(int (*call)(void *userdata, char *error), void *userdata, uint64_t deadline_usec,
	       char *ret_error, size_t size);
