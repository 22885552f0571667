/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver: which modules have to be loaded, with which options and in which mode, and which cards
 * are probed again. The modes are defined in module-options.h. A stack is reported and never
 * changed.
 */
#include "../guard/in-use-plan.h"
#include "../guard/vf-precheck-rules.h"
#include "../model/module-options.h"
#include "../model/use-facts.h"
#include "../step/identity-rules.h"
#include "../step/steps.h"
#include "stack-rules.h"

#define NODEPORT_FIRST 30000 /* --service-node-port-range of kube-apiserver */
#define NODEPORT_LAST  32767
#define RXE_MODULE     "rdma_rxe"
#define LATE_MODULE    "mlx5_core"
#define PAUSE_USEC     (60 * USEC_PER_SEC)

static uint32_t to_port(const char *value)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(value, &end, 0);
	return errno == 0 && end != value && !*end && port <= UINT16_MAX ? (uint32_t)port : 0;
}

/*
 * In compat mode eRDMA takes 16 TCP ports in every network namespace, from this base on: when a
 * port is taken the module is not loaded (EADDRINUSE), which is not predicted: no namespace shows
 * the ports of another. Built with MAD it takes UDP 4791 of the first namespace as well. Source:
 * erdma_port_init() and sw_net_init() in erdma_compat.c of the out-of-tree driver. 0: the driver
 * does not show it.
 */
static uint32_t base_in_force(const struct node *n)
{
	const struct parameter *p = module_parameter(node_module(n, ERDMA_MODULE), ERDMA_PORTS);

	return p ? to_port(p->value) : 0;
}

/*
 * The first port that the driver takes when it is loaded now: the wanted one, else that of
 * modprobe.d, else the driver's default. With @in_force: the one that a loaded driver shows.
 */
static uint32_t ports_base(const struct node *n, const struct module_options *w, bool in_force)
{
	const char *value = module_options_value(w, ERDMA_MODULE, ERDMA_PORTS);
	uint32_t base = value ? to_port(value) : 0;

	if (in_force && base_in_force(n) > 0)
		return base_in_force(n);

	FOREACH_WHILE(o, n->options, n->n_options, !value)
		if (o->source != OPTION_LOAD && streq(o->module, ERDMA_MODULE) &&
		    streq(o->name, ERDMA_PORTS) && to_port(o->value) > 0)
			base = to_port(o->value); /* the last wins */
	return base > 0 ? base : ERDMA_PORTS_BASE;
}

/* Hints that the range overlaps NodePorts, unless ReservePortsBase= is set. */
static void ports_hint_nodeport(const struct config *c, struct plan *p, uint32_t base)
{
	const uint32_t last = base + ERDMA_N_PORTS - 1;

	/* An administrator who set the base knows it, and may keep Services off these ports. */
	if (c->driver.reserve_ports_base > 0 || base > NODEPORT_LAST || last < NODEPORT_FIRST)
		return;
	plan_add_hint(p, REASON_PORTS_NODEPORT, ERDMA_MODULE, "%" PRIu32 " to %" PRIu32, base,
		      last);
}

/*
 * Is the driver built with MAD? That cannot be read before it is loaded. Its build turns MAD on by
 * itself where OFED is installed (configure-dkms.sh), and an ibdev of a build with MAD has a umad
 * device.
 */
static bool is_mad_build(const struct node *n)
{
	char evidence[256];

	if (stack_of(n, CORE_MODULE, evidence, sizeof(evidence)) == STACK_OFED)
		return true;
	return ANY(pci, n->pcis, n->n_pcis,
		   streq(pci->driver, ERDMA_MODULE) && node_ibdev_of(n, pci->address) &&
			   node_ibdev_of(n, pci->address)->umad[0]);
}

/* Hints at rdma_rxe before a driver that looks built with MAD is loaded in compat mode. */
static void ports_hint_roce(const struct node *n, struct plan *p)
{
	const struct module *rxe = node_module(n, RXE_MODULE);

	if (!module_is_in_kernel(rxe) || !is_mad_build(n))
		return;
	plan_add_hint(p, REASON_ROCE_PORT_BUSY, ERDMA_MODULE, RXE_MODULE " is loaded");
}

