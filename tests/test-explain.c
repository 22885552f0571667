/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "../src/base/document.h"
#include "../src/model/module-options.h"
#include "../src/model/use-facts.h"
#include "../src/show/explain.h"

#define SET(to, from) snprintf((to), sizeof(to), "%s", (from))

/* An eRDMA function that the second of two sections manages, and the function of its netdev. */
struct machine {
	struct config config;
	struct device_config sections[2];
	struct node node;
	struct memory memory;
	struct pci pcis[3];
	struct netdev netdevs[2];
	struct ibdev ibdev;
	struct gid gid;
	struct port port;
	struct module module;
	struct parameter parameters[3];
	struct option options[4];
	struct user user;
	struct device device;
	struct plan plan;
};

static void make(struct machine *m)
{
	*m = (struct machine){};
	m->sections[0] =
		(struct device_config){ .name = "other", .match = (char *)"driver:mlx5_*" };
	m->sections[1] = (struct device_config){ .name = "erdma", .match = (char *)"driver:erdma" };
	m->config = (struct config){ .devices = m->sections, .n_devices = 2 };

	m->pcis[0] = (struct pci){ .address = "0000:00:05.0", .vendor = 0x1af4, .numa_node = -1 };
	m->pcis[1] = (struct pci){ .address = "0000:00:08.0",
				   .vendor = 0x1ded,
				   .device = 0x107f,
				   .driver = "erdma",
				   .numa_node = 1 };
	m->pcis[2] = (struct pci){ .address = "0001:00:00.0", .module = "mlx5_core" };
	m->netdevs[0] = (struct netdev){ .ifindex = 2,
					 .name = "eth0",
					 .pci = "0000:00:05.0",
					 .mac = "00:16:3e:00:00:01",
					 .mtu = 1500,
					 .is_up = true };
	m->netdevs[1] = (struct netdev){ .ifindex = 3, .name = "lo" };
	m->gid = (struct gid){ 0, "fe80::1", "RoCE v2", "eth0" };
	m->port = (struct port){ 1, "ACTIVE", "Ethernet", "100 Gb/sec (4X EDR)", &m->gid, 1 };
	m->ibdev = (struct ibdev){ .name = "erdma_0",
				   .pci = "0000:00:08.0",
				   .netdev = "eth0",
				   .node_type = "CA",
				   .node_guid = "0216:3eff:fe00:0001",
				   .uverbs = "uverbs0",
				   .n_contexts = 1,
				   .ports = &m->port,
				   .n_ports = 1 };
	m->parameters[0] = (struct parameter){ "compat_mode", "bool", "Y" };
	m->parameters[1] = (struct parameter){ "reserve_ports_base", "ushort", "30608" };
	m->parameters[2] = (struct parameter){ "vector_num", "uint", "32" };
	m->module = (struct module){ .name = "erdma",
				     .state = MODULE_LOADED,
				     .path = "/lib/modules/6.8.0/updates/dkms/erdma.ko.zst",
				     .has_info = true,
				     .version = "0.2.38",
				     .srcversion = "AAAA",
				     .loaded_version = "0.2.37",
				     .loaded_srcversion = "BBBB",
				     .has_taint = true,
				     .is_out_of_tree = true,
				     .refcnt = 1,
				     .parameters = m->parameters,
				     .n_parameters = 3 };
	m->node = (struct node){ .pcis = m->pcis,
				 .n_pcis = 3,
				 .netdevs = m->netdevs,
				 .n_netdevs = 2,
				 .ibdevs = &m->ibdev,
				 .n_ibdevs = 1,
				 .modules = &m->module,
				 .n_modules = 1,
				 .options = m->options,
				 .netns_mode = NETNS_MODE_SHARED,
				 .has_rdma_cm = true };
	m->device = (struct device){ .pci = &m->pcis[1],
				     .netdev = &m->netdevs[0],
				     .ibdev = &m->ibdev,
				     .config = &m->sections[1],
				     .netdev_name = "eth0",
				     .ibdev_name = "erdma_0",
				     .is_handed_out = true,
				     .is_usable = true };
	m->plan = (struct plan){ .devices = &m->device, .n_devices = 1 };
}

static void say(struct machine *m, enum option_source source, const char *file, uint32_t line,
		const char *name, const char *value)
{
	struct option *o = &m->options[m->node.n_options++];

	*o = (struct option){ .module = "erdma", .source = source, .line = line };
	SET(o->file, file);
	SET(o->name, name);
	SET(o->value, value);
}

