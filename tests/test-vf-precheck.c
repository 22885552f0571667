/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VF precheck: what forbids VFs on a PF. One card of two ports, all well: each row spoils one
 * thing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "../src/guard/vf-precheck-rules.h"
#include "../src/model/module-options.h"
#include "../src/step/quirk-rules.h"

#define FIRST   "0000:17:00.0"
#define SECOND  "0000:17:00.1"
#define FOREIGN "0000:65:00.0"
#define BOND    90

struct scene {
	struct pci pcis[4];
	struct netdev netdevs[6];
	struct ibdev ibdevs[1];
	struct port ports[2];
	struct node node;
	struct memory memory;
	bool is_wait_over;
};

static struct netdev *add_netdev(struct scene *s, uint32_t ifindex, const char *name,
				 const char *pci, const char *mac)
{
	struct netdev *nd = &s->netdevs[s->node.n_netdevs++];

	*nd = (struct netdev){ .ifindex = ifindex, .is_up = true, .bond_mode = BOND_MODE_UNKNOWN };
	COPY(nd->name, name);
	COPY(nd->pci, pci);
	COPY(nd->mac, mac);
	COPY(nd->perm_mac, mac);
	return nd;
}

static void add_pci(struct scene *s, const char *address)
{
	struct pci *pci = &s->pcis[s->node.n_pcis++];

	*pci = (struct pci){ .vendor = 0x15b3,
			     .device = 0x1021,
			     .class = 0x020000,
			     .driver = "mlx5_core",
			     .has_sriov = true,
			     .total_vfs = 8 };
	COPY(pci->address, address);
}

static void set_scene(struct scene *s)
{
	*s = (struct scene){};
	s->node = (struct node){
		.pcis = s->pcis, .netdevs = s->netdevs, .ibdevs = s->ibdevs, .n_ibdevs = 1
	};
	add_pci(s, FIRST);
	add_pci(s, SECOND);
	add_pci(s, FOREIGN);
	add_netdev(s, 3, "eth1", FIRST, "b8:ce:f6:17:00:00");
	add_netdev(s, 4, "eth2", SECOND, "b8:ce:f6:17:00:01");
	add_netdev(s, 5, "eth3", FOREIGN, "b8:ce:f6:65:00:00");
	s->ibdevs[0] = (struct ibdev){
		.name = "mlx5_0", .pci = FIRST, .netdev = "eth1", .ports = s->ports, .n_ports = 1
	};
	s->ports[0] = (struct port){ .number = 1, .state = "DOWN" };
}

static void bond(struct scene *s, int mode)
{
	struct netdev *nd = add_netdev(s, BOND, "bond0", "", "b8:ce:f6:17:00:00");

	COPY(nd->kind, "bond");
	nd->bond_mode = mode;
	s->netdevs[0].master = s->netdevs[1].master = BOND;
}

