/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: what has to change on this node, in which order, and what each device is worth.
 *
 * Plain data, made by plan-make.c, run by apply.c, told by report.c and show/.
 */
#pragma once

#include "action.h"
#include "boots.h"
#include "graph.h"

/*
 * Facts that cost too much to be read at each look. A plan that depends on them asks for them; they
 * are read into the node, and the plan is made again.
 */
enum question {
	QUESTION_USERS,       /* who uses what: node.users, node.socks */
	QUESTION_SOCKS,       /* which addresses do sockets of the host use? node.socks */
	QUESTION_VERBS,       /* can libibverbs open these RDMA devices? ibdev.verbs */
	QUESTION_LOOKUPS,     /* by which netdev would these packets leave? node.lookups */
	QUESTION_DCB,         /* what do the ports of these PFs do with priorities? node.dcbs */
	QUESTION_PCIE,        /* what are the PCIe links of these PFs? pci.link; for hints alone */
	QUESTION_LINK_DOWNED, /* how often did these PFs lose their link? ibdev.link_downed */
	QUESTION_LOG,         /* what did drivers log last of functions? node.log_lines */
	QUESTION_NETNS_MODE,  /* of the RDMA subsystem, where nothing else is looked at */
	_QUESTION_N
};

struct questions {
	uint32_t set;              /* 1 << enum question */
	char (*ibdevs)[IBDEV_LEN]; /* owned; of QUESTION_VERBS: their names */
	size_t n_ibdevs;
	struct lookup *lookups; /* owned; of QUESTION_LOOKUPS: result and found are empty */
	size_t n_lookups;
	/* Owned; PFs of three of them, each once: nothing is read of other functions. */
	char (*functions)[PCI_LEN];
	size_t n_functions;
};

void questions_done(struct questions *q);
int questions_add_function(struct questions *q, const char *pci); /* 0 or -ENOMEM */
bool questions_name(const struct questions *q, const char *pci);
bool questions_ask(const struct questions *q, enum question question);

enum need_why {
	NEED_WORD,    /* NodeNIC= matches it */
	NEED_ADDRESS, /* a netdev above it has the kubelet's address, or is how that is reached */
	NEED_WAY,     /* a packet to where the node must reach leaves by it */
	NEED_BEFORE,  /* one of these held before, in this boot or in the last one */
	NEED_UNKNOWN, /* nothing tells what carries the node, and the host has an address or route
			 on it, or a program that is its only way out may have it */
	NEED_WAITING, /* the same, and the node may still be being configured */
	NEED_NOT_RECORDED, /* of a tree without addresses and routes: any function with a netdev */
	_NEED_N
};

/* A function that the node needs: guard/needs-rules.c. */
struct need {
	char pci[PCI_LEN];
	char netdev[IFNAME_LEN]; /* of the host that leads to it: "bond0"; else "" */
	enum need_why why;       /* of the first evidence */
	char of[NEED_OF_LEN];    /* the same evidence at another look: "default inet", "address" */
	bool is_by_vf;           /* of a PF: one of its VFs is needed, the PF itself is not */
	bool is_kept;            /* remembered in this boot */
	char words[320];         /* all evidence, for people */
};

/* Use of a function: the columns of the table in guard/guard-rules.c. */
enum device_use {
	DEVICE_FREE,
	DEVICE_NEEDED,    /* the node itself */
	DEVICE_USED,      /* a PF that the host uses; or one that would move, and a VF is used */
	DEVICE_ADDRESSED, /* a PF that has addresses of the host, and no other use */
	DEVICE_VF_USED,
	_DEVICE_USE_N
};

