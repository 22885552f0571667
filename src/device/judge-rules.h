/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judge: what a managed function is worth: the definition of usable, and what this pass and earlier
 * ones of the boot found out about it. Pure.
 */
#pragma once

#include "../model/plan.h"

/*
 * Both ports of a mlx5 NIC in one bond share one ibdev, below the first port: the other port is
 * nothing by itself. Before that ibdev is made the ports lose their own ones, the first port first.
 * "mlx5_bond_%d" in drivers/infiniband/hw/mlx5/main.c; mlx5_do_bond() and mlx5_lag_remove_devices()
 * in .../mlx5/core/lag/lag.c
 */
bool judge_is_part_of_lag(const struct node *n, const struct pci *pci);

/* The PF of a VF: the nearest preceding device that is not a VF. NULL for a PF. */
const struct device *judge_pf_of(const struct plan *p, const struct device *d);

/* The definition of a usable device, each condition in the order in which a driver fulfils them. */
enum reason judge_device(const struct config *c, const struct node *n, const struct memory *memory,
			 const struct plan *p, struct device *d);

/* Was the function bound again? Then its driver makes its devices here, but has not yet. */
bool judge_is_bound_again(const struct pci *pci, const struct device_memory *m);

/*
 * A bound function whose netdev left for another namespace after it was usable in this boot; in
 * exclusive netns mode its ibdev alone may have left.
 */
bool judge_is_in_pod(const struct node *n, const struct device *d, const struct device_memory *m);

/* Settings that were tried on a VF of this PF, in this pass or, as remembered, in this boot. */
uint32_t judge_unsupported(const struct node *n, const struct device_memory *m,
			   const struct plan *p, const struct pci *pf);

/*
 * A VF among a hundred may fail by itself. When the first VF fails, or one is so slow that all of
 * them would take up the boot, the other VFs of the PF are left.
 */
void judge_sick(const struct node *n, const struct device_memory *m, const struct plan *p,
		struct device *d);
