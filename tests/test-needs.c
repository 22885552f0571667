/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/step/steps.h"

#include "scene.h"

#include <linux/rtnetlink.h>

#define SEC      USEC_PER_SEC
#define ETH0     "0000:41:00.0 eth0"
#define ETH1     "0000:41:00.1 eth1"
#define WAY0     ETH0 " way"
#define WAY1     ETH1 " way"
#define BEFORE0  "0000:41:00.0  before"
#define BEFORE1  "0000:41:00.1  before"
#define UNKNOWN  ETH0 " unknown, " ETH1 " unknown"
#define WAITING  ETH0 " waiting, " ETH1 " waiting"
#define UPLINK   2
#define RAIL     3
#define DUMMY    4
#define ON_BOARD 5 /* hardware that is no PCI function */

/* A node by its netdevs, addresses and destinations. */
struct scene {
	struct config config;
	struct node node;
	struct memory memory;
	struct pci pcis[8];
	struct netdev netdevs[16];
	struct address addresses[8];
	struct route routes[8];
	struct ibdev ibdevs[4];
	struct destination destinations[8];
	struct tunnel_end ends[4];
	struct host hosts[8];
	struct sock socks[2];
	struct boot boots[3];
	const struct attempts *tried;
	bool is_wait_over;
	/* of the plan that assert_needs() made */
	uint64_t again_usec;
	bool has_needs, asks_socks;
};

static void add_pci(struct scene *s, const char *address, const char *physfn)
{
	struct pci *pci = &s->pcis[s->node.n_pcis++];

	COPY(pci->address, address);
	COPY(pci->physfn, physfn);
}

static struct netdev *add_netdev(struct scene *s, uint32_t ifindex, const char *name,
				 const char *pci, const char *kind)
{
	struct netdev *nd = &s->netdevs[s->node.n_netdevs++];

	nd->ifindex = ifindex;
	COPY(nd->name, name);
	COPY(nd->pci, pci);
	COPY(nd->kind, kind);
	nd->has_device = pci[0] != '\0';
	return nd;
}

static struct netdev *netdev(struct scene *s, uint32_t ifindex)
{
	return (struct netdev *)node_netdev(&s->node, ifindex);
}

static struct address *add_address(struct scene *s, uint32_t ifindex, const char *local)
{
	struct address *a = &s->addresses[s->node.n_addresses++];

	a->ifindex = ifindex;
	parse(local, &a->family, a->local);
	return a;
}

static struct destination *add_destination(struct scene *s, enum destination_to to, const char *dst,
					   uint32_t found)
{
	struct destination *d = &s->destinations[s->node.n_destinations++];

	d->to = to;
	COPY(d->words, "a test");
	parse(dst, &d->lookup.family, d->lookup.dst);
	d->lookup.found = found;
	d->lookup.protocol = RTPROT_STATIC;
	return d;
}

static struct route *add_route(struct scene *s, const char *dst, uint32_t prefix_len,
			       uint32_t ifindex)
{
	struct route *t = &s->routes[s->node.n_routes++];

	*t = (struct route){ .prefix_len = prefix_len,
			     .table = RT_TABLE_MAIN,
			     .ifindex = ifindex,
			     .type = RTN_UNICAST };
	parse(dst, &t->family, t->dst);
	return t;
}

static void add_host(struct scene *s, const char *name, const char *address)
{
	struct host *h = &s->hosts[s->node.n_hosts++];

	COPY(h->name, name);
	parse(address, &h->family, h->address);
	h->line = (uint32_t)s->node.n_hosts;
}

static void add_end(struct scene *s, uint32_t ifindex, const char *remote)
{
	struct tunnel_end *end = &s->ends[s->node.n_tunnel_ends++];

	end->ifindex = ifindex;
	parse(remote, &end->family, end->remote);
}

/* A boot that remembers one function, or none. The last one added is the present one. */
static struct boot *add_boot(struct scene *s, const char *pci, const char *of)
{
	struct boot *b = &s->boots[s->memory.n_boots++];

	snprintf(b->boot_id, sizeof(b->boot_id), "boot %zu", s->memory.n_boots);
	COPY(s->node.boot_id, b->boot_id);
	b->n_needs = pci[0] ? 1 : 0;
	b->has_needs = b->n_needs > 0;
	COPY(b->needs[0].pci, pci);
	COPY(b->needs[0].of, of);
	return b;
}

/* Two functions, eth0 and eth1, each with an address. */
static void set_scene(struct scene *s)
{
	*s = (struct scene){};
	s->node.pcis = s->pcis;
	s->node.netdevs = s->netdevs;
	s->node.addresses = s->addresses;
	s->node.routes = s->routes;
	s->node.ibdevs = s->ibdevs;
	s->node.destinations = s->destinations;
	s->node.tunnel_ends = s->ends;
	s->node.hosts = s->hosts;
	s->node.socks = s->socks;
	s->memory.boots = s->boots;
	COPY(s->node.host_name, "node7");
	add_pci(s, "0000:41:00.0", "");
	add_pci(s, "0000:41:00.1", "");
	add_pci(s, "0000:41:01.0", "0000:41:00.0");
	add_netdev(s, 1, "lo", "", "");
	add_netdev(s, UPLINK, "eth0", "0000:41:00.0", "");
	add_netdev(s, RAIL, "eth1", "0000:41:00.1", "");
	add_netdev(s, DUMMY, "dummy0", "", "dummy");
	add_netdev(s, ON_BOARD, "eno1", "", "")->has_device = true;
	add_address(s, UPLINK, "192.0.2.10");
	add_address(s, RAIL, "10.1.0.2");
}

static void make_needs(struct scene *s, struct plan *ret)
{
	ret->is_wait_over = s->is_wait_over;
	ret->tried = s->tried;
	plan_needs(&s->config, &s->node, &s->memory, ret);
	s->again_usec = ret->again_usec;
	s->has_needs = ret->has_needs;
	s->asks_socks = questions_ask(&ret->questions, QUESTION_SOCKS);
}

/* "0000:41:00.0 eth0 way", in order; "" for none. */
static void assert_needs(struct scene *s, const char *expected)
{
	static const char *const words[_NEED_N] = {
		[NEED_WORD] = "word",
		[NEED_ADDRESS] = "address",
		[NEED_WAY] = "way",
		[NEED_BEFORE] = "before",
		[NEED_UNKNOWN] = "unknown",
		[NEED_WAITING] = "waiting",
		[NEED_NOT_RECORDED] = "not recorded",
	};
	_cleanup_(plan_done) struct plan p = {};
	char text[512] = "";

	make_needs(s, &p);
	for (size_t i = 0; i < p.n_needs; i++) {
		const struct need *k = &p.needs[i];
		const size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s %s %s%s", i > 0 ? ", " : "", k->pci,
			 k->netdev, words[k->why], k->is_by_vf ? " by VF" : "");
	}
	assert_string_equal(text, expected);
}

/* The last change of the network was ten seconds ago. */
static void let_it_be_quiet(struct scene *s)
{
	_cleanup_(plan_done) struct plan p = {};

	make_needs(s, &p);
	s->memory.net_hash = p.net_hash;
	s->memory.net_usec = s->node.now_usec - 10 * SEC;
}

/* --- the administrator's word --- */

static void node_nic_replaces_all_inference(void **state _unused_)
{
	static const struct {
		const char *node_nic, *expected;
	} rows[] = {
		{ "", WAY0 },
		{ "auto", WAY0 },
		{ "none", "" },
		{ "netdev:eth1", "0000:41:00.1  word" },
		{ "pci:0000:41:00.*", "0000:41:00.0  word, 0000:41:00.1  word" },
		{ "netdev:rail0", "0000:41:00.1  word" }, /* an altname */
		{ "netdev:nothing\tnetdev:eth1.7", "0000:41:00.1  word" },
		{ "driver:mlx5_core netdev:eth1.7", WAY0 },
		/* what matches nothing says nothing */
		{ "pci:0000:99:00.0", WAY0 },
		{ "netdev:eno1", WAY0 },
		{ "pci:0000:41:01.0", WAY0 }, /* as in Match=, which matches PFs */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
		COPY(netdev(&s, RAIL)->altnames, "enp65s0f1np1 rail0");
		add_netdev(&s, 20, "eth1.7", "", "vlan")->link = RAIL;
		COPY(s.config.service.node_nic, rows[i].node_nic);
		assert_needs(&s, rows[i].expected);
	}
}

static void node_nic_is_not_the_name_that_udev_replaces(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	COPY(s.config.service.node_nic, "netdev:eth1");
	netdev(&s, RAIL)->is_unnamed = true;
	assert_needs(&s, WAY0);
}

/* --- the kubelet's address --- */

