/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs: the functions that the node itself needs, each with the evidence that tells so.
 *
 * Pure, and the only place that decides it. A function is needed when it is below a netdev to which
 * evidence leads, in this order:
 *
 * - [Service] NodeNIC= matches it, or by netdev: what stands on it: then nothing else counts.
 * - The kubelet's address, as the kubelet finds it: --node-ip, a node name that is an address, the
 *   node name in /etc/hosts, the first default route of main, which a rule may pass over. Source:
 *   NodeAddress() in pkg/kubelet/nodestatus/setters.go. Of one on lo or a dummy, as with a routing
 *   daemon, each netdev by which routes lead that have it as source, or that have none while the
 *   netdev has no address either.
 * - A packet to a destination of node.destinations leaves by it, all next hops of the route that
 *   matched; or a disk of the node is below it, as with SRP. A default route that a router
 *   advertised (RTPROT_RA) counts only where neither an IPv4 default destination nor the kubelet's
 *   address has an answer: RDMA networks advertise a router on each rail. Source:
 *   ndisc_router_discovery() in net/ipv6/ndisc.c. Default routes of a VRF count where the default
 *   destination of their family has no way by the main rules, or a socket is bound to the VRF.
 * - It was so before: in this boot, and in the last one until one of the rows above has an answer
 *   in this one, and no --node-ip is awaited, each by boots_function(). Until the first READY a
 *   better answer takes the place of one whose route is still there, for DHCP may answer to a rail
 *   first. An address that the last boot needed a function for is asked in this one, too
 *   (TO_BEFORE), for a mount may come after the default route. It is no answer for the rest, and
 *   the next boot leaves it out.
 * - Nothing is known: each function below a netdev with a global address of the host, or with a
 *   route that neither the kernel made nor a router advertised. So it is where no row has an
 *   answer, and beside the others where the default destination or an API server leads to an end
 *   that nobody knows (a dummy, a tap, a tunnel without a known end), where nothing tells where a
 *   file system that the node lives on comes from, or where it cannot be read which --node-ip or
 *   --hostname-override the kubelet gets. The program behind a tap may have a NIC to itself, as
 *   Open vSwitch with DPDK or AF_XDP has. So where no route leads on by hardware, as that of a
 *   VPN's own packets does, a function of Ethernet that is up, without address and master, counts
 *   as well if a program has contexts on it, or if no other function has an address or route.
 *
 * An answer by hardware that is no PCI function is known as well, and protects nothing.
 *
 * While the last row holds and a program may still be configuring the node, functions with an
 * address or a sign of that are NEED_WAITING: while there is a sign, for QUIET_USEC after the last
 * change of PFs' netdevs and of the addresses and routes that the last row counts, of which none is
 * this service's, and never after ReadyTimeoutSec= or the first READY of the boot. A sign is
 * netdev.sign, or, on a function that this service has not changed, a router that was asked for and
 * has not answered, or YOUNG_USEC after that last change: a DHCP client has no socket for a while
 * after its unit has started (dhcpcd, ifup@). A netdev without an address has one as well while a
 * bond, team or bridge has no port, or nothing leads on from the kubelet's address. A file that the
 * kubelet's unit needs, and that is not there yet, is one for all of them. So is, also beside
 * evidence and of ports, a --node-ip or flannel-iface that is not here, for the kubelet waits for
 * it; but where this boot or the last one knew its address, that function is needed, and no other.
 * So it is as well, beside evidence, while what the last boot needed is neither there nor found by
 * its evidence elsewhere: a replaced card, or a VF that another program makes. The PF of that VF is
 * NEED_WAITING, too. Signs make this wait longer only for a card, whose place another may take, and
 * only a netdev's own: a VF may be one that this service is to make, and comes only after the wait.
 */

#include "../model/given.h"
#include "../model/ip.h"
#include "../model/route-find.h"
#include "../model/use-facts.h"
#include "../step/steps.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#define TUNNELS_MAX 4 /* one in another */

/* include/net/if_inet6.h */
#define IF_RS_SENT 0x10
#define IF_RA_RCVD 0x20

enum leads {
	LEADS_NONE,     /* no way, this host itself, or an end that nobody knows */
	LEADS_HARDWARE, /* known, and none of ours */
	LEADS_FUNCTIONS,
};

