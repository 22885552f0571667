/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: of the device plugin, from facts to verdict: its file and whether that is written, who
 * starts it, the processes of it and whether they have read the file, what its own rules
 * (lint-rules.h) make of each device, what it exposes, and what to do.
 *
 * Pure.
 */
#include "explain.h"

#include "../base/document.h"
#include "../model/plugin-facts.h"
#include "../plugin/plugin-output.h"
#include "check.h"
#include "sheet.h"

/* The reason why the plugin does not expose all that it should. */
struct obstacle {
	enum reason reason;
	const char *detail, *advice;
};

static const struct action *find_action(const struct plan *p, const char *path)
{
	return FIND(a, p->actions, p->n_actions,
		    a->verb == VERB_WRITE_PLUGIN && streq(a->target, path));
}

/* Is a process older than the plugin's file, or than a device that it finds without a file? */
static bool has_old_process(const struct config *c, const struct node *n,
			    const struct memory *memory, const struct plan *p)
{
	const bool is_file_read = !*c->plugin.manifest && plan_has_plugin_file(n, p);

	return ANY(q, n->plugin_processes, n->n_plugin_processes,
		   (is_file_read && q->is_dated && q->since_change_sec < 0) ||
			   plan_missed_by(c, n, memory, p, q));
}

/* The item of the plan that keeps all devices from being there. */
static const struct action *find_lack(const struct plan *p)
{
	return FIND(a, p->actions, p->n_actions,
		    (a->verb == VERB_WAIT && !*a->target) ||
			    (a->verb == VERB_SET_NUM_VFS && a->class != CLASS_CHANGE));
}

/* There is no device to expose, whatever the rules. */
static bool is_void(const struct config *c, const struct plan *p)
{
	return plugin_has_file(c->plugin.type)
		       ? !p->plugin
		       : p->lint.refusal == REASON_NONE && p->lint.n_exposed == p->lint.n_foreign;
}

/* The first obstacle, in the order in which obstacles have to be mended. */
static struct obstacle find_obstacle(const struct config *c, const struct node *n,
				     const struct memory *memory, const struct plan *p,
				     const json_t *excluded)
{
	const struct action *item = find_action(p, c->plugin.config_file);
	enum reason reason = REASON_NONE;
	const char *detail = "";

	if (c->plugin.type == PLUGIN_NONE)
		return (struct obstacle){ REASON_NONE, "", "" };
	if (is_void(c, p)) {
		/* The reason of the first device that is left out stands for all of them. */
		const json_t *first = output_check_first(excluded);

		if (first)
			return (struct obstacle){
				reason_from_code(document_get_text(first, "code")),
				document_get_text(first, "target"),
				document_get_text(first, "advice"),
			};
		item = find_lack(p) ?: item;
	}
	if (p->lint.refusal != REASON_NONE) {
		reason = p->lint.refusal;
		detail = p->lint.detail;
	} else if (item && item->class != CLASS_CHANGE) {
		reason = item->reason;
		detail = item->detail;
	} else if (has_old_process(c, n, memory, p))
		reason = REASON_PLUGIN_RESTART_NEEDED;
	return (struct obstacle){ reason, detail, reason_advice(reason) };
}

static json_t *make_processes(const struct node *n)
{
	return document_list(
		q, n->plugin_processes, n->n_plugin_processes, true,
		json_pack("{s:I, s:o, s:o, s:o}", "pid", (json_int_t)q->pid, "command",
			  document_text(q->command), "container", document_text(q->container),
			  "since_change",
			  q->is_dated ? json_integer(q->since_change_sec) : json_null()));
}

