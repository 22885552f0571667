/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../src/os/link.h"
#include "../src/os/route.h"
#include "../src/os/vf.h"
#include "netns.h"
#include "skip.h"

static struct netlink nl = { .protocol = NETLINK_ROUTE };
static struct netlink host = { .protocol = NETLINK_ROUTE }; /* of the namespace we came from */
static uint32_t one, two;

struct links {
	struct netdev *all; /* owned */
	size_t n;
};

struct addresses {
	struct address *all; /* owned */
	size_t n;
};

static void links_done(struct links *l)
{
	free(l->all);
}

static void addresses_done(struct addresses *a)
{
	free(a->all);
}

static const struct netdev *find(const struct links *l, uint32_t ifindex)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].ifindex == ifindex)
			return &l->all[i];
	fail_msg("no link %u", ifindex);
	abort(); /* fail_msg() does not come back, which the compiler is not told */
}

static const struct address *find_address(const struct addresses *a, const char *local)
{
	uint8_t bytes[16];

	netns_parse(local, bytes);
	for (size_t i = 0; i < a->n; i++)
		if (memcmp(a->all[i].local, bytes, 16) == 0)
			return &a->all[i];
	fail_msg("no address %s", local);
	return NULL;
}

/* Metrics of the routes to a prefix: how many there are, and the first one's. */
static size_t count_routes(const char *dst, uint32_t prefix_len, uint32_t *ret_metric)
{
	_cleanup_(freep) struct route *routes = NULL;
	size_t n = 0, found = 0;
	uint8_t bytes[16];

	netns_parse(dst, bytes);
	assert_int_equal(route_list(&nl, &routes, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (routes[i].prefix_len == prefix_len && memcmp(routes[i].dst, bytes, 16) == 0 &&
		    found++ == 0)
			*ret_metric = routes[i].metric;
	return found;
}

/* Fresh links for each test, both up. */
static int setup(_unused_ void **state)
{
	if (netns_add_veth(&nl, "one", "two") < 0)
		return -1;

	one = if_nametoindex("one");
	two = if_nametoindex("two");
	return netns_up(&nl, one) < 0 || netns_up(&nl, two) < 0 ? -1 : 0;
}

static int teardown(_unused_ void **state)
{
	return netns_delete(&nl, one);
}

static void a_pair_of_links_is_read_whole(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	const struct netdev *d;

	assert_int_equal(netns_set_u32(&nl, one, IFLA_MTU, 4000), 0);
	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_int_equal(l.n, 3);

	d = find(&l, one);
	assert_string_equal(d->name, "one");
	assert_string_equal(d->kind, "veth");
	assert_string_equal(d->pci, "");
	assert_string_equal(d->perm_mac, "");
	assert_int_equal(strnlen(d->mac, sizeof(d->mac)), 17);
	assert_int_equal(d->mtu, 4000);
	assert_int_equal(d->max_mtu, 65535);
	assert_int_equal(d->link, two);
	assert_int_equal(d->master, 0);
	assert_true(d->is_up);
	assert_true(d->has_carrier);

	d = find(&l, 1);
	assert_string_equal(d->name, "lo");
	assert_string_equal(d->kind, "");
	assert_string_equal(d->mac, "00:00:00:00:00:00");
	assert_int_equal(d->link, 0);
	assert_false(d->is_up);
}

static void links_are_listed_by_index(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	char name[IFNAMSIZ];

	/* Kernels before 6.9 tell them by hash of 256, so later ones come in between. */
	for (unsigned i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "more%u", i);
		assert_int_equal(netns_add_veth(&nl, name, NULL), 0);
	}

	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_int_equal(l.n, 303);
	for (size_t i = 1; i < l.n; i++)
		assert_true(l.all[i - 1].ifindex < l.all[i].ifindex);

	for (size_t i = 0; i < l.n; i++)
		if (is_prefix(l.all[i].name, "more"))
			assert_int_equal(netns_delete(&nl, l.all[i].ifindex), 0);
}

static void a_mac_reads_as_people_write_it(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg i = { .ifi_index = one };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put(m, IFLA_ADDRESS, 6, "\x02\x00\xab\xcd\x0e\xff");
	assert_int_equal(netlink_ask(&nl, m), 0);
	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_string_equal(find(&l, one)->mac, "02:00:ab:cd:0e:ff");
}

static void a_link_names_its_master(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	uint32_t bridge;

	if (netns_add_bridge(&nl, "bridge") == -EOPNOTSUPP)
		skip_without("a bridge in this kernel");

	bridge = if_nametoindex("bridge");
	assert_int_equal(netns_set_u32(&nl, one, IFLA_MASTER, bridge), 0);
	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_int_equal(find(&l, one)->master, bridge);
	assert_string_equal(find(&l, bridge)->kind, "bridge");
	assert_int_equal(netns_delete(&nl, bridge), 0);
}

static void only_bonds_have_a_mode(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	uint32_t bond;

	if (netns_add_bond(&nl, "bond", 4) == -EOPNOTSUPP)
		skip_without("a bond in this kernel");

	bond = if_nametoindex("bond");
	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_string_equal(find(&l, bond)->kind, "bond");
	assert_int_equal(find(&l, bond)->bond_mode, 4);
	assert_int_equal(find(&l, one)->bond_mode, BOND_MODE_UNKNOWN);
	assert_int_equal(netns_delete(&nl, bond), 0);
}

/* "ip link add NAME type vxlan id ID dev one remote REMOTE local LOCAL"; NULL: none. A kernel may
 * lack it. */
static int add_vxlan(const char *name, uint32_t id, const char *remote, const char *local)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg i = {};
	struct nlattr *info, *data;
	uint8_t bytes[16];
	size_t n;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "vxlan");
	data = nla_nest_start(m, IFLA_INFO_DATA);
	nla_put_u32(m, IFLA_VXLAN_ID, id);
	nla_put_u32(m, IFLA_VXLAN_LINK, one);
	if (remote) {
		n = netns_parse(remote, bytes);
		nla_put(m, n == 4 ? IFLA_VXLAN_GROUP : IFLA_VXLAN_GROUP6, n, bytes);
	}
	if (local) {
		n = netns_parse(local, bytes);
		nla_put(m, n == 4 ? IFLA_VXLAN_LOCAL : IFLA_VXLAN_LOCAL6, n, bytes);
	}
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	return netlink_ask(&nl, m);
}

