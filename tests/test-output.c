/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "../src/base/document.h"
#include "../src/plugin/plugin-output.h"
#include "../src/show/actions.h"
#include "../src/show/check.h"
#include "../src/show/explain.h"
#include "../src/show/sheet.h"
#include "../src/show/state.h"
#include "../src/show/tree.h"
#include "action.h"
#include "memory.h"

#define BOOT          "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
#define NO_INDEX      UINT32_MAX
#define SET(to, from) snprintf((to), sizeof(to), "%s", (from))

/* One PF with two VFs, and a card without any: the plan hands out the VFs and the second card. */
struct machine {
	struct config config;
	struct device_config sections[2];
	struct node node;
	struct memory memory;
	struct pci pcis[4];
	struct netdev netdevs[4];
	struct ibdev ibdevs[4];
	struct port ports[4];
	struct gid gids[2];
	struct device devices[4];
	struct exposed exposed[4];
	struct plan plan;
};

static void add_function(struct machine *m, size_t i, const char *pci, const char *netdev,
			 const char *ibdev)
{
	SET(m->pcis[i].address, pci);
	SET(m->pcis[i].driver, "mlx5_core");
	m->pcis[i].vendor = 0x15b3;
	m->pcis[i].device = 0x101e;
	m->pcis[i].numa_node = 0;
	m->netdevs[i] = (struct netdev){ .ifindex = (uint32_t)i + 2, .mtu = 1500 };
	SET(m->netdevs[i].name, netdev);
	SET(m->netdevs[i].pci, pci);
	m->ports[i] = (struct port){ 1, "ACTIVE", "Ethernet", "400 Gb/sec (4X NDR)", m->gids, 2 };
	m->ibdevs[i] = (struct ibdev){ .index = (uint32_t)i,
				       .uverbs = "uverbs0",
				       .umad = "umad0",
				       .ports = &m->ports[i],
				       .n_ports = 1 };
	SET(m->ibdevs[i].name, ibdev);
	SET(m->ibdevs[i].pci, pci);
	m->devices[i] = (struct device){ .pci = &m->pcis[i],
					 .netdev = &m->netdevs[i],
					 .ibdev = &m->ibdevs[i],
					 .config = &m->sections[0],
					 .is_handed_out = true,
					 .is_usable = true };
	SET(m->exposed[i].pci, pci);
}

static void make_machine(struct machine *m)
{
	*m = (struct machine){};
	m->sections[0] = (struct device_config){ .name = "rail", .mode = VF_MODE_SHARED_MULTI };
	m->sections[1] = (struct device_config){ .name = "storage", .mode = VF_MODE_EXCLUSIVE };
	m->gids[0] =
		(struct gid){ 1, "fe80:0000:0000:0000:5054:00ff:fe12:3456", "RoCE v2", "ens1" };
	m->gids[1] =
		(struct gid){ 3, "0000:0000:0000:0000:0000:ffff:0a00:0002", "RoCE v2", "ens1" };

	add_function(m, 0, "0000:41:00.0", "ens1", "mlx5_0");
	add_function(m, 1, "0000:41:00.2", "ens1v0", "mlx5_2");
	add_function(m, 2, "0000:41:00.3", "ens1v1", "mlx5_3");
	add_function(m, 3, "0000:c1:00.0", "ens2", "mlx5_1");
	m->pcis[0].total_vfs = 8;
	m->pcis[3].numa_node = 1;
	m->devices[0].is_handed_out = false;
	m->devices[1].is_vf = m->devices[2].is_vf = true;
	m->devices[3].config = &m->sections[1];

	SET(m->config.plugin.resource, "rdma/hca");
	SET(m->config.plugin.config_file, "/run/rdma-provision/device-plugin/config.json");
	SET(m->config.hash, "00112233445566ff");
	m->config.plugin.type = PLUGIN_RDMA_SHARED;
	m->config.plugin.shares = 1000;
	SET(m->node.boot_id, BOOT);
	m->node.netdevs = m->netdevs;
	m->node.n_netdevs = ELEMENTSOF(m->netdevs);
	m->plan = (struct plan){ .devices = m->devices, .n_devices = 4, .state = NODE_READY };
	m->plan.lint.exposed = m->exposed;
	m->plan.lint.n_exposed = 4;
}

/* eRDMA: the function has no netdev of its own. */
static void make_erdma(struct machine *m, size_t i)
{
	m->pcis[i].vendor = 0x1ded;
	m->pcis[i].device = 0x107f;
	SET(m->pcis[i].driver, "erdma");
	SET(m->netdevs[i].pci, "0000:00:05.0");
}

static void lose(struct device *d, enum reason reason)
{
	d->is_usable = false;
	d->reason = reason;
}

static json_t *selectors_of(const char *text)
{
	json_auto_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *list = json_object_get(document, "configList");

	assert_int_equal(json_array_size(list), 1); /* names of resources must be unique */
	return json_incref(json_object_get(json_array_get(list, 0), "selectors"));
}

/* "ens1v0 ens1v1" for a list of a text; "" when there is none. */
static void join(const json_t *selectors, const char *key, char *buf, size_t size)
{
	const json_t *list = json_object_get(selectors, key);
	size_t n = 0;

	*buf = '\0';
	for (size_t i = 0; i < json_array_size(list); i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? " " : "",
				      json_string_value(json_array_get(list, i)));
}

static void plugin_file_is_what_the_plugin_reads(_unused_ void **state)
{
	static const char expected[] = "{\n"
				       "  \"periodicUpdateInterval\": 60,\n"
				       "  \"configList\": [\n"
				       "    {\n"
				       "      \"resourceName\": \"hca\",\n"
				       "      \"resourcePrefix\": \"rdma\",\n"
				       "      \"rdmaHcaMax\": 1000,\n"
				       "      \"selectors\": {\n"
				       "        \"ifNames\": [\n"
				       "          \"ens1v0\",\n"
				       "          \"ens1v1\",\n"
				       "          \"ens2\"\n"
				       "        ]\n"
				       "      }\n"
				       "    }\n"
				       "  ]\n"
				       "}\n";
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make_machine(&m);
	assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
	assert_string_equal(text, expected);
}

