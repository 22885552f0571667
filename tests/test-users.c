/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>

#include "../src/observe/observe.h"
#include "../src/observe/port.h"
#include "../src/observe/users.h"
#include "netns.h"
#include "skip.h"
#include "tree.h"

#include <rdma/rdma_netlink.h>

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "6f1d2c3b-1111-2222-3333-0123456789ab"
#define OURS "net:[4026531840]"

static void a_cgroup_tells_the_container_or_the_unit(_unused_ void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "0::/system.slice/sshd.service\n", "sshd.service" },
		{ "0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope" },
		{ "0::/user.slice/user-0.slice/user@0.service/app.slice/x.service\n", "x.service" },
		{ "0::/\n", "" },
		{ "", "" },
		{ "nonsense", "" },
		{ "0::/system.slice/docker-" ID ".scope\n", "docker-0123456789ab" },
		{ "0::/machine.slice/libpod-" ID ".scope/container\n", "libpod-0123456789ab" },
		{ "12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n", "0123456789ab" },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
		  "6f1d2c3b_1111_2222_3333_0123456789ab.slice/cri-containerd-" ID ".scope\n",
		  "cri-containerd-0123456789ab" },
		{ "0::/kubepods.slice/kubepods-pod6f1d2c3b_1111_2222_3333_0123456789ab.slice/"
		  "crio-" ID ".scope\n",
		  "crio-0123456789ab" },
		{ "4:memory:/kubepods/besteffort/pod" UID "/" ID "\n", "0123456789ab" },
		{ "0::/system.slice/containerd.service/"
		  "kubepods-besteffort-pod6f1d2c3b_1111_2222_3333_"
		  "0123456789ab.slice:cri-containerd:" ID "\n",
		  "cri-containerd:0123456789ab" },
		/* A pod of a node that is a container itself; systemd in a container. */
		{ "0::/docker/" ID "/kubelet/kubepods/pod" UID "/"
		  "ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
		  "ffff456789ab" },
		{ "0::/system.slice/docker-" ID ".scope/system.slice/x.service\n",
		  "docker-0123456789ab" },
		{ "5:cpu:/a.service\n1:name=systemd:/system.slice/b.service\n", "b.service" },
		{ "5:cpu:/docker/" ID "\n0::/system.slice/b.service\n", "0123456789ab" },
		{ "0::/system.slice/a\033[31m.service\n", "a?[31m.service" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(freep) char *text = strdup(cases[i].text);
		char name[80];

		assert_non_null(text);
		parse_cgroup(text, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
}

/* One process of a made /proc. @start: clock ticks after boot. */
static void add_process(const struct tree *t, unsigned pid, unsigned parent, const char *command,
			unsigned start, const char *netns)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(text, sizeof(text), "%u (%s) S %u 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n",
		 pid, command, parent, start);
	tree_file(t, path, text);
	snprintf(path, sizeof(path), "proc/%u/comm", pid);
	snprintf(text, sizeof(text), "%s\n", command);
	tree_file(t, path, text);
	snprintf(path, sizeof(path), "proc/%u/ns/net", pid);
	tree_link(t, path, netns);
}

static void add_descriptor(const struct tree *t, unsigned pid, unsigned fd, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/fd/%u", pid, fd);
	tree_link(t, path, text);
}

static void make_machine(struct tree *t)
{
	tree_make(t);
	tree_link(t, "proc/self", "100");
	add_process(t, 1, 0, "systemd", 1, OURS);
	add_process(t, 100, 1, "rdma-provision", 500, OURS);
	add_process(t, 101, 100, "rdma-provision", 501, OURS);
}

static struct pci *add_function(struct node *n, const char *address, const char *driver)
{
	struct pci *pci = APPEND(n->pcis, n->n_pcis);

	if (!pci)
		abort();
	COPY(pci->address, address);
	COPY(pci->driver, driver);
	return pci;
}

static struct ibdev *add_ibdev(struct node *n, const char *name, const char *pci)
{
	struct ibdev *ib = APPEND(n->ibdevs, n->n_ibdevs);

	if (!ib)
		abort();
	COPY(ib->name, name);
	COPY(ib->pci, pci);
	return ib;
}

