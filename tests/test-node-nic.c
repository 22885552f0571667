/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/boots.h"

#include "scene.h"

#include <linux/rtnetlink.h>

/* A node by its netdevs, addresses and default routes, in words. */
struct scene {
	struct node node;
	struct memory memory;
	struct pci pcis[8];
	struct netdev netdevs[12];
	struct address addresses[8];
	struct route routes[8];
	struct ibdev ibdevs[4];
	uint64_t until_usec;
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
	return nd;
}

static void add_address(struct scene *s, uint32_t ifindex, const char *local)
{
	struct address *a = &s->addresses[s->node.n_addresses++];

	a->ifindex = ifindex;
	parse(local, &a->family, a->local);
}

static struct route *add_default(struct scene *s, int family, uint32_t ifindex, uint32_t metric,
				 uint8_t protocol)
{
	struct route *t = &s->routes[s->node.n_routes++];

	*t = (struct route){ .family = family,
			     .table = RT_TABLE_MAIN,
			     .ifindex = ifindex,
			     .metric = metric,
			     .protocol = protocol,
			     .type = RTN_UNICAST };
	return t;
}

/* Two NICs, eth0 and eth1, each with an address. */
static void set_scene(struct scene *s)
{
	*s = (struct scene){};
	s->node.pcis = s->pcis;
	s->node.netdevs = s->netdevs;
	s->node.addresses = s->addresses;
	s->node.routes = s->routes;
	s->node.ibdevs = s->ibdevs;
	add_pci(s, "0000:41:00.0", "");
	add_pci(s, "0000:41:00.1", "");
	add_pci(s, "0000:41:01.0", "0000:41:00.0");
	add_netdev(s, 2, "eth0", "0000:41:00.0", "");
	add_netdev(s, 3, "eth1", "0000:41:00.1", "");
	add_address(s, 2, "192.0.2.10");
	add_address(s, 3, "10.1.0.2");
}

/* "0000:41:00.0 eth0 route", in order; "" for none. */
static void assert_nics(struct scene *s, const char *expected)
{
	_cleanup_(freep) struct node_nic *nics = NULL;
	char text[512] = "";
	size_t n = 0;

	assert_int_equal(node_nic_find(&s->node, &s->memory, &nics, &n, &s->until_usec), 0);
	for (size_t i = 0; i < n; i++) {
		const size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s %s %s%s", i > 0 ? ", " : "",
			 nics[i].pci, nics[i].netdev,
			 nics[i].why == NODE_NIC_ROUTE     ? "route"
			 : nics[i].why == NODE_NIC_ADDRESS ? "address"
			 : nics[i].why == NODE_NIC_SOON    ? "soon"
							   : "before",
			 nics[i].is_by_vf ? " by VF" : "");
	}
	assert_string_equal(text, expected);
}

static void best_default_route_of_each_family_counts(void **state _unused_)
{
	static const struct {
		struct {
			int family;
			uint32_t ifindex, metric;
			uint8_t protocol;
		} routes[4];
		const char *expected;
	} cases[] = {
		{ {}, "" },
		{ { { AF_INET, 2, 0, RTPROT_BOOT } }, "0000:41:00.0 eth0 route" },
		/* a lesser one is a rail's */
		{ { { AF_INET, 3, 200, RTPROT_BOOT }, { AF_INET, 2, 100, RTPROT_DHCP } },
		  "0000:41:00.0 eth0 route" },
		/* all next hops of one route */
		{ { { AF_INET, 2, 100, RTPROT_BGP }, { AF_INET, 3, 100, RTPROT_BGP } },
		  "0000:41:00.0 eth0 route, 0000:41:00.1 eth1 route" },
		/* each family has its own */
		{ { { AF_INET, 2, 0, RTPROT_BOOT }, { AF_INET6, 3, 1024, RTPROT_STATIC } },
		  "0000:41:00.0 eth0 route, 0000:41:00.1 eth1 route" },
		/* an advertised one does not count beside an IPv4 one ... */
		{ { { AF_INET, 2, 0, RTPROT_BOOT }, { AF_INET6, 3, 1024, RTPROT_RA } },
		  "0000:41:00.0 eth0 route" },
		{ { { AF_INET, 2, 0, RTPROT_BOOT },
		    { AF_INET6, 3, 1024, RTPROT_RA },
		    { AF_INET6, 2, 9999, RTPROT_STATIC } },
		  "0000:41:00.0 eth0 route" },
		/* ... but where it is all there is */
		{ { { AF_INET6, 3, 1024, RTPROT_RA } }, "0000:41:00.1 eth1 route" },
		{ { { AF_INET6, 3, 1024, RTPROT_RA }, { AF_INET6, 2, 1024, RTPROT_STATIC } },
		  "0000:41:00.0 eth0 route" },
		{ { { AF_INET6, 3, 512, RTPROT_RA }, { AF_INET6, 2, 1024, RTPROT_STATIC } },
		  "0000:41:00.1 eth1 route" },
		{ { { AF_INET6, 3, 4096, RTPROT_RA }, { AF_INET6, 2, 1024, RTPROT_RA } },
		  "0000:41:00.0 eth0 route" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s);
		for (size_t k = 0; k < 4 && cases[i].routes[k].family; k++)
			add_default(&s, cases[i].routes[k].family, cases[i].routes[k].ifindex,
				    cases[i].routes[k].metric, cases[i].routes[k].protocol);
		assert_nics(&s, cases[i].expected);
	}
}

