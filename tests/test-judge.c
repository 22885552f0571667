/* SPDX-License-Identifier: Apache-2.0 */
/* Which cause is told in place of a catch-all reason, and that none is told which was not seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/device/judge-rules.h"
#include "../src/model/module-options.h"

#include "scene.h"

#define ETHERNET   0x020000
#define INFINIBAND 0x020700

struct row {
	const char *name;
	enum reason of;
	const char *driver, *override, *module, *node_type, *health;
	uint32_t class;
	uint16_t device, vendor; /* vendor 0: that of mlx5 */
	bool has_netdev, has_ibdev, has_gid, is_away, is_live, is_exclusive, is_copy, is_of_vf;
	bool is_bonded, is_v1, is_other, has_autoprobe, has_container, is_bare_gid, is_nameless;
	bool is_of_driven; /* the other function has a driver */
	bool has_state;    /* its port tells that it is DOWN */
	size_t n_netnses;
	enum module_state part; /* of mlx5_ib; _MODULE_STATE_N: not told */
	enum reason expected;
	const char *detail, *advice; /* what is in them; NULL: the advice is that of the reason */
};

#define MLX5    .driver = "mlx5_core", .class = ETHERNET, .device = 0x1021, .part = MODULE_LOADED
#define MLX5_IB .driver = "mlx5_core", .class = INFINIBAND, .device = 0x1021
#define SICK    .of = REASON_PF_SICK, .expected = REASON_PF_SICK, .detail = "before"
#define WITHOUT_NETDEV                                                                             \
	.detail = "mlx5_core is bound, but has no network device",                                 \
	.advice = "still wait for the card"
#define SICK_WITHOUT_NETDEV .of = REASON_PF_SICK, .expected = REASON_PF_SICK, MLX5, WITHOUT_NETDEV
#define NO_IBDEV            .of = REASON_NO_IBDEV, .expected = REASON_NO_IBDEV
#define NO_GID              .of = REASON_NO_GID, .expected = REASON_NO_GID
#define PORT_DOWN           .of = REASON_PORT_DOWN, .expected = REASON_PORT_DOWN
#define NO_SRIOV            .of = REASON_NO_SRIOV, .expected = REASON_NO_SRIOV, .detail = "before"
#define AWAY                .expected = REASON_IN_NETNS
#define ZERO_GUID           .of = REASON_ZERO_GUID, .expected = REASON_ZERO_GUID, .detail = "before"

