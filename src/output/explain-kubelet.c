/* SPDX-License-Identifier: Apache-2.0 */
#include "explain-kubelet.h"

#include "../base/document.h"
#include "sheet.h"

#define START_WIDTH 13
#define VALUE_WIDTH 19

bool output_has_hints(const struct config *c)
{
	return c->plugin.type == PLUGIN_SRIOV; /* the others hand out numbers, not devices */
}

static void explain_start(struct sheet *s, const struct kubelet *k)
{
	sheet_put(s, "started by", "%s", *k->unit ? k->unit : "no unit that is known");
	if (*k->version)
		sheet_put(s, "version", "%s", k->version);
	if (*k->file)
		sheet_put(s, "--config", "%s%s%s%s", k->file,
			  k->has_file ? "" : ", which is not there", *k->file_problem ? ": " : "",
			  k->has_file ? k->file_problem : "");
	if (*k->folder)
		sheet_put(s, "--config-dir", "%s%s", k->folder,
			  k->has_folder ? "" : ", which is no folder: nothing in it is read");
	if (*k->manager)
		sheet_put(s, "managed by", "%s", k->manager);
	if (*k->problem)
		sheet_put(s, "not clear", "%s", k->problem);
	sheet_put(s, "runs", "%s",
		  !k->is_running   ? "no"
		  : k->is_deferred ? "yes, since before our last edit: restart it to have it"
				   : "yes");
	if (*k->since)
		sheet_put(s, "our edits", "since %s", k->since);
}

static void explain_value(struct sheet *s, const struct kubelet *k, enum kubelet_setting setting)
{
	const struct kubelet_value *v = &k->values[setting];
	const char *of_default = kubelet_word(setting, 1);
	const bool is_default = v->source == KUBELET_DEFAULT;

	fprintf(s->f, "\n%s\n", kubelet_key(setting));
	sheet_put(s, "at the next start", "%s%s",
		  is_default && *of_default ? of_default
		  : *v->text                ? v->text
					    : "nothing",
		  v->is_misspelt ? ", which the kubelet does not understand" : "");
	s->label = "decided by";
	if (is_default) {
		sheet_line(s, "nobody: it is the kubelet's default");
		return;
	}
	sheet_add(s, "%s, %s", kubelet_source_name(v->source),
		  *v->path ? v->path : "in a place that is not known");
	if (v->line > 0)
		sheet_add(s, ":%" PRIu32, v->line);
	sheet_end(s);
}

static void explain_item(struct sheet *s, const struct kubelet_item *item)
{
	if (item->row == 0) {
		sheet_put(s, "asked for", "nothing: it is left alone");
		return;
	}
	sheet_put(s, "asked for", "%s", item->to);
	sheet_put(s, "verdict", "%s%s%s (row %" PRIu32 ")",
		  item->outcome == KUBELET_CHANGED ? "to be changed"
						   : kubelet_outcome_name(item->outcome),
		  item->reason != REASON_NONE ? " " : "", reason_code(item->reason), item->row);
	if (item->outcome == KUBELET_CHANGED)
		sheet_put(s, "to be edited", "%s, %s", kubelet_way_name(item->way), item->path);
	if (*item->detail)
		sheet_put(s, "because", "%s", item->detail);
	if (item->reason != REASON_NONE)
		sheet_put(s, "advice", "%s", reason_advice(item->reason));
}

static void explain_cpus(struct sheet *s, const struct kubelet_cpus *cpus)
{
	s->label = "CPUs";
	sheet_add(s, "%" PRIu32 " reserved, ", cpus->n_reserved);
	if (cpus->n_online > 0)
		sheet_add(s, "%" PRIu32 " online", cpus->n_online);
	else
		sheet_add(s, "how many are online is not known");
	sheet_line(s, "; state file %s", *cpus->checkpoint ? cpus->checkpoint : "absent");
}

