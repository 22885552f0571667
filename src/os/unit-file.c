/* SPDX-License-Identifier: Apache-2.0 */
#include "unit-file.h"

#include "conf-files.h"

#include <fnmatch.h>
#include <sys/stat.h>

#define GENERATOR "run/systemd/generator"
#define BLANKS    " \t\r"
#define MAX_BYTES (2u << 20)
#define MAX_NAMES 6    /* that give a unit drop-ins: its own, those up to a dash, "service" */
#define MAX_FILES 1001 /* one more than a reader takes: it has to see that there are too many */

/* In systemd's order of precedence: systemd.unit(5). */
static const char *const folders[] = {
	"etc/systemd/system",           "run/systemd/system",     GENERATOR,
	"usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system",
};

void unit_paths_done(struct unit_paths *l)
{
	free(l->items);
	*l = (struct unit_paths){};
}

void unit_setting_done(struct unit_setting *s)
{
	free(s->text);
	*s = (struct unit_setting){};
}

static int add_path(struct unit_paths *l, const char *path)
{
	char(*slot)[512] = APPEND(l->items, l->n);

	if (!slot)
		return -ENOMEM;
	PRINT(*slot, "%s", path);
	return 0;
}

/* Return: 1 and the path of its main file, 0, or -ERFKILL: it is masked. */
static int find_main(const struct fs *fs, const char *unit, char *ret, size_t size)
{
	struct stat st;

	for (size_t i = 0; i < ELEMENTSOF(folders); i++) {
		snprintf(ret, size, "%s/%s", folders[i], unit);
		/* Hardly any folder has it: one question for those. */
		if (fs_stat(fs, ret, &st) == -ENOENT)
			continue;
		if (conf_file_is_masked(fs, ret))
			return -ERFKILL;
		if (fs_exists(fs, ret) != 0) /* reading tells what is wrong */
			return 1;
	}
	return 0;
}

bool unit_file_is_there(const struct fs *fs, const char *unit)
{
	char path[160];

	return find_main(fs, unit, path, sizeof(path)) > 0;
}

bool unit_file_is_masked(const struct fs *fs, const char *unit)
{
	char path[160];

	return find_main(fs, unit, path, sizeof(path)) == -ERFKILL;
}

static int add_drop_ins(const struct fs *fs, const char *const *in, struct unit_paths *l)
{
	_cleanup_(conf_files_done) struct conf_files files = {};
	int r = conf_files_list(fs, in, "*.conf", &files);

	for (size_t i = 0; i < MIN(files.n_items, MAX_FILES) && r >= 0; i++)
		if (!conf_file_is_masked(fs, files.items[i].path))
			r = add_path(l, files.items[i].path);
	return MIN(r, 0);
}

/* The next name whose drop-ins a unit has: of "a-b.service" "a-.service", then "service". */
static void widen(char *name, bool to_last)
{
	char *dot = strrchr(name, '.'), *dash;

	dash = to_last ? NULL
		       : memrchr(name, '-', (size_t)(dot - name) - (dot > name && dot[-1] == '-'));
	if (dash)
		memmove(dash + 1, dot, strlen(dot) + 1);
	else
		memmove(name, dot + 1, strlen(dot));
}

/* Each daemon-reload removes the folder of generators and makes a new one: systemd.generator(7). */
static bool is_newer(const struct fs *fs, const char *path)
{
	struct stat reloaded, st;

	return !is_prefix(path, GENERATOR) && fs_stat(fs, path, &st) >= 0 &&
	       fs_stat(fs, GENERATOR, &reloaded) >= 0 &&
	       (st.st_ctim.tv_sec != reloaded.st_ctim.tv_sec
			? st.st_ctim.tv_sec > reloaded.st_ctim.tv_sec
			: st.st_ctim.tv_nsec > reloaded.st_ctim.tv_nsec);
}

int unit_file_list(const struct fs *fs, const char *unit, struct unit_paths *ret)
{
	_cleanup_(unit_paths_done) struct unit_paths l = {};
	char path[160], name[160], paths[MAX_NAMES * ELEMENTSOF(folders)][160];
	const char *in[ELEMENTSOF(paths) + 1] = {};
	size_t n = 0;
	int r;

	if (find_main(fs, unit, path, sizeof(path)) <= 0)
		return GIVE(0, l, ret);
	for (COPY(name, unit);; widen(name, n + ELEMENTSOF(folders) == ELEMENTSOF(paths))) {
		for (size_t i = 0; i < ELEMENTSOF(folders); i++, n++) {
			PRINT(paths[n], "%s/%s.d", folders[i], name);
			in[n] = paths[n];
			l.is_newer |= is_newer(fs, paths[n]);
		}
		if (!strchr(name, '.'))
			break;
	}
	r = add_path(&l, path);
	if (r >= 0)
		r = add_drop_ins(fs, in, &l);
	FOREACH(item, l.items, l.n)
		l.is_newer |= is_newer(fs, *item);
	return GIVE(r, l, ret);
}

