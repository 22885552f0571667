/* SPDX-License-Identifier: Apache-2.0 */
#include "observe.h"

int observe_users(const struct doors *d, struct node *n)
{
	n->has_users = d->fs.is_live;
	return 0;
}
