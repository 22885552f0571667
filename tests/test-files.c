/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of [Output], and what becomes of the files. "test-files metrics" prints a metrics file,
 * for check-metrics. The rule of NCCL is compared with another statement of it by check-nccl.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/plan.h"
#include "../src/nccl/nccl-output.h"
#include "../src/outputs/documents-output.h"
#include "../src/step/steps.h"

#define KEY "feature.node.kubernetes.io/rdma-provision."

/* A PF with two VFs that are handed out. */
struct machine {
	struct config config;
	struct device_config section;
	struct node node;
	struct memory memory;
	struct pci pcis[3];
	struct netdev netdevs[3];
	struct ibdev ibdevs[3];
	struct port ports[3];
	struct gid gids[3][2];
	struct device devices[3];
	struct attempts tried;
	struct plan plan;
};

static void make(struct machine *m)
{
	*m = (struct machine){ .section = { .name = "nic", .mode = VF_MODE_SHARED_MULTI } };
	for (size_t i = 0; i < 3; i++) {
		struct pci *pci = &m->pcis[i];

		snprintf(pci->address, sizeof(pci->address), "0000:41:00.%zu", i);
		COPY(pci->driver, "mlx5_core");
		pci->num_vfs = i == 0 ? 2 : 0;
		snprintf(m->netdevs[i].name, IFNAME_LEN, "ens%zu", i);
		COPY(m->netdevs[i].pci, pci->address);
		m->netdevs[i].ifindex = (uint32_t)i + 1;
		m->netdevs[i].has_carrier = true;
		snprintf(m->ibdevs[i].name, IBDEV_LEN, "mlx5_%zu", i);
		COPY(m->ibdevs[i].pci, pci->address);
		snprintf(m->ibdevs[i].uverbs, sizeof(m->ibdevs[i].uverbs), "uverbs%zu", i);
		COPY(m->ibdevs[i].netdev, m->netdevs[i].name);
		m->gids[i][0] = (struct gid){ 0, "fe80:0000:0000:0000:0000:0000:0000:0001",
					      "IB/RoCE v1", "" };
		m->gids[i][1] = (struct gid){ 3, "", "RoCE v2", "" };
		snprintf(m->gids[i][1].gid, sizeof(m->gids[i][1].gid),
			 "0000:0000:0000:0000:0000:ffff:0a00:000%zu", i);
		COPY(m->gids[i][1].netdev, m->netdevs[i].name);
		m->ports[i] = (struct port){ 1,          "ACTIVE",
					     "Ethernet", "400 Gb/sec (4X NDR)",
					     m->gids[i], 2 };
		m->ibdevs[i].ports = &m->ports[i];
		m->ibdevs[i].n_ports = 1;
		m->devices[i] = (struct device){ .pci = pci,
						 .netdev = &m->netdevs[i],
						 .ibdev = &m->ibdevs[i],
						 .config = &m->section,
						 .is_vf = i > 0,
						 .is_handed_out = i > 0,
						 .is_usable = true,
						 .wanted_vfs = i > 0 ? UINT32_MAX : 2 };
	}
	m->node = (struct node){ .pcis = m->pcis,
				 .n_pcis = 3,
				 .netdevs = m->netdevs,
				 .n_netdevs = 3,
				 .ibdevs = m->ibdevs,
				 .n_ibdevs = 3 };
	m->plan = (struct plan){ .devices = m->devices, .n_devices = 3, .state = NODE_READY };
	for (enum output o = 0; o < _OUTPUT_N; o++)
		m->node.outputs[o].has_folder = true;
}

/* What plan_outputs() and output_files() have added: the arrays of the machine are its own. */
static void clear(struct machine *m)
{
	free(m->plan.actions);
	action_texts_done(&m->plan.texts);
	text_index_done(&m->plan.by_target);
	free(m->plan.reasons);
	for (size_t i = 0; i < _OUTPUT_N; i++)
		free(m->plan.outputs[i].text);
}

static const char *const paths[] = { "/o/nfd", "/o/nccl.conf", "/o/x.prom", "/o/cdi.yaml" };
_Static_assert(ELEMENTSOF(paths) == _OUTPUT_N, "a path for every output");

static void ask_for_all(struct machine *m)
{
	for (size_t i = 0; i < _OUTPUT_N; i++)
		COPY(m->config.output.paths[i], paths[i]);
}

