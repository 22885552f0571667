/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <libkmod.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../src/command/options.h"
#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/module/modprobe-observe.h"
#include "../src/os/memory-file.h"
#include "tree.h"

static struct tree tree;

static int make_root(_unused_ void **state)
{
	tree_make(&tree);
	return 0;
}

static int empty_root(_unused_ void **state)
{
	tree_empty(&tree);
	return 0;
}

static int remove_root(_unused_ void **state)
{
	tree_remove(&tree);
	return 0;
}

/* "module.name=value@file:line" of each option, separated by blanks; a load is "+module@file:line".
 */
static const char *told(void)
{
	static char text[4096];
	_cleanup_(node_done) struct node n = {};
	size_t at = 0;

	assert_int_equal(observe_options(&tree.fs, &n), 0);
	text[0] = '\0';
	for (size_t i = 0; i < n.n_options; i++) {
		const struct option *o = &n.options[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s%s%s%s%s@%s:%u",
				       i > 0 ? " " : "", o->source == OPTION_LOAD ? "+" : "",
				       o->module, *o->name ? "." : "", o->name,
				       *o->value ? "=" : "", o->value, o->file, o->line);
		assert_true(at < sizeof(text));
	}
	return text;
}

/* The last value that the options of a node have for a parameter. */
static const char *last_value(const struct node *n, const char *module, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < n->n_options; i++)
		if (n->options[i].source != OPTION_LOAD && streq(n->options[i].module, module) &&
		    streq(n->options[i].name, name))
			value = n->options[i].value;
	return value;
}

#define C "/etc/modprobe.d/a.conf"

static void options_are_read_as_kmod_and_the_kernel_read_them(_unused_ void **state)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{ "", "" },
		{ "options erdma compat_mode=Y", "erdma.compat_mode=Y@" C ":1" },
		{ "# no\n\n\toptions \t erdma  a=1\t b=2 \n",
		  "erdma.a=1@" C ":3 erdma.b=2@" C ":3" },
		{ "options ib-core netns-mode=0\n", "ib_core.netns_mode=0@" C ":1" },
		{ "options erdma compat_mode\n", "erdma.compat_mode@" C ":1" },
		{ "options erdma a= b=\n", "erdma.a@" C ":1 erdma.b@" C ":1" },
		{ "options erdma a=\"x y\" b=1\n", "erdma.a=x y@" C ":1 erdma.b=1@" C ":1" },
		{ "options erdma \"a=x y\" b=1\n", "erdma.a=x y@" C ":1 erdma.b=1@" C ":1" },
		{ "options erdma a=\" b=1\n", "erdma.a= b=1@" C ":1" },
		{ "options erdma a=\"\n", "erdma.a@" C ":1" },
		{ "options erdma \"\n", "" },
		{ "options erdma a=b=c\n", "erdma.a=b=c@" C ":1" },
		{ "options erdma =1 a=2\n", "erdma.a=2@" C ":1" },
		/* continued, also in a comment and at the end of the file */
		{ "options erdma \\\n a=1 \\\n b=2\noptions x y=3\n",
		  "erdma.a=1@" C ":1 erdma.b=2@" C ":1 x.y=3@" C ":4" },
		{ "opt\\\nions er\\\ndma a=\\\n1\n", "erdma.a=1@" C ":1" },
		{ "# no \\\noptions erdma a=1\noptions erdma b=2", "erdma.b=2@" C ":3" },
		{ "options erdma a=1\\", "erdma.a=1@" C ":1" },
		{ "options erdma a=\\x\\\\y\n", "erdma.a=x\\y@" C ":1" },
		/* what is no option */
		{ " # options erdma a=1\n", "" },
		{ "options\noptions erdma\nOptions erdma a=1\noptionserdma a=1\n", "" },
		{ "alias erdma off\nblacklist erdma\nsoftdep erdma pre: ib_uverbs\n", "" },
		{ "install erdma /bin/false a=1\n", "" },
		{ "options erdma a=1 # b=2\r\n",
		  "erdma.a=1@" C ":1 erdma.#@" C ":1 erdma.b=2@" C ":1" },
		/* no such name can be */
		{ "options x0123456789012345678901234567890123456789012345678901234567890123456789 "
		  "a=1\noptions erdma "
		  "x0123456789012345678901234567890123456789012345678901234567890123456789=1\n",
		  "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		tree_empty(&tree);
		tree_file(&tree, "etc/modprobe.d/a.conf", cases[i].text);
		assert_string_equal(told(), cases[i].told);
	}
}

