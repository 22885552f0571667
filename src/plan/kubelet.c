/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

/* The kubelet exits above this with any policy: pkg/kubelet/cm/topologymanager/topology_manager.go
 */
#define MAX_NUMA_NODES 8

int plan_kubelet(const struct config *c, const struct node *n, struct plan *p)
{
	const struct kubelet *k = &n->kubelet;
	enum topology_policy want = c->kubelet.topology_policy;
	struct action *a;
	char detail[32];

	if (want == TOPOLOGY_POLICY_UNSET || !k->is_there || k->policy >= want)
		return 0; /* a stricter value of the operator is never lowered */

	if (n->n_numa_nodes > MAX_NUMA_NODES) {
		snprintf(detail, sizeof(detail), "%" PRIu32 " NUMA nodes", n->n_numa_nodes);
		return plan_add_hint(p, REASON_KUBELET_NUMA_NODES, "kubelet", detail);
	}
	/* Before "kubeadm join" there is no file; kubelet-ensure looks at every start of the
	 * kubelet. */
	if (k->refusal == REASON_KUBELET_NO_FILE)
		return plan_add_hint(p, REASON_KUBELET_NO_FILE, "kubelet", k->detail);

	a = plan_add_reason(p, STEP_KUBELET, VERB_ENSURE_KUBELET,
			    k->refusal == REASON_NONE ? CLASS_CHANGE : CLASS_REFUSED, k->path,
			    k->refusal);
	if (!a)
		return -ENOMEM;
	COPY(a->from, k->policy == TOPOLOGY_POLICY_UNSET ? "" : topology_policy_name(k->policy));
	COPY(a->to, topology_policy_name(want));
	COPY(a->detail, k->detail);
	return 0;
}