static void a_port_is_named_once_and_in_order_of_rails(void **state _unused_)
{
	static const struct {
		const char *pci[3];
		const char *rate[3];
		const char *hca;
	} cases[] = {
		{ { "0000:41:00.0", "0000:41:00.1", "0000:41:00.2" },
		  { "400 Gb/sec", "400 Gb/sec", "400 Gb/sec" },
		  "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1,mlx5_2:1\nNCCL_IB_GID_INDEX=3\n" },
		{ { "0000:c1:00.0", "0000:41:00.1", "0000:9b:00.2" },
		  { "400 Gb/sec", "400 Gb/sec", "400 Gb/sec" },
		  "NCCL_IB_HCA=mlx5_1:1,mlx5_2:1,mlx5_0:1\nNCCL_IB_GID_INDEX=3\n" },
		{ { "10000:01:00.0", "0000:41:00.1", "" },
		  { "400 Gb/sec", "400 Gb/sec", "400 Gb/sec" },
		  "NCCL_IB_HCA=mlx5_1:1,mlx5_2:1,mlx5_0:1\nNCCL_IB_GID_INDEX=3\n" },
		{ { "0000:41:00.0", "0000:41:00.1", "0000:41:00.2" },
		  { "100 Gb/sec", "99.99 Gb/sec", "100 Gb/sec" },
		  "NCCL_IB_HCA=mlx5_0:1,mlx5_2:1\nNCCL_IB_GID_INDEX=3\n" },
		{ { "0000:41:00.0", "0000:41:00.1", "0000:41:00.2" },
		  { "2 Gb/sec", "2.5 Gb/sec", "" },
		  "NCCL_IB_HCA=mlx5_1:1\nNCCL_IB_GID_INDEX=3\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(nccl_done) struct nccl choice = {};
		_cleanup_(freep) char *text = NULL;
		struct machine m;

		make(&m);
		for (size_t k = 0; k < 3; k++) {
			COPY(m.ibdevs[k].pci, cases[i].pci[k]);
			if (*cases[i].pci[k])
				COPY(m.netdevs[k].pci, cases[i].pci[k]);
			COPY(m.ports[k].rate, cases[i].rate[k]);
			m.pcis[k].device = (uint16_t)k; /* of models of their own */
		}
		assert_int_equal(nccl_choose(&m.config, &m.node, &m.plan, &choice), 0);
		assert_int_equal(nccl_text(&choice, false, false, &text), 0);
		assert_string_equal(text, cases[i].hca);
	}
}

static void where_indexes_differ_nccl_searches_by_family_and_range(void **state _unused_)
{
	static const char v4[] = "0000:0000:0000:0000:0000:ffff:0a00:0003";
	static const struct {
		const char *all, *other, *settings; /* GIDs of all ports, and of one of them */
	} cases[] = {
		{ NULL, v4, "AF_INET\nNCCL_IB_ADDR_RANGE=10.0.0.0/30\n" },
		{ NULL, "0000:0000:0000:0000:0000:ffff:0a00:8001",
		  "AF_INET\nNCCL_IB_ADDR_RANGE=10.0.0.0/16\n" },
		{ NULL, "0000:0000:0000:0000:0000:ffff:c0a8:0001", "AF_INET\n" },
		{ "fd00:0000:0000:0001:0000:0000:0000:0001",
		  "fd00:0000:0000:0002:0000:0000:0000:0001",
		  "AF_INET6\nNCCL_IB_ADDR_RANGE=fd00::/62\n" },
		{ "fd00:0000:0000:0001:0000:0000:0000:0001",
		  "fd00:0000:0000:0001:0000:0000:0000:0001",
		  "AF_INET6\nNCCL_IB_ADDR_RANGE=fd00:0:0:1::1/128\n" },
		{ "fd00:0000:0000:0001:0000:0000:0000:0001",
		  "2001:0db8:0000:0001:0000:0000:0000:0001", "AF_INET6\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL, *expected = NULL;
		_cleanup_(nccl_done) struct nccl choice = {};
		struct machine m;

		make(&m);
		for (size_t k = 0; k < 3 && cases[i].all; k++)
			COPY(m.gids[k][1].gid, cases[i].all);
		m.gids[2][1].index = 5;
		COPY(m.gids[2][1].gid, cases[i].other);
		assert_int_equal(nccl_choose(&m.config, &m.node, &m.plan, &choice), 0);
		assert_int_equal(choice.reason, REASON_NONE);
		assert_true(
			asprintf(&expected,
				 "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1,mlx5_2:1\n"
				 "# the index -1 needs NCCL 2.21 (in a container 2.26) or later\n"
				 "NCCL_IB_GID_INDEX=-1\nNCCL_IB_ADDR_FAMILY=%s"
				 "NCCL_IB_ROCE_VERSION_NUM=2\n",
				 cases[i].settings) > 0);
		assert_int_equal(nccl_text(&choice, false, false, &text), 0);
		assert_string_equal(text, expected);
	}
}

/* nfd-master's validation, and that of label values. */
static void assert_valid_features(const char *text)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz-.";
	static const char value[] = "abcdefghijklmnopqrstuvwxyz0123456789-._";

	assert_true(is_prefix(text, "# "));
	for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		const char *key = after(line, "feature.node.kubernetes.io/");
		size_t n;

		assert_non_null(key);
		n = strspn(key, name);
		assert_int_equal(key[n], '=');
		assert_in_range(n, 1, 63);
		key += n + 1;
		n = strspn(key, value);
		assert_int_equal(key[n], '\n');
		assert_in_range(n, 1, 63);
		assert_null(strchr("-._", key[0]));
		assert_null(strchr("-._", key[n - 1]));
	}
}

