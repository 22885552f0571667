/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/device/pci-observe.h"
#include "../src/os/kmsg.h"
#include "tree.h"

#include <net/if.h>

#define FOLDER "sys/bus/pci/devices/"
#define CARD   "0000:41:00.0"
#define OTHER  "0000:81:00.0"

static void put(const struct tree *t, const char *address, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), FOLDER "%s/%s", address, name);
	tree_file(t, path, text);
}

static void put_card(const struct tree *t, const char *address)
{
	put(t, address, "class", "0x020000\n");
	put(t, address, "vendor", "0x15b3\n");
	put(t, address, "device", "0x1021\n");
	put(t, address, "numa_node", "1\n");
	put(t, address, "sriov_totalvfs", "8\n");
	put(t, address, "sriov_drivers_autoprobe", "1\n");
}

static void make_fifo(const struct tree *t, const char *address, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" FOLDER "%s/%s", t->root, address, name);
	assert_true(unlink(path) == 0 || errno == ENOENT);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static void an_odd_file_costs_its_own_function_at_most(_unused_ void **state)
{
	static const struct {
		const char *name, *text; /* text NULL: a FIFO */
		const char *unreadable;  /* begins so */
		bool has_sriov;
	} rows[] = {
		{ "class", "0x020000", "", true },
		{ "class", "soon", "class: ", true },
		{ "class", NULL, "class: ", true },
		{ "vendor", "", "", true }, /* of a copy: it could not be read */
		{ "vendor", "0x115b3", "vendor: ", true },
		{ "sriov_totalvfs", "", "", false },
		{ "sriov_totalvfs", "eight", "sriov_totalvfs: ", false },
		{ "sriov_totalvfs", "65536", "sriov_totalvfs: ", false },
		{ "sriov_totalvfs", "4294967295", "sriov_totalvfs: ", false },
		{ "sriov_totalvfs", NULL, "sriov_totalvfs: ", false },
		{ "sriov_drivers_autoprobe", "maybe", "sriov_drivers_autoprobe: ", true },
		{ "numa_node", "a machine without any nodes", "", true },
		{ "numa_node", NULL, "", true },
		{ "modalias", NULL, "", true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		tree_make(&t);
		put_card(&t, CARD);
		put_card(&t, OTHER);
		if (rows[i].text)
			put(&t, CARD, rows[i].name, rows[i].text);
		else
			make_fifo(&t, CARD, rows[i].name);

		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		assert_int_equal(n.n_pcis, 2);
		assert_string_equal(n.pcis[0].address, CARD);
		assert_true(rows[i].unreadable[0]
				    ? is_prefix(n.pcis[0].unreadable, rows[i].unreadable)
				    : !n.pcis[0].unreadable[0]);
		assert_int_equal(n.pcis[0].has_sriov, rows[i].has_sriov);
		assert_int_equal(n.pcis[1].total_vfs, 8);
		assert_int_equal(n.pcis[1].numa_node, 1);
		assert_string_equal(n.pcis[1].unreadable, "");
		tree_remove(&t);
	}
}

/* A live kernel's has all three; below --root the files count, where there are any. */
static void a_modalias_stands_for_class_vendor_and_device(_unused_ void **state)
{
	static const char modalias[] = "pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc07i00\n";
	static const struct {
		bool is_live, has_files;
		const char *modalias;
		uint32_t class;
		uint16_t vendor, device;
		const char *unreadable;
	} rows[] = {
		{ true, true, modalias, 0x020700, 0x15b3, 0x101d, "" },
		{ true, false, modalias, 0x020700, 0x15b3, 0x101d, "" },
		{ true, true, "pci:v0000\n", 0x020000, 0x15b3, 0x1021, "" },
		{ false, true, modalias, 0x020000, 0x15b3, 0x1021, "" },
		{ false, false, modalias, 0x020700, 0x15b3, 0x101d, "" },
		{ false, false, "of:Nnic\n", 0, 0, 0, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		tree_make(&t);
		t.fs.is_live = rows[i].is_live;
		if (rows[i].has_files)
			put_card(&t, CARD);
		put(&t, CARD, "modalias", rows[i].modalias);
		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		assert_int_equal(n.n_pcis, rows[i].vendor != 0); /* else nothing was copied */
		if (n.n_pcis == 0) {
			tree_remove(&t);
			continue;
		}
		assert_int_equal(n.pcis[0].class, rows[i].class);
		assert_int_equal(n.pcis[0].vendor, rows[i].vendor);
		assert_int_equal(n.pcis[0].device, rows[i].device);
		assert_string_equal(n.pcis[0].unreadable, rows[i].unreadable);
		tree_remove(&t);
	}
}

static void what_is_no_function_is_passed_over(_unused_ void **state)
{
	static const char *const names[] = { "0000:41:00",       "0000:41:00.8", "000:41:00.0",
					     "0000:41:00.0 ",    "0000-41:00.0", "README",
					     "123456789:41:00.0" };
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	tree_make(&t);
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		put_card(&t, names[i]);
	put_card(&t, "10000:01:00.0"); /* of a VMD domain */
	put_card(&t, "12345678:01:00.7");
	assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
	assert_int_equal(n.n_pcis, 2);
	assert_string_equal(n.pcis[1].address, "12345678:01:00.7");
	tree_remove(&t);
}

static void a_scalable_function_is_not_its_pf(_unused_ void **state)
{
	static const struct {
		const char *path, *address; /* NULL: of none */
	} rows[] = {
		{ "../../devices/pci0000:40/0000:40:01.0/" CARD "/net/eth1", CARD },
		{ "../../devices/pci0000:40/0000:40:01.0/" CARD "/virtio1/net/eth1", CARD },
		{ "../../devices/pci0000:40/" CARD "/mlx5_core.sf.2/net/eth1", NULL },
		{ "../../devices/pci0000:40/" CARD "/mlx5_core.sf.12/infiniband/mlx5_2", NULL },
		{ "../../../mlx5_core.sf.2", NULL },
		{ "../../devices/pci0000:40/" CARD "/mlx5_core.rdma.2/net/eth1", CARD },
		{ "../../devices/pci0000:40/" CARD "/net/eth1.sf.x", CARD },
		{ "../../devices/pci0000:40/" CARD "/net/eth1.sf.", CARD },
		{ "../../devices/virtual/net/bond0", NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char address[PCI_LEN] = "";

		assert_int_equal(parse_pci_of_path(rows[i].path, address, sizeof(address)),
				 rows[i].address != NULL);
		assert_string_equal(address, rows[i].address ? rows[i].address : "");
	}
}

/* The kernel's read of it waits for a driver that is being bound or removed. */
static void an_override_is_read_of_what_cannot_hang(_unused_ void **state)
{
	static const struct {
		const char *text, *stuck, *expected;
		bool is_bound;
		const char *pf; /* the netdev that the PF had in this boot; "": never bound */
	} rows[] = {
		{ "vfio-pci\n", "", "vfio-pci", false, "" },
		{ "(null)\n", "", "", false, "eth1" },
		{ NULL, "", "", false, "eth1" },
		{ "vfio-pci\n", "", "", true, "eth1" },
		{ "vfio-pci\n", "0000:41:00.3", "", false, "eth1" },
		{ "vfio-pci\n", CARD, "", false, "eth1" },
		{ "vfio-pci\n", OTHER, "vfio-pci", false, "eth1" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		tree_make(&t);
		put_card(&t, CARD);
		put(&t, CARD, "driver_override", "none\n");
		put(&t, "0000:41:00.3", "class", "0x020000\n");
		tree_link(&t, FOLDER CARD "/virtfn0", "../0000:41:00.3");
		if (rows[i].text)
			put(&t, "0000:41:00.3", "driver_override", rows[i].text);
		if (rows[i].is_bound)
			tree_link(&t, FOLDER "0000:41:00.3/driver", "../../drivers/vfio-pci");
		COPY(memory.stuck, rows[i].stuck);
		memory.devices = calloc(1, sizeof(*memory.devices));
		assert_non_null(memory.devices);
		COPY(memory.devices[0].pci, CARD);
		COPY(memory.devices[0].netdev, rows[i].pf);
		memory.n_devices = 1;

		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		assert_string_equal(node_pci(&n, "0000:41:00.3")->driver_override,
				    rows[i].expected);
		assert_string_equal(node_pci(&n, CARD)->driver_override,
				    rows[i].pf[0] ? "" : "none");
		tree_remove(&t);
	}
}

static void a_driver_container_is_at_work_until_it_says_that_it_is_ready(_unused_ void **state)
{
	static const struct {
		bool is_there, is_ready, expected;
	} rows[] = { { false, false, false }, { true, false, true }, { true, true, false } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		tree_make(&t);
		put_card(&t, CARD);
		if (rows[i].is_there)
			tree_file(&t, "run/mellanox/drivers/etc/os-release", "");
		if (rows[i].is_ready)
			tree_file(&t, "run/mellanox/drivers/.driver-ready", "");
		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		assert_int_equal(n.is_container_loading, rows[i].expected);
		tree_remove(&t);
	}
}

static void a_nic_that_manages_nvswitches_says_so(_unused_ void **state)
{
	static const struct {
		const char *vendor, *class, *vpd; /* NULL: it has none */
		bool is_remembered, expected;
	} rows[] = {
		{ "0x15b3\n", "0x020700\n", "x SMDL=SW_MNG y", false, true },
		{ "0x15b3\n", "0x020700\n", "x SMDL=NIC y", false, false },
		{ "0x15b3\n", "0x020700\n", NULL, false, false },
		{ "0x15b3\n", "0x020700\n", "SMDL=SW_MNG", true, false },
		{ "0x15b3\n", "0x020000\n", "SMDL=SW_MNG", false, false },
		{ "0x8086\n", "0x020700\n", "SMDL=SW_MNG", false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		tree_make(&t);
		put_card(&t, CARD);
		put(&t, CARD, "vendor", rows[i].vendor);
		put(&t, CARD, "class", rows[i].class);
		if (rows[i].vpd)
			put(&t, CARD, "vpd", rows[i].vpd);
		if (rows[i].is_remembered)
			COPY(APPEND(memory.devices, memory.n_devices)->pci, CARD);
		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		assert_int_equal(node_pci(&n, CARD)->is_management, rows[i].expected);
		tree_remove(&t);
	}
}

static void the_auxiliary_device_of_a_port_of_a_bond_is_looked_for(_unused_ void **state)
{
	static const struct {
		const char *file; /* of the function */
		bool is_port, has_adev, is_adev_bound;
	} rows[] = {
		{ "mlx5_core.rdma.1/driver/unbind", true, true, true },
		{ "mlx5_core.rdma.1/uevent", true, true, false },
		{ "mlx5_core.eth.1/driver/unbind", true, false, false },
		{ "mlx5_core.rdma-rep.1/driver/unbind", true, false, false },
		{ "mlx5_core.rdma.1/driver/unbind", false, false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(memory_done) struct memory memory = {};
		_cleanup_(node_done) struct node n = {};
		struct netdev netdevs[] = {
			{ .ifindex = 2, .pci = CARD, .master = rows[i].is_port ? 3 : 0 },
			{ .ifindex = 3, .kind = "bond" },
		};
		struct tree t;

		tree_make(&t);
		put_card(&t, CARD);
		put(&t, CARD, rows[i].file, "");
		assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
		n.netdevs = netdevs;
		n.n_netdevs = ELEMENTSOF(netdevs);
		observe_adevs(&t.fs, &n);
		assert_int_equal(node_pci(&n, CARD)->has_adev, rows[i].has_adev);
		assert_int_equal(node_pci(&n, CARD)->is_adev_bound, rows[i].is_adev_bound);
		n.netdevs = NULL;
		n.n_netdevs = 0;
		tree_remove(&t);
	}
}

static void a_vdpa_device_is_of_the_function_it_was_made_of(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	tree_make(&t);
	put_card(&t, CARD);
	put_card(&t, OTHER);
	tree_link(&t, "sys/bus/vdpa/devices/vdpa0",
		  "../../../devices/pci0000:40/0000:40:01.0/" CARD "/vdpa0");
	tree_link(&t, "sys/bus/vdpa/devices/vdpa1",
		  "../../../devices/pci0000:40/0000:40:01.0/" OTHER "/mlx5_core.sf.4/vdpa1");
	tree_link(&t, "sys/bus/vdpa/devices/vdpa2", "../../../devices/virtual/vdpasim/vdpa2");
	assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
	assert_string_equal(node_pci(&n, CARD)->vdpa, "vdpa0");
	assert_string_equal(node_pci(&n, OTHER)->vdpa, "");
	tree_remove(&t);
}

static void a_vf_is_one_whatever_its_index(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	tree_make(&t);
	put_card(&t, CARD);
	put(&t, "0000:41:00.3", "class", "0x020000\n");
	put(&t, "0000:41:00.4", "class", "0x020000\n");
	put(&t, "0000:41:00.5", "class", "0x020000\n");
	tree_link(&t, FOLDER CARD "/virtfn0", "../0000:41:00.3");
	tree_link(&t, FOLDER CARD "/virtfn9", "../0000:41:00.4"); /* of 8 */
	tree_link(&t, FOLDER CARD "/virtfn9x", "../0000:41:00.5");
	assert_int_equal(observe_pci(&t.fs, &n, &memory), 0);
	assert_string_equal(node_pci(&n, "0000:41:00.3")->physfn, CARD);
	assert_int_equal(node_pci(&n, "0000:41:00.3")->vf_index, 0);
	assert_string_equal(node_pci(&n, "0000:41:00.4")->physfn, CARD);
	assert_int_equal(node_pci(&n, "0000:41:00.4")->vf_index, 9);
	assert_string_equal(node_pci(&n, "0000:41:00.5")->physfn, "");
	tree_remove(&t);
}

static void a_network_device_has_its_name_once_udev_is_done(_unused_ void **state)
{
	static const struct {
		const char *name, *text;
		bool is_unnamed;
	} rows[] = {
		{ "ens1v0", NULL, true },
		{ "ens1v0", "I:1\nE:ID_RENAMING=1\nE:ID_BUS=pci\n", true },
		{ "ens1v0", "I:1\nE:ID_BUS=pci\n", false },
		{ "eth0", "I:1\nE:ID_BUS=pci\n", true }, /* it had that name when it was listed */
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(tree_remove) struct tree t = {};
		struct netdev nd = { .ifindex = 7, .pci = "0000:41:00.1" };

		tree_make(&t);
		tree_file(&t, "sys/class/net/ens1v0/ifindex", "7\n");
		tree_file(&t, "run/udev/data/n1", "I:1\n");
		if (rows[i].text)
			tree_file(&t, "run/udev/data/n7", rows[i].text);
		COPY(nd.name, rows[i].name);
		observe_netdev_name(&t.fs, &nd);
		assert_int_equal(nd.is_unnamed, rows[i].is_unnamed);
	}
}

static void without_udev_it_has_the_name_that_it_has(_unused_ void **state)
{
	_cleanup_(tree_remove) struct tree t = {};
	struct netdev nd = { .ifindex = 7, .name = "eth0", .pci = "0000:41:00.1" };

	tree_make(&t);
	tree_file(&t, "sys/class/net/eth0/ifindex", "7\n");
	observe_netdev_name(&t.fs, &nd);
	assert_false(nd.is_unnamed);
}

/* The driver's name of one that udev has renamed is free, and the next netdev gets it. */
static void a_network_device_that_took_the_name_of_another_is_not_that(_unused_ void **state)
{
	static const struct {
		uint32_t ifindex; /* as it was listed; 0: it was not, only its name is known */
		const char *pci;
	} rows[] = { { 7, "0000:41:00.1" }, { 6, "" }, { 0, "0000:41:00.1" } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(tree_remove) struct tree t = {};
		struct netdev nd = { .ifindex = rows[i].ifindex, .name = "eth0" };

		tree_make(&t);
		tree_file(&t, "sys/devices/pci0000:40/0000:41:00.1/net/eth0/ifindex", "7\n");
		tree_link(&t, "sys/class/net/eth0",
			  "../../devices/pci0000:40/0000:41:00.1/net/eth0");
		assert_int_equal(observe_netdev_pci(&t.fs, &nd), 0);
		assert_string_equal(nd.pci, rows[i].pci);
	}
}

/* "lo" is in each namespace, by the name that the kernel has given it. */
static void a_network_device_that_was_renamed_meanwhile_gets_its_new_name(_unused_ void **state)
{
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	struct netdev nd = { .ifindex = if_nametoindex("lo"), .name = "renamed0" };

	assert_int_equal(fs_open_root(NULL, &fs), 0);
	assert_int_equal(observe_netdev_pci(&fs, &nd), 0);
	assert_string_equal(nd.name, "lo");
	assert_false(nd.has_device);
}

static void the_line_of_a_failed_probe_is_not_pushed_out_of_the_log(_unused_ void **state)
{
	const struct questions q = { .set = 1u << QUESTION_LOG };
	struct pci pci = { .address = CARD };
	struct node n = { .pcis = &pci, .n_pcis = 1 };
	char log[1024] = "";
	struct tree t;

	for (int i = 0; i < 12; i++)
		append_word(log, sizeof(log), "\n", "<4>[ %d.5] mlx5_core " CARD ": %s", i,
			    i == 1 ? "probe with driver mlx5_core failed with error -110" : "AER");
	tree_make(&t);
	tree_file(&t, "dev/kmsg", log);
	assert_int_equal(observe_log(&t.fs, &q, &n), 1);
	assert_int_equal(n.n_log_lines, LOG_LINES_MAX);
	assert_non_null(strstr(n.log_lines[0].text, LOG_PROBE_FAILED));
	assert_non_null(strstr(n.log_lines[LOG_LINES_MAX - 1].text, "11.5"));
	free(n.log_lines);
	tree_remove(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_a_failed_probe_is_not_pushed_out_of_the_log),
		cmocka_unit_test(an_odd_file_costs_its_own_function_at_most),
		cmocka_unit_test(a_modalias_stands_for_class_vendor_and_device),
		cmocka_unit_test(what_is_no_function_is_passed_over),
		cmocka_unit_test(a_scalable_function_is_not_its_pf),
		cmocka_unit_test(an_override_is_read_of_what_cannot_hang),
		cmocka_unit_test(a_driver_container_is_at_work_until_it_says_that_it_is_ready),
		cmocka_unit_test(a_nic_that_manages_nvswitches_says_so),
		cmocka_unit_test(the_auxiliary_device_of_a_port_of_a_bond_is_looked_for),
		cmocka_unit_test(a_vdpa_device_is_of_the_function_it_was_made_of),
		cmocka_unit_test(a_vf_is_one_whatever_its_index),
		cmocka_unit_test(a_network_device_has_its_name_once_udev_is_done),
		cmocka_unit_test(without_udev_it_has_the_name_that_it_has),
		cmocka_unit_test(a_network_device_that_took_the_name_of_another_is_not_that),
		cmocka_unit_test(a_network_device_that_was_renamed_meanwhile_gets_its_new_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
