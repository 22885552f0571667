/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/os/link.h"
#include "../src/os/route.h"
#include "../src/step/observers.h"
#include "netns.h"
#include "skip.h"

enum {
	ETH0 = 2,
	ETH1,
	VRF,
	WG0,
	GRE0
};

struct tree {
	struct os os;
	struct node node;
	struct netdev netdevs[5];
	struct route routes[8];
	struct tunnel_end ends[4];
};

static struct route *add_route(struct tree *t, const char *dst, uint32_t len, uint32_t table,
			       uint32_t ifindex)
{
	struct route *to = &t->routes[t->node.n_routes++];

	*to = (struct route){
		.prefix_len = len, .table = table, .ifindex = ifindex, .type = RTN_UNICAST
	};
	to->family = netns_parse(dst, to->dst) == 4 ? AF_INET : AF_INET6;
	return to;
}

static void add_end(struct tree *t, uint32_t ifindex, const char *remote, uint32_t mark)
{
	struct tunnel_end *to = &t->ends[t->node.n_tunnel_ends++];

	*to = (struct tunnel_end){ .ifindex = ifindex, .mark = mark };
	to->family = netns_parse(remote, to->remote) == 4 ? AF_INET : AF_INET6;
}

/* eth0 and eth1, a VRF with eth1, and two tunnels. */
static void set_tree(struct tree *t)
{
	static const char *const names[] = { "eth0", "eth1", "mgmt", "wg0", "gre0" };

	*t = (struct tree){};
	for (uint32_t i = 0; i < ELEMENTSOF(names); i++) {
		t->netdevs[i] = (struct netdev){ .ifindex = ETH0 + i, .is_up = true };
		COPY(t->netdevs[i].name, names[i]);
	}
	COPY(t->netdevs[VRF - ETH0].kind, "vrf");
	t->netdevs[VRF - ETH0].vrf_table = 77;
	t->netdevs[ETH1 - ETH0].master = VRF;
	t->node.netdevs = t->netdevs;
	t->node.n_netdevs = ELEMENTSOF(t->netdevs);
	t->node.routes = t->routes;
	t->node.tunnel_ends = t->ends;
}

static void tree_done(struct tree *t)
{
	free(t->node.destinations);
}

/* The nth one to there; NULL: there is none. */
static const struct destination *find(const struct node *n, enum destination_to to, size_t nth)
{
	for (size_t i = 0; i < n->n_destinations; i++)
		if (n->destinations[i].to == to && nth-- == 0)
			return &n->destinations[i];
	return NULL;
}