static void what_is_no_way_out_does_not_count(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_default(&s, AF_INET, 2, 0, RTPROT_BOOT)->table = 100;
	add_default(&s, AF_INET, 2, 0, RTPROT_BOOT)->type = RTN_BLACKHOLE;
	add_default(&s, AF_INET, 2, 0, RTPROT_BOOT)->prefix_len = 1;
	add_default(&s, AF_INET, 0, 0, RTPROT_BOOT);
	assert_nics(&s, "");
}

static void owner_of_the_nodes_address_counts(void **state _unused_)
{
	struct scene s;
	int family;

	set_scene(&s); /* as with BGP to the host: the source is another netdev's */
	parse("10.1.0.2", &family, add_default(&s, AF_INET, 2, 0, RTPROT_BGP)->src);
	assert_nics(&s, "0000:41:00.0 eth0 route, 0000:41:00.1 eth1 address");

	set_scene(&s);
	COPY(s.node.kubelet.node_ip, "10.1.0.2");
	assert_nics(&s, "0000:41:00.1 eth1 address");

	set_scene(&s); /* it tells which of several advertised routes is the node's */
	add_address(&s, 2, "2001:db8::2");
	COPY(s.node.kubelet.node_ip, "2001:db8::2");
	add_default(&s, AF_INET6, 2, 1024, RTPROT_RA);
	add_default(&s, AF_INET6, 3, 1024, RTPROT_RA);
	assert_nics(&s, "0000:41:00.0 eth0 address");

	set_scene(&s);
	COPY(s.node.kubelet.node_ip, "0.0.0.0,203.0.113.9,nonsense, 192.0.2.10");
	assert_nics(&s, "0000:41:00.0 eth0 address");
}

