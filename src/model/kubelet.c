/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet.h"

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
	[KUBELET_WAY_EXTRA] = "extra-flag" });

NAMES(kubelet_source_name, enum kubelet_source, _KUBELET_SOURCE_N,
      { [KUBELET_DEFAULT] = "default",
	[KUBELET_FILE] = "file",
	[KUBELET_DROP_IN] = "drop-in",
	[KUBELET_FLAG] = "flag",
	[KUBELET_UNKNOWN] = "unknown" });
