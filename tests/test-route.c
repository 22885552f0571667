/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "../src/os/route.h"
#include "netns.h"

#include <linux/fib_rules.h>

static struct netlink nl = { .protocol = NETLINK_ROUTE };
static uint32_t one, two;

struct routes {
	struct route *all; /* owned */
	size_t n;
};

static void routes_done(struct routes *l)
{
	free(l->all);
}

/* Of the nth route to a prefix of this family; NULL: there is none */
static const struct route *find(const struct routes *l, const char *dst, uint32_t prefix_len,
				size_t nth)
{
	uint8_t bytes[16];
	int family = netns_parse(dst, bytes) == 4 ? AF_INET : AF_INET6;

	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].family == family && l->all[i].prefix_len == prefix_len &&
		    memcmp(l->all[i].dst, bytes, 16) == 0 && nth-- == 0)
			return &l->all[i];
	return NULL;
}

/* Behind the last members there are bytes that mean nothing. */
static bool is_same(const struct route *a, const struct route *b)
{
	return memcmp(a, b, offsetof(struct route, is_dead)) == 0 && a->is_dead == b->is_dead &&
	       a->has_more == b->has_more && a->is_partial == b->is_partial;
}

static int setup(_unused_ void **state)
{
	static const struct netns_address addresses[] = {
		{ "10.1.0.2", .prefix_len = 24 },
		{ "fd00:1::2", .prefix_len = 64, .flags = IFA_F_NODAD },
		{ "10.2.0.2", .prefix_len = 24, .metric = 77 },
		{ "fd00:2::2", .prefix_len = 64, .flags = IFA_F_NODAD },
	};

	/* A route comes at the end of DAD, which is between two lists on a busy machine. */
	if (netns_write("/proc/sys/net/ipv6/conf/default/accept_dad", "0") < 0 ||
	    netns_add_veth(&nl, "one", "two") < 0)
		return -1;

	one = if_nametoindex("one");
	two = if_nametoindex("two");
	if (netns_up(&nl, one) < 0 || netns_up(&nl, two) < 0)
		return -1;

	for (size_t i = 0; i < ELEMENTSOF(addresses); i++)
		if (netns_add_address(&nl, i < 2 ? one : two, &addresses[i]) < 0)
			return -1;
	return 0;
}

static int teardown(_unused_ void **state)
{
	return netns_delete(&nl, one);
}

static void a_namespace_without_routes_gives_none(_unused_ void **state)
{
	_cleanup_(routes_done) struct routes l = {};

	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	assert_int_equal(l.n, 0);
}

static void prefix_routes_of_the_kernel_are_read(_unused_ void **state)
{
	static const struct {
		const char *dst;
		uint32_t prefix_len, metric;
		const uint32_t *ifindex;
	} cases[] = {
		{ "10.1.0.0", 24, 0, &one },
		{ "10.2.0.0", 24, 77, &two },
		{ "fd00:1::", 64, 256, &one },
		{ "fd00:2::", 64, 256, &two },
	};
	_cleanup_(routes_done) struct routes l = {};

	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct route *r = find(&l, cases[i].dst, cases[i].prefix_len, 0);

		assert_non_null(r);
		assert_int_equal(r->ifindex, *cases[i].ifindex);
		assert_int_equal(r->metric, cases[i].metric);
		assert_int_equal(r->protocol, RTPROT_KERNEL);
		assert_int_equal(r->type, RTN_UNICAST);
		assert_int_equal(r->scope,
				 r->family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE);
		assert_null(find(&l, cases[i].dst, cases[i].prefix_len, 1));
	}
}