static void mode_0(struct scene *s)
{
	bond(s, 0);
}
static void mode_1(struct scene *s)
{
	bond(s, 1);
}
static void mode_2(struct scene *s)
{
	bond(s, 2);
}
static void mode_3(struct scene *s)
{
	bond(s, 3);
}
static void mode_4(struct scene *s)
{
	bond(s, 4);
}
static void mode_6(struct scene *s)
{
	bond(s, 6);
}
static void mode_unknown(struct scene *s)
{
	bond(s, BOND_MODE_UNKNOWN);
}
static void one_port(struct scene *s)
{
	bond(s, 4);
	s->netdevs[1].master = 0;
}
static void each_port_alone(struct scene *s)
{
	one_port(s);
	COPY(add_netdev(s, 91, "bond1", "", "02:00:00:00:00:01")->kind, "bond");
	s->netdevs[1].master = 91;
}
static void ipoib(struct scene *s)
{
	mode_1(s);
	s->pcis[0].class = s->pcis[1].class = 0x020700;
}
static void the_other_port(struct scene *s)
{
	one_port(s);
	s->netdevs[1].master = BOND;
	s->netdevs[0].master = 0;
}
/* The first port has been seen since the last "apply", and the wait is over. */
static void see_first(struct scene *s, bool was_port)
{
	static struct device_memory first;

	first = (struct device_memory){ .pci = FIRST, .was_port = was_port };
	s->memory.devices = &first;
	s->memory.n_devices = 1;
	s->is_wait_over = true;
}
static void the_other_port_for_long(struct scene *s)
{
	the_other_port(s);
	see_first(s, false);
}
static void the_other_port_again(struct scene *s)
{
	the_other_port(s);
	see_first(s, true);
}
static void one_port_beside_one_not_managed(struct scene *s)
{
	one_port(s);
	see_first(s, false);
}
static void the_other_port_and_a_foreign_one(struct scene *s)
{
	the_other_port(s);
	s->netdevs[2].master = BOND;
}
static void the_other_port_but_switchdev(struct scene *s)
{
	the_other_port(s);
	COPY(s->pcis[0].eswitch, "switchdev");
}
static void a_vf_of_it(struct scene *s)
{
	the_other_port(s);
	COPY(s->pcis[1].physfn, FIRST);
}
static void legacy(struct scene *s)
{
	bond(s, 4);
	COPY(s->pcis[0].eswitch, "legacy");
}
static void switchdev(struct scene *s)
{
	bond(s, 4);
	COPY(s->pcis[0].eswitch, "switchdev");
}
static void of_igb(struct scene *s)
{
	bond(s, 4);
	for (size_t i = 0; i < 2; i++) {
		s->pcis[i].vendor = 0x8086;
		COPY(s->pcis[i].driver, "igb");
	}
}
static void of_two_cards(struct scene *s)
{
	bond(s, 4);
	s->netdevs[1].master = 0;
	s->netdevs[2].master = BOND;
}
static void of_two_slots(struct scene *s)
{
	of_two_cards(s);
	COPY(s->ibdevs[0].name, "mlx5_bond_0");
}
/* udev has renamed it, and the other port has none. */
static void of_two_slots_renamed(struct scene *s)
{
	of_two_cards(s);
	COPY(s->ibdevs[0].name, "rocep23s0f0");
	s->pcis[0].has_adev = s->pcis[0].is_adev_bound = true;
	s->pcis[2].is_searched = true;
}
static void of_two_cards_and_one_fails(struct scene *s)
{
	of_two_slots_renamed(s);
	s->pcis[2].has_adev = true;
}
static void of_two_cards_and_one_elsewhere(struct scene *s)
{
	of_two_slots_renamed(s);
	s->pcis[2].is_away = true;
}
static void of_two_cards_and_one_of_ice(struct scene *s)
{
	of_two_slots_renamed(s);
	COPY(s->pcis[2].driver, "ice");
}
static void of_two_cards_and_no_auxiliary_devices(struct scene *s)
{
	of_two_slots_renamed(s);
	s->pcis[0].has_adev = s->pcis[0].is_adev_bound = false;
}
static void of_bnxt(struct scene *s)
{
	static struct module re = { .name = "bnxt_re" };

	bond(s, 4);
	for (size_t i = 0; i < 2; i++) {
		s->pcis[i].vendor = 0x14e4;
		COPY(s->pcis[i].driver, "bnxt_en");
		s->pcis[i].has_adev = s->pcis[i].is_adev_bound = true;
	}
	COPY(s->ibdevs[0].name, "rocep23s0f0");
	s->pcis[1].is_searched = true;
	s->node.modules = &re;
	s->node.n_modules = 1;
	re.is_out_of_tree = false;
}
static void of_broadcoms_bnxt(struct scene *s)
{
	of_bnxt(s);
	s->node.modules->is_out_of_tree = true;
}
static void of_broadcoms_bnxt_and_one_fails(struct scene *s)
{
	of_broadcoms_bnxt(s);
	s->pcis[1].is_adev_bound = false;
}
static void of_broadcoms_bnxt_and_one_without(struct scene *s)
{
	of_broadcoms_bnxt_and_one_fails(s);
	s->pcis[1].has_adev = false;
}
static void of_broadcoms_bnxt_in_two_slots(struct scene *s)
{
	of_broadcoms_bnxt(s);
	s->netdevs[1].master = 0;
	s->netdevs[2].master = BOND;
	s->pcis[2] = s->pcis[1];
	COPY(s->pcis[2].address, FOREIGN);
}
static void of_hns3(struct scene *s)
{
	bond(s, 4);
	for (size_t i = 0; i < 2; i++) {
		s->pcis[i].vendor = 0x19e5;
		COPY(s->pcis[i].driver, "hns3");
	}
}
static void of_hns3_with_one_device(struct scene *s)
{
	of_hns3(s);
	COPY(s->ibdevs[0].name, "hns_bond_0");
}
static void with_a_virtual_port(struct scene *s)
{
	bond(s, 4);
	add_netdev(s, 91, "dummy0", "", "02:00:00:00:00:01")->master = BOND;
}
static void a_team(struct scene *s)
{
	bond(s, BOND_MODE_UNKNOWN);
	COPY(s->netdevs[3].kind, "team");
}

