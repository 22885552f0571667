/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "../base/log.h"
#include "conf-files.h"
#include "helper.h"

#include <elf.h>
#include <endian.h>
#include <libkmod.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAX_FILE_BYTES  (256u << 20)
#define MAX_NOTES_BYTES 65536
#define ALIGN4(n)       (((n) + 3) & ~(size_t)3)

#define ASK_USEC (145 * USEC_PER_SEC) /* below the deadline of the verb that loads */
#define LOAD     "load"
#define REMOVE   "remove"

/* In kmod's order: the first folder that has a file of a name wins. */
static const char *const config_folders[] = { CONF_FOLDERS("modprobe.d"), "lib/modprobe.d" };

CLEANUP(ctx_unrefp, struct kmod_ctx *, kmod_unref);
CLEANUP(module_unrefp, struct kmod_module *, kmod_module_unref);
CLEANUP(list_unrefp, struct kmod_list *, kmod_module_unref_list);
CLEANUP(info_freep, struct kmod_list *, kmod_module_info_free_list);
CLEANUP(versions_freep, struct kmod_list *, kmod_module_versions_free_list);
CLEANUP(symbols_freep, struct kmod_list *, kmod_module_symbols_free_list);

void modules_done(struct modules *m)
{
	ctx_unrefp(&m->ctx);
	*m = (struct modules){};
}

static bool is_readable(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
	       S_ISSOCK(st.st_mode) ||
	       (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)); /* a link to /dev/null */
}

/*
 * Libkmod opens any file of these folders, and reading a FIFO or a terminal never ends. Links lead
 * where they lead libkmod, so this is from the running root.
 */
static int check_config(const struct fs *here, const char *const *folders)
{
	_cleanup_(conf_files_done) struct conf_files files = {};
	int r = conf_files_list(here, folders, "*.@(conf|alias)", &files);

	for (size_t i = 0; i < files.n_items && r >= 0; i++) {
		_cleanup_(closep) int fd = fs_open(here, files.items[i].path, O_PATH);

		if (fd < 0 || is_readable(fd)) /* absent, or closed to us: to libkmod as well */
			continue;
		log_error("/%s is no regular file: nothing that modprobe.d says can be read before "
			  "it is removed",
			  files.items[i].path);
		r = -ENOTSUP;
	}
	return r;
}

void modules_forget(struct modules *m)
{
	ctx_unrefp(&m->ctx);
	m->ctx = NULL;
}

static int open_ctx(const struct modules *m, struct kmod_ctx **ret)
{
	_cleanup_(fs_done) struct fs here = {};
	char paths[ELEMENTSOF(config_folders)][PATH_MAX];
	const char *config[ELEMENTSOF(config_folders) + 1] = {};
	const char *below_root[ELEMENTSOF(config)] = {};
	const bool is_closed = m->folder && !m->config;
	int r;

	for (size_t i = 0; i < ELEMENTSOF(config_folders) && !is_closed; i++) {
		int n = PRINT(paths[i], "%s/%s", m->config ? m->config : "", config_folders[i]);

		if (n < 0 || (size_t)n >= sizeof(paths[i]))
			return -ENAMETOOLONG;
		config[i] = paths[i];
		below_root[i] = paths[i] + strspn(paths[i], "/");
	}
	r = fs_open_root(NULL, &here);
	if (r >= 0)
		r = check_config(&here, below_root);
	if (r < 0)
		return r;

	/*
	 * Our return value says what failed. A function for the log can be set only after
	 * kmod_new() has read everything, and told of bad lines at each refresh: hence this.
	 */
	setenv("KMOD_LOG", "-1", false);
	errno = ENOMEM;
	*ret = kmod_new(m->folder, m->folder ? config : NULL);
	if (!*ret)
		return -errno;

	kmod_set_log_fn(*ret, NULL, NULL);
	/* Otherwise libkmod opens an index file for each question, as it does where this fails. */
	kmod_load_resources(*ret);
	return 0;
}

