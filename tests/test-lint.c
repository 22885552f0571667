/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the device plugins, each broken once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <jansson.h>
#include <linux/rtnetlink.h>

#include "../src/model/module-options.h"
#include "../src/plugin/lint-rules.h"
#include "../src/plugin/plugin-output.h"
#include "../src/show/check.h"

#define PF    "0000:41:00.0" /* with two VFs, of another device id */
#define VF0   "0000:41:00.2"
#define VF1   "0000:41:00.3"
#define OTHER "0000:c1:00.0" /* a card without VFs */

struct scene {
	struct config config;
	struct device_config sections[2];
	struct node node;
	struct memory memory;
	struct pci pcis[5];
	struct netdev netdevs[5];
	struct ibdev ibdevs[5];
	struct route routes[3];
	struct device devices[4];
	struct plan plan;
};

static void add_function(struct scene *s, size_t i, const char *pci, uint16_t device,
			 const char *netdev, const char *ibdev)
{
	s->pcis[i] = (struct pci){ .vendor = 0x15b3, .device = device, .class = 0x020000 };
	COPY(s->pcis[i].address, pci);
	COPY(s->pcis[i].driver, "mlx5_core");
	s->netdevs[i] = (struct netdev){ .ifindex = (uint32_t)i + 2 };
	COPY(s->netdevs[i].name, netdev);
	COPY(s->netdevs[i].pci, pci);
	COPY(s->netdevs[i].mac, "02:00:00:00:00:01");
	s->ibdevs[i] = (struct ibdev){ .uverbs = "uverbs0", .umad = "umad0", .node_type = "CA" };
	COPY(s->ibdevs[i].name, ibdev);
	COPY(s->ibdevs[i].pci, pci);
	s->node.n_pcis = s->node.n_netdevs = s->node.n_ibdevs = i + 1;
	if (i < ELEMENTSOF(s->devices))
		s->devices[i] = (struct device){ .pci = &s->pcis[i],
						 .netdev = &s->netdevs[i],
						 .ibdev = &s->ibdevs[i],
						 .config = &s->sections[0],
						 .is_handed_out = i > 0,
						 .is_vf = i == 1 || i == 2,
						 .vf_rdma = VF_RDMA_YES,
						 .is_usable = true };
}

/* "ret" has to stay where it is: it points into itself. */
static void set_scene(struct scene *ret, enum plugin_type type)
{
	*ret = (struct scene){};
	COPY(ret->sections[0].name, "rail");
	COPY(ret->sections[1].name, "storage");
	ret->config.plugin.type = type;
	ret->config.plugin.shares = 1000;
	COPY(ret->config.plugin.resource, "rdma/hca");
	COPY(ret->config.plugin.config_file, "/" PLUGIN_CONFIG_PATH);
	add_function(ret, 0, PF, 0x1021, "ens1", "mlx5_0");
	add_function(ret, 1, VF0, 0x101e, "ens1v0", "mlx5_2");
	add_function(ret, 2, VF1, 0x101e, "ens1v1", "mlx5_3");
	add_function(ret, 3, OTHER, 0x1023, "ens2", "mlx5_1");
	ret->pcis[0].num_vfs = ret->pcis[0].total_vfs = 2;
	ret->node.pcis = ret->pcis;
	ret->node.netdevs = ret->netdevs;
	ret->node.ibdevs = ret->ibdevs;
	ret->node.routes = ret->routes;
	ret->node.has_rdma_cm = true;
	ret->node.netns_mode = NETNS_MODE_SHARED;
	ret->plan.devices = ret->devices;
	ret->plan.n_devices = ELEMENTSOF(ret->devices);
	ret->plan.state = NODE_READY;
}

/* "refused CODE", or "PCI RESOURCE" of each that is exposed; then "CODE TARGET" of each finding. */
static void describe(const struct lint *l, char *ret, size_t size)
{
	size_t n = 0;

	*ret = '\0';
	if (l->refusal != REASON_NONE)
		n += (size_t)snprintf(ret + n, size - n, "refused %s\n", reason_code(l->refusal));
	for (size_t i = 0; i < l->n_exposed; i++)
		n += (size_t)snprintf(ret + n, size - n, "%s %s\n", l->exposed[i].pci,
				      l->exposed[i].resource);
	for (size_t i = 0; i < l->n_findings; i++)
		n += (size_t)snprintf(ret + n, size - n, "%s %s\n",
				      reason_code(l->findings[i].reason), l->findings[i].target);
}

static void assert_lint(const struct scene *s, const char *name, const char *text,
			const char *expected)
{
	_cleanup_(lint_done) struct lint lint = {};
	char found[1024];

	assert_int_equal(output_lint(&s->config, &s->node, &s->plan, text, &lint), 0);
	describe(&lint, found, sizeof(found));
	if (!streq(found, expected))
		fail_msg("%s:\n%s-- expected:\n%s", name, found, expected);
}

static void assert_own(struct scene *s, const char *name, const char *expected)
{
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(output_plugin(&s->config, &s->node, &s->plan, &text), 0);
	assert_non_null(text);
	assert_lint(s, name, text, expected);
}

/* --- facts of a node --- */

static void nothing(_unused_ struct scene *s)
{
}

static void exclusive(struct scene *s)
{
	s->node.netns_mode = NETNS_MODE_EXCLUSIVE;
}

static void no_class(struct scene *s)
{
	s->pcis[3].class = 0x0b4000;
}

static void infiniband_class(struct scene *s)
{
	s->pcis[3].class = 0x020700;
}

static void no_driver(struct scene *s)
{
	*s->pcis[3].driver = '\0';
}

static void no_cm(struct scene *s)
{
	s->node.has_rdma_cm = false;
}

static void no_umad(struct scene *s)
{
	*s->ibdevs[3].umad = '\0';
}

static void no_uverbs(struct scene *s)
{
	*s->ibdevs[3].uverbs = '\0';
}

static void only_uverbs(struct scene *s)
{
	no_umad(s);
	no_cm(s);
}

static void no_nodes(struct scene *s)
{
	no_uverbs(s);
	only_uverbs(s);
}

static void no_ibdev(struct scene *s)
{
	s->ibdevs[3] = s->ibdevs[4];
	s->node.n_ibdevs--;
	s->devices[3].ibdev = NULL;
}

static void erdma(struct scene *s)
{
	s->pcis[3].vendor = 0x1ded;
	s->pcis[3].device = 0x107f;
	COPY(s->pcis[3].driver, "erdma");
	COPY(s->netdevs[3].pci, "0000:00:05.0");
	COPY(s->ibdevs[3].node_type, "RNIC");
	no_umad(s);
}

static void erdma_in_wrong_mode(struct scene *s)
{
	erdma(s);
	s->config.driver.mode = DRIVER_MODE_COMPAT;
}

static void default_route(struct scene *s)
{
	s->routes[0] = (struct route){ .family = AF_INET, .table = RT_TABLE_MAIN, .ifindex = 5 };
	s->node.n_routes = 1;
}

static void default_route_of_another_table(struct scene *s)
{
	default_route(s);
	s->routes[0].table = 100;
}

static void default_route_6(struct scene *s)
{
	default_route(s);
	s->routes[0].family = AF_INET6;
}

static void prefix_route(struct scene *s)
{
	default_route(s);
	s->routes[0].prefix_len = 24;
}

static void vfs_of_others(struct scene *s)
{
	s->pcis[3].num_vfs = 1;
}