static void plugin_selects_what_is_usable_and_nothing_else(_unused_ void **state)
{
	enum {
		LOST = 1,         /* the first VF is not usable */
		POD = 2,          /* the second VF is in a pod */
		ERDMA = 4,        /* the second card is an eRDMA */
		ONLY_ERDMA = 8,   /* all cards are */
		DEAF = 16,        /* the lost one has no umad, so that the plugin drops it */
		ERDMA_POD = 32,   /* the netdev of the second eRDMA is in a pod */
		FLAPS = 64,       /* the lost one is excluded */
		OTHER_POOL = 128, /* the lost one is of another resource */
		OF_HOST = 256,    /* the lost one is left to the host */
	};
	static const struct {
		int what;
		const char *names, *vendors, *devices, *drivers;
		size_t n_expressed;
	} cases[] = {
		{ 0, "ens1v0 ens1v1 ens2", "", "", "", 3 },
		{ LOST, "ens1v1 ens2", "", "", "", 2 },
		{ POD, "ens1v0 ens1v1 ens2", "", "", "", 3 },
		{ LOST | POD, "ens1v1 ens2", "", "", "", 2 },
		/* Both kinds do not fit into one entry. */
		{ ERDMA, "ens1v0 ens1v1", "", "", "", 2 },
		{ ONLY_ERDMA | DEAF, "", "1ded", "107f", "erdma", 2 },
		/* By ids the plugin takes the one that is not usable as well, by names none. */
		{ ONLY_ERDMA | LOST, "", "1ded", "107f", "erdma", 1 },
		{ ONLY_ERDMA | LOST | FLAPS, NULL, "", "", "", 0 },
		{ ONLY_ERDMA | LOST | OTHER_POOL, NULL, "", "", "", 0 },
		{ ONLY_ERDMA | LOST | OF_HOST, NULL, "", "", "", 0 },
		{ ONLY_ERDMA | ERDMA_POD, "", "1ded", "107f", "erdma", 2 },
		{ ONLY_ERDMA | LOST | DEAF, "", "1ded", "107f", "erdma", 1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		json_auto_t *selectors = NULL;
		char list[256];
		size_t n = 0;
		struct machine m;

		make_machine(&m);
		if (cases[i].what & LOST)
			lose(&m.devices[1], REASON_PORT_DOWN);
		if (cases[i].what & POD) {
			m.devices[2].netdev = NULL;
			m.devices[2].is_in_pod = true;
			SET(m.devices[2].netdev_name, "ens1v1");
		}
		if (cases[i].what & ERDMA)
			make_erdma(&m, 3);
		if (cases[i].what & ONLY_ERDMA) {
			m.plan.n_devices = 2;
			m.devices[0].is_handed_out = true;
			make_erdma(&m, 0);
			make_erdma(&m, 1);
		}
		if (cases[i].what & ERDMA_POD) {
			m.devices[1].netdev = NULL;
			m.devices[1].is_in_pod = true;
			SET(m.devices[1].netdev_name, "eth1");
		}
		if (cases[i].what & DEAF)
			*m.ibdevs[1].umad = '\0';
		m.devices[1].is_excluded = cases[i].what & FLAPS;
		if (cases[i].what & OTHER_POOL) {
			m.devices[1].config = &m.sections[1];
			SET(m.sections[1].resource, "rdma/other");
		}
		if (cases[i].what & OF_HOST)
			m.devices[1].is_handed_out = false;

		assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
		for (size_t j = 0; j < m.plan.n_devices; j++)
			n += output_plugin_has(&m.config, &m.node, &m.plan, &m.devices[j]);
		assert_int_equal(n, cases[i].n_expressed);

		if (!cases[i].names) {
			assert_null(text);
			continue;
		}
		selectors = selectors_of(text);
		join(selectors, "ifNames", list, sizeof(list));
		assert_string_equal(list, cases[i].names);
		join(selectors, "vendors", list, sizeof(list));
		assert_string_equal(list, cases[i].vendors);
		join(selectors, "deviceIDs", list, sizeof(list));
		assert_string_equal(list, cases[i].devices);
		join(selectors, "drivers", list, sizeof(list));
		assert_string_equal(list, cases[i].drivers);
	}
}

static void resource_is_split_at_its_last_slash(_unused_ void **state)
{
	static const struct {
		const char *resource, *prefix, *name;
	} cases[] = {
		{ "rdma/hca", "rdma", "hca" },
		{ "hca", "", "hca" },
		{ "vke.volcengine.com/rdma", "vke.volcengine.com", "rdma" },
		{ "a/b/c", "a/b", "c" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		char expected[256];
		struct machine m;

		make_machine(&m);
		SET(m.config.plugin.resource, cases[i].resource);
		assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
		snprintf(expected, sizeof(expected),
			 "\"resourceName\": \"%s\",\n      \"resourcePrefix\": \"%s\"",
			 cases[i].name, cases[i].prefix);
		assert_non_null(strstr(text, expected));
	}
}

static void no_usable_device_gives_no_plugin_file(_unused_ void **state)
{
	struct machine m;
	char *text = (char *)"as it was";

	make_machine(&m);
	for (size_t i = 0; i < m.plan.n_devices; i++)
		lose(&m.devices[i], REASON_NO_GID);
	assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
	assert_null(text);

	m.plan.n_devices = 0;
	assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
	assert_null(text);
}

static struct action actions[] = {
	{ STEP_VF, VERB_SET_NUM_VFS, CLASS_CHANGE, .target = "0000:41:00.0",
	  .number = { { true, 0 }, { true, 4 } } },
	{ STEP_DRIVER, VERB_LOAD_MODULE, CLASS_CHANGE, .target = "ib_umad" },
	{ STEP_VF, VERB_BIND_DRIVER, CLASS_CHANGE, .target = "0000:41:00.2",
	  .text.to = "mlx5_core" },
	{ STEP_LINK, VERB_SET_LINK_UP, CLASS_CHANGE, .target = "0000:41:00.0", .detail = "ens1" },
	{ STEP_NETNS, VERB_SET_NETNS_MODE, CLASS_CHANGE, .text = { "shared", "exclusive" } },
	{ STEP_VF, VERB_SET_NUM_VFS, CLASS_NEEDS_REBOOT, REASON_VF_IN_USE, "0000:c1:00.0",
	  .number = { { true, 4 }, { true, 2 } }, .detail = "ens2v1 is in another namespace" },
	{ STEP_LINK, VERB_WAIT, CLASS_WAITING, REASON_PORT_DOWN, .target = "0000:c1:00.0" },
	{ STEP_LINK, VERB_SET_MTU, CLASS_CHANGE, .target = "0000:41:00.0", .ifindex = 7,
	  .number = { { true, 1500 }, { true, 4200 } }, .detail = "ens1.5" },
};

static void plan_text_does_not_move_the_cursor(_unused_ void **state)
{
	struct action a = { .step = STEP_LINK,
			    .verb = VERB_WAIT,
			    .class = CLASS_WAITING,
			    .reason = REASON_PORT_DOWN,
			    .detail = "port 1 is \x1b[2J\rM\xc3\xbc\xc2\x9b\x7f",
			    .target = "",
			    .subject = "",
			    .error = "" };
	struct plan p = { .actions = &a, .n_actions = 1 };
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(output_actions_text(&p, &text), 0);
	assert_non_null(strstr(text, "port 1 is ?[2J?M\xc3\xbc?\x9b?\n"));
}

static void plan_text_is_one_line_for_each_action(_unused_ void **state)
{
	static const char *const expected[] = {
		"0000:41:00.0: set-num-vfs 0 -> 4\n",         "ib_umad: load-module\n",
		"0000:41:00.2: bind-driver mlx5_core\n",      "0000:41:00.0: set-link-up (ens1)\n",
		"node: set-netns-mode shared -> exclusive\n",
	};
	_cleanup_(freep) char *text = NULL;
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	char line[1024];
	const char *rest;

	assert_int_equal(output_actions_text(&p, &text), 0);
	rest = text;
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		rest = after(rest, expected[i]);
		assert_non_null(rest);
	}

	snprintf(line, sizeof(line),
		 "0000:c1:00.0: set-num-vfs 4 -> 2: needs-reboot (vf-in-use)\n"
		 "  %s: ens2v1 is in another namespace\n"
		 "  → %s\n"
		 "0000:c1:00.0: wait: waiting (port-down)\n"
		 "  %s\n"
		 "  → %s\n"
		 "0000:41:00.0: set-mtu 1500 -> 4200 (ens1.5)\n"
		 "Then identity, driver and link of 0000:41:00.0 VF 0-3\n"
		 "\n"
		 "6 changes now, 4 VFs later, 1 waits, 1 needs a reboot\n",
		 reason_meaning(REASON_VF_IN_USE), reason_advice(REASON_VF_IN_USE),
		 reason_meaning(REASON_PORT_DOWN), reason_advice(REASON_PORT_DOWN));
	assert_string_equal(rest, line);
}

static void what_becomes_of_new_vfs_comes_after_the_plan(_unused_ void **state)
{
	static const struct {
		const char *from, *to;
		enum class class;
		const char *expected;
	} rows[] = {
		{ "0", "4", CLASS_CHANGE, "0000:41:00.0 VF 0-3, 0000:41:00.0 VF 0" },
		{ "4", "1", CLASS_CHANGE, "0000:41:00.0 VF 0, 0000:41:00.0 VF 0" },
		{ "4", "0", CLASS_CHANGE, "0000:41:00.0 VF 0" },
		{ "4", "2", CLASS_NEEDS_REBOOT, "0000:41:00.0 VF 0" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a[2] = {
			{ .verb = VERB_SET_NUM_VFS, .class = rows[i].class },
			{ .verb = VERB_SET_NUM_VFS, .class = CLASS_CHANGE },
		};
		const struct plan p = { .actions = a, .n_actions = ELEMENTSOF(a) };
		_cleanup_(freep) char *text = NULL;
		char line[128];

		for (size_t k = 0; k < ELEMENTSOF(a); k++)
			a[k].target = "0000:41:00.0";
		complete_actions(a, ELEMENTSOF(a));
		action_set(&a[0], rows[i].from, rows[i].to);
		action_set(&a[1], "0", "1");
		assert_int_equal(output_actions_text(&p, &text), 0);
		snprintf(line, sizeof(line), "\nThen identity, driver and link of %s\n",
			 rows[i].expected);
		assert_non_null(strstr(text, line));
	}
}

static void only_sriov_tells_numa_nodes(_unused_ void **state)
{
	for (unsigned t = 0; t < _PLUGIN_N; t++) {
		const struct config c = { .plugin.type = (enum plugin_type)t };

		assert_int_equal(output_has_hints(&c), t == PLUGIN_SRIOV);
	}
}

static void plan_text_ends_with_hints(_unused_ void **state)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(plan_done) struct plan p = {};
	char expected[1024];

	plan_add_hint(&p, REASON_GPU_SHARED_MULTI, "", "GPU 0000:90:00.0");
	plan_add_hint(&p, REASON_AUTOPROBE_OFF, "0000:41:00.0", NULL);
	snprintf(expected, sizeof(expected),
		 "Hints:\n"
		 "node: gpu-shared-multi\n"
		 "  %s: GPU 0000:90:00.0\n"
		 "  → %s\n"
		 "0000:41:00.0: autoprobe-off\n"
		 "  %s\n"
		 "  → %s\n"
		 "\n"
		 "Nothing to change on the node\n",
		 reason_meaning(REASON_GPU_SHARED_MULTI), reason_advice(REASON_GPU_SHARED_MULTI),
		 reason_meaning(REASON_AUTOPROBE_OFF), reason_advice(REASON_AUTOPROBE_OFF));
	assert_int_equal(output_actions_text(&p, &text), 0);
	assert_string_equal(text, expected);
}

static void neighbours_of_one_reason_share_their_advice(_unused_ void **state)
{
	static const char *const details[] = { "", "", "state DOWN", "state INIT" };
	_cleanup_(freep) char *text = NULL;
	_cleanup_(plan_done) struct plan p = {};
	char expected[2048], target[32];

	for (size_t i = 0; i < ELEMENTSOF(details); i++) {
		snprintf(target, sizeof(target), "0000:41:00.%zu", i);
		plan_add_wait(&p, STEP_LINK, CLASS_WAITING, target, REASON_PORT_DOWN, "%s",
			      details[i]);
		plan_add_hint(&p, REASON_SMC_IWARP, target, "%s", details[i]);
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(target, sizeof(target), "0000:41:00.%zu", i);
		plan_add_hint(&p, REASON_AUTOPROBE_OFF, target, "by hand");
	}
	snprintf(expected, sizeof(expected),
		 "0000:41:00.0, 0000:41:00.1, 0000:41:00.2, 0000:41:00.3: wait: waiting "
		 "(port-down)\n"
		 "  %s\n"
		 "  0000:41:00.2: state DOWN\n"
		 "  0000:41:00.3: state INIT\n"
		 "  → %s\n"
		 "\n"
		 "Hints:\n"
		 "0000:41:00.0, 0000:41:00.1, 0000:41:00.2, 0000:41:00.3: smc-iwarp\n"
		 "  %s\n"
		 "  0000:41:00.2: state DOWN\n"
		 "  0000:41:00.3: state INIT\n"
		 "  → %s\n"
		 "0000:41:00.0, 0000:41:00.1: autoprobe-off\n"
		 "  %s: by hand\n"
		 "  → %s\n"
		 "\n"
		 "0 changes now, 4 wait\n",
		 reason_meaning(REASON_PORT_DOWN), reason_advice(REASON_PORT_DOWN),
		 reason_meaning(REASON_SMC_IWARP), reason_advice(REASON_SMC_IWARP),
		 reason_meaning(REASON_AUTOPROBE_OFF), reason_advice(REASON_AUTOPROBE_OFF));
	assert_int_equal(output_actions_text(&p, &text), 0);
	assert_string_equal(text, expected);
}

static void a_group_lists_targets_and_has_one_advice(_unused_ void **state)
{
	/* target, code, detail, advice; details: how many, 0 when they are the same */
	static const char *const reasons[][4] = {
		{ "a", "x", "1", "do" }, { "b", "x", "1", "do" },  { "c", "y", "1", "do" },
		{ "d", "y", "", "do" },  { "e", "y", "2", "do" },  { "", "y", "2", "do" },
		{ "f", "y", "2", "do" }, { "g", "y", "2", "not" },
	};
	static const struct {
		const char *target, *detail, *advice;
		size_t n_details;
	} expected[] = {
		{ "a, b", "1", "do", 0 }, { "c, d, e", "", "do", 3 }, { "", "2", "do", 0 },
		{ "f", "2", "do", 0 },    { "g", "2", "not", 0 },
	};
	json_auto_t *list = json_array(), *groups = NULL;

	for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s}", "target", reasons[i][0],
						"code", reasons[i][1], "detail", reasons[i][2],
						"advice", reasons[i][3]));
	groups = output_group(list);
	assert_int_equal(json_array_size(groups), ELEMENTSOF(expected));
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		const json_t *g = json_array_get(groups, i);

		assert_string_equal(document_get_text(g, "target"), expected[i].target);
		assert_string_equal(document_get_text(g, "detail"), expected[i].detail);
		assert_string_equal(document_get_text(g, "advice"), expected[i].advice);
		assert_int_equal(json_array_size(json_object_get(g, "details")),
				 expected[i].n_details);
	}
	assert_string_equal(document_get_text(json_array_get(list, 0), "target"), "a");
}

