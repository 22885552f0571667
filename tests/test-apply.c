/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../src/model/memory.h"
#include "../src/model/paths.h"
#include "../src/model/plugin-facts.h"
#include "../src/os/memory-file.h"
#include "../src/os/module.h"
#include "../src/pass/apply.h"
#include "../src/pass/live.h"
#include "../src/plugin/plugin-observe.h"
#include "../src/step/verbs.h"
#include "action.h"
#include "tree.h"

/* A system without any module, that refuses every change. */
struct place {
	struct tree tree;
	struct os os;
};

static int make_place(void **state)
{
	static struct place place;
	static char folder[64];

	tree_make(&place.tree);
	snprintf(folder, sizeof(folder), "%s/lib/modules/6.1", place.tree.root);
	place.os = (struct os){ .fs = place.tree.fs,
				.route = { .protocol = NETLINK_ROUTE },
				.rdma = { .protocol = NETLINK_RDMA } };
	*state = &place;
	place.os.modules = (struct modules){ .folder = folder };
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	modules_done(&place->os.modules);
	tree_remove(&place->tree);
	return 0;
}

static const struct memory no_memory;

/* The texts of a plan whose actions are a test's own live until the next one has run. */
static void keep_texts(struct plan *p)
{
	static struct action_texts kept;

	action_texts_done(&kept);
	kept = TAKE_STRUCT(p->texts);
}

/* All of a plan, up to an action that gets stuck. Return: how many were tried, or -ENOMEM. */
static int apply_plan(struct os *d, const struct node *n, const struct memory *memory,
		      const struct apply_hooks *hooks, struct plan *p)
{
	const struct world world = live_world(d);
	_cleanup_(apply_done) struct apply ap = { .world = &world,
						  .hooks = hooks,
						  .grace_usec = UINT64_MAX / 16 };
	int r;

	complete_actions(p->actions, p->n_actions);
	r = apply_some(&ap, n, memory, p, UINT64_MAX);
	while (apply_is_busy(&ap))
		apply_wait(&ap, n, UINT64_MAX);
	keep_texts(p);
	return r;
}

/* What the hooks were asked, and what they say. */
struct hearing {
	int answer, n_started, n_asked, n_ended;
};

static void on_start(void *userdata, const struct action *a _unused_,
		     uint64_t deadline_usec _unused_)
{
	((struct hearing *)userdata)->n_started++;
}

static void on_end(void *userdata, const struct action *a)
{
	assert_true(a->is_done);
	((struct hearing *)userdata)->n_ended++;
}

static int recheck(void *userdata, const struct action *a, char *words, size_t size)
{
	struct hearing *h = userdata;

	assert_true(action_is_destructive(a) || a->verb == VERB_SET_NUM_VFS);
	h->n_asked++;
	if (h->answer < 0)
		snprintf(words, size, "came in between: python3 (pid 7)");
	return h->answer;
}

static uint64_t age_usec; /* of a plan, from its first moment on */
static uint64_t made_usec;

static uint64_t now_of_old_plan(void *userdata _unused_)
{
	if (made_usec > 0)
		return made_usec + age_usec;
	return made_usec = now_usec();
}

/* While the VFs of another PF were made, a bond or a default route may have come. */
static void vfs_are_made_by_an_old_plan_only_after_another_look(void **state)
{
	static const struct {
		uint64_t age_usec;
		enum verb verb;
		int answer, n_asked, result;
	} rows[] = {
		{ 0, VERB_SET_NUM_VFS, -EBUSY, 0, -EROFS },
		{ 2 * USEC_PER_SEC, VERB_SET_NUM_VFS, -EBUSY, 0, -EROFS },
		{ 3 * USEC_PER_SEC, VERB_SET_NUM_VFS, -EBUSY, 1, -EBUSY },
		{ 3 * USEC_PER_SEC, VERB_SET_NUM_VFS, 0, 1, -EROFS },
		{ 3 * USEC_PER_SEC, VERB_SET_AUTOPROBE, -EBUSY, 0, -EROFS },
	};
	struct place *place = *state;
	const struct node node = {};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = rows[i].verb,
				    .target = "0000:41:00.0",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };
		struct hearing h = { .answer = rows[i].answer };
		const struct apply_hooks hooks = { on_start, on_end, recheck, &h };
		struct world world = live_world(&place->os);
		_cleanup_(apply_done) struct apply ap = { .world = &world,
							  .hooks = &hooks,
							  .grace_usec = UINT64_MAX / 16 };

		age_usec = rows[i].age_usec;
		made_usec = 0;
		world.now_usec = now_of_old_plan;
		action_set(&a, "0", "1");
		complete_actions(p.actions, p.n_actions);
		assert_int_equal(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX), 1);
		keep_texts(&p);
		assert_int_equal(h.n_asked, rows[i].n_asked);
		assert_int_equal(a.result, rows[i].result);
	}
}

static void what_takes_something_away_is_asked_about_right_before(void **state)
{
	static const struct {
		const char *name;
		enum verb verb;
		const char *from, *to;
		int answer, n_asked, result;
		const char *words;
	} rows[] = {
		{ "VFs are removed, a process came", VERB_SET_NUM_VFS, "4", "0", -EBUSY, 1, -EBUSY,
		  "came in between: python3 (pid 7)" },
		{ "the look failed", VERB_SET_NUM_VFS, "4", "0", -EIO, 1, -EIO,
		  "came in between: python3 (pid 7)" },
		{ "VFs are removed", VERB_SET_NUM_VFS, "4", "0", 0, 1, -EROFS, "" },
		{ "VFs are made", VERB_SET_NUM_VFS, "0", "4", -EBUSY, 0, -EROFS, "" },
		{ "reload, a process came", VERB_RELOAD_MODULE, "compat_mode=N", "compat_mode=Y",
		  -EBUSY, 1, -EBUSY, "came in between: python3 (pid 7)" },
		/* What cannot be loaded again is not unloaded. */
		{ "reload without a file", VERB_RELOAD_MODULE, "compat_mode=N", "compat_mode=Y", 0,
		  1, -ENOPKG, "" },
		{ "load", VERB_LOAD_MODULE, "", "compat_mode=Y", -EBUSY, 0, -EROFS, "" },
	};
	struct place *place = *state;
	const struct node node = {};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = rows[i].verb,
				    .target = "erdma",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };
		struct hearing h = { .answer = rows[i].answer };
		const struct apply_hooks hooks = { on_start, on_end, recheck, &h };

		action_set(&a, rows[i].from, rows[i].to);
		assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 1);
		assert_int_equal(h.n_started, 1);
		assert_int_equal(h.n_ended, 1);
		assert_int_equal(h.n_asked, rows[i].n_asked);
		if (a.result != rows[i].result || !streq(a.error, rows[i].words))
			fail_msg("%s: %s (%s)", rows[i].name, strerror(-a.result), a.error);
	}
}

/* An index with the one key "erdma", and its file, that cannot be read. */
static void the_way_back_is_looked_at_before_the_module_is_unloaded(void **state _unused_)
{
	static const char names[] = "\xb0\x07\xf4\x57\0\x02\0\x01\xc0\0\0\x0c"
				    "erdma\0\0\0\0\x01\0\0\0\0erdma.ko:";
	static const struct {
		bool has_file;
		int result;
		const char *words;
	} rows[] = {
		{ true, -ENOEXEC, "its file cannot be read, and it is not unloaded" },
		{ false, -ENOEXEC, "its file cannot be read, and it is not unloaded" },
	};
	struct tree t;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = VERB_RELOAD_MODULE,
				    .target = "erdma",
				    .text.from = "compat_mode=N",
				    .text.to = "compat_mode=Y",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };
		struct os os = { .route = { .protocol = NETLINK_ROUTE },
				 .rdma = { .protocol = NETLINK_RDMA } };
		struct hearing h = {};
		const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
		const struct node node = { .kernel = "6.1" };
		char folder[96];

		tree_make(&t);
		tree_bytes(&t, "lib/modules/6.1/modules.dep.bin", names, sizeof(names));
		if (rows[i].has_file)
			tree_file(&t, "lib/modules/6.1/erdma.ko", "\177ELF and no more");
		snprintf(folder, sizeof(folder), "%s/lib/modules/6.1", t.root);
		tree_link(&t, t.root + 1, "/"); /* libkmod's paths lead into the tree */
		os.fs = t.fs;
		os.modules = (struct modules){ .folder = folder };
		assert_int_equal(apply_plan(&os, &node, &no_memory, &hooks, &p), 1);
		if (a.result != rows[i].result || !streq(a.error, rows[i].words))
			fail_msg("%s (%s)", strerror(-a.result), a.error);
		modules_done(&os.modules);
		tree_remove(&t);
	}
}

