/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs: one function for each verb that changes something, in the -apply.c of its room; for
 * pass/apply.c only.
 *
 * They run in a child process that has its own os. Return: 0 or -errno, with words in
 * work->error where strerror() would not do.
 */
#pragma once

#include "../model/plan.h"
#include "../os/child.h"
#include "../os/os.h"

/* The data that a verb's function gets beside its action. */
struct work {
	struct os *os;           /* the child's own */
	const struct node *node; /* as it was observed for the plan */
	const struct memory *memory;
	const struct plan *plan; /* the one the action is of, with the texts of its files */
	const char *rules;       /* text of the udev rules, NULL: none are wanted */
	char *error; /* the verb's own words for a failure, CHILD_ERROR_LEN bytes, may stay empty */
};

/* Calls @f with each verb that changes something and its function. */
/* clang-format off */
#define VERB_FUNCTIONS(f) \
	f(VERB_LOAD_MODULE, apply_load_module) \
	f(VERB_RELOAD_MODULE, apply_reload_module) \
	f(VERB_WRITE_OPTIONS, apply_put_options) \
	f(VERB_REMOVE_OPTIONS, apply_put_options) \
	f(VERB_BIND_DRIVER, apply_bind_driver) \
	f(VERB_PROBE_DRIVER, apply_probe_driver) \
	f(VERB_SET_NETNS_MODE, apply_set_netns_mode) \
	f(VERB_SET_NUM_VFS, apply_set_num_vfs) \
	f(VERB_WRITE_RULES, apply_write_rules) \
	f(VERB_SET_AUTOPROBE, apply_set_autoprobe) \
	f(VERB_SET_VF_MAC, apply_set_vf) \
	f(VERB_SET_VF_GUID, apply_set_vf) \
	f(VERB_SET_VF_TRUST, apply_set_vf) \
	f(VERB_SET_VF_LINK, apply_set_vf) \
	f(VERB_SET_VF_VLAN, apply_set_vf) \
	f(VERB_REBIND_DRIVER, apply_rebind_driver) \
	f(VERB_SET_LINK_UP, apply_set_link_up) \
	f(VERB_SET_MTU, apply_set_mtu) \
	f(VERB_SET_MAC, apply_set_mac) \
	f(VERB_SET_NAME, apply_set_name) \
	f(VERB_ADD_ALTNAME, apply_change_altname) \
	f(VERB_REMOVE_ALTNAME, apply_change_altname) \
	f(VERB_SET_METRIC, apply_set_metric) \
	f(VERB_SET_DCB, apply_set_dcb) \
	f(VERB_SET_ROCE, apply_set_roce) \
	f(VERB_SET_SYSCTL, apply_set_sysctl) \
	f(VERB_ADD_ADDRESS, apply_add_address) \
	f(VERB_REMOVE_ADDRESS, apply_remove_address) \
	f(VERB_SET_ROUTE, apply_set_route) \
	f(VERB_REMOVE_ROUTE, apply_remove_route) \
	f(VERB_ADD_RULE, apply_add_rule) \
	f(VERB_REMOVE_RULE, apply_remove_rule) \
	f(VERB_KEEP_NEIGHBOUR, apply_resolve_neighbour) \
	f(VERB_PROBE_NEIGHBOUR, apply_resolve_neighbour) \
	f(VERB_REMOVE_NEIGHBOUR, apply_remove_neighbour) \
	f(VERB_ASK_METADATA, apply_ask_metadata) \
	f(VERB_SET_PNETID, apply_set_pnetid) \
	f(VERB_ENSURE_KUBELET, apply_ensure_kubelet) \
	f(VERB_RELOAD_UNITS, apply_reload_units) \
	f(VERB_WRITE_PLUGIN, apply_write_plugin) \
	f(VERB_REMOVE_PLUGIN, apply_remove_plugin) \
	f(VERB_WRITE_MANIFEST, apply_write_manifest) \
	f(VERB_REMOVE_MANIFEST, apply_remove_manifest) \
	f(VERB_WRITE_OUTPUT, apply_write_output) \
	f(VERB_REMOVE_OUTPUT, apply_remove_output)
/* clang-format on */

#define DECLARE(verb, name) int name(struct work *w, const struct action *a);
VERB_FUNCTIONS(DECLARE)
