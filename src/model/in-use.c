/* SPDX-License-Identifier: Apache-2.0 */
#include "in-use.h"

#include "given.h"
#include "ip.h"
#include "route-find.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#define PORT_DHCP   68
#define PORT_DHCPV6 546

struct finder {
	const struct graph *g;
	const struct node *n;
	const struct memory *memory;
	const struct pci *f;
	const struct netdev *nd; /* NULL: none here */
	const struct ibdev *ib;  /* NULL: none here */
	struct user *users;
	size_t n_users;
};

_printf_(3, 4) static void add(struct finder *s, enum use use, const char *format, ...)
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

/* Has a bound function no netdev here, though it must have one somewhere? */
static bool is_netdev_away(const struct finder *s)
{
	if (!s->f->driver[0] || s->nd || s->f->is_without_netdev)
		return false;
	/* Without an ibdev there is nothing to use, if no ibdev can be away. */
	if (pci_is_erdma(s->f))
		return s->ib || can_ibdevs_leave(s->n);
	/* It is in no namespace: not made, or not yet, or removed as the card failed. */
	if ((s->f->is_searched && !s->f->is_away) ||
	    (s->f->health[0] && !s->ib && !can_ibdevs_leave(s->n)))
		return false;
	/* That of InfiniBand is ib_ipoib's, if loaded. */
	return !((s->f->class >> 8 == CLASS_INFINIBAND || pci_lacks_netdev(s->f)) && s->ib);
}

static void add_away(struct finder *s)
{
	const struct device_memory *m = memory_device(s->memory, s->f->address);
	const bool was_here = m && m->was_usable && !m->was_virtual;

	if (is_netdev_away(s) && s->n->is_copy)
		add(s, USE_UNKNOWN, "its netdev is not in this tree");
	else if (is_netdev_away(s))
		add(s, USE_NETDEV_NETNS, "its netdev %s%sin another network namespace",
		    m ? m->netdev : "", m && m->netdev[0] ? " " : "");
	else if ((s->f->is_searched ? s->f->is_away : was_here) && can_ibdevs_leave(s->n) &&
		 s->f->driver[0] && !s->ib)
		add(s, USE_IBDEV_NETNS, "its ibdev %s%sin another network namespace",
		    was_here ? m->ibdev : "", was_here ? " " : "");
}

static void count_contexts(struct finder *s, const struct ibdev *ib)
{
	if (ib && ib->n_contexts == UINT32_MAX)
		add(s, USE_UNKNOWN, "the open contexts of %s cannot be counted", ib->name);
	else if (ib && ib->n_contexts > 0)
		add(s, USE_CONTEXT, "%s has %" PRIu32 " open context%s%s", ib->name, ib->n_contexts,
		    ib->n_contexts == 1 ? "" : "s", s->n->has_users ? ", owner not known" : "");
}

/* A VF may tell of the port what its PF does there. */
static void add_managers(struct finder *s, const struct ibdev *ib)
{
	FOREACH_WHILE(port, ib->ports, ib->n_ports, !pci_is_vf(s->f))
		if (port->is_manager)
			add(s, USE_MANAGER, "port %" PRIu32 " of %s", port->number, ib->name);
}

static void add_contexts(struct finder *s)
{
	size_t at = SIZE_MAX, i;

	while ((i = node_next(s->n, NODE_INDEX_IBDEV_PCI, s->f->address, &at)) != SIZE_MAX) {
		count_contexts(s, &s->n->ibdevs[i]);
		add_managers(s, &s->n->ibdevs[i]);
	}
}

/* --- addresses and routes of the host --- */

/* Has this service changed how the netdev takes router advertisements, or made or brought up its
 * VF? */
static bool is_asked_for_ra(const struct graph *g, const struct memory *memory,
			    const struct netdev *nd)
{
	const struct pci *pci = node_pci(g->n, nd->pci);

	return ANY(e, memory->ledger, memory->n_ledger,
		   (e->ifindex == nd->ifindex &&
		    (streq(e->verb, "set-link-up") ||
		     (streq(e->verb, "set-sysctl") && is_prefix(e->subject, "ipv6/")))) ||
			   (pci && pci->physfn[0] && streq(e->verb, "set-num-vfs") &&
			    streq(e->target, pci->physfn)));
}

