/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../src/os/module.h"

#include "skip.h"
#include "tree.h"

/*
 * A made module tree. Its indexes are what depmod(8) writes, but flatter: one branch for the first
 * letter, one leaf below it, hence no two keys of an index may begin with the same letter. All
 * numbers are big endian; see libkmod-index.c of kmod for the format.
 */
struct entry {
	const char *key, *value;
};

static const struct entry dep[] = {
	{ "compressed", "kernel/compressed.ko.xz:" },
	{ "damaged", "kernel/damaged.ko:" },
	{ "ib_uverbs", "kernel/ib_uverbs.ko:" },
	{ "mlx5_core", "kernel/mlx5_core.ko: kernel/ib_uverbs.ko" },
	{ "nouveau", "kernel/nouveau.ko:" },
	{ "packaged", "kernel/packaged.ko:" },
	{ "rdma_ucm", "kernel/rdma_ucm.ko:" },
	{ "switched_off", "kernel/switched_off.ko:" },
	{ "user_mad", "kernel/user_mad.ko:" },
	{ "vendor_rdma", "extra/vendor_rdma.ko:" },
	{ NULL, NULL },
};
static const struct entry alias[] = {
	{ "nouveau:*", "nouveau" },
	{ "pci:v000015B3d*sv*sd*bc*sc*i*", "mlx5_core" },
	{ NULL, NULL },
};
static const struct entry builtin[] = { { "ext4", "kernel/ext4.ko" }, { NULL, NULL } };
static const struct entry none[] = { { NULL, NULL } };

static const struct {
	const char *name;
	const struct entry *entries;
} indexes[] = {
	{ "modules.dep.bin", dep },
	{ "modules.alias.bin", alias },
	{ "modules.builtin.bin", builtin },
	{ "modules.symbols.bin", none },
	{ "modules.builtin.alias.bin", none },
};

#define MAGIC        0xB007F457
#define VERSION      0x00020001
#define HAS_PREFIX   0x80000000
#define HAS_VALUES   0x40000000
#define HAS_CHILDREN 0x20000000
#define FIRST        'a'
#define LAST         'z'

static char root[] = "/tmp/test-module-XXXXXX";
static char folder[64];

struct image {
	char bytes[4096];
	size_t size;
};

static void put_u32(struct image *im, uint32_t value)
{
	value = htobe32(value);
	memcpy(im->bytes + im->size, &value, sizeof(value));
	im->size += sizeof(value);
}

static void put_text(struct image *im, const char *text)
{
	memcpy(im->bytes + im->size, text, strlen(text) + 1);
	im->size += strlen(text) + 1;
}

static uint32_t put_leaf(struct image *im, const struct entry *e)
{
	const uint32_t at = (uint32_t)im->size | HAS_PREFIX | HAS_VALUES;

	put_text(im, e->key + 1);
	put_u32(im, 1); /* one value, of priority 0 */
	put_u32(im, 0);
	put_text(im, e->value);
	return at;
}

