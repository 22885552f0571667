/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>

#include "../src/guard/process-observe.h"
#include "../src/guard/users-observe.h"
#include "../src/model/route-facts.h"
#include "../src/model/vf-facts.h"
#include "../src/pass/live.h"
#include "netns.h"
#include "skip.h"
#include "tree.h"

#include <rdma/rdma_netlink.h>

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "6f1d2c3b-1111-2222-3333-0123456789ab"

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
			unsigned start)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(text, sizeof(text), "%u (%s) S %u 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n",
		 pid, command, parent, start);
	tree_file(t, path, text);
	snprintf(path, sizeof(path), "proc/%u/comm", pid);
	snprintf(text, sizeof(text), "%s\n", command);
	tree_file(t, path, text);
}

static void make_machine(struct tree *t)
{
	tree_make(t);
	tree_link(t, "proc/self", "100");
	add_process(t, 1, 0, "systemd", 1);
	add_process(t, 100, 1, "rdma-provision", 500);
	add_process(t, 101, 100, "rdma-provision", 501);
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

static void assert_user(const struct node *n, size_t i, const char *target, enum use use,
			uint32_t pid, const char *detail)
{
	assert_true(i < n->n_users);
	assert_string_equal(n->users[i].target, target);
	assert_string_equal(use_name(n->users[i].use), use_name(use));
	assert_int_equal(n->users[i].pid, pid);
	assert_string_equal(n->users[i].detail, detail);
}

static size_t count_named(const struct tree *t)
{
	_owns_(struct processes, items) p = {};

	assert_int_equal(processes_list_named(&t->fs, "sriovdp", &p), 0);
	for (size_t i = 0; i < p.n; i++) {
		assert_string_equal(p.items[i].command, "sriovdp");
		assert_int_equal(p.items[i].start, 30 + p.items[i].pid);
	}
	return p.n;
}

static void processes_are_found_by_their_comm(_unused_ void **state)
{
	struct tree t;

	make_machine(&t);
	add_process(&t, 33, 1, "sriovdp", 63);
	add_process(&t, 34, 1, "sriovdp", 64);
	add_process(&t, 35, 1, "sriovdp2", 65);
	add_process(&t, 330, 34, "sriovdp", 360);
	tree_file(&t, "proc/36/comm", "sriovdp\n"); /* gone meanwhile */
	assert_int_equal(count_named(&t), 3);

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

		users_add_modules(&t.fs, &n);
		assert_int_equal(n.n_users, cases[i].detail ? 1 : 0);
		if (cases[i].detail)
			assert_user(&n, 0, cases[i].name, cases[i].use, 0, cases[i].detail);
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

	users_add_found(&t.fs, &n, &memory);
	SORT(n.users, n.n_users, user_compare);
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

/* A message of a dump; @n_entries of PDs, each with a pid, a name, or neither. */
static struct nl_msg *make_message(const struct rdma_holder *entries, size_t n_entries)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 10), 0);
	struct nlattr *table, *entry;

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_PD);
	for (size_t i = 0; i < n_entries; i++) {
		entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_PD_ENTRY);
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
	_owns_(struct rdma_holders, holders) l = { .what = RDMA_PDS };

	for (int i = 0; i < 2; i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			make_message(entries, ELEMENTSOF(entries));

		assert_int_equal(rdma_on_holders(nlmsg_hdr(m), &l), 0);
	}
	assert_int_equal(l.n, 5);
	assert_string_equal(l.holders[0].kernel, "ib_core");
	assert_int_equal(l.holders[1].pid, 4711);
	assert_int_equal(l.holders[1].n, 4);
	assert_int_equal(l.holders[2].pid, 0);
	assert_string_equal(l.holders[2].kernel, "");
	assert_string_equal(l.holders[3].kernel, "smc");
	assert_int_equal(l.holders[4].n, 2);
}

/* RDMA_NLDEV_ATTR_DEV_TYPE of Linux 6.11: no number in the headers of older systems. */
static void a_device_for_subnet_management_is_told_by_its_type(_unused_ void **state)
{
	_owns_(struct rdma_ibdevs, ibdevs) l = {};

	for (uint8_t type = 0; type < 3; type++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 1), 0);

		nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, type);
		nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, type == 1 ? "smi1" : "mlx5_0");
		if (type > 0)
			nla_put_u8(m, 99, type);
		assert_int_equal(rdma_on_ibdev(nlmsg_hdr(m), &l), 0);
	}
	assert_int_equal(l.n, 3);
	assert_false(l.ibdevs[0].is_smi);
	assert_true(l.ibdevs[1].is_smi);
	assert_false(l.ibdevs[2].is_smi);
}

static void malformed_holders_are_an_error(_unused_ void **state)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m =
		nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 10), 0);
	_owns_(struct rdma_holders, holders) l = { .what = RDMA_PDS };
	struct nlattr *table, *entry;

	/* A device without PDs. */
	assert_int_equal(rdma_on_holders(nlmsg_hdr(m), &l), 0);
	assert_int_equal(l.n, 0);

	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_PD);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_PD_ENTRY);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_PID, 1); /* too short for a pid */
	nla_nest_end(m, entry);
	nla_nest_end(m, table);
	assert_int_equal(rdma_on_holders(nlmsg_hdr(m), &l), -EBADMSG);
	assert_int_equal(l.n, 0);
}