static void kubelets_address_is_found_in_its_own_order(void **state _unused_)
{
	static const struct {
		const char *what, *node_ip, *flannel, *name, *host_name;
		struct {
			const char *name, *address;
		} hosts[4];
		const char *expected;
	} rows[] = {
		{ "--node-ip", "10.1.0.2", "", "", "", {}, ETH1 " address" },
		{ "a list of them",
		  "192.0.2.10,2001:db8::3",
		  "",
		  "",
		  "",
		  {},
		  ETH0 " address, " ETH1 " address" },
		{ "words around it",
		  "0.0.0.0,203.0.113.9,nonsense, 192.0.2.10",
		  "",
		  "",
		  "",
		  {},
		  ETH0 " address" },
		{ "it only chooses the family", "::", "", "", "", {}, UNKNOWN },
		/* flannel's packets between pods go by it, whatever the address of the node */
		{ "beside flannel-iface",
		  "10.1.0.2",
		  "eth0",
		  "",
		  "",
		  {},
		  ETH0 " address, " ETH1 " address" },
		{ "flannel-iface", "", "eth1", "192.0.2.10", "", {}, ETH1 " address" },
		{ "a flannel-iface that is not there", "", "eth9", "", "", {}, WAITING },
		{ "a --node-ip that is not there",
		  "203.0.113.9,2001:db8::9",
		  "",
		  "192.0.2.10",
		  "",
		  { { "192.0.2.10", "192.0.2.10" } },
		  WAITING },
		{ "--hostname-override is an address",
		  "",
		  "",
		  "192.0.2.10",
		  "10.1.0.2",
		  {},
		  ETH0 " address" },
		{ "the host name is one", "", "", "", "2001:db8::3", {}, ETH1 " address" },
		{ "/etc/hosts", "", "", "", "", { { "node7", "10.1.0.2" } }, ETH1 " address" },
		{ "case does not count",
		  "",
		  "",
		  "",
		  "",
		  { { "NODE7", "10.1.0.2" } },
		  ETH1 " address" },
		{ "--hostname-override in it",
		  "",
		  "",
		  "other",
		  "",
		  { { "node7", "10.1.0.2" }, { "other", "192.0.2.10" } },
		  ETH0 " address" },
		{ "IPv4 first",
		  "",
		  "",
		  "",
		  "",
		  { { "node7", "2001:db8::3" }, { "node7", "192.0.2.10" } },
		  ETH0 " address" },
		{ "IPv6 first by --node-ip",
		  "::",
		  "",
		  "",
		  "",
		  { { "node7", "192.0.2.10" }, { "node7", "2001:db8::3" } },
		  ETH1 " address" },
		{ "IPv6 first, which is not there",
		  "::",
		  "",
		  "",
		  "",
		  { { "node7", "192.0.2.10" }, { "node7", "2001:db8::9" } },
		  ETH0 " address" },
		{ "IPv4 first by --node-ip",
		  "0.0.0.0,::",
		  "",
		  "",
		  "",
		  { { "node7", "2001:db8::3" }, { "node7", "192.0.2.10" } },
		  ETH0 " address" },
		{ "IPv6 only", "", "", "", "", { { "node7", "2001:db8::3" } }, ETH1 " address" },
		{ "neither 127.0.1.1 nor one that nobody has",
		  "",
		  "",
		  "",
		  "",
		  { { "node7", "127.0.1.1" }, { "node7", "203.0.113.1" }, { "node7", "10.1.0.2" } },
		  ETH1 " address" },
		{ "not one of the link",
		  "",
		  "",
		  "",
		  "",
		  { { "node7", "169.254.7.2" }, { "node7", "192.0.2.10" } },
		  ETH0 " address" },
		{ "127.0.1.1 alone", "", "", "", "", { { "node7", "127.0.1.1" } }, UNKNOWN },
		{ "another host", "", "", "", "", { { "node8", "10.1.0.2" } }, UNKNOWN },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		add_address(&s, 1, "127.0.1.1")->scope = RT_SCOPE_HOST;
		add_address(&s, RAIL, "2001:db8::3");
		add_address(&s, RAIL, "169.254.7.2");
		COPY(s.node.kubelet.node_ip, rows[i].node_ip);
		COPY(s.node.kubelet.flannel_iface, rows[i].flannel);
		COPY(s.node.kubelet.host_name, rows[i].name);
		if (rows[i].host_name[0])
			COPY(s.node.host_name, rows[i].host_name);
		for (size_t k = 0; k < 4 && rows[i].hosts[k].name; k++)
			add_host(&s, rows[i].hosts[k].name, rows[i].hosts[k].address);
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
	}
}

/* Packets leave by eth1, as a rule before that of main says. */
static void kubelets_last_way_is_the_default_route_of_main(void **state _unused_)
{
	static const struct {
		const char *what, *node_ip;
		struct {
			const char *dst;
			uint32_t ifindex, metric, table;
			uint8_t protocol;
		} routes[3];
		const char *expected;
	} rows[] = {
		{ "main", "", { { "0.0.0.0", UPLINK } }, ETH0 " address, " ETH1 " way" },
		{ "not after another way", "10.1.0.2", { { "0.0.0.0", UPLINK } }, ETH1 " address" },
		{ "nor after one that comes later",
		  "203.0.113.9",
		  { { "0.0.0.0", UPLINK } },
		  ETH0 " waiting, " WAY1 },
		{ "the lowest metric",
		  "",
		  { { "0.0.0.0", ON_BOARD, 9 }, { "0.0.0.0", UPLINK, 5 }, { "0.0.0.0", RAIL, 9 } },
		  ETH0 " address, " ETH1 " way" },
		{ "packets leave by it as well", "", { { "0.0.0.0", RAIL } }, ETH1 " way" },
		{ "another table", "", { { "0.0.0.0", UPLINK, .table = 7 } }, ETH1 " way" },
		{ "a router of a rail",
		  "",
		  { { "::", UPLINK, .protocol = RTPROT_RA } },
		  ETH1 " way" },
		{ "a router's before it",
		  "",
		  { { "::", UPLINK, 1024 }, { "::", ON_BOARD, 1024, .protocol = RTPROT_RA } },
		  ETH1 " way" },
		{ "a router's behind it",
		  "",
		  { { "::", ON_BOARD, 1025, .protocol = RTPROT_RA }, { "::", UPLINK, 1024 } },
		  ETH0 " address, " ETH1 " way" },
		{ "IPv6", "", { { "::", UPLINK } }, ETH0 " address, " ETH1 " way" },
		{ "IPv4 first",
		  "0.0.0.0",
		  { { "::", UPLINK }, { "0.0.0.0", ON_BOARD } },
		  ETH1 " way" },
		{ "IPv6 first",
		  "::",
		  { { "0.0.0.0", ON_BOARD }, { "::", UPLINK } },
		  ETH0 " address, " ETH1 " way" },
		{ "an address of the link alone",
		  "",
		  { { "0.0.0.0", DUMMY }, { "0.0.0.0", UPLINK, 5 } },
		  ETH0 " address, " ETH1 " way" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		add_destination(&s, TO_DEFAULT, "192.0.2.1", RAIL);
		add_address(&s, UPLINK, "2001:db8::2");
		add_address(&s, ON_BOARD, "192.0.2.12");
		add_address(&s, ON_BOARD, "2001:db8::12");
		add_address(&s, DUMMY, "169.254.7.2");
		COPY(s.node.kubelet.node_ip, rows[i].node_ip);
		for (size_t k = 0; k < 3 && rows[i].routes[k].dst; k++) {
			struct route *t =
				add_route(&s, rows[i].routes[k].dst, 0, rows[i].routes[k].ifindex);

			t->metric = rows[i].routes[k].metric;
			t->table = rows[i].routes[k].table ?: RT_TABLE_MAIN;
			t->protocol = rows[i].routes[k].protocol;
		}
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
	}
}

static void a_kubelets_address_on_a_dummy_tells_no_function(void **state _unused_)
{
	struct scene s;

	set_scene(&s); /* as with BGP to the host */
	add_address(&s, DUMMY, "10.9.9.9");
	COPY(s.node.kubelet.node_ip, "10.9.9.9");
	assert_needs(&s, UNKNOWN);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0);
}