static void routes_of_others_are_read(_unused_ void **state)
{
	struct netns_route given[] = {
		{ "192.0.2.0", 24, .oif = one, .metric = 50, .protocol = RTPROT_BOOT,
		  .scope = RT_SCOPE_LINK },
		{ "192.0.2.0", 24, .oif = two, .metric = 60, .protocol = RTPROT_STATIC,
		  .scope = RT_SCOPE_LINK },
		{ "198.51.100.0", 24, .type = RTN_BLACKHOLE, .metric = 5 },
		{ "fd99::", 48, .oif = one, .metric = 50, .gateways = { "fd00:1::1" } },
		{ .gateways = { "10.1.0.1" }, .oif = one, .metric = 10 },
		{ .gateways = { "fd00:1::1" }, .oif = one, .metric = 11 },
	};
	_cleanup_(routes_done) struct routes l = {};
	const struct route *r;

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_route(&nl, &given[i]), 0);
	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);

	for (unsigned i = 0; i < 2; i++) {
		r = find(&l, "192.0.2.0", 24, i);
		assert_non_null(r);
		assert_int_equal(r->ifindex, i == 0 ? one : two);
		assert_int_equal(r->metric, i == 0 ? 50 : 60);
		assert_int_equal(r->protocol, i == 0 ? RTPROT_BOOT : RTPROT_STATIC);
	}

	r = find(&l, "198.51.100.0", 24, 0);
	assert_non_null(r);
	assert_int_equal(r->type, RTN_BLACKHOLE);
	assert_int_equal(r->ifindex, 0);

	r = find(&l, "fd99::", 48, 0);
	assert_non_null(r);
	assert_int_equal(r->metric, 50);

	r = find(&l, "0.0.0.0", 0, 0);
	assert_non_null(r);
	assert_int_equal(r->metric, 10);
	r = find(&l, "::", 0, 0);
	assert_non_null(r);
	assert_int_equal(r->metric, 11);

	/* A blackhole has no netdev to go away with. */
	assert_int_equal(netns_delete_route(&nl, &given[2]), 0);
}

/* Kernels before 5.11 make it so, with the protocol "boot", in the table of a VRF. */
static void the_route_for_multicast_is_not_read(_unused_ void **state)
{
	static const struct {
		const char *dst;
		uint32_t prefix_len;
		bool is_read;
	} rows[] = { { "ff00::", 8, false }, { "fd00::", 8, true }, { "ff05::", 16, true } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct netns_route given = { rows[i].dst, rows[i].prefix_len, .table = 100,
					     .oif = one, .protocol = RTPROT_BOOT };
		_cleanup_(routes_done) struct routes l = {};

		assert_int_equal(netns_add_route(&nl, &given), 0);
		assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
		assert_int_equal(find(&l, rows[i].dst, rows[i].prefix_len, 0) != NULL,
				 rows[i].is_read);
	}
}

static void all_tables_are_read_but_local(_unused_ void **state)
{
	struct netns_route given[] = {
		{ "203.0.113.0", 24, .table = 100, .oif = one, .scope = RT_SCOPE_LINK },
		{ "fd98::", 48, .table = 100, .oif = one },
		{ "203.0.113.8", 32, .table = 100, .type = RTN_THROW },
		{ "203.0.113.9", 32, .table = 100, .type = RTN_UNREACHABLE },
		{ "203.0.113.10", 32, .table = 100, .type = RTN_PROHIBIT },
	};
	_cleanup_(routes_done) struct routes l = {};

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_route(&nl, &given[i]), 0);

	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	for (size_t i = 0; i < ELEMENTSOF(given); i++) {
		const struct route *t = find(&l, given[i].dst, given[i].prefix_len, 0);

		assert_non_null(t);
		assert_int_equal(t->table, 100);
		assert_int_equal(t->type, given[i].type ? given[i].type : RTN_UNICAST);
		assert_null(find(&l, given[i].dst, given[i].prefix_len, 1));
	}
	assert_null(find(&l, "10.1.0.2", 32, 0));
	assert_null(find(&l, "10.1.0.255", 32, 0));
	assert_null(find(&l, "fd00:1::2", 128, 0));
	assert_null(find(&l, "ff00::", 8, 0));
	for (size_t i = 2; i < ELEMENTSOF(given); i++) /* they have no netdev to go away with */
		assert_int_equal(netns_delete_route(&nl, &given[i]), 0);
}

