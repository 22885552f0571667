/* SPDX-License-Identifier: Apache-2.0 */
#include "modprobe.h"

#include "../base/log.h"
#include "../doors/module.h"
#include "cmdline.h"

#include <fnmatch.h>
#include <limits.h>

#define MAX_FILE_BYTES (1u << 20)
#define MAX_OPTIONS    8192

static const char *const roots[] = { "etc", "run", "usr/local/lib", "usr/lib", "lib" };
#define FIRST_OF_PACKAGES 3 /* from here on they belong to the distribution */

/* One file while it is read. */
struct source {
	struct node *node;
	enum option_source kind;
	char file[256]; /* "/etc/modprobe.d/x.conf" */
	uint32_t line;
	size_t first; /* of roots: those before it are not there */
	int (*on_line)(void *userdata, char *line);
	void *userdata;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A module or parameter as the kernel spells it; false: no such name can be. */
static bool copy_name(char ret[MODULE_LEN], const char *name)
{
	if (!*name || !copy(ret, MODULE_LEN, name))
		return false;
	for (char *c = ret; *c; c++)
		*c = *c == '-' ? '_' : *c;
	make_printable(ret);
	return true;
}

/* @name: of the parameter; NULL: the module is loaded. */
static int add(const struct source *s, const char *module, const char *name, const char *value)
{
	struct option o = { .source = s->kind, .line = s->line }, *slot;

	if (!copy_name(o.module, module) || (name && !copy_name(o.name, name)))
		return 0;
	if (s->node->n_options >= MAX_OPTIONS)
		return -E2BIG;

	slot = APPEND(s->node->options, s->node->n_options);
	if (!slot)
		return -ENOMEM;
	COPY(o.value, value);
	COPY(o.file, s->file);
	make_printable(o.value);
	make_printable(o.file);
	*slot = o;
	return 0;
}

/*
 * The next word of @at, cut out of it, without quotes: "name" and "value", which is NULL without
 * "=". Return: what follows, or NULL when there is no word left.
 */
static char *next_word(char *at, char **name, char **value)
{
	bool is_quoted = false, begins_quoted;
	char *end, *equals = NULL;

	while (is_blank(*at))
		at++;
	if (!*at)
		return NULL;

	begins_quoted = *at == '"';
	for (end = at; *end && (is_quoted || !is_blank(*end)); end++) {
		if (*end == '"')
			is_quoted = !is_quoted;
		if (*end == '=' && !equals)
			equals = end;
	}
	*name = at + begins_quoted;
	*value = NULL;
	at = *end ? end + 1 : end;

	if (equals) {
		*equals = '\0';
		*value = equals + 1;
	}
	if (equals && **value == '"') {
		*value += 1;
		begins_quoted = true;
	}
	*end = '\0';
	if (begins_quoted && end > *name && end[-1] == '"')
		end[-1] = '\0';
	return at;
}

/* "options" and what follows; other commands say nothing about parameters. */
static int on_options(void *userdata, char *line)
{
	const struct source *s = userdata;
	const char *command, *module;
	char *text, *name, *value;
	int r = 0;

	if (*line == '#')
		return 0;
	command = strtok_r(line, "\t ", &text);
	if (!command || !streq(command, "options"))
		return 0;
	module = strtok_r(NULL, "\t ", &text);
	if (!module || !text)
		return 0;

	while (r >= 0 && (text = next_word(text, &name, &value)))
		r = add(s, module, name, value ? value : "");
	return r;
}

static int on_load(void *userdata, char *line)
{
	const struct source *s = userdata;
	char *module, *rest;

	module = strtok_r(line, " \t\r\v\f", &rest);
	if (!module || *module == '#' || *module == ';')
		return 0;
	return add(s, module, NULL, "");
}

/*
 * Takes the first line out of @at, where continued lines become one: it shrinks, so the place is
 * there. Return: what follows, NULL at the end.
 */
static char *next_line(char *at, const char *end, bool is_continued, uint32_t *n_lines)
{
	char *to = at;

	*n_lines = 1;
	while (at < end && *at != '\n') {
		if (is_continued && *at == '\\') {
			at++;
			if (at < end && *at == '\n') {
				*n_lines += 1;
				at++;
				continue;
			}
			if (at == end)
				break;
		}
		*to++ = *at++;
	}

	at += at < end; /* before the line ends, which may be there */
	*to = '\0';
	return at;
}

/* The copy of a file for a recorder. */
struct copy {
	FILE *f; /* NULL: there is no recorder */
	char *text;
	size_t size;
	uint32_t line;
};

/* The next word of a line, which stays as it is. Return: what follows. */
static const char *take_word(const char *line, const char *blanks, char *ret, size_t size)
{
	size_t n;

	line += strspn(line, blanks);
	n = strcspn(line, blanks);
	snprintf(ret, size, "%.*s", (int)MIN(n, size - 1), line);
	return line + n + strspn(line + n, blanks);
}

/* The name, or the pattern of an install command, of a module that is looked at. */
static bool is_looked_at(const struct node *n, const char *module)
{
	char name[MODULE_LEN];

	for (size_t i = 0; i < n->n_modules; i++)
		if (copy_name(name, module) && fnmatch(name, n->modules[i].name, 0) == 0)
			return true;
	return false;
}

static bool is_packaged(const char *path)
{
	for (size_t i = FIRST_OF_PACKAGES; i < ELEMENTSOF(roots); i++)
		if (is_prefix(path, roots[i]) && path[strlen(roots[i])] == '/')
			return true;
	return false;
}

/* Up to a comment behind it: a "#" after a blank, outside of quotes. */
static size_t length_of(const char *line)
{
	bool is_quoted = false;
	size_t n = 0;

	for (; line[n] && !(line[n] == '#' && n > 0 && is_blank(line[n - 1]) && !is_quoted); n++)
		is_quoted ^= line[n] == '"';
	return n;
}

/* What is kept of a line; @end is for what ends it otherwise. 0: nothing is. */
static size_t kept_length(const struct source *s, const char *path, const char *line,
			  const char **end)
{
	char word[16] = "options", module[MODULE_LEN + 1];
	const char *rest = line;

	*end = "";
	if (*line == '#' || *line == ';')
		return 0;
	if (s->kind == OPTION_MODPROBE)
		rest = take_word(rest, "\t ", word, sizeof(word));
	rest = take_word(rest, " \t\r\v\f", module, sizeof(module));
	if (!is_looked_at(s->node, module))
		return 0;
	if (streq(word, "blacklist") || s->kind == OPTION_LOAD)
		return strlen(line) - strlen(rest);
	if (streq(word, "options"))
		return length_of(line);
	if (!streq(word, "install") || !*rest)
		return 0;
	/* Of a command only one that inserts the module is compared with another. */
	if (is_packaged(path) || module_is_inserting(rest, module))
		return length_of(line);
	*end = "/bin/false";
	return strlen(line) - strlen(rest);
}

static void keep_line(struct copy *c, const struct source *s, const char *path, const char *line)
{
	const char *end;
	size_t n = c->f ? kept_length(s, path, line, &end) : 0;

	if (n == 0)
		return;
	for (; c->line < s->line; c->line++)
		fputc('\n', c->f);
	for (size_t i = 0; i < n; i++)
		fprintf(c->f, line[i] == '\\' ? "\\\\" : "%c", line[i]);
	fprintf(c->f, "%s\n", end);
	c->line++;
}

/* Return: 0 or -ENOMEM. */
static int record_copy(struct copy *c, const struct fs *fs, const char *path)
{
	if (!c->f)
		return 0;
	if (text_close(TAKE(c->f), &c->text) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path, c->text, c->size);
	return 0;
}

static void copy_done(struct copy *c)
{
	if (c->f)
		fclose(c->f);
	free(c->text);
}

static int read_file(const struct fs *fs, const char *path, struct source *s)
{
	const bool is_modprobe = s->kind == OPTION_MODPROBE;
	_cleanup_(copy_done) struct copy c = { .line = 1 };
	_cleanup_(freep) char *data = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, MAX_FILE_BYTES, true, &data, &size);
	if (r == -ENOENT || r == -EINVAL || r == -EISDIR) /* a link to nothing or to /dev/null */
		return 0;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "/%s: what it says about modules is not known", path);
		return 0;
	}

	if (fs->on_read && s->node) {
		c.f = open_memstream(&c.text, &c.size);
		if (!c.f)
			return -ENOMEM;
	}
	s->file[0] = '/';
	copy(s->file + 1, sizeof(s->file) - 1, path);
	s->line = 1;
	for (char *line = data, *next; line < data + size; line = next) {
		uint32_t n_lines;

		next = next_line(line, data + size, is_modprobe, &n_lines);
		keep_line(&c, s, path, line);
		r = s->on_line(s->userdata, line);
		if (r < 0)
			return r;
		s->line += n_lines;
	}
	return record_copy(&c, fs, path);
}

