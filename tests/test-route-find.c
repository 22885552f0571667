/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel is the oracle: random rules, tables and links in a namespace are read back, and what
 * is computed of them for random packets is compared with the kernel's own answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/fib_rules.h>

#include "../src/model/ip.h"
#include "../src/model/route-find.h"
#include "../src/os/link.h"
#include "../src/os/route.h"
#include "netns.h"

#define LAYOUTS  60
#define PACKETS  80
#define NETDEVS  4 /* a0 to a3; with VRFs a2 and a3 are ports of v1 */
#define VRF_LINK "v1"

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

struct layout {
	char text[2][8192]; /* what "ip -4 -batch" and "ip -6 -batch" were given */
	struct node node;
	struct netlink nl;
	bool has_vrf, has_objects;
};

_printf_(3, 4) static void say(struct layout *l, int v6, const char *format, ...)
{
	const size_t used = strlen(l->text[v6]);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(l->text[v6] + used, sizeof(l->text[v6]) - used, format, arguments);
	va_end(arguments);
}

/* What is wrong in one line is left out. */
static void run(const char *command, const char *text)
{
	FILE *f = popen(command, "w");

	assert_non_null(f);
	fputs(text, f);
	pclose(f);
}

/* Nested, so that each length can decide. */
static const char *prefix(int v6)
{
	static const char *const all[2][9] = {
		{ "default", "0.0.0.0/1", "10.0.0.0/8", "10.64.0.0/10", "10.80.0.0/12",
		  "10.80.0.0/16", "10.80.7.0/24", "10.80.7.7/32", "198.51.100.0/24" },
		{ "default", "2000::/3", "fd00::/8", "fd80::/10", "fda0::/12", "fda0::/16",
		  "fda0:7::/32", "fda0:7::7/128", "2001:db8:7::/48" },
	};

	return all[v6][below(9)];
}

static const char *host(int v6)
{
	static const char *const all[2][10] = {
		{ "192.0.2.1", "10.1.1.1", "10.65.0.1", "10.81.0.1", "10.80.1.1", "10.80.7.1",
		  "10.80.7.7", "198.51.100.9", "10.200.0.9", "10.201.0.2" },
		{ "2400::1", "fd01::1", "fd81::1", "fda1::1", "fda0:1::1", "fda0:7::1", "fda0:7::7",
		  "2001:db8:7::9", "fdc0:c8::9", "fdc0:c9::2" },
	};

	return all[v6][below(10)];
}

/* The prefix of netdev N is 10.(200 + N).0.0/24, and that address of it is .2 */
static void print_gateway(int v6, uint32_t i, char *ret, size_t size)
{
	const uint32_t last = 3 + below(40);

	if (v6)
		snprintf(ret, size, "fdc0:%x::%x", 200 + i, last);
	else
		snprintf(ret, size, "10.%u.0.%u", 200 + i, last);
}

static uint32_t netdev_for(const struct layout *l, uint32_t table)
{
	return l->has_vrf && table == 101 ? 2 + below(2) : below(l->has_vrf ? 2 : NETDEVS);
}

static void add_hop(struct layout *l, int v6, uint32_t table, const char *word)
{
	const uint32_t i = netdev_for(l, table);
	char gateway[64];

	print_gateway(v6, i, gateway, sizeof(gateway));
	say(l, v6, " %s via %s dev a%u", word, gateway, i);
}

static void add_route(struct layout *l, int v6)
{
	static const char *const types[] = { "blackhole", "unreachable", "prohibit", "throw" };
	static const uint32_t tables[] = { 254, 254, 100, 101, 102 };
	const uint32_t table = tables[below(ELEMENTSOF(tables))], kind = below(10);
	const char *type = kind == 0 ? types[below(4)] : "";

	say(l, v6, "route add %s %s table %u metric %u proto %u", type, prefix(v6), table,
	    100 * (1 + below(4)), below(2) ? 4 : 16);
	if (kind == 1) {
		add_hop(l, v6, table, "nexthop");
		add_hop(l, v6, table, "nexthop");
	} else if (kind == 2 && l->has_objects) {
		say(l, v6, " nhid %u", 1 + below(5));
	} else if (kind > 2) {
		add_hop(l, v6, table, "");
	}
	say(l, v6, "\n");
}

