/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start: what the kubelet checks when it starts, and exits by. Pure, but for the facts.
 *
 * Each rule is one of the kubelet's own source, which it names; what they are asked of is what is
 * known. A fact that is not known breaks no rule.
 */
#pragma once

#include "find.h"
#include "flags.h"
#include "sources.h"

/* The policies that will be in force; 0: not known. */
struct start_policies {
	uint32_t topology, cpu;  /* ranks */
	bool is_cpu_state_asked; /* cpu_manager_state stays as it is */
	bool is_reserved;        /* CPUs for the static policy will be reserved */
	uint32_t n_numa_nodes;   /* CPUS_UNKNOWN: not known */
};

/*
 * The words with which it exits; empty: no rule that we know is broken. @ret: as long as
 * kubelet_decision.would_exit.
 */
void start_find_exit(const struct kubelet_found *k, const struct start_policies *p, char ret[256]);

const char *start_option(enum cpu_option o); /* "align-by-socket" */

/* Gates that a kubelet from this minor version on does not know any more: pkg/features. */
#define START_GATES_N 3
struct start_gate {
	const char *name;
	uint32_t minor;
};
extern const struct start_gate start_gates[START_GATES_N];

/* In start-observe.c: the facts, from flags, files and the kernel. Return: 0 or -ENOMEM. */
int start_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		  const char *root_dir, struct kubelet_start *ret);