struct dropin {
	const char *name; /* of a listing */
	size_t root;
};

static int compare_dropins(const void *a, const void *b)
{
	const struct dropin *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r != 0 ? r : (x->root > y->root) - (x->root < y->root);
}

static bool has_suffix(const char *name, const char *suffix)
{
	const size_t n = strlen(name), n_suffix = strlen(suffix);

	return n > n_suffix && streq(name + n - n_suffix, suffix);
}

static bool is_dropin(const char *name, enum option_source kind)
{
	return name[0] != '.' && (has_suffix(name, ".conf") ||
				  (kind == OPTION_MODPROBE && has_suffix(name, ".alias")));
}

static int list_dropins(const struct fs *fs, const char *folder, const struct source *s,
			struct fs_names names[], struct dropin **ret, size_t *ret_n)
{
	for (size_t i = s->first; i < ELEMENTSOF(roots); i++) {
		char path[64];
		int r;

		snprintf(path, sizeof(path), "%s/%s", roots[i], folder);
		r = fs_list(fs, path, &names[i]);
		if (r == -ENOMEM)
			return r;
		if (r < 0 && r != -ENOENT && r != -ENOTDIR)
			log_warning_errno(r, "/%s: what it says about modules is not known", path);

		for (size_t k = 0; k < names[i].n_names; k++) {
			struct dropin *d;

			if (!is_dropin(names[i].names[k], s->kind))
				continue;
			d = APPEND(*ret, *ret_n);
			if (!d)
				return -ENOMEM;
			*d = (struct dropin){ names[i].names[k], i };
		}
	}