static void look(const struct tree *t, struct node *n)
{
	_cleanup_(processes_done) struct processes p = {};

	assert_int_equal(processes_list(&t->fs, &p), 0);
	assert_int_equal(users_look(&t->fs, &p, n), 0);
	users_sort(n);
}

static void assert_user(const struct node *n, size_t i, const char *target, enum use use,
			uint32_t pid, const char *detail)
{
	assert_true(i < n->n_users);
	assert_string_equal(n->users[i].target, target);
	assert_string_equal(use_name(n->users[i].use), use_name(use));
	assert_int_equal(n->users[i].pid, pid);
	assert_string_equal(n->users[i].detail, detail);
}

static void processes_are_read_whatever_they_are_called(_unused_ void **state)
{
	_cleanup_(processes_done) struct processes p = {};
	struct tree t;

	make_machine(&t);
	add_process(&t, 7, 1, "a) S 9 (\033\"b", 20, "net:[5]");
	tree_file(&t, "proc/8/stat", "8 (cut");
	tree_file(&t, "proc/9/status", "no stat: gone meanwhile");
	tree_file(&t, "proc/10x/stat", "10 (x) S 1");
	tree_file(&t, "proc/meminfo", "");

	assert_int_equal(processes_list(&t.fs, &p), 0);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.self, 100);
	assert_int_equal(p.netns, 4026531840);
	assert_int_equal(p.items[1].pid, 7);
	assert_int_equal(p.items[1].parent, 1);
	assert_int_equal(p.items[1].start, 20);
	assert_int_equal(p.items[1].netns, 5);
	assert_string_equal(p.items[1].command, "a) S 9 (?\"b");
	assert_true(process_is_ours(&p, 100));
	assert_true(process_is_ours(&p, 101));
	assert_false(process_is_ours(&p, 1));
	assert_false(process_is_ours(&p, 4711));
	tree_remove(&t);
}

static size_t count_named(const struct tree *t)
{
	_cleanup_(processes_done) struct processes p = {};

	assert_int_equal(processes_list_named(&t->fs, "sriovdp", &p), 0);
	for (size_t i = 0; i < p.n; i++) {
		assert_string_equal(p.items[i].command, "sriovdp");
		assert_int_equal(p.items[i].start, 30 + p.items[i].pid);
	}
	return p.n;
}

static void threads_of_the_kernel_are_no_named_processes(_unused_ void **state)
{
	struct tree t;

	make_machine(&t);
	add_process(&t, 2, 0, "kthreadd", 1, OURS);
	add_process(&t, 33, 2, "sriovdp", 63, OURS);
	add_process(&t, 34, 1, "sriovdp", 64, OURS);
	add_process(&t, 35, 1, "sriovdp2", 65, OURS);
	add_process(&t, 330, 34, "sriovdp", 360, OURS);
	tree_file(&t, "proc/36/comm", "sriovdp\n"); /* gone meanwhile */
	assert_int_equal(count_named(&t), 3);

	tree_file(&t, "proc/2/task/2/children", "3 5 33 ");
	assert_int_equal(count_named(&t), 2);

	/* In the second process of a container it is another list. */
	tree_file(&t, "proc/2/stat",
		  "2 (kthreadd) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n");
	assert_int_equal(count_named(&t), 3);
	tree_remove(&t);
}

