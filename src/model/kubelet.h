/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: the settings of the kubelet that we know, what was seen of them, and what is to be done;
 * its units, and the drop-in of ours that a configuration asks for.
 *
 * Plain data, as kubelet/look.h tells it. Facts that only the edits need are in kubelet/find.h.
 */
#pragma once

#include "reason.h"

struct config;

enum kubelet_setting {
	KUBELET_TOPOLOGY_POLICY,
	KUBELET_TOPOLOGY_SCOPE,
	KUBELET_CPU_POLICY,
	KUBELET_RESERVED_CPUS, /* only set together with the CPU policy */
	_KUBELET_SETTING_N
};

const char *kubelet_key(enum kubelet_setting s);  /* in files: "topologyManagerPolicy" */
const char *kubelet_flag(enum kubelet_setting s); /* "topology-manager-policy" */

/*
 * The words of a setting in order of strictness, from 1: the kubelet's default is the first. They
 * are the values of enum topology_policy, topology_scope and cpu_policy. 0 and "": no such word;
 * the kubelet minds the case, so "None" is none.
 */
uint32_t kubelet_rank(enum kubelet_setting s, const char *word);
const char *kubelet_word(enum kubelet_setting s, uint32_t rank);

enum kubelet_source {    /* in the kubelet's order: the later ones win */
	KUBELET_DEFAULT, /* nothing sets it */
	KUBELET_FILE,    /* of --config */
	KUBELET_DROP_IN, /* of --config-dir */
	KUBELET_FLAG,
	KUBELET_UNKNOWN, /* something that could set it cannot be read, or not understood */
	_KUBELET_SOURCE_N
};

/* A setting, as it will be in force at the kubelet's next start. */
struct kubelet_value {
	enum kubelet_source source;
	uint32_t rank;    /* 0: not a word that we know */
	bool is_misspelt; /* rank is what was meant ("None", ""): the kubelet refuses it */
	char text[64];
	char path[256]; /* of the file that sets it, absolute; empty: no file, or not known */
	uint32_t line;  /* from 1; 0: not known */
};

#define KUBELET_ROOT_DIR "/var/lib/kubelet" /* its default */
#define POD_FOLDER_NONE  "none"

/* CPUs that are reserved, counted as the kubelet does: see kubelet/cpus.h. */
struct kubelet_cpus {
	uint32_t n_online;     /* 0: not known */
	uint32_t n_reserved;   /* rounded up */
	bool is_list;          /* of reservedSystemCPUs, which wins over the amounts */
	bool has_cgroup;       /* systemReservedCgroup or kubeReservedCgroup is set */
	bool is_by_flag;       /* an amount is given by flag: it replaces the file's */
	bool is_unclear;       /* an amount or list that we, or the kubelet, do not understand */
	char first_core[64];   /* list of CPU 0 and its siblings: "0,32" */
	uint32_t n_first_core; /* how many that are; 0: not known */
	char checkpoint[32];   /* policyName of cpu_manager_state; empty: no such file */
	char checkpoint_path[256]; /* absolute */
	/* The words with which a kubelet of the static policy ends for the CPUs in that file, and
	 * any kubelet for the list of reserved CPUs; empty: it does not. */
	char state_problem[192], list_problem[192];
};

/* The label of VKE for the mode of its RDMA NICs. */
#define VKE_RDMA_MODE "vke.node.rdma.mode"
/* And that for the way its GPUs are shared, "nvidia" or "mgpu":
 * https://docs.byteplus.com/en/docs/vke/GPU-scheduling-labels */
#define VKE_GPU_SCHEDULE "vke.node.gpu.schedule"

struct kubelet_label {
	char value[24];  /* "shared"; empty: not known */
	bool is_in_file; /* of LabelFile=, and not of --node-labels */
};

struct kubelet {
	bool is_there;       /* a kubelet is installed or configured on this node */
	char unit[64];       /* that runs it; empty: none found */
	char manager[16];    /* "openshift", "bottlerocket", "talos", "k0s", "microshift": who owns
				its files; or empty */
	char version[48];    /* as it says it; empty: not known */
	char root_dir[200];  /* --root-dir, absolute: plugins_registry, state files and volumes are
				below */
	char node_ip[96];    /* --node-ip: "10.0.0.2,fd00::2"; empty: not given */
	char host_name[254]; /* --hostname-override; empty: not given */
	/* Why it is not known which of these two it is given; empty: it is. */
	char address_problem[256];
	bool is_waiting;        /* a file that its unit needs is not there yet */
	char flannel_iface[16]; /* of k3s and RKE2: flannel takes the node's address from it */
	struct kubelet_server {
		char host[254]; /* address, or a name that was not resolved */
		char path[160]; /* of the file that names it, absolute; or "K3S_URL" */
	} servers[8];           /* of its kubeconfigs, also those on the loopback address */
	size_t n_servers;
	struct kubelet_label vke_rdma_mode, vke_gpu_schedule;
	char label_problem[96]; /* why LabelFile= lacks the mode, for people; empty: it does not */
	bool is_running;        /* a process of it was seen */
	bool is_deferred;       /* the running one was started before our last edit */
	char problem[256]; /* what was not understood: nothing is edited then; empty: all was */
	struct kubelet_value values[_KUBELET_SETTING_N];

