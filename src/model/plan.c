/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "wanted.h"

#include <stdarg.h>

void lint_done(struct lint *l)
{
	free(l->exposed);
	free(l->findings);
	*l = (struct lint){};
}

void plan_done(struct plan *p)
{
	free(p->actions);
	free(p->items);
	free(p->carriers);
	free(p->checks);
	free(p->node_nics);
	free(p->devices);
	free(p->options);
	free(p->rules);
	free(p->plugin);
	free(p->manifest);
	lint_done(&p->lint);
	for (size_t i = 0; i < _OUTPUT_N; i++)
		free(p->outputs[i].text);
	free(p->reasons);
	free(p->health);
	*p = (struct plan){};
}

struct action *plan_add(struct plan *p, enum step step, enum verb verb, enum class class,
			const char *target)
{
	struct action *a = APPEND(p->actions, p->n_actions);

	if (!a)
		return NULL;
	a->step = step;
	a->verb = verb;
	a->class = class;
	COPY(a->target, target);
	return a;
}

struct item *plan_add_item(struct plan *p, struct action *a)
{
	a->item = p->n_items;
	return APPEND(p->items, p->n_items);
}

struct action *plan_add_reason(struct plan *p, enum step step, enum verb verb, enum class class,
			       const char *target, enum reason reason)
{
	struct action *a = plan_add(p, step, verb, class, target);

	if (a)
		a->reason = reason;
	return a;
}

int plan_add_hint(struct plan *p, enum reason reason, const char *target, const char *detail)
{
	__typeof__(p->reasons) hint = APPEND(p->reasons, p->n_reasons);

	if (!hint)
		return -ENOMEM;
	hint->reason = reason;
	COPY(hint->target, target);
	COPY(hint->detail, detail);
	return 0;
}

int plan_add_health(struct plan *p, enum reason reason, const char *target, const char *format, ...)
{
	struct health_hint *hint = APPEND(p->health, p->n_health);
	va_list ap;

	if (!hint)
		return -ENOMEM;
	hint->reason = reason;
	COPY(hint->target, target);
	va_start(ap, format);
	vsnprintf(hint->detail, sizeof(hint->detail), format, ap);
	va_end(ap);
	return 0;
}

bool is_open_change(const struct action *a)
{
	return a->class == CLASS_CHANGE && !a->is_done;
}

bool is_same_change(const struct action *a, const struct action *b)
{
	return a->verb == b->verb && a->ifindex == b->ifindex && streq(a->target, b->target) &&
	       streq(a->to, b->to) && streq(a->subject, b->subject);
}

bool has_open_changes(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (is_open_change(&p->actions[i]))
			return true;
	return false;
}

bool is_destructive(const struct action *a)
{
	switch (a->verb) {
	case VERB_RELOAD_MODULE:
	case VERB_REBIND_DRIVER:
		return true;
	case VERB_SET_NUM_VFS:
		return !streq(a->from, "0");
	default:
		return false;
	}
}

bool is_best_effort(const struct action *a)
{
	return (a->verb == VERB_LOAD_MODULE && streq(a->target, PEERMEM_MODULE)) ||
	       is_output(a->verb);
}

bool is_file_for_others(enum verb v)
{
	return is_output(v) || v == VERB_WRITE_PLUGIN || v == VERB_REMOVE_PLUGIN ||
	       v == VERB_WRITE_MANIFEST || v == VERB_REMOVE_MANIFEST;
}

bool is_output(enum verb v)
{
	return v == VERB_WRITE_OUTPUT || v == VERB_REMOVE_OUTPUT;
}

static int compare_device(const void *key, const void *element)
{
	const struct pci *a = key, *b = ((const struct device *)element)->pci;
	int r = strcmp(a->physfn[0] ? a->physfn : a->address,
		       b->physfn[0] ? b->physfn : b->address);

	if (r == 0)
		r = (a->physfn[0] != '\0') - (b->physfn[0] != '\0');
	return r ? r : (a->vf_index > b->vf_index) - (a->vf_index < b->vf_index);
}

const struct device *plan_device(const struct plan *p, const struct pci *pci)
{
	return p->n_devices > 0
		       ? bsearch(pci, p->devices, p->n_devices, sizeof(*p->devices), compare_device)
		       : NULL;
}

