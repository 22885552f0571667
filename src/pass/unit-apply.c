/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit: asks systemd for what this process may not do itself. Kubelet files have one writer, which
 * is run by a unit of its own with the rights for it.
 */
#include "../os/manager.h"
#include "../step/verbs.h"

int apply_ensure_kubelet(struct work *w, const struct action *a _unused_)
{
	char result[64] = "";
	int r = manager_request(REQUEST_KUBELET, "", result, sizeof(result));

	if (r == -EHOSTDOWN)
		copy(w->error, CHILD_ERROR_LEN,
		     "systemd cannot be reached; run \"rdma-provision kubelet-ensure\"");
	else if (r < 0)
		snprintf(w->error, CHILD_ERROR_LEN, "rdma-provision-kubelet.service: %s",
			 result[0] ? result : "cannot be started");
	return r;
}

int apply_reload_units(struct work *w, const struct action *a _unused_)
{
	int r = manager_request(REQUEST_RELOAD, "", NULL, 0);

	if (r == -EHOSTDOWN)
		copy(w->error, CHILD_ERROR_LEN,
		     "systemd cannot be reached; run \"systemctl daemon-reload\"");
	return r;
}