/* libkmod itself gets the same last value from the same text. */
static void the_last_value_is_the_one_libkmod_passes(_unused_ void **state)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "lib/modprobe.d/50.conf", "options er-dma a=of_lib\n" },
		{ "usr/lib/modprobe.d/50.conf", "options er-dma a=of_usr b=\\\nof_usr c=1 \\\n" },
		{ "run/modprobe.d/40.conf", "options er_dma a=of_40 d=of_40\n# \\\noptions er_dma "
					    "d=no\noptions er-dma e=of_40" },
		{ "etc/modprobe.d/60.conf", "options er_dma a=of_60 f=\\x\n" },
		{ "usr/local/lib/modprobe.d/60.conf", "options er_dma a=hidden\n" },
		{ "etc/modprobe.d/70.conf.bak", "options er_dma a=no_file\n" },
		{ "etc/modprobe.d/.70.conf", "options er_dma a=no_file\n" },
	};
	static const char *const folders[] = { "etc", "run", "usr/local/lib", "usr/lib", "lib" };
	char paths[ELEMENTSOF(folders)][PATH_MAX], text[256];
	const char *config[ELEMENTSOF(folders) + 1] = {};
	_cleanup_(node_done) struct node n = {};
	struct kmod_module *m = NULL;
	struct kmod_ctx *ctx;
	const char *options, *last[128] = {};
	char *rest;

	for (size_t i = 0; i < ELEMENTSOF(files); i++)
		tree_file(&tree, files[i].path, files[i].text);
	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%s/modprobe.d", tree.root, folders[i]);
		config[i] = paths[i];
	}
	ctx = kmod_new(tree.root, config);
	assert_non_null(ctx);
	kmod_set_log_fn(ctx, NULL, NULL);
	assert_int_equal(kmod_module_new_from_name(ctx, "er_dma", &m), 0);
	options = kmod_module_get_options(m);
	assert_non_null(options);
	assert_true(COPY(text, options));
	kmod_module_unref(m);
	kmod_unref(ctx);

	assert_int_equal(observe_options(&tree.fs, &n), 0);
	assert_string_equal(last_value(&n, "er_dma", "a"), "of_60");
	assert_null(strstr(text, "hidden"));
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		last[word[0] & 0x7f] = word + 2;
	for (char c = 'a'; c <= 'f'; c++) {
		assert_non_null(last[(int)c]);
		assert_string_equal(last_value(&n, "er_dma", (char[]){ c, '\0' }), last[(int)c]);
	}
}

static void a_file_hides_those_of_its_name_in_later_folders(_unused_ void **state)
{
	tree_file(&tree, "etc/modprobe.d/b.conf", "options e a=etc\n");
	tree_file(&tree, "run/modprobe.d/b.conf", "options e a=run\n");
	tree_file(&tree, "run/modprobe.d/a.conf", "options e a=first\n");
	tree_link(&tree, "etc/modprobe.d/c.conf", "/dev/null");
	tree_file(&tree, "usr/lib/modprobe.d/c.conf", "options e a=masked\n");
	tree_link(&tree, "run/modprobe.d/d.conf", "nowhere");
	tree_file(&tree, "lib/modprobe.d/d.conf", "options e a=masked\n");
	tree_file(&tree, "lib/modprobe.d/z.conf", "options e a=last\n");
	tree_file(&tree, "etc/modprobe.d/.conf", "options e a=no_name\n");
	assert_string_equal(told(), "e.a=first@/run/modprobe.d/a.conf:1 "
				    "e.a=etc@/etc/modprobe.d/b.conf:1 "
				    "e.a=last@/lib/modprobe.d/z.conf:1");
}