static bool is_planned(const struct plan *p, enum verb verb, const char *target)
{
	return ANY(a, p->actions, p->n_actions, a->verb == verb && streq(a->target, target));
}

/* Finds the reason why a module that is not loaded cannot be loaded, and its class. */
static enum reason find_obstacle(const struct node *n, const char *name, enum class *ret_class)
{
	const struct module *m = node_module(n, name);

	if (m->state == MODULE_MISSING) {
		*ret_class = n->is_dkms_building ? CLASS_WAITING : CLASS_IMPOSSIBLE;
		return n->is_dkms_building ? REASON_DKMS_BUILDING : REASON_MODULE_MISSING;
	}
	*ret_class = CLASS_REFUSED;
	if (m->state == MODULE_BLACKLISTED)
		return REASON_MODULE_BLACKLISTED;
	if (node_forbids(n, name)) /* the kernel's own: -EPERM for everybody */
		return REASON_MODULE_FORBIDDEN;
	*ret_class = CLASS_CHANGE;
	return REASON_NONE;
}

static void set_class(struct action *a, enum class class, enum reason reason)
{
	a->class = class;
	a->reason = reason;
}

static void forbid(const struct node *n, struct plan *p, struct action *a)
{
	set_class(a, CLASS_REFUSED, REASON_MODULE_FORBIDDEN);
	a->detail = plan_text(p, "module_blacklist=%.200s", n->cmdline_blacklist);
	a->advice = plan_text(
		p, "Remove %.64s from module_blacklist= on the kernel command line and reboot.",
		a->target);
}

static struct action *add_load(const struct node *n, struct plan *p, const char *name)
{
	enum class class;
	enum reason reason = find_obstacle(n, name, &class);
	struct action *a = plan_add_reason(p, VERB_LOAD_MODULE, class, name, reason);

	if (reason == REASON_MODULE_FORBIDDEN)
		forbid(n, p, a);
	return a;
}

void plan_want_module(const struct node *n, struct plan *p, const char *name)
{
	const struct module *m = node_module(n, name);

	if (!m || module_is_in_kernel(m) || is_planned(p, VERB_LOAD_MODULE, name))
		return; /* !m: a tree does not describe it */
	add_load(n, p, name);
}

/* --- eRDMA: the mode is a parameter of its driver --- */

/* The options that eRDMA's driver gets, and those that it lacks. */
struct erdma {
	const struct module *module;    /* NULL: not looked at, or there is none */
	char from[48], to[48];          /* options as text: those in force, those that are wanted */
	const char *missing;            /* a parameter that the file on disk does not have */
	const struct parameter *misfit; /* a parameter whose type cannot have the value */
	bool is_right;                  /* what is in force is what is wanted */
	bool is_compat;
};

/* A driver without the parameter, as the kernel's own, has standard mode alone. */
static bool is_without(const struct module_option *o)
{
	return streq(o->name, ERDMA_COMPAT) && module_options_is_same("bool", o->value, "N");
}

static bool is_type_fit(const struct module_option *o, const char *type)
{
	return streq(o->name, ERDMA_COMPAT) == streq(type, "bool");
}

static void look_at_option(const struct module_option *o, struct erdma *e)
{
	const struct module *m = e->module;
	const struct parameter *p = module_parameter(m, o->name);
	const bool is_in_file = p && p->type[0], is_in_force = p && p->value[0];
	/* An unreadable module file shows nothing: the values in force do, after loading. */
	const bool is_lacking =
		m && (m->state == MODULE_BUILTIN ? !is_in_force : m->has_info && !is_in_file);

	if (is_in_force)
		append_word(e->from, sizeof(e->from), " ", "%s=%s", o->name, p->value);
	if (is_in_force ? !module_options_is_same(p->type, p->value, o->value) : !is_without(o))
		e->is_right = false;

	if (is_lacking && !is_without(o) && !e->missing)
		e->missing = o->name;
	if (is_in_file && !is_type_fit(o, p->type) && !e->misfit)
		e->misfit = p;
	if (!is_lacking || !is_without(o))
		append_word(e->to, sizeof(e->to), " ", "%s=%s", o->name, o->value);
}

