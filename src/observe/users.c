/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

#include "../base/log.h"
#include "../model/in-use.h"
#include "../os/helper.h"
#include "module-observe.h"
#include "observe.h"
#include "pci.h"
#include "port.h"
#include "snapshot.h"

#include <linux/capability.h>

#define VERBS_FOLDER "sys/class/infiniband_verbs"
#define VFIO_FOLDER  "sys/class/vfio"
#define USERS_SOCKET "/run/rdma-provision-users.socket"
#define ASK_USEC     (60 * USEC_PER_SEC)

/* A device node that a process may have open, and the function that it means. */
struct watched {
	char path[48]; /* "infiniband/uverbs0", without the "/dev/" that a container may not have */
	char numbers[16]; /* of its file "dev": "231:192"; empty: not known */
	char pci[PCI_LEN];
	char name[IBDEV_LEN]; /* for people */
	enum use use;
};

struct users_look {
	const struct fs *fs;
	const struct processes *processes;
	struct node *n;
	struct watched *watched; /* owned */
	size_t n_watched;
	size_t n_closed; /* processes that may not be looked into */

	/* of the process that is being walked */
	size_t first_user; /* in node.users */
	bool has_kvm;
};

static void look_done(struct users_look *l)
{
	free(l->watched);
}

struct user *users_add(const struct fs *fs, const struct processes *p, const char *target,
		       enum use use, uint32_t pid, const char *detail, struct node *n)
{
	const struct process *process = p ? processes_find(p, pid) : NULL;
	struct user *u;

	for (size_t i = 0; i < n->n_users; i++) {
		u = &n->users[i];
		if (u->pid == pid && u->use == use && streq(u->target, target) &&
		    (pid > 0 || streq(u->detail, detail)))
			return u;
	}

	u = APPEND(n->users, n->n_users);
	if (!u)
		return NULL;
	COPY(u->target, target);
	u->use = use;
	u->pid = pid;
	COPY(u->detail, detail);
	if (process)
		COPY(u->command, process->command);
	if (pid > 0)
		process_container(fs, pid, u->container, sizeof(u->container));
	return u;
}

/* @class: the folder of sysfs that has a folder for the node */
static int watch(struct users_look *l, const char *class, const char *folder, const char *node,
		 const char *pci, const char *name, enum use use)
{
	struct watched *w = APPEND(l->watched, l->n_watched);

	if (!w)
		return -ENOMEM;
	if (fs_read(l->fs, FS_PATH("%s/%s/dev", class, node), w->numbers, sizeof(w->numbers)) < 0)
		w->numbers[0] = '\0';
	snprintf(w->path, sizeof(w->path), "%s/%.*s", folder, 30, node);
	COPY(w->pci, pci);
	COPY(w->name, name);
	w->use = use;
	return 0;
}

/*
 * The uverbs node of an ibdev is in this class also while the ibdev is in another network
 * namespace: the class knows none. uverbs_main.c in drivers/infiniband/core.
 */
static int watch_verbs(struct users_look *l)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char target[512], ibdev[IBDEV_LEN];
	int r;

	r = fs_list(l->fs, VERBS_FOLDER, &names);
	if (r < 0)
		return r == -ENOENT ? 0 : r;

	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		char pci[PCI_LEN] = "";

		if (!is_prefix(names.names[i], "uverbs"))
			continue;
		if (fs_read(l->fs, FS_PATH(VERBS_FOLDER "/%s/ibdev", names.names[i]), ibdev,
			    sizeof(ibdev)) < 0)
			COPY(ibdev, names.names[i]);
		if (fs_read_link(l->fs, FS_PATH(VERBS_FOLDER "/%s", names.names[i]), target,
				 sizeof(target)) >= 0)
			parse_pci_of_path(target, pci, sizeof(pci));
		/* A virtual one is where its netdev is. */
		for (size_t k = 0; k < l->n->n_ibdevs && !pci[0]; k++)
			if (streq(l->n->ibdevs[k].name, ibdev))
				COPY(pci, l->n->ibdevs[k].pci);
		if (pci[0])
			r = watch(l, VERBS_FOLDER, "infiniband", names.names[i], pci, ibdev,
				  USE_CONTEXT);
	}
	return r;
}

/* "/dev/vfio/12" of its group, also without an IOMMU, and "/dev/vfio/devices/vfio3" of itself. */
static int watch_vfio(struct users_look *l, const struct pci *pci)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[128], group[16], node[32];
	int r;

	r = fs_read_link_name(l->fs, FS_PATH("sys/bus/pci/devices/%s/iommu_group", pci->address),
			      group, sizeof(group));
	if (r >= 0) {
		r = watch(l, VFIO_FOLDER, "vfio", group, pci->address, "", USE_VFIO);
		snprintf(node, sizeof(node), "noiommu-%s", group);
		if (r >= 0)
			r = watch(l, VFIO_FOLDER, "vfio", node, pci->address, "", USE_VFIO);
	}
	if (r == -ENOMEM)
		return r;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vfio-dev", pci->address);
	r = fs_list(l->fs, path, &names);
	for (size_t i = 0; i < names.n_names && r >= 0; i++)
		r = watch(l, path, "vfio/devices", names.names[i], pci->address, "", USE_VFIO);
	return r == -ENOMEM ? r : 0;
}

