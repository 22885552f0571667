/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"
#include "users.h"

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

	if (users_of_vfs(n, pf, users, sizeof(users))) {
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
