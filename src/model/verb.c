/* SPDX-License-Identifier: Apache-2.0 */
#include "verb.h"

#include "node.h"

#include <assert.h>

/*
 * A VF may cost the kernel 120 s when its firmware is slow, and 0.6 s when all is well:
 * drivers/net/ethernet/mellanox/mlx5/core/lib/tout.c; loading a driver probes its devices. Another
 * number of VFs: up to 60 s for each command to the firmware, 120 s more until it has given back
 * the pages of VFs that are removed (RECLAIM_VFS_PAGES_MS there), and where nothing is set before
 * they are bound all of their probes, one after the other.
 */
static const struct {
	const char *name;
	enum step step;
	uint32_t base_sec, each_sec; /* each: for one of the number in "to" or "from" */
	enum verb_value value;
	uint32_t flags;
	enum verb opposite; /* VERB_WAIT: none */
	uint32_t vf_setting;
	const char *text; /* for people: %1$s is the target, %2$s "to"; NULL: the name has to do */
} verbs[] = {
	[VERB_WAIT] = { "wait", STEP_DRIVER, 0 },
	[VERB_LOAD_MODULE] = { "load-module", STEP_DRIVER, 150, .flags = CAN_CRASH,
			       .text = "loading %1$s" },
	[VERB_RELOAD_MODULE] = { "reload-module", STEP_DRIVER, 300, .flags = CAN_CRASH,
				 .text = "reloading %1$s with %2$s" },
	[VERB_WRITE_OPTIONS] = { "write-options", STEP_DRIVER, 10 },
	[VERB_REMOVE_OPTIONS] = { "remove-options", STEP_DRIVER, 10 },
	[VERB_SET_OPTION] = { "set-option", STEP_DRIVER, 0 },
	[VERB_BIND_DRIVER] = { "bind-driver", STEP_VF, 130, .flags = CAN_CRASH,
			       .text = "binding %1$s to %2$s" },
	[VERB_PROBE_DRIVER] = { "probe-driver", STEP_DRIVER, 300, .flags = CAN_CRASH,
				.text = "binding %1$s to %2$s" },
	[VERB_SET_NETNS_MODE] = { "set-netns-mode", STEP_NETNS, 10, .flags = CAN_CRASH },
	[VERB_SET_NUM_VFS] = { "set-num-vfs", STEP_VF, 300, .each_sec = 2, .value = VALUE_NUMBER,
			       .flags = CAN_CRASH, .text = "creating %2$s VFs on %1$s" },
	[VERB_WRITE_RULES] = { "write-rules", STEP_VF, 30 },
	[VERB_SET_AUTOPROBE] = { "set-autoprobe", STEP_VF, 30, .value = VALUE_NUMBER },
	[VERB_SET_VF_MAC] = { "set-vf-mac", STEP_VF, 30, .vf_setting = VF_SETTING_MAC },
	[VERB_SET_VF_GUID] = { "set-vf-guid", STEP_VF, 30, .vf_setting = VF_SETTING_GUID },
	[VERB_SET_VF_TRUST] = { "set-vf-trust", STEP_VF, 30, .value = VALUE_NUMBER,
				.vf_setting = VF_SETTING_TRUST },
	[VERB_SET_VF_LINK] = { "set-vf-link", STEP_VF, 30, .vf_setting = VF_SETTING_LINK },
	[VERB_SET_VF_VLAN] = { "set-vf-vlan", STEP_VF, 30, .value = VALUE_NUMBER },
	[VERB_REBIND_DRIVER] = { "rebind-driver", STEP_VF, 260, .flags = CAN_CRASH },
	[VERB_SET_LINK_UP] = { "set-link-up", STEP_LINK, 30 },
	[VERB_SET_MTU] = { "set-mtu", STEP_LINK, 30, .value = VALUE_NUMBER,
			   .vf_setting = VF_SETTING_MTU },
	[VERB_SET_DCB] = { "set-dcb", STEP_LINK, 30 },
	[VERB_SET_ROCE] = { "set-roce", STEP_LINK, 10 },
	[VERB_SET_MAC] = { "set-mac", STEP_VF, 30 },
	[VERB_SET_NAME] = { "set-name", STEP_VF, 30 },
	[VERB_ADD_ALTNAME] = { "add-altname", STEP_VF, 10, .opposite = VERB_REMOVE_ALTNAME },
	[VERB_REMOVE_ALTNAME] = { "remove-altname", STEP_VF, 10, .opposite = VERB_ADD_ALTNAME },
	[VERB_SET_SYSCTL] = { "set-sysctl", STEP_ROUTE, 10, .value = VALUE_NUMBER },
	[VERB_ADD_ADDRESS] = { "add-address", STEP_ROUTE, 10, .value = VALUE_ADDRESS,
			       .opposite = VERB_REMOVE_ADDRESS },
	[VERB_REMOVE_ADDRESS] = { "remove-address", STEP_ROUTE, 10, .value = VALUE_ADDRESS,
				  .opposite = VERB_ADD_ADDRESS },
	[VERB_SET_METRIC] = { "set-metric", STEP_ROUTE, 10, .value = VALUE_NUMBER },
	[VERB_SET_ROUTE] = { "set-route", STEP_ROUTE, 10, .value = VALUE_ROUTE,
			     .opposite = VERB_REMOVE_ROUTE },
	[VERB_REMOVE_ROUTE] = { "remove-route", STEP_ROUTE, 10, .value = VALUE_ROUTE,
				.opposite = VERB_SET_ROUTE },
	[VERB_ADD_RULE] = { "add-rule", STEP_ROUTE, 10, .value = VALUE_ROUTE,
			    .opposite = VERB_REMOVE_RULE },
	[VERB_REMOVE_RULE] = { "remove-rule", STEP_ROUTE, 10, .value = VALUE_ROUTE,
			       .opposite = VERB_ADD_RULE },
	[VERB_KEEP_NEIGHBOUR] = { "keep-neighbour", STEP_ROUTE, 10, .value = VALUE_ROUTE,
				  .opposite = VERB_REMOVE_NEIGHBOUR },
	[VERB_PROBE_NEIGHBOUR] = { "probe-neighbour", STEP_ROUTE, 10, .value = VALUE_ROUTE },
	[VERB_REMOVE_NEIGHBOUR] = { "remove-neighbour", STEP_ROUTE, 10, .value = VALUE_ROUTE,
				    .opposite = VERB_KEEP_NEIGHBOUR },
	[VERB_ASK_METADATA] = { "ask-metadata", STEP_ROUTE, 20 },
	[VERB_SET_PNETID] = { "set-pnetid", STEP_SMC, 10 },
	[VERB_ENSURE_KUBELET] = { "ensure-kubelet", STEP_KUBELET, 30 },
	[VERB_RELOAD_UNITS] = { "reload-units", STEP_KUBELET, 60 },
	[VERB_WRITE_PLUGIN] = { "write-plugin", STEP_PLUGIN, 30, .flags = FOR_OTHERS,
				.opposite = VERB_REMOVE_PLUGIN },
	[VERB_REMOVE_PLUGIN] = { "remove-plugin", STEP_PLUGIN, 30, .flags = FOR_OTHERS,
				 .opposite = VERB_WRITE_PLUGIN },
	[VERB_WRITE_MANIFEST] = { "write-manifest", STEP_PLUGIN, 30, .flags = FOR_OTHERS,
				  .opposite = VERB_REMOVE_MANIFEST },
	[VERB_REMOVE_MANIFEST] = { "remove-manifest", STEP_PLUGIN, 30, .flags = FOR_OTHERS,
				   .opposite = VERB_WRITE_MANIFEST },
	[VERB_WRITE_OUTPUT] = { "write-output", STEP_OUTPUT, 30, .flags = FOR_OTHERS | OUTPUT,
				.opposite = VERB_REMOVE_OUTPUT },
	[VERB_REMOVE_OUTPUT] = { "remove-output", STEP_OUTPUT, 30, .flags = FOR_OTHERS | OUTPUT,
				 .opposite = VERB_WRITE_OUTPUT },
};
_Static_assert(ELEMENTSOF(verbs) == _VERB_N, "a line for every verb");