static void a_tunnel_names_its_link_and_its_ends(_unused_ void **state)
{
	static const struct {
		const char *name, *remote, *local, *end; /* end: "" is zero */
	} cases[] = {
		{ "vx0", "198.51.100.7", NULL, "198.51.100.7" },
		{ "vx1", "fd99::7", "fd99::1", "fd99::7" },
		{ "vx2", "239.1.1.1", NULL, NULL },
		{ "vx3", NULL, NULL, NULL },
		{ "vx4", "239.1.1.1", "198.51.100.1", "" },
		{ "vx5", NULL, "198.51.100.1", "" },
	};
	_cleanup_(links_done) struct links l = {};
	_cleanup_(freep) struct tunnel_end *ends = NULL;
	size_t n_ends = 0, at = 0;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		if (add_vxlan(cases[i].name, i + 1, cases[i].remote, cases[i].local) < 0) {
			print_message("no VXLAN\n");
			skip();
		}
	assert_int_equal(link_list(&nl, &l.all, &l.n, &ends, &n_ends), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const uint32_t ifindex = if_nametoindex(cases[i].name);
		uint8_t remote[16] = {}, local[16] = {};

		assert_int_equal(find(&l, ifindex)->link, one);
		if (cases[i].end) {
			if (*cases[i].end)
				netns_parse(cases[i].end, remote);
			if (cases[i].local)
				netns_parse(cases[i].local, local);
			assert_true(at < n_ends);
			assert_int_equal(ends[at].ifindex, ifindex);
			assert_int_equal(ends[at].family,
					 strchr(cases[i].end, ':') ? AF_INET6 : AF_INET);
			assert_memory_equal(ends[at].local, local, sizeof(local));
			assert_memory_equal(ends[at++].remote, remote, sizeof(remote));
		}
		assert_int_equal(netns_delete(&nl, ifindex), 0);
	}
	assert_int_equal(at, n_ends);
}

