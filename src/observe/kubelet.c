/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>

#include "../doors/yaml.h"
#include "../model/plan.h"

#define DEFAULT_FILE "/var/lib/kubelet/config.yaml"
#define MAX_TEXT     ((size_t)256 * 1024)      /* of a unit or an environment file */
#define MAX_CMDLINE  ((size_t)2 * 1024 * 1024) /* as the kernel's default limit */

/* A backslash only before a newline; elsewhere it is in no value we take. */
#define BLANKS " \t\r\n\\"

/* In systemd's order of precedence: systemd.unit(5). */
static const char *const unit_folders[] = {
	"etc/systemd/system",     "run/systemd/system", "usr/local/lib/systemd/system",
	"usr/lib/systemd/system", "lib/systemd/system",
};

/* Where kubeadm's packages look for flags. Read even when the unit does not name them. */
static const char *const usual_env_files[] = {
	"/var/lib/kubelet/kubeadm-flags.env",
	"/etc/default/kubelet",
	"/etc/sysconfig/kubelet",
};

/* Unified hierarchy, and systemd's own of version 1. */
static const char *const process_lists[] = {
	"sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs",
	"sys/fs/cgroup/systemd/system.slice/kubelet.service/cgroup.procs",
};

enum flag_kind {
	FLAG_CONFIG,
	FLAG_CONFIG_DIR,
	FLAG_POLICY,
	_FLAG_N
};

static const char *const flag_names[] = {
	[FLAG_CONFIG] = "config",
	[FLAG_CONFIG_DIR] = "config-dir",
	[FLAG_POLICY] = "topology-manager-policy",
};
_Static_assert(ELEMENTSOF(flag_names) == _FLAG_N, "a name for every flag");

enum source {
	SOURCE_EXEC,
	SOURCE_ENVIRONMENT,
	SOURCE_ENV_FILE,
	SOURCE_PROCESS,
};

struct flag {
	enum flag_kind kind;
	enum source source;
	char value[256]; /* empty: absent or too long, in any case not understood */
	char file[256];  /* absolute */
	char where[272]; /* "FILE:LINE"; a process has no lines */
	bool is_used;    /* the unit names the file, or there is no unit to ask */
};

struct env_file {
	char path[256];
};

/* What was seen so far. */
struct look {
	const struct fs *fs;
	struct flag *flags; /* owned */
	size_t n_flags;
	struct env_file *env_files; /* owned; named by the unit */
	size_t n_env_files;
	bool has_unit, is_running;
	char problem[256]; /* the first thing that was not understood */
};

/* A file, and the copy of it that a recorder may see: all blank but for what is kept. */
struct page {
	const char *path; /* without the first "/" */
	enum source source;
	bool is_unit, is_used;
	char *text, *mask; /* owned */
	size_t size;
};

static void look_done(struct look *l)
{
	free(l->flags);
	free(l->env_files);
}

static void page_done(struct page *p)
{
	free(p->text);
	free(p->mask);
}

static _printf_(2, 3) void note_problem(struct look *l, const char *format, ...)
{
	va_list ap;

	if (*l->problem)
		return;
	va_start(ap, format);
	vsnprintf(l->problem, sizeof(l->problem), format, ap);
	va_end(ap);
}

/* Return: 1 when there is such a file, 0 when not, or -ENOMEM. Others are noted. */
static int page_open(struct look *l, struct page *p, size_t max)
{
	int r;

	r = fs_read_all(l->fs, p->path, max, true, &p->text, &p->size);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		if (r != -ENOENT)
			note_problem(l, "/%s: %s", p->path, strerror(-r));
		return 0;
	}

	p->mask = malloc(p->size + 1);
	if (!p->mask)
		return -ENOMEM;
	for (size_t i = 0; i <= p->size; i++)
		p->mask[i] = p->text[i] == '\n' || i == p->size ? p->text[i] : ' ';
	return 1;
}

static void keep(struct page *p, size_t from, size_t to)
{
	memcpy(p->mask + from, p->text + from, to - from);
}