bool has_lost_devices(const struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].is_lost)
			return true;
	return p->n_gone > 0;
}

bool has_needed_changes(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (is_open_change(&p->actions[i]) && !is_best_effort(&p->actions[i]))
			return true;
	return false;
}

bool needs_users(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];
		const bool is_of_others = is_destructive(a) || a->verb == VERB_SET_NETNS_MODE;

		if (is_open_change(a) && (is_of_others || (a->verb == VERB_LOAD_MODULE &&
							   streq(a->target, ERDMA_MODULE))))
			return true;
		/* Who is there, or who came in between: to be named. */
		if (is_of_others &&
		    (a->class == CLASS_NEEDS_REBOOT || (a->is_done && a->result == -EBUSY)))
			return true;
	}
	return false;
}

bool needs_manager(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++)
		if (p->actions[i].step == STEP_KUBELET)
			return true;
	return false;
}

const struct action *plan_stuck(const struct plan *p)
{
	for (size_t i = p->n_actions; i > 0; i--) {
		const struct action *a = &p->actions[i - 1];

		if (a->verb == VERB_SET_NUM_VFS && a->is_done && a->result == -ETIMEDOUT)
			return a;
	}
	return NULL;
}

bool is_bad_bind(const struct action *a)
{
	if ((a->verb != VERB_BIND_DRIVER && a->verb != VERB_REBIND_DRIVER) || !a->is_done)
		return false;
	return a->took_usec > SLOW_BIND_USEC || (a->result < 0 && a->result != -EBUSY);
}

/* Did this action end the VFs of that PF? What an earlier pass tried is known without a "from". */
static bool has_ended_vfs(const struct action *a, const struct pci *pf)
{
	if (!a->is_done)
		return false;
	if (a->verb == VERB_RELOAD_MODULE)
		return a->result >= 0 && streq(a->target, pf->driver);
	return a->verb == VERB_SET_NUM_VFS && a->from[0] && streq(a->target, pf->address) &&
	       (a->result >= 0 || a->result == -EREMOTEIO || a->result == -ETIMEDOUT);
}

static bool is_of_ended_vf(const struct plan *tried, const struct node *n, const struct memory *m)
{
	const struct pci *vf = node_pci(n, m->pci);
	const struct pci *pf = vf ? node_pci(n, vf->physfn) : NULL;

	for (size_t i = 0; i < tried->n_actions && pf; i++)
		if (has_ended_vfs(&tried->actions[i], pf))
			return true;
	return false;
}

void plan_forget_ended(const struct plan *tried, struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_memories; i++)
		if (!is_of_ended_vf(tried, n, &n->memories[i]))
			n->memories[kept++] = n->memories[i];
	n->n_memories = kept;
}

NAMES(step_name, enum step, _STEP_N,
      { [STEP_DRIVER] = "driver",
	[STEP_NETNS] = "netns",
	[STEP_VF] = "vf",
	[STEP_LINK] = "link",
	[STEP_ROUTE] = "route",
	[STEP_SMC] = "smc",
	[STEP_KUBELET] = "kubelet",
	[STEP_PLUGIN] = "plugin",
	[STEP_OUTPUT] = "output" });

NAMES(class_name, enum class, _CLASS_N,
      { [CLASS_CHANGE] = "change",
	[CLASS_REFUSED] = "refused",
	[CLASS_WAITING] = "waiting",
	[CLASS_NEEDS_REBOOT] = "needs-reboot",
	[CLASS_IMPOSSIBLE] = "impossible" });

