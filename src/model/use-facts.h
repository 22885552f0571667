/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use facts: which processes and programs use a function or a module, the sockets of the host, and
 * network namespaces.
 */
#pragma once

#include "node.h"

/* A way in which a process that is not ours uses a function, its ibdev or its netdev. */
enum use {
	USE_CONTEXT,      /* a process has an open uverbs context */
	USE_QP,           /* a QP of a process; only in a capture of an older version */
	USE_CM_ID,        /* a cm_id of a process */
	USE_MANAGER,      /* a port of it has a subnet manager, which needs no context */
	USE_KERNEL,       /* a kernel user (smc, nvme, ...): detail has its name */
	USE_NETDEV_NETNS, /* its netdev is in another network namespace */
	USE_IBDEV_NETNS,  /* its ibdev is */
	USE_VFIO,         /* an open vfio group, or bound to vfio */
	USE_VDPA,         /* a vDPA device was made of it */
	USE_DRIVER,       /* another program has chosen its driver */
	USE_KVM,          /* assigned to a virtual machine; only in a capture, like USE_QP */
	USE_MASTER,       /* enslaved to a bridge, bond or team */
	USE_ADDRESS,      /* the host has an address on it, or a route through it */
	USE_UPPER,        /* a macvlan, ipvlan or VLAN above it with addresses in use */
	USE_MODULE,       /* of a module: its holders or references */
	USE_UNKNOWN,      /* it could not be told, which is never "not used" */
	_USE_N
};

struct user {
	char target[MODULE_LEN]; /* PCI address of the function, or name of the module */
	enum use use;
	uint32_t pid;       /* 0: none or not known */
	char command[32];   /* comm of the process; empty: not known */
	char container[80]; /* container or unit as its cgroup tells; empty: neither */
	char detail[128];   /* names: ibdev, netdev, namespace */
};

/* A socket of the host that is bound to one address or netdev, or connected. */
struct sock {
	int family;
	uint8_t protocol;                 /* IPPROTO_TCP, _UDP, _SCTP or _RAW */
	uint8_t local[16], remote[16];    /* all zero: any, or not connected */
	uint16_t local_port, remote_port; /* of RAW: the number of the IP protocol, and 0 */
	uint32_t ifindex;                 /* of SO_BINDTODEVICE or a link-local address; 0: none */
	bool is_listening;
	uint64_t inode;   /* 0: not told */
	uint32_t pid;     /* of a process that has it; 0: not known, or the kernel's own */
	char command[32]; /* of that */
};

/* A network namespace that has a name, other than our own: step/observers.h. */
struct netns {
	uint64_t inode; /* 0: not known */
	char name[64];  /* of its file below /run/netns, else the path */
	bool is_closed; /* its links are not known: which functions they use is not known either */
};

const char *use_name(enum use u); /* "open-context" */
