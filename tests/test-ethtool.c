/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ethtool: what its answers say. Those with words are made here, as net/ethtool/linkstate.c writes
 * them; the loopback device is asked for real, and has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "../src/os/ethtool.h"

static struct netdev tell(int state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc();
	struct netdev nd = {};

	assert_non_null(m);
	assert_non_null(genlmsg_put(m, 0, 1, 21, 0, 0, ETHTOOL_MSG_LINKSTATE_GET_REPLY, 1));
	nla_put_u8(m, ETHTOOL_A_LINKSTATE_LINK, 0);
	if (state >= 0)
		nla_put_u8(m, ETHTOOL_A_LINKSTATE_EXT_STATE, (uint8_t)state);
	assert_int_equal(ethtool_on_link(nlmsg_hdr(m), &nd), 0);
	return nd;
}

static void the_driver_s_words_are_kept(_unused_ void **state)
{
	assert_string_equal(tell(0).link_state, "autoneg");
	assert_string_equal(tell(4).link_state, LINK_NO_CABLE);
	assert_string_equal(tell(10).link_state, "module");
	assert_string_equal(tell(200).link_state, "state-200");
	assert_string_equal(tell(-1).link_state, "");
}

static void a_netdev_without_words_and_one_that_is_gone_are_no_error(_unused_ void **state)
{
	_cleanup_(netlink_done) struct netlink nl = { .protocol = NETLINK_GENERIC };
	struct pci pcis[] = { { .address = "0000:17:00.0" },
			      { .address = "0000:17:00.2", .physfn = "0000:17:00.0" } };
	const struct node n = { .pcis = pcis, .n_pcis = 2 };
	struct netdev devs[] = { { .ifindex = 1, .pci = "0000:17:00.0", .is_up = true },
				 { .ifindex = 9999, .pci = "0000:17:00.0", .is_up = true },
				 { .ifindex = 1, .pci = "0000:17:00.2", .is_up = true } };

	assert_int_equal(ethtool_read(&nl, &n, devs, ELEMENTSOF(devs)), 0);
	for (size_t i = 0; i < ELEMENTSOF(devs); i++)
		assert_string_equal(devs[i].link_state, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_driver_s_words_are_kept),
		cmocka_unit_test(a_netdev_without_words_and_one_that_is_gone_are_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
