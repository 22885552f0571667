/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembered: what libkmod answered to an earlier look of this boot, so that a pass with nothing to
 * do needs no libkmod, and none of the libraries behind it.
 *
 * An answer holds as long as everything it was made of is untouched (modules_key()), which each
 * look compares; it is never older than the boot. What module files say of themselves is not
 * remembered, and whoever changes something asks libkmod itself. Of another tree nothing is
 * remembered.
 */
#pragma once

#include "../doors/doors.h"
#include "../model/node.h"

#include <jansson.h>

struct remembered {
	char *key;     /* owned; NULL: nothing can be remembered now */
	json_t *known; /* owned; the document: key, states, paths, modaliases */
	bool is_new;   /* it has an answer that the file has not */
};

/* @now: seconds of the real-time clock. Return: 0 or -ENOMEM. */
int remembered_open(struct doors *d, time_t now, struct remembered *ret);
void remembered_done(struct remembered *k);

/* As module_look(), module_read() without info, and module_resolve(). */
int remembered_look(struct doors *d, struct remembered *k, const char *name,
		    enum module_state *ret);
int remembered_path(struct doors *d, struct remembered *k, struct module *m);
int remembered_resolve(struct doors *d, struct remembered *k, const char *modalias, char *ret,
		       size_t size);

/* The file as it has to be written; NULL when it is already. Return: 0 or -ENOMEM. */
int remembered_text(const struct remembered *k, char **ret);
