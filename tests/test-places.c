/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: what the node must reach, as its files tell it, and by which netdev. Each case of files
 * is a folder, looked at twice: as it is, and as a capture of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>

#include "../src/guard/places-observe.h"
#include "../src/model/ip.h"
#include "../src/model/route-facts.h"
#include "../src/os/link.h"
#include "../src/os/route.h"
#include "../src/step/observers.h"

#include "netns.h"
#include "skip.h"
#include "tree.h"

struct file {
	const char *path, *text; /* a text that begins with ">" is the target of a link */
};

struct row {
	const char *name;
	struct file files[8];
	const char *servers[3], *own_name, *root_dir, *pod_folder;
	const char *expected;
	bool is_answer; /* of the kernel, which a capture has beside its files */
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	const struct tree *t = userdata;
	char full[512];

	if (kind == RECORD_LINK) {
		tree_link(t, path, data);
		return;
	}
	tree_path(t, path, full, sizeof(full));
	if (kind == RECORD_FOLDER)
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
	else
		tree_bytes(t, path, data ? data : "", size);
}

static void put(const struct tree *t, const struct file *files, size_t n)
{
	for (size_t i = 0; i < n && files[i].path; i++)
		if (*files[i].text == '>')
			tree_link(t, files[i].path, files[i].text + 1);
		else
			tree_file(t, files[i].path, files[i].text);
}

/* "storage 10.0.0.9 over RDMA (nfs server of /...)"; a netdev that a file names: "storage eth1
 * (...)"; one whose address nothing tells: "storage ? (...)". */
static void describe(const struct node *n, char *ret, size_t size)
{
	static const char *const names[_TO_N] = { [TO_API_SERVER] = "api",
						  [TO_NAME_SERVER] = "dns",
						  [TO_STORAGE] = "storage",
						  [TO_MOUNT] = "mount",
						  [TO_BEFORE] = "before" };

	*ret = '\0';
	for (size_t i = 0; i < n->n_destinations; i++) {
		const struct destination *d = &n->destinations[i];
		const size_t len = strlen(ret);
		char text[64] = "?";

		if (d->lookup.result == -EDESTADDRREQ) {
			assert_int_equal(d->lookup.family, AF_UNSPEC);
			assert_int_equal(d->lookup.n_hops, 0);
		} else if (d->lookup.family != AF_UNSPEC) {
			assert_int_equal(d->lookup.result, -ENODATA);
			ip_format(d->lookup.family, d->lookup.dst, UINT32_MAX, text, sizeof(text));
		} else if (*d->pci) {
			assert_int_equal(d->lookup.result, 0);
			COPY(text, d->pci);
		} else {
			assert_int_equal(d->lookup.result, 0);
			assert_int_equal(d->lookup.n_hops, 1);
			assert_int_equal(d->lookup.hops[0], d->lookup.found);
			COPY(text, node_netdev(n, d->lookup.found)->name);
		}
		snprintf(ret + len, size - len, "%s%s %s%s (%s)", len ? "; " : "", names[d->to],
			 text, d->is_rdma ? " over RDMA" : "", d->words);
	}
}

#define MAC "b8:ce:f6:17:00:00"

static void look(const struct fs *fs, const struct row *row, struct node *ret)
{
	struct netdev netdevs[] = {
		{ .ifindex = 2, .name = "eth1", .perm_mac = MAC, .altnames = "enp1s0 ens1" },
		{ .ifindex = 3, .name = "eth2", .mac = "b8:ce:f6:17:00:01", .pci = "0000:81:00.0" },
	};
	struct pci pcis[] = { { .address = "0000:81:00.0", .class = 0x020700 },
			      { .address = "0000:82:00.0", .class = 0x010802 } };
	struct address address = { .ifindex = 3, .family = AF_INET, .local = { 10, 50, 0, 2 } };

	*ret = (struct node){};
	for (size_t i = 0; i < ELEMENTSOF(netdevs); i++)
		*(struct netdev *)APPEND(ret->netdevs, ret->n_netdevs) = netdevs[i];
	*(struct address *)APPEND(ret->addresses, ret->n_addresses) = address;
	for (size_t i = 0; i < ELEMENTSOF(pcis); i++)
		*(struct pci *)APPEND(ret->pcis, ret->n_pcis) = pcis[i];
	for (size_t i = 0; i < ELEMENTSOF(row->servers) && row->servers[i]; i++) {
		COPY(ret->kubelet.servers[i].host, row->servers[i]);
		COPY(ret->kubelet.servers[i].path, "/k");
		ret->kubelet.n_servers++;
	}
	COPY(ret->kubelet.host_name, row->own_name ? row->own_name : "");
	COPY(ret->kubelet.root_dir, row->root_dir ? row->root_dir : "");
	COPY(ret->kubelet.pod_folder, row->pod_folder ? row->pod_folder : "");
	observe_places(fs, ret, &(struct memory){});
}

/* The same of the folder and of a capture of it, which has nothing with "s3cret". */
static void assert_rows(const struct row *rows, size_t n_rows,
			void (*tell)(const struct node *n, char *ret, size_t size))
{
	for (size_t i = 0; i < n_rows; i++) {
		struct tree t, copy_of;
		char said[1024], again[1024], command[128];

		print_message("    %s\n", rows[i].name);
		tree_make(&t);
		tree_make(&copy_of);
		put(&t, rows[i].files, ELEMENTSOF(rows[i].files));
		t.fs.on_read = on_read;
		t.fs.userdata = &copy_of;
		for (int k = 0; k < 2; k++) {
			_cleanup_(node_done) struct node n = {};

			look(k == 0 ? &t.fs : &copy_of.fs, &rows[i], &n);
			tell(&n, k == 0 ? said : again, sizeof(said));
		}
		assert_string_equal(said, rows[i].expected);
		assert_string_equal(again, rows[i].is_answer ? "" : rows[i].expected);
		snprintf(command, sizeof(command), "grep -rqF s3cret %s", copy_of.root);
		assert_int_not_equal(system(command), 0);
		tree_remove(&t);
		tree_remove(&copy_of);
	}
}

static void api_servers_are_destinations(_unused_ void **state)
{
	static const struct row rows[] = {
		{ "none", .expected = "" },
		{ "addresses", .servers = { "10.0.0.1", "fd00::1" },
		  .expected = "api 10.0.0.1 (API server, /k); api fd00::1 (API server, /k)" },
		{ "a proxy on the node leads nowhere",
		  .servers = { "127.0.0.1", "::1", "localhost" },
		  .files = { { "etc/hosts", "127.0.0.1 localhost\n" } }, .expected = "" },
		{ "a name that only DNS knows", .servers = { "api.example" }, .expected = "" },
		{ "a name, in whatever case and column", .servers = { "API.example" },
		  .files = { { "etc/hosts", "# s3cret\n10.0.0.7 s3cret\n"
					    "10.0.0.1\tx api.EXAMPLE # 10.0.0.2 api.example\n"
					    "fd00::1 api.example\n10.0.0.3 api.example.org\n"
					    "10.0.0.4 api.exampl\nnonsense api.example\n" } },
		  .expected = "api 10.0.0.1 (API server, /k); api fd00::1 (API server, /k)" },
		{ "link-local, the device is named", .servers = { "fe80::1%eth1", "fe80::2" },
		  .expected = "api eth1 (API server, /k)" },
	};

	assert_rows(rows, ELEMENTSOF(rows), describe);
}