static void features_are_labels_that_tell_the_node(void **state _unused_)
{
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make(&m);
	COPY(m.ports[1].rate, "2.5 Gb/sec (1X SDR)");
	m.devices[2].is_usable = false;
	m.plan.state = NODE_DEGRADED;
	assert_int_equal(nfd_text(&m.config, &m.node, &m.plan, NULL, &text), 0);
	assert_valid_features(text);
	assert_string_equal(
		text, "# Written by rdma-provision: NFD features\n" KEY "ready=false\n" KEY
		      "state=degraded\n" KEY "driver-mode=keep\n" KEY "vf-mode=shared-multi\n" KEY
		      "nics=1\n" KEY "vfs=2\n" KEY "devices=2\n" KEY "usable=1\n" KEY
		      "link-layer=ethernet\n" KEY "rate-max-gbps=400\n" KEY "rate-min-gbps=2.5\n");
}

static void an_empty_node_has_valid_features_too(void **state _unused_)
{
	struct node n = {};
	struct plan p = {};
	struct config c = {};
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(nfd_text(&c, &n, &p, NULL, &text), 0);
	assert_valid_features(text);
	assert_null(strstr(text, "link-layer"));
	assert_null(strstr(text, "vf-mode"));
}

/* In a namespace of its own neither its ibdev nor its netdev can be seen. */
static void put_into_pod(struct machine *m, size_t i)
{
	m->devices[i].is_in_pod = true;
	m->devices[i].reason = REASON_IN_POD;
	m->devices[i].ibdev = NULL;
	m->devices[i].netdev = NULL;
	m->ibdevs[i].n_ports = 0;
}

/* But that of CDI: nobody else can open the device. */
static void a_device_in_a_pod_changes_no_file(void **state _unused_)
{
	struct machine m;

	for (size_t n_away = 1; n_away <= 2; n_away++) {
		char *before[_OUTPUT_N];

		make(&m);
		ask_for_all(&m);
		COPY(m.ports[1].rate, "200 Gb/sec (4X HDR)");
		output_files(&m.config, &m.node, &m.plan);
		for (enum output o = 0; o < _OUTPUT_N; o++) {
			before[o] = TAKE(m.plan.outputs[o].text);
			assert_non_null(before[o]);
			m.node.outputs[o].is_there = true;
			m.node.outputs[o].text = before[o];
		}

		for (size_t i = 0; i < n_away; i++)
			put_into_pod(&m, 2 - i);
		output_files(&m.config, &m.node, &m.plan);
		assert_true(m.plan.outputs[OUTPUT_NCCL].is_kept);
		assert_string_equal(m.plan.outputs[OUTPUT_NFD].text, before[OUTPUT_NFD]);
		assert_string_equal(m.plan.outputs[OUTPUT_METRICS].text, before[OUTPUT_METRICS]);
		plan_outputs(&m.config, &m.node, &m.memory, &m.plan);
		assert_int_equal(m.plan.n_actions, 1);
		assert_string_equal(m.plan.actions[0].target, paths[OUTPUT_CDI]);
		assert_int_equal(m.plan.actions[0].verb,
				 n_away == 1 ? VERB_WRITE_OUTPUT : VERB_REMOVE_OUTPUT);
		assert_int_equal(m.plan.n_reasons, 0);
		clear(&m);
		for (enum output o = 0; o < _OUTPUT_N; o++)
			free(before[o]);
	}
}

#define CDI_HEAD                                                                                   \
	"# Written by rdma-provision: CDI devices\ncdiVersion: \"0.5.0\"\n"                        \
	"kind: \"rdma-provision.io/rdma\"\ndevices:\n"
#define CDI_NAME(x) "- name: \"" x "\"\n  containerEdits:\n    deviceNodes:\n"
#define CDI_NODE(x) "    - {path: \"/dev/infiniband/" x "\", permissions: \"rw\"}\n"

