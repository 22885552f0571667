/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet report: what rdma-provision-kubelet tells the other programs of a look at the kubelet.
 *
 * It is kept in KUBELET_REPORT_PATH, and is as good as a new look while it was asked for the same
 * policies and no file it comes from is another one: os/kubelet-ask.h.
 */
#pragma once

#include "../base/fields.h"
#include "config.h"
#include "kubelet.h"

struct kubelet_report {
	/* What it was asked for: see config.kubelet. */
	enum topology_policy topology_policy;
	enum topology_scope topology_scope;
	enum cpu_policy cpu_policy;

	struct kubelet kubelet;
	struct kubelet_decision decision;

	/* Files that could not be opened for want of permission, as in struct fs_denied. */
	struct {
		char path[128];
	} denied[3];
	size_t n_denied;
};

extern const struct fields kubelet_report_fields;