#define RESOLVED "run/systemd/resolve/resolv.conf"
#define NM       "run/NetworkManager/no-stub-resolv.conf"

static void name_servers_are_destinations(_unused_ void **state)
{
	static const struct row rows[] = {
		{ "plain",
		  { { "etc/resolv.conf",
		      "search s3cret\nnameserver 10.0.0.53\n nameserver fd00::53 x\n"
		      "#nameserver 10.0.0.54\nnameservers 10.0.0.55\nnameserver\n" },
		    { RESOLVED, "nameserver 10.9.9.9\n" } },
		  .expected = "dns 10.0.0.53 (name server, /etc/resolv.conf); "
			      "dns fd00::53 (name server, /etc/resolv.conf)" },
		{ "a stub of resolved",
		  { { "etc/resolv.conf", ">../run/systemd/resolve/stub-resolv.conf" },
		    { "run/systemd/resolve/stub-resolv.conf", "nameserver 127.0.0.53\n" },
		    { RESOLVED, "nameserver 10.0.0.53\nnameserver fe80::1%eth1\n" } },
		  .expected = "dns 10.0.0.53 (name server, /" RESOLVED ")" },
		{ "a stub of NetworkManager's dnsmasq, twice the same",
		  { { "etc/resolv.conf", "nameserver 127.0.0.1\n" },
		    { NM, "nameserver 10.0.0.53\nnameserver 10.0.0.53\n" } },
		  .expected = "dns 10.0.0.53 (name server, /" NM ")" },
		{ "a stub with nothing behind it",
		  { { "etc/resolv.conf", "nameserver ::1\n" } },
		  .expected = "" },
	};

	assert_rows(rows, ELEMENTSOF(rows), describe);
}

#define MOUNTS "proc/self/mountinfo"
#define NFS(at)                                                                                    \
	"1 1 0:50 / " at " rw - nfs4 10.0.0.9:/x rw,vers=4.2,clientaddr=10.0.0.2,addr=10.0.0.9\n"
#define ON_DATA "storage 10.0.0.9 (nfs4 server of /data, /" MOUNTS ")"
#define SDA     "sys/devices/platform/host2/session1/target2:0:0/2:0:0:0/block/sda"
#define ISCSI                                                                                      \
	{ "sys/dev/block/8:1", ">../../devices/platform/host2/session1/target2:0:0/2:0:0:0/block/" \
			       "sda/sda1" },                                                       \
		{ SDA "/sda1/partition", "1\n" },                                                  \
		{ "sys/class/iscsi_connection/connection1:0/address", "10.0.0.3\n" }
#define ON_ISCSI "storage 10.0.0.3 (iSCSI session 1, /sys/class/iscsi_connection)"
#define NVME     "sys/devices/virtual/nvme-subsystem/nvme-subsys0"
#define LOCAL    "sys/devices/pci0000:80/0000:80:02.0/0000:82:00.0/nvme/nvme0/nvme0n1"
#define NBD                                                                                        \
	{ "sys/dev/block/43:0", ">../../devices/virtual/block/nbd0" },                             \
		{ "sys/devices/virtual/block/nbd0/pid", "77\n" }
#define UNNAMED(what, at) "storage ? (" what " server of " at ", /" MOUNTS ")"
#define SRP               "sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0/host5/block/sda"