static void explain_hints(struct sheet *s, const struct config *c)
{
	fputs("\nNUMA hints\n", s->f);
	sheet_put(s, "device plugin", "%s%s", plugin_type_name(c->plugin.type),
		  c->plugin.type == PLUGIN_NONE ? ": nothing is known of the devices' NUMA nodes"
		  : output_has_hints(c)         ? ": tells the NUMA node of each device"
					: ": tells no NUMA node, so no policy moves its devices");
}

static int draw(const struct config *c, const struct kubelet *k, const struct plan *p, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (sheet_open(&s, 2, START_WIDTH) < 0)
		return -ENOMEM;

	fputs("kubelet\n", s.f);
	if (!k->is_there) {
		fputs("  There is none on this node.\n", s.f);
		return sheet_close(&s, ret);
	}
	explain_start(&s, k);
	s.width = VALUE_WIDTH;
	for (int i = 0; i < KUBELET_RESERVED_CPUS; i++) {
		explain_value(&s, k, (enum kubelet_setting)i);
		explain_item(&s, &p->kubelet.items[i]);
	}
	explain_cpus(&s, &k->cpus);
	explain_hints(&s, c);
	return sheet_close(&s, ret);
}

const char *output_kubelet_outcome(const struct kubelet_item *item)
{
	if (item->row == 0)
		return "";
	return item->outcome == KUBELET_CHANGED ? "pending" : kubelet_outcome_name(item->outcome);
}

static json_t *make_setting(const struct kubelet *k, enum kubelet_setting s,
			    const struct kubelet_item *item)
{
	const struct kubelet_value *v = &k->values[s];
	const bool is_pending = item->row > 0 && item->outcome == KUBELET_CHANGED;
	const char *value = v->source == KUBELET_DEFAULT ? kubelet_word(s, 1) : v->text;

	return json_pack("{s:s, s:o, s:s, s:o, s:I, s:o, s:I, s:s, s:s, s:o, s:s, s:o, s:s}",
			 /* what is */
			 "key", kubelet_key(s), "value", document_text(value), "source",
			 kubelet_source_name(v->source), "path", document_text(v->path), "line",
			 (json_int_t)v->line,
			 /* what is wanted of it */
			 "wanted", document_text(item->row > 0 ? item->to : ""), "row",
			 (json_int_t)item->row, "outcome", output_kubelet_outcome(item), "way",
			 is_pending ? kubelet_way_name(item->way) : "", "edits",
			 document_text(is_pending ? item->path : ""), "code",
			 reason_code(item->reason), "detail", document_text(item->detail), "advice",
			 reason_advice(item->reason));
}

static json_t *make_settings(const struct kubelet *k, const struct kubelet_decision *d)
{
	json_auto_t *list = json_array();

	for (int s = 0; s < _KUBELET_SETTING_N && k->is_there; s++)
		if (json_array_append_new(
			    list, make_setting(k, (enum kubelet_setting)s, &d->items[s])) < 0)
			return NULL;
	return TAKE(list);
}

int output_explain_kubelet(const struct config *c, const struct node *n, const struct plan *p,
			   bool is_json, char **ret)
{
	const struct kubelet *k = &n->kubelet;
	json_auto_t *document = NULL;

	if (!is_json)
		return draw(c, k, p, ret);

	document = json_pack(
		"{s:b, s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:b, s:s, s:o, s:{s:I, s:I, s:o}, s:s, "
		"s:b}",
		"present", k->is_there, "unit", document_text(k->unit), "version",
		document_text(k->version), "config", document_text(k->file), "config_dir",
		document_text(k->folder), "managed_by", k->manager, "problem",
		document_text(k->problem), "running", k->is_running, "deferred", k->is_deferred,
		"since", k->since, "settings", make_settings(k, &p->kubelet), "cpus", "reserved",
		(json_int_t)k->cpus.n_reserved, "online", (json_int_t)k->cpus.n_online,
		"checkpoint", document_text(k->cpus.checkpoint), "plugin",
		plugin_type_name(c->plugin.type), "hints", output_has_hints(c));
	return document ? document_print(document, ret) : -ENOMEM;
}
