/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs: who is still at work on a netdev. Each case is a folder with files, looked at twice: as it
 * is, and as a capture of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "../src/model/route-facts.h"
#include "../src/step/observers.h"

#include "tree.h"

#define LINKS   "run/systemd/netif/links/"
#define DEVICES "run/NetworkManager/devices/"
#define PACKET  "proc/self/net/packet"
#define GROUP   "sys/fs/cgroup/system.slice/"
#define STATE   "run/network/ifstate"
#define HEADER  "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"

#define DHCP            "a packet socket is bound to it, as DHCP clients have one"
#define NM              "NetworkManager manages it, and it has no address yet"
#define NETWORKD(state) "its state in systemd-networkd is \"" state "\""

struct row {
	const char *name;
	struct {
		const char *path, *text;
	} files[4];
	struct netdev netdev; /* eth1, number 2 */
	struct address address;
	bool is_live;
	const char *expected;
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	const struct tree *t = userdata;
	char full[512];

	tree_path(t, path, full, sizeof(full));
	if (kind == RECORD_FOLDER)
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
	else
		tree_bytes(t, path, data ? data : "", size);
}

static void assert_sign(const struct fs *fs, const struct row *row)
{
	struct netdev netdevs[] = { { .ifindex = 1, .name = "lo" }, row->netdev };
	struct address address = row->address;
	struct node n = { .netdevs = netdevs,
			  .n_netdevs = 2,
			  .addresses = &address,
			  .n_addresses = address.family ? 1 : 0 };

	netdevs[1].ifindex = address.ifindex = 2;
	if (!*netdevs[1].name)
		COPY(netdevs[1].name, "eth1");
	COPY(netdevs[1].sign, "of before");
	observe_signs(fs, &n);
	assert_string_equal(netdevs[0].sign, "");
	assert_string_equal(netdevs[1].sign, row->expected);
}

