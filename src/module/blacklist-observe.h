/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blacklist: which modules a tree that is not the running system keeps from being loaded: by
 * "blacklist" and "install" lines of its modprobe.d, and by modprobe.blacklist= on its kernel
 * command line. For the running system libkmod is asked; it would leave the tree (os/module.h).
 *
 * The name of an install command may be a glob, as in libkmod (kmod_module_get_install_commands()).
 * Bound: 8192 lines.
 */
#pragma once

#include "../model/module-facts.h"
#include "../os/fs.h"

struct blacklist_rule {
	char module[MODULE_LEN];
	bool is_glob;
};

struct blacklist {
	struct blacklist_rule *rules; /* owned */
	size_t n_rules;
};

int blacklist_read(const struct fs *fs, struct blacklist *ret); /* -ENOMEM, -E2BIG */
bool blacklist_has(const struct blacklist *b, const char *module);
void blacklist_done(struct blacklist *b);