struct search {
	const struct config *c;
	const struct node *n;
	const struct memory *memory;
	struct plan *p;
	bool is_ipv4_known;  /* a default destination of IPv4, or the kubelet's address */
	bool has_default[2]; /* of IPv4 and IPv6: main has a way for the default destination */
	/* The first default destination or API server that leads to one, or storage that nothing
	 * tells the place of; or NULL. */
	const struct destination *unknown_end;
	/* The netdev with the kubelet's address, where nothing leads on; or NULL. */
	const struct netdev *dead_end;
	/* The --node-ip or flannel-iface that is not here, and that no boot knew; "": none */
	char awaited[sizeof(((struct node *)NULL)->kubelet.node_ip)];
	bool is_missing; /* what the last boot needed is not there, nor is an answer */
	bool lacks_card; /* and it is no VF of a PF that is there */
	bool is_young;   /* addresses, routes and PFs' netdevs changed within YOUNG_USEC */
};

/* Evidence that leads to a function. */
struct evidence {
	enum need_why why;
	const char *of, *netdev, *words;
	bool is_kept;
};

/* --- functions --- */

static void add_words(struct need *k, const char *words)
{
	if (!strstr(k->words, words))
		append_word(k->words, sizeof(k->words), "; ", "%s", words);
}

/* Adds one need, once; merge_needs() merges those of one function. */
static void add_need(struct search *s, const char *pci, const struct evidence *e, bool is_by_vf)
{
	struct need k = { .why = e->why, .is_by_vf = is_by_vf, .is_kept = e->is_kept };

	if (ANY(a, s->p->needs, s->p->n_needs,
		streq(a->pci, pci) && streq(a->words, e->words) && a->is_by_vf == is_by_vf))
		return;
	COPY(k.pci, pci);
	COPY(k.netdev, e->netdev);
	COPY(k.of, e->of);
	COPY(k.words, e->words);
	PLAN_ADD(s->p, needs, k);
}

/* Adds the need of a function, and of its PF where it is a VF. */
static void add_function(struct search *s, const char *address, const struct evidence *e)
{
	const struct pci *pci = node_pci(s->n, address);

	if (pci)
		add_need(s, address, e, false);
	if (pci && pci->physfn[0])
		add_need(s, pci->physfn, e, true);
}

static void add_netdev(struct search *s, const struct netdev *nd, const struct evidence *e,
		       enum leads *ret)
{
	const char *pci = graph_function(nd);

	if (pci[0]) {
		*ret = LEADS_FUNCTIONS;
		add_function(s, pci, e);
	} else if (nd->has_device) {
		*ret = MAX(*ret, LEADS_HARDWARE);
	}
	/* eRDMA: the RDMA device of this netdev is another function. */
	for (size_t i = 0; i < s->n->n_ibdevs; i++)
		if (s->n->ibdevs[i].pci[0] && streq(s->n->ibdevs[i].netdev, nd->name))
			add_function(s, s->n->ibdevs[i].pci, e);
}

/* All functions at and below a netdev. */
static void add_root(struct search *s, const struct netdev *root, const struct evidence *e,
		     enum leads *ret)
{
	const struct netdev *nd;

	add_netdev(s, root, e, ret);
	for (size_t i = 0; (nd = graph_below(&s->p->graph, root, &i));)
		if (nd->netns == 0)
			add_netdev(s, nd, e, ret);
	if (e->is_kept && e->why != NEED_BEFORE)
		s->p->has_needs |= *ret != LEADS_NONE;
}

/* --- NodeNIC= --- */

/* Does NodeNIC= match this netdev, such as a bond? Only globs on netdev: can. */
static bool is_netdev_match(const char *match, const struct netdev *nd)
{
	char word[NODE_NIC_LEN];
	bool is_match = false;

	while (given_next_word(&match, word, sizeof(word))) {
		const char *glob = after(word, "netdev:");

		if (!glob)
			return false;
		is_match |= netdev_is_called(nd, glob);
	}
	return is_match;
}

static void add_named(struct search *s, const char *match)
{
	const struct evidence e = { .why = NEED_WORD,
				    .of = "NodeNIC",
				    .netdev = "",
				    .words = "[Service] NodeNIC= names it" };
	enum leads leads = LEADS_NONE;

	FOREACH(pci, s->n->pcis, s->n->n_pcis)
		if (!pci->physfn[0] && plan_is_match(match, s->n, s->memory, pci))
			add_function(s, pci->address, &e);
	for (size_t i = 0; i < s->n->n_netdevs; i++)
		if (!s->n->netdevs[i].is_unnamed && is_netdev_match(match, &s->n->netdevs[i]))
			add_root(s, &s->n->netdevs[i], &e, &leads);
}

/* --- the kubelet's address --- */

/* Has another program than the kernel made it, and not of what a router advertised? */
static bool is_made(const struct route *t)
{
	return t->type == RTN_UNICAST && t->protocol != RTPROT_KERNEL && t->protocol != RTPROT_RA &&
	       t->protocol != OWN_PROTOCOL;
}

static bool has_source(const struct node *n, const struct route *t)
{
	return !is_zero(t->src) ||
	       ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == t->ifindex && a->family == t->family && a->scope < RT_SCOPE_LINK);
}