static const struct {
	const char *name;
	bool is_numeric;
	bool can_crash;
} verbs[] = {
	[VERB_WAIT] = { "wait", false },
	[VERB_LOAD_MODULE] = { "load-module", false, true },
	[VERB_RELOAD_MODULE] = { "reload-module", false, true },
	[VERB_WRITE_OPTIONS] = { "write-options", false },
	[VERB_REMOVE_OPTIONS] = { "remove-options", false },
	[VERB_SET_OPTION] = { "set-option", false },
	[VERB_BIND_DRIVER] = { "bind-driver", false, true },
	[VERB_PROBE_DRIVER] = { "probe-driver", false, true },
	[VERB_SET_NETNS_MODE] = { "set-netns-mode", false, true },
	[VERB_SET_NUM_VFS] = { "set-num-vfs", true, true },
	[VERB_WRITE_RULES] = { "write-rules", false },
	[VERB_SET_AUTOPROBE] = { "set-autoprobe", true },
	[VERB_SET_VF_MAC] = { "set-vf-mac", false },
	[VERB_SET_VF_GUID] = { "set-vf-guid", false },
	[VERB_SET_VF_TRUST] = { "set-vf-trust", true },
	[VERB_SET_VF_LINK] = { "set-vf-link", false },
	[VERB_REBIND_DRIVER] = { "rebind-driver", false, true },
	[VERB_SET_LINK_UP] = { "set-link-up", false },
	[VERB_SET_MTU] = { "set-mtu", true },
	[VERB_SET_SYSCTL] = { "set-sysctl", true },
	[VERB_ADD_ADDRESS] = { "add-address", false },
	[VERB_REMOVE_ADDRESS] = { "remove-address", false },
	[VERB_SET_METRIC] = { "set-metric", true },
	[VERB_SET_ROUTE] = { "set-route", false },
	[VERB_REMOVE_ROUTE] = { "remove-route", false },
	[VERB_ADD_RULE] = { "add-rule", false },
	[VERB_REMOVE_RULE] = { "remove-rule", false },
	[VERB_KEEP_NEIGHBOUR] = { "keep-neighbour", false },
	[VERB_PROBE_NEIGHBOUR] = { "probe-neighbour", false },
	[VERB_REMOVE_NEIGHBOUR] = { "remove-neighbour", false },
	[VERB_ASK_METADATA] = { "ask-metadata", false },
	[VERB_SET_PNETID] = { "set-pnetid", false },
	[VERB_ENSURE_KUBELET] = { "ensure-kubelet", false },
	[VERB_RELOAD_UNITS] = { "reload-units", false },
	[VERB_WRITE_PLUGIN] = { "write-plugin", false },
	[VERB_REMOVE_PLUGIN] = { "remove-plugin", false },
	[VERB_WRITE_MANIFEST] = { "write-manifest", false },
	[VERB_REMOVE_MANIFEST] = { "remove-manifest", false },
	[VERB_WRITE_OUTPUT] = { "write-output", false },
	[VERB_REMOVE_OUTPUT] = { "remove-output", false },
};
_Static_assert(ELEMENTSOF(verbs) == _VERB_N, "a line for every verb");

const char *verb_name(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) ? verbs[v].name : "";
}

enum verb verb_from_name(const char *name)
{
	enum verb v = 0;

	while (v < _VERB_N && !streq(name, verb_name(v)))
		v++;
	return v;
}

bool is_numeric(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) && verbs[v].is_numeric;
}

bool can_crash(enum verb v)
{
	return (size_t)v < ELEMENTSOF(verbs) && verbs[v].can_crash;
}

NAMES(node_state_name, enum node_state, _NODE_STATE_N,
      { [NODE_STARTING] = "starting", [NODE_READY] = "ready", [NODE_DEGRADED] = "degraded" });

NAMES(driver_mode_name, enum driver_mode, _DRIVER_MODE_N,
      { [DRIVER_MODE_KEEP] = "keep",
	[DRIVER_MODE_AUTO] = "auto",
	[DRIVER_MODE_DEFAULT] = "default",
	[DRIVER_MODE_COMPAT] = "compat",
	[DRIVER_MODE_OFED] = "ofed" });

NAMES(peermem_mode_name, enum peermem_mode, _PEERMEM_N,
      { [PEERMEM_AUTO] = "auto", [PEERMEM_YES] = "yes", [PEERMEM_NO] = "no" });

NAMES(trust_name, enum trust, _TRUST_N,
      { [TRUST_KEEP] = "keep", [TRUST_OFF] = "no", [TRUST_ON] = "yes" });

NAMES(identity_name, enum identity, _IDENTITY_N,
      { [IDENTITY_DERIVED] = "derived", [IDENTITY_KEEP] = "keep" });