/* As FRR has it with BGP unnumbered: eth0 leads to the other nodes, and has no address. */
static void an_address_on_lo_is_reached_by_what_leads_away_from_it(void **state _unused_)
{
	struct scene s;
	struct route *t;
	int family;

	set_scene(&s);
	s.addresses[0].ifindex = 1;
	COPY(s.node.kubelet.node_ip, "192.0.2.10");
	t = add_route(&s, "192.0.2.0", 24, UPLINK);
	t->protocol = RTPROT_ZEBRA;
	add_destination(&s, TO_DEFAULT, "198.51.100.1", ON_BOARD);
	assert_needs(&s, ETH0 " address");
	t->protocol = RTPROT_KERNEL;
	assert_needs(&s, "");
	t->protocol = RTPROT_RA;
	assert_needs(&s, "");
	t->protocol = OWN_PROTOCOL;
	assert_needs(&s, "");
	t->protocol = RTPROT_ZEBRA;
	t->type = RTN_BLACKHOLE;
	assert_needs(&s, "");
	t->type = RTN_UNICAST;
	t->family = AF_INET6;
	assert_needs(&s, "");
	t->family = AF_INET;

	t->ifindex = RAIL; /* which has an address that packets take */
	assert_needs(&s, "");
	s.addresses[1].scope = RT_SCOPE_LINK;
	assert_needs(&s, ETH1 " address");
	s.addresses[1].scope = RT_SCOPE_UNIVERSE;
	parse("192.0.2.10", &family, t->src);
	assert_needs(&s, ETH1 " address");
	parse("192.0.2.11", &family, t->src);
	assert_needs(&s, "");

	t->src[3] = 10;
	netdev(&s, RAIL)->master = 10; /* lo is not in that VRF */
	add_netdev(&s, 10, "fabric", "", "vrf")->vrf_table = 10;
	assert_needs(&s, "");
	netdev(&s, RAIL)->master = 0;
	s.node.kubelet.node_ip[0] = '\0';
	COPY(s.node.kubelet.flannel_iface, "lo");
	assert_needs(&s, ETH1 " address");
	s.addresses[0].ifindex = UPLINK; /* it is no more on lo */
	COPY(s.node.kubelet.flannel_iface, "eth0");
	assert_needs(&s, ETH0 " address");
}

/* As OSPF without numbers has it: each link has the address of lo. */
static void each_netdev_with_the_kubelets_address_counts(void **state _unused_)
{
	struct destination *d;
	struct scene s;
	int family;

	set_scene(&s);
	s.node.n_addresses = 0;
	for (uint32_t i = 1; i <= RAIL; i++)
		add_address(&s, i, "10.9.9.9");
	d = add_destination(&s, TO_DEFAULT, "192.0.2.1", ON_BOARD);
	assert_needs(&s, "");
	COPY(s.node.kubelet.node_ip, "10.9.9.9");
	assert_needs(&s, ETH0 " address, " ETH1 " address");
	s.node.kubelet.node_ip[0] = '\0';
	parse("10.9.9.9", &family, d->lookup.source);
	assert_needs(&s, WAY0 ", " WAY1);
}

/* --- destinations --- */

static void a_packet_tells_by_where_it_leaves(void **state _unused_)
{
	static const struct {
		const char *what;
		struct {
			enum destination_to to;
			const char *dst;
			uint32_t found;
			int result;
			uint32_t hops[2];
			uint8_t protocol;
		} d[3];
		const char *expected;
	} rows[] = {
		{ "default", { { TO_DEFAULT, "192.0.2.1", UPLINK } }, WAY0 },
		{ "of IPv6", { { TO_DEFAULT, "2001:db8::1", RAIL } }, WAY1 },
		{ "of both families",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_DEFAULT, "2001:db8::1", RAIL } },
		  WAY0 ", " WAY1 },
		{ "all next hops",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK, .hops = { UPLINK, RAIL } } },
		  WAY0 ", " WAY1 },
		{ "an API server",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_API_SERVER, "10.9.0.1", RAIL } },
		  WAY0 ", " WAY1 },
		{ "a name server", { { TO_NAME_SERVER, "10.9.0.1", RAIL } }, WAY1 },
		{ "storage", { { TO_STORAGE, "10.9.0.1", RAIL } }, WAY1 },
		{ "another mount",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_MOUNT, "10.9.0.1", RAIL } },
		  WAY0 },
		{ "hardware that is none of ours", { { TO_DEFAULT, "192.0.2.1", ON_BOARD } }, "" },
		{ "the same for an API server", { { TO_API_SERVER, "192.0.2.1", ON_BOARD } }, "" },
		{ "unreachable", { { TO_DEFAULT, "192.0.2.1", 0, -ENETUNREACH } }, UNKNOWN },
		{ "unreachable beside another answer",
		  { { TO_DEFAULT, "192.0.2.1", 0, -ENETUNREACH },
		    { TO_NAME_SERVER, "10.9.0.1", RAIL } },
		  WAY1 },
		{ "lo", { { TO_API_SERVER, "192.0.2.1", 1 } }, UNKNOWN },
		{ "lo beside another answer",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_API_SERVER, "192.0.2.1", 1 } },
		  WAY0 },
		{ "a dummy", { { TO_DEFAULT, "192.0.2.1", DUMMY } }, UNKNOWN },
		{ "a dummy beside another answer",
		  { { TO_DEFAULT, "192.0.2.1", DUMMY }, { TO_STORAGE, "10.9.0.1", UPLINK } },
		  WAY0 ", " ETH1 " unknown" },
		{ "an API server behind a dummy",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_API_SERVER, "10.9.0.1", DUMMY } },
		  WAY0 ", " ETH1 " unknown" },
		{ "a name server behind a dummy",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK }, { TO_NAME_SERVER, "10.9.0.1", DUMMY } },
		  WAY0 },
		{ "not asked, and not to be computed",
		  { { TO_DEFAULT, "192.0.2.1", 0, -ENODATA }, { TO_STORAGE, "10.9.0.1", UPLINK } },
		  WAY0 ", " ETH1 " unknown" },
		{ "a name server that was not asked about",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK },
		    { TO_NAME_SERVER, "10.9.0.1", 0, -ENODATA } },
		  WAY0 },
		{ "a netdev that is gone", { { TO_DEFAULT, "192.0.2.1", 99 } }, UNKNOWN },
		{ "a router",
		  { { TO_DEFAULT, "2001:db8::1", RAIL, .protocol = RTPROT_RA } },
		  WAY1 },
		{ "a router beside IPv4",
		  { { TO_DEFAULT, "2001:db8::1", RAIL, .protocol = RTPROT_RA },
		    { TO_DEFAULT, "192.0.2.1", UPLINK } },
		  WAY0 },
		{ "a router beside IPv4 by hardware that is none of ours",
		  { { TO_DEFAULT, "2001:db8::1", RAIL, .protocol = RTPROT_RA },
		    { TO_DEFAULT, "192.0.2.1", ON_BOARD } },
		  "" },
		{ "a router beside an IPv4 without an answer",
		  { { TO_DEFAULT, "2001:db8::1", RAIL, .protocol = RTPROT_RA },
		    { TO_DEFAULT, "192.0.2.1", 0, -ENETUNREACH } },
		  WAY1 },
		{ "a name server by a router's route",
		  { { TO_DEFAULT, "192.0.2.1", UPLINK },
		    { TO_NAME_SERVER, "2001:db8::1", RAIL, .protocol = RTPROT_RA } },
		  WAY0 ", " WAY1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		for (size_t k = 0; k < 3 && rows[i].d[k].dst; k++) {
			struct destination *d = add_destination(
				&s, rows[i].d[k].to, rows[i].d[k].dst, rows[i].d[k].found);

			d->lookup.result = rows[i].d[k].result;
			if (rows[i].d[k].protocol)
				d->lookup.protocol = rows[i].d[k].protocol;
			while (d->lookup.n_hops < 2 && rows[i].d[k].hops[d->lookup.n_hops]) {
				d->lookup.hops[d->lookup.n_hops] =
					rows[i].d[k].hops[d->lookup.n_hops];
				d->lookup.n_hops++;
			}
		}
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
	}
}

static void routers_of_each_rail_count_alike(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_destination(&s, TO_DEFAULT, "2001:db8::1", RAIL)->lookup.protocol = RTPROT_RA;
	for (uint32_t i = UPLINK; i <= RAIL; i++) {
		struct route *t = add_route(&s, "::", 0, i);

		t->protocol = RTPROT_RA;
		t->metric = 1024;
	}
	assert_needs(&s, WAY0 ", " WAY1);
	s.routes[0].metric = 2048;
	assert_needs(&s, WAY1);
	s.routes[0].metric = 1024;
	COPY(s.node.kubelet.node_ip, "192.0.2.10");
	assert_needs(&s, ETH0 " address");
}

/* Beside it, a packet leaves by eth0. */
#define UNKNOWN_END WAY0 ", " ETH1 " unknown"

static void storage_may_be_a_device(void **state _unused_)
{
	struct destination *d;
	struct scene s;

	set_scene(&s); /* an RDMA session names its device, not its way */
	d = add_destination(&s, TO_STORAGE, "0.0.0.0", RAIL);
	d->lookup.family = AF_UNSPEC;
	assert_needs(&s, WAY1);
}

static void storage_may_be_anywhere(void **state _unused_)
{
	struct destination *d;
	struct scene s;

	set_scene(&s);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	d = add_destination(&s, TO_STORAGE, "0.0.0.0", 0);
	d->lookup = (struct lookup){ .result = -EDESTADDRREQ };
	assert_needs(&s, UNKNOWN_END);
	d->to = TO_MOUNT;
	assert_needs(&s, WAY0);
}

/* SRP needs no IPoIB. */
static void storage_may_be_below_a_function(void **state _unused_)
{
	struct destination *d;
	struct scene s;

	set_scene(&s);
	d = add_destination(&s, TO_STORAGE, "0.0.0.0", 0);
	d->lookup.family = AF_UNSPEC;
	COPY(d->pci, "0000:41:00.1");
	assert_needs(&s, WAY1);
	COPY(netdev(&s, RAIL)->pci, "");
	assert_needs(&s, "0000:41:00.1  way");
}