/* A note of one build, as the linker writes it and the kernel shows it. */
struct note {
	Elf64_Nhdr head;
	char name[4];
	uint32_t id;
};

/* What libkmod and the door to build-ids look for in the file of a module. */
struct file {
	Elf64_Ehdr head;
	char info[64];
	struct note note;
	char names[32];
	Elf64_Shdr sections[4];
};

static struct note make_note(uint32_t id)
{
	return (struct note){ { sizeof("GNU"), sizeof(id), NT_GNU_BUILD_ID }, "GNU", id };
}

static void make_file(struct file *f, uint32_t id)
{
	static const char names[] = "\0.modinfo\0.note\0.shstrtab";
	static const char info[] = "vermagic=6.1 SMP\0srcversion=ABC";
	const unsigned char data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	*f = (struct file){ .head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						   data, EV_CURRENT },
				      .e_type = ET_REL,
				      .e_shoff = offsetof(struct file, sections),
				      .e_ehsize = sizeof(Elf64_Ehdr),
				      .e_shentsize = sizeof(Elf64_Shdr),
				      .e_shnum = ELEMENTSOF(f->sections),
				      .e_shstrndx = 3 },
			    .note = make_note(id) };
	memcpy(f->info, info, sizeof(info));
	memcpy(f->names, names, sizeof(names));
	f->sections[1] = (Elf64_Shdr){ .sh_name = 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_offset = offsetof(struct file, info),
				       .sh_size = sizeof(info) };
	f->sections[2] = (Elf64_Shdr){ .sh_name = 10,
				       .sh_type = SHT_NOTE,
				       .sh_offset = offsetof(struct file, note),
				       .sh_size = sizeof(f->note) };
	f->sections[3] = (Elf64_Shdr){ .sh_name = 16,
				       .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct file, names),
				       .sh_size = sizeof(names) };
}

static int
	load_error; /* of loading any module, which can be removed then; 0: what the kernel says */

int __wrap_module_load(struct modules *m, const char *name, const char *options);
int __real_module_load(struct modules *m, const char *name, const char *options);
int __wrap_module_remove(struct modules *m, const char *name);
int __real_module_remove(struct modules *m, const char *name);

int __wrap_module_load(struct modules *m, const char *name, const char *options)
{
	return load_error ?: __real_module_load(m, name, options);
}

int __wrap_module_remove(struct modules *m, const char *name)
{
	return load_error ? 0 : __real_module_remove(m, name);
}

#define REBUILT                                                                                    \
	"its file is another build than the one that is loaded, which could not be loaded "        \
	"again: it is not unloaded"
#define UNKNOWN                                                                                    \
	"neither its build-id nor versions of symbols can be compared with what is loaded, so it " \
	"might not be loaded again: it is not unloaded"
#define GOES_ON "it cannot be unloaded: Read-only file system" /* of another system */
#define NO_WAY_BACK                                                                                \
	"Address already in use; the previous mode could not be restored: Address already in use"

static void what_is_not_the_loaded_build_unloads_nothing(void **state _unused_)
{
	static const char names[] = "\xb0\x07\xf4\x57\0\x02\0\x01\xc0\0\0\x0c"
				    "erdma\0\0\0\0\x01\0\0\0\0erdma.ko:";
	static const struct {
		uint32_t loaded; /* 0: not shown */
		const char *srcversion;
		int load_error, result;
		const char *words;
	} rows[] = {
		{ 7, "ABC\n", 0, -EROFS, GOES_ON },
		{ 7, NULL, 0, -EROFS, GOES_ON },
		{ 7, NULL, -EADDRINUSE, -EADDRINUSE, NO_WAY_BACK },
		{ 8, "ABC\n", 0, -ESTALE, REBUILT },
		{ 8, NULL, 0, -ESTALE, REBUILT },
		{ 7, "ABD\n", 0, -ESTALE, REBUILT },
		{ 0, "ABC\n", 0, -ESTALE, UNKNOWN },
		{ 0, NULL, 0, -ESTALE, UNKNOWN },
	};
	struct file file;
	struct tree t;

	make_file(&file, 7);
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action a = { .verb = VERB_RELOAD_MODULE,
				    .target = "erdma",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct plan p = { .actions = &a, .n_actions = 1 };
		struct os os = { .route = { .protocol = NETLINK_ROUTE },
				 .rdma = { .protocol = NETLINK_RDMA } };
		const struct note note = make_note(rows[i].loaded);
		struct hearing h = {};
		const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
		const struct node node = { .kernel = "6.1" };
		char folder[96];

		tree_make(&t);
		tree_bytes(&t, "lib/modules/6.1/modules.dep.bin", names, sizeof(names));
		tree_bytes(&t, "lib/modules/6.1/erdma.ko", (const char *)&file, sizeof(file));
		if (rows[i].loaded)
			tree_bytes(&t, "sys/module/erdma/notes/.note.gnu.build-id",
				   (const char *)&note, sizeof(note));
		if (rows[i].srcversion)
			tree_file(&t, "sys/module/erdma/srcversion", rows[i].srcversion);
		snprintf(folder, sizeof(folder), "%s/lib/modules/6.1", t.root);
		tree_link(&t, t.root + 1, "/"); /* libkmod's paths lead into the tree */
		os.fs = t.fs;
		os.modules = (struct modules){ .folder = folder };
		load_error = rows[i].load_error;
		assert_int_equal(apply_plan(&os, &node, &no_memory, &hooks, &p), 1);
		load_error = 0;
		if (a.result != rows[i].result || !streq(a.error, rows[i].words))
			fail_msg("row %zu: %s (%s)", i, strerror(-a.result), a.error);
		modules_done(&os.modules);
		tree_remove(&t);
	}
}

/* Every cut and every wrong number is an answer, and no byte outside is looked at. */
static void a_damaged_file_has_no_build_id(void **state _unused_)
{
	char id[BUILD_ID_LEN] = "";
	struct file file;

	make_file(&file, 7);
	assert_int_equal(module_parse_build_id((const char *)&file, sizeof(file), id), 0);
	assert_int_equal(strlen(id), 8);
	for (size_t size = 0; size < sizeof(file); size++) {
		_cleanup_(freep) char *cut = malloc(size + 1);

		assert_non_null(cut);
		memcpy(cut, &file, size);
		assert_int_equal(module_parse_build_id(cut, size, id), -ENOEXEC);
	}
	for (size_t at = 0; at < sizeof(file); at++) {
		struct file wrong = file;

		((unsigned char *)&wrong)[at] = 0xff;
		module_parse_build_id((const char *)&wrong, sizeof(wrong), id);
	}
	file.sections[2].sh_type = SHT_PROGBITS;
	assert_int_equal(module_parse_build_id((const char *)&file, sizeof(file), id), -ENOENT);
}