/* @ret: its text */
static bool is_host_address(const struct memory *memory, const struct address *a, bool is_ra_ours,
			    char *ret, size_t size)
{
	ip_format(a->family, a->local, a->prefix_len, ret, size);
	if (ip_is_link_local(a->family, a->local))
		return false;
	/* Autoconfigured ones have a lifetime, and the length of a prefix: addrconf_prefix_rcv() in
	 * net/ipv6/addrconf.c. Clients of DHCPv6 set 128. */
	if (is_ra_ours && a->family == AF_INET6 && !(a->flags & IFA_F_PERMANENT) &&
	    a->prefix_len < ip_bits(a->family))
		return false;
	return !memory_entry(memory, "add-address", "", a->ifindex, ret);
}

/* A router's prefix; or 169.254/16, which network-scripts of RHEL give each NIC (NOZEROCONF=). */
static bool is_of_link(const struct route *t)
{
	return t->protocol == RTPROT_RA || (t->family == AF_INET && t->prefix_len >= 16 &&
					    t->dst[0] == 169 && t->dst[1] == 254);
}

/* Has another netdev an address in what @r is from, or does a route lead there by it? */
static bool has_others(const struct node *n, const struct rule *r, uint32_t ifindex)
{
	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex != ifindex && a->family == r->family &&
			   ip_is_in_prefix(a->local, r->src, r->src_len)) ||
	       ANY(t, n->routes, n->n_routes,
		   t->ifindex != ifindex && t->family == r->family && t->prefix_len >= r->src_len &&
			   ip_is_in_prefix(t->dst, r->src, r->src_len));
}

/* A network that a rule is from may be wider than the address's own: that of a fabric, or of an
 * address without a prefix. */
static bool is_rule_of(const struct node *n, const struct rule *r, const struct address *a)
{
	const bool is_from = r->src_len > 0 && ip_is_in_prefix(a->local, r->src, r->src_len);

	if (r->is_invert || r->family != a->family)
		return false;
	if (r->src_len >= a->prefix_len || (is_from && !has_others(n, r, a->ifindex)))
		return is_from;
	return r->dst_len >= a->prefix_len && ip_is_in_prefix(r->dst, a->peer, a->prefix_len);
}

/* Does the rule lead to the main table, or to the next one for all addresses, as the kernel's own:
 * fib_default_rules_init() in net/ipv4/fib_rules.c? */
static bool is_to_main(const struct rule *r)
{
	return r->table == RT_TABLE_MAIN ||
	       (r->table == RT_TABLE_DEFAULT && r->preference == 32767 && r->src_len == 0);
}

/*
 * Does a rule that is for neither the netdev nor its addresses lead to this route? Plugins of
 * clouds send what pods send by a NIC so, and give the host no address of it.
 */
static bool is_for_others(const struct node *n, const struct route *t, const struct address *of,
			  size_t n_of)
{
	const struct netdev *nd = node_netdev(n, t->ifindex);

	FOREACH_WHILE(r, n->rules, n->n_rules, nd)
		if (r->family == t->family && r->table == t->table && !is_to_main(r) &&
		    !streq(r->oif, nd->name) && !streq(r->iif, nd->name) &&
		    !ANY(a, of, n_of, is_rule_of(n, r, a)))
			return true;
	return false;
}

static bool is_of_gateway(const struct node *n, const struct route *t)
{
	return ANY(by, n->routes, n->n_routes,
		   by->ifindex == t->ifindex && by->family == t->family &&
			   memcmp(by->gateway, t->dst, sizeof(t->dst)) == 0);
}

/*
 * Default routes, routes to a single address that is that of a gateway or from DHCP, and routes
 * within the prefixes of the link are no use. DHCP gives a default route to each NIC, and one to
 * each name server (RoutesToDNS= of networkd) and a cloud's metadata server; the one by which the
 * node leaves makes its NIC needed. Google Cloud gives addresses without a prefix, and routes to
 * their networks.
 */