static void a_tunnel_is_known_by_its_other_end(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_netdev(&s, 10, "wg0", "", "wireguard");
	add_destination(&s, TO_STORAGE, "10.9.0.1", UPLINK);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	assert_needs(&s, UNKNOWN_END);
	add_end(&s, 10, "203.0.113.7");
	assert_needs(&s, UNKNOWN_END); /* asked about nobody yet */
	add_destination(&s, TO_TUNNEL_END, "203.0.113.7", RAIL);
	assert_needs(&s, WAY0 ", " WAY1);
	s.destinations[2].lookup.found = ON_BOARD;
	assert_needs(&s, WAY0);
	s.destinations[2].lookup.found = 10; /* the tunnel itself */
	assert_needs(&s, UNKNOWN_END);
	s.destinations[2].lookup.found = DUMMY;
	assert_needs(&s, UNKNOWN_END);
	s.destinations[2].lookup.result = -ENETUNREACH;
	assert_needs(&s, UNKNOWN_END);
}

static void tunnels_may_lead_into_tunnels(void **state _unused_)
{
	struct scene s;

	set_scene(&s); /* a VXLAN below a bridge, by WireGuard */
	add_netdev(&s, 10, "wg0", "", "wireguard");
	add_netdev(&s, 11, "vx0", "", "vxlan")->master = 12;
	add_netdev(&s, 12, "br0", "", "bridge");
	add_end(&s, 11, "10.8.0.1");
	add_end(&s, 10, "203.0.113.7");
	add_destination(&s, TO_STORAGE, "10.9.0.1", UPLINK);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 12);
	add_destination(&s, TO_TUNNEL_END, "10.8.0.1", 10);
	add_destination(&s, TO_TUNNEL_END, "203.0.113.7", RAIL);
	assert_needs(&s, WAY0 ", " WAY1);
	s.destinations[3].lookup.found = ON_BOARD;
	assert_needs(&s, WAY0);
	s.destinations[3].lookup.found = DUMMY;
	assert_needs(&s, UNKNOWN_END);
	s.destinations[3].lookup.found = 11; /* a circle */
	assert_needs(&s, UNKNOWN_END);
}

static void default_route_of_a_vrf_counts_where_main_has_no_way(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_netdev(&s, 10, "mgmt", "", "vrf")->vrf_table = 10;
	add_destination(&s, TO_VRF, "192.0.2.1", UPLINK)->lookup.ifindex = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 0)->lookup.result = -ENETUNREACH;
	assert_needs(&s, WAY0);
	s.destinations[1].lookup.result = 0;
	s.destinations[1].lookup.found = RAIL;
	s.node.has_socks = true;
	assert_needs(&s, WAY1);
	s.socks[0].ifindex = 10; /* the kubelet may be run in it */
	s.node.n_socks = 1;
	assert_needs(&s, WAY0 ", " WAY1);
	s.node.has_socks = false; /* asked for, and until then taken for bound */
	s.node.n_socks = 0;
	assert_needs(&s, WAY0 ", " WAY1);
	assert_true(s.asks_socks);

	set_scene(&s); /* as with IPv4 and IPv6, where each rail in the VRF has a default route */
	add_netdev(&s, 10, "fabric", "", "vrf")->vrf_table = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	add_destination(&s, TO_DEFAULT, "2001:db8::1", UPLINK)->lookup.protocol = RTPROT_RA;
	add_destination(&s, TO_VRF, "2001:db8::1", RAIL)->lookup.ifindex = 10;
	s.node.has_socks = true;
	assert_needs(&s, WAY0);
}

/* As with BGP to the host, where the source is the address of another netdev. */
static void the_owner_of_a_packets_source_counts(void **state _unused_)
{
	struct destination *d;
	struct scene s;
	int family;

	set_scene(&s);
	d = add_destination(&s, TO_API_SERVER, "10.9.0.1", UPLINK);
	parse("10.1.0.2", &family, d->lookup.source);
	assert_needs(&s, WAY0 ", " WAY1);
	parse("192.0.2.10", &family, d->lookup.source);
	assert_needs(&s, WAY0);
	parse("203.0.113.1", &family, d->lookup.source); /* that nobody here has */
	assert_needs(&s, WAY0);
	add_address(&s, DUMMY, "203.0.113.1");
	assert_needs(&s, WAY0);
}

static void a_router_of_a_rail_is_no_way_for_ipv4(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_netdev(&s, 10, "mgmt", "", "vrf")->vrf_table = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 0)->lookup.result = -ENETUNREACH;
	add_destination(&s, TO_DEFAULT, "2001:db8::1", RAIL)->lookup.protocol = RTPROT_RA;
	add_destination(&s, TO_VRF, "192.0.2.1", UPLINK)->lookup.ifindex = 10;
	assert_needs(&s, WAY0 ", " WAY1);
}

/* --- from a netdev to functions --- */

static void search_goes_down_to_every_function(void **state _unused_)
{
	struct scene s;

	set_scene(&s); /* VLAN on a bond */
	add_netdev(&s, 10, "bond0", "", "bond");
	add_netdev(&s, 11, "bond0.5", "", "vlan")->link = 10;
	netdev(&s, UPLINK)->master = netdev(&s, RAIL)->master = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 11);
	assert_needs(&s, "0000:41:00.0 bond0.5 way, 0000:41:00.1 bond0.5 way");

	set_scene(&s); /* an internal port of Open vSwitch */
	add_netdev(&s, 10, "ovs-system", "", "openvswitch");
	add_netdev(&s, 11, "br-ex", "", "openvswitch");
	netdev(&s, UPLINK)->master = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 11);
	assert_needs(&s, "0000:41:00.0 br-ex way");

	set_scene(&s); /* hardware that is none of ours, below a bridge */
	add_netdev(&s, 10, "br0", "", "bridge");
	netdev(&s, ON_BOARD)->master = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	assert_needs(&s, "");
	assert_true(s.has_needs);

	set_scene(&s); /* a scalable function, below a bridge */
	add_netdev(&s, 10, "br0", "", "bridge");
	add_netdev(&s, 11, "eth1s88", "", "")->master = 10;
	COPY(netdev(&s, 11)->scalable_of, "0000:41:00.1");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	assert_needs(&s, "0000:41:00.1 br0 way");

	set_scene(&s); /* what is beside it is not below it */
	add_netdev(&s, 10, "eth0.7", "", "vlan")->link = UPLINK;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", RAIL);
	assert_needs(&s, WAY1);

	set_scene(&s); /* a circle ends */
	add_netdev(&s, 10, "a", "", "macvlan")->link = 11;
	add_netdev(&s, 11, "b", "", "macvlan")->link = 12;
	add_netdev(&s, 12, "c", "", "macvlan")->link = 10;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	assert_needs(&s, UNKNOWN);
}

static void a_vf_counts_with_its_pf(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_netdev(&s, 10, "eth0v0", "0000:41:01.0", "");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	assert_needs(&s, "0000:41:00.0 eth0v0 way by VF, 0000:41:01.0 eth0v0 way");
	add_destination(&s, TO_DEFAULT, "2001:db8::1", UPLINK);
	assert_needs(&s, "0000:41:00.0 eth0v0 way, 0000:41:01.0 eth0v0 way");
}

static void an_erdma_function_counts_by_its_rdma_device(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_pci(&s, "0000:42:00.0", "");
	s.node.n_ibdevs = 1;
	COPY(s.ibdevs[0].name, "erdma_0");
	COPY(s.ibdevs[0].pci, "0000:42:00.0");
	COPY(s.ibdevs[0].netdev, "eth0");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0 ", 0000:42:00.0 eth0 way");
}

/* --- before --- */