/* bond0 is there, without a port. */
static void empty(struct scene *s)
{
	one_port(s);
	s->netdevs[0].master = 0;
}
static void empty_team(struct scene *s)
{
	empty(s);
	COPY(s->netdevs[3].kind, "team");
}
static void empty_bridge(struct scene *s)
{
	empty(s);
	COPY(s->netdevs[3].kind, "bridge");
}
static void empty_but_of_igb(struct scene *s)
{
	of_igb(s);
	s->netdevs[0].master = s->netdevs[1].master = 0;
}
static void address_first(struct scene *s)
{
	static struct address address = { .ifindex = 3, .family = AF_INET };

	s->node.addresses = &address;
	s->node.n_addresses = 1;
}
static void empty_and_addressed(struct scene *s)
{
	empty(s);
	address_first(s);
}
static void the_other_port_and_addressed(struct scene *s)
{
	the_other_port(s);
	address_first(s);
}
static void the_other_port_and_addressed_for_long(struct scene *s)
{
	the_other_port_and_addressed(s);
	see_first(s, true);
}
static void empty_and_link_local(struct scene *s)
{
	static struct address address = { .ifindex = 3,
					  .family = AF_INET6,
					  .scope = RT_SCOPE_LINK };

	empty(s);
	s->node.addresses = &address;
	s->node.n_addresses = 1;
}
static void empty_and_addressed_by_us(struct scene *s)
{
	static struct ledger_entry ours = { .verb = "add-address",
					    .ifindex = 3,
					    .subject = "0.0.0.0/0" };

	empty_and_addressed(s);
	s->memory.ledger = &ours;
	s->memory.n_ledger = 1;
}
static void empty_but_in_a_bridge(struct scene *s)
{
	empty(s);
	COPY(add_netdev(s, 91, "br0", "", "02:00:00:00:00:01")->kind, "bridge");
	s->netdevs[0].master = 91;
}
static void empty_and_switchdev(struct scene *s)
{
	empty(s);
	COPY(s->pcis[0].eswitch, "switchdev");
}
static void empty_for_long(struct scene *s)
{
	empty(s);
	s->is_wait_over = true;
}

static void empty_again(struct scene *s)
{
	empty(s);
	see_first(s, true);
}

static void empty_and_ipoib(struct scene *s)
{
	empty(s);
	s->pcis[0].class = 0x020700;
}

static enum reason obstacle(struct scene *s, uint32_t want, enum class *ret_class,
			    char detail[VF_PRECHECK_LEN])
{
	const struct plan p = { .graph.n = &s->node, .is_wait_over = s->is_wait_over };

	return vf_precheck(&p, &s->memory, &s->pcis[0], want, ret_class, detail, VF_PRECHECK_LEN);
}

#define EMPTY "bond0 has no port yet, and may get eth1"