static void cdi_has_each_function_that_is_handed_out_and_all_of_them(void **state _unused_)
{
	static const struct {
		const char *uverbs, *umad; /* of the second VF */
		bool has_rdma_cm;
		const char *text;
	} cases[] = {
		{ "uverbs2", "", false,
		  CDI_HEAD CDI_NAME("0000:41:00.1") CDI_NODE("uverbs1") CDI_NAME("0000:41:00.2")
			  CDI_NODE("uverbs2") CDI_NAME("all") CDI_NODE("uverbs1")
				  CDI_NODE("uverbs2") },
		{ "uverbs2", "umad5", true,
		  CDI_HEAD CDI_NAME("0000:41:00.1") CDI_NODE("uverbs1") CDI_NODE("rdma_cm")
			  CDI_NAME("0000:41:00.2") CDI_NODE("uverbs2") CDI_NODE("umad5") CDI_NODE(
				  "rdma_cm") CDI_NAME("all") CDI_NODE("uverbs1") CDI_NODE("uverbs2")
				  CDI_NODE("umad5") CDI_NODE("rdma_cm") },
		{ "", "umad5", true,
		  CDI_HEAD CDI_NAME("0000:41:00.1") CDI_NODE("uverbs1") CDI_NODE("rdma_cm")
			  CDI_NAME("all") CDI_NODE("uverbs1") CDI_NODE("rdma_cm") },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		struct machine m;

		make(&m);
		COPY(m.ibdevs[2].uverbs, cases[i].uverbs);
		COPY(m.ibdevs[2].umad, cases[i].umad);
		m.node.has_rdma_cm = cases[i].has_rdma_cm;
		assert_int_equal(cdi_text(&m.node, &m.plan, &text), 0);
		assert_string_equal(text, cases[i].text);
	}
}

/* It is no reason of the node either: the devices have theirs. */
static void without_a_device_there_is_no_cdi_file(void **state _unused_)
{
	for (int is_there = 0; is_there < 2; is_there++) {
		char before[] = CDI_HEAD;
		struct machine m;

		make(&m);
		COPY(m.config.output.paths[OUTPUT_CDI], paths[OUTPUT_CDI]);
		m.devices[1].is_handed_out = false;
		m.devices[2].ibdev = NULL;
		m.node.has_rdma_cm = true;
		m.node.outputs[OUTPUT_CDI].is_there = is_there;
		m.node.outputs[OUTPUT_CDI].text = is_there ? before : NULL;
		output_files(&m.config, &m.node, &m.plan);
		plan_outputs(&m.config, &m.node, &m.memory, &m.plan);
		assert_int_equal(m.plan.n_reasons, 0);
		assert_int_equal(m.plan.n_actions, is_there);
		if (is_there)
			assert_int_equal(m.plan.actions[0].verb, VERB_REMOVE_OUTPUT);
		clear(&m);
	}
}

static void the_cdi_file_appears_once_the_node_is_finished(void **state _unused_)
{
	for (enum node_state s = 0; s < _NODE_STATE_N; s++)
		for (int is_there = 0; is_there < 2; is_there++) {
			char before[] = CDI_HEAD;
			struct machine m;

			make(&m);
			COPY(m.config.output.paths[OUTPUT_CDI], paths[OUTPUT_CDI]);
			m.plan.state = s;
			m.node.outputs[OUTPUT_CDI].text = is_there ? before : NULL;
			output_files(&m.config, &m.node, &m.plan);
			assert_int_equal(!m.plan.outputs[OUTPUT_CDI].text,
					 s == NODE_STARTING && !is_there);
			assert_int_equal(m.plan.outputs[OUTPUT_CDI].is_kept,
					 s == NODE_STARTING && !is_there);
			clear(&m);
		}
}

static void make_unlike(struct machine *m)
{
	make(m);
	m->devices[1].is_usable = false;
	m->devices[1].reason = REASON_PORT_DOWN;
	m->plan.n_missing = 3;
	m->plan.state = NODE_DEGRADED;
	m->tried.change = (struct last_change){ 12, 1795284000, 2500001 };
	m->plan.tried = &m->tried;
}

static void metrics_count_devices_by_state_and_reason(void **state _unused_)
{
	static const char *const lines[] = {
		"\nrdma_provision_ready 0\n",
		"\nrdma_provision_state{state=\"degraded\"} 1\n",
		"\nrdma_provision_state{state=\"ready\"} 0\n",
		"\nrdma_provision_devices{state=\"usable\",reason=\"none\"} 1\n",
		"\nrdma_provision_devices{state=\"unusable\",reason=\"port-down\"} 1\n",
		"\nrdma_provision_devices{state=\"missing\",reason=\"devices-missing\"} 3\n",
		"\nrdma_provision_reasons{code=\"port-down\",severity=\"warning\",pci=\"0000:41:"
		"00.1\"} 1\n",
		"\nrdma_provision_changes{class=\"waiting\"} 0\n",
		"\nrdma_provision_build_info{version=\"" PROJECT_VERSION "\"} 1\n",
		"\nrdma_provision_virtual_functions_wanted{pci=\"0000:41:00.0\"} 2\n",
		"\nrdma_provision_virtual_functions_present{pci=\"0000:41:00.0\"} 2\n",
		"\nrdma_provision_last_change_timestamp_seconds 1795284000\n",
		"\nrdma_provision_last_change_duration_seconds 2.500001\n",
		"\nrdma_provision_last_change_steps 12\n",
	};
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make_unlike(&m);
	assert_int_equal(metrics_text(&m.config, &m.node, &m.plan, &text), 0);
	for (size_t i = 0; i < ELEMENTSOF(lines); i++)
		if (!strstr(text, lines[i]))
			fail_msg("%s is not in\n%s", lines[i] + 1, text);
	assert_true(output_is_own(OUTPUT_METRICS, text));
	assert_false(output_is_own(OUTPUT_NFD, text));
}

