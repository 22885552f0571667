/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "../src/base/log.h"
#include "../src/command/capture.h"
#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/model/route-facts.h"
#include "../src/model/use-facts.h"
#include "../src/module/cmdline-observe.h"
#include "../src/module/module-observe.h"
#include "../src/os/memory-file.h"
#include "../src/os/snapshot.h"
#include "../src/pass/report.h"
#include "../src/service/wait.h"
#include "../src/step/observers.h"
#include "tree.h"

/* A machine with a bound eRDMA function and nothing else. */
static void make_machine(struct tree *t, struct os *ret)
{
	static char folder[64];

	tree_make(t);
	snprintf(folder, sizeof(folder), "%s/lib/modules/6.1.0-made", t->root);
	*ret = (struct os){ .fs = t->fs };
	ret->modules = (struct modules){ .folder = folder };
}

static void add_function(struct node *n, const char *driver)
{
	struct pci *pci = APPEND(n->pcis, n->n_pcis);

	if (!pci)
		abort();
	COPY(pci->address, "0000:00:08.0");
	COPY(pci->driver, driver);
	pci->vendor = 0x1ded;
	pci->device = 0x107f;
}

static struct module *add_module(struct node *n, const char *name)
{
	struct module *m = APPEND(n->modules, n->n_modules);

	if (!m)
		abort();
	COPY(m->name, name);
	return m;
}

static void the_netdev_of_a_pppoe_session_is_read(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	struct os d;
	struct tree t;

	make_machine(&t, &d);
	tree_file(&t, "sys/class/net/eth0/ifindex", "2\n");
	tree_file(&t, "sys/class/net/eth0.7/ifindex", "3\n");
	tree_file(&t, "proc/self/net/pppoe",
		  "Id       Address              Device\n"
		  "0000002A 00:00:5e:00:53:01   eth0.7\n");
	assert_int_equal(observe_net(&d, &n), 0);
	assert_false(node_netdev_named(&n, "eth0")->has_pppoe);
	assert_true(node_netdev_named(&n, "eth0.7")->has_pppoe);
	modules_done(&d.modules);
	tree_remove(&t);
}

