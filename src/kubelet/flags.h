/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags: those of the kubelet's command line that say something about the settings we know.
 *
 * As pflag reads them: the last one of a name wins, "_" is "-", the value follows "=" or is the
 * next word. Flags of rke2 and k3s may have one dash as well: Go's package flag reads them.
 * Maps ("cpu=500m,memory=1Gi") add up over their occurrences, and the first one takes the whole map
 * of the file away: map_string_string.go in component-base.
 */
#pragma once

#include "sources.h"
#include "unit.h"

enum flag_kind {
	FLAG_CONFIG,
	FLAG_CONFIG_DIR,
	FLAG_POLICY, /* the settings of model/kubelet.h, in their order */
	FLAG_SCOPE,
	FLAG_CPU_POLICY,
	FLAG_RESERVED_CPUS,
	FLAG_POLICY_OPTIONS,
	FLAG_KUBE_RESERVED,
	FLAG_SYSTEM_RESERVED,
	FLAG_KUBE_CGROUP,
	FLAG_SYSTEM_CGROUP,
	FLAG_ROOT_DIR,
	FLAG_CPU_OPTIONS,
	FLAG_MEMORY_POLICY,
	FLAG_FEATURE_GATES,
	FLAG_RESERVED_MEMORY,
	FLAG_EVICTION_HARD,
	FLAG_KUBELET_CGROUPS,
	FLAG_NODE_LABELS,
	FLAG_HOST_NAME,
	FLAG_KUBECONFIG,
	FLAG_BOOTSTRAP_KUBECONFIG,
	FLAG_POD_FOLDER,
	FLAG_NODE_IP, /* rke2 and k3s have it as well, and pass it on */
	/* of rke2 and k3s themselves */
	FLAG_KUBELET_ARG,
	FLAG_DATA_DIR,
	FLAG_NODE_NAME,
	FLAG_FLANNEL_IFACE,
	FLAG_SERVER,
	FLAG_OWN_CONFIG, /* "-c" of theirs: as --config */
	FLAG_EXTRA_ARGS, /* of k0s: flags of the kubelet, with blanks between */
	_FLAG_N
};

struct flag {
	enum flag_kind kind;
	char value[256]; /* of --node-labels and --feature-gates: those that are looked at */
	bool is_cut;     /* the value is longer, or has a NUL in it */
	char path[256];  /* where the value is written; empty: not known */
	uint32_t line;   /* there, from 1; 0: not known */
	size_t source;   /* the word of ExecStart= it comes from; SIZE_MAX: of none */
	/* Bytes of the value in @path, if it is one plain word of a file of variables or flags; to
	 * 0: it is not. */
	uint32_t from, to;
};

struct flags {
	struct flag *flags; /* owned; in the order of the command line */
	size_t n_flags;
};

const char *flags_name(enum flag_kind kind); /* without "--" */
const char *flags_key(enum flag_kind kind);  /* of the kubelet's files: "kubeReserved"; or NULL */

/* Return: 0 or -ENOMEM. The arguments that are about a flag are marked as relevant. */
int flags_read(struct unit *u, struct flags *ret);
void flags_done(struct flags *l);

/* A hash of the command line's words that set nothing we edit: no edit of ours may change it. */
uint64_t flags_rest(const struct unit *u);

/* "NAME=VALUE" as RKE2 and k3s pass it on, without "--". 0 or -ENOMEM. */
int flags_add_text(struct flags *l, const char *text, const char *path, uint32_t line);

/* Would flags_add_text() take it as a flag of the kubelet itself, rather than of RKE2 or k3s? */
bool flags_is_kubelets(const char *text);

/*
 * A capture has those labels of a node that are looked at. flags_labels(): where they begin
 * in a word as "--node-labels=a=b,c=d"; SIZE_MAX: it has none. flags_words(): the same of flags in
 * "--kubelet-extra-args=--a=b --c=d". flags_is_shown(): may this byte of the word be shown?
 * FLAGS_WORDS: the word is such flags; FLAGS_VALUE: it ends a known one, and others may follow.
 */
#define FLAGS_WORDS (SIZE_MAX - 1)
#define FLAGS_VALUE (SIZE_MAX - 2)
size_t flags_labels(const char *text);
size_t flags_words(const char *text);
bool flags_is_shown(const char *text, size_t labels, size_t at);

const struct flag *flags_last(const struct flags *l, enum flag_kind kind); /* or NULL */
/* The value that counts: of the last flag, else of the files; "": neither is given. */
const char *flags_value(const struct flags *l, const struct sources *sources, enum flag_kind kind);
/*
 * A key of a map. Return: whether the flag was given at all; then @ret is the value, "" without
 * the key, or "?" where it may be behind what is read.
 */
bool flags_map(const struct flags *l, enum flag_kind kind, const char *key, char *ret, size_t size);