/* Is "/somewhere/dev/infiniband/uverbs0", perhaps unlinked since, that node? */
static bool is_node(const char *text, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(text);
	const size_t n = strlen(path);

	if (length > strlen(deleted) && streq(text + length - strlen(deleted), deleted))
		length -= strlen(deleted);
	return length > n && text[length - n - 1] == '/' &&
	       strncmp(text + length - n, path, n) == 0;
}

static int on_path(struct users_look *l, const struct process *p, const char *link,
		   const char *text)
{
	if (is_node(text, "dev/kvm"))
		l->has_kvm = true;
	if (process_is_ours(l->processes, p->pid))
		return 0;

	for (size_t i = 0; i < l->n_watched; i++) {
		const struct watched *w = &l->watched[i];

		if (is_node(text, w->path) && !fs_is_other_device(l->fs, link, w->numbers) &&
		    !users_add(l->fs, l->processes, w->pci, w->use, p->pid,
			       w->name[0] ? w->name : w->path, l->n))
			return -ENOMEM;
	}
	return 0;
}

static int on_link(void *userdata, const struct process *p, const char *link, const char *text)
{
	return *text == '/' ? on_path(userdata, p, link, text) : 0;
}

static int walk(struct users_look *l, struct processes *p)
{
	int r = 0;

	for (size_t i = 0; i < p->n && r >= 0; i++) {
		l->first_user = l->n->n_users;
		l->has_kvm = false;
		r = process_walk(l->fs, &p->items[i], on_link, l);
		l->n_closed += p->items[i].is_closed;
		for (size_t k = l->first_user; k < l->n->n_users && l->has_kvm; k++)
			if (l->n->users[k].use == USE_VFIO)
				l->n->users[k].use = USE_KVM;
	}
	return r;
}

static int add_closed(struct users_look *l, const char *pci, const char *name)
{
	char detail[128];

	snprintf(detail, sizeof(detail), "%s, processes that may not be looked into: %zu", name,
		 l->n_closed);
	return users_add(l->fs, NULL, pci, USE_UNKNOWN, 0, detail, l->n) ? 0 : -ENOMEM;
}

/* What only a look into all processes would tell, when some are closed. */
static int add_unknown(struct users_look *l)
{
	int r = 0;

	if (l->n_closed == 0)
		return 0;
	for (size_t i = 0; i < l->n->n_ibdevs && r >= 0; i++) {
		const struct ibdev *ib = &l->n->ibdevs[i];

		if (ib->pci[0] && ib->n_contexts == UINT32_MAX)
			r = add_closed(l, ib->pci, ib->name);
	}
	for (size_t i = 0; i < l->n->n_pcis && r >= 0; i++)
		if (in_use_is_vfio(&l->n->pcis[i]))
			r = add_closed(l, l->n->pcis[i].address, l->n->pcis[i].driver);
	return r;
}

/* May a reload mean this module? */
static bool is_driver(const struct fs *fs, const struct node *n, const struct module *m)
{
	char name[MODULE_LEN];

	if (streq(m->name, "erdma"))
		return true;
	for (size_t i = 0; i < n->n_pcis; i++)
		if (n->pcis[i].driver[0] &&
		    observe_driver_module(fs, &n->pcis[i], name, sizeof(name)) >= 0 &&
		    streq(name, m->name))
			return true;
	return false;
}

static int add_of_modules(const struct fs *fs, struct node *n)
{
	for (size_t i = 0; i < n->n_modules; i++) {
		const struct module *m = &n->modules[i];
		enum use use = USE_MODULE;
		char detail[128];

		if (m->state != MODULE_LOADED || (m->refcnt == 0 && !m->holders[0]) ||
		    !is_driver(fs, n, m))
			continue;
		if (m->holders[0]) {
			snprintf(detail, sizeof(detail), "held by %.100s", m->holders);
		} else if (m->refcnt == UINT32_MAX) {
			use = USE_UNKNOWN;
			COPY(detail, "its references cannot be read");
		} else {
			snprintf(detail, sizeof(detail), "%" PRIu32 " references", m->refcnt);
		}
		if (!users_add(fs, NULL, m->name, use, 0, detail, n))
			return -ENOMEM;
	}
	return 0;
}