/* 1 to 4 are on a netdev each, 5 is a group of two. */
static void add_nexthops(struct layout *l, int v6)
{
	for (uint32_t i = 0; i < NETDEVS; i++) {
		char gateway[64];

		print_gateway(v6, i, gateway, sizeof(gateway));
		say(l, v6, "nexthop add id %u via %s dev a%u\n", i + 1, gateway, i);
	}
	say(l, v6, "nexthop add id 5 group 1/2\n");
}

static void add_rule(struct layout *l, int v6, uint32_t preference)
{
	static const char *const actions[] = { "blackhole", "unreachable", "prohibit", "nop" };

	say(l, v6, "rule add%s pref %u", below(6) ? "" : " not", preference);
	if (below(3) == 0)
		say(l, v6, " from %s", v6 ? "fdc0:c8::/32" : "10.200.0.0/16");
	else if (below(4) == 0)
		say(l, v6, " from %s", v6 ? "::/1" : "0.0.0.0/1");
	if (below(3) == 0)
		say(l, v6, " to %s", prefix(v6));
	if (below(4) == 0)
		say(l, v6, " fwmark %u/%u", below(4), 1 + below(3));
	if (below(5) == 0)
		say(l, v6, " iif %s", below(3) ? "lo" : "a0");
	if (below(5) == 0)
		say(l, v6, " oif a%u", below(NETDEVS));
	if (below(8) == 0)
		say(l, v6, " %s\n", actions[below(4)]);
	else if (below(8) == 0)
		say(l, v6, " goto %u\n", preference + 10 + 10 * below(4));
	else if (below(4) == 0)
		say(l, v6, " table %u suppress_prefixlength %u\n", below(2) ? 254 : 100,
		    below(3) ? 0 : 10);
	else
		say(l, v6, " table %u\n", 100 + below(4));
}

static void add_links(struct layout *l)
{
	char text[4096] = "link set lo up\n";
	size_t used;

	for (int i = 0; i < NETDEVS; i++) {
		used = strlen(text);
		snprintf(text + used, sizeof(text) - used,
			 "link add a%d type veth peer name b%d\n"
			 "link set b%d addrgenmode none up\n"
			 "link set a%d addrgenmode none up\n",
			 i, i, i, i);
	}
	run("ip -batch - 2>/dev/null", text);
	run("ip -batch - 2>/dev/null", "link add " VRF_LINK " type vrf table 101\n"
				       "link set " VRF_LINK " addrgenmode none up\n"
				       "link set a2 master " VRF_LINK "\n"
				       "link set a3 master " VRF_LINK "\n");
	l->has_vrf = if_nametoindex(VRF_LINK) > 0;
}

/* The kernel makes the local route of an IPv6 address a little later. */
static void await_addresses(struct layout *l)
{
	for (uint32_t i = 0; i < NETDEVS; i++)
		for (int turn = 0; turn < 200; turn++) {
			struct lookup self = { .family = AF_INET6 };
			char text[64];

			snprintf(text, sizeof(text), "fdc0:%x::2", 200 + i);
			netns_parse(text, self.dst);
			snprintf(text, sizeof(text), "a%u", i);
			self.ifindex = if_nametoindex(text);
			assert_int_equal(route_lookup(&l->nl, &self, true), 0);
			if (self.prefix_len == 128)
				break;
			usleep(1000);
		}
}

