/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet: the verb kubelet-ensure, the same sentence as run.c for one file: observe, plan, edit,
 * observe again. Run before every start of the kubelet.
 *
 * It starts and restarts nothing, and lowers no policy. A finished node is only read.
 */
#pragma once

#include "doors/fs.h"
#include "model/node.h"

enum kubelet_outcome {
	KUBELET_SATISFIED, /* nothing asked for, or the policy is at least as strict */
	KUBELET_CHANGED,
	KUBELET_REFUSED, /* nothing was touched: see reason */
	_KUBELET_OUTCOME_N
};

struct kubelet_result {
	enum kubelet_outcome outcome;
	enum reason reason;            /* why refused */
	enum topology_policy from, to; /* as observed, and as asked for */
	char path[256];                /* of the file that decides; empty: none */
	char detail[256];              /* for people */
};

/**
 * kubelet_ensure() - make sure of the policy
 * @fs:           the node, or a folder: there files are edited just the same
 * @want:         what is asked for; UNSET: nothing, no file is even read
 * @n_numa_nodes: of the machine; above 8 the kubelet refuses to start with a policy
 * @ret:          what came of it
 *
 * When somebody else writes the file meanwhile, the edit starts anew, three times at most.
 *
 * Return: 0, or -errno with the old file still whole: -ENOMEM, -ENOSPC, -EIO.
 */
int kubelet_ensure(const struct fs *fs, enum topology_policy want, uint32_t n_numa_nodes,
		   struct kubelet_result *ret);
