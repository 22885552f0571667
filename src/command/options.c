/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../device/pci-observe.h"
#include "../model/memory.h"
#include "../model/module-options.h"
#include "../model/paths.h"
#include "../module/modprobe-observe.h"
#include "../os/memory-file.h"
#include "../os/rdma.h"
#include "../pass/live.h"
#include "../pass/loop.h"
#include "../step/steps.h"
#include "session.h"

struct options {
	struct os *os;
	const struct config *config; /* its NetnsMode= is set as well; NULL: files alone */
	struct option_file files[2]; /* path NULL: no file; have: owned by options_put() */
};

static int look(void *userdata, const struct config *c _unused_,
		const struct attempts *tried _unused_, struct node *ret, struct memory *ret_memory)
{
	struct options *o = userdata;

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path; i++) {
		int r = observe_option_file(&o->os->fs, o->files[i].path, &o->files[i].have);

		if (r < 0)
			return log_error_errno(r, "/%s", o->files[i].path);
	}
	*ret = (struct node){};
	*ret_memory = (struct memory){};
	return 0;
}

static int answer(void *userdata, const struct questions *q _unused_,
		  const struct memory *memory _unused_, struct node *n)
{
	const struct options *o = userdata;
	struct netlink *rdma = &o->os->rdma;
	int r = netlink_open(rdma);

	if (r == -EPROTONOSUPPORT) /* a kernel without RDMA, or its module is not installed */
		return 0;
	if (r < 0)
		return log_error_errno(r, "The RDMA netns mode cannot be read");
	r = rdma_get_netns_mode(rdma, &n->netns_mode);
	return r < 0 ? log_error_errno(r, "The RDMA netns mode cannot be read") : 1;
}

/* The netns mode matters when the files are written. */
static void ask(const struct options *o, const struct node *n, struct plan *p)
{
	const uint32_t question = 1u << QUESTION_NETNS_MODE;

	if (o->config && o->config->rdma.netns_mode != NETNS_MODE_KEEP && o->os->fs.is_live &&
	    !plan_has_open_changes(p))
		p->questions.set = question & ~n->asked;
}

static int make_plan(const struct pass *pass, const struct node *n, const struct memory *memory,
		     const struct attempts *tried, struct plan *ret)
{
	const struct options *o = pass->userdata;
	_cleanup_(plan_done) struct plan p = { .tried = tried };

	for (size_t i = 0; i < ELEMENTSOF(o->files) && o->files[i].path; i++)
		plan_option_file(&o->files[i], &p);
	if (o->config)
		plan_netns(o->config, n, memory, &p);
	plan_mark_tried(&p);
	ask(o, n, &p);
	return GIVE(plan_result(&p), p, ret);
}

/*
 * Files come first: opening the socket that sets the mode loads ib_core. A failure stops nothing
 * that follows. Return: how many changes there were, or the -errno of one that failed.
 */
static int options_put(struct options *o)
{
	static const struct config nothing;
	const struct pass pass = {
		.make_plan = make_plan, .config = &nothing, .is_wait_over = true, .userdata = o
	};
	struct world w = live_world(o->os);
	struct pass_result result = {};
	int r;

	w.look = look;
	w.answer = answer;
	w.userdata = o;
	r = loop_rounds(&w, &pass, &result);
	for (size_t i = 0; i < ELEMENTSOF(o->files); i++)
		free(o->files[i].have);
	return r < 0 ? r : result.n_changes;
}

#define MARKER "# Written by rdma-provision"

static const struct {
	const char *module, *settings;
} modules[] = {
	{ ERDMA_MODULE, "[Driver] Mode=, ReservePortsBase=" },
	{ CORE_MODULE, "[RDMA] NetnsMode=" },
};

/*
 * The file of modprobe.d has one line "options MODULE ..." for each module, below a first line that
 * says whose it is. The text depends on nothing but the options, so that what was baked into an
 * image and what is written at boot can be compared by bytes. Return: 0, or -ENOMEM; @ret is NULL
 * when nothing is wanted.
 */
static int make_text(const struct module_options *w, char **ret)
{
	char text[512] = "", *whole = NULL;

	for (size_t i = 0; i < ELEMENTSOF(modules); i++) {
		char options[256];

		if (!module_options_text(w, modules[i].module, options, sizeof(options)))
			continue;
		append_word(text, sizeof(text), "", "# %s\noptions %s %s\n", modules[i].settings,
			    modules[i].module, options);
	}

	if (*text &&
	    asprintf(&whole, MARKER "(8) from its configuration; changes here are lost.\n%s",
		     text) < 0)
		return -ENOMEM;
	*ret = whole;
	return 0;
}

/* @text: what the file is to have, NULL: there is to be none. Return: 1, 0 when it is so already,
 * or -errno. */
static int put(struct os *d, const char *text)
{
	struct options o = { d, NULL, { { MODPROBE_BAKED_PATH, text, NULL } } };
	_cleanup_(freep) char *have = NULL;
	int r = observe_option_file(&d->fs, MODPROBE_BAKED_PATH, &have);

	if (r < 0)
		return log_error_errno(r, "/" MODPROBE_BAKED_PATH);
	/* An empty one masks ours, on purpose. The first line is the same in every version. */
	if (have && !is_prefix(have, MARKER)) {
		log_error("/" MODPROBE_BAKED_PATH
			  ": is not of rdma-provision, and is left as it is; move it away");
		return -EEXIST;
	}
	r = options_put(&o);
	if (r > 0 && !text)
		log_info("/" MODPROBE_BAKED_PATH ": an initramfs made with it still has it");
	return r;
}