/* A veth has no carrier while its peer is down. */
static void a_next_hop_that_the_kernel_skips_is_dead(_unused_ void **state)
{
	static const char *const ignore = "/proc/sys/net/ipv4/conf/one/ignore_routes_with_linkdown";
	struct netns_route given = { "192.0.2.0", 24, .oif = one, .oif2 = two,
				     .gateways = { "10.1.0.1", "10.2.0.1" } };
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg down = { .ifi_index = two, .ifi_change = IFF_UP };

	assert_int_equal(netns_add_route(&nl, &given), 0);
	nlmsg_append(m, &down, sizeof(down), NLMSG_ALIGNTO);
	assert_int_equal(netlink_ask(&nl, m), 0);

	for (int i = 0; i < 2000; i++) { /* the kernel marks the routes of a link a little later */
		_cleanup_(routes_done) struct routes l = {};
		const struct route *hop, *t;

		assert_int_equal(netns_write(ignore, i == 0 ? "0" : "1"), 0);
		assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
		hop = find(&l, "192.0.2.0", 24, 1);
		assert_non_null(hop);
		assert_int_equal(hop->ifindex, two);
		assert_true(hop->is_dead);
		t = find(&l, "10.1.0.0", 24, 0);
		assert_non_null(t);
		if (t->is_dead) {
			assert_true(i > 0);
			return;
		}
		usleep(1000);
	}
	fail_msg("never dead");
}

static void a_multipath_route_gives_one_entry_for_each_hop(_unused_ void **state)
{
	struct netns_route given[] = {
		{ "192.0.2.0", 24, .oif = one, .oif2 = two, .gateways = { "10.1.0.1", "10.2.0.1" },
		  .metric = 9 },
		{ "fd99::", 48, .oif = one, .oif2 = two, .gateways = { "fd00:1::1", "fd00:2::1" },
		  .metric = 9 },
	};
	_cleanup_(routes_done) struct routes l = {};

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_route(&nl, &given[i]), 0);

	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	for (size_t i = 0; i < ELEMENTSOF(given); i++) {
		const struct route *a = find(&l, given[i].dst, given[i].prefix_len, 0);
		const struct route *b = find(&l, given[i].dst, given[i].prefix_len, 1);

		assert_non_null(a);
		assert_non_null(b);
		assert_null(find(&l, given[i].dst, given[i].prefix_len, 2));
		assert_int_equal(a->metric, 9);
		assert_int_equal(b->metric, 9);
		assert_int_equal(MIN(a->ifindex, b->ifindex), MIN(one, two));
		assert_int_equal(MAX(a->ifindex, b->ifindex), MAX(one, two));
		assert_true(a->is_partial && b->is_partial);
	}
	assert_false(find(&l, "10.1.0.0", 24, 0)->is_partial);
}

#define ATTR_RTA_NH_ID 30 /* of headers since 5.3 */
#define NEWNEXTHOP     104

/* "ip nexthop add id ID", of a netdev and a gateway or, without them, a group of both others */
static int add_nexthop(uint32_t id, uint32_t oif, const char *gateway, const uint32_t members[2])
{
	const struct {
		uint8_t family, scope, protocol, reserved;
		uint32_t flags;
	} header = { .family = !gateway ? AF_UNSPEC : strchr(gateway, ':') ? AF_INET6 : AF_INET };
	const uint32_t group[] = { members ? members[0] : 0, 0, members ? members[1] : 0, 0 };
	struct nl_msg *m =
		netlink_make(NEWNEXTHOP, NLM_F_CREATE | NLM_F_REPLACE, &header, sizeof(header));
	uint8_t bytes[16];

	nla_put_u32(m, 1, id); /* NHA_ID, NHA_GROUP, NHA_OIF, NHA_GATEWAY */
	if (members)
		nla_put(m, 2, sizeof(group), group);
	else
		nla_put_u32(m, 5, oif);
	if (gateway)
		nla_put(m, 6, netns_parse(gateway, bytes), bytes);
	return netlink_ask(&nl, m);
}

static int add_default_by(int family, uint32_t id)
{
	const struct rtmsg header = { .rtm_family = family,
				      .rtm_table = RT_TABLE_MAIN,
				      .rtm_protocol = RTPROT_STATIC,
				      .rtm_type = RTN_UNICAST };
	struct nl_msg *m =
		netlink_make(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_APPEND, &header, sizeof(header));

	nla_put_u32(m, ATTR_RTA_NH_ID, id);
	nla_put_u32(m, RTA_PRIORITY, id);
	return netlink_ask(&nl, m);
}

static void set_compatibility(const char *value)
{
	int fd = open("/proc/sys/net/ipv4/nexthop_compat_mode", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0 && write(fd, value, 1) == 1);
	close(fd);
}

