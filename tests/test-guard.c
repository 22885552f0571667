/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/guard/guard-rules.h"

#include "scene.h"

#include <linux/rtnetlink.h>

static const char *const changes[_GUARD_CHANGE_N] = {
	[GUARD_NUM_VFS] = "num-vfs", [GUARD_MTU] = "mtu",       [GUARD_DCB] = "dcb",
	[GUARD_ROCE] = "roce",       [GUARD_ROUTES] = "routes", [GUARD_MOVE] = "move",
};

static const struct pci mlx5 = { .vendor = 0x15b3, .driver = "mlx5_core" };
static const struct pci hns3 = { .vendor = 0x19e5, .driver = "hns3" };
static const struct pci ionic = { .vendor = 0x1dd8, .num_vfs = 4, .driver = "ionic" };
static const struct pci bnxt = { .vendor = 0x14e4, .driver = "bnxt_en" };
static const struct pci bnxt_with_vfs = { .vendor = 0x14e4, .num_vfs = 4, .driver = "bnxt_en" };
static const struct pci ice = { .vendor = 0x8086, .driver = "ice" };
static const struct pci foreign = { .vendor = 0x15b3, .driver = "vfio-pci" };
static const struct device_config exclusive = { .mode = VF_MODE_EXCLUSIVE };
static const struct device_config shared = { .mode = VF_MODE_SHARED };
static const struct device other;

/* "num-vfs mtu"; what may be made at the next boot is in brackets. */
static void print_allowed(const struct device *d, char *ret, size_t size)
{
	ret[0] = '\0';
	for (enum guard_change i = 0; i < _GUARD_CHANGE_N; i++) {
		const size_t len = strlen(ret);
		const bool at_boot = guard_may_at_boot(d, i);

		if (guard_may(d, i) || at_boot)
			snprintf(ret + len, size - len, "%s%s%s%s", len > 0 ? " " : "",
				 at_boot ? "(" : "", changes[i], at_boot ? ")" : "");
		assert_false(guard_may(d, i) && at_boot);
	}
}

#define ALL "num-vfs mtu dcb roce routes move"