/* NULL: there is no memory. */
static json_t *make_document(const struct config *c, const struct node *n,
			     const struct memory *memory, const struct plan *p, bool has_processes)
{
	const bool is_none = c->plugin.type == PLUGIN_NONE;
	const struct action *write = find_action(p, c->plugin.config_file);
	const bool is_nothing = is_none || is_void(c, p) || p->lint.refusal != REASON_NONE;
	json_auto_t *document = output_check_make_plugin(c, p), *more = NULL;
	const struct obstacle o =
		find_obstacle(c, n, memory, p, json_object_get(document, "excluded"));

	/* clang-format off */
	more = json_pack("{s:o, s:b, s:s, s:s, s:b, s:o, s:I, s:s, s:s, s:o, s:s}",
			 "resources", output_plugin_resources(c, p),
			 "written", !is_none && plan_has_plugin_file(n, p),
			 "waits", write && write->class != CLASS_CHANGE ? reason_code(write->reason)
									: "",
			 "manifest", c->plugin.manifest,
			 "processes_known", has_processes,
			 "processes", make_processes(n),
			 "exposes", is_nothing ? (json_int_t)0 : (json_int_t)(p->lint.n_exposed - p->lint.n_foreign),
			 "code", reason_code(o.reason),
			 "meaning", reason_meaning(o.reason),
			 "detail", document_text(o.detail),
			 "advice", o.advice);
	/* clang-format on */
	return document && more && json_object_update(document, more) == 0 ? TAKE(document) : NULL;
}

#define LABEL_WIDTH 13

#define TEXT(object, key) document_get_text((object), (key))

static void put_processes(struct sheet *s, const json_t *list)
{
	document_each(q, list) {
		const json_t *since = json_object_get(q, "since_change");
		const long long sec = json_integer_value(since);

		s->label = "runs";
		sheet_add(s, "%s, pid %lld%s%s", TEXT(q, "command"),
			  (long long)document_get_number(q, "pid"),
			  *TEXT(q, "container") ? " in " : "", TEXT(q, "container"));
		if (json_is_integer(since))
			sheet_add(s, ", since %lld s %s the file changed: it has %sread it",
				  sec < 0 ? -sec : sec, sec < 0 ? "before" : "after",
				  sec < 0 ? "not " : "");
		sheet_end(s);
	}
}

static const struct sheet_row file_rows[] = {
	{ "type", "", "{type}" },
	{ "file", "",
	  "[{!type=none}[{path}, [{?written}written|not written"
	  "[: {waits}|{?+exposes}: the next pass writes it]]|none: a DRA driver finds devices "
	  "itself]]" },
	{ "static pod", "", "[{!type=none}[{manifest}|none of ours: another program starts it]]" },
	{ "runs", "", "[{!type=none}[{!processes_known}not looked for|{!processes}no]]" },
};

static const struct sheet_row rule_rows[] = {
	{ NULL, "devices", "{pci}  exposed as {resource}" },
	{ NULL, "excluded", "{target}  {code}: {meaning}[: {detail}]\n  → {advice}" },
	{ NULL, "", "[{!devices}{!excluded}no device to apply them to]" },
};

static const char verdict[] =
	"[{?code}would expose|{?written}exposes|would expose]"
	"[{?+exposes}{*resources,;} " OUTPUT_PLUGIN_AMOUNT OUTPUT_PLUGIN_MIX "{/}| 0 devices]"
	"[; {code}: {meaning}[: {detail}]\n  → {advice}]";

static int draw(const json_t *d, char **ret)
{
	_cleanup_(sheet_done) struct sheet s = {};

	if (sheet_open(&s, 2, LABEL_WIDTH) < 0)
		return -ENOMEM;

	fputs("device plugin\n", s.out.f);
	sheet_fill_rows(&s, d, file_rows, ELEMENTSOF(file_rows));
	if (streq(TEXT(d, "type"), plugin_type_name(PLUGIN_NONE))) {
		fputs("\nVerdict\n  none is asked for: no file is written for one, and a plugin on "
		      "this node\n  exposes what its own configuration says\n"
		      "    → [DevicePlugin] Type=rdma-shared, sriov, hca, dranet or dra-sriov "
		      "chooses one\n",
		      s.out.f);
		return sheet_close(&s, ret);
	}
	put_processes(&s, json_object_get(d, "processes"));
	s.width = 0;
	fputs("\nRules, as the plugin applies them\n", s.out.f);
	sheet_fill_rows(&s, d, rule_rows, ELEMENTSOF(rule_rows));
	fputs("\nVerdict\n", s.out.f);
	sheet_fill(&s, d, verdict);
	return sheet_close(&s, ret);
}

int output_explain_plugin(const struct config *c, const struct node *n, const struct memory *memory,
			  const struct plan *p, bool has_processes, bool is_json, char **ret)
{
	json_auto_t *document = make_document(c, n, memory, p, has_processes);

	if (!document)
		return -ENOMEM;
	return is_json ? document_print(document, ret) : draw(document, ret);
}