static void in_pod(struct scene *s)
{
	s->devices[3].is_in_pod = true;
	s->devices[3].netdev = NULL;
	COPY(s->devices[3].netdev_name, "ens2");
	s->netdevs[3] = s->netdevs[4];
	s->node.n_netdevs--;
}

static void in_pod_with_ibdev(struct scene *s)
{
	in_pod(s);
	no_ibdev(s);
}

static void lost(struct scene *s)
{
	s->devices[3].is_usable = false;
	s->devices[3].is_lost = true;
	COPY(s->devices[3].netdev_name, "ens2");
	no_ibdev(s);
}

static void not_usable(struct scene *s)
{
	s->devices[3].is_usable = false;
}

static void stranger(struct scene *s)
{
	add_function(s, 4, "0000:e1:00.0", 0x101e, "ens3", "mlx5_4");
}

/* Netdevs of one function: the plugin knows the first in the order of bytes, a representor's. */
static void representors(struct scene *s)
{
	stranger(s);
	COPY(s->netdevs[4].name, "enp1");
	COPY(s->netdevs[4].pci, VF1);
	COPY(s->netdevs[4].port_name, "pf0vf0");
}

#define V0 VF0 " rdma/hca\n"
#define V1 VF1 " rdma/hca\n"
#define O  OTHER " rdma/hca\n"

static void our_own_file_exposes_what_it_promises(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum plugin_type type;
		void (*set)(struct scene *s);
		const char *expected;
	} cases[] = {
		{ "shared", PLUGIN_RDMA_SHARED, nothing, V0 V1 O },
		{ "shared, netns", PLUGIN_RDMA_SHARED, exclusive, "refused netns-exclusive\n" },
		{ "shared, class", PLUGIN_RDMA_SHARED, no_class, V0 V1 "plugin-class " OTHER "\n" },
		{ "shared, IB", PLUGIN_RDMA_SHARED, infiniband_class, V0 V1 O },
		{ "shared, rdma_cm", PLUGIN_RDMA_SHARED, no_cm,
		  "refused plugin-empty\nno-rdma-cm " VF0 "\nno-rdma-cm " VF1 "\nno-rdma-cm " OTHER
		  "\n" },
		{ "shared, umad", PLUGIN_RDMA_SHARED, no_umad, V0 V1 "no-umad " OTHER "\n" },
		{ "shared, uverbs", PLUGIN_RDMA_SHARED, no_uverbs, V0 V1 "no-uverbs " OTHER "\n" },
		{ "shared, ibdev", PLUGIN_RDMA_SHARED, no_ibdev, V0 V1 "no-ibdev " OTHER "\n" },
		{ "shared, driver", PLUGIN_RDMA_SHARED, no_driver, V0 V1 "no-driver " OTHER "\n" },
		{ "shared, eRDMA", PLUGIN_RDMA_SHARED, erdma, V0 V1 "plugin-no-mad " OTHER "\n" },
		{ "shared, eRDMA not in its mode", PLUGIN_RDMA_SHARED, erdma_in_wrong_mode,
		  V0 V1 "no-umad " OTHER "\n" },
		{ "shared, default route", PLUGIN_RDMA_SHARED, default_route, V0 V1 O },
		{ "shared, in a pod", PLUGIN_RDMA_SHARED, in_pod, V0 V1 O },
		{ "shared, in a pod with its ibdev", PLUGIN_RDMA_SHARED, in_pod_with_ibdev,
		  V0 V1 O },
		{ "shared, lost", PLUGIN_RDMA_SHARED, lost, V0 V1 O },
		{ "shared, not usable", PLUGIN_RDMA_SHARED, not_usable, V0 V1 },
		/* By ids it would be taken as well: so names are written. */
		{ "shared, a stranger", PLUGIN_RDMA_SHARED, stranger, V0 V1 O },
		{ "shared, representors", PLUGIN_RDMA_SHARED, representors, V0 V1 O },

		{ "sriov", PLUGIN_SRIOV, nothing, V0 V1 O },
		{ "sriov, netns", PLUGIN_SRIOV, exclusive, V0 V1 O },
		{ "sriov, class", PLUGIN_SRIOV, no_class, V0 V1 "plugin-class " OTHER "\n" },
		{ "sriov, one node is enough", PLUGIN_SRIOV, only_uverbs, V0 V1 O },
		{ "sriov, no node", PLUGIN_SRIOV, no_nodes, V0 V1 "no-uverbs " OTHER "\n" },
		{ "sriov, ibdev", PLUGIN_SRIOV, no_ibdev, V0 V1 "no-ibdev " OTHER "\n" },
		{ "sriov, driver", PLUGIN_SRIOV, no_driver, V0 V1 "no-driver " OTHER "\n" },
		{ "sriov, default route", PLUGIN_SRIOV, default_route,
		  V0 V1 "plugin-default-route " OTHER "\n" },
		{ "sriov, default route of IPv6", PLUGIN_SRIOV, default_route_6, V0 V1 O },
		{ "sriov, default route of another table", PLUGIN_SRIOV,
		  default_route_of_another_table, V0 V1 O },
		{ "sriov, another route", PLUGIN_SRIOV, prefix_route, V0 V1 O },
		{ "sriov, a PF with VFs", PLUGIN_SRIOV, vfs_of_others,
		  V0 V1 "plugin-pf-with-vfs " OTHER "\n" },
		{ "sriov, in a pod", PLUGIN_SRIOV, in_pod_with_ibdev, V0 V1 O },
		{ "sriov, not usable", PLUGIN_SRIOV, not_usable, V0 V1 },
		{ "sriov, a stranger", PLUGIN_SRIOV, stranger, V0 V1 O },

		{ "hca", PLUGIN_HCA, nothing, PF " rdma/hca\n" V0 V1 O "plugin-foreign " PF "\n" },
		{ "hca, netns", PLUGIN_HCA, exclusive, "refused netns-exclusive\n" },
		{ "hca, no ibdev", PLUGIN_HCA, no_ibdev,
		  PF " rdma/hca\n" V0 V1 "no-ibdev " OTHER "\nplugin-foreign " PF "\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s, cases[i].type);
		cases[i].set(&s);
		assert_own(&s, cases[i].name, cases[i].expected);
	}
}

/* A default route by the netdev of this number; 99 is that of a bond. */
static struct route *leaves_by(struct scene *s, uint32_t ifindex)
{
	struct route *r = &s->routes[s->node.n_routes++];

	*r = (struct route){ .family = AF_INET, .table = RT_TABLE_MAIN, .ifindex = ifindex };
	return r;
}

static void carries_the_node(struct scene *s)
{
	leaves_by(s, s->netdevs[3].ifindex);
}

static void carries_the_node_in_another_table(struct scene *s)
{
	leaves_by(s, s->netdevs[3].ifindex)->table = 100;
}

static void has_a_route_beside_the_nodes(struct scene *s)
{
	stranger(s);
	leaves_by(s, s->netdevs[4].ifindex);
	leaves_by(s, s->netdevs[3].ifindex)->metric = 1;
}

/* Routers of two rails advertise themselves: for IPv6 no default route is better. */
static void advertised(struct scene *s)
{
	has_a_route_beside_the_nodes(s);
	s->routes[1].family = AF_INET6;
	s->routes[1].metric = 1024;
	*leaves_by(s, 0) = s->routes[1];
	s->routes[2].ifindex = s->netdevs[2].ifindex;
}