static void each_use_allows_its_changes(void **state _unused_)
{
	static const struct need own = {}, by_vf = { .is_by_vf = true };
	static const struct {
		const char *what;
		struct device d;
		const char *allowed;
	} rows[] = {
		{ "needed", { .use = DEVICE_NEEDED, .need = &own }, "" },
		{ "needed, and named literally",
		  { .use = DEVICE_NEEDED, .need = &own, .is_named = true },
		  "num-vfs mtu" },
		{ "needed, named, a port, and exclusive",
		  { .use = DEVICE_NEEDED,
		    .need = &own,
		    .is_named = true,
		    .is_port = true,
		    .config = &exclusive },
		  "num-vfs mtu" },
		{ "needed for its VF", { .use = DEVICE_NEEDED, .need = &by_vf }, "routes" },
		{ "needed for its VF, and named",
		  { .use = DEVICE_NEEDED, .need = &by_vf, .is_named = true },
		  "num-vfs mtu routes" },

		{ "a PF in use", { .use = DEVICE_USED }, "num-vfs mtu dcb roce routes" },
		{ "of another driver that keeps the link",
		  { .use = DEVICE_USED, .pci = &hns3 },
		  "num-vfs mtu dcb roce routes" },
		{ "of one that keeps it with VFs as well",
		  { .use = DEVICE_USED, .pci = &ionic },
		  "num-vfs mtu dcb roce routes" },
		{ "of one that keeps it while there are none",
		  { .use = DEVICE_USED, .pci = &bnxt },
		  "num-vfs mtu dcb roce routes" },
		{ "and that closes it to take them away",
		  { .use = DEVICE_USED, .pci = &bnxt_with_vfs },
		  "(num-vfs) mtu dcb roce routes" },
		{ "of one that does not",
		  { .use = DEVICE_USED, .pci = &ice },
		  "(num-vfs) mtu dcb roce routes" },
		{ "of a card whose driver would",
		  { .use = DEVICE_USED, .pci = &foreign },
		  "(num-vfs) mtu dcb roce routes" },
		{ "a port in use", { .use = DEVICE_USED, .is_port = true }, "num-vfs roce routes" },
		{ "a PF in use, named and exclusive",
		  { .use = DEVICE_USED, .is_named = true, .config = &exclusive },
		  "num-vfs mtu dcb roce routes" },

		{ "a PF with addresses",
		  { .use = DEVICE_ADDRESSED },
		  "num-vfs mtu dcb roce routes" },
		{ "of any driver",
		  { .use = DEVICE_ADDRESSED, .pci = &ice },
		  "num-vfs mtu dcb roce routes" },
		{ "a PF with addresses, exclusive",
		  { .use = DEVICE_ADDRESSED, .config = &exclusive },
		  ALL },
		{ "and the change to shared is put off",
		  { .use = DEVICE_ADDRESSED, .put_off_by = &other, .was_exclusive = true },
		  ALL },
		{ "a change that is put off was from keep",
		  { .use = DEVICE_ADDRESSED, .put_off_by = &other },
		  "num-vfs mtu dcb roce routes" },
		{ "a change from exclusive that was made",
		  { .use = DEVICE_ADDRESSED, .was_exclusive = true },
		  "num-vfs mtu dcb roce routes" },

		{ "a VF in use", { .use = DEVICE_VF_USED, .is_vf = true }, "roce" },
		{ "a VF in use, exclusive",
		  { .use = DEVICE_VF_USED, .is_vf = true, .is_named = true, .config = &exclusive },
		  "roce" },

		{ "free", { .use = DEVICE_FREE }, ALL },
		{ "free, of any driver", { .use = DEVICE_FREE, .pci = &ice }, ALL },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct device d = rows[i].d;
		char text[96];

		if (!d.pci)
			d.pci = &mlx5;
		if (!d.config)
			d.config = &shared;
		print_allowed(&d, text, sizeof(text));
		assert_row(rows[i].what, text, rows[i].allowed);
	}
}

/* What is only waited for tells nothing yet. */
static void a_reason_says_what_was_seen(void **state _unused_)
{
	static const enum reason reasons[_NEED_N] = {
		REASON_NODE_NIC,     REASON_NODE_NIC,         REASON_NODE_NIC,
		REASON_NODE_NIC,     REASON_NODE_NIC_UNKNOWN, REASON_NODE_NIC_UNKNOWN,
		REASON_NOT_RECORDED,
	};

	assert_int_equal(guard_reason(NULL), REASON_PORT_IN_USE);
	for (enum need_why why = 0; why < _NEED_N; why++)
		assert_int_equal(guard_reason(&(struct need){ .why = why }), reasons[why]);
}

#define PF "0000:41:00.0"
#define VF "0000:41:01.0"

/* A PF, eth0, and a VF of it, eth0v0. */
struct scene {
	struct config config;
	struct pci pcis[2];
	struct netdev netdevs[3];
	struct address address;
	struct need need;
	struct node node;
	struct memory memory;
	struct plan plan;
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){
		.pcis = { { .address = PF, .driver = "mlx5_core" },
			  { .address = VF, .physfn = PF, .driver = "mlx5_core" } },
		.netdevs = { { .ifindex = 2, .name = "eth0", .pci = PF },
			     { .ifindex = 3, .name = "eth0v0", .pci = VF },
			     { .ifindex = 4, .name = "m0" } },
		.address = { .family = AF_INET,
			     .local = { 10, 1, 0, 2 },
			     .peer = { 10, 1, 0, 2 },
			     .prefix_len = 16 },
		.need = { .pci = PF },
	};
	s->node = (struct node){ .has_socks = true,
				 .pcis = s->pcis,
				 .n_pcis = 2,
				 .netdevs = s->netdevs,
				 .n_netdevs = 3,
				 .addresses = &s->address };
}