int unit_file_list_manager(const struct fs *fs, struct unit_paths *ret)
{
	static const char *const files[] = { CONF_FOLDERS("systemd/system.conf"),
					     "lib/systemd/system.conf" };
	static const char *const in[] = { CONF_FOLDERS("systemd/system.conf.d"),
					  "lib/systemd/system.conf.d", NULL };
	_cleanup_(unit_paths_done) struct unit_paths l = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(files) && l.n == 0 && r >= 0; i++)
		if (fs_exists(fs, files[i]) > 0)
			r = add_path(&l, files[i]);
	if (r >= 0)
		r = add_drop_ins(fs, in, &l);
	return GIVE(r, l, ret);
}

/* Lines */

static bool is_comment(const char *text, size_t at, size_t end)
{
	while (at < end && strchr(BLANKS, text[at]))
		at++;
	return at < end && (text[at] == '#' || text[at] == ';');
}

/* A line with those that continue it, without outer blanks, and comments between them. */
static int next_line(const char *text, size_t size, size_t *at, struct unit_setting *ret)
{
	const size_t first = *at;
	bool goes_on = true;
	char *out = malloc(size - *at + 1);
	size_t n = 0;

	if (!out)
		return -ENOMEM;
	ret->text = out;
	ret->from = SIZE_MAX;
	while (goes_on && *at < size) {
		const char *newline = memchr(text + *at, '\n', size - *at);
		const size_t next = newline ? (size_t)(newline - text) : size;
		const size_t end = next - (next > *at && text[next - 1] == '\r');
		size_t n_backslashes = 0;

		if (!is_comment(text, *at, end)) {
			while (n_backslashes < end - *at && text[end - 1 - n_backslashes] == '\\')
				n_backslashes++;
			goes_on = n_backslashes % 2 > 0;
			if (ret->from == SIZE_MAX)
				ret->from = *at;
			for (size_t i = *at; i < end; i++)
				if (text[i])
					out[n++] = goes_on && i + 1 == end ? ' ' : text[i];
		}
		*at = next + 1;
	}
	while (n > 0 && strchr(BLANKS "\n", out[n - 1]))
		n--;
	out[n] = '\0';
	ret->from = ret->from == SIZE_MAX ? first : ret->from;
	ret->to = MIN(*at, size);
	return 1;
}

/* "Key = value" is taken apart in place. */
static bool take_apart(struct unit_setting *s)
{
	char *key = s->text + strspn(s->text, BLANKS), *equals = strchr(key, '='), *end = equals;

	if (!equals)
		return false;
	while (end > key && strchr(BLANKS, end[-1]))
		end--;
	s->value = equals + 1 + strspn(equals + 1, BLANKS);
	s->key = key;
	*end = '\0';
	return true;
}

int unit_file_next(const char *text, size_t size, size_t *at, bool *is_service,
		   struct unit_setting *ret)
{
	while (*at < size) {
		_cleanup_(unit_setting_done) struct unit_setting s = {};
		const char *line;
		int r = next_line(text, size, at, &s);

		if (r < 0)
			return r;
		line = s.text + strspn(s.text, BLANKS);
		if (*line == '[')
			*is_service = streq(line, "[Service]") || streq(line, "[Manager]");
		else if (*is_service && take_apart(&s)) {
			*ret = TAKE_STRUCT(s);
			return 1;
		}
	}
	return 0;
}

/* Does the value of ExecStart= begin with this program, behind signs of systemd and quotes? */
static bool is_start_of(const char *value, const char *program)
{
	const char *path = value + strspn(value, "@-:+!\"'" BLANKS);
	const size_t n = strcspn(path, "\"'" BLANKS), n_program = strlen(program);

	return n > n_program && path[n - n_program - 1] == '/' &&
	       memcmp(path + n - n_program, program, n_program) == 0;
}

