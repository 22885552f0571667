/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

int apply_write_rules(struct work *w _unused_, const struct action *a _unused_)
{
	return -EOPNOTSUPP;
}
