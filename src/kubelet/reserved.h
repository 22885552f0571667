/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserved: the memory that a kubelet reserves for its memory manager, and the manager's state
 * file.
 *
 * Counted as the kubelet counts: reservedMemory of all NUMA nodes is the memory of kubeReserved,
 * systemReserved and evictionHard. Sources, from 1.21 to 1.35: validateReservedMemory() in
 * pkg/kubelet/cm/memorymanager/memory_manager.go, NewPolicyStatic() and validateState() in
 * policy_static.go, validateReservedMemoryConfiguration() in pkg/kubelet/apis/config/validation,
 * parseThresholdStatement() in pkg/kubelet/eviction/helpers.go.
 *
 * What is not understood ends no kubelet: a quantity with an exponent, a share of all memory.
 */
#pragma once

#include "find.h"
#include "flags.h"
#include "sources.h"

/*
 * Fills in memory_state and the problems of memory. @is_rancher: k3s and RKE2 have an evictionHard
 * of their own, which is not known. Return: 0 or -ENOMEM.
 */
int reserved_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		     const char *root_dir, bool is_rancher, struct kubelet_start *ret);