static int add_flag(struct look *l, const struct page *p, enum flag_kind kind, const char *value,
		    size_t n, uint32_t line)
{
	struct flag *f = APPEND(l->flags, l->n_flags);
	char number[16] = "";

	if (!f)
		return -ENOMEM;

	*f = (struct flag){ .kind = kind, .source = p->source, .is_used = p->is_used };
	if (n < sizeof(f->value))
		memcpy(f->value, value, n);
	if ((size_t)snprintf(f->file, sizeof(f->file), "/%s", p->path) >= sizeof(f->file))
		note_problem(l, "/%s: too long a path", p->path);
	if (line > 0)
		snprintf(number, sizeof(number), ":%" PRIu32, line);
	snprintf(f->where, sizeof(f->where), "%s%s", f->file, number);
	return 0;
}

/* The flag that @s begins with, "--" and all; '-' and '_' are the same to the kubelet. */
static bool is_flag(const char *s, size_t size, enum flag_kind *ret, size_t *ret_size)
{
	char name[32] = "";
	size_t n = 0;

	if (size < 2 || s[0] != '-' || s[1] != '-')
		return false;
	for (s += 2, size -= 2; n < size && strchr("=\"'" BLANKS, s[n]) == NULL; n++) {
		if (n == sizeof(name) - 1)
			return false;
		name[n] = s[n] == '_' ? '-' : s[n];
	}

	for (size_t i = 0; i < ELEMENTSOF(flag_names); i++)
		if (streq(name, flag_names[i])) {
			*ret = (enum flag_kind)i;
			*ret_size = n + 2;
			return true;
		}
	return false;
}

static size_t skip_blanks(const char *text, size_t at, size_t to)
{
	while (at < to && strchr(BLANKS, text[at]))
		at++;
	return at;
}

/* Takes the value of a flag whose name ends at @at. Return: where the value ends, or -ENOMEM. */
static ssize_t scan_value(struct look *l, struct page *p, enum flag_kind kind, size_t at, size_t to,
			  uint32_t line)
{
	const char *text = p->text;
	size_t end;
	int r;

	if (at < to && text[at] == '=')
		at++;
	else
		at = skip_blanks(text, at, to);

	if (at < to && (text[at] == '"' || text[at] == '\'')) {
		const char *quote = memchr(text + at + 1, text[at], to - at - 1);

		at++;
		end = quote ? (size_t)(quote - text) : to;
	} else {
		for (end = at; end < to && !strchr("\"'" BLANKS, text[end]);)
			end++;
		/* A word that goes on is more than this. */
		if (end < to && text[end] == '\\' && end + 1 < to && text[end + 1] != '\n')
			at = end;
	}

	r = add_flag(l, p, kind, text + at, end - at, line);
	return r < 0 ? r : (ssize_t)end;
}

static bool is_comment(const char *text, size_t at, size_t size)
{
	while (at < size && strchr(" \t\r", text[at]))
		at++;
	return at < size && (text[at] == '#' || text[at] == ';');
}

static size_t line_end(const char *text, size_t at, size_t size)
{
	const char *end = at < size ? memchr(text + at, '\n', size - at) : NULL;

	return end ? (size_t)(end - text) : size;
}

/* A line with those that continue it; in units comments may stand between them: systemd.syntax(7).
 */
static size_t whole_line_end(struct page *p, size_t at)
{
	for (;;) {
		size_t end = line_end(p->text, at, p->size);

		if (end == p->size || end == at || p->text[end - 1] != '\\')
			return end;
		if (p->is_unit)
			keep(p, end - 1, end);
		at = end + 1;
		while (p->is_unit && at < p->size && is_comment(p->text, at, p->size)) {
			memset(p->mask + at, '#', line_end(p->text, at, p->size) - at);
			at = line_end(p->text, at, p->size) + 1;
		}
		at = MIN(at, p->size);
	}
}

