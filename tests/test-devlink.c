/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devlink: what its answers say. The answers are made here, as net/devlink writes them: no kernel
 * without hardware has a devlink instance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/devlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "../src/os/devlink.h"

#define FAMILY 21

static struct pci pcis[] = {
	{ .address = "0000:17:00.0", .driver = "mlx5_core", .has_sriov = true },
	{ .address = "0000:17:00.1", .driver = "mlx5_core", .has_sriov = true },
};
static struct devlink_functions functions = { pcis, 2 };

static struct nl_msg *answer(uint8_t command, const char *bus, const char *device)
{
	struct nl_msg *m = nlmsg_alloc();

	assert_non_null(m);
	assert_non_null(genlmsg_put(m, 0, 1, FAMILY, 0, NLM_F_MULTI, command, 1));
	if (bus)
		nla_put_string(m, DEVLINK_ATTR_BUS_NAME, bus);
	if (device)
		nla_put_string(m, DEVLINK_ATTR_DEV_NAME, device);
	return m;
}

static int tell_reporter(const char *bus, const char *device, const char *name, int state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m =
		answer(DEVLINK_CMD_HEALTH_REPORTER_GET, bus, device);
	struct nlattr *nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);

	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	if (state >= 0)
		nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, (uint8_t)state);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 3);
	nla_nest_end(m, nest);
	return devlink_on_reporter(nlmsg_hdr(m), &functions);
}

static int tell_eswitch(const char *device, uint16_t mode)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = answer(DEVLINK_CMD_ESWITCH_GET, "pci", device);

	nla_put_u16(m, DEVLINK_ATTR_ESWITCH_MODE, mode);
	return devlink_on_eswitch(nlmsg_hdr(m), &functions);
}

static int forget(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(pcis); i++)
		pcis[i].health[0] = pcis[i].eswitch[0] = '\0';
	return 0;
}

static void reporters_in_error_are_named(_unused_ void **state)
{
	assert_int_equal(tell_reporter("pci", "0000:17:00.0", "fw", 1), 0);
	assert_int_equal(tell_reporter("pci", "0000:17:00.0", "fw_fatal", 1), 0);
	assert_int_equal(tell_reporter("pci", "0000:17:00.0", "tx", 0), 0);
	assert_string_equal(pcis[0].health, "fw fw_fatal");
	assert_string_equal(pcis[1].health, "");
}

static void reporters_of_others_and_without_a_state_say_nothing(_unused_ void **state)
{
	assert_int_equal(tell_reporter("auxiliary", "0000:17:00.0", "fw", 1), 0);
	assert_int_equal(tell_reporter("pci", "0000:65:00.0", "fw", 1), 0);
	assert_int_equal(tell_reporter(NULL, NULL, "fw", 1), 0);
	assert_int_equal(tell_reporter("pci", "0000:17:00.1", "vnic", -1), 0);
	assert_string_equal(pcis[0].health, "");
	assert_string_equal(pcis[1].health, "");
}

static void more_names_than_there_is_room_for_are_left_out(_unused_ void **state)
{
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(tell_reporter("pci", "0000:17:00.1", "reporter", 1), 0);
	assert_true(strlen(pcis[1].health) < sizeof(pcis[1].health));
	assert_true(is_prefix(pcis[1].health, "reporter reporter"));
}

static void the_eswitch_has_a_name(_unused_ void **state)
{
	assert_int_equal(tell_eswitch("0000:17:00.0", DEVLINK_ESWITCH_MODE_LEGACY), 0);
	assert_int_equal(tell_eswitch("0000:17:00.1", DEVLINK_ESWITCH_MODE_SWITCHDEV), 0);
	assert_string_equal(pcis[0].eswitch, "legacy");
	assert_string_equal(pcis[1].eswitch, "switchdev");
	assert_int_equal(tell_eswitch("0000:17:00.0", 7), 0);
	assert_string_equal(pcis[0].eswitch, "other");
}

static void malformed_answers_are_errors(_unused_ void **state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m =
		answer(DEVLINK_CMD_ESWITCH_GET, "pci", "0000:17:00.0");

	nla_put_u8(m, DEVLINK_ATTR_ESWITCH_MODE, 1); /* too short */
	assert_int_equal(devlink_on_eswitch(nlmsg_hdr(m), &functions), -EBADMSG);
	nlmsg_hdr(m)->nlmsg_len = NLMSG_LENGTH(1);
	assert_int_equal(devlink_on_eswitch(nlmsg_hdr(m), &functions), -EBADMSG);
}

/* Parameters, ports and traps are announced as well, for each VF. */
static void an_instance_that_leaves_and_health_count(_unused_ void **state)
{
	static const struct {
		uint8_t command;
		int n;
	} rows[] = {
		{ DEVLINK_CMD_NEW, 0 },
		{ DEVLINK_CMD_DEL, 1 },
		{ DEVLINK_CMD_HEALTH_REPORTER_RECOVER, 1 },
		{ DEVLINK_CMD_PARAM_NEW, 0 },
		{ DEVLINK_CMD_PORT_DEL, 0 },
	};
	char both[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	int size = 0;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			answer(rows[i].command, "pci", "0000:17:00.0");

		assert_int_equal(devlink_count(nlmsg_hdr(m), (int)nlmsg_hdr(m)->nlmsg_len, NULL),
				 rows[i].n);
		memcpy(both + size, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len);
		size += (int)NLMSG_ALIGN(nlmsg_hdr(m)->nlmsg_len);
	}
	assert_int_equal(devlink_count(both, size, NULL), 2);
	((struct nlmsghdr *)both)->nlmsg_len = NLMSG_LENGTH(1); /* too short */
	assert_int_equal(devlink_count(both, NLMSG_LENGTH(1), NULL), 0);
}

/* Here and on most machines there is no devlink, or nothing with SR-IOV: empty, and no error. */
static void this_machine_can_be_asked(_unused_ void **state)
{
	struct netlink nl = { .protocol = NETLINK_GENERIC };

	assert_int_equal(devlink_read(&nl, pcis, ELEMENTSOF(pcis)), 0);
	assert_string_equal(pcis[0].health, "");
	assert_string_equal(pcis[0].eswitch, "");
	netlink_done(&nl);
	if (devlink_watch(&nl) == 0)
		assert_int_equal(netlink_drain(&nl, devlink_count, NULL), 0);
	netlink_done(&nl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reporters_in_error_are_named, forget),
		cmocka_unit_test_setup(reporters_of_others_and_without_a_state_say_nothing, forget),
		cmocka_unit_test_setup(more_names_than_there_is_room_for_are_left_out, forget),
		cmocka_unit_test_setup(the_eswitch_has_a_name, forget),
		cmocka_unit_test(an_instance_that_leaves_and_health_count),
		cmocka_unit_test_setup(malformed_answers_are_errors, forget),
		cmocka_unit_test_setup(this_machine_can_be_asked, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
