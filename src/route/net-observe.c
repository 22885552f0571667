/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Net: links, addresses and routes of the caller's network namespace, each link with its PCI
 * function.
 *
 * A captured tree answers from its recorded answers (snapshot.h); a tree without them, such as a
 * mounted image or a plain copy of /sys, gives what sysfs tells of links, and of /proc/net the IPv4
 * routes of the main table and the addresses. That is a part, and node.lacks_net says so: rules,
 * other tables and routes of IPv6 may be anything.
 */
#include "../step/observers.h"

#include "../device/pci-observe.h"
#include "../model/ip.h"
#include "../model/plan.h"
#include "../model/use-facts.h"
#include "../os/ethtool.h"
#include "../os/link.h"
#include "../os/route.h"
#include "../os/wireguard.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define MAX_PROC_BYTES (1u << 20)
#define IF_INET6_LINK  0x20 /* IPV6_ADDR_LINKLOCAL in include/net/ipv6.h */

/*
 * The netdev below is lower_NAME in the folder of the one above: netdev_adjacent_sysfs_add() in
 * net/core/dev.c. Without that, iflink may be of another namespace.
 */
static void observe_sysfs_lower(const struct fs *fs, struct netdev *nd)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	uint32_t iflink = 0, lower = 0;

	if (fs_read_u32(fs, FS_PATH("sys/class/net/%s/iflink", nd->name), &iflink) < 0 ||
	    iflink == nd->ifindex || fs_list(fs, FS_PATH("sys/class/net/%s", nd->name), &names) < 0)
		return;
	FOREACH(name, names.names, names.n_names)
		if (is_prefix(*name, "lower_") &&
		    fs_read_u32(fs, FS_PATH("sys/class/net/%s/%s/ifindex", nd->name, *name),
				&lower) >= 0 &&
		    lower == iflink)
			nd->link = lower;
}

/* Kinds by the folders that only these have; the mode as in "802.3ad 4". */
static void observe_sysfs_kind(const struct fs *fs, struct netdev *nd)
{
	char mode[32];

	if (fs_exists(fs, FS_PATH("sys/class/net/%s/bridge", nd->name)) > 0)
		COPY(nd->kind, "bridge");
	if (fs_read(fs, FS_PATH("sys/class/net/%s/bonding/mode", nd->name), mode, sizeof(mode)) < 0)
		return;
	COPY(nd->kind, "bond");
	if (strchr(mode, ' '))
		nd->bond_mode = (int)strtol(strchr(mode, ' '), NULL, 10);
}

/* A number for a netdev of which a copy lacks the ifindex: the same for the same name. */
static uint32_t stand_in_ifindex(const char *name)
{
	return INT32_MAX - (uint32_t)(hash_text(name) % (1u << 30));
}

/* Adds a netdev with the facts that sysfs alone has. */
static int observe_sysfs_link(const struct fs *fs, const char *name, struct node *n)
{
	struct netdev nd = { .bond_mode = BOND_MODE_UNKNOWN };
	uint32_t flags = 0, carrier = 0;
	char state[16], master[IFNAME_LEN];
	int r;

	if (!COPY(nd.name, name) || streq(name, "bonding_masters"))
		return 0; /* no netdev has such a name, or it is the file of the module bonding */

	r = fs_read_u32(fs, FS_PATH("sys/class/net/%s/ifindex", name), &nd.ifindex);
	if (r == -ENOENT)
		nd.ifindex = stand_in_ifindex(name);
	else if (r < 0)
		return r;

	fs_read_u32(fs, FS_PATH("sys/class/net/%s/mtu", name), &nd.mtu);
	fs_read(fs, FS_PATH("sys/class/net/%s/address", name), nd.mac, sizeof(nd.mac));
	/* -EOPNOTSUPP of most drivers. */
	fs_read(fs, FS_PATH("sys/class/net/%s/phys_port_name", name), nd.port_name,
		sizeof(nd.port_name));
	/* A state that cannot be read is not "down". */
	fs_read(fs, FS_PATH("sys/class/net/%s/operstate", name), state, sizeof(state));
	nd.is_up = fs_read_u32(fs, FS_PATH("sys/class/net/%s/flags", name), &flags) >= 0
			   ? flags & IFF_UP
			   : !streq(state, "down");
	nd.has_carrier =
		fs_read_u32(fs, FS_PATH("sys/class/net/%s/carrier", name), &carrier) >= 0
			? carrier > 0
			: nd.is_up && (!state[0] || streq(state, "up") || streq(state, "unknown"));
	if (fs_read_u32(fs, FS_PATH("sys/class/net/%s/master/ifindex", name), &nd.master) < 0 &&
	    fs_read_link_name(fs, FS_PATH("sys/class/net/%s/master", name), master,
			      sizeof(master)) >= 0)
		nd.master = stand_in_ifindex(master);
	observe_sysfs_kind(fs, &nd);
	observe_sysfs_lower(fs, &nd);

	return ADD(n->netdevs, n->n_netdevs, nd);
}

