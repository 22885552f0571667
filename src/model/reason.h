/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reason: everything that can keep a node from what was asked, as one table.
 *
 * --json and the journal use the code, people see the sentence and the advice.
 */
#pragma once

#include "../base/util.h"

enum reason {
	REASON_NONE,
	/* configuration */
	REASON_CONFIG_INVALID,
	REASON_CONFIG_UNKNOWN,
	/* driver */
	REASON_MODULE_MISSING,
	REASON_MODULE_BLACKLISTED,
	REASON_NO_DRIVER,
	REASON_DKMS_BUILDING,
	REASON_MODULE_VERMAGIC,
	REASON_MODULE_SYMBOL,
	REASON_MODULE_SIGNATURE,
	REASON_MODULE_FORBIDDEN,
	REASON_MODULE_PARAMETER,
	REASON_MODULE_NO_DEVICE,
	REASON_MODULE_PORT_TAKEN,
	REASON_PARAMETER_MISSING,
	REASON_PARAMETER_MISMATCH,
	REASON_DRIVER_IN_USE,
	REASON_DRIVER_BUILTIN,
	REASON_OPTION_CONFLICT,
	REASON_NOT_OFED,
	REASON_SMC_WITH_OFED,
	REASON_PORTS_BUSY,
	REASON_PORTS_EPHEMERAL, /* hints: told, never items */
	REASON_PORTS_NODEPORT,
	REASON_ROCE_PORT_BUSY,
	REASON_PEERMEM_FAILED,
	/* netns */
	REASON_NETNS_BUSY,
	/* vf */
	REASON_NO_SRIOV,
	REASON_TOO_MANY_VFS,
	REASON_VF_IN_USE,
	REASON_PCI_STUCK,
	REASON_PF_IN_LAG,
	/* devices */
	REASON_NO_DEVICES,
	REASON_DEVICES_MISSING,
	REASON_NO_NETDEV,
	REASON_NO_IBDEV,
	REASON_VERBS_FAILED,
	REASON_NO_UVERBS,
	REASON_NO_UMAD,
	REASON_NO_RDMA_CM,
	REASON_PORT_DOWN,
	REASON_NO_GID,
	REASON_IN_POD, /* usable: told, never a deviation */
	/* link */
	REASON_MTU_TOO_LARGE,
	REASON_MTU_UNDER_VFS,
	/* kubelet */
	REASON_KUBELET_FILE_REFUSED,
	REASON_KUBELET_FLAG_WINS,
	REASON_KUBELET_NUMA_NODES,
	REASON_KUBELET_NO_FILE,
	/* plugin */
	REASON_NOT_READY,
	REASON_NETNS_EXCLUSIVE,
	/* outcome */
	REASON_ACTION_FAILED,
	REASON_ACTION_TIMEOUT,
	REASON_WORKER_DIED,
	_REASON_N
};

const char *reason_code(enum reason r);         /* "vf-in-use"; "" for REASON_NONE */
const char *reason_meaning(enum reason r);      /* one line */
const char *reason_advice(enum reason r);       /* what to do about it, one line */
enum reason reason_from_code(const char *code); /* REASON_NONE when unknown */
