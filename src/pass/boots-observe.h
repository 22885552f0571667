/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: the last boots, the oldest first, from what is remembered over boots.
 *
 * Malformed records count as absent: a step that crashes the machine is then tried again, as it
 * would be without them. A step whose verb this version does not know is left out.
 */
#pragma once

#include "../model/boots.h"
#include "../os/fs.h"

/* Fills memory.boots and node.program. Return: 0 or -ENOMEM. */
int observe_boots(const struct fs *fs, struct node *n, struct memory *memory);