/* Libkmod reads them, systemd-modules-load does not. */
static void alias_files_count_for_modprobe_alone(_unused_ void **state)
{
	tree_file(&tree, "etc/modprobe.d/a.alias", "options e a=alias\n");
	tree_file(&tree, "usr/lib/modprobe.d/a.alias", "options e a=hidden\n");
	tree_file(&tree, "etc/modprobe.d/.alias", "options e a=no_name\n");
	tree_file(&tree, "etc/modules-load.d/a.alias", "e\n");
	assert_string_equal(told(), "e.a=alias@/etc/modprobe.d/a.alias:1");
}

/* They would move the cursor of a terminal that shows the log or the plan. */
static void what_is_not_printable_never_reaches_a_terminal(_unused_ void **state)
{
	tree_file(&tree, "etc/modprobe.d/a\033[2J.conf", "options e\033 a\001=\033[31mY\n");
	tree_file(&tree, "proc/cmdline", "erdma.x=\033]0;\n");
	assert_string_equal(told(), "e?.a?=?[31mY@/etc/modprobe.d/a?[2J.conf:1 "
				    "erdma.x=?]0;@/proc/cmdline:0");
}

/* The kernel takes it to its end; a copy is one byte longer than it is. */
static void a_quote_of_the_command_line_may_stay_open(_unused_ void **state)
{
	tree_file(&tree, "proc/cmdline", "erdma.x=\"a b\n");
	assert_string_equal(told(), "erdma.x=a b@/proc/cmdline:0");
}

static void the_command_line_counts_after_the_files(_unused_ void **state)
{
	tree_file(&tree, "etc/modprobe.d/a.conf", "options erdma compat_mode=N\n");
	tree_file(&tree, "proc/cmdline",
		  "BOOT_IMAGE=/vmlinuz root=UUID=1 ro erdma.compat_mode=1 quiet "
		  "ib-core.netns-mode=\"0\" \"smc.y=a b\" erdma.flag modules_load=a,b-c "
		  "rd.modules_load=d\n");
	tree_file(&tree, "etc/modules-load.d/z.conf",
		  "# a comment\n ; another\n\n erdma \nib-uverbs\n");
	tree_file(&tree, "usr/lib/modules-load.d/a.conf", "first\\\nsecond");
	assert_string_equal(told(),
			    "erdma.compat_mode=N@" C ":1 "
			    "erdma.compat_mode=1@/proc/cmdline:0 "
			    "ib_core.netns_mode=0@/proc/cmdline:0 smc.y=a b@/proc/cmdline:0 "
			    "+a@/proc/cmdline:0 +b_c@/proc/cmdline:0 +d@/proc/cmdline:0 "
			    "+first\\@/usr/lib/modules-load.d/a.conf:1 "
			    "+second@/usr/lib/modules-load.d/a.conf:2 "
			    "+erdma@/etc/modules-load.d/z.conf:4 "
			    "+ib_uverbs@/etc/modules-load.d/z.conf:5");
}