int users_look(const struct fs *fs, struct processes *p, struct node *n)
{
	_cleanup_(look_done) struct users_look l = { .fs = fs, .processes = p, .n = n };
	int r;

	r = watch_verbs(&l);
	for (size_t i = 0; i < n->n_pcis && r >= 0; i++)
		if (in_use_is_vfio(&n->pcis[i]))
			r = watch_vfio(&l, &n->pcis[i]);
	if (r < 0)
		return r;
	r = walk(&l, p);
	if (r < 0)
		return r;
	r = add_unknown(&l);
	return r < 0 ? r : add_of_modules(fs, n);
}

/* The RDMA driver that comes with a PCI driver of another name. */
static const struct {
	const char *driver, *rdma;
} providers[] = {
	{ "bnxt_en", "bnxt_re" },   { "cxgb4", "iw_cxgb4" },    { "hns3", "hns_roce_hw_v2" },
	{ "i40e", "irdma" },        { "ice", "irdma" },         { "mana", "mana_ib" },
	{ "mlx4_core", "mlx4_ib" }, { "mlx5_core", "mlx5_ib" }, { "qede", "qedr" },
};

/* Does this part of the kernel come and go with the device, so that it never is in the way? */
static bool is_of_device(const struct node *n, const struct ibdev *ib, const char *kernel)
{
	const struct pci *pci = node_pci(n, ib->pci);

	if (streq(kernel, "ib_core") || streq(kernel, "rdma_rxe") || streq(kernel, "siw"))
		return true;
	if (pci && streq(pci->driver, kernel))
		return true;
	for (size_t i = 0; i < ELEMENTSOF(providers) && pci; i++)
		if (streq(providers[i].driver, pci->driver) && streq(providers[i].rdma, kernel))
			return true;
	return false;
}

/* One QP of each IPoIB netdev; more of them than netdevs means that some are elsewhere. */
static bool is_own_ipoib(const struct node *n, const struct ibdev *ib, const struct rdma_holder *h)
{
	uint32_t n_netdevs = 0;

	for (size_t i = 0; i < n->n_netdevs; i++)
		n_netdevs += streq(n->netdevs[i].pci, ib->pci);
	return streq(h->kernel, "ib_ipoib") && h->n <= n_netdevs;
}

static const struct {
	enum use use;
	const char *word;
} kinds[] = {
	[RDMA_CONTEXTS] = { USE_CONTEXT, "contexts" },
	[RDMA_QPS] = { USE_QP, "QPs" },
	[RDMA_CM_IDS] = { USE_CM_ID, "cm_ids" },
};

int users_add_holders(const struct fs *fs, const struct processes *p, const struct ibdev *ib,
		      enum rdma_resource what, const struct rdma_holder *holders, size_t n_holders,
		      struct node *n)
{
	for (size_t i = 0; i < n_holders; i++) {
		const struct rdma_holder *h = &holders[i];
		char detail[128];

		if (h->kernel[0] ? is_of_device(n, ib, h->kernel) || is_own_ipoib(n, ib, h)
				 : h->pid > 0 && process_is_ours(p, h->pid))
			continue;

		snprintf(detail, sizeof(detail), "%s: %" PRIu32 " %s%s%s%s", ib->name, h->n,
			 kinds[what].word, h->kernel[0] ? " of " : "", h->kernel,
			 h->kernel[0] || h->pid > 0 ? "" : " of a process that cannot be seen");
		make_printable(detail);
		if (!users_add(fs, p, ib->pci, h->kernel[0] ? USE_KERNEL : kinds[what].use, h->pid,
			       detail, n))
			return -ENOMEM;
	}
	return 0;
}

bool users_need(const struct ibdev *ib, enum rdma_resource what)
{
	return what != RDMA_QPS || ib->n_contexts == 0 || ib->n_contexts == UINT32_MAX;
}

static int ask(struct os *d, const struct fs *fs, const struct processes *p, const struct ibdev *ib,
	       enum rdma_resource what, struct node *n)
{
	_cleanup_(freep) struct rdma_holder *holders = NULL;
	size_t n_holders = 0;
	char detail[128];
	int r;

	r = rdma_list_holders(&d->rdma, ib->index, what, &holders, &n_holders);
	if (r == -ENOMEM)
		return r;
	if (r == -ENODEV || r == -ENOENT) /* gone since */
		return 0;
	if (r < 0 && what == RDMA_CONTEXTS) /* they were counted, which is enough */
		return 0;
	if (r < 0) {
		snprintf(detail, sizeof(detail), "%s: its %s cannot be listed: %s", ib->name,
			 kinds[what].word, strerror(-r));
		return users_add(fs, NULL, ib->pci, USE_UNKNOWN, 0, detail, n) ? 0 : -ENOMEM;
	}
	return users_add_holders(fs, p, ib, what, holders, n_holders, n);
}

