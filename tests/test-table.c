/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/ip.h"
#include "../src/model/metadata.h"
#include "../src/model/module-options.h"
#include "../src/model/route-facts.h"
#include "../src/step/steps.h"

#include "scene.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#define FIRST  "0000:41:00.0"
#define SECOND "0000:42:00.0"
#define RAIL1  10
#define RAIL2  20
#define OTHER  90
#define TABLE1 (OWN_TABLE_BASE + RAIL1)
#define TABLE2 (OWN_TABLE_BASE + RAIL2)
#define NOW    (1000 * USEC_PER_SEC)

/* Two RDMA cards that are well, one NIC that is not ours, and Manage=yes. */
struct scene {
	struct config config;
	struct device_config sections[2];
	struct node node;
	struct memory memory;
	struct pci pcis[2];
	struct netdev netdevs[4];
	struct ibdev ibdevs[2];
	struct port ports[2];
	struct gid gids[2][4];
	struct address addresses[8];
	struct route routes[16];
	struct rule rules[16];
	struct neighbour neighbours[4];
	struct lookup lookups[4];
	struct destination destination;
	struct metadata metadatas[2];
	struct ledger_entry ledger[8];
	struct module modules[4];
};

static void add_card(struct scene *s, unsigned i, const char *pci, uint32_t ifindex)
{
	s->pcis[i] = (struct pci){ .vendor = 0x15b3, .device = 0x1021, .class = 0x020000 };
	COPY(s->pcis[i].address, pci);
	COPY(s->pcis[i].driver, "mlx5_core");
	s->netdevs[i] = (struct netdev){ .ifindex = ifindex, .mtu = 1500, .is_up = true };
	snprintf(s->netdevs[i].name, sizeof(s->netdevs[i].name), "eth%u", i + 1);
	snprintf(s->netdevs[i].mac, sizeof(s->netdevs[i].mac), "00:16:3e:00:00:0%u", i + 1);
	COPY(s->netdevs[i].pci, pci);
	s->ibdevs[i] = (struct ibdev){ .node_type = "CA",
				       .uverbs = "uverbs0",
				       .umad = "umad0",
				       .ports = &s->ports[i],
				       .n_ports = 1 };
	snprintf(s->ibdevs[i].name, sizeof(s->ibdevs[i].name), "mlx5_%u", i);
	COPY(s->ibdevs[i].pci, pci);
	COPY(s->ibdevs[i].netdev, s->netdevs[i].name);
	s->ports[i] = (struct port){ .number = 1,
				     .state = "ACTIVE",
				     .link_layer = "Ethernet",
				     .gids = s->gids[i],
				     .n_gids = 1 };
	s->gids[i][0] = (struct gid){ .type = "RoCE v2" };
	COPY(s->gids[i][0].gid, "fe80:0000:0000:0000:0000:0000:0000:0001");
	COPY(s->gids[i][0].netdev, s->netdevs[i].name);
}

static void add_gid(struct scene *s, unsigned card, const uint8_t bytes[16], bool is_ipv4)
{
	struct gid *g = &s->gids[card][s->ports[card].n_gids];
	size_t at = 0;

	*g = (struct gid){ .index = (uint32_t)s->ports[card].n_gids++, .type = "RoCE v2" };
	COPY(g->netdev, s->netdevs[card].name);
	if (is_ipv4)
		snprintf(g->gid, sizeof(g->gid), "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x",
			 bytes[0], bytes[1], bytes[2], bytes[3]);
	for (size_t i = 0; i < 16 && !is_ipv4; i += 2)
		at += (size_t)snprintf(g->gid + at, sizeof(g->gid) - at, "%02x%02x%s", bytes[i],
				       bytes[i + 1], i < 14 ? ":" : "");
}

static struct address *add_address(struct scene *s, uint32_t ifindex, const char *local,
				   uint32_t prefix_len, uint32_t metric)
{
	struct address *a = &s->addresses[s->node.n_addresses++];

	*a = (struct address){ .ifindex = ifindex,
			       .prefix_len = prefix_len,
			       .metric = metric,
			       .flags = IFA_F_PERMANENT };
	parse(local, &a->family, a->local);
	memcpy(a->peer, a->local, 16);
	if (ifindex != OTHER)
		add_gid(s, ifindex == RAIL1 ? 0 : 1, a->local, a->family == AF_INET);
	return a;
}

static struct route *add_route(struct scene *s, const char *dst, uint32_t prefix_len,
			       uint32_t ifindex, const char *gateway, uint32_t metric)
{
	struct route *t = &s->routes[s->node.n_routes++];
	int family;

	*t = (struct route){ .prefix_len = prefix_len,
			     .table = RT_TABLE_MAIN,
			     .ifindex = ifindex,
			     .metric = metric,
			     .protocol = gateway ? RTPROT_DHCP : RTPROT_KERNEL,
			     .type = RTN_UNICAST };
	parse(dst, &t->family, t->dst);
	if (gateway)
		parse(gateway, &family, t->gateway);
	return t;
}

/* Ranked already, so that tables and rules stand alone. */
static void set_scene(struct scene *s)
{
	static const char *const modules[] = { "ib_umad", "ib_uverbs", "mlx5_core", "rdma_ucm" };

	*s = (struct scene){};
	s->sections[0] = (struct device_config){ .name = "rail",
						 .count = COUNT_UNSET,
						 .require_address = REQUIRE_ADDRESS_NO,
						 .match = (char *)"driver:mlx5_core" };
	s->config.devices = s->sections;
	s->config.n_devices = 1;
	s->config.route.manage = true;
	s->config.route.metric = 200;
	COPY(s->config.service.node_nic, "none"); /* unless a case is about that */
	s->node = (struct node){ .kernel = "6.12.0",
				 .netns_mode = NETNS_MODE_SHARED,
				 .has_rdma_cm = true,
				 .now_usec = NOW,
				 .pcis = s->pcis,
				 .n_pcis = 2,
				 .netdevs = s->netdevs,
				 .n_netdevs = 3,
				 .ibdevs = s->ibdevs,
				 .n_ibdevs = 2,
				 .addresses = s->addresses,
				 .routes = s->routes,
				 .rules = s->rules,
				 .neighbours = s->neighbours,
				 .lookups = s->lookups,
				 .metadatas = s->metadatas,
				 .modules = s->modules };
	s->memory = (struct memory){ .ledger = s->ledger };
	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		struct module *m = &s->modules[s->node.n_modules++];

		COPY(m->name, modules[i]);
		m->state = MODULE_LOADED;
	}
	add_card(s, 0, FIRST, RAIL1);
	add_card(s, 1, SECOND, RAIL2);
	s->netdevs[2] = (struct netdev){
		.ifindex = OTHER, .name = "eth9", .is_up = true, .has_device = true
	};
}

/* One line for each: "add-rule 0000:41:00.0 from 10.0.0.2 table 11400010", "-> TO", "class code".
 */
static void describe(const struct plan *p, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		const size_t at = strlen(ret);
		char buf[SHOWN_LEN];
		const char *to = action_to(a, buf);

		snprintf(ret + at, size - at, "%s%s %s%s%s%s%s%s%s", i ? "\n" : "",
			 verb_name(a->verb), a->target, *a->subject ? " " : "", a->subject,
			 *to ? " -> " : "", to, a->class == CLASS_CHANGE ? "" : " ",
			 a->class == CLASS_CHANGE ? "" : reason_code(a->reason));
	}
}

static void assert_plan(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[4096];

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, &p), 0);
	describe(&p, text, sizeof(text));
	assert_row(row, text, expected);
}

/* --- tables and rules --- */

