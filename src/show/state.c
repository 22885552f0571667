/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "../base/document.h"
#include "../base/fields.h"
#include "../model/ip.h"
#include "../model/memory.h"
#include "../model/pnet.h"
#include "../plugin/plugin-output.h"
#include "../qos/qos-output.h"
#include "explain.h"

#define SCHEMA 1

/* Reasons */

static bool has_reason(const json_t *list, const char *code, const char *target)
{
	return document_any(reason, list,
			    streq(document_get_text(reason, "code"), code) &&
				    streq(document_get_text(reason, "target"), target));
}

static const struct field reason_rows[] = {
	WORD_FIELD(struct news, "code", reason, reason_code, _REASON_N, .flags = FIELD_NEEDED),
	TEXT(struct news, "target", target),
	TEXT(struct news, "advice", advice),
	WORD_FIELD(struct news, "meaning", reason, reason_meaning, _REASON_N, .flags = FIELD_SHOWN),
	TEXT(struct news, "detail", detail),
};
static const struct fields reason_fields = FIELDS(reason_rows, struct news);

json_t *output_reason(enum reason reason, const char *target, const char *detail,
		      const char *advice)
{
	struct news told = { .reason = reason };

	COPY(told.target, target);
	COPY(told.detail, detail);
	COPY(told.advice, advice ? advice : reason_advice(reason));
	return fields_pack(&reason_fields, &told);
}

static int add_advised(json_t *list, enum reason reason, const char *target, const char *detail,
		       const char *advice)
{
	if (reason == REASON_NONE || has_reason(list, reason_code(reason), target))
		return 0;
	return json_array_append_new(list, output_reason(reason, target, detail, advice)) < 0
		       ? -ENOMEM
		       : 0;
}

static int add_reason(json_t *list, enum reason reason, const char *target, const char *detail)
{
	return add_advised(list, reason, target, detail, NULL);
}

static int add_hints(json_t *list, const struct diagnostic *hints, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_reason(list, hints[i].reason, hints[i].target, hints[i].detail);
	return r;
}

static int add_config_reasons(json_t *list, const struct config *c)
{
	int r = 0;

	if (c->is_invalid)
		r = add_reason(list, REASON_CONFIG_INVALID, "", c->problem);
	else if (c->has_unknown)
		r = add_reason(list, REASON_CONFIG_UNKNOWN, "", c->problem);
	return r < 0 || !*c->ignored ? r : add_reason(list, REASON_CONFIG_IGNORED, c->ignored, "");
}

static int add_failure(json_t *list, const struct action *a)
{
	const char *cause = *a->error ? a->error : strerror(-a->result);
	char detail[CHANGE_LEN], change[CHANGE_LEN];

	PRINT(detail, "%s: %s", action_change(a, change), cause);
	return add_reason(list, action_failure(a), a->target, detail);
}

/* The data that the document is made from. */
struct state_document {
	const struct config *config;
	const struct node *node;
	const struct memory *memory;
	const struct plan *plan;
	uint32_t schema;
	bool has_health, has_gpus, has_qos, has_smc, has_boots, has_needs,
		has_nics; /* keys that are absent otherwise */
	/* of the plugin */
	const char *plugin_path, *manifest;
	bool is_written;
	size_t n_devices;
	/* of the kubelet */
	const struct kubelet_item *item;
	const char *policy, *cpu_policy, *source, *path, *outcome;
	bool has_hints;
};

json_t *output_reasons(const struct config *c, const struct plan *p)
{
	json_auto_t *list = json_array();

	if (add_config_reasons(list, c) < 0)
		return NULL;
	FOREACH(d, p->devices, p->n_devices)
		if (d->is_handed_out && !d->is_usable &&
		    add_advised(list, d->reason, d->pci->address, d->detail, device_advice(d)) < 0)
			return NULL;
	FOREACH(a, p->actions, p->n_actions) {
		if (a->class != CLASS_CHANGE &&
		    add_advised(list, a->reason, a->target, a->detail, action_advice(a)) < 0)
			return NULL;
		if (action_failure(a) != REASON_NONE && add_failure(list, a) < 0)
			return NULL;
	}
	return add_hints(list, p->reasons, p->n_reasons) < 0 ? NULL : TAKE(list);
}

static json_t *make_reasons(const void *item)
{
	const struct state_document *s = item;

	return output_reasons(s->config, s->plan);
}