static void make_layout(struct layout *l)
{
	uint32_t n_rules;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	/* A router is not asked whether its neighbours answer. */
	netns_write("/proc/sys/net/ipv6/conf/all/forwarding", "1");
	netns_write("/proc/sys/net/ipv4/nexthop_compat_mode", below(2) ? "0" : "1");
	add_links(l);
	l->has_objects = below(2);
	for (int v6 = 0; v6 < 2; v6++) {
		for (uint32_t i = 0; i < NETDEVS; i++)
			say(l, v6,
			    v6 ? "address add fdc0:%x::2/64 dev a%u nodad\n"
			       : "address add 10.%u.0.2/24 dev a%u\n",
			    200 + i, i);
		add_nexthops(l, v6);
		for (uint32_t i = 4 + below(30); i > 0; i--)
			add_route(l, v6);
		n_rules = below(6);
		for (uint32_t i = 0; i < n_rules; i++)
			add_rule(l, v6, 10 * (1 + below(20)));
		/*
		 * IPv6 asks no rule while none was ever added (fib6_has_custom_rules), and in
		 * Linux 6.1 takes a suppressed route when no rule has an answer after it.
		 */
		if (n_rules > 2 && !strstr(l->text[v6], "suppress") && below(3) == 0)
			say(l, v6, "rule del pref 32766\n");
	}
	run("ip -4 -force -batch - 2>/dev/null", l->text[0]);
	run("ip -6 -force -batch - 2>/dev/null", l->text[1]);

	l->nl.protocol = NETLINK_ROUTE;
	await_addresses(l);
	if (below(5) == 0)
		run("ip -batch -", "link set a1 down\n");
	assert_int_equal(link_list(&l->nl, &l->node.netdevs, &l->node.n_netdevs, NULL, NULL), 0);
	assert_int_equal(link_list_addresses(&l->nl, &l->node.addresses, &l->node.n_addresses), 0);
	assert_int_equal(route_list(&l->nl, &l->node.routes, &l->node.n_routes), 0);
	assert_int_equal(rule_list(&l->nl, &l->node.rules, &l->node.n_rules), 0);
}

static void layout_done(struct layout *l)
{
	node_done(&l->node);
	netlink_done(&l->nl);
}

static bool is_among(uint32_t ifindex, const struct lookup *l)
{
	for (size_t i = 0; i < l->n_hops; i++)
		if (l->hops[i] == ifindex)
			return true;
	return false;
}

static bool is_same(const struct lookup *kernel, const struct lookup *ours)
{
	if (kernel->result < 0 || ours->result < 0)
		return kernel->result == ours->result;
	if (!is_among(kernel->found, ours) || !is_among(ours->found, kernel) ||
	    kernel->prefix_len != ours->prefix_len)
		return false;
	for (size_t i = 0; i < kernel->n_hops; i++)
		if (!is_among(kernel->hops[i], ours))
			return false;
	/* A packet to this host itself: a source that was asked for is not told again. */
	if (kernel->found == 1 && !kernel->ifindex && is_zero(kernel->address) &&
	    memcmp(kernel->source, ours->source, 16) != 0)
		return false;
	return ours->n_hops > 1 ||
	       (kernel->found == ours->found && kernel->protocol == ours->protocol &&
		memcmp(kernel->gateway, ours->gateway, 16) == 0);
}

static struct lookup make_packet(const struct layout *l)
{
	const int v6 = (int)below(2);
	struct lookup packet = { .mark = below(3) ? 0 : below(8) };
	const uint32_t bound = below(4), i = below(NETDEVS);
	char text[64];

	packet.family = netns_parse(host(v6), packet.dst) == 4 ? AF_INET : AF_INET6;
	/* fib_table_lookup() leaves a leaf when a nexthop object is on another netdev. */
	if (bound == 0 && l->has_objects) {
		packet.ifindex = l->has_vrf ? if_nametoindex(VRF_LINK) : 0;
	} else if (bound == 0) {
		packet.ifindex = l->has_vrf && below(2)
					 ? if_nametoindex(VRF_LINK)
					 : l->node.netdevs[below(l->node.n_netdevs)].ifindex;
	} else if (bound == 1 && !(l->has_vrf && i > 1)) {
		snprintf(text, sizeof(text), v6 ? "fdc0:%x::2" : "10.%u.0.2", 200 + i);
		netns_parse(text, packet.address);
	}
	return packet;
}