/* Reads modprobe.d and the indexes again if one of them has changed since the last question. */
static int refresh(struct modules *m)
{
	if (m->is_closed)
		return -ENOENT;
	if (m->ctx && kmod_validate_resources(m->ctx) == KMOD_RESOURCES_OK)
		return 0;

	modules_forget(m);
	return open_ctx(m, &m->ctx);
}

static int find(struct modules *m, const char *name, struct kmod_module **ret)
{
	int r = refresh(m);

	return r < 0 ? r : kmod_module_new_from_name(m->ctx, name, ret);
}

/* An alias or a name; modules.dep, modules.builtin and "alias" lines are looked into. */
static int look_up(struct modules *m, const char *alias, struct kmod_list **ret)
{
	struct kmod_list *list = NULL;
	int r = refresh(m);

	if (r < 0)
		return r;

	r = kmod_module_new_from_lookup(m->ctx, alias, &list);
	if (r == -ENOSYS) /* older kmod: there is no index, no module of this kernel is installed */
		return -ENOENT;
	if (r < 0)
		return r;
	if (!list)
		return -ENOENT;

	*ret = list;
	return 0;
}

int module_resolve(struct modules *m, const char *modalias, char *ret, size_t size)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	int r = look_up(m, modalias, &list);

	if (r < 0)
		return r;

	found = kmod_module_get_module(list);
	return copy(ret, size, kmod_module_get_name(found)) ? 0 : -EMSGSIZE;
}

/* Does libkmod's filter leave nothing? It looks into indexes and modprobe.d, never into /sys. */
static int is_filtered(struct modules *m, enum kmod_filter filter, const struct kmod_list *list)
{
	_cleanup_(list_unrefp) struct kmod_list *left = NULL;
	int r = kmod_module_apply_filter(m->ctx, filter, list, &left);

	return r < 0 ? r : !left;
}

/* KMOD_MODULE_*, or -ENOENT: not in the kernel. */
static int init_state(struct modules *m, const char *name)
{
	_cleanup_(module_unrefp) struct kmod_module *module = NULL;
	int r = find(m, name, &module);

	return r < 0 ? r : kmod_module_get_initstate(module);
}

int module_look(struct modules *m, const char *name, enum module_state *ret)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	int r = look_up(m, name, &list);

	/*
	 * libkmod 27 and 28 do not find a built-in module by its name where there is an index of
	 * the aliases of such modules. "Built in" is the one state that is not from /sys.
	 */
	if (r == -ENOENT) {
		*ret = init_state(m, name) == KMOD_MODULE_BUILTIN ? MODULE_BUILTIN : MODULE_MISSING;
		return 0;
	}
	if (r < 0)
		return r;

	r = is_filtered(m, KMOD_FILTER_BUILTIN, list);
	if (r < 0)
		return r;
	if (r > 0) {
		*ret = MODULE_BUILTIN;
		return 0;
	}

	/* Taking it off the blacklist would not help a module that is missing as well. */
	found = kmod_module_get_module(list);
	if (!kmod_module_get_path(found)) {
		*ret = MODULE_MISSING;
		return 0;
	}

	r = is_filtered(m, KMOD_FILTER_BLACKLIST, list);
	if (r < 0)
		return r;
	*ret = r > 0 || kmod_module_get_install_commands(found) ? MODULE_BLACKLISTED
								: MODULE_AVAILABLE;
	return 0;
}

/*
 * "compat_mode:description" of parm, "compat_mode:bool" of parmtype; one may come without the
 * other. A name that the kernel could not have is left out: nobody can set it.
 */
static int add_parameter(struct module *module, const char *text, bool with_type)
{
	const char *colon = strchr(text, ':');
	char name[MODULE_LEN];
	struct parameter *p;

	if (!colon || colon == text || (size_t)(colon - text) >= sizeof(name))
		return 0;
	memcpy(name, text, (size_t)(colon - text));
	name[colon - text] = '\0';

	p = (struct parameter *)module_parameter(module, name);
	if (!p) {
		p = APPEND(module->parameters, module->n_parameters);
		if (!p)
			return -ENOMEM;
		COPY(p->name, name);
	}
	if (with_type)
		COPY(p->type, colon + 1);
	make_printable(p->name);
	make_printable(p->type);
	return 0;
}