static void what_file_systems_come_from_is_a_destination(_unused_ void **state)
{
	static const struct row rows[] = {
		{ "a disk",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" } },
		  .expected = "" },
		{ "NFS root",
		  { { MOUNTS, "21 1 0:20 / / rw,relatime - nfs 10.20.0.9:/srv/n "
			      "rw,vers=3,addr=10.20.0.9\n" } },
		  .expected = "storage 10.20.0.9 (nfs server of /, /" MOUNTS ")" },
		{ "NFS of the kubelet's folder, through a link",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" NFS("/big\\040one") },
		    { "big one/kubelet/x", "" },
		    { "var/lib/kubelet", ">../../big one/kubelet" } },
		  .expected = "storage 10.0.0.9 (nfs4 server of /big one, /" MOUNTS ")" },
		{ "the same, and what the link leads to is not there",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" NFS("/data") },
		    { "var/lib/kubelet", ">/data/a/kubelet" } },
		  .expected = ON_DATA },
		{ "NFS of the folder of --root-dir",
		  { { MOUNTS, NFS("/data") } },
		  .root_dir = "/data/kubelet",
		  .expected = "storage 10.0.0.9 (nfs4 server of /data, /" MOUNTS ")" },
		{ "NFS of the folder of k3s, which has that of its pods",
		  { { MOUNTS, NFS("/data") } },
		  .pod_folder = "/data/k3s/agent/pod-manifests",
		  .expected = ON_DATA },
		{ "NFS of the folder of Docker",
		  { { MOUNTS, NFS("/data") },
		    { "etc/docker/daemon.json",
		      "{\"log\": \"s3cret\", \"data-root\": \"/data/d\"}" } },
		  .expected = ON_DATA },
		{ "NFS of the folder of CRI-O",
		  { { MOUNTS, NFS("/data") },
		    { "etc/crio/crio.conf", "[crio]\n# root = \"/x\"\nroot = \"/data/crio\"\n" } },
		  .expected = ON_DATA },
		{ "one of a comment, or with another name",
		  { { MOUNTS, NFS("/data") },
		    { "etc/crio/crio.conf",
		      "# root = \"/data/crio\"\nroot_x = \"/data/crio\"\n" } },
		  .is_answer = true,
		  .expected = "mount 10.0.0.9 (nfs4 server, /" MOUNTS ")" },
		{ "NFS of the folder of CRI-O, by a drop-in",
		  { { MOUNTS, NFS("/data") },
		    { "etc/crio/crio.conf.d/00-a.conf", "[crio]\nlog_dir = \"/s3cret\"\n" },
		    { "etc/crio/crio.conf.d/10-root.conf", "[crio]\nroot = \"/data/crio\"\n" } },
		  .expected = ON_DATA },
		{ "NFS of the folder of containerd, by a drop-in",
		  { { MOUNTS, NFS("/data") },
		    { "etc/containerd/conf.d/10-root.toml", "root = \"/data/containerd\"\n" } },
		  .expected = ON_DATA },
		{ "NFS of the images",
		  { { MOUNTS, NFS("/data") },
		    { "etc/containers/storage.conf",
		      "[storage]\nrunroot = \"/run\"\ngraphroot = \"/data/images\"\n" } },
		  .expected = ON_DATA },
		{ "without mounts, all sessions there are",
		  { { "sys/class/iscsi_connection/connection7:0/address", "10.0.0.3\n" } },
		  .expected = "storage 10.0.0.3 (an iSCSI session, /sys/class/iscsi_connection)" },
		{ "NFS of nothing that the node lives on",
		  { { MOUNTS, NFS("/data") NFS("/var/lib/kubelet/pods/x") NFS("/usr/local") } },
		  .is_answer = true,
		  .expected = "mount 10.0.0.9 (nfs4 server, /" MOUNTS ")" },
		{ "mounts of one server, of which one is over RDMA",
		  { { MOUNTS, NFS("/a") "1 1 0:51 / /b rw - nfs4 10.0.0.9:/y "
					"rw,proto=rdma,port=20049,addr=10.0.0.9\n" } },
		  .is_answer = true,
		  .expected = "mount 10.0.0.9 over RDMA (nfs4 server, /" MOUNTS ")" },
		{ "SMB over RDMA",
		  { { MOUNTS, "1 1 0:9 / / rw - cifs //10.0.0.8/x rw,rdma,addr=10.0.0.8\n" } },
		  .expected = "storage 10.0.0.8 over RDMA (cifs server of /, /" MOUNTS ")" },
		{ "mounts that lie on each other",
		  { { MOUNTS, NFS("/var") "1 1 8:2 / /var rw - ext4 /dev/sda2 rw\n" } },
		  .is_answer = true,
		  .expected = "mount 10.0.0.9 (nfs4 server, /" MOUNTS ")" },
		{ "mounts of pods, of which some have no server",
		  { { MOUNTS, "1 1 0:4 / /pods/a rw - tmpfs tmpfs rw\n"
			      "1 1 0:5 / /pods/b rw - cifs //files/x rw\n"
			      "1 1 8:2 / /pods/c rw - ext4 /dev/sda2 rw\n"
			      "1 1 2893:512 / /pods/d rw - lustre 10.0.0.4@o2ib:/fs rw\n" },
		    { "etc/hosts", "10.0.0.6 files\n10.0.0.7 tmpfs\n" } },
		  .is_answer = true,
		  .expected = "mount 10.0.0.6 (cifs server, /" MOUNTS "); "
			      "mount 10.0.0.4 (lustre server, /" MOUNTS ")" },
		{ "a peer by name, and of IPv6",
		  { { MOUNTS,
		      "1 1 0:9 / / rw - ceph 10.0.0.1:6789,[fd00::1]:6789:/a rw,name=s3cret\n"
		      "1 1 0:9 / /var rw - fuse.glusterfs g1,g2:/v rw\n"
		      "1 1 0:9 / /usr rw - cifs //s3cret@10.0.0.8/x rw,addr=fe80::1%eth1\n" },
		    { "etc/hosts", "10.0.0.6 g2\n" } },
		  .expected = "storage 10.0.0.1 (ceph server of /, /" MOUNTS "); "
			      "storage fd00::1 (ceph server of /, /" MOUNTS "); "
			      "storage eth1 (cifs server of /usr, /" MOUNTS "); "
			      "storage 10.0.0.6 (fuse.glusterfs server of /var, /" MOUNTS ")" },
		{ "Lustre, with the network of each server",
		  { { MOUNTS, "1 1 0:9 / /var rw - lustre "
			      "10.0.0.1@o2ib,10.0.0.2@tcp1:10.0.0.3@o2ib:/fs rw\n" } },
		  .expected = "storage 10.0.0.1 (lustre server of /var, /" MOUNTS "); "
			      "storage 10.0.0.2 (lustre server of /var, /" MOUNTS ")" },
		{ "servers in the source of any file system; Lustre has a number",
		  { { MOUNTS, "1 1 0:9 / / rw - 9p 10.0.0.1 rw,trans=rdma\n"
			      "1 1 0:9 / /var rw - wekafs 10.0.0.2,10.0.0.3/default rw\n"
			      "1 1 2893:512 / /usr rw - lustre 10.0.0.4@o2ib:/fs rw\n" } },
		  .expected = "storage 10.0.0.1 over RDMA (9p server of /, /" MOUNTS "); "
			      "storage 10.0.0.4 (lustre server of /usr, /" MOUNTS "); "
			      "storage 10.0.0.2 (wekafs server of /var, /" MOUNTS "); "
			      "storage 10.0.0.3 (wekafs server of /var, /" MOUNTS ")" },
		{ "a disk by SRP",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" },
		    { "sys/dev/block/8:1", ">../../../" SRP "/sda1" },
		    { SRP "/sda1/partition", "1\n" } },
		  .expected = "storage 0000:81:00.0 (a disk is below it, /sys/class/block)" },
		{ "a disk of the node itself",
		  { { MOUNTS, "1 1 259:1 / / rw - ext4 /dev/nvme0n1p1 rw\n" },
		    { "sys/dev/block/259:1", ">../../../" LOCAL "/nvme0n1p1" },
		    { LOCAL "/nvme0n1p1/partition", "1\n" } },
		  .expected = "" },
		{ "RBD",
		  { { MOUNTS, "1 1 251:0 / / rw - ext4 /dev/rbd0 rw\n" },
		    { "sys/dev/block/251:0", ">../../devices/virtual/block/rbd0" },
		    { "sys/devices/virtual/block/rbd0/size", "1\n" },
		    { "sys/bus/rbd/devices/0/client_addr", "10.50.0.2:0/2912\n" } },
		  .expected = "storage eth2 (a client of Ceph has its address, /sys/bus/rbd)" },
		{ "iSCSI, a partition",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" }, ISCSI },
		  .expected = ON_ISCSI },
		{ "iSCSI, a whole disk",
		  { { MOUNTS, "1 1 8:0 / / rw - ext4 /dev/sda rw\n" },
		    { "sys/dev/block/8:0", ">/" SDA },
		    { SDA "/x", "" },
		    { "sys/class/iscsi_connection/connection1:0/persistent_address", "10.0.0.3\n" },
		    { "sys/class/iscsi_connection/connection10:0/address", "10.0.0.4\n" } },
		  .expected = ON_ISCSI },
		{ "iSCSI, bound to a device",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" },
		    ISCSI,
		    { "sys/class/iscsi_host/host2/netdev", "eth2\n" } },
		  .expected = ON_ISCSI "; storage eth2 (iSCSI session 1 names eth2, "
				       "/sys/class/iscsi_host)" },
		{ "iSCSI, from an address",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" },
		    ISCSI,
		    { "sys/class/iscsi_host/host2/ipaddress", "10.50.0.2\n" },
		    { "sys/class/iscsi_host/host2/netdev", "<NULL>\n" } },
		  .expected = ON_ISCSI "; storage eth2 (iSCSI session 1 has its address, "
				       "/sys/class/iscsi_host)" },
		{ "iSCSI, below dm",
		  { { MOUNTS, "1 1 253:0 / / rw - xfs /dev/mapper/a rw\n" },
		    ISCSI,
		    { "sys/dev/block/253:0", ">../../devices/virtual/block/dm-0" },
		    { "sys/devices/virtual/block/dm-0/slaves/sda1", ">/" SDA "/sda1" } },
		  .expected = ON_ISCSI },
		{ "iSCSI, below the file of a loop device",
		  { { MOUNTS, "1 1 7:0 / / rw - squashfs /dev/loop0 ro\n"
			      "1 1 8:1 / /run/live rw - ext4 /dev/sda1 rw\n" },
		    ISCSI,
		    { "sys/dev/block/7:0", ">../../devices/virtual/block/loop0" },
		    { "sys/devices/virtual/block/loop0/loop/backing_file",
		      "/run/live/root.img\n" } },
		  .expected = ON_ISCSI },
		{ "an overlay, whose layer is NFS",
		  { { MOUNTS, "1 1 0:30 / / rw - overlay o ro,lowerdir=/a:/ro/x,upperdir=/up\n" NFS(
				      "/ro") } },
		  .expected = "storage 10.0.0.9 (nfs4 server of /ro, /" MOUNTS ")" },
		{ "the last container's root file system, which is in the folder of the runtime",
		  { { MOUNTS, "1 1 0:30 / /run/a/rootfs rw - overlay o rw,upperdir=/run/x\n"
			      "1 1 8:1 / /data rw - ext4 /dev/sda1 rw\n"
			      "1 1 0:31 / /run/c/rootfs rw - overlay o "
			      "rw,lowerdir=1/fs,upperdir=/data/containerd/2/fs\n"
			      "1 1 0:4 / /run/c/shm rw - tmpfs shm rw\n"
			      "1 1 0:32 / /usr rw - overlay sysext ro,lowerdir=/run/ext\n" },
		    ISCSI },
		  .expected = ON_ISCSI },
		{ "the folder of containerd, before the first container",
		  { { MOUNTS, "1 1 8:1 / /data rw - ext4 /dev/sda1 rw\n" },
		    ISCSI,
		    { "etc/containerd/config.toml",
		      "version = 2\nrootless = '/x'\n  root= '/data/containerd'\n[grpc]\n" } },
		  .expected = ON_ISCSI },
		{ "a root in a table is another one",
		  { { MOUNTS, "1 1 8:1 / /data rw - ext4 /dev/sda1 rw\n" },
		    ISCSI,
		    { "etc/containerd/config.toml",
		      "[plugins.x]\nroot = \"/data/containerd\"\n" } },
		  .expected = "" },
		{ "a btrfs has no number of its own",
		  { { MOUNTS, "1 1 0:35 /@ / rw - btrfs /dev/sda1 rw\n" },
		    ISCSI,
		    { "dev/sda1", "" },
		    { "sys/class/block/sda1", ">/" SDA "/sda1" } },
		  .expected = ON_ISCSI },
		{ "a ring of devices",
		  { { MOUNTS, "1 1 253:0 / / rw - xfs /dev/mapper/a rw\n" },
		    { "sys/dev/block/253:0", ">../../devices/virtual/block/dm-0" },
		    { "sys/devices/virtual/block/dm-0/slaves/dm-0", ">.." } },
		  .expected = "" },
		{ "NVMe, two paths of one subsystem",
		  { { MOUNTS, "1 1 259:0 / / rw - xfs /dev/nvme0n1 rw\n" },
		    { "sys/dev/block/259:0",
		      ">../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1" },
		    { NVME "/nvme0n1/size", "1\n" },
		    { NVME "/nvme0/transport", "tcp\n" },
		    { NVME "/nvme0/address", "traddr=10.0.0.4,trsvcid=4420,host_iface=eth1\n" },
		    { NVME "/nvme1/transport", "rdma\n" },
		    { NVME "/nvme1/address", "traddr=fd00::4,trsvcid=4420\n" } },
		  .expected = "storage 10.0.0.4 (NVMe target, /" NVME "/nvme0); storage eth1 "
			      "(host_iface names eth1, /" NVME "/nvme0); "
			      "storage fd00::4 over RDMA (NVMe target, /" NVME "/nvme1)" },
		{ "NVMe, from an address that was asked for, or that its socket has",
		  { { MOUNTS, "1 1 259:0 / / rw - xfs /dev/nvme0n1 rw\n" },
		    { "sys/dev/block/259:0",
		      ">../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1" },
		    { NVME "/nvme0n1/size", "1\n" },
		    { NVME "/nvme0/transport", "rdma\n" },
		    { NVME "/nvme0/address", "traddr=10.0.0.4,host_traddr=10.50.0.2\n" },
		    { NVME "/nvme1/transport", "tcp\n" },
		    { NVME "/nvme1/address", "traddr=10.0.0.4,src_addr=10.50.0.2\n" } },
		  .expected =
			  "storage 10.0.0.4 over RDMA (NVMe target, /" NVME "/nvme0); "
			  "storage eth2 over RDMA (an NVMe controller has its address, /" NVME
			  "/nvme0); "
			  "storage eth2 (an NVMe controller has its address, /" NVME "/nvme1)" },
		{ "NVMe by its controller, a partition, and PCI",
		  { { MOUNTS, "1 1 259:0 / / rw - xfs /dev/nvme0n1 rw\n"
			      "1 1 259:1 / /var rw - xfs /dev/nvme1n1 rw\n" },
		    { "sys/dev/block/259:0", ">../../devices/ctl/nvme0/nvme0n1/nvme0n1p1" },
		    { "sys/devices/ctl/nvme0/nvme0n1/nvme0n1p1/partition", "1\n" },
		    { "sys/devices/ctl/nvme0/transport", "tcp\n" },
		    { "sys/devices/ctl/nvme0/address", "trsvcid=4420,traddr=10.0.0.4\n" },
		    { "sys/dev/block/259:1", ">../../devices/ctl/nvme1/nvme1n1" },
		    { "sys/devices/ctl/nvme1/transport", "pcie\n" },
		    { "sys/devices/ctl/nvme1/address", "traddr=10.0.0.5\n" } },
		  .expected = "storage 10.0.0.4 (NVMe target, /sys/devices/ctl/nvme0)" },
		{ "nbd",
		  { { MOUNTS, "1 1 43:0 / / rw - xfs /dev/nbd0 rw\n" },
		    { "sys/dev/block/43:0", ">../../devices/virtual/block/nbd0" },
		    { "sys/devices/virtual/block/nbd0/pid", "77\n" },
		    { "proc/77/cmdline", "10.0.0.8" } },
		  .expected = "storage 10.0.0.8 (nbd server, nbd0)" },
		{ "a disk of which sysfs says nothing, or ZFS: all that there are",
		  { { MOUNTS,
		      "1 1 8:0 / / rw - ext4 /dev/sda rw\n1 1 0:40 / /var rw - zfs a/b rw\n" },
		    { "sys/class/iscsi_connection/connection7:0/address", "10.0.0.3\n" },
		    { "sys/class/nvme/nvme0/transport", "tcp\n" },
		    { "sys/class/nvme/nvme0/address", "traddr=10.0.0.4\n" } },
		  .expected = "storage 10.0.0.3 (an iSCSI session, /sys/class/iscsi_connection); "
			      "storage 10.0.0.4 (NVMe target, /sys/class/nvme/nvme0)" },
		{ "a tmpfs beside a session",
		  { { MOUNTS, "1 1 0:41 / / rw - tmpfs none rw\n" },
		    { "sys/class/iscsi_connection/connection7:0/address", "10.0.0.3\n" } },
		  .expected = "" },
		{ "monitors of ceph",
		  { { MOUNTS, "1 1 0:42 / / rw - ceph u@f.a=/ "
			      "rw,mon_addr=10.0.0.1:6789/[fd00::1]:6789\n" } },
		  .expected = "storage 10.0.0.1 (ceph server of /, /" MOUNTS "); "
			      "storage fd00::1 (ceph server of /, /" MOUNTS ")" },
		{ "servers that nothing names",
		  { { MOUNTS, "1 1 0:43 / /var/lib/kubelet rw - beegfs beegfs_nodev rw\n"
			      "1 1 0:44 / /var/lib/containerd rw - gpfs /dev/gpfs0 rw\n" },
		    { "dev/gpfs0", "" } },
		  .expected = UNNAMED("beegfs", "/var/lib/kubelet") },
		{ "the same of other mounts",
		  { { MOUNTS, "1 1 0:43 / /a rw - gpfs fs1 rw\n"
			      "1 1 0:44 / /b rw - nfs4 other:/x rw\n" } },
		  .is_answer = true,
		  .expected = "mount ? (gpfs server, /" MOUNTS ")" },
		{ "a server of several that has an address",
		  { { MOUNTS, "1 1 0:43 / / rw - lustre a@tcp,10.0.0.4@tcp:/fs rw\n" } },
		  .expected = "storage 10.0.0.4 (lustre server of /, /" MOUNTS ")" },
		{ "nbd without its client",
		  { { MOUNTS, "1 1 43:0 / / rw - xfs /dev/nbd0 rw\n" }, NBD },
		  .expected = UNNAMED("nbd0", "/") },
		{ "nbd without its client, and the command line names the server",
		  { { MOUNTS, "1 1 43:0 / / rw - xfs /dev/nbd0 rw\n" },
		    NBD,
		    { "proc/cmdline", "netroot=nbd:10.0.0.8:2000\n" } },
		  .expected = "storage 10.0.0.8 (netroot=, kernel command line)" },
		{ "DRBD below LVM",
		  { { MOUNTS, "1 1 252:0 / /var rw - xfs /dev/mapper/vg rw\n" },
		    { "sys/dev/block/252:0", ">../../devices/virtual/block/dm-0" },
		    { "sys/devices/virtual/block/dm-0/slaves/drbd1", ">../../drbd1" },
		    { "sys/devices/virtual/block/drbd1/slaves/sda", ">../../../../local/sda" },
		    { "sys/devices/local/sda/size", "1\n" } },
		  .expected = UNNAMED("drbd1", "/var") },
		{ "iSCSI without a connection",
		  { { MOUNTS, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" },
		    { "sys/dev/block/8:1", ">../../../" SDA "/sda1" },
		    { SDA "/sda1/partition", "1\n" } },
		  .expected = UNNAMED("sda", "/") },
		{ "RBD from an address that is not here",
		  { { MOUNTS, "1 1 251:0 / / rw - ext4 /dev/rbd0 rw\n" },
		    { "sys/dev/block/251:0", ">../../devices/virtual/block/rbd0" },
		    { "sys/devices/virtual/block/rbd0/size", "1\n" },
		    { "sys/bus/rbd/devices/0/client_addr", "10.50.0.3:0/2912\n" } },
		  .expected = UNNAMED("rbd0", "/") },
		{ "file systems and disks of this host, and of its hypervisor",
		  { { MOUNTS, "1 1 0:20 / / rw - overlay overlay rw,lowerdir=/l\n"
			      "1 1 0:21 / /l rw - squashfs /dev/loop0 rw\n"
			      "1 1 0:22 / /var rw - virtiofs data rw\n"
			      "1 1 0:23 / /var/lib rw - btrfs /dev/vda2 rw\n"
			      "1 1 0:24 / /var/lib/kubelet rw - 9p share rw,trans=virtio\n"
			      "1 1 0:25 / /var/lib/containerd rw - fuse.mergerfs /a:/b rw\n"
			      "1 1 252:0 / /var/lib/docker rw - xfs /dev/mapper/vg rw\n"
			      "1 1 0:26 / /var/lib/rancher rw - zfs tank/r rw\n"
			      "1 1 0:27 / /var/lib/k0s rw - ecryptfs /home/.x rw\n"
			      "1 1 0:28 / /var/lib/containers rw - fuse.fuse-overlayfs "
			      "fuse-overlayfs rw\n"
			      "1 1 0:29 / /a rw - fuse.lxcfs lxcfs rw\n"
			      "1 1 0:30 / /b rw - autofs /etc/auto.nfs rw\n"
			      "1 1 0:31 / /c rw - nfsd nfsd rw\n"
			      "1 1 0:32 / /d rw - rpc_pipefs sunrpc rw\n" },
		    { "sys/dev/block/252:0", ">../../devices/virtual/block/dm-0" },
		    { "sys/devices/virtual/block/dm-0/slaves/sda", ">../../../../local/sda" },
		    { "sys/devices/local/sda/size", "1\n" } },
		  .expected = "" },
		{ "lines of another kind",
		  { { MOUNTS, "\n1 2 3\n- - - - - - - - -\n1 1 x / / rw - nfs\n" } },
		  .expected = "" },
	};

	assert_rows(rows, ELEMENTSOF(rows), describe);
}