static void garbage_does_no_harm(_unused_ void **state)
{
	static const char nul[] = "options e a=1\0 b=2\noptions e c=3\n\0\0\noptions e \0d=4\n";
	static char large[(1 << 20) + 1];
	char full[PATH_MAX];

	/* A NUL ends its line, as for libkmod. */
	tree_bytes(&tree, "etc/modprobe.d/a.conf", nul, sizeof(nul) - 1);
	assert_string_equal(told(), "e.a=1@" C ":1 e.c=3@" C ":2");

	/* One line of 1 MiB, that is one value that nobody wants, and a file over it. */
	memset(large, 'x', sizeof(large));
	memcpy(large, "options e a=1", 13);
	tree_bytes(&tree, "etc/modprobe.d/a.conf", large, 1 << 20);
	assert_string_equal(told(), "e.a=1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				    "xxxxxxx@" C ":1");
	tree_bytes(&tree, "etc/modprobe.d/a.conf", large, sizeof(large));
	tree_file(&tree, "etc/modprobe.d/b.conf", "options e a=2\n");
	assert_string_equal(told(), "e.a=2@/etc/modprobe.d/b.conf:1");

	/* A folder in the place of a file, a file in the place of a folder. */
	tree_empty(&tree);
	tree_file(&tree, "etc/modprobe.d/a.conf/x", "");
	tree_file(&tree, "run/modprobe.d", "");
	assert_string_equal(told(), "");

	/* Nobody reads all of these, and the last ones would be those that count. */
	tree_empty(&tree);
	memset(large, ' ', 1 << 20);
	memcpy(large, "options e", 9);
	for (size_t i = 0; i < 8193; i++)
		memcpy(large + 16 + i * 4, "a=1", 3);
	tree_bytes(&tree, "etc/modprobe.d/a.conf", large, 1 << 20);
	{
		_cleanup_(node_done) struct node n = {};

		assert_int_equal(observe_options(&tree.fs, &n), -E2BIG);
	}

	tree_empty(&tree);
	snprintf(full, sizeof(full), "%s/etc", tree.root);
	assert_int_equal(mkdir(full, 0755), 0);
	snprintf(full, sizeof(full), "%s/etc/modprobe.d", tree.root);
	assert_int_equal(mkfifo(full, 0600), 0);
	assert_string_equal(told(), "");
}

static char *content(const char *path)
{
	char *text = NULL;
	size_t size;

	return fs_read_all(&tree.fs, path, 1 << 20, false, &text, &size) < 0 ? NULL : text;
}

static void assert_content(const char *path, const char *expected)
{
	_cleanup_(freep) char *text = content(path);

	if (!expected) {
		assert_false(fs_exists(&tree.fs, path));
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, expected);
}

#define HEAD    "# Written by rdma-provision(8) from its configuration; changes here are lost.\n"
#define ERDMA   "# [Driver] Mode=, ReservePortsBase=\noptions erdma "
#define IB_CORE "# [RDMA] NetnsMode=\noptions ib_core "

static void the_file_has_what_the_configuration_wants(_unused_ void **state)
{
	static const struct {
		enum driver_mode mode;
		uint32_t base;
		enum netns_mode netns;
		const char *text; /* NULL: no file */
	} cases[] = {
		{ DRIVER_MODE_KEEP, 0, NETNS_MODE_KEEP, NULL },
		{ DRIVER_MODE_KEEP, 31000, NETNS_MODE_KEEP, NULL },
		{ DRIVER_MODE_DEFAULT, 0, NETNS_MODE_KEEP, HEAD ERDMA "compat_mode=N\n" },
		{ DRIVER_MODE_COMPAT, 31000, NETNS_MODE_KEEP,
		  HEAD ERDMA "compat_mode=Y reserve_ports_base=31000\n" },
		{ DRIVER_MODE_OFED, 0, NETNS_MODE_SHARED,
		  HEAD ERDMA "compat_mode=Y\n" IB_CORE "netns_mode=1\n" },
		{ DRIVER_MODE_KEEP, 0, NETNS_MODE_EXCLUSIVE, HEAD IB_CORE "netns_mode=0\n" },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct config c = { .driver = { cases[i].mode, 0, cases[i].base },
				    .rdma.netns_mode = cases[i].netns };
		struct os d = { .fs = tree.fs };

		/* Over what the case before left, and once more. */
		assert_int_equal(early(&d, &c), 0);
		assert_content(MODPROBE_PATH, cases[i].text);
		assert_int_equal(early(&d, &c), 0);
		assert_content(MODPROBE_PATH, cases[i].text);
		assert_content(MODPROBE_LAST_PATH, NULL);
	}
}

static void put_gpu(const char *vendor, const char *class)
{
	tree_file(&tree, "sys/bus/pci/devices/0000:3b:00.0/vendor", vendor);
	tree_file(&tree, "sys/bus/pci/devices/0000:3b:00.0/device", "0x2330\n");
	tree_file(&tree, "sys/bus/pci/devices/0000:3b:00.0/class", class);
}

static void auto_follows_from_the_gpu_and_its_module(_unused_ void **state)
{
	static const struct {
		const char *vendor, *class, *module, *text;
	} cases[] = {
		{ "0x10de\n", "0x030200\n", "sys/module/nvidia/initstate", "compat_mode=Y\n" },
		{ "0x10de\n", "0x030000\n", "sys/module/nvidia/initstate", "compat_mode=Y\n" },
		{ "0x10de\n", "0x030200\n", NULL, "compat_mode=N\n" },
		{ "0x10de\n", "0x068000\n", "sys/module/nvidia/initstate", "compat_mode=N\n" },
		{ "0x1234\n", "0x030000\n", "sys/module/nvidia/initstate", "compat_mode=N\n" },
	};
	struct config c = { .driver.mode = DRIVER_MODE_AUTO };

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct os d = { .fs = tree.fs };
		_cleanup_(freep) char *text = NULL;

		tree_empty(&tree);
		put_gpu(cases[i].vendor, cases[i].class);
		if (cases[i].module)
			tree_file(&tree, cases[i].module, "live\n");
		d.modules = (struct modules){ .folder = tree.root };
		assert_int_equal(early(&d, &c), 0);
		modules_done(&d.modules);
		text = content(MODPROBE_PATH);
		assert_non_null(text);
		assert_non_null(strstr(text, cases[i].text));
	}
}