static bool has_user(const struct node *n, const struct user *other)
{
	const struct user *u;

	for (size_t i = 0; (u = node_user(n, other->target, &i));)
		if (u->use == other->use)
			return true;
	return false;
}

/* A disk has no netdev either, and in_use_find() is not asked about it. */
static bool is_network(const struct node *n, const struct pci *pci)
{
	return pci->class >> 16 == 0x02 || pci_is_erdma(pci) || node_ibdev_of(n, pci->address);
}

int users_add_found(const struct fs *fs, struct node *n, const struct memory *memory)
{
	_cleanup_(graph_done) struct graph g = {};
	struct user found[IN_USE_MAX];
	bool is_known[IN_USE_MAX];
	int r = graph_make(n, &g);

	if (r < 0)
		return r;
	n->has_users = true;
	for (size_t i = 0; i < n->n_pcis; i++) {
		const size_t n_found = is_network(n, &n->pcis[i])
					       ? in_use_find(&g, memory, &n->pcis[i], found)
					       : 0;

		/* Two of one kind are both added. */
		for (size_t k = 0; k < n_found; k++)
			is_known[k] = has_user(n, &found[k]);
		for (size_t k = 0; k < n_found; k++)
			if (!is_known[k] && !users_add(fs, NULL, found[k].target, found[k].use, 0,
						       found[k].detail, n))
				return -ENOMEM;
	}
	return 0;
}

static int compare_user(const void *a, const void *b)
{
	const struct user *x = a, *y = b;
	int r = strcmp(x->target, y->target);

	if (r == 0)
		r = (x->use > y->use) - (x->use < y->use);
	if (r == 0)
		r = (x->pid > y->pid) - (x->pid < y->pid);
	return r != 0 ? r : strcmp(x->detail, y->detail);
}

void users_sort(struct node *n)
{
	if (n->n_users > 0)
		qsort(n->users, n->n_users, sizeof(*n->users), compare_user);
}

static void forget(struct node *n)
{
	free(TAKE(n->users));
	free(TAKE(n->listening));
	n->n_users = n->n_listening = 0;
	n->has_users = false;
}

int users_find(struct os *d, uint32_t asker, struct node *n)
{
	_cleanup_(processes_done) struct processes p = {};
	struct fs fs = d->fs;
	int r;

	forget(n);
	fs.on_read = NULL; /* what was found is recorded, not the files of every process */
	r = processes_list(&fs, &p);
	if (r < 0)
		return r;
	if (asker > 0)
		p.self = asker;
	r = users_look(&fs, &p, n);
	for (size_t i = 0; i < n->n_ibdevs && r >= 0; i++) {
		const struct ibdev *ib = &n->ibdevs[i];

		if (!ib->pci[0] || ib->index == UINT32_MAX) /* its users count as not known */
			continue;
		for (enum rdma_resource what = RDMA_CONTEXTS; what <= RDMA_CM_IDS && r >= 0; what++)
			if (users_need(ib, what))
				r = ask(d, &fs, &p, ib, what, n);
	}
	return r;
}

/* What the helper found, in place of what this process may not see. */
static int take_answer(const char *answer, struct node *n)
{
	_cleanup_(node_done) struct node found = {};
	char problem[256];
	int r;

	r = snapshot_read(answer, &found, problem, sizeof(problem));
	if (r < 0)
		return r;
	if (!found.has_users)
		return -EBADMSG;
	forget(n);
	n->users = TAKE(found.users);
	n->n_users = found.n_users;
	return 0;
}

/* Return: 0; -EHOSTDOWN: this process may look by itself, or nobody else can. */
static int ask_helper(struct node *n)
{
	_cleanup_(freep) char *answer = NULL;
	int r;

	if (!helper_is_needed(CAP_SYS_PTRACE))
		return -EHOSTDOWN;
	r = helper_ask(USERS_SOCKET, "look", ASK_USEC, &answer);
	if (r >= 0)
		r = take_answer(answer, n);
	if (r < 0 && r != -EHOSTDOWN && r != -ENOMEM)
		log_warning_errno(r, "rdma-provision-users.service does not tell who uses devices, "
				     "so those that cannot be seen count as used");
	return r < 0 && r != -ENOMEM ? -EHOSTDOWN : r;
}

int observe_users(struct os *d, struct node *n, const struct memory *memory)
{
	int r;

	if (!d->fs.is_live)
		return 0;

	r = ask_helper(n);
	if (r >= 0)
		r = add_of_modules(&d->fs, n);
	else if (r == -EHOSTDOWN)
		r = users_find(d, 0, n);
	if (r >= 0)
		r = users_add_found(&d->fs, n, memory);
	if (r >= 0)
		r = observe_ports(&d->fs, n);
	if (r < 0) {
		forget(n);
		return r;
	}
	users_sort(n);
	return 0;
}