/* Health hints are no reasons: a program that reads those does not meet them. */
static json_t *make_health(const void *item)
{
	const struct plan *p = ((const struct state_document *)item)->plan;
	json_auto_t *list = json_array();

	return add_hints(list, p->health, p->n_health) < 0 ? NULL : TAKE(list);
}

/* Devices */

static const struct field gid_rows[] = {
	NUMBER(struct gid, "index", index),
	TEXT(struct gid, "gid", gid),
	TEXT(struct gid, "type", type),
	TEXT(struct gid, "netdev", netdev),
};
static const struct fields gid_fields = FIELDS(gid_rows, struct gid);

static const struct field port_rows[] = {
	NUMBER(struct port, "port", number),
	TEXT(struct port, "state", state),
	TEXT(struct port, "link_layer", link_layer),
	TEXT(struct port, "rate", rate),
};
static const struct fields port_fields = FIELDS(port_rows, struct port);

json_t *output_ports(const struct ibdev *d, const char *netdev, const struct netdev *bond)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; d && i < d->n_ports; i++) {
		const struct port *p = &d->ports[i];
		json_t *port = fields_pack(&port_fields, p);

		if (json_array_append_new(list, port) < 0 ||
		    document_add_number(port, "gid_index", gid_index_of(p, netdev, bond)) < 0 ||
		    json_object_set_new(port, "gids",
					fields_pack_list(&gid_fields, p->gids, p->n_gids)) < 0)
			return NULL;
	}

	return TAKE(list);
}

static json_t *make_netdev(const void *item)
{
	const struct device *d = item;

	return document_text(d->netdev ? d->netdev->name : d->netdev_name);
}

static json_t *make_ibdev(const void *item)
{
	const struct device *d = item;

	return document_text(d->ibdev ? d->ibdev->name : d->ibdev_name);
}

static json_t *make_ports(const void *item)
{
	const struct device *d = item;

	return output_ports(d->ibdev, d->netdev_name, d->bond);
}

static const struct field device_rows[] = {
	VIA(FIELD_TEXT, struct device, pci, "pci", address),
	VIA(FIELD_TEXT, struct device, pci, "driver", driver),
	VIA(FIELD_NUMBER, struct device, pci, "numa_node", numa_node, .is_signed = true),
	MADE("netdev", make_netdev),
	MADE("ibdev", make_ibdev),
	VIA(FIELD_NUMBER, struct device, netdev, "mtu", mtu),
	VIA(FIELD_NUMBER, struct device, ibdev, "active_mtu", active_mtu),
	MADE("ports", make_ports),
	VIA(FIELD_WORD, struct device, config, "mode", mode, .word = vf_mode_name),
	VIA(FIELD_TEXT, struct device, config, "section", name),
	FLAG(struct device, "handed_out", is_handed_out),
	FLAG(struct device, "usable", is_usable),
	FLAG(struct device, "in_pod", is_in_pod),
	WORD_FIELD(struct device, "code", reason, reason_code, _REASON_N),
};
static const struct fields device_fields = FIELDS(device_rows, struct device);

static const struct field lost_rows[] = { NUMBER(struct moment, "sec", sec, .flags = FIELD_ALONE) };
static const struct fields lost_fields = FIELDS(lost_rows, struct moment);

static const struct field link_rows[] = {
	NUMBER(struct device, "losses", losses.n),
	NUMBER(struct device, "returns", losses.n_back),
	FIELD(FIELD_ARRAY, struct device, "lost_at", losses.last, .of = &lost_fields,
	      .count = offsetof(struct device, losses.n_last)),
	FLAG(struct device, "flapping", is_flapping),
	FLAG(struct device, "excluded", is_excluded),
};
static const struct fields link_fields = FIELDS(link_rows, struct device);

static const struct field nic_rows[] = {
	VIA(FIELD_NUMBER, struct device, pci, "total_vfs", total_vfs),
	PART("link", link_fields, .has = offsetof(struct device, is_watched)), /* by [Health] */
};
static const struct fields nic_fields = FIELDS(nic_rows, struct device);