#define ERI "sys/bus/pci/devices/0000:00:08.0/"

static void auto_keeps_the_compat_mode_that_another_file_sets(_unused_ void **state)
{
	static const struct {
		const char *gpu, *file, *cmdline, *text;
		bool is_without; /* an eRDMA function */
	} rows[] = {
		{ NULL, ERDMA "compat_mode=Y\n", "", "compat_mode=Y reserve_ports_base=40000\n" },
		{ NULL, ERDMA "compat_mode\n", "", "compat_mode=Y reserve_ports_base=40000\n" },
		{ NULL, ERDMA "compat_mode=Y\n" ERDMA "compat_mode=N\n", "", "compat_mode=N\n" },
		{ NULL, "", "erdma.compat_mode=1\n", "compat_mode=Y reserve_ports_base=40000\n" },
		{ NULL, "", "", "compat_mode=N\n" },
		{ NULL, ERDMA "compat_mode=Y\n", "", "compat_mode=N\n", .is_without = true },
		{ "live\n", ERDMA "compat_mode=N\n", "",
		  "compat_mode=Y reserve_ports_base=40000\n" },
	};
	struct config c = { .driver.mode = DRIVER_MODE_AUTO, .driver.reserve_ports_base = 40000 };

	put_gpu("0x10de\n", "0x030200\n");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct os d = { .fs = tree.fs, .modules.folder = tree.root };

		tree_file(&tree, ERI "vendor", rows[i].is_without ? "0x1234\n" : "0x1ded\n");
		tree_file(&tree, ERI "device", "0x107f\n");
		tree_file(&tree, ERI "class", "0x020000\n");
		_cleanup_(freep) char *text = NULL;

		tree_file(&tree, "etc/modprobe.d/erdma.conf", rows[i].file);
		tree_file(&tree, "proc/cmdline", rows[i].cmdline);
		if (rows[i].gpu)
			tree_file(&tree, "sys/module/nvidia/initstate", rows[i].gpu);
		assert_int_equal(early(&d, &c), 0);
		modules_done(&d.modules);
		text = content(MODPROBE_PATH);
		assert_non_null(text);
		assert_non_null(strstr(text, rows[i].text));
	}
}

static void a_driver_mode_that_cannot_be_told_costs_no_netns_mode(_unused_ void **state)
{
	struct config c = { .driver.mode = DRIVER_MODE_AUTO,
			    .rdma.netns_mode = NETNS_MODE_EXCLUSIVE };
	struct os d = { .fs = tree.fs };

	tree_file(&tree, "sys/bus/pci/devices", "no folder\n");
	assert_true(early(&d, &c) < 0);
	assert_content(MODPROBE_PATH, HEAD IB_CORE "netns_mode=0\n");
}

static const char *effective(const char *module, const char *name)
{
	static char value[64];
	_cleanup_(node_done) struct node n = {};
	const char *last;

	assert_int_equal(observe_options(&tree.fs, &n), 0);
	last = last_value(&n, module, name);
	return last && COPY(value, last) ? value : NULL;
}

