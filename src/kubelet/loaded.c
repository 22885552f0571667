/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded: what systemd itself has of a unit, in place of what its files say: they may have been
 * edited after the last daemon-reload. Words that are the same in both keep their place in a file.
 */
#include "unit.h"

#include <sys/stat.h>

#include "../base/log.h"
#include "../os/manager-unit.h"

static int adopt_exec(struct unit *u, const struct manager_unit *m)
{
	bool is_same = m->exec.n == u->exec.n && m->exec.n > 0;
	int r = 0;

	/* The first word has prefixes in the file, which systemd tells in flags. */
	for (size_t i = 1; i < m->exec.n && is_same; i++)
		is_same = streq(u->exec.words[i], m->exec.words[i]);
	if (is_same)
		return 0;

	words_done(&u->exec);
	u->exec_place.page = NO_PAGE;
	for (size_t i = 0; i < m->exec.n && r >= 0; i++)
		r = words_add(&u->exec, m->exec.words[i]);
	return r;
}

/*
 * Takes variables that the files lack or set otherwise: a file was edited after the last
 * daemon-reload. Variables of systemd itself (@is_inherited) only fill gaps.
 */
static int adopt_environment(struct unit *u, const struct manager_words *l, bool is_inherited)
{
	static const struct place nowhere = { .page = NO_PAGE };
	int r = 0;

	for (size_t i = 0; i < l->n && r >= 0; i++) {
		const char *text = l->words[i], *equals = strchr(text, '=');
		const struct variable *v;
		char name[64] = "";

		if (!equals || (size_t)(equals - text) >= sizeof(name))
			continue;
		memcpy(name, text, (size_t)(equals - text));
		v = unit_variable(u, name);
		if (v && (is_inherited || streq(v->value, equals + 1)))
			continue;
		r = unit_assign(u, text, &nowhere);
	}
	return r;
}

static int adopt_env_files(struct unit *u, const struct manager_unit *m)
{
	bool is_same = m->env_files.n == u->n_env_files;

	for (size_t i = 0; i < m->env_files.n && is_same; i++)
		is_same = streq(m->env_files.words[i] + 1, u->env_files[i].path);
	if (is_same)
		return 0;

	u->n_env_files = 0;
	free(TAKE(u->env_files));
	for (size_t i = 0; i < m->env_files.n; i++) {
		struct env_file *file = APPEND(u->env_files, u->n_env_files);

		if (!file)
			return -ENOMEM;
		file->place.page = NO_PAGE;
		file->is_optional = m->env_files.words[i][0] == '-';
		COPY(file->path, m->env_files.words[i] + 1);
	}
	return 0;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Each daemon-reload removes the folder of generators and makes a new one: systemd.generator(7). */
static bool is_changed_since_reload(const struct unit *u, const struct fs *fs)
{
	struct stat reloaded, st;

	if (fs_stat(fs, "run/systemd/generator", &reloaded) < 0)
		return false;
	return ANY(p, u->pages, u->n_pages,
		   p->kind == PAGE_UNIT && !is_prefix(p->path, "/run/systemd/generator") &&
			   fs_stat(fs, fs_bare(p->path), &st) >= 0 &&
			   is_later(&st.st_ctim, &reloaded.st_ctim));
}

int loaded_read(struct unit *u, const struct fs *fs, bool is_asking)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	int r = -EHOSTDOWN;

	u->start_usec = UINT64_MAX;
	u->is_unasked = !is_asking && !is_changed_since_reload(u, fs);
	if (!u->is_unasked)
		r = manager_unit_ask(u->name, &m);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_line_errno(r == -ETIMEDOUT ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG, r,
			       "%s: systemd does not tell of it, its files do", u->name);
		return 0;
	}

	u->start_usec = m.start_usec;
	if (m.exec.n == 0)
		return 0;
	u->is_there = u->is_clear = true;
	*u->problem = '\0'; /* of files that systemd has understood */
	r = adopt_exec(u, &m);
	if (r >= 0)
		r = adopt_environment(u, &m.environment, false);
	if (r >= 0)
		r = adopt_environment(u, &m.inherited, true);
	return r < 0 ? r : adopt_env_files(u, &m);
}