static void vfs_are_refused_where_they_would_end_a_roce_lag(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		const char *detail; /* NULL: VFs may be made */
	} rows[] = {
		{ "no bond", NULL, NULL },
		{ "mode 0", mode_0, NULL },
		{ "mode 1", mode_1, "eth1 is a port of bond0, mode active-backup" },
		{ "mode 2", mode_2, "eth1 is a port of bond0, mode balance-xor" },
		{ "mode 3", mode_3, NULL },
		{ "mode 4", mode_4, "eth1 is a port of bond0, mode 802.3ad" },
		{ "mode 6", mode_6, NULL },
		{ "mode not known", mode_unknown, "eth1 is a port of bond0, mode not known" },
		{ "one port yet", one_port, "eth1 is a port of bond0, mode 802.3ad" },
		{ "the other port only", the_other_port, "eth2 is a port of bond0, mode 802.3ad" },
		{ "each port alone in a bond", each_port_alone, NULL },
		{ "the other port only, for long", the_other_port_for_long, NULL },
		{ "the other port only, and an address here", the_other_port_and_addressed,
		  "eth2 is a port of bond0, mode 802.3ad" },
		{ "the other port only, and an address here for long",
		  the_other_port_and_addressed_for_long, NULL },
		{ "the other port only, and this one before", the_other_port_again,
		  "eth2 is a port of bond0, mode 802.3ad" },
		{ "one port for long, the other is not managed", one_port_beside_one_not_managed,
		  "eth1 is a port of bond0, mode 802.3ad" },
		{ "IPoIB", ipoib, NULL },
		{ "the other port, and one of another card", the_other_port_and_a_foreign_one,
		  NULL },
		{ "the other port only, switchdev", the_other_port_but_switchdev, NULL },
		{ "a VF of it", a_vf_of_it, NULL },
		{ "legacy", legacy, "eth1 is a port of bond0, mode 802.3ad" },
		{ "switchdev", switchdev, NULL },
		{ "another vendor", of_igb, NULL },
		{ "two cards", of_two_cards, NULL },
		{ "two slots, and the RDMA device of a LAG", of_two_slots,
		  "eth1 is a port of bond0, mode 802.3ad" },
		{ "two slots, and its name is another", of_two_slots_renamed,
		  "eth1 is a port of bond0, mode 802.3ad" },
		{ "two cards, and one is late or failed", of_two_cards_and_one_fails, NULL },
		{ "two cards, and one is elsewhere", of_two_cards_and_one_elsewhere, NULL },
		{ "two cards of two drivers", of_two_cards_and_one_of_ice, NULL },
		{ "two cards, and an old kernel", of_two_cards_and_no_auxiliary_devices, NULL },
		{ "bnxt of the kernel", of_bnxt, NULL },
		{ "that of Broadcom", of_broadcoms_bnxt, "eth1 is a port of bond0, mode 802.3ad" },
		{ "that of Broadcom, and one failed", of_broadcoms_bnxt_and_one_fails, NULL },
		{ "that of Broadcom, and one without RDMA", of_broadcoms_bnxt_and_one_without,
		  NULL },
		{ "that of Broadcom, and two cards", of_broadcoms_bnxt_in_two_slots, NULL },
		{ "hns3, a kernel whose bonds are no LAG", of_hns3, NULL },
		{ "hns3, and the RDMA device of a LAG", of_hns3_with_one_device,
		  "eth1 is a port of bond0, mode 802.3ad" },
		{ "a virtual port", with_a_virtual_port, NULL },
		{ "a team", a_team, "eth1 is a port of bond0, mode not known" },

		{ "a bond without a port", empty, EMPTY },
		{ "a team without one", empty_team, EMPTY },
		{ "a bridge without one is no LAG", empty_bridge, NULL },
		{ "without a port, another vendor", empty_but_of_igb, NULL },
		{ "without a port, and an address here", empty_and_addressed, NULL },
		{ "without a port, and the kernel's address here", empty_and_link_local, EMPTY },
		{ "without a port, and our address here", empty_and_addressed_by_us, EMPTY },
		{ "without a port, but in a bridge", empty_but_in_a_bridge, NULL },
		{ "without a port, switchdev", empty_and_switchdev, NULL },
		{ "without a port for too long", empty_for_long, NULL },
		{ "without a port again, of those it had", empty_again, EMPTY },
		{ "without a port, IPoIB", empty_and_ipoib, NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char detail[VF_PRECHECK_LEN];
		enum class class = _CLASS_N;
		enum reason reason;
		struct scene s;

		set_scene(&s);
		if (rows[i].set)
			rows[i].set(&s);
		reason = obstacle(&s, 4, &class, detail);
		if (reason != (rows[i].detail ? REASON_PF_IN_LAG : REASON_NONE) ||
		    class != (!rows[i].detail                ? _CLASS_N
			      : streq(rows[i].detail, EMPTY) ? CLASS_WAITING
							     : CLASS_REFUSED) ||
		    !streq(detail, rows[i].detail ? rows[i].detail : ""))
			fail_msg("%s: %s: %s", rows[i].name, reason_code(reason), detail);
	}
}