/* All flags between @from and @to; @line is that of @from. */
static int scan_words(struct look *l, struct page *p, size_t from, size_t to, uint32_t line)
{
	for (size_t at = from; at < to; at++) {
		enum flag_kind kind;
		ssize_t end;
		size_t n;

		if (p->text[at] == '\n') {
			line++;
			if (p->is_unit && is_comment(p->text, at + 1, to))
				at = line_end(p->text, at + 1, to) - 1;
			continue;
		}
		if (at > from && !strchr("\"'=" BLANKS, p->text[at - 1]))
			continue;
		if (!is_flag(p->text + at, to - at, &kind, &n))
			continue;

		end = scan_value(l, p, kind, at + n, to, line);
		if (end < 0)
			return (int)end;
		keep(p, at, MIN((size_t)end + 1, to)); /* with its quote */
		for (; at + 1 < (size_t)end; at++)
			line += p->text[at] == '\n';
	}

	return 0;
}

static void drop_flags(struct look *l, enum source source)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_flags; i++)
		if (l->flags[i].source != source)
			l->flags[n++] = l->flags[i];

	/* Never fewer than were counted: the room of the array follows from its count. */
	for (size_t i = n; i < l->n_flags; i++)
		l->flags[i] = (struct flag){ .kind = _FLAG_N };
}

static int add_env_file(struct look *l, const struct page *p, size_t from, size_t to, uint32_t line)
{
	const char *text = p->text;
	struct env_file *file;

	while (to > from && strchr(BLANKS, text[to - 1]))
		to--;
	if (from == to) {
		l->n_env_files = 0;
		free(TAKE(l->env_files));
		return 0;
	}
	if (text[from] == '-')
		from++;

	file = APPEND(l->env_files, l->n_env_files);
	if (!file)
		return -ENOMEM;
	if (to - from >= sizeof(file->path) || text[from] != '/')
		note_problem(l, "/%s:%" PRIu32 ": EnvironmentFile= is not understood", p->path,
			     line);
	else
		memcpy(file->path, text + from, to - from);
	if (file->path[strcspn(file->path, "$%*?[\\\"' ")])
		note_problem(l, "/%s:%" PRIu32 ": EnvironmentFile=%s is not understood", p->path,
			     line, file->path);
	return 0;
}

/* "Key = value": where the value begins, 0 when it is another line. */
static size_t value_of(const struct page *p, size_t at, size_t to, const char *key)
{
	const size_t n = strlen(key);

	at = skip_blanks(p->text, at, to);
	if (to - at <= n || memcmp(p->text + at, key, n) != 0)
		return 0;
	at = skip_blanks(p->text, at + n, to);
	return at < to && p->text[at] == '=' ? skip_blanks(p->text, at + 1, to) : 0;
}

static int scan_unit_line(struct look *l, struct page *p, size_t from, size_t to, uint32_t line)
{
	static const struct {
		const char *key;
		enum source source;
	} keys[] = { { "ExecStart", SOURCE_EXEC }, { "Environment", SOURCE_ENVIRONMENT } };
	size_t at;

	at = value_of(p, from, to, "EnvironmentFile");
	if (at > 0) {
		keep(p, from, to);
		return add_env_file(l, p, at, to, line);
	}

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		size_t word;

		at = value_of(p, from, to, keys[i].key);
		if (at == 0)
			continue;
		if (at == to)
			drop_flags(l, keys[i].source); /* an empty value takes back those before */

		/* Something of the value stays, or the copy would take back as well. */
		for (word = at; word < to && !strchr("=\"'" BLANKS, p->text[word]);)
			word++;
		keep(p, from, word);
		if (word == at && at < to)
			p->mask[at] = '"';

		p->source = keys[i].source;
		return scan_words(l, p, at, to, line);
	}

	return 0;
}

static int scan_page(struct look *l, struct page *p)
{
	uint32_t line = 1;
	int r;

	for (size_t at = 0, end; at < p->size; at = end + 1) {
		const bool is_skipped = is_comment(p->text, at, p->size);

		end = is_skipped ? line_end(p->text, at, p->size) : whole_line_end(p, at);
		if (!is_skipped) {
			r = p->is_unit ? scan_unit_line(l, p, at, end, line)
				       : scan_words(l, p, at, end, line);
			if (r < 0)
				return r;
		}
		for (size_t i = at; i <= end && i < p->size; i++)
			line += p->text[i] == '\n';
	}

	fs_record(l->fs, RECORD_FILE, p->path, p->mask, p->size);
	return 0;
}

