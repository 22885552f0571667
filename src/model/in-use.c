/* SPDX-License-Identifier: Apache-2.0 */
#include "in-use.h"

#include "ip.h"
#include "rtproto.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdarg.h>

#define MAX_STACKED 8 /* the kernel's MAX_NEST_DEV */

struct finder {
	const struct node *n;
	const struct memory *memory;
	const struct pci *f;
	const struct netdev *nd; /* NULL: none here */
	const struct ibdev *ib;  /* NULL: none here */
	struct user *users;
	size_t n_users;
};

__attribute__((format(printf, 3, 4))) static void add(struct finder *s, enum use use,
						      const char *format, ...)
{
	struct user *u = &s->users[s->n_users];
	va_list arguments;

	if (s->n_users == IN_USE_MAX)
		return;
	*u = (struct user){ .use = use };
	COPY(u->target, s->f->address);
	va_start(arguments, format);
	vsnprintf(u->detail, sizeof(u->detail), format, arguments);
	va_end(arguments);
	s->n_users++;
}

static bool is_infiniband(const struct pci *pci)
{
	return pci->class >> 8 == 0x0207;
}

bool in_use_is_vfio(const struct pci *pci)
{
	return strstr(pci->driver, "vfio"); /* vfio-pci, mlx5_vfio_pci, ... */
}

static enum use use_of_foreign(const struct pci *pci, char *ret, size_t size)
{
	ret[0] = '\0';
	if (in_use_is_vfio(pci)) {
		snprintf(ret, size, "it is bound to %s", pci->driver);
		return USE_VFIO;
	}
	if (pci->vdpa[0]) {
		snprintf(ret, size, "it is the vDPA device %s", pci->vdpa);
		return USE_VDPA;
	}
	if (pci->has_other_driver)
		snprintf(ret, size, "it is bound to %s and not to %s", pci->driver, pci->module);
	else if (pci->driver_override[0])
		snprintf(ret, size, "its driver_override is %s", pci->driver_override);
	return USE_DRIVER;
}

bool in_use_is_foreign(const struct pci *vf, char *ret, size_t size)
{
	use_of_foreign(vf, ret, size);
	return ret[0] && vf->physfn[0];
}

/* Can an ibdev be in another namespace? Not known counts as yes. */
static bool can_ibdevs_leave(const struct node *n)
{
	return n->netns_mode != NETNS_MODE_SHARED;
}

/* Its netdev, if it is seen here. */
static const struct netdev *netdev_of(const struct node *n, const struct pci *pci,
				      const struct ibdev *ib)
{
	const struct netdev *nd = node_netdev_of(n, pci->address);

	/* eRDMA: the netdev is of another function, and its ibdev alone knows which. */
	return !nd && ib && pci_is_erdma(pci) ? node_netdev_named(n, ib->netdev) : nd;
}

/* Has a bound function no netdev here, though it must have one somewhere? */
static bool is_netdev_away(const struct finder *s)
{
	if (!s->f->driver[0] || s->nd || s->f->is_without_netdev)
		return false;
	if (pci_is_erdma(
		    s->f)) /* without an ibdev there is nothing to use, if no ibdev can be away */
		return s->ib || can_ibdevs_leave(s->n);
	return !(is_infiniband(s->f) && s->ib); /* ib_ipoib makes it, if loaded */
}

static void add_away(struct finder *s)
{
	const struct device_memory *m = memory_device(s->memory, s->f->address);

	if (is_netdev_away(s))
		add(s, USE_NETDEV_NETNS, "its netdev %s%sin another network namespace",
		    m ? m->netdev : "", m && m->netdev[0] ? " " : "");
	else if (m && m->was_usable && !m->was_virtual && can_ibdevs_leave(s->n) &&
		 s->f->driver[0] && !s->ib)
		add(s, USE_IBDEV_NETNS, "its ibdev %s in another network namespace", m->ibdev);
}

static void add_master(struct finder *s)
{
	const struct netdev *master = node_netdev(s->n, s->nd->master);

	if (s->nd->master)
		add(s, USE_MASTER, "%s belongs to %s, a bridge, bond or team", s->nd->name,
		    master ? master->name : "one that is not seen");
}

static void add_contexts(struct finder *s)
{
	if (s->ib->n_contexts == UINT32_MAX)
		add(s, USE_UNKNOWN, "the open contexts of %s cannot be counted", s->ib->name);
	else if (s->ib->n_contexts > 0)
		add(s, USE_CONTEXT, "%s has %" PRIu32 " open contexts", s->ib->name,
		    s->ib->n_contexts);
}