static void the_tree_counts_nics_where_a_bond_has_two(_unused_ void **state)
{
	_cleanup_(freep) char *json = NULL, *text = NULL;
	struct machine m;

	make_machine(&m);
	lose(&m.devices[3], REASON_PORT_OF_LAG);
	assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &json), 0);
	assert_int_equal(output_tree(json, TREE_ALL, &(struct screen){ .width = 100 }, &text), 0);
	assert_non_null(strstr(text, ": 2 NICs, 2 of 3 devices usable, "));
}

static void plan_json_has_numbers_where_the_verb_counts(_unused_ void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	json_auto_t *document = NULL;
	const json_t *list;

	assert_int_equal(output_actions_json(&p, &text), 0);
	assert_true(is_prefix(text,
			      "{\"actions\":[\n"
			      "  {\"step\": \"vf\", \"verb\": \"set-num-vfs\", \"target\": "
			      "\"0000:41:00.0\", \"from\": 0, \"to\": 4, \"class\": \"change\", "
			      "\"code\": \"\", \"advice\": \"\", \"detail\": \"\"},\n"));
	assert_string_equal(text + strlen(text) - 17, "}\n],\n\"needs\":[]}\n");

	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	list = json_object_get(document, "actions");
	assert_int_equal(json_array_size(list), ELEMENTSOF(actions));
	for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
		const json_t *a = json_array_get(list, i);

		assert_int_equal(json_is_integer(json_object_get(a, "to")),
				 verb_is_numeric(actions[i].verb));
		assert_string_equal(json_string_value(json_object_get(a, "code")),
				    reason_code(actions[i].reason));
	}
}

static void an_empty_plan_is_an_empty_list_and_says_so(_unused_ void **state)
{
	_cleanup_(freep) char *json = NULL, *text = NULL;
	struct plan p = {};

	assert_int_equal(output_actions_json(&p, &json), 0);
	assert_string_equal(json, "{\"actions\":[],\n\"needs\":[]}\n");
	assert_int_equal(output_actions_text(&p, &text), 0);
	assert_string_equal(text, "Nothing to change on the node\n");
}

static void odd_text_never_spoils_a_document(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *from, *target, *expected;
	} cases[] = {
		{ VERB_ENSURE_KUBELET, "4", "t", "\"from\": \"4\"" },
		{ VERB_SET_MTU, "4", "t", "\"from\": 4" },
		{ VERB_SET_NUM_VFS, "none", "t", "\"from\": \"\"" },
		{ VERB_SET_NUM_VFS, "", "t", "\"from\": \"\"" },
		{ VERB_SET_NUM_VFS, "max", "t", "\"from\": \"max\"" },
		{ VERB_SET_NUM_VFS, "99999999999999999999999", "t", "\"from\": \"\"" },
		{ VERB_SET_SYSCTL, "-1", "t", "\"from\": \"-1\"" },
		{ VERB_SET_NUM_VFS, "4",
		  "a\xff"
		  "b",
		  "\"target\": \"a?b\"" },
		{ VERB_SET_NUM_VFS, "4", "\"\n", "\"target\": \"\\\"\\n\"" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		struct action a = { .verb = cases[i].verb,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };

		action_set(&a, cases[i].from, "");
		a.target = cases[i].target;
		assert_int_equal(output_actions_json(&p, &text), 0);
		assert_non_null(strstr(text, cases[i].expected));
	}
}

static json_t *state_of(struct machine *m)
{
	_cleanup_(freep) char *text = NULL, *again = NULL;
	json_t *document;

	assert_int_equal(output_state(&m->config, &m->node, &m->memory, &m->plan, &text), 0);
	assert_int_equal(output_state(&m->config, &m->node, &m->memory, &m->plan, &again), 0);
	assert_string_equal(text, again);

	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	return document;
}

/* Member of a member: "devices", 0, "vfs", 1, "pci" is "devices/0/vfs/1/pci". */
static const json_t *at(const json_t *value, const char *path)
{
	while (*path) {
		const size_t n = strcspn(path, "/");
		char word[32];

		snprintf(word, sizeof(word), "%.*s", (int)n, path);
		value = json_is_array(value) ? json_array_get(value, strtoul(word, NULL, 10))
					     : json_object_get(value, word);
		path += n + (path[n] == '/');
	}

	return value;
}

static void state_has_every_fact_in_its_place(_unused_ void **state)
{
	static const struct {
		const char *path, *expected;
	} cases[] = {
		{ "schema", "1" },
		{ "boot_id", "\"" BOOT "\"" },
		{ "config_hash", "\"00112233445566ff\"" },
		{ "state", "\"ready\"" },
		{ "reasons", "[]" },
		{ "devices/0/pci", "\"0000:41:00.0\"" },
		{ "devices/0/total_vfs", "8" },
		{ "devices/0/handed_out", "false" },
		{ "devices/0/section", "\"rail\"" },
		{ "devices/0/vfs/1/pci", "\"0000:41:00.3\"" },
		{ "devices/0/vfs/1/netdev", "\"ens1v1\"" },
		{ "devices/0/vfs/1/ports/0/port", "1" },
		{ "devices/0/vfs/1/ports/0/gids/1/index", "3" },
		{ "devices/0/vfs/1/mtu", "1500" },
		{ "devices/0/vfs/1/usable", "true" },
		{ "devices/0/vfs/1/vfs", NULL },
		{ "devices/0/vfs/2", NULL },
		{ "devices/1/numa_node", "1" },
		{ "devices/1/mode", "\"exclusive\"" },
		{ "devices/1/vfs", "[]" },
		{ "devices/2", NULL },
		{ "plugin",
		  "{\"type\": \"rdma-shared\", \"path\": \"/run/rdma-provision/device-plugin/"
		  "config.json\", \"written\": false, \"devices\": 3, \"resources\": "
		  "[{\"resource\": "
		  "\"rdma/hca\", \"devices\": 3, \"allocatable\": 1000, \"shared\": true}], "
		  "\"left_out\": [], \"manifest\": \"\"}" },
		{ "kubelet",
		  "{\"policy\": \"\", \"scope\": \"\", \"cpu_policy\": \"\", \"source\": \"\", "
		  "\"path\": \"\", \"line\": 0, \"outcome\": \"\", \"code\": \"\", \"detail\": "
		  "\"\", \"since\": \"\", \"deferred\": false, \"hints\": false}" },
	};
	struct machine m;
	json_auto_t *document = NULL;

	make_machine(&m);
	document = state_of(&m);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const json_t *value = at(document, cases[i].path);
		_cleanup_(freep) char *text = json_dumps(value, JSON_ENCODE_ANY);

		if (!cases[i].expected)
			assert_null(value);
		else
			assert_string_equal(text, cases[i].expected);
	}
}

static void plugin_is_written_when_the_file_is_what_it_should_be(_unused_ void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct machine m;
	json_auto_t *same = NULL, *other = NULL, *none = NULL;

	make_machine(&m);
	make_erdma(&m, 3);
	assert_int_equal(output_plugin(&m.config, &m.node, &m.plan, &text), 0);
	m.node.plugin_file = m.plan.plugin = text;
	same = state_of(&m);
	assert_true(json_is_true(at(same, "plugin/written")));
	assert_string_equal(json_string_value(at(same, "plugin/left_out/0")), "0000:c1:00.0");

	m.plan.plugin = (char *)"another";
	other = state_of(&m);
	assert_true(json_is_false(at(other, "plugin/written")));

	m.config.plugin.type = PLUGIN_NONE;
	none = state_of(&m);
	assert_true(json_is_false(at(none, "plugin/written")));
	assert_int_equal(json_array_size(at(none, "plugin/left_out")), 0);
}

