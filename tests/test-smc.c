/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Smc: what is wanted of SMC's table, and what the table says. The answers are made here, as
 * net/smc/smc_pnet.c writes them: the module is not loaded where tests are built.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "../src/model/module-options.h"
#include "../src/model/pnet.h"
#include "../src/os/smc.h"
#include "../src/os/snapshot.h"
#include "../src/show/state.h"
#include "../src/show/tree.h"

#include "scene.h"

#define A "0000:41:00.0" /* mlx5_0, eth0, MAC 52:54:00:0a:bc:01 */
#define B "0000:81:00.0" /* erdma_0 */

/* A node with one mlx5 and one eRDMA device that are well, smc loaded and its table empty. */
struct scene {
	struct config config;
	struct device_config section;
	struct node node;
	struct memory memory;
	struct pci pcis[2];
	struct netdev netdevs[4];
	struct ibdev ibdevs[2];
	struct port ports[2];
	struct gid gids[2];
	struct module modules[8];
	struct parameter compat;
	struct pnet pnets[8];
	struct device_memory seen;
	struct attempt failures[1];
};

static struct module *module_of(struct scene *s, const char *name, enum module_state state)
{
	struct module *m = (struct module *)node_module(&s->node, name);

	if (!m) {
		m = &s->modules[s->node.n_modules++];
		COPY(m->name, name);
	}
	m->state = state;
	return m;
}

static void add_device(struct scene *s, size_t i, const char *pci, const char *netdev,
		       const char *mac, const char *ibdev)
{
	COPY(s->pcis[i].address, pci);
	s->pcis[i].class = 0x020000;
	s->netdevs[i] = (struct netdev){ .ifindex = 2 + (uint32_t)i, .is_up = true };
	COPY(s->netdevs[i].name, netdev);
	COPY(s->netdevs[i].pci, pci);
	COPY(s->netdevs[i].mac, mac);
	s->gids[i] = (struct gid){ .index = 1, .type = "RoCE v2" };
	COPY(s->gids[i].netdev, netdev);
	s->ports[i] = (struct port){ .number = 1,
				     .state = "ACTIVE",
				     .link_layer = "Ethernet",
				     .gids = &s->gids[i],
				     .n_gids = 1 };
	s->ibdevs[i] = (struct ibdev){ .node_type = "CA",
				       .uverbs = "uverbs0",
				       .umad = "umad0",
				       .ports = &s->ports[i],
				       .n_ports = 1 };
	COPY(s->ibdevs[i].name, ibdev);
	COPY(s->ibdevs[i].pci, pci);
	COPY(s->ibdevs[i].netdev, netdev);
}

static void add_pnet(struct scene *s, const char *id, const char *netdev, const char *ibdev)
{
	struct pnet *e = &s->pnets[s->node.n_pnets++];

	COPY(e->id, id);
	COPY(e->netdev, netdev);
	COPY(e->ibdev, ibdev);
	e->port = *ibdev ? 1 : 0;
}

static void set_scene(struct scene *s)
{
	static const char *const loaded[] = { "erdma",     "ib_core",  "ib_umad",
					      "ib_uverbs", "rdma_ucm", "smc" };

	*s = (struct scene){
		.section = { .name = "nic", .count = COUNT_UNSET, .match = (char *)"pci:*" }
	};
	s->config.devices = &s->section;
	s->config.n_devices = 1;
	s->config.smc.enable = SMC_YES;
	s->node = (struct node){ .kernel = "5.10.134-17.al8.x86_64",
				 .netns_mode = NETNS_MODE_SHARED,
				 .has_rdma_cm = true,
				 .pcis = s->pcis,
				 .n_pcis = 2,
				 .netdevs = s->netdevs,
				 .n_netdevs = 2,
				 .ibdevs = s->ibdevs,
				 .n_ibdevs = 2,
				 .modules = s->modules,
				 .has_pnets = true,
				 .pnets = s->pnets };
	s->memory = (struct memory){ .devices = &s->seen, .attempts = s->failures };
	for (size_t i = 0; i < ELEMENTSOF(loaded); i++)
		module_of(s, loaded[i], MODULE_LOADED);
	COPY(s->compat.name, "compat_mode");
	COPY(s->compat.value, "N");
	COPY(s->compat.type, "bool");
	module_of(s, "erdma", MODULE_LOADED)->parameters = &s->compat;
	module_of(s, "erdma", MODULE_LOADED)->n_parameters = 1;
	add_device(s, 0, A, "eth0", "52:54:00:0a:bc:01", "mlx5_0");
	add_device(s, 1, B, "eth1", "52:54:00:0a:bc:02", "erdma_0");
	COPY(s->pcis[0].driver, "mlx5_core");
	COPY(s->pcis[1].driver, "erdma");
}

