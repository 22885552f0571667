/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "../base/document.h"
#include "sheet.h"

#define TARGETS_LEN 1024 /* a line of a sheet has 2048 bytes */

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	return streq(document_get_text(a, key), document_get_text(b, key));
}

static bool is_alike(const json_t *a, const json_t *b)
{
	return *document_get_text(a, "target") && *document_get_text(b, "target") &&
	       *document_get_text(a, "code") && is_same(a, b, "code") && is_same(a, b, "advice") &&
	       is_same(a, b, "change") && is_same(a, b, "class");
}

static int add_detail(json_t *group, const json_t *reason)
{
	json_t *item = json_pack("{s:o, s:o}", "target",
				 document_text(document_get_text(reason, "target")), "detail",
				 document_text(document_get_text(reason, "detail")));

	return json_array_append_new(json_object_get(group, "details"), item) < 0 ? -ENOMEM : 0;
}

/* Return: 1; 0 when the list of targets would be too long; -ENOMEM. */
static int join(json_t *group, const json_t *reason)
{
	char targets[TARGETS_LEN];

	if ((size_t)snprintf(targets, sizeof(targets), "%s, %s", document_get_text(group, "target"),
			     document_get_text(reason, "target")) >= sizeof(targets))
		return 0;
	if (json_object_set_new(group, "target", document_text(targets)) < 0)
		return -ENOMEM;
	return add_detail(group, reason) < 0 ? -ENOMEM : 1;
}

static int begin(json_t *groups, const json_t *reason)
{
	json_t *group = json_copy((json_t *)reason);

	if (json_array_append_new(groups, group) < 0 ||
	    json_object_size(group) != json_object_size(reason) || /* json_copy() hides it */
	    json_object_set_new(group, "details", json_array()) < 0)
		return -ENOMEM;
	return add_detail(group, reason);
}

/* A detail that all targets share stands behind the meaning, instead of a list. */
static int finish(json_t *group)
{
	const json_t *details = json_object_get(group, "details");
	bool differs = false;

	for (size_t i = 1; i < json_array_size(details); i++)
		differs = differs || !is_same(json_array_get(details, i), group, "detail");
	return differs ? json_object_set_new(group, "detail", json_string(""))
		       : json_object_del(group, "details");
}

json_t *output_group(const json_t *reasons)
{
	json_auto_t *groups = json_array();
	int r = groups ? 0 : -ENOMEM;

	for (size_t i = 0; i < json_array_size(reasons) && r >= 0; i++) {
		const json_t *reason = json_array_get(reasons, i);

		r = 0;
		if (i > 0 && is_alike(json_array_get(reasons, i - 1), reason))
			r = join(json_array_get(groups, json_array_size(groups) - 1), reason);
		if (r == 0)
			r = begin(groups, reason);
	}
	for (size_t i = 0; i < json_array_size(groups) && r >= 0; i++)
		r = finish(json_array_get(groups, i));
	return r >= 0 ? json_incref(groups) : NULL;
}

void output_group_body(struct sheet *s, const json_t *group)
{
	sheet_fill(s, group, "[{?code}  {meaning}[: {detail}]]");
	sheet_fill_list(s, json_object_get(group, "details"), "[  {target}: {detail}]");
	sheet_fill(s, group, "[  → {advice}]");
}

void output_group_print(struct sheet *s, const json_t *groups, const char *template)
{
	for (size_t i = 0; i < json_array_size(groups); i++) {
		sheet_fill(s, json_array_get(groups, i), template);
		output_group_body(s, json_array_get(groups, i));
	}
}