static bool is_masked(const struct fs *fs, const char *path)
{
	char target[PATH_MAX];

	return fs_read_link(fs, path, target, sizeof(target)) >= 0 && streq(target, "/dev/null");
}

/* Return: 1 when there is such a file, 0 when not, or -ENOMEM. */
static int look_at_unit(struct look *l, const char *path)
{
	_cleanup_(page_done) struct page p = { .path = path, .is_unit = true, .is_used = true };
	int r;

	r = page_open(l, &p, MAX_TEXT);
	if (r <= 0)
		return r;

	r = scan_page(l, &p);
	return r < 0 ? r : 1;
}

static int look_at_env_file(struct look *l, const char *path, bool is_used)
{
	_cleanup_(page_done) struct page p = { .path = path + 1,
					       .source = SOURCE_ENV_FILE,
					       .is_used = is_used };
	int r;

	r = page_open(l, &p, MAX_TEXT);
	return r <= 0 ? r : scan_page(l, &p);
}

struct drop_in {
	char name[NAME_MAX + 1];
	const char *folder;
};

static int compare_drop_in(const void *a, const void *b)
{
	return strcmp(((const struct drop_in *)a)->name, ((const struct drop_in *)b)->name);
}

static int list_drop_ins(const struct fs *fs, const char *folder, struct drop_in **drop_ins,
			 size_t *n)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char path[128];
	int r;

	snprintf(path, sizeof(path), "%s/kubelet.service.d", folder);
	r = fs_list(fs, path, &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	for (size_t i = 0; i < names.n_names; i++) {
		const char *dot = strrchr(names.names[i], '.');
		bool is_known = false;
		struct drop_in *d;

		if (!dot || !streq(dot, ".conf"))
			continue;
		for (size_t k = 0; k < *n; k++)
			is_known |= streq((*drop_ins)[k].name, names.names[i]);
		if (is_known)
			continue;
		d = APPEND(*drop_ins, *n);
		if (!d)
			return -ENOMEM;
		COPY(d->name, names.names[i]);
		d->folder = folder;
	}

	return 0;
}

static int look_at_drop_ins(struct look *l)
{
	_cleanup_(freep) struct drop_in *drop_ins = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(unit_folders) && r >= 0; i++)
		r = list_drop_ins(l->fs, unit_folders[i], &drop_ins, &n);
	if (n > 0)
		qsort(drop_ins, n, sizeof(*drop_ins), compare_drop_in);

	for (size_t i = 0; i < n && r >= 0; i++) {
		char path[sizeof(drop_ins->name) + 64];

		snprintf(path, sizeof(path), "%s/kubelet.service.d/%s", drop_ins[i].folder,
			 drop_ins[i].name);
		if (!is_masked(l->fs, path))
			r = look_at_unit(l, path);
	}

	return MIN(r, 0);
}

static int look_at_units(struct look *l)
{
	for (size_t i = 0; i < ELEMENTSOF(unit_folders) && !l->has_unit; i++) {
		char path[64];
		int r;

		snprintf(path, sizeof(path), "%s/kubelet.service", unit_folders[i]);
		if (is_masked(l->fs, path))
			return 0;
		r = look_at_unit(l, path);
		if (r < 0)
			return r;
		l->has_unit = r > 0;
	}

	return l->has_unit ? look_at_drop_ins(l) : 0;
}

static int look_at_env_files(struct look *l)
{
	int r = 0;

	for (size_t i = 0; i < l->n_env_files && r >= 0; i++)
		if (*l->env_files[i].path)
			r = look_at_env_file(l, l->env_files[i].path, true);

	for (size_t i = 0; i < ELEMENTSOF(usual_env_files) && r >= 0; i++) {
		bool is_known = false;

		for (size_t k = 0; k < l->n_env_files; k++)
			is_known |= streq(l->env_files[k].path, usual_env_files[i]);
		if (!is_known)
			r = look_at_env_file(l, usual_env_files[i], !l->has_unit);
	}

	return r;
}