/* Has a packet by this route an address of @nd as source: it says so, or its netdev has none? */
static bool is_from(const struct node *n, const struct route *t, const struct netdev *nd)
{
	return ANY(a, n->addresses, n->n_addresses,
		   a->ifindex == nd->ifindex && a->family == t->family &&
			   a->scope < RT_SCOPE_LINK &&
			   (memcmp(a->local, t->src, sizeof(t->src)) == 0 || !has_source(n, t)));
}

/* An address on lo or a dummy is reached by the links that a routing daemon has its routes by. */
static void add_routed(struct search *s, const struct netdev *from, const struct evidence *e,
		       enum leads *ret)
{
	FOREACH(t, s->n->routes, s->n->n_routes) {
		const struct netdev *nd = node_netdev(s->n, t->ifindex);
		char words[256];
		const struct evidence way = { e->why, e->of, nd ? nd->name : "", words, true };

		if (!nd || !is_made(t) || !is_from(s->n, t, from) ||
		    route_vrf_of(s->n, nd) != route_vrf_of(s->n, from))
			continue;
		snprintf(words, sizeof(words), "%s, and packets from there leave by %s", e->words,
			 nd->name);
		add_root(s, nd, &way, ret);
	}
}

static void add_kubelets(struct search *s, const struct netdev *nd, const char *words)
{
	const struct evidence e = { NEED_ADDRESS, "address", nd->name, words, true };
	enum leads leads = LEADS_NONE;

	add_root(s, nd, &e, &leads);
	if (leads == LEADS_NONE)
		add_routed(s, nd, &e, &leads);
	if (leads == LEADS_NONE)
		s->dead_end = nd;
	s->is_ipv4_known |= leads != LEADS_NONE;
}

/* With unnumbered links (OSPF, BGP) each netdev has the address of lo, so that all owners count.
 * Return: has a netdev here the address? */
static bool add_owner(struct search *s, int family, const uint8_t bytes[static 16], const char *how)
{
	const size_t size = ip_bits(family) / 8;
	bool is_found = false;

	FOREACH_WHILE(a, s->n->addresses, s->n->n_addresses, !ip_is_loopback(family, bytes)) {
		const struct netdev *nd = node_netdev(s->n, a->ifindex);
		char address[INET6_ADDRSTRLEN], words[160];

		if (!nd || a->family != family || memcmp(a->local, bytes, size) != 0)
			continue;
		ip_format(family, bytes, UINT32_MAX, address, sizeof(address));
		snprintf(words, sizeof(words), "the kubelet's address %s%s is on %s", address, how,
			 nd->name);
		add_kubelets(s, nd, words);
		is_found = true;
	}
	return is_found;
}

static bool add_flannel(struct search *s)
{
	const struct netdev *nd = FIND(k, s->n->netdevs, s->n->n_netdevs,
				       netdev_is_called(k, s->n->kubelet.flannel_iface));
	char words[96];

	if (!nd)
		return false;
	snprintf(words, sizeof(words), "flannel-iface names %s", nd->name);
	add_kubelets(s, nd, words);
	return true;
}

static int on_address(void *userdata, int family, const uint8_t *bytes, const char *how)
{
	return bytes ? add_owner(userdata, family, bytes, how) : add_flannel(userdata);
}

/* --- destinations --- */

/* The same destination at another look: a default destination is any address. */
static void print_of(const struct destination *d, char *ret, size_t size)
{
	if (d->to == TO_DEFAULT || d->to == TO_VRF)
		snprintf(ret, size, "default %s %" PRIu32,
			 d->lookup.family == AF_INET6 ? "inet6" : "inet", d->lookup.ifindex);
	else if (d->pci[0])
		snprintf(ret, size, "function %s", d->pci);
	else if (d->lookup.family == AF_UNSPEC)
		snprintf(ret, size, "device %" PRIu32, d->lookup.found);
	else
		ip_format(d->lookup.family, d->lookup.dst, UINT32_MAX, ret, size);
}

/* @is_source: the packet leaves by another netdev, and @nd has the address that is its source */
static void print_words(const struct destination *d, const struct netdev *nd, bool is_source,
			char *ret, size_t size)
{
	const struct lookup *l = &d->lookup;
	char address[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];

	ip_format(l->family, l->dst, UINT32_MAX, address, sizeof(address));
	ip_format(l->family, l->source, UINT32_MAX, source, sizeof(source));
	if (l->family == AF_UNSPEC || d->pci[0])
		snprintf(ret, size, "%s", d->words);
	else if (streq(source, address))
		snprintf(ret, size, "%s (%s) is an address of %s", address, d->words, nd->name);
	else if (is_source)
		snprintf(ret, size, "%s, the source of packets to %s (%.100s), is on %s", source,
			 address, d->words, nd->name);
	else if (d->to == TO_DEFAULT)
		snprintf(ret, size, "%s has the default route", nd->name);
	else
		snprintf(ret, size, "a packet to %s (%s) leaves by %s", address, d->words,
			 nd->name);
}

