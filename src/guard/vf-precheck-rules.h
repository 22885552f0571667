/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VF precheck: what keeps the number of VFs on a PF from being changed now. Pure.
 *
 * It looks at one PF, and at others only where they share its card's bond: a sick PF costs itself
 * alone. Who uses the VFs that are there is asked elsewhere (in-use-plan.h).
 */
#pragma once

#include "../model/plan.h"

#define VF_PRECHECK_LEN 256

/**
 * vf_precheck() - the first thing that stands against another number of VFs
 * @p:         its graph and is_wait_over are set
 * @want:      VFs that are asked for, not the number there is; COUNT_MAX: as many as there can be,
 *             which are none
 * @ret_class: what can be done about it; set with a reason only
 * @detail:    names and numbers for people; empty when there is nothing to add
 *
 * A sick PF is waited for, not refused: nothing has to be changed in what was asked for, the
 * firmware may recover or the driver finish its probe, and each look decides again. When the time
 * to wait is over the node is degraded by it, as by a device that did not appear.
 *
 * A PF that is in a RoCE LAG, or will be, is refused: not one of InfiniBand, nor in a bond that has
 * it alone while another port of the card is a port of something else, or, once the wait is over,
 * has an address of its own or is free. When VFs that are there are to go, that is left to the next
 * boot, since a LAG that can form then replaces the RDMA devices of both ports.
 *
 * Return: REASON_NONE when there is none.
 */
enum reason vf_precheck(const struct plan *p, const struct memory *memory, const struct pci *pf,
			uint32_t want, enum class *ret_class, char *detail, size_t size);

/*
 * Has a port of this bond the RDMA device of a LAG? It is known by the name that its driver gives:
 * "mlx5_bond_%d" in drivers/infiniband/hw/mlx5/main.c, "hns_bond_%d" in
 * drivers/infiniband/hw/hns/hns_roce_main.c, "bnxt_re_bond%d" in compat.c of Broadcom's bnxt_re,
 * whose counterpart in the kernel makes no LAG. All ports are of one card then, which may be in two
 * slots: mlx5 goes by system_image_guid since Linux 5.16.
 *
 * udev renames it as any other: rdma-persistent-naming.rules of rdma-core. So it is also that of a
 * LAG where another port of the same driver has none in any network namespace, and its auxiliary
 * device shows that none is to come and none has failed: mlx5 takes that of such a port away,
 * mlx5_lag_remove_devices() in .../mlx5/core/lag/lag.c; that of Broadcom's bnxt_re, for ports in
 * one slot, stays bound. Of drivers and kernels without auxiliary devices the name alone tells.
 */
bool vf_precheck_is_lag(const struct node *n, const struct netdev *bond);

/*
 * Do VFs of this PF have RDMA? A vendor's own driver, which is out of tree, may have what the
 * kernel's does not. Of a driver whose RDMA part nobody knows, the VFs have what the PF has, or
 * one of them: an RDMA device of any kind, also a software one. Without that it is not known.
 */
enum vf_rdma vf_precheck_rdma(const struct node *n, const struct pci *pf);

/* Has another program switched it off? That this service did so for a moment does not count. */
bool vf_precheck_has_autoprobe_off(const struct pci *pf);

/* A container is loading the driver of this PF, which changes the PF and its VFs by itself. */
bool vf_precheck_is_container(const struct node *n, const struct pci *pf);