/* clang-format off */
static const struct row rows[] = {
	{ "nothing is seen", SICK, MLX5, .has_netdev = true },
	{ "a driver that made no netdev", SICK_WITHOUT_NETDEV },
	{ "it is of a VF", SICK, MLX5, .is_of_vf = true },
	{ "a copy may be without it", .of = REASON_PORT_DOWN, MLX5, .is_copy = true, .has_ibdev = true,
	  .expected = REASON_NOT_RECORDED, .detail = "ports" },
	{ "the port of such a function", .of = REASON_PORT_DOWN, MLX5, .has_ibdev = true,
	  .expected = REASON_PORT_DOWN, WITHOUT_NETDEV },
	{ "its GIDs", NO_GID, MLX5, .has_ibdev = true, WITHOUT_NETDEV },
	{ "another reason", .of = REASON_NO_UVERBS, MLX5, .expected = REASON_NO_UVERBS,
	  .detail = "before", .n_netnses = 1 },

	{ "mlx5_ib is not loaded", .of = REASON_PF_SICK, MLX5_IB, .part = MODULE_AVAILABLE,
	  .expected = REASON_NO_IBDEV, .detail = "mlx5_ib is not loaded" },
	{ "it is missing", NO_IBDEV, MLX5_IB, .part = MODULE_MISSING, .detail = "mlx5_ib is not loaded" },
	{ "it is loaded, and the cheaper causes of that come first", .of = REASON_PF_SICK, MLX5_IB,
	  .part = MODULE_LOADED, .expected = REASON_NO_IBDEV, .detail = "mlx5_ib is loaded",
	  .advice = "enable_rdma" },
	{ "the same of a port without a state", SICK, MLX5_IB, .part = MODULE_LOADED, .has_ibdev = true },
	{ "the same of a card in error", SICK, MLX5_IB, .part = MODULE_LOADED, .health = "fw_fatal" },
	{ "a tree does not tell of it", SICK, MLX5_IB, .part = _MODULE_STATE_N },

	{ "a netdev, and a namespace in a tree", .of = REASON_PF_SICK, MLX5, .has_ibdev = true,
	  .n_netnses = 1, AWAY, .detail = "storage" },
	{ "the same, asked for its GID", .of = REASON_NO_GID, MLX5, .has_ibdev = true, .n_netnses = 1,
	  AWAY, .detail = "storage" },
	{ "two of them", .of = REASON_NO_GID, MLX5, .has_ibdev = true, .n_netnses = 2, AWAY,
	  .detail = "ip netns" },
	{ "on a running system the folder of the function tells", SICK_WITHOUT_NETDEV, .has_ibdev = true,
	  .n_netnses = 1, .is_live = true },
	{ "and it does without a name", .of = REASON_PF_SICK, MLX5, .has_ibdev = true, .is_away = true,
	  .is_live = true, AWAY, .detail = "lsns" },
	{ "GIDs of a netdev, which is in a namespace without a name", .of = REASON_NO_GID, MLX5,
	  .has_ibdev = true, .has_gid = true, AWAY, .detail = "lsns" },
	{ "a running system needs no such sign", SICK_WITHOUT_NETDEV, .has_ibdev = true, .has_gid = true,
	  .is_live = true },
	{ "the netdev is here", NO_GID, MLX5, .has_netdev = true, .has_ibdev = true, .has_gid = true,
	  .n_netnses = 1, .detail = "before" },
	{ "an RDMA device", .of = REASON_NO_IBDEV, MLX5, .has_netdev = true, .n_netnses = 1,
	  .is_exclusive = true, AWAY, .detail = "storage" },
	{ "none leaves in mode shared", NO_IBDEV, MLX5, .has_netdev = true, .n_netnses = 1,
	  .detail = "mlx5_ib is loaded", .advice = "enable_rdma" },

	{ "the port of a function whose netdev is elsewhere", .of = REASON_PORT_DOWN, MLX5, .has_ibdev = true,
	  .n_netnses = 1, AWAY, .detail = "network namespaces: storage" },
	{ "the port of a VF whose PF's netdev is elsewhere", .of = REASON_PORT_DOWN, MLX5, .is_of_vf = true,
	  .n_netnses = 1, AWAY, .detail = "of its physical function, network namespaces: storage" },
	{ "GIDs, in a copy without any netdev", .of = REASON_PORT_DOWN, MLX5, .has_ibdev = true,
	  .has_gid = true, .has_state = true, .is_copy = true, .expected = REASON_PORT_DOWN },
	{ "a copy without the state of its port", .of = REASON_PORT_DOWN, MLX5, .has_ibdev = true,
	  .has_netdev = true, .is_copy = true, .expected = REASON_NOT_RECORDED, .detail = "ports" },
	{ "a copy has of that what it was made with", PORT_DOWN, MLX5, .has_ibdev = true, .has_state = true,
	  .has_gid = true, .n_netnses = 1, .is_copy = true, .detail = "before" },
	{ "that of eRDMA, whose interface is not here", .of = REASON_PORT_DOWN, .driver = "erdma",
	  .vendor = 0x1ded, .device = 0x107f, .has_ibdev = true, AWAY, .detail = "of the ENI" },
	{ "a copy with other interfaces", PORT_DOWN, .driver = "erdma", .vendor = 0x1ded, .device = 0x107f,
	  .has_ibdev = true, .has_state = true, .is_copy = true, .is_bonded = true, .detail = "before" },
	{ "a copy without interfaces", .of = REASON_PORT_DOWN, .driver = "erdma", .vendor = 0x1ded,
	  .device = 0x107f, .has_ibdev = true, .has_state = true, .is_copy = true,
	  .expected = REASON_NOT_RECORDED, .detail = "network devices" },
	{ "that of EFA, whose function has no netdev", PORT_DOWN, .driver = "efa", .vendor = 0x1d0f,
	  .device = 0xefa2, .class = ETHERNET, .has_ibdev = true, .detail = "before" },
	{ "a port that is down", PORT_DOWN, MLX5, .is_of_vf = true, .has_netdev = true,
	  .detail = "before" },

	{ "a driver of virtual machines", NO_IBDEV, .driver = "vfio-pci", .class = ETHERNET,
	  .detail = "it is bound to vfio-pci", .advice = "bind it to its own driver" },
	{ "the same of the PF", .of = REASON_PF_SICK, .driver = "vfio-pci", .class = ETHERNET,
	  .expected = REASON_NO_IBDEV, .detail = "it is bound to vfio-pci", .advice = "bind it to its own driver" },
	{ "another driver than its own", .of = REASON_PF_SICK, .driver = "igb_uio", .class = ETHERNET,
	  .is_other = true, .expected = REASON_NO_IBDEV, .detail = "it is bound to igb_uio",
	  .advice = "bind it to its own driver" },
	{ "neither device", NO_IBDEV, MLX5, WITHOUT_NETDEV },
	{ "a port of a bond, whose driver removes the RDMA device", NO_IBDEV, .driver = "ice",
	  .class = ETHERNET, .has_netdev = true, .is_bonded = true, .detail = "it is a port of bond0",
	  .advice = "The driver ice" },
	{ "a port of a bond with another driver", NO_IBDEV, MLX5, .has_netdev = true, .is_bonded = true,
	  .detail = "mlx5_ib is loaded", .advice = "enable_rdma" },
	{ "a part that is known", NO_IBDEV, .driver = "bng_en", .class = ETHERNET, .has_netdev = true,
	  .detail = "before" },
	{ "a part that is loaded", NO_IBDEV, MLX5, .has_netdev = true,
	  .detail = "mlx5_ib is loaded, and has made none", .advice = "enable_rdma" },
	{ "a driver container is at work", .of = REASON_NO_IBDEV, MLX5, .has_netdev = true,
	  .has_container = true, .expected = REASON_DRIVER_CONTAINER, .detail = "before" },
	{ "the same, before it has loaded the driver", .of = REASON_NO_DRIVER, .driver = "",
	  .module = "mlx5_core", .has_container = true, .expected = REASON_DRIVER_CONTAINER,
	  .detail = "before" },
	{ "it is none of this driver", .of = REASON_NO_DRIVER, .driver = "", .module = "ice",
	  .has_container = true, .expected = REASON_NO_DRIVER, .detail = "before" },
	{ "no port", NO_IBDEV, .driver = "ice", .class = ETHERNET, .has_netdev = true, .detail = "before" },
	{ "a part that is loaded, and a card in error", NO_IBDEV, MLX5, .has_netdev = true,
	  .health = "fw fw_fatal", .detail = "devlink health reporter in error state: fw fw_fatal",
	  .advice = "devlink health show" },
	{ "a driver of DPDK", .of = REASON_PF_SICK, .driver = "igb_uio", .class = ETHERNET,
	  .expected = REASON_NO_IBDEV, .detail = "it is bound to igb_uio",
	  .advice = "bind it to its own driver" },
	{ "a driver without RDMA", NO_IBDEV, .driver = "igb", .class = ETHERNET, .has_netdev = true,
	  .detail = "no RDMA part of the driver igb is known", .advice = "Leave the function out" },

	{ "an empty table", NO_GID, MLX5, .has_netdev = true, .has_ibdev = true,
	  .detail = "the GID table of mlx5_0 is empty", .advice = "enable_roce" },
	{ "that of another driver", NO_GID, .driver = "mana", .class = ETHERNET, .has_netdev = true,
	  .has_ibdev = true, .detail = "the GID table of mlx5_0 is empty", .advice = "has none, as mana" },
	{ "RoCE v1 alone", NO_GID, MLX5, .has_netdev = true, .has_ibdev = true, .has_gid = true, .is_v1 = true,
	  .detail = "mlx5_0 has RoCE v1 alone", .advice = "without Pro" },
	{ "a copy may be without it", .of = REASON_NO_GID, MLX5, .has_netdev = true, .has_ibdev = true,
	  .is_copy = true, .expected = REASON_NOT_RECORDED, .detail = "GIDs" },
	{ "a copy without their types", .of = REASON_NO_GID, MLX5, .has_netdev = true, .has_ibdev = true,
	  .has_gid = true, .is_bare_gid = true, .is_copy = true, .expected = REASON_NOT_RECORDED,
	  .detail = "GIDs" },
	{ "a copy without their netdevs", .of = REASON_NO_GID, MLX5, .has_netdev = true,
	  .has_ibdev = true, .has_gid = true, .is_nameless = true, .is_copy = true,
	  .expected = REASON_NOT_RECORDED, .detail = "GIDs" },
	{ "a copy with all of them", NO_GID, MLX5, .has_netdev = true, .has_ibdev = true,
	  .has_gid = true, .is_copy = true, .detail = "before" },
	{ "a copy made in another namespace", .of = REASON_NO_GID, MLX5, .has_ibdev = true,
	  .has_gid = true, .is_copy = true, .is_bonded = true, .expected = REASON_NOT_RECORDED,
	  .detail = "network devices" },
	{ "its PF", .of = REASON_PF_SICK, MLX5, .has_ibdev = true, .is_copy = true, .is_bonded = true,
	  .expected = REASON_NOT_RECORDED, .detail = "network devices" },
	{ "a copy without the kind of its port", .of = REASON_NONE, MLX5, .has_netdev = true,
	  .has_ibdev = true, .is_copy = true, .expected = REASON_NOT_RECORDED, .detail = "ports" },
	{ "a copy without character devices", .of = REASON_NO_UVERBS, MLX5, .is_copy = true,
	  .has_ibdev = true, .expected = REASON_NOT_RECORDED, .detail = "character devices" },
	{ "the same, of management", .of = REASON_NO_UMAD, MLX5, .is_copy = true, .has_ibdev = true,
	  .expected = REASON_NOT_RECORDED, .detail = "character devices" },
	{ "a card without umad", .of = REASON_NO_UMAD, MLX5, .has_ibdev = true,
	  .expected = REASON_NO_UMAD, .detail = "before" },
	{ "eRDMA without umad", .of = REASON_NO_UMAD, .driver = "erdma", .vendor = 0x1ded, .device = 0x107f,
	  .has_ibdev = true, .expected = REASON_NO_UMAD, .detail = "before", .advice = "iWARP" },
	{ "EFA without umad", .of = REASON_NO_UMAD, .driver = "efa", .vendor = 0x1d0f, .device = 0xefa2,
	  .node_type = "unspecified", .has_ibdev = true, .expected = REASON_NO_UMAD, .detail = "before",
	  .advice = "EFA" },
	{ "a copy without addresses", .of = REASON_NO_ADDRESS, MLX5, .is_copy = true, .has_ibdev = true,
	  .has_netdev = true, .expected = REASON_NOT_RECORDED, .detail = "addresses" },

	{ "the GUID of a PF", ZERO_GUID, MLX5, .has_ibdev = true, .advice = "that of the card" },
	{ "that of a VF of a guest", ZERO_GUID, .driver = "mlx5_core", .device = 0x101e },

	{ "a driver that makes VFs by its parameter", .of = REASON_VF_DRIVER, .driver = "mlx4_core",
	  .class = ETHERNET, .expected = REASON_VF_DRIVER, .detail = "before",
	  .advice = "or to 0 with VirtualFunctions=exclusive" },
	{ "one without VFs", .of = REASON_VF_DRIVER, MLX5, .expected = REASON_VF_DRIVER,
	  .detail = "before" },
	{ "a PF of mlx5", NO_SRIOV, MLX5, .advice = "power cycle" },
	{ "another card", NO_SRIOV, .driver = "hfi1" },
	{ "a VF of a guest", NO_SRIOV, .driver = "mlx5_core", .device = 0x101e,
	  .advice = "a virtual function itself" },
	{ "one of bnxt", NO_SRIOV, .driver = "bnxt_en", .vendor = 0x14e4, .device = 0x1809,
	  .advice = "a virtual function itself" },
	{ "one of BlueField", NO_SRIOV, .driver = "mlx5_core", .device = 0xa2d3,
	  .advice = "a virtual function itself" },
	{ "one of qede", NO_SRIOV, .driver = "qede", .vendor = 0x1077, .device = 0x8090,
	  .advice = "a virtual function itself" },
	{ "its PF", NO_SRIOV, .driver = "bnxt_en", .vendor = 0x14e4, .device = 0x1760 },
	{ "one of ionic", NO_SRIOV, .driver = "ionic", .vendor = 0x1dd8, .device = 0x1003,
	  .advice = "a virtual function itself" },
	{ "one of mana", NO_SRIOV, .driver = "mana", .vendor = 0x1414, .device = 0x00ba,
	  .advice = "a virtual function itself" },
	{ "one of i40e", NO_SRIOV, .driver = "iavf", .vendor = 0x8086, .device = 0x37cd,
	  .advice = "a virtual function itself" },
	{ "a copy without netdevs", .of = REASON_PF_SICK, MLX5, .is_copy = true, .has_ibdev = true,
	  .expected = REASON_NOT_RECORDED, .detail = "network devices" },
	{ "a copy without RDMA devices", .of = REASON_NO_IBDEV, MLX5, .is_copy = true,
	  .has_netdev = true, .expected = REASON_NOT_RECORDED, .detail = "RDMA devices" },
	{ "the same, of a GID", .of = REASON_NO_GID, MLX5, .is_copy = true, .has_ibdev = true,
	  .expected = REASON_NOT_RECORDED, .detail = "network devices" },
	{ "a copy without drivers", .of = REASON_NO_DRIVER, .driver = "", .is_copy = true,
	  .expected = REASON_NOT_RECORDED, .detail = "drivers" },
	{ "an override", .of = REASON_NO_DRIVER, .driver = "", .override = "vfio-pci",
	  .expected = REASON_NO_DRIVER, .detail = "its driver_override is vfio-pci",
	  .advice = "unset-override" },
	{ "an override by its own driver, which is not loaded", .of = REASON_NO_DRIVER,
	  .driver = "", .override = "mlx5_ib", .module = "mlx5_ib", .part = MODULE_BLACKLISTED,
	  .expected = REASON_NO_DRIVER, .detail = "mlx5_ib is not loaded",
	  .advice = "what keeps the module" },
	{ "a driver that is not loaded", .of = REASON_NO_DRIVER, .driver = "", .module = "mlx5_ib",
	  .part = MODULE_BLACKLISTED, .expected = REASON_NO_DRIVER, .detail = "mlx5_ib is not loaded",
	  .advice = "keeps the module from being loaded" },
	{ "one that is", .of = REASON_NO_DRIVER, .driver = "", .module = "mlx5_ib",
	  .part = MODULE_LOADED, .expected = REASON_NO_DRIVER, .detail = "mlx5_ib is loaded" },
	{ "one that is not installed", .of = REASON_NO_DRIVER, .driver = "",
	  .expected = REASON_NO_DRIVER, .detail = "no installed module", .advice = "linux-modules-extra" },
	{ "a copy may be without their list", .of = REASON_NO_DRIVER, .driver = "", .is_copy = true,
	  .is_of_driven = true, .expected = REASON_NO_DRIVER, .detail = "before" },
	{ "a VF whose PF gives none", .of = REASON_NO_DRIVER, MLX5, .is_of_vf = true, .has_autoprobe = true,
	  .expected = REASON_AUTOPROBE_OFF, .detail = "of 0000:41:00.0" },
	{ "no capture tells that", .of = REASON_NO_DRIVER, .driver = "", .module = "ice",
	  .expected = REASON_NO_DRIVER, .detail = "before" },
	{ "a copy names no modules", .of = REASON_MODULE_MISSING, .driver = "", .is_copy = true,
	  .expected = REASON_NOT_RECORDED, .detail = "modules" },
	{ "a file that was not copied", .of = REASON_NO_SRIOV, MLX5, .is_copy = true,
	  .expected = REASON_NOT_RECORDED, .detail = "sriov_totalvfs" },
};
/* clang-format on */

