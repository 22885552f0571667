/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <sys/mount.h>
#include <sys/stat.h>

#include "../src/model/use-facts.h"
#include "../src/os/link.h"
#include "../src/step/observers.h"
#include "netns.h"
#include "skip.h"

#define VF   "0000:41:00.1"
#define BLUE "/run/netns/blue" /* the namespace of the child */

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
		uint32_t link;
		bool is_here;
	} rows[] = {
		{ "macvlan", 3, 3, true, 0, 12, true },
		{ "macvlan", 4, 3, true, 0, 0, false },   /* on one of a third namespace */
		{ "macvlan", -1, 3, true, 0, 12, false }, /* on one of its own */
		{ "macvlan", 3, -1, true, 0, 0, false },
		{ "macvlan", -1, -1, true, 0, 12, false }, /* no ids are no equal ids */
		{ "ipvlan", 3, 3, true, 0, 12, true },
		{ "ipvlan", -1, 3, true, 0, 12, false },
		{ "", 3, 3, true, 0, 12, true },
		{ "macvlan", 3, 3, false, -EOPNOTSUPP, 0, false }, /* of a kernel that lists ours */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			make_link(rows[i].kind, rows[i].netnsid, rows[i].is_far);
		struct netdev nd = {};

		assert_int_equal(link_parse(nlmsg_hdr(m), &rows[i].own, &nd, NULL), rows[i].result);
		assert_int_equal(nd.link, rows[i].link);
		assert_int_equal(nd.is_link_here, rows[i].is_here);
		assert_string_equal(nd.kind, rows[i].result < 0 ? "" : rows[i].kind);
		assert_string_equal(nd.mac, rows[i].result < 0 ? "" : "02:00:00:00:00:01");
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
		const int32_t own = -1;
		struct netdev nd = {};

		nla_put_string(m, 56, rows[i].name);
		if (rows[i].bus)
			nla_put_string(m, 57, rows[i].bus);
		assert_int_equal(link_parse(nlmsg_hdr(m), &own, &nd, NULL), 0);
		assert_string_equal(nd.pci, rows[i].pci);
	}
}

/* --- a namespace that is there --- */

static const struct netdev *find(const struct netdev *links, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(links[i].name, name))
			return &links[i];
	return NULL;
}

