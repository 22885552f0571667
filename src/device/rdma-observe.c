/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma-observe.h"

#include "../model/ip.h"
#include "../model/plan.h"
#include "../os/rdma.h"
#include "ibdev-observe.h"

static bool is_guid_of(const char *guid, const struct netdev *nd)
{
	const char *mac = nd->perm_mac[0] ? nd->perm_mac : nd->mac;
	char text[48];
	uint8_t gid[16];

	PRINT(text, "fe80:0000:0000:0000:%s", guid);
	return gid_parse(text, gid) && gid_is_of_mac(gid, mac);
}

/* Is the netdev of that name in this namespace another one than that whose MAC made the GUID? */
static bool is_name_of_other(const struct node *n, const char *guid, const char *name)
{
	const struct netdev *nd = node_netdev_named(n, name);

	return nd && nd->mac[0] && strlen(guid) > 12 && strncmp(guid + 7, "ff:fe", 5) == 0 &&
	       !is_guid_of(guid, nd);
}

static void take_gid_name(const struct node *n, bool is_own, struct ibdev *ib)
{
	for (size_t p = 0; p < ib->n_ports; p++)
		for (size_t g = 0; g < ib->ports[p].n_gids; g++) {
			const char *name = ib->ports[p].gids[g].netdev;

			if (!name[0])
				continue;
			if (is_own || !is_name_of_other(n, ib->node_guid, name))
				COPY(ib->netdev, name);
			return;
		}
}

void rdma_find_netdev(const struct node *n, struct ibdev *ib)
{
	const struct pci *pci = node_pci(n, ib->pci);
	const struct netdev *nd = node_netdev_of(n, ib->pci);

	if (ib->netdev[0])
		return;
	if (!ib->pci[0] || nd || pci_is_erdma(pci))
		take_gid_name(n, nd, ib);
	if (!nd && pci && streq(pci->driver, "erdma"))
		nd = FIND(it, n->netdevs, n->n_netdevs, is_guid_of(ib->node_guid, it));
	if (!ib->netdev[0] && nd)
		COPY(ib->netdev, nd->name);
}

static bool has_gid(const struct ibdev *ib, const struct netdev *nd, const struct address *a)
{
	return ANY(p, ib->ports, ib->n_ports, gid_is_there(p, nd->name, a));
}

/* Do the GIDs read so far cover all addresses of the netdev? The tables may have more. */
static bool has_gids_of_all_addresses(const struct node *n, const struct ibdev *ib)
{
	const struct netdev *nd = node_netdev_named(n, ib->netdev);
	size_t n_of;
	const struct address *of = node_addresses_of(n, nd ? nd->ifindex : 0, &n_of);

	return nd && !ANY(a, of, n_of, !has_gid(ib, nd, a));
}

static int observe_one(const struct fs *fs, const struct node *n, struct ibdev *ib)
{
	const struct netdev *nd;
	const struct pci *pci;
	int r = observe_ibdev_function(fs, ib);

	pci = r >= 0 ? node_pci(n, ib->pci) : NULL;
	if (pci && pci->is_management) /* each read of its ports is a command to its firmware */
		return 0;
	if (r >= 0)
		r = observe_ibdev(fs, true, ib);
	if (r < 0)
		return r;

	if (!ib->pci[0] && !ib->netdev[0]) { /* rxe and siw name their netdev here */
		observe_text(fs, FS_PATH(IBDEV_FOLDER "/%s/parent", ib->name), ib->netdev,
			     sizeof(ib->netdev));
	}
	rdma_find_netdev(n, ib);

	ib->is_virtual = !ib->pci[0];
	nd = node_netdev_named(n, ib->netdev);
	if (ib->is_virtual && nd)
		COPY(ib->pci, nd->pci);
	if (!ibdev_is_active(ib)) /* its GIDs are read when it comes up */
		return 0;
	return has_gids_of_all_addresses(n, ib) ? 0 : observe_all_gids(fs, ib);
}

/* Has the MTU of the netdev changed? Then that of @ib has too, and only libibverbs tells it. */
static bool has_other_mtu(const struct node *n, const struct ibdev *ib,
			  const struct device_memory *m)
{
	const struct netdev *nd = node_netdev_named(n, ib->netdev);

	return nd && m->mtu && m->active_mtu && nd->mtu != m->mtu;
}

void rdma_recall(const struct node *n, const struct memory *memory, struct ibdev *ib)
{
	FOREACH_WHILE(d, memory->devices, memory->n_devices, ib->index != UINT32_MAX)
		if (d->was_usable && d->index == ib->index && streq(d->ibdev, ib->name) &&
		    !has_other_mtu(n, ib, d)) {
			ib->verbs = 0;
			ib->active_mtu = d->active_mtu;
		}
}

/*
 * Copies what netlink, live or recorded, reported of an ibdev. An ibdev that netlink did not report
 * has an unknown number of users, which is never zero.
 */
static void take_counts(const struct node *n, const struct memory *memory, struct ibdev *ib,
			const struct ibdev *seen, size_t n_seen)
{
	const struct ibdev *a = SEARCH(ib->name, seen, n_seen, compare_text);

	ib->index = a ? a->index : UINT32_MAX;
	ib->is_smi = a && a->is_smi;
	ib->n_contexts = a ? a->n_contexts : UINT32_MAX;
	ib->n_cm_ids = a ? a->n_cm_ids : 0;
	ib->verbs = a ? a->verbs : 1;
	ib->active_mtu = a ? a->active_mtu : 0;
	if (a)
		COPY(ib->netdev, a->netdev);
	rdma_recall(n, memory, ib);
}

