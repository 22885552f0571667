/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

#include "mode.h"

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

/* Its netdev, if it is seen here. */
static const struct netdev *netdev_of(const struct node *n, const struct pci *pci,
				      const struct ibdev *ib)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);

	/* eRDMA: the netdev is of another function, and its ibdev alone knows which. */
	return !nd && ib && is_erdma(pci) ? node_netdev_named(n, ib->netdev) : nd;
}

/* Has a bound function no netdev here, though it must have one somewhere? */
static bool is_netdev_away(const struct node *n, const struct pci *pci, const struct ibdev *ib,
			   const struct netdev *nd)
{
	if (!pci->driver[0] || nd)
		return false;
	if (is_erdma(pci)) /* without an ibdev there is nothing to use, if no ibdev can be away */
		return ib || n->netns_mode != NETNS_MODE_SHARED;
	return !(is_infiniband(pci) && ib); /* ib_ipoib makes it, if loaded */
}

/* What links, names and counts tell, also where nobody looked into processes. */
static void find_sign(const struct node *n, const struct pci *vf, char *ret, size_t size)
{
	const struct ibdev *ib = node_ibdev_of(n, vf->address);
	const struct netdev *nd = netdev_of(n, vf, ib);
	const struct memory *m = node_memory(n, vf->address);

	ret[0] = '\0';
	if (is_prefix(vf->driver, "vfio"))
		snprintf(ret, size, "%s is bound to %s", vf->address, vf->driver);
	else if (is_netdev_away(n, vf, ib, nd))
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

#define MORE_LEN 24 /* "; and 4294967295 more" */

/* A list of words that keeps room to say how many did not fit. */
struct words {
	char *text;
	size_t size, len;
	uint32_t n, n_left_out;
};

static void words_add(struct words *w, const char *text)
{
	size_t need = strlen(text) + (w->n > 0 ? 2 : 0);

	/* The first is always told, cut if need be. */
	if (w->n_left_out > 0 || (w->n > 0 && w->len + need + MORE_LEN >= w->size)) {
		w->n_left_out++;
		return;
	}
	snprintf(w->text + w->len, w->size - w->len, "%s%s", w->n > 0 ? "; " : "", text);
	w->len = strlen(w->text);
	w->n++;
}

static bool words_end(struct words *w)
{
	if (w->n_left_out > 0)
		snprintf(w->text + w->len, w->size - w->len, "; and %" PRIu32 " more",
			 w->n_left_out);
	return w->n > 0;
}

static void add_users(const struct node *n, const struct pci *pci, struct words *w)
{
	const struct user *u;
	char text[448];
	size_t i = 0;
	bool found = false;

	while ((u = node_user(n, pci->address, &i))) {
		put_user(u, text, sizeof(text));
		words_add(w, text);
		found = true;
	}
	if (found)
		return;

	find_sign(n, pci, text, sizeof(text));
	if (text[0])
		words_add(w, text);
}

bool users_of_function(const struct node *n, const struct pci *pci, char *ret, size_t size)
{
	struct words w = { ret, size };

	ret[0] = '\0';
	add_users(n, pci, &w);
	return words_end(&w);
}

bool users_of_vfs(const struct node *n, const struct pci *pf, char *ret, size_t size)
{
	struct words w = { ret, size };

	ret[0] = '\0';
	for (uint32_t i = 0; i < pf->total_vfs; i++) {
		const struct pci *vf = node_vf(n, pf->address, i);

		if (vf)
			add_users(n, vf, &w);
	}
	return words_end(&w);
}

void list_add(char *list, size_t size, const char *item)
{
	static const char separator[] = "; ", more[] = "; ...";
	const size_t used = strlen(list);
	const char *between = used > 0 ? separator : "";

	if (used >= strlen(more) && streq(list + used - strlen(more), more))
		return;
	/* Room for the sign is kept, unless there is nothing before it. */
	if (used > 0 && used + strlen(between) + strlen(item) + strlen(more) >= size)
		snprintf(list + used, size - used, "%s", more);
	else
		snprintf(list + used, size - used, "%s%s", between, item);
}

/* One process has a context, QPs and more: who it is counts, and it is named once. */
static bool is_named(const struct node *n, const struct user *u)
{
	for (const struct user *v = n->users; v < u; v++)
		if (u->pid > 0 && v->pid == u->pid && streq(v->target, u->target))
			return true;
	return false;
}

static bool list_users(const struct node *n, const char *target, char *ret, size_t size)
{
	const struct user *u;
	bool is_any = false;
	char item[256];

	for (size_t i = 0; (u = node_user(n, target, &i)); is_any = true) {
		if (is_named(n, u))
			continue;
		put_user(u, item, sizeof(item));
		list_add(ret, size, item);
	}
	return is_any;
}

/* What counts and links of the module tell. */
static void list_module(const struct module *m, bool is_explained, char *ret, size_t size)
{
	char item[MODULE_LEN + sizeof(m->holders) + 32];

	if (m->holders[0]) {
		snprintf(item, sizeof(item), "%s is used by %s", m->name, m->holders);
		list_add(ret, size, item);
	} else if (m->refcnt == UINT32_MAX) {
		snprintf(item, sizeof(item), "the references to %s cannot be counted", m->name);
		list_add(ret, size, item);
	} else if (m->refcnt > 0 && !is_explained) {
		snprintf(item, sizeof(item), "%s has %" PRIu32 " references", m->name, m->refcnt);
		list_add(ret, size, item);
	}
}

bool users_of_driver(const struct node *n, const char *driver, char *ret, size_t size)
{
	const struct module *m = node_module(n, driver);
	char item[256];

	ret[0] = '\0';
	for (size_t i = 0; i < n->n_pcis; i++) {
		const struct pci *pci = &n->pcis[i];

		if (!streq(pci->driver, driver) || list_users(n, pci->address, ret, size))
			continue;
		find_sign(n, pci, item, sizeof(item));
		if (item[0])
			list_add(ret, size, item);
	}
	if (!list_users(n, driver, ret, size) && m && m->state == MODULE_LOADED)
		list_module(m, ret[0], ret, size);
	return ret[0];
}
