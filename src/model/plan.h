/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: what has to change on this node, in which order, and what each device is worth.
 *
 * Plain data, made by plan/, run by apply/, told by report/ and output/.
 */
#pragma once

#include "node-nic.h"

enum step { /* one for each file of plan/, in the order of the mission */
	STEP_DRIVER,
	STEP_NETNS,
	STEP_VF,
	STEP_LINK,
	STEP_ROUTE,
	STEP_SMC,
	STEP_KUBELET,
	STEP_PLUGIN,
	STEP_OUTPUT,
	_STEP_N
};

enum class {
	CLASS_CHANGE,
	CLASS_REFUSED,      /* unsafe */
	CLASS_WAITING,      /* for a device, a port, an address */
	CLASS_NEEDS_REBOOT, /* safe only when nothing runs */
	CLASS_IMPOSSIBLE,   /* the hardware or the kernel cannot */
	_CLASS_N
};

enum verb {
	VERB_WAIT,             /* target: a PCI address or empty; nothing to do but wait */
	VERB_LOAD_MODULE,      /* target: the module */
	VERB_RELOAD_MODULE,    /* target: the module; from, to: its options, "compat_mode=Y" */
	VERB_WRITE_OPTIONS,    /* target: path of a file of modprobe.d; text: plan.options */
	VERB_REMOVE_OPTIONS,   /* the same path */
	VERB_SET_OPTION,       /* never a change: who asks for the opposite; target: the module */
	VERB_BIND_DRIVER,      /* target: PCI address of an unbound VF; to: the driver */
	VERB_PROBE_DRIVER,     /* target: PCI address of an unbound PF; to: the driver */
	VERB_SET_NETNS_MODE,   /* from, to: "shared", "exclusive" */
	VERB_SET_NUM_VFS,      /* target: PCI address of the PF; from, to: VFs */
	VERB_WRITE_RULES,      /* target: path of the generated udev rules */
	VERB_SET_AUTOPROBE,    /* target: PCI address of the PF; from, to: 0, 1 */
	VERB_SET_VF_MAC,       /* target: PCI address of the VF; from, to: MACs */
	VERB_SET_VF_GUID,      /* target: PCI address of the VF; to: node and port GUID */
	VERB_SET_VF_TRUST,     /* target: PCI address of the VF; from, to: 0, 1 */
	VERB_SET_VF_LINK,      /* target: PCI address of the VF; to: "auto" */
	VERB_REBIND_DRIVER,    /* target: PCI address of a VF, unbound and bound once */
	VERB_SET_LINK_UP,      /* target: PCI address; detail: the netdev's name */
	VERB_SET_MTU,          /* target: PCI address; from, to: bytes */
	VERB_SET_SYSCTL,       /* target: PCI address; subject: netconf_name(); from, to: values */
	VERB_ADD_ADDRESS,      /* target: PCI address; to: the address with its length */
	VERB_REMOVE_ADDRESS,   /* the same */
	VERB_ASK_METADATA,     /* target: PCI address; to: MAC of the netdev that is asked about */
	VERB_SET_METRIC,       /* target: PCI address; from, to: metric of the address */
	VERB_SET_ROUTE,        /* target: PCI address; subject: format_route(); replaced in place */
	VERB_REMOVE_ROUTE,     /* target: PCI address or empty; the same */
	VERB_ADD_RULE,         /* target: PCI address; subject: format_rule() */
	VERB_REMOVE_RULE,      /* target: PCI address or empty; the same */
	VERB_KEEP_NEIGHBOUR,   /* target: PCI address; subject: the gateway, kept resolved */
	VERB_PROBE_NEIGHBOUR,  /* the same for once: before Linux 5.16 */
	VERB_REMOVE_NEIGHBOUR, /* the same */
	VERB_SET_PNETID,       /* target: PCI address; from: what is replaced; to: the PNETID */
	VERB_ENSURE_KUBELET,   /* target: the kubelet's file; from, to: policies */
	VERB_RELOAD_UNITS,     /* target: a unit; systemd runs its generators again */
	VERB_WRITE_PLUGIN,     /* target: path of the plugin configuration */
	VERB_REMOVE_PLUGIN,    /* the same path, when no plugin is asked for any more */
	VERB_WRITE_MANIFEST,   /* target: path of the plugin's static pod */
	VERB_REMOVE_MANIFEST,
	VERB_WRITE_OUTPUT,  /* target: path of a file of [Output] */
	VERB_REMOVE_OUTPUT, /* the same; to: its key, "NFD" */
	_VERB_N
};