#define N_NICS 64
#define N_EACH 65 /* a NIC and its VFs */

/* Nothing works: each VF for one of three reasons, each NIC with three hints, and all are watched.
 */
static void a_large_node_has_fewer_than_1000_series(void **state _unused_)
{
	static const enum reason reasons[] = { REASON_PORT_DOWN, REASON_NO_GID, REASON_NO_IBDEV };
	static const enum reason hints[] = { REASON_PCIE_SLOW, REASON_PCIE_ERRORS,
					     REASON_RATE_BELOW_SIBLINGS };
	_cleanup_(freep) struct pci *pcis = calloc(N_NICS * N_EACH, sizeof(*pcis));
	_cleanup_(freep) struct device *devices = calloc(N_NICS * N_EACH, sizeof(*devices));
	_cleanup_(freep) struct diagnostic *health = calloc(N_NICS * 3, sizeof(*health));
	_cleanup_(freep) char *text = NULL;
	unsigned n_series = 0;
	struct machine m;

	assert_true(pcis && devices && health);
	make_unlike(&m);
	for (size_t i = 0; i < N_NICS * N_EACH; i++) {
		const size_t nic = i / N_EACH;
		const bool is_vf = i % N_EACH > 0;

		snprintf(pcis[i].address, sizeof(pcis[i].address), "0000:%02zx:%02zx.%zu", nic,
			 i % N_EACH / 8, i % N_EACH % 8);
		if (is_vf)
			COPY(pcis[i].physfn, pcis[nic * N_EACH].address);
		devices[i] = (struct device){ .pci = &pcis[i],
					      .config = &m.section,
					      .is_vf = is_vf,
					      .is_handed_out = is_vf,
					      .is_watched = !is_vf,
					      .reason = reasons[i % 3],
					      .wanted_vfs = is_vf ? UINT32_MAX : N_EACH - 1 };
		if (!is_vf)
			for (size_t k = 0; k < 3; k++) {
				health[nic * 3 + k].reason = hints[k];
				COPY(health[nic * 3 + k].target, pcis[i].address);
			}
	}
	m.node.pcis = pcis;
	m.plan.devices = devices;
	m.plan.health = health;
	m.node.n_pcis = m.plan.n_devices = N_NICS * N_EACH;
	m.plan.n_health = N_NICS * 3;
	assert_int_equal(metrics_text(&m.config, &m.node, &m.plan, &text), 0);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		n_series += *line != '#';
	assert_in_range(n_series, N_NICS * 3, 999);
	assert_non_null(strstr(
		text, "reasons{code=\"no-gid\",severity=\"warning\",pci=\"0000:3f:00.0\"} 2"));
}

static void the_last_change_stays_in_the_file(void **state _unused_)
{
	static const struct {
		const char *from, *to; /* what is spoilt in the file */
	} cases[] = {
		{ "_steps 12", "_steps x" },
		{ "_steps 12", "_steps 12 " },
		{ "_steps 12\n", "_steps 12\nother 1\n" },
		{ "_steps 12\n", "" },
		{ "# HELP rdma_provision_last_change_steps", "# HELP other" },
		{ "seconds 1795284000", "seconds 17e9" },
		{ "seconds 2.500001", "seconds -2" },
		{ "seconds 2.500001", "seconds 2" },
		{ "seconds 2.500001", "second" },
	};
	_cleanup_(freep) char *text = NULL, *again = NULL;
	char digits[2048];
	struct machine m;

	make_unlike(&m);
	assert_int_equal(metrics_text(&m.config, &m.node, &m.plan, &text), 0);
	m.tried.change = (struct last_change){};
	m.node.outputs[OUTPUT_METRICS].text = text;
	assert_int_equal(metrics_text(&m.config, &m.node, &m.plan, &again), 0);
	assert_string_equal(again, text);

	for (size_t i = 0; i <= ELEMENTSOF(cases); i++) {
		const bool is_long = i == ELEMENTSOF(cases);
		const char *from = is_long ? "12\n" : cases[i].from, *at = strstr(text, from);
		_cleanup_(freep) char *spoilt = NULL, *other = NULL;

		snprintf(digits, sizeof(digits), "%02000d\n", 12);
		assert_non_null(at);
		assert_true(asprintf(&spoilt, "%.*s%s%s", (int)(at - text), text,
				     is_long ? digits : cases[i].to, at + strlen(from)) > 0);
		m.node.outputs[OUTPUT_METRICS].text = spoilt;
		assert_int_equal(metrics_text(&m.config, &m.node, &m.plan, &other), 0);
		if (strstr(other, "last_change"))
			fail_msg("%s became\n%s", from, other);
	}
}