/* The function that is not handed out does not count, whatever the plugin makes of it. */
static void a_resource_has_the_devices_that_are_exposed(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		size_t n_exposed;
		enum reason refusal;
		int n_devices, n_of_resource;
	} cases[] = {
		{ PLUGIN_RDMA_SHARED, 4, REASON_NONE, 3, 3 },
		{ PLUGIN_SRIOV, 4, REASON_NONE, 3, 3 },
		{ PLUGIN_SRIOV, 2, REASON_NONE, 3, 1 },
		{ PLUGIN_SRIOV, 0, REASON_NONE, 3, 0 },
		{ PLUGIN_HCA, 4, REASON_NETNS_EXCLUSIVE, 3, 0 },
		{ PLUGIN_DRANET, 4, REASON_NONE, 3, 3 },
		{ PLUGIN_DRA_SRIOV, 3, REASON_NONE, 3, 2 },
		{ PLUGIN_NONE, 0, REASON_NONE, 0, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *document = NULL;
		struct machine m;

		make_machine(&m);
		m.config.plugin.type = cases[i].type;
		m.plan.lint.n_exposed = cases[i].n_exposed;
		m.plan.lint.refusal = cases[i].refusal;
		document = state_of(&m);
		assert_int_equal(json_integer_value(at(document, "plugin/devices")),
				 cases[i].n_devices);
		assert_int_equal(json_integer_value(at(document, "plugin/resources/0/devices")),
				 cases[i].n_of_resource);
	}
}

static void reasons_are_in_order_and_told_once(_unused_ void **state)
{
	static const struct {
		const char *code, *target, *detail;
	} expected[] = {
		{ "config-unknown", "", "50-new.conf:3: Colour" },
		{ "config-ignored", "/run/rdma-provision/rdma-provision.conf", "" },
		{ "port-down", "0000:c1:00.0", "port 1 is DOWN" },
		{ "action-timeout", "0000:41:00.0", "set-num-vfs 0 -> 4: Connection timed out" },
		{ "module-symbol", "ib_umad", "load-module: no such module" },
		{ "netns-busy", "", "set-netns-mode shared -> exclusive: Device or resource busy" },
		{ "vf-in-use", "0000:c1:00.0", "ens2v1 is in another namespace" },
		{ "kubelet-no-file", "", "" },
	};
	struct action tried[ELEMENTSOF(actions)];
	_cleanup_(memory_done) struct memory next = {};
	struct machine m;
	json_auto_t *document = NULL;
	const json_t *list;

	make_machine(&m);
	memcpy(tried, actions, sizeof(tried));
	tried[0].is_done = tried[1].is_done = tried[2].is_done = true;
	tried[0].result = -ETIMEDOUT;
	tried[1].result = -ENOENT;
	tried[1].error = "no such module";
	tried[4].is_done = true;
	tried[4].result = -EBUSY;
	m.config.has_unknown = true;
	SET(m.config.problem, "50-new.conf:3: Colour");
	SET(m.config.ignored, "/run/rdma-provision/rdma-provision.conf");
	lose(&m.devices[0], REASON_NO_IBDEV); /* not handed out: nobody misses it */
	lose(&m.devices[3], REASON_PORT_DOWN);
	SET(m.devices[3].detail, "port 1 is DOWN");
	m.devices[1].is_in_pod = true;
	m.devices[1].reason = REASON_IN_POD;
	m.plan.actions = tried;
	m.plan.n_actions = ELEMENTSOF(tried);
	m.plan.reasons = calloc(1, sizeof(*m.plan.reasons));
	m.plan.reasons[0].reason = REASON_KUBELET_NO_FILE;
	m.plan.n_reasons = 1;

	document = state_of(&m);
	list = at(document, "reasons");
	assert_int_equal(json_array_size(list), ELEMENTSOF(expected));
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		const json_t *r = json_array_get(list, i);

		assert_string_equal(json_string_value(at(r, "code")), expected[i].code);
		assert_string_equal(json_string_value(at(r, "target")), expected[i].target);
		assert_string_equal(json_string_value(at(r, "detail")), expected[i].detail);
		assert_string_equal(json_string_value(at(r, "advice")),
				    reason_advice(reason_from_code(expected[i].code)));
	}
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
	assert_string_equal(next.stuck, ""); /* the next look finds it */
	free(m.plan.reasons);
}

static void an_action_with_advice_of_its_own_tells_that(_unused_ void **state)
{
	static const char own[] = "Remove compat_mode=N from line 3 of /etc/modprobe.d/a.conf.";
	_cleanup_(freep) char *text = NULL, *plan = NULL;
	struct action refused = { STEP_DRIVER,
				  VERB_SET_OPTION,
				  CLASS_REFUSED,
				  REASON_OPTION_CONFLICT,
				  .target = "erdma",
				  .text.from = "compat_mode=N",
				  .text.to = "compat_mode=Y",
				  .subject = "",
				  .detail = "",
				  .error = "" };
	json_auto_t *document = NULL, *actions_document = NULL;
	struct machine m;

	refused.advice = own;
	make_machine(&m);
	m.plan.actions = &refused;
	m.plan.n_actions = 1;
	document = state_of(&m);
	assert_string_equal(json_string_value(at(document, "reasons/0/code")), "option-conflict");
	assert_string_equal(json_string_value(at(document, "reasons/0/advice")), own);

	assert_int_equal(output_actions_text(&m.plan, &text), 0);
	assert_true(is_prefix(text, "erdma: set-option compat_mode=N -> compat_mode=Y: refused "));
	assert_non_null(strstr(text, own));
	assert_null(strstr(text, reason_advice(REASON_OPTION_CONFLICT)));

	assert_int_equal(output_actions_json(&m.plan, &plan), 0);
	actions_document = json_loads(plan, 0, NULL);
	assert_string_equal(json_string_value(at(actions_document, "actions/0/advice")), own);
}

static void what_a_process_kept_from_being_done_is_remembered_as_failed(_unused_ void **state)
{
	struct action busy = { STEP_NETNS,
			       VERB_SET_NETNS_MODE,
			       CLASS_NEEDS_REBOOT,
			       REASON_NETNS_BUSY,
			       .text.to = "exclusive",
			       .is_done = true,
			       .result = -EBUSY,
			       .target = "",
			       .subject = "",
			       .detail = "",
			       .error = "" };
	_cleanup_(memory_done) struct memory next = {};
	json_auto_t *document = NULL;
	struct machine m;

	make_machine(&m);
	m.plan.actions = &busy;
	m.plan.n_actions = 1;
	document = state_of(&m);
	assert_int_equal(json_array_size(at(document, "reasons")), 1);
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
	assert_int_equal(next.n_attempts, 1);
	assert_string_equal(next.attempts[0].to, "exclusive");
}

static void memory_comes_back_as_it_was_written(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory next = {};
	static const struct device_memory expected[] = {
		{ "0000:41:00.0", "mlx5_0", "ens1", 0, true },
		{ "0000:41:00.2", "mlx5_2", "ens1v0", NO_INDEX, false },
		{ "0000:41:00.3", "mlx5_3", "ens1v1", 2, true },
		{ "0000:c1:00.0", "mlx5_1", "ens2", 3, true },
	};
	static const struct attempt repeat = {
		.verb = VERB_SET_SYSCTL,
		.target = "0000:41:00.0",
		.subject = "ipv4/arp_ignore",
		.ifindex = 7,
		.instance = 4,
		.value = INT64_MAX,
		.n = 2,
		.since_usec = 77000000,
		.last_usec = 78000000,
		.pause_usec = 60000000,
	};
	struct device_memory before[] = { { "0000:41:00.3", "mlx5_3", "ens1v1", 2, true } };
	struct machine m;

	make_machine(&m);
	m.memory.devices = before;
	m.memory.n_devices = 1;
	m.memory.attempts = (struct attempt *)&repeat;
	m.memory.n_attempts = 1;
	SET(m.memory.stuck, "0000:41:00.0");
	lose(&m.devices[1], REASON_VERBS_FAILED); /* never was usable, never was opened */
	m.ibdevs[1].verbs = -ENOSYS;
	m.ibdevs[0].is_virtual = true;
	m.devices[2].netdev = NULL; /* all of it is in a pod */
	m.devices[2].ibdev = NULL;
	lose(&m.devices[2], REASON_NO_IBDEV);
	make_erdma(&m, 3);
	m.ibdevs[3].is_virtual = true; /* as the kernel's driver has it */

	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
	assert_int_equal(next.n_devices, ELEMENTSOF(expected));
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		assert_string_equal(next.devices[i].pci, expected[i].pci);
		assert_string_equal(next.devices[i].ibdev, expected[i].ibdev);
		assert_string_equal(next.devices[i].netdev, expected[i].netdev);
		assert_int_equal(next.devices[i].index, expected[i].index);
		assert_int_equal(next.devices[i].was_usable, expected[i].was_usable);
		assert_int_equal(next.devices[i].was_virtual, streq(expected[i].ibdev, "mlx5_0"));
	}
	assert_int_equal(next.last_state, NODE_READY);
	assert_string_equal(next.last_hash, "00112233445566ff");
	assert_string_equal(next.stuck, "0000:41:00.0");
	assert_int_equal(next.n_attempts, 1);
	assert_memory_equal(&next.attempts[0], &repeat, sizeof(repeat));
}

