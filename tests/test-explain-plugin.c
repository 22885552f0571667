/* SPDX-License-Identifier: Apache-2.0 */
/* What the device plugin exposes, and what is in the way of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "../src/base/document.h"
#include "../src/model/plugin-facts.h"
#include "../src/show/explain.h"

#define PATH "/run/plugin.json"

/* Two devices that are handed out, both usable and exposed, by a file that is written. */
struct scene {
	struct config config;
	struct pci pcis[2];
	struct device devices[2];
	struct exposed exposed[2];
	struct action action;
	struct plugin_process process;
	struct node node;
	struct memory memory;
	struct plan plan;
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){};
	s->config.plugin.type = PLUGIN_SRIOV;
	COPY(s->config.plugin.config_file, PATH);
	COPY(s->config.plugin.resource, "rdma/hca");
	for (size_t i = 0; i < 2; i++) {
		snprintf(s->pcis[i].address, sizeof(s->pcis[i].address), "0000:41:00.%zu", i);
		s->devices[i] = (struct device){ .pci = &s->pcis[i],
						 .is_handed_out = true,
						 .is_usable = true };
		COPY(s->exposed[i].pci, s->pcis[i].address);
		COPY(s->exposed[i].resource, "rdma/hca");
	}
	s->process = (struct plugin_process){ .pid = 7, .command = "sriovdp", .is_dated = true };
	s->node = (struct node){ .plugin_file = (char *)"{}" };
	s->plan.devices = s->devices;
	s->plan.n_devices = 2;
	s->plan.plugin = (char *)"{}";
	s->plan.lint.exposed = s->exposed;
	s->plan.lint.n_exposed = 2;
}

