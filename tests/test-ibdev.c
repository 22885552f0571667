/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/device/ibdev-observe.h"
#include "../src/device/rdma-observe.h"
#include "../src/pass/live.h"
#include "tree.h"

#define PORT    "sys/class/infiniband/rx0/ports/1/"
#define N_SLOTS 128
#define ZERO    "0000:0000:0000:0000:0000:0000:0000:0000\n"

static void put_slot(const struct tree *t, uint32_t slot, bool is_set)
{
	char path[256];

	snprintf(path, sizeof(path), PORT "gids/%" PRIu32, slot);
	tree_file(t, path, is_set ? "fe80:0000:0000:0000:0000:0000:0000:0001\n" : ZERO);
	if (!is_set)
		return;
	snprintf(path, sizeof(path), PORT "gid_attrs/types/%" PRIu32, slot);
	tree_file(t, path, "RoCE v2\n");
	snprintf(path, sizeof(path), PORT "gid_attrs/ndevs/%" PRIu32, slot);
	tree_file(t, path, "eth0\n");
}

static bool is_in(const uint32_t *slots, size_t n, uint32_t slot)
{
	for (size_t i = 0; i < n; i++)
		if (slots[i] == slot)
			return true;
	return false;
}

static void ibdev_free(struct ibdev *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		free(d->ports[i].gids);
	free(d->ports);
}