/* --- what becomes of a file --- */

static const struct file_case {
	const char *what;
	bool has_folder, is_there;
	const char *now;  /* text of ours that is there */
	const char *want; /* NULL: nothing can be written */
	bool is_kept, has_changes;
	enum verb verb; /* VERB_WAIT: no item */
	enum class class;
	enum reason reason; /* of the item, or of the hint */
} file_cases[] = {
	{ "new", true, false, NULL, "a", false, false, VERB_WRITE_OUTPUT, CLASS_CHANGE,
	  REASON_NONE },
	{ "equal", true, true, "a", "a", false, false, VERB_WAIT, CLASS_CHANGE, REASON_NONE },
	{ "other", true, true, "b", "a", false, false, VERB_WRITE_OUTPUT, CLASS_CHANGE,
	  REASON_NONE },
	{ "of another program", true, true, NULL, "a", false, false, VERB_WRITE_OUTPUT,
	  CLASS_REFUSED, REASON_OUTPUT_FOREIGN },
	{ "without a folder", false, false, NULL, "a", false, false, VERB_WRITE_OUTPUT,
	  CLASS_WAITING, REASON_OUTPUT_NO_FOLDER },
	{ "before other changes", true, true, "b", "a", false, true, VERB_WRITE_OUTPUT,
	  CLASS_WAITING, REASON_OUTPUT_LAST },
	{ "too early", true, true, "b", NULL, true, false, VERB_WAIT, CLASS_CHANGE, REASON_NONE },
	{ "nothing to write", true, false, NULL, NULL, false, false, VERB_WAIT, CLASS_CHANGE,
	  REASON_NCCL_NONE },
	{ "nothing to write any more", true, true, "b", NULL, false, false, VERB_REMOVE_OUTPUT,
	  CLASS_CHANGE, REASON_NCCL_NONE },
};

static void check_file(const struct file_case *t, enum output o)
{
	_cleanup_(plan_done) struct plan p = { .state = NODE_READY };
	struct config c = {};
	struct memory memory = {};
	struct node n = {};
	const size_t n_before = t->has_changes;

	COPY(c.output.paths[o], paths[o]);
	n.outputs[o] = (struct output_file){ t->has_folder, t->is_there, (char *)t->now };
	p.outputs[o].path = c.output.paths[o];
	p.outputs[o].is_kept = t->is_kept;
	p.outputs[o].text = t->want ? strdup(t->want) : NULL;
	if (!t->want && !t->is_kept)
		p.outputs[o].reason = t->reason;
	if (t->has_changes)
		plan_add(&p, VERB_SET_NUM_VFS, "0000:41:00.0");

	plan_outputs(&c, &n, &memory, &p);
	assert_int_equal(p.n_actions - n_before, t->verb != VERB_WAIT);
	assert_int_equal(p.n_reasons, !t->want && !t->is_kept);
	if (t->verb == VERB_WAIT)
		return;
	assert_int_equal(p.actions[n_before].verb, t->verb);
	assert_int_equal(p.actions[n_before].class, t->class);
	assert_int_equal(p.actions[n_before].reason, t->want ? t->reason : REASON_NONE);
	assert_string_equal(p.actions[n_before].target, paths[o]);
	assert_true(action_is_best_effort(&p.actions[n_before]));
	assert_int_equal(plan_has_needed_changes(&p), t->has_changes);
}

static void a_file_becomes_what_it_has_to(void **state _unused_)
{
	for (size_t i = 0; i < ELEMENTSOF(file_cases); i++)
		for (enum output o = 0; o < _OUTPUT_N; o++) {
			print_message("%s: %s\n", output_name(o), file_cases[i].what);
			check_file(&file_cases[i], o);
		}
}

