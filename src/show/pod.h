/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod: a pod that asks for the RDMA devices of exactly this node, as YAML. Pure.
 *
 * It is the pod of the page of the system that the resource belongs to; conf/kubernetes/pods has
 * them as they are for the usual node. Limits are one share, of VKE the larger of 4 and 2 that the
 * NICs are enough for, else one device of each NIC.
 *
 * rdma/hca uses the network of the node, unless [Route] IPv6=ra gives pods addresses of their own,
 * and so does NCCL on eRDMA. VKE's resource has one network for each device in the annotation
 * k8s.volcengine.com/pod-networks, or the pod has no RDMA network; SMC-R is switched on by an
 * annotation. With GPUs the pod asks for them and runs NCCL's test. With Type=none it is the same
 * pod, for the platform's own plugin, as the resource tells.
 */
#pragma once

#include "check.h"

/* -ENODATA: there will be no device to ask for. */
int output_pod(const struct config *c, const struct node *n, const struct plan *p,
	       const struct forecast *f, char **ret);