static bool is_to_neighbours(const struct node *n, const struct route *t)
{
	const bool has_gateway = route_has_gateway(t), is_dhcp = t->protocol == RTPROT_DHCP;
	size_t n_of;
	const struct address *of = node_addresses_of(n, t->ifindex, &n_of);

	if (t->prefix_len == 0)
		return !is_for_others(n, t, of, n_of);
	if (has_gateway && !is_dhcp)
		return false;
	if (!has_gateway && is_of_link(t))
		return true;
	if (t->prefix_len == ip_bits(t->family))
		return is_dhcp || is_of_gateway(n, t);
	return ANY(a, of, n_of,
		   a->family == t->family &&
			   (has_gateway ? a->prefix_len == ip_bits(a->family) &&
						  ip_is_in_prefix(a->local, t->dst, t->prefix_len)
					: t->prefix_len >= a->prefix_len &&
						  ip_is_in_prefix(t->dst, a->peer, a->prefix_len)));
}

/* A route of the host; @is_further: to networks that are not the netdev's own. */
static bool find_route(const struct node *n, const struct netdev *nd, bool is_ra_ours,
		       bool is_further, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN + 8];

	FOREACH(t, n->routes, n->n_routes) {
		if (t->ifindex != nd->ifindex || t->protocol == RTPROT_KERNEL ||
		    t->protocol == OWN_PROTOCOL || (is_ra_ours && t->protocol == RTPROT_RA) ||
		    (is_further && is_to_neighbours(n, t)))
			continue;
		ip_format(t->family, t->dst, t->prefix_len, text, sizeof(text));
		snprintf(ret, size, "%s has a route to %s", nd->name, text);
		return true;
	}
	return false;
}

/*
 * Does the host itself use this netdev for IP?
 * @is_ra_ours: what router advertisements made on it is there because this service asked for it
 * @ret:        "eth1 has 10.0.0.2/24", "eth1 has a route to 10.0.0.0/8"
 *
 * An address of any scope but link-local IPv6, which the kernel gives every netdev; or a route of
 * any table that the kernel did not make of an address. Those that this service added do not count,
 * nor those that a router advertised to a netdev whose IPv6 settings this service has changed or to
 * a VF that it made or brought up: by the ledger.
 */
static bool is_used_by_host(const struct graph *g, const struct memory *memory,
			    const struct netdev *nd, bool is_ra_ours, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN + 8];
	size_t n_of;
	const struct address *of = node_addresses_of(g->n, nd->ifindex, &n_of);

	is_ra_ours = is_ra_ours || is_asked_for_ra(g, memory, nd);
	if (!ANY(a, of, n_of, is_host_address(memory, a, is_ra_ours, text, sizeof(text))))
		return find_route(g->n, nd, is_ra_ours, false, ret, size);
	snprintf(ret, size, "%s has %s", nd->name, text);
	return true;
}

/* --- sockets --- */

/*
 * Does its program listen on the same port of every address, as ntpd and named do? They pass over
 * netdevs that are down. A socket that is bound to a VRF is of that alone; one of a link-local
 * address is bound to the netdev by the kernel: __inet6_bind() in net/ipv6/af_inet6.c.
 */
static bool is_everywhere(const struct node *n, const struct sock *s)
{
	const bool is_of_link = ip_is_link_local(s->family, s->local);
	size_t n_addresses = is_of_link;

	FOREACH(a, n->addresses, n->n_addresses) {
		const struct netdev *nd = node_netdev(n, a->ifindex);

		if ((a->family != s->family && !is_of_link) || a->scope >= RT_SCOPE_LINK || !nd ||
		    !nd->is_up)
			continue;
		if (!ANY(t, n->socks, n->n_socks,
			 t->is_listening && t->family == a->family && t->protocol == s->protocol &&
				 t->local_port == s->local_port && t->ifindex == 0 &&
				 memcmp(t->local, a->local, 16) == 0))
			return false;
		n_addresses++;
	}
	return n_addresses > 1 && (s->ifindex == 0 || is_of_link);
}

