/* SPDX-License-Identifier: Apache-2.0 */
#include "namespace.h"

#define MAX_MOUNTS_BYTES (16u << 20) /* a node with thousands of containers */
#define NETNS_FOLDER     "/run/netns/"

static int compare_netns(const void *a, const void *b)
{
	const struct netns *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static struct netns *find(struct node *n, uint64_t inode)
{
	const struct netns key = { .inode = inode };

	return n->n_netnses > 0
		       ? bsearch(&key, n->netnses, n->n_netnses, sizeof(key), compare_netns)
		       : NULL;
}

static struct netns *add(struct node *n, uint64_t inode)
{
	struct netns *slot = find(n, inode);

	if (slot)
		return slot;
	slot = APPEND(n->netnses, n->n_netnses);
	if (!slot)
		return NULL;
	slot->inode = inode;
	qsort(n->netnses, n->n_netnses, sizeof(*n->netnses), compare_netns);
	return find(n, inode);
}

static bool is_older(const struct process *a, const struct process *b)
{
	return !b || a->start < b->start || (a->start == b->start && a->pid < b->pid);
}

static void put_holder(const struct fs *fs, const struct process *p, struct netns *ns)
{
	ns->pid = p->pid;
	COPY(ns->command, p->command);
	process_container(fs, p->pid, ns->unit, sizeof(ns->unit));
}

static int add_of_processes(const struct fs *fs, const struct processes *p, struct node *n)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct process *it = &p->items[i];
		struct netns *ns;

		if (it->netns == 0 || it->netns == p->netns)
			continue;
		ns = add(n, it->netns);
		if (!ns)
			return -ENOMEM;
		if (is_older(it, processes_find(p, ns->pid)))
			ns->pid = it->pid;
	}

	for (size_t i = 0; i < n->n_netnses; i++)
		put_holder(fs, processes_find(p, n->netnses[i].pid), &n->netnses[i]);
	return 0;
}

/* The next blank-separated field of a line, cut off; "" at the end. */
static char *cut_field(char **line)
{
	char *field = *line;

	field += strspn(field, " ");
	*line = field + strcspn(field, " ");
	if (**line)
		*(*line)++ = '\0';
	return field;
}

/* "36 35 0:4 net:[4026532240] /run/netns/a rw shared:5 - nsfs nsfs rw": proc(5). */
static int add_mount(char *line, const struct processes *p, struct node *n)
{
	const char *root, *path, *name;
	struct netns *ns;
	uint64_t inode;

	for (int i = 0; i < 3; i++)
		cut_field(&line);
	root = cut_field(&line);
	path = cut_field(&line);
	if (!parse_inode(root, "net", &inode) || inode == p->netns)
		return 0;

	ns = add(n, inode);
	if (!ns)
		return -ENOMEM;
	name = after(path, NETNS_FOLDER);
	if (!name)
		name = after(path, "/var" NETNS_FOLDER);
	/* One of /run/netns says more than wherever else it is mounted. */
	if (name || !ns->name[0])
		COPY(ns->name, name ? name : path);
	make_printable(ns->name);
	return 0;
}

static int add_of_mounts(const struct fs *fs, const struct processes *p, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	char *line, *rest;
	size_t size;
	int r;

	r = fs_read_all(fs, "proc/self/mountinfo", MAX_MOUNTS_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	rest = text;
	r = 0;
	while (r >= 0 && (line = strsep(&rest, "\n")))
		r = add_mount(line, p, n);
	return r;
}

int observe_namespaces(const struct fs *fs, const struct processes *p, struct node *n)
{
	int r;

	r = add_of_processes(fs, p, n);
	return r < 0 ? r : add_of_mounts(fs, p, n);
}

int namespace_add_open(const struct fs *fs, const struct processes *all, const struct process *p,
		       uint64_t inode, struct node *n)
{
	struct netns *ns;

	if (inode == all->netns)
		return 0;
	ns = add(n, inode);
	if (!ns)
		return -ENOMEM;
	if (ns->pid == 0)
		put_holder(fs, p, ns);
	return 0;
}