/* Of the kernel's -EPERM only the evidence tells who forbids; and -EINVAL is not always a value. */
static void the_program_that_forbids_a_module_is_known(void **state _unused_)
{
	static const char names[] = "\xb0\x07\xf4\x57\0\x02\0\x01\xc0\0\0\x0c"
				    "erdma\0\0\0\0\x01\0\0\0\0erdma.ko: ib_uverbs.ko ib-core.ko";
	static const char peermem[] = "\xb0\x07\xf4\x57\0\x02\0\x01\xc0\0\0\x0c"
				      "nvidia_peermem\0\0\0\0\x01\0\0\0\0nvidia-peermem.ko:";
	static const char *const files[] = { "lib/modules/6.1/erdma.ko",
					     "lib/modules/6.1/nvidia-peermem.ko",
					     "lib/modules/6.1/ib_uverbs.ko",
					     "lib/modules/6.1/ib-core.ko" };
	static const struct {
		const char *name, *module, *cmdline, *config, *disabled, *lockdown;
		int error;
		const char *words;
	} rows[] = {
		{ "modprobe.d", "erdma", "erdma", "blacklist erdma\n", "1", NULL, -EPERM,
		  "modprobe.d" },
		{ "the kernel's list", "erdma", "a,erdma", NULL, "1", NULL, -EPERM,
		  "module_blacklist= on the kernel command line has erdma" },
		{ "a need of it", "erdma", "a,ib_core", NULL, NULL, NULL, -EPERM,
		  "module_blacklist= on the kernel command line has ib_core" },
		{ "of others, modules are disabled", "erdma", "nouveau", NULL, "1", "[none]",
		  -EPERM, "kernel.modules_disabled is 1" },
		{ "of others, lockdown", "erdma", "nouveau", NULL, "0",
		  "none [integrity] confidentiality\n", -EPERM, "locked down (integrity)" },
		{ "of others, nothing else", "erdma", "nouveau", NULL, "0", "[none] integrity",
		  -EPERM, "modules_disabled and lockdown are off" },
		{ "peermem", "nvidia_peermem", "", NULL, NULL, NULL, -EINVAL,
		  "peer-memory interface of OFED" },
		{ "peermem, a symbol", "nvidia_peermem", "", NULL, NULL, NULL, -ENOENT,
		  "a symbol that the loaded modules lack" },
		{ "the reason says it", "erdma", "", NULL, NULL, NULL, -EINVAL, "" },
		{ "nothing to add", "erdma", "", NULL, NULL, NULL, -ENOMEM, "" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct os os = {};
		struct node node = {};
		char folder[96], error[192] = "";
		struct work w = { .os = &os, .node = &node, .error = error };
		const struct action a = { .verb = VERB_LOAD_MODULE, .target = rows[i].module };
		struct tree t;

		COPY(node.cmdline_blacklist, rows[i].cmdline);
		tree_make(&t);
		if (streq(rows[i].module, PEERMEM_MODULE))
			tree_bytes(&t, "lib/modules/6.1/modules.dep.bin", peermem, sizeof(peermem));
		else
			tree_bytes(&t, "lib/modules/6.1/modules.dep.bin", names, sizeof(names));
		for (size_t k = 0; k < ELEMENTSOF(files); k++)
			tree_file(&t, files[k], "");
		if (rows[i].config)
			tree_file(&t, "etc/modprobe.d/a.conf", rows[i].config);
		if (rows[i].disabled)
			tree_file(&t, "proc/sys/kernel/modules_disabled", rows[i].disabled);
		if (rows[i].lockdown)
			tree_file(&t, "sys/kernel/security/lockdown", rows[i].lockdown);
		snprintf(folder, sizeof(folder), "%s/lib/modules/6.1", t.root);
		os.fs = t.fs;
		os.modules = (struct modules){ .folder = folder, .config = t.root };
		load_error = rows[i].error;
		assert_int_equal(apply_load_module(&w, &a), rows[i].error);
		load_error = 0;
		if (!strstr(error, rows[i].words) || (!*rows[i].words && *error))
			fail_msg("%s: %s", rows[i].name, error);
		modules_done(&os.modules);
		tree_remove(&t);
	}
}

static void nobody_has_to_ask(void **state)
{
	struct place *place = *state;
	struct action a = { .verb = VERB_SET_NUM_VFS,
			    .target = "x",
			    .number = { { true, 4 }, { true, 0 } },
			    .subject = "",
			    .detail = "",
			    .error = "" };
	struct plan p = { .actions = &a, .n_actions = 1 };
	const struct node node = {};
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };

	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 1);
	assert_int_equal(a.result, -EROFS);
}

static void what_was_unplugged_meanwhile_is_known(void **state)
{
	struct place *place = *state;
	struct pci pci = { .address = "0000:41:00.0" };
	const struct node node = { .pcis = &pci, .n_pcis = 1 };
	struct action actions[] = {
		{ .verb = VERB_SET_NUM_VFS,
		  .target = "0000:41:00.0",
		  .number = { { true, 0 }, { true, 4 } } },
		{ .verb = VERB_LOAD_MODULE, .target = "erdma" }, /* no function */
	};
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };

	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 2);
	assert_true(actions[0].result < 0 && actions[0].is_gone);
	assert_true(actions[1].result < 0 && !actions[1].is_gone);
}

static void a_pf_that_lost_its_driver_is_about_to_go(void **state)
{
	struct place *place = *state;
	struct pci pci = { .address = "0000:41:00.0", .driver = "mlx5_core" };
	const struct node node = { .pcis = &pci, .n_pcis = 1 };
	struct action actions[] = {
		{ .verb = VERB_SET_NUM_VFS,
		  .target = "0000:41:00.0",
		  .number = { { true, 0 }, { true, 4 } } },
		{ .verb = VERB_REBIND_DRIVER, .target = "0000:41:00.0", .text.to = "mlx5_core" },
	};
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
	char path[256];

	tree_file(&place->tree, "sys/bus/pci/devices/0000:41:00.0/driver", "");
	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 2);
	assert_true(actions[0].result < 0 && !actions[0].is_gone);

	tree_path(&place->tree, "sys/bus/pci/devices/0000:41:00.0/driver", path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	actions[0].is_done = actions[1].is_done = false;
	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 2);
	assert_true(actions[0].result < 0 && actions[0].is_gone);
	assert_true(actions[1].result < 0 && !actions[1].is_gone); /* that may have been ours */
}

static void what_follows_vfs_that_could_not_be_removed_is_left_out(void **state)
{
	static const struct {
		int answer, result; /* of the removal */
		const char *tried;
	} rows[] = {
		{ -EBUSY, -EBUSY, "10011" },
		{ 0, -EROFS, "10011" },
	};
	struct place *place = *state;
	struct pci pcis[] = { { .address = "0000:41:00.0" },
			      { .address = "0000:41:00.1", .physfn = "0000:41:00.0" },
			      { .address = "0000:42:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action actions[] = {
			{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:41:00.0",
			  .number = { { true, 4 }, { true, 0 } } },
			{ STEP_VF, VERB_SET_AUTOPROBE, .target = "0000:41:00.0",
			  .number.to = { true, 0 } },
			{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:41:00.1",
			  .text.to = "mlx5_core" },
			{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:42:00.0",
			  .number = { { true, 0 }, { true, 2 } } },
			{ STEP_LINK, VERB_SET_LINK_UP, .target = "0000:41:00.0" },
		};
		struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
		struct hearing h = { .answer = rows[i].answer };
		const struct apply_hooks hooks = { on_start, on_end, recheck, &h };
		char tried[ELEMENTSOF(actions) + 1] = "";

		assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 3);
		assert_int_equal(h.n_started, 3);
		assert_int_equal(h.n_ended, 3);
		assert_int_equal(actions[0].result, rows[i].result);
		for (size_t k = 0; k < ELEMENTSOF(actions); k++)
			tried[k] = actions[k].is_done ? '1' : '0';
		assert_string_equal(tried, rows[i].tried);
	}
}

static void note_nothing(void *userdata _unused_, const struct action *a _unused_,
			 uint64_t deadline_usec _unused_)
{
}

static void keep_end(void *userdata, const struct action *a)
{
	*(struct action *)userdata = *a;
}

