/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fnmatch.h>
#include <limits.h>

#include "../os/unit-file.h"

#define MAX_TEXT    ((size_t)256 * 1024)      /* of a unit or a file of variables */
#define MAX_CMDLINE ((size_t)2 * 1024 * 1024) /* as the kernel's default limit */
#define MAX_PAGES   1000
#define MAX_SUM     ((size_t)16 * 1024 * 1024) /* of all pages */
#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define WORD_BYTES  256u /* what a word takes beside its bytes: no more than 8192 of them */

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
	free(u->exec_at);
	free(u->pages);
	free(u->variables);
	free(u->env_files);
	free(u->arguments);
	*u = (struct unit){};
}

static int index_lines(struct page *page)
{
	for (size_t i = 0; i < page->size; i++) {
		uint32_t *slot =
			page->text[i] == '\n' ? APPEND(page->newlines, page->n_newlines) : NULL;

		if (slot)
			*slot = (uint32_t)i;
		else if (page->text[i] == '\n')
			return -ENOMEM;
	}
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
	if ((size_t)snprintf(page->path, sizeof(page->path), "/%s", fs_bare(path)) >=
	    sizeof(page->path))
		unit_problem(u, "%s: too long a path", page->path);
	r = index_lines(page);
	return r < 0 ? r : (int)u->n_pages - 1;
}

uint32_t unit_line(const struct unit *u, uint16_t page, uint32_t at)
{
	const struct page *p = page < u->n_pages ? &u->pages[page] : NULL;
	size_t n_before = 0, end = p ? p->n_newlines : 0;

	if (!p || p->kind == PAGE_PROCESS)
		return 0;
	while (n_before < end) {
		const size_t middle = n_before + (end - n_before) / 2;

		if (p->newlines[middle] < at)
			n_before = middle + 1;
		else
			end = middle;
	}
	return (uint32_t)n_before + 1;
}

struct variable *unit_variable(const struct unit *u, const char *name)
{
	for (size_t i = u->n_variables; i-- > 0;)
		if (streq(u->variables[i].name, name))
			return &u->variables[i];
	return NULL;
}

bool unit_has_room(struct unit *u, const char *word)
{
	u->n_bytes += strlen(word) + WORD_BYTES;
	if (u->n_bytes <= MAX_CMDLINE)
		return true;
	unit_problem(u, "%s: more variables and flags than a command may have", u->name);
	return false;
}

static int add_variable(struct unit *u, struct variable *v)
{
	if (!unit_has_room(u, v->value))
		return 0;
	return ADD(u->variables, u->n_variables, TAKE_STRUCT(*v));
}

int unit_assign(struct unit *u, const char *word, const struct place *place)
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

		r = word_expand_specifiers(words.words[i], u->name, &expanded);
		if (r < 0)
			break;
		free(words.words[i]);
		words.words[i] = expanded;
	}
	if (r == -EBADMSG) {
		refuse(u, place, "ExecStart");
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

		r = word_expand_specifiers(words.words[i], u->name, &expanded);
		if (r == -ENOMEM)
			break;
		/* A password with a "%" is nothing to us, unless the command line has it. */
		r = unit_assign(u, expanded ? expanded : words.words[i], place);
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
	r = word_expand_specifiers(value + file.is_optional, u->name, &path);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !COPY(file.path, path) || *path != '/') {
		refuse(u, place, "EnvironmentFile");
		return 0;
	}
	return ADD(u->env_files, u->n_env_files, file);
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
	int r;

	r = unit_file_list(fs, u->name, &paths);
	u->is_there = paths.n > 0;
	for (size_t i = 0; i < paths.n && r >= 0; i++) {
		int page = unit_add_page(u, fs, paths.items[i], PAGE_UNIT);

		r = page == -ENOENT || page == -EIO ? 0
		    : page < 0                      ? page
						    : scan_unit(u, (uint16_t)page);
	}
	return r;
}

/* Files of variables */

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

	for (size_t i = 0; i < u->n_env_files && r >= 0; i++) {
		struct env_file *file = &u->env_files[i];

		r = file->path[strcspn(file->path, "*?[")]
			    ? read_pattern(u, fs, file)
			    : read_env_file(u, fs, file->path, &file->is_missing);
	}
	return r;
}

static bool has_unset_variable(const struct unit *u)
{
	for (size_t i = 0; i < u->exec.n; i++)
		for (const char *s = strchr(u->exec.words[i], '$'); s; s = strchr(s + 1, '$')) {
			const char *from = s + 1 + (s[1] == '{');
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)strspn(from, LETTERS), from);
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
	r = read_files(&u, fs);
	if (r >= 0 && fs->is_live)
		r = loaded_read(&u, fs, is_asking);
	if (r >= 0 && u.is_there)
		r = read_env_files(&u, fs);
	/* "systemctl set-environment" may have set it. */
	if (r >= 0 && u.is_unasked && has_unset_variable(&u))
		return unit_read(fs, name, true, ret);
	if (r >= 0)
		r = arguments_expand(&u);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return 0;
}
