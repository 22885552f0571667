/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nfd: the feature file for node-feature-discovery's source "local".
 *
 * Pure text. Lines are KEY=VALUE; nfd-master takes keys in feature.node.kubernetes.io/, which the
 * worker would else put before them only where that is not switched off
 * (docs/usage/customization-guide.md), and values that are label values: at most 63 letters,
 * digits, "-", "_" and ".", with a letter or digit at both ends.
 *
 *     feature.node.kubernetes.io/rdma-provision.ready=true or false
 *     ....state=ready, degraded or starting
 *     ....driver-mode=keep, default, compat or ofed: the mode that is wanted, "auto" resolved
 *     ....vf-mode=keep, exclusive, shared, shared-multi or mixed: of the managed NICs
 *     ....nics=, vfs=, devices=, usable=: managed NICs, their VFs, functions handed out, usable
 * ones
 *     ....link-layer=ethernet, infiniband or mixed
 *     ....rate-max-gbps=, rate-min-gbps=: Gbit/s of the ports of functions handed out
 *
 * A feature whose value is not known has no line.
 */
#pragma once

#include "../model/plan.h"

/**
 * nfd_text() - the whole file
 * @old:  the file as it is, or NULL: while a device is in a pod, and its port cannot be seen, link
 * layer and rates are taken from there
 *
 * Return: 0 or -ENOMEM.
 */
int nfd_text(const struct config *c, const struct node *n, const struct plan *p, const char *old,
	     char **ret);
