/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "../base/document.h"
#include "../model/boots.h"
#include "../model/gid.h"
#include "explain-kubelet.h"
#include "plugin.h"

#define SCHEMA       1
#define MAX_BYTES    (16 * 1024 * 1024) /* 4,000 functions with full GID tables are less */
#define MAX_MEMORIES 65536

/* Reasons */

static bool has_reason(const json_t *list, const char *code, const char *target)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *reason = json_array_get(list, i);

		if (streq(document_get_text(reason, "code"), code) &&
		    streq(document_get_text(reason, "target"), target))
			return true;
	}

	return false;
}

static int add_advised(json_t *list, enum reason reason, const char *target, const char *detail,
		       const char *advice)
{
	json_t *object;

	if (reason == REASON_NONE || has_reason(list, reason_code(reason), target))
		return 0;

	object = json_pack("{s:s, s:o, s:o, s:s, s:o}", "code", reason_code(reason), "target",
			   document_text(target), "advice", document_text(advice), "meaning",
			   reason_meaning(reason), "detail", document_text(detail));
	return json_array_append_new(list, object) < 0 ? -ENOMEM : 0;
}

static int add_reason(json_t *list, enum reason reason, const char *target, const char *detail)
{
	return add_advised(list, reason, target, detail, reason_advice(reason));
}

static int add_config_reasons(json_t *list, const struct config *c)
{
	if (c->is_invalid)
		return add_reason(list, REASON_CONFIG_INVALID, "", c->problem);
	if (c->has_unknown)
		return add_reason(list, REASON_CONFIG_UNKNOWN, "", c->problem);

	return 0;
}

static int add_failure(json_t *list, const struct action *a)
{
	const char *cause = *a->error ? a->error : strerror(-a->result);
	char detail[512];

	snprintf(detail, sizeof(detail), "%s %s%s%s%s%s: %s", verb_name(a->verb),
		 streq(a->subject, a->to) ? "" : a->subject,
		 *a->subject && !streq(a->subject, a->to) ? " " : "", a->from,
		 *a->from && *a->to ? " -> " : "", a->to, cause);
	if (!*a->from && !*a->to)
		snprintf(detail, sizeof(detail), "%s%s%s: %s", verb_name(a->verb),
			 *a->subject ? " " : "", a->subject, cause);

	return add_reason(list, action_failure(a), a->target, detail);
}

static int add_reasons(json_t *list, const struct config *c, const struct plan *p)
{
	int r = add_config_reasons(list, c);

	for (size_t i = 0; i < p->n_devices && r >= 0; i++) {
		const struct device *d = &p->devices[i];

		if (d->is_handed_out && !d->is_usable)
			r = add_advised(list, d->reason, d->pci->address, d->detail,
					device_advice(d));
	}

	for (size_t i = 0; i < p->n_actions && r >= 0; i++) {
		const struct action *a = &p->actions[i];

		if (a->class != CLASS_CHANGE)
			r = add_advised(list, a->reason, a->target, a->detail, action_advice(a));
		if (r >= 0 && action_failure(a) != REASON_NONE)
			r = add_failure(list, a);
	}

	for (size_t i = 0; i < p->n_reasons && r >= 0; i++)
		r = add_reason(list, p->reasons[i].reason, p->reasons[i].target,
			       p->reasons[i].detail);

	return r;
}

/* Absent where there are none. They are no reasons: nothing that looks at those meets them. */
static int add_health(json_t *document, const struct plan *p)
{
	json_t *list;
	int r = 0;

	if (p->n_health == 0)
		return 0;
	if (json_object_set_new(document, "health", list = json_array()) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_health && r >= 0; i++)
		r = add_reason(list, p->health[i].reason, p->health[i].target, p->health[i].detail);
	return r;
}

/* Devices */

static json_t *make_gids(const struct port *p)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < p->n_gids; i++) {
		const struct gid *g = &p->gids[i];
		json_t *gid = json_pack("{s:I, s:o, s:o, s:o}", "index", (json_int_t)g->index,
					"gid", document_text(g->gid), "type",
					document_text(g->type), "netdev", document_text(g->netdev));

		if (json_array_append_new(list, gid) < 0)
			return NULL;
	}

	return TAKE(list);
}

json_t *output_ports(const struct ibdev *d, const char *netdev)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; d && i < d->n_ports; i++) {
		const struct port *p = &d->ports[i];
		json_t *port =
			json_pack("{s:I, s:o, s:o, s:o, s:i, s:o}", "port", (json_int_t)p->number,
				  "state", document_text(p->state), "link_layer",
				  document_text(p->link_layer), "rate", document_text(p->rate),
				  "gid_index", gid_index_of(p, netdev), "gids", make_gids(p));

		if (json_array_append_new(list, port) < 0)
			return NULL;
	}

	return TAKE(list);
}

