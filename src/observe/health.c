/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: reporters and eswitch mode of functions, over devlink. What a sick PF means is
 * plan/gate.h.
 */
#include "../doors/devlink.h"
#include "observe.h"

int observe_health(struct doors *d, struct node *n)
{
	/* Below a root it is in the answers; a stuck write may hold the lock that is asked for. */
	if (!d->fs.is_live || n->stuck[0])
		return 0;

	return devlink_read(&d->devlink, n->pcis, n->n_pcis);
}