static void open_contexts_have_a_process(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	struct tree t;
	char copy[128];

	make_machine(&t);
	tree_link(&t, "sys/class/infiniband_verbs/uverbs0",
		  "../../devices/pci0000:00/0000:00:08.0/infiniband_verbs/uverbs0");
	tree_file(&t, "sys/devices/pci0000:00/0000:00:08.0/infiniband_verbs/uverbs0/ibdev",
		  "erdma_0\n");
	tree_link(&t, "sys/class/infiniband_verbs/uverbs1", /* rxe, which is virtual */
		  "../../devices/virtual/infiniband_verbs/uverbs1");
	tree_file(&t, "sys/devices/virtual/infiniband_verbs/uverbs1/ibdev", "rxe0\n");
	tree_file(&t, "sys/class/infiniband_verbs/abi_version", "6\n");
	add_function(&n, "0000:00:05.0", "virtio-pci");
	add_function(&n, "0000:00:08.0", "erdma");
	add_ibdev(&n, "erdma_0", "0000:00:08.0");
	add_ibdev(&n, "rxe0", "0000:00:05.0");

	add_process(&t, 20, 1, "train", 30, "net:[7]");
	tree_file(&t, "proc/20/cgroup", "0::/system.slice/docker-" ID ".scope\n");
	add_descriptor(&t, 20, 3, "/dev/infiniband/uverbs0");
	add_descriptor(&t, 20, 4, "/dev/infiniband/uverbs0");
	add_descriptor(&t, 20, 5, "/dev/infiniband/uverbs10");
	add_process(&t, 21, 1, "old", 30, OURS);
	add_descriptor(&t, 21, 9, "/srv/root/dev/infiniband/uverbs1 (deleted)");
	add_process(&t, 22, 1, "other", 30, OURS);
	add_descriptor(&t, 22, 1, "/dev/null");
	add_descriptor(&t, 22, 2, "/dev/infiniband/umad0");
	add_descriptor(&t, 101, 3, "/dev/infiniband/uverbs0"); /* ours */

	/* A file that is only named like the device. */
	add_process(&t, 23, 1, "backup", 30, OURS);
	tree_file(&t, "srv/copy/dev/infiniband/uverbs0", "");
	snprintf(copy, sizeof(copy), "%s/srv/copy/dev/infiniband/uverbs0", t.root);
	add_descriptor(&t, 23, 3, copy);

	/* Another device by that name, as a bind mount makes one. */
	tree_file(&t, "sys/devices/pci0000:00/0000:00:08.0/infiniband_verbs/uverbs0/dev",
		  "231:192\n");
	tree_link(&t, "srv/null/dev/infiniband/uverbs0", "/dev/null");
	snprintf(copy, sizeof(copy), "%s/srv/null/dev/infiniband/uverbs0", t.root);
	add_process(&t, 24, 1, "mount", 30, OURS);
	add_descriptor(&t, 24, 3, copy);

	/* And the one that it is, in another place. */
	tree_file(&t, "sys/devices/virtual/infiniband_verbs/uverbs1/dev", "1:3\n");
	tree_link(&t, "srv/pod/dev/infiniband/uverbs1", "/dev/null");
	snprintf(copy, sizeof(copy), "%s/srv/pod/dev/infiniband/uverbs1", t.root);
	add_process(&t, 25, 1, "pod", 30, OURS);
	add_descriptor(&t, 25, 3, copy);

	t.fs.is_live = true;
	look(&t, &n);
	t.fs.is_live = false;
	assert_int_equal(n.n_users, 3);
	assert_user(&n, 0, "0000:00:05.0", USE_CONTEXT, 21, "rxe0");
	assert_user(&n, 1, "0000:00:05.0", USE_CONTEXT, 25, "rxe0");
	assert_user(&n, 2, "0000:00:08.0", USE_CONTEXT, 20, "erdma_0");
	assert_string_equal(n.users[2].command, "train");
	assert_string_equal(n.users[2].container, "docker-0123456789ab");
	tree_remove(&t);
}

static void vfio_groups_have_a_process(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	make_machine(&t);
	add_function(&n, "0000:41:00.1", "vfio-pci");
	add_function(&n, "0000:41:00.2", "vfio-pci");
	add_function(&n, "0000:41:00.3", "mlx5_core");
	tree_link(&t, "sys/bus/pci/devices/0000:41:00.1/iommu_group", "../x/iommu_groups/12");
	tree_link(&t, "sys/bus/pci/devices/0000:41:00.2/iommu_group", "../x/iommu_groups/13");
	tree_file(&t, "sys/bus/pci/devices/0000:41:00.2/vfio-dev/vfio3/dev", "511:3\n");
	tree_link(&t, "sys/bus/pci/devices/0000:41:00.3/iommu_group", "../x/iommu_groups/14");
	add_process(&t, 30, 1, "qemu", 30, OURS);
	add_descriptor(&t, 30, 10, "/dev/vfio/12");
	add_descriptor(&t, 30, 9, "/dev/kvm"); /* in whatever order they come */
	add_process(&t, 31, 1, "dpdk", 30, OURS);
	add_descriptor(&t, 31, 9, "/dev/vfio/devices/vfio3");
	add_descriptor(&t, 31, 10, "/dev/vfio/14"); /* not bound to vfio: not of this group's use */
	add_process(&t, 32, 1, "vm", 30, OURS);
	add_descriptor(&t, 32, 3, "/dev/kvm");

	look(&t, &n);
	assert_int_equal(n.n_users, 2);
	assert_user(&n, 0, "0000:41:00.1", USE_KVM, 30, "vfio/12");
	assert_user(&n, 1, "0000:41:00.2", USE_VFIO, 31, "vfio/devices/vfio3");
	tree_remove(&t);
}

