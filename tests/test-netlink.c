/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netlink/netlink.h>

#include "../src/os/netlink.h"
#include "../src/os/rdma.h"
#include "netns.h"
#include "skip.h"

#define N_LINKS 100 /* a dump of so many does not fit one message */

static struct netlink route = { .protocol = NETLINK_ROUTE };

static struct nl_msg *get_links(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg i = {};

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	return m;
}

static struct nl_msg *set_link(uint32_t ifindex)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_SETLINK, 0);
	struct ifinfomsg i = { .ifi_index = ifindex };

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	return m;
}

static int on_message_count(_unused_ struct nlmsghdr *h, void *userdata)
{
	(*(unsigned *)userdata)++;
	return 0;
}

static int on_message_fail(_unused_ struct nlmsghdr *h, void *userdata)
{
	(*(unsigned *)userdata)++;
	return -EXFULL;
}

/* Changes the list of links once, by another socket, while the dump is under way. */
static int on_message_interfere(_unused_ struct nlmsghdr *h, void *userdata)
{
	_cleanup_(netlink_done) struct netlink other = { .protocol = NETLINK_ROUTE };
	unsigned *n = userdata;

	if ((*n)++ == 0)
		assert_int_equal(netns_add_veth(&other, "meddler", NULL), 0);
	return 0;
}

static void opening_twice_keeps_the_socket(_unused_ void **state)
{
	_cleanup_(netlink_done) struct netlink nl = { .protocol = NETLINK_ROUTE };
	struct nl_sock *first;

	assert_int_equal(netlink_open(&nl), 0);
	first = nl.sock;
	assert_non_null(first);
	assert_int_equal(netlink_open(&nl), 0);
	assert_ptr_equal(nl.sock, first);
}

static void done_accepts_what_was_never_opened(_unused_ void **state)
{
	struct netlink nl = { .protocol = NETLINK_ROUTE };

	netlink_done(&nl);
	assert_int_equal(netlink_open(&nl), 0);
	netlink_done(&nl);
	netlink_done(&nl);
	assert_null(nl.sock);
}

static void an_unknown_protocol_says_so(_unused_ void **state)
{
	struct netlink nl = { .protocol = 31 }; /* nobody's, and the last there can be */

	assert_int_equal(netlink_open(&nl), -EPROTONOSUPPORT);
	assert_int_equal(netlink_ask(&nl, set_link(1)), -EPROTONOSUPPORT);
	assert_null(nl.sock);
}

static void the_kernels_errno_comes_back_as_it_is(_unused_ void **state)
{
	uint32_t ifindex = if_nametoindex("one");

	assert_int_equal(netlink_ask(&route, set_link(ifindex)), 0);
	assert_int_equal(netlink_ask(&route, set_link(99999)), -ENODEV);
	assert_int_equal(netlink_ask(&route, nlmsg_alloc_simple(0x7fff, 0)), -EOPNOTSUPP);
	assert_int_equal(netns_add_veth(&route, "one", NULL), -EEXIST);
	assert_int_equal(netns_set_u32(&route, ifindex, IFLA_MTU, 1), -EINVAL);
}

static void the_kernels_words_are_kept_until_the_next_request(_unused_ void **state)
{
	uint32_t ifindex = if_nametoindex("one");

	assert_int_equal(netns_set_u32(&route, ifindex, IFLA_MTU, 1), -EINVAL);
	assert_non_null(strstr(route.error, "mtu")); /* "mtu less than device minimum" */
	assert_int_equal(netlink_ask(&route, set_link(ifindex)), 0);
	assert_string_equal(route.error, "");
}

static void a_dump_longer_than_one_message_is_whole(_unused_ void **state)
{
	unsigned n = 0;

	assert_int_equal(netlink_dump(&route, get_links(), on_message_count, &n), 0);
	assert_in_range(n, N_LINKS + 3, UINT32_MAX); /* lo, one, two */
}

static void a_single_answer_comes_as_well(_unused_ void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);
	struct ifinfomsg i = { .ifi_index = if_nametoindex("one") };
	unsigned n = 0;

	nlmsg_append(m, &i, sizeof(i), NLMSG_ALIGNTO);
	assert_int_equal(netlink_dump(&route, m, on_message_count, &n), 0);
	assert_int_equal(n, 1);
}

static void a_callback_that_fails_ends_the_dump_and_the_socket_goes_on(_unused_ void **state)
{
	struct nl_sock *before;
	unsigned n = 0;

	assert_int_equal(netlink_open(&route), 0);
	before = route.sock;
	assert_int_equal(netlink_dump(&route, get_links(), on_message_fail, &n), -EXFULL);
	assert_int_equal(n, 1);

	assert_ptr_equal(route.sock, before);

	/* A dump left half read would make this -EBUSY, or give its rest. */
	n = 0;
	assert_int_equal(netlink_dump(&route, get_links(), on_message_count, &n), 0);
	assert_in_range(n, N_LINKS + 3, UINT32_MAX);
}

static unsigned n_interfered;

static int on_message_interfere_once(struct nlmsghdr *h, void *userdata)
{
	unsigned first = n_interfered++;

	(*(size_t *)userdata)++;
	return first > 0 ? 0 : on_message_interfere(h, &first);
}