static void assert_told(const struct scene *s, const char *code, const char *words)
{
	_cleanup_(freep) char *json = NULL, *text = NULL;
	json_auto_t *document = NULL;

	assert_int_equal(output_explain_plugin(&s->config, &s->node, &s->memory, &s->plan, true,
					       true, &json),
			 0);
	document = json_loads(json, 0, NULL);
	assert_non_null(document);
	assert_string_equal(document_get_text(document, "code"), code);
	assert_int_equal(output_explain_plugin(&s->config, &s->node, &s->memory, &s->plan, true,
					       false, &text),
			 0);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void add_action(struct scene *s, enum class class, enum reason reason)
{
	s->action = (struct action){ .verb = VERB_WRITE_PLUGIN,
				     .class = class,
				     .reason = reason,
				     .target = "",
				     .subject = "",
				     .detail = "",
				     .error = "" };
	s->action.target = PATH;
	s->plan.actions = &s->action;
	s->plan.n_actions = 1;
}

static void a_plugin_exposes_what_its_rules_let_through(_unused_ void **state)
{
	struct device_config gpu = { .resource = "rdma/gpu" };
	struct scene s;

	set_scene(&s);
	assert_told(&s, "", "Verdict\n  exposes rdma/hca: 2\n");
	assert_told(&s, "", "  0000:41:00.1  exposed as rdma/hca\n");
	assert_told(&s, "", "  runs         no\n");
	s.devices[1].config = &gpu;
	COPY(s.exposed[1].resource, gpu.resource);
	assert_told(&s, "", "exposes rdma/gpu: 1; rdma/hca: 1\n");
	s.plan.lint.n_exposed = 1;
	assert_told(&s, "", "exposes rdma/hca: 1\n");
}

/* dranet publishes the node's own NIC as well, which no DeviceClass of ours selects. */
static void a_device_that_is_exposed_as_well_does_not_count(_unused_ void **state)
{
	struct diagnostic finding = { .reason = REASON_PLUGIN_FOREIGN };
	_cleanup_(freep) char *text = NULL;
	struct scene s;

	set_scene(&s);
	s.config.plugin.type = PLUGIN_DRANET;
	s.plan.plugin = NULL;
	s.devices[1].is_handed_out = false;
	s.devices[1].aside = REASON_NODE_NIC;
	s.exposed[1].is_foreign = true;
	s.plan.lint.n_foreign = 1;
	COPY(finding.target, s.pcis[1].address);
	s.plan.lint.findings = &finding;
	s.plan.lint.n_findings = 1;
	assert_told(&s, "", "Verdict\n  would expose rdma/hca: 1\n");
	assert_told(&s, "", "  0000:41:00.1  plugin-foreign: ");
	assert_int_equal(
		output_explain_plugin(&s.config, &s.node, &s.memory, &s.plan, true, false, &text),
		0);
	assert_null(strstr(text, "0000:41:00.1  exposed as"));
	assert_null(strstr(text, "Unbind")); /* the root file system may come by it */
	s.exposed[0].is_foreign = true;
	s.plan.lint.n_foreign = 2;
	s.devices[0].aside = REASON_PORT_IN_USE;
	assert_told(&s, "", "would expose 0 devices");
}

static void a_pool_of_both_fabrics_says_so(_unused_ void **state)
{
	struct port ports[] = { { .link_layer = "InfiniBand" }, { .link_layer = "Ethernet" } };
	struct ibdev ibdevs[2] = {};
	struct scene s;

	set_scene(&s);
	for (size_t i = 0; i < 2; i++) {
		ibdevs[i].ports = &ports[i];
		ibdevs[i].n_ports = 1;
		s.devices[i].ibdev = &ibdevs[i];
	}
	assert_told(&s, "",
		    "exposes rdma/hca: 2; 1 of InfiniBand, the others of Ethernet: a pod gets "
		    "either\n");
	ports[1] = ports[0];
	assert_told(&s, "", "exposes rdma/hca: 2\n");
	/* A VF without a driver is of the fabric that its class says. */
	s.devices[1].ibdev = NULL;
	s.pcis[1].class = CLASS_INFINIBAND << 8;
	assert_told(&s, "", "exposes rdma/hca: 2\n");
}

static void a_file_that_is_not_written_exposes_nothing_yet(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.node.plugin_file = NULL;
	add_action(&s, CLASS_CHANGE, REASON_NONE);
	assert_told(&s, "", PATH ", not written: the next pass writes it\n");
	assert_told(&s, "", "would expose rdma/hca: 2\n");
	add_action(&s, CLASS_WAITING, REASON_NOT_READY);
	assert_told(&s, "not-ready", "not written: not-ready\n");
	add_action(&s, CLASS_REFUSED, REASON_PLUGIN_NAME);
	s.plan.lint.refusal = REASON_PLUGIN_NAME;
	assert_told(&s, "plugin-name", "would expose 0 devices; plugin-name: ");
	/* No device is usable: the first of them says why. */
	s.plan.plugin = NULL;
	s.plan.lint = (struct lint){};
	s.devices[0].is_usable = s.devices[1].is_usable = false;
	s.devices[0].reason = REASON_PORT_DOWN;
	assert_told(&s, "port-down", ": 0000:41:00.0\n");
	s.devices[0].is_usable = s.devices[0].is_excluded = true;
	s.devices[0].reason = REASON_NONE;
	assert_told(&s, "link-flapping", "would expose 0 devices; link-flapping: ");
}

static void without_a_device_the_reason_is_that_of_the_plan(_unused_ void **state)
{
	static const struct {
		size_t n_devices; /* usable, and the file has no words for them */
		enum verb verb;
		enum class class;
		enum reason reason;
		const char *code;
	} cases[] = {
		{ 1, VERB_WRITE_PLUGIN, CLASS_REFUSED, REASON_PLUGIN_NOT_SELECTED,
		  "plugin-not-selected" },
		{ 0, VERB_WRITE_PLUGIN, CLASS_WAITING, REASON_NOT_READY, "not-ready" },
		{ 0, VERB_WAIT, CLASS_WAITING, REASON_NO_DEVICES, "no-devices" },
		{ 0, VERB_WAIT, CLASS_WAITING, REASON_NOT_RECORDED, "not-recorded" },
		{ 0, VERB_SET_NUM_VFS, CLASS_IMPOSSIBLE, REASON_NO_SRIOV, "no-sriov" },
		{ 0, VERB_SET_NUM_VFS, CLASS_CHANGE, REASON_NONE, "" },
		{ 0, VERB_WAIT, CLASS_CHANGE, REASON_NONE, "" }, /* Expect=0 */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s);
		s.config.plugin.type = PLUGIN_RDMA_SHARED;
		s.node.plugin_file = s.plan.plugin = NULL;
		s.plan.lint.n_exposed = 0;
		s.plan.n_devices = cases[i].n_devices;
		add_action(&s, cases[i].class, cases[i].reason);
		s.action.verb = cases[i].verb;
		if (cases[i].verb == VERB_WAIT)
			s.action.target = "";
		assert_told(&s, cases[i].code,
			    *cases[i].code ? "would expose 0 devices; "
					   : "would expose 0 devices\n");
	}
}