static void put_file(const char *path, const char *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static void put_index(const char *name, const struct entry *entries)
{
	uint32_t leaves[LAST - FIRST + 1] = {};
	struct image im = {}, start = {};
	char path[128];

	im.size = 3 * sizeof(uint32_t);
	for (const struct entry *e = entries; e->key; e++) {
		assert_int_equal(leaves[*e->key - FIRST], 0);
		leaves[*e->key - FIRST] = put_leaf(&im, e);
	}

	put_u32(&start, MAGIC);
	put_u32(&start, VERSION);
	put_u32(&start, (uint32_t)im.size | HAS_CHILDREN);
	memcpy(im.bytes, start.bytes, start.size);
	im.bytes[im.size++] = FIRST;
	im.bytes[im.size++] = LAST;
	for (size_t i = 0; i < ELEMENTSOF(leaves); i++)
		put_u32(&im, leaves[i]);

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	put_file(path, im.bytes, im.size);
}

static void put_config(const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/etc/modprobe.d/test.conf", root);
	put_file(path, text, strlen(text));
}

/* What packages write, where they write it. */
static void put_packaged_config(const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/usr/lib/modprobe.d/zz-packaged.conf", root);
	put_file(path, text, strlen(text));
}

struct section {
	const char *name; /* NULL: no more */
	const void *bytes;
	size_t size;
};

/* The least that is a module file: an ELF object with some sections. */
static void put_sections(const char *name, const struct section *list)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[8];
		char bytes[2048];
	} file = {};
	char names[128] = "", path[160];
	size_t n = 1, n_names = 1, used = 0;

	for (; list->name; list++, n++) {
		assert_true(used + list->size + sizeof(names) <= sizeof(file.bytes));
		file.sections[n] =
			(Elf64_Shdr){ .sh_name = (Elf64_Word)n_names,
				      .sh_type = SHT_PROGBITS,
				      .sh_offset = offsetof(__typeof__(file), bytes) + used,
				      .sh_size = list->size };
		memcpy(file.bytes + used, list->bytes, list->size);
		used += list->size;
		n_names += (size_t)snprintf(names + n_names, sizeof(names) - n_names, "%s",
					    list->name) +
			   1;
	}
	snprintf(names + n_names, sizeof(names) - n_names, ".shstrtab");
	file.sections[n] = (Elf64_Shdr){ .sh_name = (Elf64_Word)n_names,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(__typeof__(file), bytes) + used,
					 .sh_size = sizeof(names) };
	memcpy(file.bytes + used, names, sizeof(names));

	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = htole16(1) == 1 ? ELFDATA2LSB : ELFDATA2MSB;
	file.header.e_ident[EI_VERSION] = EV_CURRENT;
	file.header.e_type = ET_REL;
	file.header.e_version = EV_CURRENT;
	file.header.e_ehsize = sizeof(file.header);
	file.header.e_shoff = sizeof(file.header);
	file.header.e_shentsize = sizeof(file.sections[0]);
	file.header.e_shnum = (Elf64_Half)(n + 1);
	file.header.e_shstrndx = (Elf64_Half)n;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	put_file(path, (const char *)&file, sizeof(file));
}

/* .modinfo, whose items end in NUL. */
static void put_module(const char *name, const char *info, size_t info_size)
{
	const struct section list[] = { { ".modinfo", info, info_size }, {} };

	put_sections(name, list);
}

static void make_folders(const char *path)
{
	char part[128];

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		assert_true(mkdir(part, 0755) == 0 || errno == EEXIST);
	}
}

static int set_up(_unused_ void **state)
{
	char path[128];

	if (!mkdtemp(root))
		return -1;
	snprintf(folder, sizeof(folder), "%s/usr/lib/modules/6.1.0-made", root);
	snprintf(path, sizeof(path), "%s/", folder);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/etc/modprobe.d/", root);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/usr/lib/modprobe.d/", root);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/kernel/", folder);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/extra/", folder);
	make_folders(path);

	for (size_t i = 0; i < ELEMENTSOF(indexes); i++)
		put_index(indexes[i].name, indexes[i].entries);
	put_config("blacklist nouveau\n"
		   "install switched_off /bin/false\n"
		   "alias another_name rdma_ucm\n"
		   "alias net-pf-99 off\n");
	put_packaged_config("install packaged /sbin/modprobe --ignore-install packaged "
			    "$CMDLINE_OPTS && /usr/libexec/setup.sh\n");
	return 0;
}

static int tear_down(_unused_ void **state)
{
	tree_remove_at(AT_FDCWD, root);
	return 0;
}

static void a_modalias_finds_its_module(_unused_ void **state)
{
	static const struct {
		const char *modalias, *name;
		int r;
	} cases[] = {
		{ "pci:v000015B3d00001017sv000015B3sd00000001bc02sc00i00", "mlx5_core", 0 },
		{ "nouveau:anything", "nouveau", 0 }, /* blacklisted, which is not asked */
		{ "rdma_ucm", "rdma_ucm", 0 },
		{ "another_name", "rdma_ucm", 0 },
		{ "pci:v00001DED0000107Fsv*", NULL, -ENOENT },
		{ "", NULL, -ENOENT },
	};
	struct modules m;

	m = (struct modules){ .folder = folder, .config = root };
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char name[MODULE_LEN] = "untouched";

		assert_int_equal(module_resolve(&m, cases[i].modalias, name, sizeof(name)),
				 cases[i].r);
		if (cases[i].r == 0)
			assert_string_equal(name, cases[i].name);
	}
	modules_done(&m);
}

