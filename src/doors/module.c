/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <libkmod.h>
#include <limits.h>

/* In kmod's order: the first folder that has a file of a name wins. */
static const char *const config_folders[] = {
	"etc/modprobe.d",     "run/modprobe.d", "usr/local/lib/modprobe.d",
	"usr/lib/modprobe.d", "lib/modprobe.d",
};

static void ctx_unrefp(struct kmod_ctx **ctx)
{
	if (*ctx)
		kmod_unref(*ctx);
}

static void module_unrefp(struct kmod_module **m)
{
	if (*m)
		kmod_module_unref(*m);
}

static void list_unrefp(struct kmod_list **list)
{
	kmod_module_unref_list(*list); /* takes NULL */
}

int modules_open(struct modules *m, const char *folder)
{
	*m = (struct modules){};
	if (!folder)
		return 0;

	m->folder = strdup(folder);
	return m->folder ? 0 : -ENOMEM;
}

void modules_done(struct modules *m)
{
	ctx_unrefp(&m->ctx);
	free(m->folder);
	*m = (struct modules){};
}

/* The length of ROOT in "ROOT/lib/modules/RELEASE" or "ROOT/usr/lib/modules/RELEASE", without
 * slash. */
static size_t root_length(const char *folder)
{
	static const char usr[] = "/usr";
	size_t n = strlen(folder);

	for (int parts = 0; parts < 3; parts++) {
		while (n > 0 && folder[n - 1] == '/')
			n--;
		while (n > 0 && folder[n - 1] != '/')
			n--;
	}
	while (n > 0 && folder[n - 1] == '/')
		n--;
	if (n >= strlen(usr) && strncmp(folder + n - strlen(usr), usr, strlen(usr)) == 0)
		n -= strlen(usr);
	return n;
}

static int open_ctx(const char *folder, struct kmod_ctx **ret)
{
	char paths[ELEMENTSOF(config_folders)][PATH_MAX];
	const char *config[ELEMENTSOF(config_folders) + 1] = {};

	for (size_t i = 0; folder && i < ELEMENTSOF(config_folders); i++) {
		int n = snprintf(paths[i], sizeof(paths[i]), "%.*s/%s", (int)root_length(folder),
				 folder, config_folders[i]);

		if (n < 0 || (size_t)n >= sizeof(paths[i]))
			return -ENAMETOOLONG;
		config[i] = paths[i];
	}

	errno = ENOMEM;
	*ret = kmod_new(folder, folder ? config : NULL);
	if (!*ret)
		return -errno;

	kmod_set_log_fn(*ret, NULL, NULL); /* what fails is told by our return value */
	return 0;
}

/* Options may have been written, or a driver installed, since the last question. */
static int refresh(struct modules *m)
{
	if (m->ctx && kmod_validate_resources(m->ctx) == KMOD_RESOURCES_OK)
		return 0;

	ctx_unrefp(&m->ctx);
	m->ctx = NULL;
	return open_ctx(m->folder, &m->ctx);
}

/* An alias or a name; modules.dep, modules.builtin and "alias" lines are looked into. */
static int look_up(struct modules *m, const char *alias, struct kmod_list **ret)
{
	struct kmod_list *list = NULL;
	int r;

	r = refresh(m);
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
	int r;

	r = look_up(m, modalias, &list);
	if (r < 0)
		return r;

	found = kmod_module_get_module(list);
	return copy(ret, size, kmod_module_get_name(found)) ? 0 : -EMSGSIZE;
}

/* Does libkmod's filter leave nothing? It looks into indexes and modprobe.d only, never into /sys.
 */
static int is_filtered(struct modules *m, enum kmod_filter filter, const struct kmod_list *list)
{
	_cleanup_(list_unrefp) struct kmod_list *left = NULL;
	int r;

	r = kmod_module_apply_filter(m->ctx, filter, list, &left);
	return r < 0 ? r : !left;
}

int module_look(struct modules *m, const char *name, enum module_state *ret)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	int r;

	r = look_up(m, name, &list);
	if (r == -ENOENT) {
		*ret = MODULE_MISSING;
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
 * "install NAME /bin/false" is how hardened images switch a module off, and other commands mean
 * that inserting it is not enough: to go past them is as wrong as to run them.
 */
static int on_install_command(_unused_ struct kmod_module *m, _unused_ const char *command,
			      _unused_ void *userdata)
{
	return -EPERM;
}

static int is_in_kernel(struct modules *m, const char *name)
{
	_cleanup_(module_unrefp) struct kmod_module *module = NULL;
	int r;

	r = kmod_module_new_from_name(m->ctx, name, &module);
	if (r < 0)
		return r;

	r = kmod_module_get_initstate(module);
	return r == KMOD_MODULE_LIVE || r == KMOD_MODULE_BUILTIN;
}

int module_load(struct modules *m, const char *name)
{
	_cleanup_(module_unrefp) struct kmod_module *found = NULL;
	_cleanup_(list_unrefp) struct kmod_list *list = NULL;
	int r;

	if (m->folder) /* of another system */
		return -EROFS;

	/* One that is loaded needs no file and no permission. */
	r = refresh(m);
	if (r >= 0)
		r = is_in_kernel(m, name);
	if (r != 0)
		return MIN(r, 0);

	r = look_up(m, name, &list);
	if (r < 0)
		return r;

	found = kmod_module_get_module(list);
	r = kmod_module_probe_insert_module(found, KMOD_PROBE_APPLY_BLACKLIST, NULL,
					    on_install_command, NULL, NULL);
	return r > 0 ? -EPERM : r;
}
