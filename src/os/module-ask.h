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
	bool is_new;                 /* some answers are: not kept yet */
};

/*
 * Begins a look: the answers of the look before, or those that were kept, if they are still good.
 * Below --root, and for a recorder, there are none. @a is zero before the first look. Return: 0 or
 * -ENOMEM.
 */
int module_ask_begin(struct module_ask *a, struct modules *m, const struct fs *fs);
/* Has the answers kept that are new: a failure is logged. */
void module_ask_keep(struct module_ask *a);
void module_ask_done(struct module_ask *a);

/* As module_look(), module_read() and module_resolve() say. */
int module_ask_state(struct module_ask *a, const char *name, enum module_state *ret);
int module_ask_file(struct module_ask *a, bool with_info, struct module *ret);
int module_ask_alias(struct module_ask *a, const char *modalias, char *ret, size_t size);
