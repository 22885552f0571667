/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-observe.h"

#include "../base/log.h"
#include "../model/units.h"
#include "../os/kubelet-ask.h"

static void refuse(const struct config *c, int error, struct node *n)
{
	const bool is_asked[_KUBELET_SETTING_N] = {
		[KUBELET_TOPOLOGY_POLICY] = c->kubelet.topology_policy != TOPOLOGY_POLICY_UNSET,
		[KUBELET_TOPOLOGY_SCOPE] = c->kubelet.topology_scope != TOPOLOGY_SCOPE_UNSET,
		[KUBELET_CPU_POLICY] = c->kubelet.cpu_policy == CPU_POLICY_STATIC,
	};

	n->kubelet.is_there = true; /* perhaps */
	snprintf(n->kubelet.problem, sizeof(n->kubelet.problem), KUBELET_PROGRAM ": %s",
		 strerror(-error));
	for (size_t i = 0; i < _KUBELET_SETTING_N; i++) {
		struct kubelet_item *item = &n->kubelet_decision.items[i];

		if (!is_asked[i])
			continue;
		item->row = 12; /* of kubelet/decide.c: not understood */
		item->outcome = KUBELET_REFUSED;
		item->reason = REASON_KUBELET_UNCLEAR;
		COPY(item->detail, n->kubelet.problem);
	}
}

int observe_kubelet(struct os *d, const struct config *c, struct node *n)
{
	struct kubelet_report report = {};
	int r;

	r = kubelet_ask(&d->fs, c, &report);
	if (r == -ENOMEM)
		return r;
	n->kubelet = report.kubelet;
	n->kubelet_decision = report.decision;
	if (r < 0) {
		log_debug_errno(r, KUBELET_PROGRAM);
		refuse(c, r, n);
	}
	return 0;
}
