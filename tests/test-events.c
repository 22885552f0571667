/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <sys/ioctl.h>

#include "../src/model/route-facts.h"
#include "../src/os/events.h"
#include "skip.h"
#include "tree.h"

/* One message in a block of its own size, so that a sanitizer sees what is read behind it. */
static int count(const struct nlmsghdr *h, size_t size)
{
	struct nlmsghdr *alone = malloc(size);
	int n;

	assert_non_null(alone);
	memcpy(alone, h, size);
	alone->nlmsg_len = (uint32_t)size;
	n = events_count(alone, (int)size, NULL);
	free(alone);
	return n;
}

static void a_message_that_ends_in_its_head_is_looked_at(_unused_ void **state)
{
	static const uint16_t types[] = { RTM_NEWLINK, RTM_NEWADDR,    RTM_NEWROUTE,
					  RTM_NEWRULE, RTM_NEWNETCONF, RTM_NEWNEIGH };

	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		struct nlmsghdr h = { .nlmsg_type = types[i] };

		assert_int_equal(count(&h, sizeof(h)), 1);
	}
}

/* A message of one attribute that is shorter, or of another kind, than it says. */
static int count_with(uint16_t type, const void *head, size_t head_size, int attribute,
		      const void *value, int size)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	const struct nlmsghdr *h = nlmsg_hdr(m);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, (void *)head, head_size, NLMSG_ALIGNTO), 0);
	assert_int_equal(nla_put(m, attribute, size, value), 0);
	/* Without what aligns the attribute. */
	return count(h, h->nlmsg_len - (NLA_ALIGN(size) - (size_t)size));
}

static void a_malformed_attribute_is_looked_at(_unused_ void **state)
{
	const struct fib_rule_hdr rule = { .family = AF_INET };
	const struct netconfmsg conf = { .ncm_family = AF_INET };

	assert_int_equal(count_with(RTM_NEWRULE, &rule, sizeof(rule), FRA_PROTOCOL, "", 0), 1);
	assert_int_equal(count_with(RTM_NEWNETCONF, &conf, sizeof(conf), NETCONFA_IFINDEX, "\1", 1),
			 1);
}

/* Also that of a netdev that is no card's: the rails may wait for it. */
static void every_default_route_of_the_main_table_is_looked_at(_unused_ void **state)
{
	const uint32_t ifindex = if_nametoindex("lo");
	struct rtmsg route = { .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN };

	assert_int_equal(
		count_with(RTM_NEWROUTE, &route, sizeof(route), RTA_OIF, &ifindex, sizeof(ifindex)),
		1);
	route.rtm_table = 100;
	assert_int_equal(
		count_with(RTM_NEWROUTE, &route, sizeof(route), RTA_OIF, &ifindex, sizeof(ifindex)),
		0);
}

static void a_kind_without_an_end_is_looked_at(_unused_ void **state)
{
	const struct ifinfomsg link = { .ifi_index = 2 };
	static const struct {
		const char *kind;
		uint16_t size;
		int n;
	} cases[] = { { "bond", 4, 1 },  { "bond", 5, 1 },        { "veth", 4, 1 },
		      { "veth", 5, 0 },  { "team", 5, 1 },        { "ipoib", 6, 1 },
		      { "dummy", 6, 0 }, { "openvswitch", 12, 1 } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char info[16] = "";
		const struct nlattr a = { (uint16_t)(sizeof(a) + cases[i].size), IFLA_INFO_KIND };

		memcpy(info, &a, sizeof(a));
		memcpy(info + sizeof(a), cases[i].kind, cases[i].size);
		assert_int_equal(count_with(RTM_NEWLINK, &link, sizeof(link), IFLA_LINKINFO, info,
					    a.nla_len),
				 cases[i].n);
	}
}