#define CMDLINE(text, what)                                                                        \
	{ text, { { "proc/cmdline", "quiet " text " rw\n" } }, .expected = what }
#define NAMED(key, netdev) "storage " netdev " (" key " names " netdev ", kernel command line)"
#define PEER(key, address) "storage " address " (" key ", kernel command line)"

static void the_command_line_names_servers_and_devices(_unused_ void **state)
{
	static const struct row rows[] = {
		CMDLINE("root=/dev/nfs nfsroot=10.20.0.9:/srv/n,vers=3 "
			"ip=10.20.0.2::10.20.0.1:255.255.255.0:n1:eth1:off",
			PEER("nfsroot=", "10.20.0.9") "; " NAMED("ip=", "eth1")),
		CMDLINE("ip=10.50.0.2:10.50.0.9:::n1:eth1:off",
			PEER("ip=", "10.50.0.9") "; " NAMED("ip=", "eth1")),
		CMDLINE("ip=[fd00::2]:[fd00::9]:[fd00::1]:64:n1:eth1:none",
			PEER("ip=", "fd00::9") "; " NAMED("ip=", "eth1")),
		CMDLINE("ip=:::::eth2:dhcp", NAMED("ip=", "eth2")),
		CMDLINE("ip=eth1:dhcp:9000:b8:ce:f6:17:00:00", NAMED("ip=", "eth1")),
		CMDLINE("ip=enp1s0:dhcp", "storage eth1 (ip= names enp1s0, kernel command line)"),
		CMDLINE("ip=eth7:dhcp", ""),
		CMDLINE("ip=dhcp", ""),
		CMDLINE("ip=10.50.0.2::10.50.0.1:255.255.255.0",
			"storage eth2 (ip= has its address, kernel command line)"),
		CMDLINE("ip=10.50.0.2", "storage eth2 (ip= has its address, kernel command line)"),
		CMDLINE("bootdev=eth2", NAMED("bootdev=", "eth2")),
		CMDLINE("BOOTIF=01-B8-CE-f6-17-00-00", NAMED("BOOTIF=", "eth1")),
		CMDLINE("BOOTIF=01-b8-ce-f6-17-00-01", NAMED("BOOTIF=", "eth2")),
		CMDLINE("nfsroot=/srv/n root=/dev/nfs", ""),
		CMDLINE("root=nfs:10.0.0.9:/srv/n:ro", PEER("root=", "10.0.0.9")),
		CMDLINE("root=nfs4:[fd00::9]:/srv", PEER("root=", "fd00::9")),
		CMDLINE("root=UUID=10.0.0.9 netroot=dhcp", ""),
		CMDLINE("netroot=iscsi:u:s3cret@10.0.0.3::3260::iqn.2020-01.x:y",
			PEER("netroot=", "10.0.0.3")),
		CMDLINE("root=iscsi:@10.0.0.3::3260:1:iqn.2020-01.x:y", PEER("root=", "10.0.0.3")),
		CMDLINE("netroot=nbd:10.0.0.8:2000", PEER("netroot=", "10.0.0.8")),
		CMDLINE("root=cifs://u:s3cret@10.0.0.7/x", PEER("root=", "10.0.0.7")),
		CMDLINE("nbdroot=10.0.0.8,2000", PEER("nbdroot=", "10.0.0.8")),
		CMDLINE("iscsi_target_ip=fd00::3", PEER("iscsi_target_ip=", "fd00::3")),
		CMDLINE("password=s3cret -- ip=eth1:dhcp", ""),
		{ "nfsroot=server:/a by its name",
		  { { "proc/cmdline", "nfsroot=server:/a\n" },
		    { "etc/hosts", "10.0.0.9 server\n" } },
		  .expected = PEER("nfsroot=", "10.0.0.9") },
	};

	assert_rows(rows, ELEMENTSOF(rows), describe);
}

