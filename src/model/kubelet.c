/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet.h"

#include "config.h"

#define MARK "# Written by rdma-provision-generator from [Kubelet]; see rdma-provision.conf(5).\n"

static const struct {
	const char *key, *flag;
	const char *words[4]; /* the first is the default */
} known[] = {
	[KUBELET_TOPOLOGY_POLICY] = { "topologyManagerPolicy",
				      "topology-manager-policy",
				      { "none", "best-effort", "restricted", "single-numa-node" } },
	[KUBELET_TOPOLOGY_SCOPE] = { "topologyManagerScope",
				     "topology-manager-scope",
				     { "container", "pod" } },
	[KUBELET_CPU_POLICY] = { "cpuManagerPolicy", "cpu-manager-policy", { "none", "static" } },
	[KUBELET_RESERVED_CPUS] = { "reservedSystemCPUs", "reserved-cpus", { NULL } },
};
_Static_assert(ELEMENTSOF(known) == _KUBELET_SETTING_N, "a line for every setting");

const char *kubelet_key(enum kubelet_setting s)
{
	return known[s].key;
}

const char *kubelet_flag(enum kubelet_setting s)
{
	return known[s].flag;
}

uint32_t kubelet_rank(enum kubelet_setting s, const char *word)
{
	for (uint32_t i = 0; i < ELEMENTSOF(known[s].words) && known[s].words[i]; i++)
		if (streq(known[s].words[i], word))
			return i + 1;
	return 0;
}

const char *kubelet_word(enum kubelet_setting s, uint32_t rank)
{
	const char *word =
		rank > 0 && rank <= ELEMENTSOF(known[s].words) ? known[s].words[rank - 1] : NULL;

	return word ? word : "";
}

NAMES(kubelet_outcome_name, enum kubelet_outcome, _KUBELET_OUTCOME_N,
      { [KUBELET_SATISFIED] = "satisfied",
	[KUBELET_CHANGED] = "changed",
	[KUBELET_DEFERRED] = "deferred",
	[KUBELET_WAITING] = "waiting",
	[KUBELET_REFUSED] = "refused" });

NAMES(kubelet_way_name, enum kubelet_way, _KUBELET_WAY_N,
      { [KUBELET_WAY_NONE] = "",
	[KUBELET_WAY_FILE] = "file",
	[KUBELET_WAY_DROP_IN] = "drop-in",
	[KUBELET_WAY_RANCHER] = "rancher",
	[KUBELET_WAY_TOKEN] = "flag",
	[KUBELET_WAY_EXTRA] = "extra-flag",
	[KUBELET_WAY_BACK] = "take-back" });

NAMES(kubelet_source_name, enum kubelet_source, _KUBELET_SOURCE_N,
      { [KUBELET_DEFAULT] = "default",
	[KUBELET_FILE] = "file",
	[KUBELET_DROP_IN] = "drop-in",
	[KUBELET_FLAG] = "flag",
	[KUBELET_UNKNOWN] = "unknown" });

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

const char *const kubelet_files[N_KUBELET_FILES] = {
	"/var/lib/kubelet/config.yaml",
	"/etc/kubernetes/kubelet-config.yaml",
	"/etc/kubernetes/kubelet/config.json",
	"/etc/kubernetes/kubelet/kubelet-config.json",
	"/etc/kubernetes/kubelet/config",
	"/home/kubernetes/kubelet-config.yaml",
	"/etc/default/kubeletconfig.json",
	"/opt/cloud/cce/kubernetes/kubelet/kubelet_config.yaml",
	"/etc/kubernetes/kubelet.conf",
	"/etc/kubernetes/kubelet.yaml", /* Talos */
};

/*
 * Never Requires= or Wants= of rdma-provision.service: one that was disabled stays off, and a node
 * whose provisioning failed still belongs to its cluster. "+": as root of the host, whatever the
 * kubelet's unit is confined to. "-": never a reason not to start. A strict gate fails until the
 * node is ready: with systemd's own limit on starts the kubelet's unit would stay failed after
 * that.
 */
int kubelet_drop_in(const struct config *c, char **ret)
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