#define LIO    "sys/module/target_core_mod/holders/ib_srpt"
#define TARGET "sys/kernel/config/target/"

static void what_goes_with_the_device_does_not_use_it(_unused_ void **state)
{
	static const struct {
		struct rdma_holder holder;
		enum rdma_resource what;
		const char *detail; /* NULL: no user */
		enum use use;
		uint32_t child_of; /* ifindex of what the IPoIB child is on, 0: not here */
		const char *files[2];
	} cases[] = {
		{ { 0, "ib_core", 2 }, RDMA_PDS, NULL, 0 },
		{ { 0, "mlx5_ib", 3 }, RDMA_PDS, NULL, 0 },
		{ { 0, "mlx4_ib", 3 }, RDMA_PDS, "mlx5_0: 3 PDs of mlx4_ib", USE_KERNEL },
		{ { 0, "ib_srpt", 1 }, RDMA_PDS, NULL, 0, .files = { LIO, TARGET "version" } },
		{ { 0, "ib_srpt", 2 },
		  RDMA_PDS,
		  "mlx5_0: 2 PDs of ib_srpt",
		  USE_KERNEL,
		  .files = { LIO, TARGET "version" } },
		{ { 0, "ib_srpt", 1 },
		  RDMA_PDS,
		  "mlx5_0: 1 PD of ib_srpt",
		  USE_KERNEL,
		  .files = { LIO, TARGET "srpt/version" } },
		/* Without configfs, and SCST's module beside other targets of the kernel. */
		{ { 0, "ib_srpt", 1 },
		  RDMA_PDS,
		  "mlx5_0: 1 PD of ib_srpt",
		  USE_KERNEL,
		  .files = { LIO } },
		{ { 0, "ib_srpt", 1 },
		  RDMA_PDS,
		  "mlx5_0: 1 PD of ib_srpt",
		  USE_KERNEL,
		  .files = { TARGET "version" } },
		{ { 0, "ib_srp", 1 }, RDMA_PDS, "mlx5_0: 1 PD of ib_srp", USE_KERNEL },
		{ { 0, "ib_ipoib", 1 }, RDMA_PDS, NULL, 0 },
		{ { 0, "ib_ipoib", 2 }, RDMA_PDS, "mlx5_0: 2 PDs of ib_ipoib", USE_KERNEL },
		{ { 0, "ib_ipoib", 2 }, RDMA_PDS, NULL, 0, 2 },
		{ { 0, "ib_ipoib", 3 }, RDMA_PDS, "mlx5_0: 3 PDs of ib_ipoib", USE_KERNEL, 2 },
		{ { 0, "ib_ipoib", 2 }, RDMA_PDS, "mlx5_0: 2 PDs of ib_ipoib", USE_KERNEL, 4 },
		{ { 0, "smc", 1 }, RDMA_PDS, "mlx5_0: 1 PD of smc", USE_KERNEL },
		{ { 0, "nvme_rdma", 4 }, RDMA_CM_IDS, "mlx5_0: 4 cm_ids of nvme_rdma", USE_KERNEL },
		{ { 20, "", 5 }, RDMA_PDS, "mlx5_0: 5 PDs", USE_CONTEXT },
		{ { 20, "", 1 }, RDMA_CM_IDS, "mlx5_0: 1 cm_id", USE_CM_ID },
		{ { 20, "", 1 }, RDMA_CONTEXTS, "mlx5_0: 1 context", USE_CONTEXT },
		{ { 4711, "", 1 }, RDMA_CONTEXTS, "mlx5_0: 1 context", USE_CONTEXT }, /* gone */
		{ { 0, "", 2 }, RDMA_CONTEXTS, "mlx5_0: 2 contexts, owner not known", USE_CONTEXT },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const struct netdev netdevs[] = {
			{ .ifindex = 2, .pci = "0000:41:00.0" },
			{ .ifindex = 3, .kind = "vlan", .link = 2 },
			{ .ifindex = 4, .kind = "ipoib", .pci = "0000:42:00.0" },
			{ .ifindex = 5, .kind = "ipoib", .link = cases[i].child_of },
		};
		_cleanup_(node_done) struct node n = {};
		struct tree t;

		for (size_t k = 0; k < ELEMENTSOF(netdevs); k++)
			*APPEND(n.netdevs, n.n_netdevs) = netdevs[k];
		make_machine(&t);
		add_process(&t, 20, 1, "all\033reduce", 60);
		tree_file(&t, "proc/20/cgroup", "0::/system.slice/docker-" ID ".scope\n");
		for (size_t k = 0; k < ELEMENTSOF(cases[i].files) && cases[i].files[k]; k++)
			tree_file(&t, cases[i].files[k], "");
		add_function(&n, "0000:41:00.0", "mlx5_core");
		add_ibdev(&n, "mlx5_0", "0000:41:00.0");

		users_add_holders(&t.fs, &n.ibdevs[0], cases[i].what, &cases[i].holder, 1, &n);
		assert_int_equal(n.n_users, cases[i].detail ? 1 : 0);
		if (cases[i].detail)
			assert_user(&n, 0, "0000:41:00.0", cases[i].use, cases[i].holder.pid,
				    cases[i].detail);
		if (cases[i].holder.pid == 20) {
			assert_string_equal(n.users[0].command, "all?reduce");
			assert_string_equal(n.users[0].container, "docker-0123456789ab");
		}
		tree_remove(&t);
	}
}