/* Of Ethernet it is that of the netdev, which is asked already. */
static void the_physical_state_of_an_infiniband_port_that_is_down_is_read(_unused_ void **state)
{
	static const struct {
		const char *state, *link_layer, *physical;
	} cases[] = {
		{ "1: DOWN\n", "InfiniBand\n", "Polling" },
		{ "4: ACTIVE\n", "InfiniBand\n", "" },
		{ "1: DOWN\n", "Ethernet\n", "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(ibdev_free) struct ibdev ib = { .name = "rx0" };
		struct tree t;

		tree_make(&t);
		tree_file(&t, PORT "state", cases[i].state);
		tree_file(&t, PORT "link_layer", cases[i].link_layer);
		tree_file(&t, PORT "phys_state", "2: Polling\n");
		assert_int_equal(observe_ibdev(&t.fs, true, &ib), 0);
		assert_string_equal(ib.ports[0].phys_state, cases[i].physical);
		tree_remove(&t);
	}
}

static void a_port_that_a_subnet_manager_has_open_is_known(_unused_ void **state)
{
	static const struct {
		const char *link_layer, *mask;
		bool expected;
	} cases[] = {
		{ "InfiniBand\n", "0x2651e84a\n", true },
		{ "InfiniBand\n", "0x2651e848\n", false },
		{ "InfiniBand\n", "", false },
		{ "Ethernet\n", "0x2651e84a\n", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(ibdev_free) struct ibdev ib = { .name = "rx0" };
		struct tree t;

		tree_make(&t);
		tree_file(&t, PORT "link_layer", cases[i].link_layer);
		if (cases[i].mask[0])
			tree_file(&t, PORT "cap_mask", cases[i].mask);
		assert_int_equal(observe_ibdev(&t.fs, true, &ib), 0);
		assert_int_equal(ib.ports[0].is_manager, cases[i].expected);
		tree_remove(&t);
	}
}

/* In the order of their numbers: "10" stands before "2" in the folder. */
static void gids_are_read_up_to_many_empty_slots(_unused_ void **state)
{
	static const struct {
		uint32_t set[4];
		size_t n_set, n_found;
	} cases[] = {
		{ {}, 0, 0 },
		{ { 0 }, 1, 1 },
		{ { 0, 1, 2, 6 }, 4, 4 },
		{ { 3 }, 1, 1 },
		{ { 0, 4 }, 2, 2 },        /* 3 between them */
		{ { 0, 5 }, 2, 1 },        /* 4: the end */
		{ { 0, 4, 8, 12 }, 4, 4 }, /* counted from zero behind each */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(ibdev_free) struct ibdev ib = { .name = "rx0" };
		struct tree t;

		tree_make(&t);
		for (uint32_t slot = 0; slot < N_SLOTS; slot++)
			put_slot(&t, slot, is_in(cases[i].set, cases[i].n_set, slot));
		assert_int_equal(observe_ibdev(&t.fs, true, &ib), 0);
		assert_int_equal(ib.n_ports, 1);
		assert_int_equal(ib.ports[0].n_gids, cases[i].n_found);
		for (size_t k = 0; k < cases[i].n_found; k++) {
			assert_int_equal(ib.ports[0].gids[k].index, cases[i].set[k]);
			assert_string_equal(ib.ports[0].gids[k].type, "RoCE v2");
			assert_string_equal(ib.ports[0].gids[k].netdev, "eth0");
		}
		assert_int_equal(observe_all_gids(&t.fs, &ib), 0);
		assert_int_equal(ib.ports[0].n_gids, cases[i].n_set);
		tree_remove(&t);
	}
}

/* libibverbs knows none of these names: one is there and has no provider, the others left. */
static void what_left_meanwhile_is_no_failure_of_libibverbs(_unused_ void **state)
{
	static const struct {
		const char *ibdev; /* what has that character device by now */
		bool is_failure;
	} cases[] = {
		{ "test_none\n", true },
		{ "test_other\n", false },
		{ NULL, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct ibdev ib = { .name = "test_none", .uverbs = "uverbs0", .verbs = 1 };
		char name[][IBDEV_LEN] = { "test_none" };
		const struct questions q = { 1u << QUESTION_VERBS, .ibdevs = name, .n_ibdevs = 1 };
		struct node n = { .ibdevs = &ib, .n_ibdevs = 1 };
		struct os d = {};
		struct tree t;

		tree_make(&t);
		if (cases[i].ibdev)
			tree_file(&t, "sys/class/infiniband_verbs/uverbs0/ibdev", cases[i].ibdev);
		d.fs = t.fs;
		d.fs.is_live = true;
		assert_int_equal(observe_verbs(&d, &q, &n), cases[i].is_failure);
		if (cases[i].is_failure)
			assert_true(ib.verbs < 0);
		else
			assert_int_equal(ib.verbs, 1);
		tree_remove(&t);
	}
}

/* The driver of Linux gives them no parent. */
static void erdma_devices_belong_to_functions_in_the_order_of_binding(_unused_ void **state)
{
	static const char *const functions[] = { "0000:00:08.0", "0000:00:09.0", "0000:00:0a.0" };
	static const char *const names[] = { "erdma_0", "erdma_1", "erdma_2" };
	static const struct {
		const char *name;
		uint64_t instances[3]; /* of the functions */
		size_t expected[3];    /* function of each RDMA device */
	} cases[] = {
		{ "in the order of addresses", { 5, 6, 7 }, { 0, 1, 2 } },
		{ "the first was plugged in last", { 7, 5, 6 }, { 1, 2, 0 } },
		{ "the middle one was bound again", { 5, 9, 6 }, { 0, 2, 1 } },
		{ "captured", {}, { 0, 1, 2 } },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {
			.pcis = calloc(3, sizeof(*n.pcis)),
			.n_pcis = 3,
			.ibdevs = calloc(3, sizeof(*n.ibdevs)),
			.n_ibdevs = 3,
		};
		struct os d = {};
		struct tree t;

		tree_make(&t);
		for (uint32_t k = 0; k < 3; k++) {
			char path[128];

			COPY(n.pcis[k].address, functions[k]);
			COPY(n.pcis[k].driver, "erdma");
			n.pcis[k].instance = cases[i].instances[k];
			COPY(n.ibdevs[k].name, names[k]);
			n.ibdevs[k].index = 10 + k;
			snprintf(path, sizeof(path), "sys/class/infiniband/%s/node_desc", names[k]);
			tree_file(&t, path, "Elastic RDMA Adapter stack\n");
		}
		d.fs = t.fs;
		assert_int_equal(observe_rdma(&d, &n, &memory), 0);
		assert_int_equal(n.n_ibdevs, 3);
		for (size_t k = 0; k < 3; k++)
			if (!streq(n.ibdevs[k].pci, functions[cases[i].expected[k]]))
				fail_msg("%s: %s is of %s", cases[i].name, n.ibdevs[k].name,
					 n.ibdevs[k].pci);
		tree_remove(&t);
	}
}

static void link_downed_is_read_where_nothing_else_tells(_unused_ void **state)
{
	static const struct {
		uint32_t set;
		const char *function, *netdev_pci, *link_layer;
		uint32_t expected;
	} cases[] = {
		{ 1u << QUESTION_LINK_DOWNED, "0000:41:00.0", "", "InfiniBand", 7 },
		{ 1u << QUESTION_PCIE, "0000:41:00.0", "", "InfiniBand", 0 },
		{ 1u << QUESTION_LINK_DOWNED, "0000:42:00.0", "", "InfiniBand", 0 },
		{ 1u << QUESTION_LINK_DOWNED, "0000:41:00.0", "0000:41:00.0", "InfiniBand", 0 },
		{ 1u << QUESTION_LINK_DOWNED, "0000:41:00.0", "", "Ethernet", 0 },
	};
	struct tree t;

	tree_make(&t);
	tree_file(&t, PORT "counters/link_downed", "7\n");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(questions_done) struct questions q = { .set = cases[i].set };
		struct port port = { .number = 1 };
		struct ibdev ib = {
			.name = "rx0", .pci = "0000:41:00.0", .ports = &port, .n_ports = 1
		};
		struct netdev nd = { .ifindex = 2, .name = "ib0" };
		struct node n = { .ibdevs = &ib, .n_ibdevs = 1, .netdevs = &nd, .n_netdevs = 1 };

		COPY(nd.pci, cases[i].netdev_pci);
		COPY(port.link_layer, cases[i].link_layer);
		assert_int_equal(questions_add_function(&q, cases[i].function), 0);
		assert_int_equal(observe_link_downed(&t.fs, &q, &n), cases[i].expected > 0);
		assert_int_equal(ib.link_downed, cases[i].expected);
		assert_int_equal(ib.link_downed_sec > 0, cases[i].expected > 0);
	}
	tree_remove(&t);
}

/* While its netdev is in a pod: netlink tells none, and its GIDs have the name it has there. */
static void a_name_of_another_namespace_is_no_netdev_of_the_host(_unused_ void **state)
{
	static const struct {
		const char *pci, *guid, *told, *in_gid, *netdev;
	} cases[] = {
		/* A VF: its netdev is not here, and "eth0" is the host's uplink. */
		{ "0000:41:00.1", "0200:00ff:fe00:0101", "", "eth0", "" },
		{ "0000:41:00.1", "0200:00ff:fe00:0101", "", "net1", "" },
		{ "0000:41:00.1", "0200:00ff:fe00:0101", "", "", "" },
		/* Its PF: what netlink tells, else the bond that its GIDs are of, else its own. */
		{ "0000:41:00.0", "0200:00ff:fe00:0100", "ens1", "bond0", "ens1" },
		{ "0000:41:00.0", "0200:00ff:fe00:0100", "", "bond0", "bond0" },
		{ "0000:41:00.0", "0200:00ff:fe00:0100", "", "", "ens1" },
		/* eRDMA, and what has no function: as their GUIDs say, where these are of MACs. */
		{ "0000:00:06.0", "0200:00ff:fe00:0001", "", "eth0", "eth0" },
		{ "0000:00:06.0", "0200:00ff:fe00:0600", "", "eth0", "" },
		{ "0000:00:06.0", "0200:00ff:fe00:0100", "", "eth0", "ens1" },
		{ "0000:00:06.0", "1234:5678:9abc:def0", "", "eth0", "eth0" },
		{ "0000:00:06.0", "0200:00ff:fe00:0600", "", "eth3", "eth3" }, /* MAC not known */
		{ "", "0200:00ff:fe00:0001", "", "eth0", "eth0" },
		{ "", "0200:00ff:fe00:0600", "", "eth0", "" },
		{ "", "", "", "eth0", "eth0" },
	};
	struct pci pcis[] = {
		{ .address = "0000:00:06.0",
		  .vendor = 0x1ded,
		  .device = 0x107f,
		  .driver = "erdma" },
		{ .address = "0000:41:00.0", .driver = "mlx5_core" },
		{ .address = "0000:41:00.1", .driver = "mlx5_core", .physfn = "0000:41:00.0" },
	};
	struct netdev netdevs[] = {
		{ .ifindex = 2, .name = "eth0", .mac = "00:00:00:00:00:01" },
		{ .ifindex = 3, .name = "ens1", .pci = "0000:41:00.0", .mac = "00:00:00:00:01:00" },
		{ .ifindex = 4, .name = "bond0", .mac = "00:00:00:00:01:00" },
		{ .ifindex = 5, .name = "eth3" },
	};
	const struct node n = { .pcis = pcis,
				.n_pcis = ELEMENTSOF(pcis),
				.netdevs = netdevs,
				.n_netdevs = ELEMENTSOF(netdevs) };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct gid gid = { .type = "RoCE v2" };
		struct port port = { .number = 1, .gids = &gid, .n_gids = 1 };
		struct ibdev ib = { .ports = &port, .n_ports = 1 };

		COPY(ib.pci, cases[i].pci);
		COPY(ib.node_guid, cases[i].guid);
		COPY(ib.netdev, cases[i].told);
		COPY(gid.netdev, cases[i].in_gid);
		rdma_find_netdev(&n, &ib);
		assert_string_equal(ib.netdev, cases[i].netdev);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_of_another_namespace_is_no_netdev_of_the_host),
		cmocka_unit_test(the_physical_state_of_an_infiniband_port_that_is_down_is_read),
		cmocka_unit_test(a_port_that_a_subnet_manager_has_open_is_known),
		cmocka_unit_test(gids_are_read_up_to_many_empty_slots),
		cmocka_unit_test(what_left_meanwhile_is_no_failure_of_libibverbs),
		cmocka_unit_test(erdma_devices_belong_to_functions_in_the_order_of_binding),
		cmocka_unit_test(link_downed_is_read_where_nothing_else_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
