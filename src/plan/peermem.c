/* SPDX-License-Identifier: Apache-2.0 */
#include "peermem.h"

#include "../model/wanted.h"

static bool is_in_kernel(const struct module *m)
{
	return m && (m->state == MODULE_LOADED || m->state == MODULE_BUILTIN);
}

static size_t count_gpus(const struct node *n)
{
	size_t n_gpus = 0;

	for (size_t i = 0; i < n->n_pcis; i++)
		n_gpus += is_gpu(&n->pcis[i]);
	return n_gpus;
}

int plan_peermem(const struct config *c, const struct node *n, struct plan *p, bool is_wanted)
{
	const struct module *m = node_module(n, PEERMEM_MODULE);
	const bool is_asked = c->driver.peermem == PEERMEM_YES;
	const size_t n_gpus = count_gpus(n);
	struct action *a;

	if (c->driver.peermem == PEERMEM_NO || (!is_asked && (!is_wanted || n_gpus == 0)) ||
	    is_in_kernel(m))
		return 0;
	if (!m || m->state == MODULE_MISSING || m->state == MODULE_BLACKLISTED) {
		if (!is_asked) /* whoever wants it installs it */
			return 0;
		return plan_add_hint(p, REASON_PEERMEM_FAILED, PEERMEM_MODULE,
				     m && m->state == MODULE_BLACKLISTED ? "it is blacklisted"
									 : "it is not installed");
	}
	if (!is_in_kernel(node_module(n, NVIDIA_MODULE)) ||
	    !is_in_kernel(node_module(n, CORE_MODULE)) || n->n_ibdevs == 0)
		return 0;

	a = plan_add(p, STEP_DRIVER, VERB_LOAD_MODULE, CLASS_CHANGE, PEERMEM_MODULE);
	if (!a)
		return -ENOMEM;
	snprintf(a->to, sizeof(a->to), "for %zu GPUs, %zu RDMA devices", n_gpus, n->n_ibdevs);
	return 0;
}
