/* SPDX-License-Identifier: Apache-2.0 */
#include "../model/paths.h"
#include "steps.h"

#define PLUGIN_PATH "/" PLUGIN_CONFIG_PATH

int plan_plugin(const struct config *c, const struct node *n, struct plan *p, const char *document)
{
	struct action *a = NULL;

	if (c->plugin.type == PLUGIN_NONE ||
	    (!has_needed_changes(p) && p->state == NODE_DEGRADED && !document)) {
		if (!n->plugin_file || c->is_invalid)
			return 0;
		a = plan_add(p, STEP_PLUGIN, VERB_REMOVE_PLUGIN, CLASS_CHANGE, PLUGIN_PATH);
		return a ? 0 : -ENOMEM;
	}

	if (n->netns_mode == NETNS_MODE_EXCLUSIVE && c->plugin.type == PLUGIN_RDMA_SHARED)
		a = plan_add_reason(p, STEP_PLUGIN, VERB_WRITE_PLUGIN, CLASS_REFUSED, PLUGIN_PATH,
				    REASON_NETNS_EXCLUSIVE);
	else if (has_needed_changes(p) || p->state == NODE_STARTING || !document)
		a = plan_add_reason(p, STEP_PLUGIN, VERB_WRITE_PLUGIN, CLASS_WAITING, PLUGIN_PATH,
				    REASON_NOT_READY);
	else if (!n->plugin_file || !streq(n->plugin_file, document))
		a = plan_add(p, STEP_PLUGIN, VERB_WRITE_PLUGIN, CLASS_CHANGE, PLUGIN_PATH);
	else
		return 0;
	return a ? 0 : -ENOMEM;
}