static void an_index_of_another_namespace_is_no_link(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);

	assert_int_equal(netns_set_u32(&nl, two, IFLA_NET_NS_PID, pid), 0);
	assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
	assert_int_equal(find(&l, one)->link, 0);

	/* The pair goes before the other namespace does, which would take it along when it likes.
	 */
	assert_int_equal(netns_delete(&nl, one), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(ready[0]);
	assert_int_equal(netns_add_veth(&nl, "one", "two"), 0);
	one = if_nametoindex("one");
}

/* Permanent addresses exist on real cards only, so look at those of the machine, if it has any. */
static void permanent_addresses_are_those_of_ethtool(_unused_ void **state)
{
	_cleanup_(links_done) struct links l = {};
	_cleanup_(closep) int fd = *(int *)*state;
	unsigned n = 0;

	assert_int_equal(link_list(&host, &l.all, &l.n, NULL, NULL), 0);
	for (size_t i = 0; i < l.n; i++) {
		union {
			struct ethtool_perm_addr addr;
			uint8_t room[sizeof(struct ethtool_perm_addr) + 32];
		} u = { .addr = { .cmd = ETHTOOL_GPERMADDR, .size = 32 } };
		struct ifreq request = { .ifr_data = (char *)&u };
		char mac[MAC_LEN] = "";

		memcpy(request.ifr_name, l.all[i].name, IFNAMSIZ);
		if (ioctl(fd, SIOCETHTOOL, &request) < 0 || u.addr.size != 6)
			continue;
		if (memcmp(u.addr.data, "\0\0\0\0\0", 6) != 0)
			snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", u.addr.data[0],
				 u.addr.data[1], u.addr.data[2], u.addr.data[3], u.addr.data[4],
				 u.addr.data[5]);
		assert_string_equal(l.all[i].perm_mac, mac);
		n += mac[0] != '\0';
	}
	print_message("%u links with a permanent address\n", n);
}

static void a_link_goes_up_and_stays_up(_unused_ void **state)
{
	_cleanup_(links_done) struct links before = {}, after = {};
	uint32_t ifindex;

	assert_int_equal(netns_add_veth(&nl, "down", NULL), 0);
	ifindex = if_nametoindex("down");
	assert_int_equal(link_list(&nl, &before.all, &before.n, NULL, NULL), 0);
	assert_false(find(&before, ifindex)->is_up);

	assert_int_equal(link_set_up(&nl, ifindex), 0);
	assert_int_equal(link_set_up(&nl, ifindex), 0);
	assert_int_equal(link_list(&nl, &after.all, &after.n, NULL, NULL), 0);
	assert_true(find(&after, ifindex)->is_up);
	assert_false(find(&after, ifindex)->has_carrier); /* its peer is down */
	assert_int_equal(netns_delete(&nl, ifindex), 0);
}

static void an_mtu_is_set_or_the_kernel_says_why_not(_unused_ void **state)
{
	static const struct {
		uint32_t mtu;
		int r;
	} cases[] = { { 9000, 0 }, { 1500, 0 }, { 65535, 0 }, { 65536, -EINVAL }, { 20, -EINVAL } };
	uint32_t mtu = 1500;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(links_done) struct links l = {};

		assert_int_equal(link_set_mtu(&nl, one, cases[i].mtu), cases[i].r);
		if (cases[i].r == 0)
			mtu = cases[i].mtu;
		assert_int_equal(link_list(&nl, &l.all, &l.n, NULL, NULL), 0);
		assert_int_equal(find(&l, one)->mtu, mtu);
		assert_true(find(&l, one)->is_up);
	}
}