struct action {
	enum step step;
	enum verb verb;
	enum class class;
	enum reason reason; /* why it is no change; REASON_NONE for a change */
	char target[256]; /* PCI address, module or path, as the verb says; empty: the whole node */
	char from[48], to[48]; /* as shown; numbers in decimal; empty: not meant */
	uint32_t ifindex;      /* of the netdev meant, for the link and route verbs */
	size_t item;           /* of the route verbs: index into plan.items */
	char subject[96];      /* what of the target, where to does not say it: an address, a key */
	char detail[512];      /* more for people: names, users, limits; may be empty */
	char advice[384];      /* what to do about it; empty: reason_advice() says it */

	/* Of what it changes, and what that becomes, for who undoes it: plan/contest.h. */
	uint64_t instance, value;

	bool is_missing; /* of VERB_WAIT: as that of the device */
	bool is_back;    /* it takes something back: the ledger forgets it */

	/* set by apply */
	bool is_running; /* it was begun and is not over: nobody begins it once more */
	bool is_done;    /* it was tried */
	bool is_refused; /* not begun: the look right before it did not want it */
	uint64_t took_usec;
	uint32_t pid;    /* of the process that did not come back; 0: it did */
	bool is_gone;    /* it failed as its function was unplugged, or unbound, meanwhile */
	int result;      /* 0 or -errno */
	char error[192]; /* what the door had to say; empty: strerror() says it */
	bool is_vain;    /* set by the next plan: it was accepted, and is wanted still */
};

/* What an action of the route step is about, in full. */
struct item {
	struct address address;
	struct route route;
	bool is_replaced; /* of a route: one of ours with that destination is there */
	struct rule rule;
	struct neighbour neighbour;
};

/* One function of a managed NIC: what it is worth. */
struct device {
	const struct pci *pci;       /* of the node */
	const struct netdev *netdev; /* of the node, or NULL */
	const struct ibdev *ibdev;   /* of the node, or NULL */
	const struct device_config
		*config;              /* of the configuration: the section that matched its PF */
	char netdev_name[IFNAME_LEN]; /* of a device in a pod: as it was last seen here */
	char ibdev_name[IBDEV_LEN];
	const struct node_nic *node_nic; /* of the plan: it carries the node; NULL: it does not */
	bool is_vf;
	bool is_named; /* a PF that its section names: pci: or netdev: without a glob */
	bool is_handed_out;
	bool is_usable;
	bool is_in_pod;
	bool is_foreign; /* a VF of another program: sign.h */
	bool is_missing; /* not usable, and no wait brings it: of a port without a cable, of a sick
			    PF */
	bool is_lost; /* was usable before, and at this look for the first time is not: still handed
			 out */
	enum reason aside;    /* left to the host, though its section matches; REASON_NONE: not */
	enum reason reason;   /* why not usable, or REASON_IN_POD */
	char detail[192];     /* names and numbers for the reason */
	const char *advice;   /* what to do about it; NULL: reason_advice() says it */
	uint32_t unsupported; /* vf_setting bits that its PF's driver does not have */
	bool is_rebuilt;      /* a VF that was unbound and bound once by us, in this boot */
	uint32_t wanted_vfs;  /* of a PF: how many it is to have; UINT32_MAX: left as they are */
	/* Of a PF: its VFs are left, for binding one of them failed or was slow; empty: they are
	 * not */
	char sick[128];
	bool is_sick_long; /* in this boot, until a start, a reload or "apply" tries it again */
	uint32_t sick_pid; /* of the process that is still at it; 0: none */
};

/* A file of [Output] that is asked for. */
struct plan_output {
	const char *path; /* of the configuration; NULL: not asked for */
	char *text;       /* owned; NULL: there is nothing to write */
	bool is_kept;     /* too early to say: what is there stays */
	enum reason reason;
	char detail[256]; /* why there is nothing to write */
};