static void a_module_is_there_or_says_why_not(_unused_ void **state)
{
	static const struct {
		const char *name;
		enum module_state state;
	} cases[] = {
		{ "rdma_ucm", MODULE_AVAILABLE },
		{ "mlx5_core", MODULE_AVAILABLE },
		{ "mlx5-core", MODULE_AVAILABLE },
		{ "nouveau", MODULE_BLACKLISTED },
		{ "switched_off", MODULE_BLACKLISTED }, /* by an install command */
		{ "packaged", MODULE_BLACKLISTED },     /* by one that would insert it as well */
		{ "ext4", MODULE_BUILTIN },
		{ "erdma", MODULE_MISSING },
		{ "net-pf-99", MODULE_MISSING }, /* alias ... off */
	};
	struct modules m;

	m = (struct modules){ .folder = folder, .config = root };
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		enum module_state found = _MODULE_STATE_N;

		assert_int_equal(module_look(&m, cases[i].name, &found), 0);
		if (found != cases[i].state)
			print_error("%s\n", cases[i].name);
		assert_int_equal(found, cases[i].state);
	}
	modules_done(&m);
}

/* What a tree says of itself leads out of it, by links and by the running command line. */
static void without_a_trusted_configuration_nothing_is_blacklisted(_unused_ void **state)
{
	static const char *const names[] = { "nouveau", "switched_off", "packaged", "rdma_ucm" };
	char name[MODULE_LEN];
	struct modules m;

	m = (struct modules){ .folder = folder };
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		enum module_state found = _MODULE_STATE_N;

		assert_int_equal(module_look(&m, names[i], &found), 0);
		assert_int_equal(found, MODULE_AVAILABLE);
	}
	assert_int_equal(module_resolve(&m, "another_name", name, sizeof(name)), -ENOENT);
	modules_done(&m);
}

/* Libkmod would wait for it for ever. */
static void a_fifo_in_modprobe_d_is_refused(_unused_ void **state)
{
	static const struct {
		const char *name;
		bool is_refused;
	} rows[] = {
		{ "f.conf", true },
		{ "f.alias", true },
		{ "f.conf.bak", false },
		{ ".f.conf", false },
	};
	enum module_state found = _MODULE_STATE_N;
	char path[128];
	struct modules m;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		snprintf(path, sizeof(path), "%s/etc/modprobe.d/%s", root, rows[i].name);
		assert_int_equal(mkfifo(path, 0600), 0);
		m = (struct modules){ .folder = folder, .config = root };
		assert_int_equal(module_look(&m, "rdma_ucm", &found),
				 rows[i].is_refused ? -ENOTSUP : 0);
		modules_done(&m);
		unlink(path);
	}

	/* A file that another one hides is not read, neither by libkmod nor by us. */
	snprintf(path, sizeof(path), "%s/run", root);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/run/modprobe.d", root);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/run/modprobe.d/masked.conf", root);
	assert_int_equal(mkfifo(path, 0600), 0);

	snprintf(path, sizeof(path), "%s/etc/modprobe.d/masked.conf", root);
	assert_int_equal(symlink("/dev/null", path), 0);
	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_look(&m, "rdma_ucm", &found), 0);
	modules_done(&m);
	unlink(path);
	snprintf(path, sizeof(path), "%s/run/modprobe.d/masked.conf", root);
	unlink(path);
}

static void a_bad_line_of_modprobe_d_says_nothing_on_our_stderr(_unused_ void **state)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	enum module_state found;
	char path[128], text[16];
	struct modules m;

	snprintf(path, sizeof(path), "%s/etc/modprobe.d/bad.conf", root);
	put_file(path, "nonsense\noptions\n", 17);
	assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
	assert_true(dup2(pipes[1], STDERR_FILENO) >= 0);
	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_look(&m, "rdma_ucm", &found), 0);
	modules_done(&m);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	assert_int_equal(read(pipes[0], text, sizeof(text)), -1);
	assert_int_equal(errno, EAGAIN);
	close(pipes[0]);
	close(pipes[1]);
	close(saved);
	unlink(path);
}