/* With net.ipv4.nexthop_compat_mode=0 a route tells no more of its nexthop object than the id. */
static void nexthop_objects_are_looked_up(_unused_ void **state)
{
	static const uint32_t members[] = { 10, 20 }, members6[] = { 11, 21 };
	struct routes all[2] = {};

	if (add_nexthop(10, one, "10.1.0.1", NULL) < 0) {
		print_message("no nexthop objects\n");
		skip();
	}
	assert_int_equal(add_nexthop(20, two, "10.2.0.1", NULL), 0);
	assert_int_equal(add_nexthop(30, 0, NULL, members), 0);
	assert_int_equal(add_nexthop(11, one, "fd00:1::1", NULL), 0);
	assert_int_equal(add_nexthop(21, two, "fd00:2::1", NULL), 0);
	assert_int_equal(add_nexthop(31, 0, NULL, members6), 0);
	assert_int_equal(add_default_by(AF_INET, 21), 0);
	assert_int_equal(add_default_by(AF_INET, 10), 0);
	assert_int_equal(add_default_by(AF_INET, 30), 0);
	assert_int_equal(add_default_by(AF_INET6, 21), 0);
	assert_int_equal(add_default_by(AF_INET6, 31), 0);

	for (int i = 0; i < 2; i++) {
		set_compatibility(i == 0 ? "1" : "0");
		assert_int_equal(route_list(&nl, &all[i].all, &all[i].n), 0);
	}
	set_compatibility("1");
	assert_int_equal(find(&all[0], "0.0.0.0", 0, 0)->ifindex, one);
	assert_int_equal(find(&all[0], "::", 0, 0)->ifindex, two);
	assert_true(find(&all[0], "::", 0, 0)->is_partial);
	for (int i = 0; i < 2; i++)
		assert_null(find(&all[i], "0.0.0.0", 0, 4));
	assert_int_equal(all[0].n, all[1].n);
	for (size_t i = 0; i < all[0].n; i++)
		assert_true(is_same(&all[0].all[i], &all[1].all[i]));
	routes_done(&all[0]);
	routes_done(&all[1]);
}

static void ipv4_comes_before_ipv6(_unused_ void **state)
{
	_cleanup_(routes_done) struct routes l = {};

	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	assert_in_range(l.n, 4, UINT32_MAX);
	for (size_t i = 1; i < l.n; i++)
		assert_false(l.all[i - 1].family == AF_INET6 && l.all[i].family == AF_INET);
}

static void an_onlink_route_is_partial(_unused_ void **state)
{
	const struct rtmsg header = { .rtm_family = AF_INET,
				      .rtm_dst_len = 32,
				      .rtm_table = RT_TABLE_MAIN,
				      .rtm_protocol = RTPROT_STATIC,
				      .rtm_type = RTN_UNICAST,
				      .rtm_flags = RTNH_F_ONLINK };
	struct nl_msg *m = netlink_make(RTM_NEWROUTE, NLM_F_CREATE, &header, sizeof(header));
	_cleanup_(routes_done) struct routes l = {};

	nla_put(m, RTA_DST, 4, (const uint8_t[]){ 198, 18, 0, 1 });
	nla_put(m, RTA_GATEWAY, 4, (const uint8_t[]){ 169, 254, 0, 1 });
	nla_put_u32(m, RTA_OIF, one);
	assert_int_equal(netlink_ask(&nl, m), 0);
	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	assert_non_null(find(&l, "198.18.0.1", 32, 0));
	assert_true(find(&l, "198.18.0.1", 32, 0)->is_partial);
}

/* Without the kernel's own filter all tables come, and the door has to sort them out. */
static void a_kernel_that_does_not_filter_gives_the_same(_unused_ void **state)
{
	_cleanup_(netlink_done) struct netlink plain = { .protocol = NETLINK_ROUTE };
	struct netns_route other = { "203.0.113.0", 24, .table = 100, .oif = one,
				     .scope = RT_SCOPE_LINK };
	_cleanup_(routes_done) struct routes a = {}, b = {};

	assert_int_equal(netns_add_route(&nl, &other), 0);
	assert_int_equal(netlink_open(&plain), 0);
	assert_int_equal(setsockopt(nl_socket_get_fd(plain.sock), SOL_NETLINK,
				    NETLINK_GET_STRICT_CHK, &(int){ 0 }, sizeof(int)),
			 0);

	assert_int_equal(route_list(&nl, &a.all, &a.n), 0);
	assert_int_equal(route_list(&plain, &b.all, &b.n), 0);
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++)
		assert_true(is_same(&a.all[i], &b.all[i]));
}