/*
 * A netdev that carries the addresses of managed devices: their own, or the bond above it. Each
 * once, with the first of its devices, in the order of their PCI addresses: the order of the rails.
 */
struct carrier {
	const struct netdev *netdev; /* of the node */
	const struct device *device;
	struct ip address, gateway; /* what it is to have beside what it has; family 0: nothing */
	enum reason problem;        /* why that is not known */
	char detail[192];
	bool is_ra; /* its IPv6 address is to come from router advertisements */
};

/*
 * What the device plugin would make of its file on this node: output/lint.h.
 */
struct lint {
	enum reason refusal; /* why it would not start, or expose nothing; REASON_NONE: it would */
	char detail[256];    /* names for that */
	struct exposed {
		char pci[PCI_LEN]; /* or the name of a virtual RDMA device, with mode hca */
		char resource[RESOURCE_LEN];
	} *exposed; /* owned; in the order of the file, then of the addresses */
	size_t n_exposed;
	/* What keeps a device out that was meant to be in, or in that was not. */
	struct finding {
		enum reason reason;
		char target[RESOURCE_LEN]; /* PCI address, or resource */
		char detail[256];
	} *findings; /* owned */
	size_t n_findings;
};

void lint_done(struct lint *l);

struct plan {
	struct action *actions; /* owned */
	size_t n_actions;
	struct item *items; /* owned */
	size_t n_items;

	struct node_nic *node_nics; /* owned; the functions that carry the node */
	size_t n_node_nics;
	struct device *
		devices; /* owned; each managed PF, followed by its VFs; by PCI address of the PF */
	size_t n_devices;
	struct carrier *carriers; /* owned */
	size_t n_carriers;
	struct lookup
		*checks; /* owned; what the kernel has to be asked: result and found are empty */
	size_t n_checks;
	uint32_t n_missing; /* PFs that Expect= asks for and that are not there */
	/* InfiniBand devices whose port nobody announces: they have no IPoIB netdev here that is
	 * up. */
	uint32_t n_silent;
	enum node_state state;
	bool is_whole; /* ready but for the files that tell others so */
	char *options; /* owned; text of our file of modprobe.d; NULL: none, or not meant */
	char *rules;   /* owned; text of the udev rules that are wanted, NULL: none */
	char *plugin; /* owned; text of the device plugin's configuration, NULL: no device for it */
	char *manifest;             /* owned; text of its static pod, NULL: none */
	char plugin_path[PATH_LEN]; /* where the first of them is written */
	struct lint lint;           /* of the text in "plugin" */
	uint32_t n_gone; /* functions that were usable and are gone at this look for the first time
			  */
	struct plan_output outputs[_OUTPUT_N];
	struct last_change change; /* of a pass, as far as it has come; not made by plan_make() */

	/* Deviations without an action of their own: hints, never items of the plan. */
	struct {
		enum reason reason;
		char target[256], detail[256];
	} *reasons; /* owned */
	size_t n_reasons;

	/* What costs speed, or will fail in pods: told, and never changes a state. */
	struct health_hint {
		enum reason reason;
		char target[64]; /* PCI address or unit */
		char detail[256];
	} *health; /* owned */
	size_t n_health;

	struct kubelet_decision kubelet; /* what its actions and hints are made of */
	const struct plan *tried; /* while it is made: what this pass tried before, or NULL */
	bool is_asked;            /* of what was tried: a person wants it now, whoever undoes it */
	bool is_first; /* the same: it is the first pass since, and tries once what was left */
	uint64_t again_usec; /* CLOCK_MONOTONIC: the first of what is left alone for a time is tried
				again; 0: nothing is */
};

void plan_done(struct plan *p);

/* One row appended, all but step, verb and class empty; NULL when there is no memory. */
struct action *plan_add(struct plan *p, enum step step, enum verb verb, enum class class,
			const char *target);
/* The item of an action, a new one and empty; NULL when there is no memory. */
struct item *plan_add_item(struct plan *p, struct action *a);
/* The same for what cannot be done now. */
struct action *plan_add_reason(struct plan *p, enum step step, enum verb verb, enum class class,
			       const char *target, enum reason reason);