static char *json_of(const struct machine *m, size_t i)
{
	char *json = NULL;

	assert_int_equal(output_explain(&m->config, &m->node, &m->memory, &m->plan, &m->pcis[i],
					true, &json),
			 0);
	return json;
}

/* What people see of it. */
static char *text_of(const struct machine *m, size_t i)
{
	char *text = NULL;

	assert_int_equal(output_explain(&m->config, &m->node, &m->memory, &m->plan, &m->pcis[i],
					false, &text),
			 0);
	return text;
}

static void assert_says(const struct machine *m, size_t i, const char *expected)
{
	_cleanup_(freep) char *text = text_of(m, i);

	if (!strstr(text, expected))
		fail_msg("not said: %s\n%s", expected, text);
}

static void assert_silent(const struct machine *m, size_t i, const char *unexpected)
{
	_cleanup_(freep) char *text = text_of(m, i);

	if (strstr(text, unexpected))
		fail_msg("said: %s\n%s", unexpected, text);
}

static void the_whole_of_a_device_is_shown(_unused_ void **state)
{
	static const char expected[] =
		"Device        0000:00:08.0 (1ded:107f), erdma_0, eth0\n"
		"              NUMA node 1\n"
		"Section       [Device erdma] Match=driver:erdma, VirtualFunctions=keep\n"
		"Driver        erdma, loaded\n"
		"              /lib/modules/6.8.0/updates/dkms/erdma.ko.zst\n"
		"              out-of-tree: it taints the kernel with O\n"
		"              file: version 0.2.38, srcversion AAAA\n"
		"              loaded: version 0.2.37, srcversion BBBB\n"
		"              the installed one is another than the loaded one: installed but not "
		"reloaded\n"
		"Parameters    compat_mode=Y, from /etc/modprobe.d/a.conf:3\n"
		"              reserve_ports_base=30608, the driver's default or given by hand\n"
		"              vector_num=32, the driver's default or given by hand\n"
		"RDMA device   erdma_0, CA, node GUID 0216:3eff:fe00:0001, libibverbs: opened\n"
		"              character nodes: uverbs0, no umad, rdma_cm\n"
		"              port 1: ACTIVE, Ethernet, 100 Gb/sec (4X EDR)\n"
		"                gid 0 fe80::1 RoCE v2 of eth0\n"
		"Netdev        eth0, up, no carrier, MTU 1500, 00:16:3e:00:00:01\n"
		"NCCL          erdma_0 is left out: it has no GID of an address beyond link-local "
		"ones, on a netdev with carrier\n"
		"Namespaces    RDMA mode shared\n"
		"Users         not looked for\n"
		"Plan          nothing to do for it\n"
		"Notes         NCCL with the LL128 protocol needs MTU=8500 where the ENI has jumbo "
		"frames, and MTU=1400 where it has not: another one corrupts data; eth0 has 1500\n"
		"Verdict       usable, handed out\n";
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make(&m);
	say(&m, OPTION_MODPROBE, "/etc/modprobe.d/a.conf", 3, "compat_mode", "1");
	text = text_of(&m, 1);
	assert_string_equal(text, expected);
}

/* mlx5 tells none of a port that has no link, while the LAG that it is part of is ACTIVE. */
static void a_rate_that_is_not_told_is_left_out(_unused_ void **state)
{
	struct machine m;

	make(&m);
	m.port.rate[0] = '\0';
	assert_says(&m, 1, "port 1: ACTIVE, Ethernet\n");
}