const char *verb_name(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) ? verbs[v].name : "";
}

NAMES(step_name, enum step, _STEP_N,
      { [STEP_DRIVER] = "driver",
	[STEP_NETNS] = "netns",
	[STEP_VF] = "vf",
	[STEP_LINK] = "link",
	[STEP_ROUTE] = "route",
	[STEP_SMC] = "smc",
	[STEP_KUBELET] = "kubelet",
	[STEP_PLUGIN] = "plugin",
	[STEP_OUTPUT] = "output" });

enum step verb_step(enum verb v)
{
	assert((size_t)v < ELEMENTSOF(verbs));
	return verbs[v].step;
}

bool verb_has(enum verb v, enum verb_flag flag)
{
	return (size_t)v < ELEMENTSOF(verbs) && verbs[v].flags & flag;
}

enum verb_value verb_value(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) ? verbs[v].value : VALUE_TEXT;
}

bool verb_is_numeric(enum verb v)
{
	return verb_value(v) == VALUE_NUMBER;
}

enum verb verb_opposite(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) && verbs[v].opposite ? verbs[v].opposite : _VERB_N;
}

uint32_t verb_vf_setting(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) ? verbs[v].vf_setting : 0;
}

uint64_t verb_deadline_usec(enum verb v, uint64_t n)
{
	assert((size_t)v < ELEMENTSOF(verbs));
	return (verbs[v].base_sec + n * verbs[v].each_sec) * USEC_PER_SEC;
}

const char *verb_text(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) ? verbs[v].text : NULL;
}
