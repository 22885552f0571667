/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preset: which one is for this node, as "set --preset=auto" asks. Pure.
 *
 * It knows the node label of VKE, which --node-labels of the kubelet or LabelFile= tells, and eRDMA
 * functions, which only ACK serves. Other NICs are in more than one of the systems, which the type
 * of the instance tells: ecs.scc* are those of Super Computing Clusters of Alibaba Cloud; ecs.hpc*
 * and ecs.ebmhpc* are the HPC types of Volcengine, whose documentation of the plugin recommends
 * "shared", but for ecs.hpcg1ve.21xlarge, and ecs.hpcpni2.28xlarge in some regions, which need
 * "exclusive". Otherwise the caller has to name the preset.
 */
#pragma once

#include "../model/node.h"

struct preset_choice {
	char name[32];   /* "vke-shared"; empty: it cannot be told */
	char why[192];   /* what of the node says so, or what is missing */
	bool wants_type; /* the instance's type would tell */
};

/* @type: of the instance; empty: not known */
void plan_preset(const struct node *n, const char *type, struct preset_choice *ret);
