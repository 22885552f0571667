/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit: asks systemd for what this process may not do itself. Kubelet files have one writer, which
 * is run by a unit of its own with the rights for it.
 */
#include "../os/manager.h"
#include "../step/verbs.h"

int apply_ensure_kubelet(struct work *w, const struct action *a _unused_)
{
	int r = manager_request(&w->os->fs, WANT_KUBELET);

	if (r == -EHOSTDOWN)
		copy(w->error, CHILD_ERROR_LEN,
		     "systemd does not start rdma-provision-kubelet.service; run \"rdma-provision "
		     "kubelet-ensure\"");
	else if (r == -EIO || r == -ETIMEDOUT)
		copy(w->error, CHILD_ERROR_LEN,
		     "see \"journalctl -b -u rdma-provision-kubelet.service\"");
	return r;
}

int apply_reload_units(struct work *w, const struct action *a _unused_)
{
	int r = manager_request(&w->os->fs, WANT_UNITS);

	if (r == -EHOSTDOWN)
		copy(w->error, CHILD_ERROR_LEN,
		     "systemd cannot be reached; run \"systemctl daemon-reload\"");
	return r;
}
