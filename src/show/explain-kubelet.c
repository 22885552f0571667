/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: of the kubelet, from facts to verdict: how it is started, what its settings will be at
 * its next start, who decides that and since when, what is done about it and by which row of the
 * table, and whether the device plugin gives the topology manager anything to work with.
 *
 * Pure.
 */
#include "explain.h"

#include "../base/document.h"
#include "sheet.h"

#define START_WIDTH 13
#define VALUE_WIDTH 19

bool output_has_hints(const struct config *c)
{
	return c->plugin.type == PLUGIN_SRIOV; /* the others hand out numbers, not devices */
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
	return document_list(item, d->items, k->is_there ? _KUBELET_SETTING_N : 0, true,
			     make_setting(k, (enum kubelet_setting)(item - d->items), item));
}

static json_t *make_document(const struct config *c, const struct node *n)
{
	const struct kubelet *k = &n->kubelet;

	/* clang-format off */
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:b, s:s, s:o, s:{s:I, s:I, s:o}, s:s, s:b}",
			 "present", k->is_there,
			 "unit", document_text(k->unit),
			 "version", document_text(k->version),
			 "config", document_text(k->file),
			 "config_dir", document_text(k->folder),
			 "root_dir", document_text(k->root_dir),
			 "managed_by", k->manager,
			 "problem", document_text(k->problem),
			 "running", k->is_running,
			 "deferred", k->is_deferred,
			 "since", k->since,
			 "settings", make_settings(k, &n->kubelet_decision),
			 "cpus",
				 "reserved", (json_int_t)k->cpus.n_reserved,
				 "online", (json_int_t)k->cpus.n_online,
				 "checkpoint", document_text(k->cpus.checkpoint),
			 "plugin", plugin_type_name(c->plugin.type),
			 "hints", output_has_hints(c));
	/* clang-format on */
}

static const struct sheet_row start_rows[] = {
	{ "started by", "", "[{unit}|no unit that is known]" },
	{ "version", "", "{version}" },
	{ "--config", "", "[{config}[{!has_file}, which is not there][: {file_problem}]]" },
	{ "--config-dir", "",
	  "[{config_dir}[{!has_folder}[{?lacks_folder}, which is not there|, which is no folder: "
	  "nothing in it is read]]]" },
	{ "--root-dir", "", "[{!root_dir=" KUBELET_ROOT_DIR "}{root_dir}]" },
	{ "managed by", "", "{managed_by}" },
	{ "not clear", "", "{problem}" },
	{ "runs", "",
	  "[{!running}no|{?deferred}yes, started before our last edit, which takes effect at a "
	  "restart|yes]" },
	{ "our edits", "", "[since {since}]" },
};

static const struct sheet_row setting_rows[] = {
	{ "at the next start", "",
	  "[{?source=unknown}not known|{value}|nothing][{?misspelt}, which the kubelet does not "
	  "understand]" },
	{ "decided by", "",
	  "[{?source=default}the kubelet's default|{?source=unknown}"
	  "a file that is not there, or is not understood"
	  "|{source}, [{path}|in a place that is not known][:{+line}]]" },
	{ "asked for", "",
	  "[{?way=take-back}our value is removed, which leaves [{wanted}|nothing]"
	  "|{?+row}{wanted}|nothing: it is left alone]" },
	{ "verdict", "", "[[{?outcome=pending}to be changed|{outcome}][ {code}]]" },
	{ "to be edited", "", "[{way}, {edits}]" },
	{ "because", "", "{detail}" },
	{ "advice", "", "{advice}" },
};

static const struct sheet_row cpu_rows[] = {
	{ "CPUs", "cpus",
	  "{reserved} reserved, [{+online} online|how many are online is not known]; "
	  "state file [{checkpoint}|absent]" },
};

static const struct sheet_row hint_rows[] = {
	{ "device plugin", "",
	  "{plugin}[{?plugin=none}: nothing is known of the devices' NUMA nodes"
	  "|{?hints}: reports the NUMA node of each device"
	  "|: reports no NUMA node, so no policy moves its devices]" },
};

#define FILL(s, d, rows) sheet_fill_rows((s), (d), rows, ELEMENTSOF(rows))

/* Adds keys that the text for people needs and "--json" does not print. */
static int add_problems(json_t *document, const struct kubelet *k)
{
	json_t *settings = json_object_get(document, "settings");
	json_auto_t *more =
		json_pack("{s:b, s:o, s:b, s:b}", "has_file", k->has_file, "file_problem",
			  document_text(k->has_file ? k->file_problem : ""), "has_folder",
			  k->has_folder, "lacks_folder", k->lacks_folder);

	if (json_object_update(document, more) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(settings); i++)
		if (json_object_set_new(json_array_get(settings, i), "misspelt",
					json_boolean(k->values[i].is_misspelt)) < 0)
			return -ENOMEM;
	return 0;
}

static int draw(json_t *document, const struct kubelet *k, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (add_problems(document, k) < 0 || sheet_open(&s, 2, START_WIDTH) < 0)
		return -ENOMEM;

	fputs("kubelet\n", s.out.f);
	if (!k->is_there) {
		fprintf(s.out.f, "  %s was found. Looked for:\n",
			k->is_running ? "A kubelet runs, and neither its unit nor its file"
				      : "None");
		for (size_t i = 0; i < N_KUBELET_UNITS; i++)
			fprintf(s.out.f, "    %s\n", kubelet_units[i]);
		fputs("    " K3S_UNITS "\n", s.out.f);
		for (size_t i = 0; i < N_KUBELET_FILES; i++)
			fprintf(s.out.f, "    %s\n", kubelet_files[i]);
		return sheet_close(&s, ret);
	}
	FILL(&s, document, start_rows);
	s.width = VALUE_WIDTH;
	for (size_t i = 0; i < KUBELET_RESERVED_CPUS; i++) {
		fprintf(s.out.f, "\n%s\n", kubelet_key((enum kubelet_setting)i));
		FILL(&s, json_array_get(json_object_get(document, "settings"), i), setting_rows);
	}
	FILL(&s, document, cpu_rows);
	fputs("\nNUMA hints\n", s.out.f);
	FILL(&s, document, hint_rows);
	return sheet_close(&s, ret);
}

int output_explain_kubelet(const struct config *c, const struct node *n, bool is_json, char **ret)
{
	json_auto_t *document = make_document(c, n);

	if (!document)
		return -ENOMEM;
	return is_json ? document_print(document, ret) : draw(document, &n->kubelet, ret);
}