static struct route own(const char *dst, uint32_t prefix_len, uint32_t table, uint32_t ifindex,
			const char *gateway)
{
	struct route t = { .prefix_len = prefix_len,
			   .table = table,
			   .ifindex = ifindex,
			   .protocol = OWN_PROTOCOL,
			   .type = RTN_UNICAST };

	t.family = netns_parse(dst, t.dst) == 4 ? AF_INET : AF_INET6;
	t.metric = t.family == AF_INET6 ? 1024 : 0;
	if (gateway)
		netns_parse(gateway, t.gateway);
	else if (t.family == AF_INET)
		t.scope = RT_SCOPE_LINK;
	return t;
}

static const struct route *find_own(const struct routes *l, const struct route *t)
{
	for (size_t i = 0; i < l->n; i++)
		if (is_same(&l->all[i], t))
			return &l->all[i];
	return NULL;
}

static void ours_are_made_replaced_found_and_removed_in_any_table(_unused_ void **state)
{
	const uint32_t table = OWN_TABLE_BASE + 7;
	struct route ours[] = {
		own("10.1.0.0", 24, table, one, NULL),
		own("0.0.0.0", 0, table, one, "10.1.0.1"),
		own("10.9.0.0", 16, table, one, "0.0.0.0"), /* by a gateway of IPv6 */
		own("fd00:1::", 64, table, one, NULL),
		own("::", 0, table, one, "fd00:1::1"),
	};
	struct route other = ours[1];

	netns_parse("10.1.0.2", ours[0].src);
	COPY(ours[2].via, "fe80::1");
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < ELEMENTSOF(ours); i++)
			assert_int_equal(route_set(&nl, &ours[i], again), 0);
	netns_parse("10.1.0.9", other.gateway);
	assert_int_equal(route_set(&nl, &other, true), 0);
	ours[1] = other;
	{
		_cleanup_(routes_done) struct routes l = {};
		size_t found = 0;

		assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
		for (size_t i = 0; i < l.n; i++)
			found += l.all[i].table == table;
		assert_int_equal(found, ELEMENTSOF(ours)); /* replaced in place, no duplicates */
		for (size_t i = 0; i < ELEMENTSOF(ours); i++)
			assert_non_null(find_own(&l, &ours[i]));
	}
	for (size_t i = 0; i < ELEMENTSOF(ours); i++) {
		assert_int_equal(route_remove(&nl, &ours[i]), 0);
		assert_int_equal(route_remove(&nl, &ours[i]), 0); /* gone is gone */
	}
}

static void routes_of_others_are_never_removed(_unused_ void **state)
{
	struct netns_route given[] = {
		{ "203.0.113.0", 24, .oif = one, .scope = RT_SCOPE_LINK,
		  .protocol = RTPROT_STATIC },
		{ "fd98::", 48, .oif = one, .protocol = RTPROT_STATIC, .metric = 1024 },
	};
	_cleanup_(routes_done) struct routes l = {};

	for (size_t i = 0; i < ELEMENTSOF(given); i++) {
		struct route t = own(given[i].dst, given[i].prefix_len, RT_TABLE_MAIN, one, NULL);

		assert_int_equal(netns_add_route(&nl, &given[i]), 0);
		assert_int_equal(route_remove(&nl, &t), 0);
	}
	assert_int_equal(route_list(&nl, &l.all, &l.n), 0);
	assert_non_null(find(&l, "203.0.113.0", 24, 0));
	assert_non_null(find(&l, "fd98::", 48, 0));
}

static void a_route_of_others_in_a_table_of_ours_is_never_replaced(_unused_ void **state)
{
	const uint8_t table = 209; /* the helper has no room for a number of ours */
	struct netns_route given[] = {
		{ "10.9.0.0", 24, .oif = one, .scope = RT_SCOPE_LINK, .protocol = RTPROT_STATIC,
		  .table = table },
		{ "fd97::", 48, .oif = one, .protocol = RTPROT_STATIC, .metric = 1024,
		  .table = table },
	};

	for (size_t i = 0; i < ELEMENTSOF(given); i++) {
		struct route t = own(given[i].dst, given[i].prefix_len, table, one, NULL);

		assert_int_equal(netns_add_route(&nl, &given[i]), 0);
		assert_int_equal(route_set(&nl, &t, false), -EEXIST);
		assert_int_equal(netns_delete_route(&nl, &given[i]), 0); /* it was there still */
		assert_int_equal(route_set(&nl, &t, false), 0);
		assert_int_equal(route_remove(&nl, &t), 0);
	}
}

