/* SPDX-License-Identifier: Apache-2.0 */
#include "module-observe.h"

#include "../model/module-options.h"
#include "../os/unit-file.h"
#include "cmdline-observe.h"
#include "modprobe-observe.h"

#include <fnmatch.h>

#define MAX_BYTES          (1u << 20)
#define MAX_RULES          8192 /* lines of a blacklist; with more it is -E2BIG */
#define MODPROBE_BLACKLIST "modprobe.blacklist="
#define MODULE_BLACKLIST   "module_blacklist="
#define MODULE_BLACKLIST2  "module-blacklist="

/*
 * Modules that are looked up on every node, because their absence matters as well: those behind
 * umad*, uverbs* and rdma_cm, which every plugin needs, and others.
 */
static const char *const modules_of_all[] = {
	"ib_umad",      "ib_uverbs", "rdma_ucm",   "erdma",  "ib_core",
	"mlx5_core",    "mlx5_ib",   "mlx_compat", "nvidia", NVIDIA_DEBIAN,
	PEERMEM_MODULE, "rdma_rxe",  "smc",
};

static bool is_nic(const struct node *n, const struct pci *pci)
{
	return pci_is_network(pci) || pci->has_sriov || pci->physfn[0] || pci_is_erdma(pci) ||
	       node_ibdev_of(n, pci->address);
}

static bool is_listed(const struct fs *fs, struct node *n, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;

	node_note(n, fs_read_all(fs, MODULES_PATH, MAX_BYTES, false, &text, NULL));
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (after(line, name) && *after(line, name) == ' ')
			return true;
	return false;
}

/* Is the module in /sys/module? A folder without initstate is of a built-in module; in a copy,
 * where /proc/modules tells so. */
static bool is_loaded(const struct fs *fs, struct node *n, const char *name, enum module_state *ret)
{
	const char *path = FS_PATH("sys/module/%s", name);
	char text[16];

	*ret = MODULE_LOADED;
	if (fs_read(fs, FS_PATH("sys/module/%s/initstate", name), text, sizeof(text)) >= 0)
		return streq(text, "live");
	if (n->is_copy && is_listed(fs, n, name))
		return true;
	if (!n->is_copy || fs_exists(fs, MODULES_PATH) > 0)
		*ret = MODULE_BUILTIN;
	return fs_exists(fs, path) > 0;
}

/* Text that is absent, closed to us or longer than anything sensible stays empty. */
static void read_text(const struct fs *fs, const char *module, const char *file, char *ret,
		      size_t size)
{
	const char *path = FS_PATH("sys/module/%s/%s", module, file);
	const int r = fs_read(fs, path, ret, size);

	if (r < 0 && r != -ENOENT)
		fs_exists(fs, path); /* a capture has its name */
	make_printable(ret);
}

static void read_holders(const struct fs *fs, struct node *n, struct module *m)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	if (!node_note(n, fs_list(fs, FS_PATH("sys/module/%s/holders", m->name), &names)))
		return; /* built in, or just going: refcnt counts them too */

	for (size_t i = 0; i < names.n_names; i++)
		if (!append_word(m->holders, sizeof(m->holders), " ", "%s", names.names[i]))
			break; /* enough for a report */
	make_printable(m->holders);
}

static void read_parameters(const struct fs *fs, struct node *n, struct module *m)
{
	_cleanup_(fs_names_done) struct fs_names names = {};

	node_note(n, fs_list(fs, FS_PATH("sys/module/%s/parameters", m->name), &names));
	FOREACH(name, names.names, names.n_names) {
		struct parameter *p = (struct parameter *)module_parameter(m, *name);

		if (strlen(*name) >= sizeof(p->name))
			continue;
		if (!p)
			p = APPEND(m->parameters, m->n_parameters);
		if (!node_note(n, p ? 0 : -ENOMEM))
			return;
		COPY(p->name, *name);
		make_printable(p->name);
		read_text(fs, m->name, FS_PATH("parameters/%s", *name), p->value, sizeof(p->value));
	}
	SORT(m->parameters, m->n_parameters, compare_text);
}

