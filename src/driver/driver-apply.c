/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver: loads modules with the options that are wanted, unloads and reloads them, binds
 * functions. Whether a process uses what is unloaded was checked by the plan.
 */
#include "../model/module-options.h"
#include "../os/module.h"
#include "../os/rdma.h"
#include "../step/verbs.h"

/* --- why a module cannot be loaded --- */

/*
 * Asks again at this moment, and not the node of the look. Return: 0; -ENOPKG no file of it; -EPERM
 * blacklisted in modprobe.d; or another -errno.
 */
static int find_file(struct work *w, const char *module)
{
	enum module_state state;
	int r = module_look(&w->os->modules, module, &state);

	if (r < 0)
		return r;
	return state == MODULE_MISSING ? -ENOPKG : state == MODULE_BLACKLISTED ? -EPERM : 0;
}

/* The module itself, or one that it needs, which is loaded before it, in the kernel's own list. */
static bool find_forbidden(struct work *w, const char *module, char *ret, size_t size)
{
	char needs[1024] = "", *rest;
	bool is_found = node_forbids(w->node, module);

	copy(ret, size, module);
	if (is_found || module_needs(&w->os->modules, module, needs, sizeof(needs)) < 0)
		return is_found;
	for (char *name = strtok_r(needs, " ", &rest); name && !is_found;
	     name = strtok_r(NULL, " ", &rest)) {
		is_found = node_forbids(w->node, name);
		copy(ret, size, name);
	}
	return is_found;
}