static struct erdma look_at_erdma(const struct node *n, const struct module_options *w)
{
	struct erdma e = { .module = node_module(n, ERDMA_MODULE) };
	const char *compat = module_options_value(w, ERDMA_MODULE, ERDMA_COMPAT);

	e.is_right = module_is_in_kernel(e.module);
	e.is_compat = compat && module_options_is_same("bool", compat, "Y");
	for (size_t i = 0; i < w->n_options; i++)
		if (streq(w->options[i].module, ERDMA_MODULE))
			look_at_option(&w->options[i], &e);
	return e;
}

/* Can the file be loaded after the unloading, in the new mode or in the one before? */
static bool is_way_back(const struct node *n, const struct module *m)
{
	return m->has_info && module_is_built_for(m, n->kernel);
}

/* Sets class and reason by the first obstacle to this mode that is to be dealt with. */
static void judge_erdma(const struct memory *memory, const struct erdma *e, struct plan *p,
			struct action *a)
{
	const struct node *n = p->graph.n;
	char users[ACTION_TEXT_LEN];
	const bool is_loaded = e->module->state == MODULE_LOADED;

	if (e->missing && n->is_dkms_building) {
		set_class(a, CLASS_WAITING, REASON_DKMS_BUILDING);
	} else if (e->missing) {
		set_class(a, CLASS_IMPOSSIBLE, REASON_PARAMETER_MISSING);
		a->detail =
			plan_text(p, "%.160s has no parameter %.64s",
				  e->module->path[0] ? e->module->path : ERDMA_MODULE, e->missing);
		if (streq(e->missing, ERDMA_PORTS)) /* the driver has the mode itself */
			a->advice =
				"Remove ReservePortsBase= from [Driver], or update the vendor's "
				"driver to one that has the parameter.";
	} else if (e->misfit) {
		set_class(a, CLASS_IMPOSSIBLE, REASON_MODULE_PARAMETER);
		a->detail = plan_text(p, "%s is of type %s", e->misfit->name, e->misfit->type);
		a->advice = plan_text(
			p,
			"\"modinfo " ERDMA_MODULE "\" shows it: this is no driver that is known "
			"here, where %s is %s. Install the vendor's driver for the running "
			"kernel, or set [Driver] Mode=keep.",
			e->misfit->name,
			streq(e->misfit->name, ERDMA_COMPAT) ? "of type bool" : "a number");
	} else if (e->module->state == MODULE_BUILTIN) {
		set_class(a, CLASS_NEEDS_REBOOT, REASON_DRIVER_BUILTIN);
		a->advice = plan_text(p,
				      "Set on the kernel command line, each with \"" ERDMA_MODULE
				      ".\" before it: %s; then reboot.",
				      e->to);
	} else if (is_loaded && !e->module->path[0]) { /* it would be gone for good */
		set_class(a, CLASS_IMPOSSIBLE, REASON_MODULE_MISSING);
	} else if (is_loaded && n->is_dkms_building && !is_way_back(n, e->module)) {
		set_class(a, CLASS_WAITING, REASON_DKMS_BUILDING);
	} else if (is_loaded && !e->module->has_info) {
		set_class(a, CLASS_IMPOSSIBLE, REASON_MODULE_UNREADABLE);
		a->detail = action_text(&p->texts, e->module->path);
	} else if (is_loaded && !module_is_built_for(e->module, n->kernel)) {
		set_class(a, CLASS_IMPOSSIBLE, REASON_MODULE_VERMAGIC);
		a->detail = plan_text(p, "%.160s is built for %.*s", e->module->path,
				      (int)strcspn(e->module->vermagic, " "), e->module->vermagic);
	} else if (is_loaded && e->module->is_blacklisted) {
		set_class(a, CLASS_REFUSED, REASON_MODULE_BLACKLISTED);
	} else if (is_loaded && node_forbids(n, ERDMA_MODULE)) {
		forbid(n, p, a);
	} else if (is_loaded &&
		   in_use_of_driver(&p->graph, memory, ERDMA_MODULE, users, sizeof(users))) {
		a->detail = action_text(&p->texts, users);
		set_class(a, CLASS_NEEDS_REBOOT, REASON_DRIVER_IN_USE);
	}
}

