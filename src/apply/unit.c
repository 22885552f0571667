/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit: asks systemd for what this process may not do itself. Kubelet files have one writer, which
 * is run by a unit of its own with the rights for it.
 */
#include "../doors/manager.h"
#include "verbs.h"

#define KUBELET_UNIT      "rdma-provision-kubelet.service"
#define UNIT_TIMEOUT_USEC (25 * USEC_PER_SEC) /* below the deadline of the verb */
#define LOAD_TIMEOUT_USEC (50 * USEC_PER_SEC) /* the same; generators of others run as well */

int apply_ensure_kubelet(struct work *w, const struct action *a)
{
	char result[64] = "";
	int r;

	r = manager_start_unit(KUBELET_UNIT, UNIT_TIMEOUT_USEC, result, sizeof(result));
	if (r == -EHOSTDOWN)
		copy(w->error, sizeof(a->error),
		     "systemd cannot be reached; run \"rdma-provision kubelet-ensure\"");
	else if (r < 0)
		snprintf(w->error, sizeof(a->error), KUBELET_UNIT ": %s",
			 result[0] ? result : "cannot be started");
	return r;
}

int apply_reload_units(struct work *w, const struct action *a)
{
	int r = manager_reload(LOAD_TIMEOUT_USEC);

	if (r == -EHOSTDOWN)
		copy(w->error, sizeof(a->error),
		     "systemd cannot be reached; run \"systemctl daemon-reload\"");
	return r;
}