static void what_was_needed_in_this_boot_stays_needed(void **state _unused_)
{
	static const struct {
		const char *what, *of;
		enum node_state state;
		uint32_t found;     /* of a default destination, 0: none */
		uint32_t routes[2]; /* default routes, 0: none */
		bool is_dead;       /* the first of them */
		const char *expected;
	} rows[] = {
		{ "nothing is left", "default inet 0", NODE_READY, 0, {}, false, BEFORE0 },
		{ "before READY as well", "default inet 0", NODE_STARTING, 0, {}, false, BEFORE0 },
		{ "the same answer",
		  "default inet 0",
		  NODE_READY,
		  UPLINK,
		  { UPLINK },
		  false,
		  WAY0 },
		{ "a lease ended, and another came",
		  "default inet 0",
		  NODE_STARTING,
		  RAIL,
		  { RAIL },
		  false,
		  BEFORE0 ", " WAY1 },
		{ "a better one came",
		  "default inet 0",
		  NODE_STARTING,
		  RAIL,
		  { UPLINK, RAIL },
		  false,
		  WAY1 },
		{ "a better one, and its cable is out",
		  "default inet 0",
		  NODE_STARTING,
		  RAIL,
		  { UPLINK, RAIL },
		  true,
		  BEFORE0 ", " WAY1 },
		{ "a better one came after READY",
		  "default inet 0",
		  NODE_READY,
		  RAIL,
		  { UPLINK, RAIL },
		  false,
		  BEFORE0 ", " WAY1 },
		{ "and when degraded",
		  "default inet 0",
		  NODE_DEGRADED,
		  RAIL,
		  { UPLINK, RAIL },
		  false,
		  BEFORE0 ", " WAY1 },
		{ "a better answer for another destination",
		  "10.9.0.1",
		  NODE_STARTING,
		  RAIL,
		  { UPLINK, RAIL },
		  false,
		  BEFORE0 ", " WAY1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		add_boot(&s, "0000:41:00.0", rows[i].of)->state = rows[i].state;
		if (rows[i].found)
			add_destination(&s, TO_DEFAULT, "192.0.2.1", rows[i].found);
		for (size_t k = 0; k < 2 && rows[i].routes[k]; k++) {
			struct route *t = add_route(&s, "0.0.0.0", 0, rows[i].routes[k]);

			t->is_dead = k == 0 && rows[i].is_dead;
			t->metric = k == 0 ? 100 : 0;
		}
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
	}
}

static void a_new_address_of_the_kubelet_takes_the_place_of_one_before_ready(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_boot(&s, "0000:41:00.0", "address");
	COPY(s.node.kubelet.node_ip, "10.1.0.2");
	assert_needs(&s, ETH1 " address");
	s.boots[0].state = NODE_READY;
	assert_needs(&s, BEFORE0 ", " ETH1 " address");
}

static void what_the_last_boot_needed_counts_until_this_one_has_an_answer(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_boot(&s, "0000:41:00.0", "default inet 0")->state = NODE_READY;
	add_boot(&s, "0000:41:00.1", "default inet 0")->state = NODE_READY;
	add_boot(&s, "", ""); /* the present one */
	assert_needs(&s, BEFORE1);
	assert_false(s.has_needs);

	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0);
	COPY(netdev(&s, RAIL)->sign, "dhclient"); /* its lease may come, as it did then */
	assert_needs(&s, WAY0 ", " BEFORE1);
	s.is_wait_over = true;
	assert_needs(&s, WAY0);
	s.is_wait_over = false;
	netdev(&s, RAIL)->sign[0] = '\0';
	s.destinations[0].lookup.found = ON_BOARD;
	assert_needs(&s, "");
	s.node.n_destinations = 0; /* it had one, and that is gone */
	s.boots[2].has_needs = true;
	assert_needs(&s, "");
}

static void a_boot_without_an_end_is_taken_with_the_ones_before_it(void **state _unused_)
{
	static const struct {
		enum node_state states[2];
		const char *of, *expected; /* @of: in the second boot; "": nothing is known in it */
	} rows[] = {
		{ { NODE_READY, NODE_STARTING }, "address", BEFORE0 ", " BEFORE1 },
		{ { NODE_STARTING, NODE_STARTING }, "address", BEFORE0 ", " BEFORE1 },
		{ { NODE_READY, NODE_READY }, "address", BEFORE1 },
		{ { NODE_READY, NODE_DEGRADED }, "address", BEFORE1 },
		{ { NODE_READY, NODE_READY }, "", BEFORE0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		add_boot(&s, "0000:41:00.0", "default inet 0")->state = rows[i].states[0];
		add_boot(&s, *rows[i].of ? "0000:41:00.1" : "", rows[i].of)->state =
			rows[i].states[1];
		add_boot(&s, "", "");
		assert_needs(&s, rows[i].expected);
	}
}

static void a_need_is_known_by_its_card(void **state _unused_)
{
	static const struct {
		const char *what, *card, *cards[2]; /* of the need, of eth0 and eth1 */
		const char *expected, *in_this_boot;
	} rows[] = {
		{ "the same", "b8:3f:d2:00:00:01", { "b8:3f:d2:00:00:01" }, BEFORE0, BEFORE0 },
		{ "not known now", "b8:3f:d2:00:00:01", { "" }, BEFORE0, BEFORE0 },
		{ "not known then", "", { "b8:3f:d2:00:00:01" }, BEFORE0, BEFORE0 },
		{ "replaced", "b8:3f:d2:00:00:01", { "b8:3f:d2:00:00:99" }, WAITING, "" },
		{ "moved",
		  "b8:3f:d2:00:00:01",
		  { "b8:3f:d2:00:00:99", "b8:3f:d2:00:00:01" },
		  BEFORE1,
		  BEFORE1 },
		{ "moved, and the new one is not known",
		  "b8:3f:d2:00:00:01",
		  { "", "b8:3f:d2:00:00:01" },
		  BEFORE1,
		  BEFORE1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct boot *b;
		struct scene s;

		set_scene(&s);
		COPY(netdev(&s, UPLINK)->perm_mac, rows[i].cards[0]);
		COPY(netdev(&s, RAIL)->perm_mac, rows[i].cards[1] ?: "");
		b = add_boot(&s, "0000:41:00.0", "default inet 0");
		COPY(b->needs[0].card, rows[i].card);
		print_message("%s\n", rows[i].what);
		COPY(s.node.boot_id, "another");
		assert_needs(&s, rows[i].expected);
		COPY(s.node.boot_id, b->boot_id);
		assert_needs(&s, rows[i].in_this_boot);
	}
}

/* The number of a bus changes when another card is added. */
static void a_vf_is_known_by_its_card_and_number(void **state _unused_)
{
	struct scene s;
	struct boot *b;

	set_scene(&s);
	COPY(netdev(&s, UPLINK)->perm_mac, "b8:3f:d2:00:00:01");
	b = add_boot(&s, "0000:3f:01.0", "default inet 0");
	COPY(b->needs[0].pf, "0000:3f:00.0");
	COPY(b->needs[0].card, "b8:3f:d2:00:00:01");
	assert_needs(&s, BEFORE0 " by VF, 0000:41:01.0  before");
	COPY(b->needs[0].pci, "0000:3f:01.1");
	assert_needs(&s, "");
}

static void what_the_last_boot_needed_is_asked_and_kept_for_this_boot_alone(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_boot(&s, "0000:41:00.1", "10.9.0.1")->state = NODE_READY;
	add_boot(&s, "", "");
	add_destination(&s, TO_BEFORE, "10.9.0.1", RAIL); /* alone it is no answer */
	assert_needs(&s, "0000:41:00.1 eth1 before");
	assert_false(s.has_needs);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0 ", 0000:41:00.1 eth1 before");
	s.is_wait_over = true;
	assert_needs(&s, WAY0 ", 0000:41:00.1 eth1 before");
	for (int i = 0; i < 3; i++) {
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY };

		make_needs(&s, &p);
		boots_conclude(&s.config, &s.node, &s.memory, &p, &s.boots[1]);
		assert_int_equal(s.boots[1].n_needs, 2);
		s.destinations[0].lookup.found = UPLINK; /* the cable of eth1 is out */
		assert_needs(&s, WAY0 ", " BEFORE1);
	}
	s.is_wait_over = false;
	add_boot(&s, "", "");
	s.node.n_destinations = 0;
	assert_needs(&s, BEFORE0);
	s.node.n_pcis = 1; /* nor is it missing */
	s.node.now_usec = 100 * SEC;
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0);
	assert_int_equal(s.again_usec, 0);
}

static void node_waits_for_what_the_last_boot_needed_and_is_not_there(void **state _unused_)
{
	static const struct {
		const char *what, *pci, *pf, *of, *sign; /* of eth0 */
		bool has_bridge;                         /* without a port */
		const char *at_once, *in_the_end;
	} rows[] = {
		{ "a VF", "0000:41:01.1", "0000:41:00.0", "default inet 0", "", false,
		  "0000:41:00.0  waiting, " WAY1, WAY1 },
		{ "a VF whose way leads elsewhere now", "0000:41:01.1", "0000:41:00.0", "10.9.0.1",
		  "", false, WAY1, WAY1 },
		{ "a VF, and its PF has a sign", "0000:41:01.1", "0000:41:00.0", "default inet 0",
		  "lldpd", false, "0000:41:00.0  waiting, " WAY1, WAY1 },
		{ "a VF, and docker0 has no port", "0000:41:01.1", "0000:41:00.0", "default inet 0",
		  "", true, "0000:41:00.0  waiting, " WAY1, WAY1 },
		{ "a card", "0000:61:00.0", "", "default inet 0", "", false, WAY1, WAY1 },
		{ "a card, and docker0 has no port", "0000:61:00.0", "", "default inet 0", "", true,
		  WAY1, WAY1 },
		{ "a card, and a sign", "0000:61:00.0", "", "default inet 0", "dhclient", false,
		  "0000:41:00.0 eth0 waiting, " WAY1, "0000:41:00.0 eth0 waiting, " WAY1 },
		{ "a card whose way leads elsewhere now", "0000:61:00.0", "", "10.9.0.1",
		  "dhclient", false, WAY1, WAY1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;
		struct boot *b;

		set_scene(&s);
		s.node.n_addresses = 0;
		b = add_boot(&s, rows[i].pci, rows[i].of);
		COPY(b->needs[0].pf, rows[i].pf);
		add_boot(&s, "", "");
		if (rows[i].has_bridge)
			add_netdev(&s, 10, "docker0", "", "bridge");
		add_destination(&s, TO_STORAGE, "10.9.0.1", RAIL);
		COPY(netdev(&s, UPLINK)->sign, rows[i].sign);
		s.node.now_usec = 100 * SEC;
		let_it_be_quiet(&s);
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].at_once);
		s.node.now_usec += 20 * SEC;
		assert_needs(&s, rows[i].in_the_end);
		add_route(&s, "10.1.0.0", 24, RAIL)->protocol = OWN_PROTOCOL;
		assert_needs(&s, rows[i].in_the_end); /* the next look of this pass */
		s.is_wait_over = true;
		assert_needs(&s, WAY1);
	}
}