#define ITEMS(text) text, sizeof(text) /* with the NUL at the end */

static void a_file_says_what_it_is(_unused_ void **state)
{
	struct module module = { .name = "vendor_rdma" };
	const struct parameter *p;
	struct modules m;

	put_module("extra/vendor_rdma.ko",
		   ITEMS("version=0.2.37\0srcversion=ABCDEF\0license=GPL\0"
			 "parm=compat_mode:Compatible mode, yes: or no\0"
			 "parmtype=compat_mode:bool\0parmtype=base:ushort\0parm=said_only:x\0"
			 "parm=:nameless\0parm=no_colon\0vermagic=6.1.0-made SMP"));
	/* What is in force stays. */
	p = APPEND(module.parameters, module.n_parameters);
	COPY(((struct parameter *)p)->name, "compat_mode");
	COPY(((struct parameter *)p)->value, "N");

	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_read(&m, false, &module), 0);
	assert_string_equal(module.path + strlen(root),
			    "/usr/lib/modules/6.1.0-made/extra/vendor_rdma.ko");
	assert_false(module.has_info);
	assert_int_equal(module.n_parameters, 1);

	assert_int_equal(module_read(&m, true, &module), 0);
	assert_true(module.has_info);
	assert_string_equal(module.version, "0.2.37");
	assert_string_equal(module.srcversion, "ABCDEF");
	assert_string_equal(module.vermagic, "6.1.0-made SMP");
	assert_false(module.is_intree);
	assert_int_equal(module.n_parameters, 3);
	assert_string_equal(module.parameters[0].name, "base");
	assert_string_equal(module.parameters[0].type, "ushort");
	p = module_parameter(&module, "compat_mode");
	assert_string_equal(p->type, "bool");
	assert_string_equal(p->value, "N");
	assert_string_equal(module_parameter(&module, "said_only")->type, "");
	free(module.parameters);

	module = (struct module){ .name = "user_mad" };
	put_module("kernel/user_mad.ko", ITEMS("intree=Y\0description=\xff"));
	assert_int_equal(module_read(&m, true, &module), 0);
	assert_true(module.has_info);
	assert_true(module.is_intree);
	assert_int_equal(module.n_parameters, 0);
	modules_done(&m);
}

/* modprobe --dump-modversions reads the same: kmod_elf_get_modversions() in libkmod-elf.c. */
static void put_taker(const char *symbol, uint64_t crc)
{
	struct {
		uint64_t crc;
		char name[56];
	} version = { .crc = crc };
	const struct section list[] = { { "__versions", &version, sizeof(version) }, {} };

	COPY(version.name, symbol);
	put_sections("kernel/mlx5_core.ko", list);
}

static void put_giver(uint64_t crc)
{
	static const char names[] = "\0__crc_ib_create_qp";
	const Elf64_Sym symbols[] = { {},
				      { .st_name = 1,
					.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
					.st_shndx = SHN_ABS,
					.st_value = crc } };
	const struct section list[] = { { ".symtab", symbols, sizeof(symbols) },
					{ ".strtab", names, sizeof(names) },
					{} };

	put_sections("kernel/ib_uverbs.ko", list);
}

static void symbols_of_another_build_are_named(_unused_ void **state)
{
	static const struct {
		const char *symbol;
		uint64_t wanted, there;
		int result;
	} rows[] = {
		{ "ib_create_qp", 0x1234, 0x1234, 1 },
		{ "ib_create_qp", 0x1234, 0x1235, -EXDEV },
		{ "printk", 0x1234, 0x1235, 0 }, /* of another one */
	};
	char path[160];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char symbol[64] = "";
		struct modules m;

		put_taker(rows[i].symbol, rows[i].wanted);
		put_giver(rows[i].there);
		m = (struct modules){ .folder = folder, .config = root };
		assert_int_equal(module_compare_symbols(&m, "mlx5_core", "ib_uverbs", symbol,
							sizeof(symbol)),
				 rows[i].result);
		assert_string_equal(symbol, rows[i].result < 0 ? rows[i].symbol : "");
		modules_done(&m);
	}
	snprintf(path, sizeof(path), "%s/kernel/mlx5_core.ko", folder);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/kernel/ib_uverbs.ko", folder);
	assert_int_equal(unlink(path), 0);
}