/* --- addresses and routes of the host --- */

/* Has this service changed how the netdev takes router advertisements? */
static bool is_asked_for_ra(const struct memory *memory, uint32_t ifindex)
{
	for (size_t i = 0; i < memory->n_ledger; i++)
		if (memory->ledger[i].ifindex == ifindex &&
		    streq(memory->ledger[i].verb, "set-sysctl") &&
		    is_prefix(memory->ledger[i].subject, "ipv6/"))
			return true;
	return false;
}

static bool is_host_address(const struct memory *memory, const struct address *a, bool is_ra_ours,
			    const char *text)
{
	if (a->scope >= RT_SCOPE_LINK)
		return false;
	/* Autoconfigured ones have a lifetime: addrconf_prefix_rcv() in net/ipv6/addrconf.c */
	if (is_ra_ours && a->family == AF_INET6 && !(a->flags & IFA_F_PERMANENT))
		return false;
	return !memory_entry(memory, "add-address", "", a->ifindex, text);
}

static bool is_host_route(const struct route *t, bool is_ra_ours)
{
	return t->table == RT_TABLE_MAIN && t->protocol != RTPROT_KERNEL &&
	       t->protocol != OWN_PROTOCOL && !(is_ra_ours && t->protocol == RTPROT_RA);
}

bool in_use_by_host(const struct node *n, const struct memory *memory, const struct netdev *nd,
		    bool is_ra_ours, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN + 8];

	is_ra_ours = is_ra_ours || is_asked_for_ra(memory, nd->ifindex);
	for (size_t i = node_first_address(n, nd->ifindex);
	     i < n->n_addresses && n->addresses[i].ifindex == nd->ifindex; i++) {
		const struct address *a = &n->addresses[i];

		ip_format(a->family, a->local, a->prefix_len, text, sizeof(text));
		if (is_host_address(memory, a, is_ra_ours, text)) {
			snprintf(ret, size, "%s has %s", nd->name, text);
			return true;
		}
	}
	for (size_t i = 0; i < n->n_routes; i++) {
		const struct route *t = &n->routes[i];

		if (t->ifindex != nd->ifindex || !is_host_route(t, is_ra_ours))
			continue;
		ip_format(t->family, t->dst, t->prefix_len, text, sizeof(text));
		snprintf(ret, size, "%s has a route to %s", nd->name, text);
		return true;
	}
	return false;
}

static void add_host_use(struct finder *s)
{
	char text[128];

	if (s->f->physfn[0] && in_use_by_host(s->n, s->memory, s->nd, false, text, sizeof(text)))
		add(s, USE_ADDRESS, "%s", text);
}

/* --- what is stacked on it --- */

const struct netdev *in_use_lowest(const struct node *n, uint32_t ifindex)
{
	const struct netdev *nd = node_netdev(n, ifindex);

	for (int i = 0; i < MAX_STACKED && nd && !nd->pci[0]; i++)
		nd = node_netdev(n, nd->link);
	return nd && nd->pci[0] ? nd : NULL;
}

static bool has_address(const struct node *n, const struct netdev *nd)
{
	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].ifindex == nd->ifindex)
			return true;
	return false;
}

static bool is_above(const struct netdev *upper, const struct netdev *nd)
{
	return upper->link == nd->ifindex && upper->ifindex != nd->ifindex;
}

/* One that is down and has nothing is left over, and goes with what it is on. */
static bool is_used(const struct node *n, const struct netdev *upper, int depth)
{
	if (upper->is_up || upper->master || has_address(n, upper) || depth == MAX_STACKED)
		return true;
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (is_above(&n->netdevs[i], upper) && is_used(n, &n->netdevs[i], depth + 1))
			return true;
	return false;
}

static void add_uppers(struct finder *s)
{
	for (size_t i = 0; i < s->n->n_netdevs; i++)
		if (is_above(&s->n->netdevs[i], s->nd) && is_used(s->n, &s->n->netdevs[i], 0))
			add(s, USE_UPPER, "%s carries %s", s->nd->name, s->n->netdevs[i].name);
}

/* --- GIDs --- */

