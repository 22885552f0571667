/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preset: which one is for this node, as "set --preset=auto" asks. Pure.
 *
 * It knows the node label of VKE, which the kubelet is given by --node-labels, and eRDMA functions,
 * which only ACK serves. Other NICs are in more than one of the systems: then the caller has to
 * name the preset.
 */
#pragma once

#include "../model/node.h"

struct preset_choice {
	char name[32]; /* "vke-shared"; empty: it cannot be told */
	char why[192]; /* what of the node says so, or what is missing */
};

void plan_preset(const struct node *n, struct preset_choice *ret);
