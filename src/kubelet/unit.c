/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fnmatch.h>
#include <limits.h>

#include "../base/log.h"
#include "../os/manager.h"
#include "../os/unit-file.h"

#define MAX_TEXT    ((size_t)256 * 1024)      /* of a unit or a file of variables */
#define MAX_CMDLINE ((size_t)2 * 1024 * 1024) /* as the kernel's default limit */
#define MAX_PAGES   1000
#define MAX_SUM     ((size_t)16 * 1024 * 1024) /* of all pages */
#define WORD_BYTES  256u /* what a word takes beside its bytes: no more than 8192 of them */

#define PROBE        "best-effort" /* a plain word, as all that is ever put there */
#define MAX_PROBES   4             /* places that are tried for one value */
#define WINDOW_BYTES 4096          /* in which the next word of a statement is looked for */

void unit_done(struct unit *u)
{
	for (size_t i = 0; i < u->n_pages; i++) {
		free(u->pages[i].text);
		free(u->pages[i].newlines);
	}
	for (size_t i = 0; i < u->n_variables; i++)
		variable_done(&u->variables[i]);
	for (size_t i = 0; i < u->n_arguments; i++)
		free(u->arguments[i].text);
	words_done(&u->exec);
	words_done(&u->passed);
	free(u->exec_at);
	free(u->pages);
	free(u->variables);
	free(u->env_files);
	free(u->arguments);
	*u = (struct unit){};
}

static int index_lines(struct page *page)
{
	for (size_t i = 0; i < page->size; i++)
		if (page->text[i] == '\n' && ADD(page->newlines, page->n_newlines, (uint32_t)i) < 0)
			return -ENOMEM;
	return 0;
}

int unit_add_page(struct unit *u, const struct fs *fs, const char *path, enum page_kind kind)
{
	_cleanup_(freep) char *text = NULL;
	struct page *page;
	size_t size, sum = 0;
	int r;

	for (size_t i = 0; i < u->n_pages; i++)
		sum += u->pages[i].size;
	r = fs_read_all(fs, fs_bare(path), kind == PAGE_PROCESS ? MAX_CMDLINE : MAX_TEXT, true,
			&text, &size);
	if (r == -ENOMEM || r == -ENOENT || r == -ENOTDIR)
		return r == -ENOTDIR ? -ENOENT : r;
	if (r < 0 || u->n_pages == MAX_PAGES || sum + size > MAX_SUM) {
		unit_problem(u, "/%s: %s", fs_bare(path), strerror(r < 0 ? -r : E2BIG));
		return -EIO;
	}

	page = APPEND(u->pages, u->n_pages);
	if (!page)
		return -ENOMEM;
	/* A file has NULs if the power failed before it was written to its end. */
	if (kind != PAGE_PROCESS && memchr(text, '\0', size))
		unit_problem(u, "/%s: has a NUL in it", fs_bare(path));
	page->kind = kind;
	page->text = TAKE(text);
	page->size = size;
	if ((size_t)PRINT(page->path, "/%s", fs_bare(path)) >= sizeof(page->path))
		unit_problem(u, "%s: too long a path", page->path);
	r = index_lines(page);
	return r < 0 ? r : (int)u->n_pages - 1;
}

uint32_t unit_line(const struct unit *u, uint16_t page, uint32_t at)
{
	const struct page *p = page < u->n_pages ? &u->pages[page] : NULL;

	if (!p || p->kind == PAGE_PROCESS)
		return 0;
	return (uint32_t)lower_bound_u32(p->newlines, p->n_newlines, sizeof(*p->newlines), at) + 1;
}

struct variable *unit_variable(const struct unit *u, const char *name)
{
	return FIND_LAST(v, u->variables, u->n_variables, streq(v->name, name));
}

/*
 * Takes room for another variable or argument. Return: false when all are more than a command may
 * have, which is noted as the problem.
 */
static bool has_room(struct unit *u, const char *word)
{
	u->n_bytes += strlen(word) + WORD_BYTES;
	if (u->n_bytes <= MAX_CMDLINE)
		return true;
	unit_problem(u, "%s: more variables and flags than a command may have", u->name);
	return false;
}

