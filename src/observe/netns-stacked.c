/* SPDX-License-Identifier: Apache-2.0 */
#include "netns-stacked.h"

#include "../model/in-use.h"
#include "users.h"

#include <fcntl.h>
#include <sys/stat.h>

/* "network namespace 4026532240, blue": its process stands beside it. */
static void put_namespace(const struct netns *ns, char *ret, size_t size)
{
	snprintf(ret, size, "network namespace %" PRIu64 "%s%.48s", ns->inode,
		 ns->name[0] ? ", " : "", ns->name);
}

/* Before 5.14 nothing names the function: its VF has the MAC that its PF gave it. */
static const struct pci *find_function(const struct node *n, const struct far_link *l)
{
	if (l->pci[0])
		return node_pci(n, l->pci);
	for (size_t i = 0; i < n->n_vf_infos && l->mac[0] && !l->kind[0]; i++)
		if (streq(n->vf_infos[i].mac, l->mac) && l->mac[strspn(l->mac, "0:")])
			return node_vf(n, n->vf_infos[i].pf, n->vf_infos[i].index);
	return NULL;
}

/* The function that it is stacked on, at whatever depth. */
static const char *find_below(const struct node *n, const struct far_link *l)
{
	const struct netdev *nd = in_use_lowest(n, l->near), *maybe = node_netdev(n, l->maybe_near);

	if (!nd && maybe && streq(maybe->mac, l->mac))
		nd = in_use_lowest(n, l->maybe_near);
	return nd ? nd->pci : NULL;
}

int netns_stacked_add(const struct fs *fs, const struct processes *p, const struct netns *ns,
		      const struct far_link *links, size_t n_links, struct node *n)
{
	char where[96], detail[128];

	put_namespace(ns, where, sizeof(where));
	for (size_t i = 0; i < n_links; i++) {
		const struct pci *pci = find_function(n, &links[i]);
		const char *below = find_below(n, &links[i]);

		snprintf(detail, sizeof(detail), "%s in %s", links[i].name, where);
		make_printable(detail);
		if (pci && !node_netdev_of(n, pci->address) &&
		    !users_add(fs, p, pci->address, USE_NETDEV_NETNS, ns->pid, detail, n))
			return -ENOMEM;
		if (below && !users_add(fs, p, below, USE_UPPER, ns->pid, detail, n))
			return -ENOMEM;
	}
	return 0;
}

/* --- the way to a namespace --- */

static bool is_namespace(int fd, uint64_t inode)
{
	struct stat st;

	return fstat(fd, &st) >= 0 && st.st_ino == inode;
}

/* Where it is mounted. Return: fd, -ESRCH: it is not there any more, or -errno. */
static int open_mount(const struct fs *fs, const struct netns *ns)
{
	static const char *const folders[] = { "run/netns/", "var/run/netns/" };
	int fd = -ENOENT;

	/* The name is for people: it may be cut, and odd characters are not as they were. */
	if (strlen(ns->name) + 1 == sizeof(ns->name) || strpbrk(ns->name, "?\\"))
		return -ENAMETOOLONG;
	for (size_t i = 0; i < ELEMENTSOF(folders) && fd == -ENOENT; i++) {
		const bool is_path = ns->name[0] == '/';

		fd = fs_open(fs, FS_PATH("%s%s", is_path ? "" : folders[i], ns->name + is_path),
			     O_RDONLY | O_NONBLOCK);
	}
	return fd == -ENOENT ? -ESRCH : fd;
}

/* By an open descriptor of the process that holds it, without being in it. */
static int open_descriptor(const struct fs *fs, const struct netns *ns)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[64], text[64];
	uint64_t inode;
	int r;

	r = fs_list(fs, FS_PATH("proc/%" PRIu32 "/fd", ns->pid), &names);
	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		snprintf(path, sizeof(path), "proc/%" PRIu32 "/fd/%.16s", ns->pid, names.names[i]);
		if (fs_read_link(fs, path, text, sizeof(text)) >= 0 &&
		    parse_inode(text, "net", &inode) && inode == ns->inode)
			return fs_open(fs, path, O_RDONLY | O_NONBLOCK);
	}
	return r == -ENOENT || r >= 0 ? -ESRCH : r;
}

static int list_by_descriptor(struct netlink *nl, int fd_or_error, uint64_t inode,
			      struct far_link **ret, size_t *ret_n)
{
	_cleanup_(closep) int fd = fd_or_error;

	if (fd < 0)
		return fd;
	return is_namespace(fd, inode) ? netns_list_links(nl, 0, fd, ret, ret_n) : -ESRCH;
}

/* Return: 0, -ESRCH: there is no such namespace any more, or why it cannot be asked. */
static int list_links(struct netlink *nl, const struct fs *fs, const struct processes *p,
		      const struct netns *ns, struct far_link **ret, size_t *ret_n)
{
	int r = -ESRCH;

	for (size_t i = 0; i < p->n && r == -ESRCH; i++)
		if (p->items[i].netns == ns->inode)
			r = netns_list_links(nl, p->items[i].pid, -1, ret, ret_n);
	if (r == -ESRCH && ns->name[0])
		r = list_by_descriptor(nl, open_mount(fs, ns), ns->inode, ret, ret_n);
	if (r == -ESRCH && ns->pid > 0)
		r = list_by_descriptor(nl, open_descriptor(fs, ns), ns->inode, ret, ret_n);
	return r;
}

/* --- all of them --- */

/* Namespaces that could not be asked: the first with its reason, and how many more. */
struct unknown {
	const struct netns *first;
	int reason;
	uint32_t n;
};

static int add_unknown(const struct fs *fs, const struct unknown *u, struct node *n)
{
	char where[96], detail[128], more[32] = "";

	if (u->n == 0)
		return 0;
	put_namespace(u->first, where, sizeof(where));
	if (u->n > 1)
		snprintf(more, sizeof(more), ", and %" PRIu32 " more", u->n - 1);
	snprintf(detail, sizeof(detail), "the links of %.60s: %.24s%s", where, strerror(-u->reason),
		 more);
	for (size_t i = 0; i < n->n_pcis; i++)
		if (node_netdev_of(n, n->pcis[i].address) &&
		    !users_add(fs, NULL, n->pcis[i].address, USE_UNKNOWN, 0, detail, n))
			return -ENOMEM;
	return 0;
}

int observe_uppers(struct os *d, const struct fs *fs, const struct processes *p, struct node *n)
{
	struct unknown unknown = {};

	for (size_t i = 0; i < n->n_netnses; i++) {
		_cleanup_(freep) struct far_link *links = NULL;
		size_t n_links = 0;
		int r;

		r = list_links(&d->route, fs, p, &n->netnses[i], &links, &n_links);
		if (r >= 0)
			r = netns_stacked_add(fs, p, &n->netnses[i], links, n_links, n);
		if (r == -ENOMEM)
			return r;
		if (r >= 0 || r == -ESRCH)
			continue;
		if (unknown.n++ == 0) {
			unknown.first = &n->netnses[i];
			unknown.reason = r;
		}
	}
	return add_unknown(fs, &unknown, n);
}
