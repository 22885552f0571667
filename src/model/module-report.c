/* SPDX-License-Identifier: Apache-2.0 */
#include "module-report.h"

static const struct field parameter_rows[] = {
	FIELD(FIELD_NAME, struct parameter, NULL, name),
	FIELD(FIELD_NAME, struct parameter, "type", type, .flags = FIELD_ALONE | FIELD_SPARSE),
};
static const struct fields parameter_fields = FIELDS(parameter_rows, struct parameter);

/* Without a file, the word for the state is all there is; so the first captures have it. */
static const struct field module_rows[] = {
	FIELD(FIELD_NAME, struct module, NULL, name),
	WORD_FIELD(struct module, "state", state, module_state_name, _MODULE_STATE_N,
		   .flags = FIELD_NEEDED | FIELD_ALONE),
	FIELD(FIELD_NAME, struct module, "path", path, .flags = FIELD_SPARSE),
	FIELD(FIELD_FLAG, struct module, "blacklisted", is_blacklisted, .flags = FIELD_SPARSE),
	FIELD(FIELD_NAME, struct module, "version", version, .flags = FIELD_SPARSE),
	FIELD(FIELD_NAME, struct module, "srcversion", srcversion, .flags = FIELD_SPARSE),
	FIELD(FIELD_NAME, struct module, "vermagic", vermagic, .flags = FIELD_SPARSE),
	FIELD(FIELD_FLAG, struct module, "intree", is_intree, .flags = FIELD_SPARSE),
	LIST(FIELD_MAP, struct module, "parameters", parameters, parameter_fields,
	     .has = offsetof(struct module, has_info)),
};

static bool complete_module(void *item)
{
	struct module *m = item;

	m->refcnt = UINT32_MAX;
	module_sort_parameters(m);
	return true;
}

const struct fields module_fields =
	FIELDS(module_rows, struct module, .is_valid = complete_module, .compare = module_compare);

static const struct field modalias_rows[] = {
	FIELD(FIELD_NAME, struct modalias_answer, NULL, modalias),
	FIELD(FIELD_NAME, struct modalias_answer, "module", module, .flags = FIELD_ALONE),
};
const struct fields modalias_fields = FIELDS(modalias_rows, struct modalias_answer);

#define R struct module_report

static const struct field report_rows[] = {
	LIST(FIELD_MAP, R, "states", states, module_fields),
	LIST(FIELD_MAP, R, "files", files, module_fields),
	LIST(FIELD_MAP, R, "aliases", aliases, modalias_fields),
};
const struct fields module_report_fields = FIELDS(report_rows, R);

static void free_modules(struct module *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		module_done(&list[i]);
	free(list);
}

void module_report_done(struct module_report *r)
{
	free_modules(r->states, r->n_states);
	free_modules(r->files, r->n_files);
	free(r->aliases);
	*r = (struct module_report){};
}
