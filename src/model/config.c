/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kubelet.h"

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n_devices; i++)
		free(c->devices[i].match);
	free(c->devices);
	*c = (struct config){};
}

bool config_watches_links(const struct config *c)
{
	return c->health.flap.count > 0 || c->health.drop_usec > 0;
}

bool config_has_kubelet_policy(const struct config *c)
{
	return c->kubelet.topology_policy != TOPOLOGY_POLICY_UNSET ||
	       c->kubelet.topology_scope != TOPOLOGY_SCOPE_UNSET ||
	       c->kubelet.cpu_policy != CPU_POLICY_UNSET;
}

NAMES(driver_mode_name, enum driver_mode, _DRIVER_MODE_N,
      { [DRIVER_MODE_KEEP] = "keep",
	[DRIVER_MODE_AUTO] = "auto",
	[DRIVER_MODE_DEFAULT] = "default",
	[DRIVER_MODE_COMPAT] = "compat",
	[DRIVER_MODE_OFED] = "ofed" });

NAMES(peermem_mode_name, enum peermem_mode, _PEERMEM_N,
      { [PEERMEM_AUTO] = "auto", [PEERMEM_YES] = "yes", [PEERMEM_NO] = "no" });

NAMES(trust_name, enum trust, _TRUST_N,
      { [TRUST_KEEP] = "keep", [TRUST_OFF] = "no", [TRUST_ON] = "yes" });

NAMES(identity_name, enum identity, _IDENTITY_N,
      { [IDENTITY_DERIVED] = "derived", [IDENTITY_KEEP] = "keep" });

NAMES(require_address_name, enum require_address, _REQUIRE_ADDRESS_N,
      { [REQUIRE_ADDRESS_AUTO] = "auto",
	[REQUIRE_ADDRESS_YES] = "yes",
	[REQUIRE_ADDRESS_NO] = "no" });

NAMES(vf_mode_name, enum vf_mode, _VF_MODE_N,
      { [VF_MODE_KEEP] = "keep",
	[VF_MODE_EXCLUSIVE] = "exclusive",
	[VF_MODE_SHARED] = "shared",
	[VF_MODE_SHARED_MULTI] = "shared-multi" });

NAMES(netns_mode_name, enum netns_mode, _NETNS_MODE_N,
      { [NETNS_MODE_KEEP] = "keep",
	[NETNS_MODE_SHARED] = "shared",
	[NETNS_MODE_EXCLUSIVE] = "exclusive" });

NAMES(policy_rules_name, enum policy_rules, _POLICY_RULES_N,
      { [POLICY_RULES_AUTO] = "auto", [POLICY_RULES_YES] = "yes", [POLICY_RULES_NO] = "no" });

NAMES(address_mode_name, enum address_mode, _ADDRESS_MODE_N,
      { [ADDRESS_EXISTING] = "existing",
	[ADDRESS_METADATA] = "metadata",
	[ADDRESS_STATIC] = "static" });

NAMES(ipv6_mode_name, enum ipv6_mode, _IPV6_MODE_N, { [IPV6_NO] = "no", [IPV6_RA] = "ra" });

NAMES(smc_mode_name, enum smc_mode, _SMC_N,
      { [SMC_NO] = "no", [SMC_AUTO] = "auto", [SMC_YES] = "yes" });

NAMES(pnetid_mode_name, enum pnetid_mode, _PNETID_N, { [PNETID_AUTO] = "auto" });

const char *topology_policy_name(enum topology_policy p)
{
	return kubelet_word(KUBELET_TOPOLOGY_POLICY, p);
}

const char *topology_scope_name(enum topology_scope s)
{
	return kubelet_word(KUBELET_TOPOLOGY_SCOPE, s);
}

const char *cpu_policy_name(enum cpu_policy p)
{
	return kubelet_word(KUBELET_CPU_POLICY, p);
}

NAMES(gate_mode_name, enum gate_mode, _GATE_N,
      { [GATE_OFF] = "off", [GATE_DEGRADED] = "degraded", [GATE_STRICT] = "strict" });

NAMES(plugin_type_name, enum plugin_type, _PLUGIN_N,
      { [PLUGIN_NONE] = "none",
	[PLUGIN_RDMA_SHARED] = "rdma-shared",
	[PLUGIN_SRIOV] = "sriov",
	[PLUGIN_HCA] = "hca",
	[PLUGIN_DRANET] = "dranet",
	[PLUGIN_DRA_SRIOV] = "dra-sriov" });

bool plugin_has_file(enum plugin_type t)
{
	return t != PLUGIN_NONE && t != PLUGIN_DRANET && t != PLUGIN_DRA_SRIOV;
}

bool plugin_gives_vfs(enum plugin_type t)
{
	return t == PLUGIN_SRIOV || t == PLUGIN_DRA_SRIOV;
}

bool plugin_moves_netdev(enum plugin_type t)
{
	return plugin_gives_vfs(t) || t == PLUGIN_DRANET;
}

NAMES(health_act_name, enum health_act, _HEALTH_ACT_N,
      { [HEALTH_ACT_NONE] = "none", [HEALTH_ACT_EXCLUDE] = "exclude" });