static void put_sock(const struct sock *s, const struct netdev *nd, bool is_connected, char *ret,
		     size_t size)
{
	const char *what = s->protocol == IPPROTO_TCP    ? "TCP port"
			   : s->protocol == IPPROTO_UDP  ? "UDP port"
			   : s->protocol == IPPROTO_SCTP ? "SCTP port"
							 : "IP protocol";
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN], who[64] = "";

	if (s->pid > 0)
		PRINT(who, " of process %" PRIu32 " (%s)", s->pid, s->command);
	ip_format(s->family, s->local, UINT32_MAX, local, sizeof(local));
	ip_format(s->family, s->remote, UINT32_MAX, remote, sizeof(remote));
	if (s->ifindex == nd->ifindex)
		snprintf(ret, size, "a socket%s is bound to %s, %s %u", who, nd->name, what,
			 s->local_port);
	else if (is_connected)
		snprintf(ret, size, "%s has a connection%s to %s port %u", local, who, remote,
			 s->remote_port);
	else
		snprintf(ret, size, "%s listens on %s, %s %u",
			 s->pid > 0 ? after(who, " of ") : "a program", local, what, s->local_port);
}

/* Do functions other than @f have ports of this VRF? */
static bool is_vrf_of_several(const struct graph *g, const struct pci *f, const struct netdev *nd)
{
	const struct netdev *lower;

	for (size_t i = 0; streq(nd->kind, "vrf") && (lower = graph_below(g, nd, &i));)
		if (*graph_function(lower) && !streq(graph_function(lower), f->address))
			return true;
	return false;
}

static bool is_from(const struct sock *s, const struct address *a)
{
	return a->family == s->family && memcmp(a->local, s->local, sizeof(s->local)) == 0;
}

/* @is_shared: a server that is bound to it is of no function alone, nor is a connection, unless it
 * is from an address of the netdev itself. */
static bool is_bound_to(const struct node *n, const struct sock *s, const struct netdev *nd,
			bool is_shared)
{
	const struct address *of;
	size_t n_of;

	if (s->ifindex != nd->ifindex || !is_shared)
		return s->ifindex == nd->ifindex;
	of = node_addresses_of(n, nd->ifindex, &n_of);
	return !s->is_listening && ANY(a, of, n_of, is_from(s, a));
}

/* A socket that is bound to @nd, or uses the address @a of it; NULL: none that the netdev has. */
static bool find_sock(const struct node *n, const struct netdev *nd, const struct address *a,
		      bool is_shared, char *ret, size_t size)
{
	FOREACH(s, n->socks, n->n_socks) {
		if (!(is_bound_to(n, s, nd, is_shared) || (a && is_from(s, a))) ||
		    (s->protocol == IPPROTO_UDP &&
		     s->local_port == (s->family == AF_INET ? PORT_DHCP : PORT_DHCPV6)) ||
		    (s->is_listening && is_everywhere(n, s)))
			continue;
		put_sock(s, nd, !s->is_listening, ret, size);
		return true;
	}
	return false;
}

/* Does the packet leave by it, or by several of which it is one? */
static bool leaves_by(const struct lookup *l, uint32_t ifindex)
{
	return l->found == ifindex || ANY(hop, l->hops, l->n_hops, *hop == ifindex);
}

/*
 * Does a packet to the server of a mount leave by it? A client of NFS closes its connection when it
 * was idle: XS_IDLE_DISC_TO in net/sunrpc/xprtsock.c. So no socket tells. @over_rdma: only to one
 * that is reached over RDMA, needed or not.
 */
static bool find_mount(const struct node *n, const struct netdev *nd, bool over_rdma, char *ret,
		       size_t size)
{
	char address[INET6_ADDRSTRLEN];

	FOREACH(d, n->destinations, n->n_destinations) {
		const struct lookup *l = &d->lookup;

		if (!(over_rdma ? d->is_rdma
				: d->to == TO_MOUNT ||
					  (d->to == TO_STORAGE && l->family != AF_UNSPEC)) ||
		    l->result < 0 || !leaves_by(l, nd->ifindex))
			continue;
		ip_format(l->family, l->dst, UINT32_MAX, address, sizeof(address));
		snprintf(ret, size, "%s leads %sto %s%s%.80s", nd->name,
			 over_rdma ? "over RDMA " : "", address, *address ? ", " : "", d->words);
		return true;
	}
	return false;
}