static int observe_sysfs_links(const struct fs *fs, struct node *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, "sys/class/net", &names);

	if (r < 0)
		return r == -ENOENT ? 0 : r;

	for (size_t i = 0; i < names.n_names && r >= 0; i++)
		r = observe_sysfs_link(fs, names.names[i], n);
	if (r < 0)
		return r;

	SORT(n->netdevs, n->n_netdevs, compare_u32);
	return 0;
}

/* "Iface Destination Gateway Flags RefCnt Use Metric Mask ...", numbers in network order. */
static void add_route(struct node *n, const char *line, _unused_ const char *rest)
{
	struct route t = { .family = AF_INET, .table = RT_TABLE_MAIN, .type = RTN_UNICAST };
	uint32_t dst, gateway, mask;
	char name[IFNAME_LEN];
	const struct netdev *nd;

	if (sscanf(line, "%15s %" SCNx32 " %" SCNx32 " %*x %*u %*u %" SCNu32 " %" SCNx32, name,
		   &dst, &gateway, &t.metric, &mask) != 5)
		return;
	nd = node_netdev_named(n, name);
	t.ifindex = nd ? nd->ifindex : 0;
	t.prefix_len = (uint32_t)__builtin_popcount(mask);
	t.protocol = gateway ? RTPROT_BOOT : RTPROT_KERNEL;
	memcpy(t.dst, &dst, sizeof(dst));
	memcpy(t.gateway, &gateway, sizeof(gateway));
	if (nd)
		NODE_ADD(n, routes, t);
}

/* "fd000000000000000000000000000001 02 40 00 80 eth0": if6_seq_show() in net/ipv6/addrconf.c */
static void add_inet6_address(struct node *n, const char *line, _unused_ const char *rest)
{
	struct address a = { .family = AF_INET6 };
	char g[8][5], text[INET6_ADDRSTRLEN], name[IFNAME_LEN];
	const struct netdev *nd;
	uint32_t scope;

	if (sscanf(line, "%4s%4s%4s%4s%4s%4s%4s%4s %*x %" SCNx32 " %" SCNx32 " %" SCNx32 " %15s",
		   g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], &a.prefix_len, &scope, &a.flags,
		   name) != 12)
		return;
	PRINT(text, "%s:%s:%s:%s:%s:%s:%s:%s", g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7]);
	nd = node_netdev_named(n, name);
	if (!nd || a.prefix_len > ip_bits(AF_INET6) || inet_pton(AF_INET6, text, a.local) != 1)
		return;
	a.ifindex = nd->ifindex;
	a.scope = scope & IF_INET6_LINK ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	memcpy(a.peer, a.local, sizeof(a.peer));
	NODE_ADD(n, addresses, a);
}

/*
 * "|-- 10.0.0.5", and below it "/32 host LOCAL", in each table: fib_trie_seq_show() in
 * net/ipv4/fib_trie.c. The address is of the netdev with the route to its own prefix.
 */
static void add_inet_address(struct node *n, const char *line, const char *rest)
{
	struct address a = { .family = AF_INET };
	const struct route *best = NULL;
	char text[INET_ADDRSTRLEN], kind[8];

	if (sscanf(line, " |-- %15s", text) != 1 || sscanf(rest, " /32 host %7s", kind) != 1 ||
	    !streq(kind, "LOCAL") || inet_pton(AF_INET, text, a.local) != 1 ||
	    ANY(b, n->addresses, n->n_addresses,
		b->family == AF_INET && memcmp(b->local, a.local, 4) == 0))
		return;
	FOREACH(t, n->routes, n->n_routes)
		if (t->protocol == RTPROT_KERNEL && t->prefix_len > (best ? best->prefix_len : 0) &&
		    ip_is_in_prefix(a.local, t->dst, t->prefix_len))
			best = t;
	if (!best)
		return;
	a.ifindex = best->ifindex;
	a.prefix_len = best->prefix_len;
	memcpy(a.peer, a.local, sizeof(a.peer));
	NODE_ADD(n, addresses, a);
}

