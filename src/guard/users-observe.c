/* SPDX-License-Identifier: Apache-2.0 */
#include "users-observe.h"

#include "../base/log.h"
#include "../model/in-use.h"
#include "../module/module-observe.h"
#include "../os/sock.h"
#include "process-observe.h"

/* Adds a user, once for each process and kind of use. */
static void add_user(const struct fs *fs, const char *target, enum use use, uint32_t pid,
		     const char *detail, struct node *n)
{
	struct user u = { .use = use, .pid = pid };

	if (ANY(k, n->users, n->n_users,
		k->pid == pid && k->use == use && streq(k->target, target) &&
			(pid > 0 || streq(k->detail, detail))))
		return;
	COPY(u.target, target);
	COPY(u.detail, detail);
	if (pid > 0) {
		fs_read(fs, FS_PATH("proc/%" PRIu32 "/comm", pid), u.command, sizeof(u.command));
		make_printable(u.command); /* a process chooses its own name */
		process_container(fs, pid, u.container, sizeof(u.container));
	}
	NODE_ADD(n, users, u);
}

/* Is it the module of a driver, which a reload of Mode= may remove? */
static bool is_driver(const struct fs *fs, const struct node *n, const struct module *m)
{
	char name[MODULE_LEN];

	if (streq(m->name, "erdma"))
		return true;
	return ANY(p, n->pcis, n->n_pcis,
		   p->driver[0] && observe_driver_module(fs, p, name, sizeof(name)) >= 0 &&
			   streq(name, m->name));
}

void users_add_modules(const struct fs *fs, struct node *n)
{
	FOREACH(m, n->modules, n->n_modules) {
		enum use use = USE_MODULE;
		char detail[128];

		if (m->state != MODULE_LOADED || (m->refcnt == 0 && !m->holders[0]) ||
		    !is_driver(fs, n, m))
			continue;
		if (m->holders[0]) {
			PRINT(detail, "held by %.100s", m->holders);
		} else if (m->refcnt == UINT32_MAX) {
			use = USE_UNKNOWN;
			COPY(detail, "its references cannot be read");
		} else {
			PRINT(detail, "%" PRIu32 " reference%s", m->refcnt,
			      m->refcnt == 1 ? "" : "s");
		}
		add_user(fs, m->name, use, 0, detail, n);
	}
}

/* Does this part of the kernel come and go with the device, and so never block a change? */
static bool is_of_device(const struct node *n, const struct ibdev *ib, const char *kernel)
{
	const struct pci *pci = node_pci(n, ib->pci);
	const struct rdma_part *part = pci ? rdma_part_of(pci->driver) : NULL;

	if (streq(kernel, "ib_core") || streq(kernel, "rdma_rxe") || streq(kernel, "siw"))
		return true;
	return (pci && streq(pci->driver, kernel)) || (part && streq(part->module, kernel));
}

/*
 * Is it seen that the kernel's SRP target takes no initiator? It rejects all until a port is
 * enabled in its folder of configfs: srpt_cm_req_recv() in drivers/infiniband/ulp/srpt/ib_srpt.c.
 * SCST has a module of the same name, which does not need target_core_mod.
 */
static bool is_srpt_idle(const struct fs *fs)
{
	return fs_exists(fs, "sys/module/target_core_mod/holders/ib_srpt") > 0 &&
	       fs_exists(fs, "sys/kernel/config/target") > 0 &&
	       fs_exists(fs, "sys/kernel/config/target/srpt") == 0;
}

/*
 * Each IPoIB netdev has a PD, also a child, which has no device: ipoib_parent_init() in
 * drivers/infiniband/ulp/ipoib/ipoib_main.c. More PDs than netdevs: some are elsewhere. ib_srpt has
 * one of each device, used or not (srpt_add_one()), and no more with initiators.
 */
static bool is_of_each_device(const struct fs *fs, const struct node *n, const struct ibdev *ib,
			      const struct rdma_holder *h)
{
	uint32_t n_netdevs = 0;

	FOREACH(nd, n->netdevs, n->n_netdevs) {
		const struct netdev *parent =
			streq(nd->kind, "ipoib") ? node_netdev(n, nd->link) : NULL;

		n_netdevs += streq((parent ?: nd)->pci, ib->pci);
	}
	return (streq(h->kernel, "ib_ipoib") && h->n <= n_netdevs) ||
	       (streq(h->kernel, "ib_srpt") && h->n <= 1 && is_srpt_idle(fs));
}

static const struct {
	enum use use;
	const char *word;
} kinds[] = {
	[RDMA_CONTEXTS] = { USE_CONTEXT, "context" },
	[RDMA_PDS] = { USE_CONTEXT, "PD" }, /* each belongs to a context */
	[RDMA_CM_IDS] = { USE_CM_ID, "cm_id" },
};