static void plan_erdma(const struct config *c, const struct node *n, const struct memory *memory,
		       struct plan *p, const struct module_options *w)
{
	const struct erdma e = look_at_erdma(n, w);
	struct action *a = NULL;

	if (!e.is_right) {
		a = module_is_in_kernel(e.module) ? plan_add(p, VERB_RELOAD_MODULE, ERDMA_MODULE)
						  : add_load(n, p, ERDMA_MODULE);
		COPY(a->text.from, e.from);
		COPY(a->text.to, e.to);
		/* A driver that cannot be loaded is not judged further, but its mode is wanted. */
		if (a->class == CLASS_CHANGE)
			judge_erdma(memory, &e, p, a);
	}

	if (e.is_compat && !e.missing)
		ports_hint_nodeport(c, p, ports_base(n, w, e.is_right));
	if (e.is_compat && a && a->class == CLASS_CHANGE)
		ports_hint_roce(n, p);
}

/*
 * --- whose options count ---
 *
 * A module that this service loads gets the service's options last, and they win. A module that
 * systemd-modules-load, udev or an initramfs loads gets those of modprobe.d and the kernel command
 * line, in kmod's order.
 */

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
	struct action *a = plan_add_reason(p, VERB_SET_OPTION, CLASS_REFUSED, o->module,
					   REASON_OPTION_CONFLICT);

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

static void plan_option(const struct node *n, struct plan *p, size_t i, const char *want)
{
	const struct option *o = &n->options[i];
	struct action *a = add_conflict(p, o);

	PRINT(a->text.from, "%.24s=%.20s", o->name, o->value);
	PRINT(a->text.to, "%.24s=%.20s", o->name, want);
	a->detail = plan_text(p, "%s%s", place_of(p, o),
			      is_overruled(n, i) ? ", overruled by a file of rdma-provision" : "");
}

/* An option in a file of ours that is not wanted any more still applies at the next load. */
static void hint_stale(struct plan *p, const struct option *o)
{
	plan_add_hint(p, REASON_OPTION_STALE, o->module, "%.24s%s%.20s, %s", o->name,
		      *o->value ? "=" : "", o->value, place_of(p, o));
}

void plan_options(const struct node *n, struct plan *p, const struct module_options *w,
		  bool refuses_smc)
{
	for (size_t i = 0; i < n->n_options; i++) {
		const struct option *o = &n->options[i];
		const char *want;

		if (module_options_is_own(o->file)) {
			if (!module_options_value(w, o->module, o->name))
				hint_stale(p, o);
			continue;
		}
		if (o->source == OPTION_LOAD) {
			struct action *a = NULL;

			if (!refuses_smc || !streq(o->module, SMC_MODULE))
				continue;
			a = add_conflict(p, o);
			a->detail = place_of(p, o);
			continue;
		}
		want = module_options_value(w, o->module, o->name);
		if (want && !module_options_is_same(type_of(o->name), o->value, want))
			plan_option(n, p, i, want);
	}
}

void plan_option_file(const struct option_file *f, struct plan *p)
{
	const enum verb verb = f->want ? VERB_WRITE_OPTIONS : VERB_REMOVE_OPTIONS;
	char target[256];

	if (f->have && f->want ? streq(f->have, f->want) : f->have == f->want)
		return;
	if (f->want && !p->options) {
		p->options = strdup(f->want);
		p->texts.is_short |= !p->options;
	}
	PRINT(target, "/%s", f->path);
	plan_add(p, verb, target);
}

