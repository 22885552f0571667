/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/graph.h"

#include "scene.h"

#define PF  "0000:41:00.0"
#define PF2 "0000:41:00.1"
#define VF  "0000:41:01.0"

static struct pci pcis[] = { { .address = PF },
			     { .address = PF2 },
			     { .address = VF, .physfn = PF } };

/* A netdev of this namespace, and one of the named namespace 1. */
#define HERE(i, n, ...)  { .ifindex = (i), .name = (n), ##__VA_ARGS__ }
#define THERE(i, n, ...) { .ifindex = (i), .name = (n), .netns = 1, ##__VA_ARGS__ }

static void append(char *text, size_t size, const char *name)
{
	const size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len > 0 ? " " : "", name);
}

/* Of each netdev that stands on any: "bond0.5: bond0 eth0 eth1\n"; of each function what is of it.
 */
static void print_graph(const struct graph *g, char *ret, size_t size)
{
	const struct node *n = g->n;
	const struct netdev *nd;

	ret[0] = '\0';
	for (size_t k = 0; k < n->n_netdevs + n->n_aways; k++) {
		const struct netdev *upper =
			k < n->n_netdevs ? &n->netdevs[k] : &n->aways[k - n->n_netdevs];
		char text[256] = "";

		for (size_t i = 0; (nd = graph_below(g, upper, &i));) {
			append(text, sizeof(text), nd->name);
			assert_true(graph_is_above(g, upper, nd));
		}
		if (text[0])
			snprintf(ret + strlen(ret), size - strlen(ret), "%s: %s\n", upper->name,
				 text);
	}
	for (size_t k = 0; k < n->n_pcis; k++) {
		char text[256] = "";

		for (size_t i = 0; (nd = graph_of(g, n->pcis[k].address, &i));)
			append(text, sizeof(text), nd->name);
		if (text[0])
			snprintf(ret + strlen(ret), size - strlen(ret), "%s: %s\n",
				 n->pcis[k].address, text);
	}
}

/* Does each netdev below another one have that above it, and nothing else? */
static void assert_both_ways(const struct graph *g)
{
	assert_int_equal(g->below.n, g->above.n);
	for (size_t i = 0; i < g->below.n; i++) {
		const struct graph_pair *p = &g->below.items[i];
		bool is_there = false;

		assert_int_not_equal(p->of, p->is);
		for (size_t k = 0; k < g->above.n; k++)
			is_there |= g->above.items[k].of == p->is && g->above.items[k].is == p->of;
		assert_true(is_there);
	}
}

