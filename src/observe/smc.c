/* SPDX-License-Identifier: Apache-2.0 */
#include "smc.h"

#include "../base/log.h"
#include "../doors/smc.h"
#include "../model/wanted.h"

int observe_smc(struct doors *d, struct node *n)
{
	const struct module *m = node_module(n, SMC_MODULE);
	int r;

	if (!d->fs.is_live || !m || (m->state != MODULE_LOADED && m->state != MODULE_BUILTIN))
		return 0;

	r = smc_list(&d->smc, &n->pnets, &n->n_pnets);
	if (r < 0 && r != -ENOMEM)
		log_debug_errno(r, "The table of PNETIDs cannot be read");
	n->has_pnets = r >= 0;
	return r == -ENOMEM ? r : 0;
}
