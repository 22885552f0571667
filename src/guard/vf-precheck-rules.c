/* SPDX-License-Identifier: Apache-2.0 */
#include "vf-precheck-rules.h"

#include "../model/module-options.h"
#include "../step/quirk-rules.h"

/* "0000:17:00" of "0000:17:00.1": the functions of one card differ in the last digit only. */
static bool is_same_card(const char *a, const char *b)
{
	const char *dot = strrchr(a, '.');
	size_t len = dot ? (size_t)(dot - a) : 0;

	return len > 0 && strncmp(a, b, len + 1) == 0;
}

/* The name of a mode of which a LAG is made, else NULL: mlx5_handle_changeupper_event() in
 * .../mlx5/core/lag/lag.c. One that is not known may be one of them. */
static const char *lag_mode(int mode)
{
	switch (mode) {
	case 1:
		return "active-backup";
	case 2:
		return "balance-xor";
	case 4:
		return "802.3ad";
	default:
		return mode == BOND_MODE_UNKNOWN ? "not known" : NULL;
	}
}

/* Is it without an RDMA device because its driver makes one for all ports? */
static bool is_left_without(const struct node *n, const struct pci *pci)
{
	const struct rdma_part *part = rdma_part_of(pci->driver);
	const struct module *m = part ? node_module(n, part->module) : NULL;

	if (!pci->is_searched || pci->is_away || node_ibdev_of(n, pci->address))
		return false;
	return quirk_has(pci, QUIRK_ROCE_LAG) ? !pci->has_adev
					      : pci->is_adev_bound && m && m->is_out_of_tree;
}

bool vf_precheck_is_lag(const struct node *n, const struct netdev *bond)
{
	const struct pci *with = NULL, *without = NULL;

	FOREACH(nd, n->netdevs, n->n_netdevs) {
		const struct pci *pci = nd->master == bond->ifindex ? node_pci(n, nd->pci) : NULL;
		const struct ibdev *ib = pci ? node_ibdev_of(n, nd->pci) : NULL;

		if (ib && !ib->is_virtual && strstr(ib->name, "_bond"))
			return true;
		if (ib && !ib->is_virtual && pci->is_adev_bound)
			with = pci;
		else if (pci && is_left_without(n, pci))
			without = pci;
	}
	return with && without && streq(with->driver, without->driver) &&
	       (quirk_has(with, QUIRK_ROCE_LAG) || is_same_card(with->address, without->address));
}

/* mlx5_lag_add_netdev() in .../mlx5/core/lag/lag.c is called for no netdev of IPoIB. */
static bool can_lag(const struct node *n, const struct pci *pf)
{
	return quirk_has(pf, QUIRK_ROCE_LAG) && !node_is_infiniband(n, pf);
}

/* May a bond get this netdev? @was_port: it was a port since the last "apply", or may have been. */
static bool may_be_bonded(const struct plan *p, const struct memory *memory,
			  const struct netdev *nd, bool was_port)
{
	return !nd->master && (!p->is_wait_over || was_port) &&
	       !node_has_host_address(p->graph.n, memory, nd->ifindex);
}

/* Is it another port of this PF's card, which the PF's bond does not get? During a boot a port may
 * have the address of the initramfs until the bond gets it. */
static bool is_kept_out(const struct plan *p, const struct memory *memory, const struct pci *pf,
			const struct pci *other)
{
	const struct netdev *nd = node_netdev_of(p->graph.n, other->address);
	const struct device_memory *m = memory_device(memory, other->address);

	return other != pf && nd && !other->physfn[0] &&
	       is_same_card(pf->address, other->address) &&
	       (nd->master ||
		(p->is_wait_over && !may_be_bonded(p, memory, nd, !m || m->was_port)));
}

/* Are the ports of this bond all ports of the PF's card and nothing else, as a LAG takes them? A
 * bond that has only one port yet may get the other. */
static bool may_be_lag(const struct plan *p, const struct memory *memory, const struct pci *pf,
		       const struct netdev *bond)
{
	const struct node *n = p->graph.n;
	size_t n_ports = 0;

	FOREACH_WHILE(port, n->netdevs, n->n_netdevs, can_lag(n, pf)) {
		if (port->master != bond->ifindex)
			continue;
		if (!is_same_card(pf->address, port->pci))
			return false;
		n_ports++;
	}
	return n_ports > 1 ||
	       (n_ports == 1 && !ANY(it, n->pcis, n->n_pcis, is_kept_out(p, memory, pf, it)));
}