static void early_wins_over_what_another_configuration_baked(_unused_ void **state)
{
	struct config baked = { .driver.mode = DRIVER_MODE_COMPAT };
	struct config c = { .driver.mode = DRIVER_MODE_DEFAULT };
	struct os d = { .fs = tree.fs };

	assert_int_equal(bake(&d, &baked), 0);
	assert_string_equal(effective("erdma", "compat_mode"), "Y");

	assert_int_equal(early(&d, &c), 0);
	assert_content(MODPROBE_LAST_PATH, HEAD ERDMA "compat_mode=N\n");
	assert_string_equal(effective("erdma", "compat_mode"), "N");

	/* Equal again, by configuration or because it was baked again: one file is enough. */
	assert_int_equal(early(&d, &baked), 0);
	assert_content(MODPROBE_LAST_PATH, NULL);
	assert_int_equal(early(&d, &c), 0);
	assert_int_equal(bake(&d, &c), 0);
	assert_int_equal(early(&d, &c), 0);
	assert_content(MODPROBE_LAST_PATH, NULL);
	assert_string_equal(effective("erdma", "compat_mode"), "N");

	/* A mask hides as well. */
	assert_int_equal(bake_undo(&d), 0);
	tree_link(&tree, MODPROBE_BAKED_PATH, "/dev/null");
	assert_int_equal(early(&d, &c), 0);
	assert_string_equal(effective("erdma", "compat_mode"), "N");

	/* Nothing is asked for: nothing of ours is left in /run. */
	c.driver.mode = DRIVER_MODE_KEEP;
	assert_int_equal(early(&d, &c), 0);
	assert_content(MODPROBE_PATH, NULL);
	assert_content(MODPROBE_LAST_PATH, NULL);
}

static uint64_t inode(const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", tree.root, path);
	assert_int_equal(lstat(full, &st), 0);
	return st.st_ino;
}

static void bake_is_idempotent_and_can_be_undone(_unused_ void **state)
{
	struct config c = { .driver.mode = DRIVER_MODE_COMPAT,
			    .rdma.netns_mode = NETNS_MODE_EXCLUSIVE };
	struct os d = { .fs = tree.fs };
	uint64_t before;

	assert_int_equal(bake_undo(&d), 0);
	assert_int_equal(bake(&d, &c), 0);
	assert_content(MODPROBE_BAKED_PATH, HEAD ERDMA "compat_mode=Y\n" IB_CORE "netns_mode=0\n");
	before = inode(MODPROBE_BAKED_PATH);
	assert_int_equal(bake(&d, &c), 0);
	assert_int_equal(inode(MODPROBE_BAKED_PATH), before);
	assert_content(MODPROBE_PATH, NULL);
	assert_content(MEMORY_LOCK_PATH, NULL); /* nothing ran */

	/* Which GPU the machine has is not known yet; the rest is. */
	c.driver.mode = DRIVER_MODE_AUTO;
	assert_int_equal(bake(&d, &c), 0);
	assert_content(MODPROBE_BAKED_PATH, HEAD IB_CORE "netns_mode=0\n");

	assert_int_equal(bake_undo(&d), 0);
	assert_content(MODPROBE_BAKED_PATH, NULL);

	/* What a configuration without wishes finds of an earlier one goes as well. */
	assert_int_equal(bake(&d, &c), 0);
	c.rdma.netns_mode = NETNS_MODE_KEEP;
	assert_int_equal(bake(&d, &c), 0);
	assert_content(MODPROBE_BAKED_PATH, NULL);
}

/* What is left of "a now CMDLINE": two boots, and the command line of a kubelet. */
static const char *left_by_bake(bool is_running)
{
	static char text[64];
	struct boot boots[] = { { .boot_id = "a" }, { .boot_id = "now" } };
	struct os d = { .fs = tree.fs };
	_cleanup_(config_done) struct config c = {};
	_owns_(struct boots, entries) left = {};

	assert_true(memory_write(&tree.fs, MEMORY_NODE, &boots_fields,
				 &(struct boots){ boots, ELEMENTSOF(boots) }) >= 0);
	tree_file(&tree, "proc/sys/kernel/random/boot_id", "now\n");
	tree_file(&tree, KUBELET_CMDLINE_PATH, "kubelet");
	d.fs.is_live = is_running;
	assert_int_equal(bake(&d, &c), 0);
	assert_int_equal(memory_read(&tree.fs, MEMORY_NODE, &boots_fields, &left), 0);
	text[0] = '\0';
	FOREACH(b, left.entries, left.n_entries)
		strcat(strcat(text, b->boot_id), " ");
	if (fs_exists(&tree.fs, KUBELET_CMDLINE_PATH))
		strcat(text, "CMDLINE");
	return text;
}

