/* SPDX-License-Identifier: Apache-2.0 */
#include "bake.h"

#include "base/log.h"
#include "config/problem.h"
#include "model/paths.h"
#include "model/wanted.h"
#include "observe/modprobe.h"
#include "output/modprobe.h"

#define MAX_BYTES  (64u << 10)
#define SMC_MODULE "smc"

/* Is there a file, and may it be replaced? Return: 1, 0 when there is none, -EEXIST. */
static int find_baked(const struct fs *fs)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, MODPROBE_BAKED_PATH, MAX_BYTES, false, &text, &size);
	if (r == -ENOENT && !fs_exists(fs, MODPROBE_BAKED_PATH))
		return 0;
	if (r == -ENOENT || r == -EINVAL || r == -EFBIG) /* a link to /dev/null is a decision too */
		return -EEXIST;
	return r < 0 ? r : output_is_modprobe(text) ? 1 : -EEXIST;
}

static int fail(int r)
{
	if (r == -EEXIST)
		log_error("/" MODPROBE_BAKED_PATH
			  ": is not of rdma-provision, and is left as it is; move it away");
	else
		log_error_errno(r, "/" MODPROBE_BAKED_PATH);
	return r;
}

/* The place of our own line for this option: what comes later wins. */
static size_t own_place(const struct node *n, const struct wanted_option *w)
{
	size_t place = 0;

	for (size_t i = 0; i < n->n_options; i++)
		if (n->options[i].source != OPTION_LOAD && streq(n->options[i].module, w->module) &&
		    streq(n->options[i].name, w->name) && is_own_option_file(n->options[i].file))
			place = i;
	return place;
}

static void tell_contrary(const struct node *n, const struct wanted_option *w)
{
	const size_t own = own_place(n, w);

	for (size_t i = 0; i < n->n_options; i++) {
		const struct option *o = &n->options[i];
		char where[300] = "the kernel command line", value[QUOTED_LEN];

		if (o->source == OPTION_LOAD || !streq(o->module, w->module) ||
		    !streq(o->name, w->name) || is_own_option_file(o->file) ||
		    is_same_value("", o->value, w->value))
			continue;
		if (o->source == OPTION_MODPROBE)
			snprintf(where, sizeof(where), "%s:%u", o->file, o->line);
		log_warning("%s: %s %s=%s is contrary to %s; %s", where, o->module, o->name,
			    quoted(o->value, value), w->value,
			    i > own ? "it comes later and wins: remove it"
				    : "it comes earlier and has no effect");
	}
}

/* Whoever loads what a mode cannot be used with. */
static void tell_smc(const struct node *n)
{
	for (size_t i = 0; i < n->n_options; i++) {
		const struct option *o = &n->options[i];

		if (o->source != OPTION_LOAD || !streq(o->module, SMC_MODULE))
			continue;
		if (o->line > 0)
			log_warning("%s:%u: loads " SMC_MODULE ", which cannot be used with "
				    "Mode=ofed: remove it",
				    o->file, o->line);
		else
			log_warning("modules_load= on the kernel command line loads " SMC_MODULE
				    ", which cannot be used with Mode=ofed: remove it");
	}
}

static void tell_rest(const struct fs *fs, enum driver_mode mode, const struct wanted *w)
{
	_cleanup_(node_done) struct node n = {};

	if (observe_options(fs, &n) < 0) {
		log_warning("Whether other options are contrary to these is not known");
		return;
	}
	for (size_t i = 0; i < w->n_options; i++)
		tell_contrary(&n, &w->options[i]);
	if (mode == DRIVER_MODE_OFED)
		tell_smc(&n);
}

static int remove_baked(const struct fs *fs)
{
	int r;

	r = fs_remove(fs, MODPROBE_BAKED_PATH);
	if (r < 0)
		return fail(r);
	log_notice("/" MODPROBE_BAKED_PATH ": removed; an initramfs made with it still has it");
	return 0;
}

int bake(const struct doors *d, const struct config *c)
{
	const bool is_auto = c->driver.mode == DRIVER_MODE_AUTO;
	_cleanup_(freep) char *text = NULL;
	struct wanted w;
	int r, r_file;

	if (is_auto)
		log_info("[Driver] Mode=auto is told by the GPU of the machine that boots: nothing "
			 "is written for erdma, rdma-provision-early.service does it at each boot");
	wanted_options(c, is_auto ? DRIVER_MODE_KEEP : c->driver.mode, &w);

	r_file = find_baked(&d->fs);
	r = r_file < 0 ? r_file : output_modprobe(&w, &text);
	if (r < 0)
		return fail(r);
	if (!text) {
		if (r_file > 0)
			return remove_baked(&d->fs);
		log_info("The configuration asks for no module option that can be baked");
		return 0;
	}

	r = fs_replace(&d->fs, MODPROBE_BAKED_PATH, text, strlen(text), 0644);
	if (r < 0)
		return fail(r);
	log_line(r > 0 ? LOG_LEVEL_NOTICE : LOG_LEVEL_INFO, "/" MODPROBE_BAKED_PATH ": %s",
		 r > 0 ? "written" : "is as it should be");
	log_info("/" MODPROBE_BAKED_PATH
		 ": an initramfs that has one of these modules keeps the options of the day it was "
		 "made: run \"update-initramfs -u -k all\" or \"dracut --force "
		 "--regenerate-all\" in the image");
	tell_rest(&d->fs, c->driver.mode, &w);
	return 0;
}

int bake_undo(const struct doors *d)
{
	int r;

	r = find_baked(&d->fs);
	if (r < 0)
		return fail(r);
	if (r == 0) {
		log_info("/" MODPROBE_BAKED_PATH ": is not there, nothing to undo");
		return 0;
	}
	return remove_baked(&d->fs);
}