/* Is the PF a port of a LAG? Mode and ports of a bond that is not there yet are unknown. */
static bool is_lag_port(const struct plan *p, const struct memory *memory, const struct pci *pf,
			char *detail, size_t size)
{
	const struct node *n = p->graph.n;
	const struct netdev *nd = node_netdev_of(n, pf->address), *bond = node_bond_of(n, nd);

	if (!bond || pf->physfn[0] || !lag_mode(bond->bond_mode) ||
	    !(vf_precheck_is_lag(n, bond) || may_be_lag(p, memory, pf, bond)))
		return false;
	snprintf(detail, size, "%s is a port of %s, mode %s", nd->name, bond->name,
		 lag_mode(bond->bond_mode));
	return true;
}

/*
 * A bond that is there and has no port yet may get this one, and become a LAG: until the wait is
 * over, and for good where it had this one before the driver was loaded again.
 */
static bool may_join_lag(const struct plan *p, const struct memory *memory, const struct pci *pf,
			 char *detail, size_t size)
{
	const struct node *n = p->graph.n;
	const struct netdev *nd = node_netdev_of(n, pf->address), *bond = node_portless(n, false);
	const struct device_memory *m = memory_device(memory, pf->address);

	if (!bond || !nd || !can_lag(n, pf) || streq(pf->eswitch, "switchdev") ||
	    !may_be_bonded(p, memory, nd, m && m->was_port))
		return false;
	snprintf(detail, size, "%s has no port yet, and may get %s", bond->name, nd->name);
	return true;
}

/* VFs of one port forbid the LAG of all its ports, except with switchdev. */
static bool is_in_lag(const struct plan *p, const struct memory *memory, const struct pci *pf,
		      char *detail, size_t size)
{
	const struct node *n = p->graph.n;

	if (streq(pf->eswitch, "switchdev"))
		return false;
	if (is_lag_port(p, memory, pf, detail, size))
		return true;
	return can_lag(n, pf) && ANY(it, n->pcis, n->n_pcis,
				     is_same_card(pf->address, it->address) &&
					     is_lag_port(p, memory, it, detail, size));
}

/*
 * The reporter "fw" of mlx5 has no recovery: it stays in error until the driver is loaded again,
 * also when the syndrome has passed. A firmware that fails has "fw_fatal" in error. The "fw" of
 * bnxt recovers. Source: mlx5_fw_reporter_ops in .../mlx5/core/health.c
 */
static bool is_old_syndrome(const struct pci *pf, const struct ibdev *ib)
{
	return ib && streq(pf->driver, "mlx5_core") && streq(pf->health, "fw");
}

/* A driver in firmware recovery stays bound, and each VF would wait two minutes for it: https://
 * github.com/Mellanox/doca-driver-build/pull/62. */
static bool is_sick(const struct node *n, const struct pci *pf, char *detail, size_t size)
{
	const struct ibdev *ib = node_ibdev_of(n, pf->address);

	if (pf->unreadable[0])
		snprintf(detail, size, "%s", pf->unreadable);
	else if (pf->health[0] && !is_old_syndrome(pf, ib))
		snprintf(detail, size, "devlink health reporter in error state: %s", pf->health);
	else if (pf->class >> 8 == CLASS_ETHERNET && !node_netdev_of(n, pf->address))
		snprintf(detail, size, "%s is bound, but has no network device here", pf->driver);
	else if (pf->class >> 8 == CLASS_INFINIBAND && !ib)
		snprintf(detail, size, "%s is bound, but has no RDMA device here", pf->driver);
	if (!detail[0] && ib && ib->n_ports == 0)
		snprintf(detail, size, "%s has no port", ib->name);
	for (size_t i = 0; !detail[0] && ib && i < ib->n_ports; i++)
		if (!ib->ports[i].state[0])
			snprintf(detail, size, "the state of port %" PRIu32 " of %s cannot be read",
				 ib->ports[i].number, ib->name);
	return detail[0];
}

enum vf_rdma vf_precheck_rdma(const struct node *n, const struct pci *pf)
{
	const struct rdma_part *part = rdma_part_of(pci_driver(pf));
	const struct module *m = node_module(n, pci_driver(pf));

	if (!part)
		return node_ibdev_of(n, pf->address) || ANY(f, n->pcis, n->n_pcis,
							    streq(f->physfn, pf->address) &&
								    node_ibdev_of(n, f->address))
			       ? VF_RDMA_YES
			       : VF_RDMA_UNKNOWN;
	return part->of_vfs == VF_RDMA_NO && m && m->is_out_of_tree ? VF_RDMA_UNKNOWN
								    : part->of_vfs;
}