	if (*ret_n > 0)
		qsort(*ret, *ret_n, sizeof(**ret), compare_dropins);
	return 0;
}

static int read_folders(const struct fs *fs, const char *folder, struct source *s)
{
	_cleanup_(freep) struct dropin *dropins = NULL;
	struct fs_names names[ELEMENTSOF(roots)] = {};
	size_t n_dropins = 0;
	int r;

	r = list_dropins(fs, folder, s, names, &dropins, &n_dropins);
	for (size_t i = 0; i < n_dropins && r >= 0; i++) {
		char path[PATH_MAX];

		if (i > 0 && streq(dropins[i - 1].name, dropins[i].name))
			continue; /* hidden by the folder before it */
		snprintf(path, sizeof(path), "%s/%s/%s", roots[dropins[i].root], folder,
			 dropins[i].name);
		r = read_file(fs, path, s);
	}

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		fs_names_done(&names[i]);
	return r;
}

/* Options of modprobe.d, or the modules of modules-load.d. */
static int read_options(const struct fs *fs, const char *folder, enum option_source kind,
			struct node *n)
{
	struct source source = { .node = n,
				 .kind = kind,
				 .on_line = kind == OPTION_MODPROBE ? on_options : on_load };

	source.userdata = &source;
	return read_folders(fs, folder, &source);
}

int modprobe_read(const struct fs *fs, bool is_packaged, int (*on_line)(void *userdata, char *line),
		  void *userdata)
{
	struct source source = { .kind = OPTION_MODPROBE,
				 .first = is_packaged ? FIRST_OF_PACKAGES : 0,
				 .on_line = on_line,
				 .userdata = userdata };

	return read_folders(fs, "modprobe.d", &source);
}

static bool is_load_list(const char *name)
{
	const char *rest = after(name, "rd.");

	name = rest ? rest : name;
	return streq(name, "modules_load") || streq(name, "modules-load");
}

static int read_load_list(const struct source *s, char *list)
{
	int r = 0;

	for (char *rest, *name = strtok_r(list, ",", &rest); name && r >= 0;
	     name = strtok_r(NULL, ",", &rest))
		r = add(s, name, NULL, "");
	return r;
}

/* One word of the command line; of the two kinds only the one that is asked for this time. */
static int on_word(void *userdata, const char *word)
{
	const struct source *s = userdata;
	_cleanup_(freep) char *name = strdup(word);
	char *value, *dot;

	if (!name)
		return -ENOMEM;
	value = strchr(name, '=');
	if (!value)
		return 0;
	*value++ = '\0';

	if (is_load_list(name))
		return s->kind == OPTION_LOAD ? read_load_list(s, value) : 0;
	dot = strchr(name, '.');
	if (!dot || s->kind != OPTION_CMDLINE)
		return 0;
	*dot = '\0';
	return add(s, name, dot + 1, value);
}

static int read_cmdline(const struct fs *fs, enum option_source kind, struct node *n)
{
	struct source source = { .node = n, .kind = kind, .file = "/proc/cmdline" };

	return cmdline_read(fs, on_word, &source);
}

int observe_options(const struct fs *fs, struct node *n)
{
	int r;

	free(n->options);
	n->options = NULL;
	n->n_options = 0;

	r = read_options(fs, "modprobe.d", OPTION_MODPROBE, n);
	if (r >= 0)
		r = read_cmdline(fs, OPTION_CMDLINE, n);
	if (r >= 0)
		r = read_cmdline(fs, OPTION_LOAD, n);
	if (r >= 0)
		r = read_options(fs, "modules-load.d", OPTION_LOAD, n);
	if (r == -E2BIG)
		log_error("modprobe.d: there are more than %d module options", MAX_OPTIONS);
	return r;
}