static void modules_that_are_held_are_in_use(_unused_ void **state)
{
	static const struct {
		enum module_state state;
		uint32_t refcnt;
		const char *name, *holders, *detail; /* NULL: no user */
		enum use use;
	} cases[] = {
		{ MODULE_LOADED, 0, "erdma", "", NULL, 0 },
		{ MODULE_LOADED, 2, "erdma", "", "2 references", USE_MODULE },
		{ MODULE_LOADED, 1, "erdma", "smc", "held by smc", USE_MODULE },
		{ MODULE_LOADED, UINT32_MAX, "erdma", "", "its references cannot be read",
		  USE_UNKNOWN },
		{ MODULE_AVAILABLE, UINT32_MAX, "erdma", "", NULL, 0 },
		{ MODULE_LOADED, 2, "igb", "", "2 references", USE_MODULE },
		{ MODULE_LOADED, 2, "ib_core", "", NULL, 0 }, /* drives nothing here */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(node_done) struct node n = {};
		struct module *m = APPEND(n.modules, n.n_modules);
		struct tree t;

		if (!m)
			abort();
		make_machine(&t);
		add_function(&n, "0000:01:00.0", "igb");
		COPY(m->name, cases[i].name);
		COPY(m->holders, cases[i].holders);
		m->state = cases[i].state;
		m->refcnt = cases[i].refcnt;

		look(&t, &n);
		assert_int_equal(n.n_users, cases[i].detail ? 1 : 0);
		if (cases[i].detail)
			assert_user(&n, 0, cases[i].name, cases[i].use, 0, cases[i].detail);
		tree_remove(&t);
	}
}

/* Root may look everywhere: for a moment nobody does it. */
static void a_closed_process_matters_only_where_nobody_counts(_unused_ void **state)
{
	static const struct {
		uint32_t n_contexts;
		const char *driver, *detail; /* NULL: no user */
	} cases[] = {
		{ 0, "erdma", NULL },
		{ UINT32_MAX, "erdma", "erdma_0, processes that may not be looked into: 1" },
		{ 0, "vfio-pci", "vfio-pci, processes that may not be looked into: 1" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(node_done) struct node n = {};
		char path[128];
		struct tree t;

		make_machine(&t);
		add_process(&t, 40, 1, "closed", 30, OURS);
		add_descriptor(&t, 40, 3, "/dev/infiniband/uverbs0");
		snprintf(path, sizeof(path), "%s/proc/40/fd", t.root);
		assert_int_equal(chmod(path, 0), 0);
		assert_int_equal(chmod(t.root, 0755), 0);
		add_function(&n, "0000:00:08.0", cases[i].driver);
		add_ibdev(&n, "erdma_0", "0000:00:08.0")->n_contexts = cases[i].n_contexts;

		if (getuid() == 0)
			assert_int_equal(seteuid(65534), 0);
		look(&t, &n);
		if (getuid() == 0)
			assert_int_equal(seteuid(0), 0);
		assert_int_equal(n.n_users, cases[i].detail ? 1 : 0);
		if (n.n_users > 0)
			assert_user(&n, 0, "0000:00:08.0", USE_UNKNOWN, 0, cases[i].detail);
		assert_int_equal(chmod(path, 0755), 0);
		tree_remove(&t);
	}
}

#define VF0 "0000:41:00.1"
#define VF1 "0000:41:00.2"

/* VF 0 has its netdev here, with a VLAN; VF 1 has not. */
static void make_vfs(struct node *n)
{
	static const char *const addresses[] = { "0000:41:00.0", VF0, VF1 };
	static const struct netdev netdevs[] = {
		{ .ifindex = 12, .name = "v0", .pci = VF0, .mac = "02:00:00:00:00:01" },
		{ .ifindex = 13, .name = "v0.5", .link = 12, .kind = "vlan", .master = 14 },
		{ .ifindex = 14, .name = "br0", .kind = "bridge" },
	};
	static const struct vf_info infos[] = {
		{ .pf = "0000:41:00.0", .index = 0, .mac = "02:00:00:00:00:01" },
		{ .pf = "0000:41:00.0", .index = 1, .mac = "02:00:00:00:00:02" },
	};

	for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
		struct pci *pci = add_function(n, addresses[i], "igbvf");

		pci->class = 0x020000;
		COPY(pci->physfn, i > 0 ? addresses[0] : "");
		pci->vf_index = i > 0 ? (uint32_t)i - 1 : 0;
	}
	for (size_t i = 0; i < ELEMENTSOF(netdevs); i++) {
		struct netdev *nd = APPEND(n->netdevs, n->n_netdevs);

		assert_non_null(nd);
		*nd = netdevs[i];
	}
	for (size_t i = 0; i < ELEMENTSOF(infos); i++) {
		struct vf_info *v = APPEND(n->vf_infos, n->n_vf_infos);

		assert_non_null(v);
		*v = infos[i];
	}
}