/* Two PFs, and the first hangs: here on the lock under which lanes write the ledger. */
static void a_pf_that_hangs_keeps_neither_another_nor_the_node(void **state)
{
	struct place *place = *state;
	struct tree *t = &place->tree;
	struct pci pcis[] = { { .address = "0000:51:00.0" },
			      { .address = "0000:52:00.0" },
			      { .address = "0000:52:00.1", .physfn = "0000:52:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	struct action actions[] = {
		{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:51:00.0",
		  .number = { { true, 0 }, { true, 2 } } },
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:52:00.1", .text.to = "mlx5_core" },
		{ STEP_SMC, VERB_LOAD_MODULE, .target = "smc" },
	};
	struct action again[] = {
		{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:51:00.0",
		  .number = { { true, 2 }, { true, 0 } } },
		{ STEP_SMC, VERB_LOAD_MODULE, .target = "smc" },
	};
	struct plan p = { .actions = actions, .n_actions = 3 };
	struct plan next = { .actions = again, .n_actions = 2 };
	struct action ended = { .target = "", .subject = "", .detail = "", .error = "" };
	const struct apply_hooks hooks = { note_nothing, keep_end, NULL, &ended };
	const struct world world = live_world(&place->os);
	struct apply ap = { .world = &world, .hooks = &hooks };
	int lock;

	tree_file(t, "sys/bus/pci/devices/0000:51:00.0/virtfn0", "");
	tree_file(t, "sys/bus/pci/devices/0000:51:00.0/virtfn1", "");
	tree_file(t, "sys/bus/pci/devices/0000:51:00.0/sriov_numvfs", "0");
	tree_file(t, "sys/bus/pci/drivers_probe", "");
	tree_link(t, "sys/bus/pci/devices/0000:52:00.1/driver", "../../drivers/mlx5_core");
	lock = fs_lock(&place->os.fs, LANES_LOCK_PATH, 0);
	assert_true(lock >= 0);
	place->os.fs.is_live = true;

	/* Another look is due, and what is of the node waits for all of this plan. */
	complete_actions(p.actions, p.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX), 2);
	assert_true(actions[0].is_running && !actions[0].is_done);
	assert_true(actions[1].is_done && actions[1].result == 0);
	assert_false(actions[2].is_done);
	assert_true(apply_is_busy(&ap));
	assert_string_equal(apply_oldest(&ap)->target, "0000:51:00.0");

	/* Of the next plan nothing is begun beside it in its lane, and the node goes on. */
	complete_actions(next.actions, next.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &next, UINT64_MAX), 1);
	assert_false(again[0].is_running || again[0].is_done);
	assert_true(again[1].is_done);
	complete_actions(next.actions, next.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &next, UINT64_MAX), 0);
	apply_wait(&ap, &node, now_usec() + 20 * USEC_PER_MSEC);
	assert_true(apply_is_busy(&ap));

	assert_int_equal(flock(lock, LOCK_UN), 0);
	close(lock);
	apply_wait(&ap, &node, now_usec() + 60 * USEC_PER_SEC);
	assert_false(apply_is_busy(&ap));
	assert_string_equal(ended.target, "0000:51:00.0");
	assert_true(ended.is_done && ended.result == 0);
	apply_done(&ap);
	place->os.fs.is_live = false;
}

static int held = -1; /* what the next child waits for before it does anything, a pipe */

static void wait_as_child(void)
{
	char byte;

	if (held >= 0)
		assert_int_equal(read(held, &byte, 1), 1);
}

/* From now on each child waits for what is held when it begins. */
static void hold_children(void)
{
	static bool is_done;

	if (!is_done)
		assert_int_equal(pthread_atfork(NULL, NULL, wait_as_child), 0);
	is_done = true;
	held = -1;
}

/* The probe of the first VF takes its time. */
static void hold_first(void *userdata, const struct action *a, uint64_t deadline_usec _unused_)
{
	held = streq(a->target, "0000:61:00.1") ? *(int *)userdata : -1;
}

static void note_no_end(void *userdata _unused_, const struct action *a _unused_)
{
}

static void a_bind_that_outlives_its_plan_does_not_stop_its_pf(void **state)
{
	struct place *place = *state;
	struct tree *t = &place->tree;
	struct pci pcis[] = { { .address = "0000:61:00.1", .physfn = "0000:61:00.0" },
			      { .address = "0000:61:00.2", .physfn = "0000:61:00.0" },
			      { .address = "0000:62:00.1", .physfn = "0000:62:00.0" },
			      { .address = "0000:62:00.2", .physfn = "0000:62:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	struct action actions[] = {
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:61:00.1", .text.to = "mlx5_core" },
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:61:00.2", .text.to = "mlx5_core" },
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:62:00.1", .text.to = "mlx5_core" },
	};
	struct plan p = { .actions = actions, .n_actions = 3 };
	struct action again[3];
	struct plan next = { .actions = again, .n_actions = 3 };
	int ends[2];
	const struct apply_hooks hooks = { hold_first, note_no_end, NULL, &ends[0] };
	const struct world world = live_world(&place->os);
	struct apply ap = { .world = &world, .hooks = &hooks };

	tree_file(t, "sys/bus/pci/drivers_probe", "");
	tree_link(t, "sys/bus/pci/devices/0000:61:00.1/driver", "../../drivers/mlx5_core");
	tree_link(t, "sys/bus/pci/devices/0000:61:00.2/driver", "../../drivers/mlx5_core");
	tree_link(t, "sys/bus/pci/devices/0000:62:00.1/driver", "../../drivers/mlx5_core");
	tree_link(t, "sys/bus/pci/devices/0000:62:00.2/driver", "../../drivers/mlx5_core");
	place->os.fs.is_live = true;
	assert_int_equal(pipe(ends), 0);
	hold_children();

	/* Another look is due when the second PF has nothing left. */
	complete_actions(p.actions, p.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX), 2);
	assert_true(actions[0].is_running && !actions[1].is_running && actions[2].is_done);
	memcpy(again, actions, sizeof(again));
	again[2] = (struct action){ STEP_VF,
				    VERB_BIND_DRIVER,
				    .target = "0000:62:00.2",
				    .text.to = "mlx5_core",
				    .subject = "",
				    .detail = "",
				    .error = "" };

	/* With its plan the first VF is bound, and the one behind it is as well. */
	assert_int_equal(write(ends[1], "", 1), 1);
	ap.grace_usec = 60 * USEC_PER_SEC;
	complete_actions(next.actions, next.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &next, UINT64_MAX), 2);
	for (size_t i = 0; i < ELEMENTSOF(again); i++)
		assert_true(again[i].is_done && !again[i].is_running && again[i].result == 0);
	assert_false(apply_is_busy(&ap));
	apply_done(&ap);
	close(ends[0]);
	close(ends[1]);
	place->os.fs.is_live = false;
}

static void hold_number(void *userdata, const struct action *a, uint64_t deadline_usec _unused_)
{
	held = streq(a->target, "0000:61:00.0") ? ((int *)userdata)[0] : -1;
}

static void release_number(void *userdata, const struct action *a)
{
	if (a->verb == VERB_SET_LINK_UP)
		assert_int_equal(write(((int *)userdata)[1], "", 1), 1);
}

/* The second PF's number waits for the first one's: until then no look has anything new. */
static void a_pf_that_waits_for_another_asks_for_no_look(void **state)
{
	struct place *place = *state;
	struct tree *t = &place->tree;
	struct pci pcis[] = { { .address = "0000:61:00.0" }, { .address = "0000:62:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	struct action actions[] = {
		{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:61:00.0",
		  .number = { { true, 0 }, { true, 1 } } },
		{ STEP_LINK, VERB_SET_LINK_UP, .target = "0000:62:00.0", .ifindex = INT32_MAX },
		{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:62:00.0",
		  .number = { { true, 0 }, { true, 1 } } },
	};
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	int ends[2];
	const struct apply_hooks hooks = { hold_number, release_number, NULL, ends };
	const struct world world = live_world(&place->os);
	struct apply ap = { .world = &world, .hooks = &hooks };

	for (size_t i = 0; i < ELEMENTSOF(pcis); i++) {
		const char *folder = FS_PATH("sys/bus/pci/devices/%s", pcis[i].address);

		tree_file(t, FS_PATH("%s/virtfn0", folder), "");
		tree_file(t, FS_PATH("%s/sriov_numvfs", folder), "0");
	}
	place->os.fs.is_live = true;
	assert_int_equal(pipe(ends), 0);
	complete_actions(p.actions, p.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX), 3);
	assert_true(actions[0].is_done && actions[0].result == 0);
	if (apply_is_busy(&ap))
		apply_wait(&ap, &node, now_usec() + 60 * USEC_PER_SEC);
	assert_false(apply_is_busy(&ap));
	apply_done(&ap);
	close(ends[0]);
	close(ends[1]);
	place->os.fs.is_live = false;
}