/* A deviation without an action of its own. */
int plan_add_hint(struct plan *p, enum reason reason, const char *target, const char *detail);
/* A hint about health; the detail is made as by printf. */
_printf_(4, 5) int plan_add_health(struct plan *p, enum reason reason, const char *target,
				   const char *format, ...);

/* A change that was not tried yet in this pass. */
bool is_open_change(const struct action *a);
bool is_same_change(const struct action *a, const struct action *b); /* of two plans */
bool has_open_changes(const struct plan *p);

/* What changes no state when it fails, and what nobody waits for: nvidia_peermem, files of
 * [Output]. */
bool is_best_effort(const struct action *a);
bool can_crash(enum verb v); /* a driver that is not right may take the machine down in it */
bool is_file_for_others(enum verb v); /* that, the device plugin's, or its static pod */
bool is_output(enum verb v); /* a file of [Output]: tells of the node, is none of its changes */
/* The device of this function, or NULL: searched for, in the order they are in. */
const struct device *plan_device(const struct plan *p, const struct pci *pci);
bool has_lost_devices(const struct plan *p);   /* or gone ones: the loss is not confirmed yet */
bool has_needed_changes(const struct plan *p); /* open ones beside those */

/* Takes away what somebody may be using: looked at once more right before it is done. */
bool is_destructive(const struct action *a);

/*
 * Does the plan depend on who uses what: node.users, netnses, listening? Open changes that take
 * something away may, and erdma, which takes ports; what waits for a reboot because it is in use
 * has to say by whom.
 */
bool needs_users(const struct plan *p);

/* Does it say anything about the kubelet, so that what systemd has loaded of its unit may matter?
 */
bool needs_manager(const struct plan *p);

/* The last write of a number of VFs that never came back, or NULL. */
const struct action *plan_stuck(const struct plan *p);

/*
 * Binding a VF that failed, or took longer than any healthy one: what the next of the same PF would
 * do as well, one after the other.
 */
#define SLOW_BIND_USEC (20 * USEC_PER_SEC)
bool is_bad_bind(const struct action *a);

/*
 * Drops what is remembered of VFs that were destroyed since, by what was tried in this pass: by a
 * change of their number, or by a reload of their PF's driver. Those that have their addresses now
 * are others. What is remembered of PFs is kept.
 */
void plan_forget_ended(const struct plan *tried, struct node *n);

const char *step_name(enum step s);         /* "driver" */
const char *class_name(enum class c);       /* "needs-reboot" */
const char *verb_name(enum verb v);         /* "set-num-vfs" */
enum verb verb_from_name(const char *name); /* _VERB_N: there is none */
bool is_numeric(enum verb v);               /* from and to are numbers: so in JSON too */
/* A setting that the driver of a VF's PF does not have: no failure, but an answer. */
uint32_t unsupported_setting(const struct action *a); /* its vf_setting bit, or 0 */
uint32_t vf_setting_of(enum verb v);                  /* the bit of what this verb sets, or 0 */
/* Why an action that was tried failed; REASON_NONE: it did not. */
enum reason action_failure(const struct action *a);
/* What to do about an action that is no change: its own advice, or that of its reason. */
const char *action_advice(const struct action *a);
const char *device_advice(const struct device *d); /* the same for what a device lacks */
const char *node_state_name(enum node_state s);
const char *driver_mode_name(enum driver_mode m);
const char *peermem_mode_name(enum peermem_mode m);
const char *trust_name(enum trust t);
const char *identity_name(enum identity i);
const char *vf_mode_name(enum vf_mode m);
const char *netns_mode_name(enum netns_mode m);
const char *policy_rules_name(enum policy_rules p);
const char *address_mode_name(enum address_mode a);
const char *ipv6_mode_name(enum ipv6_mode i);
const char *smc_mode_name(enum smc_mode s);
const char *pnetid_mode_name(enum pnetid_mode p);
const char *topology_policy_name(enum topology_policy p);
const char *topology_scope_name(enum topology_scope s);
const char *cpu_policy_name(enum cpu_policy p);
const char *gate_mode_name(enum gate_mode g);
const char *plugin_type_name(enum plugin_type t);