static const char *netdev_name(const struct device *d)
{
	return d->netdev ? d->netdev->name : d->netdev_name;
}

static const char *ibdev_name(const struct device *d)
{
	return d->ibdev ? d->ibdev->name : d->ibdev_name;
}

/* clang-format off */
static json_t *make_device(const struct device *d)
{
	return json_pack("{s:o, s:o, s:i, s:o, s:o, s:I, s:I, s:o, s:s, s:o, s:b, s:b, s:b, s:s}",
			 "pci", document_text(d->pci->address),
			 "driver", document_text(d->pci->driver),
			 "numa_node", d->pci->numa_node,
			 "netdev", document_text(netdev_name(d)),
			 "ibdev", document_text(ibdev_name(d)),
			 "mtu", d->netdev ? (json_int_t)d->netdev->mtu : (json_int_t)0,
			 "active_mtu", d->ibdev ? (json_int_t)d->ibdev->active_mtu : (json_int_t)0,
			 "ports", output_ports(d->ibdev, d->netdev_name),
			 "mode", d->config ? vf_mode_name(d->config->mode) : "",
			 "section", document_text(d->config ? d->config->name : ""),
			 "handed_out", d->is_handed_out,
			 "usable", d->is_usable,
			 "in_pod", d->is_in_pod,
			 "code", reason_code(d->reason));
}
/* clang-format on */

static json_t *make_devices(const struct plan *p)
{
	json_auto_t *list = json_array();
	json_t *vfs = NULL; /* of the PF that was last met: its VFs follow it */

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		json_t *device = make_device(d);

		if (json_array_append_new(d->is_vf && vfs ? vfs : list, device) < 0)
			return NULL;
		if (d->is_vf)
			continue;

		vfs = json_array();
		if (document_add_number(device, "total_vfs", d->pci->total_vfs) < 0 ||
		    json_object_set_new(device, "vfs", vfs) < 0)
			return NULL;
	}

	return TAKE(list);
}

/* Plugin and kubelet */

static json_t *make_left_out(const struct config *c, const struct node *n, const struct plan *p)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];

		if (!d->is_handed_out || !d->is_usable || output_plugin_has(c, n, p, d))
			continue;
		if (json_array_append_new(list, document_text(d->pci->address)) < 0)
			return NULL;
	}

	return TAKE(list);
}

/* How many devices each pool has in the file, in the order of their names. */
static json_t *make_resources(const struct config *c, const struct node *n, const struct plan *p)
{
	json_auto_t *counts = json_object(), *list = json_array();
	const char *name;
	json_t *count;

	for (size_t i = 0; i < p->n_devices; i++) {
		const char *resource = output_plugin_resource(c, &p->devices[i]);

		if (output_plugin_has(c, n, p, &p->devices[i]) &&
		    document_add_number(counts, resource,
					document_get_number(counts, resource) + 1) < 0)
			return NULL;
	}

	json_object_foreach(counts, name, count)
	{
		size_t at = 0;

		while (at < json_array_size(list) &&
		       strcmp(document_get_text(json_array_get(list, at), "resource"), name) < 0)
			at++;
		if (json_array_insert_new(
			    list, at, json_pack("{s:s, s:O}", "resource", name, "devices", count)) <
		    0)
			return NULL;
	}
	return TAKE(list);
}

static json_t *make_plugin(const struct config *c, const struct node *n, const struct plan *p)
{
	_cleanup_(freep) char *text = NULL;
	json_int_t n_devices = 0;

	if (c->plugin.type == PLUGIN_NONE)
		return json_pack("{s:s, s:s, s:b, s:i, s:[], s:[], s:s}", "type",
				 plugin_type_name(PLUGIN_NONE), "path", "", "written", 0, "devices",
				 0, "resources", "left_out", "manifest", "");

	if (output_plugin(c, n, p, &text) < 0)
		return NULL;
	for (size_t i = 0; i < p->n_devices; i++)
		n_devices += output_plugin_has(c, n, p, &p->devices[i]);

	return json_pack("{s:s, s:s, s:b, s:I, s:o, s:o, s:s}", "type",
			 plugin_type_name(c->plugin.type), "path", c->plugin.config_file, "written",
			 text && n->plugin_file && streq(text, n->plugin_file), "devices",
			 n_devices, "resources", make_resources(c, n, p), "left_out",
			 make_left_out(c, n, p), "manifest", c->plugin.manifest);
}