/* "NAME: line name address; ..." */
static void what_the_last_boot_needed_is_a_destination(_unused_ void **state)
{
	struct boot boot = { .has_needs = true,
			     .state = NODE_READY,
			     .needs = { { .of = "10.9.0.1" },
					{ .of = "10.0.0.53" }, /* a file names it as well */
					{ .of = "10.9.0.1" },
					{ .of = "default inet 0" } },
			     .n_needs = 4 };
	struct memory memory = { .boots = &boot, .n_boots = 1 };
	_cleanup_(node_done) struct node n = { .boot_id = "now" };
	struct tree t;
	char said[256];

	tree_make(&t);
	tree_file(&t, "etc/resolv.conf", "nameserver 10.0.0.53\n");
	observe_places(&t.fs, &n, &memory);
	describe(&n, said, sizeof(said));
	tree_remove(&t);
	assert_string_equal(said, "dns 10.0.0.53 (name server, /etc/resolv.conf); "
				  "before 10.9.0.1 (needed in the last boot)");
}

static void describe_hosts(const struct node *n, char *ret, size_t size)
{
	snprintf(ret, size, "%s:", n->host_name);
	for (size_t i = 0; i < n->n_hosts; i++) {
		const size_t len = strlen(ret);
		char text[64];

		ip_format(n->hosts[i].family, n->hosts[i].address, UINT32_MAX, text, sizeof(text));
		snprintf(ret + len, size - len, " %u %s %s", n->hosts[i].line, n->hosts[i].name,
			 text);
	}
}