/* At the first look of a boot, before everything else; later a file waits for the changes. */
static void what_an_earlier_boot_left_as_ready_is_replaced_first(void **state _unused_)
{
	struct machine m;

	for (int is_first_look = 0; is_first_look < 2; is_first_look++) {
		char *before[_OUTPUT_N];

		make(&m);
		ask_for_all(&m);
		output_files(&m.config, &m.node, &m.plan);
		for (enum output o = 0; o < _OUTPUT_N; o++) {
			before[o] = TAKE(m.plan.outputs[o].text);
			m.node.outputs[o].is_there = true;
			m.node.outputs[o].text = before[o];
		}
		m.plan.state = NODE_STARTING;
		m.memory.last_state = is_first_look ? NODE_STARTING : NODE_READY;
		plan_add(&m.plan, VERB_SET_NUM_VFS, "0000:41:00.0");
		output_files(&m.config, &m.node, &m.plan);
		plan_outputs(&m.config, &m.node, &m.memory, &m.plan);
		assert_int_equal(m.plan.n_actions, 5);
		for (size_t i = 0; i < 5; i++) {
			const struct action *a = &m.plan.actions[i];

			if (a->verb == VERB_SET_NUM_VFS)
				assert_int_equal(i, is_first_look ? 2 : 0);
			else if (streq(a->target, paths[OUTPUT_NCCL]) ||
				 streq(a->target, paths[OUTPUT_CDI]) || !is_first_look)
				assert_int_equal(a->class, CLASS_WAITING);
			else
				assert_int_equal(a->class, CLASS_CHANGE);
		}
		clear(&m);
		for (enum output o = 0; o < _OUTPUT_N; o++)
			free(before[o]);
	}
}

static void a_loss_that_is_not_confirmed_changes_no_file(void **state _unused_)
{
	struct machine m;
	char there[] = "x";

	make(&m);
	ask_for_all(&m);
	m.devices[1].is_usable = false;
	m.devices[1].is_lost = true;
	m.plan.state = NODE_DEGRADED;
	m.node.outputs[OUTPUT_NFD].text = there;
	output_files(&m.config, &m.node, &m.plan);
	assert_true(m.plan.outputs[OUTPUT_NFD].is_kept);
	assert_null(m.plan.outputs[OUTPUT_NFD].text);
	assert_non_null(m.plan.outputs[OUTPUT_METRICS].text); /* there is none yet */
	clear(&m);

	/* A card that was pulled has no device to be lost. */
	make(&m);
	ask_for_all(&m);
	m.plan.n_gone = 1;
	m.node.outputs[OUTPUT_NFD].text = there;
	output_files(&m.config, &m.node, &m.plan);
	assert_true(m.plan.outputs[OUTPUT_NFD].is_kept);
	clear(&m);
}

static void what_is_not_named_any_more_is_removed(void **state _unused_)
{
	struct output_record records[] = { { OUTPUT_NFD, "/o/nfd" }, { OUTPUT_NCCL, "/old" } };
	struct memory memory = {};
	struct node n = { .output_records = records, .n_output_records = 2 };
	struct config c = {};

	COPY(c.output.paths[OUTPUT_NFD], "/o/nfd");
	for (int is_invalid = 0; is_invalid < 2; is_invalid++) {
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY };

		c.is_invalid = is_invalid;
		plan_outputs(&c, &n, &memory, &p);
		assert_int_equal(p.n_actions, !is_invalid);
		if (is_invalid)
			continue;
		assert_int_equal(p.actions[0].verb, VERB_REMOVE_OUTPUT);
		assert_string_equal(p.actions[0].target, "/old");
		assert_string_equal(p.actions[0].text.to, "NCCL");
	}
}

static void a_write_that_failed_is_not_tried_again_in_the_pass(void **state _unused_)
{
	static const struct {
		int result;
		enum reason reason;
	} cases[] = {
		{ -EROFS, REASON_OUTPUT_READ_ONLY },
		{ -ENOSPC, REASON_OUTPUT_FULL },
		{ -EEXIST, REASON_OUTPUT_FOREIGN },
		{ -EIO, REASON_ACTION_FAILED },
		{ 0, REASON_NONE }, /* the text became another one meanwhile: written again */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(plan_done) struct plan p = { .state = NODE_READY }, tried = {};
		struct attempts attempts;
		struct config c = {};
		struct memory memory = {};
		struct node n = {};
		struct action *a;

		COPY(c.output.paths[OUTPUT_NFD], "/o/nfd");
		n.outputs[OUTPUT_NFD].has_folder = true;
		p.outputs[OUTPUT_NFD].path = c.output.paths[OUTPUT_NFD];
		p.outputs[OUTPUT_NFD].text = strdup("a");
		a = plan_add(&tried, VERB_WRITE_OUTPUT, "/o/nfd");
		a->is_done = true;
		a->result = cases[i].result;
		attempts = (struct attempts){ .actions = tried.actions, .n_actions = 1 };
		p.tried = &attempts;

		plan_outputs(&c, &n, &memory, &p);
		assert_int_equal(p.n_actions, 1);
		assert_int_equal(plan_has_open_changes(&p), cases[i].result == 0);
		assert_int_equal(action_failure(&p.actions[0]), cases[i].reason);
		assert_false(plan_has_needed_changes(&p));
	}
}

