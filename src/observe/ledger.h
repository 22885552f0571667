/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledger: what was set by us in the kernel in this boot, with what was there before.
 *
 * A JSON array of objects in LEDGER_PATH, which is in /run: what it tells of lasts no longer. What
 * is malformed is not used, as if it were not there: then nothing can be taken back but what
 * carries our protocol number.
 */
#pragma once

#include "../doors/fs.h"
#include "../model/node.h"

int ledger_read(const struct fs *fs, struct ledger_entry **ret,
		size_t *ret_n); /* none: 0. Or -ENOMEM */
int ledger_write(const struct fs *fs, const struct ledger_entry *entries,
		 size_t n); /* 0 or -errno */
