/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include "cpus.h"
#include "decide.h"

bool kubelet_needs_systemd(const struct kubelet_found *k, const struct kubelet_decision *d)
{
	bool is_refused = *k->seen.problem;

	for (size_t i = 0; i < _KUBELET_SETTING_N; i++)
		is_refused |= d->items[i].row > 0 && d->items[i].outcome == KUBELET_REFUSED;
	return k->is_unasked && is_refused;
}

int kubelet_look(const struct fs *fs, const struct config *c, struct kubelet *ret,
		 struct kubelet_decision *ret_decision)
{
	struct kubelet_decision decision;
	bool is_asking = false, is_again;
	struct kubelet_found k;
	uint32_t n_numa_nodes;
	int r;

	do {
		r = kubelet_find(fs, is_asking, &k, NULL);
		if (r >= 0)
			r = cpus_numa_nodes(fs, &n_numa_nodes);
		if (r < 0)
			return r;
		kubelet_decide(c, &k, n_numa_nodes, &decision);
		is_again = !is_asking && kubelet_needs_systemd(&k, &decision);
		is_asking = true;
	} while (is_again);

	*ret = k.seen;
	*ret_decision = decision;
	return 0;
}
