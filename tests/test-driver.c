/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../src/driver/stack-rules.h"
#include "../src/guard/in-use-plan.h"
#include "../src/model/module-options.h"
#include "../src/model/use-facts.h"
#include "../src/step/steps.h"

#include "scene.h"

#define ERI     "0000:05:00.0" /* the RDMA function of eRDMA */
#define ENI     "0000:06:00.0" /* the function of its netdev */
#define CARD    "0000:41:00.0" /* a mlx5 */
#define GPU     "0000:81:00.0"
#define OWN_GID "fe80:0000:0000:0000:0200:00ff:fe00:0001"

/*
 * A node with one eRDMA device that is well, in standard mode, of the vendor's driver; and a
 * configuration that leaves drivers alone. Each row spoils one thing.
 */
struct scene {
	struct config config;
	struct device_config sections[2];
	struct node node;
	struct memory memory;
	struct pci pcis[8];
	struct netdev netdevs[4];
	struct ibdev ibdevs[4];
	struct port ports[4];
	struct gid gids[4];
	struct module modules[16];
	struct parameter parameters[2];
	struct user users[8];
	struct option options[8];
	struct netns netnses[4];
	struct attempt failures[2];
	struct destination destinations[1];
	const struct plan *tried;
};

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct pci *)a)->address, ((const struct pci *)b)->address);
}

static struct pci *add_pci(struct scene *s, const char *address, uint16_t vendor, uint16_t device,
			   uint32_t class, const char *driver)
{
	struct pci *pci = &s->pcis[s->node.n_pcis++];

	*pci = (struct pci){ .vendor = vendor, .device = device, .class = class };
	COPY(pci->address, address);
	COPY(pci->driver, driver);
	qsort(s->pcis, s->node.n_pcis, sizeof(*s->pcis), by_address);
	return (struct pci *)node_pci(&s->node, address);
}

static void add_netdev(struct scene *s, const char *name, const char *address)
{
	struct netdev *nd = &s->netdevs[s->node.n_netdevs++];

	*nd = (struct netdev){ .ifindex = 2 + (uint32_t)(nd - s->netdevs),
			       .mtu = 1500,
			       .is_up = true };
	COPY(nd->name, name);
	COPY(nd->pci, address);
}

static void add_ibdev(struct scene *s, const char *name, const char *address, const char *netdev)
{
	size_t i = s->node.n_ibdevs++;
	struct ibdev *ib = &s->ibdevs[i];

	s->gids[i] = (struct gid){ .index = 1, .gid = OWN_GID, .type = "RoCE v2" };
	COPY(s->gids[i].netdev, netdev);
	s->ports[i] = (struct port){ .number = 1,
				     .state = "ACTIVE",
				     .link_layer = "Ethernet",
				     .gids = &s->gids[i],
				     .n_gids = 1 };
	*ib = (struct ibdev){ .index = (uint32_t)i,
			      .node_type = "CA",
			      .uverbs = "uverbs0",
			      .umad = "umad0",
			      .ports = &s->ports[i],
			      .n_ports = 1 };
	COPY(ib->name, name);
	COPY(ib->pci, address);
	COPY(ib->netdev, netdev);
}

static struct module *module_of(struct scene *s, const char *name, enum module_state state)
{
	struct module *m = (struct module *)node_module(&s->node, name);

	if (!m) {
		m = &s->modules[s->node.n_modules++];
		COPY(m->name, name);
	}
	m->state = state;
	m->has_taint = state == MODULE_LOADED;
	return m;
}

static struct module *erdma(struct scene *s)
{
	return module_of(s, "erdma", node_module(&s->node, "erdma")->state);
}

/* NULL: as it is. "": it does not have that. */
static void set_parameter(struct scene *s, size_t i, const char *type, const char *value)
{
	if (type)
		COPY(s->parameters[i].type, type);
	if (value)
		COPY(s->parameters[i].value, value);
}

static void set_scene(struct scene *s)
{
	static const char *const loaded[] = { "ib_core", "ib_umad", "ib_uverbs", "rdma_ucm" };
	struct module *m;

	*s = (struct scene){};
	s->sections[0] = (struct device_config){ .name = "eri",
						 .count = COUNT_UNSET,
						 .match = (char *)"id:1ded:107f" };
	s->sections[1] = (struct device_config){ .name = "card",
						 .count = COUNT_UNSET,
						 .match = (char *)"id:15b3:*" };
	s->config.devices = s->sections;
	s->config.n_devices = 2;
	s->node = (struct node){
		.netns_mode = NETNS_MODE_SHARED,
		.has_rdma_cm = true,
		.pcis = s->pcis,
		.netdevs = s->netdevs,
		.ibdevs = s->ibdevs,
		.modules = s->modules,
		.users = s->users,
		.options = s->options,
		.netnses = s->netnses,
	};
	s->memory = (struct memory){ .attempts = s->failures };
	for (size_t i = 0; i < ELEMENTSOF(loaded); i++)
		module_of(s, loaded[i], MODULE_LOADED);
	m = module_of(s, "erdma", MODULE_LOADED);
	COPY(m->path, "/lib/modules/6.1/extra/erdma.ko");
	m->has_info = true;
	m->is_out_of_tree = true;
	m->parameters = s->parameters;
	m->n_parameters = 2;
	COPY(s->parameters[0].name, "compat_mode");
	COPY(s->parameters[1].name, "reserve_ports_base");
	set_parameter(s, 0, "bool", "N");
	set_parameter(s, 1, "ushort", "30608");
	add_pci(s, ERI, 0x1ded, 0x107f, 0x020000, "erdma");
	add_pci(s, ENI, 0x1af4, 0x1000, 0x020000, "virtio-pci");
	add_netdev(s, "eth1", ENI);
	add_ibdev(s, "erdma_0", ERI, "eth1");
}

static void with_card(struct scene *s)
{
	struct module *m = module_of(s, "mlx5_core", MODULE_LOADED);

	m->has_info = m->is_intree = true;
	COPY(m->path, "/lib/modules/6.1/kernel/drivers/net/mlx5_core.ko");
	add_pci(s, CARD, 0x15b3, 0x1021, 0x020000, "mlx5_core");
	add_netdev(s, "eth2", CARD);
	add_ibdev(s, "mlx5_0", CARD, "eth2");
}

/* Only that NIC, as if there had never been an eRDMA device. */
static void card_alone(struct scene *s)
{
	with_card(s);
	s->config.devices = &s->sections[1];
	s->config.n_devices = 1;
}

static void with_gpu(struct scene *s)
{
	add_pci(s, GPU, 0x10de, 0x2330, 0x030200, "nvidia");
	module_of(s, "nvidia", MODULE_LOADED);
}

static void make_plan(struct scene *s, struct plan *ret)
{
	const struct attempts tried = attempts_of(s->tried);

	assert_int_equal(make_whole_plan(&s->config, &s->node, &s->memory, &tried, true, ret), 0);
}

/* "reload-module erdma compat_mode=N->compat_mode=Y needs-reboot driver-in-use", and "hint CODE".
 */
static void describe(const struct plan *p, char *ret, size_t size)
{
	char *at = ret;

	*ret = '\0';
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		char buf_from[SHOWN_LEN], buf_to[SHOWN_LEN];
		const char *from = action_from(a, buf_from), *to = action_to(a, buf_to);

		at += snprintf(at, size - (size_t)(at - ret), "%s%s %s", at == ret ? "" : "\n",
			       verb_name(a->verb), a->target);
		if (*from || *to)
			at += snprintf(at, size - (size_t)(at - ret), " %s->%s", from, to);
		if (a->class != CLASS_CHANGE)
			at += snprintf(at, size - (size_t)(at - ret), " %s %s",
				       class_name(a->class), reason_code(a->reason));
		if (a->is_done)
			at += snprintf(at, size - (size_t)(at - ret), " failed %s",
				       reason_code(action_failure(a)));
		assert_int_equal(a->class == CLASS_CHANGE, a->reason == REASON_NONE);
	}
	for (size_t i = 0; i < p->n_reasons; i++)
		at += snprintf(at, size - (size_t)(at - ret), "%shint %s %s", at == ret ? "" : "\n",
			       reason_code(p->reasons[i].reason), p->reasons[i].target);
}

static void assert_plan(struct scene *s, const char *row, const char *expected)
{
	_cleanup_(plan_done) struct plan p = {};
	char text[2048];

	make_plan(s, &p);
	describe(&p, text, sizeof(text));
	assert_row(row, text, expected);
}

/* What the first item of the plan says beside its code. */
static void first_item(struct scene *s, struct action *ret)
{
	static struct action_texts texts; /* of @ret, until the next one is asked for */
	_cleanup_(plan_done) struct plan p = {};

	make_plan(s, &p);
	assert_true(p.n_actions > 0);
	action_texts_done(&texts);
	*ret = action_copy(&texts, &p.actions[0]);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" has no \"%s\"", text, part);
}

#define NODEPORT "\nhint ports-nodeport erdma"

/* --- what is wanted --- */

static void a_mode_that_is_not_auto_stands_for_itself(_unused_ void **state)
{
	static const enum driver_mode modes[] = { DRIVER_MODE_KEEP, DRIVER_MODE_DEFAULT,
						  DRIVER_MODE_COMPAT, DRIVER_MODE_OFED };
	struct pci gpu = { .vendor = 0x10de, .class = 0x030200 };
	struct module m = { .name = "nvidia", .state = MODULE_LOADED };

	for (size_t i = 0; i < ELEMENTSOF(modes); i++)
		for (size_t with = 0; with < 2; with++) {
			const struct config c = { .driver.mode = modes[i] };
			const struct node n = {
				.pcis = &gpu, .n_pcis = with, .modules = &m, .n_modules = with
			};

			assert_int_equal(node_driver_mode(&c, &n), modes[i]);
		}
}

static void a_gpu_is_of_nvidia_and_a_display_and_its_module_is_there(_unused_ void **state)
{
	static const struct {
		uint16_t vendor;
		uint32_t class;
		enum module_state state;
		enum driver_mode expected;
	} rows[] = {
		{ 0x10de, 0x030200, MODULE_LOADED, DRIVER_MODE_OFED },
		{ 0x10de, 0x030000, MODULE_BUILTIN, DRIVER_MODE_OFED },
		{ 0x10de, 0x030200, MODULE_AVAILABLE, DRIVER_MODE_OFED },
		{ 0x10de, 0x030200, MODULE_MISSING, DRIVER_MODE_DEFAULT },
		{ 0x10de, 0x030200, MODULE_BLACKLISTED, DRIVER_MODE_OFED }, /* but installed */
		{ 0x10de, 0x040300, MODULE_LOADED, DRIVER_MODE_DEFAULT },   /* its audio */
		{ 0x1002, 0x030000, MODULE_LOADED, DRIVER_MODE_DEFAULT },
	};
	struct config c = { .driver.mode = DRIVER_MODE_AUTO };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct pci pci = { .vendor = rows[i].vendor, .class = rows[i].class };
		struct module m = { .name = "nvidia", .state = rows[i].state };
		struct node n = { .pcis = &pci, .n_pcis = 1, .modules = &m, .n_modules = 1 };

		assert_int_equal(node_driver_mode(&c, &n), rows[i].expected);
		COPY(m.name, "nvidia_current"); /* as Debian names the file */
		assert_int_equal(node_driver_mode(&c, &n), rows[i].expected);
		COPY(m.name, "nvidia_uvm");
		assert_int_equal(node_driver_mode(&c, &n), DRIVER_MODE_DEFAULT);
		n.n_modules = 0;
		assert_int_equal(node_driver_mode(&c, &n), DRIVER_MODE_DEFAULT);
	}
}