#define N_QUICK 20

/* A world whose children need no time but that of its clock: 1 s, or 30 s where the bind is slow.
 */
struct clock {
	size_t n_quick; /* actions after the first that take 1 s; the others take 30 s */
	uint64_t now_usec, ends_usec[1 + N_QUICK];
};

static uint64_t clock_now(void *userdata)
{
	return ((struct clock *)userdata)->now_usec;
}

static int clock_begin(void *userdata, struct child *c, size_t i)
{
	struct clock *clock = userdata;

	clock->ends_usec[i] =
		clock->now_usec + (i == 0 || i > clock->n_quick ? 30 : 1) * USEC_PER_SEC;
	c->fd = (int)i;
	return 0;
}

static int clock_wait(void *userdata, struct pollfd *fds, size_t n, uint64_t until_usec)
{
	struct clock *clock = userdata;
	struct pollfd *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0 &&
		    (!first || clock->ends_usec[fds[i].fd] < clock->ends_usec[first->fd]))
			first = &fds[i];
	assert_non_null(first);
	clock->now_usec = MIN(until_usec, clock->ends_usec[first->fd]);
	if (clock->ends_usec[first->fd] > until_usec)
		return 0;
	first->revents = POLLIN;
	return 1;
}

static int clock_end(void *userdata _unused_, struct child *c _unused_,
		     uint64_t until_usec _unused_, char *ret_error _unused_, size_t size _unused_)
{
	return 0;
}

static void clock_finish(struct child *c _unused_)
{
}

/* VFs of one PF are bound one after the other, beside a VF of another PF that takes 30 s. */
static void looks_meanwhile_get_no_more_than_a_fifth_of_the_time(void **state)
{
	static const struct {
		uint64_t look_usec, until_usec, next_usec;
		size_t n_quick, n_slow; /* VFs that are bound; the slow ones two of a PF */
		bool is_link;           /* the quick one gets its link instead */
	} rows[] = {
		/* 2 s after the first end */
		{ 100 * USEC_PER_MSEC, UINT64_MAX, 3 * USEC_PER_SEC, N_QUICK },
		/* four times 3 s after it */
		{ 3 * USEC_PER_SEC, UINT64_MAX, 13 * USEC_PER_SEC, N_QUICK },
		{ 3 * USEC_PER_SEC, 1005 * USEC_PER_SEC, 5 * USEC_PER_SEC, N_QUICK },
		/* With nothing left for the quick one; later where other PFs have more to do. */
		{ 100 * USEC_PER_MSEC, UINT64_MAX, 1100 * USEC_PER_MSEC, 1 },
		{ 100 * USEC_PER_MSEC, UINT64_MAX, 1100 * USEC_PER_MSEC, 1, 2 },
		{ 100 * USEC_PER_MSEC, UINT64_MAX, 1300 * USEC_PER_MSEC, 1, 6 },
		{ 100 * USEC_PER_MSEC, UINT64_MAX, 3 * USEC_PER_SEC, 1, 0, true },
	};
	struct place *place = *state;

	for (size_t row = 0; row < ELEMENTSOF(rows); row++) {
		struct pci pcis[1 + N_QUICK] = { { .address = "0000:61:00.1",
						   .physfn = "0000:61:00.0" } };
		struct action actions[1 + N_QUICK] = {
			{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:61:00.1", .text.to = "igbvf" },
		};
		const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
		const size_t n_quick = rows[row].n_quick;
		struct plan p = { .actions = actions, .n_actions = 1 + n_quick + rows[row].n_slow };
		struct clock clock = { .now_usec = 1000 * USEC_PER_SEC, .n_quick = n_quick };
		const struct world world = { .os = &place->os,
					     .now_usec = clock_now,
					     .begin = clock_begin,
					     .end = clock_end,
					     .finish = clock_finish,
					     .leave = clock_finish,
					     .wait = clock_wait,
					     .userdata = &clock };
		const struct apply_hooks hooks = { note_nothing, note_no_end, NULL, NULL };
		struct apply ap = { .world = &world,
				    .hooks = &hooks,
				    .grace_usec = rows[row].look_usec };

		for (size_t i = 1; i <= N_QUICK; i++) {
			const uint8_t bus = i <= n_quick ? 0x62 : 0x63 + (i - n_quick - 1) / 2;

			snprintf(pcis[i].address, PCI_LEN, "0000:%02x:%02zx.%zu", bus, i / 8,
				 i % 8);
			snprintf(pcis[i].physfn, PCI_LEN, "0000:%02x:00.0", bus);
			actions[i] =
				(struct action){ STEP_VF, VERB_BIND_DRIVER,
						 .target = pcis[i].address, .text.to = "igbvf" };
		}
		if (rows[row].is_link)
			actions[1] = (struct action){ STEP_LINK, VERB_SET_LINK_UP,
						      .target = pcis[1].address };
		complete_actions(p.actions, p.n_actions);
		assert_true(apply_some(&ap, &node, &no_memory, &p, rows[row].until_usec) > 0);
		assert_true(apply_is_busy(&ap));
		assert_int_equal(clock.now_usec - 1000 * USEC_PER_SEC, rows[row].next_usec);
		/* The next plan begins nothing until a VF of this one is bound, a second later. */
		if (rows[row].until_usec != UINT64_MAX) {
			assert_true(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX) > 0);
			assert_int_equal(clock.now_usec - rows[row].until_usec, 13 * USEC_PER_SEC);
		}
		apply_done(&ap);
	}
}

static void log_start(void *userdata, const struct action *a, uint64_t deadline_usec _unused_)
{
	char *at = userdata;

	snprintf(at + strlen(at), 16, "+%s ", a->target + strlen(a->target) - 4);
}

static void log_end(void *userdata, const struct action *a)
{
	char *at = userdata;

	snprintf(at + strlen(at), 16, "-%s ", a->target + strlen(a->target) - 4);
}

/* Whether the kernel finds the netdev plays no part here. */
static void vfs_get_links_beside_binds_and_after_their_pf(void **state)
{
	struct place *place = *state;
	struct pci pcis[] = { { .address = "0000:63:00.0" },
			      { .address = "0000:63:00.1", .physfn = "0000:63:00.0" },
			      { .address = "0000:63:00.2", .physfn = "0000:63:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	struct action beside[] = {
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:63:00.1", .text.to = "mlx5_core" },
		{ STEP_LINK, VERB_SET_LINK_UP, .target = "0000:63:00.2", .subject = "",
		  .ifindex = INT32_MAX },
	};
	struct action after[] = {
		{ STEP_LINK, VERB_SET_MTU, .target = "0000:63:00.0", .ifindex = INT32_MAX },
		{ STEP_LINK, VERB_SET_MTU, .target = "0000:63:00.2", .ifindex = INT32_MAX },
		{ STEP_LINK, VERB_SET_MTU, .target = "0000:63:00.1", .ifindex = INT32_MAX },
	};
	const struct {
		struct action *actions;
		size_t n;
		const char *order;
	} rows[] = { { beside, 2, "+00.1 +00.2 " },
		     { after, 3, "+00.0 -00.0 +00.2 -00.2 +00.1 -00.1 " } };
	_cleanup_(ledger_done) struct ledger noted = {};

	tree_file(&place->tree, "sys/bus/pci/drivers_probe", "");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct plan p = { .actions = rows[i].actions, .n_actions = rows[i].n };
		char order[256] = "";
		const struct apply_hooks hooks = { log_start, log_end, NULL, order };

		assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), rows[i].n);
		if (strncmp(order, rows[i].order, strlen(rows[i].order)) != 0)
			fail_msg("%s, not %s", order, rows[i].order);
	}
	/* What routers advertise to such a VF is no use by the host. */
	assert_int_equal(memory_read(&place->os.fs, MEMORY_BOOT, &ledger_fields, &noted), 0);
	assert_non_null(ledger_find(noted.entries, noted.n_entries, "set-link-up", "0000:63:00.2",
				    INT32_MAX, ""));
}