static void one(struct scene *s)
{
	add_address(s, RAIL1, "10.0.0.2", 24, 200);
}
static void two(struct scene *s)
{
	one(s);
	add_address(s, RAIL2, "10.0.0.3", 24, 201);
}
static void one_beside_another(struct scene *s)
{
	one(s);
	add_route(s, "10.0.0.0", 24, OTHER, NULL, 100);
}
static void one_with_gateway(struct scene *s)
{
	one(s);
	add_route(s, "0.0.0.0", 0, RAIL1, "10.0.0.1", 500);
}
/* The node leaves by another NIC. */
static void add_node_route(struct scene *s)
{
	add_route(s, "0.0.0.0", 0, OTHER, "10.9.0.1", 100);
}
static void one_with_gateway_behind_another(struct scene *s)
{
	one_with_gateway(s);
	add_node_route(s);
}
static void yes(struct scene *s)
{
	one(s);
	s->config.route.rules = POLICY_RULES_YES;
}
static void no(struct scene *s)
{
	two(s);
	s->config.route.rules = POLICY_RULES_NO;
}
static void not_managed(struct scene *s)
{
	two(s);
	s->config.route.manage = false;
}
static void ipv6(struct scene *s)
{
	struct address *a = add_address(s, RAIL1, "fd00::2", 64, 200);

	a->flags = 0; /* by router advertisements */
	add_address(s, RAIL1, "fe80::2", 64, 0)->scope = RT_SCOPE_LINK;
	add_address(s, RAIL1, "fd00::ffff", 64, 0)->flags = IFA_F_TEMPORARY;
	add_route(s, "::", 0, RAIL1, "fe80::1", 1024)->protocol = RTPROT_RA;
	add_node_route(s);
	s->config.route.rules = POLICY_RULES_YES;
}
static void two_of_a_prefix(struct scene *s)
{
	yes(s);
	add_address(s, RAIL1, "10.0.0.9", 24, 0)->flags |= IFA_F_SECONDARY;
}
static void gateway_elsewhere(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	add_address(s, RAIL1, "10.0.0.2", 32, 0);
	add_route(s, "0.0.0.0", 0, RAIL1, "10.9.9.9", 500);
	add_node_route(s);
}
static void down(struct scene *s)
{
	yes(s);
	s->netdevs[0].is_up = false;
}
static void bonded(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	s->netdevs[3] =
		(struct netdev){ .ifindex = 95, .name = "bond0", .is_up = true, .kind = "bond" };
	s->node.n_netdevs = 4;
	s->netdevs[0].master = 95;
	s->sections[0].match = (char *)"pci:" FIRST;
	COPY(s->ibdevs[0].netdev, "bond0");
	COPY(s->gids[0][0].netdev, "bond0");
	s->node.n_ibdevs = 1; /* of both ports */
	s->addresses[s->node.n_addresses++] = (struct address){ .ifindex = 95,
								.family = AF_INET,
								.prefix_len = 24,
								.metric = 200,
								.local = { 10, 0, 0, 2 },
								.peer = { 10, 0, 0, 2 } };
	add_gid(s, 0, (const uint8_t[16]){ 10, 0, 0, 2 }, true);
	COPY(s->gids[0][1].netdev, "bond0");
}

static void vlan(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	s->netdevs[3] = (struct netdev){ 95, "eth1.7", .is_up = true, .kind = "vlan" };
	s->netdevs[3].link = RAIL1;
	s->node.n_netdevs = 4;
	add_address(s, 95, "10.60.0.2", 24, 0);
}
static void vlan_beside_an_address(struct scene *s)
{
	yes(s);
	vlan(s);
}

/* BGP without numbers: the gateways of a rail are of IPv6, RFC 5549. */
static void by_gateways_of_ipv6(struct scene *s)
{
	yes(s);
	COPY(add_route(s, "10.90.0.0", 16, RAIL1, "0.0.0.0", 20)->via, "fe80::1");
	COPY(add_route(s, "0.0.0.0", 0, RAIL1, "0.0.0.0", 500)->via, "fe80::1");
	add_node_route(s);
}
static void by_a_gateway_of_each_family(struct scene *s)
{
	yes(s);
	COPY(add_route(s, "0.0.0.0", 0, RAIL1, "0.0.0.0", 20)->via, "fe80::1");
	one_with_gateway_behind_another(s);
	s->node.n_addresses--;
	s->ports[0].n_gids--;
}
static void by_a_gateway_that_is_not_known(struct scene *s)
{
	yes(s);
	add_route(s, "10.90.0.0", 16, RAIL1, "0.0.0.0", 20);
	add_node_route(s);
}

#define BY_GATEWAY                                                                                 \
	"set-route " FIRST " 10.0.0.0/24 table 11400010\n"                                         \
	"set-route " FIRST " 0.0.0.0/0 table 11400010\n"                                           \
	"add-rule " FIRST " from 10.0.0.2 table 11400010\n"                                        \
	"add-rule " FIRST " oif eth1 table 11400010"

/* Another program's table 100, with a default route by this NIC, and its rule. */
static struct rule *add_others_rule(struct scene *s, const char *src, uint32_t src_len,
				    uint32_t preference)
{
	struct rule *rule = &s->rules[s->node.n_rules++];

	add_route(s, "0.0.0.0", 0, RAIL1, "10.0.0.254", 0)->table = 100;
	*rule = (struct rule){ .preference = preference,
			       .table = 100,
			       .protocol = RTPROT_STATIC,
			       .action = FR_ACT_TO_TBL,
			       .src_len = src_len,
			       .suppress_prefix = -1 };
	parse(src, &rule->family, rule->src);
	return rule;
}
static void led(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	one_with_gateway_behind_another(s);
	add_others_rule(s, "10.0.0.2", 32, 32765);
}
static void led_by_prefix(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	one_with_gateway_behind_another(s);
	add_others_rule(s, "10.0.0.0", 24, 100);
}
static void led_point_to_point(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_YES;
	add_address(s, RAIL1, "10.0.0.1", 31, 200);
	add_others_rule(s, "10.0.0.1", 32, 32765);
	add_node_route(s);
}
static void led_by_another_nic(struct scene *s)
{
	led(s);
	s->routes[s->node.n_routes - 1].ifindex = OTHER;
}
static void led_to_its_prefix(struct scene *s)
{
	led(s);
	s->routes[s->node.n_routes - 1].prefix_len = 24;
	memcpy(s->routes[s->node.n_routes - 1].dst, (const uint8_t[]){ 10, 0, 0, 0 }, 4);
}
static void led_from_behind_main(struct scene *s)
{
	led(s);
	s->rules[0].preference = 40000;
}
static void led_with_a_mark(struct scene *s)
{
	led(s);
	s->rules[0].mark = s->rules[0].mask = 1;
	add_route(s, "0.0.0.0", 0, RAIL1, "10.0.0.1", 0);
}
static void led_as_one_of_two(struct scene *s)
{
	led(s);
	add_address(s, RAIL1, "10.0.0.9", 24, 0)->flags |= IFA_F_SECONDARY;
}