static int add_variable(struct unit *u, struct variable *v)
{
	if (!has_room(u, v->value))
		return 0;
	return ADD(u->variables, u->n_variables, TAKE_STRUCT(*v));
}

/* Takes NAME=VALUE in one word; the last of a name counts. 0 or -ENOMEM. */
static int assign(struct unit *u, const char *word, const struct place *place)
{
	_cleanup_(variable_done) struct variable v = { .from = place->from,
						       .to = place->to,
						       .page = place->page };
	const size_t n = strcspn(word, "=");

	if (n == 0 || !word[n] || n >= sizeof(v.name))
		return 0; /* systemd leaves it out as well */

	memcpy(v.name, word, n);
	v.value = strdup(word + n + 1);
	return v.value ? add_variable(u, &v) : -ENOMEM;
}

/* The files of a unit */

/* Notes that the statement at @place is not understood. */
static void refuse(struct unit *u, const struct place *place, const char *key)
{
	unit_problem(u, "%s:%" PRIu32 ": %s= is not understood", u->pages[place->page].path,
		     unit_line(u, place->page, place->from), key);
}

static int split(struct unit *u, const struct place *place, const char *key, const char *value,
		 struct words *ret)
{
	int r = words_split(value, true, ret);

	if (r != -EBADMSG && r != -E2BIG)
		return r;
	refuse(u, place, key);
	return 0;
}

static int on_exec(struct unit *u, const struct place *place, const char *value)
{
	_cleanup_(words_done) struct words words = {};
	int r;

	/* Only a oneshot unit has two, and that is no kubelet. */
	if (*value && u->exec.n > 0)
		unit_problem(u, "%s: more than one ExecStart=", u->name);
	words_done(&u->exec);

	r = split(u, place, "ExecStart", value, &words);
	for (size_t i = 0; i < words.n && r >= 0; i++) {
		char *expanded;

		r = word_expand_specifiers(words.words[i], u->name, u->host, &expanded);
		if (r == -EBADMSG)
			refuse(u, place, "ExecStart");
		if (r == -ENOMEM)
			break;
		if (r == 0) {
			free(words.words[i]);
			words.words[i] = expanded;
		}
		r = 0;
	}
	u->exec = TAKE_STRUCT(words);
	u->exec_place = *place;
	return r;
}

static int on_environment(struct unit *u, const struct place *place, const char *value)
{
	_cleanup_(words_done) struct words words = {};
	int r;

	if (!*value) {
		for (size_t i = 0; i < u->n_variables; i++)
			variable_done(&u->variables[i]);
		u->n_variables = 0;
		free(TAKE(u->variables));
		return 0;
	}

	r = split(u, place, "Environment", value, &words);
	for (size_t i = 0; i < words.n && r >= 0; i++) {
		_cleanup_(freep) char *expanded = NULL;

		r = word_expand_specifiers(words.words[i], u->name, u->host, &expanded);
		if (r == -ENOMEM)
			break;
		/* A password with a "%" is nothing to us, unless the command line has it. */
		r = assign(u, expanded ? expanded : words.words[i], place);
	}
	return r;
}

static int on_env_file(struct unit *u, const struct place *place, const char *value)
{
	_cleanup_(freep) char *path = NULL;
	struct env_file file = { .place = *place, .is_optional = *value == '-' };
	int r;

	if (!*value) {
		u->n_env_files = 0;
		free(TAKE(u->env_files));
		return 0;
	}
	r = word_expand_specifiers(value + file.is_optional, u->name, u->host, &path);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !COPY(file.path, path) || *path != '/') {
		refuse(u, place, "EnvironmentFile");
		return 0;
	}
	return ADD(u->env_files, u->n_env_files, file);
}

static int on_passed(struct unit *u, const struct place *place, const char *value)
{
	_cleanup_(words_done) struct words words = {};
	int r = split(u, place, "PassEnvironment", value, &words);

	if (!*value)
		words_done(&u->passed);
	for (size_t i = 0; i < words.n && r >= 0; i++) {
		char **name = APPEND(u->passed.words, u->passed.n);

		if (!name)
			return -ENOMEM;
		*name = TAKE(words.words[i]);
	}
	return r;
}

