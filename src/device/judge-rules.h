/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judge: what a managed function is worth: the definition of usable, what this pass and earlier
 * ones of the boot found out about it, and the cheaper causes that stand before a catch-all reason.
 * Pure.
 */
#pragma once

#include "../model/plan.h"

/*
 * Is it a port of a LAG, without an ibdev of its own? Not while its auxiliary device has no driver,
 * for then one is to come or has failed. Its ports share one (vf_precheck_is_lag()), of mlx5 below
 * the first port. Before that is made, the ports lose their own ones, the first one first. Source:
 * "mlx5_bond_%d" in drivers/infiniband/hw/mlx5/main.c; mlx5_do_bond() and mlx5_lag_remove_devices()
 * in .../mlx5/core/lag/lag.c
 */
bool judge_is_part_of_lag(const struct node *n, const struct pci *pci);

/* The PF of a VF: the nearest preceding device that is not a VF. NULL for a PF. */
const struct device *judge_pf_of(const struct plan *p, const struct device *d);

/* The first condition of a usable device that it does not meet, in the order in which drivers meet
 * them; REASON_NONE: it is usable. Fills detail and advice. */
enum reason judge_device(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct plan *p, struct device *d);

/*
 * pf-sick, no-driver, no-ibdev, port-down, no-gid, no-umad, zero-guid and no-sriov say what is
 * missing, which has many causes. A cause is named only when it is seen: it replaces @detail, and
 * @ret_advice where the advice of its reason does not fit. Return: the reason to report, @of when
 * no cause is seen.
 */
enum reason judge_cause(const struct node *n, const struct pci *pci, enum reason of, char *detail,
			size_t size, const char **ret_advice);

/* Was the function bound again? Then its driver makes its devices here, but has not yet. */
bool judge_is_bound_again(const struct pci *pci, const struct device_memory *m);

/*
 * Is it a bound function whose netdev left for another namespace after it was usable in this boot?
 * In exclusive netns mode its ibdev alone may have left.
 */
bool judge_is_in_pod(const struct node *n, const struct device *d, const struct device_memory *m);

/* The vf_setting bits that this PF's driver was found not to have, in this pass or this boot. */
uint32_t judge_unsupported(const struct node *n, const struct device_memory *m,
			   const struct plan *p, const struct pci *pf);

/*
 * Fills sick of a PF when the first of its VFs failed, or one was so slow that all of them would
 * take up the boot: then its other VFs are left. One VF among a hundred may fail by itself.
 */
void judge_sick(const struct node *n, const struct device_memory *m, const struct plan *p,
		struct device *d);
