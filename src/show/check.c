/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "../base/document.h"
#include "../guard/vf-precheck-rules.h"
#include "../plugin/lint-rules.h"
#include "../plugin/plugin-output.h"
#include "sheet.h"
#include "state.h"

static int make_problem(const struct config *c, enum reason reason, const char *detail,
			const char *advice, char **ret)
{
	return asprintf(ret, "[DevicePlugin] Type=%s: %s%s%s. %s", plugin_type_name(c->plugin.type),
			reason_meaning(reason), *detail ? ": " : "", detail,
			*advice ? advice : reason_advice(reason)) < 0
		       ? -ENOMEM
		       : 0;
}

int output_check_plugin(const struct config *c, const struct plan *p, char **ret)
{
	char detail[128];
	enum reason reason;

	*ret = NULL;
	if (c->plugin.type == PLUGIN_NONE)
		return 0;

	reason = output_lint_config(c, detail, sizeof(detail));
	if (reason != REASON_NONE)
		return make_problem(c, reason, detail, "", ret);

	if (!p)
		return 0;
	/* In the mode that was asked for, but never usable with this plugin. */
	FOREACH(d, p->devices, c->plugin.type == PLUGIN_RDMA_SHARED ? p->n_devices : 0)
		if (d->is_handed_out && d->reason == REASON_PLUGIN_NO_MAD)
			return make_problem(c, d->reason, d->pci->address, device_advice(d), ret);
	return p->lint.refusal == REASON_NONE
		       ? 0
		       : make_problem(c, p->lint.refusal, p->lint.detail, "", ret);
}

static bool is_unknown(const struct plan *p)
{
	return ANY(a, p->actions, p->n_actions, a->reason == REASON_NOT_RECORDED) ||
	       ANY(d, p->devices, p->n_devices, d->need && d->need->why == NEED_NOT_RECORDED);
}

int output_check_kubelet(const struct config *c, const struct plan *p, char **ret)
{
	const struct action *a =
		FIND(it, p->actions, p->n_actions,
		     it->verb == VERB_ENSURE_KUBELET && it->class == CLASS_REFUSED);
	const struct diagnostic *h = FIND(it, p->reasons, p->n_reasons,
					  it->reason == REASON_KUBELET_NUMA_NODES ||
						  it->reason == REASON_KUBELET_WOULD_EXIT);
	const enum reason reason = a ? a->reason : h ? h->reason : REASON_NONE;

	*ret = NULL;
	if (reason == REASON_NONE || !config_has_kubelet_policy(c))
		return 0;
	return asprintf(ret, "[Kubelet] %s: %s. %s", reason_meaning(reason),
			a ? a->detail : h->detail, reason_advice(reason)) < 0
		       ? -ENOMEM
		       : 0;
}

static const char *pf_of(const struct device *d)
{
	return d->is_vf ? d->pci->physfn : d->pci->address;
}

/* Is it the driver of this function, or the driver's part for RDMA? */
static bool is_driver_of(const struct device *d, const char *module)
{
	const char *driver = pci_driver(d->pci);
	const struct rdma_part *part = rdma_part_of(driver);

	return streq(module, driver) || (part && streq(module, part->module)) ||
	       (pci_is_erdma(d->pci) && streq(module, ERDMA_MODULE));
}

/* Does it load a module that this device needs? All need one that is no driver of a NIC. */
static bool is_load_for(const struct plan *p, const struct device *d, const struct action *a)
{
	return (a->verb == VERB_LOAD_MODULE || a->verb == VERB_RELOAD_MODULE) &&
	       a->step == STEP_DRIVER && !action_is_best_effort(a) &&
	       (is_driver_of(d, a->target) ||
		!ANY(other, p->devices, p->n_devices, is_driver_of(other, a->target)));
}

/* Does the plan change the VFs of its PF, or a step of it what they wait for? */
static bool changes_vfs(const struct plan *p, const struct device *d)
{
	const struct action *vfs = plan_num_vfs(p, pf_of(d));

	if (!vfs || vfs->class != CLASS_WAITING)
		return vfs && vfs->class == CLASS_CHANGE;
	switch (vfs->reason) {
	case REASON_DRIVER_CONTAINER:
		return true;
	case REASON_NO_DRIVER:
	case REASON_NO_IPOIB:
	case REASON_PF_DOWN:
		return ANY(a, p->actions, p->n_actions,
			   a->class == CLASS_CHANGE &&
				   (is_load_for(p, d, a) || ((a->verb == VERB_SET_LINK_UP ||
							      a->verb == VERB_PROBE_DRIVER) &&
							     streq(a->target, pf_of(d)))));
	default:
		return false;
	}
}

