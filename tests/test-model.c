/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/message.h"
#include "../src/model/module-options.h"
#include "../src/model/plan.h"
#include "../src/model/vf-facts.h"

static void every_reason_has_a_code_a_meaning_and_advice(_unused_ void **state)
{
	for (int i = REASON_NONE + 1; i < _REASON_N; i++) {
		const enum reason r = (enum reason)i;

		assert_true(*reason_code(r));
		assert_true(*reason_meaning(r));
		assert_true(*reason_advice(r));

		/* Meaning goes on with a detail, advice is a sentence; both are one line. */
		assert_true(reason_meaning(r)[strlen(reason_meaning(r)) - 1] != '.');
		assert_true(reason_advice(r)[strlen(reason_advice(r)) - 1] == '.');
		assert_null(strchr(reason_meaning(r), '\n'));
		assert_null(strchr(reason_advice(r), '\n'));
	}
}

static void reason_codes_are_lower_case_words_and_unique(_unused_ void **state)
{
	for (int i = REASON_NONE + 1; i < _REASON_N; i++) {
		const char *code = reason_code((enum reason)i);

		assert_int_equal(strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-"),
				 strlen(code));
		assert_int_equal(reason_from_code(code), i); /* the first with that code */
	}
}

static void what_is_no_reason_has_no_words(_unused_ void **state)
{
	assert_string_equal(reason_code(REASON_NONE), "");
	assert_string_equal(reason_code((enum reason)_REASON_N), "");
	assert_string_equal(reason_advice((enum reason) - 1), "");
	assert_int_equal(reason_from_code("no-such-code"), REASON_NONE);
	assert_int_equal(reason_from_code(""), REASON_NONE);
}