static json_t *make_devices(const void *item)
{
	const struct plan *p = ((const struct state_document *)item)->plan;
	json_auto_t *list = json_array();
	json_t *vfs = NULL; /* of the PF that was last met: its VFs follow it */

	FOREACH(d, p->devices, p->n_devices) {
		json_t *device = fields_pack(&device_fields, d);

		if (json_array_append_new(d->is_vf && vfs ? vfs : list, device) < 0)
			return NULL;
		if (d->is_vf)
			continue;

		vfs = json_array();
		if (fields_update(device, &nic_fields, d) < 0 ||
		    json_object_set_new(device, "vfs", vfs) < 0)
			return NULL;
	}

	return TAKE(list);
}

/* Plugin and kubelet */

static json_t *make_left_out(const void *item)
{
	const struct state_document *s = item;

	return document_list(d, s->plan->devices,
			     plugin_has_file(s->config->plugin.type) ? s->plan->n_devices : 0,
			     d->is_handed_out && d->is_usable && !d->is_excluded &&
				     !output_plugin_has(s->config, s->node, s->plan, d),
			     document_text(d->pci->address));
}

static json_t *make_resources(const void *item)
{
	const struct state_document *s = item;

	return output_plugin_resources(s->config, s->plan);
}

static const struct field plugin_rows[] = {
	VIA(FIELD_WORD, struct state_document, config, "type", plugin.type,
	    .word = plugin_type_name),
	FIELD(FIELD_STRING, struct state_document, "path", plugin_path),
	FLAG(struct state_document, "written", is_written),
	NUMBER(struct state_document, "devices", n_devices),
	MADE("resources", make_resources),
	MADE("left_out", make_left_out),
	FIELD(FIELD_STRING, struct state_document, "manifest", manifest),
};
static const struct fields plugin_fields = FIELDS(plugin_rows, struct state_document);

static void fill_plugin(struct state_document *s)
{
	s->plugin_path = s->manifest = "";
	FOREACH_WHILE(d, s->plan->devices, s->plan->n_devices,
		      s->config->plugin.type != PLUGIN_NONE)
		s->n_devices += output_plugin_has(s->config, s->node, s->plan, d);
	if (!plugin_has_file(s->config->plugin.type))
		return;
	s->plugin_path = s->config->plugin.config_file;
	s->manifest = s->config->plugin.manifest;
	s->is_written = plan_has_plugin_file(s->node, s->plan);
}

/* The first item that is wrong with what was asked for; else one that has a reason. */
static const struct kubelet_item *telling_item(const struct kubelet_decision *d)
{
	for (int i = 0; i < _KUBELET_SETTING_N; i++)
		if (d->items[i].row > 0 && d->items[i].reason != REASON_NONE)
			return &d->items[i];
	return &d->items[KUBELET_TOPOLOGY_POLICY];
}

static const struct field kubelet_rows[] = {
	FIELD(FIELD_STRING, struct state_document, "policy", policy),
	VIA(FIELD_TEXT, struct state_document, node, "scope",
	    kubelet.values[KUBELET_TOPOLOGY_SCOPE].text),
	FIELD(FIELD_STRING, struct state_document, "cpu_policy", cpu_policy),
	FIELD(FIELD_STRING, struct state_document, "source", source),
	FIELD(FIELD_STRING, struct state_document, "path", path),
	VIA(FIELD_NUMBER, struct state_document, node, "line",
	    kubelet.values[KUBELET_TOPOLOGY_POLICY].line),
	FIELD(FIELD_STRING, struct state_document, "outcome", outcome),
	VIA(FIELD_WORD, struct state_document, item, "code", reason, .word = reason_code),
	VIA(FIELD_TEXT, struct state_document, item, "detail", detail),
	VIA(FIELD_TEXT, struct state_document, node, "since", kubelet.since),
	VIA(FIELD_FLAG, struct state_document, node, "deferred", kubelet.is_deferred),
	FLAG(struct state_document, "hints", has_hints),
};
static const struct fields kubelet_fields = FIELDS(kubelet_rows, struct state_document);

/* Empty: it is not known. */
static const char *policy_of(const struct kubelet *k, enum kubelet_setting s)
{
	const struct kubelet_value *v = &k->values[s];

	return !k->is_there || v->source == KUBELET_UNKNOWN || *v->text ? v->text
									: kubelet_word(s, 1);
}

