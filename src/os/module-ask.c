/* SPDX-License-Identifier: Apache-2.0 */
#include "module-ask.h"

#include "../base/log.h"
#include "../model/paths.h"

static const char *path_of(const struct modules *m)
{
	return m->kept ? m->kept : MODULE_REPORT_PATH;
}

static void forget(struct module_ask *a)
{
	module_report_done(&a->report);
	stamps_done(&a->stamps);
	a->is_new = false;
}

int module_ask_begin(struct module_ask *a, struct modules *m, const struct fs *fs)
{
	int r;

	a->modules = m;
	a->fs = fs;
	m->stamps = NULL;
	/* libkmod notices a change in a folder of modprobe.d, but not in a file there. */
	modules_forget(m);
	if (!fs->is_live || fs->on_read) {
		forget(a);
		return 0;
	}
	m->stamps = &a->stamps;
	if (stamps_are_good(&a->stamps, fs))
		return 0;
	forget(a);
	r = stamped_read(fs, path_of(m), &module_report_fields, &a->report, &a->stamps);
	if (r == 0) /* half a report is none */
		forget(a);
	return MIN(r, 0);
}

void module_ask_keep(struct module_ask *a)
{
	int r;

	if (!a->is_new)
		return;
	r = stamped_write(a->fs, path_of(a->modules), &module_report_fields, &a->report,
			  &a->stamps);
	if (r < 0) /* the next pass asks again */
		log_debug_errno(r, "/%s", path_of(a->modules));
	a->is_new = false;
}

void module_ask_done(struct module_ask *a)
{
	if (a->modules)
		a->modules->stamps = NULL;
	forget(a);
}

static struct module *find(struct module *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(list[i].name, name))
			return &list[i];
	return NULL;
}

int module_ask_state(struct module_ask *a, const char *name, enum module_state *ret)
{
	struct module *m = find(a->report.states, a->report.n_states, name);
	enum module_state state;
	int r;

	if (!m) {
		r = module_look(a->modules, name, &state);
		if (r < 0)
			return r;
		m = APPEND(a->report.states, a->report.n_states);
		if (!m)
			return -ENOMEM;
		COPY(m->name, name);
		m->state = state;
		a->is_new = true;
	}
	*ret = m->state;
	return 0;
}

/* What is known of the one that is loaded stays. */
static int add_file(const struct module *from, bool with_info, struct module *ret)
{
	COPY(ret->path, from->path);
	if (!with_info || !from->has_info)
		return 0;
	ret->has_info = true;
	ret->is_intree = from->is_intree;
	COPY(ret->version, from->version);
	COPY(ret->srcversion, from->srcversion);
	COPY(ret->vermagic, from->vermagic);
	for (size_t i = 0; i < from->n_parameters; i++) {
		const struct parameter *p = &from->parameters[i];
		struct parameter *to = (struct parameter *)module_parameter(ret, p->name);

		if (!to)
			to = APPEND(ret->parameters, ret->n_parameters);
		if (!to)
			return -ENOMEM;
		COPY(to->name, p->name);
		COPY(to->type, p->type);
	}
	module_sort_parameters(ret);
	return 0;
}

int module_ask_file(struct module_ask *a, bool with_info, struct module *ret)
{
	struct module *m = find(a->report.files, a->report.n_files, ret->name);
	_cleanup_(module_done) struct module answer = {};
	int r;

	if (!m || (with_info && m->state != MODULE_MISSING && !m->has_info)) {
		COPY(answer.name, ret->name);
		r = module_read(a->modules, with_info, &answer);
		if (r < 0 && r != -ENOENT)
			return r;
		answer.state = r < 0 ? MODULE_MISSING : MODULE_AVAILABLE;
		if (!m)
			m = APPEND(a->report.files, a->report.n_files);
		if (!m)
			return -ENOMEM;
		module_done(m);
		*m = TAKE_STRUCT(answer);
		a->is_new = true;
	}
	return m->state == MODULE_MISSING ? -ENOENT : add_file(m, with_info, ret);
}

static struct modalias_answer *find_alias(const struct module_report *r, const char *modalias)
{
	for (size_t i = 0; i < r->n_aliases; i++)
		if (streq(r->aliases[i].modalias, modalias))
			return &r->aliases[i];
	return NULL;
}

int module_ask_alias(struct module_ask *a, const char *modalias, char *ret, size_t size)
{
	struct modalias_answer *known = find_alias(&a->report, modalias), answer = {};
	int r;

	if (!known) {
		COPY(answer.modalias, modalias);
		r = module_resolve(a->modules, modalias, answer.module, sizeof(answer.module));
		if (r < 0 && r != -ENOENT)
			return r;
		known = APPEND(a->report.aliases, a->report.n_aliases);
		if (!known)
			return -ENOMEM;
		*known = answer;
		a->is_new = true;
	}
	if (!*known->module)
		return -ENOENT;
	return copy(ret, size, known->module) ? 0 : -EMSGSIZE;
}
