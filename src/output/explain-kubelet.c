/* SPDX-License-Identifier: Apache-2.0 */
#include "explain-kubelet.h"

#include "../base/document.h"

bool output_has_hints(const struct config *c)
{
	return c->plugin.type == PLUGIN_SRIOV; /* the others hand out numbers, not devices */
}

static void explain_start(FILE *f, const struct kubelet *k)
{
	fprintf(f, "  started by   %s\n", *k->unit ? k->unit : "no unit that is known");
	if (*k->version)
		fprintf(f, "  version      %s\n", k->version);
	if (*k->file)
		fprintf(f, "  --config     %s%s%s%s\n", k->file,
			k->has_file ? "" : ", which is not there", *k->file_problem ? ": " : "",
			k->has_file ? k->file_problem : "");
	if (*k->folder)
		fprintf(f, "  --config-dir %s%s\n", k->folder,
			k->has_folder ? "" : ", which is no folder: nothing in it is read");
	if (*k->manager)
		fprintf(f, "  managed by   %s\n", k->manager);
	if (*k->problem)
		fprintf(f, "  not clear    %s\n", k->problem);
	fprintf(f, "  runs         %s\n",
		!k->is_running   ? "no"
		: k->is_deferred ? "yes, since before our last edit: restart it to have it"
				 : "yes");
}

static void explain_value(FILE *f, const struct kubelet *k, enum kubelet_setting s)
{
	const struct kubelet_value *v = &k->values[s];
	const bool is_default = v->source == KUBELET_DEFAULT;

	fprintf(f, "\n%s\n", kubelet_key(s));
	fprintf(f, "  at the next start  %s%s\n",
		is_default && *kubelet_word(s, 1) ? kubelet_word(s, 1)
		: *v->text                        ? v->text
						  : "nothing",
		v->is_misspelt ? ", which the kubelet does not understand" : "");
	if (is_default) {
		fprintf(f, "  decided by         nobody: it is the kubelet's default\n");
		return;
	}
	fprintf(f, "  decided by         %s, %s", kubelet_source_name(v->source),
		*v->path ? v->path : "in a place that is not known");
	if (v->line > 0)
		fprintf(f, ":%" PRIu32, v->line);
	fputc('\n', f);
}

static void explain_item(FILE *f, const struct kubelet_item *item)
{
	if (item->row == 0) {
		fprintf(f, "  asked for          nothing: it is left alone\n");
		return;
	}
	fprintf(f, "  asked for          %s\n", item->to);
	fprintf(f, "  verdict            %s%s%s (row %" PRIu32 ")\n",
		item->outcome == KUBELET_CHANGED ? "to be changed"
						 : kubelet_outcome_name(item->outcome),
		item->reason != REASON_NONE ? " " : "", reason_code(item->reason), item->row);
	if (item->outcome == KUBELET_CHANGED)
		fprintf(f, "  to be edited       %s, %s\n", kubelet_way_name(item->way),
			item->path);
	if (*item->detail)
		fprintf(f, "  because            %s\n", item->detail);
	if (item->reason != REASON_NONE)
		fprintf(f, "  advice             %s\n", reason_advice(item->reason));
}

static void explain_cpus(FILE *f, const struct kubelet_cpus *cpus)
{
	fprintf(f, "  CPUs               %" PRIu32 " reserved, ", cpus->n_reserved);
	if (cpus->n_online > 0)
		fprintf(f, "%" PRIu32 " online", cpus->n_online);
	else
		fputs("how many are online is not known", f);
	fprintf(f, "; state file %s\n", *cpus->checkpoint ? cpus->checkpoint : "absent");
}

static void explain_hints(FILE *f, const struct config *c)
{
	fprintf(f, "\nNUMA hints\n  device plugin      %s%s\n", plugin_type_name(c->plugin.type),
		c->plugin.type == PLUGIN_NONE ? ": nothing is known of the devices' NUMA nodes"
		: output_has_hints(c)         ? ": tells the NUMA node of each device"
				      : ": tells no NUMA node, so no policy moves its devices");
}

int output_explain_kubelet_text(const struct config *c, const struct node *n, const struct plan *p,
				char **ret)
{
	const struct kubelet *k = &n->kubelet;
	_cleanup_(freep) char *text = NULL; /* of the stream, valid once that is closed */
	size_t size = 0;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;

	fprintf(f, "kubelet\n");
	if (!k->is_there) {
		fprintf(f, "  There is none on this node.\n");
	} else {
		explain_start(f, k);
		if (*k->since)
			fprintf(f, "  our edits    since %s\n", k->since);
		for (int s = 0; s < KUBELET_RESERVED_CPUS; s++) {
			explain_value(f, k, (enum kubelet_setting)s);
			explain_item(f, &p->kubelet.items[s]);
		}
		explain_cpus(f, &k->cpus);
		explain_hints(f, c);
	}

	if (text_close(f, &text) < 0)
		return -ENOMEM;
	*ret = TAKE(text);
	return 0;
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

int output_explain_kubelet_json(const struct config *c, const struct node *n, const struct plan *p,
				char **ret)
{
	const struct kubelet *k = &n->kubelet;
	json_auto_t *document = NULL;

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
