/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#define MARK "# Written by rdma-provision-generator from [Kubelet]; see rdma-provision.conf(5).\n"

const char *const kubelet_units[N_KUBELET_UNITS] = {
	"kubelet.service",
	"rke2-server.service",
	"rke2-agent.service",
	"k3s.service",
	"k3s-agent.service",
	"snap.microk8s.daemon-kubelite.service",
	"snap.microk8s.daemon-kubelet.service",
	"snap.k8s.kubelet.service",
	"k0sworker.service",
	"k0scontroller.service",
	"snap.kubelet.daemon.service",
	"snap.kubelet-eks.daemon.service",
	"snap.eks.daemon-kubelet.service",
	"microshift.service",
};

/*
 * Never Requires= or Wants= of rdma-provision.service: one that was disabled stays off, and a node
 * whose provisioning failed still belongs to its cluster. "+": as root of the host, whatever the
 * kubelet's unit is confined to. "-": never a reason not to start. A strict gate fails until the
 * node is ready: with systemd's own limit on starts the kubelet's unit would stay failed after
 * that.
 */
int units_kubelet_drop_in(const struct config *c, char **ret)
{
	static const char after[] = "[Unit]\nAfter=rdma-provision.service\n",
			  no_limit[] = "StartLimitIntervalSec=0\n",
			  ensure[] = "ExecStartPre=-+" KUBELET_PROGRAM " kubelet-ensure\n",
			  strict[] = "ExecStartPre=+" GATE_COMMAND "\n";
	const bool is_policy = config_has_kubelet_policy(c),
		   is_strict = c->kubelet.gate == GATE_STRICT;

	if (!is_policy && c->kubelet.gate == GATE_OFF) {
		*ret = NULL;
		return 0;
	}
	if (asprintf(ret, MARK "%s%s\n[Service]\n%s%s", c->kubelet.gate == GATE_OFF ? "" : after,
		     is_strict ? no_limit : "", is_policy ? ensure : "",
		     is_strict ? strict : "") < 0)
		return -ENOMEM;
	return 0;
}