/* All four entries as they should be. */
static void fill(struct scene *s)
{
	add_pnet(s, "5254000ABC01", "eth0", "");
	add_pnet(s, "5254000ABC01", "", "mlx5_0");
	add_pnet(s, "5254000ABC02", "eth1", "");
	add_pnet(s, "5254000ABC02", "", "erdma_0");
}

static void assert_plan(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[1024] = "";
	size_t n = 0;

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, NULL, true, &p), 0);
	for (size_t i = 0; i < p.n_actions; i++) {
		const struct action *a = &p.actions[i];

		if (a->step != STEP_SMC)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s %s->%s%s%s",
				      n ? "\n" : "", verb_name(a->verb), a->target, a->text.from,
				      a->text.to, a->reason ? " " : "", reason_code(a->reason));
	}
	for (size_t i = 0; i < p.n_reasons; i++)
		if (p.reasons[i].reason == REASON_SMC_ABSENT ||
		    p.reasons[i].reason == REASON_NOT_RECORDED ||
		    p.reasons[i].reason == REASON_SMC_IWARP)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%shint %s",
					      n ? "\n" : "", reason_code(p.reasons[i].reason));
	assert_row(row, text, expected);
}

#define BOTH                                                                                       \
	"set-pnetid " A " ->5254000ABC01\n"                                                        \
	"set-pnetid " B " ->5254000ABC02"

static void the_mode_decides_whether_it_is_wanted(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum smc_mode enable;
		enum driver_mode mode;
		const char *compat; /* of the driver that is loaded */
		const char *expected;
	} rows[] = {
		{ "no", SMC_NO, DRIVER_MODE_DEFAULT, "N", "" },
		{ "yes, default", SMC_YES, DRIVER_MODE_DEFAULT, "N", BOTH },
		{ "auto, default", SMC_AUTO, DRIVER_MODE_DEFAULT, "N", BOTH },
		{ "yes, auto without a GPU", SMC_YES, DRIVER_MODE_AUTO, "N", BOTH },
		{ "yes, keep", SMC_YES, DRIVER_MODE_KEEP, "N", BOTH },
		{ "auto, keep", SMC_AUTO, DRIVER_MODE_KEEP, "N", BOTH },
		{ "auto, keep, compat in force", SMC_AUTO, DRIVER_MODE_KEEP, "Y", "" },
		{ "yes, keep, compat in force", SMC_YES, DRIVER_MODE_KEEP, "1",
		  "load-module smc -> smc-with-compat" },
		{ "yes, compat", SMC_YES, DRIVER_MODE_COMPAT, "Y",
		  "load-module smc -> smc-with-compat" },
		{ "yes, compat to come", SMC_YES, DRIVER_MODE_COMPAT, "N",
		  "load-module smc -> smc-with-compat" },
		{ "yes, compat kept by auto", SMC_YES, DRIVER_MODE_AUTO, "Y",
		  "load-module smc -> smc-with-compat" },
		{ "auto, compat kept by auto", SMC_AUTO, DRIVER_MODE_AUTO, "Y", "" },
		{ "yes, default to come", SMC_YES, DRIVER_MODE_DEFAULT, "Y", "" },
		{ "auto, compat", SMC_AUTO, DRIVER_MODE_COMPAT, "Y", "" },
		{ "yes, ofed", SMC_YES, DRIVER_MODE_OFED, "Y", "load-module smc -> smc-with-ofed" },
		{ "auto, ofed", SMC_AUTO, DRIVER_MODE_OFED, "Y", "" },
	};
	struct scene s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		set_scene(&s);
		s.config.smc.enable = rows[i].enable;
		s.config.driver.mode = rows[i].mode;
		COPY(s.compat.value, rows[i].compat);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void compat_is_a_matter_of_erdma_alone(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.section.match = (char *)"driver:mlx5_core";
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	assert_plan(&s, "mlx5", "set-pnetid " A " ->5254000ABC01");
}

