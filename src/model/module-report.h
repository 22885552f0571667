/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module report: what libkmod said of modules, as it is kept in MODULE_REPORT_PATH
 * (os/module-ask.h), and the parts of it that a capture has as well (observe/snapshot.h).
 */
#pragma once

#include "../base/fields.h"
#include "node.h"

struct modalias_answer {
	char modalias[128], module[MODULE_LEN]; /* of a report: empty, there is none */
};

/* Of a struct module: name, state, and what is of the file. */
extern const struct fields module_fields;
extern const struct fields modalias_fields;

/* One entry for each question that was asked. */
struct module_report {
	struct module *states; /* owned; of the state alone */
	size_t n_states;
	struct module *files; /* owned; path and what the file says; MODULE_MISSING: no such file */
	size_t n_files;
	struct modalias_answer *aliases; /* owned */
	size_t n_aliases;
};

extern const struct fields module_report_fields;

void module_report_done(struct module_report *r);