static void what_a_pf_lacks_comes_back(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory next = {}, later = {}, over = {};
	const struct device_memory *back;
	struct netdev nd = { .ifindex = 70, .is_up = true };
	struct machine m;

	make_machine(&m);
	m.devices[0].netdev = &nd;
	m.devices[0].is_sick_long = true;
	m.devices[0].sick_pid = 77;
	SET(m.devices[0].sick, "binding it took 121 s");
	((struct pci *)m.devices[0].pci)->instance = 9;
	SET(m.memory.stuck, "0000:42:00.0");
	m.memory.stuck_pid = 78;
	m.memory.devlink_pid = 79;
	m.node.now_usec = 5000000;
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
	back = memory_device(&next, m.devices[0].pci->address);
	assert_string_equal(back->sick, "binding it took 121 s");
	assert_int_equal(back->sick_pid, 77);
	assert_int_equal(back->instance, 9);
	assert_int_equal(back->usable_instance, 9);
	assert_int_equal(back->no_carrier_usec, 5000000);
	assert_int_equal(next.stuck_pid, 78);
	assert_int_equal(next.devlink_pid, 79);

	/* It is since then, not since the last look; and over with a carrier. */
	m.memory.devices = next.devices;
	m.memory.n_devices = next.n_devices;
	m.node.now_usec = 6000000;
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &later), 0);
	back = memory_device(&later, m.devices[0].pci->address);
	assert_int_equal(back->no_carrier_usec, 5000000);
	nd.has_carrier = true;
	m.devices[0].is_sick_long = false;
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &over), 0);
	back = memory_device(&over, m.devices[0].pci->address);
	assert_int_equal(back->no_carrier_usec, 0);
	assert_string_equal(back->sick, "");
}

/* Without ib_ipoib there is no carrier to look at. */
static void an_infiniband_port_that_is_down_is_remembered(_unused_ void **state)
{
	static const struct {
		const char *link_layer, *state;
		bool is_since;
	} rows[] = {
		{ "InfiniBand", "DOWN", true },
		{ "InfiniBand", "INIT", false },
		{ "InfiniBand", "ACTIVE", false },
		{ "Ethernet", "DOWN", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory next = {};
		struct port port = { .number = 1 };
		struct ibdev ib = { .name = "mlx5_0", .ports = &port, .n_ports = 1 };
		struct machine m;

		make_machine(&m);
		COPY(port.link_layer, rows[i].link_layer);
		COPY(port.state, rows[i].state);
		m.devices[0].netdev = NULL;
		m.devices[0].ibdev = &ib;
		m.node.now_usec = 5000000;
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		assert_int_equal(memory_device(&next, m.devices[0].pci->address)->no_carrier_usec,
				 rows[i].is_since ? 5000000 : 0);
	}
}

/* By the main process, while a pass goes on or after it died. */
static void a_state_is_degraded_and_keeps_what_it_remembers(_unused_ void **state)
{
	_cleanup_(freep) char *text = NULL, *once = NULL, *twice = NULL, *other = NULL;
	_cleanup_(freep) char *memory = NULL;
	_cleanup_(memory_done) struct memory before = {}, after = {};
	json_auto_t *document = NULL;
	struct machine m;

	make_machine(&m);
	assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &text), 0);
	assert_int_equal(
		output_degrade(text, BOOT, m.config.hash, REASON_READY_TIMEOUT, "binding", &once),
		0);
	memory = memory_text(&m.config, &m.node, &m.memory, &m.plan);
	assert_int_equal(take_texts(text, memory, BOOT, &before), 0);
	assert_int_equal(take_texts(once, memory, BOOT, &after), 0);
	assert_int_equal(after.last_state, NODE_DEGRADED);
	assert_true(after.n_devices > 0);
	assert_int_equal(after.n_devices, before.n_devices);
	assert_memory_equal(after.devices, before.devices,
			    before.n_devices * sizeof(*before.devices));

	/* The same reason is listed once, before all others. */
	assert_int_equal(
		output_degrade(once, BOOT, m.config.hash, REASON_READY_TIMEOUT, "loading", &twice),
		0);
	document = json_loads(twice, 0, NULL);
	assert_string_equal(
		json_string_value(at(json_array_get(at(document, "reasons"), 0), "code")),
		"ready-timeout");
	assert_string_equal(
		json_string_value(at(json_array_get(at(document, "reasons"), 0), "detail")),
		"loading");
	assert_null(strstr(twice, "\"binding\""));

	assert_int_equal(
		output_degrade(text, "another boot", m.config.hash, REASON_WORKER_DIED, "", &other),
		-EINVAL);
	assert_int_equal(output_degrade("{}", BOOT, m.config.hash, REASON_WORKER_DIED, "", &other),
			 -EINVAL);
}

/* Until a pass by hand, which means the node as it is. */
static void a_port_of_a_bond_is_remembered(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory bonded = {}, alone = {}, by_hand = {};
	struct machine m;

	make_machine(&m);
	m.netdevs[0].master = m.netdevs[3].ifindex;
	SET(m.netdevs[3].kind, "bond");
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &bonded), 0);
	assert_true(bonded.devices[0].was_port);
	assert_false(bonded.devices[1].was_port);

	m.netdevs[0].master = 0;
	assert_int_equal(take_next(&m.config, &m.node, &bonded, &m.plan, BOOT, &alone), 0);
	assert_true(alone.devices[0].was_port);
	m.plan.is_wanted = true;
	assert_int_equal(take_next(&m.config, &m.node, &alone, &m.plan, BOOT, &by_hand), 0);
	assert_false(by_hand.devices[0].was_port);
}

/* Only while the change to another mode is put off. */
static void exclusive_is_remembered_until_the_mode_changes(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory before = {}, put_off = {}, changed = {};
	struct machine m;

	make_machine(&m);
	m.devices[0].put_off_by = &m.devices[0]; /* it was in another mode */
	assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &before), 0);
	assert_false(before.devices[0].was_exclusive);
	assert_true(before.devices[3].was_exclusive);

	m.devices[3].config = &m.sections[0];
	m.devices[3].put_off_by = &m.devices[3];
	assert_int_equal(take_next(&m.config, &m.node, &before, &m.plan, BOOT, &put_off), 0);
	assert_false(put_off.devices[0].was_exclusive);
	assert_true(put_off.devices[3].was_exclusive);

	m.devices[3].put_off_by = NULL;
	assert_int_equal(take_next(&m.config, &m.node, &put_off, &m.plan, BOOT, &changed), 0);
	assert_false(changed.devices[3].was_exclusive);
}

static void a_function_that_is_gone_is_remembered_for_one_look(_unused_ void **state)
{
	static const struct {
		bool was_usable, was_lost;
		size_t n;
	} cases[] = { { true, false, 5 }, { true, true, 4 }, { false, false, 4 } };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct device_memory gone = { "0000:e1:00.0",      "mlx5_9",         "ens9", 9,
					      cases[i].was_usable, cases[i].was_lost };
		_cleanup_(memory_done) struct memory next = {};
		struct machine m;

		make_machine(&m);
		m.memory.devices = &gone;
		m.memory.n_devices = 1;
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		assert_int_equal(next.n_devices, cases[i].n);
		if (cases[i].n == 5) {
			assert_true(next.devices[4].was_lost);
			assert_string_equal(next.devices[4].netdev, "ens9");
		}
	}
}

static void a_usable_device_that_is_left_to_the_host_cannot_be_lost(_unused_ void **state)
{
	static const enum reason asides[] = { REASON_NONE, REASON_PORT_IN_USE };

	for (size_t i = 0; i < ELEMENTSOF(asides); i++) {
		_cleanup_(memory_done) struct memory next = {};
		const struct device_memory *memory;
		struct machine m;

		make_machine(&m);
		m.devices[0].is_usable = true;
		m.devices[0].aside = asides[i];
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		memory = memory_device(&next, m.devices[0].pci->address);
		assert_non_null(memory);
		assert_true(memory->was_usable);
		assert_int_equal(memory->was_lost, asides[i] != REASON_NONE);
	}
}