/* "ip route prepend": the kernel replaces the first one of a destination, which is not ours. */
static void a_route_of_others_before_ours_is_not_replaced(_unused_ void **state)
{
	const uint8_t table = 210;
	struct netns_route given = {
		"10.9.0.0",    24, .oif = one, .scope = RT_SCOPE_LINK, .protocol = RTPROT_STATIC,
		.table = table
	};
	struct route t = own("10.9.0.0", 24, table, one, NULL);

	assert_int_equal(route_set(&nl, &t, false), 0);
	assert_int_equal(netns_route(&nl, RTM_NEWROUTE, NLM_F_CREATE, &given), 0);
	netns_parse("10.1.0.2", t.src);
	assert_int_equal(route_set(&nl, &t, true), -EEXIST);
	assert_int_equal(netns_delete_route(&nl, &given), 0); /* it was there still */
	assert_int_equal(route_set(&nl, &t, true), 0);
	assert_int_equal(route_remove(&nl, &t), 0);
}

struct rules {
	struct rule *all; /* owned */
	size_t n;
};

static void rules_done(struct rules *l)
{
	free(l->all);
}

static size_t count_rules(uint32_t table, uint8_t protocol)
{
	_cleanup_(rules_done) struct rules l = {};
	size_t n = 0;

	assert_int_equal(rule_list(&nl, &l.all, &l.n), 0);
	for (size_t i = 0; i < l.n; i++)
		n += l.all[i].table == table && l.all[i].protocol == protocol;
	return n;
}

static int add_rule_of(uint8_t protocol, uint32_t table)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
	struct fib_rule_hdr i = { .family = AF_INET, .action = FR_ACT_TO_TBL, .src_len = 32 };
	uint8_t src[16];

	netns_parse("10.1.0.2", src);
	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_u32(m, FRA_TABLE, table);
	nla_put_u32(m, FRA_PRIORITY, OWN_PREFERENCE_FROM);
	nla_put_u8(m, FRA_PROTOCOL, protocol);
	nla_put(m, FRA_SRC, 4, src);
	return netlink_ask(&nl, m);
}

static void rules_are_there_once_and_only_ours_are_removed(_unused_ void **state)
{
	struct rule from = { .family = AF_INET,
			     .preference = OWN_PREFERENCE_FROM,
			     .table = OWN_TABLE_BASE + 7,
			     .protocol = OWN_PROTOCOL,
			     .src_len = 32 };
	struct rule oif = { .family = AF_INET6,
			    .preference = OWN_PREFERENCE_OIF,
			    .table = OWN_TABLE_BASE + 7,
			    .protocol = OWN_PROTOCOL,
			    .oif = "one" };

	netns_parse("10.1.0.2", from.src);
	for (int again = 0; again < 3; again++) {
		assert_int_equal(rule_add(&nl, &from), 0);
		assert_int_equal(rule_add(&nl, &oif), 0);
	}
	assert_int_equal(count_rules(OWN_TABLE_BASE + 7, OWN_PROTOCOL), 2);
	assert_int_equal(rule_remove(&nl, &from), 0);
	assert_int_equal(rule_remove(&nl, &from), 0);
	assert_int_equal(rule_remove(&nl, &oif), 0);
	assert_int_equal(count_rules(OWN_TABLE_BASE + 7, OWN_PROTOCOL), 0);

	/* The same in all but its protocol is another program's. */
	assert_int_equal(add_rule_of(RTPROT_STATIC, from.table), 0);
	assert_int_equal(rule_remove(&nl, &from), 0);
	assert_int_equal(count_rules(from.table, RTPROT_STATIC), 1);
}

static const struct rule *find_rule(const struct rules *l, uint32_t preference)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].family == AF_INET && l->all[i].preference == preference)
			return &l->all[i];
	fail_msg("no rule %u", preference);
	abort();
}