#define ALIAS   "some-rather-long-alias-of-this-node-which-nobody-asks-for.example "
#define ALIASES ALIAS ALIAS ALIAS ALIAS ALIAS ALIAS ALIAS ALIAS

static void lines_of_the_hosts_file_with_a_name_that_counts_are_kept(_unused_ void **state)
{
	static const struct row rows[] = {
		{ "no name", { { "etc/hosts", "10.0.0.1 localhost\n" } }, .expected = ":" },
		{ "all lines, of both families",
		  { { "etc/hostname", "Node1\n" },
		    { "etc/hosts", "127.0.0.1 localhost\n127.0.1.1 node1\n\n10.0.0.1 x NODE1\n"
				   "fd00::1 node1\n10.0.0.2 node1.example\n" } },
		  .expected = "Node1: 2 node1 127.0.1.1 4 node1 10.0.0.1 5 node1 fd00::1" },
		{ "a line of any length, and a name with a dot at its end",
		  { { "etc/hostname", "a\n" },
		    { "etc/hosts",
		      "10.0.0.1 " ALIASES ALIASES " a\n10.0.0.2 A.\n10.0.0.3 a..\n" } },
		  .expected = "a: 1 a 10.0.0.1 2 a 10.0.0.2" },
		{ "the running kernel's name before the file's",
		  { { "etc/hostname", "a\n" },
		    { "proc/sys/kernel/hostname", "b\n" },
		    { "etc/hosts", "10.0.0.1 a\n10.0.0.2 b" } },
		  .expected = "b: 2 b 10.0.0.2" },
		{ "the kubelet's own name, not the host's",
		  { { "etc/hostname", "a\n" }, { "etc/hosts", "10.0.0.1 a\n10.0.0.2 k8s-a\n" } },
		  .own_name = " K8s-A ",
		  .expected = "a: 2 k8s-a 10.0.0.2" },
		{ "an API server's name, in the order of the file",
		  { { "etc/hostname", "a\n" }, { "etc/hosts", "10.0.0.1 api\n10.0.0.2 a api\n" } },
		  .servers = { "api", "api" },
		  .expected = "a: 1 api 10.0.0.1 2 a 10.0.0.2 2 api 10.0.0.2" },
	};

	assert_rows(rows, ELEMENTSOF(rows), describe_hosts);
}