static void bake_forgets_the_machine_but_not_the_boot_that_runs(_unused_ void **state)
{
	assert_string_equal(left_by_bake(false), "");
	assert_string_equal(left_by_bake(true), ""); /* a chroot */
	tree_file(&tree, "run/systemd/system/x", "");
	assert_string_equal(left_by_bake(false), "");
	assert_string_equal(left_by_bake(true), ""); /* a container */
	tree_file(&tree, "sys/bus/pci/x", "");
	assert_string_equal(left_by_bake(false), "");
	assert_string_equal(left_by_bake(true), "now CMDLINE");
}

static void bake_leaves_files_of_others_alone(_unused_ void **state)
{
	struct config c = { .driver.mode = DRIVER_MODE_COMPAT };
	struct os d = { .fs = tree.fs };

	tree_file(&tree, MODPROBE_BAKED_PATH,
		  "options erdma compat_mode=N\n# Written by rdma-provision\n");
	assert_int_equal(bake(&d, &c), -EEXIST);
	assert_int_equal(bake_undo(&d), -EEXIST);
	assert_content(MODPROBE_BAKED_PATH,
		       "options erdma compat_mode=N\n# Written by rdma-provision\n");

	tree_link(&tree, MODPROBE_BAKED_PATH, "/dev/null");
	assert_int_equal(bake(&d, &c), -EEXIST);
	assert_int_equal(bake_undo(&d), -EEXIST);

	/* The usual mask. */
	tree_empty(&tree);
	tree_file(&tree, MODPROBE_BAKED_PATH, "");
	assert_int_equal(bake(&d, &c), -EEXIST);
	assert_int_equal(bake_undo(&d), -EEXIST);
	assert_content(MODPROBE_BAKED_PATH, "");

	/* Of another version of ours. */
	tree_empty(&tree);
	tree_file(&tree, MODPROBE_BAKED_PATH,
		  "# Written by rdma-provision-early.service: [RDMA] NetnsMode=\n");
	assert_int_equal(bake(&d, &c), 0);
	assert_content(MODPROBE_BAKED_PATH, HEAD ERDMA "compat_mode=Y\n");
}

static void said_by_bake(enum driver_mode mode, char *ret, size_t size)
{
	struct config c = { .driver.mode = mode };
	int log = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	struct os d = { .fs = tree.fs };
	ssize_t n;

	assert_true(log >= 0 && saved >= 0 && dup2(log, STDERR_FILENO) >= 0);
	assert_int_equal(bake(&d, &c), 0);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	n = pread(log, ret, size - 1, 0);
	assert_true(n >= 0);
	ret[n] = '\0';
	close(log);
	close(saved);
}

#define OPPOSITE "smc: A module option in another file contradicts the configuration: "

static void bake_names_who_loads_smc_and_what_to_run(_unused_ void **state)
{
	static const char both[] =
		"run \"update-initramfs -u -k all\" or \"dracut --force --regenerate-all\" in";
	static const struct {
		enum driver_mode mode;
		const char *path, *text; /* one more file */
		const char *said, *unsaid;
	} rows[] = {
		{ DRIVER_MODE_OFED, "etc/modules-load.d/smc.conf", "# x\nsmc\n",
		  OPPOSITE "line 2 of /etc/modules-load.d/smc.conf", "zzz" },
		{ DRIVER_MODE_OFED, "proc/cmdline", "modules_load=a,smc",
		  OPPOSITE "modules_load= on the kernel command line", "zzz" },
		{ DRIVER_MODE_COMPAT, "etc/modules-load.d/smc.conf", "smc\n", both, "smc" },
		{ DRIVER_MODE_COMPAT, "x", "", both, "zzz" },
		{ DRIVER_MODE_COMPAT, MODPROBE_BAKED_PATH, HEAD ERDMA "compat_mode=Y\n", both,
		  "write-options" },
	};
	char text[4096];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		tree_empty(&tree);
		tree_file(&tree, rows[i].path, rows[i].text);
		said_by_bake(rows[i].mode, text, sizeof(text));
		if (!strstr(text, rows[i].said) || strstr(text, rows[i].unsaid))
			fail_msg("%zu: %s", i, text);
	}
}