static void a_sign_is_seen(_unused_ void **state)
{
	static const struct row rows[] = {
		{ "nobody is", .expected = "" },

		{ "a packet socket",
		  { { PACKET, HEADER "00000000 3      3    0003   0     1 0      0      20\n"
				     "ffff9876 3      2    0800   2     1 0      0      21\n" } },
		  .expected = DHCP },
		{ "networkd listens for LLDP",
		  { { PACKET, HEADER "0 3 3 88cc 2 1 0 0 2\n" } },
		  .expected = "" },
		{ "a packet socket of another netdev, and of any",
		  { { PACKET, HEADER "0 3 3 0003 0 1 0 0 2\n0 3 3 88cc 3 1 0 0 2\n0 3 22\n\n" } },
		  .expected = "" },

		{ "networkd: configuring",
		  { { LINKS "2", "# private\nADMIN_STATE=configuring\nOPER_STATE=routable\n" } },
		  .expected = NETWORKD("configuring") },
		{ "networkd: pending",
		  { { LINKS "2", "ADMIN_STATE=pending\n" } },
		  .expected = NETWORKD("pending") },
		{ "networkd: initialized",
		  { { LINKS "2", "ADMIN_STATE=initialized\n" } },
		  .expected = NETWORKD("initialized") },
		{ "networkd: configured",
		  { { LINKS "2", "ADMIN_STATE=configured\n" } },
		  .expected = "" },
		{ "networkd: unmanaged",
		  { { LINKS "2", "ADMIN_STATE=unmanaged\n" } },
		  .expected = "" },
		{ "networkd: of another netdev",
		  { { LINKS "3", "ADMIN_STATE=pending\n" } },
		  .expected = "" },
		{ "networkd has ended",
		  { { LINKS "2", "ADMIN_STATE=pending\n" } },
		  .is_live = true,
		  .expected = "" },
		{ "networkd runs",
		  { { LINKS "2", "ADMIN_STATE=pending\n" },
		    { GROUP "systemd-networkd.service/cgroup.procs", "" } },
		  .is_live = true,
		  .expected = NETWORKD("pending") },

		{ "NetworkManager",
		  { { DEVICES "2", "[device]\nmanaged=true\nconnection-uuid=x\n" } },
		  .netdev.has_carrier = true,
		  .expected = NM },
		{ "NetworkManager, which has ended",
		  { { DEVICES "2", "[device]\nmanaged=true\n" } },
		  .netdev.has_carrier = true,
		  .is_live = true,
		  .expected = "" },
		{ "NetworkManager, with the kernel's own address alone",
		  { { DEVICES "2", "[device]\nmanaged=true\n" } },
		  .netdev.has_carrier = true,
		  .address = { .family = AF_INET6, .local = { 0xFE, 0x80, [15] = 1 } },
		  .expected = NM },
		{ "NetworkManager, an address",
		  { { DEVICES "2", "[device]\nmanaged=true\n" } },
		  .netdev.has_carrier = true,
		  .address = { .family = AF_INET, .local = { 169, 254, 0, 1 } },
		  .expected = "" },
		{ "NetworkManager, a port",
		  { { DEVICES "2", "[device]\nmanaged=true\n" } },
		  .netdev = { .has_carrier = true, .master = 3 },
		  .expected = "" },
		{ "NetworkManager, no carrier",
		  { { DEVICES "2", "[device]\nmanaged=true\n" } },
		  .expected = "" },
		{ "NetworkManager, left alone by the administrator",
		  { { DEVICES "2", "[device]\nmanaged=false\n" } },
		  .netdev.has_carrier = true,
		  .expected = "" },
		{ "NetworkManager, left alone by its configuration",
		  { { DEVICES "2", "[device]\nnm-owned=false\n" } },
		  .netdev.has_carrier = true,
		  .expected = "" },

		{ "ifup@",
		  { { GROUP "ifup@eth1.service/cgroup.procs", "" }, { STATE, "lo=lo\neth10=x\n" } },
		  .expected = "ifup@eth1.service is starting" },
		{ "ifup@, in a slice of its own, and version 1",
		  { { "sys/fs/cgroup/systemd/system.slice/system-ifup.slice/ifup@a\\x2db.service/x",
		      "" },
		    { STATE, "" } },
		  .netdev.name = "a-b",
		  .expected = "ifup@a\\x2db.service is starting" },
		{ "ifup@ is done, and its DHCP client is still there",
		  { { GROUP "ifup@eth1.service/cgroup.procs", "" },
		    { STATE, "lo=lo\neth1=eth1\n" } },
		  .expected = "" },
		{ "ifup@ of another netdev",
		  { { GROUP "ifup@eth2.service/cgroup.procs", "" }, { STATE, "lo=lo\n" } },
		  .expected = "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct tree t, copy_of;

		print_message("    %s\n", rows[i].name);
		tree_make(&t);
		tree_make(&copy_of);
		for (size_t k = 0; k < ELEMENTSOF(rows[i].files) && rows[i].files[k].path; k++)
			tree_file(&t, rows[i].files[k].path, rows[i].files[k].text);
		t.fs.is_live = rows[i].is_live;
		t.fs.on_read = on_read;
		t.fs.userdata = &copy_of;
		assert_sign(&t.fs, &rows[i]);
		if (!rows[i].is_live)
			assert_sign(&copy_of.fs, &rows[i]);
		tree_remove(&t);
		tree_remove(&copy_of);
	}
}

static void a_lock_of_sriov_cni_names_its_process(_unused_ void **state)
{
	static const struct {
		const char *locks; /* %1$s: its device, %2$s: its inode */
		bool is_out;
		uint32_t pid;
	} rows[] = {
		{ "1: POSIX  ADVISORY  READ  7 %1$s:%2$s 128 128\n"
		  "2: FLOCK  ADVISORY  WRITE 4711 %1$s:%2$s 0 EOF\n",
		  true, 4711 },
		{ "1: FLOCK  ADVISORY  WRITE 4711 %1$s:%2$s 0 EOF\n", false, 0 },
		{ "1: FLOCK  ADVISORY  WRITE 4711 %1$s:1%2$s 0 EOF\n", true, 0 },
		{ "1: -> FLOCK  ADVISORY  WRITE 4711 %1$s:%2$s 0 EOF", true, 0 },
		/* The same number on another file system: seen where the file's has a device. */
		{ "1: FLOCK  ADVISORY  WRITE 7 fe:01:%2$s 0 EOF\n"
		  "2: FLOCK  ADVISORY  WRITE 4711 %1$s:%2$s 0 EOF\n",
		  true, 4711 },
		{ "%1$.0s1: FLOCK  ADVISORY  WRITE 7 fe:01:%2$s 0 EOF\n", true, 0 },
		{ "", true, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct device_memory m = { .pci = "0000:41:00.1", .is_out = rows[i].is_out };
		struct pci vf = { .address = "0000:41:00.1" };
		struct memory memory = { .devices = &m, .n_devices = 1 };
		struct node n = { .pcis = &vf, .n_pcis = 1 };
		char locks[256], device[16], inode[32];
		bool is_alike;
		struct tree t;
		struct stat st;

		tree_make(&t);
		tree_file(&t, "var/lib/cni/sriov/pci/0000:41:00.1", "/run/netns/pod");
		assert_int_equal(fs_stat(&t.fs, "var/lib/cni/sriov/pci/0000:41:00.1", &st), 0);
		snprintf(device, sizeof(device), "%02x:%02x", major(st.st_dev), minor(st.st_dev));
		snprintf(inode, sizeof(inode), "%ju", (uintmax_t)st.st_ino);
		snprintf(locks, sizeof(locks), rows[i].locks, device, inode);
		tree_file(&t, "proc/locks", locks);
		observe_cni(&t.fs, &n, &memory);
		is_alike = major(st.st_dev) == 0 && strstr(rows[i].locks, " fe:01:");
		assert_int_equal(vf.cni_pid, is_alike ? 7 : rows[i].pid);
		tree_remove(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sign_is_seen),
		cmocka_unit_test(a_lock_of_sriov_cni_names_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