static _Noreturn void rename_link(const char *from, const char *to)
{
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {};

	COPY(request.ifr_name, from);
	COPY(request.ifr_newname, to);
	_exit(fd >= 0 && ioctl(fd, SIOCSIFNAME, &request) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The settings of a link have its new name a moment after the link has. */
static void after_a_sync_the_settings_have_the_name_of_the_link(_unused_ void **state)
{
	char from[IFNAMSIZ], to[IFNAMSIZ] = "name0", now[IFNAMSIZ], path[64];
	unsigned n_missed = 0;
	uint32_t ifindex;
	int status;

	assert_int_equal(netns_add_veth(&nl, to, NULL), 0);
	ifindex = if_nametoindex(to);
	for (unsigned i = 1; i <= 200; i++) {
		pid_t pid;

		COPY(from, to);
		snprintf(to, sizeof(to), "name%u", i);
		pid = fork();
		if (pid == 0)
			rename_link(from, to);
		assert_true(pid > 0);
		do
			assert_non_null(if_indextoname(ifindex, now));
		while (streq(now, from));
		snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s", now);
		n_missed += access(path, F_OK) < 0;
		assert_int_equal(link_sync(&nl, ifindex), 0);
		assert_int_equal(access(path, F_OK), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	print_message("without a sync %u of 200 were missed\n", n_missed);
	assert_int_equal(netns_delete(&nl, ifindex), 0);
}

static void a_link_that_is_gone_is_enodev(_unused_ void **state)
{
	assert_int_equal(link_set_up(&nl, 99999), -ENODEV);
	assert_int_equal(link_set_mtu(&nl, 99999, 1500), -ENODEV);
	assert_int_equal(link_sync(&nl, 99999), -ENODEV);
}

static void addresses_of_both_families_are_read(_unused_ void **state)
{
	static const struct netns_address given[] = {
		{ "10.1.0.2", .prefix_len = 24, .broadcast = "10.1.0.255", .metric = 300 },
		{ "10.2.0.2", .prefix_len = 32, .peer = "10.2.0.9" },
		{ "fd00:1::2", .prefix_len = 64, .flags = IFA_F_NODAD, .metric = 400 },
		{ "fd00:2::2", .prefix_len = 128, .peer = "fd00:2::9", .flags = IFA_F_NODAD },
	};
	_cleanup_(addresses_done) struct addresses a = {};

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_address(&nl, one, &given[i]), 0);

	assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);
	for (size_t i = 0; i < ELEMENTSOF(given); i++) {
		const char *peer = given[i].peer ? given[i].peer : given[i].local;
		const struct address *found = find_address(&a, given[i].local);
		uint8_t bytes[16];

		netns_parse(peer, bytes);
		assert_memory_equal(found->peer, bytes, 16);
		assert_int_equal(found->ifindex, one);
		assert_int_equal(found->family, strchr(given[i].local, ':') ? AF_INET6 : AF_INET);
		assert_int_equal(found->prefix_len, given[i].prefix_len);
		assert_int_equal(found->metric, given[i].metric);
		assert_int_equal(found->scope, RT_SCOPE_UNIVERSE);
		assert_true(found->flags & IFA_F_PERMANENT);
		assert_int_equal(found->flags & IFA_F_NODAD, given[i].flags);
	}
}

static void addresses_are_listed_by_netdev_in_the_kernels_order(_unused_ void **state)
{
	_cleanup_(addresses_done) struct addresses a = {};
	struct netns_address x = { .prefix_len = 24 };
	size_t first, second;
	char text[32];

	/* Last link first; 10.9.N.1 and its secondary 10.9.N.2. */
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 1; j <= 2; j++) {
			snprintf(text, sizeof(text), "10.9.%u.%u", i, j);
			x.local = text;
			assert_int_equal(netns_add_address(&nl, i == 0 ? two : one, &x), 0);
		}

	assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);
	for (size_t i = 1; i < a.n; i++)
		assert_true(a.all[i - 1].ifindex <= a.all[i].ifindex);

	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "10.9.%u.1", i);
		first = find_address(&a, text) - a.all;
		snprintf(text, sizeof(text), "10.9.%u.2", i);
		second = find_address(&a, text) - a.all;
		assert_int_equal(second, first + 1);
		assert_false(a.all[first].flags & IFA_F_SECONDARY);
		assert_true(a.all[second].flags & IFA_F_SECONDARY);
	}
}