static void a_card_that_left_in_this_boot_is_needed_where_it_comes_again(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	COPY(netdev(&s, UPLINK)->perm_mac, "b8:3f:d2:00:00:01");
	add_boot(&s, "", "");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	for (int i = 0; i < 3; i++) {
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY };

		make_needs(&s, &p);
		boots_conclude(&s.config, &s.node, &s.memory, &p, &s.boots[0]);
		assert_int_equal(s.boots[0].n_needs, 1);
		assert_string_equal(s.boots[0].needs[0].words, "eth0 has the default route");
		if (i == 0) {
			s.node.n_destinations = 0;
			COPY(netdev(&s, UPLINK)->perm_mac, "b8:3f:d2:00:00:99");
			assert_needs(&s, "");
		} else {
			COPY(netdev(&s, RAIL)->perm_mac, "b8:3f:d2:00:00:01");
			assert_needs(&s, BEFORE1);
		}
	}
}

static void routers_of_rails_carry_nothing_while_the_uplink_is_remembered(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_boot(&s, "0000:41:00.0", "address");
	add_boot(&s, "", "");
	add_destination(&s, TO_NAME_SERVER, "2001:db8::1", 0)->lookup.result = -ENETUNREACH;
	assert_needs(&s, BEFORE0);
}

/* What a look finds is noted at its end, and read by the next one. */
static void answers_are_remembered_from_look_to_look(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_boot(&s, "", "");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	for (int i = 0; i < 3; i++) {
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY };

		make_needs(&s, &p);
		boots_conclude(&s.config, &s.node, &s.memory, &p, &s.boots[0]);
		assert_true(s.boots[0].has_needs);
		assert_int_equal(s.boots[0].n_needs, 1);
		assert_string_equal(s.boots[0].needs[0].pci, "0000:41:00.0");
		assert_string_equal(s.boots[0].needs[0].of, "default inet 0");
		assert_string_equal(s.boots[0].needs[0].words, "eth0 has the default route");
		s.node.n_destinations = 0;
	}
	assert_needs(&s, BEFORE0);
}

static void guesses_are_not_remembered(void **state _unused_)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_READY };
	struct scene s;

	set_scene(&s);
	add_boot(&s, "0000:41:00.1", "address");
	add_boot(&s, "", "");
	make_needs(&s, &p);
	boots_conclude(&s.config, &s.node, &s.memory, &p, &s.boots[1]);
	assert_false(s.boots[1].has_needs);
	assert_int_equal(s.boots[1].n_needs, 0);
	s.memory.n_boots = 0;
	plan_done(&p);
	p = (struct plan){};
	make_needs(&s, &p);
	assert_int_equal(p.n_needs, 2);
	boots_conclude(&s.config, &s.node, &s.memory, &p, &s.boots[1]);
	assert_false(s.boots[1].has_needs);
	assert_int_equal(s.boots[1].n_needs, 0);
}

static void a_kubelet_whose_command_line_is_not_known_may_have_any_address(void **state _unused_)
{
	static const struct {
		const char *problem;
		bool is_waiting, is_wait_over;
		const char *expected;
	} rows[] = {
		{ "", true, false, WAY0 },
		{ "kubelet.service: what run.sh does is not known", false, false,
		  WAY0 ", " ETH1 " unknown" },
		{ "kubelet.service: $A is not known", true, false, WAY0 ", " ETH1 " waiting" },
		{ "kubelet.service: $A is not known", true, true, WAY0 ", " ETH1 " unknown" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s);
		add_pci(&s, "0000:42:00.0", ""); /* without an address */
		add_netdev(&s, 6, "eth2", "0000:42:00.0", "");
		add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
		COPY(s.node.kubelet.address_problem, rows[i].problem);
		s.node.kubelet.is_waiting = rows[i].is_waiting;
		s.is_wait_over = rows[i].is_wait_over;
		assert_needs(&s, rows[i].expected);
		make_needs(&s, &p);
		assert_non_null(strstr(p.needs[p.n_needs - 1].words, rows[i].problem));
		COPY(s.config.service.node_nic, "netdev:eth0");
		assert_needs(&s, "0000:41:00.0  word");
	}
}

/* --- nothing is known --- */

static void where_nothing_is_known_global_addresses_of_the_host_count(void **state _unused_)
{
	struct ledger_entry ours = { .verb = "add-address",
				     .ifindex = RAIL,
				     .subject = "10.1.0.2/16" };
	struct scene s;

	set_scene(&s);
	assert_needs(&s, UNKNOWN);
	s.addresses[1].scope = RT_SCOPE_LINK;
	assert_needs(&s, ETH0 " unknown");
	s.addresses[1].scope = RT_SCOPE_UNIVERSE;
	s.addresses[1].prefix_len = 16;
	s.memory.ledger = &ours;
	s.memory.n_ledger = 1;
	assert_needs(&s, ETH0 " unknown");
	s.addresses[0].ifindex = 10; /* what stands on it */
	add_netdev(&s, 10, "bond0", "", "bond");
	netdev(&s, UPLINK)->master = 10;
	assert_needs(&s, "0000:41:00.0 bond0 unknown");
	assert_false(s.has_needs);
	add_route(&s, "10.9.9.0", 24, RAIL)->protocol = RTPROT_BIRD; /* without an address */
	assert_needs(&s, "0000:41:00.0 bond0 unknown, " ETH1 " unknown");
	s.routes[0].protocol = RTPROT_KERNEL;
	assert_needs(&s, "0000:41:00.0 bond0 unknown");
}

#define PORTS "0000:42:00.0 eth2 unknown, 0000:42:00.1 eth3 unknown"

/* Open vSwitch in user space: the host has a tap of it, and no address on a NIC. */
static void set_tap_scene(struct scene *s)
{
	set_scene(s);
	s->node.n_addresses = 0;
	add_address(s, 10, "198.51.100.10");
	add_destination(s, TO_DEFAULT, "192.0.2.1", 10);
	add_route(s, "0.0.0.0", 0, 10)->protocol = RTPROT_STATIC;
	add_pci(s, "0000:42:00.0", "");
	add_netdev(s, 6, "eth2", "0000:42:00.0", "")->is_up = true;
	add_pci(s, "0000:42:00.1", "");
	add_netdev(s, 7, "eth3", "0000:42:00.1", "")->is_up = true;
	add_netdev(s, 10, "br-ex", "", "tun")->is_up = true;
}

static void program_behind_a_tap_may_have_any_nic_that_nobody_else_has(void **state _unused_)
{
	struct ledger_entry ours = { .verb = "set-link-up", .ifindex = 6 };
	struct scene s;

	set_tap_scene(&s);
	assert_needs(&s, PORTS);
	assert_false(s.has_needs);
	netdev(&s, ON_BOARD)->is_up = true; /* nobody is seen to send by it */
	add_address(&s, ON_BOARD, "169.254.0.2");
	assert_needs(&s, PORTS);
	s.memory.ledger = &ours;
	s.memory.n_ledger = 1;
	assert_needs(&s, "0000:42:00.1 eth3 unknown");
	s.memory.n_ledger = 0;
	netdev(&s, 6)->master = 11;
	assert_needs(&s, "0000:42:00.1 eth3 unknown");
	netdev(&s, 6)->master = 0;
	s.pcis[3].class = CLASS_INFINIBAND << 8;
	assert_needs(&s, "0000:42:00.1 eth3 unknown");
	s.pcis[3].class = 0;
	COPY(s.config.service.node_nic, "netdev:eth2");
	assert_needs(&s, "0000:42:00.0  word");
	COPY(s.config.service.node_nic, "");
	s.destinations[0].lookup.result = -ENETUNREACH;
	assert_needs(&s, "");
}