/* Whatever the file is. */
static void why_a_file_for_others_cannot_be_written_is_reported(void **state _unused_)
{
	static const enum verb verbs[] = { VERB_WRITE_PLUGIN,   VERB_REMOVE_PLUGIN,
					   VERB_WRITE_MANIFEST, VERB_REMOVE_MANIFEST,
					   VERB_WRITE_OUTPUT,   VERB_REMOVE_OUTPUT };
	static const struct {
		int error;
		enum reason reason;
	} rows[] = {
		{ EROFS, REASON_OUTPUT_READ_ONLY }, { EACCES, REASON_OUTPUT_READ_ONLY },
		{ ENOSPC, REASON_OUTPUT_FULL },     { ELOOP, REASON_OUTPUT_LINK },
		{ EIO, REASON_ACTION_FAILED },      { ESTALE, REASON_CONFIG_CHANGED },
	};

	for (size_t v = 0; v < ELEMENTSOF(verbs); v++)
		for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
			const struct action a = { .verb = verbs[v],
						  .is_done = true,
						  .result = -rows[i].error,
						  .target = "",
						  .subject = "",
						  .detail = "",
						  .error = "" };

			assert_int_equal(action_failure(&a), rows[i].reason);
		}
}

static void the_nccl_file_waits_for_the_node_to_be_finished(void **state _unused_)
{
	for (enum node_state s = 0; s < _NODE_STATE_N; s++) {
		struct machine m;

		make(&m);
		ask_for_all(&m);
		m.plan.state = s;
		output_files(&m.config, &m.node, &m.plan);
		assert_int_equal(m.plan.outputs[OUTPUT_NCCL].is_kept, s == NODE_STARTING);
		assert_int_equal(!m.plan.outputs[OUTPUT_NCCL].text, s == NODE_STARTING);
		if (s != NODE_STARTING)
			assert_string_equal(m.plan.outputs[OUTPUT_NCCL].text,
					    "# Written by rdma-provision: NCCL settings\n"
					    "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1,mlx5_2:1\n"
					    "NCCL_IB_GID_INDEX=3\n");
		clear(&m);
	}
}

static void first_lines_are_no_settings_and_differ(void **state _unused_)
{
	for (enum output o = 0; o < _OUTPUT_N; o++) {
		assert_null(strchr(output_mark(o), '='));
		assert_true(is_prefix(output_mark(o), "# "));
		for (enum output k = 0; k < _OUTPUT_N; k++)
			assert_int_equal(output_is_own(o, output_mark(k)), o == k);
	}
}

static int print_metrics(void)
{
	_cleanup_(freep) char *text = NULL;
	struct machine m;

	make_unlike(&m);
	return metrics_text(&m.config, &m.node, &m.plan, &text) < 0 || fputs(text, stdout) == EOF;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_named_once_and_in_order_of_rails),
		cmocka_unit_test(where_indexes_differ_nccl_searches_by_family_and_range),
		cmocka_unit_test(features_are_labels_that_tell_the_node),
		cmocka_unit_test(an_empty_node_has_valid_features_too),
		cmocka_unit_test(a_device_in_a_pod_changes_no_file),
		cmocka_unit_test(cdi_has_each_function_that_is_handed_out_and_all_of_them),
		cmocka_unit_test(without_a_device_there_is_no_cdi_file),
		cmocka_unit_test(the_cdi_file_appears_once_the_node_is_finished),
		cmocka_unit_test(metrics_count_devices_by_state_and_reason),
		cmocka_unit_test(a_large_node_has_fewer_than_1000_series),
		cmocka_unit_test(the_last_change_stays_in_the_file),
		cmocka_unit_test(a_file_becomes_what_it_has_to),
		cmocka_unit_test(what_an_earlier_boot_left_as_ready_is_replaced_first),
		cmocka_unit_test(a_loss_that_is_not_confirmed_changes_no_file),
		cmocka_unit_test(what_is_not_named_any_more_is_removed),
		cmocka_unit_test(a_write_that_failed_is_not_tried_again_in_the_pass),
		cmocka_unit_test(why_a_file_for_others_cannot_be_written_is_reported),
		cmocka_unit_test(the_nccl_file_waits_for_the_node_to_be_finished),
		cmocka_unit_test(first_lines_are_no_settings_and_differ),
	};

	if (argc > 1 && streq(argv[1], "metrics"))
		return print_metrics();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
