/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: why a module cannot be loaded, in words; for driver/driver-apply.c only.
 *
 * Asks again at this moment, and not the node of the look: what modprobe.d says of the module, what
 * it needs, kernel.modules_disabled and lockdown.
 */
#pragma once

#include "../step/verbs.h"

/* Return: 0; -ENOPKG no file of it; -EPERM blacklisted in modprobe.d; or another -errno. */
int module_find_file(struct work *w, const char *module);

/*
 * Fills work->error. @error: -errno of loading it, as finit_module(2) and module_find_file() have
 * them; of one that tells nothing more than strerror() the words are left as they are.
 */
void module_put_error(struct work *w, const char *module, int error);