/* The first thing that is wrong with what was asked for; else what is told of it. */
static const struct kubelet_item *telling_item(const struct plan *p)
{
	for (int i = 0; i < _KUBELET_SETTING_N; i++)
		if (p->kubelet.items[i].row > 0 && p->kubelet.items[i].reason != REASON_NONE)
			return &p->kubelet.items[i];
	return &p->kubelet.items[KUBELET_TOPOLOGY_POLICY];
}

/* clang-format off */
static json_t *make_kubelet(const struct config *c, const struct kubelet *k, const struct plan *p)
{
	const struct kubelet_value *v = &k->values[KUBELET_TOPOLOGY_POLICY];
	const struct kubelet_item *item = telling_item(p);
	const bool is_default = k->is_there && !*v->text;
	const char *policy = is_default ? topology_policy_name(TOPOLOGY_POLICY_NONE) : v->text;

	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:I, s:s, s:s, s:o, s:s, s:b, s:b}",
			 "policy", document_text(policy),
			 "scope", document_text(k->values[KUBELET_TOPOLOGY_SCOPE].text),
			 "cpu_policy", document_text(k->values[KUBELET_CPU_POLICY].text),
			 "source", k->is_there ? kubelet_source_name(v->source) : "",
			 "path", document_text(*v->path ? v->path : k->file),
			 "line", (json_int_t)v->line,
			 "outcome", output_kubelet_outcome(item),
			 "code", reason_code(item->reason),
			 "detail", document_text(item->detail),
			 "since", k->since,
			 "deferred", k->is_deferred,
			 "hints", output_has_hints(c));
}
/* clang-format on */