static void after_a_vf_that_fails_the_others_of_its_pf_are_left_out(void **state)
{
	struct place *place = *state;
	struct pci pcis[] = { { .address = "0000:41:00.0" },
			      { .address = "0000:41:00.1", .physfn = "0000:41:00.0" },
			      { .address = "0000:41:00.2", .physfn = "0000:41:00.0" },
			      { .address = "0000:42:00.0" },
			      { .address = "0000:42:00.1", .physfn = "0000:42:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = ELEMENTSOF(pcis) };
	struct action actions[] = {
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:41:00.1", .text.to = "mlx5_core" },
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:41:00.2", .text.to = "mlx5_core" },
		{ STEP_VF, VERB_BIND_DRIVER, .target = "0000:42:00.1", .text.to = "mlx5_core" },
	};
	struct plan p = { .actions = actions, .n_actions = ELEMENTSOF(actions) };
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };

	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 2);
	assert_true(actions[0].is_done && actions[0].result < 0);
	assert_false(actions[1].is_done || actions[1].is_running);
	assert_true(actions[2].is_done);
}

#define PLUGIN_FILE "/run/p/config.json"
#define POD_FILE    "/etc/manifests/pod.yaml"

static void assert_text(const struct place *place, const char *path, const char *expected)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = fs_read_all(&place->os.fs, path + 1, 4096, false, &text, &size);

	if (!expected)
		assert_int_equal(r, -ENOENT);
	else
		assert_string_equal(text ? text : "nothing", expected);
}

static void run_verb(struct place *place, enum verb verb, const char *target, int result,
		     const char *words)
{
	struct action a = { .verb = verb, .target = "", .subject = "", .detail = "", .error = "" };
	struct plan p = { .actions = &a,
			  .n_actions = 1,
			  .plugin = (char *)"the file",
			  .manifest = (char *)"the pod",
			  .plugin_path = PLUGIN_FILE };
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
	const struct node node = {};

	a.target = target;
	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 1);
	if (a.result != result || !streq(a.error, words))
		fail_msg("%s: %s (%s)", verb_name(verb), strerror(-a.result), a.error);
}

/* What the one before did is there when the hook hears of the next one, which has not begun. */
static void on_start_of_row(void *userdata, const struct action *a, uint64_t deadline_usec)
{
	const struct place *place = userdata;

	assert_true(deadline_usec > 0);
	assert_false(a->is_done);
	assert_text(place, PLUGIN_FILE, a->verb == VERB_WRITE_PLUGIN ? NULL : "the file");
}

static void on_end_of_row(void *userdata, const struct action *a)
{
	const struct place *place = userdata;

	assert_true(a->is_done);
	assert_text(place, PLUGIN_FILE, a->verb == VERB_REMOVE_PLUGIN ? NULL : "the file");
}

static void a_row_goes_on_after_a_failure_and_its_hooks_hear_of_each_in_time(void **state)
{
	static const int results[] = { 0, -EROFS, 0 };
	struct place *place = *state;
	struct action actions[] = {
		{ .verb = VERB_WRITE_PLUGIN, .target = PLUGIN_FILE },
		{ .verb = VERB_SET_NUM_VFS, .target = "x", .number = { { true, 0 }, { true, 4 } } },
		{ .verb = VERB_REMOVE_PLUGIN, .target = PLUGIN_FILE },
	};
	struct plan p = { .actions = actions,
			  .n_actions = ELEMENTSOF(actions),
			  .plugin = (char *)"the file",
			  .plugin_path = PLUGIN_FILE };
	const struct apply_hooks hooks = { on_start_of_row, on_end_of_row, NULL, place };
	const struct node node = {};

	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), p.n_actions);
	for (size_t i = 0; i < p.n_actions; i++)
		assert_int_equal(actions[i].result, results[i]);
}

/* What a look for one action shows of others counts as well. */
static void other_users_that_a_look_right_before_shows_end_the_plan(void **state)
{
	struct place *place = *state;
	struct pci pcis[] = { { .address = "0000:41:00.0" }, { .address = "0000:42:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = 2 };

	for (int answer = 0; answer <= 1; answer++) {
		struct action actions[] = {
			{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:41:00.0",
			  .number = { { true, 1 }, { true, 0 } } },
			{ STEP_LINK, VERB_SET_MTU, .target = "0000:42:00.0", .ifindex = INT32_MAX },
		};
		struct plan p = { .actions = actions, .n_actions = 2 };
		struct hearing h = { .answer = answer };
		const struct apply_hooks hooks = { on_start, on_end, recheck, &h };

		assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 2 - answer);
		assert_int_equal(h.n_started, 2 - answer);
		assert_int_equal(h.n_asked, 1);
	}
}

static const char *const letters[_VERB_N] = {
	[VERB_WRITE_RULES] = "R",   [VERB_SET_SYSCTL] = "S",  [VERB_SET_LINK_UP] = "L",
	[VERB_SET_AUTOPROBE] = "A", [VERB_SET_NUM_VFS] = "V", [VERB_BIND_DRIVER] = "B",
};

struct overtaking {
	char heard[40];
	int ends[2];    /* a pipe: udev has read the rules when a byte is in it */
	uint32_t n_due; /* actions that end before that */
};

static void note_start(void *userdata, const struct action *a, uint64_t deadline_usec _unused_)
{
	struct overtaking *o = userdata;

	strcat(strcat(o->heard, "<"), letters[a->verb]);
	held = a->verb == VERB_WRITE_RULES ? o->ends[0] : -1;
}

static void note_end(void *userdata, const struct action *a)
{
	struct overtaking *o = userdata;

	assert_true(a->is_done);
	strcat(strcat(o->heard, letters[a->verb]), ">");
	if (a->verb != VERB_WRITE_RULES && o->n_due > 0 && --o->n_due == 0)
		assert_int_equal(write(o->ends[1], "", 1), 1);
}

/* Netdevs of VFs wait until udev knows its new rules. Links of PFs do not, nor do unbound VFs. */
static void rules_are_read_while_links_come_up_and_before_vfs_have_netdevs(void **state)
{
	static const struct {
		const char *verbs; /* in the plan */
		uint32_t n_due;    /* of struct overtaking */
		const char *heard; /* what began < and ended > */
	} rows[] = {
		{ "RLLV", 2, "<R<LL><LL>R><VV>" },
		{ "RV", 0, "<RR><VV>" },
		{ "RL", 1, "<R<LL>R>" },
		{ "R", 0, "<RR>" },
		{ "LRV", 0, "<LL><RR><VV>" },
		{ "RSLV", 2, "<R<SS><LL>R><VV>" },
		{ "RAVB", 2, "<R<AA><VV>R><BB>" },
		{ "RAVL", 3, "<R<AA><VV><LL>R>" },
		{ "RAVLB", 3, "<R<AA><VV><LL>R><BB>" },
	};
	struct place *place = *state;
	struct pci pcis[] = {
		{ .address = "0000:51:00.0", .has_autoprobe = true, .autoprobe = true }
	};
	const struct node node = { .boot_id = "1", .pcis = pcis, .n_pcis = 1 };

	tree_file(&place->tree, "sys/bus/pci/devices/0000:51:00.0/sriov_drivers_autoprobe", "1");
	place->os.fs.is_live = true;
	hold_children();
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct action actions[5] = {};
		struct plan p = { .actions = actions,
				  .n_actions = strlen(rows[i].verbs),
				  .rules = (char *)"the rules" };
		struct overtaking o = { .n_due = rows[i].n_due };
		const struct apply_hooks hooks = { note_start, note_end, NULL, &o };

		for (size_t k = 0; k < p.n_actions; k++) {
			for (enum verb v = 0; v < _VERB_N; v++)
				if (letters[v] && *letters[v] == rows[i].verbs[k])
					actions[k].verb = v;
			actions[k].step = strchr("SL", rows[i].verbs[k]) ? STEP_LINK : STEP_VF;
			actions[k].target =
				actions[k].verb == VERB_WRITE_RULES ? "/rules" : pcis[0].address;
			action_set(&actions[k], "1",
				   actions[k].verb == VERB_SET_AUTOPROBE ? "0" : "4");
		}
		assert_int_equal(pipe(o.ends), 0);
		if (o.n_due == 0)
			assert_int_equal(write(o.ends[1], "", 1), 1);
		assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p),
				 p.n_actions);
		if (!streq(o.heard, rows[i].heard))
			fail_msg("%s: %s", rows[i].verbs, o.heard);
		assert_int_equal(close(o.ends[0]) + close(o.ends[1]), 0);
	}
	held = -1;
	place->os.fs.is_live = false;
	assert_text(place, "/rules", "the rules");
	tree_remove_at(place->os.fs.root, "var");
}