static bool is_down(const struct plan *p, const struct pci *pf)
{
	const struct netdev *nd = node_netdev_of(p->graph.n, pf->address);

	return nd && ((quirk_has(pf, QUIRK_UP_FIRST) && !nd->is_up) ||
		      (node_keeps_down(p->graph.n, nd) && !p->is_wait_over));
}

static void say_wanted(uint32_t want, char *ret, size_t size)
{
	if (want == COUNT_MAX)
		copy(ret, size, "max asked for");
	else
		snprintf(ret, size, "%" PRIu32 " asked for", want);
}

bool vf_precheck_has_autoprobe_off(const struct pci *pf)
{
	return pf->has_autoprobe && !pf->autoprobe && !pf->is_switched;
}

bool vf_precheck_is_container(const struct node *n, const struct pci *pf)
{
	return n->is_container_loading && streq(pci_driver(pf), "mlx5_core");
}

/*
 * The kernel changes numbers of VFs under one lock: pci_lock_rescan_remove() in drivers/pci/iov.c
 * since Linux 6.18. A driver that hangs at a VF has no such lock, and keeps only its own PF.
 */
static bool is_stuck(const struct node *n, const struct memory *memory, const struct pci *pf)
{
	const struct pci *stuck = memory->stuck[0] ? node_pci(n, memory->stuck) : NULL;

	return memory->stuck[0] &&
	       (!stuck || !stuck->physfn[0] || streq(stuck->physfn, pf->address));
}

static enum reason as(enum reason reason, enum class class, enum class *ret_class)
{
	*ret_class = class;
	return reason;
}

enum reason vf_precheck(const struct plan *p, const struct memory *memory, const struct pci *pf,
			uint32_t want, enum class *ret_class, char *detail, size_t size)
{
	const struct node *n = p->graph.n;

	detail[0] = '\0';

	if (vf_precheck_is_container(n, pf))
		return as(REASON_DRIVER_CONTAINER, CLASS_WAITING, ret_class);
	if (!pf->driver[0])
		return as(REASON_NO_DRIVER, CLASS_WAITING, ret_class);
	if (!pf->unreadable[0] && (!pf->has_sriov || (pf->total_vfs == 0 && want > 0))) {
		say_wanted(want, detail, size);
		copy(detail + strlen(detail), size - strlen(detail),
		     pf->has_sriov ? ", sriov_totalvfs is 0" : ", there is no sriov_totalvfs");
		return as(REASON_NO_SRIOV, CLASS_IMPOSSIBLE, ret_class);
	}
	if (!pf->unreadable[0] && want > pf->total_vfs) {
		snprintf(detail, size, "%" PRIu32 " asked for, sriov_totalvfs is %" PRIu32, want,
			 pf->total_vfs);
		return as(REASON_TOO_MANY_VFS, CLASS_IMPOSSIBLE, ret_class);
	}
	if (quirk_has(pf, QUIRK_VFS_BY_PARAMETER)) {
		snprintf(detail, size, "%s makes them when it is loaded, by its parameter num_vfs",
			 pf->driver);
		return as(REASON_VF_DRIVER, CLASS_IMPOSSIBLE, ret_class);
	}
	if (want > 0 && vf_precheck_rdma(n, pf) == VF_RDMA_NO) {
		copy(detail, size, pf->driver);
		return as(REASON_VF_WITHOUT_RDMA, CLASS_IMPOSSIBLE, ret_class);
	}
	if (want > 0 && may_join_lag(p, memory, pf, detail, size))
		return as(REASON_PF_IN_LAG, CLASS_WAITING, ret_class);
	if (is_in_lag(p, memory, pf, detail, size))
		return as(REASON_PF_IN_LAG, want > 0 ? CLASS_REFUSED : CLASS_NEEDS_REBOOT,
			  ret_class);
	if (is_sick(n, pf, detail, size))
		return as(REASON_PF_SICK, CLASS_WAITING, ret_class);
	if (is_down(p, pf))
		return as(REASON_PF_DOWN, CLASS_WAITING, ret_class);
	if (is_stuck(n, memory, pf)) {
		if (memory->stuck_sec > 0)
			snprintf(detail, size, "%s, since %" PRIu32 " s", memory->stuck,
				 memory->stuck_sec);
		else
			copy(detail, size, memory->stuck);
		return as(memory->stuck_sec > 0 ? REASON_VF_CHANGING : REASON_PCI_STUCK,
			  CLASS_WAITING, ret_class);
	}
	return REASON_NONE;
}