/* Words that each end in NUL. Of them are recorded: the name, and the flags with their values. */
static int scan_cmdline(struct look *l, struct page *p)
{
	size_t n = strlen(p->text) + 1, end;
	int r;

	memcpy(p->mask, p->text, n);
	for (size_t at = n; at < p->size; at = end) {
		const char *word = p->text + at, *value;
		enum flag_kind kind;
		size_t name;

		end = at + strlen(word) + 1;
		if (!is_flag(word, strlen(word), &kind, &name))
			continue;

		value = word + name + (word[name] == '=');
		if (!word[name] && end < p->size) { /* it is the next word */
			value = p->text + end;
			end += strlen(value) + 1;
		}
		r = add_flag(l, p, kind, value, strlen(value), 0);
		if (r < 0)
			return r;
		memcpy(p->mask + n, word, end - at);
		n += end - at;
	}

	fs_record(l->fs, RECORD_FILE, p->path, p->mask, MIN(n, p->size));
	return 0;
}

static int look_at_process(struct look *l, const char *pid)
{
	char path[64];
	_cleanup_(page_done) struct page p = { .path = path,
					       .source = SOURCE_PROCESS,
					       .is_used = true };
	const char *name;
	int r;

	snprintf(path, sizeof(path), "proc/%s/cmdline", pid);
	r = page_open(l, &p, MAX_CMDLINE);
	if (r <= 0)
		return r; /* it has ended */

	name = strrchr(p.text, '/');
	if (!streq(name ? name + 1 : p.text, "kubelet"))
		return 0; /* a command of ExecStartPre=, such as ours */

	l->is_running = true;
	return scan_cmdline(l, &p);
}

static int look_at_processes(struct look *l)
{
	for (size_t i = 0; i < ELEMENTSOF(process_lists); i++) {
		_cleanup_(freep) char *list = NULL;
		char *rest, *pid;
		size_t size;
		int r;

		r = fs_read_all(l->fs, process_lists[i], MAX_TEXT, false, &list, &size);
		if (r == -ENOMEM)
			return r;
		for (rest = list; r >= 0 && (pid = strsep(&rest, "\n"));)
			if (*pid && strlen(pid) <= 10 && !pid[strspn(pid, "0123456789")]) {
				r = look_at_process(l, pid);
				if (r < 0)
					return r;
			}
	}

	return 0;
}