static void options_follow_from_the_mode(_unused_ void **state)
{
	static const struct {
		enum driver_mode mode;
		uint32_t ports;
		enum netns_mode netns;
		const char *erdma, *core;
	} rows[] = {
		{ DRIVER_MODE_KEEP, 31000, NETNS_MODE_KEEP, "", "" },
		{ DRIVER_MODE_DEFAULT, 0, NETNS_MODE_KEEP, "compat_mode=N", "" },
		{ DRIVER_MODE_DEFAULT, 31000, NETNS_MODE_KEEP, "compat_mode=N", "" },
		{ DRIVER_MODE_COMPAT, 0, NETNS_MODE_KEEP, "compat_mode=Y", "" },
		{ DRIVER_MODE_COMPAT, 65520, NETNS_MODE_SHARED,
		  "compat_mode=Y reserve_ports_base=65520", "netns_mode=1" },
		{ DRIVER_MODE_OFED, 0, NETNS_MODE_EXCLUSIVE, "compat_mode=Y", "netns_mode=0" },
		{ DRIVER_MODE_OFED, 31000, NETNS_MODE_KEEP,
		  "compat_mode=Y reserve_ports_base=31000", "" },
		{ DRIVER_MODE_KEEP, 0, NETNS_MODE_EXCLUSIVE, "", "netns_mode=0" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct config c = { .driver.reserve_ports_base = rows[i].ports,
				    .rdma.netns_mode = rows[i].netns };
		struct module_options w;
		char text[64];

		module_options_wanted(&c, rows[i].mode, &w);
		assert_int_equal(module_options_text(&w, "erdma", text, sizeof(text)),
				 *rows[i].erdma != 0);
		assert_string_equal(text, rows[i].erdma);
		assert_int_equal(module_options_text(&w, "ib_core", text, sizeof(text)),
				 *rows[i].core != 0);
		assert_string_equal(text, rows[i].core);
		assert_false(module_options_text(&w, "smc", text, sizeof(text)));
	}
}

static void values_are_compared_as_the_kernel_reads_them(_unused_ void **state)
{
	static const struct {
		const char *type, *a, *b;
		bool expected;
	} rows[] = {
		{ "bool", "Y", "1", true },
		{ "bool", "on", "y", true },
		{ "bool", "", "Y", true }, /* said without a value */
		{ "bool", "off", "N", true },
		{ "bool", "0", "N", true },
		{ "bool", "N", "Y", false },
		{ "bool", "maybe", "Y", false },
		{ "ushort", "0x7790", "30608", true },
		{ "ushort", "30608", "30609", false },
		{ "ushort", "", "30608", false },
		{ "ushort", "1", "Y", false },
		{ "", "Y", "1", true }, /* of a type that nobody told */
		{ "", "30608", "0x7790", true },
		{ "", "", "Y", false },
		{ "", "x", "X", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		assert_int_equal(module_options_is_same(rows[i].type, rows[i].a, rows[i].b),
				 rows[i].expected);
		assert_int_equal(module_options_is_same(rows[i].type, rows[i].b, rows[i].a),
				 rows[i].expected);
	}
}

/* --- modes and families --- */

static void is_compat(struct scene *s)
{
	set_parameter(s, 0, NULL, "Y");
}
static void is_compat_with_ports(struct scene *s)
{
	is_compat(s);
	set_parameter(s, 1, NULL, "40000");
}
static void with_controller(struct scene *s)
{
	static struct route route = { .family = AF_INET,
				      .prefix_len = 20,
				      .table = RT_TABLE_MAIN,
				      .type = RTN_UNICAST,
				      .protocol = RTPROT_BOOT,
				      .metric = 200,
				      .dst = { 192, 168 } };

	with_gpu(s);
	route.ifindex = s->netdevs[0].ifindex;
	s->node.routes = &route;
	s->node.n_routes = 1;
}
/* On a bond, so that it is of no function. */
static void with_software_device(struct scene *s)
{
	with_controller(s);
	add_netdev(s, "bond0", "");
	add_ibdev(s, "rxe0", "", "bond0");
	((struct route *)s->node.routes)->ifindex = s->netdevs[s->node.n_netdevs - 1].ifindex;
}
static void not_loaded(struct scene *s)
{
	erdma(s)->state = MODULE_AVAILABLE;
	set_parameter(s, 0, NULL, "");
	set_parameter(s, 1, NULL, "");
	*((struct pci *)node_pci(&s->node, ERI))->driver = '\0';
	s->node.n_ibdevs = 0;
	COPY(((struct pci *)node_pci(&s->node, ERI))->module, "erdma");
}
/* The kernel's own: no parameters at all. */
static void intree(struct scene *s)
{
	erdma(s)->n_parameters = 0;
	erdma(s)->is_intree = true;
	erdma(s)->is_out_of_tree = false;
}
static void intree_not_loaded(struct scene *s)
{
	not_loaded(s);
	intree(s);
}
static void no_file_info(struct scene *s) /* compressed, and this libkmod cannot read it */
{
	not_loaded(s);
	erdma(s)->has_info = false;
	set_parameter(s, 0, "", NULL);
	set_parameter(s, 1, "", NULL);
}
static void new_driver_installed(struct scene *s) /* the kernel's own is still loaded */
{
	set_parameter(s, 0, NULL, "");
	set_parameter(s, 1, NULL, "");
}
static void old_driver_installed(struct scene *s) /* the vendor's is still loaded */
{
	set_parameter(s, 0, "", NULL);
	set_parameter(s, 1, "", NULL);
}
static void file_removed(struct scene *s)
{
	erdma(s)->has_info = false;
	*erdma(s)->path = '\0';
	old_driver_installed(s);
}
static void file_damaged(struct scene *s)
{
	erdma(s)->has_info = false;
	old_driver_installed(s);
}
static void file_damaged_compat(struct scene *s)
{
	file_damaged(s);
	is_compat(s);
}
static void file_being_built(struct scene *s)
{
	file_damaged(s);
	s->node.is_dkms_building = true;
}
static void built_for(struct scene *s, const char *vermagic)
{
	COPY(s->node.kernel, "6.1.0-30-amd64");
	COPY(erdma(s)->vermagic, vermagic);
	COPY(erdma(s)->srcversion, "ABC");
	COPY(erdma(s)->loaded_srcversion, "ABC");
}
static void of_this_kernel(struct scene *s)
{
	built_for(s, "6.1.0-30-amd64 SMP mod_unload ");
}
static void of_another_kernel(struct scene *s)
{
	built_for(s, "6.1.0-30 SMP mod_unload ");
}
static void of_a_later_kernel(struct scene *s)
{
	built_for(s, "6.1.0-30-amd64-rt SMP mod_unload ");
}
static void of_another_kernel_and_dkms(struct scene *s)
{
	of_another_kernel(s);
	s->node.is_dkms_building = true;
}
/* weak-updates: of another kernel, but with versions of all symbols, and that very file works. */
static void weak_update(struct scene *s)
{
	built_for(s, "6.1.0-29-amd64 SMP mod_unload modversions ");
}
static void weak_update_of_other_source(struct scene *s)
{
	weak_update(s);
	COPY(erdma(s)->srcversion, "DEF");
}
static void weak_update_of_unknown_source(struct scene *s)
{
	weak_update(s);
	*erdma(s)->srcversion = *erdma(s)->loaded_srcversion = '\0';
}
static void of_another_kernel_not_loaded(struct scene *s)
{
	of_another_kernel(s);
	not_loaded(s);
}
static void bad_type(struct scene *s)
{
	not_loaded(s);
	set_parameter(s, 0, "int", NULL);
}
static void built_in(struct scene *s)
{
	erdma(s)->state = MODULE_BUILTIN;
	erdma(s)->has_info = false;
	*erdma(s)->path = '\0';
	old_driver_installed(s);
}
static void built_in_compat(struct scene *s)
{
	built_in(s);
	is_compat(s);
}
static void built_in_without(struct scene *s)
{
	built_in(s);
	erdma(s)->n_parameters = 0;
}
static void missing(struct scene *s)
{
	not_loaded(s);
	erdma(s)->state = MODULE_MISSING;
	erdma(s)->has_info = false;
}
static void unknown_to_kmod(struct scene *s) /* no modalias of any module fits */
{
	missing(s);
	*((struct pci *)node_pci(&s->node, ERI))->module = '\0';
}
static void missing_and_dkms(struct scene *s)
{
	missing(s);
	s->node.is_dkms_building = true;
}
static void unknown_and_dkms(struct scene *s)
{
	unknown_to_kmod(s);
	s->node.is_dkms_building = true;
}
static void intree_and_dkms(struct scene *s)
{
	intree_not_loaded(s);
	s->node.is_dkms_building = true;
}
static void intree_loaded_and_dkms(struct scene *s)
{
	intree(s);
	s->node.is_dkms_building = true;
}
static void blacklisted(struct scene *s)
{
	not_loaded(s);
	erdma(s)->state = MODULE_BLACKLISTED;
}
static void on_cmdline(struct scene *s)
{
	not_loaded(s);
	COPY(s->node.cmdline_blacklist, "nouveau,erdma");
}
static void other_on_cmdline(struct scene *s)
{
	not_loaded(s);
	COPY(s->node.cmdline_blacklist, "erdma2,xerdma,erdm");
}
static void loaded_and_on_cmdline(struct scene *s)
{
	COPY(s->node.cmdline_blacklist, "erdma");
}
static void loaded_and_blacklisted(struct scene *s)
{
	erdma(s)->is_blacklisted = true;
}
static void given_to_vfio(struct scene *s)
{
	COPY(((struct pci *)node_pci(&s->node, ERI))->driver, "vfio-pci");
}
static void unmanaged(struct scene *s)
{
	s->config.n_devices = 0;
}
/* Another id, but the driver of that name claims it. */
static void by_driver_name(struct scene *s)
{
	((struct pci *)node_pci(&s->node, ERI))->vendor = 0x1234;
	s->sections[0].match = (char *)"driver:erdma";
}
static void by_driver_name_unbound(struct scene *s)
{
	not_loaded(s);
	by_driver_name(s);
	((struct pci *)node_pci(&s->node, ERI))->class = 0x00ff00;
}

static void each_mode_is_brought_about_or_told(_unused_ void **state)
{
	static const char unbound[] = "\nwait " ERI " waiting no-driver";
	static const struct {
		const char *name;
		enum driver_mode mode;
		void (*spoil)(struct scene *s);
		const char *expected;
		bool waits; /* the device waits for its driver beside */
	} rows[] = {
		{ "keep", DRIVER_MODE_KEEP, NULL, "", false },
		{ "keep, compat is loaded", DRIVER_MODE_KEEP, is_compat, "", false },
		{ "keep, to be loaded", DRIVER_MODE_KEEP, not_loaded, "load-module erdma", false },
		{ "default", DRIVER_MODE_DEFAULT, NULL, "", false },
		{ "default, to be loaded", DRIVER_MODE_DEFAULT, not_loaded,
		  "load-module erdma ->compat_mode=N", false },
		{ "default, in compat", DRIVER_MODE_DEFAULT, is_compat,
		  "reload-module erdma compat_mode=Y->compat_mode=N", false },
		{ "default, in-tree", DRIVER_MODE_DEFAULT, intree, "", false },
		{ "default, in-tree to be loaded", DRIVER_MODE_DEFAULT, intree_not_loaded,
		  "load-module erdma", false },
		{ "auto without GPU", DRIVER_MODE_AUTO, NULL, "", false },
		{ "auto with GPU", DRIVER_MODE_AUTO, with_gpu,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "auto with GPU and the controller's routes", DRIVER_MODE_AUTO, with_controller,
		  "hint driver-mode-kept erdma", false },
		{ "auto with GPU and a software RDMA device", DRIVER_MODE_AUTO,
		  with_software_device, "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT,
		  false },
		{ "ofed with the controller's routes", DRIVER_MODE_OFED, with_controller,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "auto without GPU, in compat", DRIVER_MODE_AUTO, is_compat,
		  "hint ports-nodeport erdma\nhint driver-mode-kept erdma", false },
		{ "compat", DRIVER_MODE_COMPAT, is_compat, "hint ports-nodeport erdma", false },
		{ "compat, to be loaded", DRIVER_MODE_COMPAT, not_loaded,
		  "load-module erdma ->compat_mode=Y" NODEPORT, false },
		{ "compat, in default", DRIVER_MODE_COMPAT, NULL,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "ofed, in default", DRIVER_MODE_OFED, NULL,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "ofed", DRIVER_MODE_OFED, is_compat, "hint ports-nodeport erdma", false },
		{ "by the driver's name", DRIVER_MODE_COMPAT, by_driver_name,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "by its name, to be loaded", DRIVER_MODE_COMPAT, by_driver_name_unbound,
		  "load-module erdma ->compat_mode=Y" NODEPORT, false },

		{ "in-tree asked for compat", DRIVER_MODE_COMPAT, intree,
		  "reload-module erdma ->compat_mode=Y impossible parameter-missing", false },
		{ "in-tree to be loaded for compat", DRIVER_MODE_COMPAT, intree_not_loaded,
		  "load-module erdma ->compat_mode=Y impossible parameter-missing", true },
		{ "in-tree asked for ofed", DRIVER_MODE_OFED, intree_not_loaded,
		  "load-module erdma ->compat_mode=Y impossible parameter-missing", true },
		{ "a file that cannot be read", DRIVER_MODE_COMPAT, no_file_info,
		  "load-module erdma ->compat_mode=Y" NODEPORT, false },
		{ "new driver, not reloaded", DRIVER_MODE_COMPAT, new_driver_installed,
		  "reload-module erdma ->compat_mode=Y" NODEPORT, false },
		{ "new driver, default", DRIVER_MODE_DEFAULT, new_driver_installed, "", false },
		{ "old driver, not reloaded", DRIVER_MODE_COMPAT, old_driver_installed,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible parameter-missing",
		  false },
		{ "loaded, but its file is gone", DRIVER_MODE_COMPAT, file_removed,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-missing" NODEPORT,
		  false },
		{ "loaded, but its file is damaged", DRIVER_MODE_COMPAT, file_damaged,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-unreadable" NODEPORT,
		  false },
		{ "damaged, to be left", DRIVER_MODE_DEFAULT, file_damaged_compat,
		  "reload-module erdma compat_mode=Y->compat_mode=N impossible module-unreadable",
		  false },
		{ "damaged, but it will do", DRIVER_MODE_DEFAULT, file_damaged, "", false },
		{ "damaged, DKMS builds", DRIVER_MODE_COMPAT, file_being_built,
		  "reload-module erdma compat_mode=N->compat_mode=Y waiting "
		  "dkms-building" NODEPORT,
		  false },
		{ "of this kernel", DRIVER_MODE_COMPAT, of_this_kernel,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "of another kernel", DRIVER_MODE_COMPAT, of_another_kernel,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-vermagic" NODEPORT,
		  false },
		{ "of one whose name begins like this", DRIVER_MODE_COMPAT, of_a_later_kernel,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-vermagic" NODEPORT,
		  false },
		{ "of another kernel, DKMS builds", DRIVER_MODE_COMPAT, of_another_kernel_and_dkms,
		  "reload-module erdma compat_mode=N->compat_mode=Y waiting "
		  "dkms-building" NODEPORT,
		  false },
		{ "weak update", DRIVER_MODE_COMPAT, weak_update,
		  "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT, false },
		{ "weak update, another was loaded", DRIVER_MODE_COMPAT,
		  weak_update_of_other_source,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-vermagic" NODEPORT,
		  false },
		{ "weak update of nobody knows what", DRIVER_MODE_COMPAT,
		  weak_update_of_unknown_source,
		  "reload-module erdma compat_mode=N->compat_mode=Y impossible "
		  "module-vermagic" NODEPORT,
		  false },
		{ "of another kernel, nothing to lose", DRIVER_MODE_COMPAT,
		  of_another_kernel_not_loaded, "load-module erdma ->compat_mode=Y" NODEPORT,
		  false },
		{ "parameter of another type", DRIVER_MODE_COMPAT, bad_type,
		  "load-module erdma ->compat_mode=Y impossible module-parameter%s" NODEPORT,
		  true },

		{ "built in", DRIVER_MODE_DEFAULT, built_in, "", false },
		{ "built in, wrong", DRIVER_MODE_COMPAT, built_in,
		  "reload-module erdma compat_mode=N->compat_mode=Y needs-reboot "
		  "driver-builtin" NODEPORT,
		  false },
		{ "built in, wrong for default", DRIVER_MODE_DEFAULT, built_in_compat,
		  "reload-module erdma compat_mode=Y->compat_mode=N needs-reboot driver-builtin",
		  false },
		{ "built in without parameter", DRIVER_MODE_COMPAT, built_in_without,
		  "reload-module erdma ->compat_mode=Y impossible parameter-missing", false },
		{ "built in without, default", DRIVER_MODE_DEFAULT, built_in_without, "", false },

		{ "missing", DRIVER_MODE_DEFAULT, missing,
		  "load-module erdma ->compat_mode=N impossible module-missing", true },
		{ "missing, nothing claims it", DRIVER_MODE_COMPAT, unknown_to_kmod,
		  "load-module erdma ->compat_mode=Y impossible module-missing\n"
		  "wait " ERI " waiting module-missing" NODEPORT,
		  false },
		{ "missing with keep", DRIVER_MODE_KEEP, missing,
		  "load-module erdma impossible module-missing", true },
		{ "dkms", DRIVER_MODE_COMPAT, missing_and_dkms,
		  "load-module erdma ->compat_mode=Y waiting dkms-building%s" NODEPORT, true },
		{ "dkms with keep", DRIVER_MODE_KEEP, missing_and_dkms,
		  "load-module erdma waiting dkms-building", true },
		{ "dkms with keep, nothing claims it", DRIVER_MODE_KEEP, unknown_and_dkms,
		  "wait " ERI " waiting dkms-building", true },
		{ "dkms, in-tree is there", DRIVER_MODE_COMPAT, intree_and_dkms,
		  "load-module erdma ->compat_mode=Y waiting dkms-building", true },
		{ "dkms, in-tree is loaded", DRIVER_MODE_COMPAT, intree_loaded_and_dkms,
		  "reload-module erdma ->compat_mode=Y waiting dkms-building", false },
		{ "dkms, in-tree will do", DRIVER_MODE_DEFAULT, intree_and_dkms,
		  "load-module erdma", false },
		{ "blacklisted", DRIVER_MODE_COMPAT, blacklisted,
		  "load-module erdma ->compat_mode=Y refused module-blacklisted%s" NODEPORT, true },
		{ "module_blacklist=", DRIVER_MODE_DEFAULT, on_cmdline,
		  "load-module erdma ->compat_mode=N refused module-forbidden", true },
		{ "module_blacklist= of others", DRIVER_MODE_DEFAULT, other_on_cmdline,
		  "load-module erdma ->compat_mode=N", false },
		{ "module_blacklist=, loaded", DRIVER_MODE_COMPAT, loaded_and_on_cmdline,
		  "reload-module erdma compat_mode=N->compat_mode=Y refused "
		  "module-forbidden" NODEPORT,
		  false },
		{ "blacklisted, loaded", DRIVER_MODE_COMPAT, loaded_and_blacklisted,
		  "reload-module erdma compat_mode=N->compat_mode=Y refused "
		  "module-blacklisted" NODEPORT,
		  false },
		{ "blacklisted, loaded and right", DRIVER_MODE_DEFAULT, loaded_and_blacklisted, "",
		  false },
		{ "not managed", DRIVER_MODE_COMPAT, unmanaged, "", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char expected[512];
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = rows[i].mode;
		if (rows[i].spoil)
			rows[i].spoil(&s);
		if (strstr(rows[i].expected, "%s"))
			snprintf(expected, sizeof(expected), rows[i].expected, unbound);
		else
			snprintf(expected, sizeof(expected), "%s%s", rows[i].expected,
				 rows[i].waits ? unbound : "");
		assert_plan(&s, rows[i].name, expected);
	}
}

static void a_function_given_to_another_driver_is_left_alone(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	given_to_vfio(&s);
	assert_plan(&s, "vfio", "");
}

static void a_long_line_of_the_log_is_quoted_from_its_beginning(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct log_line line = { .pci = ERI };
	const struct device *d;
	struct scene s;

	set_scene(&s);
	not_loaded(&s);
	memset(line.text, 'x', sizeof(line.text) - 1);
	s.node.log_lines = &line;
	s.node.n_log_lines = 1;
	make_plan(&s, &p);
	d = plan_device(&p, node_pci(&s.node, ERI));
	assert_int_equal(d->reason, REASON_NO_DRIVER);
	assert_non_null(strstr(d->detail, "; kernel log: xxx"));
	assert_int_equal(strlen(d->detail), sizeof(d->detail) - 1);
}

static void the_modules_of_all_modes_are_loaded_with_keep_as_well(_unused_ void **state)
{
	for (int mode = 0; mode < _DRIVER_MODE_N; mode++) {
		static const char *const always[] = { "ib_uverbs", "rdma_ucm", "ib_umad" };

		for (size_t k = 0; k < ELEMENTSOF(always); k++) {
			_cleanup_(plan_done) struct plan p = {};
			struct scene s;
			bool found = false;

			set_scene(&s);
			s.config.driver.mode = (enum driver_mode)mode;
			module_of(&s, always[k], MODULE_AVAILABLE);
			make_plan(&s, &p);
			for (size_t i = 0; i < p.n_actions; i++)
				found |= p.actions[i].verb == VERB_LOAD_MODULE &&
					 action_is_open(&p.actions[i]) &&
					 streq(p.actions[i].target, always[k]);
			assert_true(found);
		}
	}
}

static void ports_that_are_asked_for_are_a_parameter_too(_unused_ void **state)
{
	static const struct {
		const char *name, *type, *value;
		enum module_state state;
		const char *expected;
	} rows[] = {
		{ "right", "ushort", "31000", MODULE_LOADED, "" },
		{ "in hex", "ushort", "0x7918", MODULE_LOADED, "" },
		{ "others", "ushort", "30608", MODULE_LOADED,
		  "reload-module erdma compat_mode=Y reserve_ports_base=30608->compat_mode=Y "
		  "reserve_ports_base=31000" },
		{ "driver without them", "", "", MODULE_LOADED,
		  "reload-module erdma compat_mode=Y->compat_mode=Y reserve_ports_base=31000 "
		  "impossible parameter-missing" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a;
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = DRIVER_MODE_COMPAT;
		s.config.driver.reserve_ports_base = 31000;
		is_compat(&s);
		set_parameter(&s, 1, rows[i].type, rows[i].value);
		assert_plan(&s, rows[i].name,
			    *rows[i].expected && *rows[i].type
				    ? "reload-module erdma compat_mode=Y "
				      "reserve_ports_base=30608->compat_mode=Y "
				      "reserve_ports_base=31000"
				    : rows[i].expected); /* no hint: who has set it knows */
		if (*rows[i].type)
			continue;
		first_item(&s, &a);
		assert_has(a.detail, "/lib/modules/6.1/extra/erdma.ko");
		assert_has(a.detail, "reserve_ports_base");
		assert_has(action_advice(&a), "Remove ReservePortsBase=");
	}
}

static void built_in_and_forbidden_modules_have_an_advice_of_their_own(_unused_ void **state)
{
	struct action a;
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	built_in(&s);
	first_item(&s, &a);
	assert_has(a.advice, "erdma.");
	assert_has(a.advice, "compat_mode=Y");
	assert_string_equal(action_advice(&a), a.advice);

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_DEFAULT;
	on_cmdline(&s);
	first_item(&s, &a);
	assert_has(a.detail, "module_blacklist=nouveau,erdma");
	assert_has(a.advice, "erdma");

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	bad_type(&s);
	first_item(&s, &a);
	assert_has(a.detail, "compat_mode is of type int");
	assert_has(action_advice(&a), "of type bool");
	assert_has(action_advice(&a), "Mode=keep");

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	blacklisted(&s);
	first_item(&s, &a);
	assert_has(action_advice(&a), "install");

	set_scene(&s);
	intree(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	first_item(&s, &a);
	assert_string_equal(action_advice(&a), reason_advice(REASON_PARAMETER_MISSING));
}

/* --- in use --- */

static struct user *add_user(struct scene *s, const char *target, enum use use, uint32_t pid,
			     const char *command, const char *container, const char *detail)
{
	struct user *u = &s->users[s->node.n_users++];

	*u = (struct user){ .use = use, .pid = pid };
	COPY(u->target, target);
	COPY(u->command, command);
	COPY(u->container, container);
	COPY(u->detail, detail);
	return u;
}

static void context(struct scene *s)
{
	add_user(s, ERI, USE_CONTEXT, 812, "python3", "cri-0123", "erdma_0");
}
static void qp(struct scene *s)
{
	add_user(s, ERI, USE_QP, 813, "ib_write_bw", "", "");
}
static void cm_id(struct scene *s)
{
	add_user(s, ERI, USE_CM_ID, 814, "rping", "", "");
}
static void kernel_user(struct scene *s)
{
	add_user(s, ERI, USE_KERNEL, 0, "", "", "smc");
}
static void netdev_away(struct scene *s)
{
	add_user(s, ERI, USE_NETDEV_NETNS, 0, "", "", "eth1");
}
static void ibdev_away(struct scene *s)
{
	add_user(s, ERI, USE_IBDEV_NETNS, 0, "", "", "erdma_0");
}
static void module_user(struct scene *s)
{
	add_user(s, "erdma", USE_MODULE, 0, "", "", "held by foo");
}
static void unknown_use(struct scene *s)
{
	add_user(s, ERI, USE_UNKNOWN, 0, "", "", "/proc cannot be read");
}
static void contexts_sign(struct scene *s)
{
	s->ibdevs[0].n_contexts = 2;
}
static void contexts_unknown(struct scene *s)
{
	s->ibdevs[0].n_contexts = UINT32_MAX;
}
static void netdev_sign(struct scene *s)
{
	*s->ibdevs[0].netdev = '\0';
}
static void ibdev_sign(struct scene *s)
{
	s->node.n_ibdevs = 0;
	s->node.netns_mode = NETNS_MODE_EXCLUSIVE;
}
static void refcnt(struct scene *s)
{
	erdma(s)->refcnt = 2;
}
static void refcnt_unknown(struct scene *s)
{
	erdma(s)->refcnt = UINT32_MAX;
}
static void holders(struct scene *s)
{
	COPY(erdma(s)->holders, "erdma_test");
}
/* Not managed, but the driver's all the same. */
static void other_function(struct scene *s)
{
	s->sections[0].match = (char *)"pci:" ERI;
	add_pci(s, "0000:07:00.0", 0x1ded, 0x107f, 0x020000, "erdma");
	add_user(s, "0000:07:00.0", USE_CONTEXT, 99, "other", "", "");
}
static void user_of_another(struct scene *s)
{
	add_user(s, ENI, USE_CONTEXT, 7, "nobody", "", "");
}
static void destination(struct scene *s, enum destination_to to, bool is_rdma, const char *words)
{
	s->destinations[0] = (struct destination){ .to = to,
						   .is_rdma = is_rdma,
						   .lookup = { .family = AF_INET,
							       .dst = { 10, 9, 0, 9 },
							       .found = s->netdevs[0].ifindex } };
	COPY(s->destinations[0].words, words);
	s->node.destinations = s->destinations;
	s->node.n_destinations = 1;
}
static void root_over_rdma(struct scene *s)
{
	destination(s, TO_STORAGE, true, "nfs4 server of /");
}
static void mount_over_rdma(struct scene *s)
{
	destination(s, TO_MOUNT, true, "nfs4 server");
	context(s);
}
static void root_over_tcp(struct scene *s)
{
	destination(s, TO_STORAGE, false, "nfs4 server of /");
}
static void default_route(struct scene *s)
{
	destination(s, TO_DEFAULT, false, "");
}
static void ibdev_never_there(struct scene *s)
{
	s->node.n_ibdevs = 0;
}

static void a_driver_in_use_is_not_reloaded_and_its_users_are_named(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		const char *words[3]; /* none: it is reloaded */
	} rows[] = {
		{ "idle", NULL, {} },
		{ "open context", context, { "python3", "812", "cri-0123" } },
		{ "queue pair", qp, { "ib_write_bw", "813" } },
		{ "cm_id", cm_id, { "rping", "814" } },
		{ "kernel user", kernel_user, { "kernel-user", "smc" } },
		{ "netdev elsewhere", netdev_away, { "netdev-in-netns", "eth1" } },
		{ "ibdev elsewhere", ibdev_away, { "ibdev-in-netns", "erdma_0" } },
		{ "of the module", module_user, { "held by foo" } },
		{ "could not be told", unknown_use, { "/proc cannot be read" } },
		{ "in use: contexts", contexts_sign, { "2 open contexts" } },
		{ "in use: unknown contexts", contexts_unknown, { "cannot be counted" } },
		{ "in use: netdev elsewhere", netdev_sign, { "another network namespace" } },
		{ "in use: ibdev may be elsewhere", ibdev_sign, { "another network namespace" } },
		{ "references", refcnt, { "2 references" } },
		{ "unknown references", refcnt_unknown, { "cannot be counted" } },
		{ "holders", holders, { "erdma_test" } },
		{ "another function of the driver", other_function, { "0000:07:00.0", "other" } },
		{ "user of another module", user_of_another, {} },
		{ "no ibdev, and none can be elsewhere", ibdev_never_there, {} },
		{ "root over RDMA", root_over_rdma, { "10.9.0.9, nfs4 server of /" } },
		{ "a mount over RDMA", mount_over_rdma, { "python3", "10.9.0.9, nfs4 server" } },
		/* The module is not that of the netdev, which stays. */
		{ "the node needs the netdev", default_route, {} },
		{ "root by NFS over TCP", root_over_tcp, {} },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct action a;
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = DRIVER_MODE_COMPAT;
		s.node.has_users = true;
		if (rows[i].spoil)
			rows[i].spoil(&s);
		first_item(&s, &a);
		assert_int_equal(a.verb, VERB_RELOAD_MODULE);
		if (a.class != (rows[i].words[0] ? CLASS_NEEDS_REBOOT : CLASS_CHANGE))
			fail_msg("%s: %s (%s)", rows[i].name, class_name(a.class), a.detail);
		assert_int_equal(a.reason, rows[i].words[0] ? REASON_DRIVER_IN_USE : REASON_NONE);
		for (size_t k = 0; k < 3 && rows[i].words[k]; k++)
			assert_has(a.detail, rows[i].words[k]);
		make_plan(&s, &p);
		assert_true(questions_ask(&p.questions,
					  QUESTION_USERS)); /* to be named, or to be sure */
	}
}

static void all_users_are_named_as_far_as_there_is_room(_unused_ void **state)
{
	_cleanup_(graph_done) struct graph g = {};
	char small[100], list[12] = "";
	struct action a;
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	s.node.has_users = true;
	context(&s);
	add_user(&s, ERI, USE_QP, 812, "python3", "cri-0123", "the same one"); /* named already */
	qp(&s);
	module_user(&s);
	first_item(&s, &a);
	assert_null(strstr(a.detail, "the same one"));
	assert_has(a.detail, "812");
	assert_has(a.detail, "813");
	assert_has(a.detail, "held by foo");

	assert_int_equal(graph_make(&s.node, &g), 0);
	assert_true(in_use_of_driver(&g, &s.memory, "erdma", small, sizeof(small)));
	assert_has(small, "812");
	assert_null(strstr(small, "813"));
	assert_string_equal(small + strlen(small) - 5, "; ...");

	in_use_append(list, sizeof(list), "a");
	in_use_append(list, sizeof(list), "b");
	in_use_append(list, sizeof(list), "cccccc");
	in_use_append(list, sizeof(list), "d");
	assert_string_equal(list, "a; b; ...");
}

/* --- ports --- */

static void ports_in_the_range_of_nodeports_are_a_hint(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint32_t base; /* of ReservePortsBase= */
		const char *expected;
	} rows[] = {
		{ "the driver's own", 0, "hint ports-nodeport erdma" },
		{ "moved below", 29984, "" },
		{ "touches NodePorts", 29985, "hint ports-nodeport erdma" },
		{ "at their end", 32767, "hint ports-nodeport erdma" },
		{ "moved above", 32768, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;
		char base[16];

		set_scene(&s);
		s.config.driver.mode = DRIVER_MODE_COMPAT;
		s.config.driver.reserve_ports_base = rows[i].base;
		snprintf(base, sizeof(base), "%" PRIu32, rows[i].base ? rows[i].base : 30608);
		is_compat(&s);
		set_parameter(&s, 1, NULL, base);
		/* Who has set it knows of NodePorts. */
		assert_plan(&s, rows[i].name, rows[i].base ? "" : rows[i].expected);
		/* What is in force counts, also where it was not asked for. */
		s.config.driver.reserve_ports_base = 0;
		assert_plan(&s, rows[i].name, rows[i].expected);
		s.config.driver.mode = DRIVER_MODE_KEEP;
		assert_plan(&s, "keep", "");
	}
}

static void rxe(struct scene *s)
{
	module_of(s, "rdma_rxe", MODULE_LOADED);
}
static void rxe_and_ofed(struct scene *s)
{
	rxe(s);
	module_of(s, "ib_core", MODULE_LOADED)->is_out_of_tree = true;
}
static void no_umad(struct scene *s)
{
	*s->ibdevs[0].umad = '\0';
	rxe(s);
}

static void rxe_is_a_hint_for_builds_with_mad_only(_unused_ void **state)
{
	static const char change[] = "reload-module erdma compat_mode=N->compat_mode=Y";
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		bool expected;
	} rows[] = {
		{ "nobody", NULL, false },
		{ "rxe, umad", rxe, true },
		{ "rxe, no umad", no_umad, false },
		{ "rxe, OFED", rxe_and_ofed, true },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char expected[256], text[1024];
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = DRIVER_MODE_COMPAT;
		if (rows[i].spoil)
			rows[i].spoil(&s);
		make_plan(&s, &p);
		describe(&p, text, sizeof(text));
		snprintf(expected, sizeof(expected), "%s%s%s", change, NODEPORT,
			 rows[i].expected ? "\nhint roce-port-busy erdma" : "");
		if (!is_prefix(text, change) ||
		    (strstr(text, "roce-port-busy") != NULL) != rows[i].expected)
			fail_msg("%s: %s", rows[i].name, text);
		assert_int_equal(p.n_actions, 1); /* a hint, never an item */

		/* In force it is the driver's own. */
		is_compat(&s);
		plan_done(&p);
		make_plan(&s, &p);
		for (size_t k = 0; k < p.n_reasons; k++)
			assert_int_not_equal(p.reasons[k].reason, REASON_ROCE_PORT_BUSY);
	}
}

/* --- options of others --- */

static void add_option(struct scene *s, enum option_source source, const char *module,
		       const char *name, const char *value, const char *file, uint32_t line)
{
	struct option *o = &s->options[s->node.n_options++];

	*o = (struct option){ .source = source, .line = line };
	COPY(o->module, module);
	COPY(o->name, name);
	COPY(o->value, value);
	COPY(o->file, file);
}

static void contrary_options_are_named_with_file_and_line(_unused_ void **state)
{
	static const char vendor[] = "/etc/modprobe.d/erdma.conf";
	static const struct {
		const char *name;
		enum driver_mode mode;
		enum netns_mode netns;
		struct option option;
		const char *expected, *advice[2];
	} rows[] = {
		{ "contrary",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE, "/etc/modprobe.d/erdma.conf", 3 },
		  "set-option erdma compat_mode=N->compat_mode=Y refused option-conflict",
		  { "line 3", vendor } },
		{ "the same",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "1", OPTION_MODPROBE, "/etc/modprobe.d/erdma.conf", 3 },
		  "",
		  {} },
		{ "contrary without a value",
		  DRIVER_MODE_DEFAULT,
		  0,
		  { "erdma", "compat_mode", "", OPTION_MODPROBE, "/etc/modprobe.d/erdma.conf", 4 },
		  "set-option erdma compat_mode=->compat_mode=N refused option-conflict",
		  { "line 4", vendor } },
		{ "keep",
		  DRIVER_MODE_KEEP,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE, "/etc/modprobe.d/erdma.conf", 3 },
		  "",
		  {} },
		{ "of another parameter",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "vector_num", "8", OPTION_MODPROBE, "/etc/modprobe.d/erdma.conf", 3 },
		  "",
		  {} },
		{ "of another module",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "mlx5_core", "compat_mode", "N", OPTION_MODPROBE, "/etc/modprobe.d/x.conf", 3 },
		  "",
		  {} },
		{ "our own, early",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE,
		    "/run/modprobe.d/zz-rdma-provision.conf", 2 },
		  "",
		  {} },
		{ "our own, baked",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE,
		    "/etc/modprobe.d/zz-rdma-provision.conf", 2 },
		  "",
		  {} },
		{ "our own, over the baked one",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE,
		    "/run/modprobe.d/zzz-rdma-provision.conf", 2 },
		  "",
		  {} },
		{ "of that name elsewhere",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "compat_mode", "N", OPTION_MODPROBE,
		    "/usr/lib/modprobe.d/zz-rdma-provision.conf", 2 },
		  "set-option erdma compat_mode=N->compat_mode=Y refused option-conflict",
		  { "line 2", "/usr/lib/modprobe.d/zz-rdma-provision.conf" } },
		{ "kernel command line",
		  DRIVER_MODE_OFED,
		  0,
		  { "erdma", "compat_mode", "0", OPTION_CMDLINE, "/proc/cmdline", 0 },
		  "set-option erdma compat_mode=0->compat_mode=Y refused option-conflict",
		  { "erdma.compat_mode=0", "kernel command line" } },
		{ "netns mode",
		  DRIVER_MODE_KEEP,
		  NETNS_MODE_SHARED,
		  { "ib_core", "netns_mode", "0", OPTION_MODPROBE, "/etc/modprobe.d/rdma.conf", 1 },
		  "set-option ib_core netns_mode=0->netns_mode=1 refused option-conflict",
		  { "line 1", "/etc/modprobe.d/rdma.conf" } },
		{ "netns mode, keep",
		  DRIVER_MODE_COMPAT,
		  NETNS_MODE_KEEP,
		  { "ib_core", "netns_mode", "0", OPTION_MODPROBE, "/etc/modprobe.d/rdma.conf", 1 },
		  "",
		  {} },
		{ "smc in ofed mode",
		  DRIVER_MODE_OFED,
		  0,
		  { "smc", "", "", OPTION_LOAD, "/etc/modules-load.d/smc.conf", 1 },
		  "set-option smc refused option-conflict",
		  { "line 1", "/etc/modules-load.d/smc.conf" } },
		{ "smc in ofed mode, by the boot loader",
		  DRIVER_MODE_OFED,
		  0,
		  { "smc", "", "", OPTION_LOAD, "/proc/cmdline", 0 },
		  "set-option smc refused option-conflict",
		  { "Remove smc from modules_load= on the kernel command line", "Mode=default" } },
		{ "smc in default mode",
		  DRIVER_MODE_DEFAULT,
		  0,
		  { "smc", "", "", OPTION_LOAD, "/etc/modules-load.d/smc.conf", 1 },
		  "",
		  {} },
		{ "the driver, loaded by others",
		  DRIVER_MODE_COMPAT,
		  0,
		  { "erdma", "", "", OPTION_LOAD, "/etc/modules-load.d/erdma.conf", 3 },
		  "",
		  {} },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const char *hint =
			rows[i].mode == DRIVER_MODE_COMPAT || rows[i].mode == DRIVER_MODE_OFED
				? "hint ports-nodeport erdma"
				: "";
		char expected[256];
		struct scene s;
		struct action a;

		set_scene(&s);
		s.config.driver.mode = rows[i].mode;
		s.config.rdma.netns_mode = rows[i].netns;
		if (*hint)
			is_compat(&s);
		s.options[s.node.n_options++] = rows[i].option;
		snprintf(expected, sizeof(expected), "%s%s%s", rows[i].expected,
			 *rows[i].expected && *hint ? "\n" : "", hint);
		assert_plan(&s, rows[i].name, expected);
		if (!*rows[i].expected)
			continue;
		first_item(&s, &a);
		assert_has(action_advice(&a), rows[i].advice[0]);
		assert_has(action_advice(&a), rows[i].advice[1]);
		assert_false(action_is_open(&a));
	}
}