static void add_hop(struct search *s, const struct destination *d, uint32_t ifindex, bool is_source,
		    enum leads *ret)
{
	const struct netdev *nd =
		d->pci[0] ? node_netdev_of(s->n, d->pci) : node_netdev(s->n, ifindex);
	char of[NEED_OF_LEN], words[256];
	const bool is_new = d->to != TO_BEFORE;
	const struct evidence e = { is_new ? NEED_WAY : NEED_BEFORE, is_new ? of : NEED_OF_BEFORE,
				    nd ? nd->name : "", words, true };

	if (!nd && !d->pci[0])
		return;
	print_of(d, of, sizeof(of));
	print_words(d, nd, is_source, words, sizeof(words));
	if (nd) {
		add_root(s, nd, &e, ret);
	} else {
		add_function(s, d->pci, &e);
		s->p->has_needs = true;
	}
}

static bool is_advertised_default(const struct route *t)
{
	return t->table == RT_TABLE_MAIN && t->family == AF_INET6 && t->prefix_len == 0 &&
	       t->protocol == RTPROT_RA;
}

/* Each rail may have a default route by router advertisement, of one metric. */
static void add_advertised(struct search *s, const struct destination *d, enum leads *ret)
{
	uint32_t best = UINT32_MAX;

	for (size_t i = 0; i < s->n->n_routes; i++)
		if (is_advertised_default(&s->n->routes[i]))
			best = MIN(best, s->n->routes[i].metric);
	for (size_t i = 0; i < s->n->n_routes; i++)
		if (is_advertised_default(&s->n->routes[i]) && s->n->routes[i].metric == best)
			add_hop(s, d, s->n->routes[i].ifindex, false, ret);
}

static bool is_advertised(const struct destination *d)
{
	return d->to == TO_DEFAULT && d->lookup.family == AF_INET6 &&
	       d->lookup.protocol == RTPROT_RA;
}

/* With PolicyRules=, packets with this source would leave by the netdev that has the address. */
static void add_source(struct search *s, const struct destination *d)
{
	const struct lookup *l = &d->lookup;
	enum leads leads = LEADS_NONE;

	FOREACH(a, s->n->addresses, s->n->n_addresses)
		if (a->family == l->family && a->ifindex != l->found && !is_zero(l->source) &&
		    memcmp(a->local, l->source, sizeof(a->local)) == 0)
			add_hop(s, d, a->ifindex, true, &leads);
}

static void add_hops(struct search *s, const struct destination *d, enum leads *ret)
{
	const struct lookup *l = &d->lookup;

	*ret = LEADS_NONE;
	if (l->result < 0)
		return;
	for (size_t i = 0; i < l->n_hops; i++)
		add_hop(s, d, l->hops[i], false, ret);
	add_hop(s, d, l->found, false, ret);
	add_source(s, d);
	if (is_advertised(d))
		add_advertised(s, d, ret);
}

static bool is_way_known(const struct search *s, const struct netdev *nd, unsigned n_tunnels);

/* Is it hardware, or a tunnel whose other end is reached by hardware? */
static bool is_known(const struct search *s, const struct netdev *nd, unsigned n_tunnels)
{
	if (nd->has_device || graph_function(nd)[0])
		return true;
	FOREACH_WHILE(end, s->n->tunnel_ends, s->n->n_tunnel_ends, n_tunnels > 0)
		FOREACH_WHILE(d, s->n->destinations, s->n->n_destinations,
			      end->ifindex == nd->ifindex)
			if (d->to == TO_TUNNEL_END && d->lookup.family == end->family &&
			    memcmp(d->lookup.dst, end->remote, sizeof(end->remote)) == 0 &&
			    d->lookup.result >= 0 &&
			    is_way_known(s, node_netdev(s->n, d->lookup.found), n_tunnels - 1))
				return true;
	return false;
}

static bool is_way_known(const struct search *s, const struct netdev *nd, unsigned n_tunnels)
{
	const struct netdev *below;

	if (!nd || is_known(s, nd, n_tunnels))
		return nd != NULL;
	for (size_t i = 0; (below = graph_below(&s->p->graph, nd, &i));)
		if (is_known(s, below, n_tunnels))
			return true;
	return false;
}