static void has_the_nodes_address(struct scene *s)
{
	static struct need need = { .pci = OTHER, .why = NEED_ADDRESS };

	s->plan.needs = &need;
	s->plan.n_needs = 1;
}

static void stranger_carries_the_node(struct scene *s)
{
	stranger(s);
	leaves_by(s, s->netdevs[4].ifindex);
}

static void port_of_the_nodes_bond(struct scene *s)
{
	stranger(s);
	leaves_by(s, 99);
}

static void erdma_of_its_class(struct scene *s)
{
	erdma(s);
	s->pcis[3].class = 0x00ff00;
}

static void no_pf_netdev(struct scene *s)
{
	*s->netdevs[0].pci = '\0';
}

static void second_ibdev(struct scene *s)
{
	COPY(s->ibdevs[0].pci, VF1);
}

static void vf_without_ibdev(struct scene *s)
{
	*s->ibdevs[2].pci = '\0';
}

static void vf_without_nodes(struct scene *s)
{
	*s->ibdevs[2].uverbs = '\0';
}

static void vf_in_pod(struct scene *s)
{
	s->devices[2].is_in_pod = true;
	vf_without_ibdev(s);
}

static void nothing_usable(struct scene *s)
{
	for (size_t i = 0; i < ELEMENTSOF(s->ibdevs); i++)
		*s->ibdevs[i].uverbs = '\0';
}

#define P PF " rdma/hca\n"

/* The rules of the discovery of both drivers; a PF with VFs is a device to dranet as well. */
static void a_dra_driver_finds_what_its_rules_allow(_unused_ void **state)
{
	static const char foreign[] = "plugin-foreign " PF "\n";
	static const struct {
		const char *name;
		enum plugin_type type;
		void (*set)(struct scene *s);
		const char *exposed, *findings;
	} cases[] = {
		{ "all", PLUGIN_DRANET, nothing, P V0 V1 O, "" },
		{ "netns", PLUGIN_DRANET, exclusive, P V0 V1 O, "" },
		{ "eRDMA", PLUGIN_DRANET, erdma_of_its_class, P V0 V1 O, "" },
		{ "class, no RDMA", PLUGIN_DRANET, no_ibdev, P V0 V1, "no-ibdev " OTHER "\n" },
		{ "the node's", PLUGIN_DRANET, carries_the_node, P V0 V1,
		  "plugin-default-route " OTHER "\n" },
		{ "the node's in another table", PLUGIN_DRANET, carries_the_node_in_another_table,
		  P V0 V1 O, "" },
		{ "beside the node's", PLUGIN_DRANET, has_a_route_beside_the_nodes, P V0 V1 O, "" },
		{ "advertised", PLUGIN_DRANET, advertised, P V0,
		  "plugin-default-route " VF1 "\nplugin-default-route " OTHER "\n" },
		{ "the node's by --node-ip", PLUGIN_DRANET, has_the_nodes_address, P V0 V1 O, "" },
		{ "driver", PLUGIN_DRANET, no_driver, P V0 V1, "no-driver " OTHER "\n" },
		{ "uverbs", PLUGIN_DRANET, no_uverbs, P V0 V1, "no-uverbs " OTHER "\n" },
		{ "in a pod", PLUGIN_DRANET, in_pod_with_ibdev, P V0 V1 O, "" },
		{ "a stranger", PLUGIN_DRANET, stranger, P V0 V1 O "0000:e1:00.0 rdma/hca\n", "" },

		{ "the node's is a stranger", PLUGIN_DRANET, stranger_carries_the_node, P V0 V1 O,
		  "" },
		{ "below the node's bond", PLUGIN_DRANET, port_of_the_nodes_bond,
		  P V0 V1 O "0000:e1:00.0 rdma/hca\n", "" },

		{ "a PF", PLUGIN_DRA_SRIOV, nothing, V0 V1, "plugin-vfs-only " OTHER "\n" },
		{ "class", PLUGIN_DRA_SRIOV, erdma_of_its_class, V0 V1,
		  "plugin-class " OTHER "\n" },
		{ "PF without netdev", PLUGIN_DRA_SRIOV, no_pf_netdev, "refused plugin-empty\n",
		  "plugin-pf-netdev " VF0 "\nplugin-pf-netdev " VF1 "\nplugin-vfs-only " OTHER
		  "\n" },
		{ "two RDMA devices", PLUGIN_DRA_SRIOV, second_ibdev, V0,
		  "plugin-ibdevs " VF1 "\nplugin-vfs-only " OTHER "\n" },
		{ "no RDMA device", PLUGIN_DRA_SRIOV, vf_without_ibdev, V0,
		  "no-ibdev " VF1 "\nplugin-vfs-only " OTHER "\n" },
		{ "no nodes", PLUGIN_DRA_SRIOV, vf_without_nodes, V0,
		  "no-uverbs " VF1 "\nplugin-vfs-only " OTHER "\n" },
		{ "in a pod", PLUGIN_DRA_SRIOV, vf_in_pod, V0 V1, "plugin-vfs-only " OTHER "\n" },
		{ "a stranger", PLUGIN_DRA_SRIOV, stranger, V0 V1, "plugin-vfs-only " OTHER "\n" },
		{ "none", PLUGIN_DRANET, nothing_usable, "refused plugin-empty\n",
		  "no-uverbs " VF0 "\nno-uverbs " VF1 "\nno-uverbs " OTHER "\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char expected[512];
		struct scene s;

		set_scene(&s, cases[i].type);
		COPY(s.pcis[1].physfn, PF);
		COPY(s.pcis[2].physfn, PF);
		cases[i].set(&s);
		snprintf(expected, sizeof(expected), "%s%s%s%s", cases[i].exposed,
			 cases[i].findings, strstr(cases[i].exposed, P) ? foreign : "",
			 strstr(cases[i].exposed, "e1:00.0") ? "plugin-foreign 0000:e1:00.0\n"
							     : "");
		assert_lint(&s, cases[i].name, "", expected);
	}
}

/* Nothing is written for it; what it finds is found without a file. */
static void a_dra_driver_has_no_file(_unused_ void **state)
{
	static const enum plugin_type types[] = { PLUGIN_DRANET, PLUGIN_DRA_SRIOV };

	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		struct scene s;

		set_scene(&s, types[i]);
		COPY(s.pcis[1].physfn, PF);
		assert_int_equal(output_plugin_all(&s.config, &s.node, &s.plan), 0);
		assert_null(s.plan.plugin);
		assert_null(s.plan.manifest);
		assert_string_equal(s.plan.plugin_path, "");
		assert_true(s.plan.lint.n_exposed > 0);
		lint_done(&s.plan.lint);
	}
}