/* Return: 1, 0 or -ENOMEM. */
static int is_starting(const struct fs *fs, const char *path, const char *program)
{
	_cleanup_(freep) char *text = NULL;
	bool is_service = false, is_found = false;
	size_t size, at = 0;
	int r = fs_read_all(fs, path, MAX_BYTES, true, &text, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	do {
		_cleanup_(unit_setting_done) struct unit_setting s = {};

		r = unit_file_next(text, size, &at, &is_service, &s);
		is_found |= r > 0 && streq(s.key, "ExecStart") && is_start_of(s.value, program);
	} while (r > 0);
	return r < 0 ? r : is_found;
}

int unit_file_find(const struct fs *fs, const char *pattern, const char *program,
		   struct fs_names *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	struct fs apart = *fs;
	size_t n = 0;
	int r;

	apart.on_read = NULL;
	apart.unread = NULL;
	r = fs_list(&apart, folders[0], &names);
	FOREACH_WHILE(name, names.names, names.n_names, r >= 0) {
		if (fnmatch(pattern, *name, 0) != 0)
			continue;
		r = is_starting(&apart, FS_PATH("%s/%s", folders[0], *name), program);
		if (r > 0) {
			char *other = names.names[n];

			names.names[n++] = *name;
			*name = other;
		}
	}
	if (r == -ENOMEM)
		return r;

	while (names.n_names > n)
		free(names.names[--names.n_names]);
	*ret = TAKE_STRUCT(names);
	return 0;
}

/* Control groups */

static const char *const cgroup_folders[] = { "sys/fs/cgroup", "sys/fs/cgroup/systemd" };

/*
 * The slice that the unit's files name, as the path of its control group: "a-b.slice" is below
 * "a.slice", systemd.slice(5). A name that is not understood is no control group's.
 */
static int find_slice(const struct fs *fs, const char *unit, char ret[static 256])
{
	_cleanup_(unit_paths_done) struct unit_paths paths = {};
	int r = unit_file_list(fs, unit, &paths);

	copy(ret, 256, "system.slice");
	for (size_t i = 0; i < paths.n && r >= 0; i++) {
		_cleanup_(freep) char *text = NULL;
		bool is_service = false;
		size_t size, at = 0;

		r = fs_read_all(fs, paths.items[i], MAX_BYTES, true, &text, &size);
		if (r < 0 && r != -ENOMEM)
			r = 1; /* unit_read() reports it */
		for (int more = text ? 1 : 0; more > 0 && r >= 0;) {
			_cleanup_(unit_setting_done) struct unit_setting s = {};

			more = unit_file_next(text, size, &at, &is_service, &s);
			r = MIN(more, 0);
			if (more > 0 && streq(s.key, "Slice"))
				copy(ret, 256, *s.value ? s.value : "system.slice");
		}
	}
	return MIN(r, 0);
}

static void slice_path(const char *slice, char *ret, size_t size)
{
	size_t at = 0;

	for (const char *dash = strchr(slice, '-'); dash; dash = strchr(dash + 1, '-')) {
		at += (size_t)snprintf(ret + at, size - at, "%.*s.slice/", (int)(dash - slice),
				       slice);
		at = MIN(at, size - 1);
	}
	copy(ret + at, size - at, slice);
}

/* Return: 1 and the folder, 0: it has none, or -ENOMEM. */
static int find_cgroup(const struct fs *fs, const char *unit, char ret[static FS_PATH_LEN])
{
	char slice[256], path[512] = "system.slice";
	int r = 0;

	for (int attempt = 0; attempt < 2 && r >= 0; attempt++) {
		for (size_t i = 0; i < ELEMENTSOF(cgroup_folders); i++) {
			fs_format(ret, "%s/%s/%s", cgroup_folders[i], path, unit);
			if (fs_exists(fs, ret) > 0)
				return 1;
		}
		r = attempt == 0 ? find_slice(fs, unit, slice) : 0;
		slice_path(slice, path, sizeof(path));
		if (streq(path, "system.slice") || strchr(slice, '/'))
			break;
	}
	return MIN(r, 0);
}

bool unit_file_has_cgroup(const struct fs *fs, const char *unit)
{
	return find_cgroup(fs, unit, (char[FS_PATH_LEN]){}) > 0;
}

int unit_file_read_group(const struct fs *fs, const char *path, char **ret, size_t *ret_size)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTSOF(cgroup_folders) && r < 0 && r != -ENOMEM; i++)
		r = fs_read_all(fs, FS_PATH("%s%s/cgroup.procs", cgroup_folders[i], path),
				MAX_BYTES, false, ret, ret_size);
	return r;
}

int unit_file_read_pids(const struct fs *fs, const char *unit, bool secret, char **ret,
			size_t *ret_size)
{
	char folder[FS_PATH_LEN];
	int r = find_cgroup(fs, unit, folder);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return fs_read_all(fs, FS_PATH("%s/cgroup.procs", folder), MAX_BYTES, secret, ret,
			   ret_size);
}