static void the_plugins_file_is_found_again_when_another_is_configured(_unused_ void **state)
{
	static const struct {
		const char *configured, *old, *remembered;
	} cases[] = {
		{ "/run/a/b", "", "/run/a/b" },
		{ "/run/a/b", "/run/old/b", "/run/old/b" }, /* as long as it is there */
		{ "/etc/shadow", "", "" }, /* from a state that an attacker planted */
		{ "/run/a/../../etc/x", "", "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(memory_done) struct memory next = {};
		struct machine m;

		make_machine(&m);
		SET(m.config.plugin.config_file, cases[i].configured);
		SET(m.node.old_plugin_path, cases[i].old);
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		assert_string_equal(next.last_plugin_path, cases[i].remembered);
	}
}

static void wait_is_over_when_ready_or_after_its_time(_unused_ void **state)
{
	static const struct {
		bool before;
		enum node_state state;
		bool is_wait_over, is_told, was_wait_over;
	} cases[] = {
		{ false, NODE_STARTING, false, false, false },
		{ false, NODE_READY, false, true, true },
		{ false, NODE_DEGRADED, false, true, false }, /* at once */
		{ false, NODE_DEGRADED, true, true, true },
		{ true, NODE_STARTING, false, false, false }, /* a new configuration */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct machine m;
		_cleanup_(memory_done) struct memory next = {};

		make_machine(&m);
		m.memory.last_state = cases[i].before ? NODE_READY : NODE_STARTING;
		m.plan.state = cases[i].state;
		m.plan.is_wait_over = cases[i].is_wait_over;
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		assert_int_equal(next.last_state != NODE_STARTING, cases[i].is_told);
		assert_int_equal(next.was_wait_over, cases[i].was_wait_over);
	}
}

#define HEAD(boot)                                                                                 \
	"{\"schema\":1,\"boot_id\":\"" boot "\",\"config_hash\":\"00\",\"state\":\"ready\"}"
#define DEVICE(pci, ibdev, index, usable)                                                          \
	"{\"pci\":" pci ",\"ibdev\":" ibdev ",\"netdev\":\"\",\"index\":" index                    \
	",\"usable\":" usable "}"
#define FAILED "{\"verb\":\"set-mtu\",\"target\":\"a\",\"result\":-5}"
#define MEMORY(boot, hash, devices, stuck)                                                         \
	"{\"boot_id\":\"" boot "\",\"config_hash\":\"" hash "\",\"devices\":[" devices             \
	"],\"attempts\":[" FAILED "],\"waited\":true,\"stuck\":" stuck "}"
#define GOOD DEVICE("\"0000:41:00.0\"", "\"mlx5_0\"", "3", "true")

static void memory_of_another_boot_or_malformed_is_not_taken(_unused_ void **state)
{
	static const struct {
		const char *state, *memory;
		int result;
		size_t n, n_attempts;
	} cases[] = {
		{ HEAD(BOOT), MEMORY(BOOT, "00", GOOD, "\"\""), 0, 1, 1 },
		{ HEAD(BOOT), MEMORY(BOOT, "00", "", "\"\""), 0, 0, 1 },
		/* what failed under another configuration */
		{ HEAD(BOOT), MEMORY(BOOT, "01", GOOD, "\"\""), 0, 1, 0 },
		{ HEAD("other"), MEMORY("other", "00", GOOD, "\"\""), 0, 0, 0 },
		{ HEAD(BOOT), MEMORY("other", "00", GOOD, "\"\""), 0, 0, 0 },
		{ HEAD(BOOT), "", 0, 0, 0 },
		{ HEAD(BOOT), "[]", 0, 0, 0 },
		/* a state that nobody understands loses itself alone */
		{ "", MEMORY(BOOT, "00", GOOD, "\"\""), -EINVAL, 1, 0 },
		{ "[]", MEMORY(BOOT, "00", GOOD, "\"\""), -EINVAL, 1, 0 },
		{ "{}", MEMORY(BOOT, "00", GOOD, "\"\""), -EINVAL, 1, 0 },
		{ "{\"schema\":2,\"boot_id\":\"" BOOT "\"}", "", -EINVAL, 0, 0 },
		{ "{\"schema\":1,\"boot_id\":7}", "", -EINVAL, 0, 0 },
		{ "{\"schema\":1,\"boot_id\":\"" BOOT "\",\"state\":\"off\"}", "", -EINVAL, 0, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(memory_done) struct memory memory = {};

		assert_int_equal(take_texts(cases[i].state, cases[i].memory, BOOT, &memory),
				 cases[i].result);
		assert_int_equal(memory.n_devices, cases[i].n);
		assert_int_equal(memory.n_attempts, cases[i].n_attempts);
		assert_int_equal(memory.was_wait_over, cases[i].n_attempts > 0); /* as well */
		assert_int_equal(memory.last_state == NODE_READY,
				 cases[i].result == 0 && strstr(cases[i].state, BOOT));
	}
}

static void a_malformed_entry_is_forgotten_and_nothing_else(_unused_ void **state)
{
	static const char *const bad[] = {
		"7",
		GOOD, /* a second one */
		DEVICE("\"\"", "\"\"", "3", "true"),
		DEVICE("\"a\"", "\"..\"", "3", "true"),
		DEVICE("\"a\"", "\"../x\"", "3", "true"),
		DEVICE("\"a\"", "\"\\\\x2E\\\\x2E\"", "3", "true"),
		DEVICE("\"a\"", "\"\\\\x2F\"", "3", "true"),
		DEVICE("\"a\"", "\"\"", "-2", "true"),
		DEVICE("\"a\"", "\"\"", "4294967295", "true"),
		DEVICE("\"a\"", "\"\"", "3", "\"yes\""),
		DEVICE("\"00000000:41:00.0:00000\"", "\"\"", "3", "true"),
	};
	static const char *const memories[] = {
		"{\"boot_id\":\"" BOOT "\",\"devices\":7}",
		MEMORY(BOOT, "00", GOOD, "null"),
		MEMORY(BOOT, "00", GOOD, "\"../and/more\""),
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		char text[1024];

		snprintf(text, sizeof(text), MEMORY(BOOT, "00", "%s," GOOD, "\"\""), bad[i]);
		assert_int_equal(take_texts(HEAD(BOOT), text, BOOT, &memory), 0);
		assert_int_equal(memory.n_devices, 1);
		assert_string_equal(memory.devices[0].ibdev, "mlx5_0");
		assert_int_equal(memory.last_state, NODE_READY);
	}
	for (size_t i = 0; i < ELEMENTSOF(memories); i++) {
		_cleanup_(memory_done) struct memory memory = {};

		assert_int_equal(take_texts(HEAD(BOOT), memories[i], BOOT, &memory), 0);
		assert_int_equal(memory.n_devices, i > 0);
		assert_string_equal(memory.stuck, "");
		assert_int_equal(memory.last_state, NODE_READY);
	}
}

static void a_name_of_any_bytes_is_remembered_byte_for_byte(_unused_ void **state)
{
	static const char *const names[] = {
		"mlx5 0", "rdm\xC3\xA9", "\xFF\xFE", "\x1B]0;P\x07", "\x1B[31mred", "a\\x41",
		"\\",     "\"",          "%s",       "\n",           "a,b",         "..a",
	};

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		_cleanup_(memory_done) struct memory next = {};
		_cleanup_(freep) char *text = NULL;
		struct attempt repeat = { .verb = VERB_SET_MTU };
		enum node_state now;
		struct machine m;

		make_machine(&m);
		SET(m.ibdevs[1].name, names[i]);
		SET(m.netdevs[1].name, names[i]);
		SET(repeat.target, names[i]);
		m.memory.attempts = &repeat;
		m.memory.n_attempts = 1;
		m.devices[1].ibdev = &m.ibdevs[1];
		m.devices[1].netdev = &m.netdevs[1];
		assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &text), 0);
		assert_int_equal(take_next(&m.config, &m.node, &m.memory, &m.plan, BOOT, &next), 0);
		assert_int_equal(next.n_devices, 4);
		assert_string_equal(next.devices[1].ibdev, names[i]);
		assert_string_equal(next.devices[1].netdev, names[i]);
		assert_true(next.devices[1].was_usable);
		assert_string_equal(next.attempts[0].target, names[i]);
		assert_int_equal(output_read_state(text, BOOT, &now), 0);
		assert_int_equal(now, NODE_READY);
		assert_int_equal(output_read_state(text, "other", &now), -ENOENT);
	}
}

static void every_cut_of_a_state_is_refused(_unused_ void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make_machine(&m);
	assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &text), 0);
	for (size_t n = strlen(text) - 2; n > 0; n -= MIN(n, (size_t)7)) {
		_cleanup_(memory_done) struct memory next = {};
		char *tree = NULL;

		text[n] = '\0';
		assert_int_equal(take_texts(text, "{}", BOOT, &next), -EINVAL);
		assert_int_equal(output_tree(text, TREE_ALL,
					     &(struct screen){ .width = 80, .has_colour = true },
					     &tree),
				 -EINVAL);
	}
}

static void tree_is_read_in_ten_seconds(_unused_ void **state)
{
	static const char expected[] =
		"degraded: 2 of 3 devices usable, no-ibdev on 0000:c1:00.0 (boot 1b4e28ba)\n"
		"\n"
		"NUMA node 0\n"
		"└─ · 0000:41:00.0     mlx5_0  ens1    mlx5_core  ACTIVE  400 Gb/s  2 of 8 VFs, "
		"shared-multi\n"
		"   ├─ ✓ 0000:41:00.2  mlx5_2  ens1v0  mlx5_core  ACTIVE  400 Gb/s  gid 3 "
		"10.0.0.2\n"
		"   └─ ✓ 0000:41:00.3  mlx5_3  ens1v1  mlx5_core  ACTIVE  400 Gb/s  gid 3 "
		"10.0.0.2\n"
		"NUMA node 1\n"
		"└─ ✗ 0000:c1:00.0             ens2    mlx5_core                    no-ibdev\n"
		"\n"
		"Device plugin  rdma-shared, 2 devices, "
		"/run/rdma-provision/device-plugin/config.json not written\n"
		"               rdma/hca: 1000, each with 2 devices\n"
		"Kubelet        topology policy best-effort, CPU policy none, "
		"/var/lib/kubelet/config.yaml:7, set\n"
		"               since 2026-01-31T08:00:00Z, at its next start, no NUMA hints from "
		"the device "
		"plugin\n"
		"\n"
		"0000:c1:00.0  no-ibdev\n"
		"  The function has no RDMA device: mlx5_ib is not loaded\n";
	_cleanup_(freep) char *json = NULL, *text = NULL;
	struct machine m;

	make_machine(&m);
	SET(m.gids[0].netdev, ""); /* those of all devices */
	m.plan.state = NODE_DEGRADED;
	m.devices[3].ibdev = NULL;
	lose(&m.devices[3], REASON_NO_IBDEV);
	SET(m.devices[3].detail, "mlx5_ib is not loaded");
	m.node.kubelet.is_there = m.node.kubelet.is_deferred = true;
	m.node.kubelet.values[0].source = KUBELET_FILE;
	m.node.kubelet.values[0].line = 7;
	SET(m.node.kubelet.since, "2026-01-31T08:00:00Z");
	SET(m.node.kubelet.values[0].text, "best-effort");
	SET(m.node.kubelet.values[0].path, "/var/lib/kubelet/config.yaml");
	assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &json), 0);
	assert_int_equal(output_tree(json, TREE_ALL, &(struct screen){ .width = 100 }, &text), 0);
	assert_memory_equal(text, expected, MIN(strlen(text), strlen(expected)));
	assert_true(strlen(text) > strlen(expected));
	assert_true(is_prefix(text + strlen(expected), "  → "));
}