void users_add_holders(const struct fs *fs, const struct ibdev *ib, enum rdma_resource what,
		       const struct rdma_holder *holders, size_t n_holders, struct node *n)
{
	FOREACH(h, holders, n_holders) {
		char detail[128];

		if (h->kernel[0] ? is_of_device(n, ib, h->kernel) || is_of_each_device(fs, n, ib, h)
				 : h->pid == (uint32_t)getpid())
			continue;

		PRINT(detail, "%s: %" PRIu32 " %s%s%s%s%s", ib->name, h->n, kinds[what].word,
		      h->n == 1 ? "" : "s", h->kernel[0] ? " of " : "", h->kernel,
		      h->kernel[0] || h->pid > 0 ? "" : ", owner not known");
		make_printable(detail);
		add_user(fs, ib->pci, h->kernel[0] ? USE_KERNEL : kinds[what].use, h->pid, detail,
			 n);
	}
}

static void ask(struct os *d, const struct fs *fs, const struct ibdev *ib, enum rdma_resource what,
		struct node *n)
{
	_cleanup_(freep) struct rdma_holder *holders = NULL;
	size_t n_holders = 0;
	char detail[128];
	int r = rdma_list_holders(&d->rdma, ib->index, what, &holders, &n_holders);

	if (node_note(n, r))
		users_add_holders(fs, ib, what, holders, n_holders, n);
	if (r >= 0 || r == -ENODEV || r == -ENOENT) /* gone since */
		return;
	if (what == RDMA_CONTEXTS) /* they were counted, which is enough */
		return;
	PRINT(detail, "%s: its %ss cannot be listed: %s", ib->name, kinds[what].word, strerror(-r));
	add_user(fs, ib->pci, USE_UNKNOWN, 0, detail, n);
}

void users_add_found(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(graph_done) struct graph g = {};
	struct user found[IN_USE_MAX];
	bool is_known[IN_USE_MAX];

	if (!node_note(n, graph_make(n, &g)))
		return;
	n->has_users = true;
	FOREACH(pci, n->pcis, n->n_pcis) {
		/* A disk has no netdev either. */
		const size_t n_found =
			pci_is_network(pci) || pci_is_erdma(pci) || node_ibdev_of(n, pci->address)
				? in_use_find(&g, memory, pci, found)
				: 0;

		/* Two of one kind are both added. */
		for (size_t k = 0; k < n_found; k++)
			is_known[k] =
				ANY(u, n->users, n->n_users,
				    streq(u->target, found[k].target) && u->use == found[k].use);
		for (size_t k = 0; k < n_found; k++)
			if (!is_known[k])
				add_user(fs, found[k].target, found[k].use, 0, found[k].detail, n);
	}
}

static void forget(struct node *n)
{
	free(TAKE(n->users));
	free(TAKE(n->socks));
	n->n_users = n->n_socks = 0;
	n->has_users = n->has_socks = false;
}

static void list_holders(struct os *d, const struct fs *fs, struct node *n)
{
	FOREACH(ib, n->ibdevs, n->n_ibdevs) {
		if (!ib->pci[0] || ib->index == UINT32_MAX) /* its users count as not known */
			continue;
		for (enum rdma_resource what = RDMA_CONTEXTS; what <= RDMA_CM_IDS; what++)
			ask(d, fs, ib, what, n);
	}
}

void observe_socks(struct os *d, struct node *n)
{
	struct fs unrecorded = d->fs; /* a capture has sockets among its answers */
	int r;

	if (n->has_socks)
		return;
	unrecorded.on_read = NULL;
	r = sock_list(d->fs.is_live ? &d->socks : NULL, &unrecorded, &n->socks, &n->n_socks);
	if (!node_note(n, r) && r != -ENOMEM)
		log_debug_errno(r, "The sockets of the node cannot be listed");
	process_name_socks(&unrecorded, n->socks, n->n_socks);
	/* Trees of older versions have no sockets: there it counts as known that none is open. */
	n->has_socks = r >= 0 || !(d->fs.is_live || n->is_copy);
}

int observe_users(struct os *d, struct node *n, const struct memory *memory)
{
	struct fs unrecorded = d->fs;

	if (!d->fs.is_live)
		return 0;

	forget(n);
	unrecorded.on_read = NULL;
	list_holders(d, &unrecorded, n);
	users_add_modules(&unrecorded, n);
	observe_socks(d, n);
	users_add_found(&unrecorded, n, memory);
	SORT(n->users, n->n_users, user_compare);
	return node_result(n);
}
