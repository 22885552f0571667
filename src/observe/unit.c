/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>

#include "../doors/conf-files.h"
#include "arguments.h"
#include "loaded.h"

#define MAX_TEXT    ((size_t)256 * 1024)      /* of a unit or a file of variables */
#define MAX_CMDLINE ((size_t)2 * 1024 * 1024) /* as the kernel's default limit */
#define MAX_PAGES   1000
#define MAX_SUM     ((size_t)16 * 1024 * 1024) /* of all pages */
#define WORD_BYTES  256u /* what a word takes beside its letters: no more than 8192 of them */

/* In systemd's order of precedence: systemd.unit(5). */
static const char *const unit_folders[] = {
	"etc/systemd/system",           "run/systemd/system",     "run/systemd/generator",
	"usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system",
};

void unit_problem(struct unit *u, const char *format, ...)
{
	va_list ap;

	u->is_clear = false;
	if (*u->problem)
		return;
	va_start(ap, format);
	vsnprintf(u->problem, sizeof(u->problem), format, ap);
	va_end(ap);
}

void unit_done(struct unit *u)
{
	for (size_t i = 0; i < u->n_pages; i++) {
		free(u->pages[i].text);
		free(u->pages[i].ends);
	}
	for (size_t i = 0; i < u->n_variables; i++)
		variable_done(&u->variables[i]);
	for (size_t i = 0; i < u->n_arguments; i++)
		word_done(&u->arguments[i].word);
	words_done(&u->exec);
	free(u->pages);
	free(u->variables);
	free(u->env_files);
	free(u->arguments);
	*u = (struct unit){};
}