static void the_module_comes_first(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum smc_mode enable;
		enum module_state state;
		bool has_pnets;
		const char *expected;
	} rows[] = {
		{ "to be loaded", SMC_YES, MODULE_AVAILABLE, false, "load-module smc ->" },
		{ "auto loads it too", SMC_AUTO, MODULE_AVAILABLE, false, "load-module smc ->" },
		{ "missing", SMC_YES, MODULE_MISSING, false, "load-module smc -> module-missing" },
		{ "auto goes without", SMC_AUTO, MODULE_MISSING, false, "hint smc-absent" },
		{ "not in a tree", SMC_YES, _MODULE_STATE_N, false, "hint not-recorded" },
		{ "auto, not in a tree", SMC_AUTO, _MODULE_STATE_N, false, "hint not-recorded" },
		{ "blacklisted", SMC_YES, MODULE_BLACKLISTED, false,
		  "load-module smc -> module-blacklisted" },
		{ "auto, blacklisted", SMC_AUTO, MODULE_BLACKLISTED, false, "hint smc-absent" },
		{ "of another program", SMC_YES, MODULE_LOADED, false,
		  "load-module smc -> smc-no-table" },
		{ "auto, of another program", SMC_AUTO, MODULE_LOADED, false, "" },
		{ "built in", SMC_YES, MODULE_BUILTIN, true, BOTH },
	};
	struct scene s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		set_scene(&s);
		s.config.smc.enable = rows[i].enable;
		module_of(&s, "smc", rows[i].state);
		if (rows[i].state == _MODULE_STATE_N)
			s.node.n_modules--; /* smc is the last one */
		s.node.has_pnets = rows[i].has_pnets;
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void right(struct scene *s _unused_)
{
}

static void others_beside(struct scene *s)
{
	add_pnet(s, "MYNET", "bond0", "");
	add_pnet(s, "5254000ABC01", "lo", ""); /* there is such a netdev */
	s->netdevs[2] = (struct netdev){ .ifindex = 9, .name = "lo" };
	s->node.n_netdevs = 3;
}

static void ibdev_without(struct scene *s)
{
	s->node.n_pnets = 3;
}

static void netdev_of_another_id(struct scene *s)
{
	COPY(s->pnets[0].id, "MYNET");
}

static void another_port(struct scene *s)
{
	s->pnets[1].port = 2;
}

static void netdev_renamed(struct scene *s)
{
	COPY(s->netdevs[0].name, "rail0");
}

/* Its old name is another's now: only what is remembered tells whose the entry is. */
static void names_swapped(struct scene *s)
{
	COPY(s->netdevs[0].name, "rail0");
	COPY(s->seen.pci, A);
	COPY(s->seen.netdev, "eth0");
	s->memory.n_devices = 1;
	s->netdevs[2] = (struct netdev){ .ifindex = 9, .name = "eth0" };
	s->node.n_netdevs = 3;
}

static void ibdev_renamed(struct scene *s)
{
	COPY(s->ibdevs[1].name, "erdma_9");
}