/* Reads the facts of a module in the kernel. Source: kernel/module/sysfs.c, kernel/params.c. */
static void read_loaded(const struct fs *fs, struct node *n, struct module *m)
{
	char taint[16];

	read_text(fs, m->name, "version", m->loaded_version, sizeof(m->loaded_version));
	read_text(fs, m->name, "srcversion", m->loaded_srcversion, sizeof(m->loaded_srcversion));
	m->has_taint =
		fs_read(fs, FS_PATH("sys/module/%s/taint", m->name), taint, sizeof(taint)) >= 0;
	m->is_out_of_tree = m->has_taint && strchr(taint, 'O');

	if (fs_read_u32(fs, FS_PATH("sys/module/%s/refcnt", m->name), &m->refcnt) < 0)
		m->refcnt = UINT32_MAX;

	read_holders(fs, n, m);
	read_parameters(fs, n, m);
}

/*
 * Makes sure that a module is in node.modules, with its state. A module that a tree does not
 * describe is not added, unless it drives a function (@is_at_work).
 */
static int look(struct os *d, struct node *n, const char *name, bool is_at_work)
{
	struct module module = {};
	int r;

	if (node_module(n, name))
		return 0;

	module_spell(module.name, name);
	module.refcnt = UINT32_MAX;
	if (!is_loaded(&d->fs, n, module.name, &module.state)) {
		if (d->modules.is_closed && !is_at_work)
			return 0;
		r = module_look(&d->modules, module.name, &module.state);
		if (r < 0)
			return r;
	}

	NODE_ADD(n, modules, module);
	SORT(n->modules, n->n_modules, compare_text);
	return 0;
}

int observe_driver_module(const struct fs *fs, const struct pci *pci, char *ret, size_t size)
{
	char name[MODULE_LEN];
	int r = fs_read_link_name(fs, FS_PATH("sys/bus/pci/devices/%s/driver/module", pci->address),
				  name, sizeof(name));

	if (r == -ENOMEM)
		return r;
	if (r < 0) /* a driver that is built in has no such link */
		module_spell(name, pci->driver);
	return copy(ret, size, name) ? 0 : -EMSGSIZE;
}

/*
 * A driver at work is in the kernel, whatever libkmod finds. Only the path of its file is looked
 * up, and a missing file is no error: the driver may be built in, or the file removed since.
 */
static int look_driver(struct os *d, struct node *n, const struct pci *pci)
{
	const struct rdma_part *part = rdma_part_of(pci->driver);
	char name[MODULE_LEN];
	struct module *m;
	int r = observe_driver_module(&d->fs, pci, name, sizeof(name));

	if (r >= 0)
		r = look(d, n, name, true);
	if (r >= 0 && part)
		r = look(d, n, part->module, false);
	if (r < 0)
		return r;

	m = (struct module *)node_module(n, name);
	if (m && m->state != MODULE_LOADED && m->state != MODULE_BUILTIN)
		m->state = d->fs.is_live ? MODULE_BUILTIN : MODULE_LOADED;
	if (m && m->state == MODULE_LOADED && !m->path[0])
		r = module_read(&d->modules, false, m);
	return r == -ENOENT ? 0 : r;
}

/* The first NIC of a driver is looked at for all of them: hundreds of VFs have the same. */
static bool is_first_of_driver(const struct node *n, const struct pci *pci)
{
	return is_nic(n, pci) && !ANY(p, n->pcis, (size_t)(pci - n->pcis),
				      streq(p->driver, pci->driver) && is_nic(n, p));
}

/* The function before @pci, if it has a module and the same modalias, as VFs of one PF do. */
static const struct pci *find_like(const struct node *n, const struct pci *pci)
{
	const struct pci *before = pci > n->pcis ? pci - 1 : NULL;

	return before && before->module[0] && streq(before->modalias, pci->modalias) ? before
										     : NULL;
}

/* Asks libkmod for the module of a function, once for neighbours with the same modalias. */
static int resolve(struct os *d, const struct node *n, struct pci *pci)
{
	const struct pci *like = find_like(n, pci);

	if (pci->module[0])
		return 0;
	if (!like)
		return module_resolve(&d->modules, pci->modalias, pci->module, sizeof(pci->module));
	COPY(pci->module, like->module);
	return 0;
}