static void a_metric_moves_the_prefix_route_in_place(_unused_ void **state)
{
	static const struct {
		struct netns_address address;
		const char *prefix;
		uint32_t prefix_len, before;
	} cases[] = {
		{ { "10.1.0.2", .prefix_len = 24 }, "10.1.0.0", 24, 0 },
		{ { "10.2.0.2", .prefix_len = 24, .metric = 7 }, "10.2.0.0", 24, 7 },
		{ { "10.3.0.2", .prefix_len = 16, .valid = 3600, .preferred = 1800 },
		  "10.3.0.0",
		  16,
		  0 },
		{ { "10.4.0.2", .prefix_len = 32, .peer = "10.4.0.9" }, "10.4.0.9", 32, 0 },
		{ { "fd00:1::2", .prefix_len = 64, .flags = IFA_F_NODAD }, "fd00:1::", 64, 256 },
		{ { "fd00:2::2", .prefix_len = 64 }, "fd00:2::", 64, 256 }, /* tentative */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(addresses_done) struct addresses a = {};
		uint32_t metric = 99999;

		assert_int_equal(netns_add_address(&nl, one, &cases[i].address), 0);
		assert_int_equal(count_routes(cases[i].prefix, cases[i].prefix_len, &metric), 1);
		assert_int_equal(metric, cases[i].before);

		assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);
		for (uint32_t want = 512; want < 515; want++) {
			const struct address *found = find_address(&a, cases[i].address.local);

			assert_int_equal(link_set_metric(&nl, found, want), 0);
			assert_int_equal(
				count_routes(cases[i].prefix, cases[i].prefix_len, &metric), 1);
			assert_int_equal(metric, want);
		}
	}
}

static int on_raw(struct nlmsghdr *h, void *userdata)
{
	struct nlattr *tb[IFA_MAX + 1], **kept = userdata;
	const struct ifaddrmsg *i = nlmsg_data(h);

	if (nlmsg_parse(h, sizeof(*i), tb, IFA_MAX, NULL) < 0 || i->ifa_index != one ||
	    i->ifa_prefixlen == 64)
		return 0;

	for (size_t k = 0; k <= IFA_MAX; k++)
		if (tb[k]) {
			free(kept[k]);
			kept[k] = malloc(tb[k]->nla_len);
			memcpy(kept[k], tb[k], tb[k]->nla_len);
		}
	return 0;
}

/* The attributes of the only address of "one" that is not IPv6 link-local, as the kernel tells
 * them. */
static void read_raw(int family, struct nlattr *ret[static IFA_MAX + 1])
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_DUMP);
	struct ifaddrmsg i = { .ifa_family = family };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	assert_int_equal(netlink_dump(&nl, m, on_raw, ret), 0);
}

static bool is_about(uint32_t value, uint32_t expected)
{
	return value <= expected && expected - value <= 10; /* seconds; a slow machine */
}