static void the_head_names_a_cause_before_not_ready(_unused_ void **state)
{
	static const struct {
		const char *reasons, *head;
	} rows[] = {
		{ "{\"code\": \"not-ready\", \"target\": \"/f\"}, {\"code\": \"not-recorded\"}, "
		  "{\"code\": \"no-gid\", \"target\": \"x\"}",
		  "starting: nothing is handed out, not-recorded, 2 more\n" },
		{ "{\"code\": \"no-gid\", \"target\": \"x\"}, {\"code\": \"not-ready\"}",
		  "starting: nothing is handed out, no-gid on x, 1 more\n" },
		{ "{\"code\": \"not-ready\", \"target\": \"/f\"}",
		  "starting: nothing is handed out, not-ready on /f\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *json = NULL, *text = NULL;

		assert_true(asprintf(&json, "{\"state\": \"starting\", \"reasons\": [%s]}",
				     rows[i].reasons) > 0);
		assert_int_equal(output_tree(json, TREE_ALL, &(struct screen){}, &text), 0);
		assert_memory_equal(text, rows[i].head, strlen(rows[i].head));
	}
}

static void a_policy_of_the_kubelet_that_is_not_known_has_no_word(_unused_ void **state)
{
	static const struct {
		enum kubelet_source source;
		const char *policy;
	} rows[] = { { KUBELET_DEFAULT, "none" }, { KUBELET_UNKNOWN, "" } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *text = NULL;
		json_auto_t *document = NULL;
		const json_t *kubelet;
		struct machine m;

		make_machine(&m);
		m.node.kubelet.is_there = true;
		for (int s = 0; s < _KUBELET_SETTING_N; s++)
			m.node.kubelet.values[s].source = rows[i].source;
		assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &text), 0);
		document = json_loads(text, 0, NULL);
		kubelet = json_object_get(document, "kubelet");
		assert_string_equal(json_string_value(json_object_get(kubelet, "policy")),
				    rows[i].policy);
		assert_string_equal(json_string_value(json_object_get(kubelet, "cpu_policy")),
				    rows[i].policy);
	}
}

/* Letters of a line, not bytes. */
static int columns(const char *line, size_t n)
{
	int columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += (line[i] & 0xC0) != 0x80;
	return columns;
}

static void tree_rows_and_sentences_fit_the_width(_unused_ void **state)
{
	static const int widths[] = { 70, 80, 90, 100 };

	for (size_t i = 0; i < ELEMENTSOF(widths); i++) {
		_cleanup_(freep) char *json = NULL, *text = NULL;
		struct machine m;

		make_machine(&m);
		SET(m.gids[0].netdev, "");          /* those of all devices */
		m.config.plugin.type = PLUGIN_NONE; /* its path is never folded */
		for (size_t d = 1; d < 4; d++)
			lose(&m.devices[d], (enum reason)(REASON_VERBS_FAILED + d));
		assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &json), 0);
		assert_int_equal(
			output_tree(json, TREE_ALL, &(struct screen){ .width = widths[i] }, &text),
			0);
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
			const size_t n = strcspn(line, "\n");

			assert_true(columns(line, n) <= widths[i]);
			assert_true(n == 0 || line[n - 1] != ' ');
		}
	}
}

static void problems_are_what_is_not_well(_unused_ void **state)
{
	static const char *const expected[] = {
		"NUMA node 0\n"
		"└─ · 0000:41:00.0  mlx5_0  ens1  mlx5_core  ACTIVE  400 Gb/s  2 VFs ✓\n"
		"NUMA node 1\n",
		"   └─ ✗ 0000:41:00.3 ", "   └─ · 0000:41:00.3 ", "  1 VF ✓\n"
	};
	struct machine m;

	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		_cleanup_(freep) char *json = NULL, *text = NULL;

		make_machine(&m);
		SET(m.gids[0].netdev, ""); /* those of all devices */
		lose(&m.devices[3], REASON_NO_IBDEV);
		if (i == 1)
			lose(&m.devices[2], REASON_NO_IBDEV);
		m.devices[2].is_handed_out = i != 2;
		m.plan.n_devices = i < 3 ? 4 : 2;
		assert_int_equal(output_state(&m.config, &m.node, &m.memory, &m.plan, &json), 0);
		assert_int_equal(output_tree(json, TREE_PROBLEMS, &(struct screen){}, &text), 0);
		assert_non_null(strstr(text, expected[i]));
		assert_null(strstr(text, "0000:41:00.2"));
		assert_null(strstr(text, "Kubelet"));
	}
}

