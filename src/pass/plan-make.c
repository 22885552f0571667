/* SPDX-License-Identifier: Apache-2.0 */
#include "plan-make.h"

#include "../outputs/documents-output.h"
#include "../plugin/plugin-output.h"
#include "../step/attempts-plan.h"
#include "../step/steps.h"

int plan_make(const struct config *c, const struct node *n, const struct memory *memory,
	      const struct attempts *tried, bool is_wait_over, struct plan *ret)
{
	static plan_step *const steps[] = {
		plan_old_pod,     plan_units,          plan_needs,
		plan_devices,     plan_flaps,          plan_driver,
		plan_netns,       plan_given_back,     plan_nic_netdevs,
		plan_sysctl,      plan_udev_rules,     plan_link_pf,
		plan_vf,          plan_link_late_pf,   plan_boots,
		plan_vf_setup,    plan_link_vf,        plan_lost,
		plan_qos,         plan_metadata,       plan_addresses,
		plan_route,       plan_policy_routing, plan_neigh,
		plan_coexistence, plan_gids,           plan_smc,
		plan_late,        plan_boots,          plan_kubelet,
	};
	/* A new configuration has its own time to wait. "revert" ends none: the state that it left
	 * says nothing of what is still to come. */
	const bool is_same = streq(memory->last_hash, c->hash);
	const bool was_told = memory->last_state != NODE_STARTING && !memory->was_held && is_same;
	_cleanup_(plan_done) struct plan p = { .tried = tried,
					       .is_wait_over = is_wait_over ||
							       (was_told && memory->was_wait_over),
					       .is_told = is_wait_over || was_told,
					       .is_wanted = n->is_by_hand || !is_same };
	size_t first;
	int r;

	for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
		first = p.n_actions;
		steps[i](c, n, memory, &p);
		if (p.texts.is_short)
			return -ENOMEM;
		/* The next step is to know what is left alone. */
		plan_contest(c, n, memory, first, &p);
	}
	plan_mark_tried(&p);
	plan_state(c, n, memory, &p);
	p.is_whole = p.state == NODE_READY && !plan_has_needed_changes(&p);

	first = p.n_actions;
	r = output_plugin_all(c, n, &p);
	if (r < 0)
		return r;
	plan_plugin(c, n, memory, &p);
	plan_contest(c, n, memory, first, &p);
	plan_mark_tried(&p);

	/* Ready, or as good as it gets, is what nothing has to be done to. */
	if (p.state != NODE_STARTING && plan_has_needed_changes(&p))
		p.state = p.is_told ? NODE_DEGRADED : NODE_STARTING;
	r = plan_ask(n, &p);
	return GIVE(r, p, ret);
}

int plan_finish(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	plan_health(n, memory, p);
	output_files(c, n, p);
	plan_outputs(c, n, memory, p);
	return plan_result(p);
}