/* A dummy, a tap, a veth: a packet leaves by it, and nobody knows where it goes. */
static bool is_end_unknown(const struct search *s, const struct destination *d)
{
	const struct netdev *nd = node_netdev(s->n, d->lookup.found);

	if (d->lookup.result == -ENODATA)
		return true;
	if (d->lookup.result < 0 || !nd || streq(nd->name, "lo"))
		return false;
	return !is_way_known(s, nd, TUNNELS_MAX);
}

static void add_destination(struct search *s, const struct destination *d)
{
	enum leads leads;

	add_hops(s, d, &leads);
	if (leads != LEADS_NONE && d->to == TO_DEFAULT && d->lookup.family == AF_INET)
		s->is_ipv4_known = true;
	if (leads == LEADS_NONE && !s->unknown_end &&
	    (d->lookup.result == -EDESTADDRREQ ||
	     ((d->to == TO_DEFAULT || d->to == TO_API_SERVER) && is_end_unknown(s, d))))
		s->unknown_end = d;
}

/* Is a socket bound to this netdev? Where sockets are not known: yes. */
static bool is_bound_to(const struct node *n, struct plan *p, uint32_t ifindex)
{
	if (!n->has_socks) {
		p->questions.set |= 1u << QUESTION_SOCKS;
		return true;
	}
	return ANY(s, n->socks, n->n_socks, s->ifindex == ifindex);
}

/* The default destinations first: whether others count depends on their answers. */
static void add_destinations(struct search *s)
{
	for (int turn = 0; turn < 4; turn++)
		FOREACH(d, s->n->destinations, s->n->n_destinations) {
			const int of = is_advertised(d)                                     ? 2
				       : d->to == TO_VRF                                    ? 3
				       : d->to == TO_DEFAULT && d->lookup.family == AF_INET ? 0
											    : 1;

			if (d->to == TO_DEFAULT && d->lookup.result >= 0)
				s->has_default[d->lookup.family == AF_INET6] = true;
			if (of != turn || d->to == TO_MOUNT || d->to == TO_BEFORE ||
			    (of == 2 && s->is_ipv4_known) ||
			    (of == 3 && s->has_default[d->lookup.family == AF_INET6] &&
			     !is_bound_to(s->n, s->p, d->lookup.ifindex)))
				continue;
			add_destination(s, d);
		}
}

/* --- nothing is known --- */

static void add_weak(struct search *s, const struct netdev *nd, enum need_why why,
		     const char *words)
{
	const struct evidence e = { why, "", nd->name, words, false };

	add_root(s, nd, &e, &(enum leads){ LEADS_NONE });
}

static void print_end(const struct search *s, char *ret, size_t size)
{
	const struct destination *d = s->unknown_end;
	const struct netdev *nd = node_netdev(s->n, d->lookup.found);
	char address[INET6_ADDRSTRLEN], way[200];

	if (nd) {
		print_words(d, nd, false, way, sizeof(way));
		snprintf(ret, size, "%s, and where that leads is not known", way);
	} else if (d->lookup.result == -EDESTADDRREQ) {
		snprintf(ret, size, "nothing tells where this is: %s", d->words);
	} else {
		ip_format(d->lookup.family, d->lookup.dst, UINT32_MAX, address, sizeof(address));
		snprintf(ret, size, "the way to %s (%.100s) is not known", address, d->words);
	}
}

/* @has: "an address" */
static void add_guess(struct search *s, const struct netdev *nd, enum need_why why, const char *has)
{
	const char *problem = s->n->kubelet.address_problem;
	char words[sizeof(s->p->needs->words)],
		cause[256] = "nothing tells which NIC carries the node";

	if (*problem)
		snprintf(cause, sizeof(cause), "the kubelet's address is not known: %.200s",
			 problem);
	else if (*s->awaited)
		PRINT(cause, "the kubelet waits for %s", s->awaited);
	else if (why == NEED_WAITING)
		PRINT(cause, "the node may still get its routes");
	else if (s->unknown_end)
		print_end(s, cause, sizeof(cause));
	snprintf(words, sizeof(words), "%s has %s, and %s", nd->name, has, cause);
	add_weak(s, nd, why, words);
}

static bool is_of_host(const struct search *s, const struct address *a)
{
	return a->scope < RT_SCOPE_LINK && !memory_gave(s->memory, a);
}

/* Does a route lead on by hardware? Then the program behind a tap may send by a socket. */
static bool leads_on(const struct search *s)
{
	return ANY(t, s->n->routes, s->n->n_routes,
		   (is_made(t) || t->protocol == RTPROT_RA) &&
			   is_way_known(s, node_netdev(s->n, t->ifindex), 0));
}