static void mac_changed(struct scene *s)
{
	COPY(s->netdevs[0].mac, "52:54:00:0a:bc:77");
}

static void no_mac(struct scene *s)
{
	s->node.n_pnets = 0;
	COPY(s->netdevs[0].mac, "00:00:00:00:00:00");
	COPY(s->netdevs[1].mac, "80:00:02:08:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:7a:3f:4c");
}

static void infiniband(struct scene *s)
{
	s->node.n_pnets = 0;
	COPY(s->ports[0].link_layer, "InfiniBand");
	s->node.n_ibdevs = 1; /* and erdma_0 is not there */
}

static void the_table_is_compared_with_the_devices(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "right", right, "" },
		{ "others beside", others_beside, "" },
		{ "one is missing", ibdev_without, "set-pnetid " B " ->5254000ABC02" },
		{ "another id", netdev_of_another_id, "set-pnetid " A " MYNET->5254000ABC01" },
		{ "another port", another_port, "set-pnetid " A " ->5254000ABC01" },
		{ "renamed netdev", netdev_renamed, "set-pnetid " A " ->5254000ABC01" },
		{ "its old name is another's", names_swapped, "set-pnetid " A " ->5254000ABC01" },
		{ "renamed RDMA device", ibdev_renamed, "set-pnetid " B " ->5254000ABC02" },
		{ "another MAC", mac_changed, "set-pnetid " A " 5254000ABC01->5254000ABC77" },
		{ "no MAC of Ethernet", no_mac, "" },
		{ "no RoCE", infiniband, "" },
	};
	struct scene s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		set_scene(&s);
		fill(&s);
		rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void iwarp_takes_a_kernel_that_knows_it(_unused_ void **state)
{
	static const struct {
		const char *kernel;
		bool is_taken;
	} rows[] = {
		{ "5.10.134-17.3.al8.x86_64", true },
		{ "5.10.134-16.al8.x86_64", false },
		{ "5.10.134-17.al8.aarch64", true },
		{ "5.10.134-17.an8.x86_64", false },
		{ "5.10.134-17.al7.x86_64", false },
		{ "6.6.102-5.alnx4.x86_64", false },
		{ "5.10.134-17.lifsea8.x86_64", false },
		{ "5.10.0-30-amd64", false },
		{ "6.12.48+deb13-amd64", false },
		{ "4.19.91-27.al7.x86_64", false },
		{ "5.10.134-013.15.kangaroo.al8.x86_64", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		s.section.match = (char *)"driver:erdma";
		COPY(s.node.kernel, rows[i].kernel);
		COPY(s.ibdevs[1].node_type, "RNIC");
		assert_plan(&s, rows[i].kernel,
			    rows[i].is_taken ? "set-pnetid " B " ->5254000ABC02"
					     : "set-pnetid " B " -> smc-iwarp");
		s.config.smc.enable = SMC_AUTO;
		assert_plan(&s, rows[i].kernel,
			    rows[i].is_taken ? "set-pnetid " B " ->5254000ABC02"
					     : "hint smc-iwarp");
		/* Of eRDMA the page counts, whatever the device says. */
		COPY(s.ibdevs[1].node_type, "CA");
		assert_plan(&s, rows[i].kernel,
			    rows[i].is_taken ? "set-pnetid " B " ->5254000ABC02"
					     : "hint smc-iwarp");
	}
}

static void what_is_in_a_pod_or_not_managed_is_left_alone(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.section.match = (char *)"driver:erdma";
	s.node.n_netdevs = 1; /* the netdev of erdma_0 is in another namespace */
	COPY(s.seen.pci, B);
	COPY(s.seen.ibdev, "erdma_0");
	COPY(s.seen.netdev, "eth1");
	s.seen.was_usable = true;
	s.memory.n_devices = 1;
	assert_plan(&s, "in a pod", "");
}

static void foreign_entries_are_known_from_ours(_unused_ void **state)
{
	static const struct {
		struct pnet entry;
		enum pnet_worth expected;
	} rows[] = {
		{ { "5254000ABC01", "eth0", "", 0 }, PNET_RIGHT },
		{ { "5254000ABC01", "", "mlx5_0", 1 }, PNET_RIGHT },
		{ { "5254000ABC01", "", "mlx5_0", 2 }, PNET_WRONG },
		{ { "MYNET", "", "mlx5_0", 1 }, PNET_WRONG },
		{ { "MYNET", "eth0", "", 0 }, PNET_WRONG },
		{ { "MYNET", "eth00", "", 0 }, PNET_FOREIGN },
		{ { "MYNET", "gone", "", 0 }, PNET_FOREIGN },
		{ { "5254000ABC02", "eth1", "", 0 }, PNET_FOREIGN },
		{ { "5254000ABC01", "eth1", "", 0 }, PNET_FOREIGN }, /* over another netdev */
		{ { "5254000ABC01", "gone", "", 0 }, PNET_WRONG },
		{ { "5254000ABC01", "", "erdma_0", 1 }, PNET_FOREIGN },
		{ { "5254000ABC01", "", "gone", 1 }, PNET_WRONG },
	};
	struct pnet_wish w;
	struct scene s;

	set_scene(&s);
	assert_true(pnet_wish(&s.memory, A, &s.netdevs[0], &s.ibdevs[0], &w));
	assert_string_equal(w.id, "5254000ABC01");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_int_equal(pnet_judge(&s.node, &w, &rows[i].entry), rows[i].expected);

	/* It was called eth1 before, which is another's name now. */
	COPY(w.old_netdev, "eth1");
	COPY(w.old_ibdev, "erdma_0");
	assert_int_equal(pnet_judge(&s.node, &w, &rows[8].entry), PNET_WRONG);
	assert_int_equal(pnet_judge(&s.node, &w, &rows[10].entry), PNET_WRONG);
}

static int tell(struct smc_table *t, const char *id, const char *netdev, const char *ibdev,
		int port)
{
	_cleanup_(nlmsg_freep) struct nl_msg *m = nlmsg_alloc();

	assert_non_null(m);
	assert_non_null(genlmsg_put(m, 0, 1, 33, 0, NLM_F_MULTI, SMC_PNETID_GET, 1));
	if (id)
		nla_put_string(m, SMC_PNETID_NAME, id);
	if (netdev)
		nla_put_string(m, SMC_PNETID_ETHNAME, netdev);
	if (ibdev)
		nla_put_string(m, SMC_PNETID_IBNAME, ibdev);
	if (port >= 0)
		nla_put_u8(m, SMC_PNETID_IBPORT, (uint8_t)port);
	return smc_on_entry(nlmsg_hdr(m), t);
}

static void entries_of_the_kernel_are_read(_unused_ void **state)
{
	struct smc_table t = {};

	assert_int_equal(tell(&t, "ABC", "eth0", "n/a", 0xff), 0);
	assert_int_equal(tell(&t, "ABCDEFGHIJKLMNOP", "n/a", "mlx5_0", 2), 0);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.entries[0].id, "ABC");
	assert_string_equal(t.entries[0].netdev, "eth0");
	assert_string_equal(t.entries[0].ibdev, "");
	assert_int_equal(t.entries[0].port, 0);
	assert_string_equal(t.entries[1].netdev, "");
	assert_string_equal(t.entries[1].ibdev, "mlx5_0");
	assert_int_equal(t.entries[1].port, 2);

	assert_int_equal(tell(&t, NULL, "eth0", "n/a", 0xff), -EBADMSG);
	assert_int_equal(tell(&t, "ABCDEFGHIJKLMNOPQ", "eth0", "n/a", 0xff), -EBADMSG);
	assert_int_equal(tell(&t, "ABC", "n/a", "n/a", 0xff), -EBADMSG);
	assert_int_equal(tell(&t, "ABC", "eth0", "mlx5_0", 1), -EBADMSG);
	assert_int_equal(tell(&t, "ABC", "a-netdev-with-a-long-name", "n/a", 0xff), -EBADMSG);
	assert_int_equal(t.n, 2);
	free(t.entries);
}

