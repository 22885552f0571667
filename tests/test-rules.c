/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: which udev rules are wanted, and when they are written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#define PATH "/run/udev/rules.d/79-rdma-provision.rules"

struct scene {
	struct config config;
	struct device_config sections[2];
	struct pci pcis[3];
	struct netdev netdevs[3];
	struct node node;
	struct memory memory;
};

static void set_scene(struct scene *s)
{
	static const char *const addresses[] = { "0000:17:00.0", "0000:17:00.1", "0000:65:00.0" };

	*s = (struct scene){};
	s->sections[0] = (struct device_config){ .name = "rail",
						 .match = (char *)"driver:igb",
						 .mode = VF_MODE_SHARED_MULTI,
						 .count = 2 };
	s->sections[1] = (struct device_config){ .name = "other", .match = (char *)"driver:ixgbe" };
	s->config.devices = s->sections;
	s->config.n_devices = 2;
	s->node = (struct node){
		.pcis = s->pcis, .n_pcis = 3, .netdevs = s->netdevs, .n_netdevs = 3
	};
	for (size_t i = 0; i < 3; i++) {
		s->pcis[i] = (struct pci){ .vendor = 0x8086,
					   .class = 0x020000,
					   .has_sriov = true,
					   .total_vfs = 7,
					   .driver = "igb" };
		COPY(s->pcis[i].address, addresses[i]);
		s->netdevs[i] = (struct netdev){ .ifindex = (uint32_t)(i + 2), .is_up = true };
		COPY(s->netdevs[i].pci, addresses[i]);
		snprintf(s->netdevs[i].name, sizeof(s->netdevs[i].name), "ens%zu", i + 1);
	}
	COPY(s->pcis[2].driver, "ixgbe");
}

/* Position of the first action of this verb, -1: none. */
static ssize_t find(const struct plan *p, enum verb verb)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (p->actions[i].verb == verb)
			return (ssize_t)i;
	return -1;
}

static void make_plan(struct scene *s, struct plan *ret)
{
	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, false, ret), 0);
}

static void the_rules_name_the_pfs_that_get_vfs_and_no_others(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	make_plan(&s, &p);
	assert_string_equal(p.rules, "# Written by rdma-provision: networkd and NetworkManager "
				     "keep off the VFs of these "
				     "PFs.\n"
				     "SUBSYSTEM!=\"net\", GOTO=\"rdma_provision_end\"\n"
				     "ACTION==\"remove\", GOTO=\"rdma_provision_end\"\n"
				     "TEST!=\"device/physfn\", GOTO=\"rdma_provision_end\"\n"
				     "TEST==\"/sys/bus/pci/devices/0000:17:00.0/*/net/%k\", "
				     "ENV{ID_RDMA_PROVISION_VF}=\"1\"\n"
				     "TEST==\"/sys/bus/pci/devices/0000:17:00.1/*/net/%k\", "
				     "ENV{ID_RDMA_PROVISION_VF}=\"1\"\n"
				     "LABEL=\"rdma_provision_end\"\n");
}

/* Its VF was there before: the manager that gave it the address would take that away. */
static void a_vf_with_an_address_of_the_host_stays_with_its_manager(_unused_ void **state)
{
	static const char first[] = "/0000:17:00.0/", second[] = "/0000:17:00.1/";

	for (int has_address = 0; has_address < 2; has_address++) {
		_cleanup_(plan_done) struct plan p = {};
		struct address a = { .ifindex = 4, .family = AF_INET, .prefix_len = 24 };
		struct scene s;

		set_scene(&s);
		COPY(s.config.service.node_nic, "none");
		s.pcis[0].num_vfs = 1;
		s.pcis[2] = (struct pci){ .class = 0x020000, .driver = "igbvf" };
		COPY(s.pcis[2].address, "0000:17:10.0");
		COPY(s.pcis[2].physfn, "0000:17:00.0");
		COPY(s.netdevs[2].pci, "0000:17:10.0");
		COPY(s.netdevs[2].name, "ens1v0");
		s.node.addresses = &a;
		s.node.n_addresses = (size_t)has_address;
		make_plan(&s, &p);
		assert_int_equal(strstr(p.rules, first) == NULL, has_address);
		assert_non_null(strstr(p.rules, second));
	}
}

static void the_rules_are_there_before_the_vfs(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	make_plan(&s, &p);
	assert_true(find(&p, VERB_WRITE_RULES) >= 0);
	assert_string_equal(p.actions[find(&p, VERB_WRITE_RULES)].target, PATH);
	assert_int_equal(p.actions[find(&p, VERB_WRITE_RULES)].class, CLASS_CHANGE);
	assert_true(find(&p, VERB_WRITE_RULES) < find(&p, VERB_SET_NUM_VFS));
}