/* May a program have this netdev to itself? It is none that this service brought up. */
static bool may_be_taken(const struct search *s, const struct netdev *nd, bool has_context)
{
	const struct pci *pci = nd->pci[0] ? node_pci(s->n, nd->pci) : NULL;
	const struct ibdev *ib = pci ? node_ibdev_of(s->n, pci->address) : NULL;

	return pci && nd->is_up && !nd->master && !node_is_infiniband(s->n, pci) &&
	       (!has_context || (ib && ib->n_contexts > 0)) &&
	       !node_has_host_address(s->n, s->memory, nd->ifindex) &&
	       !memory_entry(s->memory, "set-link-up", "", nd->ifindex, "");
}

static void add_addressed(struct search *s, enum need_why why)
{
	const size_t n_others = s->p->n_needs;
	bool has_addressed;

	FOREACH(a, s->n->addresses, s->n->n_addresses) {
		const struct netdev *nd = node_netdev(s->n, a->ifindex);

		if (nd && is_of_host(s, a))
			add_guess(s, nd, why, "an address");
	}
	FOREACH(t, s->n->routes, s->n->n_routes) {
		const struct netdev *nd = node_netdev(s->n, t->ifindex);

		if (nd && is_made(t))
			add_guess(s, nd, why, "a route");
	}
	has_addressed = s->p->n_needs > n_others;
	if (s->unknown_end && s->unknown_end->lookup.result >= 0 && !leads_on(s))
		FOREACH(nd, s->n->netdevs, s->n->n_netdevs)
			if (may_be_taken(s, nd, has_addressed))
				add_guess(s, nd, why, "neither address nor master");
	for (size_t i = 0; i < s->n->n_netdevs && s->n->lacks_net; i++)
		add_weak(s, &s->n->netdevs[i], NEED_NOT_RECORDED,
			 "this tree does not tell whether the node needs it");
}

static void add_sign(struct search *s, const struct netdev *nd, const char *sign)
{
	char words[192];

	snprintf(words, sizeof(words), "%s: %s", nd->name, sign);
	add_weak(s, nd, NEED_WAITING, words);
}

static bool is_pf(const struct node *n, const struct netdev *nd)
{
	const struct pci *pci = nd->pci[0] ? node_pci(n, nd->pci) : NULL;

	return pci && !pci->physfn[0];
}

/* Has this service changed the function or its PF, or made VFs with another configuration? */
static bool is_ours(const struct search *s, const char *function, const char *pf)
{
	return attempts_next(s->p->tried, function, NULL) || attempts_next(s->p->tried, pf, NULL) ||
	       memory_entry(s->memory, "set-num-vfs", pf, 0, "");
}

static bool is_untouched(const struct search *s, const struct netdev *nd)
{
	const struct pci *pci = node_pci(s->n, nd->pci);

	return !(pci && is_ours(s, nd->pci, pci->physfn[0] ? pci->physfn : nd->pci));
}

/*
 * IF_RS_SENT without IF_RA_RCVD in IFLA_INET6_FLAGS. The kernel asks when a link comes up, and
 * never takes the flag back where no router answers, as on most rails: who has brought the link up
 * is at work on it, and that is another than this service.
 */
static bool has_asked_for_router(const struct search *s, const struct netdev *nd)
{
	return (nd->inet6_flags & (IF_RS_SENT | IF_RA_RCVD)) == IF_RS_SENT && is_untouched(s, nd);
}

/* NULL: nobody is at work on it. */
static const char *sign_of(const struct search *s, const struct netdev *nd)
{
	if (nd->sign[0])
		return nd->sign;
	if (has_asked_for_router(s, nd))
		return "it has asked for a router, and none has answered yet";
	return s->is_young && is_pf(s->n, nd) && is_untouched(s, nd)
		       ? "a network manager may still begin to configure it"
		       : NULL;
}

/* Return: was there any sign? */
static bool add_signs(struct search *s, bool is_known)
{
	const struct netdev *empty = node_portless(s->n, true);
	bool is_found = false;
	char text[128];

	if (*s->awaited)
		PRINT(text, "the kubelet waits for %s", s->awaited);
	else if (empty)
		snprintf(text, sizeof(text), "%s has no port yet", empty->name);
	else if (s->dead_end)
		snprintf(text, sizeof(text), "%s has the kubelet's address, and no route leads on",
			 s->dead_end->name);
	FOREACH(nd, s->n->netdevs, s->n->n_netdevs) {
		const bool may_join = !is_known && nd->pci[0] &&
				      (*s->awaited || (!nd->master && (empty || s->dead_end))) &&
				      !node_has_host_address(s->n, s->memory, nd->ifindex);
		const char *sign = sign_of(s, nd);

		if (!sign && !may_join)
			continue;
		is_found = true;
		add_sign(s, nd, sign ? sign : text);
	}
	return is_found;
}

