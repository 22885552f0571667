/* SPDX-License-Identifier: Apache-2.0 */
/*
 * World: all that the loop (loop.c) and the runner of its plans (apply.c) see of a node.
 *
 * live.h is the one behind which there is a kernel; tests/sim has another, with a model of a kernel
 * and a clock of its own.
 */
#pragma once

#include "config.h"
#include "node.h"
#include "plan.h"

struct child;
struct os;
struct pollfd;

struct world {
	/* The handles that the verbs work with. Memory (os/memory-file.h) is below its fs. */
	struct os *os;

	/* Clock: CLOCK_MONOTONIC, and seconds since 1970. */
	uint64_t (*now_usec)(void *userdata);
	int64_t (*time_sec)(void *userdata);

	/*
	 * Observe: the node as it is now, with the files that @c names; and what is remembered,
	 * with what this pass tried. Return: 0 or -errno; release @ret with node_done() and
	 * @ret_memory with memory_done().
	 */
	int (*look)(void *userdata, const struct config *c, const struct attempts *tried,
		    struct node *ret, struct memory *ret_memory);
	/* Answers @q into @n. Return: 1, 0 when @n is what it was, or -errno. */
	int (*answer)(void *userdata, const struct questions *q, const struct memory *memory,
		      struct node *n);

	/* Apply: child_begin(), child_end(), child_done() and child_leave() of os/child.h. */
	int (*begin)(void *userdata, struct child *c, size_t i);
	int (*end)(void *userdata, struct child *c, uint64_t until_usec, char *ret_error,
		   size_t size);
	void (*finish)(struct child *c);
	void (*leave)(struct child *c);
	/* Wait: poll() of what was begun, until now_usec() is @until_usec. */
	int (*wait)(void *userdata, struct pollfd *fds, size_t n, uint64_t until_usec);

	void *userdata;
};