static enum reason find(const struct row *row, char *detail, size_t size, const char **advice)
{
	struct pci pcis[] = { { .address = "0000:41:00.0",
				.vendor = row->vendor ? row->vendor : 0x15b3,
				.device = row->device,
				.class = row->class,
				.has_other_driver = row->is_other,
				.has_autoprobe = row->has_autoprobe,
				.is_searched = row->is_live,
				.is_away = row->is_away },
			      { .address = "0000:41:00.1", .physfn = "0000:41:00.0" } };
	struct pci *pci = &pcis[0];
	struct netdev netdevs[] = {
		{ .name = "eth1", .is_up = true, .master = row->is_bonded ? 9 : 0 },
		{ .ifindex = 9, .name = "bond0", .kind = "bond" },
	};
	struct gid gid = { .type = "RoCE v2" };
	struct port port = { .number = 1, .gids = &gid, .n_gids = row->has_gid };
	struct ibdev ib = { .name = "mlx5_0", .ports = &port, .n_ports = 1 };
	struct module part = { .name = "mlx5_ib", .state = row->part };
	struct netns netnses[] = { { .name = "storage" }, { .name = "web" } };
	struct node n = { .pcis = pcis,
			  .n_pcis = ELEMENTSOF(pcis),
			  .netdevs = &netdevs[!row->has_netdev],
			  /* Each namespace has one: only a copy may be without. */
			  .n_netdevs = row->has_netdev + (row->is_bonded || !row->is_copy),
			  .ibdevs = &ib,
			  .n_ibdevs = row->has_ibdev,
			  .modules = &part,
			  .n_modules = row->part != _MODULE_STATE_N,
			  .netnses = netnses,
			  .n_netnses = row->n_netnses,
			  .is_copy = row->is_copy,
			  .is_container_loading = row->has_container,
			  .lacks_net = row->is_copy,
			  .now_usec = row->is_live ? 1 : 0,
			  .netns_mode =
				  row->is_exclusive ? NETNS_MODE_EXCLUSIVE : NETNS_MODE_SHARED };