static void use_is_looked_up_of_each_function(void **state _unused_)
{
	static const struct {
		const char *what;
		size_t of;        /* 0: the PF, 1: the VF */
		uint32_t address; /* ifindex of its netdev, 0: none */
		const char *kind; /* of m0, which has eth0 as its port; NULL: it has none */
		bool is_needed, is_in_pod;
		enum plugin_type plugin;
		enum device_use use;
		bool is_port;
		const char *used_by;
	} rows[] = {
		{ "free", 0, 0, .use = DEVICE_FREE, .used_by = "" },
		{ "needed", 0, 2, .is_needed = true, .use = DEVICE_NEEDED, .used_by = "" },
		{ "addressed", 0, 2, .use = DEVICE_ADDRESSED, .used_by = "eth0 has 10.1.0.2/16" },
		{ "addressed, with dranet", 0, 2, .plugin = PLUGIN_DRANET, .use = DEVICE_ADDRESSED,
		  .used_by = "eth0 has 10.1.0.2/16" },
		{ "port of a bridge", 0, 0, "bridge", .use = DEVICE_USED, .is_port = true,
		  .used_by = "enslaved, eth0 belongs to m0, a bridge, bond or team" },
		{ "port of a bridge, needed as well", 0, 0, "bridge", .is_needed = true,
		  .use = DEVICE_NEEDED, .is_port = true, .used_by = "" },
		{ "port of a bond, with dranet", 0, 0, "bond", .plugin = PLUGIN_DRANET,
		  .use = DEVICE_USED, .is_port = true,
		  .used_by = "enslaved, eth0 belongs to m0, a bridge, bond or team" },
		{ "port of a VRF", 0, 0, "vrf", .use = DEVICE_FREE, .used_by = "" },
		{ "a free VF", 1, 2, .use = DEVICE_FREE, .used_by = "" },
		{ "a VF with an address", 1, 3, .use = DEVICE_VF_USED,
		  .used_by = "eth0v0 has 10.1.0.2/16" },
		{ "a VF in a pod", 1, 3, .is_in_pod = true, .use = DEVICE_FREE, .used_by = "" },
		{ "a VF in a pod that the node needs", 1, 3, .is_needed = true, .is_in_pod = true,
		  .use = DEVICE_NEEDED, .used_by = "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		static const struct device_config section = { .mtu = 4200 };
		struct device d = { .is_vf = rows[i].of == 1,
				    .is_in_pod = rows[i].is_in_pod,
				    .config = &section };
		struct scene s;
		char text[320], expected[320];

		set_scene(&s);
		s.config.plugin.type = rows[i].plugin;
		s.address.ifindex = rows[i].address;
		s.node.n_addresses = rows[i].address > 0;
		if (rows[i].kind) {
			COPY(s.netdevs[2].kind, rows[i].kind);
			s.netdevs[0].master = 4;
		}
		d.pci = &s.pcis[rows[i].of];
		d.netdev = &s.netdevs[rows[i].of];
		d.need = rows[i].is_needed ? &s.need : NULL;
		assert_int_equal(graph_make(&s.node, &s.plan.graph), 0);
		guard_look(&s.config, &s.memory, &s.plan, &d);
		snprintf(text, sizeof(text), "%d %d %s", d.use, d.is_port, d.used_by);
		snprintf(expected, sizeof(expected), "%d %d %s", rows[i].use, rows[i].is_port,
			 rows[i].used_by);
		plan_done(&s.plan);
		assert_row(rows[i].what, text, expected);
	}
}

static void a_port_without_a_visible_master_is_one(void **state _unused_)
{
	struct scene s;

	set_scene(&s);
	assert_false(node_is_port(&s.node, NULL));
	assert_false(node_is_port(&s.node, &s.netdevs[0]));
	s.netdevs[0].master = 99;
	assert_true(node_is_port(&s.node, &s.netdevs[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_use_allows_its_changes),
		cmocka_unit_test(a_reason_says_what_was_seen),
		cmocka_unit_test(use_is_looked_up_of_each_function),
		cmocka_unit_test(a_port_without_a_visible_master_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
