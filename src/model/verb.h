/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verb: what can be done to a node, and all that is the same for each action of a verb. Which
 * function does it is in step/verbs.h.
 */
#pragma once

#include "../base/util.h"

enum verb {
	VERB_WAIT,           /* target: a PCI address or empty; nothing to do but wait */
	VERB_LOAD_MODULE,    /* target: the module */
	VERB_RELOAD_MODULE,  /* target: the module; from, to: its options, "compat_mode=Y" */
	VERB_WRITE_OPTIONS,  /* target: path of a file of modprobe.d; text: plan.options */
	VERB_REMOVE_OPTIONS, /* the same path */
	VERB_SET_OPTION,     /* never a change: who asks for the opposite; target: the module */
	VERB_BIND_DRIVER,    /* target: PCI address of an unbound VF; to: the driver */
	VERB_PROBE_DRIVER,   /* target: PCI address of an unbound PF; to: the driver */
	VERB_SET_NETNS_MODE, /* from, to: "shared", "exclusive" */
	VERB_SET_NUM_VFS,    /* target: PCI address of the PF; from, to: VFs */
	VERB_WRITE_RULES,    /* target: path of the generated udev rules */
	VERB_SET_AUTOPROBE,  /* target: PCI address of the PF; from, to: 0, 1 */
	VERB_SET_VF_MAC,     /* target: PCI address of the VF; from, to: MACs */
	VERB_SET_VF_GUID,    /* target: PCI address of the VF; to: node and port GUID */
	VERB_SET_VF_TRUST,   /* target: PCI address of the VF; from, to: 0, 1 */
	VERB_SET_VF_LINK,    /* target: PCI address of the VF; to: "auto" */
	VERB_SET_VF_VLAN,    /* target: PCI address of the VF; from, to: as vf_info.vlan */
	VERB_REBIND_DRIVER,  /* target: PCI address of a VF, unbound and bound once */
	VERB_SET_LINK_UP,    /* target: PCI address; detail: the netdev's name */
	VERB_SET_MTU,        /* target: PCI address; from, to: bytes */
	VERB_SET_DCB,        /* target: PCI address of the PF; subject: of qos_value() */
	VERB_SET_ROCE,       /* target: PCI address; subject: "ports/1/default_roce_tos" */
	VERB_SET_MAC,        /* target: PCI address; from, to: MACs of its netdev */
	VERB_SET_NAME,       /* target: PCI address; from, to: names of its netdev */
	VERB_ADD_ALTNAME,    /* target: PCI address; to: one more name of its netdev */
	VERB_REMOVE_ALTNAME, /* the same */
	VERB_SET_SYSCTL,     /* target: PCI address; subject: netconf_name(); from, to: values */
	VERB_ADD_ADDRESS,    /* target: PCI address; to: the address with its length */
	VERB_REMOVE_ADDRESS, /* the same */
	VERB_ASK_METADATA,   /* target: PCI address; to: MAC of the netdev that is asked about */
	VERB_SET_METRIC,     /* target: PCI address; from, to: metric of the address */
	VERB_SET_ROUTE,      /* target: PCI address; subject: nic_netdev_format_route(); replaced in
				place */
	VERB_REMOVE_ROUTE,   /* target: PCI address or empty; the same */
	VERB_ADD_RULE,       /* target: PCI address; subject: nic_netdev_format_rule() */
	VERB_REMOVE_RULE,    /* target: PCI address or empty; the same */
	VERB_KEEP_NEIGHBOUR, /* target: PCI address; subject: the gateway, kept resolved */
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

enum step { /* one for each step, in the order of the mission */
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

/* Which member of action's union it has. */
enum verb_value {
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_ADDRESS,
	VALUE_ROUTE, /* or a rule, or a neighbour: shown by the subject alone */
};

enum verb_flag {
	CAN_CRASH = 1,  /* a driver that is not right may take the machine down in it */
	FOR_OTHERS = 2, /* a file of [Output], the device plugin's, or its static pod */
	OUTPUT = 4,     /* a file of [Output]: tells of the node, is none of its changes */
};

const char *verb_name(enum verb v); /* "set-num-vfs" */
enum step verb_step(enum verb v);
const char *step_name(enum step s); /* "driver" */
enum verb_value verb_value(enum verb v);
bool verb_is_numeric(enum verb v); /* VALUE_NUMBER: a number in JSON as well */
bool verb_has(enum verb v, enum verb_flag flag);
enum verb verb_opposite(enum verb v);  /* takes back what this one does; _VERB_N: none does */
uint32_t verb_vf_setting(enum verb v); /* enum vf_setting of what this verb sets, or 0 */
/* A format of target and "to" that says what goes on, "loading %1$s"; NULL: the name has to do. */
const char *verb_text(enum verb v);
/* How long it may take: @n is the larger number of "from" and "to". */
uint64_t verb_deadline_usec(enum verb v, uint64_t n);
