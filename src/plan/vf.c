/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

uint32_t wanted_vfs(const struct device_config *dc, const struct pci *pf)
{
	switch (dc->mode) {
	case VF_MODE_EXCLUSIVE:
		return 0;
	case VF_MODE_SHARED:
		return 1;
	case VF_MODE_SHARED_MULTI:
		return dc->count == COUNT_MAX ? pf->total_vfs : dc->count;
	default:
		return UINT32_MAX;
	}
}

static bool is_infiniband(const struct pci *pci)
{
	return pci->class >> 8 == 0x0207;
}

/*
 * A macvlan, ipvlan or VLAN above the VF may be in a pod, where its link is not seen from here. Its
 * addresses are GIDs of the VF's ibdev all the same: net/core/dev.c tells the RDMA core of all
 * uppers, drivers/infiniband/core/roce_gid_mgmt.c.
 */
static void find_upper_gid(const struct node *n, const struct pci *vf, const struct ibdev *ib,
			   char *ret, size_t size)
{
	for (size_t p = 0; p < ib->n_ports; p++)
		for (size_t g = 0; g < ib->ports[p].n_gids; g++) {
			const struct gid *gid = &ib->ports[p].gids[g];

			if (is_prefix(gid->type, "RoCE") && !streq(gid->netdev, ib->netdev) &&
			    !node_netdev_named(n, gid->netdev))
				snprintf(ret, size,
					 "%s (%s) has the GID %s of a netdev above it, %s",
					 vf->address, ib->name, gid->gid,
					 gid->netdev[0] ? gid->netdev : "in another namespace");
		}
}

/* Who holds this VF? Empty: nobody. What cannot be known counts as a user. */
static void find_user(const struct node *n, const struct pci *vf, char *ret, size_t size)
{
	const struct netdev *nd = node_netdev_of(n, vf->address);
	const struct ibdev *ib = node_ibdev_of(n, vf->address);
	const struct memory *m = node_memory(n, vf->address);

	ret[0] = '\0';
	if (is_prefix(vf->driver, "vfio"))
		snprintf(ret, size, "%s is bound to %s", vf->address, vf->driver);
	else if (vf->driver[0] && !nd &&
		 !(is_infiniband(vf) && ib)) /* ib_ipoib makes it, if loaded */
		snprintf(ret, size, "%s has its netdev in another network namespace", vf->address);
	else if (m && m->was_usable && vf->driver[0] && !ib)
		snprintf(ret, size, "%s has its ibdev %s in another network namespace", vf->address,
			 m->ibdev);
	else if (nd && nd->master)
		snprintf(ret, size, "%s (%s) belongs to a bridge, bond or team", vf->address,
			 nd->name);
	else if (ib && ib->n_contexts == UINT32_MAX)
		snprintf(ret, size, "%s (%s): its open contexts cannot be counted", vf->address,
			 ib->name);
	else if (ib && ib->n_contexts > 0)
		snprintf(ret, size, "%s (%s) has %" PRIu32 " open contexts", vf->address, ib->name,
			 ib->n_contexts);
	if (!ret[0] && ib)
		find_upper_gid(n, vf, ib, ret, size);
	if (ret[0] || !nd)
		return;

	for (size_t i = 0; i < n->n_netdevs; i++)
		if (n->netdevs[i].link == nd->ifindex && n->netdevs[i].ifindex != nd->ifindex)
			snprintf(ret, size, "%s (%s) carries %s", vf->address, nd->name,
				 n->netdevs[i].name);
}

static void find_users(const struct node *n, const struct pci *pf, char *ret, size_t size)
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < pf->total_vfs && !ret[0]; i++) {
		const struct pci *vf = node_vf(n, pf->address, i);

		if (vf)
			find_user(n, vf, ret, size);
	}
}