/* A function of a managed NIC: what it is worth. */
struct device {
	const struct pci *pci;       /* of the node */
	const struct netdev *netdev; /* of the node, or NULL */
	const struct ibdev *ibdev;   /* of the node, or NULL */
	const struct netdev *bond;   /* or team of the node that the netdev is a port of, or NULL */
	const struct device_config
		*config;              /* of the configuration: the section that matched its PF */
	char netdev_name[IFNAME_LEN]; /* of a device in a pod: as it was last seen here */
	char ibdev_name[IBDEV_LEN];
	const struct need *need; /* of the plan: the node needs it; NULL: it does not */
	enum device_use use;
	char used_by[192];   /* "eth1 has 10.0.0.2/24"; empty: no user, or the node */
	bool is_use_unknown; /* a copy does not tell whether it is used, so it counts as used */
	bool is_port;        /* its netdev is a port of a bond, team, bridge or datapath */
	bool is_vf;
	enum vf_rdma vf_rdma; /* of a PF: whether its VFs have it */
	bool gives_nothing; /* a PF whose VFs are impossible, and that is not handed out instead */
	bool is_named;      /* a PF that its section names: pci: or netdev: without a glob */
	bool is_by_name;    /* a PF whose section has netdev: in its Match= */
	bool is_handed_out;
	bool is_usable;
	bool needs_address; /* of the host, to be usable: RequireAddress= */
	bool is_backup; /* a port of a bond, and another one has the GIDs of the bond's address */
	bool is_in_pod;
	bool is_foreign;     /* a VF of another program: in-use.h */
	bool is_changed;     /* back from a pod, and not as it was handed out */
	bool is_restore_due; /* its values are to be put back first: its link waits */
	bool is_missing; /* not usable, and no wait brings it: of a port without a cable, of a sick
			    PF */
	bool is_lost; /* was usable before, and at this look for the first time is not: still handed
			 out */
	struct link_losses losses; /* of a PF, with [Health] */
	bool is_watched;           /* a PF whose losses are counted */
	bool is_flapping;
	bool is_excluded;     /* itself or its PF flaps: not in the plugin's file */
	enum reason aside;    /* left to the host, though its section matches; REASON_NONE: not */
	bool is_asked_for;    /* left out, though named, or fewer NICs are left than Expect= */
	enum reason reason;   /* why not usable, or REASON_IN_POD */
	char detail[192];     /* names and numbers for the reason */
	const char *advice;   /* what to do about it; NULL: reason_advice() says it */
	uint32_t unsupported; /* vf_setting bits that its PF's driver does not have */
	bool is_rebuilt;      /* a VF that was unbound and bound once by us, in this boot */
	uint32_t wanted_vfs;  /* of a PF: how many it is to have, or COUNT_LEAVE */
	bool has_vf_mode;     /* of a PF: its VFs are handed out, or will be, and not itself */
	/* The PF of its section, maybe itself, of which a function is in use: no number of
	 * VFs of the section changes before the next boot, and until then all are handed out as
	 * they were; NULL: none. */
	const struct device *put_off_by;
	bool was_exclusive; /* in memory: so it is handed out until then also with addresses */
	/* Why the VFs of a PF are left: binding one failed or was slow; empty: they are not */
	char sick[128];
	bool is_sick_long; /* in this boot, until a start, a reload or "apply" tries it again */
	uint32_t sick_pid; /* of the process that still binds; 0: none */
};

/* Has it a port of InfiniBand, or, without an RDMA device, the class of such a card? */
bool device_is_infiniband(const struct device *d);
/*
 * When a usable device was so first since its driver was bound: CLOCK_MONOTONIC. 0: not known, it
 * was so before the first look of this boot.
 */
uint64_t device_usable_usec(const struct node *n, const struct memory *memory,
			    const struct device *d);

/* A file of [Output] that is asked for. */
struct plan_output {
	const char *path; /* of the configuration; NULL: not asked for */
	char *text;       /* owned; NULL: there is nothing to write */
	bool is_kept;     /* too early to say: what is there stays */
	enum reason reason;
	char detail[256]; /* why there is nothing to write */
};

struct plan;
/*
 * The newest usable device that a running DRA driver has not found; NULL: it has found them all.
 * dra-driver-sriov looks for VFs at its start alone (NewManager() in pkg/devicestate/state.go),
 * dranet at each change of a link and each minute (Run() in pkg/inventory/db.go).
 */
