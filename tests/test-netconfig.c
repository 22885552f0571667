/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netconfig: what the files of network managers say about bonds. Each case is a folder with files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "../src/observe/netconfig.h"
#include "../src/observe/networkd.h"

#define NETWORKD "etc/systemd/network/"
#define KEYFILES "etc/NetworkManager/system-connections/"
#define IFCFG    "etc/sysconfig/network-scripts/ifcfg-"
#define MATCH    "[Match]\nName=eth1\n"
#define BOND     "[Network]\nBond=bond0\n"
#define NETDEV   "[NetDev]\nName=bond0\nKind=bond\n"

struct root {
	char path[64];
	struct fs fs;
};

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static void root_open(struct root *ret)
{
	COPY(ret->path, "/tmp/test-netconfig-XXXXXX");
	assert_non_null(mkdtemp(ret->path));
	assert_int_equal(fs_open_root(ret->path, &ret->fs), 0);
}

static void root_done(struct root *root)
{
	fs_done(&root->fs);
	nftw(root->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const struct root *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	int fd;

	snprintf(full, sizeof(full), "%s/%s", root->path, path);
	for (char *slash = full + strlen(root->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Each row as "SOURCE names|macs|perm_macs|paths|drivers[+]->BOND MODE FILE:LINE; ". */
static void describe(const struct node *n, char *ret, size_t size)
{
	static const char *const sources[] = { "networkd", "nm", "ifcfg", "ifupdown" };

	*ret = '\0';
	for (size_t i = 0; i < n->n_enslaves; i++) {
		const struct enslave *e = &n->enslaves[i];
		size_t len = strlen(ret);

		snprintf(ret + len, size - len, "%s%s %s|%s|%s|%s|%s%s->%s %d %s:%" PRIu32,
			 i ? "; " : "", sources[e->source], e->names, e->macs, e->perm_macs,
			 e->paths, e->drivers, e->has_more ? "+" : "", e->bond, e->mode, e->file,
			 e->line);
	}
}

struct file {
	const char *path, *text;
};

static void look(const struct root *root, const struct file *files, size_t n, char *ret,
		 size_t size)
{
	struct pci pci = { .address = "0000:17:00.0", .driver = "mlx5_core", .has_sriov = true };
	struct node node = { .pcis = &pci, .n_pcis = 1 };

	for (size_t i = 0; i < n && files[i].path; i++)
		put(root, files[i].path, files[i].text);
	assert_int_equal(observe_netconfig(&root->fs, &node), 0);
	describe(&node, ret, size);
	free(node.enslaves);
}

static void files_tell_which_netdevs_go_into_which_bond(_unused_ void **state)
{
	static const struct {
		const char *name;
		struct file files[4];
		const char *expected;
	} rows[] = {
		{ "nothing", { { NULL, NULL } }, "" },

		{ "networkd",
		  { { NETWORKD "10-a.network", "# ports\n\n" MATCH "\n" BOND } },
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/10-a.network:7" },
		{ "the mode is in the .netdev",
		  { { NETWORKD "10-a.network", MATCH BOND },
		    { NETWORKD "bond0.netdev", NETDEV "[Bond]\nMode=802.3ad\n" } },
		  "networkd eth1||||->bond0 4 /etc/systemd/network/10-a.network:4" },
		{ "the mode of networkd is balance-rr where nobody says another",
		  { { NETWORKD "10-a.network", MATCH BOND }, { NETWORKD "bond0.netdev", NETDEV } },
		  "networkd eth1||||->bond0 0 /etc/systemd/network/10-a.network:4" },
		{ "a mode that nobody knows",
		  { { NETWORKD "10-a.network", MATCH BOND },
		    { NETWORKD "bond0.netdev", NETDEV "[Bond]\nMode=balance-new\n" } },
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/10-a.network:4" },
		{ "a .netdev of another kind",
		  { { NETWORKD "10-a.network", MATCH BOND },
		    { NETWORKD "bond0.netdev",
		      "[NetDev]\nName=bond0\nKind=team\n[Bond]\nMode=802.3ad\n" } },
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/10-a.network:4" },
		{ "a .netdev with a drop-in",
		  { { NETWORKD "10-a.network", MATCH BOND },
		    { "usr/lib/systemd/network/bond0.netdev", NETDEV "[Bond]\nMode=1\n" },
		    { "run/systemd/network/bond0.netdev.d/mode.conf",
		      "[Bond]\nMode=balance-xor\n" } },
		  "networkd eth1||||->bond0 2 /etc/systemd/network/10-a.network:4" },
		{ "every way to match",
		  { { NETWORKD "10-a.network",
		      "[Match]\nName=eth* \\\n  ens1\nMACAddress=B8-CE-F6-17-00-00 "
		      "b8ce.f617.0001\nPermanentMACAddress=b8:ce:f6:17:00:02\n"
		      "Path=pci-0000:17:*\nDriver=mlx5_core\nType=ether\n" BOND } },
		  "networkd eth*     ens1|b8cef6170000 b8cef6170001|b8cef6170002|pci-0000:17:*|"
		  "mlx5_core+->bond0 -1 /etc/systemd/network/10-a.network:10" },
		{ "lists grow, and an empty value empties them",
		  { { NETWORKD "10-a.network",
		      "[Match]\nName=no1\nName=\nName=eth1\nName=eth2\n" BOND } },
		  "networkd eth1 eth2||||->bond0 -1 /etc/systemd/network/10-a.network:7" },
		{ "one without a bond is told as well, in the order of names",
		  { { NETWORKD "20-b.network", MATCH BOND },
		    { "run/systemd/network/10-a.network", MATCH "[Network]\nDHCP=yes\n" } },
		  "networkd eth1||||-> -1 :0; "
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/20-b.network:4" },
		{ "the bond is in a drop-in",
		  { { "run/systemd/network/10-netplan-eth1.network", MATCH },
		    { NETWORKD "10-netplan-eth1.network.d/bond.conf", BOND } },
		  "networkd eth1||||->bond0 -1 "
		  "/etc/systemd/network/10-netplan-eth1.network.d/bond.conf:2" },
		{ "a higher folder hides a lower one",
		  { { NETWORKD "10-a.network", MATCH "[Network]\nDHCP=yes\n" },
		    { "usr/lib/systemd/network/10-a.network", MATCH BOND } },
		  "networkd eth1||||-> -1 :0" },
		{ "an empty file hides it, and its drop-ins",
		  { { NETWORKD "10-a.network", "" },
		    { "usr/lib/systemd/network/10-a.network", MATCH BOND },
		    { NETWORKD "10-a.network.d/bond.conf", MATCH BOND } },
		  "" },
		{ "without a match it is no configuration",
		  { { NETWORKD "10-a.network", BOND } },
		  "" },
		{ "other files", { { NETWORKD "10-a.network~", MATCH BOND } }, "" },

		{ "NetworkManager by name",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ntype=ethernet\ninterface-name=eth1\nmaster=bond0\n"
		      "slave-type=bond\n" },
		    { KEYFILES "bond0.nmconnection",
		      "[connection]\nid=b\nuuid=11111111-2222-3333-4444-555555555555\ntype=bond\n"
		      "interface-name=bond0\n\n[bond]\nmiimon=100\nmode=active-backup\n" } },
		  "nm eth1||||->bond0 1 "
		  "/etc/NetworkManager/system-connections/port.nmconnection:4" },
		{ "NetworkManager by UUID and MAC",
		  { { "run/NetworkManager/system-connections/port.nmconnection",
		      "[connection]\ntype=ethernet\n"
		      "controller=11111111-2222-3333-4444-555555555555\nport-type=bond\n"
		      "[ethernet]\nmac-address=B8:CE:F6:17:00:00\n" },
		    { KEYFILES "bond without an ending",
		      "[connection]\nuuid=11111111-2222-3333-4444-555555555555\ntype=bond\n"
		      "interface-name=bond7\n[bond]\nmode=4\n" } },
		  "nm |b8cef6170000|||->bond7 4 "
		  "/run/NetworkManager/system-connections/port.nmconnection:3" },
		{ "NetworkManager by ID",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ninterface-name=eth1\nmaster=my bond with a long name\n"
		      "slave-type=bond\n" },
		    { KEYFILES "bond.nmconnection",
		      "[connection]\nid=my bond with a long name\ntype=bond\n"
		      "interface-name=bond7\n[bond]\nmode=4\n" } },
		  "nm eth1||||->bond7 4 "
		  "/etc/NetworkManager/system-connections/port.nmconnection:3" },
		{ "an ID is no name for networkd",
		  { { NETWORKD "10-a.network", MATCH BOND },
		    { KEYFILES "bond.nmconnection", "[connection]\nid=bond0\ntype=bond\n"
						    "interface-name=bond7\n[bond]\nmode=0\n" } },
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/10-a.network:4" },
		{ "NetworkManager's default is balance-rr",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ninterface-name=eth1\nmaster=bond0\nslave-type=bond\n" },
		    { KEYFILES "bond0.nmconnection",
		      "[connection]\ntype=bond\ninterface-name=bond0\n" } },
		  "nm eth1||||->bond0 0 "
		  "/etc/NetworkManager/system-connections/port.nmconnection:3" },
		{ "NetworkManager, a bridge",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ninterface-name=eth1\nmaster=br0\nslave-type=bridge\n" } },
		  "" },
		{ "NetworkManager, only by hand",
		  { { KEYFILES "port.nmconnection",
		      "[connection]\ninterface-name=eth1\nmaster=bond0\nslave-type=bond\n"
		      "autoconnect=false\n" } },
		  "" },

		{ "ifcfg",
		  { { IFCFG "eth1", "DEVICE=eth1\nONBOOT=yes\nMASTER=\"bond0\"\nSLAVE=yes\nHWADDR='"
				    "B8:CE:F6:17:00:"
				    "00'\n" },
		    { IFCFG "bond0", "DEVICE=bond0\nBONDING_OPTS=\"miimon=100 mode=802.3ad\"\n" } },
		  "ifcfg eth1|b8cef6170000|||->bond0 4 "
		  "/etc/sysconfig/network-scripts/ifcfg-eth1:3" },
		{ "ifcfg, not at boot",
		  { { IFCFG "eth1", "DEVICE=eth1\nONBOOT=no\nMASTER=bond0\nSLAVE=yes\n" } },
		  "" },

		{ "ifupdown, the bond names its ports",
		  { { "etc/network/interfaces",
		      "auto lo\niface lo inet loopback\n\nauto bond0\niface bond0 inet static\n"
		      "\taddress 10.0.0.1/24\n\tbond-slaves eth1 eth2\n\tbond-mode 4\n" } },
		  "ifupdown eth1 eth2||||->bond0 4 /etc/network/interfaces:7" },
		{ "ifupdown's default is balance-rr",
		  { { "etc/network/interfaces",
		      "iface bond0 inet manual\n\tbond-slaves eth1 eth2\n" } },
		  "ifupdown eth1 eth2||||->bond0 0 /etc/network/interfaces:2" },
		{ "ifupdown, the mode is in another stanza",
		  { { "etc/network/interfaces", "iface bond0 inet manual\n\tbond-slaves eth1 eth2\n"
						"iface bond0 inet6 manual\n\tbond-mode 4\n" } },
		  "ifupdown eth1 eth2||||->bond0 4 /etc/network/interfaces:2" },
		{ "ifupdown, a pattern may mean any port",
		  { { "etc/network/interfaces",
		      "iface bond0 inet manual\n\tbond-slaves eth7 /eth[12]/\n\tbond-mode 1\n" } },
		  "ifupdown ||||+->bond0 1 /etc/network/interfaces:2" },
		{ "ifupdown, all ports",
		  { { "etc/network/interfaces",
		      "iface bond0 inet manual\n\tbond-slaves all\n\tbond-mode 1\n" } },
		  "ifupdown ||||+->bond0 1 /etc/network/interfaces:2" },
		{ "ifupdown, a port names its bond",
		  { { "etc/network/interfaces",
		      "iface eth1 inet manual\n\tbond-master bond0\n"
		      "iface bond0 inet dhcp\n\tbond-slaves none\n\tbond_mode active-backup\n" } },
		  "ifupdown eth1||||->bond0 1 /etc/network/interfaces:2" },
		{ "ifupdown, in files that are included",
		  { { "etc/network/interfaces", "source interfaces.d/*.cfg\nsource-directory "
						"/etc/network/more\n" },
		    { "etc/network/interfaces.d/a.cfg",
		      "iface eth1 inet manual\n bond-master bond0\n" },
		    { "etc/network/more/b", "iface bond0 inet dhcp\n bond-mode 2\n" },
		    { "etc/network/interfaces.d/not",
		      "iface eth2 inet manual\n bond-master b\n" } },
		  "ifupdown eth1||||->bond0 2 /etc/network/interfaces.d/a.cfg:2" },
		{ "ifupdown, a file that includes itself",
		  { { "etc/network/interfaces",
		      "source /etc/network/interfaces\niface eth1 inet manual\n" } },
		  "" },
		{ "a line without a value",
		  { { NETWORKD "10-a.network", "[Match\nName\n=\n[]\n[Match]\nName=eth1\n" BOND } },
		  "networkd eth1||||->bond0 -1 /etc/systemd/network/10-a.network:8" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		char text[1024];

		root_open(&root);
		look(&root, rows[i].files, ELEMENTSOF(rows[i].files), text, sizeof(text));
		if (!streq(text, rows[i].expected))
			fail_msg("%s:\n%s\n%s", rows[i].name, text, rows[i].expected);
	}
}

static void a_link_to_dev_null_hides_a_file(_unused_ void **state)
{
	static const struct file files[] = { { "usr/lib/systemd/network/10-a.network",
					       MATCH BOND } };
	_cleanup_(root_done) struct root root = {};
	char path[PATH_MAX], text[256];

	root_open(&root);
	put(&root, NETWORKD "other.link", "");
	snprintf(path, sizeof(path), "%s/" NETWORKD "10-a.network", root.path);
	assert_int_equal(symlink("/dev/null", path), 0);
	look(&root, files, ELEMENTSOF(files), text, sizeof(text));
	assert_string_equal(text, "");
}

static void nothing_is_read_where_nobody_could_have_vfs(_unused_ void **state)
{
	struct pci pci = { .address = "0000:17:00.0", .driver = "mlx5_core" };
	struct node node = { .pcis = &pci, .n_pcis = 1 };
	_cleanup_(root_done) struct root root = {};

	root_open(&root);
	put(&root, NETWORKD "10-a.network", MATCH BOND);
	assert_int_equal(observe_netconfig(&root.fs, &node), 0);
	assert_int_equal(node.n_enslaves, 0);
}

struct record {
	char text[512];
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	struct record *rec = userdata;

	if (kind == RECORD_FILE && strstr(path, "wifi") && size < sizeof(rec->text)) {
		memcpy(rec->text, data, size);
		rec->text[size] = '\0';
	}
}

static void a_capture_has_no_secrets_and_the_same_lines(_unused_ void **state)
{
	static const struct file files[] = {
		{ KEYFILES "wifi.nmconnection",
		  "[connection]\nid=home\ntype=wifi\n\n[wifi-security]\npsk=sesame\n" }
	};
	_cleanup_(root_done) struct root root = {};
	struct record rec = {};
	char text[256];

	root_open(&root);
	root.fs.on_read = on_read;
	root.fs.userdata = &rec;
	look(&root, files, ELEMENTSOF(files), text, sizeof(text));
	assert_string_equal(rec.text, "[connection]\nid=home\ntype=wifi\n\n[wifi-security]\n\n");
}

static void networkd_takes_away_what_is_not_its_own_unless_told(_unused_ void **state)
{
	static const char no[] = "[Network]\nManageForeignRoutes=no\n"
				 "ManageForeignRoutingPolicyRules = off\n";
	static const struct {
		const char *path[3], *text[3];
		bool expected;
	} rows[] = {
		{ { "run/systemd/netif/state" }, { "" }, true },
		{ { "etc/systemd/networkd.conf.d/a.conf" },
		  { "[Network]\n" },
		  false }, /* not run */
		{ { "run/systemd/netif/state", "etc/systemd/networkd.conf" }, { "", no }, false },
		{ { "run/systemd/netif/state", "usr/lib/systemd/networkd.conf.d/a.conf" },
		  { "", no },
		  false },
		{ { "run/systemd/netif/state", "etc/systemd/networkd.conf" },
		  { "", "[Network]\nManageForeignRoutes=no\n" },
		  true }, /* rules */
		{ { "run/systemd/netif/state", "etc/systemd/networkd.conf.d/a.conf",
		    "usr/lib/systemd/networkd.conf.d/b.conf" },
		  { "", no, "[Network]\nManageForeignRoutes=yes\n" },
		  true }, /* by name */
		{ { "run/systemd/netif/state", "etc/systemd/networkd.conf.d/a.conf",
		    "usr/lib/systemd/networkd.conf.d/a.conf" },
		  { "", no, "[Network]\nManageForeignRoutes=yes\n" },
		  false }, /* hidden */
		{ { "run/systemd/netif/state", "etc/systemd/networkd.conf",
		    "usr/lib/systemd/networkd.conf" },
		  { "", no, "[Network]\nManageForeignRoutes=yes\n" },
		  false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(root_done) struct root root = {};
		struct node node = {};

		root_open(&root);
		for (size_t k = 0; k < 3 && rows[i].path[k]; k++)
			put(&root, rows[i].path[k], rows[i].text[k]);
		assert_int_equal(observe_networkd(&root.fs, &node), 0);
		assert_int_equal(node.is_networkd_foreign, rows[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_tell_which_netdevs_go_into_which_bond),
		cmocka_unit_test(a_link_to_dev_null_hides_a_file),
		cmocka_unit_test(nothing_is_read_where_nobody_could_have_vfs),
		cmocka_unit_test(a_capture_has_no_secrets_and_the_same_lines),
		cmocka_unit_test(networkd_takes_away_what_is_not_its_own_unless_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