static void a_plugin_older_than_its_file_has_not_read_it(_unused_ void **state)
{
	static const struct {
		int64_t since_change_sec;
		bool is_dated, has_manifest;
		const char *code, *words;
	} cases[] = {
		{ 5, true, false, "", "pid 7, since 5 s after the file changed: it has read it\n" },
		{ 0, true, false, "", "pid 7, since 0 s after the file changed: it has read it\n" },
		{ -5, true, false, "plugin-restart-needed",
		  "pid 7, since 5 s before the file changed: it has not read it\n" },
		/* The kubelet starts our pod again. */
		{ -5, true, true, "", "it has not read it\n" },
		{ 0, false, false, "", "sriovdp, pid 7\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s);
		s.node.plugin_processes = &s.process;
		s.node.n_plugin_processes = 1;
		s.process.since_change_sec = cases[i].since_change_sec;
		s.process.is_dated = cases[i].is_dated;
		if (cases[i].has_manifest)
			COPY(s.config.plugin.manifest, "/etc/pod.yaml");
		assert_told(&s, cases[i].code, cases[i].words);
	}
}

static void a_driver_that_is_older_than_a_vf_has_not_found_it(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		uint64_t usable_usec; /* of the second VF; 0: before the first look of this boot */
		bool is_new, is_usable;
		const char *code;
	} rows[] = {
		{ PLUGIN_DRA_SRIOV, 900, false, true, "" },
		{ PLUGIN_DRA_SRIOV, 1100, false, true, "plugin-restart-needed" },
		{ PLUGIN_DRA_SRIOV, 0, false, true, "" },
		{ PLUGIN_DRA_SRIOV, 900, true, true, "plugin-restart-needed" }, /* bound again */
		{ PLUGIN_DRA_SRIOV, 1100, false, false, "" },
		{ PLUGIN_DRANET, 1100, false, true, "" }, /* looks each minute */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct device_memory memories[2] = {};
		struct scene s;

		set_scene(&s);
		s.config.plugin.type = rows[i].type;
		s.plan.plugin = NULL;
		s.process.is_dated = false;
		s.process.started_usec = 1000;
		s.node = (struct node){ .now_usec = 2000,
					.plugin_processes = &s.process,
					.n_plugin_processes = 1 };
		s.memory =
			(struct memory){ .last_hash = "hash", .devices = memories, .n_devices = 2 };
		for (size_t k = 0; k < 2; k++) {
			s.devices[k].is_vf = true;
			s.pcis[k].instance = 7;
			COPY(memories[k].pci, s.pcis[k].address);
			memories[k].usable_instance = 7;
			memories[k].usable_usec = k == 0 ? 500 : rows[i].usable_usec;
		}
		s.pcis[1].instance += rows[i].is_new;
		s.devices[1].is_usable = rows[i].is_usable;
		assert_told(&s, rows[i].code,
			    *rows[i].code       ? "or the DRA driver has not found the device"
			    : rows[i].is_usable ? "would expose rdma/hca: 2\n"
						: "would expose rdma/hca: 1\n");
	}
}

static void without_a_plugin_that_is_said(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.config.plugin.type = PLUGIN_NONE;
	assert_told(&s, "", "none is asked for");
}

static void what_others_chose_does_not_move_the_cursor(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.node.plugin_processes = &s.process;
	s.node.n_plugin_processes = 1;
	COPY(s.process.container, "a\033[2Jb");
	assert_told(&s, "", "in a?[2Jb");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plugin_exposes_what_its_rules_let_through),
		cmocka_unit_test(a_device_that_is_exposed_as_well_does_not_count),
		cmocka_unit_test(a_pool_of_both_fabrics_says_so),
		cmocka_unit_test(a_file_that_is_not_written_exposes_nothing_yet),
		cmocka_unit_test(without_a_device_the_reason_is_that_of_the_plan),
		cmocka_unit_test(a_plugin_older_than_its_file_has_not_read_it),
		cmocka_unit_test(a_driver_that_is_older_than_a_vf_has_not_found_it),
		cmocka_unit_test(without_a_plugin_that_is_said),
		cmocka_unit_test(what_others_chose_does_not_move_the_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