/* The whole text is in tests/nodes: dra.yaml. */
static void objects_select_each_device_of_a_resource_once(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		const char *here[3], *not_here;
	} cases[] = {
		{ PLUGIN_DRANET,
		  { "].pciAddress in [\"" VF0 "\", \"" VF1 "\"]\n",
		    "].pciAddress in [\"" OTHER "\"]\n",
		    "  name: rdma-big-hca\nspec:\n  extendedResourceName: rdma/Big_hca\n" },
		  "Sriov" },
		{ PLUGIN_NONE, { "\"dra.net\"", "rdma-hca", "pcieRoot" }, "Sriov" },
		{ PLUGIN_DRA_SRIOV,
		  { "kind: SriovResourcePolicy\n", "pfPciAddresses: [\"" PF "\"]\n",
		    "].resourceName == \"rdma-hca\"\n" },
		  "dra.net" },
		{ PLUGIN_SRIOV, { "kind: SriovResourcePolicy\n", "VfConfig", "pcieRoot" }, VF0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = NULL;
		struct scene s;

		set_scene(&s, cases[i].type);
		COPY(s.pcis[1].physfn, PF);
		COPY(s.pcis[2].physfn, PF);
		s.devices[3].config = &s.sections[1];
		COPY(s.sections[1].resource, "rdma/Big_hca");
		assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), 0);
		for (size_t k = 0; k < ELEMENTSOF(cases[i].here); k++)
			if (!strstr(text, cases[i].here[k]))
				fail_msg("%s is not in\n%s", cases[i].here[k], text);
		assert_null(strstr(text, cases[i].not_here));
		assert_null(strstr(text, "gpu"));
	}
}

static void without_a_usable_device_there_are_no_objects(_unused_ void **state)
{
	char *text = NULL;
	struct scene s;

	set_scene(&s, PLUGIN_DRANET);
	for (size_t i = 0; i < ELEMENTSOF(s.devices); i++)
		s.devices[i].is_usable = false;
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), -ENODATA);
	assert_null(text);

	set_scene(&s, PLUGIN_DRA_SRIOV); /* whose driver finds VFs alone */
	for (size_t i = 0; i < ELEMENTSOF(s.pcis); i++)
		s.pcis[i].physfn[0] = '\0';
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), -ENODATA);
	assert_null(text);
}

static void objects_that_the_api_would_refuse_are_not_made(_unused_ void **state)
{
	struct device_config third = { .resource = "rdma/Hca" };
	static const char name[] =
		"rdma.gpu-cluster-east-1.networking.example.internal/rail_network";
	struct pci pcis[700] = {};
	struct device devices[ELEMENTSOF(pcis)];
	struct scene s;
	char *text = NULL;

	set_scene(&s, PLUGIN_DRA_SRIOV);
	COPY(s.pcis[1].physfn, PF);
	COPY(s.config.plugin.resource, name);
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), -E2BIG);
	s.config.plugin.resource[63] = '\0';
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), 0);
	free(TAKE(text));

	set_scene(&s, PLUGIN_DRA_SRIOV); /* rdma/hca is that of a VF, rdma/Hca of a PF or of a VF */
	COPY(s.pcis[1].physfn, PF);
	s.devices[2].config = s.devices[3].config = &third;
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), 0);
	free(TAKE(text));
	COPY(s.pcis[2].physfn, PF);
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), -EEXIST);

	set_scene(&s, PLUGIN_DRANET);
	for (size_t i = 0; i < ELEMENTSOF(devices); i++) {
		devices[i] = s.devices[1];
		devices[i].pci = &pcis[i];
		snprintf(pcis[i].address, sizeof(pcis[i].address), "%04zx:41:00.1", i);
	}
	s.plan.devices = devices;
	s.plan.n_devices = ELEMENTSOF(devices);
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), -E2BIG);
	s.plan.n_devices = 600;
	assert_int_equal(output_dra(&s.config, &s.node, &s.plan, &text), 0);
	free(text);
}

#define LIST(...)  "{\"configList\":[" __VA_ARGS__ "]}"
#define POOL(name) "{\"resourceName\":\"" name "\",\"rdmaHcaMax\":1,"
#define ALL(name)  POOL(name) "\"selectors\":{\"drivers\":[\"mlx5_core\"]}}"
#define SRIOV(...) "{\"resourceList\":[" __VA_ARGS__ "]}"
#define ONE(prefix, name, pci)                                                                     \
	"{\"resourcePrefix\":\"" prefix "\",\"resourceName\":\"" name                              \
	"\",\"selectors\":{\"pciAddresses\":[\"" pci "\"]}}"