static void signs_are_users_unless_a_process_is_named(_unused_ void **state)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	make_machine(&t);
	make_vfs(&n);
	n.netdevs[0].master = 14;
	add_function(&n, "0000:99:00.0", "nvme")->class = 0x010802;
	add_function(&n, "0000:99:00.1", "vfio-pci")->class = 0x020000;

	assert_int_equal(users_add_found(&t.fs, &n, &memory), 0);
	users_sort(&n);
	assert_true(n.has_users);
	assert_int_equal(n.n_users, 5);
	assert_user(&n, 0, "0000:41:00.0", USE_NETDEV_NETNS, 0,
		    "its netdev in another network namespace");
	assert_user(&n, 1, VF0, USE_MASTER, 0, "v0 belongs to br0, a bridge, bond or team");
	assert_user(&n, 2, VF0, USE_UPPER, 0, "v0 carries v0.5");
	assert_user(&n, 3, VF1, USE_NETDEV_NETNS, 0, "its netdev in another network namespace");
	assert_user(&n, 4, "0000:99:00.1", USE_VFIO, 0, "it is bound to vfio-pci");
	tree_remove(&t);
}

#define TITLE                                                                                      \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"
#define ROW(address, state, inode)                                                                 \
	"   0: " address " 00000000:0000 " state                                                   \
	" 00000000:00000000 00:00000000 00000000     0        0 " inode " 1 0 100 0 0 10 0\n"

/* More than there is room for. */
static void put_reserved(const struct tree *t)
{
	char text[2048];
	size_t n = 0;

	for (unsigned port = 10000; n < 1500; port += 2)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u-%u", n > 0 ? "," : "", port,
				      port + 1);
	tree_file(t, "proc/sys/net/ipv4/ip_local_reserved_ports", text);
}