/* Is there a mount from a place that nothing tells? Where the node lives on it, needs tell. */
static bool find_unnamed(const struct node *n, const struct netdev *nd, char *ret, size_t size)
{
	const struct destination *d = FIND(k, n->destinations, n->n_destinations,
					   k->to == TO_MOUNT && k->lookup.result == -EDESTADDRREQ);

	if (d)
		snprintf(ret, size, "nothing tells where this is, and %s may lead there: %.80s",
			 nd->name, d->words);
	return d;
}

/* Without an end of its own a tunnel takes the gateway: ip_tunnel_xmit() in net/ipv4/ip_tunnel.c */
static bool takes_gateway(const struct node *n, const struct netdev *nd)
{
	return (streq(nd->kind, "ipip") || streq(nd->kind, "gre")) &&
	       !ANY(end, n->tunnel_ends, n->n_tunnel_ends,
		    end->ifindex == nd->ifindex && !is_zero(end->remote));
}

/*
 * May a packet to @remote leave by the netdev of @a? Where its way is not known: yes. @ifindex: the
 * tunnel, if it is one. @remote: its other end, or with @is_gateway a gateway behind it.
 */
static bool leads_into(const struct node *n, uint32_t ifindex, bool is_gateway, uint32_t mark,
		       int family, const uint8_t remote[static 16], const struct address *a,
		       char *ret, size_t size)
{
	struct lookup l = { .family = family, .mark = mark };
	const struct netdev *nd;
	char text[INET6_ADDRSTRLEN];

	if (family != a->family || !ip_is_in_prefix(remote, a->peer, a->prefix_len))
		return false;
	nd = node_netdev(n, ifindex);
	if (!nd || !nd->is_up || (is_gateway && !takes_gateway(n, nd)))
		return false;
	memcpy(l.dst, remote, sizeof(l.dst));
	l.ifindex = nd->link;
	route_find(n, &l);
	if (l.result >= 0 && !leaves_by(&l, a->ifindex))
		return false;
	ip_format(family, remote, UINT32_MAX, text, sizeof(text));
	snprintf(ret, size, "the tunnel %s leads to %s", nd->name, text);
	return true;
}

static bool begins_at(const struct node *n, const struct tunnel_end *end, const struct address *a,
		      char *ret, size_t size)
{
	const struct netdev *nd = node_netdev(n, end->ifindex);
	char text[INET6_ADDRSTRLEN];

	if (!nd || !nd->is_up || end->family != a->family || memcmp(end->local, a->local, 16) != 0)
		return false;
	ip_format(a->family, a->local, UINT32_MAX, text, sizeof(text));
	snprintf(ret, size, "%s is the local end of the tunnel %s", text, nd->name);
	return true;
}

/* A tunnel without a link stands on the netdev by which its packets leave or come all the same. */
static bool find_tunnel(const struct node *n, const struct address *a, char *ret, size_t size)
{
	return ANY(end, n->tunnel_ends, n->n_tunnel_ends, begins_at(n, end, a, ret, size)) ||
	       ANY(end, n->tunnel_ends, n->n_tunnel_ends,
		   leads_into(n, end->ifindex, false, end->mark, end->family, end->remote, a, ret,
			      size)) ||
	       ANY(r, n->routes, n->n_routes,
		   !is_zero(r->gateway) &&
			   leads_into(n, r->ifindex, true, 0, r->family, r->gateway, a, ret, size));
}

/* --- the host's use of a netdev --- */

/* A socket that is bound to @nd, which @f has or which stands on it. */
static bool find_bound(const struct graph *g, const struct pci *f, const struct netdev *nd,
		       char *why, size_t size)
{
	return g->n->has_socks && find_sock(g->n, nd, NULL, is_vrf_of_several(g, f, nd), why, size);
}