static void what_a_file_of_ours_still_says_is_a_hint(_unused_ void **state)
{
	static const char baked[] = "/etc/modprobe.d/zz-rdma-provision.conf";
	static const struct {
		const char *name;
		enum driver_mode mode;
		const char *module, *option, *value, *expected;
	} rows[] = {
		{ "keep", DRIVER_MODE_KEEP, "erdma", "compat_mode", "Y",
		  "hint option-stale erdma" },
		{ "asked for", DRIVER_MODE_DEFAULT, "erdma", "compat_mode", "N", "" },
		{ "asked for otherwise", DRIVER_MODE_DEFAULT, "erdma", "compat_mode", "Y", "" },
		{ "ports no more", DRIVER_MODE_DEFAULT, "erdma", "reserve_ports_base", "31000",
		  "hint option-stale erdma" },
		{ "netns mode no more", DRIVER_MODE_DEFAULT, "ib_core", "netns_mode", "0",
		  "hint option-stale ib_core" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = rows[i].mode;
		add_option(&s, OPTION_MODPROBE, rows[i].module, rows[i].option, rows[i].value,
			   baked, 3);
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		if (p.n_reasons > 0)
			assert_has(p.reasons[0].detail,
				   "line 3 of /etc/modprobe.d/zz-rdma-provision.conf");
	}
}

static void every_contrary_line_is_an_item_also_one_that_ours_overrules(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	is_compat(&s);
	add_option(&s, OPTION_MODPROBE, "erdma", "compat_mode", "N", "/etc/modprobe.d/a.conf", 1);
	add_option(&s, OPTION_MODPROBE, "erdma", "compat_mode", "Y",
		   "/run/modprobe.d/zz-rdma-provision.conf", 2);
	add_option(&s, OPTION_MODPROBE, "erdma", "compat_mode", "0", "/etc/modprobe.d/zzzz.conf",
		   9);
	make_plan(&s, &p);
	assert_int_equal(p.n_actions, 2);
	assert_has(p.actions[0].detail, "a.conf");
	assert_has(p.actions[0].detail, "overruled");
	assert_has(p.actions[1].detail, "line 9 of /etc/modprobe.d/zzzz.conf");
	assert_null(strstr(p.actions[1].detail, "overruled"));

	s.config.n_devices = 0; /* the line counts before the device is there */
	plan_done(&p);
	make_plan(&s, &p);
	assert_int_equal(p.n_actions, 2);
}

static void auto_keeps_the_mode_that_another_file_will_bring_about(_unused_ void **state)
{
	static const char x[] = "/etc/modprobe.d/x.conf";
	static const struct {
		const char *name, *value, *file;
		void (*spoil)(struct scene *s);
		const char *expected, *hint;
	} rows[] = {
		{ "to be loaded", "Y", x, not_loaded,
		  "load-module erdma ->compat_mode=Y reserve_ports_base=40000\n"
		  "hint driver-mode-kept erdma",
		  "another file or the kernel command line has compat_mode=Y; else" },
		{ "an unknown file of the module", "Y", x, no_file_info,
		  "load-module erdma ->compat_mode=Y reserve_ports_base=40000\n"
		  "hint driver-mode-kept erdma",
		  "has compat_mode=Y; else auto would be default" },
		{ "loaded", "Y", x, is_compat_with_ports, "hint driver-mode-kept erdma",
		  "it is loaded with compat_mode=Y; else" },
		{ "N", "N", x, not_loaded, "load-module erdma ->compat_mode=N", NULL },
		{ "ours", "Y", "/run/modprobe.d/zz-rdma-provision.conf", not_loaded,
		  "load-module erdma ->compat_mode=N", NULL },
		{ "loaded in default", "Y", x, NULL,
		  "set-option erdma compat_mode=Y->compat_mode=N"
		  " refused option-conflict",
		  NULL },
		/* The kernel's own has no such parameter, and leaves the option out. */
		{ "in-tree", "Y", x, intree,
		  "set-option erdma compat_mode=Y->compat_mode=N refused option-conflict", NULL },
		{ "in-tree to be loaded", "Y", x, intree_not_loaded,
		  "load-module erdma\n"
		  "set-option erdma compat_mode=Y->compat_mode=N refused option-conflict",
		  NULL },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(plan_done) struct plan p = {};
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = DRIVER_MODE_AUTO;
		s.config.driver.reserve_ports_base = 40000;
		if (rows[i].spoil)
			rows[i].spoil(&s);
		add_option(&s, OPTION_MODPROBE, "erdma", "compat_mode", rows[i].value, rows[i].file,
			   1);
		assert_plan(&s, rows[i].name, rows[i].expected);
		make_plan(&s, &p);
		if (rows[i].hint)
			assert_has(p.reasons[0].detail, rows[i].hint);
	}
}

/* --- the stack of others --- */

static void taint(struct scene *s)
{
	module_of(s, "mlx5_core", MODULE_LOADED)->is_out_of_tree = true;
}
static void taint_and_compat(struct scene *s)
{
	taint(s);
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void taint_and_core(struct scene *s)
{
	taint(s);
	module_of(s, "ib_core", MODULE_LOADED)->is_out_of_tree = true;
}
static void file_only(struct scene *s) /* installed, not reloaded: what is loaded counts */
{
	struct module *m = module_of(s, "mlx5_core", MODULE_LOADED);

	m->is_intree = false;
	COPY(m->path, "/lib/modules/6.1/updates/dkms/mlx5_core.ko.zst");
	COPY(m->version, "24.10-0.7.0");
	module_of(s, "mlx_compat", MODULE_AVAILABLE);
}
static void no_taint(struct scene *s) /* its folder cannot be read, the file can */
{
	file_only(s);
	module_of(s, "mlx5_core", MODULE_LOADED)->has_taint = false;
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void no_taint_no_file(struct scene *s)
{
	no_taint(s);
	module_of(s, "mlx5_core", MODULE_LOADED)->has_info = false;
	module_of(s, "mlx5_core", MODULE_LOADED)->has_taint = false;
}
static void no_taint_intree(struct scene *s)
{
	module_of(s, "mlx5_core", MODULE_LOADED)->has_taint = false;
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void nothing_told(struct scene *s)
{
	struct module *m = module_of(s, "mlx5_core", MODULE_LOADED);

	m->has_info = m->has_taint = false;
	*m->path = '\0';
}
static void intree_in_updates(struct scene *s) /* what the file says goes before where it is */
{
	struct module *m = module_of(s, "mlx5_core", MODULE_AVAILABLE);

	COPY(m->path, "/lib/modules/6.1/updates/mlx5_core.ko");
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void stack_built_in(struct scene *s)
{
	taint_and_compat(s);
	module_of(s, "mlx5_core", MODULE_BUILTIN);
}
static void not_loaded_updates(struct scene *s)
{
	struct module *m = module_of(s, "mlx5_core", MODULE_AVAILABLE);

	m->has_info = false;
	COPY(m->path, "/lib/modules/6.1/updates/mlx5_core.ko");
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void not_loaded_weak(struct scene *s)
{
	not_loaded_updates(s);
	COPY(module_of(s, "mlx5_core", MODULE_AVAILABLE)->path,
	     "/lib/modules/6.1/weak-updates/mlx5_core.ko");
}
static void not_loaded_extra(struct scene *s)
{
	not_loaded_updates(s);
	COPY(module_of(s, "mlx5_core", MODULE_AVAILABLE)->path,
	     "/lib/modules/6.1/extra/mlx5_core.ko");
}
static void not_loaded_not_intree(struct scene *s)
{
	struct module *m = module_of(s, "mlx5_core", MODULE_AVAILABLE);

	m->is_intree = false;
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void not_loaded_intree(struct scene *s)
{
	COPY(module_of(s, "mlx5_core", MODULE_AVAILABLE)->version, "5.0");
	module_of(s, "mlx_compat", MODULE_LOADED);
}
static void nobody_looked(struct scene *s)
{
	COPY(module_of(s, "mlx5_core", MODULE_LOADED)->name, "other");
}
static void not_there(struct scene *s)
{
	module_of(s, "mlx5_core", MODULE_MISSING);
}

static void an_ofed_stack_differs_from_the_kernels_and_a_vendors(_unused_ void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct scene *s);
		enum stack expected;
		const char *evidence;
	} rows[] = {
		{ "in-tree", NULL, STACK_KERNEL, "no taint O" },
		{ "taint alone", taint, STACK_VENDOR, "mlx_compat is not loaded" },
		{ "taint and mlx_compat", taint_and_compat, STACK_OFED, "mlx_compat is loaded" },
		{ "taint and RDMA core", taint_and_core, STACK_OFED, "ib_core is out of tree" },
		{ "only installed", file_only, STACK_KERNEL, "24.10-0.7.0" },
		{ "no taint, the file", no_taint, STACK_OFED, "taint is not told" },
		{ "no taint, the folder", no_taint_no_file, STACK_OFED, "updates/" },
		{ "no taint, in-tree", no_taint_intree, STACK_KERNEL, "taint is not told" },
		{ "a word alone", nothing_told, STACK_UNKNOWN, "taint is not told" },
		{ "in-tree in updates/", intree_in_updates, STACK_KERNEL, "intree=Y" },
		{ "built in", stack_built_in, STACK_KERNEL, "built in" },
		{ "not loaded, updates/", not_loaded_updates, STACK_OFED, "updates/" },
		{ "not loaded, weak-updates/", not_loaded_weak, STACK_OFED, "weak-updates/" },
		{ "not loaded, extra/", not_loaded_extra, STACK_OFED, "extra/" },
		{ "not loaded, no intree", not_loaded_not_intree, STACK_OFED, "no intree=Y" },
		{ "not loaded, a version alone", not_loaded_intree, STACK_KERNEL, "intree=Y" },
		{ "nobody looked", nobody_looked, STACK_UNKNOWN, "" },
		{ "missing", not_there, STACK_UNKNOWN, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char evidence[256];
		struct scene s;

		set_scene(&s);
		with_card(&s);
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_int_equal(stack_of(&s.node, "mlx5_core", evidence, sizeof(evidence)),
				 rows[i].expected);
		assert_has(evidence, rows[i].evidence);
	}
}

static void only_ofed_asks_others_for_their_stack(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum driver_mode mode;
		void (*spoil)(struct scene *s);
		const char *expected;
	} rows[] = {
		{ "keep", DRIVER_MODE_KEEP, NULL, "" },
		{ "default", DRIVER_MODE_DEFAULT, NULL, "" },
		{ "compat", DRIVER_MODE_COMPAT, NULL, "" },
		{ "auto without GPU", DRIVER_MODE_AUTO, NULL, "" },
		{ "auto with GPU", DRIVER_MODE_AUTO, with_gpu, "hint not-ofed mlx5_core" },
		{ "ofed, in-tree", DRIVER_MODE_OFED, NULL, "hint not-ofed mlx5_core" },
		{ "ofed, a vendor's", DRIVER_MODE_OFED, taint, "hint not-ofed mlx5_core" },
		{ "ofed, OFED", DRIVER_MODE_OFED, taint_and_compat, "" },
		{ "default, OFED", DRIVER_MODE_DEFAULT, taint_and_compat, "" },
		{ "ofed, not known", DRIVER_MODE_OFED, nobody_looked, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct scene s;

		set_scene(&s);
		card_alone(&s);
		s.config.driver.mode = rows[i].mode;
		if (rows[i].spoil)
			rows[i].spoil(&s);
		assert_plan(&s, rows[i].name, rows[i].expected);
	}
}

static void smc_is_not_for_ofed_mode(_unused_ void **state)
{
	struct scene s;

	for (int mode = 0; mode < _DRIVER_MODE_N; mode++) {
		_cleanup_(plan_done) struct plan p = {};
		bool found = false;

		set_scene(&s);
		is_compat(&s);
		s.config.driver.mode = (enum driver_mode)mode;
		module_of(&s, "smc", MODULE_LOADED);
		make_plan(&s, &p);
		for (size_t i = 0; i < p.n_reasons; i++)
			found |= p.reasons[i].reason == REASON_SMC_WITH_OFED;
		assert_int_equal(found, mode == DRIVER_MODE_OFED);
	}

	set_scene(&s);
	is_compat(&s);
	s.config.driver.mode = DRIVER_MODE_OFED;
	module_of(&s, "smc", MODULE_AVAILABLE);
	assert_plan(&s, "not loaded", "hint ports-nodeport erdma");

	set_scene(&s);
	card_alone(&s);
	taint_and_compat(&s);
	s.config.driver.mode = DRIVER_MODE_OFED;
	module_of(&s, "smc", MODULE_LOADED);
	assert_plan(&s, "no eRDMA", "");
}

/* --- netns mode --- */

static void namespaces_that_are_seen_are_named_before_the_mode_is_tried(_unused_ void **state)
{
	struct action a;
	struct scene s;

	set_scene(&s);
	s.config.rdma.netns_mode = NETNS_MODE_EXCLUSIVE;
	assert_plan(&s, "none is there", "set-netns-mode  shared->exclusive");

	s.netnses[0] = (struct netns){ .inode = 4026532888, .name = "blue" };
	s.netnses[1] = (struct netns){ .inode = 4026532999, .name = "/run/docker/netns/1" };
	s.node.n_netnses = 2;
	assert_plan(&s, "seen", "set-netns-mode  shared->exclusive needs-reboot netns-busy");
	first_item(&s, &a);
	assert_string_equal(a.detail, "blue; /run/docker/netns/1");

	s.node.netns_mode = NETNS_MODE_EXCLUSIVE;
	assert_plan(&s, "equal is nothing", "");
	s.config.rdma.netns_mode = NETNS_MODE_SHARED;
	assert_plan(&s, "the other way",
		    "set-netns-mode  exclusive->shared needs-reboot "
		    "netns-busy");
	s.config.rdma.netns_mode = NETNS_MODE_KEEP;
	assert_plan(&s, "keep", "");
}

static void a_namespace_that_came_in_between_is_a_reboot_as_well(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan tried = {}, again = {};
	struct scene s;

	set_scene(&s);
	s.config.rdma.netns_mode = NETNS_MODE_EXCLUSIVE;
	make_plan(&s, &tried);
	tried.actions[0].is_done = true;
	tried.actions[0].result = -EBUSY;
	tried.actions[0].error = "another network namespace exists";
	s.tried = &tried;
	make_plan(&s, &again);
	assert_int_equal(again.n_actions, 1);
	assert_int_equal(again.actions[0].class, CLASS_NEEDS_REBOOT);
	assert_int_equal(again.actions[0].reason, REASON_NETNS_BUSY);
	assert_string_equal(again.actions[0].detail, "another network namespace exists");
	assert_false(plan_has_open_changes(&again));
}

static void a_driver_that_came_into_use_in_between_is_a_reboot_as_well(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan tried = {}, again = {};
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	make_plan(&s, &tried);
	tried.actions[0].is_done = true;
	tried.actions[0].result = -EBUSY;
	s.tried = &tried;
	make_plan(&s, &again);
	assert_int_equal(again.actions[0].class, CLASS_NEEDS_REBOOT);
	assert_int_equal(again.actions[0].reason, REASON_DRIVER_IN_USE);
	assert_true(questions_ask(&again.questions, QUESTION_USERS));
}

/* The device works, in a mode that was not asked for: "wait" must not call the node ready. */
static void a_mode_that_is_not_to_be_had_makes_the_node_degraded(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, tried = {}, failed = {};
	struct scene s;

	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	make_plan(&s, &tried);
	tried.actions[0].is_done = true;
	tried.actions[0].result = -ENOENT;
	s.tried = &tried;
	make_plan(&s, &failed);
	assert_true(failed.devices[0].is_usable);
	assert_int_equal(failed.state, NODE_DEGRADED);

	s.tried = NULL;
	for (size_t i = 0; i < s.node.n_modules; i++)
		s.modules[i].n_parameters = 0; /* as of the kernel's own erdma */
	make_plan(&s, &p);
	assert_int_equal(p.actions[0].class, CLASS_IMPOSSIBLE);
	assert_true(p.devices[0].is_usable);
	assert_int_equal(p.state, NODE_DEGRADED);
}

static void what_is_still_being_built_is_waited_for(_unused_ void **state)
{
	struct scene s;

	for (int is_wait_over = 0; is_wait_over < 2; is_wait_over++) {
		_cleanup_(plan_done) struct plan p = {};

		set_scene(&s);
		intree_loaded_and_dkms(&s);
		s.config.driver.mode = DRIVER_MODE_COMPAT;
		assert_int_equal(
			make_whole_plan(&s.config, &s.node, &s.memory, NULL, is_wait_over, &p), 0);
		assert_true(p.devices[0].is_usable); /* in the other mode */
		assert_int_equal(p.state, is_wait_over ? NODE_DEGRADED : NODE_STARTING);
	}
}

/* --- nvidia_peermem --- */

static void peermem_there(struct scene *s)
{
	with_gpu(s);
	is_compat(s);
	module_of(s, "nvidia_peermem", MODULE_AVAILABLE);
}
static void peermem_loaded(struct scene *s)
{
	peermem_there(s);
	module_of(s, "nvidia_peermem", MODULE_LOADED);
}
static void peermem_missing(struct scene *s)
{
	peermem_there(s);
	module_of(s, "nvidia_peermem", MODULE_MISSING);
}
static void peermem_not_in_tree(struct scene *s)
{
	with_gpu(s);
	is_compat(s);
}
static void peermem_blacklisted(struct scene *s)
{
	peermem_there(s);
	module_of(s, "nvidia_peermem", MODULE_BLACKLISTED);
}
static void peermem_without_gpu(struct scene *s)
{
	peermem_there(s);
	s->node.n_pcis--;
}
static void peermem_before_nvidia(struct scene *s)
{
	peermem_there(s);
	module_of(s, "nvidia", MODULE_AVAILABLE);
}
static void peermem_before_core(struct scene *s)
{
	peermem_there(s);
	module_of(s, "ib_core", MODULE_AVAILABLE);
}
static void peermem_before_devices(struct scene *s)
{
	peermem_there(s);
	s->node.n_ibdevs = 0;
}
static void peermem_default(struct scene *s)
{
	peermem_there(s);
	set_parameter(s, 0, NULL, "N");
}
static void peermem_of_card(struct scene *s)
{
	peermem_there(s);
	card_alone(s);
	taint_and_compat(s);
}

static void peermem_is_loaded_late_where_it_is_asked_for(_unused_ void **state)
{
	static const char load[] = "load-module nvidia_peermem ->for 1 GPUs, 1 RDMA devices";
	static const struct {
		const char *name;
		enum driver_mode mode;
		enum peermem_mode peermem;
		void (*spoil)(struct scene *s);
		const char *expected; /* NULL: it is loaded */
	} rows[] = {
		{ "auto, compat", DRIVER_MODE_COMPAT, PEERMEM_AUTO, peermem_there, "" },
		{ "yes, compat", DRIVER_MODE_COMPAT, PEERMEM_YES, peermem_there, NULL },
		{ "auto, ofed", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_there, NULL },
		{ "auto, auto", DRIVER_MODE_AUTO, PEERMEM_AUTO, peermem_there, NULL },
		{ "auto, default", DRIVER_MODE_DEFAULT, PEERMEM_AUTO, peermem_default, "" },
		{ "auto, keep", DRIVER_MODE_KEEP, PEERMEM_AUTO, peermem_there, "" },
		{ "yes, keep", DRIVER_MODE_KEEP, PEERMEM_YES, peermem_there, NULL },
		{ "yes, default", DRIVER_MODE_DEFAULT, PEERMEM_YES, peermem_default, NULL },
		{ "no, ofed", DRIVER_MODE_OFED, PEERMEM_NO, peermem_there, "" },
		{ "loaded", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_loaded, "" },
		{ "no GPU", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_without_gpu, "" },
		{ "before nvidia", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_before_nvidia, "" },
		{ "before ib_core", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_before_core, "" },
		{ "before any RDMA device", DRIVER_MODE_KEEP, PEERMEM_YES, peermem_before_devices,
		  "wait " ERI " waiting no-ibdev" },
		{ "missing, auto", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_missing, "" },
		{ "missing, yes", DRIVER_MODE_KEEP, PEERMEM_YES, peermem_missing,
		  "hint peermem-failed nvidia_peermem" },
		{ "not in a tree, yes", DRIVER_MODE_KEEP, PEERMEM_YES, peermem_not_in_tree,
		  "hint not-recorded nvidia_peermem" },
		{ "blacklisted, auto", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_blacklisted, "" },
		{ "blacklisted, yes", DRIVER_MODE_KEEP, PEERMEM_YES, peermem_blacklisted,
		  "hint peermem-failed nvidia_peermem" },
		{ "mlx5, ofed", DRIVER_MODE_OFED, PEERMEM_AUTO, peermem_of_card,
		  "load-module nvidia_peermem ->for 1 GPUs, 2 RDMA devices" },
		{ "mlx5, compat is as default", DRIVER_MODE_COMPAT, PEERMEM_AUTO, peermem_of_card,
		  "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const char *expected = rows[i].expected ? rows[i].expected : load;
		bool is_compat_mode = rows[i].mode != DRIVER_MODE_KEEP &&
				      rows[i].mode != DRIVER_MODE_DEFAULT &&
				      rows[i].spoil != peermem_of_card;
		char text[256];
		struct scene s;

		set_scene(&s);
		s.config.driver.mode = rows[i].mode;
		s.config.driver.peermem = rows[i].peermem;
		rows[i].spoil(&s);
		snprintf(text, sizeof(text), "%s%s%s", expected,
			 is_compat_mode && *expected ? "\n" : "",
			 is_compat_mode ? "hint ports-nodeport erdma" : "");
		assert_plan(&s, rows[i].name, text);
	}
}

static void peermem_that_fails_changes_no_state_and_is_tried_for_new_devices(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {}, tried = {};
	struct scene s;

	set_scene(&s);
	s.config.driver.peermem = PEERMEM_YES;
	peermem_there(&s);
	make_plan(&s, &p);
	assert_int_equal(p.state, NODE_READY); /* nobody waits for it */
	assert_true(plan_has_open_changes(&p));
	assert_false(plan_has_needed_changes(&p));

	make_plan(&s, &tried);
	tried.actions[0].is_done = true;
	tried.actions[0].result = -ENOENT;
	s.tried = &tried;
	assert_plan(&s, "failed",
		    "load-module nvidia_peermem ->for 1 GPUs, 1 RDMA devices failed "
		    "peermem-failed");
	plan_done(&p);
	make_plan(&s, &p);
	assert_int_equal(p.state, NODE_READY);
	assert_false(plan_has_open_changes(&p));

	with_card(&s);
	assert_plan(&s, "an RDMA device appeared",
		    "load-module nvidia_peermem ->for 1 GPUs, 2 RDMA devices");
	add_pci(&s, "0000:82:00.0", 0x10de, 0x2330, 0x030200, "nvidia");
	assert_plan(&s, "a GPU appeared",
		    "load-module nvidia_peermem ->for 2 GPUs, 2 RDMA "
		    "devices");
}

static void the_plugin_does_not_wait_for_peermem(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan p = {};
	struct scene s;
	char text[512];

	set_scene(&s);
	s.config.driver.peermem = PEERMEM_YES;
	s.config.plugin.type = PLUGIN_RDMA_SHARED;
	s.config.plugin.shares = 1000;
	COPY(s.config.plugin.resource, "rdma/hca");
	COPY(s.config.plugin.config_file, "/run/rdma-provision/device-plugin/config.json");
	peermem_there(&s);
	assert_int_equal(make_whole_plan(&s.config, &s.node, &s.memory, NULL, true, &p), 0);
	describe(&p, text, sizeof(text));
	assert_string_equal(text, "load-module nvidia_peermem ->for 1 GPUs, 1 RDMA devices\n"
				  "write-plugin /run/rdma-provision/device-plugin/config.json");
}

static void a_process_that_came_in_between_is_looked_for(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *from;
		int result;
		bool expected;
	} rows[] = {
		{ VERB_SET_NUM_VFS, "4", -EBUSY, true },
		{ VERB_SET_NUM_VFS, "4", -EIO, false },
		{ VERB_SET_NUM_VFS, "0", -EBUSY, false },
		{ VERB_REBIND_DRIVER, "", -EBUSY, true },
		{ VERB_SET_NETNS_MODE, "", -EBUSY, false },
		{ VERB_SET_NETNS_MODE, "", -EPERM, false },
		{ VERB_LOAD_MODULE, "", -EADDRINUSE, false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = rows[i].verb,
				    .is_done = true,
				    .result = rows[i].result,
				    .target = "",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };
		const struct node n = {};

		action_set(&a, rows[i].from, "");
		assert_int_equal(plan_ask(&n, &p), 0);
		assert_int_equal(questions_ask(&p.questions, QUESTION_USERS), rows[i].expected);
	}
}

/* Not for what takes nothing from anybody. */
static void users_are_looked_for_when_something_is_taken(_unused_ void **state)
{
	static const struct {
		enum verb verb;
		const char *target, *from;
		bool expected;
	} rows[] = {
		{ VERB_LOAD_MODULE, "ib_umad", "", false },
		{ VERB_LOAD_MODULE, "mlx5_core", "", false },
		{ VERB_LOAD_MODULE, "erdma", "", false },
		{ VERB_RELOAD_MODULE, "erdma", "", true },
		{ VERB_SET_NUM_VFS, "0000:41:00.0", "0", false },
		{ VERB_SET_NUM_VFS, "0000:41:00.0", "4", true },
		{ VERB_SET_NETNS_MODE, "", "", false },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = {
			.verb = rows[i].verb, .target = "", .subject = "", .detail = "", .error = ""
		};
		struct plan p = { .actions = &a, .n_actions = 1 };
		const struct node n = {};

		a.target = rows[i].target;
		action_set(&a, rows[i].from, "");
		assert_int_equal(plan_ask(&n, &p), 0);
		assert_int_equal(questions_ask(&p.questions, QUESTION_USERS), rows[i].expected);
	}
}

static void peermem_is_the_last_of_the_drivers(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	s.config.driver.peermem = PEERMEM_YES;
	peermem_there(&s);
	module_of(&s, "ib_umad", MODULE_AVAILABLE);
	assert_plan(&s, "order",
		    "load-module ib_umad\n"
		    "load-module nvidia_peermem ->for 1 GPUs, 1 RDMA devices");
}

static void a_driver_container_loads_its_own(_unused_ void **state)
{
	struct scene s;

	set_scene(&s);
	card_alone(&s);
	module_of(&s, "mlx5_ib", MODULE_AVAILABLE);
	COPY(s.ibdevs[1].pci, ENI);
	assert_plan(&s, "none is there", "load-module mlx5_ib");
	s.node.is_container_loading = true;
	assert_plan(&s, "it is at work", "wait " CARD " waiting driver-container");
}

/* --- errors --- */

static void errors_of_loading_have_reasons_of_their_own(_unused_ void **state)
{
	static const struct {
		int error;
		enum reason load, reload;
	} rows[] = {
		{ ENOEXEC, REASON_MODULE_VERMAGIC, REASON_MODULE_VERMAGIC },
		{ ENOENT, REASON_MODULE_SYMBOL, REASON_MODULE_SYMBOL },
		{ ENOPKG, REASON_MODULE_MISSING, REASON_MODULE_MISSING },
		{ ESTALE, REASON_MODULE_REBUILT, REASON_MODULE_REBUILT },
		{ EKEYREJECTED, REASON_MODULE_SIGNATURE, REASON_MODULE_SIGNATURE },
		{ ENOKEY, REASON_MODULE_SIGNATURE, REASON_MODULE_SIGNATURE },
		{ EBADMSG, REASON_MODULE_SIGNATURE, REASON_MODULE_SIGNATURE },
		{ EPERM, REASON_MODULE_FORBIDDEN, REASON_MODULE_FORBIDDEN },
		{ EINVAL, REASON_MODULE_PARAMETER, REASON_MODULE_PARAMETER },
		{ ENODEV, REASON_MODULE_NO_DEVICE, REASON_MODULE_NO_DEVICE },
		{ EADDRINUSE, REASON_MODULE_PORT_TAKEN, REASON_MODULE_PORT_TAKEN },
		{ EPROTO, REASON_PARAMETER_MISMATCH, REASON_PARAMETER_MISMATCH },
		{ EBUSY, REASON_ACTION_FAILED, REASON_DRIVER_IN_USE },
		{ ETIMEDOUT, REASON_ACTION_TIMEOUT, REASON_ACTION_TIMEOUT },
		{ ENOMEM, REASON_ACTION_FAILED, REASON_ACTION_FAILED },
	};
	struct action a = {
		.is_done = true, .target = "erdma", .subject = "", .detail = "", .error = ""
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		a.result = -rows[i].error;
		a.verb = VERB_LOAD_MODULE;
		assert_int_equal(action_failure(&a), rows[i].load);
		a.verb = VERB_RELOAD_MODULE;
		assert_int_equal(action_failure(&a), rows[i].reload);
	}
	a.verb = VERB_BIND_DRIVER; /* only of modules */
	a.result = -ENOEXEC;
	assert_int_equal(action_failure(&a), REASON_ACTION_FAILED);
	a.verb = VERB_LOAD_MODULE;
	a.result = 0;
	assert_int_equal(action_failure(&a), REASON_NONE);
}

static void what_was_loaded_in_the_wrong_mode_is_reloaded_once(_unused_ void **state)
{
	_cleanup_(plan_done) struct plan tried = {}, again = {};
	struct scene s;

	/* Another program was faster than our load, with other options. */
	set_scene(&s);
	not_loaded(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	make_plan(&s, &tried);
	tried.actions[0].is_done = true;
	tried.actions[0].result = -EPROTO;
	set_scene(&s);
	s.config.driver.mode = DRIVER_MODE_COMPAT;
	s.tried = &tried;
	assert_plan(&s, "wrong mode", "reload-module erdma compat_mode=N->compat_mode=Y" NODEPORT);

	make_plan(&s, &again);
	again.actions[0].is_done = true;
	again.actions[0].result = -EPROTO;
	s.tried = &again;
	assert_plan(&s, "still",
		    "reload-module erdma compat_mode=N->compat_mode=Y failed "
		    "parameter-mismatch" NODEPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mode_that_is_not_auto_stands_for_itself),
		cmocka_unit_test(a_gpu_is_of_nvidia_and_a_display_and_its_module_is_there),
		cmocka_unit_test(options_follow_from_the_mode),
		cmocka_unit_test(values_are_compared_as_the_kernel_reads_them),
		cmocka_unit_test(each_mode_is_brought_about_or_told),
		cmocka_unit_test(a_function_given_to_another_driver_is_left_alone),
		cmocka_unit_test(a_long_line_of_the_log_is_quoted_from_its_beginning),
		cmocka_unit_test(the_modules_of_all_modes_are_loaded_with_keep_as_well),
		cmocka_unit_test(ports_that_are_asked_for_are_a_parameter_too),
		cmocka_unit_test(built_in_and_forbidden_modules_have_an_advice_of_their_own),
		cmocka_unit_test(a_driver_in_use_is_not_reloaded_and_its_users_are_named),
		cmocka_unit_test(all_users_are_named_as_far_as_there_is_room),
		cmocka_unit_test(ports_in_the_range_of_nodeports_are_a_hint),
		cmocka_unit_test(rxe_is_a_hint_for_builds_with_mad_only),
		cmocka_unit_test(contrary_options_are_named_with_file_and_line),
		cmocka_unit_test(what_a_file_of_ours_still_says_is_a_hint),
		cmocka_unit_test(every_contrary_line_is_an_item_also_one_that_ours_overrules),
		cmocka_unit_test(auto_keeps_the_mode_that_another_file_will_bring_about),
		cmocka_unit_test(an_ofed_stack_differs_from_the_kernels_and_a_vendors),
		cmocka_unit_test(only_ofed_asks_others_for_their_stack),
		cmocka_unit_test(smc_is_not_for_ofed_mode),
		cmocka_unit_test(namespaces_that_are_seen_are_named_before_the_mode_is_tried),
		cmocka_unit_test(a_namespace_that_came_in_between_is_a_reboot_as_well),
		cmocka_unit_test(a_driver_that_came_into_use_in_between_is_a_reboot_as_well),
		cmocka_unit_test(a_mode_that_is_not_to_be_had_makes_the_node_degraded),
		cmocka_unit_test(what_is_still_being_built_is_waited_for),
		cmocka_unit_test(peermem_is_loaded_late_where_it_is_asked_for),
		cmocka_unit_test(peermem_that_fails_changes_no_state_and_is_tried_for_new_devices),
		cmocka_unit_test(peermem_is_the_last_of_the_drivers),
		cmocka_unit_test(the_plugin_does_not_wait_for_peermem),
		cmocka_unit_test(a_process_that_came_in_between_is_looked_for),
		cmocka_unit_test(users_are_looked_for_when_something_is_taken),
		cmocka_unit_test(a_driver_container_loads_its_own),
		cmocka_unit_test(errors_of_loading_have_reasons_of_their_own),
		cmocka_unit_test(what_was_loaded_in_the_wrong_mode_is_reloaded_once),
	};

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