/* The port of a card has a netdev of its own; what pods make of it is above that. */
static void an_ipoib_link_above_another_tells_nothing(_unused_ void **state)
{
	const struct ifinfomsg link = { .ifi_index = 7 };

	for (int is_child = 0; is_child < 2; is_child++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
		struct nlattr *info;

		assert_non_null(m);
		assert_int_equal(nlmsg_append(m, (void *)&link, sizeof(link), NLMSG_ALIGNTO), 0);
		if (is_child)
			assert_int_equal(nla_put_u32(m, IFLA_LINK, 6), 0);
		info = nla_nest_start(m, IFLA_LINKINFO);
		assert_non_null(info);
		assert_int_equal(nla_put_string(m, IFLA_INFO_KIND, "ipoib"), 0);
		nla_nest_end(m, info);
		assert_int_equal(count(nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len), !is_child);
	}
}

static void put_link(struct link_log *log, uint16_t type, unsigned flags, uint32_t downs)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	const struct ifinfomsg link = { .ifi_index = 7, .ifi_flags = flags };

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, (void *)&link, sizeof(link), NLMSG_ALIGNTO), 0);
	assert_int_equal(nla_put_u32(m, IFLA_MTU, 1500), 0);
	assert_int_equal(nla_put_u32(m, 48 /* IFLA_CARRIER_DOWN_COUNT */, downs), 0);
	assert_int_equal(events_count(nlmsg_hdr(m), (int)nlmsg_hdr(m)->nlmsg_len, log), 1);
}

static void what_a_link_tells_is_kept_once(_unused_ void **state)
{
	struct link_log log = {};

	put_link(&log, RTM_NEWLINK, IFF_UP, 1);
	put_link(&log, RTM_NEWLINK, IFF_UP, 1);
	put_link(&log, RTM_NEWLINK, 0, 2);
	put_link(&log, RTM_DELLINK, 0, 2);
	assert_int_equal(log.n, 3);
	assert_true(log.items[0].is_up && !log.items[1].is_up && log.items[2].is_gone);
	assert_int_equal(log.items[0].ifindex, 7);
	assert_int_equal(log.items[1].carrier_downs, 2);
	assert_int_equal(log.items[0].mtu, 1500);
}

static void a_rule_is_ours_by_its_protocol(_unused_ void **state)
{
	const struct fib_rule_hdr rule = { .family = AF_INET };
	const uint8_t ours = OWN_PROTOCOL, kernels = 2;

	assert_int_equal(count_with(RTM_NEWRULE, &rule, sizeof(rule), FRA_PROTOCOL, &ours, 1), 1);
	assert_int_equal(count_with(RTM_NEWRULE, &rule, sizeof(rule), FRA_PROTOCOL, &kernels, 1),
			 0);
}