/* "0000:0000:0000:0000:0000:ffff:0a00:0001" */
static bool parse_gid(const char *text, uint8_t ret[16])
{
	for (size_t i = 0; i < 8; i++) {
		char *end;
		const unsigned long group = strtoul(text, &end, 16);

		if (end != text + 4 || *end != (i < 7 ? ':' : '\0'))
			return false;
		ret[2 * i] = (uint8_t)(group >> 8);
		ret[2 * i + 1] = (uint8_t)group;
		text = end + 1;
	}
	return true;
}

static bool is_equal_gid(const uint8_t gid[16], int family, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (family == AF_INET6)
		return memcmp(gid, address, 16) == 0;
	return memcmp(gid, mapped, sizeof(mapped)) == 0 && memcmp(gid + 12, address, 4) == 0;
}

/* Made of an address of this netdev? The kernel takes ifa_address, which may be the peer's. */
static bool is_own_gid(const struct node *n, const struct netdev *nd, const char *text)
{
	uint8_t gid[16];

	if (!parse_gid(text, gid))
		return false;
	if (gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80) /* link-local: of its MAC, always there */
		return true;
	for (size_t i = 0; i < n->n_addresses; i++) {
		const struct address *a = &n->addresses[i];

		if (a->ifindex == nd->ifindex && (is_equal_gid(gid, a->family, a->local) ||
						  is_equal_gid(gid, a->family, a->peer)))
			return true;
	}
	return false;
}

/* Is that netdev here the function's own, its master, or stacked on one of them? */
static bool is_related(const struct node *n, const struct netdev *nd, const struct netdev *other)
{
	for (int i = 0; i < MAX_STACKED && other; i++) {
		if (other == nd || (nd->master && other->ifindex == nd->master))
			return true;
		other = node_netdev(n, other->link);
	}
	return false;
}

/*
 * The name that a GID has is one of the namespace of its netdev, and may mean another one here: a
 * pod calls its macvlan "eth0", as the host its NIC.
 */
static bool is_foreign_gid(const struct finder *s, const struct gid *gid)
{
	if (!is_prefix(gid->type, "RoCE"))
		return false;
	if (streq(gid->netdev, s->nd->name))
		return !is_own_gid(s->n, s->nd, gid->gid);
	return !is_related(s->n, s->nd, node_netdev_named(s->n, gid->netdev));
}

static void add_gids(struct finder *s)
{
	for (size_t p = 0; p < s->ib->n_ports; p++)
		for (size_t g = 0; g < s->ib->ports[p].n_gids; g++) {
			const struct gid *gid = &s->ib->ports[p].gids[g];

			if (is_foreign_gid(s, gid))
				add(s, USE_UPPER, "%.40s has the GID %s of a netdev above it, %s",
				    s->ib->name, gid->gid,
				    gid->netdev[0] ? gid->netdev : "in another namespace");
		}
}

size_t in_use_find(const struct node *n, const struct memory *memory, const struct pci *f,
		   struct user ret[static IN_USE_MAX])
{
	struct finder s = {
		.n = n, .memory = memory, .f = f, .ib = node_ibdev_of(n, f->address), .users = ret
	};
	char detail[ELEMENTSOF(ret->detail)];
	const enum use foreign = use_of_foreign(f, detail, sizeof(detail));

	if (detail[0]) {
		add(&s, foreign, "%s", detail);
		return s.n_users;
	}
	s.nd = netdev_of(n, f, s.ib);
	add_away(&s);
	if (s.nd) {
		add_master(&s);
		add_host_use(&s);
	}
	if (s.ib)
		add_contexts(&s);
	if (s.nd)
		add_uppers(&s);
	if (s.nd && s.ib)
		add_gids(&s);
	return s.n_users;
}

#include "graph.h"
enum in_use_degree in_use_degree(const struct graph *g, const struct memory *memory,
				 const struct pci *f, bool is_ra_ours, char *why, size_t size)
{
	const struct netdev *nd = node_netdev_of(g->n, f->address);
	const struct netdev *m = nd ? node_netdev(g->n, nd->master) : NULL;

	why[0] = 0;
	if (nd && nd->master && !(m && streq(m->kind, "vrf"))) {
		snprintf(why, size, "%s is a port of %s", nd->name, m ? m->name : "another netdev");
		return IN_USE_USED;
	}
	return nd && in_use_by_host(g->n, memory, nd, is_ra_ours, why, size) ? IN_USE_ADDRESSED : IN_USE_FREE;
}