static void what_is_loaded_is_read_from_sysfs(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	const struct module *m;
	struct os d;
	struct tree t;

	make_machine(&t, &d);
	add_function(&n, "erdma");
	tree_file(&t, "sys/module/erdma/initstate", "live\n");
	tree_file(&t, "sys/module/erdma/version", "0.2.37\n");
	tree_file(&t, "sys/module/erdma/srcversion", "ABCDEF\n");
	tree_file(&t, "sys/module/erdma/taint", "OE\n");
	tree_file(&t, "sys/module/erdma/refcnt", "3\n");
	tree_file(&t, "sys/module/erdma/holders/smc/name", "");
	tree_file(&t, "sys/module/erdma/holders/another/name", "");
	tree_file(&t, "sys/module/erdma/parameters/compat_mode", "N\n");
	tree_file(&t, "sys/module/erdma/parameters/a_list",
		  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26\n");
	tree_file(&t, "sys/module/ib_core/parameters/netns_mode", "Y\n"); /* built in */
	tree_file(&t, "sys/module/ib_uverbs/initstate", "going\n");
	tree_file(&t, "proc/cmdline",
		  "quiet module_blacklist=a,b password=secret \"module-blacklist=smc,nvidia\" "
		  "ib_core.netns_mode=0 -- module_blacklist=init\n");

	assert_int_equal(observe_modules(&d, &n), 0);
	m = node_module(&n, "erdma");
	assert_int_equal(m->state, MODULE_LOADED);
	assert_string_equal(m->loaded_version, "0.2.37");
	assert_string_equal(m->loaded_srcversion, "ABCDEF");
	assert_true(m->has_taint);
	assert_true(m->is_out_of_tree);
	assert_int_equal(m->refcnt, 3);
	assert_string_equal(m->holders, "another smc");
	assert_int_equal(m->n_parameters, 2);
	assert_string_equal(module_parameter(m, "compat_mode")->value, "N");
	assert_string_equal(module_parameter(m, "a_list")->value, "");
	assert_false(m->has_info);

	m = node_module(&n, "ib_core");
	assert_int_equal(m->state, MODULE_BUILTIN);
	assert_string_equal(module_parameter(m, "netns_mode")->value, "Y");
	assert_int_equal(m->refcnt, UINT32_MAX);
	assert_false(m->has_taint);
	assert_int_equal(node_module(&n, "ib_uverbs")->state, MODULE_MISSING);
	assert_int_equal(node_module(&n, "nvidia")->state, MODULE_MISSING);
	assert_string_equal(n.cmdline_blacklist, "smc,nvidia");

	modules_done(&d.modules);
	tree_remove(&t);
}

static void a_tree_keeps_modules_out_by_its_own_files(_unused_ void **state)
{
	static const struct {
		const char *name, *file, *text, *cmdline;
		bool expected;
	} rows[] = {
		{ "nothing", NULL, NULL, NULL, false },
		{ "blacklist", "etc/modprobe.d/a.conf", "blacklist erdma\n", NULL, true },
		{ "in an .alias file", "usr/lib/modprobe.d/a.alias", "blacklist erdma\n", NULL,
		  true },
		{ "another", "etc/modprobe.d/a.conf", "blacklist erdma2\n#blacklist erdma\n", NULL,
		  false },
		{ "continued", "run/modprobe.d/a.conf", "blacklist \\\n  erdma\n", NULL, true },
		{ "its command line", NULL, NULL, "quiet modprobe.blacklist=a,erdma", true },
		{ "of another", NULL, NULL, "modprobe.blacklist=erdma2", false },
		{ "of dracut", NULL, NULL, "rd.driver.blacklist=erdma", false },
		{ "install", "etc/modprobe.d/a.conf", "install erdma /bin/true\n", NULL, true },
		{ "install of a glob", "etc/modprobe.d/a.conf", "install erdm* /bin/true\n", NULL,
		  true },
		{ "the distribution's, that would insert it", "lib/modprobe.d/a.conf",
		  "install erdma modprobe -i erdma\n", NULL, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		for (int is_loaded = 0; is_loaded < 2; is_loaded++) {
			_cleanup_(node_done) struct node n = {};
			struct os d;
			struct module *m;
			struct tree t;

			make_machine(&t, &d);
			if (rows[i].file)
				tree_file(&t, rows[i].file, rows[i].text);
			if (rows[i].cmdline)
				tree_file(&t, "proc/cmdline", rows[i].cmdline);
			if (is_loaded)
				tree_file(&t, "sys/module/erdma/initstate", "live\n");
			m = add_module(&n, "erdma");
			m->state = MODULE_AVAILABLE; /* by its answers: its files know better */
			assert_int_equal(observe_modules(&d, &n), 0);
			m = (struct module *)node_module(&n, "erdma");
			if (m->is_blacklisted != (is_loaded && rows[i].expected) ||
			    m->state != (is_loaded          ? MODULE_LOADED
					 : rows[i].expected ? MODULE_BLACKLISTED
							    : MODULE_AVAILABLE))
				fail_msg("%s", rows[i].name);
			modules_done(&d.modules);
			tree_remove(&t);
		}
}

static void a_driver_at_work_is_loaded_whatever_is_missing(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {};
	struct os d;
	struct tree t;

	make_machine(&t, &d);
	add_function(&n, "some-driver");
	tree_link(&t, "sys/bus/pci/devices/0000:00:08.0/driver", "../../drivers/some-driver");
	tree_link(&t, "sys/bus/pci/drivers/some-driver/module", "../../../../module/its_module");

	assert_int_equal(observe_modules(&d, &n), 0);
	assert_null(node_module(&n, "some_driver"));
	assert_int_equal(node_module(&n, "its_module")->state, MODULE_LOADED);
	assert_int_equal(node_module(&n, "its_module")->refcnt, UINT32_MAX);

	modules_done(&d.modules);
	tree_remove(&t);
}

static void a_nic_without_devices_here_may_have_another_driver(_unused_ void **state)
{
	static const struct {
		const char *name, *driver;
		uint32_t class;
		bool has_netdev, expected;
	} rows[] = {
		{ "another", "pci-stub", 0x020000, false, true },
		{ "InfiniBand", "pci-stub", 0x020700, false, true },
		{ "its own, and its netdev is elsewhere", "mlx5_core", 0x020000, false, false },
		{ "one that made a netdev", "mlx5-sdk", 0x020000, true, false },
		{ "no NIC", "pci-stub", 0x010802, false, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(node_done) struct node n = {};
		struct netdev *nd;
		struct os d;
		struct tree t;

		make_machine(&t, &d);
		add_function(&n, rows[i].driver);
		n.pcis->vendor = 0x15b3;
		n.pcis->class = rows[i].class;
		COPY(n.pcis->modalias, "pci:v000015B3d00001021");
		COPY(n.pcis->module, "mlx5_core"); /* by its answers */
		nd = rows[i].has_netdev ? APPEND(n.netdevs, n.n_netdevs) : NULL;
		if (nd)
			COPY(nd->pci, n.pcis->address);
		assert_int_equal(observe_modules(&d, &n), 0);
		if (n.pcis->has_other_driver != rows[i].expected)
			fail_msg("%s", rows[i].name);
		modules_done(&d.modules);
		tree_remove(&t);
	}
}

struct recorded {
	char text[256];
};

static void on_read(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	struct recorded *rec = userdata;

	if (kind == RECORD_FILE && streq(path, "proc/cmdline"))
		snprintf(rec->text, sizeof(rec->text), "%.*s", (int)size, data);
}

static int count_word(void *userdata, _unused_ const char *word)
{
	++*(int *)userdata;
	return 0;
}

static void of_the_command_line_only_modules_are_recorded(_unused_ void **state)
{
	struct recorded rec = {};
	struct tree t;
	int n = 0;

	tree_make(&t);
	assert_int_equal(cmdline_read(&t.fs, count_word, &n), 0);
	assert_int_equal(n, 0);

	tree_file(&t, "proc/cmdline",
		  "BOOT_IMAGE=/vmlinuz rd.luks.key=secret erdma.compat_mode=Y mlx5-core.x=\"a b\" "
		  "modprobe.blacklist=nouveau smcx.y=1\n");
	t.fs.on_read = on_read;
	t.fs.userdata = &rec;
	assert_int_equal(cmdline_read(&t.fs, count_word, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(rec.text, "erdma.compat_mode=Y \"mlx5-core.x=a b\" "
				      "modprobe.blacklist=nouveau\n");
	tree_remove(&t);
}

static void answers_of_links_come_back(_unused_ void **state)
{
	struct netdev nd = { .ifindex = 7,
			     .name = "eth1_0",
			     .mac = "02:00:00:00:00:99",
			     .perm_mac = "02:00:00:00:00:98",
			     .port_name = "pf0vf0",
			     .link_state = LINK_NO_CABLE,
			     .max_mtu = UINT32_MAX, /* of a driver without a limit */
			     .bond_mode = BOND_MODE_UNKNOWN };
	const struct node n = { .netdevs = &nd, .n_netdevs = 1 };
	_cleanup_(node_done) struct node back = {};
	_cleanup_(freep) char *text = NULL;
	char problem[128] = "";

	assert_int_equal(snapshot_write(&n, &text), 0);
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_int_equal(back.n_netdevs, 1);
	assert_string_equal(back.netdevs[0].name, nd.name);
	assert_string_equal(back.netdevs[0].mac, nd.mac);
	assert_string_equal(back.netdevs[0].perm_mac, nd.perm_mac);
	assert_string_equal(back.netdevs[0].port_name, nd.port_name);
	assert_string_equal(back.netdevs[0].link_state, nd.link_state);
	assert_int_equal(back.netdevs[0].max_mtu, UINT32_MAX);
	assert_int_equal(back.netdevs[0].bond_mode, BOND_MODE_UNKNOWN);
}

static void names_of_any_bytes_come_back(_unused_ void **state)
{
	static const char *const names[] = { "\xFF\xFE", "\x1B]0;P\x07", "rdm\xC3\xA9", "mlx5 0",
					     "a\\" };

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		struct netdev nd = { .ifindex = 7 };
		struct ibdev ib = { .index = 1 };
		struct rule rule = { .family = AF_INET };
		struct ledger_entry entry = { .verb = "add-rule", .ifindex = 7 };
		const struct node n = { .netdevs = &nd,
					.n_netdevs = 1,
					.ibdevs = &ib,
					.n_ibdevs = 1,
					.rules = &rule,
					.n_rules = 1 };
		_cleanup_(node_done) struct node back = {};
		_cleanup_(freep) char *text = NULL;
		char problem[128] = "";
		struct tree t;
		_cleanup_(ledger_done) struct ledger noted = {};

		COPY(nd.name, names[i]);
		COPY(ib.name, names[i]);
		COPY(rule.oif, names[i]);
		assert_int_equal(snapshot_write(&n, &text), 0);
		assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
		assert_string_equal(back.netdevs[0].name, names[i]);
		assert_string_equal(back.ibdevs[0].name, names[i]);
		assert_string_equal(back.rules[0].oif, names[i]);

		tree_make(&t);
		snprintf(entry.subject, sizeof(entry.subject), "oif %s", names[i]);
		COPY(entry.target, names[i]);
		assert_int_equal(memory_write(&t.fs, MEMORY_BOOT, &ledger_fields,
					      &(struct ledger){ &entry, 1 }),
				 0);
		assert_int_equal(memory_read(&t.fs, MEMORY_BOOT, &ledger_fields, &noted), 0);
		assert_int_equal(noted.n_entries, 1);
		assert_memory_equal(&noted.entries[0], &entry, sizeof(entry));
		tree_remove(&t);
	}
}

static void a_name_that_leads_elsewhere_is_refused(_unused_ void **state)
{
	static const char *const texts[] = {
		"{\"links\":[{\"ifindex\":1,\"name\":\"../x\"}]}",
		"{\"links\":[{\"ifindex\":1,\"name\":\"..\"}]}",
		"{\"links\":[{\"ifindex\":1,\"name\":\"\\\\x2E.\"}]}",
		"{\"rdma\":[{\"index\":1,\"name\":\"a/b\"}]}",
	};

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(node_done) struct node n = {};
		char problem[128] = "";

		assert_int_equal(snapshot_read(texts[i], &n, problem, sizeof(problem)), -EINVAL);
		assert_non_null(strstr(problem, "a value is malformed"));
	}
}

static bool is_archive(const char *data, size_t size)
{
	return size > 512 && memcmp(data + 257, "ustar", 5) == 0;
}

static void a_capture_never_replaces_what_is_no_file(_unused_ void **state)
{
	char fifo[128], node[128], linked[128], file[128], data[65536];
	_cleanup_(closep) int in = -EBADF, out = -EBADF;
	struct os d;
	struct stat st;
	struct tree t;

	make_machine(&t, &d);
	snprintf(fifo, sizeof(fifo), "%s/fifo", t.root);
	snprintf(node, sizeof(node), "%s/null", t.root);
	snprintf(linked, sizeof(linked), "%s/link", t.root);
	snprintf(file, sizeof(file), "%s/file", t.root);

	assert_int_equal(mkfifo(fifo, 0600), 0);
	in = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(capture_file(&d, NULL, fifo), 0);
	assert_true(lstat(fifo, &st) == 0 && S_ISFIFO(st.st_mode));
	assert_true(is_archive(data, (size_t)read(in, data, sizeof(data))));

	/* As "capture /dev/stdout | tar t": a link to a pipe. */
	out = open(fifo, O_WRONLY | O_CLOEXEC);
	snprintf(data, sizeof(data), "/proc/self/fd/%d", out);
	assert_int_equal(symlink(data, linked), 0);
	assert_int_equal(capture_file(&d, NULL, linked), 0);
	assert_true(lstat(linked, &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(is_archive(data, (size_t)read(in, data, sizeof(data))));

	/* Other links may be planted. */
	tree_file(&t, "file", "kept");
	assert_int_equal(unlink(linked), 0);
	assert_int_equal(symlink(file, linked), 0);
	assert_int_equal(capture_file(&d, NULL, linked), -ELOOP);
	assert_true(lstat(linked, &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(lstat(file, &st) == 0 && st.st_size == 4);
	assert_int_equal(capture_file(&d, NULL, t.root), -EISDIR);

	if (mknod(node, S_IFCHR | 0600, makedev(1, 3)) == 0) { /* not in every container */
		assert_int_equal(capture_file(&d, NULL, node), 0);
		assert_true(lstat(node, &st) == 0 && S_ISCHR(st.st_mode));
	}
	assert_int_equal(capture_file(&d, NULL, file), 0);
	assert_true(lstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 512);
	modules_done(&d.modules);
	tree_remove(&t);
}

static void no_escape_reaches_a_terminal_by_the_log(_unused_ void **state)
{
	static const struct action change = { .verb = VERB_ADD_RULE,
					      .target = "e\x1B]0;P\x07",
					      .subject = "oif e\x1B[31m\xC2\x9Bm rdm\xC3\xA9",
					      .is_done = true,
					      .detail = "",
					      .error = "" };
	struct action failed = change; /* without words of its own */
	const int out = dup(STDERR_FILENO);
	char said[1024] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	log_error("/etc/rdma-provision/rdma-provision.conf.d/\x1B[2J.conf:1: unknown key");
	report_action(&change);
	failed.verb = VERB_SET_VF_MAC;
	failed.result = -EIO;
	report_action(&failed);
	failed.verb = VERB_LOAD_MODULE;
	failed.result = -ENODEV;
	report_action(&failed);
	assert_true(dup2(out, STDERR_FILENO) >= 0);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_null(strpbrk(said, "\x1B\x07"));
	assert_null(strstr(said, "\xC2\x9B"));
	assert_non_null(strstr(said, "rdm\xC3\xA9"));
	assert_non_null(strstr(said, "?[2J.conf:1: unknown key\n"));
	assert_non_null(strstr(said, ": Input/output error\n"));
	assert_non_null(strstr(said, ": No such device (The module found no device"));
	close(ends[0]);
	close(ends[1]);
	close(out);
}

/* A state whose memory nobody understands still tells whether the node is ready. */
static void waiting_needs_the_state_alone(_unused_ void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{ "{\"boot_id\":\"b\",\"state\":\"ready\"}", 0 },
		{ "{\"boot_id\":\"b\",\"state\":\"ready\",\"schema\":1,\"memory\":{\"devices\":[{"
		  "\"pci\":"
		  "\"a\",\"netdev\":\"rdm\u00e9\"}]}}",
		  0 },
		{ "{\"boot_id\":\"other\",\"state\":\"ready\"}", -ENOENT },
		{ "{\"boot_id\":\"b\",\"state\":\"off\"}", -ENOENT },
		{ "{\"boot_id\":\"b\",", -ENOENT },
	};
	struct tree t;

	tree_make(&t);
	tree_file(&t, "proc/sys/kernel/random/boot_id", "b\n");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		enum node_state now;

		tree_file(&t, STATE_PATH, cases[i].text);
		assert_int_equal(wait_read_state(&t.fs, &now), cases[i].result);
		if (cases[i].result == 0)
			assert_int_equal(now, NODE_READY);
	}
	tree_remove(&t);
}

static void answers_of_modules_come_back(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {}, back = {};
	_cleanup_(freep) char *text = NULL;
	struct parameter *p;
	struct module *m;
	char problem[256];

	m = add_module(&n, "erdma");
	COPY(m->path, "/lib/modules/1/extra/erdma.ko.xz");
	COPY(m->version, "0.2.37");
	COPY(m->srcversion, "ABC");
	COPY(m->vermagic, "1 SMP");
	m->has_info = true;
	m->state = MODULE_AVAILABLE;
	p = APPEND(m->parameters, m->n_parameters);
	if (!p)
		abort();
	COPY(p->name, "compat_mode");
	COPY(p->type, "bool");
	m = add_module(&n, "igb");
	COPY(m->path, "/lib/modules/1/kernel/igb.ko");
	m->state = MODULE_LOADED;
	m->is_intree = true; /* counts only with has_info */
	m->is_blacklisted = true;
	add_module(&n, "smc");
	n.is_dkms_building = true;

	assert_int_equal(snapshot_write(&n, &text), 0);
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_int_equal(back.n_modules, 3);
	assert_true(back.is_dkms_building);
	assert_string_equal(back.modules[0].name, "erdma");
	assert_int_equal(back.modules[0].state, MODULE_AVAILABLE);
	assert_string_equal(back.modules[0].path, n.modules[0].path);
	assert_string_equal(back.modules[0].version, "0.2.37");
	assert_string_equal(back.modules[0].srcversion, "ABC");
	assert_string_equal(back.modules[0].vermagic, "1 SMP");
	assert_true(back.modules[0].has_info);
	assert_false(back.modules[0].is_intree);
	assert_string_equal(module_parameter(&back.modules[0], "compat_mode")->type, "bool");
	assert_int_equal(back.modules[0].refcnt, UINT32_MAX);
	assert_string_equal(back.modules[1].path, n.modules[1].path);
	assert_int_equal(back.modules[1].state, MODULE_LOADED);
	assert_false(back.modules[1].has_info);
	assert_true(back.modules[1].is_blacklisted);
	assert_int_equal(back.modules[2].state, MODULE_MISSING);
	assert_string_equal(back.modules[2].path, "");
}

static void answers_of_functions_come_back(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {}, back = {};
	_cleanup_(freep) char *text = NULL;
	char problem[256];

	add_function(&n, "mlx5_core");
	add_function(&back, "mlx5_core");
	n.pcis->has_silent_vfs = n.pcis->is_searched = n.pcis->is_away = true;
	n.pcis->has_adev = n.pcis->is_adev_bound = true;

	assert_int_equal(snapshot_write(&n, &text), 0);
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_true(back.pcis->has_silent_vfs);
	assert_true(back.pcis->is_searched && back.pcis->is_away);
	assert_true(back.pcis->has_adev && back.pcis->is_adev_bound);
}

static void answers_of_users_come_back(_unused_ void **state)
{
	_cleanup_(node_done) struct node n = {}, back = {}, none = {};
	_cleanup_(freep) char *text = NULL, *nobody = NULL;
	struct user users[] = {
		{ "0000:00:08.0", USE_CONTEXT, 4711, "train", "docker-0123456789ab", "erdma_0" },
		{ "erdma", USE_UNKNOWN, 0, "", "", "its references cannot be read" },
	};
	struct netns netnses[] = { { 4026532001, "blue", true } };
	char problem[256];

	assert_int_equal(snapshot_write(&n, &nobody), 0);
	assert_null(strstr(nobody, "users"));
	assert_int_equal(snapshot_read(nobody, &none, problem, sizeof(problem)), 0);
	assert_false(none.has_users);

	n = (struct node){ .has_users = true,
			   .users = users,
			   .n_users = ELEMENTSOF(users),
			   .netnses = netnses,
			   .n_netnses = ELEMENTSOF(netnses) };
	assert_int_equal(snapshot_write(&n, &text), 0);
	n = (struct node){};
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_true(back.has_users);
	assert_int_equal(back.n_users, ELEMENTSOF(users));
	assert_int_equal(back.n_netnses, ELEMENTSOF(netnses));
	for (size_t i = 0; i < ELEMENTSOF(users); i++) {
		assert_string_equal(back.users[i].target, users[i].target);
		assert_int_equal(back.users[i].use, users[i].use);
		assert_int_equal(back.users[i].pid, users[i].pid);
		assert_string_equal(back.users[i].command, users[i].command);
		assert_string_equal(back.users[i].container, users[i].container);
		assert_string_equal(back.users[i].detail, users[i].detail);
	}
	assert_true(back.netnses[0].inode == netnses[0].inode);
	assert_true(back.netnses[0].is_closed);
	assert_string_equal(back.netnses[0].name, "blue");
}

static void malformed_answers_name_the_place(_unused_ void **state)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{ "{\"modules\":{\"smc\":\"good\"}}", "smc" },
		{ "{\"modules\":{\"smc\":{\"path\":\"/x\"}}}", "smc" },
		{ "{\"modules\":{\"smc\":[]}}", "smc" },
		{ "{\"modules\":{\"smc\":{\"state\":\"loaded\",\"parameters\":{\"a\":1}}}}",
		  "smc" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(node_done) struct node n = {};
		char problem[256] = "";

		assert_int_equal(snapshot_read(cases[i].text, &n, problem, sizeof(problem)),
				 -EINVAL);
		assert_non_null(strstr(problem, cases[i].place));
	}
}

static void answers_of_the_network_come_back(_unused_ void **state)
{
	struct netdev netdev = { .ifindex = 3,
				 .name = "eth1",
				 .conf.known = 1u << NETCONF_RP_FILTER };
	struct route routes[] = {
		{ .family = AF_INET,
		  .dst = { 10, 1 },
		  .prefix_len = 16,
		  .table = RT_TABLE_MAIN,
		  .ifindex = 3,
		  .metric = 7,
		  .gateway = { 10, 1, 0, 1 },
		  .src = { 10, 1, 0, 2 },
		  .protocol = 4,
		  .scope = 253,
		  .type = 1 },
		{ .family = AF_INET6,
		  .table = 11400003,
		  .ifindex = 3,
		  .metric = 1024,
		  .gateway = { 0xfe, 0x80, [15] = 1 },
		  .protocol = 114,
		  .type = 1 },
	};
	struct rule rules[] = {
		{ .family = AF_INET,
		  .preference = 30114,
		  .table = 11400003,
		  .protocol = 114,
		  .action = 1,
		  .src = { 10, 1, 0, 2 },
		  .src_len = 32 },
		{ .family = AF_INET6,
		  .preference = 30115,
		  .table = 11400003,
		  .protocol = 114,
		  .action = 1,
		  .oif = "eth1",
		  .has_more = true },
	};
	struct neighbour neighbour = { .ifindex = 3,
				       .family = AF_INET6,
				       .address = { 0xfe, 0x80, [15] = 1 },
				       .state = 2,
				       .protocol = 114,
				       .is_managed = true };
	struct lookup lookup = { .ifindex = 3,
				 .family = AF_INET,
				 .address = { 10, 1, 0, 2 },
				 .dst = { 192, 0, 2, 1 },
				 .result = -101,
				 .found = 9 };
	const struct node n = { .netdevs = &netdev,
				.n_netdevs = 1,
				.routes = routes,
				.n_routes = 2,
				.rules = rules,
				.n_rules = 2,
				.neighbours = &neighbour,
				.n_neighbours = 1,
				.lookups = &lookup,
				.n_lookups = 1 };
	_cleanup_(node_done) struct node back = {};
	_cleanup_(freep) char *text = NULL;
	char problem[128] = "";

	netdev.conf.values[NETCONF_RP_FILTER] = 2;
	assert_int_equal(snapshot_write(&n, &text), 0);
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_memory_equal(&back.netdevs[0].conf, &netdev.conf, sizeof(netdev.conf));
	assert_int_equal(back.n_routes, 2);
	assert_memory_equal(back.routes, routes, sizeof(routes));
	assert_int_equal(back.n_rules, 2);
	assert_memory_equal(back.rules, rules, sizeof(rules));
	assert_int_equal(back.n_neighbours, 1);
	assert_memory_equal(back.neighbours, &neighbour, sizeof(neighbour));
	assert_int_equal(back.n_lookups, 1);
	assert_memory_equal(back.lookups, &lookup, sizeof(lookup));
}

static void the_way_of_each_packet_comes_back(_unused_ void **state)
{
	struct netdev netdevs[] = {
		{ .ifindex = 3, .name = "mgmt", .bond_mode = -1, .vrf_table = 77 },
		{ .ifindex = 4,
		  .name = "eth0",
		  .bond_mode = -1,
		  .inet6_flags = 0x10,
		  .sign = "dhclient (pid 812) listens for DHCP" },
	};
	struct netdev aways[] = {
		{ .ifindex = 9,
		  .name = "v9",
		  .bond_mode = -1,
		  .netns = 1,
		  .link = 4,
		  .is_link_here = true },
		{ .ifindex = 2, .name = "v2", .bond_mode = -1, .netns = 2 },
	};
	struct route routes[] = {
		{ .family = AF_INET,
		  .table = 77,
		  .via = "fe80::1",
		  .type = 7,
		  .is_dead = true,
		  .has_more = true,
		  .is_partial = true },
	};
	struct rule rules[] = {
		{ .family = AF_INET,
		  .preference = 9,
		  .action = 2,
		  .dst = { 10 },
		  .dst_len = 8,
		  .mark = 1,
		  .mask = 255,
		  .iif = "lo",
		  .to_preference = 20,
		  .suppress_prefix = -1,
		  .is_invert = true },
		{ .family = AF_INET6,
		  .preference = 1000,
		  .action = 1,
		  .is_l3mdev = true,
		  .suppress_prefix = 0 },
	};
	struct destination destinations[] = {
		{ .to = TO_API_SERVER,
		  .words = "API server, /etc/kubernetes/kubelet.conf",
		  .lookup = { .family = AF_INET,
			      .dst = { 10, 0, 0, 1 },
			      .found = 4,
			      .hops = { 4, 5 },
			      .n_hops = 2,
			      .gateway = { 10, 0, 0, 254 },
			      .source = { 10, 0, 0, 5 },
			      .protocol = 16 } },
		{ .to = TO_TUNNEL_END,
		  .lookup = { .family = AF_INET6, .dst = { 0xfd }, .mark = 7, .result = -101 } },
		{ .to = TO_STORAGE, .lookup = { .found = 4, .hops = { 4 }, .n_hops = 1 } },
		{ .to = TO_STORAGE, .pci = "0000:81:00.0" },
		{ .to = TO_MOUNT, .lookup = { .result = -EDESTADDRREQ } },
	};
	struct tunnel_end ends[] = {
		{ .ifindex = 8, .family = AF_INET, .remote = { 1, 2, 3, 4 }, .mark = 7 },
		{ .ifindex = 9, .family = AF_INET6, .local = { 0xfd } },
	};
	struct host host = {
		.name = "node1", .family = AF_INET, .address = { 10, 0, 0, 5 }, .line = 3
	};
	struct sock sock = { .family = AF_INET,
			     .protocol = 6,
			     .local_port = 22,
			     .ifindex = 3,
			     .is_listening = true };
	const struct node n = { .netdevs = netdevs,
				.n_netdevs = 2,
				.aways = aways,
				.n_aways = 2,
				.routes = routes,
				.n_routes = 1,
				.rules = rules,
				.n_rules = 2,
				.destinations = destinations,
				.n_destinations = 5,
				.tunnel_ends = ends,
				.n_tunnel_ends = 2,
				.host_name = "node1",
				.hosts = &host,
				.n_hosts = 1,
				.has_socks = true,
				.socks = &sock,
				.n_socks = 1 };
	_cleanup_(node_done) struct node back = {};
	_cleanup_(freep) char *text = NULL;
	char problem[128] = "";

	assert_int_equal(snapshot_write(&n, &text), 0);
	assert_int_equal(snapshot_read(text, &back, problem, sizeof(problem)), 0);
	assert_int_equal(back.n_netdevs, 2);
	assert_int_equal(back.n_aways, 2);
	assert_int_equal(back.n_destinations, 5);
	assert_int_equal(back.n_tunnel_ends, 2);
	assert_int_equal(back.n_hosts, 1);
	assert_int_equal(back.n_socks, 1);
	assert_true(back.has_socks);
	assert_string_equal(back.host_name, "node1");
	assert_memory_equal(back.netdevs, netdevs, sizeof(netdevs));
	assert_memory_equal(back.aways, aways, sizeof(aways));
	assert_memory_equal(back.routes, routes, sizeof(routes));
	assert_memory_equal(back.rules, rules, sizeof(rules));
	assert_memory_equal(back.destinations, destinations, sizeof(destinations));
	assert_memory_equal(back.tunnel_ends, ends, sizeof(ends));
	assert_memory_equal(back.hosts, &host, sizeof(host));
	assert_memory_equal(back.socks, &sock, sizeof(sock));
}

/* As captures wrote it before conditions had rows of their own. */
static void an_older_answer_is_read_as_it_was_meant(_unused_ void **state)
{
	static const char text[] =
		"{\"rules\": [{\"preference\": 9, \"src\": \"10.0.0.0/8\", \"table\": 5, \"more\": "
		"true},"
		" {\"preference\": 32766, \"src\": \"0.0.0.0/0\", \"table\": 254}],"
		" \"addresses\": [{\"ifindex\": 7, \"address\": \"10.0.0.1/24\"},"
		" {\"ifindex\": 3, \"address\": \"10.0.0.9/24\"},"
		" {\"ifindex\": 3, \"address\": \"10.0.0.8/24\"}]}";
	_cleanup_(node_done) struct node n = {};
	char problem[128] = "";
	size_t n_of;

	assert_int_equal(snapshot_read(text, &n, problem, sizeof(problem)), 0);
	assert_true(n.rules[0].has_more);
	assert_false(n.rules[1].has_more);
	assert_int_equal(n.rules[1].suppress_prefix, -1);
	assert_int_equal(n.rules[1].action, 1);
	assert_false(n.has_socks);
	assert_ptr_equal(node_addresses_of(&n, 7, &n_of), &n.addresses[2]);
	assert_ptr_equal(node_addresses_of(&n, 3, &n_of), &n.addresses[0]);
	assert_int_equal(n.addresses[0].local[3], 8);
}

static void the_place_of_an_entry_is_said_in_it(_unused_ void **state)
{
	static const char text[] =
		"{\"addresses\": [{\"ifindex\": 3, \"address\": \"10.0.0.8/24\", \"order\": 10},"
		" {\"ifindex\": 3, \"address\": \"10.0.0.9/24\", \"order\": 9}],"
		/* links refer to their places, so they stay */
		" \"netnses\": [{\"inode\": 9, \"name\": \"b\"}, {\"inode\": 8, \"name\": \"a\"}]}";
	static const char malformed[] = "{\"addresses\": [{\"address\": \"b\", \"order\": 1},"
					" {\"address\": \"10.0.0.9/24\", \"order\": 0}]}";
	_cleanup_(node_done) struct node n = {}, none = {};
	char problem[128] = "";

	assert_int_equal(snapshot_read(text, &n, problem, sizeof(problem)), 0);
	assert_int_equal(n.addresses[0].local[3], 9);
	assert_string_equal(n.netnses[0].name, "b");
	assert_int_equal(snapshot_read(malformed, &none, problem, sizeof(problem)), -EINVAL);
	assert_non_null(strstr(problem, "addresses: entry 0: address"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_loaded_is_read_from_sysfs),
		cmocka_unit_test(the_netdev_of_a_pppoe_session_is_read),
		cmocka_unit_test(a_tree_keeps_modules_out_by_its_own_files),
		cmocka_unit_test(a_driver_at_work_is_loaded_whatever_is_missing),
		cmocka_unit_test(a_nic_without_devices_here_may_have_another_driver),
		cmocka_unit_test(of_the_command_line_only_modules_are_recorded),
		cmocka_unit_test(answers_of_links_come_back),
		cmocka_unit_test(names_of_any_bytes_come_back),
		cmocka_unit_test(a_name_that_leads_elsewhere_is_refused),
		cmocka_unit_test(no_escape_reaches_a_terminal_by_the_log),
		cmocka_unit_test(a_capture_never_replaces_what_is_no_file),
		cmocka_unit_test(waiting_needs_the_state_alone),
		cmocka_unit_test(answers_of_modules_come_back),
		cmocka_unit_test(answers_of_functions_come_back),
		cmocka_unit_test(answers_of_users_come_back),
		cmocka_unit_test(answers_of_the_network_come_back),
		cmocka_unit_test(the_way_of_each_packet_comes_back),
		cmocka_unit_test(an_older_answer_is_read_as_it_was_meant),
		cmocka_unit_test(the_place_of_an_entry_is_said_in_it),
		cmocka_unit_test(malformed_answers_name_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