/* --- by which netdev they are reached --- */

enum {
	ETH0 = 2,
	ETH1,
	VRF,
	WG0,
	GRE0
};

struct nets {
	struct os os;
	struct node node;
	struct netdev netdevs[5];
	struct route routes[8];
	struct tunnel_end ends[4];
};

static struct route *add_route(struct nets *t, const char *dst, uint32_t len, uint32_t table,
			       uint32_t ifindex)
{
	struct route *to = &t->routes[t->node.n_routes++];

	*to = (struct route){
		.prefix_len = len, .table = table, .ifindex = ifindex, .type = RTN_UNICAST
	};
	to->family = netns_parse(dst, to->dst) == 4 ? AF_INET : AF_INET6;
	return to;
}

static void add_end(struct nets *t, uint32_t ifindex, const char *remote, uint32_t mark)
{
	struct tunnel_end *to = &t->ends[t->node.n_tunnel_ends++];

	*to = (struct tunnel_end){ .ifindex = ifindex, .mark = mark };
	to->family = netns_parse(remote, to->remote) == 4 ? AF_INET : AF_INET6;
}

/* eth0 and eth1, a VRF with eth1, and two tunnels. */
static void set_nets(struct nets *t)
{
	static const char *const names[] = { "eth0", "eth1", "mgmt", "wg0", "gre0" };

	*t = (struct nets){};
	for (uint32_t i = 0; i < ELEMENTSOF(names); i++) {
		t->netdevs[i] = (struct netdev){ .ifindex = ETH0 + i, .is_up = true };
		COPY(t->netdevs[i].name, names[i]);
	}
	COPY(t->netdevs[VRF - ETH0].kind, "vrf");
	t->netdevs[VRF - ETH0].vrf_table = 77;
	t->netdevs[ETH1 - ETH0].master = VRF;
	t->node.netdevs = t->netdevs;
	t->node.n_netdevs = ELEMENTSOF(t->netdevs);
	t->node.routes = t->routes;
	t->node.tunnel_ends = t->ends;
}

static void nets_done(struct nets *t)
{
	free(t->node.destinations);
}

/* The nth one to there; NULL: there is none. */
static const struct destination *find(const struct node *n, enum destination_to to, size_t nth)
{
	for (size_t i = 0; i < n->n_destinations; i++)
		if (n->destinations[i].to == to && nth-- == 0)
			return &n->destinations[i];
	return NULL;
}