static void fill_kubelet(struct state_document *s)
{
	const struct kubelet *k = &s->node->kubelet;
	const struct kubelet_value *v = &k->values[KUBELET_TOPOLOGY_POLICY];

	s->item = telling_item(&s->node->kubelet_decision);
	s->policy = policy_of(k, KUBELET_TOPOLOGY_POLICY);
	s->cpu_policy = policy_of(k, KUBELET_CPU_POLICY);
	s->source = k->is_there ? kubelet_source_name(v->source) : "";
	s->path = *v->path ? v->path : k->file;
	s->outcome = output_kubelet_outcome(s->item);
	s->has_hints = output_has_hints(s->config);
}

static const struct field pnet_rows[] = {
	TEXT(struct pnet, "pnetid", id),
	TEXT(struct pnet, "netdev", netdev),
	TEXT(struct pnet, "ibdev", ibdev),
	NUMBER(struct pnet, "port", port),
};
static const struct fields pnet_fields = FIELDS(pnet_rows, struct pnet);

static const struct field smc_rows[] = {
	VIA(FIELD_WORD, struct state_document, config, "enable", smc.enable, .word = smc_mode_name),
	VIA(FIELD_FLAG, struct state_document, node, "loaded", has_pnets),
	VIA(FIELD_LIST, struct state_document, node, "pnetids", pnets, .of = &pnet_fields,
	    .count = offsetof(struct node, n_pnets)),
};
static const struct fields smc_fields = FIELDS(smc_rows, struct state_document);

/* How each device treats priorities, where the configuration asks for that. */
static json_t *make_qos(const void *item)
{
	const struct state_document *s = item;
	json_auto_t *list = json_array();

	FOREACH(d, s->plan->devices, s->plan->n_devices) {
		json_auto_t *qos = output_qos(s->node, d->netdev, d->ibdev);

		if (!qos || (json_object_size(qos) > 0 &&
			     (json_object_set_new(qos, "pci", document_text(d->pci->address)) < 0 ||
			      json_array_append(list, qos) < 0)))
			return NULL;
	}
	return TAKE(list);
}

/* GPUs, and the managed NICs that are nearest to each. */

struct near_gpu {
	const struct pci *pci;
	const struct plan *plan;
	enum nearness nearness;
};

static json_t *make_near(const void *item)
{
	const struct near_gpu *g = item;

	return document_list(d, g->plan->devices,
			     g->nearness != NEARNESS_NONE ? g->plan->n_devices : 0,
			     !d->is_vf && pci_nearness(g->pci, d->pci) == g->nearness,
			     document_text(d->pci->address));
}

static const struct field gpu_rows[] = {
	VIA(FIELD_TEXT, struct near_gpu, pci, "pci", address),
	VIA(FIELD_NUMBER, struct near_gpu, pci, "numa_node", numa_node, .is_signed = true),
	WORD_FIELD(struct near_gpu, "near_by", nearness, nearness_name, _NEARNESS_N),
	MADE("nics", make_near),
};
static const struct fields gpu_fields = FIELDS(gpu_rows, struct near_gpu);

static json_t *make_gpus(const void *item)
{
	const struct state_document *s = item;
	json_auto_t *list = json_array();

	for (size_t i = 0; i < s->node->n_pcis; i++) {
		struct near_gpu g = { &s->node->pcis[i], s->plan, NEARNESS_NONE };

		if (!pci_is_gpu(g.pci))
			continue;
		for (size_t k = 0; k < g.plan->n_devices; k++)
			g.nearness = MAX(g.nearness, pci_nearness(g.pci, g.plan->devices[k].pci));
		if (json_array_append_new(list, fields_pack(&gpu_fields, &g)) < 0)
			return NULL;
	}
	return TAKE(list);
}

/* Boots before this one: the same in all of a boot. */

static json_t *make_outcome(const void *item)
{
	const struct boot_step *s = item;

	return json_string(s->is_skipped ? "skipped" : s->result < 0 ? "failed" : "never-ended");
}

static json_t *make_error(const void *item)
{
	const int result = ((const struct boot_step *)item)->result;

	return json_string(result < 0 ? strerror(-result) : "");
}

static const struct field step_rows[] = {
	WORD_FIELD(struct boot_step, "verb", verb, verb_name, _VERB_N),
	TEXT(struct boot_step, "target", target),
	TEXT(struct boot_step, "to", to),
	MADE("outcome", make_outcome),
	MADE("error", make_error),
};
static const struct fields step_fields = FIELDS(step_rows, struct boot_step);