/* Finds why the VFs that the plan makes of this PF do not count; REASON_NONE: they do. */
static enum reason find_void(const struct plan *p, const struct device *d)
{
	if (d->is_vf || d->wanted_vfs == 0 || !changes_vfs(p, d))
		return REASON_NONE;
	if (vf_precheck_has_autoprobe_off(d->pci))
		return REASON_AUTOPROBE_OFF;
	return d->vf_rdma == VF_RDMA_UNKNOWN ? REASON_VF_RDMA_UNKNOWN : REASON_NONE;
}

/* First what is handed out and not usable, or left to the host, then what the plugin drops; the
 * finding of one that is exposed all the same says why it should not be. */
static json_t *make_excluded(const struct config *c, const struct plan *p)
{
	json_auto_t *list = json_array();
	char detail[448];

	FOREACH(d, p->devices, p->n_devices) {
		json_t *item;

		if (d->aside != REASON_NONE && !output_plugin_exposes(p, d)) {
			plan_describe_aside(p, d, detail, sizeof(detail));
			item = output_reason(d->aside, d->pci->address, detail, NULL);
		} else if (find_void(p, d) != REASON_NONE) {
			item = output_reason(find_void(p, d), d->pci->address, "", NULL);
		} else if (d->is_handed_out && !output_plugin_offers(d) &&
			   !output_plugin_exposes(p, d)) {
			item = output_reason(output_plugin_reason(d), d->pci->address, d->detail,
					     d->is_usable ? NULL : device_advice(d));
		} else if (output_plugin_offers(d) && plugin_has_file(c->plugin.type) &&
			   !p->plugin) { /* then nothing found it */
			item = output_reason(REASON_PLUGIN_NOT_SELECTED, d->pci->address, "", NULL);
		} else {
			continue;
		}
		if (json_array_append_new(list, item) < 0)
			return NULL;
	}
	FOREACH(f, p->lint.findings, p->lint.n_findings)
		if (json_array_append_new(list,
					  output_reason(f->reason, f->target, f->detail, NULL)) < 0)
			return NULL;
	return TAKE(list);
}

const json_t *output_check_first(const json_t *excluded)
{
	document_each(x, excluded)
		if (!streq(document_get_text(x, "code"), reason_code(REASON_PLUGIN_FOREIGN)))
			return x;
	return NULL;
}

/* Expect=0 says that no NIC is needed. */
int output_check_exposed(const struct config *c, const struct plan *p, char **ret)
{
	_cleanup_(forecast_done) struct forecast f = {};
	const bool is_asked = c->n_devices == 0 || ANY(d, c->devices, c->n_devices, d->expect > 0);
	json_auto_t *excluded = NULL;
	const json_t *first;
	enum reason reason;
	size_t n = 0;
	int r;

	*ret = NULL;
	r = forecast_make(c, p, &f);
	for (size_t i = 0; i < f.n_pools; i++)
		n += f.pools[i].n_after;
	if (r < 0 || n > 0 || !is_asked || c->plugin.type == PLUGIN_NONE)
		return r;
	excluded = make_excluded(c, p);
	if (!excluded)
		return -ENOMEM;
	first = is_unknown(p) ? NULL : output_check_first(excluded);
	reason = first              ? reason_from_code(document_get_text(first, "code"))
		 : is_unknown(p)    ? REASON_NOT_RECORDED
		 : p->n_devices > 0 ? REASON_PLUGIN_EMPTY
				    : REASON_NO_DEVICES;
	return make_problem(c, reason, document_get_text(first, "target"),
			    document_get_text(first, "advice"), ret);
}

json_t *output_check_make_plugin(const struct config *c, const struct plan *p)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "type", plugin_type_name(c->plugin.type), "path",
			 plugin_has_file(c->plugin.type) || c->plugin.type == PLUGIN_NONE
				 ? c->plugin.config_file
				 : "",
			 "devices",
			 document_list(e, p->lint.exposed, p->lint.n_exposed, !e->is_foreign,
				       json_pack("{s:o, s:o}", "pci", document_text(e->pci),
						 "resource", document_text(e->resource))),
			 "excluded", make_excluded(c, p));
}

static json_t *make_pool(const struct config *c, const struct forecast_pool *pool)
{
	json_auto_t *item =
		output_plugin_resource_item(c, pool->resource, pool->n_after, pool->n_infiniband);

	if (document_add_number(item, "devices_now", (int64_t)pool->n_now) < 0 ||
	    (pool->n_down > 0 &&
	     document_add_number(item, "ports_down", (int64_t)pool->n_down) < 0))
		return NULL;
	return TAKE(item);
}

static json_t *make_pools(const struct config *c, const struct plan *p)
{
	_cleanup_(forecast_done) struct forecast f = {};

	if (forecast_make(c, p, &f) < 0)
		return NULL;
	return document_list(pool, f.pools, f.n_pools, true, make_pool(c, pool));
}