static void a_file_of_anybody_is_judged_by_the_same_rules(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		const char *text, *expected;
		void (*set)(struct scene *s);
	} cases[] = {
		{ PLUGIN_RDMA_SHARED, "{", "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, "[]", "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, "{}", "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, LIST(), "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, SRIOV(ONE("rdma", "hca", VF0)), "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED,
		  "{\"periodicUpdateInterval\":-1,\"configList\":[" ALL("a") "]}",
		  "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, LIST(ALL("a-b")), "refused plugin-name\n" },
		{ PLUGIN_RDMA_SHARED, LIST(ALL("a.b")), "refused plugin-name\n" },
		{ PLUGIN_RDMA_SHARED, LIST(ALL("")), "refused plugin-name\n" },
		{ PLUGIN_RDMA_SHARED,
		  LIST(ALL(
			  "a") ",{\"resourcePrefix\":\"x\",\"resourceName\":\"a\",\"rdmaHcaMax\":1,"
			       "\"selectors\":{\"drivers\":[\"x\"]}}"),
		  "refused plugin-name\n" },
		{ PLUGIN_RDMA_SHARED, LIST(POOL("a") "\"devices\":[]}"), "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED,
		  LIST(POOL("a") "\"devices\":[\"ens2\"],\"selectors\":{\"drivers\":[\"x\"]}}"),
		  "refused plugin-file\n" },
		/* Selectors without words are none. */
		{ PLUGIN_RDMA_SHARED,
		  LIST(POOL("a") "\"devices\":[\"ens2\",\"ens1v0\"],\"selectors\":{}}"),
		  VF0 " rdma/a\n" OTHER " rdma/a\nplugin-not-selected " VF1 "\n" },
		{ PLUGIN_RDMA_SHARED, LIST(POOL("a") "\"selectors\":{\"vendors\":[]}}"),
		  "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED,
		  LIST("{\"resourceName\":\"a\",\"rdmaHcaMax\":-1,\"devices\":[\"ens2\"]}"),
		  "refused plugin-file\n" },
		{ PLUGIN_RDMA_SHARED, LIST("{\"resourceName\":\"a\",\"devices\":[\"ens2\"]}"),
		  "refused plugin-empty\nplugin-empty rdma/a\nplugin-not-selected " VF0
		  "\nplugin-not-selected " VF1 "\nplugin-not-selected " OTHER "\n" },
		{ PLUGIN_RDMA_SHARED, LIST(POOL("a") "\"devices\":[\"ens2\",\"ens1v0\"]}"),
		  VF0 " rdma/a\n" OTHER " rdma/a\nplugin-not-selected " VF1 "\n" },
		{ PLUGIN_RDMA_SHARED, LIST(POOL("a") "\"selectors\":{\"ifNames\":[\"ens1v1\"]}}"),
		  "refused plugin-empty\nplugin-not-selected " VF0 "\nplugin-not-selected " VF1
		  "\nplugin-not-selected " OTHER "\n",
		  representors },
		/* The PF has all that it takes, and nobody hands it out. */
		{ PLUGIN_RDMA_SHARED, LIST(ALL("a")),
		  PF " rdma/a\n" VF0 " rdma/a\n" VF1 " rdma/a\n" OTHER " rdma/a\nplugin-foreign " PF
		     "\n" },
		{ PLUGIN_RDMA_SHARED,
		  LIST(POOL("a") "\"selectors\":{\"vendors\":[\"15b3\"],\"deviceIDs\":[\"101e\","
				 "\"1023\"],"
				 "\"drivers\":[\"mlx5_core\"],\"linkTypes\":[\"ether\"]}}"),
		  VF0 " rdma/a\n" VF1 " rdma/a\n" OTHER " rdma/a\n" },
		{ PLUGIN_RDMA_SHARED,
		  LIST(POOL("a") "\"selectors\":{\"deviceIDs\":[\"1023\"],\"linkTypes\":["
				 "\"infiniband\"]}}"),
		  "refused plugin-empty\nplugin-not-selected " VF0 "\nplugin-not-selected " VF1
		  "\nplugin-not-selected " OTHER "\n" },
		/* Two pools may have one device. */
		{ PLUGIN_RDMA_SHARED,
		  LIST(POOL("a") "\"selectors\":{\"deviceIDs\":[\"101e\",\"1023\"]}}," POOL(
			  "b") "\"selectors\":{\"ifNames\":[\"ens2\"]}}"),
		  VF0 " rdma/a\n" VF1 " rdma/a\n" OTHER " rdma/a\n" OTHER
		      " rdma/b\nplugin-two-pools " OTHER "\n" },

		{ PLUGIN_SRIOV, LIST(ALL("a")), "refused plugin-file\n" },
		{ PLUGIN_SRIOV, SRIOV(), "refused plugin-file\n" },
		{ PLUGIN_SRIOV, SRIOV("{\"resourceName\":\"a\"}"), "refused plugin-file\n" },
		{ PLUGIN_SRIOV, SRIOV(ONE("x", "a.b", VF0)), "refused plugin-name\n" },
		{ PLUGIN_SRIOV, SRIOV(ONE("x", "a", VF0) "," ONE("x", "a", VF1)),
		  "refused plugin-name\n" },
		{ PLUGIN_SRIOV,
		  SRIOV(ONE("x", "a-b", VF0) "," ONE("y", "a-b", VF1) "," ONE("", "c", OTHER)),
		  VF0 " x/a-b\n" VF1 " y/a-b\n" OTHER " intel.com/c\n" },
		/* The first pool that selects a device has it. */
		{ PLUGIN_SRIOV,
		  SRIOV("{\"resourceName\":\"a\",\"selectors\":{\"drivers\":[\"mlx5_core\"]}}," ONE(
			  "x", "b", VF1)),
		  VF0 " intel.com/a\n" VF1 " intel.com/a\n" OTHER
		      " intel.com/a\nplugin-two-pools " VF1 "\n" },

		{ PLUGIN_HCA, "{\"mode\":\"sriov\"}", "refused plugin-file\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct scene s;

		set_scene(&s, cases[i].type);
		if (cases[i].set)
			cases[i].set(&s);
		assert_lint(&s, cases[i].text, cases[i].text, cases[i].expected);
	}
}

static void files_of_each_kind_are_what_the_plugins_read(_unused_ void **state)
{
	static const struct {
		enum plugin_type type;
		const char *resource, *of_vfs;
		void (*set)(struct scene *s);
		const char *expected;
	} cases[] = {
		{ PLUGIN_SRIOV, "vke.volcengine.com/rdma", "", nothing,
		  "{\"resourceList\":[{\"resourceName\":\"rdma\",\"resourcePrefix\":\"vke."
		  "volcengine."
		  "com\",\"deviceType\":\"netDevice\",\"selectors\":{\"pciAddresses\":[\"" VF0
		  "\",\"" VF1 "\",\"" OTHER "\"],\"isRdma\":true}}]}" },
		/* In the order of names, whatever the order of devices is. */
		{ PLUGIN_SRIOV, "a/storage-1", "b/vf", nothing,
		  "{\"resourceList\":[{\"resourceName\":\"storage-1\",\"resourcePrefix\":\"a\","
		  "\"deviceType\":\"netDevice\",\"selectors\":{\"pciAddresses\":[\"" OTHER
		  "\"],\"isRdma\":true}},{\"resourceName\":\"vf\",\"resourcePrefix\":\"b\","
		  "\"deviceType\":\"netDevice\",\"selectors\":{\"pciAddresses\":[\"" VF0 "\",\"" VF1
		  "\"],\"isRdma\":true}}]}" },
		{ PLUGIN_RDMA_SHARED, "rdma/hca", "rdma/a_vf", nothing,
		  "{\"periodicUpdateInterval\":60,\"configList\":[{\"resourceName\":\"a_vf\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"vendors\":["
		  "\"15b3\"],"
		  "\"deviceIDs\":[\"101e\"],\"drivers\":[\"mlx5_core\"]}},{\"resourceName\":"
		  "\"hca\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"vendors\":["
		  "\"15b3\"],"
		  "\"deviceIDs\":[\"1023\"],\"drivers\":[\"mlx5_core\"]}}]}" },
		/* Another card of the same ids: only names tell them apart, and only in that pool.
		 */
		{ PLUGIN_RDMA_SHARED, "rdma/hca", "rdma/a_vf", stranger,
		  "{\"periodicUpdateInterval\":60,\"configList\":[{\"resourceName\":\"a_vf\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"ifNames\":["
		  "\"ens1v0\","
		  "\"ens1v1\"]}},{\"resourceName\":\"hca\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"vendors\":["
		  "\"15b3\"],"
		  "\"deviceIDs\":[\"1023\"],\"drivers\":[\"mlx5_core\"]}}]}" },
		{ PLUGIN_RDMA_SHARED, "rdma/hca", "rdma/a_vf", representors,
		  "{\"periodicUpdateInterval\":60,\"configList\":[{\"resourceName\":\"a_vf\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"ifNames\":["
		  "\"enp1\",\"ens1v0\"]}},{\"resourceName\":\"hca\","
		  "\"resourcePrefix\":\"rdma\",\"rdmaHcaMax\":1000,\"selectors\":{\"vendors\":["
		  "\"15b3\"],"
		  "\"deviceIDs\":[\"1023\"],\"drivers\":[\"mlx5_core\"]}}]}" },
		{ PLUGIN_HCA, "rdma/hca", "", nothing, "{\"mode\":\"hca\"}" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *made = NULL, *expected = json_loads(cases[i].expected, 0, NULL);
		_cleanup_(freep) char *text = NULL;
		struct scene s;

		set_scene(&s, cases[i].type);
		COPY(s.config.plugin.resource, cases[i].resource);
		COPY(s.sections[0].resource, cases[i].of_vfs);
		s.devices[3].config = &s.sections[1];
		cases[i].set(&s);
		assert_int_equal(output_plugin(&s.config, &s.node, &s.plan, &text), 0);
		made = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(expected);
		if (!json_equal(made, expected))
			fail_msg("%zu: %s", i, text);
	}
}

static void a_file_does_not_change_while_a_device_is_in_a_pod(_unused_ void **state)
{
	static const enum plugin_type types[] = { PLUGIN_RDMA_SHARED, PLUGIN_SRIOV, PLUGIN_HCA };
	static void (*const moves[])(struct scene *s) = { in_pod, in_pod_with_ibdev, lost };
	static void (*const others[])(struct scene *s) = { nothing, stranger };

	for (size_t t = 0; t < ELEMENTSOF(types); t++)
		for (size_t i = 0; i < ELEMENTSOF(moves); i++)
			for (size_t k = 0; k < ELEMENTSOF(others); k++) {
				_cleanup_(freep) char *before = NULL, *after_it = NULL;
				struct scene s;

				set_scene(&s, types[t]);
				others[k](&s);
				assert_int_equal(
					output_plugin(&s.config, &s.node, &s.plan, &before), 0);
				moves[i](&s);
				assert_int_equal(
					output_plugin(&s.config, &s.node, &s.plan, &after_it), 0);
				assert_string_equal(before, after_it);
			}
}

static void a_dead_end_is_an_error_of_check(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum plugin_type type;
		enum driver_mode mode;
		const char *match;
		bool is_seen;
		void (*set)(struct scene *s);
		const char *code; /* NULL: nothing is wrong */
	} cases[] = {
		{ "fine", PLUGIN_RDMA_SHARED, DRIVER_MODE_KEEP, "driver:mlx5_core", true, nothing,
		  NULL },
		/* Without a node, as in an image. */
		{ "by driver", PLUGIN_RDMA_SHARED, DRIVER_MODE_DEFAULT, "pci:* driver:erdma", false,
		  nothing, "plugin-no-mad" },
		{ "by id", PLUGIN_RDMA_SHARED, DRIVER_MODE_DEFAULT, "id:1ded:107f", false, nothing,
		  "plugin-no-mad" },
		{ "another driver", PLUGIN_RDMA_SHARED, DRIVER_MODE_DEFAULT, "driver:erdmax", false,
		  nothing, NULL },
		{ "compat", PLUGIN_RDMA_SHARED, DRIVER_MODE_COMPAT, "driver:erdma", false, nothing,
		  NULL },
		{ "another plugin", PLUGIN_HCA, DRIVER_MODE_DEFAULT, "driver:erdma", false, nothing,
		  NULL },
		{ "no plugin", PLUGIN_NONE, DRIVER_MODE_DEFAULT, "driver:erdma", false, nothing,
		  NULL },
		{ "exclusive", PLUGIN_RDMA_SHARED, DRIVER_MODE_KEEP, "driver:mlx5_core", true,
		  exclusive, "netns-exclusive" },
		{ "nothing of it", PLUGIN_RDMA_SHARED, DRIVER_MODE_KEEP, "driver:mlx5_core", true,
		  no_cm, "plugin-empty" },
		{ "one is left out", PLUGIN_RDMA_SHARED, DRIVER_MODE_KEEP, "driver:mlx5_core", true,
		  no_class, NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *problem = NULL;
		struct scene s;

		set_scene(&s, cases[i].type);
		s.config.driver.mode = cases[i].mode;
		s.config.devices = s.sections;
		s.config.n_devices = 1;
		s.sections[0].match = (char *)cases[i].match;
		cases[i].set(&s);
		assert_int_equal(output_plugin_all(&s.config, &s.node, &s.plan), 0);
		assert_int_equal(
			output_check_plugin(&s.config, cases[i].is_seen ? &s.plan : NULL, &problem),
			0);
		if (!cases[i].code != !problem ||
		    (problem && !strstr(problem, reason_meaning(reason_from_code(cases[i].code)))))
			fail_msg("%s: %s", cases[i].name, problem ? problem : "nothing");
		free(s.plan.plugin);
		lint_done(&s.plan.lint);
	}
}

/* A usable device that the file has no words for: no plugin is asked about it. */
static void check_says_why_nothing_is_exposed(_unused_ void **state)
{
	static const struct {
		bool is_usable;
		enum reason reason, aside;
		const char *code, *advice;
	} cases[] = {
		{ true, REASON_NONE, REASON_NONE, "plugin-not-selected" },
		{ false, REASON_ZERO_GUID, REASON_NONE, "zero-guid" },
		{ false, REASON_NO_IBDEV, REASON_NONE, "no-ibdev", "Leave it out of Match=." },
		{ false, REASON_NONE, REASON_PORT_IN_USE, "port-in-use" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const enum reason reason = reason_from_code(cases[i].code);
		_cleanup_(freep) char *problem = NULL, *text = NULL;
		char words[128];
		struct scene s;

		set_scene(&s, PLUGIN_RDMA_SHARED);
		s.plan.n_devices = 1;
		s.devices[0].is_usable = cases[i].is_usable;
		s.devices[0].reason = cases[i].reason;
		s.devices[0].aside = cases[i].aside;
		s.devices[0].advice = cases[i].advice;
		s.devices[0].is_handed_out = cases[i].aside == REASON_NONE;
		assert_int_equal(output_check_exposed(&s.config, &s.plan, &problem), 0);
		assert_non_null(problem);
		assert_non_null(strstr(problem, reason_meaning(reason)));
		assert_non_null(strstr(problem, cases[i].advice ?: reason_advice(reason)));
		assert_int_equal(output_check_text(&s.config, &s.plan, &text), 0);
		PRINT(words, "%s: not exposed (%s)\n", s.devices[0].pci->address, cases[i].code);
		assert_non_null(strstr(text, words));
	}
}

/* The plugin refuses its file whether the node needs the NIC or not. */
static void check_knows_what_the_plugin_refuses_in_a_part_of_a_tree(_unused_ void **state)
{
	static const struct need need = { .pci = PF, .why = NEED_NOT_RECORDED };

	for (int is_refused = 0; is_refused < 2; is_refused++) {
		_cleanup_(freep) char *text = NULL;
		struct scene s;

		set_scene(&s, PLUGIN_RDMA_SHARED);
		s.plan.n_devices = 1;
		s.devices[0].need = &need;
		s.plan.lint.refusal = is_refused ? REASON_PLUGIN_EMPTY : REASON_NONE;
		assert_int_equal(output_check_text(&s.config, &s.plan, &text), 0);
		assert_non_null(strstr(text, is_refused ? " would expose nothing\n"
							: ": not known, since the tree"));
	}
}

static void check_names_devices_that_are_exposed_and_that_are_not(_unused_ void **state)
{
	static const char head[] =
		"Device plugin sriov: /run/rdma-provision/device-plugin/"
		"config.json would expose:\n  rdma/hca: 1\n" VF0 ": not exposed (no-gid)\n"
		"  The RDMA port has no RoCE v2 GID of its own network device\n"
		"  → See enable_roce.\n";
	static const char left_out[] = VF0 ": not exposed (link-flapping)\n";
	_cleanup_(freep) char *text = NULL, *json = NULL;
	json_auto_t *document = NULL;
	const json_t *plugin;
	struct scene s;

	set_scene(&s, PLUGIN_SRIOV);
	s.devices[1].is_usable = false;
	s.devices[1].reason = REASON_NO_GID;
	s.devices[1].advice = "See enable_roce.";
	default_route(&s);
	assert_int_equal(output_plugin_all(&s.config, &s.node, &s.plan), 0);
	assert_int_equal(output_check_text(&s.config, &s.plan, &text), 0);
	assert_true(is_prefix(text, head));
	assert_non_null(strstr(text, "\n" OTHER ": not exposed (plugin-default-route)\n"));
	assert_null(strstr(text, "\n" VF1));

	assert_int_equal(output_check(NULL, 0, &s.config, &s.plan, &json), 0);
	document = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	plugin = json_object_get(document, "plugin");
	assert_int_equal(json_array_size(json_object_get(plugin, "devices")), 1);
	assert_int_equal(json_array_size(json_object_get(plugin, "excluded")), 2);
	free(TAKE(text));
	s.devices[1].is_usable = s.devices[1].is_excluded = true;
	s.devices[1].reason = REASON_NONE;
	assert_int_equal(output_check_text(&s.config, &s.plan, &text), 0);
	assert_non_null(strstr(text, left_out));
	free(s.plan.plugin);
	lint_done(&s.plan.lint);
}

/* "n_after" counts a device that is handed out and lacks something now. */
static void a_device_comes_by_a_change_or_by_what_ends_itself(_unused_ void **state)
{
#define LOAD(class, module) { STEP_DRIVER, VERB_LOAD_MODULE, class, .target = module }
#define OF(verb, pci)       { STEP_VF, verb, CLASS_CHANGE, .target = pci }
	static const struct action core = LOAD(CLASS_CHANGE, "mlx5_core"),
				   mlx5 = LOAD(CLASS_CHANGE, "mlx5_ib"),
				   no_mlx5 = LOAD(CLASS_REFUSED, "mlx5_ib"),
				   irdma = LOAD(CLASS_CHANGE, "irdma"),
				   no_irdma = LOAD(CLASS_REFUSED, "irdma"),
				   ucm = LOAD(CLASS_CHANGE, "rdma_ucm"),
				   no_ucm = LOAD(CLASS_IMPOSSIBLE, "rdma_ucm"),
				   no_smc = { STEP_SMC, VERB_LOAD_MODULE, CLASS_IMPOSSIBLE,
					      .target = "smc" },
				   building = { STEP_DRIVER, VERB_WAIT, CLASS_WAITING,
						REASON_DKMS_BUILDING, OTHER },
				   up = OF(VERB_SET_LINK_UP, OTHER),
				   pf_up = OF(VERB_SET_LINK_UP, PF), mtu = OF(VERB_SET_MTU, OTHER),
				   mac = OF(VERB_SET_VF_MAC, OTHER),
				   bind = OF(VERB_BIND_DRIVER, OTHER),
				   bind_vf = OF(VERB_BIND_DRIVER, VF0);
#undef OF
#undef LOAD
	static const struct {
		const char *name;
		enum reason reason;
		const char *driver, *port; /* "": none */
		bool has_advice;
		const struct action *actions[2];
		size_t n_after;
	} cases[] = {
		{ "no carrier", REASON_PORT_DOWN, "mlx5_core", "DOWN", false, {}, 1 },
		{ "disabled", REASON_PORT_DOWN, "mlx5_core", "DOWN", true, {}, 0 },
		{ "no subnet manager", REASON_PORT_DOWN, "mlx5_core", "INIT", true, {}, 1 },
		{ "brought up", REASON_PORT_DOWN, "mlx5_core", "DOWN", true, { &up }, 1 },
		{ "another is", REASON_PORT_DOWN, "mlx5_core", "DOWN", true, { &pf_up }, 0 },
		{ "no GID yet", REASON_NO_GID, "mlx5_core", "ACTIVE", false, {}, 1 },
		{ "RoCE v1 alone", REASON_NO_GID, "mlx4_core", "ACTIVE", true, { &mtu }, 0 },
		{ "no address", REASON_NO_ADDRESS, "mlx5_core", "ACTIVE", true, {}, 1 },
		{ "in a namespace", REASON_IN_NETNS, "mlx5_core", "", false, {}, 0 },
		{ "of a VM", REASON_NO_IBDEV, "vfio-pci", "", true, { &ucm, &core }, 0 },
		{ "part loaded", REASON_NO_IBDEV, "ice", "", false, { &irdma, &ucm }, 1 },
		{ "a driver container", REASON_DRIVER_CONTAINER, "mlx5_core", "", false, {}, 1 },
		{ "not made yet", REASON_NO_IBDEV, "mlx5_core", "", false, {}, 1 },
		{ "another's part", REASON_NO_IBDEV, "ice", "", true, { &mlx5 }, 0 },
		{ "part refused", REASON_NO_IBDEV, "ice", "", false, { &no_irdma, &ucm }, 0 },
		{ "part alone", REASON_NO_IBDEV, "ice", "", false, { &irdma, &no_ucm }, 0 },
		{ "other refused",
		  REASON_NO_RDMA_CM,
		  "ice",
		  "ACTIVE",
		  false,
		  { &no_mlx5, &ucm },
		  1 },
		{ "SMC impossible", REASON_GID_PENDING, "ice", "ACTIVE", false, { &no_smc }, 1 },
		{ "a build", REASON_NO_DRIVER, "", "", false, { &building }, 1 },
		{ "bound", REASON_NO_DRIVER, "", "", false, { &bind }, 1 },
		{ "autoprobe", REASON_AUTOPROBE_OFF, "", "", false, { &mac, &bind_vf }, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(forecast_done) struct forecast f = {};
		struct action actions[2];
		struct port port = {};
		struct scene s;

		set_scene(&s, PLUGIN_RDMA_SHARED);
		for (size_t k = 0; k < 3; k++)
			s.devices[k].is_handed_out = false;
		COPY(s.pcis[3].driver, cases[i].driver);
		COPY(s.pcis[3].module, "mlx5_core");
		COPY(port.state, cases[i].port);
		s.ibdevs[3].ports = &port;
		s.ibdevs[3].n_ports = 1;
		s.devices[3].ibdev = port.state[0] ? &s.ibdevs[3] : NULL;
		s.devices[3].is_usable = false;
		s.devices[3].reason = cases[i].reason;
		s.devices[3].advice = cases[i].has_advice ? "Look." : NULL;
		s.plan.actions = actions;
		for (size_t k = 0; k < 2 && cases[i].actions[k]; k++)
			actions[s.plan.n_actions++] = *cases[i].actions[k];
		assert_int_equal(forecast_make(&s.config, &s.plan, &f), 0);
		if ((f.n_pools > 0 ? f.pools[0].n_after : 0) != cases[i].n_after)
			fail_msg("%s", cases[i].name);
	}
}

static void vfs_come_where_they_get_a_driver(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint32_t wanted;
		bool has_autoprobe, autoprobe, is_switched, lacks_module;
		size_t n_after;
		const char *words; /* in the text; NULL: none of the PF */
		bool is_unknown;
	} rows[] = {
		{ "on", 4, true, true, false, false, 4 },
		{ "not known", 4, false, false, false, false, 4 },
		{ "off for a moment, by this service", 4, true, false, true, false, 4 },
		{ "off", 4, true, false, false, false, 0,
		  .words = "would expose nothing\n" PF ": not exposed (autoprobe-off)\n" },
		{ "the PF itself", 0, true, false, false, false, 1 },
		{ "without a module", 4, true, true, false, true, 0 },
		{ "RDMA not known", 4, true, true, false, false, 0,
		  "not known, since new VFs may have no RDMA\n" PF
		  ": not counted (vf-rdma-unknown)\n",
		  true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action actions[] = {
			{ STEP_VF, VERB_SET_NUM_VFS, CLASS_CHANGE, .target = PF },
			{ STEP_DRIVER, VERB_LOAD_MODULE, CLASS_REFUSED, .target = "mlx5_ib" }
		};
		_cleanup_(freep) char *text = NULL;
		_cleanup_(forecast_done) struct forecast f = {};
		struct scene s;

		set_scene(&s, PLUGIN_RDMA_SHARED);
		s.devices[0].wanted_vfs = rows[i].wanted;
		s.devices[3].is_handed_out = s.devices[3].is_usable = false;
		s.pcis[0].has_autoprobe = rows[i].has_autoprobe;
		s.pcis[0].autoprobe = rows[i].autoprobe;
		s.pcis[0].is_switched = rows[i].is_switched;
		s.devices[0].vf_rdma = rows[i].is_unknown ? VF_RDMA_UNKNOWN : VF_RDMA_YES;
		s.plan.actions = actions;
		s.plan.n_actions = rows[i].lacks_module ? 2 : 1;
		plan_index(&s.plan);
		assert_int_equal(forecast_make(&s.config, &s.plan, &f), 0);
		if ((f.n_pools > 0 ? f.pools[0].n_after : 0) != rows[i].n_after)
			fail_msg("%s", rows[i].name);
		assert_int_equal(output_check_text(&s.config, &s.plan, &text), 0);
		if (rows[i].words ? !strstr(text, rows[i].words)
				  : strstr(text, PF ": not ") != NULL)
			fail_msg("%s: %s", rows[i].name, text);
		s.plan.actions = NULL;
		s.plan.n_actions = 0;
		plan_index(&s.plan);
	}
}

static void vfs_come_where_the_plan_has_what_they_wait_for(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum reason reason;
		struct action step;
		size_t n_after;
	} rows[] = {
		{ "brought up",
		  REASON_PF_DOWN,
		  { STEP_LINK, VERB_SET_LINK_UP, CLASS_CHANGE, .target = PF },
		  4 },
		{ "another is",
		  REASON_PF_DOWN,
		  { STEP_LINK, VERB_SET_LINK_UP, CLASS_CHANGE, .target = OTHER },
		  0 },
		{ "IPoIB is loaded",
		  REASON_NO_IPOIB,
		  { STEP_DRIVER, VERB_LOAD_MODULE, CLASS_CHANGE, .target = "ib_ipoib" },
		  4 },
		{ "IPoIB is not",
		  REASON_NO_IPOIB,
		  { STEP_DRIVER, VERB_LOAD_MODULE, CLASS_REFUSED, .target = "ib_ipoib" },
		  0 },
		{ "its driver is loaded",
		  REASON_NO_DRIVER,
		  { STEP_DRIVER, VERB_LOAD_MODULE, CLASS_CHANGE, .target = "mlx5_core" },
		  4 },
		{ "a container brings it",
		  REASON_DRIVER_CONTAINER,
		  { STEP_LINK, VERB_SET_LINK_UP, CLASS_CHANGE, .target = OTHER },
		  4 },
		{ "sick",
		  REASON_PF_SICK,
		  { STEP_LINK, VERB_SET_LINK_UP, CLASS_CHANGE, .target = PF },
		  0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action actions[] = { rows[i].step,
					    { STEP_VF, VERB_SET_NUM_VFS, CLASS_WAITING,
					      rows[i].reason, PF } };
		_cleanup_(forecast_done) struct forecast f = {};
		struct scene s;

		set_scene(&s, PLUGIN_RDMA_SHARED);
		s.devices[0].wanted_vfs = 4;
		s.devices[0].vf_rdma = VF_RDMA_YES;
		s.devices[0].is_usable = s.devices[3].is_handed_out = false;
		s.devices[0].reason = REASON_NO_DRIVER;
		COPY(s.pcis[0].driver, "");
		COPY(s.pcis[0].module, "mlx5_core");
		s.plan.actions = actions;
		s.plan.n_actions = ELEMENTSOF(actions);
		plan_index(&s.plan);
		assert_int_equal(forecast_make(&s.config, &s.plan, &f), 0);
		if ((f.n_pools > 0 ? f.pools[0].n_after : 0) != rows[i].n_after)
			fail_msg("%s", rows[i].name);
		s.plan.actions = NULL;
		s.plan.n_actions = 0;
		plan_index(&s.plan);
	}
}

static void
a_pod_registers_by_the_kubelets_socket_where_its_folder_is_another(_unused_ void **state)
{
	static const enum plugin_type types[] = { PLUGIN_RDMA_SHARED, PLUGIN_SRIOV };

	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		_cleanup_(freep) char *usual = NULL, *other = NULL;
		struct scene s;

		set_scene(&s, types[i]);
		COPY(s.config.plugin.config_file, "/run/a/config.json");
		assert_int_equal(output_manifest(&s.config, KUBELET_ROOT_DIR, "", &usual), 0);
		assert_int_equal(output_manifest(&s.config, "/data/kubelet", "", &other), 0);
		assert_non_null(strstr(usual, "mountPath: /var/lib/kubelet/plugins_registry\n"));
		assert_non_null(strstr(usual, "path: /var/lib/kubelet/plugins_registry\n"));
		assert_null(strstr(other, "plugins_registry"));
		assert_non_null(strstr(other, "path: /var/lib/kubelet/device-plugins\n"));
	}
}

static void a_pod_is_another_when_its_file_is(_unused_ void **state)
{
	_cleanup_(freep) char *a = NULL, *b = NULL, *c = NULL;
	struct scene s;

	set_scene(&s, PLUGIN_SRIOV);
	COPY(s.config.plugin.image, "example.com/plugin:v1");
	COPY(s.config.plugin.config_file, "/run/a/b/plugin.json");
	assert_int_equal(output_manifest(&s.config, KUBELET_ROOT_DIR, "one", &a), 0);
	assert_int_equal(output_manifest(&s.config, KUBELET_ROOT_DIR, "one", &b), 0);
	assert_int_equal(output_manifest(&s.config, KUBELET_ROOT_DIR, "two", &c), 0);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	assert_true(is_prefix(a, MANIFEST_MARK "\n"));
	assert_non_null(strstr(a, "image: \"example.com/plugin:v1\"\n"));
	assert_non_null(strstr(a, "- \"--config-file=/etc/pcidp/plugin.json\"\n"));
	assert_non_null(strstr(a, "path: /run/a/b\n"));
	assert_null(strstr(a, "command:"));

	/* Its image has a CMD, which arguments alone would replace. */
	set_scene(&s, PLUGIN_RDMA_SHARED);
	COPY(s.config.plugin.config_file, "/run/a/b/plugin.json");
	free(TAKE(c));
	assert_int_equal(output_manifest(&s.config, KUBELET_ROOT_DIR, "one", &c), 0);
	assert_non_null(strstr(c, "    command: [\"/bin/k8s-rdma-shared-dp\"]\n    args:\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own_file_exposes_what_it_promises),
		cmocka_unit_test(a_dra_driver_finds_what_its_rules_allow),
		cmocka_unit_test(a_dra_driver_has_no_file),
		cmocka_unit_test(objects_select_each_device_of_a_resource_once),
		cmocka_unit_test(without_a_usable_device_there_are_no_objects),
		cmocka_unit_test(objects_that_the_api_would_refuse_are_not_made),
		cmocka_unit_test(a_file_of_anybody_is_judged_by_the_same_rules),
		cmocka_unit_test(files_of_each_kind_are_what_the_plugins_read),
		cmocka_unit_test(a_file_does_not_change_while_a_device_is_in_a_pod),
		cmocka_unit_test(a_dead_end_is_an_error_of_check),
		cmocka_unit_test(check_says_why_nothing_is_exposed),
		cmocka_unit_test(check_knows_what_the_plugin_refuses_in_a_part_of_a_tree),
		cmocka_unit_test(check_names_devices_that_are_exposed_and_that_are_not),
		cmocka_unit_test(a_device_comes_by_a_change_or_by_what_ends_itself),
		cmocka_unit_test(vfs_come_where_they_get_a_driver),
		cmocka_unit_test(vfs_come_where_the_plan_has_what_they_wait_for),
		cmocka_unit_test(
			a_pod_registers_by_the_kubelets_socket_where_its_folder_is_another),
		cmocka_unit_test(a_pod_is_another_when_its_file_is),
	};

	return cmocka_run_group_tests_name("lint", tests, NULL, NULL);
}