static void a_compressed_file_is_read(_unused_ void **state)
{
	struct module module = { .name = "compressed" };
	char command[256];
	struct modules m;

	put_module("kernel/compressed.ko", ITEMS("intree=Y\0parmtype=netns_mode:bool"));
	snprintf(command, sizeof(command), "xz --check=crc32 %s/kernel/compressed.ko 2>&1", folder);
	if (system(command) != 0)
		skip_without("xz(1)");

	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_read(&m, true, &module), 0);
	assert_true(module.has_info);
	assert_true(module.is_intree);
	assert_string_equal(module_parameter(&module, "netns_mode")->type, "bool");
	free(module.parameters);
	modules_done(&m);
}

static void nothing_is_known_of_a_file_that_cannot_be_read(_unused_ void **state)
{
	static const struct {
		const char *name;
		int r;
	} cases[] = {
		{ "damaged", 0 },     /* a path and nothing else */
		{ "nouveau", 0 },     /* in modules.dep only */
		{ "erdma", -ENOENT }, /* not even there */
		{ "ext4", -ENOENT },  /* built in */
	};
	struct modules m;
	char path[128];

	snprintf(path, sizeof(path), "%s/kernel/damaged.ko", folder);
	put_file(path, "\177ELF and no more", 16);

	m = (struct modules){ .folder = folder, .config = root };
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct module module = {};

		COPY(module.name, cases[i].name);
		assert_int_equal(module_read(&m, true, &module), cases[i].r);
		assert_false(module.has_info);
		assert_int_equal(module.n_parameters, 0);
		assert_int_equal(module.path[0] != '\0', cases[i].r == 0);
	}
	modules_done(&m);
}

static void a_changed_configuration_is_seen(_unused_ void **state)
{
	const struct timespec times[] = { { 1, 0 }, { 1, 0 } };
	enum module_state found;
	char path[128];
	struct modules m;

	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_look(&m, "user_mad", &found), 0);
	assert_int_equal(found, MODULE_AVAILABLE);

	snprintf(path, sizeof(path), "%s/etc/modprobe.d/later.conf", root);
	put_file(path, "blacklist user_mad\n", 19);
	snprintf(path, sizeof(path), "%s/etc/modprobe.d", root);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0),
			 0); /* whatever the clock's grain is */

	assert_int_equal(module_look(&m, "user_mad", &found), 0);
	assert_int_equal(found, MODULE_BLACKLISTED);
	modules_done(&m);
}

static void a_tree_without_modules_has_none(_unused_ void **state)
{
	static const char *const folders[] = { "/absent/lib/modules/1", "1", "" };
	enum module_state found;
	char name[MODULE_LEN];
	struct modules m;

	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		m = (struct modules){ .folder = folders[i] };
		assert_int_equal(module_look(&m, "rdma_ucm", &found), 0);
		assert_int_equal(found, MODULE_MISSING);
		assert_int_equal(module_resolve(&m, "pci:v000015B3d00001017", name, sizeof(name)),
				 -ENOENT);
		modules_done(&m);
	}
}

static void nothing_is_loaded_out_of_another_tree(_unused_ void **state)
{
	struct modules m;

	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_load(&m, "rdma_ucm", ""), -EROFS);
	assert_int_equal(module_load(&m, "rdma_ucm", "a=b"), -EROFS);
	assert_int_equal(module_remove(&m, "rdma_ucm"), -EROFS);
	modules_done(&m);
}

