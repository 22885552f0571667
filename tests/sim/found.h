/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Found: lives that once went wrong, by a fault of the program. Their numbers mean another life
 * once the model is another; those here were found with, or renumbered for, the present one.
 */
#pragma once

#include <stdint.h>

static const struct {
	uint64_t seed;
	const char *fault;
} found[] = {
	{ 733, "\"revert --vfs\" left VFs of a card that enabled fewer than asked for" },
};
