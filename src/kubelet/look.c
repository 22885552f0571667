/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include "cpus.h"
#include "decide.h"
#include "find.h"

static bool is_all_well(const struct kubelet_found *k, const struct kubelet_decision *d)
{
	for (size_t i = 0; i < _KUBELET_SETTING_N; i++)
		if (d->items[i].row > 0 && d->items[i].outcome != KUBELET_SATISFIED)
			return false;
	return !d->is_state_removed && !k->seen.is_deferred;
}

int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet *ret,
		 struct kubelet_decision *ret_decision)
{
	struct kubelet_decision decision;
	bool may_help = false;
	struct kubelet_found k;
	int r;

	do {
		r = kubelet_find(fs, may_help, &k, NULL);
		if (r < 0)
			return r;
		kubelet_decide(c, &k, cpus_numa_nodes(fs), &decision);
		may_help = !may_help && fs->is_live && k.is_unasked && !is_all_well(&k, &decision);
	} while (may_help);

	*ret = k.seen;
	*ret_decision = decision;
	return 0;
}