static int read_info(const struct kmod_module *found, struct module *ret)
{
	_cleanup_(info_freep) struct kmod_list *list = NULL;
	struct kmod_list *item;
	int r = 0;

	if (kmod_module_get_info(found, &list) < 0)
		return 0;

	for (item = list; item; item = kmod_list_next(list, item)) {
		const char *key = kmod_module_info_get_key(item);
		const char *value = kmod_module_info_get_value(item);

		if (streq(key, "version"))
			COPY(ret->version, value);
		else if (streq(key, "srcversion"))
			COPY(ret->srcversion, value);
		else if (streq(key, "vermagic"))
			COPY(ret->vermagic, value);
		else if (streq(key, "intree"))
			ret->is_intree = streq(value, "Y");
		else if (streq(key, "parm") || streq(key, "parmtype"))
			r = add_parameter(ret, value, streq(key, "parmtype"));
		if (r < 0)
			return r;
	}

	make_printable(ret->version);
	make_printable(ret->srcversion);
	make_printable(ret->vermagic);
	SORT(ret->parameters, ret->n_parameters, compare_text);
	ret->has_info = true;
	return 0;
}

int module_read(struct modules *m, bool with_info, struct module *ret)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	const char *path;
	int r = find(m, ret->name, &found);

	if (r < 0)
		return r;

	path = kmod_module_get_path(found); /* of modules.dep */
	if (!path)
		return -ENOENT;
	COPY(ret->path, path);
	return with_info ? read_info(found, ret) : 0;
}

int module_needs(struct modules *m, const char *name, char *ret, size_t size)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	struct kmod_list *item;
	int r = find(m, name, &found);

	if (r < 0)
		return r;

	ret[0] = '\0';
	list = kmod_module_get_dependencies(found); /* of modules.dep, which has them all */
	for (item = list; item; item = kmod_list_next(list, item)) {
		_cleanup_(module_unrefp) struct kmod_module *needed = kmod_module_get_module(item);

		if (!append_word(ret, size, " ", "%s", kmod_module_get_name(needed)))
			break;
	}
	return 0;
}

/* Return: 1 it is exported with this version; 0 not at all; -EXDEV with another one. */
static int compare_version(struct kmod_list *symbols, const char *name, uint64_t crc)
{
	for (struct kmod_list *s = symbols; s; s = kmod_list_next(symbols, s))
		if (streq(kmod_module_symbol_get_symbol(s), name))
			return kmod_module_symbol_get_crc(s) == crc ? 1 : -EXDEV;
	return 0;
}

int module_compare_symbols(struct modules *m, const char *name, const char *provider, char *ret,
			   size_t size)
{
	_cleanup_(module_unrefp) struct kmod_module *taker = NULL, *giver = NULL;
	_cleanup_(versions_freep) struct kmod_list *versions = NULL;
	_cleanup_(symbols_freep) struct kmod_list *symbols = NULL;
	int r, n = 0;

	r = find(m, name, &taker);
	if (r >= 0)
		r = find(m, provider, &giver);
	if (r < 0)
		return r;
	if (kmod_module_get_versions(taker, &versions) < 0 ||
	    kmod_module_get_symbols(giver, &symbols) < 0)
		return 0;

	for (struct kmod_list *v = versions; v; v = kmod_list_next(versions, v)) {
		const char *symbol = kmod_module_version_get_symbol(v);

		r = compare_version(symbols, symbol, kmod_module_version_get_crc(v));
		if (r < 0) {
			copy(ret, size, symbol);
			return r;
		}
		n += r;
	}
	return n;
}

