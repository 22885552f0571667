/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: one netdev and its RDMA device get their PNETID. What of the table is wrong is model/pnet.h,
 * asked once more here, for the table may be another since the look.
 */
#include "../os/smc.h"

#include "../model/pnet.h"
#include "../os/rdma.h"
#include "../step/verbs.h"

#include <net/if.h>

static bool is_right(const struct work *w, const struct pnet_wish *wish, const struct smc_table *t,
		     bool of_ibdev)
{
	return pnet_is_there(w->node, wish, t->entries, t->n, of_ibdev);
}

/*
 * There is no other way to take an entry away than with all of its PNETID: those of others come
 * back at once. Each is tried, and the first error told.
 */
static int remove_wrong(struct work *w, const struct pnet_wish *wish, const char *id,
			const struct smc_table *t)
{
	int r, r_add;

	r = smc_remove(&w->os->generic, id);
	if (r < 0 && r != -ENOENT)
		return r;

	r = 0;
	FOREACH(e, t->entries, t->n) {
		if (!streq(e->id, id) || pnet_judge(w->node, wish, e) == PNET_WRONG)
			continue;
		r_add = smc_add(&w->os->generic, e);
		if (r_add < 0 && r_add != -EEXIST && r >= 0)
			r = r_add;
	}
	return r;
}

/* Several wrong ones may have one PNETID: it is done at the first. */
static bool is_first_wrong(const struct work *w, const struct pnet_wish *wish,
			   const struct smc_table *t, size_t i)
{
	const struct pnet *entry = &t->entries[i];

	return pnet_judge(w->node, wish, entry) == PNET_WRONG &&
	       !ANY(e, t->entries, i,
		    streq(e->id, entry->id) && pnet_judge(w->node, wish, e) == PNET_WRONG);
}

static int add_missing(struct work *w, const struct pnet_wish *wish, const struct smc_table *t)
{
	struct pnet netdev = {}, ibdev = { .port = 1 };
	int r = 0;

	COPY(netdev.id, wish->id);
	COPY(netdev.netdev, wish->netdev);
	COPY(ibdev.id, wish->id);
	COPY(ibdev.ibdev, wish->ibdev);
	if (!is_right(w, wish, t, false))
		r = smc_add(&w->os->generic, &netdev);
	if (r >= 0 && !is_right(w, wish, t, true))
		r = smc_add(&w->os->generic, &ibdev);
	return r;
}

/* Another program was faster, or the PNETID is one that no table has. */
static int look_again(struct work *w, const struct pnet_wish *wish)
{
	_owns_(struct smc_table, entries) t = {};
	int r = smc_list(&w->os->generic, &t.entries, &t.n);

	if (r < 0)
		return r;
	if (is_right(w, wish, &t, false) && is_right(w, wish, &t, true))
		return 0;
	snprintf(w->error, CHILD_ERROR_LEN,
		 "%.63s or %.15s has a PNETID that is not in the table, of the hardware or from "
		 "before a rename",
		 wish->ibdev, wish->netdev);
	return -EEXIST;
}

/* By the names of now: another device may have those of the look, where entries of ours may be. */
static int find_wish(struct work *w, const char *pci, const struct netdev *netdev,
		     const struct ibdev *ibdev, struct pnet_wish *ret)
{
	struct netdev netdev_now = *netdev;
	struct ibdev ibdev_now = *ibdev;
	int r;

	if (!if_indextoname(netdev->ifindex, netdev_now.name))
		return -errno;
	r = rdma_read_name(&w->os->rdma, ibdev->index, ibdev_now.name, sizeof(ibdev_now.name));
	if (r < 0)
		return r;
	if (!pnet_wish(w->memory, pci, &netdev_now, &ibdev_now, ret))
		return -ENODEV;
	if (!streq(netdev->name, netdev_now.name))
		COPY(ret->old_netdev, netdev->name);
	if (!streq(ibdev->name, ibdev_now.name))
		COPY(ret->old_ibdev, ibdev->name);
	return 0;
}

int apply_set_pnetid(struct work *w, const struct action *a)
{
	_owns_(struct smc_table, entries) t = {};
	const struct ibdev *ibdev = node_ibdev_of(w->node, a->target);
	const struct netdev *netdev = node_netdev_of(w->node, a->target);
	struct pnet_wish wish;
	int r;

	if (!netdev && ibdev) /* eRDMA: of another function */
		netdev = node_netdev_named(w->node, ibdev->netdev);
	if (!netdev || !ibdev)
		return -ENODEV;
	r = find_wish(w, a->target, netdev, ibdev, &wish);
	if (r < 0)
		return r;
	r = smc_list(&w->os->generic, &t.entries, &t.n);
	for (size_t i = 0; i < t.n && r >= 0; i++)
		if (is_first_wrong(w, &wish, &t, i))
			r = remove_wrong(w, &wish, t.entries[i].id, &t);
	if (r >= 0)
		r = add_missing(w, &wish, &t);
	return r == -EEXIST ? look_again(w, &wish) : r;
}