static void vfs_that_are_in_a_lag_leave_at_the_next_boot(_unused_ void **state)
{
	char detail[VF_PRECHECK_LEN];
	enum class class;
	struct scene s;

	set_scene(&s);
	bond(&s, 4);
	s.pcis[0].num_vfs = 4;
	assert_int_equal(obstacle(&s, 0, &class, detail), REASON_PF_IN_LAG);
	assert_int_equal(class, CLASS_NEEDS_REBOOT);
}

static void unbound(struct scene *s)
{
	s->pcis[0].driver[0] = '\0';
}
static void no_sriov(struct scene *s)
{
	s->pcis[0].has_sriov = false;
}
static void of_mlx4(struct scene *s)
{
	COPY(s->pcis[0].driver, "mlx4_core");
}
static void none_in_all(struct scene *s)
{
	s->pcis[0].total_vfs = 0;
}
static void three_in_all(struct scene *s)
{
	s->pcis[0].total_vfs = 3;
}
static void reporter(struct scene *s)
{
	COPY(s->pcis[0].health, "fw fw_fatal");
}
static void reporter_of_the_other(struct scene *s)
{
	COPY(s->pcis[1].health, "fw fw_fatal");
}
static void no_netdev(struct scene *s)
{
	s->netdevs[0].pci[0] = '\0';
}
static void syndrome(struct scene *s)
{
	COPY(s->pcis[0].health, "fw");
}
static void syndrome_without_netdev(struct scene *s)
{
	syndrome(s);
	no_netdev(s);
}
static void infiniband(struct scene *s)
{
	no_netdev(s); /* ib_ipoib is not loaded */
	s->pcis[0].class = 0x020700;
}
static void infiniband_syndrome(struct scene *s)
{
	infiniband(s);
	syndrome(s);
}
static void infiniband_without_ibdev(struct scene *s)
{
	infiniband(s);
	s->node.n_ibdevs = 0;
}
static void no_ibdev(struct scene *s)
{
	s->node.n_ibdevs = 0; /* Ethernet alone is a card, too */
}
static void syndrome_without_ibdev(struct scene *s)
{
	syndrome(s);
	no_ibdev(s);
}
static void syndrome_and_tx(struct scene *s)
{
	COPY(s->pcis[0].health, "fw tx");
}
static void unreadable_port(struct scene *s)
{
	s->ibdevs[0].n_ports = 2;
	s->ports[1] = (struct port){ .number = 2 };
}
static void broadcom(struct scene *s)
{
	s->pcis[0].vendor = 0x14e4;
	COPY(s->pcis[0].driver, "bnxt_en");
}
static void broadcom_syndrome(struct scene *s)
{
	broadcom(s);
	syndrome(s);
}
static void broadcom_down(struct scene *s)
{
	broadcom(s);
	s->netdevs[0].is_up = false;
}
static void mlx5_down(struct scene *s)
{
	s->netdevs[0].is_up = false;
}
static void intel(struct scene *s)
{
	s->pcis[0].vendor = 0x8086;
	COPY(s->pcis[0].driver, "ice");
}
static void intel_700(struct scene *s)
{
	intel(s);
	COPY(s->pcis[0].driver, "i40e");
}
static void intel_of_intel(struct scene *s)
{
	static struct module ice = { .name = "ice", .is_out_of_tree = true };

	intel(s);
	s->node.modules = &ice;
	s->node.n_modules = 1;
}
static void nobody_knows(struct scene *s)
{
	s->pcis[0].vendor = 0xabcd;
	COPY(s->pcis[0].driver, "acme");
}
static void no_port(struct scene *s)
{
	s->ibdevs[0].n_ports = 0;
}
static void unreadable(struct scene *s)
{
	COPY(s->pcis[0].unreadable, "sriov_totalvfs: Input/output error");
	s->pcis[0].has_sriov = false;
	s->pcis[0].total_vfs = 0;
}
static void container(struct scene *s)
{
	s->node.is_container_loading = true;
}
static void container_and_unbound(struct scene *s)
{
	container(s);
	COPY(s->pcis[0].module, s->pcis[0].driver);
	s->pcis[0].driver[0] = '\0';
}
static void container_of_mlx5_and_bnxt(struct scene *s)
{
	container(s);
	broadcom(s);
}
static void stuck(struct scene *s)
{
	COPY(s->memory.stuck, FOREIGN);
}
static void being_written(struct scene *s)
{
	stuck(s);
	s->memory.stuck_sec = 3;
}
static void vf_stuck(struct scene *s)
{
	COPY(s->pcis[1].physfn, s->pcis[0].address);
	COPY(s->memory.stuck, s->pcis[1].address);
}
static void vf_of_another_stuck(struct scene *s)
{
	vf_stuck(s);
	COPY(s->pcis[1].physfn, FOREIGN);
}