static void links_are_listed_without_going_there(_unused_ void **state)
{
	for (int way = 0; way < 2; way++) { /* the second time its id is there already */
		_cleanup_(closep) int fd = open(BLUE, O_RDONLY | O_CLOEXEC);
		_cleanup_(freep) struct netdev *links = NULL;
		const struct netdev *l;
		size_t n = 0;
		int32_t own;

		assert_true(fd >= 0);
		assert_int_equal(link_get_netns_id(&nl, -EBADF, &own), 0);
		assert_int_equal(link_list_of(&nl, fd, own, &links, &n), 0);
		assert_non_null(find(links, n, "lo"));
		assert_null(find(links, n, "one"));
		l = find(links, n, "two");
		assert_non_null(l);
		assert_string_equal(l->kind, "veth");
		assert_int_equal(l->link, one);
		assert_true(l->is_link_here);
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

/* The netdevs of this namespace, and what is seen of others. */
static void look(struct netlink *socket, struct node *n)
{
	struct os d = { .route = *socket };

	assert_int_equal(fs_open_root(NULL, &d.fs), 0);
	assert_int_equal(link_list(&nl, &n->netdevs, &n->n_netdevs, NULL, NULL), 0);
	observe_namespaces(&d, n);
	fs_done(&d.fs);
}

static void macvlans_ipvlans_and_vlans_are_found(_unused_ void **state)
{
	static const char *const kinds[] = { "macvlan", "vlan", "ipvlan" };
	uint32_t below;

	if (add_upper("dummy1", "dummy", 0) < 0)
		skip_without("a dummy in this kernel");
	below = if_nametoindex("dummy1");
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		_cleanup_(node_done) struct node n = {};
		const struct netdev *l;
		int r = add_upper("upper", kinds[i], below);

		if (r == -EOPNOTSUPP) {
			print_message("no %s here\n", kinds[i]);
			continue;
		}
		assert_int_equal(r, 0);
		look(&nl, &n);
		l = find(n.aways, n.n_aways, "upper");
		assert_non_null(l);
		assert_int_equal(l->link, below);
		assert_true(l->is_link_here);
		/* What is below takes it along. */
		assert_int_equal(netns_delete(&nl, below), 0);
		assert_int_equal(add_upper("dummy1", "dummy", 0), 0);
		below = if_nametoindex("dummy1");
	}
	netns_delete(&nl, below);
}

static void a_process_without_the_right_gets_an_error(_unused_ void **state)
{
	_cleanup_(closep) int fd = open(BLUE, O_RDONLY | O_CLOEXEC),
			      none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_(freep) struct netdev *links = NULL;
	size_t n = 0;

	assert_int_equal(link_list_of(&host, fd, 0, &links, &n), -EPERM);
	assert_int_equal(link_list_of(&nl, none, 0, &links, &n), -EINVAL);
	assert_null(links);
}

static void those_with_a_name_are_found(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {}, closed = {};
	const struct netdev *two;
	struct stat st;

	assert_int_equal(stat(BLUE, &st), 0);
	look(&nl, &n);
	assert_int_equal(n.n_netnses, 1); /* neither our own, nor twice, nor a file left over */
	assert_string_equal(n.netnses[0].name, "blue");
	assert_int_equal(n.netnses[0].inode, st.st_ino);
	assert_false(n.netnses[0].is_closed);
	two = find(n.aways, n.n_aways, "two");
	assert_non_null(two);
	assert_int_equal(two->netns, 1);
	assert_int_equal(two->link, one);
	assert_true(two->is_link_here);

	look(&host, &closed);
	assert_int_equal(closed.n_netnses, 1);
	assert_true(closed.netnses[0].is_closed);
	assert_int_equal(closed.n_aways, 0);
}

static void a_folder_that_is_closed_hides_what_is_in_it(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};

	assert_int_equal(rename("/run/docker/netns", "/run/docker/netns.old"), 0);
	assert_int_equal(symlink("netns", "/run/docker/netns"), 0); /* -ELOOP */
	look(&nl, &n);
	assert_int_equal(n.n_netnses, 2);
	assert_string_equal(n.netnses[1].name, "/run/docker/netns/");
	assert_true(n.netnses[1].is_closed);
	unlink("/run/docker/netns");
	assert_int_equal(rename("/run/docker/netns.old", "/run/docker/netns"), 0);
}

static int bind_namespace(const char *from, const char *to)
{
	_cleanup_(closep) int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 || mount(from, to, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

/* Of the child, a second time, our own, and a file that is left over. */
static int name_namespaces(void)
{
	_cleanup_(closep) int left_over = -EBADF;
	char theirs[64];

	snprintf(theirs, sizeof(theirs), "/proc/%d/ns/net", (int)child);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) < 0 || mkdir("/run/netns", 0755) < 0 ||
	    mkdir("/run/docker", 0755) < 0 || mkdir("/run/docker/netns", 0755) < 0 ||
	    bind_namespace(theirs, BLUE) < 0 || bind_namespace(theirs, "/run/docker/netns/1") < 0 ||
	    bind_namespace("/proc/self/ns/net", "/run/docker/netns/default") < 0)
		return 1;
	left_over = open("/run/netns/left-over", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return left_over < 0;
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
	return r == 0 ? name_namespaces() : r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_elsewhere_tells_what_it_is_stacked_on),
		cmocka_unit_test(a_function_is_named_by_its_parent),
		cmocka_unit_test(links_are_listed_without_going_there),
		cmocka_unit_test(macvlans_ipvlans_and_vlans_are_found),
		cmocka_unit_test(a_process_without_the_right_gets_an_error),
		cmocka_unit_test(those_with_a_name_are_found),
		cmocka_unit_test(a_folder_that_is_closed_hides_what_is_in_it),
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