static void a_table_and_rules_for_each_nic_that_needs_them(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "alone", one, "" },
		{ "alone with a gateway", one_with_gateway, "" },
		{ "Manage=no", not_managed, "" },
		{ "PolicyRules=no", no, "" },
		{ "several RDMA NICs", two,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " SECOND " 10.0.0.0/24 table 11400020\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010\n"
		  "add-rule " SECOND " from 10.0.0.3 table 11400020\n"
		  "add-rule " SECOND " oif eth2 table 11400020" },
		{ "main picks another for the prefix", one_beside_another,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "main picks another behind the gateway", one_with_gateway_behind_another,
		  BY_GATEWAY },
		{ "gateways of IPv6", by_gateways_of_ipv6,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " FIRST " 10.90.0.0/16 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "gateway that is not known", by_a_gateway_that_is_not_known,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "the address is on a VLAN", vlan,
		  "set-metric " FIRST " 10.60.0.2/24 -> 200\n"
		  "set-route " FIRST " 10.60.0.0/24 table 11400095\n"
		  "add-rule " FIRST " from 10.60.0.2 table 11400095\n"
		  "add-rule " FIRST " oif eth1.7 table 11400095" },
		{ "a VLAN beside its own address", vlan_beside_an_address,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "two addresses, one prefix", two_of_a_prefix,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.9 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "IPv6, neither link-local nor temporary", ipv6,
		  "set-route " FIRST " fd00::/64 table 11400010\n"
		  "set-route " FIRST " ::/0 table 11400010\n"
		  "add-rule " FIRST " from fd00::2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010 of IPv6" },
		{ "a gateway outside of all prefixes is put on the link", gateway_elsewhere,
		  "set-route " FIRST " 10.9.9.9/32 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "another program leads from the address", led, "" },
		{ "another program leads from its prefix", led_by_prefix, "" },
		{ "another program leads from it to a peer", led_point_to_point, "" },
		{ "another program leads to another NIC", led_by_another_nic, BY_GATEWAY },
		{ "another program leads to the prefix alone", led_to_its_prefix, BY_GATEWAY },
		{ "another program's rule is behind main", led_from_behind_main, BY_GATEWAY },
		{ "another program leads what has a mark", led_with_a_mark, BY_GATEWAY },
		{ "another program leads from one of two", led_as_one_of_two,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.9 table 11400010" },
		{ "down", down, "set-link-up " FIRST },
		{ "of a bond", bonded,
		  "set-route " FIRST " 10.0.0.0/24 table 11400095\n"
		  "add-rule " FIRST " from 10.0.0.2 table 11400095\n"
		  "add-rule " FIRST " oif bond0 table 11400095" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* ConnectX-3: one function and RDMA device, a netdev for each port. StaticAddress= is of the
 * first. */
static void both_ports_of_a_function_have_tables_and_metrics(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	two(&s);
	s.addresses[1].metric = 0;
	COPY(s.netdevs[1].pci, FIRST);
	for (size_t i = 0; i < 2; i++)
		COPY(s.netdevs[i].perm_mac, s.netdevs[i].mac);
	s.node.n_pcis = s.node.n_ibdevs = 1;
	s.ibdevs[0].n_ports = 2;
	COPY(s.ports[1].state, "DOWN");
	assert_plan(&s, "two ports",
		    "set-metric " FIRST " 10.0.0.3/24 -> 201\n"
		    "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		    "set-route " FIRST " 10.0.0.0/24 table 11400020\n"
		    "add-rule " FIRST " from 10.0.0.2 table 11400010\n"
		    "add-rule " FIRST " oif eth1 table 11400010\n"
		    "add-rule " FIRST " from 10.0.0.3 table 11400020\n"
		    "add-rule " FIRST " oif eth2 table 11400020");
	s.node.n_addresses = 0;
	s.config.route.address = ADDRESS_STATIC;
	s.sections[0].address = (struct ip){ AF_INET, { 10, 0, 0, 5 }, 24 };
	assert_plan(&s, "an address for one", "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24");
}

/* What a plan wants is there, as the kernel would show it. */
static void carry_out(struct scene *s)
{
	_cleanup_(plan_done) struct plan p = {};

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, &p), 0);
	for (size_t i = 0; i < p.n_actions; i++) {
		const struct action *a = &p.actions[i];

		if (a->verb == VERB_SET_ROUTE)
			s->routes[s->node.n_routes++] = a->route.route;
		if (a->verb == VERB_ADD_RULE)
			s->rules[s->node.n_rules++] = a->rule;
	}
}

static void the_best_of_several_routes_is_copied(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	yes(&s);
	add_route(&s, "10.0.0.0", 24, RAIL1, NULL, 200)->scope = RT_SCOPE_LINK;
	add_route(&s, "10.0.0.0", 24, RAIL1, "10.0.0.7", 5000);
	add_route(&s, "10.90.0.0", 16, RAIL1, "10.0.0.9", 0)->has_more = true;
	add_route(&s, "10.90.0.0", 16, OTHER, "10.9.0.1", 10);
	add_route(&s, "10.90.0.0", 16, RAIL1, "10.0.0.1", 20);
	add_route(&s, "10.90.0.0", 16, RAIL1, "10.0.0.7", 500);
	carry_out(&s);
	assert_int_equal(s.node.n_routes, 6 + 2);
	assert_true(is_zero(s.routes[6].gateway));
	assert_memory_equal(s.routes[7].gateway, ((uint8_t[4]){ 10, 0, 0, 1 }), 4);
}

static void the_primary_address_is_the_source_in_any_order(_unused_ void **state)
{
	for (size_t order = 0; order < 2; order++) {
		struct scene s;

		set_scene(&s);
		two_of_a_prefix(&s);
		if (order == 1) {
			const struct address primary = s.addresses[0];

			s.addresses[0] = s.addresses[1];
			s.addresses[1] = primary;
		}
		carry_out(&s);
		assert_int_equal(s.node.n_routes, 1);
		assert_memory_equal(s.routes[0].src, ((uint8_t[4]){ 10, 0, 0, 2 }), 4);
	}
}

static void finished(_unused_ struct scene *s)
{
}
static void route_lost(struct scene *s)
{
	s->node.n_routes--;
}
static void other_gateway(struct scene *s)
{
	s->routes[0].gateway[3] = 77;
}
static void no_gateway(struct scene *s)
{
	s->routes[0] = s->routes[--s->node.n_routes];
}
static void rule_twice(struct scene *s)
{
	s->rules[s->node.n_rules++] = s->rules[0];
}
static void rule_of_another(struct scene *s)
{
	s->rules[s->node.n_rules] = s->rules[0];
	s->rules[s->node.n_rules].preference = 100;
	s->rules[s->node.n_rules++].protocol = RTPROT_STATIC;
}
static void address_gone(struct scene *s)
{
	s->node.n_addresses = 0;
	s->ports[0].n_gids = 1;
}
static void led_since_then(struct scene *s)
{
	add_others_rule(s, "10.0.0.2", 32, 32765);
}
static void renamed(struct scene *s)
{
	COPY(s->netdevs[0].name, "rail1");
	COPY(s->ibdevs[0].netdev, "rail1");
	for (size_t i = 0; i < 4; i++)
		COPY(s->gids[0][i].netdev, "rail1");
}
static void switched_off(struct scene *s)
{
	s->config.route.rules = POLICY_RULES_NO;
}
static void nic_gone(struct scene *s)
{
	s->netdevs[0] = s->netdevs[1];
	s->netdevs[1] = s->netdevs[2];
	s->node.n_netdevs = 2;
	s->node.n_addresses = 0;
	s->node.n_routes = 0;
	s->ibdevs[0] = s->ibdevs[1];
	s->ibdevs[0].ports = &s->ports[1];
	s->node.n_ibdevs = 1;
	s->pcis[0] = s->pcis[1];
	s->node.n_pcis = 1;
}

static void a_gateway_of_ipv6_comes_with_its_route(_unused_ void **state)
{
	for (int has_other = 0; has_other < 2; has_other++) {
		_cleanup_(plan_done) struct plan p = {};
		char text[4096] = "";
		struct scene s;

		set_scene(&s);
		has_other ? by_a_gateway_of_each_family(&s) : by_gateways_of_ipv6(&s);
		assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
		FOREACH(a, p.actions, p.n_actions)
			if (a->verb == VERB_SET_ROUTE)
				append_word(text, sizeof(text), "; ", "%s %s%s", a->detail,
					    a->route.route.via,
					    is_zero(a->route.route.gateway) ? ""
									    : " and one of IPv4");
		assert_string_equal(text,
				    has_other ? "dev eth1 ; via 10.0.0.1 dev eth1  and one of IPv4"
					      : "dev eth1 ; via inet6 fe80::1 dev eth1 fe80::1; "
						"via inet6 fe80::1 dev eth1 fe80::1");
		carry_out(&s);
		assert_plan(&s, "again", "");
		if (!has_other) {
			COPY(s.routes[s.node.n_routes - 1].via, "fe80::2");
			assert_plan(&s, "another gateway",
				    "set-route " FIRST " 0.0.0.0/0 table 11400010");
		}
	}
}

static void a_route_is_replaced_where_one_of_ours_is(_unused_ void **state)
{
	const struct action refused = { .verb = VERB_SET_ROUTE,
					.is_done = true,
					.result = -EEXIST,
					.target = "",
					.subject = "",
					.detail = "",
					.error = "" };
	struct scene s;

	set_scene(&s);
	one_with_gateway_behind_another(&s);
	s.config.route.rules = POLICY_RULES_YES;
	for (int is_there = 0; is_there < 2; is_there++) {
		_cleanup_(plan_done) struct plan p = {};
		size_t found = 0;

		if (is_there) {
			carry_out(&s);
			other_gateway(&s);
		}
		assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
		for (size_t i = 0; i < p.n_actions; i++) {
			if (p.actions[i].verb != VERB_SET_ROUTE)
				continue;
			assert_int_equal(p.actions[i].route.is_replaced, is_there);
			found++;
		}
		assert_true(found > 0);
	}
	assert_int_equal(action_failure(&refused), REASON_ROUTE_FOREIGN);
}

static void only_the_difference_is_written(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "finished", finished, "" },
		{ "a route was deleted", route_lost,
		  "set-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "the gateway is another, in place", other_gateway,
		  "set-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "no gateway any more", no_gateway,
		  "remove-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "one twice", rule_twice, "remove-rule " FIRST " from 10.0.0.2 table 11400010" },
		{ "one of another program", rule_of_another, "" },
		{ "without address", address_gone,
		  "remove-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "remove-rule " FIRST " oif eth1 table 11400010\n"
		  "remove-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "remove-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "another program leads from it", led_since_then,
		  "remove-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "remove-rule " FIRST " oif eth1 table 11400010\n"
		  "remove-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "remove-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "renamed", renamed,
		  "remove-rule " FIRST " oif eth1 table 11400010\n"
		  "add-rule " FIRST " oif rail1 table 11400010" },
		{ "PolicyRules=no", switched_off,
		  "remove-rule " FIRST " from 10.0.0.2 table 11400010\n"
		  "remove-rule " FIRST " oif eth1 table 11400010\n"
		  "remove-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "remove-route " FIRST " 0.0.0.0/0 table 11400010" },
		{ "the NIC is gone", nic_gone,
		  "remove-rule  from 10.0.0.2 table 11400010\n"
		  "remove-rule  oif eth1 table 11400010" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		one_with_gateway_behind_another(&s);
		s.config.route.rules = POLICY_RULES_YES;
		carry_out(&s);
		rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void the_kernel_is_asked_whether_rules_hold(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	one_with_gateway_behind_another(&s);
	s.config.route.rules = POLICY_RULES_YES;
	carry_out(&s);
	assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
	assert_int_equal(p.questions.n_lookups, 2); /* by source, and by netdev */
	for (size_t i = 0; i < 2; i++) {
		s.lookups[i] = p.questions.lookups[i];
		s.lookups[i].found = RAIL1;
	}
	s.node.n_lookups = 2;
	assert_plan(&s, "it holds", "");
	s.lookups[0].found = OTHER;
	assert_plan(&s, "another rule comes first", "wait " FIRST " route-overruled");
	s.lookups[0].found = RAIL1;
	s.lookups[1].result = -ENETUNREACH;
	assert_plan(&s, "no way at all", "wait " FIRST " route-overruled");
}

/* --- other programs --- */

static void note(struct scene *s, enum verb verb, uint32_t ifindex, const char *subject,
		 const char *from, const char *to, uint32_t n, uint64_t since)
{
	struct ledger_entry *e = &s->ledger[s->memory.n_ledger++];

	*e = (struct ledger_entry){ .ifindex = ifindex, .n = n, .since_usec = since };
	COPY(e->verb, verb_name(verb));
	COPY(e->target, FIRST);
	COPY(e->subject, subject);
	COPY(e->from, from);
	COPY(e->to, to);
}

/* --- addresses --- */

static struct ip ip(const char *text, uint32_t prefix_len)
{
	struct ip ret = { .prefix_len = prefix_len };

	parse(text, &ret.family, ret.bytes);
	return ret;
}

static void tell(struct scene *s, enum metadata_state state)
{
	struct metadata *m = &s->metadatas[s->node.n_metadatas++];

	*m = (struct metadata){ .state = state,
				.address = { 10, 0, 0, 5 },
				.prefix_len = 24,
				.gateway = { 10, 0, 0, 1 } };
	COPY(m->mac, s->netdevs[0].mac);
	s->config.route.address = ADDRESS_METADATA;
	s->sections[0].match = (char *)"pci:" FIRST;
}
static void know(struct netconf *c, enum netconf_key key, int32_t value)
{
	c->known |= 1u << key;
	c->values[key] = value;
}

static void metadata_known(struct scene *s)
{
	tell(s, METADATA_KNOWN);
}
static void metadata_there(struct scene *s)
{
	tell(s, METADATA_KNOWN);
	add_address(s, RAIL1, "10.0.0.5", 24, 200);
}
static void metadata_waiting(struct scene *s)
{
	tell(s, METADATA_WAITING);
	one(s);
	s->addresses[0].metric = 0;
}
static void metadata_absent(struct scene *s)
{
	metadata_waiting(s);
	s->node.n_metadatas = 0;
}
static void metadata_refused(struct scene *s)
{
	metadata_waiting(s);
	s->metadatas[0].state = METADATA_REFUSED;
}
static void metadata_primary(struct scene *s)
{
	metadata_waiting(s);
	COPY(s->config.service.node_nic, "auto");
	add_route(s, "0.0.0.0", 0, RAIL1, "10.0.0.1", 0);
}
static void metadata_lesser(struct scene *s)
{
	metadata_primary(s);
	add_node_route(s);
	add_address(s, OTHER, "10.9.0.2", 24, 0);
	s->routes[0].metric = 1000;
}
static void metadata_unasked(struct scene *s)
{
	metadata_lesser(s);
	s->node.n_metadatas = 0;
	s->netdevs[0].is_up = s->netdevs[0].has_carrier = true;
	COPY(s->netdevs[0].perm_mac, s->netdevs[0].mac);
}
static void metadata_of_a_pod(struct scene *s)
{
	metadata_unasked(s);
	COPY(s->netdevs[0].perm_mac, "00:16:3e:00:00:02");
}
static void metadata_waiting_with_table(struct scene *s)
{
	metadata_waiting(s);
	s->rules[s->node.n_rules++] = (struct rule){ .family = AF_INET,
						     .preference = OWN_PREFERENCE_FROM,
						     .table = TABLE1,
						     .protocol = OWN_PROTOCOL,
						     .action = FR_ACT_TO_TBL,
						     .src_len = 32 };
}
static void metadata_waiting_with_address(struct scene *s)
{
	metadata_waiting(s);
	note(s, VERB_ADD_ADDRESS, RAIL1, "10.0.0.2/24", "", "10.0.0.2/24", 1, 0);
}
static void metadata_waiting_with_settings(struct scene *s)
{
	metadata_waiting(s);
	know(&s->netdevs[0].conf, NETCONF_ARP_IGNORE, 0);
	know(&s->node.all, NETCONF_ARP_IGNORE, 0);
}
static void is_static(struct scene *s)
{
	s->config.route.address = ADDRESS_STATIC;
	s->sections[0].match = (char *)"pci:" FIRST;
	s->sections[0].address = ip("10.0.0.5", 24);
	s->sections[0].gateway = ip("10.0.0.1", 0);
}
/* An API server, 10.0.0.50, whose packets leave by a NIC that is not ours. */
static void reach_server(struct scene *s, uint32_t prefix_len)
{
	struct lookup *l = &s->destination.lookup;

	s->destination.to = TO_API_SERVER;
	*l = (struct lookup){ .found = OTHER, .prefix_len = prefix_len };
	parse("10.0.0.50", &l->family, l->dst);
	s->node.destinations = &s->destination;
	s->node.n_destinations = 1;
}
static void static_before_a_server(struct scene *s)
{
	is_static(s);
	reach_server(s, 8);
}
/* It may have been reached by this very address. */
static void static_before_a_place_of_the_last_boot(struct scene *s)
{
	static_before_a_server(s);
	s->destination.to = TO_BEFORE;
	s->destination.lookup.prefix_len = 0;
}
static void static_before_a_place_with_a_route(struct scene *s)
{
	static_before_a_place_of_the_last_boot(s);
	s->destination.lookup.prefix_len = 16;
}
static void static_of_a_vrf_before_a_server(struct scene *s)
{
	static_before_a_server(s);
	s->netdevs[0].master = 95;
	s->netdevs[3] = (struct netdev){
		.ifindex = 95, .name = "vrf0", .kind = "vrf", .is_up = true, .vrf_table = 95
	};
	s->node.n_netdevs = 4;
}
static void static_behind_a_server(struct scene *s)
{
	is_static(s);
	add_route(s, "10.0.0.0", 24, OTHER, NULL, 100);
	reach_server(s, 24);
}
/* It is up once its address was added. */
static void down_before_a_server(struct scene *s)
{
	s->sections[0].match = (char *)"pci:" FIRST;
	add_address(s, RAIL1, "10.0.0.5", 24, 0);
	s->netdevs[0].is_up = false;
	reach_server(s, 8);
}
static void down_behind_a_server(struct scene *s)
{
	down_before_a_server(s);
	add_route(s, "10.0.0.0", 24, OTHER, NULL, 0);
	reach_server(s, 24);
}
static void down_beside_a_server(struct scene *s)
{
	down_behind_a_server(s);
	s->routes[0].metric = 100;
}
static void down_below_a_vlan(struct scene *s)
{
	down_before_a_server(s);
	s->netdevs[3] =
		(struct netdev){ .ifindex = 95, .name = "eth1.5", .kind = "vlan", .link = RAIL1 };
	s->node.n_netdevs = 4;
	s->addresses[0].ifindex = 95;
}
static void static_below_a_vlan(struct scene *s)
{
	is_static(s);
	vlan(s);
}
static void metadata_below_a_vlan(struct scene *s)
{
	metadata_known(s);
	vlan(s);
	COPY(s->netdevs[3].mac, s->netdevs[0].mac);
}
static void static_below_another(struct scene *s)
{
	is_static(s);
	add_route(s, "10.0.0.0", 24, OTHER, NULL, 1024);
	s->config.route.rules = POLICY_RULES_NO;
}
static void static_of_two(struct scene *s)
{
	is_static(s);
	s->sections[0].match = (char *)"driver:mlx5_core";
}
static void static_of_two_sections(struct scene *s)
{
	is_static(s);
	s->sections[1] = s->sections[0];
	COPY(s->sections[1].name, "other");
	s->sections[1].match = (char *)"pci:" SECOND;
	s->config.n_devices = 2;
}
static void static_of_two_soon(struct scene *s)
{
	static_of_two(s);
	s->node.n_netdevs = 1;
}
static void static_changed(struct scene *s)
{
	is_static(s);
	add_address(s, RAIL1, "10.0.0.9", 24, 200);
	note(s, VERB_ADD_ADDRESS, RAIL1, "10.0.0.9/24", "", "10.0.0.9/24", 1, 0);
}
static void static_changed_before_a_server(struct scene *s)
{
	static_changed(s);
	reach_server(s, 8);
}
/* Of ours, with the length that the configuration had before. */
static void static_shorter(struct scene *s)
{
	is_static(s);
	add_address(s, RAIL1, "10.0.0.5", 8, 200);
	note(s, VERB_ADD_ADDRESS, RAIL1, "10.0.0.5/8", "", "10.0.0.5/8", 1, 0);
}
static void static_of_both_lengths(struct scene *s)
{
	static_shorter(s);
	add_address(s, RAIL1, "10.0.0.5", 24, 200);
	s->config.route.rules = POLICY_RULES_YES;
	carry_out(s);
}
static void static_shorter_of_another(struct scene *s)
{
	static_shorter(s);
	s->memory.n_ledger = 0;
	s->config.route.rules = POLICY_RULES_NO;
}
static void static_beside(struct scene *s)
{
	is_static(s);
	add_address(s, RAIL1, "10.0.0.9", 24, 200); /* of another program */
}
/* Ours is still on a port of the bond that is to have it. */
static void static_of_a_new_bond(struct scene *s)
{
	bonded(s);
	is_static(s);
	s->config.route.rules = POLICY_RULES_NO;
	add_address(s, RAIL1, "10.0.0.5", 24, 200);
	note(s, VERB_ADD_ADDRESS, RAIL1, "10.0.0.5/24", "", "10.0.0.5/24", 1, 0);
}
static void static_of_a_new_bond_by_another(struct scene *s)
{
	static_of_a_new_bond(s);
	s->memory.n_ledger = 0;
}
/* Ours is still on the bond that the NIC has left. */
static void static_of_a_former_port(struct scene *s)
{
	static_of_a_new_bond(s);
	s->netdevs[0].master = 0;
	COPY(s->ibdevs[0].netdev, "eth1");
	COPY(s->gids[0][0].netdev, "eth1");
	s->ports[0].n_gids = 1;
	s->node.n_addresses--;
	s->addresses[0].local[3] = s->addresses[0].peer[3] = 5;
	s->ledger[0].ifindex = 95;
}

/* plan_metadata() has nobody who could be the primary one here: it waits, and nothing is touched.
 */
#define ASKED "ask-metadata " FIRST " -> 00:16:3e:00:00:01 metadata-waiting"

static void addresses_come_from_where_the_configuration_says(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "static", is_static, "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "static, ranked from the start", static_below_another,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "below a VLAN of the host", static_below_a_vlan,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "metadata, below a VLAN of the host", metadata_below_a_vlan,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "it would take the way to a server", static_before_a_server,
		  "wait " FIRST " address-diverts" },
		{ "it would take the way to a server: the one before stays",
		  static_changed_before_a_server,
		  "wait " FIRST " address-diverts\n"
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.9 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "to a place of the last boot", static_before_a_place_of_the_last_boot,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "to a place of the last boot that has a route",
		  static_before_a_place_with_a_route, "wait " FIRST " address-diverts" },
		{ "in a VRF, whose table gets the route", static_of_a_vrf_before_a_server,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "the way to a server is as long", static_behind_a_server,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "down, and would take the way to a server", down_before_a_server,
		  "wait " FIRST " address-diverts\n"
		  "set-metric " FIRST " 10.0.0.5/24 -> 200" },
		{ "down, and the way to a server is as good", down_behind_a_server,
		  "set-link-up " FIRST "\n"
		  "set-metric " FIRST " 10.0.0.5/24 -> 200" },
		{ "down, and better than the way to a server, until it is ranked",
		  down_beside_a_server,
		  "wait " FIRST " address-diverts\n"
		  "set-metric " FIRST " 10.0.0.5/24 -> 200" },
		{ "down, with the address on a VLAN", down_below_a_vlan,
		  "wait " FIRST " address-diverts\n"
		  "set-metric " FIRST " 10.0.0.5/24 -> 200" },
		{ "of two NICs", static_of_two,
		  "wait " FIRST " address-ambiguous\nwait " SECOND " address-ambiguous" },
		{ "of two sections", static_of_two_sections,
		  "wait " FIRST " address-ambiguous\nwait " SECOND " address-ambiguous" },
		{ "of two NICs, one of which has no netdev yet", static_of_two_soon,
		  "wait " FIRST " address-ambiguous" },
		{ "another takes the place of ours", static_changed,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24\n"
		  "remove-address " FIRST " 10.0.0.9/24 -> 10.0.0.9/24" },
		{ "another length, before the same address is added", static_shorter,
		  "remove-address " FIRST " 10.0.0.5/8 -> 10.0.0.5/8\n"
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "another length beside the right one, which keeps its table",
		  static_of_both_lengths, "remove-address " FIRST " 10.0.0.5/8 -> 10.0.0.5/8" },
		{ "not the length of another program", static_shorter_of_another, "" },
		{ "not that of another program", static_beside,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24\n"
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.9 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "a bond takes the place of its port", static_of_a_new_bond,
		  "remove-address  10.0.0.5/24 -> 10.0.0.5/24\n"
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "not that of another program on a port", static_of_a_new_bond_by_another,
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "a former port takes the place of its bond", static_of_a_former_port,
		  "remove-address  10.0.0.5/24 -> 10.0.0.5/24\n"
		  "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "metadata", metadata_known, "add-address " FIRST " 10.0.0.5/24 -> 10.0.0.5/24" },
		{ "metadata, its gateway is not main's", metadata_there,
		  "set-route " FIRST " 10.0.0.0/24 table 11400010\n"
		  "set-route " FIRST " 0.0.0.0/0 table 11400010\n"
		  "add-rule " FIRST " from 10.0.0.5 table 11400010\n"
		  "add-rule " FIRST " oif eth1 table 11400010" },
		{ "waiting: it may be the primary one", metadata_waiting, ASKED },
		{ "not asked yet", metadata_absent, ASKED },
		{ "waiting, with a table of before", metadata_waiting_with_table, ASKED },
		{ "waiting, with an address that it told before", metadata_waiting_with_address,
		  ASKED },
		{ "waiting, with settings of the kernel", metadata_waiting_with_settings, ASKED },
		{ "refused", metadata_refused, ASKED },
		{ "the primary ENI is never touched", metadata_primary, "" },
		{ "a lesser default route makes none", metadata_lesser, ASKED },
		{ "it is asked about its own MAC", metadata_unasked,
		  "ask-metadata " FIRST " -> 00:16:3e:00:00:01" },
		{ "not about the one that a pod gave it", metadata_of_a_pod, ASKED },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void an_address_of_ours_has_its_rank_from_the_start(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	static_below_another(&s);
	assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
	assert_int_equal(p.actions[0].address.metric, 1025);
}

/* --- settings --- */

static void settings_are_right_in_effect_and_only_the_nics_own_are_changed(_unused_ void **state)
{
	static const struct {
		enum netconf_key key;
		int32_t all, own;
		const char *expected;
	} rows[] = {
		{ NETCONF_ARP_IGNORE, 0, 0, "set-sysctl " FIRST " ipv4/arp_ignore -> 1" },
		{ NETCONF_ARP_IGNORE, 1, 0, "" },
		{ NETCONF_ARP_IGNORE, 0, 1, "" },
		{ NETCONF_ARP_IGNORE, 0, 2, "" },
		{ NETCONF_ARP_IGNORE, 0, 8, "set-sysctl " FIRST " ipv4/arp_ignore -> 1" },
		{ NETCONF_ARP_IGNORE, 8, 0, "set-sysctl " FIRST " ipv4/arp_ignore sysctl-strict" },
		{ NETCONF_ARP_ANNOUNCE, 0, 0, "set-sysctl " FIRST " ipv4/arp_announce -> 2" },
		{ NETCONF_ARP_ANNOUNCE, 1, 0, "set-sysctl " FIRST " ipv4/arp_announce -> 2" },
		{ NETCONF_ARP_ANNOUNCE, 2, 0, "" },
		{ NETCONF_RP_FILTER, 0, 0, "" },
		{ NETCONF_RP_FILTER, 0, 1, "set-sysctl " FIRST " ipv4/rp_filter -> 2" },
		{ NETCONF_RP_FILTER, 1, 0, "set-sysctl " FIRST " ipv4/rp_filter -> 2" },
		{ NETCONF_RP_FILTER, 1, 2, "" },
		{ NETCONF_RP_FILTER, 2, 1, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;
		char name[64];

		set_scene(&s);
		one(&s);
		know(&s.node.all, rows[i].key, rows[i].all);
		know(&s.netdevs[0].conf, rows[i].key, rows[i].own);
		know(&s.netdevs[1].conf, rows[i].key, rows[i].own); /* has no address */
		snprintf(name, sizeof(name), "row %zu", i);
		assert_plan(&s, name, rows[i].expected);
	}
}

/* --- IPv6=ra --- */

static void set_ra(struct scene *s)
{
	static const int32_t values[_NETCONF_N] = {
		[NETCONF_ACCEPT_RA] = 2,       [NETCONF_ACCEPT_RA_DEFRTR] = 1,
		[NETCONF_ACCEPT_RA_PINFO] = 1, [NETCONF_AUTOCONF] = 1,
		[NETCONF_USE_TEMPADDR] = -1,   [NETCONF_RA_DEFRTR_METRIC] = 4096,
	};
	static const uint8_t gateway[16] = { 0xfe, 0x80, [15] = 1 };

	s->config.route.ipv6 = IPV6_RA;
	s->config.route.rules = POLICY_RULES_NO;
	s->sections[0].match = (char *)"pci:" FIRST;
	for (enum netconf_key k = NETCONF_DISABLE_IPV6; k < _NETCONF_N; k++)
		know(&s->netdevs[0].conf, k, values[k]);
	add_address(s, RAIL1, "fd00::2", 64, 0)->flags = 0;
	add_route(s, "::", 0, RAIL1, "fe80::1", 4096)->protocol = RTPROT_RA;
	add_node_route(s);
	s->neighbours[s->node.n_neighbours++] = (struct neighbour){ .ifindex = RAIL1,
								    .family = AF_INET6,
								    .state = NUD_REACHABLE,
								    .is_managed = true,
								    .protocol = OWN_PROTOCOL };
	memcpy(s->neighbours[0].address, gateway, sizeof(gateway));
}

static void ra_off(struct scene *s)
{
	know(&s->netdevs[0].conf, NETCONF_ACCEPT_RA, 1);
	know(&s->netdevs[0].conf, NETCONF_ACCEPT_RA_PINFO, 0); /* as without IPv6=ra */
	know(&s->netdevs[0].conf, NETCONF_ADDR_GEN_MODE, 3);
	know(&s->netdevs[0].conf, NETCONF_USE_TEMPADDR, 2);
}
static void ra_worse_default(struct scene *s)
{
	add_route(s, "::", 0, OTHER, "fe80::9", 9000);
}
static void ra_old_kernel(struct scene *s)
{
	s->netdevs[0].conf.known &= ~(1u << NETCONF_RA_DEFRTR_METRIC);
	COPY(s->node.kernel, "5.10.134-17.al8.x86_64");
	s->neighbours[0].is_managed = false;
}
static void ra_old_kernel_stale(struct scene *s)
{
	ra_old_kernel(s);
	s->neighbours[0].state = NUD_STALE;
}
static void ra_old_kernel_dead(struct scene *s)
{
	ra_old_kernel(s);
	s->neighbours[0].state = NUD_FAILED;
	note(s, VERB_PROBE_NEIGHBOUR, RAIL1, "fe80::1", "", "", 6, NOW - 1);
}
static void ra_not_kept(struct scene *s)
{
	s->neighbours[0].is_managed = false;
}
static void ra_other_gateway(struct scene *s)
{
	s->routes[0].gateway[15] = 2;
}
static void ra_other_gateway_of_metadata(struct scene *s)
{
	ra_other_gateway(s);
	tell(s, METADATA_WAITING);
}
static void ra_of_others(struct scene *s)
{
	s->neighbours[0].ifindex = OTHER;
}
static void ra_no_gid(struct scene *s)
{
	s->ports[0].n_gids = 1;
}
static void ra_only_ipv4(struct scene *s)
{
	s->ports[0].n_gids = 1;
	s->node.n_addresses = 0;
	add_address(s, RAIL1, "10.0.0.2", 24, 200);
}
/* The router is in the VLAN alone. */
static void ra_on_a_vlan(struct scene *s)
{
	vlan(s);
	s->config.route.rules = POLICY_RULES_NO;
	s->node.n_addresses--;
	s->netdevs[3].conf = s->netdevs[0].conf;
	COPY(s->gids[0][1].netdev, "eth1.7");
	s->ports[0].n_gids = 2;
	s->neighbours[0].ifindex = s->routes[0].ifindex = s->addresses[0].ifindex = 95;
}
/* It is left out of [Route], and handed out all the same. */
static void ra_of_the_node(struct scene *s)
{
	COPY(s->config.service.node_nic, "netdev:eth1");
	s->config.plugin.type = PLUGIN_RDMA_SHARED;
	s->node.n_neighbours = 0;
	ra_off(s);
	ra_no_gid(s);
}
static void ra_erdma(struct scene *s)
{
	s->pcis[0].vendor = 0x1ded;
	s->pcis[0].device = 0x107f;
	s->node.n_neighbours = 0;
	ra_off(s);
}

static void router_advertisements_are_listened_to(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "finished", finished, "" },
		{ "settings", ra_off,
		  "set-sysctl " FIRST " ipv6/addr_gen_mode -> 0\n"
		  "set-sysctl " FIRST " ipv6/use_tempaddr -> 0\n"
		  "set-sysctl " FIRST " ipv6/accept_ra_pinfo -> 1\n"
		  "set-sysctl " FIRST " ipv6/accept_ra -> 2" },
		{ "below everybody's default route", ra_worse_default,
		  "set-sysctl " FIRST " ipv6/ra_defrtr_metric -> 9001" },
		{ "the gateway is not kept", ra_not_kept, "keep-neighbour " FIRST " fe80::1" },
		{ "another gateway", ra_other_gateway,
		  "keep-neighbour " FIRST " fe80::2\nremove-neighbour " FIRST " fe80::1" },
		{ "another gateway, and it may be the primary NIC", ra_other_gateway_of_metadata,
		  ASKED },
		{ "the gateway of a NIC that is not managed any more", ra_of_others,
		  "keep-neighbour " FIRST " fe80::1\nremove-neighbour  fe80::1" },
		{ "before 5.16, reachable", ra_old_kernel, "" },
		{ "before 5.16, stale", ra_old_kernel_stale, "probe-neighbour " FIRST " fe80::1" },
		{ "before 5.16, not for ever", ra_old_kernel_dead, "" },
		{ "no GID of it", ra_no_gid, "wait " FIRST " no-ipv6-gid" },
		{ "a GID of IPv4 is not enough", ra_only_ipv4, "wait " FIRST " no-ipv6-gid" },
		{ "the GID of a VLAN above it", ra_on_a_vlan, "" },
		{ "not of a NIC that the node needs", ra_of_the_node, "write-plugin  plugin-name" },
		{ "eRDMA has no IPv6", ra_erdma, "wait " FIRST " ipv6-erdma" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		set_ra(&s);
		rows[i].set(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

/* --- GIDs --- */

static void an_ipv4_address_is_waited_for_in_the_gid_table(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	one(&s);
	s.config.route.manage = false; /* whichever program gave it */
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", NULL), 1);
	assert_plan(&s, "there", "");
	COPY(s.gids[0][1].type, "IB/RoCE v1");
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", NULL), -1);
	assert_plan(&s, "of another type", "wait " FIRST " gid-pending");
	COPY(s.gids[0][1].type, "RoCE v2");
	COPY(s.gids[0][1].netdev, "bond0"); /* a port of it, and its GIDs are those of the bond */
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", NULL), -1);
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", &(struct netdev){ .name = "bond0" }), 1);
	COPY(s.gids[0][1].netdev, "eth1");
	COPY(s.gids[0][1].gid, "fd00:0000:0000:0000:0000:0000:0000:0001"); /* IPv6 alone */
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", NULL), 1);
	COPY(s.gids[0][1].gid, "fe80:0000:0000:0000:0000:0000:0000:0001");
	assert_int_equal(gid_index_of(&s.ports[0], "eth1", NULL), -1);
	COPY(s.gids[0][1].gid, "0000:0000:0000:0000:0000:ffff:0a00:0002");
	COPY(s.gids[0][1].netdev, "macvlan0");
	assert_plan(&s, "of another netdev", "wait " FIRST " gid-pending");
	COPY(s.netdevs[1].pci, FIRST);
	COPY(s.gids[0][1].netdev, s.netdevs[1].name);
	assert_plan(&s, "of the netdev of another port", "");
	COPY(s.gids[0][1].netdev, "macvlan0");
	COPY(s.ports[0].state, "DOWN");
	assert_plan(&s, "a port that is down has another reason", "wait " FIRST " port-down");
}

static void texts_of_gids_are_read(_unused_ void **state)
{
	static const struct {
		const char *text;
		bool is_good, is_ipv4, is_global;
	} rows[] = {
		{ "0000:0000:0000:0000:0000:ffff:0a00:0002", true, true, false },
		{ "fd00:0000:0000:0000:0000:0000:0000:0002", true, false, true },
		{ "fe80:0000:0000:0000:0000:0000:0000:0002", true, false, false },
		{ "febf:0000:0000:0000:0000:0000:0000:0002", true, false, false },
		{ "0000:0000:0000:0000:0000:0000:0000:0000", true, false, false },
		{ "fe80::2", false, false, false },
		{ "", false, false, false },
		{ "0000:0000:0000:0000:0000:ffff:0a00:00", false, false, false },
		{ "0000:0000:0000:0000:0000:ffff:0a00:00022", false, false, false },
		{ "0000:0000:0000:0000:0000:ffff:0a00:000g", false, false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		uint8_t bytes[16] = {};

		assert_int_equal(gid_parse(rows[i].text, bytes), rows[i].is_good);
		if (!rows[i].is_good)
			continue;
		assert_int_equal(gid_is_ipv4(bytes), rows[i].is_ipv4);
		assert_int_equal(gid_is_global_ipv6(bytes), rows[i].is_global);
	}
}

/* --- others --- */

static bool has_hint(struct scene *s, enum reason reason)
{
	_cleanup_(plan_done) struct plan p = {};

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, &p), 0);
	for (size_t i = 0; i < p.n_reasons; i++)
		if (p.reasons[i].reason == reason && streq(p.reasons[i].target, FIRST))
			return true;
	return false;
}

static void other_managers_of_the_nic_are_reported(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	one(&s);
	s.rules[s.node.n_rules++] =
		(struct rule){ .family = AF_INET, .preference = 2048, .table = 1000 + RAIL1 };
	assert_false(has_hint(&s, REASON_TERWAY_ENI)); /* no ENI */
	s.pcis[0].vendor = 0x1ded;
	s.pcis[0].device = 0x107f;
	assert_true(has_hint(&s, REASON_TERWAY_ENI));

	assert_false(has_hint(&s, REASON_ROUTE_FOREIGN));
	add_route(&s, "10.0.0.0", 24, RAIL1, NULL, 201);
	assert_false(has_hint(&s, REASON_ROUTE_FOREIGN)); /* the kernel's */
	s.routes[0].protocol = RTPROT_BOOT;
	assert_false(has_hint(&s, REASON_ROUTE_FOREIGN)); /* ranked, as Metric= asks for */
	s.routes[0].metric = 199;
	assert_true(has_hint(&s, REASON_ROUTE_FOREIGN));

	assert_false(has_hint(&s, REASON_CONTESTED));
	note(&s, VERB_SET_METRIC, RAIL1, "10.0.0.2/24", "0", "200", 1, 0);
	s.ledger[0].total = OWN_RESTORES_MAX;
	assert_false(has_hint(&s, REASON_CONTESTED));
	s.ledger[0].total++;
	assert_true(has_hint(&s, REASON_CONTESTED));
}

/* As a version that took it for a rail left it. */
static void taken_back(struct scene *s)
{
	one_with_gateway(s);
	COPY(s->config.service.node_nic, "auto");
	note(s, VERB_SET_METRIC, RAIL1, "10.0.0.2/24", "0", "200", 1, 0);
	know(&s->netdevs[0].conf, NETCONF_ARP_IGNORE, 1);
	note(s, VERB_SET_SYSCTL, RAIL1, "ipv4/arp_ignore", "0", "1", 1, 0);
	note(s, VERB_SET_METRIC, RAIL2, "10.0.0.3/24", "0", "201", 1, 0);
	s->rules[s->node.n_rules++] = (struct rule){ .family = AF_INET,
						     .preference = OWN_PREFERENCE_FROM,
						     .table = TABLE1,
						     .protocol = OWN_PROTOCOL,
						     .action = FR_ACT_TO_TBL,
						     .src = { 10, 0, 0, 2 },
						     .src_len = 32 };
	s->routes[s->node.n_routes] = s->routes[0];
	s->routes[s->node.n_routes].table = TABLE1;
	s->routes[s->node.n_routes++].protocol = OWN_PROTOCOL;
}

/* In a member that a rule of ours never has: it is none of ours, and ours is wanted beside it. */
static void a_rule_with_another_condition_is_not_taken_for_ours(_unused_ void **state)
{
	static const struct {
		const char *name;
		struct rule rule;
	} cases[] = {
		{ "mark", { .suppress_prefix = -1, .mark = 1 } },
		{ "mask", { .suppress_prefix = -1, .mask = 1 } },
		{ "destination", { .suppress_prefix = -1, .dst_len = 8 } },
		{ "iif", { .suppress_prefix = -1, .iif = "lo" } },
		{ "suppress", { .suppress_prefix = 0 } },
		{ "l3mdev", { .suppress_prefix = -1, .is_l3mdev = true } },
		{ "invert", { .suppress_prefix = -1, .is_invert = true } },
		{ "more", { .suppress_prefix = -1, .has_more = true } },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;
		struct rule ours;
		bool is_wanted = false;

		set_scene(&s);
		yes(&s);
		carry_out(&s);
		ours = s.rules[0];
		assert_int_equal(ours.suppress_prefix, -1);
		s.rules[0] = cases[i].rule;
		s.rules[0].family = ours.family;
		s.rules[0].preference = ours.preference;
		s.rules[0].table = ours.table;
		s.rules[0].protocol = ours.protocol;
		s.rules[0].action = ours.action;
		s.rules[0].src_len = ours.src_len;
		memcpy(s.rules[0].src, ours.src, sizeof(ours.src));
		COPY(s.rules[0].oif, ours.oif);
		assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
		for (size_t k = 0; k < p.n_actions; k++)
			is_wanted |= p.actions[k].verb == VERB_ADD_RULE;
		if (!is_wanted)
			fail_msg("%s: taken for ours", cases[i].name);
	}
}

static void what_was_set_on_the_nodes_nic_goes_back(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	taken_back(&s);
	assert_plan(&s, "the metric, the setting, the rule and the route",
		    "set-metric " FIRST " 10.0.0.2/24 -> 0\n"
		    "set-sysctl " FIRST " ipv4/arp_ignore -> 0\n"
		    "remove-rule  from 10.0.0.2 table 11400010\n"
		    "remove-route  0.0.0.0/0 table 11400010");
	s.config.route.manage = false;
	assert_plan(&s, "Manage=no changes nothing", "");
}

/* As a pod's macvlan, which is up here before it moves. */
static void stacked(struct scene *s)
{
	s->netdevs[s->node.n_netdevs++] = (struct netdev){
		.ifindex = 96, .name = "mv0", .is_up = true, .kind = "macvlan", .link = RAIL2
	};
}
static void opened(struct scene *s)
{
	s->ibdevs[1].n_contexts = 1;
}

/* A VF that listens to routers: what it was given while it was free stays below its user. */
static void a_vf_in_use_keeps_what_it_has(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
	} rows[] = { { "free", finished },
		     { "a process has opened it", opened },
		     { "a macvlan stands on it", stacked } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		set_ra(&s);
		s.config.route.rules = POLICY_RULES_YES;
		s.sections[0].mode = VF_MODE_SHARED_MULTI;
		s.sections[0].count = s.pcis[0].num_vfs = s.pcis[0].total_vfs = 1;
		s.pcis[0].has_sriov = s.pcis[0].has_autoprobe = s.pcis[0].autoprobe = true;
		COPY(s.pcis[1].physfn, FIRST);
		s.netdevs[1].conf = s.netdevs[0].conf;
		s.netdevs[0].conf.known = 0;
		s.addresses[0].ifindex = s.routes[0].ifindex = s.neighbours[0].ifindex = RAIL2;
		add_gid(&s, 1, s.addresses[0].local, false);
		note(&s, VERB_SET_SYSCTL, RAIL2, "ipv6/accept_ra", "1", "2", 1, 0);
		note(&s, VERB_SET_SYSCTL, RAIL2, "ipv6/ra_defrtr_metric", "1024", "4096", 1, 0);
		carry_out(&s);
		assert_int_equal(s.node.n_rules, 2);
		rows[i].set(&s);
		assert_plan(&s, rows[i].name, "");
	}
}

/* --- back --- */

static void assert_revert(struct scene *s, bool with_vfs, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[4096];

	assert_int_equal(plan_revert(&s->node, &s->memory, NULL, with_vfs, &p), 0);
	describe(&p, text, sizeof(text));
	assert_row(row, text, expected);
	for (size_t i = 0; i < p.n_actions; i++)
		assert_true(p.actions[i].is_back);
}

static void revert_takes_back_exactly_ours(_unused_ void **state)
{
	struct output_record record = { OUTPUT_NCCL, "/etc/nccl.conf" };
	struct scene s;

	set_scene(&s);
	two(&s);
	carry_out(&s);
	rule_of_another(&s);
	add_route(&s, "198.51.100.0", 24, RAIL1, NULL, 200);
	assert_revert(&s, false, "by the number",
		      "remove-rule  from 10.0.0.2 table 11400010\n"
		      "remove-rule  oif eth1 table 11400010\n"
		      "remove-rule  from 10.0.0.3 table 11400020\n"
		      "remove-rule  oif eth2 table 11400020\n"
		      "remove-route  10.0.0.0/24 table 11400010\n"
		      "remove-route  10.0.0.0/24 table 11400020");
	s.node.n_rules = s.node.n_routes = 0;

	note(&s, VERB_SET_METRIC, RAIL1, "10.0.0.2/24", "0", "200", 1, 0);
	assert_revert(&s, false, "the metric", "set-metric " FIRST " 10.0.0.2/24 -> 0");
	s.addresses[0].metric = 77;
	assert_revert(&s, false, "changed since", "");
	COPY(s.ledger[0].before, "77");
	assert_revert(&s, false, "the next one could not be set",
		      "set-metric " FIRST " 10.0.0.2/24 -> 0");
	s.addresses[0].metric = 200;
	note(&s, VERB_ADD_ADDRESS, RAIL1, "10.0.0.2/24", "", "10.0.0.2/24", 1, 0);
	assert_revert(&s, false, "the address as a whole",
		      "remove-address " FIRST " 10.0.0.2/24 -> 10.0.0.2/24");
	s.memory.n_ledger = 0;

	note(&s, VERB_SET_METRIC, RAIL1, "10.0.0.2/24", "0", "200", 1, 0);
	s.ibdevs[1].n_contexts = 1;
	assert_revert(&s, false, "of a NIC beside one in use",
		      "set-metric " FIRST " 10.0.0.2/24 -> 0");
	s.ibdevs[0].n_contexts = UINT32_MAX;
	assert_revert(&s, false, "not known to be in use", "set-metric " FIRST " 10.0.0.2/24 -> 0");
	s.ibdevs[0].n_contexts = 2;
	assert_revert(&s, false, "of a NIC in use",
		      "set-metric " FIRST " 10.0.0.2/24 -> 0 nic-in-use");
	s.ibdevs[0].n_contexts = s.ibdevs[1].n_contexts = 0;
	s.memory.n_ledger = 0;

	know(&s.netdevs[0].conf, NETCONF_ARP_IGNORE, 1);
	note(&s, VERB_SET_SYSCTL, RAIL1, "ipv4/arp_ignore", "0", "1", 1, 0);
	assert_revert(&s, false, "a setting", "set-sysctl " FIRST " ipv4/arp_ignore -> 0");
	know(&s.netdevs[0].conf, NETCONF_ARP_IGNORE, 2);
	assert_revert(&s, false, "changed since", "");
	s.memory.n_ledger = 0;

	note(&s, VERB_SET_NUM_VFS, 0, "", "0", "4", 1, 0);
	s.pcis[0].num_vfs = 4;
	s.pcis[0].total_vfs = 8;
	assert_revert(&s, false, "VFs stay", "");
	assert_revert(&s, true, "but with --vfs", "set-num-vfs " FIRST " -> 0");
	s.netdevs[s.node.n_netdevs++] = (struct netdev){
		.ifindex = 95, .name = "bond0", .is_up = true, .kind = "bond", .bond_mode = 4
	};
	s.netdevs[0].master = 95;
	s.pcis[0].has_sriov = true;
	assert_revert(&s, true, "a LAG would form without them",
		      "set-num-vfs " FIRST " -> 0 pf-in-lag");
	s.netdevs[0].master = 0;
	s.node.n_netdevs--;
	COPY(s.pcis[0].driver, "igb"); /* the host uses it, and would lose its link */
	assert_revert(&s, true, "the link would be lost", "set-num-vfs " FIRST " -> 0 pf-in-use");
	s.node.has_socks = true; /* it has no more than an address */
	assert_revert(&s, true, "nobody uses its address", "set-num-vfs " FIRST " -> 0");
	s.node.has_socks = false;
	COPY(s.pcis[0].driver, "mlx5_core");
	COPY(s.memory.stuck, "0000:42:00.0");
	assert_revert(&s, true, "not while another write hangs",
		      "set-num-vfs " FIRST " -> 0 pci-stuck");
	s.memory.stuck[0] = '\0';
	s.pcis[0].num_vfs = 2;
	assert_revert(&s, true, "another number is of another program", "");

	s.pcis[0].is_recorded = s.pcis[0].is_switched = s.pcis[0].has_autoprobe = true;
	assert_revert(&s, false, "the switch that a pass left off", "set-autoprobe " FIRST " -> 1");
	COPY(s.memory.stuck, FIRST);
	assert_revert(&s, false, "also while a write to its PF hangs",
		      "set-autoprobe " FIRST " -> 1");
	s.memory.stuck[0] = '\0';
	s.pcis[0].is_switched = false;
	assert_revert(&s, false, "off, and recorded in another boot", "");

	set_scene(&s);
	COPY(s.node.old_plugin_path, "/run/p/config.json");
	COPY(s.node.old_manifest_path, "/etc/manifests/pod.yaml");
	s.node.output_records = &record;
	s.node.n_output_records = 1;
	assert_revert(&s, false, "files for others, the pod first",
		      "remove-manifest /etc/manifests/pod.yaml\n"
		      "remove-plugin /run/p/config.json\n"
		      "remove-output /etc/nccl.conf -> NCCL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_and_rules_for_each_nic_that_needs_them),
		cmocka_unit_test(both_ports_of_a_function_have_tables_and_metrics),
		cmocka_unit_test(the_best_of_several_routes_is_copied),
		cmocka_unit_test(the_primary_address_is_the_source_in_any_order),
		cmocka_unit_test(a_gateway_of_ipv6_comes_with_its_route),
		cmocka_unit_test(a_route_is_replaced_where_one_of_ours_is),
		cmocka_unit_test(only_the_difference_is_written),
		cmocka_unit_test(the_kernel_is_asked_whether_rules_hold),
		cmocka_unit_test(addresses_come_from_where_the_configuration_says),
		cmocka_unit_test(an_address_of_ours_has_its_rank_from_the_start),
		cmocka_unit_test(settings_are_right_in_effect_and_only_the_nics_own_are_changed),
		cmocka_unit_test(router_advertisements_are_listened_to),
		cmocka_unit_test(an_ipv4_address_is_waited_for_in_the_gid_table),
		cmocka_unit_test(texts_of_gids_are_read),
		cmocka_unit_test(other_managers_of_the_nic_are_reported),
		cmocka_unit_test(a_rule_with_another_condition_is_not_taken_for_ours),
		cmocka_unit_test(what_was_set_on_the_nodes_nic_goes_back),
		cmocka_unit_test(a_vf_in_use_keeps_what_it_has),
		cmocka_unit_test(revert_takes_back_exactly_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