static void default_destinations_of_both_families_are_asked(_unused_ void **state)
{
	_cleanup_(tree_done) struct tree t;

	set_tree(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(t.node.n_destinations, 4); /* three of them of IPv4 */
	assert_int_equal(find(&t.node, TO_DEFAULT, 0)->lookup.found, ETH0);
	assert_string_equal(find(&t.node, TO_DEFAULT, 0)->words, "default route, 192.0.2.1");
	assert_int_equal(find(&t.node, TO_DEFAULT, 3)->lookup.family, AF_INET6);
	assert_int_equal(find(&t.node, TO_DEFAULT, 3)->lookup.result, -ENETUNREACH);

	/* Once is enough, also when another address stands for all others by now. */
	add_route(&t, "192.0.2.0", 24, RT_TABLE_MAIN, ETH1);
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(t.node.n_destinations, 4);
}

static void a_vrf_with_a_default_route_is_asked(_unused_ void **state)
{
	_cleanup_(tree_done) struct tree t;

	set_tree(&t);
	add_route(&t, "0.0.0.0", 0, 77, ETH1);
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(find(&t.node, TO_VRF, 0)->lookup.found, ETH1);
	assert_int_equal(find(&t.node, TO_VRF, 0)->lookup.ifindex, VRF);
	assert_string_equal(find(&t.node, TO_VRF, 0)->words,
			    "default route of the VRF mgmt, 192.0.2.1");
	assert_null(find(&t.node, TO_VRF, 1)); /* IPv6 has none */
}

/* As wg-quick has it: what has no mark goes into the tunnel, and its own packets have one. */
static void the_other_end_of_a_tunnel_is_asked_with_its_mark(_unused_ void **state)
{
	struct rule rules[] = {
		{ .family = AF_INET, .preference = 1, .table = RT_TABLE_MAIN, .action = 1 },
		{ .family = AF_INET,
		  .preference = 2,
		  .table = 51820,
		  .action = 1,
		  .mark = 51820,
		  .mask = UINT32_MAX,
		  .is_invert = true,
		  .suppress_prefix = -1 },
		{ .family = AF_INET,
		  .preference = 3,
		  .table = RT_TABLE_MAIN,
		  .action = 1,
		  .suppress_prefix = -1 },
	};
	_cleanup_(tree_done) struct tree t;
	const struct destination *d;

	set_tree(&t);
	t.node.rules = rules;
	t.node.n_rules = ELEMENTSOF(rules);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	add_route(&t, "0.0.0.0", 0, 51820, WG0);
	add_end(&t, WG0, "198.51.100.7", 51820);
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(find(&t.node, TO_DEFAULT, 0)->lookup.found, WG0);
	d = find(&t.node, TO_TUNNEL_END, 0);
	assert_non_null(d);
	assert_int_equal(d->lookup.found, ETH0);
	assert_string_equal(d->words, "the other end of wg0, 198.51.100.7, for: default route, "
				      "192.0.2.1");
	assert_null(find(&t.node, TO_TUNNEL_END, 1));
}

/* Each tunnel's other end is behind the other tunnel. */
static void a_circle_of_tunnels_ends(_unused_ void **state)
{
	_cleanup_(tree_done) struct tree t;

	set_tree(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, WG0);
	add_route(&t, "198.51.100.0", 24, RT_TABLE_MAIN, GRE0);
	add_route(&t, "203.0.113.0", 24, RT_TABLE_MAIN, WG0);
	add_end(&t, WG0, "198.51.100.7", 0);
	add_end(&t, GRE0, "203.0.113.7", 0);
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(find(&t.node, TO_TUNNEL_END, 0)->lookup.found, GRE0);
	assert_int_equal(find(&t.node, TO_TUNNEL_END, 1)->lookup.found, WG0);
	assert_null(find(&t.node, TO_TUNNEL_END, 2));
}

static void a_recorded_answer_stays(_unused_ void **state)
{
	struct destination recorded = { .to = TO_API_SERVER,
					.lookup = { .family = AF_INET, .found = ETH1 } };
	_cleanup_(tree_done) struct tree t;

	set_tree(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	*APPEND(t.node.destinations, t.node.n_destinations) = recorded;
	recorded.lookup.result = -ENODATA;
	netns_parse("10.0.0.1", recorded.lookup.dst);
	*APPEND(t.node.destinations, t.node.n_destinations) = recorded;
	assert_int_equal(observe_destinations_ask(&t.os, &t.node), 0);
	assert_int_equal(find(&t.node, TO_API_SERVER, 0)->lookup.found, ETH1);
	assert_int_equal(find(&t.node, TO_API_SERVER, 1)->lookup.found, ETH0);
}

static void live_done(struct tree *t)
{
	node_done(&t->node);
	netlink_done(&t->os.route);
}

static void the_kernel_is_asked_on_a_running_system(_unused_ void **state)
{
	_cleanup_(live_done) struct tree t = { .os = { .fs = { .is_live = true },
						       .route = { .protocol = NETLINK_ROUTE } } };
	struct node *n = &t.node;
	uint32_t eth0, vx0;

	if (netns_enter() < 0 && unshare(CLONE_NEWNET) < 0)
		skip_without("a network namespace of our own");
	if (system("ip link add eth0 type veth peer name peer && ip link set peer up && "
		   "ip link set eth0 up && ip address add 10.1.0.2/24 dev eth0 && "
		   "ip link add vx0 type vxlan id 5 dstport 4789 remote 10.1.0.9 && "
		   "ip link set vx0 up && ip address add 172.16.0.2/24 dev vx0 && "
		   "ip route add default via 172.16.0.1") != 0)
		skip_without("VXLAN in this kernel");
	eth0 = if_nametoindex("eth0");
	vx0 = if_nametoindex("vx0");
	assert_int_equal(link_list(&t.os.route, &n->netdevs, &n->n_netdevs, &n->tunnel_ends,
				   &n->n_tunnel_ends),
			 0);
	assert_int_equal(link_list_addresses(&t.os.route, &n->addresses, &n->n_addresses), 0);
	assert_int_equal(route_list(&t.os.route, &n->routes, &n->n_routes), 0);
	assert_int_equal(rule_list(&t.os.route, &n->rules, &n->n_rules), 0);
	assert_int_equal(observe_destinations_ask(&t.os, n), 0);
	assert_int_equal(find(n, TO_DEFAULT, 0)->lookup.found, vx0);
	assert_int_equal(find(n, TO_TUNNEL_END, 0)->lookup.found, eth0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_destinations_of_both_families_are_asked),
		cmocka_unit_test(a_vrf_with_a_default_route_is_asked),
		cmocka_unit_test(the_other_end_of_a_tunnel_is_asked_with_its_mark),
		cmocka_unit_test(a_circle_of_tunnels_ends),
		cmocka_unit_test(a_recorded_answer_stays),
		cmocka_unit_test(the_kernel_is_asked_on_a_running_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