static void what_stands_against_vfs_is_reported_with_its_class(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*set)(struct scene *s);
		enum reason reason;
		enum class class;
		const char *detail;
	} rows[] = {
		{ "all is well", NULL, REASON_NONE, _CLASS_N, "" },
		{ "no driver", unbound, REASON_NO_DRIVER, CLASS_WAITING, "" },
		{ "no SR-IOV", no_sriov, REASON_NO_SRIOV, CLASS_IMPOSSIBLE,
		  "4 asked for, there is no sriov_totalvfs" },
		{ "none in all", none_in_all, REASON_NO_SRIOV, CLASS_IMPOSSIBLE,
		  "4 asked for, sriov_totalvfs is 0" },
		{ "too many", three_in_all, REASON_TOO_MANY_VFS, CLASS_IMPOSSIBLE,
		  "4 asked for, sriov_totalvfs is 3" },
		{ "firmware recovery", reporter, REASON_PF_SICK, CLASS_WAITING,
		  "devlink health reporter in error state: fw fw_fatal" },
		{ "a syndrome", syndrome, REASON_NONE, _CLASS_N, "" },
		{ "a syndrome, InfiniBand", infiniband_syndrome, REASON_NONE, _CLASS_N, "" },
		{ "a syndrome, no netdev", syndrome_without_netdev, REASON_PF_SICK, CLASS_WAITING,
		  "mlx5_core is bound, but has no network device here" },
		{ "a syndrome, no ibdev", syndrome_without_ibdev, REASON_PF_SICK, CLASS_WAITING,
		  "devlink health reporter in error state: fw" },
		{ "a syndrome and more", syndrome_and_tx, REASON_PF_SICK, CLASS_WAITING,
		  "devlink health reporter in error state: fw tx" },
		{ "bnxt, a syndrome", broadcom_syndrome, REASON_PF_SICK, CLASS_WAITING,
		  "devlink health reporter in error state: fw" },
		{ "of another PF", reporter_of_the_other, REASON_NONE, _CLASS_N, "" },
		{ "no netdev", no_netdev, REASON_PF_SICK, CLASS_WAITING,
		  "mlx5_core is bound, but has no network device here" },
		{ "InfiniBand", infiniband, REASON_NONE, _CLASS_N, "" },
		{ "InfiniBand, no ibdev", infiniband_without_ibdev, REASON_PF_SICK, CLASS_WAITING,
		  "mlx5_core is bound, but has no RDMA device here" },
		{ "no ibdev", no_ibdev, REASON_NONE, _CLASS_N, "" },
		{ "unreadable port", unreadable_port, REASON_PF_SICK, CLASS_WAITING,
		  "the state of port 2 of mlx5_0 cannot be read" },
		{ "no port", no_port, REASON_PF_SICK, CLASS_WAITING, "mlx5_0 has no port" },
		{ "unreadable", unreadable, REASON_PF_SICK, CLASS_WAITING,
		  "sriov_totalvfs: Input/output error" },
		{ "bnxt", broadcom, REASON_NONE, _CLASS_N, "" },
		{ "bnxt, down", broadcom_down, REASON_PF_DOWN, CLASS_WAITING, "" },
		{ "mlx5, down", mlx5_down, REASON_NONE, _CLASS_N, "" },
		{ "ice", intel, REASON_VF_WITHOUT_RDMA, CLASS_IMPOSSIBLE, "ice" },
		{ "i40e", intel_700, REASON_VF_WITHOUT_RDMA, CLASS_IMPOSSIBLE, "i40e" },
		{ "mlx4", of_mlx4, REASON_VF_DRIVER, CLASS_IMPOSSIBLE,
		  "mlx4_core makes them when it is loaded, by its parameter num_vfs" },
		{ "ice, out of tree", intel_of_intel, REASON_NONE, _CLASS_N, "" },
		{ "any vendor", nobody_knows, REASON_NONE, _CLASS_N, "" },
		{ "a driver container", container, REASON_DRIVER_CONTAINER, CLASS_WAITING, "" },
		{ "a driver container, unbound", container_and_unbound, REASON_DRIVER_CONTAINER,
		  CLASS_WAITING, "" },
		{ "a driver container, bnxt", container_of_mlx5_and_bnxt, REASON_NONE, _CLASS_N,
		  "" },
		{ "stuck", stuck, REASON_PCI_STUCK, CLASS_WAITING, FOREIGN },
		{ "a write whose time is not over", being_written, REASON_VF_CHANGING,
		  CLASS_WAITING, FOREIGN ", since 3 s" },
		{ "a VF of it is stuck", vf_stuck, REASON_PCI_STUCK, CLASS_WAITING, SECOND },
		{ "a VF of another is stuck", vf_of_another_stuck, REASON_NONE, _CLASS_N, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char detail[VF_PRECHECK_LEN];
		enum class class = _CLASS_N;
		enum reason reason;
		struct scene s;

		set_scene(&s);
		if (rows[i].set)
			rows[i].set(&s);
		reason = obstacle(&s, 4, &class, detail);
		if (reason != rows[i].reason || class != rows[i].class ||
		    !streq(detail, rows[i].detail))
			fail_msg("%s: %s, class %d: %s", rows[i].name, reason_code(reason),
				 (int)class, detail);
	}
}

static void a_quirk_is_of_a_vendor_and_its_driver(_unused_ void **state)
{
	struct pci pf = { .vendor = 0x15b3, .device = 0x1021, .driver = "mlx5_core" };

	assert_true(quirk_has(&pf, QUIRK_ROCE_LAG));
	assert_false(quirk_has(&pf, QUIRK_UP_FIRST));
	pf.vendor = 0x8086;
	assert_false(quirk_has(&pf, QUIRK_ROCE_LAG));
	pf.vendor = 0x15b3;
	COPY(pf.driver, "vfio-pci");
	assert_false(quirk_has(&pf, QUIRK_ROCE_LAG));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vfs_are_refused_where_they_would_end_a_roce_lag),
		cmocka_unit_test(vfs_that_are_in_a_lag_leave_at_the_next_boot),
		cmocka_unit_test(what_stands_against_vfs_is_reported_with_its_class),
		cmocka_unit_test(a_quirk_is_of_a_vendor_and_its_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