const struct device *plan_missed_by(const struct config *c, const struct node *n,
				    const struct memory *memory, const struct plan *p,
				    const struct plugin_process *driver);

/*
 * A netdev that carries the addresses of managed devices: their own, or the bond above it. Each
 * once, with the first of its devices, in the order of their PCI addresses: the order of the rails.
 */
struct nic_netdev {
	const struct netdev *netdev; /* of the node */
	const struct device *device;
	struct ip address, gateway; /* wanted beside those it has; family 0: none is */
	enum reason problem;        /* why they are not known */
	char detail[192];
	bool is_ra; /* its IPv6 address is to come from router advertisements */
};

struct diagnostic {
	enum reason reason;
	char target[256], detail[256];
};

/* A prediction of how the device plugin reads its file on this node: plugin/lint-rules.h. */
struct lint {
	enum reason refusal; /* why it would not start, or expose nothing; REASON_NONE: it would */
	char detail[256];    /* names for that */
	struct exposed {
		char pci[PCI_LEN]; /* or the name of a virtual RDMA device, with mode hca */
		char resource[RESOURCE_LEN];
		bool is_foreign; /* it was not meant to be: plugin-foreign */
	} *exposed;              /* owned; in the order of the file, then of the addresses */
	size_t n_exposed, n_foreign;
	size_t n_withheld; /* usable devices that are handed out, and that it would not expose */
	/* Why a device is out that was meant to be in, or in that was not. The target is a PCI
	 * address or a resource. */
	struct diagnostic *findings; /* owned */
	size_t n_findings;
};

void lint_done(struct lint *l);

/* A MAC, or a GUID, that this plan gives to a VF. */
struct given_identity {
	char pci[PCI_LEN], text[GUID_LEN];
};

struct plan {
	const struct attempts *tried; /* of this pass; NULL: nothing was tried. Not owned */
	struct action *actions;       /* owned, but for their texts */
	struct action_texts texts;
	size_t n_actions;
	struct action spare;               /* see plan_add() */
	struct text_index by_target;       /* of actions */
	struct given_identity *identities; /* owned */
	size_t n_identities;
	struct text_index by_identity; /* of identities */

	struct graph graph; /* of the node */
	bool is_wait_over;  /* ReadyTimeoutSec= is over, or the node was ready */
	bool is_told;       /* it was ready or degraded in this boot, and is not starting */
	/* An administrator asks for this pass, or for other settings, and means the node as it is.
	 * A service that is started again may find a CNI plugin in the middle of its work. */
	bool is_wanted;
	struct need *needs; /* owned, by address; each function once */
	size_t n_needs;
	bool has_needs;              /* something tells what the node needs, be it no function */
	uint64_t net_hash, net_usec; /* as in memory */
	struct device *
		devices; /* owned; each managed PF, followed by its VFs; by PCI address of the PF */
	size_t n_devices;
	struct device *unmanaged; /* owned; memory has them as is_out, and no section matches them
				     any more: they are put back, and nothing else is done */
	size_t n_unmanaged;
	struct nic_netdev *nic_netdevs; /* owned */
	size_t n_nic_netdevs;
	struct questions questions; /* facts that it depends on and that the node does not have */
	uint32_t n_missing;         /* PFs that Expect= asks for and that are not there */
	/* The first section that matches no PF and needs one; NULL: each that needs one has it. */
	const struct device_config *unmatched;
	/* InfiniBand devices whose port the kernel does not announce: no IPoIB netdev of theirs
	 * is here and up. */
	uint32_t n_silent;
	enum node_state state;
	bool is_whole; /* ready but for the files that tell others so */
	char *options; /* owned; text of our file of modprobe.d; NULL: none, or not meant */
	char *rules;   /* owned; text of the udev rules that are wanted, NULL: none */
	char *plugin; /* owned; text of the device plugin's configuration, NULL: no device for it */
	char *manifest;             /* owned; text of its static pod, NULL: none */
	char plugin_path[PATH_LEN]; /* where the first of them is written */
	struct lint lint;           /* of the text in "plugin" */
	uint32_t n_gone;            /* functions that were usable, and are gone since this look */
	struct plan_output outputs[_OUTPUT_N];

