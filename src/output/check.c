/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "../base/document.h"
#include "lint.h"
#include "plugin.h"
#include "sheet.h"

static int make_problem(const struct config *c, enum reason reason, const char *detail, char **ret)
{
	return asprintf(ret, "[DevicePlugin] Type=%s: %s%s%s. %s", plugin_type_name(c->plugin.type),
			reason_meaning(reason), *detail ? ": " : "", detail,
			reason_advice(reason)) < 0
		       ? -ENOMEM
		       : 0;
}

/* It is in the right mode for what was asked, and will never be usable with this plugin. */
static bool is_dead_end(const struct config *c, const struct device *d)
{
	return c->plugin.type == PLUGIN_RDMA_SHARED && d->is_handed_out &&
	       d->reason == REASON_PLUGIN_NO_MAD;
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
		return make_problem(c, reason, detail, ret);

	for (size_t i = 0; p && i < p->n_devices; i++)
		if (is_dead_end(c, &p->devices[i]))
			return make_problem(c, REASON_PLUGIN_NO_MAD, p->devices[i].pci->address,
					    ret);
	if (p && p->plugin && p->lint.refusal != REASON_NONE)
		return make_problem(c, p->lint.refusal, p->lint.detail, ret);
	return 0;
}

static int add_excluded(json_t *list, const char *target, enum reason reason, const char *detail)
{
	json_t *item = json_pack("{s:o, s:s, s:s, s:o, s:s}", "target", document_text(target),
				 "code", reason_code(reason), "meaning", reason_meaning(reason),
				 "detail", document_text(detail), "advice", reason_advice(reason));

	return json_array_append_new(list, item) < 0 ? -ENOMEM : 0;
}

/* First what is handed out and not usable, then what the plugin drops. */
static json_t *make_excluded(const struct plan *p)
{
	json_auto_t *list = json_array();
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n_devices && r >= 0; i++) {
		const struct device *d = &p->devices[i];

		if (d->is_handed_out && !output_plugin_offers(d))
			r = add_excluded(list, d->pci->address, d->reason, d->detail);
	}
	for (size_t i = 0; i < p->lint.n_findings && r >= 0; i++)
		r = add_excluded(list, p->lint.findings[i].target, p->lint.findings[i].reason,
				 p->lint.findings[i].detail);
	return r < 0 ? NULL : TAKE(list);
}

static json_t *make_exposed(const struct plan *p)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < p->lint.n_exposed; i++)
		if (json_array_append_new(
			    list,
			    json_pack("{s:o, s:o}", "pci", document_text(p->lint.exposed[i].pci),
				      "resource", document_text(p->lint.exposed[i].resource))) < 0)
			return NULL;
	return TAKE(list);
}

json_t *output_check_make_plugin(const struct config *c, const struct plan *p)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "type", plugin_type_name(c->plugin.type), "path",
			 c->plugin.config_file, "devices", make_exposed(p), "excluded",
			 make_excluded(p));
}

int output_check(const char *const *problems, size_t n_problems, const struct config *c,
		 const struct plan *p, char **ret)
{
	json_auto_t *document = NULL;
	json_t *list = json_array();

	for (size_t i = 0; i < n_problems; i++)
		if (json_array_append_new(list, document_text(problems[i])) < 0) {
			json_decref(list);
			return -ENOMEM;
		}

	document = json_pack("{s:b, s:o}", "valid", n_problems == 0, "problems", list);
	if (document && p && c->plugin.type != PLUGIN_NONE &&
	    json_object_set_new(document, "plugin", output_check_make_plugin(c, p)) < 0)
		return -ENOMEM;
	return document ? document_print(document, ret) : -ENOMEM;
}

/* "rdma/gpu 4, rdma/hca 8", in the order of the file. */
static void print_pools(struct sheet *s, const struct lint *l)
{
	for (size_t i = 0, n = 0; i < l->n_exposed; i += n) {
		for (n = 0; i + n < l->n_exposed &&
			    streq(l->exposed[i + n].resource, l->exposed[i].resource);
		     n++)
			;
		sheet_add(s, "%s%s %zu", i > 0 ? ", " : ": ", l->exposed[i].resource, n);
	}
}

static void print_head(struct sheet *s, const struct config *c, const struct plan *p)
{
	size_t n_out = 0;

	for (size_t i = 0; i < p->n_devices; i++)
		n_out += p->devices[i].is_handed_out;

	sheet_add(s, "Device plugin %s: ", plugin_type_name(c->plugin.type));
	if (n_out == 0)
		sheet_add(s, "no [Device] section matches a device of this node");
	else if (!p->plugin)
		sheet_add(s, "none of %zu devices is usable now, so no file would be written",
			  n_out);
	else if (p->lint.refusal != REASON_NONE)
		sheet_add(s, "%s would expose nothing", c->plugin.config_file);
	else {
		sheet_add(s, "%s would expose %zu devices", c->plugin.config_file,
			  p->lint.n_exposed);
		print_pools(s, &p->lint);
	}
	sheet_end(s);
}

int output_check_text(const struct config *c, const struct plan *p, char **ret)
{
	const bool has_plugin = p && c->plugin.type != PLUGIN_NONE;
	_cleanup_(sheet_done) struct sheet s = {};
	json_auto_t *excluded = has_plugin ? make_excluded(p) : NULL;

	if ((has_plugin && !excluded) || sheet_open(&s, 0, 0) < 0)
		return -ENOMEM;
	if (has_plugin)
		print_head(&s, c, p);
	sheet_fill_list(&s, excluded,
			"{target}: [{?code=plugin-foreign}exposed as well"
			"|{?code=plugin-two-pools}in two pools|not exposed]"
			" ({code}): {meaning}[: {detail}]. {advice}");
	return sheet_close(&s, ret);
}