static void release_lock(void *userdata, const struct action *a, uint64_t deadline_usec _unused_)
{
	if (a->verb == VERB_SET_NUM_VFS)
		assert_int_equal(write(*(int *)userdata, "", 1), 1);
}

static void end_nothing(void *userdata _unused_, const struct action *a _unused_)
{
}

/* The VFs that wait for the rules are begun by their end, and the plan goes on to theirs. */
static void no_look_is_due_when_rules_are_read(void **state)
{
	struct place *place = *state;
	struct pci pcis[] = { { .address = "0000:51:00.0" } };
	const struct node node = { .pcis = pcis, .n_pcis = 1 };
	struct action actions[] = {
		{ STEP_VF, VERB_WRITE_RULES, .target = "/rules" },
		{ STEP_VF, VERB_SET_NUM_VFS, .target = "0000:51:00.0",
		  .number = { { true, 0 }, { true, 1 } } },
	};
	struct plan p = { .actions = actions, .n_actions = 2, .rules = (char *)"the rules" };
	const struct world world = live_world(&place->os);
	int wishes[2], locked[2];
	const struct apply_hooks hooks = { release_lock, end_nothing, NULL, &wishes[1] };
	struct apply ap = { .world = &world, .hooks = &hooks };
	char byte;
	pid_t pid;

	tree_file(&place->tree, "sys/bus/pci/devices/0000:51:00.0/virtfn0", "");
	tree_file(&place->tree, "sys/bus/pci/devices/0000:51:00.0/sriov_numvfs", "0");
	place->os.fs.is_live = true;
	assert_int_equal(pipe(wishes) + pipe(locked), 0);

	/* Another process has the lock of lanes until the VFs are begun. */
	pid = fork();
	if (pid == 0)
		_exit(fs_lock(&place->os.fs, LANES_LOCK_PATH, 0) < 0 ||
		      write(locked[1], "", 1) != 1 || read(wishes[0], &byte, 1) != 1);
	assert_int_equal(read(locked[0], &byte, 1), 1);
	complete_actions(p.actions, p.n_actions);
	assert_int_equal(apply_some(&ap, &node, &no_memory, &p, UINT64_MAX), 2);
	assert_true(actions[0].is_done && actions[1].is_done);
	assert_false(apply_is_busy(&ap));
	apply_done(&ap);
	keep_texts(&p);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(close(wishes[i]) + close(locked[i]), 0);
	place->os.fs.is_live = false;
}

static void a_static_pod_is_written_after_its_file_and_its_record(void **state)
{
	struct place *place = *state;
	const int root = place->os.fs.root;

	run_verb(place, VERB_WRITE_MANIFEST, POD_FILE, -ENOENT,
		 "the device plugin's file could not be written");
	assert_text(place, POD_FILE, NULL);

	run_verb(place, VERB_WRITE_PLUGIN, PLUGIN_FILE, 0, "");
	assert_text(place, PLUGIN_FILE, "the file");

	/* Nobody would find it after a reboot. */
	assert_int_equal(mkdirat(root, "var", 0755), 0);
	assert_int_equal(symlinkat("nowhere", root, "var/lib"), 0);
	run_verb(place, VERB_WRITE_MANIFEST, POD_FILE, -ENOENT,
		 "/var/lib/rdma-provision/memory.json cannot be written");
	assert_text(place, POD_FILE, NULL);
	assert_int_equal(unlinkat(root, "var/lib", 0), 0);

	run_verb(place, VERB_WRITE_MANIFEST, POD_FILE, 0, "");
	assert_text(place, POD_FILE, "the pod");
	assert_text(place, "/var/lib/rdma-provision/memory.json",
		    "{\"manifest\":\"" POD_FILE "\"}\n");

	run_verb(place, VERB_REMOVE_MANIFEST, POD_FILE, 0, "");
	run_verb(place, VERB_REMOVE_PLUGIN, PLUGIN_FILE, 0, "");
	assert_text(place, POD_FILE, NULL);
	assert_text(place, PLUGIN_FILE, NULL);
	assert_text(place, "/var/lib/rdma-provision/memory.json", NULL);

	/* A plugin's container sees the folder, and may have made something else of it. */
	assert_int_equal(unlinkat(root, "run/p", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("../etc", root, "run/p"), 0);
	run_verb(place, VERB_WRITE_PLUGIN, PLUGIN_FILE, -ELOOP, "");
	assert_text(place, "/etc/config.json", NULL);
}

static void put_text(const struct place *place, const char *path, const char *text)
{
	assert_true(fs_replace(&place->os.fs, path + 1, text, strlen(text), 0644) >= 0);
}

/* As the present file, and as that of an earlier configuration. */
static void assert_ours(const struct place *place, bool is_ours)
{
	static struct config with, without;
	_cleanup_(node_done) struct node now = {}, later = {};
	struct memory memory = {};

	COPY(with.plugin.config_file, PLUGIN_FILE);
	observe_plugin(&place->os.fs, &with, &now, &memory);
	assert_int_equal(now.is_plugin_foreign, !is_ours);

	COPY(memory.last_plugin_path, PLUGIN_FILE);
	observe_plugin(&place->os.fs, &without, &later, &memory);
	assert_string_equal(later.old_plugin_path, is_ours ? PLUGIN_FILE : "");
}

static void a_file_elsewhere_is_ours_with_the_text_that_was_recorded(void **state)
{
	struct place *place = *state;
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {}, other = {};
	struct plugin_record record = {};
	struct config c = {};

	put_text(place, PLUGIN_FILE, "the file");
	assert_ours(place, false);
	run_verb(place, VERB_WRITE_PLUGIN, PLUGIN_FILE, 0, "");
	assert_ours(place, true);
	put_text(place, PLUGIN_FILE, "of another program");
	assert_ours(place, false);
	run_verb(place, VERB_WRITE_PLUGIN, PLUGIN_FILE, 0, "");
	assert_ours(place, true);
	run_verb(place, VERB_REMOVE_PLUGIN, PLUGIN_FILE, 0, "");
	put_text(place, PLUGIN_FILE, "the file");
	assert_ours(place, false);

	/* The service may have recorded what "revert" could remove, and the service not. */
	put_text(place, "/etc/shadow", "root:*");
	plugin_record_make(&record, "/etc/shadow", "root:*");
	assert_int_equal(memory_write(&place->os.fs, MEMORY_BOOT, &plugin_record_fields, &record),
			 0);
	COPY(memory.last_plugin_path, "/etc/shadow");
	observe_plugin(&place->os.fs, &c, &other, &memory);
	assert_string_equal(other.old_plugin_path, "");

	/* In our own folder there is no record, and none is missed. */
	COPY(c.plugin.config_file, "/" PLUGIN_CONFIG_PATH);
	put_text(place, "/" PLUGIN_CONFIG_PATH, "as 0.1.0 wrote it");
	observe_plugin(&place->os.fs, &c, &n, &memory);
	assert_false(n.is_plugin_foreign);
	run_verb(place, VERB_REMOVE_PLUGIN, PLUGIN_FILE, 0, "");
}

/* @start_sec: of the plugin, after its file was written; @step_sec: of the clock meanwhile. */
static void a_plugin_is_older_than_its_file_whatever_the_clock(void **state)
{
	static const struct {
		int start_sec, step_sec;
		bool is_recorded, is_dated, is_older;
	} rows[] = {
		{ 20, 0, true, true, false },       { -20, 0, true, true, true },
		{ 20, 3600, true, true, false },    { -20, 3600, true, true, true },
		{ 20, -3600, true, true, false },   { -20, -3600, true, true, true },
		{ 20, 0, false, true, false },      { -20, 0, false, true, true },
		{ 20, -3600, false, false, false },
	};
	struct place *place = *state;
	const struct config c = { .plugin = { .type = PLUGIN_SRIOV, .config_file = PLUGIN_FILE } };
	const long hz = sysconf(_SC_CLK_TCK);

	put_text(place, "/proc/71/comm", "sriovdp\n");
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_(node_done) struct node n = { .plugin_file = strdup("the file") };
		struct fs fs = place->os.fs;
		struct timespec times[2], boot;
		char stat[128];

		run_verb(place, VERB_WRITE_PLUGIN, PLUGIN_FILE, 0, "");
		if (!rows[i].is_recorded)
			assert_int_equal(fs_remove(&fs, MEMORY_BOOT_PATH), 0);
		clock_gettime(CLOCK_REALTIME, &times[0]);
		clock_gettime(CLOCK_BOOTTIME, &boot);
		times[0].tv_sec -= rows[i].step_sec;
		times[1] = times[0];
		assert_int_equal(utimensat(fs.root, &PLUGIN_FILE[1], times, 0), 0);
		snprintf(stat, sizeof(stat),
			 "71 (sriovdp) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %ld 0 0\n",
			 (boot.tv_sec + rows[i].start_sec) * hz);
		put_text(place, "/proc/71/stat", stat);
		fs.is_live = true;
		assert_int_equal(observe_plugin_processes(&fs, &c, &n), 0);
		assert_int_equal(n.n_plugin_processes, 1);
		assert_int_equal(n.plugin_processes[0].is_dated, rows[i].is_dated);
		assert_int_equal(n.plugin_processes[0].since_change_sec < 0, rows[i].is_older);
		run_verb(place, VERB_REMOVE_PLUGIN, PLUGIN_FILE, 0, "");
	}
}