static void ports_that_are_listened_on_are_those_of_this_namespace(_unused_ void **state)
{
	static const uint16_t expected[] = { 8080, 1023, 30608, 65535, 8080 };
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	make_machine(&t);
	tree_file(&t, "proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
	put_reserved(&t);
	tree_file(&t, "proc/100/net/tcp",
		  TITLE ROW("0100007F:1F90", "0A", "1000") ROW("00000000:03FF", "0A", "1001")
			  ROW("00000000:7790", "0A", "0") ROW("00000000:2000", "01", "1003")
				  ROW("00000000:2001", "0A", "1004"));
	tree_file(&t, "proc/100/net/tcp6",
		  TITLE ROW("00000000000000000000000000000000:FFFF", "0A", "1005")
			  ROW("00000000000000000000000000000000:1F90", "0A", "1006"));
	tree_file(&t, "proc/91/net/tcp", TITLE ROW("00000000:7791", "0A", "2000"));

	assert_int_equal(observe_ports(&t.fs, &n), 0);
	assert_int_equal(n.local_ports[0], 32768);
	assert_int_equal(n.local_ports[1], 60999);
	assert_true(is_prefix(n.reserved_ports, "10000-10001,10002-10003,"));
	assert_true(strlen(n.reserved_ports) > 1000);
	assert_int_equal(strlen(n.reserved_ports) % 12, 11); /* whole ranges */
	assert_int_equal(n.n_listening, ELEMENTSOF(expected));
	assert_memory_equal(n.listening, expected, sizeof(expected));
	tree_remove(&t);
}

/* A socket that listens on a port which the kernel chose, on the loopback. */
static int listen_somewhere(uint16_t *ret)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*ret = ntohs(address.sin_port);
	return fd;
}

static void a_real_port_is_found(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(fs_done) struct fs fs = {};
	bool is_found = false;
	uint16_t port;
	int fd;

	assert_int_equal(fs_open_root(NULL, &fs), 0);
	fd = listen_somewhere(&port);
	assert_int_equal(observe_ports(&fs, &n), 0);
	close(fd);
	for (size_t i = 0; i < n.n_listening; i++)
		is_found = is_found || n.listening[i] == port;
	assert_true(is_found);
	assert_true(n.local_ports[0] > 0 && n.local_ports[1] >= n.local_ports[0]);
}

/* With jobs running each QP would be a command to the firmware of the card they run on. */
static void qps_are_listed_only_where_nobody_has_a_context(_unused_ void **state)
{
	static const struct {
		uint32_t n_contexts;
		bool needs_qps;
	} rows[] = { { 0, true }, { 1, false }, { 64, false }, { UINT32_MAX, true } };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const struct ibdev ib = { .n_contexts = rows[i].n_contexts };

		assert_int_equal(users_need(&ib, RDMA_QPS), rows[i].needs_qps);
		assert_true(users_need(&ib, RDMA_CONTEXTS) && users_need(&ib, RDMA_CM_IDS));
	}
}

/* A message of a dump; @n_entries of QPs, each with a pid, a name, or neither. */
static struct nl_msg *make_message(const struct rdma_holder *entries, size_t n_entries)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 10), 0);
	struct nlattr *table, *entry;

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	for (size_t i = 0; i < n_entries; i++) {
		entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, (uint32_t)i);
		if (entries[i].pid > 0)
			nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, entries[i].pid);
		if (entries[i].kernel[0])
			nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, entries[i].kernel);
		nla_nest_end(m, entry);
	}
	nla_nest_end(m, table);
	return m;
}

static void holders_are_counted_over_many_messages(_unused_ void **state)
{
	static const struct rdma_holder entries[] = {
		{ 0, "ib_core", 0 }, { 4711, "", 0 }, { 4711, "", 0 },
		{ 0, "", 0 },        { 0, "smc", 0 }, { 4712, "", 0 },
	};
	_cleanup_(freep) struct rdma_holder *holders = NULL;
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			make_message(entries, ELEMENTSOF(entries));

		assert_int_equal(rdma_add_holders(nlmsg_hdr(m), RDMA_QPS, &holders, &n), 0);
	}
	assert_int_equal(n, 5);
	assert_string_equal(holders[0].kernel, "ib_core");
	assert_int_equal(holders[1].pid, 4711);
	assert_int_equal(holders[1].n, 4);
	assert_int_equal(holders[2].pid, 0);
	assert_string_equal(holders[2].kernel, "");
	assert_string_equal(holders[3].kernel, "smc");
	assert_int_equal(holders[4].n, 2);
}

