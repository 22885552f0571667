/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../src/observe/namespace.h"
#include "../src/observe/netns-stacked.h"
#include "../src/os/netns.h"
#include "netns.h"
#include "skip.h"

#define VF "0000:41:00.1"

static struct netlink nl = { .protocol = NETLINK_ROUTE };
static struct netlink host = { .protocol = NETLINK_ROUTE }; /* may not be asked any more */
static pid_t child; /* in a network namespace of its own, beside ours */
static uint32_t one;

/* --- answers --- */

static struct nl_msg *make_link(const char *kind, int32_t netnsid, bool is_far)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg i = { .ifi_index = 2 };
	struct nlattr *info;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "net1");
	nla_put(m, IFLA_ADDRESS, 6, "\x02\0\0\0\0\x01");
	nla_put_u32(m, IFLA_LINK, 12);
	if (netnsid >= 0)
		nla_put_s32(m, IFLA_LINK_NETNSID, netnsid);
	if (is_far)
		nla_put_s32(m, 46, 5);
	if (kind[0]) {
		info = nla_nest_start(m, IFLA_LINKINFO);
		nla_put_string(m, IFLA_INFO_KIND, kind);
		nla_nest_end(m, info);
	}
	return m;
}

static void a_link_elsewhere_tells_what_it_is_stacked_on(_unused_ void **state)
{
	static const struct {
		const char *kind;
		int32_t netnsid, own; /* -1: none */
		bool is_far;
		int result;
		uint32_t near, maybe_near;
	} rows[] = {
		{ "macvlan", 3, 3, true, 0, 12, 0 },
		{ "macvlan", 4, 3, true, 0, 0, 0 },   /* on one of a third namespace */
		{ "macvlan", -1, 3, true, 0, 0, 0 },  /* on one of its own */
		{ "macvlan", -1, -1, true, 0, 0, 0 }, /* no ids are no equal ids */
		{ "ipvlan", 3, 3, true, 0, 12, 0 },
		{ "ipvlan", -1, 3, true, 0, 0, 12 },
		{ "", 3, 3, true, 0, 12, 0 },
		{ "macvlan", 3, 3, false, -EOPNOTSUPP, 0, 0 }, /* of a kernel that lists ours */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			make_link(rows[i].kind, rows[i].netnsid, rows[i].is_far);
		struct far_link l = {};

		assert_int_equal(netns_parse_link(nlmsg_hdr(m), rows[i].own, &l), rows[i].result);
		assert_int_equal(l.near, rows[i].near);
		assert_int_equal(l.maybe_near, rows[i].maybe_near);
		assert_string_equal(l.kind, rows[i].result < 0 ? "" : rows[i].kind);
		assert_string_equal(l.mac, rows[i].result < 0 ? "" : "02:00:00:00:00:01");
	}
}

static void a_function_is_named_by_its_parent(_unused_ void **state)
{
	static const struct {
		const char *name, *bus, *pci;
	} rows[] = {
		{ VF, "pci", VF },
		{ VF, "platform", "" },
		{ "0000:41:00.1 and more than fits", "pci", "" },
		{ VF, NULL, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m = make_link("", -1, true);
		struct far_link l = {};

		nla_put_string(m, 56, rows[i].name);
		if (rows[i].bus)
			nla_put_string(m, 57, rows[i].bus);
		assert_int_equal(netns_parse_link(nlmsg_hdr(m), -1, &l), 0);
		assert_string_equal(l.pci, rows[i].pci);
	}
}

/* --- a namespace that is there --- */

static const struct far_link *find(const struct far_link *links, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(links[i].name, name))
			return &links[i];
	return NULL;
}

static void links_of_a_process_are_listed_without_going_there(_unused_ void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)child);
	for (int way = 0; way < 3; way++) { /* the second time its id is there already */
		_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
		_cleanup_(freep) struct far_link *links = NULL;
		const struct far_link *l;
		size_t n = 0;

		assert_true(fd >= 0);
		assert_int_equal(
			netns_list_links(&nl, way < 2 ? (uint32_t)child : 0, fd, &links, &n), 0);
		assert_non_null(find(links, n, "lo"));
		assert_null(find(links, n, "one"));
		l = find(links, n, "two");
		assert_non_null(l);
		assert_string_equal(l->kind, "veth");
		assert_int_equal(l->near, one);
	}
}

static int add_upper(const char *name, const char *kind, uint32_t link)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg i = {};
	struct nlattr *info, *data;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	if (link > 0)
		nla_put_u32(m, IFLA_LINK, link);
	nla_put_u32(m, IFLA_NET_NS_PID, link > 0 ? (uint32_t)child : (uint32_t)getpid());
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, kind);
	data = nla_nest_start(m, IFLA_INFO_DATA);
	if (streq(kind, "vlan"))
		nla_put_u16(m, IFLA_VLAN_ID, 5);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	return netlink_ask(&nl, m);
}