	COPY(pci->driver, row->driver);
	COPY(pci->driver_override, row->override ? row->override : "");
	COPY(pci->module, row->module ? row->module : "");
	COPY(pcis[1].driver, row->is_of_driven ? "mlx5_core" : "");
	COPY(port.state, row->has_state ? "DOWN" : "");
	COPY(ib.node_type, row->node_type ? row->node_type : "CA");
	COPY(gid.type, row->is_bare_gid ? "" : row->is_v1 ? "IB/RoCE v1" : "RoCE v2");
	COPY(gid.netdev, row->is_nameless ? "" : "eth1");
	COPY(pci->health, row->health ? row->health : "");
	COPY(netdevs[0].pci, pci->address);
	COPY(ib.pci, pci->address);
	return judge_cause(&n, &pcis[row->is_of_vf], row->of, detail, size, advice);
}

static void a_cause_is_told_only_when_it_is_seen(_unused_ void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char detail[192] = "before";
		const char *advice = NULL;
		enum reason reason = find(&rows[i], detail, sizeof(detail), &advice);

		assert_row(rows[i].name, reason_code(reason), reason_code(rows[i].expected));
		if (rows[i].detail && !strstr(detail, rows[i].detail))
			assert_row(rows[i].name, detail, rows[i].detail);
		if (!rows[i].advice != !advice || (advice && !strstr(advice, rows[i].advice)))
			assert_row(rows[i].name, advice ? advice : "none",
				   rows[i].advice ? rows[i].advice : "none");
	}
}

/* Of nobody's guess: what costs a drain, a reboot or a card is said of what was seen alone. */
static void a_reboot_or_a_card_is_advised_of_no_absence(_unused_ void **state)
{
	static const enum reason absent[] = { REASON_NO_IBDEV, REASON_NO_GID,    REASON_NO_SRIOV,
					      REASON_IN_NETNS, REASON_NO_UVERBS, REASON_ZERO_GUID };

	for (size_t i = 0; i < ELEMENTSOF(absent); i++) {
		assert_null(strstr(reason_advice(absent[i]), "replace"));
		assert_null(strstr(reason_advice(absent[i]), "power cycle"));
		assert_null(strstr(reason_advice(absent[i]), "eboot"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cause_is_told_only_when_it_is_seen),
		cmocka_unit_test(a_reboot_or_a_card_is_advised_of_no_absence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
