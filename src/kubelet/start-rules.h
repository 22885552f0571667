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
	uint32_t misspelt;       /* settings, by bits, whose value is nearly one of its words */
	bool is_cpu_state_asked; /* cpu_manager_state stays as it is */
	bool is_reserved;        /* CPUs for the static policy will be reserved */
};

/*
 * The words with which it exits: the first that it meets, and hashes of all, for one of them must
 * not hide that an edit adds another. @but: words that do not count; or NULL.
 */
struct start_exits {
	char first[256];     /* as long as kubelet_decision.would_exit; empty: it does not exit */
	uint64_t hashes[64]; /* more than there are rules */
	size_t n;
};
void start_find_exits(const struct kubelet_found *k, const struct start_policies *p,
		      const struct start_exits *but, struct start_exits *ret);

/* Options of the CPU manager, options of the topology manager, and gates. */
enum start_word {
	CPU_OPTION_FULL_PCPUS,
	CPU_OPTION_ACROSS_NUMA,
	CPU_OPTION_ACROSS_CORES,
	CPU_OPTION_BY_SOCKET,
	CPU_OPTION_STRICT,
	CPU_OPTION_UNCORE,
	NUMA_OPTION_CLOSEST,
	NUMA_OPTION_MAX_NODES,
	GATE_ALL_ALPHA,
	GATE_ALL_BETA,
	GATE_TOPOLOGY,
	GATE_CPU,
	GATE_MEMORY,
	GATE_CPU_OPTIONS,
	GATE_CPU_ALPHA,
	GATE_CPU_BETA,
	GATE_NUMA_OPTIONS,
	GATE_NUMA_ALPHA,
	GATE_NUMA_BETA,
	GATE_CDI,
	GATE_POD_MANAGERS,
	_START_WORD_N
};
#define NUMA_OPTIONS NUMA_OPTION_CLOSEST /* the first of their kinds */
#define GATES        GATE_ALL_ALPHA

enum start_kind {
	START_CPUS,
	START_NUMA
}; /* of options */

extern const struct start_row {
	const char *name;
	/* Minor versions in which it came, became beta (a gate: is on by default), stable (a gate:
	 * cannot be turned off) and went; 0: not up to the newest that was looked at. */
	uint8_t since, beta, stable, gone;
	uint8_t general; /* a gate: AllBeta is not about it any more */
} start_rows[_START_WORD_N];

/* Fields of the file that have values of one type: the whole file is refused for one of another. */
extern const struct start_field {
	const char *key, *type;
	enum start_word gate; /* a kubelet that lacks it does not read the field */
} start_fields[START_FIELDS];

/* Is the gate on in this kubelet, by its name, AllAlpha, AllBeta or its version? */
bool start_has_gate(const struct kubelet_found *k, enum start_word gate);

/* In start-observe.c: does a rule ask for the kubelet's version? */
bool start_needs_version(const struct sources *sources, const struct flags *flags);

/* In start-observe.c: the facts, from flags, files and the kernel. Return: 0 or -ENOMEM. */
int start_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		  const char *root_dir, bool is_rancher, struct kubelet_start *ret);