/* -EROFS: it would have been done here, in another tree than the running system's. */
static void the_helper_loads_what_an_rdma_node_may_need(_unused_ void **state)
{
	static const struct {
		const char *question;
		int expected;
	} rows[] = {
		{ "load ib_umad ", -EROFS },
		{ "load nvidia_peermem ", -EROFS },
		{ "load erdma compat_mode=Y reserve_ports_base=30608", -EROFS },
		{ "load erdma compat_mode=N", -EROFS },
		{ "load mlx5_core ", -EROFS }, /* of a function that is here */
		{ "load mlx5_ib ", -EROFS },   /* the RDMA part of its driver */
		{ "remove erdma ", -EROFS },

		{ "load nouveau ", -EOPNOTSUPP },
		{ "load bnxt_re ", -EOPNOTSUPP }, /* no function here has its driver */
		{ "load rdma_ucm ", -EROFS },
		{ "load another_name ", -EOPNOTSUPP }, /* an alias */
		{ "load ../../tmp/evil ", -EOPNOTSUPP },
		{ "load ib_umad debug=1", -EOPNOTSUPP },
		{ "load mlx5_core prof_sel=1", -EOPNOTSUPP },
		{ "load erdma compat_mode=Y evil=1", -EOPNOTSUPP },
		{ "load erdma compat_mode=", -EOPNOTSUPP },
		{ "load erdma compat_mode=Y\nevil", -EOPNOTSUPP },
		{ "remove mlx5_core ", -EOPNOTSUPP },
		{ "remove erdma -f", -EOPNOTSUPP },
		{ "remove erdma", -EOPNOTSUPP },
		{ "load", -EOPNOTSUPP },
		{ "", -EOPNOTSUPP },
	};
	_cleanup_(fs_done) struct fs fs = { .root = -EBADF };
	char path[128];
	struct modules m;
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:41:00.0/", root);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:41:00.0/modalias", root);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("pci:v000015B3d00001017sv000015B3sd00000001bc02sc00i00\n", f);
	assert_int_equal(fclose(f), 0);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:41:00.0/driver", root);
	assert_int_equal(symlink("../../drivers/mlx5_core", path), 0);

	assert_int_equal(fs_open_root(root, &fs), 0);
	m = (struct modules){ .folder = folder, .config = root };
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_int_equal(module_serve(&m, &fs, rows[i].question), rows[i].expected);
	modules_done(&m);
}

static void the_running_kernel_answers(_unused_ void **state)
{
	enum module_state found = _MODULE_STATE_N;
	struct utsname u;
	char path[128];
	struct modules m;

	assert_int_equal(uname(&u), 0);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep.bin", u.release);
	if (access(path, R_OK) < 0)
		skip_without("a readable %s", path);

	m = (struct modules){};
	assert_int_equal(module_look(&m, "no_module_of_this_name", &found), 0);
	assert_int_equal(found, MODULE_MISSING);
	assert_int_equal(module_load(&m, "no_module_of_this_name", ""), -ENOENT);
	assert_int_equal(module_load(&m, "no_module_of_this_name", "a=b"), -ENOENT);
	modules_done(&m);
}

/* libkmod looks at the times of folders alone. */
static void a_file_that_was_changed_in_place_is_read_after_forgetting(_unused_ void **state)
{
	enum module_state found = _MODULE_STATE_N;
	struct modules m;

	put_config("blacklist nouveau\n");
	m = (struct modules){ .folder = folder, .config = root };
	assert_int_equal(module_look(&m, "nouveau", &found), 0);
	assert_int_equal(found, MODULE_BLACKLISTED);
	put_config("blacklist nouveaU\n");
	modules_forget(&m);
	assert_int_equal(module_look(&m, "nouveau", &found), 0);
	assert_int_equal(found, MODULE_AVAILABLE);
	modules_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_modalias_finds_its_module),
		cmocka_unit_test(a_module_is_there_or_says_why_not),
		cmocka_unit_test(without_a_trusted_configuration_nothing_is_blacklisted),
		cmocka_unit_test(a_fifo_in_modprobe_d_is_refused),
		cmocka_unit_test(a_bad_line_of_modprobe_d_says_nothing_on_our_stderr),
		cmocka_unit_test(a_file_says_what_it_is),
		cmocka_unit_test(symbols_of_another_build_are_named),
		cmocka_unit_test(a_compressed_file_is_read),
		cmocka_unit_test(nothing_is_known_of_a_file_that_cannot_be_read),
		cmocka_unit_test(a_changed_configuration_is_seen),
		cmocka_unit_test(a_tree_without_modules_has_none),
		cmocka_unit_test(nothing_is_loaded_out_of_another_tree),
		cmocka_unit_test(the_helper_loads_what_an_rdma_node_may_need),
		cmocka_unit_test(the_running_kernel_answers),
		cmocka_unit_test(a_file_that_was_changed_in_place_is_read_after_forgetting),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