static void vpn_behind_a_tap_sends_by_a_route(void **state _unused_)
{
	struct route *t;
	struct scene s;

	set_tap_scene(&s);
	t = add_route(&s, "0.0.0.0", 0, ON_BOARD);
	t->protocol = RTPROT_KERNEL;
	assert_needs(&s, PORTS);
	t->protocol = RTPROT_DHCP;
	assert_needs(&s, "");
	t->protocol = RTPROT_RA;
	assert_needs(&s, "");
	t->ifindex = DUMMY;
	assert_needs(&s, PORTS);
}

static void program_with_a_context_counts_beside_addresses(void **state _unused_)
{
	struct scene s;

	set_tap_scene(&s);
	add_address(&s, RAIL, "10.1.0.2");
	assert_needs(&s, ETH1 " unknown");
	s.node.ibdevs = s.ibdevs;
	s.node.n_ibdevs = 1;
	COPY(s.ibdevs[0].pci, "0000:42:00.1");
	assert_needs(&s, ETH1 " unknown");
	s.ibdevs[0].n_contexts = 4;
	assert_needs(&s, ETH1 " unknown, 0000:42:00.1 eth3 unknown");
}

static void node_waits_while_a_program_is_at_work(void **state _unused_)
{
	static const struct {
		const char *what, *sign; /* of eth1 */
		bool has_addresses, is_wait_over;
		uint64_t now_usec, again_usec;
		const char *expected;
	} rows[] = {
		{ "no address, and nothing has changed for 9 s", "", false, false, 19 * SEC,
		  20 * SEC, "0000:41:00.0 eth0 waiting, " ETH1 " waiting" },
		{ "for 10 s", "", false, false, 20 * SEC, 0, "" },
		{ "addresses a moment ago", "", true, false, 20 * SEC, 25 * SEC, WAITING },
		{ "quiet for 15 s", "", true, false, 25 * SEC, 0, UNKNOWN },
		{ "a sign, and no address", "dhclient", false, false, 20 * SEC, 25 * SEC,
		  ETH1 " waiting" },
		{ "a sign outlasts the quiet", "dhclient", true, false, 100 * SEC, 0, WAITING },
		{ "ReadyTimeoutSec= is over", "dhclient", true, true, 100 * SEC, 0, UNKNOWN },
		{ "the same at once", "dhclient", true, true, 11 * SEC, 0, UNKNOWN },
		{ "neither sign nor address", "", false, false, 20 * SEC, 0, "" },
		{ "a captured tree", "", true, false, 0, 0, UNKNOWN },
		{ "a captured tree with a sign", "dhclient", true, false, 0, 0, WAITING },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s);
		COPY(netdev(&s, RAIL)->sign, rows[i].sign);
		s.node.n_addresses = rows[i].has_addresses ? 2 : 0;
		s.node.now_usec = 10 * SEC;
		make_needs(&s, &p); /* the look that found the last change */
		assert_int_equal(p.net_usec, 10 * SEC);
		s.memory.net_hash = p.net_hash;
		s.memory.net_usec = p.net_usec;
		s.node.now_usec = rows[i].now_usec;
		s.is_wait_over = rows[i].is_wait_over;
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
		assert_int_equal(s.again_usec, rows[i].again_usec);
	}
}

static void a_router_that_this_service_made_the_kernel_ask_for_is_no_sign(void **state _unused_)
{
	static const struct {
		const char *what, *made_vfs_on, *brought_up; /* by this service */
		uint32_t flags;                              /* of eth0 and its VF */
		const char *expected;
	} rows[] = {
		{ "no router was asked for", "", "", 0x80000000, "" },
		{ "one has answered", "", "", 0x80000030, "" },
		{ "none has answered", "", "", 0x80000010,
		  "0000:41:00.0 eth0 waiting, 0000:41:01.0 eth0v0 waiting" },
		{ "the PF was brought up", "", "0000:41:00.0", 0x80000010, "" },
		{ "the VF was brought up", "", "0000:41:01.0", 0x80000010, ETH0 " waiting" },
		{ "the VFs were made", "0000:41:00.0", "", 0x80000010, "" },
		{ "those of another PF were made", "0000:41:00.1", "", 0x80000010,
		  "0000:41:00.0 eth0 waiting, 0000:41:01.0 eth0v0 waiting" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(attempts_done) struct attempts tried = {};
		struct ledger_entry made = { .verb = "set-num-vfs" };
		struct action up = { .verb = VERB_SET_LINK_UP,
				     .target = "",
				     .subject = "",
				     .detail = "",
				     .error = "" };
		struct scene s;

		set_scene(&s);
		s.node.n_addresses = 0;
		s.node.now_usec = 100 * SEC;
		add_netdev(&s, 10, "eth0v0", "0000:41:01.0", "");
		netdev(&s, UPLINK)->inet6_flags = netdev(&s, 10)->inet6_flags = rows[i].flags;
		COPY(made.target, rows[i].made_vfs_on);
		s.memory.ledger = &made;
		s.memory.n_ledger = 1;
		up.target = rows[i].brought_up;
		assert_int_equal(attempts_begin(&tried, &up), 0);
		tried.actions[0].is_done = true;
		s.tried = &tried;
		let_it_be_quiet(&s);
		print_message("%s\n", rows[i].what);
		assert_needs(&s, rows[i].expected);
	}
}

static void the_first_ready_of_the_boot_ends_the_wait(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	COPY(netdev(&s, RAIL)->sign, "dhclient");
	s.node.now_usec = 100 * SEC;
	add_boot(&s, "", "")->state = NODE_STARTING;
	assert_needs(&s, WAITING);
	s.boots[0].state = NODE_DEGRADED;
	assert_needs(&s, UNKNOWN);
	assert_int_equal(s.again_usec, 0);
	COPY(s.node.boot_id, "the next boot");
	assert_needs(&s, WAITING);
}

static void each_change_that_others_make_begins_the_quiet_again(void **state _unused_)
{
	struct ledger_entry ours = { .verb = "add-address",
				     .ifindex = RAIL,
				     .subject = "10.2.0.2/24" };
	struct scene s;

	set_scene(&s);
	s.memory.ledger = &ours;
	s.memory.n_ledger = 1;
	for (int i = 0; i < 5; i++) {
		_cleanup_(plan_done) struct plan p = {};

		s.node.now_usec = (uint64_t)(i + 1) * 10 * SEC;
		if (i == 1)
			add_address(&s, UPLINK, "2001:db8::2");
		if (i == 2)
			add_route(&s, "10.0.0.0", 8, RAIL);
		if (i == 3)
			netdev(&s, RAIL)->ifindex = 99; /* a card that came */
		if (i == 4) { /* this service gave it an address and a table, and brought it up */
			add_address(&s, RAIL, "10.2.0.2")->prefix_len = 24;
			add_address(&s, RAIL, "fe80::1")->scope = RT_SCOPE_LINK;
			add_route(&s, "10.1.0.0", 24, RAIL)->protocol = OWN_PROTOCOL;
			add_route(&s, "10.2.0.0", 24, RAIL)->protocol = RTPROT_KERNEL;
		}
		make_needs(&s, &p);
		assert_int_equal(p.net_usec, MIN(i, 3) * 10 * SEC + 10 * SEC);
		s.memory.net_hash = p.net_hash;
		s.memory.net_usec = p.net_usec;
	}
}

static void evidence_ends_the_wait(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	COPY(netdev(&s, RAIL)->sign, "dhclient");
	s.node.now_usec = 10 * SEC;
	assert_needs(&s, WAITING);
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	assert_needs(&s, WAY0);
	assert_int_equal(s.again_usec, 0);
}

static void a_bond_without_a_port_may_get_any_function_without_an_address(void **state _unused_)
{
	static const char *const kinds[] = { "bond", "team", "bridge" };

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		struct scene s;

		set_scene(&s);
		s.node.n_addresses = 1; /* eth0's */
		s.node.now_usec = 100 * SEC;
		add_netdev(&s, 10, "m0", "", kinds[i]);
		let_it_be_quiet(&s);
		assert_needs(&s, WAITING);
		add_address(&s, RAIL, "fe80::1")->scope = RT_SCOPE_LINK; /* the kernel's */
		assert_needs(&s, WAITING);
		let_it_be_quiet(&s);
		netdev(&s, ON_BOARD)->master = 10; /* it has one */
		assert_needs(&s, ETH0 " waiting");
		netdev(&s, ON_BOARD)->master = 0;
		s.is_wait_over = true;
		assert_needs(&s, ETH0 " unknown");
		s.is_wait_over = false;
		add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
		assert_needs(&s, WAY0);
	}
}

/* A routing daemon is slow: its links have neither address nor route until it has neighbours. */
static void
an_address_that_leads_nowhere_may_get_any_function_without_an_address(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	s.node.n_addresses = 1;
	s.addresses[0].ifindex = DUMMY;
	s.node.now_usec = 100 * SEC;
	COPY(s.node.kubelet.node_ip, "192.0.2.10");
	let_it_be_quiet(&s);
	assert_needs(&s, WAITING);
	s.is_wait_over = true;
	assert_needs(&s, "");
	s.is_wait_over = false;
	add_route(&s, "192.0.2.0", 24, RAIL)->protocol = RTPROT_BIRD;
	assert_needs(&s, ETH1 " address");
	s.node.n_routes = 0;
	s.node.kubelet.node_ip[0] = '\0';
	let_it_be_quiet(&s);
	assert_needs(&s, "");
}