static const struct field boot_rows[] = {
	TEXT(struct boot, "boot_id", boot_id),
	NUMBER(struct boot, "time", time),
	TEXT(struct boot, "kernel", kernel),
	WORD_FIELD(struct boot, "state", state, node_state_name, _NODE_STATE_N),
	LIST(FIELD_ARRAY, struct boot, "steps", steps, step_fields),
};
static const struct fields boot_fields = FIELDS(boot_rows, struct boot);

static json_t *make_boots(const void *item)
{
	const struct state_document *s = item;
	size_t first;
	const size_t count = boots_telling(s->node, s->memory, &first);

	return fields_pack_list(&boot_fields, s->memory->boots + first, count);
}

static const struct field need_rows[] = {
	TEXT(struct need, "pci", pci),
	TEXT(struct need, "netdev", netdev),
	FLAG(struct need, "by_vf", is_by_vf),
	TEXT(struct need, "evidence", words),
};
static const struct fields need_fields = FIELDS(need_rows, struct need);

json_t *output_needs(const struct plan *p)
{
	return fields_pack_list(&need_fields, p->needs, p->n_needs);
}

/* The physical functions that Match= could name: with an RDMA device, or NICs with SR-IOV. */
static json_t *make_nics(const void *item)
{
	const struct node *n = ((const struct state_document *)item)->node;
	json_auto_t *list = json_array();

	FOREACH(f, n->pcis, n->n_pcis) {
		const struct ibdev *ib = node_ibdev_of(n, f->address);
		const struct netdev *nd = node_netdev_of(n, f->address);
		char id[12];

		if (f->physfn[0] || pci_is_for_vfs(f) ||
		    !(ib || pci_is_erdma(f) ||
		      (pci_is_network(f) && (f->total_vfs > 0 || rdma_part_of(f->driver)))))
			continue;
		PRINT(id, "%04x:%04x", f->vendor, f->device);
		if (json_array_append_new(
			    list,
			    json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:I}", "pci",
				      document_text(f->address), "id", id, "driver",
				      document_text(f->driver), "netdev",
				      document_text(nd ? nd->name : ""), "ibdev",
				      document_text(ib ? ib->name : ""), "rate",
				      document_text(ib && ib->n_ports > 0 ? ib->ports[0].rate : ""),
				      "total_vfs", (json_int_t)f->total_vfs)) < 0)
			return NULL;
	}
	return TAKE(list);
}

static const struct field state_rows[] = {
	NUMBER(struct state_document, "schema", schema),
	VIA(FIELD_TEXT, struct state_document, node, "boot_id", boot_id),
	VIA(FIELD_TEXT, struct state_document, config, "config_hash", hash),
	VIA(FIELD_WORD, struct state_document, plan, "state", state, .word = node_state_name),
	MADE("reasons", make_reasons),
	MADE("devices", make_devices),
	PART("plugin", plugin_fields),
	PART("kubelet", kubelet_fields),
	MADE("health", make_health, .has = offsetof(struct state_document, has_health)),
	MADE("gpus", make_gpus, .has = offsetof(struct state_document, has_gpus)),
	MADE("qos", make_qos, .has = offsetof(struct state_document, has_qos)),
	PART("smc", smc_fields, .has = offsetof(struct state_document, has_smc)),
	MADE("boots", make_boots, .has = offsetof(struct state_document, has_boots)),
	VIA(FIELD_LIST, struct state_document, plan, "needs", needs, .of = &need_fields,
	    .count = offsetof(struct plan, n_needs),
	    .has = offsetof(struct state_document, has_needs)),
	MADE("nics", make_nics, .has = offsetof(struct state_document, has_nics)),
};
static const struct fields state_fields = FIELDS(state_rows, struct state_document);

int output_state(const struct config *c, const struct node *n, const struct memory *memory,
		 const struct plan *p, char **ret)
{
	size_t first;
	struct state_document s = { c,
				    n,
				    memory,
				    p,
				    SCHEMA,
				    p->n_health > 0,
				    ANY(g, n->pcis, n->n_pcis, pci_is_gpu(g)),
				    qos_is_set(c),
				    c->smc.enable != SMC_NO || n->has_pnets,
				    boots_telling(n, memory, &first) > 0,
				    p->n_needs > 0,
				    p->n_devices == 0 };
	json_auto_t *document = NULL;

	fill_plugin(&s);
	fill_kubelet(&s);
	document = fields_pack(&state_fields, &s);
	return document ? document_print(document, ret) : -ENOMEM;
}