	char file[256];        /* the last --config, or the one that is usual; empty: none */
	bool has_file;         /* it is there */
	char file_problem[96]; /* why it cannot be read, as people read it */
	char folder[256];      /* the last --config-dir; empty: none */
	bool has_folder;       /* it is a folder, not a link to one: those are not read */
	bool lacks_folder;     /* there is nothing of its name */
	char pod_folder[256];  /* of static pods, or POD_FOLDER_NONE; empty: not known */
	struct kubelet_cpus cpus;

	/* Time of the last of our edits that are still in force; empty: none. */
	char since[32]; /* "2026-01-31T08:00:00Z" */
};

enum kubelet_way {
	KUBELET_WAY_NONE,
	KUBELET_WAY_FILE,    /* one scalar in the file of --config */
	KUBELET_WAY_DROP_IN, /* a file of ours in --config-dir */
	KUBELET_WAY_RANCHER, /* a file of ours in config.yaml.d */
	KUBELET_WAY_TOKEN,   /* the value of a flag, where it is written */
	KUBELET_WAY_EXTRA,   /* a flag that is added to a variable or a list of flags */
	KUBELET_WAY_BACK,    /* a value of ours is taken back */
	_KUBELET_WAY_N
};

enum kubelet_outcome {
	KUBELET_SATISFIED, /* nothing asked for, or what is there is at least as strict */
	KUBELET_CHANGED,   /* has to be changed; in a result: was */
	KUBELET_DEFERRED,  /* in a result: was changed, takes effect at the kubelet's next start */
	KUBELET_WAITING,   /* for a file that another program writes */
	KUBELET_REFUSED,   /* nothing is touched: see reason */
	_KUBELET_OUTCOME_N
};

const char *kubelet_outcome_name(enum kubelet_outcome o); /* "satisfied" */
const char *kubelet_way_name(enum kubelet_way w);         /* "drop-in" */
const char *kubelet_source_name(enum kubelet_source s);   /* "flag" */

/* The decision about one setting. */
struct kubelet_item {
	enum kubelet_outcome outcome;
	uint32_t
		row; /* of the decision table in kubelet/decide-rules.c, from 1; 0: not asked for */
	enum reason reason;
	enum kubelet_way way;
	char path[256];        /* to be edited; of what is left alone: that decides */
	char from[64], to[64]; /* from: empty where nothing was said */
	char detail[256];      /* file, line and value that decide, for people */
};

struct kubelet_decision {
	struct kubelet_item items[_KUBELET_SETTING_N];
	bool is_state_removed; /* cpu_manager_state goes, after the edits */
	char would_exit[256];  /* the words with which the kubelet exits at its next start */
};

/* Units that are, or have in them, a kubelet. */
#define N_KUBELET_UNITS 14
extern const char *const kubelet_units[N_KUBELET_UNITS]; /* the first that is there counts */
/* The installer of k3s names its unit so with INSTALL_K3S_NAME=: install.sh of k3s-io/k3s. */
#define K3S_UNITS   "k3s-*.service"
#define K3S_PROGRAM "k3s"

/* Where configurations are when no unit says it, as distributions lay it out. Told by content, not
 * by name. */
#define N_KUBELET_FILES 10
extern const char *const kubelet_files[N_KUBELET_FILES];

#define GENERATED_FOLDER "run/systemd/generator"  /* what systemd gives generators for this */
#define DROP_IN_NAME     "zz-rdma-provision.conf" /* behind the drop-ins of others */
#define KUBELET_PROGRAM  "/usr/lib/rdma-provision/rdma-provision-kubelet"
#define GATE_COMMAND     "/usr/bin/rdma-provision gate --strict"

/*
 * The drop-in of a kubelet's unit, which the generator writes below GENERATED_FOLDER; to see
 * whether that is out of date, one compares it with the same text. It begins with a comment that
 * says who wrote it. @ret: owned; NULL when none is asked for. Return: 0 or -ENOMEM.
 */
int kubelet_drop_in(const struct config *c, char **ret);
