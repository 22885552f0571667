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

int apply_load_module(struct work *w, const struct action *a);
int apply_reload_module(struct work *w, const struct action *a);
int apply_put_options(struct work *w, const struct action *a);
int apply_bind_driver(struct work *w, const struct action *a);
int apply_probe_driver(struct work *w, const struct action *a);
int apply_set_netns_mode(struct work *w, const struct action *a);
int apply_set_num_vfs(struct work *w, const struct action *a);
int apply_write_rules(struct work *w, const struct action *a);
int apply_set_autoprobe(struct work *w, const struct action *a);
int apply_set_vf(struct work *w, const struct action *a);
int apply_rebind_driver(struct work *w, const struct action *a);
int apply_set_link_up(struct work *w, const struct action *a);
int apply_set_mtu(struct work *w, const struct action *a);
int apply_set_dcb(struct work *w, const struct action *a);
int apply_set_roce(struct work *w, const struct action *a);
int apply_set_mac(struct work *w, const struct action *a);
int apply_set_name(struct work *w, const struct action *a);
int apply_change_altname(struct work *w, const struct action *a);
int apply_set_sysctl(struct work *w, const struct action *a);
int apply_add_address(struct work *w, const struct action *a);
int apply_remove_address(struct work *w, const struct action *a);
int apply_set_route(struct work *w, const struct action *a);
int apply_remove_route(struct work *w, const struct action *a);
int apply_add_rule(struct work *w, const struct action *a);
int apply_remove_rule(struct work *w, const struct action *a);
int apply_resolve_neighbour(struct work *w, const struct action *a);
int apply_remove_neighbour(struct work *w, const struct action *a);
int apply_set_metric(struct work *w, const struct action *a);
int apply_ask_metadata(struct work *w, const struct action *a);
int apply_set_pnetid(struct work *w, const struct action *a);
int apply_ensure_kubelet(struct work *w, const struct action *a);
int apply_reload_units(struct work *w, const struct action *a);
int apply_write_plugin(struct work *w, const struct action *a);
int apply_remove_plugin(struct work *w, const struct action *a);
int apply_write_manifest(struct work *w, const struct action *a);
int apply_remove_manifest(struct work *w, const struct action *a);
int apply_write_output(struct work *w, const struct action *a);
int apply_remove_output(struct work *w, const struct action *a);