/* Finds the module of an unbound function; having no module is no failure. */
static int look_unbound(struct os *d, struct node *n, struct pci *pci)
{
	int r;

	if (!pci->modalias[0])
		return 0;
	r = resolve(d, n, pci);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return look(d, n, pci->module, false);
}

/* May the driver of this bound function be another one than its own? The driver of its PF always
 * counts as made for a VF. A NIC that has its netdev or RDMA device here has its own driver. */
static bool is_driver_asked(const struct node *n, const struct pci *pci)
{
	const struct pci *pf = node_pci(n, pci->physfn);

	if (pci->physfn[0])
		return pf && !streq(pf->driver, pci->driver);
	return pci_is_network(pci) && !node_netdev_of(n, pci->address) &&
	       !node_ibdev_of(n, pci->address);
}

/* Has another program bound this function to a driver that is not made for it (vfio-pci, pci-stub,
 * by driver_override or new_id)? */
static int look_bound(struct os *d, const struct node *n, struct pci *pci)
{
	const struct pci *like = find_like(n, pci);
	char driver[MODULE_LEN];
	int r;

	if (!pci->modalias[0] || !is_driver_asked(n, pci))
		return 0;
	r = resolve(d, n, pci);
	if (r >= 0 && like && like->physfn[0] && streq(like->driver, pci->driver)) {
		pci->has_other_driver = like->has_other_driver;
		return 0;
	}
	if (r >= 0)
		r = observe_driver_module(&d->fs, pci, driver, sizeof(driver));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	pci->has_other_driver = !streq(driver, pci->module);
	return 0;
}

/* Does something depend on the contents of the module file? See module-observe.h. */
static bool needs_info(const struct node *n, const struct module *m)
{
	return !m->has_info && m->state != MODULE_MISSING && m->state != MODULE_BUILTIN &&
	       ANY(p, n->pcis, n->n_pcis,
		   (pci_is_erdma(p) && streq(m->name, "erdma")) ||
			   (!p->driver[0] && streq(p->module, m->name)));
}

static int read_facts(struct os *d, struct node *n, struct module *m)
{
	enum module_state state;
	int r;

	if (is_loaded(&d->fs, n, m->name, &state)) {
		m->state = state;
		read_loaded(&d->fs, n, m);
	} else {
		m->refcnt = UINT32_MAX;
	}
	if (!needs_info(n, m))
		return 0;

	r = module_read(&d->modules, true, m);
	if (r == -ENOENT) /* loaded, and its file was removed since */
		return 0;
	if (r >= 0 && m->state == MODULE_LOADED && d->fs.is_live) {
		r = module_look(&d->modules, m->name, &state);
		m->is_blacklisted = r >= 0 && state == MODULE_BLACKLISTED;
	}
	return r;
}

/* --- what keeps modules of a tree out --- */

/*
 * Which modules a tree that is not the running system keeps from being loaded: by "blacklist" and
 * "install" lines of its modprobe.d, and by modprobe.blacklist= on its kernel command line. For the
 * running system libkmod is asked; it would leave the tree (os/module.h).
 *
 * The name of an install command may be a glob, as in libkmod (kmod_module_get_install_commands()).
 */
struct blacklist {
	struct blacklist_rule {
		char module[MODULE_LEN];
		bool is_glob;
	} *rules; /* owned */
	size_t n_rules;
};

static int add_rule(struct blacklist *b, const char *module, bool is_glob)
{
	struct blacklist_rule rule = { .is_glob = is_glob };

	if (!module_spell(rule.module, module)) /* longer than any module's */
		return 0;
	return b->n_rules >= MAX_RULES ? -E2BIG : ADD(b->rules, b->n_rules, rule);
}

static int on_modprobe_line(void *userdata, char *line)
{
	char *rest, *word, *module;

	if (*line == '#')
		return 0;
	word = strtok_r(line, "\t ", &rest);
	if (!word || (!streq(word, "blacklist") && !streq(word, "install")))
		return 0;
	module = strtok_r(NULL, "\t ", &rest);
	if (!module || (streq(word, "install") && !*rest))
		return 0;
	return add_rule(userdata, module, streq(word, "install"));
}

