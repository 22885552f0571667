/* SPDX-License-Identifier: Apache-2.0 */
#include "option-plan.h"

#include "../guard/in-use-plan.h"
#include "../model/way-facts.h"
#include "../step/steps.h"

/* Only one parameter of ours is a number: its digits show it. */
static const char *type_of(const char *name)
{
	return streq(name, ERDMA_PORTS) ? "ushort" : "bool";
}

static const char *place_of(struct plan *p, const struct option *o)
{
	if (o->source == OPTION_LOAD && o->line == 0)
		return "modules_load= on the kernel command line";
	if (o->source == OPTION_CMDLINE)
		return "the kernel command line";
	if (o->line > 0)
		return plan_text(p, "line %" PRIu32 " of %.180s", o->line, o->file);
	return action_text(&p->texts, o->file);
}

static bool is_overruled(const struct node *n, size_t i)
{
	const struct option *o = &n->options[i];

	return ANY(k, o + 1, n->n_options - i - 1,
		   module_options_is_own(k->file) && streq(k->module, o->module) &&
			   streq(k->name, o->name));
}

static struct action *add_conflict(struct plan *p, const struct option *o)
{
	const char *place = place_of(p, o);
	struct action *a;

	a = plan_add_reason(p, STEP_DRIVER, VERB_SET_OPTION, CLASS_REFUSED, o->module,
			    REASON_OPTION_CONFLICT);
	if (!a)
		return NULL;

	if (o->source == OPTION_CMDLINE)
		a->advice = plan_text(
			p,
			"Remove %s.%.24s=%.20s from %s (the boot loader's configuration) and "
			"reboot.",
			o->module, o->name, o->value, place);
	else if (o->source == OPTION_LOAD)
		a->advice =
			plan_text(p, "Remove %s from %s, or set [Driver] Mode=default or compat.",
				  o->module, place);
	else
		a->advice = plan_text(
			p,
			"Remove %.24s=%.20s from %s, and rebuild the initramfs if it has that file "
			"(\"dracut --force\" or \"update-initramfs -u\").",
			o->name, o->value, place);
	return a;
}

static int plan_option(const struct node *n, struct plan *p, size_t i, const char *want)
{
	const struct option *o = &n->options[i];
	struct action *a = add_conflict(p, o);

	if (!a)
		return -ENOMEM;
	snprintf(a->text.from, sizeof(a->text.from), "%.24s=%.20s", o->name, o->value);
	snprintf(a->text.to, sizeof(a->text.to), "%.24s=%.20s", o->name, want);
	a->detail = plan_text(p, "%s%s", place_of(p, o),
			      is_overruled(n, i) ? ", overruled by a file of rdma-provision" : "");
	return 0;
}

/* An option in a file of ours that is not wanted any more still applies at the next load. */
static int hint_stale(struct plan *p, const struct option *o)
{
	return plan_add_hint(p, REASON_OPTION_STALE, o->module, "%.24s%s%.20s, %s", o->name,
			     *o->value ? "=" : "", o->value, place_of(p, o));
}

int plan_options(const struct node *n, struct plan *p, const struct module_options *w,
		 bool refuses_smc)
{
	int r = 0;

	for (size_t i = 0; i < n->n_options && r >= 0; i++) {
		const struct option *o = &n->options[i];
		const char *want;

		if (module_options_is_own(o->file)) {
			if (!module_options_value(w, o->module, o->name))
				r = hint_stale(p, o);
			continue;
		}
		if (o->source == OPTION_LOAD) {
			struct action *a = NULL;

			if (!refuses_smc || !streq(o->module, SMC_MODULE))
				continue;
			a = add_conflict(p, o);
			if (!a)
				return -ENOMEM;
			a->detail = place_of(p, o);
			continue;
		}
		want = module_options_value(w, o->module, o->name);
		if (want && !module_options_is_same(type_of(o->name), o->value, want))
			r = plan_option(n, p, i, want);
	}
	return r;
}

int plan_option_file(const struct option_file *f, struct plan *p)
{
	const enum verb verb = f->want ? VERB_WRITE_OPTIONS : VERB_REMOVE_OPTIONS;
	char target[256];

	if (f->have && f->want ? streq(f->have, f->want) : f->have == f->want)
		return 0;
	if (f->want && !p->options) {
		p->options = strdup(f->want);
		if (!p->options)
			return -ENOMEM;
	}
	snprintf(target, sizeof(target), "/%s", f->path);
	return plan_add(p, STEP_DRIVER, verb, CLASS_CHANGE, target) ? 0 : -ENOMEM;
}

/* Only a boot can change the mode of the RDMA subsystem once there is another network namespace. */
int plan_netns(const struct config *c, const struct node *n, const struct memory *memory _unused_,
	       struct plan *p)
{
	char names[ACTION_TEXT_LEN] = "";
	struct action *a;

	/* Without an RDMA subsystem yet, the option that "early" wrote decides when it is loaded.
	 */
	if (c->rdma.netns_mode == NETNS_MODE_KEEP || n->netns_mode == NETNS_MODE_KEEP ||
	    c->rdma.netns_mode == n->netns_mode)
		return 0;

	a = plan_add(p, STEP_NETNS, VERB_SET_NETNS_MODE, CLASS_CHANGE, "");
	if (!a)
		return -ENOMEM;
	/* Any namespace but the first one forbids it, also an empty one, and in both directions:
	 * rdma_compatdev_set() in drivers/infiniband/core/device.c. Namespaces without a name are
	 * not seen: then the kernel refuses. */
	if (n->n_netnses > 0) {
		a->class = CLASS_NEEDS_REBOOT;
		a->reason = REASON_NETNS_BUSY;
	}
	for (size_t i = 0; i < n->n_netnses; i++)
		in_use_append(names, sizeof(names), n->netnses[i].name);
	a->detail = action_text(&p->texts, names);
	a->mode.from = n->netns_mode;
	a->mode.to = c->rdma.netns_mode;
	return 0;
}