static struct action *add_change(struct plan *p, enum class class, enum reason reason,
				 const struct pci *pf, uint32_t from, uint32_t to)
{
	struct action *a;

	a = plan_add_reason(p, STEP_VF, VERB_SET_NUM_VFS, class, pf->address, reason);
	if (!a)
		return NULL;
	snprintf(a->from, sizeof(a->from), "%" PRIu32, from);
	snprintf(a->to, sizeof(a->to), "%" PRIu32, to);
	return a;
}

/*
 * mlx5 refuses a RoCE LAG once legacy VFs exist, and making them on a bonded port takes a running
 * one apart: mlx5_lag_check_prereq() and mlx5_eswitch_enable() in
 * drivers/net/ethernet/mellanox/mlx5/core.
 */
static bool is_in_lag(const struct node *n, const struct pci *pf)
{
	const struct netdev *nd = node_netdev_of(n, pf->address);
	const struct netdev *master = nd && nd->master ? node_netdev(n, nd->master) : NULL;

	return streq(pf->driver, "mlx5_core") && master && streq(master->kind, "bond");
}

/* What stands against making or removing VFs on this PF at all. */
static enum reason find_obstacle(const struct node *n, const struct pci *pf, uint32_t want,
				 enum class *ret_class)
{
	if (!pf->driver[0]) {
		*ret_class = CLASS_WAITING;
		return REASON_NO_DRIVER;
	}
	if (!pf->has_sriov || (pf->total_vfs == 0 && want > 0)) {
		*ret_class = CLASS_IMPOSSIBLE;
		return REASON_NO_SRIOV;
	}
	if (want > pf->total_vfs) {
		*ret_class = CLASS_IMPOSSIBLE;
		return REASON_TOO_MANY_VFS;
	}
	if (is_in_lag(n, pf)) {
		*ret_class = CLASS_REFUSED;
		return REASON_PF_IN_LAG;
	}
	if (n->stuck[0]) {
		*ret_class = CLASS_WAITING;
		return REASON_PCI_STUCK;
	}
	return REASON_NONE;
}

static int plan_pf(const struct node *n, struct plan *p, const struct device *d)
{
	const struct pci *pf = d->pci;
	uint32_t have = pf->num_vfs, want = wanted_vfs(d->config, pf);
	char users[192];
	enum class class;
	enum reason obstacle;
	struct action *a;

	if (d->config->count == COUNT_MAX && d->config->mode == VF_MODE_SHARED_MULTI && want == 0)
		want = 1; /* max of none is still a wish for VFs */
	if (want == UINT32_MAX || want == have)
		return 0;

	obstacle = find_obstacle(n, pf, want, &class);
	if (obstacle != REASON_NONE) {
		a = add_change(p, class, obstacle, pf, have, want);
		if (a && obstacle == REASON_TOO_MANY_VFS)
			snprintf(a->detail, sizeof(a->detail),
				 "%" PRIu32 " asked for, sriov_totalvfs is %" PRIu32, want,
				 pf->total_vfs);
		if (a && obstacle == REASON_PCI_STUCK)
			COPY(a->detail, n->stuck);
		return a ? 0 : -ENOMEM;
	}

	find_users(n, pf, users, sizeof(users));
	if (users[0]) {
		a = add_change(p, CLASS_NEEDS_REBOOT, REASON_VF_IN_USE, pf, have, want);
		if (!a)
			return -ENOMEM;
		COPY(a->detail, users);
		return 0;
	}

	if (have > 0 && !add_change(p, CLASS_CHANGE, REASON_NONE, pf, have, 0))
		return -ENOMEM;
	if (want > 0 && !add_change(p, CLASS_CHANGE, REASON_NONE, pf, 0, want))
		return -ENOMEM;
	return 0;
}

int plan_vf(const struct config *c _unused_, const struct node *n, struct plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n_devices && r >= 0; i++)
		if (!p->devices[i].is_vf)
			r = plan_pf(n, p, &p->devices[i]);
	return r;
}
