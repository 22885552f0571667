/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <inttypes.h>

#define MARK            "# Written by rdma-provision-generator from [Kubelet]; see rdma-provision.conf(5).\n"
#define GATE_MARGIN_SEC 10 /* the gate ends by itself after ReadyTimeoutSec= */

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
	static const char *const unit[] = {
		[GATE_DEGRADED] = "Wants=" GATE_UNIT "\nAfter=" GATE_UNIT "\n",
		[GATE_STRICT] = "StartLimitIntervalSec=0\n",
	};
	static const char ensure[] = "ExecStartPre=-+" KUBELET_PROGRAM " kubelet-ensure\n",
			  strict[] = "ExecStartPre=+" GATE_PROGRAM " --strict\n";
	const bool is_policy = config_has_kubelet_policy(c);

	if (!is_policy && c->kubelet.gate == GATE_OFF) {
		*ret = NULL;
		return 0;
	}
	if (asprintf(ret, MARK "[Unit]\nAfter=rdma-provision.service\n%s\n[Service]\n%s%s",
		     c->kubelet.gate == GATE_OFF ? "" : unit[c->kubelet.gate],
		     is_policy ? ensure : "", c->kubelet.gate == GATE_STRICT ? strict : "") < 0)
		return -ENOMEM;
	return 0;
}

int units_gate_drop_in(const struct config *c, char **ret)
{
	const uint64_t sec = c->service.ready_timeout_usec / USEC_PER_SEC + GATE_MARGIN_SEC;

	if (c->kubelet.gate != GATE_DEGRADED) {
		*ret = NULL;
		return 0;
	}
	return asprintf(ret, MARK "[Service]\nTimeoutStartSec=%" PRIu64 "s\n", sec) < 0 ? -ENOMEM
											: 0;
}
