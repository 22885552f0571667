/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin facts: device plugins that run, and what they registered.
 */
#pragma once

#include "node.h"

/* A running device plugin, or DRA driver. One that was started before its file was written never
 * reads it again. */
struct plugin_process {
	uint32_t pid;
	char command[32], container[80]; /* as of struct user */
	bool is_dated;            /* the time of the file is known, and the next one counts */
	int64_t since_change_sec; /* from the file's last change to its start; below 0: before */
	uint64_t started_usec;    /* CLOCK_MONOTONIC */
};

struct plugin_resource {
	char name[RESOURCE_LEN];
	uint32_t n_devices;
};