static void search_goes_down_to_every_function(void **state _unused_)
{
	struct scene s;

	set_scene(&s); /* VLAN on a bond */
	add_netdev(&s, 10, "bond0", "", "bond");
	add_netdev(&s, 11, "bond0.5", "", "vlan")->link = 10;
	s.netdevs[0].master = s.netdevs[1].master = 10;
	add_default(&s, AF_INET, 11, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.0 bond0.5 route, 0000:41:00.1 bond0.5 route");

	set_scene(&s); /* bridge over a macvlan */
	add_netdev(&s, 10, "br0", "", "bridge");
	add_netdev(&s, 11, "mv0", "", "macvlan");
	s.netdevs[3].link = 3;
	s.netdevs[3].master = 10;
	add_default(&s, AF_INET, 10, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.1 br0 route");

	set_scene(&s); /* an internal port of Open vSwitch */
	add_netdev(&s, 10, "ovs-system", "", "openvswitch");
	add_netdev(&s, 11, "br-ex", "", "openvswitch");
	s.netdevs[0].master = 10;
	add_default(&s, AF_INET, 11, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.0 br-ex route");

	set_scene(&s); /* VLAN on a team with one port */
	add_netdev(&s, 10, "team0", "", "team");
	add_netdev(&s, 11, "team0.5", "", "vlan")->link = 10;
	s.netdevs[1].master = 10;
	add_default(&s, AF_INET, 11, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.1 team0.5 route");

	set_scene(&s); /* the default route on a macvlan */
	add_netdev(&s, 10, "mv0", "", "macvlan")->link = 2;
	add_default(&s, AF_INET, 10, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.0 mv0 route");

	set_scene(&s); /* a scalable function, below a bridge */
	add_netdev(&s, 10, "br0", "", "bridge");
	add_netdev(&s, 11, "eth1s88", "", "")->master = 10;
	COPY(s.netdevs[3].scalable_of, "0000:41:00.1");
	add_default(&s, AF_INET, 10, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.1 br0 route");

	set_scene(&s); /* what is beside it is not below it */
	add_netdev(&s, 10, "eth0.7", "", "vlan")->link = 2;
	add_default(&s, AF_INET, 3, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.1 eth1 route");

	set_scene(&s); /* a loop ends */
	add_netdev(&s, 10, "a", "", "")->link = 11;
	add_netdev(&s, 11, "b", "", "")->link = 10;
	add_default(&s, AF_INET, 10, 0, RTPROT_BOOT);
	assert_nics(&s, "");
}

static void a_vf_counts_with_its_pf(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	add_netdev(&s, 10, "eth0v0", "0000:41:01.0", "");
	add_default(&s, AF_INET, 10, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.0 eth0v0 route by VF, 0000:41:01.0 eth0v0 route");

	add_default(&s, AF_INET6, 2, 1024, RTPROT_STATIC);
	assert_nics(&s, "0000:41:00.0 eth0 route, 0000:41:01.0 eth0v0 route");
}

static void an_erdma_function_counts_by_its_rdma_device(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	s.node.n_ibdevs = 2;
	COPY(s.ibdevs[0].name, "erdma_0");
	COPY(s.ibdevs[0].pci, "0000:41:00.7");
	COPY(s.ibdevs[0].netdev, "eth0");
	COPY(s.ibdevs[1].name, "erdma_1");
	COPY(s.ibdevs[1].pci, "0000:41:00.8");
	COPY(s.ibdevs[1].netdev, "eth1");
	add_default(&s, AF_INET, 2, 0, RTPROT_BOOT);
	assert_nics(&s, "0000:41:00.0 eth0 route, 0000:41:00.7 eth0 route");
}

static void before_there_is_a_way_out_that_of_the_last_boot_counts(void **state _unused_)
{
	struct boot boots[] = {
		{ .boot_id = "a",
		  .knows_node_nics = true,
		  .node_nics = { "0000:41:00.1" },
		  .n_node_nics = 1 },
		{ .boot_id = "b",
		  .knows_node_nics = true,
		  .node_nics = { "0000:41:01.0", "0000:99:00.0" },
		  .n_node_nics = 2 },
		{ .boot_id = "c" }, /* it came to no default route */
		{ .boot_id = "now" },
	};
	struct scene s;

	set_scene(&s);
	s.node.n_routes = s.node.n_addresses = 0;
	COPY(s.node.boot_id, "now");
	s.netdevs[1].is_up = s.netdevs[1].has_carrier = true;
	s.memory.boots = boots;
	s.memory.n_boots = ELEMENTSOF(boots);
	assert_nics(&s, "0000:41:00.0  before by VF, 0000:41:01.0  before");

	add_default(&s, AF_INET, 3, 0, RTPROT_DHCP);
	assert_nics(&s, "0000:41:00.1 eth1 route");
	s.node.n_routes = 0;
	boots[2].knows_node_nics = true; /* it was taken away there */
	assert_nics(&s, "");
	boots[2].knows_node_nics = false;
	boots[3].knows_node_nics = true; /* and here */
	boots[3].n_node_nics = 1;
	COPY(boots[3].node_nics[0], "0000:41:00.1");
	assert_nics(&s, "");
}

#define SEC USEC_PER_SEC

#define ROUTE0 "0000:41:00.0 eth0 route"
#define SOON0  "0000:41:00.0 eth0 soon"

/* A file gives eth0 a default route, or eth0 and eth1. */
static void in_a_first_boot_what_is_to_get_a_default_route_counts(void **state _unused_)
{
	static const struct {
		const char *what;
		bool is_both, has_addresses;
		int family; /* of a default route */
		uint32_t ifindex;
		uint64_t now_usec, until_usec;
		const char *node_ip;
		struct boot boots[2]; /* the second is this one */
		const char *expected;
	} rows[] = {
		{ "no route", false, false, 0, 0, 900 * SEC, 0, "", {}, SOON0 },
		{ "address", false, true, 0, 0, 5 * SEC, 0, "", {}, SOON0 },
		{ "both", true, false, 0, 0, 5 * SEC, 0, "", {}, SOON0 ", 0000:41:00.1 eth1 soon" },
		{ "route", true, true, AF_INET, 2, 5 * SEC, 0, "", {}, ROUTE0 },
		{ "the other one is first",
		  true,
		  false,
		  AF_INET,
		  2,
		  5 * SEC,
		  SOON_USEC,
		  "",
		  {},
		  ROUTE0 ", 0000:41:00.1 eth1 soon" },
		{ "it never comes", true, false, AF_INET, 2, 60 * SEC, 0, "", {}, ROUTE0 },
		{ "in a captured tree", true, false, AF_INET, 2, 0, 0, "", {}, ROUTE0 },
		{ "a router is first",
		  false,
		  false,
		  AF_INET6,
		  3,
		  5 * SEC,
		  SOON_USEC,
		  "",
		  {},
		  SOON0 ", 0000:41:00.1 eth1 route" },
		{ "and noted",
		  false,
		  false,
		  AF_INET6,
		  3,
		  5 * SEC,
		  SOON_USEC,
		  "",
		  { [1] = { .knows_node_nics = true,
			    .node_nics = { "0000:41:00.1" },
			    .n_node_nics = 1 } },
		  SOON0 ", 0000:41:00.1 eth1 route" },
		{ "--node-ip",
		  true,
		  true,
		  0,
		  0,
		  5 * SEC,
		  0,
		  "10.1.0.2",
		  {},
		  "0000:41:00.1 eth1 address" },
		{ "a boot before",
		  false,
		  false,
		  0,
		  0,
		  5 * SEC,
		  0,
		  "",
		  { [0] = { .knows_node_nics = true,
			    .node_nics = { "0000:41:00.1" },
			    .n_node_nics = 1 } },
		  "0000:41:00.1  before" },
		{ "of another machine",
		  false,
		  false,
		  0,
		  0,
		  5 * SEC,
		  0,
		  "",
		  { [0] = { .knows_node_nics = true,
			    .node_nics = { "0000:99:00.1" },
			    .n_node_nics = 1 } },
		  SOON0 },
		{ "taken away in this boot",
		  false,
		  false,
		  0,
		  0,
		  5 * SEC,
		  0,
		  "",
		  { [1] = { .knows_node_nics = true } },
		  "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct boot boots[2];
		struct scene s;

		set_scene(&s);
		memcpy(boots, rows[i].boots, sizeof(boots));
		COPY(boots[0].boot_id, "before");
		COPY(boots[1].boot_id, "now");
		COPY(s.node.boot_id, "now");
		s.memory.boots = boots;
		s.memory.n_boots = ELEMENTSOF(boots);
		COPY(s.netdevs[0].way_file, "/etc/a");
		COPY(s.netdevs[1].way_file, rows[i].is_both ? "/etc/b" : "");
		if (!rows[i].has_addresses)
			s.node.n_addresses = 0;
		if (rows[i].family)
			add_default(&s, rows[i].family, rows[i].ifindex, 1024,
				    rows[i].family == AF_INET ? RTPROT_DHCP : RTPROT_RA);
		COPY(s.node.kubelet.node_ip, rows[i].node_ip);
		s.node.now_usec = rows[i].now_usec;
		print_message("%s\n", rows[i].what);
		assert_nics(&s, rows[i].expected);
		assert_int_equal(s.until_usec, rows[i].until_usec);
	}
}

static void what_has_no_name_yet_counts_in_a_first_boot(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	COPY(s.netdevs[1].way_file, "/etc/b");
	s.netdevs[0].is_unnamed = true;
	assert_nics(&s, "0000:41:00.0 eth0 soon, 0000:41:00.1 eth1 soon");
	COPY(s.pcis[0].physfn, "0000:41:00.7"); /* a VF that we made a moment ago */
	assert_nics(&s, "0000:41:00.1 eth1 soon");
	add_default(&s, AF_INET, 3, 1024, RTPROT_DHCP);
	s.pcis[0].physfn[0] = '\0';
	s.node.now_usec = SOON_USEC;
	assert_nics(&s, "0000:41:00.1 eth1 route");
}

static void what_is_below_a_netdev_that_is_to_get_it_counts(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	COPY(add_netdev(&s, 10, "bond0", "", "bond")->way_file, "/etc/a");
	s.netdevs[0].master = s.netdevs[1].master = 10;
	assert_nics(&s, "0000:41:00.0 bond0 soon, 0000:41:00.1 bond0 soon");
}

/* Of eth0 and eth1, a bond. Below "seen" is what a look finds, before it what earlier ones noted.
 */
static void what_lost_its_carrier_counts_until_it_had_time_for_a_route(void **state _unused_)
{
	static const struct {
		const char *what;
		uint32_t noted_downs;
		uint64_t noted_usec, now_usec;
		bool is_up[2], has_carrier[2];
		uint32_t downs[2];
		bool is_held;
		uint64_t until_usec;
	} rows[] = {
		{ "taken away", 5, 0, 1000, { 1, 1 }, { 1, 1 }, { 2, 3 }, false, 0 },
		{ "one port is out for long", 5, 0, 1000, { 1, 1 }, { 1, 0 }, { 2, 3 }, false, 0 },
		{ "no carrier", 5, 0, 1000, { 1, 1 }, { 0, 0 }, { 3, 4 }, true, 0 },
		{ "down", 5, 0, 1000, { 0, 0 }, { 0, 0 }, { 2, 3 }, true, 0 },
		{ "back", 5, 0, 1000, { 1, 1 }, { 1, 0 }, { 3, 3 }, true, 1060 },
		{ "back, and 20 s later", 5, 980, 1000, { 1, 1 }, { 1, 1 }, { 3, 3 }, true, 1040 },
		{ "a minute later", 5, 940, 1000, { 1, 1 }, { 1, 1 }, { 3, 3 }, false, 1000 },
		{ "out again", 5, 940, 1000, { 1, 1 }, { 0, 0 }, { 4, 3 }, true, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct boot boots[] = {
			{ .boot_id = "before",
			  .knows_node_nics = true,
			  .node_nics = { "0000:41:01.0" },
			  .n_node_nics = 1 },
			{ .boot_id = "now",
			  .knows_node_nics = true,
			  .node_nics = { "0000:41:00.0", "0000:41:00.1" },
			  .n_node_nics = 2,
			  .carrier_downs = rows[i].noted_downs,
			  .carrier_usec = rows[i].noted_usec * SEC },
		};
		struct scene s;

		set_scene(&s);
		s.node.n_routes = s.node.n_addresses = 0;
		COPY(s.node.boot_id, "now");
		s.memory.boots = boots;
		s.memory.n_boots = ELEMENTSOF(boots);
		s.node.now_usec = rows[i].now_usec * SEC;
		for (size_t k = 0; k < 2; k++) {
			s.netdevs[k].is_up = rows[i].is_up[k];
			s.netdevs[k].has_carrier = rows[i].has_carrier[k];
			s.netdevs[k].carrier_downs = rows[i].downs[k];
		}
		print_message("%s\n", rows[i].what);
		assert_nics(&s,
			    rows[i].is_held ? "0000:41:00.0  before, 0000:41:00.1  before" : "");
		if (rows[i].is_held)
			assert_int_equal(s.until_usec, rows[i].until_usec * SEC);
	}
}

/* From one look to the next, with what the first one noted. */
static void look(struct scene *s, struct boot *present, uint64_t now_sec, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	struct config config = {};

	s->node.now_usec = now_sec * SEC;
	assert_nics(s, expected);
	assert_int_equal(
		node_nic_find(&s->node, &s->memory, &p.node_nics, &p.n_node_nics, &s->until_usec),
		0);
	boots_conclude(&config, &s->node, &s->memory, &p, present);
}

static void a_lost_carrier_is_noted_from_look_to_look(void **state _unused_)
{
	struct boot boot = { .boot_id = "now" };
	struct netdev *eth0;
	struct scene s;

	set_scene(&s);
	s.node.n_addresses = 0;
	COPY(s.node.boot_id, "now");
	s.memory.boots = &boot;
	s.memory.n_boots = 1;
	eth0 = &s.netdevs[0];
	eth0->is_up = eth0->has_carrier = true;
	add_default(&s, AF_INET, 2, 0, RTPROT_DHCP);
	look(&s, &boot, 10, "0000:41:00.0 eth0 route");
	s.node.n_routes = 0;
	eth0->has_carrier = false;
	eth0->carrier_downs++;
	look(&s, &boot, 20, "0000:41:00.0  before");
	look(&s, &boot, 500, "0000:41:00.0  before");
	eth0->has_carrier = true;
	look(&s, &boot, 600, "0000:41:00.0  before");
	look(&s, &boot, 659, "0000:41:00.0  before");
	look(&s, &boot, 660, "");
	look(&s, &boot, 661, "");
	/* It may be so short that no look finds it. */
	add_default(&s, AF_INET, 2, 0, RTPROT_DHCP);
	look(&s, &boot, 700, "0000:41:00.0 eth0 route");
	eth0->carrier_downs++;
	s.node.n_routes = 0;
	look(&s, &boot, 701, "0000:41:00.0  before");
	s.node.n_routes = 1;
	look(&s, &boot, 703, "0000:41:00.0 eth0 route");
	s.node.n_routes = 0;
	look(&s, &boot, 704, "");
}

static void routers_of_rails_carry_nothing_while_the_uplink_is_remembered(void **state _unused_)
{
	struct boot boots[] = {
		{ .boot_id = "before",
		  .knows_node_nics = true,
		  .node_nics = { "0000:41:00.0" },
		  .n_node_nics = 1 },
		{ .boot_id = "now" },
	};
	struct scene s;

	set_scene(&s);
	s.node.n_addresses = s.node.n_routes = 0;
	COPY(s.node.boot_id, "now");
	s.memory.boots = boots;
	s.memory.n_boots = ELEMENTSOF(boots);
	add_default(&s, AF_INET6, 3, 1024, RTPROT_RA);
	assert_nics(&s, "0000:41:00.0  before");
	add_default(&s, AF_INET6, 2, 1024, RTPROT_RA);
	assert_nics(&s, "0000:41:00.0 eth0 route");
	COPY(boots[0].node_nics[1], "0000:41:01.0"); /* the other one has no router yet */
	boots[0].n_node_nics = 2;
	assert_nics(&s, "0000:41:00.0 eth0 route, 0000:41:01.0  before");
	s.memory.n_boots = 0; /* nothing is known: all of them */
	assert_nics(&s, "0000:41:00.0 eth0 route, 0000:41:00.1 eth1 route");
}

static void words_name_the_netdev(void **state _unused_)
{
	struct node_nic k = { .netdev = "bond0", .why = NODE_NIC_ADDRESS };
	char text[96];

	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "bond0 has the node's address");
	k = (struct node_nic){ .netdev = "eth0v0", .is_by_vf = true };
	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "by one of its VFs: eth0v0 has the default route");
	k = (struct node_nic){ .netdev = "eth0", .why = NODE_NIC_SOON, .file = "/etc/a" };
	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "eth0 is to get a default route, which is not there yet, by "
				  "/etc/a");
	k = (struct node_nic){ .why = NODE_NIC_BEFORE };
	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "it carried the node before; there is no default route now");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(best_default_route_of_each_family_counts),
		cmocka_unit_test(in_a_first_boot_what_is_to_get_a_default_route_counts),
		cmocka_unit_test(what_has_no_name_yet_counts_in_a_first_boot),
		cmocka_unit_test(what_is_below_a_netdev_that_is_to_get_it_counts),
		cmocka_unit_test(what_is_no_way_out_does_not_count),
		cmocka_unit_test(owner_of_the_nodes_address_counts),
		cmocka_unit_test(search_goes_down_to_every_function),
		cmocka_unit_test(a_vf_counts_with_its_pf),
		cmocka_unit_test(an_erdma_function_counts_by_its_rdma_device),
		cmocka_unit_test(before_there_is_a_way_out_that_of_the_last_boot_counts),
		cmocka_unit_test(what_lost_its_carrier_counts_until_it_had_time_for_a_route),
		cmocka_unit_test(a_lost_carrier_is_noted_from_look_to_look),
		cmocka_unit_test(routers_of_rails_carry_nothing_while_the_uplink_is_remembered),
		cmocka_unit_test(words_name_the_netdev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