/* SMC-R, only where it is asked for or there: the entries of its table, whosever they are. */
static int add_smc(json_t *document, const struct config *c, const struct node *n)
{
	json_t *smc, *list;

	if (c->smc.enable == SMC_NO && !n->has_pnets)
		return 0;
	smc = json_pack("{s:s, s:b, s:o}", "enable", smc_mode_name(c->smc.enable), "loaded",
			(int)n->has_pnets, "pnetids", list = json_array());
	if (json_object_set_new(document, "smc", smc) < 0)
		return -ENOMEM;

	for (size_t i = 0; i < n->n_pnets; i++) {
		const struct pnet *e = &n->pnets[i];

		if (json_array_append_new(
			    list, json_pack("{s:o, s:o, s:o, s:I}", "pnetid", document_text(e->id),
					    "netdev", document_text(e->netdev), "ibdev",
					    document_text(e->ibdev), "port", (json_int_t)e->port)) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

/* Boots before this one, only where one of them has something to tell: the same in all of a boot.
 */
static json_t *make_boot(const struct boot *b)
{
	json_auto_t *steps = json_array();

	for (size_t i = 0; i < b->n_steps; i++) {
		const struct boot_step *s = &b->steps[i];
		const char *outcome = s->is_skipped   ? "skipped"
				      : s->result < 0 ? "failed"
						      : "never-ended";

		if (json_array_append_new(
			    steps, json_pack("{s:s, s:o, s:o, s:s, s:s}", "verb",
					     verb_name(s->verb), "target", document_text(s->target),
					     "to", document_text(s->to), "outcome", outcome,
					     "error", s->result < 0 ? strerror(-s->result) : "")) <
		    0)
			return NULL;
	}
	return json_pack("{s:o, s:I, s:o, s:s, s:O}", "boot_id", document_text(b->boot_id), "time",
			 (json_int_t)b->time, "kernel", document_text(b->kernel), "state",
			 node_state_name(b->state), "steps", steps);
}

static int add_boots(json_t *document, const struct node *n)
{
	size_t first;
	const size_t count = boots_telling(n, &first);
	json_t *list;

	if (count == 0)
		return 0;
	list = json_array();
	if (json_object_set_new(document, "boots", list) < 0)
		return -ENOMEM;
	for (size_t i = first; i < first + count; i++)
		if (json_array_append_new(list, make_boot(&n->boots[i])) < 0)
			return -ENOMEM;
	return 0;
}

/* Memory */

/* The index tells that this very ibdev was opened, so that it need not be again. */
static uint32_t opened_index(const struct device *d, const struct memory *m)
{
	if (d->ibdev && d->ibdev->verbs == 0)
		return d->ibdev->index;
	if (m && (!d->ibdev || (d->ibdev->verbs > 0 && d->ibdev->index == m->index)))
		return m->index;
	return UINT32_MAX;
}

static void remember_sick(const struct device *d, struct memory *m)
{
	COPY(m->sick, d->is_sick_long ? d->sick : "");
	m->sick_pid = d->is_sick_long ? d->sick_pid : 0;
	m->instance = d->is_sick_long ? d->pci->instance : 0;
}

/* What cannot be seen now is as it was. */
static struct memory remember(const struct node *n, const struct device *d)
{
	const struct memory *old = node_memory(n, d->pci->address);
	struct memory m = old ? *old : (struct memory){};
	char card[MAC_LEN];

	COPY(m.pci, d->pci->address);
	if (d->ibdev || d->ibdev_name[0])
		COPY(m.ibdev, d->ibdev ? d->ibdev->name : d->ibdev_name);
	if (d->netdev || (d->is_in_pod && d->netdev_name[0]))
		COPY(m.netdev, d->netdev ? d->netdev->name : d->netdev_name);
	node_card(n, d->pci, card);
	if (*card)
		COPY(m.card, card);
	if (d->ibdev) {
		m.was_virtual = d->ibdev->is_virtual;
		m.active_mtu = d->ibdev->active_mtu;
	}
	if (d->netdev)
		m.mtu = d->netdev->mtu;
	m.index = opened_index(d, old);
	m.was_rebuilt = d->is_rebuilt;
	/* Told of the PF alone; with new VFs it may have it: mlx5 has some in legacy mode only. */
	m.unsupported = d->is_vf || d->pci->num_vfs == 0 ? 0 : d->unsupported;
	remember_sick(d, &m);
	if (!d->netdev || !d->netdev->is_up || d->netdev->has_carrier)
		m.no_carrier_usec = 0;
	else if (m.no_carrier_usec == 0)
		m.no_carrier_usec = n->now_usec;
	m.was_lost = !d->is_usable && m.was_usable;
	m.was_usable = d->is_usable || m.was_usable;
	if (d->is_usable)
		m.usable_instance = d->pci->instance;
	return m;
}

/* Absent where there is none. */
static int add_rest(json_t *object, const struct memory *m)
{
	if (m->no_carrier_usec > 0 &&
	    json_object_set_new(object, "no_carrier_usec",
				json_integer((json_int_t)m->no_carrier_usec)) < 0)
		return -ENOMEM;
	if (m->usable_instance > 0 &&
	    json_object_set_new(object, "usable_instance",
				json_integer((json_int_t)m->usable_instance)) < 0)
		return -ENOMEM;
	if (!m->sick[0])
		return 0;
	if (json_object_set_new(object, "sick", document_text(m->sick)) < 0 ||
	    json_object_set_new(object, "sick_pid", json_integer(m->sick_pid)) < 0 ||
	    json_object_set_new(object, "instance", json_integer((json_int_t)m->instance)) < 0)
		return -ENOMEM;
	return 0;
}

/* clang-format off */
static json_t *make_memory_of(const struct memory *m)
{
	json_t *object =
		json_pack("{s:o, s:o, s:I, s:b, s:o, s:b, s:o, s:I, s:I, s:I, s:b, s:b}",
			 "pci", document_text(m->pci),
			 "card", document_text(m->card),
			 "unsupported", (json_int_t)m->unsupported,
			 "rebuilt", (int)m->was_rebuilt,
			 "ibdev", document_name(m->ibdev),
			 "virtual", (int)m->was_virtual,
			 "netdev", document_name(m->netdev),
			 "index", m->index == UINT32_MAX ? (json_int_t)-1 : (json_int_t)m->index,
			 "active_mtu", (json_int_t)m->active_mtu,
			 "mtu", (json_int_t)m->mtu,
			 "usable", (int)m->was_usable,
			 "lost", (int)m->was_lost);

	if (object && add_rest(object, m) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}
/* clang-format on */

/* clang-format off */
static json_t *make_failure(const struct action *a)
{
	return json_pack("{s:s, s:o, s:o, s:I, s:i, s:o}",
			 "verb", verb_name(a->verb),
			 "target", document_name(a->target),
			 "to", document_name(a->to),
			 "instance", (json_int_t)a->instance,
			 "result", a->result,
			 "error", document_text(a->error));
}
/* clang-format on */

static json_t *make_failures(const struct plan *p)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct action *a = &p->actions[i];

		if (a->is_done && a->result < 0 && json_array_append_new(list, make_failure(a)) < 0)
			return NULL;
	}
	return json_incref(list);
}

/* clang-format off */
static json_t *make_repeat(const struct repeat *e)
{
	return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "verb", e->verb,
			 "target", document_name(e->target),
			 "subject", document_name(e->subject),
			 "ifindex", (json_int_t)e->ifindex,
			 "instance", (json_int_t)e->instance,
			 "value", (json_int_t)e->value,
			 "n", (json_int_t)e->n,
			 "since_usec", (json_int_t)e->since_usec,
			 "last_usec", (json_int_t)e->last_usec,
			 "pause_usec", (json_int_t)e->pause_usec);
}
/* clang-format on */

/* Absent when there is none. */
static int add_repeats(json_t *memory, const struct node *n)
{
	json_t *list;

	if (n->n_repeats == 0)
		return 0;
	list = json_array();
	if (json_object_set_new(memory, "repeats", list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_repeats; i++)
		if (json_array_append_new(list, make_repeat(&n->repeats[i])) < 0)
			return -ENOMEM;
	return 0;
}

static bool is_planned(const struct plan *p, const char *pci)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (streq(p->devices[i].pci->address, pci))
			return true;
	return false;
}

/* Functions that are gone are remembered for one more look, which then drops them. */
static int add_gone(json_t *list, const struct node *n, const struct plan *p)
{
	for (size_t i = 0; i < n->n_memories; i++) {
		struct memory m = n->memories[i];

		if (!m.was_usable || m.was_lost || node_pci(n, m.pci) || is_planned(p, m.pci))
			continue;
		m.was_lost = true;
		m.index = UINT32_MAX;
		m.unsupported = 0;
		m.was_rebuilt = false;
		if (json_array_append_new(list, make_memory_of(&m)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static json_t *make_memory(const struct config *c, const struct node *n, const struct plan *p)
{
	json_auto_t *list = json_array(), *memory = NULL;
	const struct action *now = plan_stuck(p);
	const char *stuck = *n->stuck || !now ? n->stuck : now->target;

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct memory m = remember(n, &p->devices[i]);

		if (json_array_append_new(list, make_memory_of(&m)) < 0)
			return NULL;
	}

	if (add_gone(list, n, p) < 0)
		return NULL;

	memory = json_pack("{s:O, s:b, s:o, s:s, s:o}", "devices", list, "settled",
			   p->state != NODE_STARTING, "stuck", document_text(stuck), "plugin_path",
			   *n->old_plugin_path ? n->old_plugin_path : c->plugin.config_file,
			   "failures", make_failures(p));
	if (memory && stuck[0] &&
	    json_object_set_new(memory, "stuck_pid",
				json_integer(stuck == n->stuck ? n->stuck_pid : now->pid)) < 0)
		return NULL;
	return memory && add_repeats(memory, n) >= 0 ? json_incref(memory) : NULL;
}

int output_state(const struct config *c, const struct node *n, const struct plan *p, char **ret)
{
	json_auto_t *document = NULL, *reasons = json_array();
	int r;

	r = add_reasons(reasons, c, p);
	if (r < 0)
		return r;

	/* clang-format off */
	document = json_pack("{s:i, s:o, s:o, s:s, s:O, s:o, s:o, s:o, s:o}",
			     "schema", SCHEMA,
			     "boot_id", document_text(n->boot_id),
			     "config_hash", document_text(c->hash),
			     "state", node_state_name(p->state),
			     "reasons", reasons,
			     "devices", make_devices(p),
			     "plugin", make_plugin(c, n, p),
			     "kubelet", make_kubelet(c, &n->kubelet, p),
			     "memory", make_memory(c, n, p));
	/* clang-format on */

	if (!document)
		return -ENOMEM;
	r = add_health(document, p);
	if (r >= 0)
		r = add_smc(document, c, n);
	if (r >= 0)
		r = add_boots(document, n);
	return r < 0 ? r : document_print(document, ret);
}

/* The way back */

static bool get_usec(const json_t *object, const char *key, uint64_t *ret)
{
	const json_int_t value = document_get_number(object, key);

	*ret = (uint64_t)value;
	return value >= 0;
}

static int parse_memory(const json_t *value, void *ret)
{
	const json_t *index = json_object_get(value, "index");
	const json_t *usable = json_object_get(value, "usable");
	struct memory m = {};

	if (!document_get_file_name(value, "pci", m.pci, sizeof(m.pci)) || !m.pci[0] ||
	    !document_get_file_name(value, "ibdev", m.ibdev, sizeof(m.ibdev)) ||
	    !document_get_file_name(value, "netdev", m.netdev, sizeof(m.netdev)) ||
	    !json_is_integer(index) || json_integer_value(index) < -1 ||
	    json_integer_value(index) >= UINT32_MAX || !json_is_boolean(usable))
		return -EINVAL;

	m.index = json_integer_value(index) < 0 ? UINT32_MAX : (uint32_t)json_integer_value(index);
	m.was_usable = json_is_true(usable);
	if (!get_usec(value, "usable_instance", &m.usable_instance))
		m.usable_instance = 0;
	m.was_lost = json_is_true(json_object_get(value, "lost"));
	/* Newer than the others: what is not told is tried or looked at again. */
	m.was_rebuilt = json_is_true(json_object_get(value, "rebuilt"));
	m.was_virtual = json_is_true(json_object_get(value, "virtual"));
	m.unsupported = (uint32_t)json_integer_value(json_object_get(value, "unsupported")) &
			VF_SETTING_ALL;
	m.active_mtu = (uint32_t)json_integer_value(json_object_get(value, "active_mtu"));
	m.mtu = (uint32_t)json_integer_value(json_object_get(value, "mtu"));
	copy(m.card, sizeof(m.card), document_get_text(value, "card"));
	copy(m.sick, sizeof(m.sick), document_get_text(value, "sick"));
	m.sick_pid = (uint32_t)document_get_number(value, "sick_pid");
	m.instance = (uint64_t)MAX(document_get_number(value, "instance"), 0);
	if (!get_usec(value, "no_carrier_usec", &m.no_carrier_usec))
		m.no_carrier_usec = 0;
	*(struct memory *)ret = m;
	return 0;
}

static int by_pci(const void *a, const void *b)
{
	return strcmp(((const struct memory *)a)->pci, ((const struct memory *)b)->pci);
}

/* Of two for one function the first counts. */
static size_t drop_duplicates(struct memory *memories, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(memories, n, sizeof(*memories), by_pci);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || !streq(memories[kept - 1].pci, memories[i].pci))
			memories[kept++] = memories[i];
	return kept;
}

/*
 * A list of memory. What is missing or malformed is forgotten, and none but that: it is tried or
 * done again, which does no harm.
 */
static int parse_list(const json_t *memory, const char *key, size_t item_size,
		      int (*parse)(const json_t *value, void *ret), void **ret, size_t *ret_n)
{
	const json_t *list = json_object_get(memory, key);
	const size_t size = MIN(json_array_size(list), MAX_MEMORIES);
	_cleanup_(freep) void *items = NULL;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		void *item = append_raw(&items, &n, item_size);

		if (!item)
			return -ENOMEM;
		if (parse(json_array_get(list, i), item) < 0)
			n--;
	}
	*ret = TAKE(items);
	*ret_n = n;
	return 0;
}
#define LIST(memory, key, parse, items, n)                                                         \
	parse_list((memory), (key), sizeof(*(items)), (parse), (void **)&(items), &(n))

static int parse_failure(const json_t *value, void *ret)
{
	struct failure *f = ret;
	json_int_t result = document_get_number(value, "result");

	if (result >= 0 || result < -4095 || /* MAX_ERRNO */
	    !copy(f->verb, sizeof(f->verb), document_get_text(value, "verb")) ||
	    !document_get_name(value, "target", f->target, sizeof(f->target)) ||
	    !document_get_name(value, "to", f->to, sizeof(f->to)) ||
	    !copy(f->error, sizeof(f->error), document_get_text(value, "error")))
		return -EINVAL;
	f->result = (int)result;
	f->instance = (uint64_t)MAX(document_get_number(value, "instance"), 0);
	return 0;
}

static int parse_repeat(const json_t *value, void *ret)
{
	struct repeat *e = ret;
	const json_int_t n = document_get_number(value, "n");
	const json_int_t ifindex = document_get_number(value, "ifindex");

	if (n < 0 || n > UINT32_MAX || ifindex < 0 || ifindex > INT32_MAX ||
	    !get_usec(value, "instance", &e->instance) || !get_usec(value, "value", &e->value) ||
	    !get_usec(value, "since_usec", &e->since_usec) ||
	    !get_usec(value, "last_usec", &e->last_usec) ||
	    !get_usec(value, "pause_usec", &e->pause_usec) ||
	    e->pause_usec > 24 * 3600 * USEC_PER_SEC ||
	    !copy(e->verb, sizeof(e->verb), document_get_text(value, "verb")) ||
	    !document_get_name(value, "target", e->target, sizeof(e->target)) ||
	    !document_get_name(value, "subject", e->subject, sizeof(e->subject)))
		return -EINVAL;
	e->n = (uint32_t)n;
	e->ifindex = (uint32_t)ifindex;
	return 0;
}

static int parse_state(const json_t *value, enum node_state *ret)
{
	for (int s = 0; s < _NODE_STATE_N && json_is_string(value); s++)
		if (streq(json_string_value(value), node_state_name((enum node_state)s))) {
			*ret = (enum node_state)s;
			return 0;
		}

	return -EINVAL;
}

static bool is_own_path(const char *path)
{
	return is_prefix(path, "/run/") && !strstr(path, "/.") && strlen(path) < PATH_LEN;
}

int output_parse_memory(const char *json, const char *boot_id, struct node *n)
{
	json_auto_t *document = NULL;
	const json_t *memory;
	struct node seen = {};
	size_t size = strnlen(json, MAX_BYTES + 1);
	int r;

	if (size > MAX_BYTES)
		return -EINVAL;
	r = document_parse(json, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r < 0)
		return r;
	if (!json_is_object(document) || !json_is_integer(json_object_get(document, "schema")) ||
	    document_get_number(document, "schema") != SCHEMA ||
	    !json_is_string(json_object_get(document, "boot_id")))
		return -EINVAL;
	if (!streq(document_get_text(document, "boot_id"), boot_id))
		return 0;

	memory = json_object_get(document, "memory");
	if (!document_get_file_name(memory, "stuck", seen.stuck, sizeof(seen.stuck)))
		*seen.stuck = '\0';
	seen.stuck_pid = (uint32_t)document_get_number(memory, "stuck_pid");
	if (!copy(seen.last_hash, sizeof(seen.last_hash),
		  document_get_text(document, "config_hash")))
		*seen.last_hash = '\0';

	/* Newer than the others. It is a path of ours, but may have been planted: only below /run.
	 */
	if (is_own_path(document_get_text(memory, "plugin_path")))
		COPY(seen.last_plugin_path, document_get_text(memory, "plugin_path"));
	r = parse_state(json_object_get(document, "state"), &seen.last_state);
	if (r >= 0)
		r = LIST(memory, "devices", parse_memory, seen.memories, seen.n_memories);
	seen.n_memories = drop_duplicates(seen.memories, seen.n_memories);
	if (r >= 0)
		r = LIST(memory, "failures", parse_failure, seen.failures, seen.n_failures);
	if (r >= 0)
		r = LIST(memory, "repeats", parse_repeat, seen.repeats, seen.n_repeats);
	if (r < 0) {
		free(seen.memories);
		free(seen.failures);
		return r;
	}

	free(n->repeats);
	n->repeats = seen.repeats;
	n->n_repeats = seen.n_repeats;
	free(n->failures);
	n->failures = seen.failures;
	n->n_failures = seen.n_failures;
	free(n->memories);
	n->memories = seen.memories;
	n->n_memories = seen.n_memories;
	n->last_state = seen.last_state;
	COPY(n->last_hash, seen.last_hash);
	COPY(n->last_plugin_path, seen.last_plugin_path);
	COPY(n->stuck, seen.stuck);
	n->stuck_pid = seen.stuck_pid;
	n->was_settled = document_get_flag(memory, "settled");
	return 0;
}

int output_read_state(const char *json, const char *boot_id, enum node_state *ret)
{
	json_auto_t *document = NULL;
	const int r = document_parse(json, strlen(json), 0, &document, NULL);

	if (r < 0)
		return r;
	if (boot_id && !streq(document_get_text(document, "boot_id"), boot_id))
		return json_is_object(document) ? -ENOENT : -EINVAL;
	return parse_state(json_object_get(document, "state"), ret);
}

int output_add_config_changed(const char *hash, char **json)
{
	json_auto_t *document = NULL, *list = json_array();
	json_t *reasons;
	char *text;
	int r;

	r = document_parse(*json, strlen(*json), 0, &document, NULL);
	if (r < 0)
		return r;
	reasons = json_object_get(document, "reasons");
	if (!json_is_array(reasons))
		return -EINVAL;
	if (hash ? streq(document_get_text(document, "config_hash"), hash)
		 : has_reason(reasons, reason_code(REASON_CONFIG_INVALID), ""))
		return 0;

	r = add_reason(list, REASON_CONFIG_CHANGED, "", "");
	if (r < 0 || json_array_extend(list, reasons) < 0 ||
	    json_object_set(document, "reasons", list) < 0)
		return -ENOMEM;
	r = document_print(document, &text);
	if (r < 0)
		return r;
	free(*json);
	*json = text;
	return 1;
}

/* What failed under another configuration, or was undone, is none of this one's. */
static int set_hash(json_t *document, const char *hash)
{
	json_t *memory = json_object_get(document, "memory");

	if (streq(document_get_text(document, "config_hash"), hash))
		return 0;
	json_object_del(memory, "repeats");
	if (json_object_set_new(memory, "failures", json_array()) < 0)
		return -ENOMEM;
	return json_object_set_new(document, "config_hash", document_text(hash));
}

int output_degrade(const char *json, const char *boot_id, const char *hash, enum reason reason,
		   const char *detail, char **ret)
{
	json_auto_t *document = NULL, *list = json_array();
	json_t *reasons, *item;
	size_t i;
	int r;

	r = json ? document_parse(json, strlen(json), JSON_REJECT_DUPLICATES, &document, NULL)
		 : -EINVAL;
	if (r < 0)
		return r;
	reasons = json_object_get(document, "reasons");
	if (!json_is_array(reasons) || !json_is_object(json_object_get(document, "memory")) ||
	    document_get_number(document, "schema") != SCHEMA ||
	    !streq(document_get_text(document, "boot_id"), boot_id))
		return -EINVAL;

	if (add_reason(list, reason, "", detail) < 0)
		return -ENOMEM;
	json_array_foreach(reasons, i, item)
	{
		if (!streq(document_get_text(item, "code"), reason_code(reason)) &&
		    json_array_append(list, item) < 0)
			return -ENOMEM;
	}
	if (json_object_set(document, "reasons", list) < 0 || set_hash(document, hash) < 0 ||
	    json_object_set_new(document, "state", json_string(node_state_name(NODE_DEGRADED))) <
		    0 ||
	    json_object_set_new(json_object_get(document, "memory"), "settled", json_true()) < 0)
		return -ENOMEM;
	return document_print(document, ret);
}

int output_state_line(const char *json, char **ret)
{
	json_auto_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	int r;

	r = document_parse(json, strlen(json), 0, &document, NULL);
	if (r < 0)
		return r;
	text = json_dumps(document, JSON_COMPACT);
	if (!text)
		return -ENOMEM;
	return asprintf(ret, "%s\n", text) < 0 ? -ENOMEM : 0;
}

/* Was it there word for word? */
static bool has_equal(const json_t *list, const json_t *reason)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), reason))
			return true;
	return false;
}