/* --- the mode that is wanted --- */

/* A function that was bound to another driver on purpose gets no mode. */
static bool is_driven_by_erdma(const struct pci *pci)
{
	return pci_is_erdma(pci) && (!pci->driver[0] || streq(pci->driver, ERDMA_MODULE));
}

static void hint_kept(const struct config *c, const struct node *n, struct plan *p)
{
	const enum driver_mode alone = node_driver_mode_alone(c, n);
	const enum driver_mode kept = node_driver_mode(c, n);

	if (kept != alone)
		plan_add_hint(p, REASON_DRIVER_MODE_KEPT, ERDMA_MODULE,
			      "%s compat_mode=%c; else auto would be %s, compat_mode=%c",
			      module_is_in_kernel(node_module(n, ERDMA_MODULE))
				      ? "it is loaded with"
				      : "another file or the kernel command line has",
			      kept == DRIVER_MODE_COMPAT ? 'Y' : 'N', driver_mode_name(alone),
			      kept == DRIVER_MODE_COMPAT ? 'N' : 'Y');
}

/* Reports the stack of each driver once, however many functions it has. */
static void hint_stack(const struct node *n, struct plan *p, const struct pci *pci)
{
	const char *driver = pci_driver(pci);
	char evidence[256];
	enum stack stack;

	if (ANY(r, p->reasons, p->n_reasons,
		r->reason == REASON_NOT_OFED && streq(r->target, driver)))
		return;
	stack = stack_of(n, driver, evidence, sizeof(evidence));
	if (stack == STACK_KERNEL || stack == STACK_VENDOR)
		plan_add_hint(p, REASON_NOT_OFED, driver, "%s", evidence);
}

/*
 * Plans what the mode asks of the managed devices, which is nothing with keep; every mode wants the
 * modules of the RDMA character devices beside it. Return: does NvidiaPeermem=auto mean yes where
 * a GPU is?
 */
static bool plan_mode(const struct config *c, const struct node *n, const struct memory *memory,
		      struct plan *p)
{
	const enum driver_mode mode = node_driver_mode(c, n);
	const bool is_ofed = mode == DRIVER_MODE_OFED;
	bool has_erdma = false;
	struct module_options wanted;

	module_options_wanted(c, mode, &wanted);
	FOREACH(d, p->devices, p->n_devices) {
		has_erdma |= is_driven_by_erdma(d->pci);
		/* The driver must be of an OFED or DOCA stack; it is reported, not changed. A NIC
		 * without an RDMA device has no RDMA stack to report. */
		if (is_ofed && !pci_is_erdma(d->pci) && !d->is_vf && d->ibdev)
			hint_stack(n, p, d->pci);
	}

	if (has_erdma && mode != DRIVER_MODE_KEEP)
		plan_erdma(c, n, memory, p, &wanted);
	if (has_erdma)
		hint_kept(c, n, p);
	/* OFED's smc is not the one that smc-tools knows. */
	if (has_erdma && is_ofed && module_is_in_kernel(node_module(n, SMC_MODULE)))
		plan_add_hint(p, REASON_SMC_WITH_OFED, SMC_MODULE, NULL);
	plan_options(n, p, &wanted, has_erdma && is_ofed);
	return is_ofed && p->n_devices > 0;
}

/* The driver of a function that has none, or its part for RDMA; eRDMA's comes with its mode. */
static void want_driver(const struct config *c, const struct node *n, struct plan *p,
			const struct device *d)
{
	const struct rdma_part *part = rdma_part_of(d->pci->driver);

	if (vf_precheck_is_container(n, d->pci)) /* it loads modules of its own */
		return;
	if (part && !d->ibdev)
		return plan_want_module(n, p, part->module);
	if (d->pci->driver[0] || (c->driver.mode != DRIVER_MODE_KEEP && pci_is_erdma(d->pci)))
		return;
	if (d->pci->module[0])
		return plan_want_module(n, p, d->pci->module);
	if (!n->is_dkms_building) /* the module that is built may claim the function */
		return;
	plan_add_wait(p, STEP_DRIVER, CLASS_WAITING, d->pci->address, REASON_DKMS_BUILDING, NULL);
}