/* The way back */

static const struct field head_rows[] = {
	NAME(struct state_head, "boot_id", boot_id, .flags = FIELD_FORGET),
	WORD_FIELD(struct state_head, "state", state, node_state_name, _NODE_STATE_N,
		   .flags = FIELD_NEEDED),
};
static const struct fields head_fields = FIELDS(head_rows, struct state_head);

int output_read_state(const char *json, const char *boot_id, enum node_state *ret)
{
	json_auto_t *document = NULL;
	struct state_head head = {};
	int r = document_parse(json, strlen(json), 0, &document, NULL);

	if (r >= 0)
		r = fields_parse(&head_fields, document, &head, NULL);
	if (r < 0)
		return r;
	if (boot_id && !streq(head.boot_id, boot_id))
		return -ENOENT;
	*ret = head.state;
	return 0;
}

/* Puts the reason before all others, and once. */
static int put_reason(json_t *document, enum reason reason, const char *detail)
{
	json_auto_t *list = json_array();
	int r = add_reason(list, reason, "", detail);

	document_each(item, json_object_get(document, "reasons"))
		if (!streq(document_get_text(item, "code"), reason_code(reason)) &&
		    json_array_append(list, item) < 0)
			r = -ENOMEM;
	return json_object_set(document, "reasons", list) < 0 ? -ENOMEM : r;
}

int output_add_config_changed(const char *hash, char **json)
{
	json_auto_t *document = NULL;
	json_t *reasons;
	char *text;
	int r = document_parse(*json, strlen(*json), 0, &document, NULL);

	if (r < 0)
		return r;
	reasons = json_object_get(document, "reasons");
	if (!json_is_array(reasons))
		return -EINVAL;
	if (hash ? streq(document_get_text(document, "config_hash"), hash)
		 : has_reason(reasons, reason_code(REASON_CONFIG_INVALID), ""))
		return 0;

	r = put_reason(document, REASON_CONFIG_CHANGED, "");
	if (r >= 0)
		r = document_print(document, &text);
	if (r < 0)
		return r;
	free(*json);
	*json = text;
	return 1;
}

int output_degrade(const char *json, const char *boot_id, const char *hash, enum reason reason,
		   const char *detail, char **ret)
{
	json_auto_t *document = NULL;
	struct state_head head = {};
	int r = json ? document_parse(json, strlen(json), JSON_REJECT_DUPLICATES, &document, NULL)
		     : -EINVAL;

	if (r >= 0)
		r = fields_parse(&state_head_fields, document, &head, NULL);
	if (r < 0)
		return r;
	if (!json_is_array(json_object_get(document, "reasons")) || !streq(head.boot_id, boot_id))
		return -EINVAL;

	head.state = NODE_DEGRADED;
	COPY(head.config_hash, hash);
	if (put_reason(document, reason, detail) < 0 ||
	    fields_update(document, &state_head_fields, &head) < 0)
		return -ENOMEM;
	return document_print(document, ret);
}

int output_state_line(const char *json, char **ret)
{
	json_auto_t *document = NULL;
	int r = document_parse(json, strlen(json), 0, &document, NULL);

	return r < 0 ? r : document_dump(document, JSON_COMPACT, ret);
}

static int add_news(const json_t *reason, bool is_over, struct news **news, size_t *n)
{
	struct news told = { .is_over = is_over };

	if (fields_parse(&reason_fields, reason, &told, NULL) < 0) /* of another version */
		return 0;
	return ADD(*news, *n, told);
}

static bool is_starting(const json_t *document)
{
	struct state_head head = {};

	return fields_parse(&head_fields, document, &head, NULL) < 0 || head.state == NODE_STARTING;
}

int output_news(const char *before, const char *after, struct news **ret, size_t *ret_n)
{
	json_auto_t *x = NULL, *y = NULL;
	_cleanup_(freep) struct news *news = NULL;
	const json_t *old, *new;
	size_t n = 0;
	int r = before ? document_parse(before, strlen(before), 0, &x, NULL) : 0;

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
		if (!document_any(item, old, json_equal(item, json_array_get(new, i))))
			r = add_news(json_array_get(new, i), false, &news, &n);
	if (r < 0)
		return r;

	*ret = TAKE(news);
	*ret_n = n;
	return 0;
}