static int find_ends(struct page *p)
{
	for (size_t i = 0; i < p->size; i++) {
		uint32_t *slot = p->text[i] == '\n' ? APPEND(p->ends, p->n_ends) : NULL;

		if (slot)
			*slot = (uint32_t)i;
		else if (p->text[i] == '\n')
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
	r = fs_read_all(fs, path + strspn(path, "/"), kind == PAGE_PROCESS ? MAX_CMDLINE : MAX_TEXT,
			true, &text, &size);
	if (r == -ENOMEM || r == -ENOENT || r == -ENOTDIR)
		return r == -ENOTDIR ? -ENOENT : r;
	if (r < 0 || u->n_pages == MAX_PAGES || sum + size > MAX_SUM) {
		unit_problem(u, "/%s: %s", path + strspn(path, "/"), strerror(r < 0 ? -r : E2BIG));
		return -EIO;
	}

	page = APPEND(u->pages, u->n_pages);
	if (!page)
		return -ENOMEM;
	/* As a file is that was not written to its end before the power went. */
	if (kind != PAGE_PROCESS && memchr(text, '\0', size))
		unit_problem(u, "/%s: has a NUL in it", path + strspn(path, "/"));
	page->kind = kind;
	page->text = TAKE(text);
	page->size = size;
	if ((size_t)snprintf(page->path, sizeof(page->path), "/%s", path + strspn(path, "/")) >=
	    sizeof(page->path))
		unit_problem(u, "%s: too long a path", page->path);
	return kind == PAGE_PROCESS || find_ends(page) >= 0 ? (int)u->n_pages - 1 : -ENOMEM;
}

uint32_t unit_line(const struct unit *u, uint16_t page, uint32_t at)
{
	uint32_t from = 0, to;

	if (page >= u->n_pages || u->pages[page].kind == PAGE_PROCESS)
		return 0;
	/* As many lines end before it. */
	for (to = (uint32_t)u->pages[page].n_ends; from < to;) {
		const uint32_t middle = from + (to - from) / 2;

		if (u->pages[page].ends[middle] < at)
			from = middle + 1;
		else
			to = middle;
	}
	return from + 1;
}

const struct variable *unit_variable(const struct unit *u, const char *name)
{
	for (size_t i = u->n_variables; i-- > 0;)
		if (streq(u->variables[i].name, name))
			return &u->variables[i];
	return NULL;
}

bool unit_has_room(struct unit *u, const struct word *w)
{
	u->n_bytes += w->n_letters + WORD_BYTES;
	if (u->n_bytes <= MAX_CMDLINE)
		return true;
	unit_problem(u, "%s: more variables and flags than a command may have", u->name);
	return false;
}

static int add_variable(struct unit *u, struct variable *v)
{
	struct variable *slot;

	if (!unit_has_room(u, &v->value))
		return 0;
	slot = APPEND(u->variables, u->n_variables);
	if (!slot)
		return -ENOMEM;
	*slot = *v;
	*v = (struct variable){};
	return 0;
}

/* The files of a unit */

/* "Key = value": the value, or 0 when it is another line. @line becomes the value. */
static bool take_value(struct word *line, const char *key)
{
	const size_t n = strlen(key);
	size_t at = 0;

	while (at < n && at < line->n_letters && line->letters[at].c == key[at])
		at++;
	if (at < n)
		return false;
	while (at < line->n_letters && strchr(" \t\r", line->letters[at].c))
		at++;
	if (at == line->n_letters || line->letters[at].c != '=')
		return false;
	at++;
	while (at < line->n_letters && strchr(" \t\r", line->letters[at].c))
		at++;
	memmove(line->letters, line->letters + at, (line->n_letters - at) * sizeof(*line->letters));
	line->n_letters -= at;
	return true;
}

static int on_exec(struct unit *u, struct word *value)
{
	_cleanup_(words_done) struct words words = {};
	int r;

	if (value->n_letters == 0) {
		words_done(&u->exec);
		return 0;
	}
	/* Only a oneshot unit has two, and that is no kubelet. */
	if (u->exec.n_words > 0)
		unit_problem(u, "%s: more than one ExecStart=", u->name);
	words_done(&u->exec);

	r = words_split(value, true, &words);
	for (size_t i = 0; i < words.n_words && r >= 0; i++)
		r = word_expand_specifiers(&words.words[i], u->name);
	if (r == -EBADMSG || r == -E2BIG) {
		unit_problem(u, "%s: ExecStart= is not understood", u->name);
		r = 0;
	}
	u->exec = TAKE_STRUCT(words);
	return r;
}

int unit_assign(struct unit *u, const struct word *w)
{
	_cleanup_(variable_done) struct variable v = {};
	size_t n = 0;
	int r = 0;

	while (n < w->n_letters && w->letters[n].c != '=')
		n++;
	if (n == 0 || n == w->n_letters || n >= sizeof(v.name))
		return 0; /* systemd leaves it out as well */

	for (size_t i = 0; i < n; i++)
		v.name[i] = w->letters[i].c;
	v.page = w->letters[0].page;
	v.at = w->letters[0].at;
	for (size_t i = n + 1; i < w->n_letters && r >= 0; i++)
		r = word_add(&v.value, w->letters[i]);
	return r < 0 ? r : add_variable(u, &v);
}

static int on_environment(struct unit *u, struct word *value)
{
	_cleanup_(words_done) struct words words = {};
	int r;

	if (value->n_letters == 0) {
		for (size_t i = 0; i < u->n_variables; i++)
			variable_done(&u->variables[i]);
		u->n_variables = 0;
		free(TAKE(u->variables));
		return 0;
	}

	r = words_split(value, true, &words);
	for (size_t i = 0; i < words.n_words && r >= 0; i++) {
		r = word_expand_specifiers(&words.words[i], u->name);
		/* A password with a "%" is nothing to us, unless the command line has it. */
		if (r == -EBADMSG)
			r = 0;
		if (r >= 0)
			r = unit_assign(u, &words.words[i]);
		word_done(&words.words[i]);
	}
	if (r == -EBADMSG || r == -E2BIG) {
		unit_problem(u, "%s: Environment= is not understood", u->name);
		r = 0;
	}
	return r;
}

static int on_env_file(struct unit *u, struct word *value)
{
	struct env_file file = {};
	char text[sizeof(file.path) + 1];
	struct env_file *slot;
	int r;

	if (value->n_letters == 0) {
		u->n_env_files = 0;
		free(TAKE(u->env_files));
		return 0;
	}
	file.page = value->letters[0].page;
	file.at = value->letters[0].at;
	r = word_expand_specifiers(value, u->name);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !word_text(value, text, sizeof(text)) || text[text[0] == '-'] != '/') {
		unit_problem(u, "%s: EnvironmentFile= is not understood", u->name);
		return 0;
	}

	slot = APPEND(u->env_files, u->n_env_files);
	if (!slot)
		return -ENOMEM;
	file.is_optional = text[0] == '-';
	COPY(file.path, text + file.is_optional);
	*slot = file;
	return 0;
}

/* In a copy that redact.c made: what is wrong with the unit, instead of what is wrong in it. */
static int on_problem(struct unit *u, struct word *value)
{
	char text[sizeof(u->problem)];

	word_text(value, text, sizeof(text));
	unit_problem(u, "%s", text);
	return 0;
}

static int on_memlock(struct unit *u, struct word *value)
{
	word_text(value, u->memlock, sizeof(u->memlock));
	return 0;
}

static int scan_unit(struct unit *u, uint16_t page)
{
	static const struct {
		const char *key;
		int (*on_value)(struct unit *u, struct word *value);
	} keys[] = { { "EnvironmentFile", on_env_file },
		     { UNIT_PROBLEM_KEY, on_problem },
		     { "LimitMEMLOCK", on_memlock },
		     { "DefaultLimitMEMLOCK", on_memlock }, /* of system.conf */
		     { "ExecStart", on_exec },
		     { "Environment", on_environment } };
	bool is_service = false;
	size_t at = 0;
	int r = 1;

	while (r > 0) {
		_cleanup_(word_done) struct word line = {};

		r = word_next_line(u->pages[page].text, u->pages[page].size, page, &at, &line);
		if (r > 0 && line.n_letters > 0 && line.letters[0].c == '[')
			is_service = word_is(&line, "[Service]") || word_is(&line, "[Manager]");
		for (size_t i = 0; i < ELEMENTSOF(keys) && r > 0 && is_service; i++)
			if (take_value(&line, keys[i].key)) {
				int result = keys[i].on_value(u, &line);

				if (result < 0)
					return result;
				break;
			}
	}
	return r;
}