static void default_destinations_of_both_families_are_asked(_unused_ void **state)
{
	_cleanup_(nets_done) struct nets t;

	set_nets(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(t.node.n_destinations, 4); /* three of them of IPv4 */
	assert_int_equal(find(&t.node, TO_DEFAULT, 0)->lookup.found, ETH0);
	assert_string_equal(find(&t.node, TO_DEFAULT, 0)->words, "default route, 192.0.2.1");
	assert_int_equal(find(&t.node, TO_DEFAULT, 3)->lookup.family, AF_INET6);
	assert_int_equal(find(&t.node, TO_DEFAULT, 3)->lookup.result, -ENETUNREACH);

	/* Once is enough, also when another address stands for all others by now. */
	add_route(&t, "192.0.2.0", 24, RT_TABLE_MAIN, ETH1);
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(t.node.n_destinations, 4);
}

static void a_vrf_with_a_default_route_is_asked(_unused_ void **state)
{
	_cleanup_(nets_done) struct nets t;

	set_nets(&t);
	add_route(&t, "0.0.0.0", 0, 77, ETH1);
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(find(&t.node, TO_VRF, 0)->lookup.found, ETH1);
	assert_int_equal(find(&t.node, TO_VRF, 0)->lookup.ifindex, VRF);
	assert_string_equal(find(&t.node, TO_VRF, 0)->words,
			    "default route of the VRF mgmt, 192.0.2.1");
	assert_null(find(&t.node, TO_VRF, 1)); /* IPv6 has none */
}

/* The tunnel is in use, which its ends tell, and the node does not need it. */
static void the_end_of_a_tunnel_to_another_mount_is_not_asked(_unused_ void **state)
{
	const struct destination mount = {
		.to = TO_MOUNT,
		.lookup = { .family = AF_INET, .dst = { 10, 9, 0, 1 }, .result = -ENODATA },
	};
	_cleanup_(nets_done) struct nets t;

	set_nets(&t);
	*(struct destination *)APPEND(t.node.destinations, t.node.n_destinations) = mount;
	add_route(&t, "10.9.0.0", 16, RT_TABLE_MAIN, WG0);
	add_end(&t, WG0, "198.51.100.7", 0);
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(find(&t.node, TO_MOUNT, 0)->lookup.found, WG0);
	assert_null(find(&t.node, TO_TUNNEL_END, 0));
}

/* As wg-quick has it: what has no mark goes into the tunnel, and its own packets have one. */
static void the_other_end_of_a_tunnel_is_asked_with_its_mark(_unused_ void **state)
{
	struct rule rules[] = {
		{ .family = AF_INET, .preference = 1, .table = RT_TABLE_MAIN, .action = 1 },
		{ .family = AF_INET,
		  .preference = 2,
		  .table = 51820,
		  .action = 1,
		  .mark = 51820,
		  .mask = UINT32_MAX,
		  .is_invert = true,
		  .suppress_prefix = -1 },
		{ .family = AF_INET,
		  .preference = 3,
		  .table = RT_TABLE_MAIN,
		  .action = 1,
		  .suppress_prefix = -1 },
	};
	_cleanup_(nets_done) struct nets t;
	const struct destination *d;

	set_nets(&t);
	t.node.rules = rules;
	t.node.n_rules = ELEMENTSOF(rules);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	add_route(&t, "0.0.0.0", 0, 51820, WG0);
	add_end(&t, WG0, "198.51.100.7", 51820);
	add_end(&t, WG0, "0.0.0.0", 0); /* of a tunnel that has its own end alone */
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(find(&t.node, TO_DEFAULT, 0)->lookup.found, WG0);
	d = find(&t.node, TO_TUNNEL_END, 0);
	assert_non_null(d);
	assert_int_equal(d->lookup.found, ETH0);
	assert_string_equal(d->words, "the other end of wg0, 198.51.100.7, for: default route, "
				      "192.0.2.1");
	assert_null(find(&t.node, TO_TUNNEL_END, 1));
}

static void the_other_end_of_a_tunnel_with_the_kubelets_address_is_asked(_unused_ void **state)
{
	static const struct {
		const char *node_ip, *name, *hosts_name, *host, *flannel;
		bool is_asked;
	} rows[] = {
		{ "10.100.0.7", "n1", "", "", "", true },
		{ "fd00::7, 10.100.0.7", "n1", "", "", "", true },
		{ "10.100.0.70", "n1", "", "", "", false },
		{ "", "10.100.0.7", "", "", "", true },
		{ "", "n1", "N1", "10.100.0.7", "", true },
		{ "", "n1", "api.example", "10.100.0.7", "", false },
		{ "", "n1", "n1", "10.100.0.8", "", false },
		{ "", "n1", "", "", "wg0", true },
		{ "", "n1", "", "", "", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct address on_tunnel = { .ifindex = WG0 };
		struct host host = {};
		_cleanup_(nets_done) struct nets t;

		set_nets(&t);
		add_route(&t, "10.30.0.0", 24, RT_TABLE_MAIN, ETH0);
		add_end(&t, WG0, "10.30.0.9", 0);
		ip_parse("10.100.0.7", &on_tunnel.family, on_tunnel.local);
		t.node.addresses = &on_tunnel;
		t.node.n_addresses = 1;
		COPY(t.node.kubelet.node_ip, rows[i].node_ip);
		COPY(t.node.kubelet.host_name, rows[i].name);
		COPY(t.node.kubelet.flannel_iface, rows[i].flannel);
		COPY(host.name, rows[i].hosts_name);
		t.node.hosts = &host;
		t.node.n_hosts = ip_parse(rows[i].host, &host.family, host.address);
		observe_destinations_ask(&t.os, &t.node);
		assert_int_equal(find(&t.node, TO_TUNNEL_END, 0) != NULL, rows[i].is_asked);
		if (!rows[i].is_asked)
			continue;
		assert_int_equal(find(&t.node, TO_TUNNEL_END, 0)->lookup.found, ETH0);
		assert_string_equal(find(&t.node, TO_TUNNEL_END, 0)->words,
				    "the other end of wg0, 10.30.0.9, for: the kubelet's address");
	}
}

/* Each tunnel's other end is behind the other tunnel. */
static void a_circle_of_tunnels_ends(_unused_ void **state)
{
	_cleanup_(nets_done) struct nets t;

	set_nets(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, WG0);
	add_route(&t, "198.51.100.0", 24, RT_TABLE_MAIN, GRE0);
	add_route(&t, "203.0.113.0", 24, RT_TABLE_MAIN, WG0);
	add_end(&t, WG0, "198.51.100.7", 0);
	add_end(&t, GRE0, "203.0.113.7", 0);
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(find(&t.node, TO_TUNNEL_END, 0)->lookup.found, GRE0);
	assert_int_equal(find(&t.node, TO_TUNNEL_END, 1)->lookup.found, WG0);
	assert_null(find(&t.node, TO_TUNNEL_END, 2));
}

static void a_recorded_answer_stays(_unused_ void **state)
{
	struct destination recorded = { .to = TO_API_SERVER,
					.lookup = { .family = AF_INET, .found = ETH1 } };
	_cleanup_(nets_done) struct nets t;

	set_nets(&t);
	add_route(&t, "0.0.0.0", 0, RT_TABLE_MAIN, ETH0);
	*APPEND(t.node.destinations, t.node.n_destinations) = recorded;
	recorded.lookup.result = -ENODATA;
	netns_parse("10.0.0.1", recorded.lookup.dst);
	*APPEND(t.node.destinations, t.node.n_destinations) = recorded;
	observe_destinations_ask(&t.os, &t.node);
	assert_int_equal(find(&t.node, TO_API_SERVER, 0)->lookup.found, ETH1);
	assert_int_equal(find(&t.node, TO_API_SERVER, 1)->lookup.found, ETH0);
}

static void live_done(struct nets *t)
{
	node_done(&t->node);
	netlink_done(&t->os.route);
}

static void the_kernel_is_asked_on_a_running_system(_unused_ void **state)
{
	_cleanup_(live_done) struct nets t = { .os = { .fs = { .is_live = true },
						       .route = { .protocol = NETLINK_ROUTE } } };
	struct node *n = &t.node;
	uint32_t eth0, vx0;

	if (netns_enter() < 0 && unshare(CLONE_NEWNET) < 0)
		skip_without("a network namespace of our own");
	if (system("ip link add eth0 type veth peer name peer && ip link set peer up && "
		   "ip link set eth0 up && ip address add 10.1.0.2/24 dev eth0 && "
		   "ip link add vx0 type vxlan id 5 dstport 4789 remote 10.1.0.9 && "
		   "ip link set vx0 up && ip address add 172.16.0.2/24 dev vx0 && "
		   "ip route add default via 172.16.0.1") != 0)
		skip_without("VXLAN in this kernel");
	eth0 = if_nametoindex("eth0");
	vx0 = if_nametoindex("vx0");
	assert_int_equal(link_list(&t.os.route, &n->netdevs, &n->n_netdevs, &n->tunnel_ends,
				   &n->n_tunnel_ends),
			 0);
	assert_int_equal(link_list_addresses(&t.os.route, &n->addresses, &n->n_addresses), 0);
	assert_int_equal(route_list(&t.os.route, &n->routes, &n->n_routes), 0);
	assert_int_equal(rule_list(&t.os.route, &n->rules, &n->n_rules), 0);
	observe_destinations_ask(&t.os, n);
	assert_int_equal(find(n, TO_DEFAULT, 0)->lookup.found, vx0);
	assert_int_equal(find(n, TO_TUNNEL_END, 0)->lookup.found, eth0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(api_servers_are_destinations),
		cmocka_unit_test(name_servers_are_destinations),
		cmocka_unit_test(what_file_systems_come_from_is_a_destination),
		cmocka_unit_test(the_command_line_names_servers_and_devices),
		cmocka_unit_test(what_the_last_boot_needed_is_a_destination),
		cmocka_unit_test(lines_of_the_hosts_file_with_a_name_that_counts_are_kept),
		cmocka_unit_test(default_destinations_of_both_families_are_asked),
		cmocka_unit_test(a_vrf_with_a_default_route_is_asked),
		cmocka_unit_test(the_end_of_a_tunnel_to_another_mount_is_not_asked),
		cmocka_unit_test(the_other_end_of_a_tunnel_is_asked_with_its_mark),
		cmocka_unit_test(the_other_end_of_a_tunnel_with_the_kubelets_address_is_asked),
		cmocka_unit_test(a_circle_of_tunnels_ends),
		cmocka_unit_test(a_recorded_answer_stays),
		cmocka_unit_test(the_kernel_is_asked_on_a_running_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