/* Refuses to run an "install" command, of the module itself or of one that it needs. */
static int on_install_command(_unused_ struct kmod_module *m, _unused_ const char *command,
			      _unused_ void *userdata)
{
	return -EPERM;
}

static int load(struct modules *m, const char *name, const char *options)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	unsigned flags = KMOD_PROBE_APPLY_BLACKLIST;
	int r;

	if (m->folder || m->is_closed) /* of another system */
		return -EROFS;

	/* A loaded module needs neither its file nor permission. */
	r = init_state(m, name);
	if (r == KMOD_MODULE_LIVE || r == KMOD_MODULE_BUILTIN)
		return options[0] ? -EEXIST : 0;
	if (r == KMOD_MODULE_GOING)
		return -EBUSY;

	r = look_up(m, name, &list);
	if (r < 0)
		return r;

	found = kmod_module_get_module(list);
	flags |= options[0] ? KMOD_PROBE_FAIL_ON_LOADED : 0;
	r = kmod_module_probe_insert_module(found, flags, options[0] ? options : NULL,
					    on_install_command, NULL, NULL);
	return r > 0 ? -EPERM : r;
}

static int unload(struct modules *m, const char *name)
{
	_cleanup_(module_unrefp) struct kmod_module *module = NULL;
	int r;

	if (m->folder || m->is_closed)
		return -EROFS;

	r = find(m, name, &module);
	return r < 0 ? r : kmod_module_remove_module(module, 0);
}

static int ask(const struct modules *m, const char *what, const char *name, const char *options)
{
	char question[256];

	if (m->folder || !helper_is_needed(CAP_SYS_MODULE))
		return -EHOSTDOWN;
	if ((size_t)PRINT(question, "%s %s %s", what, name, options) >= sizeof(question))
		return -EMSGSIZE;
	return helper_ask(MODULE_SOCKET, question, ASK_USEC, NULL);
}

int module_load(struct modules *m, const char *name, const char *options)
{
	int r = ask(m, LOAD, name, options);

	return r == -EHOSTDOWN ? load(m, name, options) : r;
}

int module_remove(struct modules *m, const char *name)
{
	int r = ask(m, REMOVE, name, "");

	return r == -EHOSTDOWN ? unload(m, name) : r;
}

/* --- the helper's side --- */

static bool is_known(const char *name)
{
	static const char *const names[] = { ERDMA_MODULE,   IPOIB_MODULE, "ib_umad", "ib_uverbs",
					     PEERMEM_MODULE, "rdma_ucm",   SMC_MODULE };

	return ANY(n, names, ELEMENTSOF(names), streq(*n, name));
}

/* The driver that the function's modalias names, or the RDMA part of its bound driver, whose alias
 * is not one of the PCI bus. */
static bool is_of_function(struct modules *m, const struct fs *fs, const char *address,
			   const char *name)
{
	const char *folder = FS_PATH("sys/bus/pci/devices/%.64s", address);
	const struct rdma_part *part = NULL;
	char text[128], found[64];

	if (fs_read_link_name(fs, FS_PATH("%s/driver", folder), text, sizeof(text)) >= 0)
		part = rdma_part_of(text);
	return (part && streq(part->module, name)) ||
	       (fs_read(fs, FS_PATH("%s/modalias", folder), text, sizeof(text)) >= 0 &&
		module_resolve(m, text, found, sizeof(found)) >= 0 && streq(found, name));
}

/* Does a function that is here ask for it? udev would load it as well. */
static bool is_asked_for(struct modules *m, const struct fs *fs, const char *name)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	if (fs_list(fs, "sys/bus/pci/devices", &names) < 0)
		return false;
	return ANY(n, names.names, names.n_names, is_of_function(m, fs, *n, name));
}

/* Words "compat_mode=Y reserve_ports_base=30608", of these two names. */
static bool is_mode(const char *options)
{
	static const char *const names[] = { ERDMA_COMPAT "=", ERDMA_PORTS "=" };

	for (const char *o = options; *o;) {
		const char *value = NULL;
		size_t length;

		for (size_t i = 0; i < ELEMENTSOF(names) && !value; i++)
			value = after(o, names[i]);
		length = value ? strspn(value, "0123456789YNyn") : 0;
		if (length == 0 || (value[length] && value[length] != ' '))
			return false;
		o = value + length + (value[length] == ' ');
	}
	return true;
}