static void complain(const struct layout *l, const struct lookup *k, const struct lookup *o)
{
	char dst[64], src[64];

	ip_format(k->family, k->dst, UINT32_MAX, dst, sizeof(dst));
	ip_format(k->family, k->address, UINT32_MAX, src, sizeof(src));
	fputs(l->text[k->family == AF_INET6], stdout);
	fail_msg("to %s from %s oif %u mark %u: the kernel %d, by %u of %zu, /%u; computed %d, by "
		 "%u of %zu, /%u",
		 dst, src, k->ifindex, k->mark, k->result, k->found, k->n_hops, k->prefix_len,
		 o->result, o->found, o->n_hops, o->prefix_len);
}

static void the_kernel_answers_the_same(_unused_ void **state)
{
	size_t n_found = 0, n_hops = 0, n_errors = 0;
	bool has_vrf = false;

	for (seed = 1; seed <= LAYOUTS; seed++) {
		const uint64_t number = seed;
		_cleanup_(layout_done) struct layout l = {};

		make_layout(&l);
		has_vrf |= l.has_vrf;
		for (int i = 0; i < PACKETS; i++) {
			struct lookup kernel = make_packet(&l), ours = kernel;

			assert_int_equal(route_lookup(&l.nl, &kernel, true), 0);
			route_find(&l.node, &ours);
			if (!is_same(&kernel, &ours)) {
				print_message("layout %" PRIu64 ", packet %d\n", number, i);
				complain(&l, &kernel, &ours);
			}
			n_found += kernel.result == 0;
			n_hops += kernel.n_hops > 1;
			n_errors += kernel.result < 0;
		}
		seed = number;
	}
	print_message("%zu found, %zu by several, %zu errors, %s VRF\n", n_found, n_hops, n_errors,
		      has_vrf ? "with a" : "without");
	assert_true(n_found > LAYOUTS * PACKETS / 3 && n_hops > 50 && n_errors > 100);
}

static struct route route(const char *dst, uint32_t prefix_len, uint32_t table, uint32_t ifindex)
{
	struct route t = {
		.prefix_len = prefix_len, .table = table, .ifindex = ifindex, .type = RTN_UNICAST
	};

	t.family = netns_parse(dst, t.dst) == 4 ? AF_INET : AF_INET6;
	return t;
}

static struct lookup find(const struct node *n, const char *dst, uint32_t ifindex)
{
	struct lookup l = { .ifindex = ifindex };

	l.family = netns_parse(dst, l.dst) == 4 ? AF_INET : AF_INET6;
	route_find(n, &l);
	return l;
}

static void a_vrf_leads_to_its_table(_unused_ void **state)
{
	struct netdev netdevs[] = {
		{ .ifindex = 2, .name = "eth0", .is_up = true },
		{ .ifindex = 3, .name = "eth1", .is_up = true, .master = 9 },
		{ .ifindex = 9, .name = "mgmt", .kind = "vrf", .is_up = true, .vrf_table = 77 },
	};
	struct address own = { .ifindex = 3, .family = AF_INET, .prefix_len = 24 };
	struct route routes[] = { route("0.0.0.0", 0, RT_TABLE_MAIN, 2), route("0.0.0.0", 0, 77, 3),
				  route("10.1.0.0", 24, 77, 3) };
	struct node n = { .netdevs = netdevs,
			  .n_netdevs = 3,
			  .routes = routes,
			  .n_routes = 3,
			  .addresses = &own,
			  .n_addresses = 1 };

	netns_parse("10.1.0.2", own.local);
	assert_int_equal(find(&n, "192.0.2.1", 0).found, 2);
	assert_int_equal(find(&n, "192.0.2.1", 9).found, 3);
	assert_int_equal(find(&n, "192.0.2.1", 3).found, 3);
	assert_int_equal(find(&n, "10.1.0.2", 9).found, 9); /* its own address, by the VRF */
	assert_int_equal(find(&n, "10.1.0.2", 0).found, 2); /* no address of the other one */
	n.n_routes = 1;
	assert_int_equal(find(&n, "192.0.2.1", 9).found, 2); /* a table without an answer */
}