static void macvlans_ipvlans_and_vlans_are_found(_unused_ void **state)
{
	static const char *const kinds[] = { "macvlan", "vlan", "ipvlan" };
	uint32_t below;

	if (add_upper("dummy1", "dummy", 0) < 0)
		skip_without("a dummy in this kernel");
	below = if_nametoindex("dummy1");
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		_cleanup_(freep) struct far_link *links = NULL;
		const struct far_link *l;
		size_t n = 0;
		int r = add_upper("upper", kinds[i], below);

		if (r == -EOPNOTSUPP) {
			print_message("no %s here\n", kinds[i]);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(netns_list_links(&nl, (uint32_t)child, -1, &links, &n), 0);
		l = find(links, n, "upper");
		assert_non_null(l);
		assert_int_equal(MAX(l->near, l->maybe_near), below);
		/* What is below takes it along. */
		assert_int_equal(netns_delete(&nl, below), 0);
		assert_int_equal(add_upper("dummy1", "dummy", 0), 0);
		below = if_nametoindex("dummy1");
	}
}

static void a_process_without_the_right_gets_an_error(_unused_ void **state)
{
	_cleanup_(freep) struct far_link *links = NULL;
	size_t n = 0;
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(netns_list_links(&host, (uint32_t)child, -1, &links, &n), -EPERM);
	assert_int_equal(netns_list_links(&nl, (uint32_t)gone, -1, &links, &n), -ESRCH);
	assert_null(links);
}

/* --- as users --- */

static void look(struct netlink *socket, struct node *n)
{
	_cleanup_(processes_done) struct processes p = {};
	struct os d = { .route = *socket };

	assert_int_equal(fs_open_root(NULL, &d.fs), 0);
	assert_int_equal(processes_list(&d.fs, &p), 0);
	assert_int_equal(observe_namespaces(&d.fs, &p, n), 0);
	/* Beside the namespace that we came from and those of others: this one. */
	for (size_t i = 0; i < n->n_netnses; i++)
		if (n->netnses[i].pid == (uint32_t)child)
			n->netnses[0] = n->netnses[i];
	n->n_netnses = MIN(n->n_netnses, 1u);
	assert_int_equal(n->netnses[0].pid, child);
	assert_int_equal(observe_uppers(&d, &d.fs, &p, n), 0);
	fs_done(&d.fs);
}

/* The first of the pair stands for the netdev of a VF. */
static void what_is_stacked_on_a_vf_elsewhere_uses_it(_unused_ void **state)
{
	static const struct {
		struct netlink *socket;
		enum use use;
		const char *detail;
	} rows[] = {
		{ &nl, USE_UPPER, "two in network namespace " },
		{ &host, USE_UNKNOWN, "the links of network namespace " },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct pci pcis[] = { { .address = "0000:41:00.0" }, { .address = VF } };
		struct netdev netdevs[] = { { .name = "one", .pci = VF } };
		struct node n = { .pcis = pcis, .n_pcis = 2, .netdevs = netdevs, .n_netdevs = 1 };

		netdevs[0].ifindex = one;
		look(rows[i].socket, &n);
		assert_int_equal(n.n_users, 1);
		assert_string_equal(n.users[0].target, VF);
		assert_string_equal(use_name(n.users[0].use), use_name(rows[i].use));
		assert_true(is_prefix(n.users[0].detail, rows[i].detail));
		if (rows[i].use == USE_UPPER) {
			assert_int_equal(n.users[0].pid, child);
			assert_true(is_prefix(n.users[0].command, "test-netns"));
		}
		free(n.users);
		free(n.netnses);
	}
}

static int begin(void)
{
	int r, fds[2];
	char c;

	r = netns_begin(&nl, "one", "two");
	if (r != 0)
		return r;
	if (pipe(fds) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) < 0 || write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	r = child < 0 || read(fds[0], &c, 1) != 1;
	close(fds[0]);
	one = if_nametoindex("one");
	if (r == 0 &&
	    netns_set_u32(&nl, if_nametoindex("two"), IFLA_NET_NS_PID, (uint32_t)child) < 0)
		return 1;
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_elsewhere_tells_what_it_is_stacked_on),
		cmocka_unit_test(a_function_is_named_by_its_parent),
		cmocka_unit_test(links_of_a_process_are_listed_without_going_there),
		cmocka_unit_test(macvlans_ipvlans_and_vlans_are_found),
		cmocka_unit_test(a_process_without_the_right_gets_an_error),
		cmocka_unit_test(what_is_stacked_on_a_vf_elsewhere_uses_it),
	};
	int r;

	if (netlink_open(&host) < 0)
		return 1;
	r = begin();
	if (r == 0)
		r = cmocka_run_group_tests_name("netns", tests, NULL, NULL);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	netlink_done(&nl);
	netlink_done(&host);
	return r;
}
