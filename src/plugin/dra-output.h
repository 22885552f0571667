/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dra: the objects of dynamic resource allocation for the devices of this node.
 *
 * Pure text, for "kubectl apply". Of each resource (Resource=) a DeviceClass, whose
 * extendedResourceName serves pods that request the resource as they did with a device plugin, and
 * a ResourceClaimTemplate for a NIC, and a GPU where the node has one, below the same PCIe root.
 * For dra-driver-sriov also the SriovResourcePolicy, which it needs to publish a device, and its
 * DeviceAttributes. No ResourceSlice: those are the driver's.
 *
 * The fields are those of k8s.io/api/resource/v1, of demo/resource-policies in dra-driver-sriov,
 * and of pkg/apis/attributes.go in dranet. An attribute that a device lacks is an error in CEL,
 * which ends the scheduling of the pod: each expression asks first whether it is there.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_dra() - all of them, as a stream of YAML documents
 * @c: with Type=sriov or dra-sriov they are of dra-driver-sriov, else of dranet
 *
 * Return: 0, -ENODATA when no device of this node is usable, or -ENOMEM.
 */
int output_dra(const struct config *c, const struct node *n, const struct plan *p, char **ret);
