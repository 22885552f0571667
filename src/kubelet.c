/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet.h"

#include "apply/kubelet.h"
#include "doors/yaml.h"
#include "observe/kubelet.h"
#include "output/plugin.h"
#include "plan/plan.h"

#define MAX_TRIES 3

static void refuse(struct kubelet_result *res, enum reason reason, const char *detail)
{
	res->outcome = KUBELET_REFUSED;
	res->reason = reason;
	COPY(res->detail, detail);
}

static void refuse_errno(struct kubelet_result *res, int r)
{
	char detail[sizeof(res->detail) + 128];

	snprintf(detail, sizeof(detail), "%s: %s", res->path,
		 r == -EAGAIN ? "is being written by somebody else" : yaml_problem(r));
	refuse(res, REASON_KUBELET_FILE_REFUSED, detail);
}

/* What the plan has for the kubelet, on a node with nothing else. Return: 1 an edit, 0 none,
 * -errno. */
static int decide(const struct node *n, enum topology_policy want, struct kubelet_result *res)
{
	const struct config c = { .kubelet.topology_policy = want };
	_cleanup_(plan_done) struct plan p = {};
	int r;

	*res = (struct kubelet_result){ .from = n->kubelet.policy, .to = want };
	COPY(res->path, n->kubelet.path);
	COPY(res->detail, n->kubelet.detail);

	r = plan_make(&c, n, NULL, false, output_plugin, &p);
	if (r < 0)
		return r;

	if (p.n_actions > 0 && p.actions[0].class == CLASS_CHANGE)
		return 1;
	if (p.n_actions > 0)
		refuse(res, p.actions[0].reason, p.actions[0].detail);
	else if (p.n_reasons > 0)
		refuse(res, p.reasons[0].reason, p.reasons[0].detail);
	return 0;
}

static int look_again(const struct fs *fs, enum topology_policy want, struct kubelet_result *res)
{
	struct kubelet k = {};
	int r;

	r = observe_kubelet(fs, &k);
	if (r < 0)
		return r;

	if (k.policy == want && k.refusal == REASON_NONE) {
		res->outcome = KUBELET_CHANGED;
		COPY(res->detail, k.detail);
	} else {
		refuse(res, REASON_KUBELET_FILE_REFUSED,
		       k.detail); /* somebody changed it at once */
	}
	return 0;
}

int kubelet_ensure(const struct fs *fs, enum topology_policy want, uint32_t n_numa_nodes,
		   struct kubelet_result *ret)
{
	_cleanup_(closep) int locked = -EBADF;
	struct kubelet_result res = {};
	int r = -EAGAIN;

	/* The first look needs no lock: most of the time there is nothing to do. */
	for (int i = 0; i <= MAX_TRIES && r == -EAGAIN; i++) {
		struct node n = { .n_numa_nodes = n_numa_nodes };

		if (want != TOPOLOGY_POLICY_UNSET) {
			r = observe_kubelet(fs, &n.kubelet);
			if (r < 0)
				return r;
		}
		r = decide(&n, want, &res);
		if (r <= 0) {
			if (r == 0)
				*ret = res;
			return r;
		}

		if (locked < 0) {
			locked = kubelet_lock(fs);
			r = locked < 0 ? locked
				       : -EAGAIN; /* another one may have done it meanwhile */
		} else {
			r = kubelet_edit(fs, n.kubelet.path, topology_policy_name(want));
		}
	}

	if (r >= 0) {
		r = look_again(fs, want, &res);
	} else if (kubelet_is_refusal(r)) {
		refuse_errno(&res, r);
		r = 0;
	}
	if (r < 0)
		return r;

	*ret = res;
	return 0;
}
