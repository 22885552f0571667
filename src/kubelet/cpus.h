/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cpus: what the kubelet will reserve for the static CPU manager, and its state file.
 *
 * Counted as the kubelet counts (run() in cmd/kubelet/app/server.go): reservedSystemCPUs wins over
 * amounts; a flag replaces a whole map of the file; amounts are added and rounded up.
 */
#pragma once

#include "../model/kubelet.h"
#include "flags.h"
#include "sources.h"

/* In place of the policy in a state file that is no JSON: as bad for the kubelet as another one. */
#define STATE_DAMAGED "damaged"

/*
 * @is_strict: strict-cpu-reservation is on. @has_pods: the gate PodLevelResourceManagers is on.
 * @ret: is_unclear stays when it is set. Return: 0 or -ENOMEM.
 */
int cpus_observe(const struct fs *fs, const struct sources *sources, const struct flags *flags,
		 const char *root_dir, bool is_strict, bool has_pods, struct kubelet_cpus *ret);

/*
 * "500m", "1", "0.5", "2Gi", "1e3": in thousandths, rounded up. -EINVAL: ParseQuantity() of
 * apimachinery refuses it; -EDOM: it is negative; -ERANGE: more than we count.
 */
int cpus_parse_amount(const char *text, uint64_t *ret);

/* A list as "0-3,8". Return: how many there are, all below @n; or -EINVAL. */
int cpus_count(const char *list, uint32_t n);

/*
 * How many NUMA nodes the machine has; 0: the kernel tells of none; or CPUS_UNKNOWN. Return: 0 or
 * -ENOMEM.
 */
#define CPUS_UNKNOWN UINT32_MAX
int cpus_numa_nodes(const struct fs *fs, uint32_t *ret);