/* Refuses to guess what is left: no kubelet is known that is started so. */
static int on_unset(struct unit *u, const struct place *place, const char *value)
{
	if (*value)
		refuse(u, place, "UnsetEnvironment");
	return 0;
}

/* For the copy: unit_file_has_cgroup() reads it. */
static int on_slice(struct unit *u, const struct place *place, const char *value)
{
	COPY(u->slice, value);
	u->slice_page = place->page;
	return 0;
}

/* In a copy that redact.c made: what is wrong with the unit, instead of what is wrong in it. */
static int on_problem(struct unit *u, _unused_ const struct place *place, const char *value)
{
	unit_problem(u, "%s", value);
	return 0;
}

static int scan_unit(struct unit *u, uint16_t page)
{
	static const struct {
		const char *key;
		int (*on_value)(struct unit *u, const struct place *place, const char *value);
	} keys[] = { { "EnvironmentFile", on_env_file },
		     { UNIT_PROBLEM_KEY, on_problem },
		     { "ExecStart", on_exec },
		     { "Environment", on_environment },
		     { "PassEnvironment", on_passed },
		     { "UnsetEnvironment", on_unset },
		     { "Slice", on_slice } };
	bool is_service = false;
	size_t at = 0;
	int r = 1;

	while (r > 0) {
		_cleanup_(unit_setting_done) struct unit_setting s = {};
		struct place place;
		int result = 0;

		r = unit_file_next(u->pages[page].text, u->pages[page].size, &at, &is_service, &s);
		place = (struct place){ page, (uint32_t)s.from, (uint32_t)s.to };
		for (size_t i = 0; i < ELEMENTSOF(keys) && r > 0; i++)
			if (streq(s.key, keys[i].key))
				result = keys[i].on_value(u, &place, s.value);
		if (result < 0)
			return result;
	}
	return r;
}

static int read_files(struct unit *u, const struct fs *fs)
{
	_cleanup_(unit_paths_done) struct unit_paths paths = {};
	int r = unit_file_list(fs, u->name, &paths);

	u->is_there = paths.n > 0;
	u->is_newer = paths.is_newer;
	for (size_t i = 0; i < paths.n && r >= 0; i++) {
		int page = unit_add_page(u, fs, paths.items[i], PAGE_UNIT);

		r = page == -ENOENT || page == -EIO ? 0
		    : page < 0                      ? page
						    : scan_unit(u, (uint16_t)page);
	}
	return r;
}

/* Files of variables */

/* Makes the value of @v one that is not known. Return: 1 or -ENOMEM. */
static int doubt(struct unit *u, struct variable *v)
{
	unit_problem(u,
		     "%s:%" PRIu32
		     ": the comment above ends in \\ and goes on here before systemd 254",
		     u->pages[v->page].path, unit_line(u, v->page, v->from));
	free(TAKE(v->value));
	return asprintf(&v->value, "$%s", v->name) < 0 ? -ENOMEM : 1;
}

static int read_env_file(struct unit *u, const struct fs *fs, const char *path, bool *ret_missing)
{
	int page = unit_add_page(u, fs, path, PAGE_VARIABLES), r = 1;
	size_t at = 0;

	*ret_missing = page == -ENOENT;
	if (page < 0)
		return page == -ENOMEM ? page : 0;

	while (r > 0) {
		_cleanup_(variable_done) struct variable v = {};

		r = variable_next(u->pages[page].text, u->pages[page].size, &at, &v);
		v.page = (uint16_t)page;
		if (r > 0 && v.is_doubtful)
			r = doubt(u, &v);
		if (r > 0 && add_variable(u, &v) < 0)
			return -ENOMEM;
	}
	return r;
}

