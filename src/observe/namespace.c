/* SPDX-License-Identifier: Apache-2.0 */
#include "namespace.h"

#include "../os/netns.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define NETNS_FOLDER "run/netns"

struct look {
	struct netlink *nl;
	struct fs fs;
	uint64_t inode; /* of our own namespace */
	int32_t id;     /* the same */
	int result;     /* -errno: no namespace can be asked */
	struct node *n;
};

/* A file of its folder that is none is left over, or is about to become one. */
static bool is_namespace(int fd, uint64_t *ret_inode)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != NSFS_MAGIC || fstat(fd, &st) < 0)
		return false;
	*ret_inode = st.st_ino;
	return true;
}

static struct netns *add(struct node *n, uint64_t inode, const char *folder, const char *file)
{
	struct netns *ns = APPEND(n->netnses, n->n_netnses);

	if (!ns)
		return NULL;
	ns->inode = inode;
	ns->is_closed = true;
	if (streq(folder, NETNS_FOLDER))
		COPY(ns->name, file);
	else
		snprintf(ns->name, sizeof(ns->name), "/%s/%.40s", folder, file);
	make_printable(ns->name);
	return ns;
}

/* Before 5.13 an ipvlan does not name the namespace of the netdev that it is on, whose MAC it has.
 */
static void find_link(const struct node *n, struct netdev *nd)
{
	const struct netdev *below = node_netdev(n, nd->link);

	if (is_prefix(nd->kind, "ipv") && !nd->is_link_here && below && streq(below->mac, nd->mac))
		nd->is_link_here = true;
}

/* The last namespace. */
static int add_links(const struct look *l, int fd)
{
	struct node *n = l->n;
	_cleanup_(freep) struct netdev *links = NULL;
	struct netns *ns = &n->netnses[n->n_netnses - 1];
	size_t n_links = 0;
	int r = l->result;

	if (r >= 0)
		r = netns_list_links(l->nl, l->id, fd, &links, &n_links);
	ns->is_closed = r < 0;
	for (size_t i = 0; i < n_links && r != -ENOMEM; i++) {
		struct netdev *slot = APPEND(n->aways, n->n_aways);

		if (!slot)
			return -ENOMEM;
		*slot = links[i];
		slot->netns = (uint32_t)n->n_netnses;
		find_link(n, slot);
	}
	return r == -ENOMEM ? r : 0;
}

static bool is_known(const struct node *n, uint64_t inode)
{
	return ANY(ns, n->netnses, n->n_netnses, ns->inode == inode);
}

static int add_file(const struct look *l, const char *folder, const char *file)
{
	_cleanup_(closep) int fd =
		fs_open(&l->fs, FS_PATH("%s/%s", folder, file), O_RDONLY | O_NONBLOCK);
	uint64_t inode = 0;

	if (fd == -ENOENT || fd == -ENOMEM)
		return fd == -ENOMEM ? fd : 0;
	if (fd >= 0 && (!is_namespace(fd, &inode) || inode == l->inode || is_known(l->n, inode)))
		return 0;
	if (!add(l->n, inode, folder, file))
		return -ENOMEM;
	return fd < 0 ? 0 : add_links(l, fd);
}

static int add_folder(const struct look *l, const char *folder)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(&l->fs, folder, &names);

	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	if (r < 0)
		return add(l->n, 0, folder, "") ? 0 : -ENOMEM;
	for (size_t i = 0; i < names.n_names && r >= 0; i++)
		r = add_file(l, folder, names.names[i]);
	return r;
}

int observe_namespaces(struct os *d, struct node *n)
{
	static const char *const folders[] = { NETNS_FOLDER, "run/docker/netns" };
	struct look l = { .nl = &d->route, .fs = d->fs, .n = n };
	_cleanup_(closep) int self = -EBADF;
	int r = 0;

	l.fs.on_read = NULL;
	self = fs_open(&l.fs, "proc/self/ns/net", O_RDONLY);
	if (self >= 0)
		is_namespace(self, &l.inode);
	l.result = netns_get_id(l.nl, -EBADF, &l.id);
	for (size_t i = 0; i < ELEMENTSOF(folders) && r >= 0; i++)
		r = add_folder(&l, folders[i]);
	return r;
}
