/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netconfig: what the files of network managers say about bonds. Each case is a folder with files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/model/boots.h"
#include "../src/observe/netconfig.h"

#include "tree.h"

#define NETWORKD    "etc/systemd/network/"
#define KEYFILES    "etc/NetworkManager/system-connections/"
#define IFCFG       "etc/sysconfig/network-scripts/ifcfg-"
#define MATCH       "[Match]\nName=eth1\n"
#define BOND        "[Network]\nBond=bond0\n"
#define BY_NETWORKD "eth1 /" NETWORKD "10-a.network"

#define MAC1 "b8:ce:f6:17:00:00"
#define MAC2 "b8:ce:f6:17:00:01"

/* Two ports, and a bond: "eth1 FILE; eth2 FILE" of those that a file names. */
static void describe(const struct node *n, bool is_way, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < n->n_netdevs; i++) {
		const struct netdev *nd = &n->netdevs[i];
		const char *file = is_way ? nd->way_file : nd->bond_file;
		size_t len = strlen(ret);

		if (file[0])
			snprintf(ret + len, size - len, "%s%s %s", len ? "; " : "", nd->name, file);
	}
}

struct file {
	const char *path, *text;
};

static void look(const struct tree *root, const struct file *files, size_t n, bool is_way,
		 char *ret, size_t size)
{
	struct boot before = { .boot_id = "a", .knows_node_nics = true };
	struct memory memory = { .boots = &before, .n_boots = is_way ? 0 : 1 };
	struct pci pcis[] = {
		{ .address = "0000:17:00.0", .driver = "mlx5_core", .has_sriov = true },
		{ .address = "0000:17:00.1", .driver = "mlx5_core", .has_sriov = true }
	};
	struct netdev netdevs[] = {
		{ .ifindex = 2,
		  .name = "eth1",
		  .pci = "0000:17:00.0",
		  .mac = MAC1,
		  .perm_mac = MAC1 },
		{ .ifindex = 3,
		  .name = "eth2",
		  .pci = "0000:17:00.1",
		  .mac = MAC2,
		  .perm_mac = MAC2 },
		{ .ifindex = 4, .name = "bond0", .kind = "bond", .mac = MAC1 },
	};
	struct node node = { .pcis = pcis, .n_pcis = 2, .netdevs = netdevs, .n_netdevs = 3 };

	for (size_t i = 0; i < n && files[i].path; i++)
		tree_file(root, files[i].path, files[i].text);
	assert_int_equal(observe_netconfig(&root->fs, &memory, &node), 0);
	describe(&node, is_way, ret, size);
}