/* As a tree has them where a tool wrote down the rules that somebody added, or that of VRFs alone.
 */
static void rules_without_the_kernels_own_come_between_those(_unused_ void **state)
{
	static const struct {
		uint32_t preference, table;
		int family;
		uint32_t found;
	} rows[] = {
		{ 100, 100, AF_INET, 3 },   { 32766, 100, AF_INET, 3 },
		{ 32767, 100, AF_INET, 2 }, { 100, 100, AF_INET6, 2 },
		{ 1000, 0, AF_INET, 2 },    { 100, RT_TABLE_DEFAULT, AF_INET, 2 },
	};
	struct route routes[] = { route("0.0.0.0", 0, RT_TABLE_MAIN, 2),
				  route("0.0.0.0", 0, 100, 3) };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct rule rule = { .family = rows[i].family,
				     .preference = rows[i].preference,
				     .table = rows[i].table,
				     .action = FR_ACT_TO_TBL,
				     .suppress_prefix = -1,
				     .is_l3mdev = rows[i].table == 0 };
		const struct node n = {
			.routes = routes, .n_routes = 2, .rules = &rule, .n_rules = 1
		};

		assert_int_equal(find(&n, "192.0.2.1", 0).found, rows[i].found);
	}
}

static void what_is_not_known_is_no_answer(_unused_ void **state)
{
	struct netdev eth0 = { .ifindex = 2, .name = "eth0", .is_up = true };
	struct route routes[] = { route("0.0.0.0", 0, RT_TABLE_MAIN, 2),
				  route("10.0.0.0", 8, RT_TABLE_MAIN, 2) };
	struct rule rules[] = {
		{ .family = AF_INET,
		  .preference = 5,
		  .table = 99,
		  .action = FR_ACT_TO_TBL,
		  .suppress_prefix = -1,
		  .has_more = true },
		{ .family = AF_INET,
		  .preference = 32766,
		  .table = RT_TABLE_MAIN,
		  .action = FR_ACT_TO_TBL,
		  .suppress_prefix = -1 },
	};
	struct node n = {
		.netdevs = &eth0, .n_netdevs = 1, .routes = routes, .n_routes = 2, .rules = rules
	};

	assert_int_equal(find(&n, "10.1.1.1", 0).found, 2);
	assert_int_equal(find(&n, "224.0.0.1", 0).result, -ENODATA);
	n.n_rules = 2;
	assert_int_equal(find(&n, "10.1.1.1", 0).result, -ENODATA);
	rules[0].mark = rules[0].mask = 1; /* a packet without the mark never meets it */
	assert_int_equal(find(&n, "10.1.1.1", 0).found, 2);
	rules[0].preference = 40000; /* behind the answer */
	rules[0].mask = 0;
	assert_int_equal(find(&n, "10.1.1.1", 0).found, 2);
	routes[1].nexthop = 7;
	assert_int_equal(find(&n, "10.1.1.1", 0).result, -ENODATA);
	assert_int_equal(find(&n, "192.0.2.1", 0).found, 2);
	routes[0].has_more = true;
	assert_int_equal(find(&n, "192.0.2.1", 0).result, -ENODATA);
}

static void all_next_hops_count_and_one_that_lives_is_found(_unused_ void **state)
{
	struct route routes[] = { route("0.0.0.0", 0, RT_TABLE_MAIN, 2),
				  route("0.0.0.0", 0, RT_TABLE_MAIN, 3),
				  route("0.0.0.0", 0, RT_TABLE_MAIN, 4) };
	const struct node n = { .routes = routes, .n_routes = 3 };
	struct lookup l;

	routes[0].is_dead = true;
	routes[2].metric = 100;
	l = find(&n, "192.0.2.1", 0);
	assert_int_equal(l.found, 3);
	assert_int_equal(l.n_hops, 2);
	routes[1].is_dead = true;
	assert_int_equal(find(&n, "192.0.2.1", 0).found, 4);
}