/* "0000002A 00:00:5e:00:53:01   eth0.7": pppoe_seq_show() in drivers/net/ppp/pppoe.c */
static void add_pppoe(struct node *n, const char *line, _unused_ const char *rest)
{
	char name[IFNAME_LEN];

	if (sscanf(line, "%*x %*s %15s", name) != 1)
		return;
	FOREACH(nd, n->netdevs, n->n_netdevs)
		nd->has_pppoe |= streq(nd->name, name);
}

/* Gives each line of the file to @add, with the text that follows it. */
static void observe_copied(const struct fs *fs, const char *path,
			   void (*add)(struct node *n, const char *line, const char *rest),
			   struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;

	node_note(n, fs_read_all(fs, path, MAX_PROC_BYTES, false, &text, NULL));
	for (rest = text; (line = strsep(&rest, "\n"));)
		add(n, line, rest ? rest : "");
}

static void observe_copied_net(const struct fs *fs, struct node *n)
{
	observe_copied(fs, "proc/net/route", add_route, n);
	observe_copied(fs, "proc/net/if_inet6", add_inet6_address, n);
	observe_copied(fs, "proc/net/fib_trie", add_inet_address, n);
	node_sort_addresses(n->addresses, n->n_addresses);
	n->lacks_net |= n->n_addresses + n->n_routes > 0;
}

static int observe_links(struct os *d, struct node *n)
{
	int r = link_list(&d->route, &n->netdevs, &n->n_netdevs, &n->tunnel_ends,
			  &n->n_tunnel_ends);

	for (size_t i = 0; i < n->n_netdevs && r >= 0; i++)
		if (streq(n->netdevs[i].kind, WIREGUARD_KIND))
			r = wireguard_list(&d->generic, n->netdevs[i].ifindex, &n->tunnel_ends,
					   &n->n_tunnel_ends);
	return r;
}

static int observe_live(struct os *d, struct node *n)
{
	int r = observe_links(d, n);

	if (r >= 0)
		r = link_list_addresses(&d->route, &n->addresses, &n->n_addresses);
	if (r >= 0)
		r = route_list(&d->route, &n->routes, &n->n_routes);
	if (r >= 0)
		r = rule_list(&d->route, &n->rules, &n->n_rules);
	if (r < 0)
		return r;
	r = neighbour_list(&d->route, &n->neighbours, &n->n_neighbours);
	observe_namespaces(d, n);
	n->now_usec = now_usec();
	return r;
}

/* The values of "all" count together with those of a netdev for IPv4 only. */
static void observe_all(const struct fs *fs, struct node *n)
{
	static const enum netconf_key keys[] = { NETCONF_ARP_IGNORE, NETCONF_ARP_ANNOUNCE,
						 NETCONF_RP_FILTER };

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		uint32_t value;

		if (fs_read_u32(fs,
				FS_PATH("proc/sys/net/ipv4/conf/all/%s",
					netconf_name(keys[i]) + strlen("ipv4/")),
				&value) < 0)
			continue;
		n->all.values[keys[i]] = (int32_t)value;
		n->all.known |= 1u << keys[i];
	}
}

int observe_net(struct os *d, struct node *n)
{
	int r = 0;

	if (d->fs.is_live)
		r = observe_live(d, n);
	else if (n->n_netdevs == 0)
		r = observe_sysfs_links(&d->fs, n);
	if (r >= 0 && !d->fs.is_live && n->n_addresses + n->n_routes == 0)
		observe_copied_net(&d->fs, n);

	for (size_t i = 0; i < n->n_netdevs && r >= 0; i++) {
		r = observe_netdev_pci(&d->fs, &n->netdevs[i]);
		observe_netdev_name(&d->fs, &n->netdevs[i]);
	}
	if (r >= 0 && d->fs.is_live)
		r = ethtool_read(&d->generic, n, n->netdevs, n->n_netdevs);
	observe_copied(&d->fs, "proc/self/net/pppoe", add_pppoe, n);
	observe_all(&d->fs, n);
	node_make_indexes(n);
	return r;
}