static enum in_use_degree judge_addresses(const struct node *n, const struct memory *memory,
					  const struct netdev *nd, bool is_ra_ours, char *why,
					  size_t size)
{
	enum in_use_degree degree = IN_USE_FREE;
	char text[INET6_ADDRSTRLEN + 8];
	size_t n_of;
	const struct address *a = node_addresses_of(n, nd->ifindex, &n_of);

	for (; n_of > 0; a++, n_of--) {
		if (!is_host_address(memory, a, is_ra_ours, text, sizeof(text)))
			continue;
		if ((n->has_socks && find_sock(n, nd, a, false, why, size)) ||
		    find_tunnel(n, a, why, size))
			return IN_USE_USED;
		if (degree == IN_USE_FREE)
			snprintf(why, size, "%s has %s", nd->name, text);
		degree = IN_USE_ADDRESSED;
	}
	return degree;
}

static enum in_use_degree judge_netdev(const struct graph *g, const struct memory *memory,
				       const struct netdev *nd, bool is_ra_ours, char *why,
				       size_t size)
{
	const struct node *n = g->n;
	enum in_use_degree degree;

	is_ra_ours = is_ra_ours || is_asked_for_ra(g, memory, nd);
	if (find_route(n, nd, is_ra_ours, true, why, size) || find_mount(n, nd, false, why, size))
		return IN_USE_USED;
	degree = judge_addresses(n, memory, nd, is_ra_ours, why, size);
	if (degree == IN_USE_ADDRESSED && !n->has_socks) {
		snprintf(why, size, "which sockets use the addresses of %s is not known", nd->name);
		return IN_USE_USED;
	}
	if (degree == IN_USE_FREE && find_route(n, nd, is_ra_ours, false, why, size))
		degree = IN_USE_ADDRESSED;
	return degree == IN_USE_ADDRESSED && find_unnamed(n, nd, why, size) ? IN_USE_USED : degree;
}

/* Any address of a VF or SF is a use. */
static enum in_use_degree judge_own(const struct graph *g, const struct memory *memory,
				    const struct pci *f, const struct netdev *nd, bool is_ra_ours,
				    char *why, size_t size)
{
	enum in_use_degree degree;
	struct given given;

	if (f->physfn[0] || !nd->pci[0])
		return is_used_by_host(g, memory, nd, is_ra_ours, why, size) ? IN_USE_USED
									     : IN_USE_FREE;
	degree = judge_netdev(g, memory, nd, is_ra_ours, why, size);
	if (degree != IN_USE_ADDRESSED || given_look(g->n, memory, f, nd, &given))
		return degree;
	snprintf(why, size, "%s has addresses or routes that cannot be put back after a pod",
		 nd->name);
	return IN_USE_USED;
}

/* The netdevs here that go when the function goes. What is stacked on them goes down, also what is
 * idle; a VRF loses a port alone. The netdev of an eRDMA stays. */
static enum in_use_degree judge_host(const struct graph *g, const struct memory *memory,
				     const struct pci *f, bool is_ra_ours, char *why, size_t size)
{
	const struct netdev *nd, *upper = NULL;
	enum in_use_degree worst = IN_USE_FREE;

	for (size_t i = 0; (nd = graph_of(g, f->address, &i)) && worst < IN_USE_USED;) {
		const bool is_own = streq(graph_function(nd), f->address);
		enum in_use_degree degree = IN_USE_FREE;
		char text[IN_USE_WHY_LEN];

		if (nd->netns > 0 || pci_is_erdma(f))
			continue;
		if (is_own)
			degree = judge_own(g, memory, f, nd, is_ra_ours, text, sizeof(text));
		else if (!streq(nd->kind, "vrf"))
			upper = nd;
		if (degree < IN_USE_USED && find_bound(g, f, nd, text, sizeof(text)))
			degree = IN_USE_USED;
		if (degree > worst) {
			copy(why, size, text);
			worst = degree;
		}
	}
	if (worst != IN_USE_ADDRESSED || !upper)
		return worst;
	snprintf(why + strlen(why), size - strlen(why), " and carries %s", upper->name);
	return IN_USE_USED;
}