/* A hash that changes with the addresses and routes of add_addressed() and the netdevs of PFs: with
 * routes of this service in it, each rail that gets one would have to wait again. */
static uint64_t hash_net(const struct search *s)
{
	const struct node *n = s->n;
	uint64_t h = HASH_START;

	FOREACH(a, n->addresses, n->n_addresses) {
		if (!is_of_host(s, a))
			continue;
		h = hash_bytes(h, &a->ifindex, sizeof(a->ifindex));
		h = hash_bytes(h, a->local, sizeof(a->local));
	}
	FOREACH(t, n->routes, n->n_routes) {
		if (!is_made(t))
			continue;
		h = hash_bytes(h, &t->ifindex, sizeof(t->ifindex));
		h = hash_bytes(h, t->dst, sizeof(t->dst));
		h = hash_bytes(h, &t->prefix_len, sizeof(t->prefix_len));
	}
	for (size_t i = 0; i < n->n_netdevs; i++)
		if (is_pf(n, &n->netdevs[i]))
			h = hash_bytes(h, &n->netdevs[i].ifindex, sizeof(n->netdevs[i].ifindex));
	return h >> 1; /* JSON has no larger number */
}

/* Is the time over in which evidence is waited for? */
static bool is_wait_over(const struct search *s)
{
	const struct boot *now = boots_present(s->n, s->memory);

	return s->p->is_wait_over || (now && now->state != NODE_STARTING);
}

/* @is_known: there is evidence, so that nothing more is held once the wait is over. */
static void add_unknown(struct search *s, bool is_known)
{
	const bool is_over = is_wait_over(s);
	bool is_quiet, has_signs = false;
	uint64_t until = 0;

	if (!is_over) {
		s->p->net_hash = hash_net(s);
		s->p->net_usec = s->p->net_hash == s->memory->net_hash ? s->memory->net_usec
								       : s->n->now_usec;
		s->is_young = s->n->now_usec > 0 && s->n->now_usec < s->p->net_usec + YOUNG_USEC;
		until = s->p->net_usec + (s->is_young ? YOUNG_USEC : QUIET_USEC);
		has_signs = (add_signs(s, is_known) && (!is_known || s->lacks_card)) ||
			    *s->awaited ||
			    (*s->n->kubelet.address_problem && s->n->kubelet.is_waiting);
	}
	is_quiet = is_over || (!has_signs && s->n->now_usec >= until);
	if (s->n->now_usec == 0) /* in a captured tree no time passes */
		is_quiet = !has_signs && !s->is_missing;
	if (is_quiet)
		KEEP(k, s->p->needs, s->p->n_needs, k->why != NEED_WAITING);
	if (!is_quiet || !is_known)
		add_addressed(s, is_quiet ? NEED_UNKNOWN : NEED_WAITING);
	if (!is_quiet && s->n->now_usec > 0 && s->n->now_usec < until &&
	    ANY(k, s->p->needs, s->p->n_needs, k->why == NEED_WAITING))
		s->p->again_usec = s->p->again_usec > 0 ? MIN(s->p->again_usec, until) : until;
}

/* --- before --- */

static bool is_of(const struct graph *g, const char *pci, uint32_t ifindex)
{
	const struct netdev *nd;

	for (size_t i = 0; (nd = graph_of(g, pci, &i));)
		if (nd->netns == 0 && nd->ifindex == ifindex)
			return true;
	return false;
}

static const struct destination *find_of(const struct search *s, const struct boot_need *b)
{
	char of[NEED_OF_LEN];

	FOREACH(d, s->n->destinations, s->n->n_destinations) {
		print_of(d, of, sizeof(of));
		if (streq(of, b->of))
			return d;
	}
	return NULL;
}

/* Is the earlier answer still in place, so that a different one now is better? */
static bool has_stayed(const struct search *s, const struct boot_need *b, const char *pci)
{
	const struct destination *d = find_of(s, b);

	if (streq(b->of, "address"))
		return true;
	return d && ANY(t, s->n->routes, s->n->n_routes,
			t->family == d->lookup.family && t->type == RTN_UNICAST && !t->is_dead &&
				ip_is_in_prefix(d->lookup.dst, t->dst, t->prefix_len) &&
				is_of(&s->p->graph, pci, t->ifindex));
}

/* Does a netdev of this function have a sign that a program still configures it? */
static bool has_sign(const struct search *s, const char *pci)
{
	return ANY(nd, s->n->netdevs, s->n->n_netdevs, streq(nd->pci, pci) && sign_of(s, nd));
}

