/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: those that are, or have in them, a kubelet, and the drop-ins of ours that a configuration
 * asks for.
 *
 * The generator writes the drop-ins below GENERATED_FOLDER; to see whether they are out of date,
 * one compares them with the same text.
 */
#pragma once

#include "config.h"

#define GENERATED_FOLDER "run/systemd/generator"  /* what systemd gives generators for this */
#define DROP_IN_NAME     "zz-rdma-provision.conf" /* behind the drop-ins of others */
#define KUBELET_PROGRAM  "/usr/lib/rdma-provision/rdma-provision-kubelet"
#define GATE_COMMAND     "/usr/bin/rdma-provision gate --strict"

#define N_KUBELET_UNITS 14
extern const char *const kubelet_units[N_KUBELET_UNITS]; /* the first that is there counts */

/*
 * The drop-in of a kubelet's unit. It begins with a comment that says who wrote it. @ret: owned;
 * NULL when none is asked for. Return: 0 or -ENOMEM.
 */
int units_kubelet_drop_in(const struct config *c, char **ret);