/* "/etc/kubelet/?*.env": only in the last component, as everybody writes it. */
static int read_pattern(struct unit *u, const struct fs *fs, struct env_file *file)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char folder[sizeof(file->path)];
	const char *pattern;
	int r;

	COPY(folder, file->path + 1);
	pattern = strrchr(file->path, '/') + 1;
	folder[pattern - file->path - 1 > 0 ? pattern - file->path - 2 : 0] = '\0';
	if (folder[strcspn(folder, "*?[")]) {
		unit_problem(u, "%s: EnvironmentFile=%s is not understood", u->name, file->path);
		return 0;
	}
	file->is_missing = true;
	r = fs_list(fs, folder[0] ? folder : ".", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		bool is_missing;

		if (fnmatch(pattern, names.names[i], FNM_PERIOD) != 0)
			continue;
		file->is_missing = false;
		r = read_env_file(u, fs, FS_PATH("%s/%s", folder, names.names[i]), &is_missing);
	}
	return r;
}

static int read_env_files(struct unit *u, const struct fs *fs)
{
	int r = 0;

	FOREACH_WHILE(file, u->env_files, u->n_env_files, r >= 0)
		r = file->path[strcspn(file->path, "*?[")]
			    ? read_pattern(u, fs, file)
			    : read_env_file(u, fs, file->path, &file->is_missing);
	return r;
}

/* The unit as systemd itself has it, in place of what its files say: they may have been edited
 * after the last daemon-reload. Words that are the same in both keep their place in a file. */

static void adopt_exec(struct unit *u, struct manager_unit *m)
{
	bool is_same = m->exec.n == u->exec.n && m->exec.n > 0;

	/* The first word has prefixes in the file, which systemd tells in flags. */
	for (size_t i = 1; i < m->exec.n && is_same; i++)
		is_same = streq(u->exec.words[i], m->exec.words[i]);
	if (is_same)
		return;

	words_done(&u->exec);
	u->exec_place.page = NO_PAGE;
	u->exec = TAKE_STRUCT(m->exec);
}

/*
 * Takes variables that the files lack or set otherwise, and drops those that only the files have: a
 * file was edited after the last daemon-reload. Variables of systemd itself (@is_inherited) only
 * fill gaps.
 */