static void equal_rules_are_not_written(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, again = {};
	struct scene s;

	set_scene(&s);
	make_plan(&s, &p);
	s.node.rules_file = p.rules;
	make_plan(&s, &again);
	assert_int_equal(find(&again, VERB_WRITE_RULES), -1);

	s.node.rules_file = (char *)"another text";
	plan_done(&again);
	make_plan(&s, &again);
	assert_true(find(&again, VERB_WRITE_RULES) >= 0);
}

static void shared(struct scene *s)
{
	s->sections[0].mode = VF_MODE_SHARED;
	s->sections[0].count = COUNT_UNSET;
}
static void keep(struct scene *s)
{
	s->sections[0].mode = VF_MODE_KEEP;
}
static void exclusive(struct scene *s)
{
	s->sections[0].mode = VF_MODE_EXCLUSIVE;
}
static void no_sriov(struct scene *s)
{
	s->pcis[0].has_sriov = s->pcis[1].has_sriov = false;
}
static void no_section(struct scene *s)
{
	s->config.n_devices = 0;
}
static void broken(struct scene *s)
{
	no_section(s);
	s->config.is_invalid = true;
}

static void rules_without_a_pf_are_removed(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		bool is_wanted, is_removed;
	} rows[] = {
		{ "shared", shared, true, false },
		{ "keep", keep, false, true },
		{ "exclusive", exclusive, false, true },
		{ "no SR-IOV", no_sriov, false, true },
		{ "no section", no_section, false, true },
		{ "the configuration is malformed", broken, false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {}, without = {};
		struct scene s;

		set_scene(&s);
		rows[i].set(&s);
		make_plan(&s, &without);
		if ((find(&without, VERB_WRITE_RULES) >= 0) != rows[i].is_wanted)
			fail_msg("%s: without a file", rows[i].name);

		s.node.rules_file = (char *)"from before";
		make_plan(&s, &p);
		if ((find(&p, VERB_WRITE_RULES) >= 0) !=
			    (rows[i].is_wanted || rows[i].is_removed) ||
		    (p.rules != NULL) != rows[i].is_wanted)
			fail_msg("%s: with a file", rows[i].name);
	}
}

static void rules_stay_as_long_as_there_are_vfs_they_were_made_for(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, kept = {}, gone = {};
	struct scene s;

	set_scene(&s);
	make_plan(&s, &p);
	s.node.rules_file = p.rules;
	s.config.n_devices = 0;
	s.pcis[1].num_vfs = 2;
	s.pcis[2].num_vfs = 2; /* never ours */
	make_plan(&s, &kept);
	assert_non_null(kept.rules);
	assert_null(strstr(kept.rules, "0000:17:00.0"));
	assert_non_null(strstr(kept.rules, "0000:17:00.1"));
	assert_null(strstr(kept.rules, "0000:65:00.0"));

	s.node.rules_file = kept.rules;
	s.pcis[1].num_vfs = 0;
	make_plan(&s, &gone);
	assert_null(gone.rules);
	assert_true(find(&gone, VERB_WRITE_RULES) >= 0);
}

/* One pass writes them for a new PF, and then without one whose VFs it has removed. */
static void rules_may_be_written_twice_in_one_pass(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan first = {}, second = {};
	struct attempts tried;
	struct scene s;
	ssize_t i;

	set_scene(&s);
	make_plan(&s, &first);
	i = find(&first, VERB_WRITE_RULES);
	assert_true(i >= 0);
	first.actions[i].is_done = true;

	s.node.rules_file = first.rules;
	tried = attempts_of(&first);
	s.pcis[1].has_sriov = false;
	assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, &tried, false, &second), 0);
	i = find(&second, VERB_WRITE_RULES);
	assert_true(i >= 0);
	assert_false(second.actions[i].is_done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rules_name_the_pfs_that_get_vfs_and_no_others),
		cmocka_unit_test(a_vf_with_an_address_of_the_host_stays_with_its_manager),
		cmocka_unit_test(the_rules_are_there_before_the_vfs),
		cmocka_unit_test(equal_rules_are_not_written),
		cmocka_unit_test(rules_without_a_pf_are_removed),
		cmocka_unit_test(rules_may_be_written_twice_in_one_pass),
		cmocka_unit_test(rules_stay_as_long_as_there_are_vfs_they_were_made_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