/* A PF that is only addressed is not in use: code that takes it away calls in_use_degree(). */
static void add_host_use(struct finder *s)
{
	char text[IN_USE_WHY_LEN];

	if (judge_host(s->g, s->memory, s->f, false, text, sizeof(text)) == IN_USE_USED)
		add(s, USE_ADDRESS, "%s", text);
}

/* --- what is stacked on it --- */

static void add_port(struct finder *s, const struct netdev *nd)
{
	const struct netdev *master = node_netdev(s->n, nd->master);

	if (node_is_port(s->n, nd))
		add(s, USE_MASTER, "%s belongs to %s, a bridge, bond or team", nd->name,
		    master ? master->name : "one that is not seen");
}

static void add_upper(struct finder *s, const struct netdev *nd)
{
	char text[IN_USE_WHY_LEN];

	if (streq(nd->kind, "vrf"))
		return;
	/* A tap has no address: the program that uses it has it open, which nothing shows. */
	if (node_is_port(s->n, nd) ||
	    (nd->is_up && (streq(nd->kind, "macvtap") || streq(nd->kind, "ipvtap"))) ||
	    is_used_by_host(s->g, s->memory, nd, false, text, sizeof(text)))
		add(s, USE_UPPER, "%s carries %s", s->nd ? s->nd->name : s->f->address, nd->name);
}

static void add_elsewhere(struct finder *s, const struct netdev *nd, bool is_own)
{
	const struct netns *ns = &s->n->netnses[nd->netns - 1];

	add(s, is_own ? USE_NETDEV_NETNS : USE_UPPER, "%s in network namespace %" PRIu64 ", %.48s",
	    nd->name, ns->inode, ns->name);
}

static bool add_stacked(struct finder *s)
{
	const struct netdev *nd;
	bool is_away = false;

	for (size_t i = 0; (nd = graph_of(s->g, s->f->address, &i));) {
		const bool is_own = nd == s->nd || streq(graph_function(nd), s->f->address);

		if (nd->netns > 0 && nd->netns <= s->n->n_netnses) {
			add_elsewhere(s, nd, is_own);
			is_away |= is_own;
		} else if (is_own) {
			add_port(s, nd);
			if (nd->scalable_of[0])
				count_contexts(s, FIND(ib, s->n->ibdevs, s->n->n_ibdevs,
						       streq(ib->netdev, nd->name)));
		} else {
			add_upper(s, nd);
		}
	}
	return is_away;
}

/* A namespace that could not be asked may have what is stacked on any netdev. */
static void add_closed(struct finder *s)
{
	const struct netns *first = NULL;
	size_t n_closed = 0;

	for (size_t i = 0; i < s->n->n_netnses; i++)
		if (s->n->netnses[i].is_closed && n_closed++ == 0)
			first = &s->n->netnses[i];
	if (n_closed == 1)
		add(s, USE_UNKNOWN, "the links of network namespace %.48s cannot be listed",
		    first->name);
	else if (n_closed > 1)
		add(s, USE_UNKNOWN,
		    "the links of %zu network namespaces cannot be listed: %.40s, ...", n_closed,
		    first->name);
}

/* --- GIDs --- */

static bool is_equal_gid(const uint8_t gid[static 16], int family, const uint8_t *address)
{
	if (family == AF_INET6)
		return memcmp(gid, address, 16) == 0;
	return gid_is_ipv4(gid) && memcmp(gid + 12, address, 4) == 0;
}

/* Made of the MAC or an address of this netdev? The kernel takes ifa_address, which may be the
 * peer's. */
static bool is_own_gid(const struct node *n, const struct netdev *nd, const uint8_t gid[static 16])
{
	return gid_is_of_mac(gid, nd->mac) ||
	       ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == nd->ifindex && (is_equal_gid(gid, a->family, a->local) ||
						 is_equal_gid(gid, a->family, a->peer)));
}