NAMES(vf_mode_name, enum vf_mode, _VF_MODE_N,
      { [VF_MODE_KEEP] = "keep",
	[VF_MODE_EXCLUSIVE] = "exclusive",
	[VF_MODE_SHARED] = "shared",
	[VF_MODE_SHARED_MULTI] = "shared-multi" });

NAMES(netns_mode_name, enum netns_mode, _NETNS_MODE_N,
      { [NETNS_MODE_KEEP] = "keep",
	[NETNS_MODE_SHARED] = "shared",
	[NETNS_MODE_EXCLUSIVE] = "exclusive" });

NAMES(policy_rules_name, enum policy_rules, _POLICY_RULES_N,
      { [POLICY_RULES_AUTO] = "auto", [POLICY_RULES_YES] = "yes", [POLICY_RULES_NO] = "no" });

NAMES(address_mode_name, enum address_mode, _ADDRESS_MODE_N,
      { [ADDRESS_EXISTING] = "existing",
	[ADDRESS_METADATA] = "metadata",
	[ADDRESS_STATIC] = "static" });

NAMES(ipv6_mode_name, enum ipv6_mode, _IPV6_MODE_N, { [IPV6_NO] = "no", [IPV6_RA] = "ra" });

NAMES(smc_mode_name, enum smc_mode, _SMC_N,
      { [SMC_NO] = "no", [SMC_AUTO] = "auto", [SMC_YES] = "yes" });

NAMES(pnetid_mode_name, enum pnetid_mode, _PNETID_N, { [PNETID_AUTO] = "auto" });

const char *topology_policy_name(enum topology_policy p)
{
	return kubelet_word(KUBELET_TOPOLOGY_POLICY, p);
}

const char *topology_scope_name(enum topology_scope s)
{
	return kubelet_word(KUBELET_TOPOLOGY_SCOPE, s);
}

const char *cpu_policy_name(enum cpu_policy p)
{
	return kubelet_word(KUBELET_CPU_POLICY, p);
}

NAMES(gate_mode_name, enum gate_mode, _GATE_N,
      { [GATE_OFF] = "off", [GATE_DEGRADED] = "degraded", [GATE_STRICT] = "strict" });

NAMES(plugin_type_name, enum plugin_type, _PLUGIN_N,
      { [PLUGIN_NONE] = "none",
	[PLUGIN_RDMA_SHARED] = "rdma-shared",
	[PLUGIN_SRIOV] = "sriov",
	[PLUGIN_HCA] = "hca" });

/* What the kernel's answer to loading a module means: finit_module(2), kernel/module/main.c. */
static enum reason load_failure(const struct action *a)
{
	static const struct {
		int error;
		enum reason reason;
	} failures[] = {
		{ ENOEXEC, REASON_MODULE_VERMAGIC },
		{ ENOENT, REASON_MODULE_SYMBOL }, /* the file is there, or it is ENOPKG */
		{ ENOPKG, REASON_MODULE_MISSING },
		{ ESTALE, REASON_MODULE_REBUILT }, /* of apply/ */
		{ EKEYREJECTED, REASON_MODULE_SIGNATURE },
		{ ENOKEY, REASON_MODULE_SIGNATURE },
		{ EBADMSG, REASON_MODULE_SIGNATURE },
		{ EPERM, REASON_MODULE_FORBIDDEN },
		{ EINVAL, REASON_MODULE_PARAMETER },
		{ ENODEV, REASON_MODULE_NO_DEVICE },
		{ EADDRINUSE, REASON_MODULE_PORT_TAKEN },
		{ EPROTO, REASON_PARAMETER_MISMATCH }, /* of apply/: what was read back differs */
	};

	if (is_best_effort(a))
		return REASON_PEERMEM_FAILED;
	if (a->result == -EBUSY && a->verb == VERB_RELOAD_MODULE)
		return REASON_DRIVER_IN_USE;
	for (size_t i = 0; i < ELEMENTSOF(failures); i++)
		if (-a->result == failures[i].error)
			return failures[i].reason;
	return REASON_ACTION_FAILED;
}

uint32_t unsupported_setting(const struct action *a)
{
	return a->is_done && a->result == -EOPNOTSUPP ? vf_setting_of(a->verb) : 0;
}

