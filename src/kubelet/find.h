/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find: which values the settings we know will have at the kubelet's next start, who says so,
 * and where they could be changed.
 *
 * The command line of the next start is read as systemd reads it (unit.h). Where that is not clear,
 * a running kubelet's own command line counts, and is remembered for the next start, on this
 * machine; where it is clear, the unit tells of the next start and the process only of this one.
 * Without a unit the usual files are looked for, and recognised by their content, never by their
 * name; beside a kubelet.service that is masked they tell nothing. Where pods have run without one,
 * a process called kubelet tells the address of the kubelet.
 */
#pragma once

#include "../model/kubelet.h"
#include "unit.h"

enum kubelet_flavour {
	KUBELET_PLAIN,   /* a unit that runs the kubelet itself */
	KUBELET_RANCHER, /* RKE2 and k3s: its flags come from /etc/rancher */
	KUBELET_SNAP,    /* MicroK8s: its flags are lines of a file, with variables of snapd */
	_KUBELET_FLAVOUR_N
};

#define START_FIELDS      7 /* in start-rules.h */
#define DROP_INS_VARIABLE "KUBELET_CONFIG_DROPIN_DIR_ALPHA"

/* Facts that start-rules.c judges, beside all else. */
struct kubelet_start {
	/* Options and gates, by bits of enum start_word; those given that are true, or neither true
	 * nor false; and the first option that is none of them, by enum start_kind. */
	uint32_t given, on, bad;
	char other_option[2][64];
	const char *wrong_type[START_FIELDS]; /* of a value in a file, by start_fields; or NULL */
	bool has_list;                        /* of reservedSystemCPUs */
	uint32_t max_numa_nodes;              /* max-allowable-numa-nodes; 0: not set */
	uint32_t n_packages;                  /* of processors; 0: not asked */
	char memory_policy[16];
	char memory_state[16]; /* policyName of memory_manager_state, or STATE_DAMAGED; empty: not
				  known, or none */
	/* The words with which a kubelet of memory policy Static ends, and one with this state
	 * file; empty: it does not. */
	char memory_problem[256], memory_state_problem[96];
	/* The same of each policy: a reservation of memory, an amount, a map of a flag. */
	char reserved_problem[256], amount_problem[256], flag_problem[256];
	char decode_problem[64]; /* the same for an amount of reservedMemory */
};

/* Where a flag that wins can be added: in a variable, or in a file of flags. */
struct kubelet_extra {
	char path[256];    /* of the file; empty: there is none */
	char variable[64]; /* empty: the file is one of flags */
	size_t source;     /* of the variable's word in ExecStart=; SIZE_MAX: behind all */
	uint32_t at;       /* byte where it goes; UINT32_MAX: in a new line at the end */
	uint32_t bytes;    /* of the file when it was looked at; 0: it is not there, or empty */
	bool is_empty;     /* there is nothing in the variable yet */
};

struct kubelet_found {
	struct kubelet seen; /* by all others */
	struct kubelet_start start;

	enum kubelet_flavour flavour;
	uint32_t minor;        /* N of version 1.N; 0: not known */
	uint32_t n_numa_nodes; /* of the machine, as cpus.h counts them */
	char binary[256];      /* that the unit runs, absolute; empty: not known */
	bool was_started;      /* it has run in this boot */
	bool is_unasked;       /* systemd was not asked for its unit: its files tell */
	bool has_dir_flag;     /* seen.folder is one of --config-dir */
	bool needs_dir;        /* it is, and is not there: a kubelet exits */
	bool lacks_variable;   /* DROP_INS_VARIABLE is not set, which is known */
	bool is_left_out;      /* by look.c: a copy of a node lacks such a file, or seen.file */
	bool is_open;          /* whether an edit was made is to be looked at: ledger-files.h */
	uint64_t rest;         /* of its command line but our settings: no edit may change it */
	int file_result;       /* of reading seen.file: 0, or an error of yaml.h */
	bool is_fixed;         /* seen.file is understood, but no edit of it is safe */
	/* "PATH:LINE: why" of the first file that may set what no flag does, and is not known;
	 * empty: all are. */
	char unknown[256];
	bool is_reset;     /* 1.28: its drop-ins set all that they do not say to the default */
	char drop_in[256]; /* a file in seen.folder that would win; empty: there is no such name */
	struct kubelet_extra extra;
	/* The bytes of a flag's value that is one plain word in a file of variables or flags; to 0:
	 * other settings. */
	struct {
		uint32_t from, to;
		bool is_behind_extra; /* a flag that is added there would not win */
	} words[_KUBELET_SETTING_N];
	char rancher_path[256]; /* the file of ours in config.yaml.d; empty: none would win */
	char rival[256];        /* the file that would win over it */

	/* Settings, by bits, whose value in force is one that the ledger has as ours; and what
	 * would be there without all that is ours. */
	uint32_t ours;
	struct {
		struct kubelet_value values[_KUBELET_SETTING_N];
		struct kubelet_cpus cpus; /* this and start: where reserved CPUs are ours */
		struct kubelet_start start;
	} below;

	/* Ways that were tried in this run and refused, by bits of enum kubelet_way; and why. */
	uint32_t blocked;
	char blocked_detail[256];
};

/* Notes for later runs, which only kubelet-ensure stores; released by freep(). */
struct kubelet_notes {
	char *cmdline; /* owned; of a running kubelet whose unit is not clear, or NULL */
	size_t cmdline_size;
	char version[400]; /* for KUBELET_VERSION_PATH; empty: nothing to keep */
	char running[80];  /* "boot id:PID:start" of the running kubelet; empty: none */
};

/**
 * kubelet_find() - look for the kubelet and its settings
 * @fs:        the node
 * @is_asking: systemd for what it has loaded of the unit, also where its files tell the same
 * @ret:       what was found, always whole
 * @ret_notes: for kubelet-ensure, which may also run "kubelet --version" where the version counts;
 *             NULL: nothing is run
 *
 * A recorder gets copies that give the same answer with nothing else in them: of a
 * KubeletConfiguration all but staticPodURLHeader, of other files only the flags looked at.
 *
 * Return: 0, or -ENOMEM. Files that cannot be read or understood are noted in @ret. If it is not
 * even known whether a file is absent, all values are KUBELET_UNKNOWN.
 */
int kubelet_find(const struct fs *fs, bool is_asking, struct kubelet_found *ret,
		 struct kubelet_notes *ret_notes);