static void on_copy(void *userdata, enum record_kind kind, const char *path, const char *data,
		    size_t size)
{
	char *text = userdata;

	if (kind == RECORD_FILE && streq(path, "etc/modprobe.d/x.conf"))
		snprintf(text, 2048, "%.*s", (int)size, data);
}

static void observe_with_modules(const struct fs *from, struct node *ret)
{
	static const char *const modules[] = { "erdma", "mlx5_core" };

	*ret = (struct node){};
	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		struct module *m = APPEND(ret->modules, ret->n_modules);

		assert_non_null(m);
		COPY(m->name, modules[i]);
	}
	assert_int_equal(observe_options(from, ret), 0);
}

/* The @i-th option of a module that is looked at. */
static const struct option *looked_at(const struct node *n, size_t i)
{
	for (size_t k = 0; k < n->n_options; k++)
		if (node_module(n, n->options[k].module) && i-- == 0)
			return &n->options[k];
	return NULL;
}

static void a_capture_has_the_modules_that_are_looked_at_and_no_comments(_unused_ void **state)
{
	static const char file[] =
		"# s3cret\n"
		"options wifi psk=s3cret\n"
		"options erdma compat_mode=Y \\\n  a=\"b #c\" # s3cret\n"
		"  ; s3cret\n"
		"options mlx5-core prof_sel=2\n"
		"install erdma /bin/sh -c 'TOKEN=s3cret; exit 1'\n"
		"install mlx5_core /sbin/modprobe --ignore-install mlx5_core $CMDLINE_OPTS\n"
		"install s3cret /bin/true\n"
		"blacklist erdma # s3cret\n"
		"blacklist s3cret\n"
		"alias s3cret erdma\nsoftdep erdma pre: s3cret\ns3cret erdma\n";
	_cleanup_(node_done) struct node before = {}, after = {};
	char text[2048] = "";
	struct fs recorded = tree.fs;

	recorded.on_read = on_copy;
	recorded.userdata = text;
	tree_file(&tree, "etc/modprobe.d/x.conf", file);
	observe_with_modules(&recorded, &before);
	assert_string_equal(text, "\n\noptions erdma compat_mode=Y   a=\"b #c\" \n\n\n"
				  "options mlx5-core prof_sel=2\ninstall erdma /bin/false\n"
				  "install mlx5_core /bin/false\n\nblacklist erdma \n");

	tree_file(&tree, "etc/modprobe.d/x.conf", text);
	observe_with_modules(&recorded, &after);
	for (size_t i = 0; looked_at(&before, i); i++) {
		const struct option *a = looked_at(&before, i), *b = looked_at(&after, i);

		if (streq(a->name, "#")) { /* a comment, which modprobe does not know there */
			assert_null(looked_at(&before, i + 3));
			break;
		}
		assert_non_null(b);
		assert_memory_equal(a, b, sizeof(*a));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup((f), empty_root)
	static const struct CMUnitTest tests[] = {
		TEST(options_are_read_as_kmod_and_the_kernel_read_them),
		TEST(the_last_value_is_the_one_libkmod_passes),
		TEST(a_file_hides_those_of_its_name_in_later_folders),
		TEST(alias_files_count_for_modprobe_alone),
		TEST(what_is_not_printable_never_reaches_a_terminal),
		TEST(a_quote_of_the_command_line_may_stay_open),
		TEST(the_command_line_counts_after_the_files),
		TEST(garbage_does_no_harm),
		TEST(the_file_has_what_the_configuration_wants),
		TEST(auto_keeps_the_compat_mode_that_another_file_sets),
		TEST(a_driver_mode_that_cannot_be_told_costs_no_netns_mode),
		TEST(auto_follows_from_the_gpu_and_its_module),
		TEST(early_wins_over_what_another_configuration_baked),
		TEST(bake_is_idempotent_and_can_be_undone),
		TEST(bake_forgets_the_machine_but_not_the_boot_that_runs),
		TEST(bake_leaves_files_of_others_alone),
		TEST(bake_names_who_loads_smc_and_what_to_run),
		TEST(a_capture_has_the_modules_that_are_looked_at_and_no_comments),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
