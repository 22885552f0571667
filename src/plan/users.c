/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

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

/* What links, names and counts tell, also where nobody looked into processes. */
static void find_sign(const struct node *n, const struct pci *vf, char *ret, size_t size)
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

static void put_user(const struct user *u, char *ret, size_t size)
{
	char process[96] = "";

	if (u->pid > 0)
		snprintf(process, sizeof(process), " by %s (pid %" PRIu32 ")",
			 u->command[0] ? u->command : "a process", u->pid);
	snprintf(ret, size, "%s: %s%s%s%s%s%s", u->target, use_name(u->use), process,
		 u->container[0] ? " in " : "", u->container, u->detail[0] ? ", " : "", u->detail);
}

bool users_of_function(const struct node *n, const struct pci *pci, char *ret, size_t size)
{
	const struct user *u;
	size_t i = 0;

	ret[0] = '\0';
	u = node_user(n, pci->address, &i);
	if (u)
		put_user(u, ret, size);
	else
		find_sign(n, pci, ret, size);
	return ret[0];
}

bool users_of_vfs(const struct node *n, const struct pci *pf, char *ret, size_t size)
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < pf->total_vfs && !ret[0]; i++) {
		const struct pci *vf = node_vf(n, pf->address, i);

		if (vf)
			users_of_function(n, vf, ret, size);
	}
	return ret[0];
}