static int on_modprobe_word(void *userdata, const char *word)
{
	_cleanup_(freep) char *list = NULL;
	int r = 0;

	word = after(word, MODPROBE_BLACKLIST);
	if (!word)
		return 0;
	list = strdup(word);
	if (!list)
		return -ENOMEM;
	for (char *rest, *name = strtok_r(list, ",", &rest); name && r >= 0;
	     name = strtok_r(NULL, ",", &rest))
		r = add_rule(userdata, name, false);
	return r;
}

static bool has_module(const struct blacklist *b, const char *module)
{
	return ANY(rule, b->rules, b->n_rules,
		   rule->is_glob ? fnmatch(rule->module, module, 0) == 0
				 : streq(rule->module, module));
}

/* Applies the blacklist of a captured tree, as libkmod applies that of the running system. */
static int keep_out(const struct os *d, struct node *n)
{
	_owns_(struct blacklist, rules) list = {};
	int r = modprobe_read(&d->fs, on_modprobe_line, &list);

	if (r >= 0)
		r = cmdline_read(&d->fs, on_modprobe_word, &list);
	FOREACH_WHILE(m, n->modules, n->n_modules, r >= 0) {
		if (!has_module(&list, m->name))
			continue;
		if (m->state == MODULE_AVAILABLE)
			m->state = MODULE_BLACKLISTED;
		m->is_blacklisted = m->state == MODULE_LOADED;
	}
	return r;
}

/* --- all of them --- */

/* The last word counts, as with every parameter of the kernel's core. */
static int on_word(void *userdata, const char *word)
{
	const char *list = after(word, MODULE_BLACKLIST);
	struct node *n = userdata;
	char *comma;

	if (!list)
		list = after(word, MODULE_BLACKLIST2);
	if (list && !COPY(n->cmdline_blacklist, list)) {
		comma = strrchr(n->cmdline_blacklist, ','); /* half a name is another one */
		*(comma ? comma : n->cmdline_blacklist) = '\0';
	}
	make_printable(n->cmdline_blacklist);
	return 0;
}

/* A oneshot unit has processes while it is activating, and only then. */
static bool is_dkms_building(const struct fs *fs)
{
	_cleanup_(freep) char *pids = NULL;
	size_t size;

	return unit_file_read_pids(fs, "dkms.service", true, &pids, &size) >= 0 && size > 0;
}

static int look_all(struct os *d, struct node *n)
{
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(modules_of_all) && r >= 0; i++)
		r = look(d, n, modules_of_all[i], false);
	if (r >= 0 && ANY(p, n->pcis, n->n_pcis, node_is_infiniband(n, p)))
		r = look(d, n, IPOIB_MODULE, false);
	for (size_t i = 0; i < n->n_pcis && r >= 0; i++)
		if (!n->pcis[i].driver[0])
			r = look_unbound(d, n, &n->pcis[i]);
		else if (is_first_of_driver(n, &n->pcis[i]))
			r = look_driver(d, n, &n->pcis[i]);
	for (size_t i = 0; i < n->n_pcis && r >= 0; i++)
		if (n->pcis[i].driver[0])
			r = look_bound(d, n, &n->pcis[i]);
	return r;
}

int observe_modules(struct os *d, struct node *n)
{
	int r;

	/* Libkmod notices a change in a folder of modprobe.d, but not in a file there. */
	modules_forget(&d->modules);
	r = look_all(d, n);
	for (size_t i = 0; i < n->n_modules && r >= 0; i++)
		r = read_facts(d, n, &n->modules[i]);
	if (r < 0)
		return r;
	if (!d->fs.is_live)
		r = keep_out(d, n);
	if (r >= 0)
		r = cmdline_read(&d->fs, on_word, n);
	if (r < 0)
		return r;
	if (d->fs.is_live)
		n->is_dkms_building = is_dkms_building(&d->fs);
	return r;
}