static void files_tell_which_netdevs_go_into_a_bond(_unused_ void **state)
{
	static const struct {
		const char *name;
		struct file files[4];
		const char *expected;
	} rows[] = {
		{ "nothing", { { NULL, NULL } }, "" },

		{ "networkd",
		  { { NETWORKD "10-a.network", "# ports\n\n" MATCH "\n" BOND } },
		  BY_NETWORKD },
		{ "by MAC",
		  { { NETWORKD "10-a.network",
		      "[Match]\nMACAddress=B8-CE-F6-17-00-00 0200.0000.0001\n" BOND } },
		  BY_NETWORKD },
		{ "by permanent MAC",
		  { { NETWORKD "10-a.network",
		      "[Match]\nPermanentMACAddress=b8ce.f617.0000\n" BOND } },
		  BY_NETWORKD },
		{ "by path and driver",
		  { { NETWORKD "10-a.network",
		      "[Match]\nPath=pci-0000:17:00.0\nDriver=mlx5*\n" BOND } },
		  BY_NETWORKD },
		{ "by another driver",
		  { { NETWORKD "10-a.network", "[Match]\nName=eth1\nDriver=igb\n" BOND } },
		  "" },
		{ "by another name",
		  { { NETWORKD "10-a.network", "[Match]\nName=ens*\n" BOND } },
		  "" },
		{ "by all names but some",
		  { { NETWORKD "10-a.network", "[Match]\nName=!eth2 lo\n" BOND } },
		  BY_NETWORKD },
		{ "by a condition that is not understood",
		  { { NETWORKD "10-a.network", "[Match]\nName=eth1\nType=ether\n" BOND } },
		  BY_NETWORKD },
		{ "continued",
		  { { NETWORKD "10-a.network", "[Match]\nName=ens* \\\n  eth1\n" BOND } },
		  BY_NETWORKD },
		{ "in one of several lists",
		  { { NETWORKD "10-a.network", "[Match]\nName=eth7\nName=eth1\n" BOND } },
		  BY_NETWORKD },
		{ "without a match it is no configuration",
		  { { NETWORKD "10-a.network", BOND } },
		  "" },
		{ "other files", { { NETWORKD "10-a.network~", MATCH BOND } }, "" },

		{ "NetworkManager by name",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ntype=ethernet\ninterface-name=eth1\nmaster=bond0\n"
		      "slave-type=bond\n" } },
		  "eth1 /" KEYFILES "port.nmconnection" },
		{ "NetworkManager by UUID and MAC",
		  { { "run/NetworkManager/system-connections/port.nmconnection",
		      "[connection]\ntype=ethernet\n"
		      "controller=11111111-2222-3333-4444-555555555555\nport-type=bond\n"
		      "[ethernet]\nmac-address=B8:CE:F6:17:00:01\n" } },
		  "eth2 /run/NetworkManager/system-connections/port.nmconnection" },
		{ "NetworkManager, without an ending",
		  { { KEYFILES "port", "[connection]\ninterface-name=eth1\n"
				       "master=my bond\nslave-type=bond\n" } },
		  "eth1 /" KEYFILES "port" },
		{ "NetworkManager, a bridge",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ninterface-name=eth1\nmaster=br0\nslave-type=bridge\n" } },
		  "" },

		{ "ifcfg",
		  { { IFCFG "eth1", "DEVICE=eth1\nONBOOT=yes\nMASTER=\"bond0\"\nSLAVE=yes\nHWADDR='"
				    "B8:CE:F6:17:00:00'\n" } },
		  "eth1 /" IFCFG "eth1" },
		{ "ifcfg, another card",
		  { { IFCFG "eth1", "DEVICE=eth1\nMASTER=bond0\nSLAVE=yes\nHWADDR="
				    "B8:CE:F6:17:00:09\n" } },
		  "" },

		{ "ifupdown, the bond names its ports",
		  { { "etc/network/interfaces",
		      "auto lo\niface lo inet loopback\n\nauto bond0\niface bond0 inet static\n"
		      "\taddress 10.0.0.1/24\n\tbond-slaves eth1 eth2\n\tbond-mode 4\n" } },
		  "eth1 /etc/network/interfaces; eth2 /etc/network/interfaces" },
		{ "ifupdown, in lines that belong together",
		  { { "etc/network/interfaces",
		      "iface bond0 inet manual\n\tbond-slaves eth7 \\\n eth8 \\\n eth2\n" } },
		  "eth2 /etc/network/interfaces" },
		{ "ifupdown, a port names its bond",
		  { { "etc/network/interfaces", "iface eth1 inet manual\n\tbond-master bond0\n"
						"iface bond0 inet dhcp\n\tbond-slaves none\n" } },
		  "eth1 /etc/network/interfaces" },
		{ "ifupdown, in a folder",
		  { { "etc/network/interfaces.d/a.cfg",
		      "iface eth1 inet manual\n bond-master bond0\n\niface eth2 inet dhcp\n" } },
		  "eth1 /etc/network/interfaces.d/a.cfg" },
		{ "networkd, of netplan, a MAC that is set",
		  { { "run/systemd/network/10-netplan-eth2.network",
		      "[Match]\nName=eth2\n\n[Link]\nMACAddress=" MAC1 "\n\n" BOND } },
		  "eth2 /run/systemd/network/10-netplan-eth2.network" },
		{ "networkd, a file in /etc hides that of netplan",
		  { { "run/systemd/network/10-netplan-eth2.network",
		      "[Match]\nName=eth2\n\n" BOND },
		    { NETWORKD "10-netplan-eth2.network", "" } },
		  "" },
		{ "NetworkManager, a port that is not named",
		  { { KEYFILES "a", "[connection]\nmaster=bond0\nport-type=bond\n" } },
		  "" },
		{ "a line without a value",
		  { { NETWORKD "10-a.network", "[Match\nName\n=\n[]\n[Match]\nName=eth1\n" BOND } },
		  BY_NETWORKD },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(tree_remove) struct tree root = {};
		char text[1024];

		tree_make(&root);
		look(&root, rows[i].files, ELEMENTSOF(rows[i].files), false, text, sizeof(text));
		if (!streq(text, rows[i].expected))
			fail_msg("%s:\n%s\n%s", rows[i].name, text, rows[i].expected);
	}
}