/* Is there a VF, or is one to be made, that has yet to get its GUIDs? */
static bool is_awaiting_guids(const struct node *n, const struct device *pf)
{
	if (pf->wanted_vfs != pf->pci->num_vfs)
		return true;
	for (uint32_t i = 0; i < pf->pci->num_vfs; i++) {
		const struct pci *vf = node_vf(n, pf->pci->address, i);
		const struct ibdev *ib = vf ? node_ibdev_of(n, vf->address) : NULL;

		if (vf && (!vf->driver[0] || (ib && guid_is_unset(ib->node_guid))))
			return true;
	}
	return false;
}

static void want_ipoib(const struct node *n, struct plan *p, const struct device *d)
{
	if (d->is_vf || !identity_lacks_ipoib(n, d) || !is_awaiting_guids(n, d))
		return;
	plan_want_module(n, p, IPOIB_MODULE);
}

/*
 * nvidia_peermem, with which GPUs register their memory for RDMA. Best effort: a failure is
 * reported and changes no state, for NCCL has dmabuf. It is tried late, when nvidia, ib_core and an
 * RDMA device are there, and again when a GPU or an RDMA device appears: their numbers are part of
 * the action, so that it is another one then. @is_wanted: what NvidiaPeermem=auto means here.
 */
static void plan_peermem(const struct config *c, const struct node *n, struct plan *p,
			 bool is_wanted)
{
	const struct module *m = node_module(n, PEERMEM_MODULE);
	const bool is_asked = c->driver.peermem == PEERMEM_YES;
	const size_t n_gpus = node_count_gpus(n);
	struct action *a;

	if (c->driver.peermem == PEERMEM_NO || (!is_asked && (!is_wanted || n_gpus == 0)) ||
	    module_is_in_kernel(m))
		return;
	if (!m || m->state == MODULE_MISSING || m->state == MODULE_BLACKLISTED) {
		if (!is_asked) /* it is optional */
			return;
		return plan_add_hint(p, m ? REASON_PEERMEM_FAILED : REASON_NOT_RECORDED,
				     PEERMEM_MODULE, "%s",
				     !m                               ? "whether it is installed"
				     : m->state == MODULE_BLACKLISTED ? "it is blacklisted"
								      : "it is not installed");
	}
	if (!module_is_in_kernel(node_module(n, NVIDIA_MODULE)) ||
	    !module_is_in_kernel(node_module(n, CORE_MODULE)) || n->n_ibdevs == 0)
		return;

	a = plan_add(p, VERB_LOAD_MODULE, PEERMEM_MODULE);
	PRINT(a->text.to, "for %zu GPUs, %zu RDMA devices", n_gpus, n->n_ibdevs);
}

void plan_driver(const struct config *c, const struct node *n, const struct memory *memory,
		 struct plan *p)
{
	static const char *const always[] = { "ib_uverbs", "rdma_ucm", "ib_umad" };
	bool wants_peermem;

	for (size_t i = 0; i < p->n_devices; i++)
		want_driver(c, n, p, &p->devices[i]);
	for (size_t i = 0; i < p->n_devices; i++)
		want_ipoib(n, p, &p->devices[i]);

	wants_peermem = plan_mode(c, n, memory, p);
	if (p->n_devices == 0)
		return;

	for (size_t i = 0; i < ELEMENTSOF(always); i++)
		plan_want_module(n, p, always[i]);
	plan_peermem(c, n, p, wants_peermem);
}

/* Only a boot can change the mode of the RDMA subsystem once there is another network namespace. */
void plan_netns(const struct config *c, const struct node *n, const struct memory *memory _unused_,
		struct plan *p)
{
	char names[ACTION_TEXT_LEN] = "";
	struct action *a;

	/* Before there is an RDMA subsystem, the option that "early" wrote decides. */
	if (c->rdma.netns_mode == NETNS_MODE_KEEP || n->netns_mode == NETNS_MODE_KEEP ||
	    c->rdma.netns_mode == n->netns_mode)
		return;