/* Return: 1 when there is such a unit file, 0 when not, or -ENOMEM. */
static int read_unit_file(struct unit *u, const struct fs *fs, const char *path)
{
	int page = unit_add_page(u, fs, path, PAGE_UNIT);

	if (page == -ENOENT || page == -EIO)
		return page == -EIO;
	if (page < 0)
		return page;
	return scan_unit(u, (uint16_t)page) < 0 ? -ENOMEM : 1;
}

/* Six folders are asked for each unit, and hardly one has it: one question for those. */
static bool is_absent(const struct fs *fs, const char *path)
{
	uint64_t inode;

	return fs_inode(fs, path, &inode) == -ENOENT;
}

static int read_drop_in_files(struct unit *u, const struct fs *fs, const char *const *folders)
{
	_cleanup_(conf_files_done) struct conf_files files = {};
	int r;

	r = conf_files_list(fs, folders, "*.conf", &files);
	/* One more than are read: that is what is wrong with the unit then. */
	for (size_t i = 0; i < MIN(files.n_items, MAX_PAGES + 1) && r >= 0; i++)
		if (!files.items[i].is_masked)
			r = read_unit_file(u, fs, files.items[i].path);
	return MIN(r, 0);
}

/* Of "kubelet.service" also the drop-ins of all services; nobody has such for "snap.x.y". */
static int read_drop_ins(struct unit *u, const struct fs *fs)
{
	char paths[2 * ELEMENTSOF(unit_folders)][160];
	const char *folders[ELEMENTSOF(paths) + 1] = {};

	for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%s.d",
			 unit_folders[i % ELEMENTSOF(unit_folders)],
			 i < ELEMENTSOF(unit_folders) ? u->name : "service");
		folders[i] = paths[i];
	}
	return read_drop_in_files(u, fs, folders);
}

static int read_files(struct unit *u, const struct fs *fs)
{
	for (size_t i = 0; i < ELEMENTSOF(unit_folders); i++) {
		char path[160];
		int r;

		snprintf(path, sizeof(path), "%s/%s", unit_folders[i], u->name);
		if (is_absent(fs, path))
			continue;
		if (conf_file_is_masked(fs, path))
			return 0;
		r = read_unit_file(u, fs, path);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		u->is_there = true;
		return read_drop_ins(u, fs);
	}
	return 0;
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

		r = variable_next(u->pages[page].text, u->pages[page].size, (uint16_t)page, &at,
				  &v);
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
		char path[PATH_MAX];
		bool is_missing;

		if (fnmatch(pattern, names.names[i], FNM_PERIOD) != 0)
			continue;
		file->is_missing = false;
		snprintf(path, sizeof(path), "%s/%s", folder, names.names[i]);
		r = read_env_file(u, fs, path, &is_missing);
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

bool unit_is_there(const struct fs *fs, const char *name)
{
	char path[160];

	for (size_t i = 0; i < ELEMENTSOF(unit_folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", unit_folders[i], name);
		if (is_absent(fs, path))
			continue;
		if (conf_file_is_masked(fs, path))
			return false;
		if (fs_exists(fs, path))
			return true;
	}
	return false;
}

int unit_read(const struct fs *fs, const char *name, bool may_help, struct unit *ret)
{
	_cleanup_(unit_done) struct unit u = { .is_clear = true };
	int r;

	COPY(u.name, name);
	r = read_files(&u, fs);
	if (r >= 0 && fs->is_live)
		r = loaded_read(&u, may_help);
	if (r >= 0 && u.is_there)
		r = read_env_files(&u, fs);
	if (r >= 0)
		r = arguments_expand(&u);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return 0;
}

int unit_read_files(const struct fs *fs, const char *name, struct unit *ret)
{
	_cleanup_(unit_done) struct unit u = { .is_clear = true };
	int r;

	COPY(u.name, name);
	r = read_files(&u, fs);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return 0;
}

int unit_read_manager(const struct fs *fs, struct unit *ret)
{
	static const char *const files[] = { CONF_FOLDERS("systemd/system.conf"),
					     "lib/systemd/system.conf" };
	static const char *const folders[] = { CONF_FOLDERS("systemd/system.conf.d"),
					       "lib/systemd/system.conf.d", NULL };
	_cleanup_(unit_done) struct unit u = { .is_clear = true };
	int r = 0;

	COPY(u.name, "system.conf");
	for (size_t i = 0; i < ELEMENTSOF(files) && r == 0; i++)
		r = read_unit_file(&u, fs, files[i]);
	if (r >= 0)
		r = read_drop_in_files(&u, fs, folders);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return 0;
}
