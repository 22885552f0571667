/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

int apply_write_plugin(struct work *w, const struct action *a)
{
	int r;

	/* Plugins run with a user of their own choice: readable for all. Paths of actions are
	 * absolute. */
	r = fs_replace(&w->doors->fs, a->target + 1, w->document, strlen(w->document), 0644);
	return r < 0 ? r : 0;
}

int apply_remove_plugin(struct work *w, const struct action *a)
{
	return fs_remove(&w->doors->fs, a->target + 1);
}
