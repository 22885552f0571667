/* SPDX-License-Identifier: Apache-2.0 */
#include "modprobe-observe.h"

#include "../base/log.h"
#include "../os/conf-files.h"
#include "cmdline-observe.h"

#include <fnmatch.h>

#define MAX_FILE_BYTES (1u << 20)
#define MAX_OPTIONS    8192

static const char *const modprobe_folders[] = { CONF_FOLDERS("modprobe.d"), "lib/modprobe.d",
						NULL };
static const char *const load_folders[] = { CONF_FOLDERS("modules-load.d"), "lib/modules-load.d",
					    NULL };

/* A file, or the kernel command line, while it is read. */
struct modprobe_source {
	struct node *node;
	enum option_source kind;
	char file[256]; /* "/etc/modprobe.d/x.conf" */
	uint32_t line;
	int (*on_line)(void *userdata, char *line);
	void *userdata;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies a module or parameter name as the kernel spells it. False: the name is not valid. */
static bool copy_name(char ret[static MODULE_LEN], const char *name)
{
	if (!*name || !module_spell(ret, name))
		return false;
	make_printable(ret);
	return true;
}

/* @name: of the parameter; NULL: the module is loaded. */
static int add(const struct modprobe_source *s, const char *module, const char *name,
	       const char *value)
{
	struct option o = { .source = s->kind, .line = s->line };

	if (!copy_name(o.module, module) || (name && !copy_name(o.name, name)))
		return 0;
	if (s->node->n_options >= MAX_OPTIONS)
		return -E2BIG;

	COPY(o.value, value);
	COPY(o.file, s->file);
	make_printable(o.value);
	make_printable(o.file);
	return ADD(s->node->options, s->node->n_options, o);
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
	const struct modprobe_source *s = userdata;
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
	const struct modprobe_source *s = userdata;
	char *module, *rest;

	module = strtok_r(line, " \t\r\v\f", &rest);
	if (!module || *module == '#' || *module == ';')
		return 0;
	return add(s, module, NULL, "");
}

/*
 * Takes the first line out of @at and joins continued lines in place: joining only shrinks them.
 * Return: the rest, NULL at the end.
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

/* The next word of a line, which stays as it is. Return: what follows. */
static const char *take_word(const char *line, const char *blanks, char *ret, size_t size)
{
	size_t n;

	line += strspn(line, blanks);
	n = strcspn(line, blanks);
	snprintf(ret, size, "%.*s", (int)MIN(n, size - 1), line);
	return line + n + strspn(line + n, blanks);
}

/* Does @module, a name or the pattern of an install command, match one of node.modules? */
static bool is_looked_at(const struct node *n, const char *module)
{
	char name[MODULE_LEN];

	return copy_name(name, module) &&
	       ANY(m, n->modules, n->n_modules, fnmatch(name, m->name, 0) == 0);
}

/* The length of a line up to a trailing comment: a "#" after a blank, outside of quotes. */
static size_t length_of(const char *line)
{
	bool is_quoted = false;
	size_t n = 0;

	for (; line[n] && !(line[n] == '#' && n > 0 && is_blank(line[n - 1]) && !is_quoted); n++)
		is_quoted ^= line[n] == '"';
	return n;
}

/* The length that a capture keeps of a line; @end is put behind it. 0: the line is dropped. */
static size_t kept_length(const struct modprobe_source *s, const char *line, const char **end)
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
	*end = "/bin/false"; /* only the presence of a command counts */
	return strlen(line) - strlen(rest);
}

/* @f: the copy of the file for a recorder; NULL: there is none. @at: the line that it is at */
static void keep_line(FILE *f, uint32_t *at, const struct modprobe_source *s, const char *line)
{
	const char *end;
	size_t n = f ? kept_length(s, line, &end) : 0;

	if (n == 0)
		return;
	for (; *at < s->line; ++*at)
		fputc('\n', f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, line[i] == '\\' ? "\\\\" : "%c", line[i]);
	fprintf(f, "%s\n", end);
	++*at;
}