static void a_metric_changes_nothing_else_of_the_address(_unused_ void **state)
{
	static const struct netns_address cases[] = {
		{ "10.1.0.2", .prefix_len = 24, .broadcast = "10.1.0.254", .label = "one:rail",
		  .valid = 3600, .preferred = 1800 },
		{ "10.1.0.2", .prefix_len = 24, .broadcast = "10.1.0.254", .label = "one:rail" },
		{ "10.4.0.2", .prefix_len = 32, .peer = "10.4.0.9" },
		{ "10.1.0.2", .prefix_len = 24, .flags = IFA_F_NOPREFIXROUTE },
		{ "fd00:1::2", .prefix_len = 96, .flags = IFA_F_NODAD | IFA_F_HOMEADDRESS },
		{ "fd00:1::2", .prefix_len = 96, .flags = IFA_F_NODAD, .valid = UINT32_MAX,
		  .preferred = 1800 },
		{ "fd00:1::2", .prefix_len = 96, .flags = IFA_F_NODAD | IFA_F_NOPREFIXROUTE },
		{ "fd00:2::2", .prefix_len = 128, .peer = "fd00:2::9", .flags = IFA_F_NODAD },
	};
	static const int same[] = {
		IFA_LOCAL, IFA_ADDRESS, IFA_BROADCAST, IFA_LABEL, IFA_FLAGS, 11
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct nlattr *before[IFA_MAX + 1] = {}, *after[IFA_MAX + 1] = {};
		int family = strchr(cases[i].local, ':') ? AF_INET6 : AF_INET;
		_cleanup_(addresses_done) struct addresses a = {};
		const struct ifa_cacheinfo *times;

		assert_int_equal(netns_add_address(&nl, one, &cases[i]), 0);
		assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);
		read_raw(family, before);
		assert_int_equal(link_set_metric(&nl, find_address(&a, cases[i].local), 512), 0);
		read_raw(family, after);

		assert_non_null(after[IFA_RT_PRIORITY]);
		assert_int_equal(nla_get_u32(after[IFA_RT_PRIORITY]), 512);
		for (size_t k = 0; k < ELEMENTSOF(same); k++) {
			if (same[k] > IFA_MAX)
				continue;
			assert_int_equal(!before[same[k]], !after[same[k]]);
			if (before[same[k]])
				assert_memory_equal(before[same[k]], after[same[k]],
						    before[same[k]]->nla_len);
		}

		times = nla_data(after[IFA_CACHEINFO]);
		if (cases[i].valid) {
			assert_true(is_about(times->ifa_valid, cases[i].valid));
			assert_true(is_about(times->ifa_prefered, cases[i].preferred));
		} else {
			assert_int_equal(times->ifa_valid, UINT32_MAX);
			assert_int_equal(times->ifa_prefered, UINT32_MAX);
		}

		for (size_t k = 0; k <= IFA_MAX; k++) {
			free(before[k]);
			free(after[k]);
		}
		teardown(NULL);
		setup(NULL);
	}
}

/* The kernel gives a link its own IPv6 address at a time of its choice. */
static void forget_those_of_the_link(struct addresses *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->all[i].scope != RT_SCOPE_LINK)
			a->all[n++] = a->all[i];
	a->n = n;
}

static void a_metric_leaves_all_other_addresses_alone(_unused_ void **state)
{
	static const struct netns_address given[] = {
		{ "10.1.0.2", .prefix_len = 24 },
		{ "10.1.0.3", .prefix_len = 24 },
		{ "10.1.0.2", .prefix_len = 25 },
		{ "10.1.0.2", .prefix_len = 32, .peer = "10.1.0.8" },
		{ "10.1.0.2", .prefix_len = 32, .peer = "10.1.0.9" },
		{ "fd00:1::2", .prefix_len = 64, .flags = IFA_F_NODAD },
		{ "fd00:1::3", .prefix_len = 64, .flags = IFA_F_NODAD },
	};
	_cleanup_(addresses_done) struct addresses before = {}, after = {};

	for (size_t i = 0; i < ELEMENTSOF(given); i++)
		assert_int_equal(netns_add_address(&nl, one, &given[i]), 0);
	assert_int_equal(link_list_addresses(&nl, &before.all, &before.n), 0);
	forget_those_of_the_link(&before);

	/* The first 10.1.0.2/24, and the one of the two peers that comes last. */
	for (size_t i = 0; i < before.n; i++)
		if ((before.all[i].prefix_len == 24 && !(before.all[i].flags & IFA_F_SECONDARY)) ||
		    (before.all[i].prefix_len == 32 && before.all[i].peer[3] == 9)) {
			assert_int_equal(link_set_metric(&nl, &before.all[i], 512), 0);
			before.all[i].metric = 512;
		}

	assert_int_equal(link_list_addresses(&nl, &after.all, &after.n), 0);
	forget_those_of_the_link(&after);
	assert_int_equal(before.n, after.n);
	for (size_t i = 0; i < before.n; i++) {
		assert_memory_equal(before.all[i].local, after.all[i].local, 16);
		assert_int_equal(before.all[i].prefix_len, after.all[i].prefix_len);
		assert_int_equal(before.all[i].metric, after.all[i].metric);
	}
}

