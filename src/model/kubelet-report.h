/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelet report: what rdma-provision-kubelet tells the other programs of a look at the kubelet, by
 * its verb "look" (os/kubelet-ask.h).
 */
#pragma once

#include "../base/fields.h"
#include "kubelet.h"

struct kubelet_report {
	struct kubelet kubelet;
	struct kubelet_decision decision;

	/* Files that could not be opened for want of permission, as in struct fs_denied. */
	struct {
		char path[128];
	} denied[3];
	size_t n_denied;
};

extern const struct fields kubelet_report_fields;