/* A function of the last boot stays beside the answers of this one while it has a sign. */
static void add_before(struct search *s, const struct boot *b, bool is_present)
{
	const bool is_open = is_present && b->state == NODE_STARTING,
		   is_answered = !is_present && s->p->has_needs && !*s->awaited;

	FOREACH(k, b->needs, b->n_needs) {
		const struct pci *pci = boots_function(s->n, k);
		char words[192];
		const struct evidence e = { NEED_BEFORE, k->of, "", words, is_present };

		if (streq(k->of, "address")) /* nothing else has to wait for it */
			s->awaited[0] = '\0';
		/* Does the same evidence lead to another function now? */
		if (!pci || (!is_present && streq(k->of, NEED_OF_BEFORE)) ||
		    (is_answered && (is_wait_over(s) || !has_sign(s, pci->address))) ||
		    ANY(need, s->p->needs, s->p->n_needs,
			streq(need->pci, pci->address) ||
				(is_open && streq(need->of, k->of) && need->why <= NEED_WAY &&
				 has_stayed(s, k, pci->address))))
			continue;
		snprintf(words, sizeof(words), "the node needed it before, in %s%s%s",
			 is_present ? "this boot" : "the last boot", k->words[0] ? ": " : "",
			 k->words);
		add_function(s, pci->address, &e);
	}
}

/* Waits for what is not there, unless its evidence leads elsewhere now. It may be a VF that another
 * program makes: the number of VFs of its PF is left to that program. */
static void add_missing(struct search *s, const struct boot *b)
{
	FOREACH(k, b->needs, b->n_needs) {
		const struct destination *d = find_of(s, k);
		struct boot_need pf = { .pf = "" };
		char words[96];
		const struct evidence e = { NEED_WAITING, k->of, "", words, false };

		if (boots_function(s->n, k) || streq(k->of, NEED_OF_BEFORE) ||
		    (d && d->to != TO_BEFORE && d->lookup.result >= 0) ||
		    ANY(need, s->p->needs, s->p->n_needs,
			need->why <= NEED_WAY && streq(need->of, k->of)))
			continue;
		s->is_missing = true;
		COPY(pf.pci, k->pf);
		COPY(pf.card, k->card);
		PRINT(words, "the last boot needed its VF %.19s", k->pci);
		if (k->pf[0] && boots_function(s->n, &pf))
			add_function(s, boots_function(s->n, &pf)->address, &e);
		else
			s->lacks_card = true;
	}
}

/* --- all of them --- */

/* The first evidence of a function stays first. */
static void merge_needs(struct plan *p)
{
	size_t n = 0;

	FOREACH(k, p->needs, p->n_needs) {
		struct need *have = p->needs;

		while (have < p->needs + n && !streq(have->pci, k->pci))
			have++;
		if (have == p->needs + n) {
			p->needs[n++] = *k;
			continue;
		}
		have->is_by_vf &= k->is_by_vf;
		have->is_kept |= k->is_kept;
		if (k->why < NEED_UNKNOWN || have->why >= NEED_UNKNOWN)
			add_words(have, k->words);
	}
	p->n_needs = n;
	SORT(p->needs, n, compare_text);
}

static void search(struct search *s)
{
	const char *word = s->c->service.node_nic;
	const struct boot *now = boots_present(s->n, s->memory);
	bool is_known;

	if (streq(word, NODE_NIC_NONE))
		return;
	if (word[0] && !streq(word, NODE_NIC_AUTO))
		add_named(s, word);
	if (s->p->n_needs > 0)
		return;
	if (node_find_kubelet(s->n, on_address, s) == -EADDRNOTAVAIL && !s->n->lacks_net)
		COPY(s->awaited,
		     *s->n->kubelet.node_ip ? s->n->kubelet.node_ip : s->n->kubelet.flannel_iface);
	add_destinations(s);
	if (now)
		add_before(s, now, true);
	s->p->has_needs |= now && now->has_needs;
	FOREACH(d, s->n->destinations, s->n->n_destinations)
		if (d->to == TO_BEFORE)
			add_destination(s, d);
	for (const struct boot *b = NULL; (b = boots_before(s->n, s->memory, b));)
		add_before(s, b, false);
	is_known = (s->p->n_needs > 0 || s->p->has_needs) && !s->unknown_end && !s->n->lacks_net &&
		   !*s->n->kubelet.address_problem && (!*s->awaited || is_wait_over(s));
	for (const struct boot *b = NULL;
	     !is_wait_over(s) && (b = boots_before(s->n, s->memory, b));)
		add_missing(s, b);
	if (!is_known || s->is_missing)
		add_unknown(s, is_known);
}

void plan_needs(const struct config *c, const struct node *n, const struct memory *memory,
		struct plan *p)
{
	struct search s = { .c = c, .n = n, .memory = memory, .p = p };

	p->texts.is_short |= graph_make(n, &p->graph) < 0;
	if (p->texts.is_short)
		return;
	search(&s);
	merge_needs(p);
}
