/* SPDX-License-Identifier: Apache-2.0 */
#include "bake.h"

#include "base/log.h"
#include "model/memory.h"
#include "model/module-options.h"
#include "model/paths.h"
#include "observe/modprobe-observe.h"
#include "options.h"
#include "os/memory-file.h"
#include "output/modprobe-output.h"
#include "plan/option.h"

/* @text: what the file is to have, NULL: there is to be none. Return: 1, 0 when it is so already,
 * or -errno. */
static int put(struct os *d, const char *text)
{
	struct options o = { d, NULL, { { MODPROBE_BAKED_PATH, text, NULL } } };
	_cleanup_(freep) char *have = NULL;
	int r;

	r = observe_option_file(&d->fs, MODPROBE_BAKED_PATH, &have);
	if (r < 0)
		return log_error_errno(r, "/" MODPROBE_BAKED_PATH);
	if (have && !output_is_modprobe(have)) {
		log_error("/" MODPROBE_BAKED_PATH
			  ": is not of rdma-provision, and is left as it is; move it away");
		return -EEXIST;
	}
	r = options_put(&o);
	if (r > 0 && !text)
		log_info("/" MODPROBE_BAKED_PATH ": an initramfs made with it still has it");
	return r;
}

/* Which other lines, and modules that are loaded, are contrary to it? */
static void tell_rest(const struct fs *fs, enum driver_mode mode, const struct module_options *w)
{
	_cleanup_(node_done) struct node n = {};
	_cleanup_(plan_done) struct plan p = {};

	if (observe_options(fs, &n) < 0 || plan_options(&n, &p, w, mode == DRIVER_MODE_OFED) < 0)
		log_warning("Whether other options are contrary to these is not known");
	for (size_t i = 0; i < p.n_actions; i++)
		log_warning("%s: %s: %s. %s", p.actions[i].target,
			    reason_meaning(p.actions[i].reason), p.actions[i].detail,
			    action_advice(&p.actions[i]));
}

/* The image's machine needed other functions, and what it tried is nothing to the next one. */
static int forget(struct os *d)
{
	const struct boots none = {};
	int r = memory_write(&d->fs, MEMORY_NODE, &boots_fields, &none);

	if (r < 0)
		log_error_errno(r, "/" MEMORY_NODE_PATH);
	return r;
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
	r = forget(d);
	if (r >= 0)
		r = output_modprobe(&w, &text);
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
