/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod: a pod that asks for the RDMA devices of exactly this node, as YAML. Pure.
 *
 * Limits are one share, or one device of each NIC. Pods with shares use the network of the node,
 * unless [Route] IPv6=ra gives pods addresses of their own; VKE's resource has one network for each
 * device in the annotation k8s.volcengine.com/pod-networks, or the pod has no RDMA network.
 */
#pragma once

#include "forecast.h"

/* -ENODATA: there will be no device to ask for. */
int output_pod(const struct config *c, const struct forecast *f, char **ret);