static void the_kernels_own_routes_of_a_prefix_are_no_hops_of_one(_unused_ void **state)
{
	struct route routes[] = { route("10.0.0.0", 8, RT_TABLE_MAIN, 2),
				  route("10.0.0.0", 8, RT_TABLE_MAIN, 3) };
	const struct node n = { .routes = routes, .n_routes = 2 };
	struct lookup l;

	assert_int_equal(find(&n, "10.0.0.1", 0).n_hops, 2); /* perhaps of one route */
	routes[0].protocol = routes[1].protocol = RTPROT_KERNEL;
	l = find(&n, "10.0.0.1", 0);
	assert_int_equal(l.n_hops, 1);
	assert_int_equal(l.hops[0], 2);
	routes[0].is_dead = true;
	assert_int_equal(find(&n, "10.0.0.1", 0).hops[0], 3);
	for (size_t i = 0; i < 2; i++) { /* of IPv6 the kernel takes one in turn */
		routes[i] = route("fd00::", 8, RT_TABLE_MAIN, 2 + (uint32_t)i);
		routes[i].protocol = RTPROT_KERNEL;
	}
	assert_int_equal(find(&n, "fd00::1", 0).n_hops, 2);
}

static void only_default_routes_lead_to_the_default_destination(_unused_ void **state)
{
	static const struct {
		const char *routes[8]; /* "10.0.0.0/8" */
		const char *want;
	} cases[] = {
		{ { "0.0.0.0/0" }, "192.0.2.1" },
		{ { "0.0.0.0/1", "128.0.0.0/1" }, "192.0.2.1" },
		{ { "192.0.2.0/24" }, "198.51.100.1" },
		{ { "192.0.0.0/8", "198.51.100.0/24" }, "203.0.113.1" },
		{ { "192.0.0.0/3" }, "1.0.0.0" },
		{ { "192.0.0.0/3", "0.0.0.0/5", "8.0.0.0/7" }, "11.0.0.0" },
		{ { "192.0.0.0/2", "0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2" }, NULL },
		{ { "::/0", "2000::/3" }, "2001:db8::1" },
		{ { "2001:db8::/32" }, "2000::" },
		{ { "2000::/8", "2001:db8::/32", "2100::/16" }, "2101::" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct route routes[8];
		struct node n = { .routes = routes };
		uint8_t found[16], want[16];
		int family = AF_INET, r;

		for (; n.n_routes < 8 && cases[i].routes[n.n_routes]; n.n_routes++) {
			char dst[64];
			char *slash;

			copy(dst, sizeof(dst), cases[i].routes[n.n_routes]);
			slash = strchr(dst, '/');
			*slash = '\0';
			routes[n.n_routes] = route(dst, strtoul(slash + 1, NULL, 10), 50, 2);
			family = routes[n.n_routes].family;
		}
		r = route_find_default(&n, family, found);
		assert_int_equal(r, cases[i].want ? 0 : -ENOENT);
		if (!cases[i].want)
			continue;
		netns_parse(cases[i].want, want);
		assert_memory_equal(found, want, 16);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vrf_leads_to_its_table),
		cmocka_unit_test(rules_without_the_kernels_own_come_between_those),
		cmocka_unit_test(what_is_not_known_is_no_answer),
		cmocka_unit_test(all_next_hops_count_and_one_that_lives_is_found),
		cmocka_unit_test(the_kernels_own_routes_of_a_prefix_are_no_hops_of_one),
		cmocka_unit_test(only_default_routes_lead_to_the_default_destination),
		cmocka_unit_test(the_kernel_answers_the_same),
	};

	if (netns_enter() < 0 && unshare(CLONE_NEWNET) < 0) {
		printf("skipped: no network namespace of our own: %s\n", strerror(errno));
		return EXIT_SKIP;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