/*
 * The name that a GID has is one of the namespace of its netdev, and may mean another one here: a
 * pod calls its macvlan "eth0", as the host its NIC. Nor is it the name of the same moment: udev
 * may have renamed the netdev between the looks at links and at GIDs. A VLAN has the MAC of the
 * netdev below it; one in a namespace that cannot be seen is known by the GIDs of its addresses.
 */
static bool is_foreign_gid(const struct finder *s, const struct gid *gid)
{
	const struct netdev *named = node_netdev_named(s->n, gid->netdev);
	uint8_t bytes[16] = {};

	gid_parse(gid->gid, bytes);
	if (!is_prefix(gid->type, "RoCE") || is_own_gid(s->n, s->nd, bytes))
		return false;
	if (named == s->nd) /* without addresses the name is all there is */
		return !s->n->lacks_net && !ip_is_link_local(AF_INET6, bytes);
	return !named || !graph_is_above(s->g, named, s->nd);
}

static void add_gids(struct finder *s)
{
	for (size_t p = 0; p < s->ib->n_ports; p++)
		FOREACH(gid, s->ib->ports[p].gids, s->ib->ports[p].n_gids)
			if (is_foreign_gid(s, gid))
				add(s, USE_UPPER, "%.40s has the GID %s of a netdev above it, %s",
				    s->ib->name, gid->gid,
				    gid->netdev[0] ? gid->netdev : "in another namespace");
}

size_t in_use_find(const struct graph *g, const struct memory *memory, const struct pci *f,
		   struct user ret[static IN_USE_MAX])
{
	struct finder s = { .g = g,
			    .n = g->n,
			    .memory = memory,
			    .f = f,
			    .ib = node_ibdev_of(g->n, f->address),
			    .users = ret };
	char detail[ELEMENTSOF(ret->detail)];
	const enum use foreign = use_of_foreign(f, detail, sizeof(detail));

	if (detail[0]) {
		add(&s, foreign, "%s", detail);
		return s.n_users;
	}
	s.nd = node_own_netdev(s.n, f);
	add_contexts(&s);
	if (!add_stacked(&s))
		add_away(&s);
	add_host_use(&s);
	if (s.nd)
		add_closed(&s);
	if (s.nd && s.ib)
		add_gids(&s);
	return s.n_users;
}

void in_use_words(const struct user *u, char *ret, size_t size)
{
	char process[96] = "";

	if (u->pid > 0)
		PRINT(process, " by %s (pid %" PRIu32 ")", u->command[0] ? u->command : "a process",
		      u->pid);
	snprintf(ret, size, "%s%s%s%s%s%s%s%s", u->target, u->target[0] ? ": " : "",
		 use_name(u->use), process, u->container[0] ? " in " : "", u->container,
		 u->detail[0] ? ", " : "", u->detail);
}

enum in_use_degree in_use_degree(const struct graph *g, const struct memory *memory,
				 const struct pci *f, bool is_ra_ours, char *why, size_t size)
{
	struct user found[IN_USE_MAX], own;
	const size_t n_found = in_use_find(g, memory, f, found);
	enum in_use_degree degree;
	const struct user *u;
	size_t at = 0;

	why[0] = '\0';
	do
		u = node_user(g->n, f->address, &at);
	while (u && u->use == USE_ADDRESS);
	FOREACH(it, found, n_found)
		if (it->use != USE_ADDRESS &&
		    (!u || (u->use == USE_UNKNOWN && it->use != USE_UNKNOWN)))
			u = it;
	if (!u || u->use == USE_UNKNOWN) {
		degree = judge_host(g, memory, f, is_ra_ours, why, size);
		if (!u || degree == IN_USE_USED)
			return degree;
	}
	own = *u;
	own.target[0] = '\0'; /* the caller has it */
	in_use_words(&own, why, size);
	return g->n->is_copy && u->use == USE_UNKNOWN ? IN_USE_UNKNOWN : IN_USE_USED;
}

bool in_use_over_rdma(const struct graph *g, const struct pci *f, char *why, size_t size)
{
	const struct netdev *nd;

	for (size_t i = 0; (nd = graph_of(g, f->address, &i));)
		if (nd->netns == 0 && find_mount(g->n, nd, true, why, size))
			return true;
	return false;
}