	a = plan_add(p, VERB_SET_NETNS_MODE, "");
	/* Any namespace but the first one forbids it, also an empty one, and in both directions:
	 * rdma_compatdev_set() in drivers/infiniband/core/device.c. Namespaces without a name are
	 * not seen: then the kernel refuses. */
	if (n->n_netnses > 0) {
		a->class = CLASS_NEEDS_REBOOT;
		a->reason = REASON_NETNS_BUSY;
	}
	for (size_t i = 0; i < n->n_netnses; i++)
		in_use_append(names, sizeof(names), "%s", n->netnses[i].name);
	a->detail = action_text(&p->texts, names);
	action_set(a, netns_mode_name(n->netns_mode), netns_mode_name(c->rdma.netns_mode));
}

/*
 * --- a card whose firmware came up after its driver's probe gave up is probed again ---
 *
 * The host of a BlueField may boot faster than the card. mlx5 waits 120 s for its firmware and then
 * fails (FW_PRE_INIT_TIMEOUT_MILI in drivers/net/ethernet/mellanox/mlx5/core/main.c) with an error
 * that the kernel does not try again, and no event tells that the firmware is up.
 */

/*
 * Did the probe of its driver fail? The kernel's log says so: "probe with driver mlx5_core failed
 * with error" of call_driver_probe() in drivers/base/dd.c, or before 6.4 "probe of 0000:41:00.0
 * failed with error"; "mlx5_init_one failed with error code" of probe_one() in mlx5. One without
 * such a line, or that had a driver before, was unbound on purpose, and one with an override is
 * meant for another driver. While a probe goes on the link to the driver is there: really_probe().
 */
static bool is_late(const struct node *n, const struct memory *memory, const struct device *d)
{
	const struct device_memory *m = memory_device(memory, d->pci->address);

	return !d->is_vf && !d->pci->driver[0] && !d->pci->driver_override[0] &&
	       streq(d->pci->module, LATE_MODULE) &&
	       module_is_in_kernel(node_module(n, LATE_MODULE)) &&
	       ANY(l, n->log_lines, n->n_log_lines,
		   streq(l->pci, d->pci->address) && strstr(l->text, LOG_PROBE_FAILED)) &&
	       !(m && (m->netdev[0] || m->ibdev[0] || m->was_usable));
}

/* CLOCK_MONOTONIC from which on it may be probed; 0: it was not, of late. */
static uint64_t not_before(const struct node *n, const struct memory *memory, const struct pci *pci)
{
	const struct attempt *last = FIND(
		t, memory->attempts, memory->n_attempts,
		t->result == 0 && t->verb == VERB_PROBE_DRIVER && streq(t->target, pci->address) &&
			n->now_usec >= t->last_usec && n->now_usec - t->last_usec < PAUSE_USEC);

	return last ? last->last_usec + PAUSE_USEC : 0;
}

static void want_probe(const struct node *n, const struct memory *memory, struct plan *p,
		       const struct device *d)
{
	const uint64_t when = not_before(n, memory, d->pci);
	struct action *a;

	if (when > 0 && (p->again_usec == 0 || when < p->again_usec))
		p->again_usec = when;
	if (when > 0 ||
	    attempts_find_begun(p->tried, VERB_PROBE_DRIVER, d->pci->address, d->pci->module))
		return;

	a = plan_add(p, VERB_PROBE_DRIVER, d->pci->address);
	COPY(a->text.to, d->pci->module);
}

/* A probe may take its two minutes: all else of a pass goes before. */
void plan_late(const struct config *c _unused_, const struct node *n, const struct memory *memory,
	       struct plan *p)
{
	const bool is_last = !plan_has_open_changes(p);

	for (size_t i = 0; i < p->n_devices && is_last && !memory->stuck[0]; i++)
		if (is_late(n, memory, &p->devices[i]))
			want_probe(n, memory, p, &p->devices[i]);
}