static void a_list_that_changed_meanwhile_is_that_of_the_last_dump(_unused_ void **state)
{
	size_t n = 3;
	unsigned n_links = 0;

	n_interfered = 0;
	assert_int_equal(netlink_list(&route, get_links(), on_message_interfere_once, &n, &n), 0);
	assert_int_equal(netlink_dump(&route, get_links(), on_message_count, &n_links), 0);
	assert_int_equal(n, 3 + n_links);
	assert_true(n_interfered > n_links);
	assert_false(route.is_incomplete);
	assert_int_equal(netns_delete(&route, if_nametoindex("meddler")), 0);
}

static unsigned n_dumps;

/* Adds a link during each dump, or takes it away again. */
static int on_message_interfere_always(struct nlmsghdr *h, void *userdata)
{
	_cleanup_(netlink_done) struct netlink other = { .protocol = NETLINK_ROUTE };
	size_t *n = userdata;

	if ((*n)++ > 0)
		return 0;
	if (n_dumps++ % 2 == 0)
		return on_message_interfere(h, &(unsigned){ 0 });
	return netns_delete(&other, if_nametoindex("meddler"));
}

static void a_list_that_changes_for_a_second_is_used_and_marked(_unused_ void **state)
{
	_cleanup_(netlink_done) struct netlink nl = { .protocol = NETLINK_ROUTE };
	const uint64_t before = now_usec();
	size_t n = 0;

	n_dumps = 0;
	assert_int_equal(netlink_list(&nl, get_links(), on_message_interfere_always, &n, &n), 0);
	assert_true(nl.is_incomplete);
	assert_in_range(n, N_LINKS + 3, UINT32_MAX);
	assert_in_range(n_dumps, 6, 20); /* the pauses grow */
	assert_in_range(now_usec() - before, USEC_PER_SEC / 4, 5 * USEC_PER_SEC);
	if (n_dumps % 2 == 1)
		assert_int_equal(netns_delete(&route, if_nametoindex("meddler")), 0);
}

static void an_answer_nobody_waited_for_is_passed_over(_unused_ void **state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = set_link(99999);
	unsigned n = 0;

	assert_int_equal(netlink_open(&route), 0);
	assert_true(nl_send_auto(route.sock, m) > 0); /* leaves -ENODEV in the socket */
	assert_int_equal(netlink_ask(&route, set_link(if_nametoindex("one"))), 0);
	assert_int_equal(netlink_dump(&route, get_links(), on_message_count, &n), 0);
	assert_in_range(n, N_LINKS + 3, UINT32_MAX);
}

static void rdma_lists_and_tells_its_mode(_unused_ void **state)
{
	_cleanup_(netlink_done) struct netlink nl = { .protocol = NETLINK_RDMA };
	_cleanup_(freep) struct ibdev *ibdevs = NULL;
	enum netns_mode mode = NETNS_MODE_KEEP;
	size_t n = 0;
	int r;

	r = netlink_open(&nl);
	if (r < 0)
		skip_without("NETLINK_RDMA: %s", strerror(-r));

	assert_int_equal(rdma_get_netns_mode(&nl, &mode), 0);
	assert_true(mode == NETNS_MODE_SHARED || mode == NETNS_MODE_EXCLUSIVE);

	assert_int_equal(rdma_list(&nl, &ibdevs, &n), 0);
	for (size_t i = 0; i < n; i++) {
		print_message("%s: index %u, %u contexts, netdev \"%s\"\n", ibdevs[i].name,
			      ibdevs[i].index, ibdevs[i].n_contexts, ibdevs[i].netdev);
		assert_string_not_equal(ibdevs[i].name, "");
		assert_int_not_equal(ibdevs[i].index, UINT32_MAX);
		assert_true(i == 0 || strcmp(ibdevs[i - 1].name, ibdevs[i].name) < 0);
	}

	/* Root of a user namespace is not root of the RDMA subsystem. */
	assert_int_equal(rdma_set_netns_mode(&nl, mode), -EPERM);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_twice_keeps_the_socket),
		cmocka_unit_test(done_accepts_what_was_never_opened),
		cmocka_unit_test(an_unknown_protocol_says_so),
		cmocka_unit_test(the_kernels_errno_comes_back_as_it_is),
		cmocka_unit_test(the_kernels_words_are_kept_until_the_next_request),
		cmocka_unit_test(a_dump_longer_than_one_message_is_whole),
		cmocka_unit_test(a_single_answer_comes_as_well),
		cmocka_unit_test(a_callback_that_fails_ends_the_dump_and_the_socket_goes_on),
		cmocka_unit_test(a_list_that_changed_meanwhile_is_that_of_the_last_dump),
		cmocka_unit_test(a_list_that_changes_for_a_second_is_used_and_marked),
		cmocka_unit_test(an_answer_nobody_waited_for_is_passed_over),
		cmocka_unit_test(rdma_lists_and_tells_its_mode),
	};
	char name[IFNAMSIZ];
	int r;

	r = netns_begin(&route, "one", "two");
	if (r != 0)
		return r;

	for (unsigned i = 0; i < N_LINKS / 2; i++) {
		snprintf(name, sizeof(name), "more%u", i);
		if (netns_add_veth(&route, name, NULL) < 0)
			return EXIT_FAILURE;
	}

	r = cmocka_run_group_tests(tests, NULL, NULL);
	netlink_done(&route);
	return r;
}
