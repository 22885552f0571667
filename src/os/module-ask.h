/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module ask: questions of module.h, whose answers are kept for the next look, another process's
 * as well. While no file that libkmod would read is another one, it is not even opened.
 *
 * Who changes something asks module.h.
 */
#pragma once

#include "../model/module-report.h"
#include "module.h"
#include "stamped.h"

struct module_ask {
	struct modules *modules;
	const struct fs *fs;
	struct module_report report; /* owned */
	struct stamps stamps;        /* owned; of what its answers come from */
	bool is_new;                 /* some answers are */
};

/*
 * Begins a look: answers that were kept and are still good, or none. Below --root, and for a
 * recorder, there are none. Return: 0 or -ENOMEM.
 */
int module_ask_begin(struct modules *m, const struct fs *fs, struct module_ask *ret);
/* Ends it; with @is_kept, answers that are new are kept: a failure is logged. */
void module_ask_end(struct module_ask *a, bool is_kept);

/* As module_look(), module_read() and module_resolve() say. */
int module_ask_state(struct module_ask *a, const char *name, enum module_state *ret);
int module_ask_file(struct module_ask *a, bool with_info, struct module *ret);
int module_ask_alias(struct module_ask *a, const char *modalias, char *ret, size_t size);