static int adopt_environment(struct unit *u, const struct words *l, bool is_inherited)
{
	static const struct place nowhere = { .page = NO_PAGE };
	int r = 0;

	if (!is_inherited)
		KEEP(v, u->variables, u->n_variables,
		     ANY(w, l->words, l->n, *(after(*w, v->name) ?: "") == '=') ||
			     (variable_done(v), false));
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
		r = assign(u, text, &nowhere);
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

/*
 * Asks the manager helper, which has to be started for it. It is needed where files of the unit
 * were changed after the last daemon-reload; and where a variable is set nowhere, unit_read() asks
 * again. Leaves the unit as it is when systemd does not answer. Return: 0 or -ENOMEM.
 */
static int loaded_read(struct unit *u, bool is_asking)
{
	_cleanup_(manager_unit_done) struct manager_unit m = {};
	int r = -EHOSTDOWN;

	u->start_usec = UINT64_MAX;
	u->is_unasked = !is_asking && !u->is_newer;
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
	adopt_exec(u, &m);
	r = adopt_environment(u, &m.environment, false);
	if (r >= 0)
		r = adopt_environment(u, &m.inherited, true);
	return r < 0 ? r : adopt_env_files(u, &m);
}

/* The command line: the words of ExecStart= with their variables put in, by the rules of
 * systemd.service(5) "Command lines"; or those of a file of flags, or of a process. */

/* Where the words of one statement were found so far. */
struct cursor {
	struct place place;
	uint32_t at;
};

/* Where the next word stands. Return: does it stand there as it is? */
static bool find_word(const struct unit *u, struct cursor *c, const char *word, uint32_t *ret)
{
	const size_t n = strlen(word);
	const char *text, *found;
	uint32_t to;

	*ret = c->at;
	if (c->place.page >= u->n_pages)
		return false;
	text = u->pages[c->place.page].text;
	while (*ret < c->place.to && strchr(" \t\r\n\\\"'", text[*ret]))
		++*ret;
	to = (uint32_t)MIN(c->place.to, *ret + n + WINDOW_BYTES);
	found = *ret < to ? memmem(text + *ret, to - *ret, word, n) : NULL;
	if (!found)
		return false;
	*ret = (uint32_t)(found - text);
	c->at = *ret + (uint32_t)n;
	return true;
}

static int add_argument(struct unit *u, const char *text, size_t source, struct cursor *c)
{
	struct argument *a;

	if (!has_room(u, text))
		return 0;
	a = APPEND(u->arguments, u->n_arguments);
	if (!a)
		return -ENOMEM;
	a->text = strdup(text);
	a->source = source;
	a->place = c->place;
	a->is_literal = find_word(u, c, text, &a->at);
	return a->text ? 0 : -ENOMEM;
}

/* Adds each word of a text. @what: has the text, for people. */
static int add_words(struct unit *u, const char *what, const char *text, size_t source,
		     struct cursor *c)
{
	_cleanup_(words_done) struct words words = {};
	int r = words_split(text, false, &words);

	if (r == -EBADMSG)
		unit_problem(u, "%s: the quotes do not match", what);
	else if (r == -E2BIG)
		unit_problem(u, "%s: more than %zu words", what, MAX_WORDS);
	for (size_t i = 0; i < words.n && r >= 0; i++)
		r = add_argument(u, words.words[i], source, c);
	return r == -ENOMEM ? r : 0;
}

/* At the beginning of the statement that sets a variable. */
static struct cursor cursor_of(const struct variable *v)
{
	return (struct cursor){ { v->page, v->from, v->to }, v->from };
}

/* Nothing sets the variable. May it still be set before the kubelet starts? */
static bool is_due(const struct unit *u, const char *name)
{
	return ANY(p, u->passed.words, u->passed.n, streq(*p, name)) ||
	       ANY(f, u->env_files, u->n_env_files, f->is_missing && !f->is_optional);
}

/* "$NAME" as a word of its own: none, one or more words. */
static int expand_alone(struct unit *u, const char *word, size_t source, struct cursor *here)
{
	const char *name = word + 1;
	const struct variable *v = unit_variable(u, name);
	char what[sizeof(u->name) + 80];
	struct cursor c;

	if (!v)
		return is_due(u, name) ? add_argument(u, word, source, here) : 0;
	c = cursor_of(v);
	PRINT(what, "%s: $%s", u->name, name);
	return add_words(u, what, v->value, source, &c);
}

/* "${NAME}" at the beginning of a word, or of a flag's value, is where the value comes from. */
static const struct variable *source_of(const struct unit *u, const char *word)
{
	const char *at = word + (is_prefix(word, "${") ? 0 : strcspn(word, "="));
	char name[64] = "";
	size_t n;

	at += *at == '=';
	if (!is_prefix(at, "${"))
		return NULL;
	n = strcspn(at + 2, "}");
	if (n < sizeof(name))
		memcpy(name, at + 2, n);
	return unit_variable(u, name);
}

/* "${NAME}" inside a word, and "$$". */
static int expand_inside(struct unit *u, const char *word, size_t source, struct cursor *c)
{
	const struct variable *of = source_of(u, word);
	struct cursor inside = of ? cursor_of(of) : *c;
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	for (const char *at = word; *at && n <= MAX_TEXT_BYTES; at++) {
		const char *end = is_prefix(at, "${") ? strchr(at, '}') : NULL;
		char name[64] = "";
		const struct variable *v;

		if (end) {
			PRINT(name, "%.*s", (int)MIN(end - at - 2, 63), at + 2);
			v = unit_variable(u, name);
			if (v || !is_due(u, name)) {
				n += v ? strlen(v->value) : 0;
				fputs(v ? v->value : "", out.f);
				at = end;
				continue;
			}
		}
		n++;
		fputc(*at, out.f);
		at += is_prefix(at, "$$");
	}
	if (n > MAX_TEXT_BYTES) {
		unit_problem(u, "%s: ExecStart= has a word of more than %zu bytes", u->name,
			     MAX_TEXT_BYTES);
		return 0;
	}
	/* A memory stream of glibc may lose what it has no memory for without an error. */
	if (stream_take(&out, &text) < 0 || out.size != n)
		return -ENOMEM;
	return add_argument(u, text, source, of ? &inside : c);
}

/* The program and how many words name it. Return: do its arguments have variables? */
static bool read_program(struct unit *u)
{
	const char *path = u->exec.words[0];
	bool has_variables = true;

	u->n_names = 1;
	for (; *path && strchr("@-:+!", *path); path++) {
		u->n_names += *path == '@'; /* the next word is only how it is called */
		has_variables &= *path != ':';
	}
	if (*path == '/' && !COPY(u->program, path))
		unit_problem(u, "%s: ExecStart= is not understood", u->name);
	return has_variables;
}

/* Fills program, arguments and exec_at of what was read of a unit. 0 or -ENOMEM. */
static int arguments_expand(struct unit *u)
{
	struct cursor c = { u->exec_place, u->exec_place.from };
	bool has_variables;
	int r = 0;

	if (u->exec.n == 0)
		return 0;
	has_variables = read_program(u);
	u->exec_at = calloc(u->exec.n, sizeof(*u->exec_at));
	if (!u->exec_at)
		return -ENOMEM;
	find_word(u, &c, "=", u->exec_at); /* behind "ExecStart=" */
	for (size_t i = 0; i < u->exec.n && r >= 0; i++) {
		const char *w = u->exec.words[i];
		struct cursor here = c;

		find_word(u, &c, w, &u->exec_at[i]);
		if (i < u->n_names)
			continue;
		if (!has_variables)
			r = add_argument(u, w, i, &here);
		else if (w[0] == '$' && w[1] && w[1] != '{' && w[1] != '$')
			r = expand_alone(u, w, i, &here);
		else
			r = expand_inside(u, w, i, &here);
	}
	return r;
}

int arguments_add_page(struct unit *u, uint16_t page)
{
	const struct page *p = &u->pages[page];
	const bool is_process = p->kind == PAGE_PROCESS;
	size_t from = is_process ? strlen(p->text) + 1 : 0; /* the program's own name */
	int r = 0;

	for (size_t at = from, end; at < p->size && r >= 0; at = end + 1) {
		_cleanup_(freep) char *line = NULL;
		struct cursor c;

		end = is_process ? at + strlen(p->text + at) : at + strcspn(p->text + at, "\n");
		if (end > p->size) /* a NUL in a file of lines */
			end = p->size;
		c = (struct cursor){ { page, (uint32_t)at, (uint32_t)end }, (uint32_t)at };
		line = strndup(p->text + at, end - at);
		if (!line)
			return -ENOMEM;
		if (is_process)
			r = add_argument(u, line, SIZE_MAX, &c);
		else if (*word_trim(line) != '#')
			r = add_words(u, p->path, line, SIZE_MAX, &c);
	}
	return r;
}

/* The one text that says it */

/* Is @now the same command line but for argument @i, which has become @expected? */
static bool is_only_change(const struct argument *was, const struct argument *now, size_t n,
			   size_t i, const char *expected)
{
	for (size_t k = 0; k < n; k++)
		if (k == i ? !streq(now[k].text, expected)
			   : !streq(now[k].text, was[k].text) &&
				     !(streq(was[k].text, was[i].text) &&
				       streq(now[k].text, expected)))
			return false;
	return true;
}

/* The command line with another statement in place of a variable's. 0 or -ENOMEM. */
static int resolve(const struct unit *u, const char *statement, size_t size,
		   const struct place *place, struct unit *ret)
{
	_cleanup_(variable_done) struct variable v = {};
	struct variable *old = NULL, kept;
	size_t at = 0;
	int r;

	FOREACH(it, u->variables, u->n_variables)
		if (it->is_file && it->page == place->page && it->from == place->from)
			old = it;
	r = old ? variable_next(statement, size, &at, &v) : 0;
	if (r <= 0 || at < size || !streq(v.name, old->name))
		return MIN(r, 0);

	kept = *old;
	*old = v;
	ret->exec = u->exec;
	ret->variables = u->variables;
	ret->n_variables = u->n_variables;
	ret->env_files = u->env_files;
	ret->n_env_files = u->n_env_files;
	ret->passed = u->passed;
	r = arguments_expand(ret);
	*old = kept;
	/* They are @u's. */
	ret->exec = ret->passed = (struct words){};
	ret->variables = NULL;
	ret->env_files = NULL;
	ret->n_variables = ret->n_env_files = 0;
	return r;
}

/* The arguments of a file of flags with another text. 0 or -ENOMEM. */
static int resolve_flags(char *text, size_t size, struct unit *ret)
{
	const struct page page = { .kind = PAGE_FLAGS, .text = text, .size = size };

	if (ADD(ret->pages, ret->n_pages, page) < 0) {
		free(text);
		return -ENOMEM;
	}
	return arguments_add_page(ret, 0);
}

/* Does a plain word at @from to @to of the file give the argument that value? 1, 0 or -ENOMEM. */
static int try_place(const struct unit *u, size_t i, size_t value, uint32_t from, uint32_t to)
{
	const struct argument *a = &u->arguments[i];
	const struct page *page = &u->pages[a->place.page];
	const bool is_flags = page->kind == PAGE_FLAGS; /* they are the last arguments of all */
	const uint32_t begin = is_flags ? 0 : a->place.from;
	const size_t end = is_flags ? page->size : a->place.to;
	_cleanup_(unit_done) struct unit now = { .is_clear = true };
	_cleanup_(freep) char *text = NULL, *expected = NULL;
	size_t first;
	int size, r;

	size = asprintf(&text, "%.*s" PROBE "%.*s", (int)(from - begin), page->text + begin,
			(int)(end - to), page->text + to);
	if (size < 0 || asprintf(&expected, "%.*s" PROBE, (int)value, a->text) < 0)
		return -ENOMEM;
	r = is_flags ? resolve_flags(TAKE(text), (size_t)size, &now)
		     : resolve(u, text, (size_t)size, &a->place, &now);
	first = is_flags ? u->n_arguments - now.n_arguments : 0;
	return r < 0 ? r
		     : now.n_arguments + first == u->n_arguments && i >= first &&
			       is_only_change(u->arguments + first, now.arguments, now.n_arguments,
					      i - first, expected);
}

int arguments_find_literal(const struct unit *u, size_t i, size_t value, uint32_t *ret_from,
			   uint32_t *ret_to)
{
	const struct argument *a = &u->arguments[i];
	const uint32_t n = (uint32_t)strlen(a->text + value);
	const char *text = u->pages[a->place.page].text;
	uint32_t at = a->at + (uint32_t)value;
	int r = 0;

	if (a->is_literal)
		r = try_place(u, i, value, at, at + n);
	for (uint32_t k = 0; k < MAX_PROBES && r == 0 && n > 0; k++) {
		for (at = k == 0 ? a->place.to : at; at > a->place.from; at--)
			if (at + n <= a->place.to && memcmp(text + at, a->text + value, n) == 0)
				break;
		if (at == a->place.from)
			break;
		r = try_place(u, i, value, at, at + n);
		at -= r == 0;
	}
	if (r <= 0)
		return r;
	*ret_from = at;
	*ret_to = at + n;
	return 1;
}

/* All of it */

static bool has_unset_variable(const struct unit *u)
{
	for (size_t i = 0; i < u->exec.n; i++)
		for (const char *s = strchr(u->exec.words[i], '$'); s; s = strchr(s + 1, '$')) {
			const char *from = s + 1 + (s[1] == '{');
			char name[64];

			PRINT(name, "%.*s", (int)strspn(from, VARIABLE_LETTERS), from);
			if (*name && !unit_variable(u, name))
				return true;
		}
	return false;
}

int unit_read(const struct fs *fs, const char *name, bool is_asking, struct unit *ret)
{
	_cleanup_(unit_done) struct unit u = { .is_clear = true };
	int r;

	COPY(u.name, name);
	fs_read_host_name(fs, u.host, sizeof(u.host));
	r = read_files(&u, fs);
	if (r >= 0 && fs->is_live)
		r = loaded_read(&u, is_asking);
	if (r >= 0 && u.is_there)
		r = read_env_files(&u, fs);
	/* "systemctl set-environment" may have set it. */
	if (r >= 0 && u.is_unasked && has_unset_variable(&u))
		return unit_read(fs, name, true, ret);
	if (r >= 0)
		r = arguments_expand(&u);
	return GIVE(r, u, ret);
}
