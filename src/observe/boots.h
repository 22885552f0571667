/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots: the ledger of the last boots, BOOTS_PATH: a JSON object with "boots", the oldest first.
 *
 * It is in /var, since it is of boots that are over. What is malformed is not used, as if it were
 * not there: then a step that crashes the machine is tried again, which is what would be done
 * without it. A step whose verb this version does not know is left out.
 */
#pragma once

#include "../doors/fs.h"
#include "../model/boots.h"

/* Fills node.boots and node.program. Return: 0 or -ENOMEM. */
int observe_boots(const struct fs *fs, struct node *n);

int boots_write(const struct fs *fs, const struct boot *boots, size_t n); /* 0 or -errno */