static int serve_load(struct modules *m, const struct fs *fs, const char *name, const char *options)
{
	if (options[0] && (!streq(name, ERDMA_MODULE) || !is_mode(options)))
		return -EOPNOTSUPP;
	if (!is_known(name) && !is_asked_for(m, fs, name))
		return -EOPNOTSUPP;
	return load(m, name, options);
}

int module_serve(struct modules *m, const struct fs *fs, const char *question)
{
	char text[256], *rest = text;
	const char *what, *name;

	if (!COPY(text, question))
		return -EOPNOTSUPP;
	what = strsep(&rest, " ");
	name = strsep(&rest, " ");
	if (!name || !rest)
		return -EOPNOTSUPP;
	if (streq(what, LOAD))
		return serve_load(m, fs, name, rest);
	if (streq(what, REMOVE) && streq(name, ERDMA_MODULE) && !*rest)
		return unload(m, name);
	return -EOPNOTSUPP;
}

/* --- build-ids --- */

/* Each note has a head, a name and a description, each padded to a multiple of 4 bytes. */
static int find_note(const char *bytes, size_t size, char ret[static BUILD_ID_LEN])
{
	Elf64_Nhdr head;

	while (size >= sizeof(head)) {
		size_t name, total;
		const char *id;

		memcpy(&head, bytes, sizeof(head));
		if (head.n_namesz > size || head.n_descsz > size)
			return -ENOEXEC;
		name = ALIGN4((size_t)head.n_namesz);
		total = sizeof(head) + name + ALIGN4((size_t)head.n_descsz);
		if (total > size)
			return -ENOEXEC;

		id = bytes + sizeof(head) + name;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp(bytes + sizeof(head), "GNU", sizeof("GNU")) == 0 && head.n_descsz > 0 &&
		    2 * head.n_descsz < BUILD_ID_LEN) {
			for (size_t i = 0; i < head.n_descsz; i++)
				snprintf(ret + 2 * i, 3, "%02x", (unsigned char)id[i]);
			return 0;
		}
		bytes += total;
		size -= total;
	}
	return -ENOENT;
}

int module_parse_build_id(const char *bytes, size_t size, char ret[static BUILD_ID_LEN])
{
	const unsigned char data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr head;
	int r = -ENOENT;

	if (size < sizeof(head))
		return -ENOEXEC;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != data || head.e_shentsize != sizeof(Elf64_Shdr) ||
	    head.e_shoff > size || (size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum)
		return -ENOEXEC;

	for (size_t i = 0; i < head.e_shnum && r == -ENOENT; i++) {
		Elf64_Shdr section;

		memcpy(&section, bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOTE)
			continue;
		if (section.sh_offset > size || section.sh_size > size - section.sh_offset)
			return -ENOEXEC;
		r = find_note(bytes + section.sh_offset, section.sh_size, ret);
	}
	return r;
}

int module_build_id_of_file(const struct fs *fs, const char *path, char ret[static BUILD_ID_LEN])
{
	_cleanup_(freep) char *bytes = NULL;
	size_t size;
	int r = fs_read_all(fs, path, MAX_FILE_BYTES, true, &bytes, &size);

	return r < 0 ? r : module_parse_build_id(bytes, size, ret);
}

int module_build_id(const struct fs *fs, const char *module, char ret[static BUILD_ID_LEN])
{
	_cleanup_(freep) char *bytes = NULL;
	size_t size;
	int r = fs_read_all(fs, FS_PATH("sys/module/%s/notes/.note.gnu.build-id", module),
			    MAX_NOTES_BYTES, true, &bytes, &size);

	return r < 0 ? r : find_note(bytes, size, ret);
}