/* Some of the kernel's come seconds after their link, which nobody is to wait for. */
static void a_new_link_local_address_tells_nothing(_unused_ void **state)
{
	static const struct {
		uint16_t type;
		uint8_t family, scope, flags;
		int n;
	} cases[] = {
		{ RTM_NEWADDR, AF_INET6, RT_SCOPE_LINK, IFA_F_PERMANENT, 0 },
		{ RTM_NEWADDR, AF_INET6, RT_SCOPE_LINK, IFA_F_PERMANENT | IFA_F_DADFAILED, 1 },
		{ RTM_DELADDR, AF_INET6, RT_SCOPE_LINK, IFA_F_PERMANENT, 1 },
		{ RTM_NEWADDR, AF_INET6, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT, 1 },
		{ RTM_NEWADDR, AF_INET6, RT_SCOPE_SITE, IFA_F_PERMANENT, 1 },
		{ RTM_NEWADDR, AF_INET, RT_SCOPE_LINK, IFA_F_PERMANENT, 1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		/* A netdev that is gone again may have been a card's. */
		const struct ifaddrmsg address = { .ifa_family = cases[i].family,
						   .ifa_scope = cases[i].scope,
						   .ifa_flags = cases[i].flags };

		assert_int_equal(count_with(cases[i].type, &address, sizeof(address), IFA_ADDRESS,
					    &(struct in6_addr){}, sizeof(struct in6_addr)),
				 cases[i].n);
	}
}

#define NET "sys/class/net/"

static void what_is_above_a_card_is_of_it(_unused_ void **state)
{
	static const char *const files[] = {
		NET "eth0/device/x",
		NET "bond0/lower_eth0/x",
		NET "bond0.5/lower_bond0/x",
		NET "br0/lower_veth0/x",
		NET "br0/lower_bond0.5/x",
		NET "mv0/lower_br0/x",
		NET "veth0/x",
		NET "cni0/lower_veth0/x",
		NET "loop0/lower_loop1/x",
		NET "loop1/lower_loop0/x",
	};
	static const struct {
		const char *name;
		bool is_of_card, is_of_switch;
	} cases[] = {
		{ "eth0", true, true },   { "bond0", true, true }, { "bond0.5", true, true },
		{ "br0", true, true },    { "mv0", true, true },   { "veth0", false, false },
		{ "cni0", false, false }, { "lo", false, false },  { "loop0", false, false },
		{ "br-ex", false, true },
	};
	struct tree t;
	int net;

	tree_make(&t);
	for (size_t i = 0; i < ELEMENTSOF(files); i++)
		tree_file(&t, files[i], "");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const bool is_alone = streq(cases[i].name, "br-ex");
		char path[64];

		snprintf(path, sizeof(path), NET "%s/ifindex", cases[i].name);
		tree_file(&t, path, "7\n");
		snprintf(path, sizeof(path), NET "%s/iflink", cases[i].name);
		tree_file(&t, path, is_alone ? "7\n" : "8\n");
	}
	for (int with_switch = 0; with_switch < 2; with_switch++) {
		char path[64];

		if (with_switch)
			tree_file(&t, NET "ovs-system/lower_eth0/x", "");
		snprintf(path, sizeof(path), "%s/" NET, t.root);
		net = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(net >= 0);
		for (size_t i = 0; i < ELEMENTSOF(cases); i++)
			if (events_has_card(net, cases[i].name) !=
			    (with_switch ? cases[i].is_of_switch : cases[i].is_of_card))
				fail_msg("%s", cases[i].name);
		close(net);
	}
	tree_remove(&t);
}

/* Else what links told before would count as told after. */
static void what_was_lost_is_told_after_all_that_came_before(_unused_ void **state)
{
	struct netlink nl = {};
	struct ifreq lo = { .ifr_name = "lo" };
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		skip_without("a network namespace");
	assert_int_equal(events_open(&nl), 0);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(
		setsockopt(netlink_fd(&nl), SOL_SOCKET, SO_RCVBUF, &(int){ 16384 }, sizeof(int)),
		0);
	for (int i = 0; i < 200; i++) {
		lo.ifr_flags = i % 2 == 0 ? IFF_UP : 0;
		assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	}
	close(fd);

	assert_int_equal(netlink_drain(&nl, events_count, NULL), -ENOBUFS);
	assert_int_equal(recv(netlink_fd(&nl), &fd, sizeof(fd), MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(netlink_drain(&nl, events_count, NULL), 0);
	netlink_done(&nl);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_above_a_card_is_of_it),
		cmocka_unit_test(a_message_that_ends_in_its_head_is_looked_at),
		cmocka_unit_test(a_malformed_attribute_is_looked_at),
		cmocka_unit_test(every_default_route_of_the_main_table_is_looked_at),
		cmocka_unit_test(a_kind_without_an_end_is_looked_at),
		cmocka_unit_test(an_ipoib_link_above_another_tells_nothing),
		cmocka_unit_test(what_a_link_tells_is_kept_once),
		cmocka_unit_test(a_rule_is_ours_by_its_protocol),
		cmocka_unit_test(a_new_link_local_address_tells_nothing),
		/* the last: it goes into a network namespace of its own */
		cmocka_unit_test(what_was_lost_is_told_after_all_that_came_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