/* Log shippers of others know them: an id that changes here is a mistake. */
static void message_ids_are_for_ever(_unused_ void **state)
{
	static const struct {
		const char *name, *id;
	} cases[] = {
		{ "change", "667656b1b7a48bb1aff83a7306c4999e" },
		{ "ready", "00162b070c2085ef8322548c6f1b777d" },
		{ "degraded", "40a907c065a38cc999407b63c988f478" },
		{ "over", "6054433ed0ad8868be23d16d68cc7c44" },
		{ "port-down", "82725804d6b48934b7d40f39ddc3600a" },
		{ "config-invalid", "285fa7f36d3986a19b3e3002314c9a0e" },
		{ "action-failed", "264d7dc5127a87cab0c2690a1b6223d4" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char id[MESSAGE_ID_LEN];

		message_id(cases[i].name, id);
		assert_string_equal(id, cases[i].id);
	}
}

static const char *name_of(int i)
{
	return i < _MESSAGE_N ? messages[i].name
			      : reason_code((enum reason)(REASON_NONE + 1 + i - _MESSAGE_N));
}

static void no_two_messages_have_one_id(_unused_ void **state)
{
	const int n = _MESSAGE_N + _REASON_N - REASON_NONE - 1;

	for (int i = 0; i < n; i++) {
		char id[MESSAGE_ID_LEN], other[MESSAGE_ID_LEN];

		message_id(name_of(i), id);
		assert_int_equal(strspn(id, "0123456789abcdef"), 32);
		assert_int_equal(id[12], '8'); /* of a UUID: its version, and its variant */
		assert_non_null(strchr("89ab", id[16]));
		for (int k = 0; k < i; k++) {
			message_id(name_of(k), other);
			assert_string_not_equal(id, other);
		}
	}
}

static void the_journal_is_as_loud_as_the_administrator_has_to_act(_unused_ void **state)
{
	static const struct {
		enum reason reason;
		enum severity severity;
	} cases[] = {
		{ REASON_CONFIG_INVALID, SEVERITY_ERROR },
		{ REASON_MODULE_MISSING, SEVERITY_ERROR },
		{ REASON_VF_IN_USE, SEVERITY_ERROR }, /* needs a reboot */
		{ REASON_PLUGIN_RESTART_NEEDED, SEVERITY_ERROR },
		{ REASON_CONFIG_UNKNOWN, SEVERITY_WARNING }, /* of a newer version: it works */
		{ REASON_CONFIG_IGNORED, SEVERITY_WARNING },
		{ REASON_DEVICES_MISSING, SEVERITY_WARNING },
		{ REASON_PORT_DOWN, SEVERITY_WARNING },
		{ REASON_NO_DRIVER, SEVERITY_WARNING }, /* it may be bound again */
		{ REASON_GPU_SHARED_MULTI, SEVERITY_WARNING },
		{ REASON_NOT_READY, SEVERITY_NONE },
		{ REASON_IN_POD, SEVERITY_NONE },
		{ REASON_NONE, SEVERITY_NONE },
		{ (enum reason)_REASON_N, SEVERITY_NONE },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_int_equal(reason_severity(cases[i].reason), cases[i].severity);
}

static const char *step(int i)
{
	return step_name((enum step)i);
}
static const char *class(int i)
{
	return class_name((enum class)i);
}
static const char *verb(int i)
{
	return verb_name((enum verb)i);
}
static const char *node_state(int i)
{
	return node_state_name((enum node_state)i);
}
static const char *driver_mode(int i)
{
	return driver_mode_name((enum driver_mode)i);
}
static const char *peermem(int i)
{
	return peermem_mode_name((enum peermem_mode)i);
}
static const char *vf_mode(int i)
{
	return vf_mode_name((enum vf_mode)i);
}
static const char *netns_mode(int i)
{
	return netns_mode_name((enum netns_mode)i);
}
static const char *policy(int i)
{
	return topology_policy_name((enum topology_policy)i);
}
static const char *gate(int i)
{
	return gate_mode_name((enum gate_mode)i);
}
static const char *plugin(int i)
{
	return plugin_type_name((enum plugin_type)i);
}

static void every_enum_has_names_and_what_is_no_member_has_none(_unused_ void **state)
{
	static const struct {
		const char *(*name)(int i);
		int n, sample;
		const char *expected;
	} cases[] = {
		{ step, _STEP_N, STEP_KUBELET, "kubelet" },
		{ class, _CLASS_N, CLASS_NEEDS_REBOOT, "needs-reboot" },
		{ verb, _VERB_N, VERB_SET_NUM_VFS, "set-num-vfs" },
		{ node_state, _NODE_STATE_N, NODE_DEGRADED, "degraded" },
		{ driver_mode, _DRIVER_MODE_N, DRIVER_MODE_OFED, "ofed" },
		{ peermem, _PEERMEM_N, PEERMEM_YES, "yes" },
		{ vf_mode, _VF_MODE_N, VF_MODE_SHARED_MULTI, "shared-multi" },
		{ netns_mode, _NETNS_MODE_N, NETNS_MODE_EXCLUSIVE, "exclusive" },
		{ policy, _TOPOLOGY_POLICY_N, TOPOLOGY_POLICY_BEST_EFFORT, "best-effort" },
		{ gate, _GATE_N, GATE_STRICT, "strict" },
		{ plugin, _PLUGIN_N, PLUGIN_RDMA_SHARED, "rdma-shared" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_string_equal(cases[i].name(cases[i].sample), cases[i].expected);
		assert_string_equal(cases[i].name(cases[i].n), "");
		assert_string_equal(cases[i].name(-1), "");
		for (int j = 0; j < cases[i].n; j++) {
			assert_non_null(cases[i].name(j));
			for (int k = 0; k < j; k++)
				assert_string_not_equal(cases[i].name(j), cases[i].name(k));
		}
	}
}

static void verbs_that_count_are_numeric(_unused_ void **state)
{
	for (enum verb v = 0; v < _VERB_N; v++)
		assert_int_equal(verb_is_numeric(v),
				 v == VERB_SET_NUM_VFS || v == VERB_SET_AUTOPROBE ||
					 v == VERB_SET_VF_TRUST || v == VERB_SET_VF_VLAN ||
					 v == VERB_SET_MTU || v == VERB_SET_METRIC ||
					 v == VERB_SET_SYSCTL);
}

static struct pci pcis[] = {
	{ .address = "0000:41:00.0" },
	{ .address = "0000:41:10.0", .physfn = "0000:41:00.0", .vf_index = 1 },
	{ .address = "0000:41:10.2", .physfn = "0000:41:00.0", .vf_index = 0 },
	{ .address = "0000:c1:00.0" },
};
#define MAC  "02:00:00:00:00:01"
#define GUID "0200:0000:0000:0001"

static struct netdev netdevs[] = {
	{ .ifindex = 1, .name = "lo" },
	{ .ifindex = 4, .name = "ens1", .pci = "0000:41:00.0", .mac = MAC, .perm_mac = MAC },
	{ .ifindex = 9, .name = "ens1b", .pci = "0000:41:00.0", .mac = MAC },
	{ .ifindex = 12, .name = "ens2", .pci = "0000:c1:00.0" },
};
static struct ibdev ibdevs[] = {
	{ .name = "a_soft", .netdev = "ens1" }, /* virtual, above the same netdev */
	{ .name = "mlx5_0", .pci = "0000:41:00.0", .netdev = "ens1", .node_guid = GUID },
	{ .name = "rxe0", .netdev = "ens2" },
	{ .name = "rxe1", .netdev = "lo" },
};
static struct vf_info vf_infos[] = {
	{ .pf = "0000:41:00.0", .index = 0, .mac = MAC, .port_guid = GUID },
	{ .pf = "0000:41:00.0", .index = 1, .node_guid = GUID, .port_guid = GUID },
};
static struct module modules[] = { { .name = "ib_umad" }, { .name = "rdma_ucm" } };
static struct device_memory memories[] = { { .pci = "0000:41:00.0" }, { .pci = "0000:c1:00.0" } };
static struct memory remembered = { .devices = memories, .n_devices = ELEMENTSOF(memories) };
static const struct node node = { .pcis = pcis,
				  .n_pcis = ELEMENTSOF(pcis),
				  .netdevs = netdevs,
				  .n_netdevs = ELEMENTSOF(netdevs),
				  .ibdevs = ibdevs,
				  .n_ibdevs = ELEMENTSOF(ibdevs),
				  .vf_infos = vf_infos,
				  .n_vf_infos = ELEMENTSOF(vf_infos),
				  .modules = modules,
				  .n_modules = ELEMENTSOF(modules) };

static void searches_find_each_element_and_nothing_else(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(pcis); i++)
		assert_ptr_equal(node_pci(&node, pcis[i].address), &pcis[i]);
	for (size_t i = 0; i < ELEMENTSOF(netdevs); i++) {
		assert_ptr_equal(node_netdev(&node, netdevs[i].ifindex), &netdevs[i]);
		assert_ptr_equal(node_netdev_named(&node, netdevs[i].name), &netdevs[i]);
	}
	for (size_t i = 0; i < ELEMENTSOF(memories); i++)
		assert_ptr_equal(memory_device(&remembered, memories[i].pci), &memories[i]);

	assert_null(node_pci(&node, "0000:41:00.1"));
	assert_null(node_netdev(&node, 5));
	assert_null(node_netdev_named(&node, "ens"));
	assert_null(node_netdev_named(&node, ""));
	assert_null(memory_device(&remembered, ""));
}

static void a_function_finds_its_first_netdev_its_ibdev_and_its_vfs(_unused_ void **state)
{
	assert_ptr_equal(node_netdev_of(&node, "0000:41:00.0"), &netdevs[1]);
	assert_null(node_netdev_of(&node, "")); /* not the virtual ones */

	assert_ptr_equal(node_ibdev_of(&node, "0000:41:00.0"), &ibdevs[1]);
	assert_ptr_equal(node_ibdev_of(&node, "0000:c1:00.0"), &ibdevs[2]);
	assert_null(node_ibdev_of(&node, "0000:41:10.0"));
	assert_null(node_ibdev_of(&node, ""));

	assert_ptr_equal(node_vf(&node, "0000:41:00.0", 0), &pcis[2]);
	assert_ptr_equal(node_vf(&node, "0000:41:00.0", 1), &pcis[1]);
	assert_null(node_vf(&node, "0000:41:00.0", 2));
	assert_null(node_vf(&node, "", 0)); /* not the physical ones */
}

static void an_rdma_device_for_data_goes_before_one_for_management(_unused_ void **state)
{
	struct ibdev both[] = { { .name = "smi1", .pci = "0000:41:00.0" },
				{ .name = "xdr0", .pci = "0000:41:00.0", .uverbs = "uverbs0" } };
	const struct node n = { .ibdevs = both, .n_ibdevs = 2 };

	assert_ptr_equal(node_ibdev_of(&n, "0000:41:00.0"), &both[1]);
	both[1].uverbs[0] = '\0'; /* ib_uverbs is not loaded: neither has one */
	assert_ptr_equal(node_ibdev_of(&n, "0000:41:00.0"), &both[0]);
}

static void assert_same_search(const struct node *with, enum node_index_of which, const char *key)
{
	size_t at = SIZE_MAX, at_plain = SIZE_MAX, i;

	do {
		i = node_next(&node, which, key, &at_plain);
		assert_true(node_next(with, which, key, &at) == i);
	} while (i != SIZE_MAX);
}

static void indexes_find_what_a_search_through_all_finds(_unused_ void **state)
{
	static const char *const names[] = { "", "0000:41:00.0", "0000:41:10.0", "0000:c1:00.0",
					     "0000:ff:00.0" };
	struct node with = node;

	node_make_indexes(&with);
	for (size_t i = 0; i < _NODE_INDEX_N; i++)
		assert_non_null(with.indexes[i].places);
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		assert_ptr_equal(node_netdev_of(&with, names[i]), node_netdev_of(&node, names[i]));
		assert_ptr_equal(node_ibdev_of(&with, names[i]), node_ibdev_of(&node, names[i]));
		for (uint32_t k = 0; k < 3; k++)
			assert_ptr_equal(node_vf(&with, names[i], k), node_vf(&node, names[i], k));
	}
	for (size_t i = 0; i < ELEMENTSOF(netdevs); i++)
		assert_ptr_equal(node_netdev_named(&with, netdevs[i].name), &netdevs[i]);
	assert_null(node_netdev_named(&with, "ens"));
	for (enum node_index_of which = 0; which < _NODE_INDEX_N; which++) {
		assert_same_search(&with, which, MAC);
		assert_same_search(&with, which, GUID);
		assert_same_search(&with, which, "0000:41:00.0");
	}

	/* one of before an element went */
	with.n_netdevs--;
	assert_ptr_equal(node_netdev_named(&with, netdevs[0].name), &netdevs[0]);
	assert_null(node_netdev_named(&with, netdevs[ELEMENTSOF(netdevs) - 1].name));
	for (size_t i = 0; i < _NODE_INDEX_N; i++)
		text_index_done(&with.indexes[i]);
}

static void a_function_finds_its_device_in_the_plan(_unused_ void **state)
{
	static const struct pci functions[] = {
		{ .address = "0000:41:00.0" },
		/* the address of a VF may lie before that of its PF's neighbour, and behind */
		{ .address = "0000:41:00.2", .physfn = "0000:41:00.0", .vf_index = 0 },
		{ .address = "0000:41:00.1", .physfn = "0000:41:00.0", .vf_index = 1 },
		{ .address = "0000:41:00.3" },
		{ .address = "0000:42:00.0", .physfn = "0000:41:00.3", .vf_index = 0 },
	};
	static const struct pci other = { .address = "0000:41:00.4" };
	struct device devices[ELEMENTSOF(functions)] = {};
	struct plan p = { .devices = devices, .n_devices = ELEMENTSOF(devices) };

	for (size_t i = 0; i < ELEMENTSOF(functions); i++)
		devices[i].pci = &functions[i];
	for (size_t i = 0; i < ELEMENTSOF(functions); i++)
		assert_ptr_equal(plan_device(&p, &functions[i]), &devices[i]);
	assert_null(plan_device(&p, &other));
	p.n_devices = 0;
	assert_null(plan_device(&p, &functions[0]));
}

static void a_representor_is_no_netdev_of_its_pf(_unused_ void **state)
{
	static struct netdev mixed[] = {
		{ .ifindex = 2, .pci = "0000:41:00.0", .port_name = "pf0vf0" },
		{ .ifindex = 3,
		  .pci = "0000:41:00.0",
		  .port_name = "c1pf0sf88",
		  .perm_mac = "02:01" },
		{ .ifindex = 4, .pci = "0000:41:00.0" }, /* of a driver that gives no port names */
		{ .ifindex = 5, .pci = "0000:41:00.0", .port_name = "p0", .perm_mac = "02:02" },
		{ .ifindex = 6, .pci = "0000:42:00.0", .port_name = "pf1" },
		{ .ifindex = 7, .pci = "0000:43:00.0", .port_name = "pfs0" },
	};
	struct node n = { .netdevs = mixed, .n_netdevs = ELEMENTSOF(mixed) };

	assert_ptr_equal(node_netdev_of(&n, "0000:41:00.0"), &mixed[3]);
	assert_null(node_netdev_of(&n, "0000:42:00.0"));
	assert_ptr_equal(node_netdev_of(&n, "0000:43:00.0"), &mixed[5]);
	n.n_netdevs = 3;
	assert_ptr_equal(node_netdev_of(&n, "0000:41:00.0"), &mixed[2]);
}

static void a_module_is_found_by_either_spelling(_unused_ void **state)
{
	assert_ptr_equal(node_module(&node, "ib_umad"), &modules[0]);
	assert_ptr_equal(node_module(&node, "rdma-ucm"), &modules[1]);
	assert_null(node_module(&node, "rdma"));
	assert_null(node_module(&node, "rdma_ucm2"));
}

static void an_empty_node_has_nothing_and_is_emptied_again(_unused_ void **state)
{
	struct memory memory = {};
	struct node n = {};
	struct plan p = {};

	assert_null(node_pci(&n, "0000:41:00.0"));
	assert_null(node_netdev(&n, 1));
	assert_null(memory_device(&memory, "0000:41:00.0"));
	node_done(&n);
	memory_done(&memory);
	plan_done(&p);

	n.ibdevs = calloc(1, sizeof(*n.ibdevs));
	n.n_ibdevs = 1;
	n.ibdevs[0].ports = calloc(1, sizeof(*n.ibdevs[0].ports));
	n.ibdevs[0].n_ports = 1;
	n.ibdevs[0].ports[0].gids = calloc(1, sizeof(struct gid));
	n.ibdevs[0].ports[0].n_gids = 1;
	node_done(&n);
	memory_done(&memory); /* the sanitizer tells what is left */
	assert_int_equal(n.n_ibdevs, 0);
	node_done(&n);
	memory_done(&memory);
}

/* Memory and ledger have the text. */
static void what_an_action_shows_is_what_it_is_set_to(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *from, *to, *shown_from, *shown_to;
	} rows[] = {
		{ VERB_SET_NUM_VFS, "0", "4", "0", "4" },
		{ VERB_SET_NUM_VFS, "", "max", "", "max" },
		{ VERB_SET_SYSCTL, "-1", "2", "-1", "2" },
		{ VERB_SET_MTU, "1500 ", "9x", "", "" }, /* no numbers */
		{ VERB_SET_NETNS_MODE, "shared", "exclusive", "shared", "exclusive" },
		{ VERB_SET_VF_GUID, "", "0211:2233:4455:6677 0211:2233:4455:6678", "",
		  "0211:2233:4455:6677 0211:2233:4455:6678" },
		{ VERB_SET_VF_GUID, "", "", "", "" },
		{ VERB_SET_VF_MAC, "00:00:00:00:00:00", "02:11:22:33:44:55", "00:00:00:00:00:00",
		  "02:11:22:33:44:55" },
		{ VERB_RELOAD_MODULE, "compat_mode=N", "compat_mode=Y", "compat_mode=N",
		  "compat_mode=Y" },
		{ _VERB_N, "a", "b", "a", "b" }, /* a verb of another version */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = rows[i].verb,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" },
			      b = { .verb = rows[i].verb,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		char buf[SHOWN_LEN];

		action_set(&a, rows[i].from, rows[i].to);
		assert_string_equal(action_from(&a, buf), rows[i].shown_from);
		assert_string_equal(action_to(&a, buf), rows[i].shown_to);
		action_set(&b, rows[i].shown_from, rows[i].shown_to);
		assert_true(action_is_same_step(&a, &b));
		assert_int_equal(action_is_same_change(&a, &(struct action){ .verb = rows[i].verb,
									     .target = "",
									     .subject = "",
									     .detail = "",
									     .error = "" }),
				 !*rows[i].shown_to);
	}
}

static void an_action_in_progress_has_words_for_people(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *target, *subject, *from, *to, *words;
	} rows[] = {
		{ VERB_SET_NUM_VFS, "0000:41:00.0", "", "0", "4",
		  "creating 4 VFs on 0000:41:00.0" },
		{ VERB_SET_NUM_VFS, "0000:41:00.0", "", "4", "0",
		  "removing 4 VFs of 0000:41:00.0" },
		{ VERB_BIND_DRIVER, "0000:41:00.1", "", "", "mlx5_core",
		  "binding 0000:41:00.1 to mlx5_core" },
		{ VERB_LOAD_MODULE, "ib_umad", "", "", "", "loading ib_umad" },
		{ VERB_RELOAD_MODULE, "erdma", "", "compat_mode=N", "compat_mode=Y",
		  "reloading erdma with compat_mode=Y" },
		{ VERB_SET_NETNS_MODE, "", "", "shared", "exclusive",
		  "the node: set-netns-mode exclusive" },
		{ VERB_ADD_ADDRESS, "0000:41:00.0", "10.0.0.2/24", "", "10.0.0.2/24",
		  "0000:41:00.0: add-address 10.0.0.2/24" },
		{ VERB_SET_SYSCTL, "0000:41:00.0", "ipv4/rp_filter", "1", "2",
		  "0000:41:00.0: set-sysctl ipv4/rp_filter 2" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = {
			.verb = rows[i].verb, .target = "", .subject = "", .detail = "", .error = ""
		};
		char words[192];

		a.target = rows[i].target;
		a.subject = rows[i].subject;
		action_set(&a, rows[i].from, rows[i].to);
		action_describe(&a, words, sizeof(words));
		assert_string_equal(words, rows[i].words);
	}
}

/* The rule of model/ledger.h, for the kernel and for files. */
static void before_is_the_first_value_that_is_not_ours(_unused_ void **state)
{
	static const struct {
		const char *now, *to, *from, *before; /* what is there; what comes of it */
	} steps[] = {
		{ "theirs", "a", "theirs", "" },
		{ "a", "b", "theirs", "a" },
		{ "a", "c", "theirs", "a" }, /* "b" failed */
		{ "c", "c", "theirs", "c" },
		{ "theirs", "d", "theirs", "" },
		{ "other", "d", "other", "" },
		{ "d", "a", "other", "d" },
		{ "", "a", "", "" },
	};
	struct ledger_entry e = {};

	for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
		ledger_enter(&e, steps[i].now, steps[i].to);
		assert_string_equal(e.from, steps[i].from);
		assert_string_equal(e.before, steps[i].before);
		assert_true(ledger_is_ours(&e, steps[i].to));
		assert_false(ledger_is_ours(&e, "theirs"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_code_a_meaning_and_advice),
		cmocka_unit_test(reason_codes_are_lower_case_words_and_unique),
		cmocka_unit_test(what_is_no_reason_has_no_words),
		cmocka_unit_test(message_ids_are_for_ever),
		cmocka_unit_test(no_two_messages_have_one_id),
		cmocka_unit_test(the_journal_is_as_loud_as_the_administrator_has_to_act),
		cmocka_unit_test(every_enum_has_names_and_what_is_no_member_has_none),
		cmocka_unit_test(verbs_that_count_are_numeric),
		cmocka_unit_test(what_an_action_shows_is_what_it_is_set_to),
		cmocka_unit_test(an_action_in_progress_has_words_for_people),
		cmocka_unit_test(searches_find_each_element_and_nothing_else),
		cmocka_unit_test(a_function_finds_its_first_netdev_its_ibdev_and_its_vfs),
		cmocka_unit_test(an_rdma_device_for_data_goes_before_one_for_management),
		cmocka_unit_test(indexes_find_what_a_search_through_all_finds),
		cmocka_unit_test(a_function_finds_its_device_in_the_plan),
		cmocka_unit_test(a_representor_is_no_netdev_of_its_pf),
		cmocka_unit_test(a_module_is_found_by_either_spelling),
		cmocka_unit_test(an_empty_node_has_nothing_and_is_emptied_again),
		cmocka_unit_test(before_is_the_first_value_that_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
