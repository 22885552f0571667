/* SPDX-License-Identifier: Apache-2.0 */
#include "early.h"

#include "base/log.h"
#include "doors/rdma.h"
#include "model/paths.h"
#include "model/wanted.h"
#include "observe/pci.h"
#include "output/modprobe.h"

#define MAX_BAKED_BYTES (64u << 10)

static int look_module(struct doors *d, struct node *n, const char *name)
{
	struct module *m = APPEND(n->modules, n->n_modules);
	char path[128];

	if (!m)
		return -ENOMEM;
	COPY(m->name, name);
	m->state = MODULE_LOADED;
	snprintf(path, sizeof(path), "sys/module/%s", name);
	return fs_exists(&d->fs, path) ? 0 : module_look(&d->modules, name, &m->state);
}

/* What "auto" is decided by: PCI functions, and whether the GPU's driver is there. */
static int look(struct doors *d, struct node *n)
{
	int r;

	r = observe_pci(&d->fs, n);
	if (r >= 0)
		r = look_module(d, n, NVIDIA_MODULE);
	if (r >= 0)
		r = look_module(d, n, NVIDIA_DEBIAN);
	return r;
}

static int want(struct doors *d, const struct config *c, struct wanted *ret)
{
	_cleanup_(node_done) struct node n = {};
	int r;

	if (c->driver.mode == DRIVER_MODE_AUTO) {
		r = look(d, &n);
		if (r < 0)
			return r;
	}
	wanted_options(c, node_driver_mode(c, &n), ret);
	return 0;
}

/* Does a file in /etc that says something else hide ours? */
static bool is_hidden(const struct fs *fs, const char *text)
{
	_cleanup_(freep) char *baked = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, MODPROBE_BAKED_PATH, MAX_BAKED_BYTES, false, &baked, &size);
	if (r < 0)
		return fs_exists(fs, MODPROBE_BAKED_PATH); /* a link to /dev/null hides as well */
	return !streq(baked, text);
}

static int write_options(const struct fs *fs, const struct wanted *w)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	r = output_modprobe(w, &text);
	if (r >= 0)
		r = text ? fs_replace(fs, MODPROBE_PATH, text, strlen(text), 0644)
			 : fs_remove(fs, MODPROBE_PATH);
	if (r < 0)
		return r;

	if (!text || !is_hidden(fs, text))
		return fs_remove(fs, MODPROBE_LAST_PATH);
	log_info("/" MODPROBE_BAKED_PATH
		 " says something else than the configuration: /" MODPROBE_LAST_PATH
		 " overrides it; \"rdma-provision bake\" writes it anew");
	r = fs_replace(fs, MODPROBE_LAST_PATH, text, strlen(text), 0644);
	return MIN(r, 0);
}

/* Options come too late for what the initramfs has loaded. */
static void tell_loaded(const struct fs *fs, const struct wanted *w)
{
	for (size_t i = 0; i < w->n_options; i++) {
		const struct wanted_option *o = &w->options[i];
		char path[192], value[64] = "";

		if (streq(o->module, CORE_MODULE)) /* its mode can be changed: set_mode() */
			continue;
		snprintf(path, sizeof(path), "sys/module/%s/initstate", o->module);
		if (!fs_exists(fs, path))
			continue;
		snprintf(path, sizeof(path), "sys/module/%s/parameters/%s", o->module, o->name);
		if (fs_read(fs, path, value, sizeof(value)) >= 0 &&
		    is_same_value("", value, o->value))
			continue;
		log_info("%s: is loaded already, %s %s%s%s, not with %s=%s; "
			 "rdma-provision.service sees to it",
			 o->module, *value ? "with" : "without", o->name, *value ? "=" : "", value,
			 o->name, o->value);
		return; /* one line, one module */
	}
}

static int set_mode(struct doors *d, enum netns_mode mode)
{
	enum netns_mode now;
	int r;

	/* Opening the socket loads ib_core, with the option just written. */
	r = netlink_open(&d->rdma);
	if (r == -EPROTONOSUPPORT) /* a kernel without RDMA, or its module is not installed */
		return 0;
	if (r >= 0)
		r = rdma_get_netns_mode(&d->rdma, &now);
	if (r < 0 || now == mode)
		return r;

	r = rdma_set_netns_mode(&d->rdma, mode);
	if (r >= 0)
		log_notice("node: set-netns-mode %s -> %s", netns_mode_name(now),
			   netns_mode_name(mode));
	return r;
}

/* What can be done is done: a driver mode that is not known costs no netns mode. */
int early(struct doors *d, const struct config *c)
{
	struct wanted w;
	int r, first;

	first = r = want(d, c, &w);
	if (r < 0) {
		log_error_errno(r, "The driver mode cannot be told");
		wanted_options(c, DRIVER_MODE_KEEP, &w);
	}
	r = write_options(&d->fs, &w);
	if (r < 0) {
		log_error_errno(r, "/" MODPROBE_PATH);
		first = first < 0 ? first : r;
	} else {
		tell_loaded(&d->fs, &w);
	}
	if (c->rdma.netns_mode == NETNS_MODE_KEEP || !d->fs.is_live)
		return first;

	r = set_mode(d, c->rdma.netns_mode);
	if (r < 0)
		log_error_errno(r, "The RDMA netns mode cannot be set");
	return first < 0 ? first : MIN(r, 0);
}
