/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command: the functions behind the verbs of the command line; the table of them is in main.c.
 *
 * Each returns the exit code of the program.
 */
#pragma once

#include "../base/util.h"

/* The parsed command line. */
struct command {
	const char *verb;
	const char *root;     /* --root, NULL: the running system */
	const char *config;   /* --config, NULL: the folders */
	const char *argument; /* the first that followed the verb, or NULL */
	char **arguments;     /* all of them */
	size_t n_arguments;
	char **exec;           /* what follows --exec, NULL: not given */
	const char *preset;    /* --preset, empty without a name; NULL: not given */
	uint64_t timeout_usec; /* --timeout, UINT64_MAX: for ever */
	bool is_json, is_strict, is_undo, with_vfs, is_export, is_conf, is_exact, is_follow,
		is_ready, with_pod, is_debug, is_problems, is_topology;
	const char *npd; /* --npd; NULL: not given */
};

int command_run(const struct command *cmd);
int command_early(const struct command *cmd);
int command_plan(const struct command *cmd);
int command_apply(const struct command *cmd);
int command_status(const struct command *cmd);
int command_explain(const struct command *cmd);
int command_manifest(const struct command *cmd);
int command_check(const struct command *cmd);
int command_set(const struct command *cmd);
int command_presets(const struct command *cmd);
int command_unset(const struct command *cmd);
int command_health(const struct command *cmd);
int command_clear(const struct command *cmd);
int command_verify(const struct command *cmd);
int command_wait(const struct command *cmd);
int command_gate(const struct command *cmd);
int command_kubelet(const struct command *cmd); /* "kubelet-ensure" */
int command_revert(const struct command *cmd);
int command_bake(const struct command *cmd);
int command_nccl_env(const struct command *cmd);
int command_helper(const struct command *cmd);
int command_capture(const struct command *cmd);