static void an_ipv6_address_that_expires_is_refused(_unused_ void **state)
{
	static const struct netns_address given = { "fd00:1::2", .prefix_len = 64,
						    .flags = IFA_F_NODAD, .valid = 3600,
						    .preferred = 1800 };
	_cleanup_(addresses_done) struct addresses a = {};
	uint32_t metric = 0;

	assert_int_equal(netns_add_address(&nl, one, &given), 0);
	assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);
	assert_int_equal(link_set_metric(&nl, find_address(&a, "fd00:1::2"), 512), -EOPNOTSUPP);
	assert_int_equal(count_routes("fd00:1::", 64, &metric), 1);
	assert_int_equal(metric, 256);
}

/* Of IPv6 the kernel adds link-local ones in its own time. */
static size_t count_ipv4(const struct addresses *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += a->all[i].family == AF_INET;
	return n;
}

static void an_address_that_is_gone_is_not_made_again(_unused_ void **state)
{
	static const struct netns_address given = { "10.1.0.2", .prefix_len = 24 };
	_cleanup_(addresses_done) struct addresses a = {}, after = {};
	struct address other;

	assert_int_equal(netns_add_address(&nl, one, &given), 0);
	assert_int_equal(link_list_addresses(&nl, &a.all, &a.n), 0);

	other = *find_address(&a, "10.1.0.2");
	other.ifindex = two;
	assert_int_equal(link_set_metric(&nl, &other, 512), -EADDRNOTAVAIL);

	other = *find_address(&a, "10.1.0.2");
	other.prefix_len = 25;
	assert_int_equal(link_set_metric(&nl, &other, 512), -EADDRNOTAVAIL);

	other = *find_address(&a, "10.1.0.2");
	other.local[3] = other.peer[3] = 3;
	assert_int_equal(link_set_metric(&nl, &other, 512), -EADDRNOTAVAIL);

	assert_int_equal(link_list_addresses(&nl, &after.all, &after.n), 0);
	assert_int_equal(count_ipv4(&after), count_ipv4(&a));
	assert_int_equal(find_address(&after, "10.1.0.2")->metric, 0);
}

/* One VF as rtnl_fill_vfinfo() in net/core/rtnetlink.c puts it. */
static void put_vf(struct nl_msg *m, uint32_t vf, const char *mac, uint32_t trust, uint64_t guid)
{
	struct nlattr *info = nla_nest_start(m, IFLA_VF_INFO);
	struct ifla_vf_link_state state = { vf, IFLA_VF_LINK_STATE_DISABLE };
	struct ifla_vf_guid g = { .vf = vf, .guid = guid };
	struct ifla_vf_mac address = { .vf = vf };
	struct ifla_vf_trust t = { vf, trust };

	memcpy(address.mac, mac, 6);
	nla_put(m, IFLA_VF_MAC, sizeof(address), &address);
	nla_put(m, IFLA_VF_LINK_STATE, sizeof(state), &state);
	nla_put(m, IFLA_VF_TRUST, sizeof(t), &t);
	if (guid) {
		nla_put(m, IFLA_VF_IB_NODE_GUID, sizeof(g), &g);
		g.guid++;
		nla_put(m, IFLA_VF_IB_PORT_GUID, sizeof(g), &g);
	}
	nla_nest_end(m, info);
}