static void without_a_problem_of_a_nic_no_line_stays_for_one(_unused_ void **state)
{
	static const char json[] = "{\"state\":\"ready\",\"devices\":[{\"pci\":\"0000:41:00.0\","
				   "\"handed_out\":true,\"usable\":true}],\"reasons\":[%s]}";
	static const struct {
		const char *reasons, *expected;
	} rows[] = {
		{ "", "ready: 1 of 1 devices usable, nothing to report\n" },
		{ "{\"code\":\"pci-stuck\",\"target\":\"0000:41:00.0\"}",
		  "ready: 1 of 1 devices usable, pci-stuck on 0000:41:00.0\n\n0000:41:00.0  "
		  "pci-stuck\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(freep) char *text = NULL;
		char of_row[256];

		snprintf(of_row, sizeof(of_row), json, rows[i].reasons);
		assert_int_equal(output_tree(of_row, TREE_PROBLEMS, &(struct screen){}, &text), 0);
		assert_string_equal(text, rows[i].expected);
	}
}

static void topology_is_a_matrix(_unused_ void **state)
{
	static const char json[] =
		"{\"state\":\"ready\",\"gpus\":[{\"pci\":\"0000:43:00.0\",\"numa_node\":0,\"near_"
		"by\":"
		"\"switch\",\"nics\":[\"0000:41:00.0\"]},{\"pci\":\"0000:d3:00.0\",\"numa_node\":2,"
		"\"near_by\":\"\",\"nics\":[]}],\"devices\":[{\"pci\":\"0000:41:00.0\","
		"\"ibdev\":\"mlx5_0\",\"numa_node\":0},{\"pci\":\"0000:c1:00.0\",\"numa_node\":1},{"
		"\"pci\":\"0000:c2:00.0\",\"numa_node\":1}]}";
	static const char *const expected[] = { "GPU 0000:43:00.0 X SYS PIX SYS SYS 0\n",
						"GPU 0000:d3:00.0 SYS X SYS SYS SYS 2\n",
						"mlx5_0 PIX SYS X SYS SYS 0\n",
						"0000:c1:00.0 SYS SYS SYS X NODE 1\n",
						"0000:c2:00.0 SYS SYS SYS NODE X 1\n",
						", PIX a GPU and a NIC on the same PCIe switch, " };
	_cleanup_(freep) char *text = NULL;
	char *to;

	assert_int_equal(output_tree(json, TREE_TOPOLOGY, &(struct screen){}, &text), 0);
	to = text; /* one blank for many */
	for (const char *s = text; *s; s++)
		if (*s != ' ' || s[1] != ' ')
			*to++ = *s;
	*to = '\0';
	assert_true(is_prefix(
		text, " 0000:43:00.0 0000:d3:00.0 mlx5_0 0000:c1:00.0 0000:c2:00.0 NUMA\n"));
	for (size_t i = 0; i < ELEMENTSOF(expected); i++)
		assert_non_null(strstr(text, expected[i]));
}

static void colour_and_control_characters_come_from_us_only(_unused_ void **state)
{
	static const char json[] =
		"{\"state\":\"\\u001b[2Jready\",\"devices\":[{\"pci\":\"a\\u009b2Jb\\n\",\"handed_"
		"out\":true,"
		"\"usable\":true,\"numa_node\":\"x\",\"ports\":7,\"vfs\":[3]},null],"
		"\"reasons\":[{\"code\":\"c\\r\",\"advice\":5}],\"plugin\":[]}";
	_cleanup_(freep) char *plain = NULL, *coloured = NULL;

	assert_int_equal(output_tree(json, TREE_ALL, &(struct screen){ .width = 80 }, &plain), 0);
	assert_null(strchr(plain, '\033'));
	assert_null(strchr(plain, '\r'));
	assert_null(strstr(plain, "\xc2\x9b"));
	assert_non_null(strstr(plain, "?[2Jready"));

	assert_int_equal(output_tree(json, TREE_ALL,
				     &(struct screen){ .width = 80, .has_colour = true },
				     &coloured),
			 0);
	assert_non_null(strstr(coloured, "\033[32m"));
	assert_null(strstr(coloured, "\033[2J"));
}

static void a_configuration_is_valid_or_its_problems_are_listed(_unused_ void **state)
{
	static const char *const problems[] = { "/etc/x:2: Count=8 VFs is not valid: use a number",
						"b\xff" };
	static const struct {
		size_t n_problems;
		const char *expected;
	} cases[] = {
		{ 0, "{\"valid\": true, \"problems\": []}" },
		{ 1, "{\"valid\": false, \"problems\": [\"/etc/x:2: Count=8 VFs is not valid: use "
		     "a number\"]}" },
		{ 2, "{\"valid\": false, \"problems\": [\"/etc/x:2: Count=8 VFs is not valid: use "
		     "a number\", \"b?\"]}" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *expected = json_loads(cases[i].expected, 0, NULL), *made = NULL;
		_cleanup_(freep) char *text = NULL;

		assert_int_equal(output_check(problems, cases[i].n_problems, NULL, NULL, &text), 0);
		made = json_loads(text, 0, NULL);
		assert_true(json_equal(made, expected));
	}
}

static void the_journal_gets_what_is_new_in_a_state(_unused_ void **state)
{
#define STATE(boot, name, reasons)                                                                 \
	"{\"boot_id\": \"" boot "\", \"state\": \"" name "\", \"reasons\": [" reasons "]}"
#define REASON_OF(code, target, detail)                                                            \
	"{\"code\": \"" code "\", \"target\": \"" target "\", \"detail\": \"" detail               \
	"\", \"advice\": \"Do.\"}"
#define DOWN  REASON_OF("port-down", "0000:41:00.0", "DOWN")
#define INIT  REASON_OF("port-down", "0000:41:00.0", "INIT")
#define OTHER REASON_OF("port-down", "0000:42:00.0", "DOWN")
#define NEWER REASON_OF("of-another-version", "", "")
	static const struct {
		const char *before, *after, *news; /* "-": over */
	} cases[] = {
		{ NULL, STATE("a", "ready", ""), "" },
		{ NULL, STATE("a", "degraded", DOWN "," OTHER),
		  "port-down 0000:41:00.0 DOWN Do.\nport-down 0000:42:00.0 DOWN Do.\n" },
		{ STATE("a", "degraded", DOWN), STATE("a", "degraded", DOWN), "" },
		{ STATE("a", "degraded", DOWN), STATE("a", "degraded", DOWN "," OTHER),
		  "port-down 0000:42:00.0 DOWN Do.\n" },
		{ STATE("a", "degraded", DOWN), STATE("a", "degraded", INIT),
		  "port-down 0000:41:00.0 INIT Do.\n" },
		{ STATE("a", "degraded", DOWN "," OTHER), STATE("a", "degraded", OTHER),
		  "-port-down 0000:41:00.0 DOWN Do.\n" },
		{ STATE("a", "degraded", DOWN), STATE("a", "ready", ""),
		  "-port-down 0000:41:00.0 DOWN Do.\n" },
		/* While a node starts, what it lacks is no news. */
		{ NULL, STATE("a", "starting", DOWN), "" },
		{ STATE("a", "starting", DOWN), STATE("a", "degraded", DOWN),
		  "port-down 0000:41:00.0 DOWN Do.\n" },
		{ STATE("a", "starting", DOWN), STATE("a", "ready", ""), "" },
		{ STATE("a", "degraded", DOWN), STATE("a", "starting", ""), "" },
		/* What is no state of this boot has told nothing. */
		{ STATE("b", "degraded", DOWN), STATE("a", "degraded", DOWN),
		  "port-down 0000:41:00.0 DOWN Do.\n" },
		{ STATE("b", "degraded", DOWN), STATE("a", "ready", ""), "" },
		{ "{", STATE("a", "degraded", DOWN), "port-down 0000:41:00.0 DOWN Do.\n" },
		{ STATE("a", "degraded", NEWER), STATE("a", "ready", ""), "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) struct news *news = NULL;
		char got[4096] = "";
		size_t n = 0;

		assert_int_equal(output_news(cases[i].before, cases[i].after, &news, &n), 0);
		for (size_t k = 0; k < n; k++)
			snprintf(got + strlen(got), sizeof(got) / 2, "%s%s %s %s %s\n",
				 news[k].is_over ? "-" : "", reason_code(news[k].reason),
				 news[k].target, news[k].detail, news[k].advice);
		assert_string_equal(got, cases[i].news);
	}
}

/* Its netdev is on its way into a pod, or back: the plugin's file goes on to name it. */
static void a_device_that_is_lost_for_a_moment_keeps_its_name(_unused_ void **state)
{
	const struct pci pci = { .address = "0000:41:00.1" };
	struct device d = { .pci = &pci, .is_handed_out = true, .netdev_name = "ens1v0" };
	const struct node n = {};

	assert_false(output_plugin_offers(&d));
	assert_string_equal(output_plugin_netdev(&n, &pci, &d), "");
	d.is_lost = true;
	assert_true(output_plugin_offers(&d));
	assert_string_equal(output_plugin_netdev(&n, &pci, &d), "ens1v0");
}

static size_t n_left; /* allocations of jansson before the one that fails */

static void *allocate(size_t size)
{
	return n_left-- == 0 ? NULL : malloc(size);
}

/* An item is whole, or there is none. */
static void no_key_is_left_out_for_want_of_memory(_unused_ void **state)
{
	const struct config config = { .plugin = { .type = PLUGIN_RDMA_SHARED, .shares = 100 } };
	struct action action = { .verb = VERB_SET_SYSCTL, .target = "pci", .subject = "rp_filter" };
	const struct plan p = { .actions = &action, .n_actions = 1 };

	complete_actions(&action, 1);
	json_set_alloc_funcs(allocate, free);
	for (size_t n = 0; n < 100; n++) {
		_cleanup_(freep) char *text = NULL;
		json_t *item;

		n_left = n;
		item = output_plugin_resource_item(&config, "rdma/hca", 2, 1);
		if (item)
			assert_int_equal(document_get_number(item, "infiniband"), 1);
		json_decref(item);
		n_left = n;
		if (output_actions_json(&p, &text) >= 0)
			assert_non_null(strstr(text, "\"subject\": \"rp_filter\""));
	}
	json_set_alloc_funcs(malloc, free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_journal_gets_what_is_new_in_a_state),
		cmocka_unit_test(plugin_file_is_what_the_plugin_reads),
		cmocka_unit_test(plugin_selects_what_is_usable_and_nothing_else),
		cmocka_unit_test(resource_is_split_at_its_last_slash),
		cmocka_unit_test(no_usable_device_gives_no_plugin_file),
		cmocka_unit_test(plan_text_is_one_line_for_each_action),
		cmocka_unit_test(plan_text_does_not_move_the_cursor),
		cmocka_unit_test(only_sriov_tells_numa_nodes),
		cmocka_unit_test(plan_text_ends_with_hints),
		cmocka_unit_test(neighbours_of_one_reason_share_their_advice),
		cmocka_unit_test(a_group_lists_targets_and_has_one_advice),
		cmocka_unit_test(the_tree_counts_nics_where_a_bond_has_two),
		cmocka_unit_test(what_becomes_of_new_vfs_comes_after_the_plan),
		cmocka_unit_test(plan_json_has_numbers_where_the_verb_counts),
		cmocka_unit_test(no_key_is_left_out_for_want_of_memory),
		cmocka_unit_test(an_action_with_advice_of_its_own_tells_that),
		cmocka_unit_test(what_a_process_kept_from_being_done_is_remembered_as_failed),
		cmocka_unit_test(an_empty_plan_is_an_empty_list_and_says_so),
		cmocka_unit_test(odd_text_never_spoils_a_document),
		cmocka_unit_test(state_has_every_fact_in_its_place),
		cmocka_unit_test(plugin_is_written_when_the_file_is_what_it_should_be),
		cmocka_unit_test(a_resource_has_the_devices_that_are_exposed),
		cmocka_unit_test(reasons_are_in_order_and_told_once),
		cmocka_unit_test(memory_comes_back_as_it_was_written),
		cmocka_unit_test(what_a_pf_lacks_comes_back),
		cmocka_unit_test(an_infiniband_port_that_is_down_is_remembered),
		cmocka_unit_test(a_state_is_degraded_and_keeps_what_it_remembers),
		cmocka_unit_test(a_port_of_a_bond_is_remembered),
		cmocka_unit_test(exclusive_is_remembered_until_the_mode_changes),
		cmocka_unit_test(a_function_that_is_gone_is_remembered_for_one_look),
		cmocka_unit_test(a_usable_device_that_is_left_to_the_host_cannot_be_lost),
		cmocka_unit_test(the_plugins_file_is_found_again_when_another_is_configured),
		cmocka_unit_test(wait_is_over_when_ready_or_after_its_time),
		cmocka_unit_test(memory_of_another_boot_or_malformed_is_not_taken),
		cmocka_unit_test(a_malformed_entry_is_forgotten_and_nothing_else),
		cmocka_unit_test(a_name_of_any_bytes_is_remembered_byte_for_byte),
		cmocka_unit_test(every_cut_of_a_state_is_refused),
		cmocka_unit_test(tree_is_read_in_ten_seconds),
		cmocka_unit_test(the_head_names_a_cause_before_not_ready),
		cmocka_unit_test(a_policy_of_the_kubelet_that_is_not_known_has_no_word),
		cmocka_unit_test(tree_rows_and_sentences_fit_the_width),
		cmocka_unit_test(problems_are_what_is_not_well),
		cmocka_unit_test(without_a_problem_of_a_nic_no_line_stays_for_one),
		cmocka_unit_test(topology_is_a_matrix),
		cmocka_unit_test(colour_and_control_characters_come_from_us_only),
		cmocka_unit_test(a_configuration_is_valid_or_its_problems_are_listed),
		cmocka_unit_test(a_device_that_is_lost_for_a_moment_keeps_its_name),
	};

	complete_actions(actions, ELEMENTSOF(actions));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