/* What "revert --vfs" takes back is the number that is there. */
static void the_ledger_has_the_number_of_vfs_that_was_made(void **state)
{
	static const struct {
		const char *name, *before; /* noted; NULL: nothing */
		bool can_write;
		int result;
		const char *after;
	} rows[] = {
		{ "as many as asked for", NULL, true, 0, "2" },
		{ "fewer than asked for", NULL, true, -EREMOTEIO, "2" },
		{ "the write failed", NULL, false, -ENOENT, NULL },
		{ "the write failed, and those of before are there", "3", false, -ENOENT, "3" },
	};
	struct place *place = *state;
	struct tree *t = &place->tree;

	tree_file(t, "sys/bus/pci/devices/0000:41:00.0/virtfn0", "");
	tree_file(t, "sys/bus/pci/devices/0000:41:00.0/virtfn1", "");
	place->os.fs.is_live = true;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		struct ledger_entry noted = { .verb = "set-num-vfs", .target = "0000:41:00.0" };
		struct action a = { .step = STEP_VF,
				    .verb = VERB_SET_NUM_VFS,
				    .target = "0000:41:00.0",
				    .subject = "",
				    .detail = "",
				    .error = "" };
		struct memory memory = { .ledger = &noted, .n_ledger = rows[i].before != NULL };
		const struct node node = {};
		struct plan p = { .actions = &a, .n_actions = 1 };
		_cleanup_(ledger_done) struct ledger after = {};
		struct hearing h = {};
		const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
		size_t n = 0;

		COPY(noted.to, rows[i].before ? rows[i].before : "");
		action_set_numbers(&a, 0, i == 0 ? 2 : 4);
		assert_int_equal(memory_write(&place->os.fs, MEMORY_BOOT, &ledger_fields,
					      &(struct ledger){ &noted, memory.n_ledger }),
				 0);
		if (rows[i].can_write)
			tree_file(t, "sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "0");
		else
			fs_remove(&place->os.fs, "sys/bus/pci/devices/0000:41:00.0/sriov_numvfs");
		assert_int_equal(apply_plan(&place->os, &node, &memory, &hooks, &p), 1);
		assert_int_equal(memory_read(&place->os.fs, MEMORY_BOOT, &ledger_fields, &after),
				 0);
		n = after.n_entries;
		if (a.result != rows[i].result || n != (rows[i].after != NULL) ||
		    (n > 0 && !streq(after.entries[0].to, rows[i].after)))
			fail_msg("%s: %s, %zu %s", rows[i].name, strerror(-a.result), n,
				 n > 0 ? after.entries[0].to : "");
	}
}

/* Another program made more than were seen: those VFs are its own. */
static void vfs_that_came_since_the_look_are_not_removed(void **state)
{
	struct place *place = *state;
	struct action a = { .step = STEP_VF,
			    .verb = VERB_SET_NUM_VFS,
			    .target = "0000:41:00.0",
			    .number = { { true, 1 }, { true, 0 } },
			    .subject = "",
			    .detail = "",
			    .error = "" };
	const struct node node = {};
	struct plan p = { .actions = &a, .n_actions = 1 };
	struct hearing h = {};
	const struct apply_hooks hooks = { on_start, on_end, NULL, &h };
	char number[8];

	tree_file(&place->tree, "sys/bus/pci/devices/0000:41:00.0/virtfn0", "");
	tree_file(&place->tree, "sys/bus/pci/devices/0000:41:00.0/virtfn1", "");
	tree_file(&place->tree, "sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "2");
	place->os.fs.is_live = true;
	assert_int_equal(apply_plan(&place->os, &node, &no_memory, &hooks, &p), 1);
	assert_int_equal(a.result, -EBUSY);
	assert_string_equal(a.error, "2 VFs came in between");
	assert_int_equal(fs_read(&place->os.fs, "sys/bus/pci/devices/0000:41:00.0/sriov_numvfs",
				 number, sizeof(number)),
			 0);
	assert_string_equal(number, "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vfs_are_made_by_an_old_plan_only_after_another_look),
		cmocka_unit_test(what_takes_something_away_is_asked_about_right_before),
		cmocka_unit_test(the_way_back_is_looked_at_before_the_module_is_unloaded),
		cmocka_unit_test(what_is_not_the_loaded_build_unloads_nothing),
		cmocka_unit_test(a_damaged_file_has_no_build_id),
		cmocka_unit_test(the_program_that_forbids_a_module_is_known),
		cmocka_unit_test(a_row_goes_on_after_a_failure_and_its_hooks_hear_of_each_in_time),
		cmocka_unit_test(other_users_that_a_look_right_before_shows_end_the_plan),
		cmocka_unit_test(no_look_is_due_when_rules_are_read),
		cmocka_unit_test(rules_are_read_while_links_come_up_and_before_vfs_have_netdevs),
		cmocka_unit_test(a_file_elsewhere_is_ours_with_the_text_that_was_recorded),
		cmocka_unit_test(a_plugin_is_older_than_its_file_whatever_the_clock),
		cmocka_unit_test(a_static_pod_is_written_after_its_file_and_its_record),
		cmocka_unit_test(nobody_has_to_ask),
		cmocka_unit_test(what_was_unplugged_meanwhile_is_known),
		cmocka_unit_test(a_pf_that_lost_its_driver_is_about_to_go),
		cmocka_unit_test(what_follows_vfs_that_could_not_be_removed_is_left_out),
		cmocka_unit_test(a_bind_that_outlives_its_plan_does_not_stop_its_pf),
		cmocka_unit_test(a_pf_that_waits_for_another_asks_for_no_look),
		cmocka_unit_test(looks_meanwhile_get_no_more_than_a_fifth_of_the_time),
		cmocka_unit_test(vfs_get_links_beside_binds_and_after_their_pf),
		cmocka_unit_test(after_a_vf_that_fails_the_others_of_its_pf_are_left_out),
		cmocka_unit_test(a_pf_that_hangs_keeps_neither_another_nor_the_node),
		cmocka_unit_test(the_ledger_has_the_number_of_vfs_that_was_made),
		cmocka_unit_test(vfs_that_came_since_the_look_are_not_removed),
	};

	return cmocka_run_group_tests_name("apply", tests, make_place, remove_place);
}