static int add_news(const json_t *reason, bool is_over, struct news **news, size_t *n)
{
	const enum reason code = reason_from_code(document_get_text(reason, "code"));
	struct news *slot;

	if (code == REASON_NONE) /* of another version */
		return 0;
	slot = APPEND(*news, *n);
	if (!slot)
		return -ENOMEM;
	slot->reason = code;
	slot->is_over = is_over;
	COPY(slot->target, document_get_text(reason, "target"));
	COPY(slot->detail, document_get_text(reason, "detail"));
	COPY(slot->advice, document_get_text(reason, "advice"));
	return 0;
}

static bool is_starting(const json_t *document)
{
	enum node_state state;

	return parse_state(json_object_get(document, "state"), &state) < 0 ||
	       state == NODE_STARTING;
}

int output_news(const char *before, const char *after, struct news **ret, size_t *ret_n)
{
	json_auto_t *x = NULL, *y = NULL;
	_cleanup_(freep) struct news *news = NULL;
	const json_t *old, *new;
	size_t n = 0;
	int r;

	r = before ? document_parse(before, strlen(before), 0, &x, NULL) : 0;
	if (r != -ENOMEM) /* what was there may be damaged */
		r = document_parse(after, strlen(after), 0, &y, NULL);
	if (r < 0)
		return r;
	old = json_object_get(x, "reasons");
	new = json_object_get(y, "reasons");
	if (is_starting(x) ||
	    !streq(document_get_text(x, "boot_id"), document_get_text(y, "boot_id")))
		old = NULL;
	if (is_starting(y))
		old = new = NULL;

	for (size_t i = 0; i < json_array_size(old) && r >= 0; i++) {
		const json_t *reason = json_array_get(old, i);

		if (!has_reason(new, document_get_text(reason, "code"),
				document_get_text(reason, "target")))
			r = add_news(reason, true, &news, &n);
	}
	for (size_t i = 0; i < json_array_size(new) && r >= 0; i++)
		if (!has_equal(old, json_array_get(new, i)))
			r = add_news(json_array_get(new, i), false, &news, &n);
	if (r < 0)
		return r;

	*ret = TAKE(news);
	*ret_n = n;
	return 0;
}