int observe_lookups(struct os *d, const struct questions *q, struct node *n)
{
	int n_asked = 0;

	for (size_t i = 0; i < q->n_lookups && questions_ask(q, QUESTION_LOOKUPS); i++) {
		struct lookup l = q->lookups[i];

		if (node_note(n, route_lookup(&d->route, &l, false)))
			NODE_ADD(n, lookups, l);
		n_asked++;
	}
	return n_asked;
}

#define NETNS_FOLDER "run/netns"

struct look {
	struct netlink *nl;
	struct fs fs;
	uint64_t inode; /* of our own namespace */
	int32_t id;     /* of our own namespace */
	int result;     /* -errno: no namespace can be asked */
	struct node *n;
};

/* Is the file a network namespace? Another file in its folder is left over, or is to become one. */
static bool is_namespace(int fd, uint64_t *ret_inode)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != NSFS_MAGIC || fstat(fd, &st) < 0)
		return false;
	*ret_inode = st.st_ino;
	return true;
}

/* False: there is no memory. */
static bool add(struct node *n, uint64_t inode, const char *folder, const char *file)
{
	struct netns ns = { .inode = inode, .is_closed = true };

	if (streq(folder, NETNS_FOLDER))
		COPY(ns.name, file);
	else
		PRINT(ns.name, "/%s/%.40s", folder, file);
	make_printable(ns.name);
	return NODE_ADD(n, netnses, ns);
}

/* Before Linux 5.13 an ipvlan does not name the namespace of its lower netdev, whose MAC it has. */
static void find_link(const struct node *n, struct netdev *nd)
{
	const struct netdev *below = node_netdev(n, nd->link);

	if (is_prefix(nd->kind, "ipv") && !nd->is_link_here && below && streq(below->mac, nd->mac))
		nd->is_link_here = true;
}

/* Adds the links of the last namespace in node.netnses. */
static void add_links(const struct look *l, int fd)
{
	struct node *n = l->n;
	_cleanup_(freep) struct netdev *links = NULL;
	struct netns *ns = &n->netnses[n->n_netnses - 1];
	size_t n_links = 0;
	int r = l->result;

	if (r >= 0)
		r = link_list_of(l->nl, fd, l->id, &links, &n_links);
	ns->is_closed = !node_note(n, r);
	for (size_t i = 0; i < n_links; i++) {
		links[i].netns = (uint32_t)n->n_netnses;
		find_link(n, &links[i]);
		NODE_ADD(n, aways, links[i]);
	}
}

static bool is_known(const struct node *n, uint64_t inode)
{
	return ANY(ns, n->netnses, n->n_netnses, ns->inode == inode);
}

static void add_file(const struct look *l, const char *folder, const char *file)
{
	_cleanup_(closep) int fd =
		fs_open(&l->fs, FS_PATH("%s/%s", folder, file), O_RDONLY | O_NONBLOCK);
	uint64_t inode = 0;

	if ((!node_note(l->n, fd) && fd == -ENOENT) ||
	    (fd >= 0 && (!is_namespace(fd, &inode) || inode == l->inode || is_known(l->n, inode))))
		return;
	if (add(l->n, inode, folder, file) && fd >= 0)
		add_links(l, fd);
}

static void add_folder(const struct look *l, const char *folder)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	const int r = fs_list(&l->fs, folder, &names);

	if (!node_note(l->n, r) && r != -ENOENT)
		add(l->n, 0, folder, "");
	for (size_t i = 0; i < names.n_names; i++)
		add_file(l, folder, names.names[i]);
}

void observe_namespaces(struct os *d, struct node *n)
{
	static const char *const folders[] = { NETNS_FOLDER, "run/docker/netns" };
	struct look l = { .nl = &d->route, .fs = d->fs, .n = n };
	_cleanup_(closep) int self = -EBADF;

	l.fs.on_read = NULL;
	self = fs_open(&l.fs, "proc/self/ns/net", O_RDONLY);
	if (self >= 0)
		is_namespace(self, &l.inode);
	l.result = link_get_netns_id(l.nl, -EBADF, &l.id);
	for (size_t i = 0; i < ELEMENTSOF(folders); i++)
		add_folder(&l, folders[i]);
}