/* "none [integrity] confidentiality". Source: lockdown_read() in security/lockdown/lockdown.c */
static bool is_locked_down(const struct fs *fs, char *ret, size_t size)
{
	char text[64], *from, *end;

	if (fs_read(fs, "sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return false;
	from = strchr(text, '[');
	end = from ? strchr(from, ']') : NULL;
	if (!end)
		return false;
	*end = '\0';
	copy(ret, size, from + 1);
	return !streq(ret, "none");
}

static void put_forbidden(struct work *w, const char *module)
{
	const struct fs *fs = &w->os->fs;
	char name[MODULE_LEN], value[64] = "";

	if (find_file(w, module) == -EPERM)
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: a blacklist or install line of modprobe.d");
	else if (find_forbidden(w, module, name, sizeof(name)))
		snprintf(w->error, CHILD_ERROR_LEN,
			 "forbidden: module_blacklist= on the kernel command line has %s", name);
	else if (fs_read(fs, "proc/sys/kernel/modules_disabled", value, sizeof(value)) >= 0 &&
		 streq(value, "1"))
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: kernel.modules_disabled is 1, which only a reboot ends");
	else if (is_locked_down(fs, value, sizeof(value)))
		snprintf(w->error, CHILD_ERROR_LEN, "forbidden: the kernel is locked down (%s)",
			 value);
	else
		copy(w->error, CHILD_ERROR_LEN,
		     "forbidden: by a security module, or modprobe.d forbids a module that it "
		     "needs; modules_disabled and lockdown are off");
}

/*
 * Fills work->error where the reason that @error stands for leaves open what it was; asks
 * modprobe.d, the modules that it needs, kernel.modules_disabled and lockdown at this moment.
 * @error: -errno of loading it, as finit_module(2) and find_file() have them.
 */
static void put_error(struct work *w, const char *module, int error)
{
	if (error == -EPERM)
		put_forbidden(w, module);
	/* EINVAL, of nv_mem_client_init() in nvidia-peermem.c: it was built without that interface.
	 */
	if ((error == -EINVAL || error == -ENOENT) && streq(module, PEERMEM_MODULE))
		copy(w->error, CHILD_ERROR_LEN,
		     error == -ENOENT ? "it needs a symbol that the loaded modules lack"
				      : "it refuses: the NVIDIA driver was built without the "
					"peer-memory interface of OFED");
}

/* --- modules --- */

/* Does the module have the options "NAME=VALUE ..." in force? -EPROTO: not so, with words. */
static int read_back(struct work *w, const char *module, const char *options)
{
	char option[64], value[64];

	for (const char *o = options; *o;) {
		const size_t len = strcspn(o, " ");
		char *equals;

		PRINT(option, "%.*s", (int)len, o);
		o += len + strspn(o + len, " ");
		equals = strchr(option, '=');
		if (!equals)
			continue;
		*equals = '\0';

		if (fs_read(&w->os->fs, FS_PATH("sys/module/%s/parameters/%s", module, option),
			    value, sizeof(value)) < 0) {
			snprintf(w->error, CHILD_ERROR_LEN,
				 "%s is loaded, but has no parameter %s: asked for was %s", module,
				 option, equals + 1);
			return -EPROTO;
		}
		if (!module_options_is_same("", value, equals + 1)) {
			snprintf(w->error, CHILD_ERROR_LEN,
				 "%s is loaded, but with %s=%s: asked for was %s", module, option,
				 value, equals + 1);
			return -EPROTO;
		}
	}
	return 0;
}

/*
 * Is the file of this module the build that is loaded? Return: 0 it is; 1 nobody can tell, as of a
 * file that is compressed; -ESTALE it is another one.
 */
static int compare_build(struct work *w, const struct module *file)
{
	const struct fs *fs = &w->os->fs;
	char loaded[BUILD_ID_LEN], there[BUILD_ID_LEN], text[64];

	if (file->srcversion[0] &&
	    fs_read(fs, FS_PATH("sys/module/%s/srcversion", file->name), text, sizeof(text)) >= 0 &&
	    !streq(text, file->srcversion))
		return -ESTALE;
	if (!file->path[0] || module_build_id(fs, file->name, loaded) < 0 ||
	    module_build_id_of_file(fs, file->path + 1, there) < 0)
		return 1;
	return streq(loaded, there) ? 0 : -ESTALE;
}

/*
 * Does the file of @module fit the modules it needs? These stay in the kernel, whatever files of
 * them are on disk by now. -ESTALE: nothing can be compared, so it is not known whether it fits.
 */
static int compare_symbols(struct work *w, const char *module)
{
	char needs[1024] = "", symbol[128], *rest;
	int n = 0, r = module_needs(&w->os->modules, module, needs, sizeof(needs));

	for (char *name = strtok_r(needs, " ", &rest); name && r >= 0;
	     name = strtok_r(NULL, " ", &rest)) {
		_cleanup_(module_done) struct module m = {};

		COPY(m.name, name);
		if (!fs_exists(&w->os->fs, FS_PATH("sys/module/%s/initstate", name)) ||
		    module_read(&w->os->modules, true, &m) < 0)
			continue; /* not loaded yet, or built in */
		if (compare_build(w, &m) < 0) {
			snprintf(w->error, CHILD_ERROR_LEN,
				 "the file of %s, which it needs, is another build than the one "
				 "that is loaded: it is not unloaded",
				 name);
			return -ENOENT;
		}
		r = module_compare_symbols(&w->os->modules, module, name, symbol, sizeof(symbol));
		if (r == -EXDEV) {
			snprintf(
				w->error, CHILD_ERROR_LEN,
				"its file was built for another %.60s of %.60s: it is not unloaded",
				symbol, name);
			return -ENOENT;
		}
		n += MAX(r, 0);
	}
	if (r >= 0 && n == 0) {
		copy(w->error, CHILD_ERROR_LEN,
		     "neither its build-id nor versions of symbols can be compared with what is "
		     "loaded, so it might not be loaded again: it is not unloaded");
		return -ESTALE;
	}
	return MIN(r, 0);
}

/* Looks into the file again as the plan did, at this moment: DKMS may just be writing it. */
static int look_into_file(struct work *w, const char *module)
{
	const struct module *planned = node_module(w->node, module);
	_cleanup_(module_done) struct module m = {};
	int r;

	COPY(m.name, module);
	r = module_read(&w->os->modules, true, &m);
	if (r < 0)
		return r == -ENOENT ? -ENOPKG : r;
	if (planned)
		COPY(m.loaded_srcversion, planned->loaded_srcversion);
	if (m.has_info && module_is_built_for(&m, w->node->kernel)) {
		r = compare_build(w, &m);
		if (r == -ESTALE)
			copy(w->error, CHILD_ERROR_LEN,
			     "its file is another build than the one that is loaded, which could "
			     "not "
			     "be loaded again: it is not unloaded");
		/* The loaded build fits the kernel, whatever other files are on disk by now. */
		return r > 0 ? compare_symbols(w, module) : r;
	}

	if (m.has_info)
		snprintf(w->error, CHILD_ERROR_LEN,
			 "its file is built for %.*s, and it is not unloaded",
			 (int)MIN(strcspn(m.vermagic, " "), (size_t)100), m.vermagic);
	else
		copy(w->error, CHILD_ERROR_LEN, "its file cannot be read, and it is not unloaded");
	return -ENOEXEC;
}

/* @options: none when empty. Return: 0, or -errno as action_failure() knows them. */
static int load(struct work *w, const char *module, const char *options)
{
	int r = module_load(&w->os->modules, module, options);

	if (r == -EEXIST) /* another load was faster: the next look shows with which options */
		r = 0;
	if (r == -ENOENT && find_file(w, module) == -ENOPKG)
		r = -ENOPKG;
	if (r < 0) {
		put_error(w, module, r);
		return r;
	}

	if (!fs_exists(&w->os->fs, FS_PATH("sys/module/%s", module))) {
		copy(w->error, CHILD_ERROR_LEN, "it was accepted, but is not there");
		return -EIO;
	}
	return read_back(w, module, options);
}

/* For which devices nvidia_peermem is tried is no option of it. */
int apply_load_module(struct work *w, const struct action *a)
{
	return load(w, a->target, action_is_best_effort(a) ? "" : a->text.to);
}

static int unload(struct work *w, const char *module)
{
	int r = module_remove(&w->os->modules, module);

	if (r == -ENOENT) /* another program removed it first */
		return 0;
	if (r == -EAGAIN) {
		copy(w->error, CHILD_ERROR_LEN, "the kernel says that it is in use");
		return -EBUSY;
	}
	if (r < 0)
		snprintf(w->error, CHILD_ERROR_LEN, "it cannot be unloaded: %s", strerror(-r));
	return r == -EBUSY ? -EIO : r; /* no exit function, or half gone: no user of it */
}

/* Restores the mode before loading failed with @r, and appends to the words whether that worked. */
static void restore(struct work *w, const struct action *a, int r)
{
	char words[CHILD_ERROR_LEN], *cause = w->error;
	size_t n;

	/* Cut, so that the outcome of restoring fits in. */
	n = (size_t)PRINT(words, "%.120s; ", cause[0] ? cause : strerror(-r));
	cause[0] = '\0';

	r = unload(w, a->target); /* loaded, but not as it was asked for */
	if (r >= 0)
		r = load(w, a->target, a->text.from);
	if (r < 0)
		snprintf(words + n, sizeof(words) - n,
			 "the previous mode could not be restored: %s",
			 cause[0] ? cause : strerror(-r));
	else
		snprintf(words + n, sizeof(words) - n, "%s",
			 a->text.from[0] ? "the previous mode was restored"
					 : "it was loaded again without options, as it was");
	copy(w->error, CHILD_ERROR_LEN, words);
}

/*
 * No module depends on eRDMA's driver, and those that it needs stay: it goes and comes back alone.
 * A load that is known to fail is not even begun, for the way back is the same load.
 */
int apply_reload_module(struct work *w, const struct action *a)
{
	int r = find_file(w, a->target);

	if (r >= 0)
		r = look_into_file(w, a->target);
	if (r < 0) {
		if (!w->error[0])
			put_error(w, a->target, r);
		return r;
	}
	r = unload(w, a->target);
	if (r < 0)
		return r;

	r = load(w, a->target, a->text.to);
	if (r < 0)
		restore(w, a, r);
	return r;
}

/* No driver took the function before: the next look tells, and it is tried again later. */
int apply_probe_driver(struct work *w, const struct action *a)
{
	return fs_write_attribute(&w->os->fs, "sys/bus/pci/drivers_probe", a->target);
}

int apply_bind_driver(struct work *w, const struct action *a)
{
	char driver[MODULE_LEN];
	int r;

	/* Succeeds also when nothing was bound: drivers_probe_store() in drivers/base/bus.c. */
	r = fs_write_attribute(&w->os->fs, "sys/bus/pci/drivers_probe", a->target);
	if (r < 0)
		return r;

	r = fs_read_link_name(&w->os->fs, FS_PATH("sys/bus/pci/devices/%s/driver", a->target),
			      driver, sizeof(driver));
	if (r == -ENOENT)
		copy(w->error, CHILD_ERROR_LEN, "no driver took it");
	return r;
}

int apply_put_options(struct work *w, const struct action *a)
{
	const struct fs *fs = &w->os->fs;
	const char *text = w->plan->options;

	return a->verb == VERB_REMOVE_OPTIONS
		       ? fs_remove(fs, a->target + 1)
		       : MIN(fs_replace(fs, a->target + 1, text, strlen(text), 0644), 0);
}

/* The RDMA subsystem's mode, shared or exclusive: no namespace is made or entered. */
int apply_set_netns_mode(struct work *w, const struct action *a)
{
	const bool is_shared = streq(a->text.to, netns_mode_name(NETNS_MODE_SHARED));
	const int r = rdma_set_netns_mode(&w->os->rdma,
					  is_shared ? NETNS_MODE_SHARED : NETNS_MODE_EXCLUSIVE);

	if (r == -EBUSY)
		copy(w->error, CHILD_ERROR_LEN,
		     "another network namespace exists; the mode is set at the next boot");
	return r;
}