int output_check(const char *const *problems, size_t n_problems, const struct config *c,
		 const struct plan *p, char **ret)
{
	json_auto_t *document =
		json_pack("{s:b, s:o}", "valid", n_problems == 0, "problems",
			  document_list(text, problems, n_problems, true, document_text(*text)));

	if (document && p && c->plugin.type != PLUGIN_NONE &&
	    (json_object_set_new(document, "plugin", output_check_make_plugin(c, p)) < 0 ||
	     json_object_set_new(json_object_get(document, "plugin"), "resources",
				 make_pools(c, p)) < 0))
		return -ENOMEM;
	return document ? document_print(document, ret) : -ENOMEM;
}

static void print_none(struct sheet *s, const struct plan *p)
{
	size_t n_out = 0, n_usable = 0;

	for (size_t i = 0; i < p->n_devices; i++) {
		n_out += p->devices[i].is_handed_out;
		n_usable += output_plugin_offers(&p->devices[i]);
	}
	sheet_line(s, "No device plugin of ours (Type=none): %zu of %zu devices usable now",
		   n_usable, n_out);
}

static void print_head(struct sheet *s, const struct config *c, const struct plan *p,
		       const json_t *pools)
{
	const bool has_file = plugin_has_file(c->plugin.type);
	const bool is_open = p->lint.refusal == REASON_NONE && json_array_size(pools) == 0;
	const char *what = has_file ? c->plugin.config_file : "it";

	sheet_add(s, "%s %s: ", has_file ? "Device plugin" : "DRA driver",
		  plugin_type_name(c->plugin.type));
	if (is_open && is_unknown(p))
		sheet_add(s, "not known, since the tree below --root= is a part");
	else if (is_open &&
		 ANY(d, p->devices, p->n_devices, find_void(p, d) == REASON_VF_RDMA_UNKNOWN))
		sheet_add(s, "not known, since new VFs may have no RDMA");
	else if (p->n_devices == 0)
		sheet_add(s, "no [Device NAME] section matches a device of this node");
	else if (p->lint.refusal != REASON_NONE)
		sheet_add(s, "%s would expose nothing", what);
	else
		sheet_add(s, "%s would expose%s", what,
			  json_array_size(pools) == 0 ? " nothing" : ":");
	sheet_end(s);
	if (p->n_devices > 0 && p->lint.refusal == REASON_NONE)
		sheet_fill_list(
			s, pools,
			"  " OUTPUT_PLUGIN_AMOUNT
			"[{!devices=@devices_now} after the plan; [{+devices_now}|none] now]"
			"[; {+ports_down} on ports that are not ACTIVE]" OUTPUT_PLUGIN_MIX);
}

/* The NICs that an administrator says carry the node. */
static void print_node_nics(struct sheet *s, const struct config *c, const struct plan *p)
{
	size_t n = 0;

	if (!c->service.node_nic[0] || streq(c->service.node_nic, "auto") ||
	    streq(c->service.node_nic, "none"))
		return;
	sheet_add(s, "[Service] NodeNIC=%s: ", c->service.node_nic);
	for (size_t i = 0; i < p->n_needs; i++)
		if (p->needs[i].why == NEED_WORD)
			sheet_add(s, "%s%s", n++ > 0 ? ", " : "matches ", p->needs[i].pci);
	sheet_add(s, "%s", n > 0 ? "" : "matches no NIC of this node, so it counts as auto");
	sheet_end(s);
}

int output_check_text(const struct config *c, const struct plan *p, char **ret)
{
	const bool has_plugin = p && c->plugin.type != PLUGIN_NONE;
	json_auto_t *excluded = has_plugin ? make_excluded(c, p) : NULL,
		    *pools = has_plugin ? make_pools(c, p) : NULL,
		    *groups = has_plugin ? output_group(excluded) : NULL;
	_cleanup_(sheet_done) struct sheet s = {};

	if ((has_plugin && (!excluded || !pools || !groups)) || sheet_open(&s, 0, 0) < 0)
		return -ENOMEM;
	if (has_plugin)
		print_head(&s, c, p, pools);
	else if (p)
		print_none(&s, p);
	if (p)
		print_node_nics(&s, c, p);
	output_group_print(&s, groups,
			   "{target}: [{?code=plugin-foreign}exposed as well"
			   "|{?code=plugin-two-pools}in two pools"
			   "|{?code=vf-rdma-unknown}not counted|not exposed] ({code})");
	return sheet_close(&s, ret);
}

void forecast_done(struct forecast *f)
{
	free(f->pools);
	*f = (struct forecast){};
}

static struct forecast_pool *find_pool(struct forecast *f, const char *resource)
{
	struct forecast_pool *pool = FIND(p, f->pools, f->n_pools, streq(p->resource, resource));

	if (pool)
		return pool;
	pool = APPEND(f->pools, f->n_pools);
	if (pool)
		COPY(pool->resource, resource);
	return pool;
}