static void what_a_driver_tells_of_its_vfs_is_read(_unused_ void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	_owns_(struct vf_infos, infos) l = {};
	struct ifinfomsg i = { .ifi_index = 7 };
	struct nlattr *list, *info;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "ib0");
	nla_put_u32(m, IFLA_NUM_VF, 2);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	put_vf(m, 0, "\x02\xab\x00\x01\x02\xff", 1, 0);
	put_vf(m, 1, "\0\0\0\0\0\0", UINT32_MAX, UINT64_C(0x020000fffe00a010));
	nla_nest_end(m, list);

	assert_int_equal(vf_on_link(nlmsg_hdr(m), &l), 0);
	nlmsg_free(m);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.infos[0].index, 0);
	assert_string_equal(l.infos[0].mac, "02:ab:00:01:02:ff");
	assert_int_equal(l.infos[0].trust, 1);
	assert_int_equal(l.infos[0].link_state, IFLA_VF_LINK_STATE_DISABLE);
	assert_string_equal(l.infos[0].node_guid, "");
	assert_int_equal(l.infos[1].index, 1);
	assert_string_equal(l.infos[1].mac, "00:00:00:00:00:00");
	assert_int_equal(l.infos[1].trust, -1);
	assert_string_equal(l.infos[1].node_guid, "0200:00ff:fe00:a010");
	assert_string_equal(l.infos[1].port_guid, "0200:00ff:fe00:a011");

	/* A VF without its MAC is no answer of a kernel. */
	m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	info = nla_nest_start(m, IFLA_VF_INFO);
	nla_put_u32(m, IFLA_VF_MAC, 0);
	nla_nest_end(m, info);
	nla_nest_end(m, list);
	assert_int_equal(vf_on_link(nlmsg_hdr(m), &l), -EBADMSG);
	nlmsg_free(m);
	assert_int_equal(l.n, 2);
}

/* The kernel takes the request apart before it says so: a malformed one is EINVAL or ERANGE. */
static void a_setting_that_a_driver_lacks_has_its_own_error(_unused_ void **state)
{
	_cleanup_(freep) struct vf_info *infos = NULL;
	size_t n = 0;

	assert_int_equal(vf_list(&nl, one, &infos, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(vf_set_mac(&nl, one, 0, "02:00:00:00:00:01"), -EOPNOTSUPP);
	assert_int_equal(vf_set_trust(&nl, one, 0, true), -EOPNOTSUPP);
	assert_int_equal(vf_set_link_auto(&nl, one, 0), -EOPNOTSUPP);
	assert_int_equal(vf_set_guids(&nl, one, 0, "0200:00ff:fe00:0010", "0200:00ff:fe00:0011"),
			 -EOPNOTSUPP);

	assert_int_equal(vf_set_mac(&nl, one, 0, "02:00:00:00:00"), -EINVAL);
	assert_int_equal(vf_set_guids(&nl, one, 0, "0200:00ff:fe00", ""), -EINVAL);
	assert_int_equal(vf_set_mac(&nl, 99999, 0, "02:00:00:00:00:01"), -ENODEV);
	assert_int_equal(vf_list(&nl, 99999, &infos, &n), -ENODEV);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* stays in the host's namespace */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(permanent_addresses_are_those_of_ethtool, &fd),
		cmocka_unit_test_prestate(only_bonds_have_a_mode, &fd),
		test(a_pair_of_links_is_read_whole),
		test(links_are_listed_by_index),
		test(a_mac_reads_as_people_write_it),
		test(a_link_names_its_master),
		test(a_tunnel_names_its_link_and_its_ends),
		test(an_index_of_another_namespace_is_no_link),
		test(a_link_goes_up_and_stays_up),
		test(an_mtu_is_set_or_the_kernel_says_why_not),
		test(after_a_sync_the_settings_have_the_name_of_the_link),
		test(a_link_that_is_gone_is_enodev),
		test(addresses_of_both_families_are_read),
		test(addresses_are_listed_by_netdev_in_the_kernels_order),
		test(a_metric_moves_the_prefix_route_in_place),
		test(a_metric_changes_nothing_else_of_the_address),
		test(a_metric_leaves_all_other_addresses_alone),
		test(an_ipv6_address_that_expires_is_refused),
		test(an_address_that_is_gone_is_not_made_again),
		test(what_a_driver_tells_of_its_vfs_is_read),
		test(a_setting_that_a_driver_lacks_has_its_own_error),
	};
	int r;

	if (fd < 0 || netlink_open(&host) < 0)
		return EXIT_FAILURE;

	r = netns_begin(&nl, "one", "two");
	if (r != 0)
		return r;
	if (netns_delete(&nl, if_nametoindex("one")) < 0)
		return EXIT_FAILURE;

	r = cmocka_run_group_tests(tests, NULL, NULL);
	netlink_done(&host);
	netlink_done(&nl);
	return r;
}