static void the_table_is_read_and_captured(_unused_ void **state)
{
	_cleanup_(freep) char *answers = NULL, *json = NULL, *tree = NULL, *absent = NULL;
	_cleanup_(node_done) struct node again = {};
	struct plan p = {};
	char problem[128];
	struct scene s;

	set_scene(&s);
	fill(&s);
	assert_int_equal(snapshot_write(&s.node, &answers), 0);
	assert_int_equal(snapshot_read(answers, &again, problem, sizeof(problem)), 0);
	assert_true(again.has_pnets);
	assert_int_equal(again.n_pnets, 4);
	assert_memory_equal(again.pnets, s.pnets, 4 * sizeof(*s.pnets));

	assert_int_equal(output_state(&s.config, &s.node, &s.memory, &p, &json), 0);
	assert_int_equal(output_tree(json, TREE_ALL, &(struct screen){ .width = 0 }, &tree), 0);
	assert_non_null(strstr(tree, "\nSMC-R          5254000ABC01 eth0 n/a 255\n"
				     "               5254000ABC01 n/a mlx5_0 1\n"
				     "               5254000ABC02 eth1 n/a 255\n"
				     "               5254000ABC02 n/a erdma_0 1\n"));

	s.config.smc.enable = SMC_NO;
	s.node.has_pnets = false;
	s.node.n_pnets = 0;
	assert_int_equal(output_state(&s.config, &s.node, &s.memory, &p, &absent), 0);
	assert_null(strstr(absent, "\"smc\""));
}