	struct diagnostic *reasons; /* owned; deviations without an action of their own: hints */
	size_t n_reasons;
	struct diagnostic
		*health; /* owned; what costs speed, or will fail in pods: no state knows it */
	size_t n_health;

	uint64_t again_usec; /* CLOCK_MONOTONIC: the first change that is left alone for a time is
				tried again; 0: none is left alone */
};

void plan_done(struct plan *p);

/* A text of its actions, made as by printf. */
_printf_(2, 3) const char *plan_text(struct plan *p, const char *format, ...);

/* Was there memory for all that was added to the plan so far? Return: 0 or -ENOMEM. */
int plan_result(const struct plan *p);
/* Appends a value: PLAN_ADD(p, needs, k) is one of p->needs. Without memory it is noted. */
#define PLAN_ADD(plan, member, ...)                                                                \
	((plan)->texts.is_short |= ADD((plan)->member, (plan)->n_##member, __VA_ARGS__) < 0)
/* Appends a change of the step of its verb, all other members empty. Without memory it is
 * p->spare, outside the plan. */
struct action *plan_add(struct plan *p, enum verb verb, const char *target);
/* Appends an action that cannot be made now, with the reason. */
struct action *plan_add_reason(struct plan *p, enum verb verb, enum class class, const char *target,
			       enum reason reason);
/* plan_add_reason() with a detail, made as by printf; @format NULL: there is none. */
_printf_(6, 7) void plan_add_item(struct plan *p, enum verb verb, enum class class,
				  const char *target, enum reason reason, const char *format, ...);
/* The same of VERB_WAIT, which each step has. */
_printf_(6, 7) void plan_add_wait(struct plan *p, enum step step, enum class class,
				  const char *target, enum reason reason, const char *format, ...);
/* A deviation without an action of its own, or a hint about health. The detail is made as by
 * printf; NULL: there is none. */
_printf_(4, 5) void plan_add_hint(struct plan *p, enum reason reason, const char *target,
				  const char *format, ...);

/* The next action on this target, in their order; @last is NULL before the first. NULL: no more. */
const struct action *plan_next(const struct plan *p, const char *target, const struct action *last);

void plan_index(struct plan *p); /* after actions were moved, or taken out */

bool plan_has_open_changes(const struct plan *p);
/* Does the plugin's file have the text that it should have? */
bool plan_has_plugin_file(const struct node *n, const struct plan *p);

/* The need of this function, or NULL: the node does not need it. */
const struct need *plan_need(const struct plan *p, const char *pci);
/* Its words, of a PF for its VF: "by one of its VFs: ..." */
void plan_describe_need(const struct need *k, char *ret, size_t size);

/* Why a device is left to the host. Of a PF: "4 match, 1 is left out: port-in-use, eth1 has a route
 * to 10.0.0.0/8"; and VirtualFunctions=exclusive where that would hand it out. */
void plan_describe_aside(const struct plan *p, const struct device *d, char *ret, size_t size);

/* The device of this function, or NULL: searched for, in the order they are in. */
const struct device *plan_device(const struct plan *p, const struct pci *pci);
/* The change of the number of VFs of this PF, made now or waiting, refused, ...; NULL: none. */
const struct action *plan_num_vfs(const struct plan *p, const char *pf);
bool plan_has_needed_changes(const struct plan *p); /* open ones, but for best-effort actions */

const char *device_advice(const struct device *d); /* its own, or that of its reason */
/*
 * Is its netdev up without carrier? Without a netdev: is every port an InfiniBand port that is
 * DOWN? INIT is a link that no subnet manager has seen yet.
 */
bool device_lacks_carrier(const struct device *d);