static void netdevs_stand_on_ports_and_links(void **state _unused_)
{
	static struct {
		const char *what;
		struct netdev here[6], there[4];
		struct ibdev ib;
		const char *expected;
	} rows[] = {
		{ "stacked VLANs",
		  { HERE(2, "eth0", .pci = PF), HERE(3, "eth0.5", .link = 2, .kind = "vlan"),
		    HERE(4, "eth0.5.7", .link = 3, .kind = "vlan") },
		  .expected =
			  "eth0.5: eth0\neth0.5.7: eth0 eth0.5\n" PF ": eth0 eth0.5 eth0.5.7\n" },
		{ "macvlan on a bond",
		  { HERE(2, "eth0", .pci = PF, .master = 9),
		    HERE(3, "eth1", .pci = PF2, .master = 9), HERE(9, "bond0", .kind = "bond"),
		    HERE(10, "mv0", .link = 9, .kind = "macvlan") },
		  .expected = "bond0: eth0 eth1\nmv0: eth0 eth1 bond0\n" PF ": eth0 bond0 mv0\n" PF2
			      ": eth1 bond0 mv0\n" },
		{ "IPoIB child",
		  { HERE(2, "ib0", .pci = PF), HERE(3, "ib0.8001", .link = 2, .kind = "ipoib") },
		  .expected = "ib0.8001: ib0\n" PF ": ib0 ib0.8001\n" },
		{ "port of a VRF",
		  { HERE(2, "eth0", .pci = PF, .master = 9), HERE(3, "eth1", .pci = PF2),
		    HERE(9, "vrf0", .kind = "vrf") },
		  .expected = "vrf0: eth0\n" PF ": eth0 vrf0\n" PF2 ": eth1\n" },
		{ "bridge on a VLAN on a bond",
		  { HERE(2, "eth0", .pci = PF, .master = 9),
		    HERE(3, "eth1", .pci = PF2, .master = 9), HERE(9, "bond0", .kind = "bond"),
		    HERE(10, "bond0.5", .link = 9, .master = 11, .kind = "vlan"),
		    HERE(11, "br0", .kind = "bridge") },
		  .expected = "bond0: eth0 eth1\nbond0.5: eth0 eth1 bond0\n"
			      "br0: eth0 eth1 bond0 bond0.5\n" PF ": eth0 bond0 bond0.5 br0\n" PF2
			      ": eth1 bond0 bond0.5 br0\n" },
		{ "internal port of Open vSwitch",
		  { HERE(2, "eth0", .pci = PF, .master = 9), HERE(3, "eth1", .pci = PF2),
		    HERE(9, "ovs-system", .kind = "openvswitch"),
		    HERE(10, "br-ex", .kind = "openvswitch") },
		  .expected = "ovs-system: eth0\nbr-ex: eth0\n" PF ": eth0 ovs-system br-ex\n" PF2
			      ": eth1\n" },
		{ "PPPoE on a VLAN",
		  { HERE(2, "eth0", .pci = PF),
		    HERE(3, "eth0.7", .link = 2, .kind = "vlan", .has_pppoe = true),
		    HERE(9, "ppp0", .kind = "ppp") },
		  .expected = "eth0.7: eth0\nppp0: eth0 eth0.7\n" PF ": eth0 eth0.7 ppp0\n" },
		{ "veth pair",
		  { HERE(2, "eth0", .pci = PF), HERE(5, "veth0", .link = 6, .kind = "veth"),
		    HERE(6, "veth1", .link = 5, .kind = "veth") },
		  .expected = PF ": eth0\n" },
		{ "veth pair into a bridge",
		  { HERE(2, "eth0", .pci = PF, .master = 9),
		    HERE(5, "veth0", .link = 6, .kind = "veth"),
		    HERE(6, "veth1", .link = 5, .master = 9, .kind = "veth"),
		    HERE(9, "br0", .kind = "bridge") },
		  .expected = "veth0: eth0 veth1 br0\nbr0: eth0 veth1\n" PF ": eth0 veth0 br0\n" },
		{ "circle of links",
		  { HERE(2, "a", .link = 3), HERE(3, "b", .link = 4), HERE(4, "c", .link = 2) },
		  .expected = "a: b c\nb: a c\nc: a b\n" },
		{ "circle of masters",
		  { HERE(2, "a", .master = 3), HERE(3, "b", .master = 2) },
		  .expected = "a: b\nb: a\n" },
		{ "its own link, its own master",
		  { HERE(2, "a", .link = 2, .master = 2) },
		  .expected = "" },
		{ "links to netdevs that are not here",
		  { HERE(2, "a", .link = 7, .master = 8) },
		  .expected = "" },
		{ "scalable function",
		  { HERE(2, "eth0", .pci = PF), HERE(3, "eth0s0", .scalable_of = PF),
		    HERE(4, "eth0s0.5", .link = 3, .kind = "vlan") },
		  .expected = "eth0s0.5: eth0s0\n" PF ": eth0 eth0s0 eth0s0.5\n" },
		{ "representors",
		  { HERE(2, "eth0", .pci = PF), HERE(3, "eth0_0", .pci = PF, .port_name = "pf0vf0"),
		    HERE(4, "eth0v0", .pci = VF) },
		  .expected = PF ": eth0 eth0_0\n" VF ": eth0v0\n" },
		{ "eRDMA",
		  { HERE(2, "eth0", .pci = PF), HERE(3, "eth0.5", .link = 2, .kind = "vlan") },
		  .ib = { .name = "erdma_0", .pci = PF2, .netdev = "eth0" },
		  .expected = "eth0.5: eth0\n" PF ": eth0 eth0.5\n" PF2 ": eth0 eth0.5\n" },
		{ "macvlan in a named namespace, its link here",
		  { HERE(2, "eth0", .pci = PF) },
		  { THERE(2, "mv0", .link = 2, .is_link_here = true, .kind = "macvlan") },
		  .expected = "mv0: eth0\n" PF ": eth0 mv0\n" },
		{ "VLAN in a named namespace, its link there",
		  { HERE(2, "eth0", .pci = PF) },
		  { THERE(2, "eth1", .pci = PF2), THERE(3, "eth1.5", .link = 2, .kind = "vlan") },
		  .expected = "eth1.5: eth1\n" PF ": eth0\n" PF2 ": eth1 eth1.5\n" },
		{ "bridge in a named namespace over a VLAN of a port here",
		  { HERE(2, "eth0", .pci = PF) },
		  { THERE(2, "eth0.5", .link = 2, .is_link_here = true, .master = 3,
			  .kind = "vlan"),
		    THERE(3, "br0", .kind = "bridge") },
		  .expected = "eth0.5: eth0\nbr0: eth0 eth0.5\n" PF ": eth0 eth0.5 br0\n" },
		{ "the same numbers in two namespaces",
		  { HERE(2, "eth0", .pci = PF), HERE(3, "eth1", .pci = PF2) },
		  { THERE(2, "a"),
		    THERE(3, "b", .link = 2),
		    { .ifindex = 2, .name = "c", .netns = 2 },
		    { .ifindex = 3, .name = "d", .netns = 2, .link = 2 } },
		  .expected = "b: a\nd: c\n" PF ": eth0\n" PF2 ": eth1\n" },
		{ "wire into a namespace",
		  { HERE(2, "eth0", .pci = PF, .master = 9),
		    HERE(5, "veth0", .master = 9, .kind = "veth"),
		    HERE(9, "br0", .kind = "bridge") },
		  { THERE(2, "peer", .link = 5, .is_link_here = true, .kind = "veth") },
		  .expected = "br0: eth0 veth0\npeer: veth0\n" PF ": eth0 br0\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(graph_done) struct graph g = {};
		struct node node = {
			.pcis = pcis,
			.n_pcis = ELEMENTSOF(pcis),
			.netdevs = rows[i].here,
			.aways = rows[i].there,
			.ibdevs = &rows[i].ib,
			.n_ibdevs = rows[i].ib.name[0] != '\0',
		};
		char text[1024];

		while (node.n_netdevs < 6 && rows[i].here[node.n_netdevs].ifindex)
			node.n_netdevs++;
		while (node.n_aways < 4 && rows[i].there[node.n_aways].ifindex)
			node.n_aways++;
		assert_int_equal(graph_make(&node, &g), 0);
		print_graph(&g, text, sizeof(text));
		assert_row(rows[i].what, text, rows[i].expected);
		assert_both_ways(&g);
	}
}

static void only_netdevs_on_the_same_stack_are_above(void **state _unused_)
{
	_cleanup_(graph_done) struct graph g = {};
	struct netdev netdevs[] = { HERE(2, "eth0", .pci = PF), HERE(3, "eth1", .pci = PF2),
				    HERE(4, "eth0.5", .link = 2) };
	struct node node = { .pcis = pcis,
			     .n_pcis = ELEMENTSOF(pcis),
			     .netdevs = netdevs,
			     .n_netdevs = ELEMENTSOF(netdevs) };
	const struct netdev *nd;
	size_t i = 0;

	assert_int_equal(graph_make(&node, &g), 0);
	assert_true(graph_is_above(&g, &netdevs[2], &netdevs[0]));
	assert_false(graph_is_above(&g, &netdevs[0], &netdevs[2]));
	assert_false(graph_is_above(&g, &netdevs[2], &netdevs[1]));
	assert_false(graph_is_above(&g, &netdevs[0], &netdevs[0]));
	nd = graph_above(&g, &netdevs[0], &i);
	assert_ptr_equal(nd, &netdevs[2]);
	assert_null(graph_above(&g, &netdevs[0], &i));
	i = 0;
	assert_null(graph_of(&g, "0000:99:00.0", &i));
}

static void a_node_without_netdevs_has_an_empty_graph(void **state _unused_)
{
	_cleanup_(graph_done) struct graph g = {};
	struct node node = {};
	struct netdev nd = { .ifindex = 1 };

	assert_int_equal(graph_make(&node, &g), 0);
	assert_int_equal(g.below.n + g.above.n + g.functions.n, 0);
	assert_false(graph_is_above(&g, &nd, &nd));
}

/* 64 PFs of 64 VFs each, all with a netdev, and a bond of two of them. */
static void a_large_node_has_no_more_pairs_than_edges(void **state _unused_)
{
	enum {
		N = 64 * 65
	};
	_cleanup_(graph_done) struct graph g = {};
	_cleanup_(freep) struct pci *functions = calloc(N, sizeof(*functions));
	_cleanup_(freep) struct netdev *netdevs = calloc(N + 1, sizeof(*netdevs));
	struct node node = {
		.pcis = functions, .n_pcis = N, .netdevs = netdevs, .n_netdevs = N + 1
	};

	assert_non_null(functions);
	assert_non_null(netdevs);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(functions[i].address, PCI_LEN, "0000:%02x:%02x.%x", i / 256, i % 256 / 8,
			 i % 8);
		netdevs[i] = (struct netdev){ .ifindex = i + 2 };
		COPY(netdevs[i].pci, functions[i].address);
	}
	netdevs[N] = (struct netdev){ .ifindex = N + 2, .name = "bond0", .kind = "bond" };
	netdevs[0].master = netdevs[1].master = N + 2;
	assert_int_equal(graph_make(&node, &g), 0);
	assert_int_equal(g.below.n, 2);
	assert_int_equal(g.above.n, 2);
	assert_int_equal(g.functions.n, N + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(netdevs_stand_on_ports_and_links),
		cmocka_unit_test(only_netdevs_on_the_same_stack_are_above),
		cmocka_unit_test(a_node_without_netdevs_has_an_empty_graph),
		cmocka_unit_test(a_large_node_has_no_more_pairs_than_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