/* Logs other lines of modprobe.d, and loaded modules, that are contrary to the options. */
static void tell_rest(const struct fs *fs, enum driver_mode mode, const struct module_options *w)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};
	int r = observe_options(fs, &n);

	if (r >= 0)
		plan_options(&n, &p, w, mode == DRIVER_MODE_OFED);
	if (r < 0 || plan_result(&p) < 0)
		log_warning("Whether other options are contrary to these is not known");
	FOREACH(a, p.actions, p.n_actions)
		log_warning("%s: %s: %s. %s", a->target, reason_meaning(a->reason), a->detail,
			    action_advice(a));
}

/*
 * The image's machine needed other functions, its kubelet had another address, and what it tried is
 * nothing to the next one. A node that runs keeps the entry of this boot, as a NIC that it needed
 * stays needed, and the kubelet's command line.
 */
static int forget(const struct fs *fs)
{
	_owns_(struct boots, entries) boots = {};
	char boot_id[40] = "";
	int r = 0;

	if (fs->is_live && os_has_node(fs))
		fs_read(fs, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	else
		r = fs_remove(fs, KUBELET_CMDLINE_PATH);
	if (r < 0)
		return log_error_errno(r, "/" KUBELET_CMDLINE_PATH);
	/* The lock of memory_write() would stay in an image in which nothing ran. */
	if (!fs_exists(fs, MEMORY_NODE_PATH))
		return 0;
	r = memory_read(fs, MEMORY_NODE, &boots_fields, &boots);
	KEEP(b, boots.entries, boots.n_entries, *boot_id && streq(b->boot_id, boot_id));
	if (r >= 0)
		r = memory_write(fs, MEMORY_NODE, &boots_fields, &boots);
	return r < 0 ? log_error_errno(r, "/" MEMORY_NODE_PATH) : r;
}

int bake(struct os *d, const struct config *c)
{
	const bool is_auto = c->driver.mode == DRIVER_MODE_AUTO;
	_cleanup_(freep) char *text = NULL;
	struct module_options w;
	int r;

	if (is_auto)
		log_info("[Driver] Mode=auto depends on the GPU of the machine that boots: nothing "
			 "is written for erdma, rdma-provision-early.service does it at each boot");
	module_options_wanted(c, is_auto ? DRIVER_MODE_KEEP : c->driver.mode, &w);
	r = forget(&d->fs);
	if (r >= 0)
		r = make_text(&w, &text);
	if (r >= 0)
		r = put(d, text);
	if (r == 0)
		log_info("%s",
			 text ? "/" MODPROBE_BAKED_PATH ": is as it should be"
			      : "The configuration asks for no module option that can be baked");
	if (r < 0 || !text)
		return MIN(r, 0);

	log_info("/" MODPROBE_BAKED_PATH
		 ": an initramfs that has one of these modules keeps the options of the day it was "
		 "made: run \"update-initramfs -u -k all\" or \"dracut --force "
		 "--regenerate-all\" in the image");
	tell_rest(&d->fs, c->driver.mode, &w);
	return 0;
}

int bake_undo(struct os *d)
{
	int r = put(d, NULL);

	if (r == 0)
		log_info("/" MODPROBE_BAKED_PATH ": is not there, nothing to undo");
	return MIN(r, 0);
}

static int look_module(struct os *d, struct node *n, const char *name)
{
	struct module *m = APPEND(n->modules, n->n_modules);

	if (!m)
		return -ENOMEM;
	COPY(m->name, name);
	m->state = MODULE_LOADED;
	return fs_exists(&d->fs, FS_PATH("sys/module/%s", name)) > 0
		       ? 0
		       : module_look(&d->modules, name, &m->state);
}

/*
 * "auto" depends on the PCI functions, on whether the GPU's driver is there, and on the options of
 * others.
 */
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
		if (r >= 0)
			r = observe_options(&d->fs, &n);
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
	FOREACH(o, w->options, w->n_options) {
		char value[64] = "";

		if (streq(o->module, CORE_MODULE)) /* its mode can be changed: plan_netns() */
			continue;
		if (!fs_exists(fs, FS_PATH("sys/module/%s/initstate", o->module)))
			continue;
		if (fs_read(fs, FS_PATH("sys/module/%s/parameters/%s", o->module, o->name), value,
			    sizeof(value)) >= 0 &&
		    module_options_is_same("", value, o->value))
			continue;
		log_info("%s: is loaded already, %s %s%s%s, not with %s=%s; "
			 "rdma-provision.service sees to it",
			 o->module, *value ? "with" : "without", o->name, *value ? "=" : "", value,
			 o->name, o->value);
		return; /* one line, one module */
	}
}

/* A driver mode that is not known does not keep the netns mode from being set. */
int early(struct os *d, const struct config *c)
{
	_cleanup_(freep) char *text = NULL;
	struct module_options w;
	bool is_over;
	int r_mode = want(d, c, &w), r = make_text(&w, &text);

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

int command_early(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };

	int r = session_open_os(cmd, &s);

	if (r >= 0)
		r = load_valid(&s.os.fs, cmd->config, &s.config);
	if (r == -EINVAL)
		return EXIT_SUCCESS; /* the service tells of it */
	return r < 0 || early(&s.os, &s.config) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_bake(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	int r = session_open(cmd, &s);

	if (r < 0 || (s.config.is_invalid && !cmd->is_undo))
		return EXIT_FAILURE;
	return (cmd->is_undo ? bake_undo(&s.os) : bake(&s.os, &s.config)) < 0 ? EXIT_FAILURE
									      : EXIT_SUCCESS;
}
