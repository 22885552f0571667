/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preset plan: which preset is for this node: plan_preset() of preset.h.
 */
#include "preset.h"

static bool choose_by_label(const struct node *n, struct preset_choice *c)
{
	static const char *const modes[] = { "exclusive", "shared", "shared-multi" };
	const char *mode = n->kubelet.vke_rdma_mode.value;

	if (!*mode)
		return false;
	PRINT(c->why, "%s" VKE_RDMA_MODE "=%s",
	      n->kubelet.vke_rdma_mode.is_in_file ? "the file of LabelFile= has "
						  : "the kubelet has --node-labels=",
	      mode);
	for (size_t i = 0; i < ELEMENTSOF(modes); i++)
		if (streq(modes[i], mode))
			PRINT(c->name, "vke-%s", mode);
	return true;
}

static bool choose_by_function(const struct node *n, struct preset_choice *c)
{
	for (size_t i = 0; i < n->n_pcis; i++) {
		if (!pci_is_erdma(&n->pcis[i]))
			continue;
		COPY(c->name, "ack-erdma");
		PRINT(c->why, "%s is an eRDMA function", n->pcis[i].address);
		return true;
	}
	return false;
}

static bool choose_by_type(const char *type, struct preset_choice *c)
{
	static const struct {
		const char *prefix, *preset; /* none: it cannot be told */
	} rows[] = {
		{ "ecs.scc", "scc" },           { "ecs.hpcg1ve.21xlarge", "vke-exclusive" },
		{ "ecs.hpcpni2.28xlarge", "" }, { "ecs.hpc", "vke-shared" },
		{ "ecs.ebmhpc", "vke-shared" },
	};

	FOREACH(row, rows, ELEMENTSOF(rows))
		if (is_prefix(type, row->prefix)) {
			PRINT(c->name, "%s", row->preset);
			PRINT(c->why, "the instance type is %s%s", type,
			      *row->preset ? "" : ", which needs vke-exclusive in some regions");
			return true;
		}
	return false;
}

void plan_preset(const struct node *n, const char *type, struct preset_choice *ret)
{
	const struct pci *other =
		FIND(f, n->pcis, n->n_pcis, *f->driver && node_ibdev_of(n, f->address));
	size_t n_nics = 0;

	*ret = (struct preset_choice){};
	COPY(ret->advice, "name one of those that \"rdma-provision presets\" lists");
	for (size_t i = 0; i < n->n_pcis; i++)
		n_nics += streq(*n->pcis[i].driver ? n->pcis[i].driver : n->pcis[i].module,
				"mlx5_core") &&
			  !*n->pcis[i].physfn;
	if (!choose_by_label(n, ret) && !choose_by_function(n, ret) &&
	    !(n_nics > 0 && choose_by_type(type, ret))) {
		ret->wants_type = n_nics > 0 && !*type;
		if (n_nics > 0) {
			PRINT(ret->why,
			      "%zu NICs of mlx5_core are those of SCC, Lingjun and VKE, and "
			      "neither the instance type%s%s nor --node-labels=" VKE_RDMA_MODE
			      "=MODE of the kubelet tells which",
			      n_nics, *type ? " " : "", type);
		} else {
			COPY(ret->why, "there is no eRDMA function and no NIC of mlx5_core, so no "
				       "preset is for this node");
			PRINT(ret->advice, "write a [Device NAME] section%s%s",
			      other ? " with Match=driver:" : "", other ? other->driver : "");
		}
	}
}