/* The PDs of a process tell no more than its contexts; without both there is the count. */
static void a_process_is_one_user(_unused_ void **state)
{
	static const struct rdma_holder holders[] = { { 20, "", 1 }, { 21, "", 1 } };
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	struct tree t;

	make_machine(&t);
	add_function(&n, "0000:41:00.0", "mlx5_core")->class = 0x020000;
	add_ibdev(&n, "mlx5_0", "0000:41:00.0")->n_contexts = 2;
	n.netns_mode = NETNS_MODE_SHARED;
	COPY(((struct netdev *)APPEND(n.netdevs, n.n_netdevs))->pci, "0000:41:00.0");
	users_add_holders(&t.fs, &n.ibdevs[0], RDMA_CONTEXTS, holders, 2, &n);
	users_add_holders(&t.fs, &n.ibdevs[0], RDMA_PDS, holders, 2, &n);
	users_add_found(&t.fs, &n, &memory);
	assert_int_equal(n.n_users, 2);
	assert_user(&n, 0, "0000:41:00.0", USE_CONTEXT, 20, "mlx5_0: 1 context");

	n.n_users = 0;
	users_add_found(&t.fs, &n, &memory);
	assert_int_equal(n.n_users, 1);
	assert_user(&n, 0, "0000:41:00.0", USE_CONTEXT, 0,
		    "mlx5_0 has 2 open contexts, owner not known");
	tree_remove(&t);
}

/* A listener on all addresses has a cm_id of each device. */
static void listeners_on_all_addresses_use_nothing(_unused_ void **state)
{
	static const struct {
		struct sockaddr_in6 source;
		bool is_used;
	} rows[] = {
		{ { .sin6_family = AF_INET6 }, false },
		{ { .sin6_family = AF_INET }, false },
		{ { .sin6_family = AF_INET6, .sin6_addr = { { { 0xfd, [15] = 2 } } } }, true },
		{ { .sin6_family = AF_INET, .sin6_flowinfo = 0x0202000a }, true }, /* sin_addr */
		{ { .sin6_family = AF_IB }, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 11), 0);
		_owns_(struct rdma_holders, holders) l = { .what = RDMA_CM_IDS };
		struct nlattr *table, *entry;

		table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CM_ID);
		entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
		nla_put(m, RDMA_NLDEV_ATTR_RES_SRC_ADDR, sizeof(rows[i].source), &rows[i].source);
		nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, "nvmet_rdma");
		nla_nest_end(m, entry);
		nla_nest_end(m, table);
		assert_int_equal(rdma_on_holders(nlmsg_hdr(m), &l), 0);
		assert_int_equal(l.n, rows[i].is_used);
	}
}

static void a_tree_has_its_sockets_in_proc(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {}, none = {};
	struct os d = {};
	struct tree t;

	make_machine(&t);
	d.fs = t.fs;
	observe_socks(&d, &none);
	assert_true(none.has_socks); /* a tree of before has none */
	assert_int_equal(none.n_socks, 0);

	tree_file(&t, "proc/net/tcp",
		  "  sl  local_address rem_address   st\n   0: 02021E0A:0CBC 00000000:0000 0A 0\n");
	tree_file(&t, "proc/net/udp", "");
	for (int i = 0; i < 2; i++) { /* those that are known are left as they are */
		observe_socks(&d, &n);
		assert_true(n.has_socks);
		assert_int_equal(n.n_socks, 1);
		assert_int_equal(n.socks[0].local_port, 3260);
		tree_file(&t, "proc/net/tcp", "");
	}
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cgroup_tells_the_container_or_the_unit),
		cmocka_unit_test(processes_are_found_by_their_comm),
		cmocka_unit_test(modules_that_are_held_are_in_use),
		cmocka_unit_test(signs_are_users_unless_a_process_is_named),
		cmocka_unit_test(holders_are_counted_over_many_messages),
		cmocka_unit_test(a_device_for_subnet_management_is_told_by_its_type),
		cmocka_unit_test(malformed_holders_are_an_error),
		cmocka_unit_test(what_goes_with_the_device_does_not_use_it),
		cmocka_unit_test(a_process_is_one_user),
		cmocka_unit_test(listeners_on_all_addresses_use_nothing),
		cmocka_unit_test(a_tree_has_its_sockets_in_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