static void conditions_of_rules_are_read(_unused_ void **state)
{
	/* The rule, and what else of it a kernel may lack. */
	static const struct {
		struct fib_rule_hdr header;
		int attribute;
		uint32_t value;
		struct rule want;
	} cases[] = {
		{ .attribute = FRA_FWMARK, .value = 7, .want = { .mark = 7, .mask = UINT32_MAX } },
		{ .attribute = FRA_SUPPRESS_PREFIXLEN, .value = 0, .want = {} },
		{ .header.flags = FIB_RULE_INVERT,
		  .attribute = FRA_SUPPRESS_PREFIXLEN,
		  .value = 8,
		  .want = { .suppress_prefix = 8, .is_invert = true } },
		{ .header.tos = 8,
		  .attribute = FRA_TABLE,
		  .value = 77,
		  .want = { .has_more = true } },
		{ .attribute = FRA_SUPPRESS_IFGROUP, .value = 4, .want = { .has_more = true } },
		{ .header.action = FR_ACT_GOTO,
		  .attribute = FRA_GOTO,
		  .value = 32766,
		  .want = { .to_preference = 32766 } },
		{ .header.action = FR_ACT_BLACKHOLE,
		  .attribute = FRA_FWMARK,
		  .value = 1,
		  .want = { .mark = 1, .mask = UINT32_MAX } },
	};
	_cleanup_(rules_done) struct rules l = {};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct fib_rule_hdr header = cases[i].header;
		struct nl_msg *m;

		header.family = AF_INET;
		header.action = header.action ? header.action : FR_ACT_TO_TBL;
		header.dst_len = 8;
		m = netlink_make(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof(header));
		if (cases[i].attribute != FRA_TABLE)
			nla_put_u32(m, FRA_TABLE, 77);
		nla_put_u32(m, FRA_PRIORITY, 500 + i);
		nla_put(m, FRA_DST, 4, "\x0a\0\0");
		nla_put_string(m, FRA_IIFNAME, "lo");
		nla_put_u32(m, cases[i].attribute, cases[i].value);
		assert_int_equal(netlink_ask(&nl, m), 0);
	}
	assert_int_equal(rule_list(&nl, &l.all, &l.n), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct rule *have = find_rule(&l, 500 + i), *want = &cases[i].want;
		const bool has_suppress = cases[i].attribute == FRA_SUPPRESS_PREFIXLEN;

		assert_string_equal(have->iif, "lo");
		assert_int_equal(have->dst_len, 8);
		assert_int_equal(have->dst[0], 10);
		assert_int_equal(have->mark, want->mark);
		assert_int_equal(have->mask, want->mask);
		assert_int_equal(have->is_invert, want->is_invert);
		assert_int_equal(have->has_more, want->has_more);
		assert_int_equal(have->to_preference, want->to_preference);
		assert_int_equal(have->suppress_prefix, has_suppress ? want->suppress_prefix : -1);
	}
	assert_int_equal(find_rule(&l, 32766)->suppress_prefix, -1);
	assert_false(find_rule(&l, 32766)->has_more);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct fib_rule_hdr header = { .family = AF_INET };
		struct nl_msg *m = netlink_make(RTM_DELRULE, 0, &header, sizeof(header));

		nla_put_u32(m, FRA_PRIORITY, 500 + i);
		assert_int_equal(netlink_ask(&nl, m), 0);
	}
}

static struct lookup lookup(const char *dst, const char *source, uint32_t ifindex, uint32_t mark)
{
	struct lookup l = { .ifindex = ifindex, .mark = mark };

	l.family = netns_parse(dst, l.dst) == 4 ? AF_INET : AF_INET6;
	if (source)
		netns_parse(source, l.address);
	assert_int_equal(route_lookup(&nl, &l, true), 0);
	return l;
}

static void the_kernel_says_by_which_netdev(_unused_ void **state)
{
	assert_int_equal(lookup("10.2.0.9", NULL, 0, 0).found, two);
	/* another netdev than that of the source */
	assert_int_equal(lookup("10.2.0.9", "10.1.0.2", 0, 0).found, two);
	assert_int_equal(lookup("10.2.0.9", NULL, one, 0).found, one);
	assert_int_equal(lookup("192.0.2.1", "10.1.0.2", 0, 0).result, -ENETUNREACH);
	assert_int_equal(lookup("fd00:2::9", NULL, 0, 0).found, two);
	assert_true(lookup("10.2.0.9", "10.99.0.1", 0, 0).result < 0); /* no address of this host */
}