static bool is_never_made(const struct action *a)
{
	return a->class == CLASS_REFUSED || a->class == CLASS_IMPOSSIBLE;
}

static bool lacks_module(const struct plan *p, const struct device *d)
{
	return ANY(a, p->actions, p->n_actions, is_load_for(p, d, a) && is_never_made(a));
}

/* Does this action give the device what it lacks? */
static bool is_cure(const struct plan *p, const struct device *d, const struct action *a)
{
	const bool is_here = streq(a->target, d->pci->address);

	if (is_never_made(a))
		return false;
	switch (a->verb) {
	case VERB_LOAD_MODULE:
	case VERB_RELOAD_MODULE:
		return d->ibdev ? is_load_for(p, d, a) : is_driver_of(d, a->target);
	case VERB_BIND_DRIVER:
	case VERB_PROBE_DRIVER:
	case VERB_REBIND_DRIVER:
		return is_here;
	case VERB_SET_LINK_UP:
	case VERB_SET_VF_LINK:
		return d->reason == REASON_PORT_DOWN && (is_here || streq(a->target, pf_of(d)));
	default:
		return is_here && a->reason == REASON_DKMS_BUILDING;
	}
}

/* Does it end by itself, or by the network, that the device is not usable? A cause on this node,
 * where one was seen, has advice of its own. */
static bool is_passing(const struct device *d)
{
	switch (d->reason) {
	case REASON_PORT_DOWN:
		return !d->advice || /* or its port waits for the subnet manager */
		       (d->ibdev && ANY(port, d->ibdev->ports, d->ibdev->n_ports,
					streq(port->state, "INIT") || streq(port->state, "ARMED")));
	case REASON_NO_IBDEV:
	case REASON_NO_GID:
		return !d->advice;
	case REASON_NO_IPV6_GID:
	case REASON_NO_ADDRESS:
	case REASON_GID_PENDING:
	case REASON_DRIVER_CONTAINER:
		return true;
	default:
		return false;
	}
}

/* A device that is usable and not exposed stays out: the plugin, or its file, cannot have it. */
static bool is_coming(const struct config *c, const struct plan *p, const struct device *d)
{
	if (output_plugin_offers(d))
		return c->plugin.type == PLUGIN_NONE || output_plugin_exposes(p, d);
	return d->is_handed_out && !d->is_missing && !d->is_excluded && !lacks_module(p, d) &&
	       (is_passing(d) || ANY(a, p->actions, p->n_actions, is_cure(p, d, a)));
}

/* A PF whose VFs are made counts as these VFs, any other device as one if it will be exposed. */
static size_t count_after(const struct config *c, const struct plan *p, const struct device *d)
{
	if (!changes_vfs(p, d))
		return is_coming(c, p, d);
	return d->is_vf || d->aside != REASON_NONE || lacks_module(p, d) ||
			       find_void(p, d) != REASON_NONE
		       ? 0
		       : MAX(d->wanted_vfs, UINT32_C(1));
}

/* No device before this one that counts is of the same PF. */
static bool is_first_of_pf(const struct config *c, const struct plan *p, size_t i)
{
	return !ANY(d, p->devices, i,
		    streq(pf_of(d), pf_of(&p->devices[i])) && count_after(c, p, d) > 0);
}

static int add_later(const struct config *c, const struct plan *p, struct forecast *f)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		const size_t n = count_after(c, p, d);
		struct forecast_pool *pool;

		if (n == 0)
			continue;
		pool = find_pool(f, output_plugin_resource(c, d));
		if (!pool)
			return -ENOMEM;
		pool->n_after += n;
		pool->n_infiniband += device_is_infiniband(d) ? n : 0;
		/* Nothing planned brings its port up, or that of the PF of its VFs. */
		if (d->reason == REASON_PORT_DOWN &&
		    !ANY(a, p->actions, p->n_actions, is_cure(p, d, a)))
			pool->n_down += n;
		pool->n_nics += is_first_of_pf(c, p, i);
	}
	return 0;
}

static int add_now(const struct plan *p, struct forecast *f)
{
	FOREACH_WHILE(e, p->lint.exposed, p->lint.n_exposed, p->lint.refusal == REASON_NONE) {
		struct forecast_pool *pool;

		if (e->is_foreign)
			continue; /* nor does it count after the plan */
		pool = find_pool(f, e->resource);
		if (!pool)
			return -ENOMEM;
		pool->n_now++;
	}
	return 0;
}

int forecast_make(const struct config *c, const struct plan *p, struct forecast *ret)
{
	_cleanup_(forecast_done) struct forecast f = {};
	int r = add_now(p, &f);

	if (r >= 0)
		r = add_later(c, p, &f);
	return GIVE(r, f, ret);
}