static int list_live(struct os *d, struct node *n, struct ibdev **ret, size_t *ret_n)
{
	int r = netlink_open(&d->rdma);

	if (r < 0)
		return r == -EPROTONOSUPPORT ? 0 : r;

	r = rdma_get_netns_mode(&d->rdma, &n->netns_mode);
	if (r < 0 && r != -EOPNOTSUPP && r != -EINVAL) /* old kernels have no such mode */
		return r;

	return rdma_list(&d->rdma, ret, ret_n);
}

/*
 * Without a link mlx5_ib says 40 Gb/sec, whatever the card has: mlx5_query_port_roce() in
 * drivers/infiniband/hw/mlx5/main.c. A netdev that is not up does not show its link.
 */
static void forget_rate(const struct node *n, struct ibdev *ib)
{
	const struct netdev *nd = node_netdev_of(n, ib->pci);

	for (size_t i = 0; i < ib->n_ports && nd && nd->is_up && !nd->has_carrier; i++)
		if (streq(ib->ports[i].link_layer, "Ethernet"))
			ib->ports[i].rate[0] = '\0';
}

static bool is_stray_erdma(const struct fs *fs, const struct node *n, const struct ibdev *ib)
{
	const struct pci *pci = node_pci(n, ib->pci);
	char text[128];

	if (!ib->is_virtual || (pci && streq(pci->driver, "erdma")))
		return false;
	observe_text(fs, FS_PATH(IBDEV_FOLDER "/%s/node_desc", ib->name), text, sizeof(text));
	return is_prefix(text, "Elastic RDMA");
}

static struct ibdev *first_stray_erdma(const struct fs *fs, struct node *n)
{
	struct ibdev *first = NULL;

	FOREACH(ib, n->ibdevs, n->n_ibdevs)
		if ((!first || ib->index < first->index) && is_stray_erdma(fs, n, ib))
			first = ib;
	return first;
}

/* The lonely eRDMA function bound first; in a captured tree, without instances, by address. */
static const struct pci *first_lonely_erdma(const struct node *n)
{
	const struct pci *first = NULL;

	/* The indexes of the node are older than its ibdevs. */
	FOREACH(f, n->pcis, n->n_pcis)
		if ((!first || f->instance < first->instance) && streq(f->driver, "erdma") &&
		    !ANY(ib, n->ibdevs, n->n_ibdevs, streq(ib->pci, f->address)))
			first = f;
	return first;
}

/* Each function has one ibdev, and both have numbers in the order of their probes. */
static void adopt_erdma(const struct fs *fs, struct node *n)
{
	const struct pci *pci;
	struct ibdev *ib;

	while ((pci = first_lonely_erdma(n)) && (ib = first_stray_erdma(fs, n)))
		COPY(ib->pci, pci->address);
}

int observe_rdma(struct os *d, struct node *n, const struct memory *memory)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	/* The ibdevs of a capture are in node.ibdevs until the facts of sysfs replace them. */
	_cleanup_(freep) struct ibdev *seen = TAKE(n->ibdevs);
	size_t n_seen = n->n_ibdevs;
	int r;

	n->n_ibdevs = 0;

	n->has_rdma_cm =
		!ibdev_has_dev(&d->fs, n) || fs_exists(&d->fs, "dev/infiniband/rdma_cm") > 0;
	r = fs_list(&d->fs, IBDEV_FOLDER, &names);
	if (r < 0)
		return r == -ENOENT ? 0 : r;

	if (d->fs.is_live) {
		r = list_live(d, n, &seen, &n_seen);
		if (r < 0)
			return r;
	}

	SORT(seen, n_seen, compare_text);
	for (size_t i = 0; i < names.n_names; i++) {
		struct ibdev *ib = APPEND(n->ibdevs, n->n_ibdevs);

		if (!ib)
			return -ENOMEM;
		if (!COPY(ib->name, names.names[i])) {
			n->n_ibdevs--;
			continue;
		}
		take_counts(n, memory, ib, seen, n_seen);
		r = observe_one(&d->fs, n, ib);
		if (r < 0)
			return r;
		forget_rate(n, ib);
	}
	adopt_erdma(&d->fs, n);

	return observe_nodes(&d->fs, n);
}

int observe_link_downed(const struct fs *fs, const struct questions *q, struct node *n)
{
	int n_read = 0;

	FOREACH_WHILE(ib, n->ibdevs, n->n_ibdevs, questions_ask(q, QUESTION_LINK_DOWNED)) {
		if (ib->is_virtual || !questions_name(q, ib->pci) || node_netdev_of(n, ib->pci))
			continue;
		FOREACH(port, ib->ports, ib->n_ports) {
			uint32_t count;

			if (!streq(port->link_layer, "InfiniBand") ||
			    fs_read_u32(fs,
					FS_PATH(IBDEV_FOLDER "/%s/ports/%" PRIu32
							     "/counters/link_downed",
						ib->name, port->number),
					&count) < 0)
				continue;
			ib->link_downed += count;
			ib->link_downed_sec = time(NULL);
			n_read++;
		}
	}
	return n_read;
}
