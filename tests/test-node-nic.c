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
	struct pci pcis[8];
	struct netdev netdevs[12];
	struct address addresses[8];
	struct route routes[8];
	struct ibdev ibdevs[4];
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
static void assert_nics(const struct scene *s, const char *expected)
{
	_cleanup_(freep) struct node_nic *nics = NULL;
	char text[512] = "";
	size_t n = 0;

	assert_int_equal(node_nic_find(&s->node, &nics, &n), 0);
	for (size_t i = 0; i < n; i++) {
		const size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s %s %s%s", i > 0 ? ", " : "",
			 nics[i].pci, nics[i].netdev,
			 nics[i].why == NODE_NIC_ROUTE     ? "route"
			 : nics[i].why == NODE_NIC_ADDRESS ? "address"
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
	s.node.boots = boots;
	s.node.n_boots = ELEMENTSOF(boots);
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

static void words_name_the_netdev(void **state _unused_)
{
	struct node_nic k = { .netdev = "bond0", .why = NODE_NIC_ADDRESS };
	char text[96];

	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "bond0 has the node's address");
	k = (struct node_nic){ .netdev = "eth0v0", .is_by_vf = true };
	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(text, "by one of its VFs: eth0v0 has the default route");
	k = (struct node_nic){ .why = NODE_NIC_BEFORE };
	node_nic_describe(&k, text, sizeof(text));
	assert_string_equal(
		text, "it carried the node in the last boot; this one has no default route yet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(best_default_route_of_each_family_counts),
		cmocka_unit_test(what_is_no_way_out_does_not_count),
		cmocka_unit_test(owner_of_the_nodes_address_counts),
		cmocka_unit_test(search_goes_down_to_every_function),
		cmocka_unit_test(a_vf_counts_with_its_pf),
		cmocka_unit_test(an_erdma_function_counts_by_its_rdma_device),
		cmocka_unit_test(before_there_is_a_way_out_that_of_the_last_boot_counts),
		cmocka_unit_test(words_name_the_netdev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