#define DHCP "[Network]\nDHCP=yes\n"
#define KEY  KEYFILES "a.nmconnection"
#define NM1  "[connection]\ntype=ethernet\ninterface-name=eth1\n"

static void files_tell_which_netdevs_get_a_default_route(_unused_ void **state)
{
	static const struct {
		const char *name;
		struct file files[4];
		const char *expected;
	} rows[] = {
		{ "networkd, DHCP", { { NETWORKD "10-a.network", MATCH DHCP } }, BY_NETWORKD },
		{ "networkd, a part of it",
		  { { NETWORKD "10-a.network", MATCH "[Network]\nDHCP=ipv4\n" } },
		  BY_NETWORKD },
		{ "networkd, none",
		  { { NETWORKD "10-a.network",
		      MATCH "[Network]\nDHCP=no\nAddress=10.1.0.2/24\n" } },
		  "" },
		{ "networkd, DHCP without routes",
		  { { NETWORKD "10-a.network", MATCH DHCP "[DHCPv4]\nUseRoutes=false\n" } },
		  "" },
		{ "networkd, DHCP without routes, but a gateway, or a VLAN that may have one",
		  { { NETWORKD "10-a.network",
		      MATCH DHCP "[DHCPv4]\nUseRoutes=no\n[Route]\nGateway=10.1.0.1\n" },
		    { NETWORKD "10-b.network",
		      "[Match]\nName=eth2\n" DHCP "VLAN=v5\n[DHCPv4]\nUseGateway=no\n" } },
		  BY_NETWORKD "; eth2 /" NETWORKD "10-b.network" },
		{ "networkd, gateway",
		  { { NETWORKD "10-a.network",
		      MATCH "[Network]\nAddress=10.1.0.2/24\n[Route]\nGateway=10.1.0.1\n" } },
		  BY_NETWORKD },
		{ "networkd, the lower netdev of a VLAN",
		  { { NETWORKD "10-a.network", MATCH "[Network]\nVLAN=v5\n" } },
		  BY_NETWORKD },
		{ "networkd, a port of a bond",
		  { { NETWORKD "10-a.network", MATCH BOND } },
		  BY_NETWORKD },
		{ "networkd, a bond",
		  { { NETWORKD "10-a.network", "[Match]\nName=bond0\n" DHCP } },
		  "bond0 /" NETWORKD "10-a.network" },
		{ "networkd, the first file for a netdev counts",
		  { { NETWORKD "10-a.network", MATCH "[Network]\nAddress=10.1.0.2/24\n" },
		    { "usr/lib/systemd/network/zz.network",
		      "[Match]\nType=ether\nName=!bond0\n" DHCP } },
		  "eth2 /usr/lib/systemd/network/zz.network" },
		{ "networkd, a file before it that has a condition may be of another machine",
		  { { "usr/lib/systemd/network/yy-azure.network",
		      "[Match]\nDriver=mlx5_core\nVirtualization=microsoft\n[Link]\n"
		      "Unmanaged=yes\n" },
		    { "usr/lib/systemd/network/zz-default.network", "[Match]\nName=eth1\n" DHCP } },
		  "eth1 /usr/lib/systemd/network/zz-default.network" },
		{ "netplan",
		  { { "run/systemd/network/10-netplan-eth2.network",
		      "[Match]\nName=eth2\n\n" DHCP "[DHCP]\nUseMTU=true\n" } },
		  "eth2 /run/systemd/network/10-netplan-eth2.network" },

		{ "NetworkManager, DHCP", { { KEY, NM1 "[ipv4]\nmethod=auto\n" } }, "eth1 /" KEY },
		{ "NetworkManager, of any card, as by ip=dhcp",
		  { { "run/NetworkManager/system-connections/default_connection.nmconnection",
		      "[connection]\ntype=ethernet\nmulti-connect=3\n[ipv4]\nmethod=auto\n" } },
		  "eth1 /run/NetworkManager/system-connections/default_connection.nmconnection; "
		  "eth2 /run/NetworkManager/system-connections/default_connection.nmconnection" },
		{ "NetworkManager, a rail",
		  { { KEY, NM1 "[ipv4]\nmethod=manual\naddress1=10.1.0.2/24\n"
			       "[ipv6]\nmethod=auto\n" } },
		  "" },
		{ "NetworkManager, with a gateway",
		  { { KEY, NM1 "[ipv4]\nmethod=manual\naddress1=10.1.0.2/24,10.1.0.1\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, never a default route",
		  { { KEY, NM1 "[ipv4]\nmethod=auto\nnever-default=true\n" } },
		  "" },
		{ "NetworkManager, no value that its boolean has: it is ignored",
		  { { KEY, NM1 "[ipv4]\nmethod=auto\nnever-default=yes\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, a gateway of the other family",
		  { { KEY, NM1 "[ipv4]\nmethod=auto\nnever-default=true\n"
			       "[ipv6]\nmethod=manual\ngateway=fd00::1\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, a bridge's port that has the words of a rail",
		  { { KEY, NM1 "master=br0\n[ipv4]\nnever-default=true\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, without a method it is DHCP", { { KEY, NM1 } }, "eth1 /" KEY },
		{ "NetworkManager, a list of names",
		  { { KEY, "[connection]\ntype=ethernet\n[match]\ninterface-name=ens*;eth1;\n"
			   "[ipv4]\nmethod=auto\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, a VLAN",
		  { { KEY, "[connection]\ntype=vlan\ninterface-name=v5\n[vlan]\nparent=eth1\n"
			   "[ipv4]\nmethod=auto\n" } },
		  "eth1 /" KEY },
		{ "NetworkManager, another kind",
		  { { KEY, "[connection]\ntype=wifi\n[ipv4]\nmethod=auto\n" } },
		  "" },

		{ "ifcfg",
		  { { IFCFG "eth1", "DEVICE=eth1\nBOOTPROTO=\"dhcp\"\n" } },
		  "eth1 /" IFCFG "eth1" },
		{ "ifcfg, none",
		  { { IFCFG "eth1", "DEVICE=eth1\nBOOTPROTO='none'\nIPADDR=10.1.0.2\n" } },
		  "" },
		{ "ifcfg, gateway, but no default route",
		  { { IFCFG "eth1", "DEVICE=eth1\nGATEWAY=10.1.0.1\n" },
		    { IFCFG "eth2", "DEVICE=eth2\nGATEWAY=10.1.0.1\nDEFROUTE=no\n" } },
		  "eth1 /" IFCFG "eth1" },

		{ "ifupdown",
		  { { "etc/network/interfaces",
		      "auto lo\niface lo inet loopback\niface eth1 inet static\n"
		      "\taddress 10.1.0.2/24\niface eth2 inet dhcp\n" } },
		  "eth2 /etc/network/interfaces" },
		{ "ifupdown, between tabs and in two lines",
		  { { "etc/network/interfaces",
		      "iface\teth1\tinet\tdhcp\niface eth2 inet \\\ndhcp\n" } },
		  "eth1 /etc/network/interfaces; eth2 /etc/network/interfaces" },
		{ "ifupdown, a name like the method",
		  { { "etc/network/interfaces",
		      "iface dhcp0 inet static\niface eth1 inet manual\n" } },
		  "" },
		{ "ifupdown, gateway",
		  { { "run/network/interfaces.d/eth1",
		      "iface eth1 inet static\n\tgateway 10.1.0.1\niface eth2 inet manual\n" } },
		  "eth1 /run/network/interfaces.d/eth1" },
		{ "ifupdown, a bridge",
		  { { "etc/network/interfaces", "iface br0 inet dhcp\n\tbridge_ports eth2\n" } },
		  "eth2 /etc/network/interfaces" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(tree_remove) struct tree root = {};
		char text[1024];

		tree_make(&root);
		look(&root, rows[i].files, ELEMENTSOF(rows[i].files), true, text, sizeof(text));
		if (!streq(text, rows[i].expected))
			fail_msg("%s:\n%s\n%s", rows[i].name, text, rows[i].expected);
	}
}

static void nothing_is_read_where_nobody_could_have_vfs(_unused_ void **state)
{
	struct pci pci = { .address = "0000:17:00.0", .driver = "mlx5_core" };
	struct netdev nd = { .name = "eth1", .pci = "0000:17:00.0" };
	struct node node = { .pcis = &pci, .n_pcis = 1, .netdevs = &nd, .n_netdevs = 1 };
	struct boot before = { .boot_id = "a", .knows_node_nics = true };
	struct memory memory = { .boots = &before, .n_boots = 1 };
	_cleanup_(tree_remove) struct tree root = {};

	tree_make(&root);
	tree_file(&root, NETWORKD "10-a.network", MATCH BOND DHCP);
	assert_int_equal(observe_netconfig(&root.fs, &memory, &node), 0);
	assert_string_equal(nd.bond_file, "");
	assert_string_equal(nd.way_file, "");
}

struct record {
	char text[512];
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	struct record *rec = userdata;

	if (kind == RECORD_FILE && strstr(path, "port") && size < sizeof(rec->text)) {
		memcpy(rec->text, data, size);
		rec->text[size] = '\0';
	}
}

static void a_capture_has_what_is_used_and_tells_the_same(_unused_ void **state)
{
	static const struct file files[] = {
		{ KEYFILES "port.nmconnection",
		  "[connection]\nid=home\ninterface-name=eth1\nmaster=b\nport-type=bond\n"
		  "# sesame\n[wifi-security]\npsk=sesame\n" }
	};
	struct file copied[] = { { KEYFILES "port.nmconnection", NULL } };
	_cleanup_(tree_remove) struct tree root = {}, copy_of = {};
	struct record rec = {};
	char text[256], again[256];

	tree_make(&root);
	tree_make(&copy_of);
	root.fs.on_read = on_read;
	root.fs.userdata = &rec;
	look(&root, files, ELEMENTSOF(files), false, text, sizeof(text));
	assert_string_equal(rec.text,
			    "[connection]\ninterface-name=eth1\nmaster=b\nport-type=bond\n"
			    "[Other]\n# other lines are left out\n");
	copied[0].text = rec.text;
	look(&copy_of, copied, 1, false, again, sizeof(again));
	assert_string_equal(text, "eth1 /" KEYFILES "port.nmconnection");
	assert_string_equal(again, text);
}

/* A line that is continued is longer than what is kept of it, and a list longer than its room. */
static void long_lines_and_many_of_them_overflow_nothing(_unused_ void **state)
{
	static const char *const heads[] = { "[Match]\nName=a", "[Match]\nMACAddress=",
					     "[Match]\nPath=", "[Network]\nBond=" };
	static const char *const paths[] = { NETWORKD "10-a.network", KEYFILES "a", IFCFG "a",
					     "etc/network/interfaces" };
	_cleanup_(freep) char *content = malloc(64 << 10);

	assert_non_null(content);
	for (size_t i = 0; i < ELEMENTSOF(heads); i++)
		for (size_t k = 0; k < ELEMENTSOF(paths); k++) {
			_cleanup_(tree_remove) struct tree root = {};
			struct record rec = {};
			char text[256], *at = stpcpy(content, heads[i]);

			for (size_t n = 0; n < 3000; n++)
				at = stpcpy(at, "\\\n");
			at = stpcpy(at, "\nMACAddress=");
			memset(at, 'A', 6000);
			strcpy(at + 6000, "\n" MATCH BOND "iface eth1 \\\n x\n bond-slaves eth1");
			tree_make(&root);
			root.fs.on_read = on_read;
			root.fs.userdata = &rec;
			look(&root, &(struct file){ paths[k], content }, 1, false, text,
			     sizeof(text));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_tell_which_netdevs_go_into_a_bond),
		cmocka_unit_test(files_tell_which_netdevs_get_a_default_route),
		cmocka_unit_test(nothing_is_read_where_nobody_could_have_vfs),
		cmocka_unit_test(a_capture_has_what_is_used_and_tells_the_same),
		cmocka_unit_test(long_lines_and_many_of_them_overflow_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