static void each_parameter_has_its_source(_unused_ void **state)
{
	static const struct {
		enum option_source source;
		const char *file, *value;
		const char *json, *text;
	} cases[] = {
		{ OPTION_MODPROBE, "/etc/modprobe.d/a.conf", "Y", "file",
		  "compat_mode=Y, from /etc/modprobe.d/a.conf:3\n" },
		{ OPTION_MODPROBE, "/run/modprobe.d/zz-rdma-provision.conf", "Y", "own-file",
		  "compat_mode=Y, from /run/modprobe.d/zz-rdma-provision.conf:3 (ours)\n" },
		{ OPTION_CMDLINE, "/proc/cmdline", "on", "command-line",
		  "compat_mode=Y, from the kernel command line\n" },
		{ OPTION_MODPROBE, "/etc/modprobe.d/a.conf", "N", "default",
		  "compat_mode=Y is in force; /etc/modprobe.d/a.conf:3 says N for the next "
		  "load\n" },
		{ OPTION_LOAD, "/etc/modules-load.d/a.conf", "", "default",
		  "compat_mode=Y, the driver's default or given by hand\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *json = NULL;
		json_auto_t *document = NULL;
		struct machine m;

		make(&m);
		say(&m, OPTION_MODPROBE, "/etc/modprobe.d/0.conf", 1, "compat_mode",
		    i == 4 ? "N" : "Y");
		m.node.n_options = i == 4 ? 0 : 1;
		say(&m, cases[i].source, cases[i].file, cases[i].source == OPTION_CMDLINE ? 0 : 3,
		    cases[i].source == OPTION_LOAD ? "" : "compat_mode", cases[i].value);
		assert_says(&m, 1, cases[i].text);
		json = json_of(&m, 1);
		document = json_loads(json, 0, NULL);
		assert_string_equal(
			json_string_value(json_object_get(
				json_array_get(json_object_get(json_object_get(document, "driver"),
							       "parameters"),
					       0),
				"source")),
			cases[i].json);
	}
}

static void an_option_without_a_value_is_shown_as_one(_unused_ void **state)
{
	struct machine m;

	make(&m);
	SET(m.parameters[0].value, "N");
	say(&m, OPTION_MODPROBE, "/etc/modprobe.d/a.conf", 3, "compat_mode", "");
	assert_says(&m, 1,
		    "compat_mode=N is in force; /etc/modprobe.d/a.conf:3 says it without a value "
		    "for the next load\n");
}

static void where_a_driver_is_from_needs_evidence(_unused_ void **state)
{
	static const struct {
		struct module module;
		const char *text; /* NULL: nothing is claimed */
	} cases[] = {
		{ { .state = MODULE_LOADED,
		    .has_taint = true,
		    .is_out_of_tree = true,
		    .is_intree = true,
		    .has_info = true },
		  "out-of-tree: it taints" },
		{ { .state = MODULE_LOADED, .has_taint = true }, "in-tree: it does not taint" },
		{ { .state = MODULE_LOADED }, NULL },
		{ { .state = MODULE_LOADED, .has_info = true }, "out-of-tree: its file does not" },
		{ { .state = MODULE_BUILTIN }, "in-tree: it is built in" },
		{ { .state = MODULE_AVAILABLE, .has_info = true, .is_intree = true },
		  "in-tree: its file says" },
		{ { .state = MODULE_AVAILABLE, .has_info = true },
		  "out-of-tree: its file does not" },
		{ { .state = MODULE_AVAILABLE, .path = "/lib/modules/6/extra/erdma.ko" },
		  "out-of-tree: its folder" },
		{ { .state = MODULE_AVAILABLE, .path = "/lib/modules/6/kernel/erdma.ko" }, NULL },
		{ { .state = MODULE_MISSING }, NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct machine m;

		make(&m);
		m.module = cases[i].module;
		SET(m.module.name, "erdma");
		if (cases[i].text)
			assert_says(&m, 1, cases[i].text);
		else
			assert_silent(&m, 1, "-tree: ");
		assert_silent(&m, 1, "not reloaded"); /* nothing to compare */
	}
}

static void every_name_leads_to_the_function(_unused_ void **state)
{
	static const struct {
		const char *name;
		int pci; /* -1: none */
	} cases[] = {
		{ "0000:00:08.0", 1 },
		{ "00:08.0", 1 },
		{ "erdma_0", 1 },
		{ "eth0", 1 },
		{ "0000:00:05.0", 0 },
		{ "00:05.0", 0 },
		{ "0001:00:00.0", 2 },
		{ "00:00.0", -1 },
		{ "lo", -1 },
		{ "erdma_1", -1 },
		{ "", -1 },
		{ "0000:", -1 },
	};
	struct machine m;

	make(&m);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_ptr_equal(output_explain_find(&m.node, &m.plan, cases[i].name),
				 cases[i].pci < 0 ? NULL : &m.pcis[cases[i].pci]);

	/* A virtual one is not offered, for it would be refused. */
	assert_string_equal(output_explain_name(&m.node, 0), "erdma_0");
	assert_string_equal(output_explain_name(&m.node, 1), "eth0");
	assert_string_equal(output_explain_name(&m.node, 2), "");

	/* Without a plan for it the netdev of eRDMA still means the RDMA function; in a pod its old
	 * names do. */
	m.plan.n_devices = 0;
	assert_ptr_equal(output_explain_find(&m.node, &m.plan, "eth0"), &m.pcis[1]);
	m.plan.n_devices = 1;
	m.node.n_netdevs = m.node.n_ibdevs = 0;
	m.device.netdev = NULL;
	m.device.ibdev = NULL;
	assert_ptr_equal(output_explain_find(&m.node, &m.plan, "eth0"), &m.pcis[1]);
	assert_ptr_equal(output_explain_find(&m.node, &m.plan, "erdma_0"), &m.pcis[1]);

	assert_string_equal(output_explain_name(&m.node, 0), "0000:00:05.0");
	assert_null(output_explain_name(&m.node, 3));
}

static void what_is_not_managed_gets_a_list_of_all_sections(_unused_ void **state)
{
	struct machine m;

	make(&m);
	assert_says(&m, 0,
		    "Section       none: no [Device NAME] section is for it; these are there:\n"
		    "              [Device other] Match=driver:mlx5_*\n"
		    "              [Device erdma] Match=driver:erdma\n");
	assert_says(&m, 0, "Verdict       not managed: left alone and never handed out\n");
	assert_says(&m, 2,
		    "Driver        none: bound to nothing; the module for it is mlx5_core, not "
		    "known\n");
	m.config.n_devices = 0;
	assert_says(&m, 0, "Section       none: no [Device NAME] section is for it\n");
}

static void vfs_are_shown_for_a_pf_and_for_its_vfs(_unused_ void **state)
{
	_cleanup_(freep) char *json = NULL;
	json_auto_t *document = NULL;
	struct machine m;

	make(&m);
	assert_silent(&m, 1, "\nVFs "); /* it never has any */
	m.pcis[1] = m.pcis[2];
	COPY(m.pcis[1].address, "0000:ff:00.0");
	COPY(m.pcis[1].physfn, m.pcis[2].address);
	m.pcis[2].class = 0x020000;
	m.pcis[2].has_sriov = true;
	m.pcis[2].total_vfs = 8;
	m.pcis[2].num_vfs = 2;
	m.plan.n_devices = 0;
	m.sections[0].mode = VF_MODE_SHARED;
	m.sections[1].match = (char *)"pci:*";
	assert_says(&m, 2,
		    "\nVFs           [Device other] is the first section that matches, before "
		    "[Device erdma], which matches too: VirtualFunctions=shared, 1 VF asked for, 2 "
		    "there, 8 possible\n");
	assert_says(&m, 1, "\nVFs           its PF 0001:00:00.0: [Device other] is the first ");

	json = json_of(&m, 1);
	document = json_loads(json, 0, NULL);
	assert_int_equal(document_get_number(json_object_get(document, "vfs"), "wanted"), 1);
	assert_int_equal(document_get_number(json_object_get(document, "vfs"), "present"), 2);
	assert_true(is_prefix(document_get_text(json_object_get(document, "vfs"), "words"),
			      "its PF 0001:00:00.0: [Device other] is the first "));

	m.config.n_devices = 0;
	assert_says(&m, 2,
		    "\nVFs           no [Device NAME] section matches: 2 VFs there, left alone "
		    "(a section with VirtualFunctions=exclusive would remove them)\n");
}

static void users_actions_and_hints_are_its_own(_unused_ void **state)
{
	struct machine m;
	struct action *a;

	make(&m);
	m.node.has_users = true;
	assert_says(&m, 1, "Users         none\n");
	m.user = (struct user){ .target = "erdma",
				.use = USE_MODULE,
				.pid = 7,
				.command = "nccl\033[2J",
				.container = "pod" };
	m.node.users = &m.user;
	m.node.n_users = 1;
	assert_says(&m, 1, "Users         erdma: module pid 7 nccl?[2J in pod\n");
	assert_says(&m, 0, "Users         none\n");

	a = plan_add_reason(&m.plan, VERB_RELOAD_MODULE, CLASS_NEEDS_REBOOT, "erdma",
			    REASON_DRIVER_IN_USE);
	assert_non_null(a);
	SET(a->text.from, "compat_mode=N");
	SET(a->text.to, "compat_mode=Y");
	a->advice = "Do this.";
	assert_non_null(plan_add(&m.plan, VERB_SET_LINK_UP, "0000:00:08.0"));
	assert_non_null(plan_add(&m.plan, VERB_SET_LINK_UP, "0000:00:09.0"));
	plan_add_hint(&m.plan, REASON_PORTS_NODEPORT, "erdma", "30608");
	assert_says(&m, 1,
		    "Plan          erdma: reload-module compat_mode=N -> compat_mode=Y: "
		    "needs-reboot (driver-in-use)\n"
		    "                → Do this.\n"
		    "              0000:00:08.0: set-link-up\n"
		    "Hints         ports-nodeport: ");
	assert_silent(&m, 1, "0000:00:09.0");
	assert_says(&m, 0, "Plan          nothing to do for it\n");
	free(m.plan.actions);
	action_texts_done(&m.plan.texts);
	text_index_done(&m.plan.by_target);
	free(m.plan.reasons);
}

static void the_verdict_has_its_reason_and_what_to_do(_unused_ void **state)
{
	struct machine m;

	make(&m);
	m.device.is_usable = false;
	m.device.reason = REASON_PORT_DOWN;
	SET(m.device.detail, "erdma_0 port 1 is DOWN");
	assert_says(&m, 1, "Verdict       not usable, port-down: ");
	assert_says(&m, 1, ": erdma_0 port 1 is DOWN\n                → ");
	m.device.is_handed_out = false;
	assert_says(&m, 1, "Verdict       not handed out, port-down: ");
	m.device.is_usable = m.device.is_in_pod = true;
	m.device.reason = REASON_IN_POD;
	assert_says(&m, 1, "Verdict       usable, in a pod: ");
}

static void what_is_usable_and_not_handed_out_says_why(_unused_ void **state)
{
	static const struct {
		const char *why_not;
		enum class class;
		enum reason reason;
		bool is_vf, has_aside, has_vf;
	} rows[] = {
		{ "only VFs of it are", CLASS_NEEDS_REBOOT, REASON_VF_IN_USE, .has_vf = true },
		{ "no-sriov", CLASS_IMPOSSIBLE, REASON_NO_SRIOV },
		{ "its VFs will be", CLASS_CHANGE, REASON_NONE },
		{ "its section hands out no VFs", CLASS_REFUSED, REASON_NODE_NIC, .is_vf = true },
		{ "port-in-use", CLASS_REFUSED, REASON_PF_IN_USE, .has_aside = true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char expected[128];
		struct machine m;
		struct device devices[2];

		make(&m);
		m.device.is_handed_out = false;
		m.device.is_vf = rows[i].is_vf;
		m.device.aside = rows[i].has_aside ? REASON_PORT_IN_USE : REASON_NONE;
		SET(m.pcis[2].address, "0000:00:08.1");
		SET(m.pcis[2].physfn, rows[i].has_vf ? m.pcis[1].address : "");
		devices[0] = m.device;
		devices[1] = (struct device){ .pci = &m.pcis[2],
					      .config = &m.sections[1],
					      .is_handed_out = true };
		m.plan.devices = devices;
		m.plan.n_devices = 2;
		plan_add_item(&m.plan, VERB_SET_NUM_VFS, rows[i].class, m.pcis[1].address,
			      rows[i].reason, NULL);
		PRINT(expected, "Verdict       usable; not handed out: %s\n", rows[i].why_not);
		assert_says(&m, 1, expected);
		m.plan.devices = NULL; /* not owned here */
		m.plan.n_devices = 0;
		plan_done(&m.plan);
	}
}

static void a_kubelet_that_runs_is_not_called_absent(_unused_ void **state)
{
	static const char *const heads[] = {
		"kubelet\n  None was found. Looked for:\n",
		"kubelet\n  A kubelet runs, and neither its unit nor its "
		"file was found. Looked for:\n"
	};
	struct machine m;

	make(&m);
	for (size_t i = 0; i < ELEMENTSOF(heads); i++) {
		_cleanup_(freep) char *text = NULL;

		m.node.kubelet.is_running = i;
		assert_int_equal(output_explain_kubelet(&m.config, &m.node, false, &text), 0);
		assert_memory_equal(text, heads[i], strlen(heads[i]));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_of_a_device_is_shown),
		cmocka_unit_test(a_rate_that_is_not_told_is_left_out),
		cmocka_unit_test(each_parameter_has_its_source),
		cmocka_unit_test(an_option_without_a_value_is_shown_as_one),
		cmocka_unit_test(where_a_driver_is_from_needs_evidence),
		cmocka_unit_test(every_name_leads_to_the_function),
		cmocka_unit_test(what_is_not_managed_gets_a_list_of_all_sections),
		cmocka_unit_test(vfs_are_shown_for_a_pf_and_for_its_vfs),
		cmocka_unit_test(users_actions_and_hints_are_its_own),
		cmocka_unit_test(the_verdict_has_its_reason_and_what_to_do),
		cmocka_unit_test(what_is_usable_and_not_handed_out_says_why),
		cmocka_unit_test(a_kubelet_that_runs_is_not_called_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