static void malformed_holders_are_an_error(_unused_ void **state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m =
		nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 10), 0);
	_cleanup_(freep) struct rdma_holder *holders = NULL;
	struct nlattr *table, *entry;
	size_t n = 0;

	/* A device without QPs. */
	assert_int_equal(rdma_add_holders(nlmsg_hdr(m), RDMA_QPS, &holders, &n), 0);
	assert_int_equal(n, 0);

	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_PID, 1); /* too short for a pid */
	nla_nest_end(m, entry);
	nla_nest_end(m, table);
	assert_int_equal(rdma_add_holders(nlmsg_hdr(m), RDMA_QPS, &holders, &n), -EBADMSG);
	assert_int_equal(n, 0);
}

static void what_goes_with_the_device_does_not_use_it(_unused_ void **state)
{
	static const struct {
		struct rdma_holder holder;
		enum rdma_resource what;
		const char *detail; /* NULL: no user */
		enum use use;
	} cases[] = {
		{ { 0, "ib_core", 2 }, RDMA_QPS, NULL, 0 },
		{ { 0, "mlx5_ib", 3 }, RDMA_QPS, NULL, 0 },
		{ { 0, "mlx4_ib", 3 }, RDMA_QPS, "mlx5_0: 3 QPs of mlx4_ib", USE_KERNEL },
		{ { 0, "ib_ipoib", 1 }, RDMA_QPS, NULL, 0 },
		{ { 0, "ib_ipoib", 2 }, RDMA_QPS, "mlx5_0: 2 QPs of ib_ipoib", USE_KERNEL },
		{ { 0, "smc", 1 }, RDMA_QPS, "mlx5_0: 1 QPs of smc", USE_KERNEL },
		{ { 0, "nvme_rdma", 4 }, RDMA_CM_IDS, "mlx5_0: 4 cm_ids of nvme_rdma", USE_KERNEL },
		{ { 1, "", 5 }, RDMA_QPS, "mlx5_0: 5 QPs", USE_QP },
		{ { 1, "", 1 }, RDMA_CM_IDS, "mlx5_0: 1 cm_ids", USE_CM_ID },
		{ { 4711, "", 1 }, RDMA_CONTEXTS, "mlx5_0: 1 contexts", USE_CONTEXT },
		{ { 0, "", 1 },
		  RDMA_QPS,
		  "mlx5_0: 1 QPs of a process that cannot be seen",
		  USE_QP },
		{ { 101, "", 1 }, RDMA_CONTEXTS, NULL, 0 }, /* ours */
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(processes_done) struct processes p = {};
		_cleanup_(node_done) struct node n = {};
		struct netdev *nd = APPEND(n.netdevs, n.n_netdevs);
		struct tree t;

		if (!nd)
			abort();
		make_machine(&t);
		assert_int_equal(processes_list(&t.fs, &p), 0);
		COPY(nd->pci, "0000:41:00.0");
		add_function(&n, "0000:41:00.0", "mlx5_core");
		add_ibdev(&n, "mlx5_0", "0000:41:00.0");

		assert_int_equal(users_add_holders(&t.fs, &p, &n.ibdevs[0], cases[i].what,
						   &cases[i].holder, 1, &n),
				 0);
		assert_int_equal(n.n_users, cases[i].detail ? 1 : 0);
		if (cases[i].detail)
			assert_user(&n, 0, "0000:41:00.0", cases[i].use, cases[i].holder.pid,
				    cases[i].detail);
		tree_remove(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qps_are_listed_only_where_nobody_has_a_context),
		cmocka_unit_test(a_cgroup_tells_the_container_or_the_unit),
		cmocka_unit_test(processes_are_read_whatever_they_are_called),
		cmocka_unit_test(threads_of_the_kernel_are_no_named_processes),
		cmocka_unit_test(open_contexts_have_a_process),
		cmocka_unit_test(vfio_groups_have_a_process),
		cmocka_unit_test(modules_that_are_held_are_in_use),
		cmocka_unit_test(a_closed_process_matters_only_where_nobody_counts),
		cmocka_unit_test(signs_are_users_unless_a_process_is_named),
		cmocka_unit_test(ports_that_are_listened_on_are_those_of_this_namespace),
		cmocka_unit_test(a_real_port_is_found),
		cmocka_unit_test(holders_are_counted_over_many_messages),
		cmocka_unit_test(malformed_holders_are_an_error),
		cmocka_unit_test(what_goes_with_the_device_does_not_use_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