static int read_file(const struct fs *fs, const char *path, struct modprobe_source *s)
{
	const bool is_modprobe = s->kind == OPTION_MODPROBE;
	_cleanup_(stream_done) struct stream out = {};
	_cleanup_(freep) char *data = NULL;
	uint32_t at = 1;
	size_t size;
	int r = fs_read_all(fs, path, MAX_FILE_BYTES, true, &data, &size);

	if (r == -ENOENT || r == -EINVAL || r == -EISDIR) /* a link to nothing or to /dev/null */
		return 0;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "/%s: what it says about modules is not known", path);
		return 0;
	}

	if (fs->on_read && s->node && stream_open(&out) < 0)
		return -ENOMEM;
	s->file[0] = '/';
	copy(s->file + 1, sizeof(s->file) - 1, path);
	s->line = 1;
	for (char *line = data, *next; line < data + size; line = next) {
		uint32_t n_lines;

		next = next_line(line, data + size, is_modprobe, &n_lines);
		keep_line(out.f, &at, s, line);
		r = s->on_line(s->userdata, line);
		if (r < 0)
			return r;
		s->line += n_lines;
	}
	return out.f ? fs_record_stream(fs, path, &out) : 0;
}

static int read_folders(const struct fs *fs, const char *const *folders, struct modprobe_source *s)
{
	_cleanup_(conf_files_done) struct conf_files files = {};
	int r = conf_files_list(fs, folders,
				s->kind == OPTION_MODPROBE ? "*.@(conf|alias)" : "*.conf", &files);

	if (files.unread && files.error != -ENOTDIR)
		log_warning_errno(files.error, "/%s: what it says about modules is not known",
				  files.unread);
	for (size_t i = 0; i < files.n_items && r >= 0; i++)
		if (!conf_file_is_masked(fs, files.items[i].path))
			r = read_file(fs, files.items[i].path, s);
	return r;
}

/* Options of modprobe.d, or the modules of modules-load.d. */
static int read_options(const struct fs *fs, const char *const *folders, enum option_source kind,
			struct node *n)
{
	struct modprobe_source source = {
		.node = n, .kind = kind, .on_line = kind == OPTION_MODPROBE ? on_options : on_load
	};

	source.userdata = &source;
	return read_folders(fs, folders, &source);
}

int modprobe_read(const struct fs *fs, int (*on_line)(void *userdata, char *line), void *userdata)
{
	struct modprobe_source source = { .kind = OPTION_MODPROBE,
					  .on_line = on_line,
					  .userdata = userdata };

	return read_folders(fs, modprobe_folders, &source);
}

static bool is_load_list(const char *name)
{
	const char *rest = after(name, "rd.");

	name = rest ? rest : name;
	return streq(name, "modules_load") || streq(name, "modules-load");
}

static int read_load_list(const struct modprobe_source *s, char *list)
{
	int r = 0;

	for (char *rest, *name = strtok_r(list, ",", &rest); name && r >= 0;
	     name = strtok_r(NULL, ",", &rest))
		r = add(s, name, NULL, "");
	return r;
}

/* Adds a word of the command line, if it is an option of the kind that @userdata asks for. */
static int on_word(void *userdata, const char *word)
{
	const struct modprobe_source *s = userdata;
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
	struct modprobe_source source = { .node = n, .kind = kind, .file = "/proc/cmdline" };

	return cmdline_read(fs, on_word, &source);
}

int observe_options(const struct fs *fs, struct node *n)
{
	int r;

	free(n->options);
	n->options = NULL;
	n->n_options = 0;

	r = read_options(fs, modprobe_folders, OPTION_MODPROBE, n);
	if (r >= 0)
		r = read_cmdline(fs, OPTION_CMDLINE, n);
	if (r >= 0)
		r = read_cmdline(fs, OPTION_LOAD, n);
	if (r >= 0)
		r = read_options(fs, load_folders, OPTION_LOAD, n);
	if (r == -E2BIG)
		log_error("modprobe.d: there are more than %d module options", MAX_OPTIONS);
	return r;
}

int observe_option_file(const struct fs *fs, const char *path, char **ret)
{
	char *text = NULL;
	int r = fs_read_all(fs, path, MAX_FILE_BYTES, false, &text, NULL);

	/* The path is not a file of ours; with -ENOENT it is a link to nothing. */
	if (r == -EISDIR || r == -EINVAL || r == -EFBIG || r == -ELOOP ||
	    (r == -ENOENT && fs_exists(fs, path) > 0)) {
		log_debug_errno(r, "/%s", path);
		text = strdup("");
		r = text ? 0 : -ENOMEM;
	}
	if (r < 0 && r != -ENOENT)
		return r;
	free(*ret);
	*ret = text;
	return 0;
}