/* A rule for packets with a mark leads to the table 100. */
static int add_mark_rule(uint32_t mark)
{
	struct fib_rule_hdr i = { .family = AF_INET, .action = FR_ACT_TO_TBL };
	struct nl_msg *m = netlink_make(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &i, sizeof(i));

	nla_put_u32(m, FRA_TABLE, 100);
	nla_put_u32(m, FRA_PRIORITY, 99);
	nla_put_u32(m, FRA_FWMARK, mark);
	return netlink_ask(&nl, m);
}

static void the_route_that_matched_comes_with_all_its_next_hops(_unused_ void **state)
{
	struct netns_route given[] = {
		{ "192.0.2.0", 24, .oif = one, .oif2 = two, .gateways = { "10.1.0.1", "10.2.0.1" },
		  .protocol = RTPROT_DHCP },
		{ "fd99::", 48, .oif = one, .oif2 = two, .gateways = { "fd00:1::1", "fd00:2::1" } },
		{ "192.0.2.0", 28, .oif = one, .table = 100, .gateways = { "10.1.0.7" } },
		{ "192.0.2.9", 32, .type = RTN_UNREACHABLE, .metric = 9 },
	};
	struct lookup l;

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_route(&nl, &given[i]), 0);
	for (int i = 0; i < 2; i++) {
		l = lookup(i == 0 ? "192.0.2.1" : "fd99::1", NULL, 0, 0);
		assert_int_equal(l.result, 0);
		assert_int_equal(l.n_hops, 2);
		assert_int_equal(MIN(l.hops[0], l.hops[1]), MIN(one, two));
		assert_int_equal(MAX(l.hops[0], l.hops[1]), MAX(one, two));
		assert_true(l.found == one || l.found == two);
		assert_int_equal(l.prefix_len, i == 0 ? 24 : 48);
		assert_int_equal(l.protocol, i == 0 ? RTPROT_DHCP : RTPROT_STATIC);
		assert_false(is_zero(l.gateway));
	}
	assert_int_equal(lookup("192.0.2.9", NULL, 0, 0).result, -EHOSTUNREACH);
	l = lookup("10.1.0.2", NULL, 0, 0); /* of this host */
	assert_int_equal(l.result, 0);
	assert_true(l.found != one && l.n_hops == 1 && l.hops[0] == l.found);

	if (add_mark_rule(7) == 0) {
		l = lookup("192.0.2.1", NULL, 0, 7);
		assert_int_equal(l.n_hops, 1);
		assert_int_equal(l.prefix_len, 28);
	}
	assert_int_equal(netns_delete_route(&nl, &given[3]), 0);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_namespace_without_routes_gives_none),
		test(prefix_routes_of_the_kernel_are_read),
		test(routes_of_others_are_read),
		test(all_tables_are_read_but_local),
		test(the_route_for_multicast_is_not_read),
		test(a_next_hop_that_the_kernel_skips_is_dead),
		test(a_multipath_route_gives_one_entry_for_each_hop),
		test(ipv4_comes_before_ipv6),
		test(a_kernel_that_does_not_filter_gives_the_same),
		test(nexthop_objects_are_looked_up),
		test(an_onlink_route_is_partial),
		test(ours_are_made_replaced_found_and_removed_in_any_table),
		test(routes_of_others_are_never_removed),
		test(a_route_of_others_in_a_table_of_ours_is_never_replaced),
		test(a_route_of_others_before_ours_is_not_replaced),
		test(rules_are_there_once_and_only_ours_are_removed),
		test(conditions_of_rules_are_read),
		test(the_kernel_says_by_which_netdev),
		test(the_route_that_matched_comes_with_all_its_next_hops),
	};
	int r;

	r = netns_begin(&nl, "one", "two");
	if (r != 0)
		return r;
	if (netns_delete(&nl, if_nametoindex("one")) < 0)
		return EXIT_FAILURE;

	r = cmocka_run_group_tests(tests, NULL, NULL);
	netlink_done(&nl);
	return r;
}