static void a_captured_table_has_entries_of_one_device_each(_unused_ void **state)
{
	static const struct {
		const char *json;
		int expected;
	} rows[] = {
		{ "{\"pnets\":[]}", 0 },
		{ "{\"pnets\":[{\"id\":\"A\",\"netdev\":\"eth0\"}]}", 0 },
		{ "{\"pnets\":[{\"id\":\"A\",\"ibdev\":\"mlx5_0\",\"port\":2}]}", 0 },
		{ "{\"pnets\":[{\"id\":\"A\"}]}", -EINVAL },
		{ "{\"pnets\":[{\"netdev\":\"eth0\"}]}", -EINVAL },
		{ "{\"pnets\":[{\"id\":\"A\",\"ibdev\":\"mlx5_0\"}]}", -EINVAL },
		{ "{\"pnets\":[{\"id\":\"A\",\"netdev\":\"eth0\",\"ibdev\":\"x\",\"port\":1}]}",
		  -EINVAL },
		{ "{\"pnets\":[{\"id\":\"ABCDEFGHIJKLMNOPQ\",\"netdev\":\"eth0\"}]}", -EINVAL },
	};
	char problem[128];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(node_done) struct node n = {};

		assert_int_equal(snapshot_read(rows[i].json, &n, problem, sizeof(problem)),
				 rows[i].expected);
		if (rows[i].expected == 0)
			assert_true(n.has_pnets);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mode_decides_whether_it_is_wanted),
		cmocka_unit_test(compat_is_a_matter_of_erdma_alone),
		cmocka_unit_test(the_module_comes_first),
		cmocka_unit_test(the_table_is_compared_with_the_devices),
		cmocka_unit_test(iwarp_takes_a_kernel_that_knows_it),
		cmocka_unit_test(what_is_in_a_pod_or_not_managed_is_left_alone),
		cmocka_unit_test(foreign_entries_are_known_from_ours),
		cmocka_unit_test(entries_of_the_kernel_are_read),
		cmocka_unit_test(the_table_is_read_and_captured),
		cmocka_unit_test(a_captured_table_has_entries_of_one_device_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
