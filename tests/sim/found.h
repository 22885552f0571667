/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Found: lives that once went wrong, by a fault of the program. Each has its number in the model of
 * its time; once the model is another it means another life.
 */
#pragma once

#include <stdint.h>

static const struct {
	uint64_t seed;
	const char *fault;
} found[] = {
	{ 733, "\"revert --vfs\" left VFs of a card that enabled fewer than asked for" },
	{ 1095, "a function that was bound again counted as in a pod, and was handed out" },
	{ 2176, "\"revert\" left sriov_drivers_autoprobe off when a pass had ended with a write" },
	{ 237, "another number of VFs was written behind the write of a service that was killed" },
	{ 1411, "\"revert --vfs\" went on to the next PF behind a number of VFs that hung" },
	{ 4177, "VFs that were removed and made again were handed out before they were usable" },
	{ 608, "a pass without an end of its time looked again and again while it waited" },
};
