/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: the last boots, the oldest first, from what is remembered over boots.
 *
 * What is malformed is not used, as if it were
 * not there: then a step that crashes the machine is tried again, which is what would be done
 * without it. A step whose verb this version does not know is left out.
 */
#pragma once

#include "../model/boots.h"
#include "../os/fs.h"

/* Fills memory.boots and node.program. Return: 0 or -ENOMEM. */
int observe_boots(const struct fs *fs, struct node *n, struct memory *memory);