uint32_t vf_setting_of(enum verb v)
{
	switch (v) {
	case VERB_SET_VF_MAC:
		return VF_SETTING_MAC;
	case VERB_SET_VF_GUID:
		return VF_SETTING_GUID;
	case VERB_SET_VF_TRUST:
		return VF_SETTING_TRUST;
	case VERB_SET_VF_LINK:
		return VF_SETTING_LINK;
	case VERB_SET_MTU:
		return VF_SETTING_MTU;
	default:
		return 0;
	}
}

/* What the kernel's answer means: sriov_numvfs_store() and sriov_enable() in drivers/pci/iov.c. */
static const struct {
	enum verb verb;
	int error;
	enum reason reason;
} failures[] = {
	{ VERB_SET_NUM_VFS, ERANGE, REASON_TOO_MANY_VFS },
	{ VERB_SET_NUM_VFS, EBUSY, REASON_VF_BUSY },
	{ VERB_SET_NUM_VFS, ENOENT, REASON_VF_DRIVER },
	{ VERB_SET_NUM_VFS, EINVAL, REASON_VF_REJECTED },
	{ VERB_SET_NUM_VFS, ENOMEM, REASON_VF_NO_ROOM },
	{ VERB_SET_NUM_VFS, EIO, REASON_VF_FIRMWARE },
	{ VERB_SET_NUM_VFS, EREMOTEIO, REASON_VF_FIRMWARE }, /* ours: fewer than asked for */
	{ VERB_SET_NUM_VFS, EPERM, REASON_VF_ASSIGNED },
	{ VERB_SET_NETNS_MODE, EBUSY, REASON_NETNS_BUSY },
	{ VERB_SET_ROUTE, EEXIST, REASON_ROUTE_FOREIGN },
	{ VERB_ASK_METADATA, EAGAIN, REASON_METADATA_WAITING },
	{ VERB_ASK_METADATA, EBADMSG, REASON_METADATA_REFUSED },
	{ VERB_WRITE_OUTPUT, ENOENT, REASON_OUTPUT_NO_FOLDER },
	{ VERB_WRITE_OUTPUT, EEXIST, REASON_OUTPUT_FOREIGN }, /* of apply/: it came in between */
};

/* What the kernel's answer to writing or removing a file for others means. */
static enum reason file_failure(const struct action *a)
{
	static const struct {
		int error;
		enum reason reason;
	} answers[] = {
		{ EROFS, REASON_OUTPUT_READ_ONLY }, { EACCES, REASON_OUTPUT_READ_ONLY },
		{ EPERM, REASON_OUTPUT_READ_ONLY }, /* chattr +i */
		{ ENOSPC, REASON_OUTPUT_FULL },     { EDQUOT, REASON_OUTPUT_FULL },
		{ ELOOP, REASON_OUTPUT_LINK },
	};

	for (size_t i = 0; i < ELEMENTSOF(answers); i++)
		if (-a->result == answers[i].error)
			return answers[i].reason;
	return REASON_ACTION_FAILED;
}

static enum reason failure(const struct action *a)
{
	if (!a->is_done || a->result >= 0)
		return REASON_NONE;
	if (a->result == -ETIMEDOUT)
		return REASON_ACTION_TIMEOUT;
	for (size_t i = 0; i < ELEMENTSOF(failures); i++)
		if (failures[i].verb == a->verb && failures[i].error == -a->result)
			return failures[i].reason;
	if (a->verb == VERB_LOAD_MODULE || a->verb == VERB_RELOAD_MODULE)
		return load_failure(a);
	return is_file_for_others(a->verb) ? file_failure(a) : REASON_ACTION_FAILED;
}

enum reason action_failure(const struct action *a)
{
	const enum reason reason = failure(a);

	/* No kernel said that: it is no answer to be looked up. */
	return reason != REASON_NONE && a->is_vain ? REASON_NO_EFFECT : reason;
}

const char *action_advice(const struct action *a)
{
	return a->advice[0] ? a->advice : reason_advice(a->reason);
}

const char *device_advice(const struct device *d)
{
	return d->advice ? d->advice : reason_advice(d->reason);
}
