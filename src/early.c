/* SPDX-License-Identifier: Apache-2.0 */
#include "early.h"

#include "base/log.h"
#include "model/module-options.h"
#include "model/paths.h"
#include "observe/modprobe-observe.h"
#include "observe/pci.h"
#include "options.h"
#include "output/modprobe-output.h"

static int look_module(struct os *d, struct node *n, const char *name)
{
	struct module *m = APPEND(n->modules, n->n_modules);
	char path[128];

	if (!m)
		return -ENOMEM;
	COPY(m->name, name);
	m->state = MODULE_LOADED;
	snprintf(path, sizeof(path), "sys/module/%s", name);
	return fs_exists(&d->fs, path) > 0 ? 0 : module_look(&d->modules, name, &m->state);
}

/* "auto" depends on the PCI functions, and on whether the GPU's driver is there. */
static int want(struct os *d, const struct config *c, struct module_options *ret)
{
	_cleanup_(memory_done) struct memory memory = {};
	_cleanup_(node_done) struct node n = {};
	int r = 0;

	if (c->driver.mode == DRIVER_MODE_AUTO) {
		r = observe_pci(&d->fs, &n, &memory);
		if (r >= 0)
			r = look_module(d, &n, NVIDIA_MODULE);
		if (r >= 0)
			r = look_module(d, &n, NVIDIA_DEBIAN);
		if (r < 0)
			log_error_errno(r, "The driver mode cannot be told");
	}
	module_options_wanted(c, r < 0 ? DRIVER_MODE_KEEP : node_driver_mode(c, &n), ret);
	return r;
}

/* Does a file in /etc with other options hide ours? */
static bool is_hidden(const struct fs *fs, const char *text)
{
	_cleanup_(freep) char *baked = NULL;

	/* Without memory to compare, a second file does no harm. */
	return text && (observe_option_file(fs, MODPROBE_BAKED_PATH, &baked) < 0 ||
			(baked && !streq(baked, text)));
}

/* Options come too late for what the initramfs has loaded. */
static void tell_loaded(const struct fs *fs, const struct module_options *w)
{
	for (size_t i = 0; i < w->n_options; i++) {
		const struct module_option *o = &w->options[i];
		char path[192], value[64] = "";

		if (streq(o->module, CORE_MODULE)) /* its mode can be changed: plan_netns() */
			continue;
		snprintf(path, sizeof(path), "sys/module/%s/initstate", o->module);
		if (!fs_exists(fs, path))
			continue;
		snprintf(path, sizeof(path), "sys/module/%s/parameters/%s", o->module, o->name);
		if (fs_read(fs, path, value, sizeof(value)) >= 0 &&
		    module_options_is_same("", value, o->value))
			continue;
		log_info("%s: is loaded already, %s %s%s%s, not with %s=%s; "
			 "rdma-provision.service sees to it",
			 o->module, *value ? "with" : "without", o->name, *value ? "=" : "", value,
			 o->name, o->value);
		return; /* one line, one module */
	}
}

/* What can be done is done: a driver mode that is not known costs no netns mode. */
int early(struct os *d, const struct config *c)
{
	_cleanup_(freep) char *text = NULL;
	struct module_options w;
	bool is_over;
	int r, r_mode;

	r_mode = want(d, c, &w);
	r = output_modprobe(&w, &text);
	if (r < 0)
		return log_error_errno(r, "/" MODPROBE_PATH);
	is_over = is_hidden(&d->fs, text);
	if (is_over)
		log_info("/" MODPROBE_BAKED_PATH
			 " says something else than the configuration: /" MODPROBE_LAST_PATH
			 " overrides it; \"rdma-provision bake\" writes it again");
	r = options_put(
		&(struct options){ d,
				   c,
				   { { MODPROBE_PATH, text, NULL },
				     { MODPROBE_LAST_PATH, is_over ? text : NULL, NULL } } });
	tell_loaded(&d->fs, &w);
	return r_mode < 0 ? r_mode : MIN(r, 0);
}