/* As with a switch that boots later than the node: the kubelet waits for its address. */
static void an_address_that_the_kubelet_waits_for_may_come_on_any_function(void **state _unused_)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	s.node.n_addresses = 1; /* eth0's */
	s.node.now_usec = 100 * SEC;
	add_pci(&s, "0000:42:00.0", "");
	add_netdev(&s, 6, "eth2", "0000:42:00.0", "")->master = 10;
	add_netdev(&s, 10, "bond0", "", "bond");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", UPLINK);
	COPY(s.node.kubelet.node_ip, "10.1.0.2");
	let_it_be_quiet(&s);
	s.node.now_usec += 20 * SEC;
	assert_needs(&s, WAY0 ", " ETH1 " waiting, 0000:42:00.0 eth2 waiting");
	make_needs(&s, &p);
	assert_string_equal(plan_need(&p, "0000:41:00.1")->words,
			    "eth1: the kubelet waits for 10.1.0.2");
	s.node.lacks_net = true; /* it may be here */
	assert_needs(&s, WAY0 ", " ETH1 " not recorded, 0000:42:00.0 eth2 not recorded");
	s.node.lacks_net = false;
	s.is_wait_over = true;
	assert_needs(&s, WAY0);

	add_boot(&s, "0000:41:00.1", "address")->state = NODE_READY;
	add_boot(&s, "", "");
	assert_needs(&s, WAY0 ", " BEFORE1);
	s.is_wait_over = false;
	assert_needs(&s, WAY0 ", " BEFORE1);
	add_address(&s, ON_BOARD, "10.1.0.2");
	assert_needs(&s, WAY0);
}

/* --- words --- */

static void words_tell_all_evidence(void **state _unused_)
{
	_cleanup_(plan_done) struct plan p = {};
	const struct need *k;
	char text[400];
	struct scene s;
	int family;

	set_scene(&s);
	add_netdev(&s, 10, "eth0v0", "0000:41:01.0", "");
	COPY(s.node.kubelet.node_ip, "10.1.0.2");
	add_destination(&s, TO_DEFAULT, "192.0.2.1", 10);
	add_destination(&s, TO_API_SERVER, "10.9.0.1", RAIL);
	parse("10.1.0.2", &family,
	      add_destination(&s, TO_NAME_SERVER, "10.1.0.2", 1)->lookup.source);
	make_needs(&s, &p);
	k = plan_need(&p, "0000:41:00.1");
	assert_non_null(k);
	assert_string_equal(k->words, "the kubelet's address 10.1.0.2 (--node-ip) is on eth1; "
				      "a packet to 10.9.0.1 (a test) leaves by eth1; "
				      "10.1.0.2 (a test) is an address of eth1");
	assert_string_equal(k->of, "address");
	k = plan_need(&p, "0000:41:00.0");
	assert_non_null(k);
	plan_describe_need(k, text, sizeof(text));
	assert_string_equal(text, "by one of its VFs: eth0v0 has the default route");
	assert_null(plan_need(&p, "0000:99:00.0"));
}

static void words_tell_where_nobody_knows_the_end(void **state _unused_)
{
	static const struct {
		enum destination_to to;
		uint32_t found;
		int result;
		const char *words;
	} rows[] = {
		{ TO_DEFAULT, DUMMY, 0,
		  "dummy0 has the default route, and where that leads is not known" },
		{ TO_API_SERVER, DUMMY, 0,
		  "a packet to 10.9.0.1 (a test) leaves by dummy0, and where that leads is not "
		  "known" },
		{ TO_API_SERVER, 0, -ENODATA, "the way to 10.9.0.1 (a test) is not known" },
		{ TO_STORAGE, 0, -EDESTADDRREQ, "nothing tells where this is: a test" },
		{ TO_API_SERVER, 0, -ENETUNREACH, "nothing tells which NIC carries the node" },
	};

	FOREACH(row, rows, ELEMENTSOF(rows)) {
		_cleanup_(plan_done) struct plan p = {};
		char expected[256];
		struct scene s;

		set_scene(&s);
		add_destination(&s, row->to, "10.9.0.1", row->found)->lookup.result = row->result;
		make_needs(&s, &p);
		PRINT(expected, "eth1 has an address, and %s", row->words);
		assert_string_equal(plan_need(&p, "0000:41:00.1")->words, expected);
	}
}

static void words_tell_on_which_netdev_the_source_is(void **state _unused_)
{
	static const enum destination_to rows[] = { TO_DEFAULT, TO_API_SERVER };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;
		int family;

		set_scene(&s);
		parse("10.1.0.2", &family,
		      add_destination(&s, rows[i], "10.9.0.1", UPLINK)->lookup.source);
		make_needs(&s, &p);
		assert_string_equal(
			plan_need(&p, "0000:41:00.1")->words,
			"10.1.0.2, the source of packets to 10.9.0.1 (a test), is on eth1");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_nic_replaces_all_inference),
		cmocka_unit_test(node_nic_is_not_the_name_that_udev_replaces),
		cmocka_unit_test(kubelets_address_is_found_in_its_own_order),
		cmocka_unit_test(kubelets_last_way_is_the_default_route_of_main),
		cmocka_unit_test(a_kubelets_address_on_a_dummy_tells_no_function),
		cmocka_unit_test(a_kubelet_whose_command_line_is_not_known_may_have_any_address),
		cmocka_unit_test(an_address_on_lo_is_reached_by_what_leads_away_from_it),
		cmocka_unit_test(each_netdev_with_the_kubelets_address_counts),
		cmocka_unit_test(a_packet_tells_by_where_it_leaves),
		cmocka_unit_test(routers_of_each_rail_count_alike),
		cmocka_unit_test(storage_may_be_a_device),
		cmocka_unit_test(storage_may_be_anywhere),
		cmocka_unit_test(storage_may_be_below_a_function),
		cmocka_unit_test(a_tunnel_is_known_by_its_other_end),
		cmocka_unit_test(tunnels_may_lead_into_tunnels),
		cmocka_unit_test(default_route_of_a_vrf_counts_where_main_has_no_way),
		cmocka_unit_test(the_owner_of_a_packets_source_counts),
		cmocka_unit_test(a_router_of_a_rail_is_no_way_for_ipv4),
		cmocka_unit_test(search_goes_down_to_every_function),
		cmocka_unit_test(a_vf_counts_with_its_pf),
		cmocka_unit_test(an_erdma_function_counts_by_its_rdma_device),
		cmocka_unit_test(what_was_needed_in_this_boot_stays_needed),
		cmocka_unit_test(a_new_address_of_the_kubelet_takes_the_place_of_one_before_ready),
		cmocka_unit_test(what_the_last_boot_needed_counts_until_this_one_has_an_answer),
		cmocka_unit_test(a_boot_without_an_end_is_taken_with_the_ones_before_it),
		cmocka_unit_test(a_need_is_known_by_its_card),
		cmocka_unit_test(a_vf_is_known_by_its_card_and_number),
		cmocka_unit_test(what_the_last_boot_needed_is_asked_and_kept_for_this_boot_alone),
		cmocka_unit_test(node_waits_for_what_the_last_boot_needed_and_is_not_there),
		cmocka_unit_test(a_card_that_left_in_this_boot_is_needed_where_it_comes_again),
		cmocka_unit_test(routers_of_rails_carry_nothing_while_the_uplink_is_remembered),
		cmocka_unit_test(answers_are_remembered_from_look_to_look),
		cmocka_unit_test(guesses_are_not_remembered),
		cmocka_unit_test(where_nothing_is_known_global_addresses_of_the_host_count),
		cmocka_unit_test(program_behind_a_tap_may_have_any_nic_that_nobody_else_has),
		cmocka_unit_test(vpn_behind_a_tap_sends_by_a_route),
		cmocka_unit_test(program_with_a_context_counts_beside_addresses),
		cmocka_unit_test(node_waits_while_a_program_is_at_work),
		cmocka_unit_test(a_router_that_this_service_made_the_kernel_ask_for_is_no_sign),
		cmocka_unit_test(the_first_ready_of_the_boot_ends_the_wait),
		cmocka_unit_test(each_change_that_others_make_begins_the_quiet_again),
		cmocka_unit_test(evidence_ends_the_wait),
		cmocka_unit_test(a_bond_without_a_port_may_get_any_function_without_an_address),
		cmocka_unit_test(
			an_address_that_leads_nowhere_may_get_any_function_without_an_address),
		cmocka_unit_test(an_address_that_the_kubelet_waits_for_may_come_on_any_function),
		cmocka_unit_test(words_tell_all_evidence),
		cmocka_unit_test(words_tell_where_nobody_knows_the_end),
		cmocka_unit_test(words_tell_on_which_netdev_the_source_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