/* REASON_NONE: only the detail. */
static _printf_(3, 4) void refuse(struct kubelet *k, enum reason reason, const char *format, ...)
{
	va_list ap;

	k->refusal = reason;
	va_start(ap, format);
	vsnprintf(k->detail, sizeof(k->detail), format, ap);
	va_end(ap);

	/* Values come from files: they may hold anything. */
	for (char *c = k->detail; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static enum topology_policy policy_from(const char *value)
{
	for (int i = TOPOLOGY_POLICY_NONE; i < _TOPOLOGY_POLICY_N; i++)
		if (streq(topology_policy_name((enum topology_policy)i), value))
			return (enum topology_policy)i;
	return TOPOLOGY_POLICY_UNSET;
}

static const struct flag *last_flag(const struct look *l, enum flag_kind kind)
{
	const struct flag *last = NULL;

	/* A file that can be edited says more than a process. */
	for (size_t i = 0; i < l->n_flags; i++)
		if (l->flags[i].kind == kind && (!last || last->source == SOURCE_PROCESS ||
						 l->flags[i].source != SOURCE_PROCESS))
			last = &l->flags[i];
	return last;
}

/* Which of several flags comes last is systemd's business: they must agree. */
static bool decide_by_flag(const struct look *l, struct kubelet *k)
{
	const struct flag *f = last_flag(l, FLAG_POLICY);
	bool is_clear = true;

	if (!f)
		return false;

	for (size_t i = 0; i < l->n_flags; i++)
		if (l->flags[i].kind == FLAG_POLICY)
			is_clear = is_clear && l->flags[i].is_used &&
				   streq(l->flags[i].value, f->value);

	COPY(k->path, f->file);
	k->policy = is_clear ? policy_from(f->value) : TOPOLOGY_POLICY_UNSET;
	refuse(k, REASON_KUBELET_FLAG_WINS, "%s: --%s=%s%s", f->where, flag_names[FLAG_POLICY],
	       f->value, is_clear ? "" : ", and others that differ");
	return true;
}

static bool is_plain_path(const char *path)
{
	return *path == '/' && !path[strcspn(path, "$%\\*")] && !strstr(path, "/..");
}

/* Of the running kubelet the last --config, else the only one there is. */
static const struct flag *config_flag(const struct look *l, struct kubelet *k)
{
	const struct flag *file = NULL, *process = NULL;
	bool is_told = false;

	for (size_t i = 0; i < l->n_flags; i++)
		if (l->flags[i].kind == FLAG_CONFIG && l->flags[i].source == SOURCE_PROCESS)
			process = &l->flags[i];

	for (size_t i = 0; i < l->n_flags; i++) {
		const struct flag *f = &l->flags[i];

		if (f->kind != FLAG_CONFIG || f->source == SOURCE_PROCESS)
			continue;
		if (file && !streq(file->value, f->value) && !process)
			refuse(k, REASON_KUBELET_FILE_REFUSED, "%s: --config=%s, but %s in %s",
			       f->where, f->value, file->value, file->file);
		is_told |= process && (streq(f->value, process->value) || !is_plain_path(f->value));
		file = f;
	}

	/* The unit was changed since that kubelet started. */
	if (process && file && !is_told)
		refuse(k, REASON_KUBELET_FILE_REFUSED,
		       "%s: --config=%s, but the kubelet runs with %s", file->where, file->value,
		       process->value);
	if (l->is_running && !process)
		refuse(k, REASON_KUBELET_FILE_REFUSED, "the running kubelet has no --config");

	return process ? process : file;
}

/* Return: false when there is a refusal. */
static bool find_file(const struct look *l, struct kubelet *k)
{
	const struct flag *f = last_flag(l, FLAG_CONFIG_DIR);

	if (*l->problem)
		refuse(k, REASON_KUBELET_FILE_REFUSED, "%s", l->problem);
	else if (f)
		refuse(k, REASON_KUBELET_FILE_REFUSED, "%s: --config-dir=%s: drop-ins are not read",
		       f->where, f->value);
	if (k->refusal != REASON_NONE)
		return false;

	f = config_flag(l, k);
	if (k->refusal != REASON_NONE)
		return false;
	if (f && !is_plain_path(f->value)) {
		refuse(k, REASON_KUBELET_FILE_REFUSED, "%s: --config=%s is not understood",
		       f->where, f->value);
		return false;
	}

	COPY(k->path, f ? f->value : DEFAULT_FILE);
	return true;
}

/*
 * What stands for a file that was refused: it is refused for the same reason and tells nothing. The
 * longest is made by hand.
 */
static const struct {
	int r;
	const char *text;
} stand_ins[] = {
	{ -ENODATA, "# left out\n" },
	{ -EILSEQ, "# left out\n\x7F" },
	{ -EPROTONOSUPPORT, "{}" },
	{ -EBADMSG, "# left out\n]" },
	{ -EMEDIUMTYPE, "# left out: not a KubeletConfiguration\nkind: Other\n" },
	{ -EOPNOTSUPP, "# left out\n? kind\n" },
};

static int record_refused(const struct fs *fs, const char *path, int why)
{
	_cleanup_(freep) char *large = NULL;

	if (!fs->on_read)
		return 0;

	for (size_t i = 0; i < ELEMENTSOF(stand_ins); i++)
		if (stand_ins[i].r == why)
			fs_record(fs, RECORD_FILE, path, stand_ins[i].text,
				  strlen(stand_ins[i].text));

	if (why == -EISDIR)
		fs_record(fs, RECORD_FOLDER, path, NULL, 0);
	if (why != -EFBIG)
		return 0;

	large = malloc(YAML_MAX_BYTES + 1);
	if (!large)
		return -ENOMEM;
	memset(large, '#', YAML_MAX_BYTES + 1);
	fs_record(fs, RECORD_FILE, path, large, YAML_MAX_BYTES + 1);
	return 0;
}

/* HTTP headers may hold tokens; nothing else in this kind is a secret. */
static int record_understood(const struct fs *fs, const char *path, const char *text, size_t size)
{
	_cleanup_(freep) char *shown = NULL;
	int r;

	if (!fs->on_read)
		return 0;

	r = yaml_blank(text, size, "staticPodURLHeader", &shown);
	if (r < 0)
		return r;
	fs_record(fs, RECORD_FILE, path, shown, size);
	return 0;
}

static int decide_by_value(struct kubelet *k, const char *text, size_t size)
{
	_cleanup_(freep) char *edited = NULL;
	struct yaml_value v = { .is_null = true };
	size_t edited_size;
	char line[16] = "";
	int r;

	r = yaml_get(text, size, KUBELET_POLICY_KEY, &v);
	if (r < 0)
		return r;

	k->policy = v.is_null || !*v.text ? TOPOLOGY_POLICY_NONE : policy_from(v.text);
	if (r > 0)
		snprintf(line, sizeof(line), ":%" PRIu32, v.line);
	refuse(k, k->policy == TOPOLOGY_POLICY_UNSET ? REASON_KUBELET_FILE_REFUSED : REASON_NONE,
	       "%s%s: " KUBELET_POLICY_KEY "%s%s%s", k->path, line, r > 0 ? ": " : " is not set",
	       v.text, k->policy == TOPOLOGY_POLICY_UNSET ? " is not a policy" : "");
	if (k->refusal != REASON_NONE)
		return 0;

	/* Would an edit succeed? The strictest value, so that there is something to change. */
	r = yaml_set(text, size, KUBELET_POLICY_KEY,
		     topology_policy_name(k->policy == TOPOLOGY_POLICY_SINGLE_NUMA_NODE
						  ? TOPOLOGY_POLICY_NONE
						  : TOPOLOGY_POLICY_SINGLE_NUMA_NODE),
		     &edited, &edited_size);
	if (r < 0 && r != -ENOMEM)
		refuse(k, REASON_KUBELET_FILE_REFUSED, "%s%s: %s", k->path, line, yaml_problem(r));
	return r == -ENOMEM ? r : 0;
}

/* Return: 1 when there is such a file, 0 when not, or -ENOMEM. */
static int look_at_file(const struct fs *fs, struct kubelet *k)
{
	const char *path = k->path + strspn(k->path, "/");
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, path, YAML_MAX_BYTES, true, &text, &size);
	if (r == -ENOENT || r == -ENOTDIR) {
		refuse(k, REASON_KUBELET_NO_FILE, "%s is not there", k->path);
		return 0;
	}

	if (r >= 0)
		r = decide_by_value(k, text, size);
	if (r >= 0) {
		r = record_understood(fs, path, text, size);
		return r < 0 ? r : 1;
	}
	if (r == -ENOMEM)
		return r;

	refuse(k, REASON_KUBELET_FILE_REFUSED, "%s: %s", k->path, yaml_problem(r));
	r = record_refused(fs, path, r);
	return r < 0 ? r : 1;
}

int observe_kubelet(const struct fs *fs, struct kubelet *ret)
{
	_cleanup_(look_done) struct look l = { .fs = fs };
	struct kubelet k = {};
	int r;

	r = look_at_units(&l);
	if (r >= 0)
		r = look_at_env_files(&l);
	if (r >= 0)
		r = look_at_processes(&l);
	if (r < 0)
		return r;

	k.is_there = l.has_unit || l.is_running || l.n_flags > 0;
	if (!decide_by_flag(&l, &k) && find_file(&l, &k)) {
		r = look_at_file(fs, &k);
		if (r < 0)
			return r;
		k.is_there = k.is_there || r > 0;
	}

	*ret = k;
	return 0;
}
