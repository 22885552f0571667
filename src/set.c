/* SPDX-License-Identifier: Apache-2.0 */
#include "set.h"

#include "base/log.h"
#include "config/config.h"
#include "config/dropin.h"
#include "model/paths.h"
#include "preset.h"

#define HEADER                                                                                     \
	"# Written by \"rdma-provision set\"; change it with \"rdma-provision set\" and "          \
	"\"unset\", or by hand."
#define SECTION_MAX     50 /* as the reader takes it */
#define LOCK_LIMIT_USEC (30 * USEC_PER_SEC)

struct assignment {
	char section[SECTION_MAX], key[SECTION_MAX];
	char *value; /* owned; NULL: to be unset */
};

/* What will be written, and what is there. */
struct change {
	const struct fs *fs;
	const struct set_request *req;
	struct assignment *items; /* owned */
	size_t n_items;

	char *old; /* owned; 50-set.conf, NULL: there is none */
	size_t old_size;
	struct dropin dropin; /* of it */
	bool is_edited;
	char *text; /* owned; the new one, NULL: there will be none */
	size_t size;
	struct preset preset;

	struct config_files files; /* all that will be in force */
};

static void change_done(struct change *c)
{
	for (size_t i = 0; i < c->n_items; i++)
		free(c->items[i].value);
	free(c->items);
	dropin_done(&c->dropin);
	free(c->old);
	free(c->text);
	preset_done(&c->preset);
	config_files_done(&c->files);
}

/* Nobody has written anything there: it begins with a line that says who does. */
static bool is_new_file(const struct change *c)
{
	return c->old_size == 0;
}

/* --- what was asked for --- */

static int refuse_argument(const struct set_request *req, const char *argument)
{
	char buf[QUOTED_LEN];

	log_error("%s: accepted: %s", quoted(argument, buf),
		  req->is_unset ? "SECTION.KEY, for example Driver.Mode or \"Device nic.MTU\""
				: "SECTION.KEY=VALUE, for example Driver.Mode=compat or "
				  "\"Device nic.MTU=9000\"");
	return -EINVAL;
}

/* Copies without the blanks around it. */
static bool copy_stripped(char *to, size_t size, const char *from, size_t n)
{
	while (n > 0 && (*from == ' ' || *from == '\t'))
		from++, n--;
	while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t'))
		n--;
	if (n >= size)
		return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

/* Both become part of a file: nothing in them may mean something else there. */
static bool is_plain(const struct assignment *a)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789";

	if (!*a->key || a->key[strspn(a->key, letters)] || !*a->section ||
	    strpbrk(a->section, "[]:;=") || !is_utf8(a->section, strlen(a->section)))
		return false;
	for (const char *s = a->section; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return false;
	return true;
}

static int parse(const struct set_request *req, const char *argument, struct assignment *ret)
{
	const char *equals = strchr(argument, '=');
	const size_t n = equals ? (size_t)(equals - argument) : strlen(argument);
	const char *dot = memrchr(argument, '.', n);
	size_t n_value;

	if (!dot || !equals != req->is_unset ||
	    !copy_stripped(ret->section, sizeof(ret->section), argument,
			   (size_t)(dot - argument)) ||
	    !copy_stripped(ret->key, sizeof(ret->key), dot + 1, n - (size_t)(dot + 1 - argument)) ||
	    !is_plain(ret))
		return refuse_argument(req, argument);
	if (req->is_unset)
		return 0;

	n_value = strlen(equals + 1);
	ret->value = malloc(n_value + 1);
	if (!ret->value)
		return -ENOMEM;
	copy_stripped(ret->value, n_value + 1, equals + 1, n_value);
	return 0;
}

static int parse_all(struct change *c)
{
	for (size_t i = 0; i < c->req->n_keys; i++) {
		struct assignment *a = APPEND(c->items, c->n_items);
		int r;

		r = a ? parse(c->req, c->req->keys[i], a) : -ENOMEM;
		if (r < 0)
			return r;
		for (size_t k = 0; k < i; k++)
			if (streq(c->items[k].section, a->section) &&
			    streq(c->items[k].key, a->key)) {
				log_error("%s.%s: is given twice: accepted: each key once",
					  a->section, a->key);
				return -EINVAL;
			}
	}
	return 0;
}

/* --- the new text --- */

static int read_old(struct change *c)
{
	char target[QUOTED_LEN * 4], buf[QUOTED_LEN];
	int r;

	if (fs_read_link(c->fs, SET_PATH, target, sizeof(target)) >= 0) {
		log_error("/" SET_PATH ": is a link to %s%s: accepted: a file of its own; remove "
			  "the link first",
			  quoted(target, buf),
			  streq(target, "/dev/null") ? ", so it is masked" : "");
		return -EEXIST;
	}
	r = fs_read_all(c->fs, SET_PATH, FILE_MAX_BYTES, false, &c->old, &c->old_size);
	if (r == -ENOENT)
		return 0;
	if (r == -EISDIR || r == -EINVAL)
		log_error("/" SET_PATH ": is no regular file, and is left as it is");
	else if (r < 0)
		log_error_errno(r, "/" SET_PATH);
	return r;
}

/* Where the key is set, of all files: the last one is the one in force. Return: 1, 0 or -errno. */
static int find_in_force(const struct config_files *files, const struct assignment *a,
			 const struct config_file **ret_file, struct dropin_place *ret)
{
	for (size_t i = files->n_items; i > 0; i--) {
		const struct config_file *f = &files->items[i - 1];
		int r;

		r = f->size > 0 ? dropin_find(f->data, f->size, a->section, a->key, ret) : 0;
		if (r == 0 || r == -EBADMSG)
			continue;
		*ret_file = f;
		return r;
	}
	return 0;
}

static int tell_not_set(const struct change *c, const struct assignment *a)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	_cleanup_(dropin_place_done) struct dropin_place place = {};
	const struct config_file *file = NULL;
	int r;

	r = config_files_load(c->fs, NULL, 0, &files, &errors);
	if (r >= 0)
		r = find_in_force(&files, a, &file, &place);
	if (r < 0)
		return r;
	if (r == 0)
		log_error("%s.%s: is not set in /" SET_PATH ", nor anywhere else", a->section,
			  a->key);
	else
		log_error("%s.%s: is not set in /" SET_PATH ", but in %s:%u: %s", a->section,
			  a->key, file->path, place.line,
			  streq(file->path, "/" PRESET_PATH)
				  ? "\"set\" overrides it, \"unset --preset\" removes the preset"
				  : "\"set\" overrides it, only a person removes it there");
	return -ENOENT;
}

/* Of the files as they are, for when the edit itself cannot be made. */
static int tell_malformed(const struct change *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config config = {};
	int r;

	r = config_load(c->fs, NULL, &config, &errors);
	for (size_t i = 0; i < errors.n_items; i++)
		log_error("%s", errors.items[i].text);
	return r < 0 ? r : -EBADMSG;
}

static int tell_twice(const struct change *c, const struct assignment *a)
{
	_cleanup_(dropin_place_done) struct dropin_place place = {};
	int r;

	r = dropin_find(c->old, c->old_size, a->section, a->key, &place);
	if (r > 0)
		log_error("/" SET_PATH ":%u: %s= in [%s] is set in line %u already: remove one of "
			  "them by hand",
			  place.again, a->key, a->section, place.line);
	return r < 0 ? r : -EEXIST;
}

static int tell_edit(const struct change *c, const struct assignment *a, int r)
{
	char buf[QUOTED_LEN];

	switch (r) {
	case -ENOENT:
		return tell_not_set(c, a);
	case -EEXIST:
		return tell_twice(c, a);
	case -EBADMSG:
		return tell_malformed(c);
	case -EINVAL:
		log_error("%s.%s=%s: accepted: a value that is one line of at most 4000 bytes of "
			  "UTF-8, without control characters and without a backslash at its end",
			  a->section, a->key, quoted(a->value ? a->value : "", buf));
		return r;
	default:
		return r;
	}
}

static int make_text(struct change *c)
{
	int r;

	r = is_new_file(c) ? dropin_open(HEADER "\n", strlen(HEADER "\n"), &c->dropin)
			   : dropin_open(c->old, c->old_size, &c->dropin);
	for (size_t i = 0; i < c->n_items && r >= 0; i++) {
		const struct assignment *a = &c->items[i];

		r = a->value ? dropin_set(&c->dropin, a->section, a->key, a->value)
			     : dropin_unset(&c->dropin, a->section, a->key);
		if (r < 0)
			return tell_edit(c, a, r);
	}
	if (r < 0 || dropin_is_bare(&c->dropin, HEADER))
		return r;

	r = dropin_text(&c->dropin, &c->text, &c->size);
	if (r >= 0 && c->size > FILE_MAX_BYTES) {
		log_error("/" SET_PATH ": would be too large: accepted: at most %d bytes",
			  FILE_MAX_BYTES);
		r = -EFBIG;
	}
	return r;
}

/* --- is it valid with everything else? --- */

/* Which of the assignments wrote this line, or NULL: a header, or somebody else's line. */
static const struct assignment *of_line(const struct change *c, unsigned line)
{
	for (size_t i = 0; i < c->n_items; i++) {
		_cleanup_(dropin_place_done) struct dropin_place place = {};
		const struct assignment *a = &c->items[i];

		if (dropin_find(c->text, c->size, a->section, a->key, &place) > 0 &&
		    place.line == line)
			return a;
	}
	return NULL;
}

/* Lines are told as they are in the files that are there. */
static void tell_error(const struct change *c, const struct config_error *e)
{
	const struct assignment *a;
	unsigned was;

	if (c->preset.is_new && is_prefix(e->text, "/" PRESET_PATH ":")) {
		log_error("%s:%u: %s", c->preset.target, e->line, e->what);
		return;
	}
	if (!c->text || !is_prefix(e->text, "/" SET_PATH ":") || e->line == 0 ||
	    e->line > c->dropin.n_lines) {
		log_error("%s", e->text);
		return;
	}

	was = c->dropin.lines[e->line - 1].was;
	a = was == 0 ? of_line(c, e->line) : NULL;
	if (a && !strstr(e->what, " in [")) /* the section is not told yet */
		log_error("[%s] %s", a->section, e->what);
	else if (was == 0)
		log_error("%s", e->what);
	else
		log_error("/" SET_PATH ":%u: %s", was, e->what);
}

static int validate(struct change *c, struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config config = {};
	struct config_draft drafts[2];
	size_t n = 0;
	int r;

	if (c->is_edited)
		drafts[n++] = (struct config_draft){ SET_NAME, c->text, c->size };
	if (c->req->with_preset)
		drafts[n++] = (struct config_draft){ PRESET_NAME, c->preset.text, c->preset.size };

	r = config_files_load(c->fs, drafts, n, &c->files, &errors);
	if (r >= 0)
		r = config_merge(&c->files, &config, &errors);
	if (r < 0 && r != -E2BIG && r != -EINVAL)
		return log_error_errno(r, "The configuration cannot be read");
	/* Unreadable files are malformed ones, too. */
	if (r < 0 || errors.n_malformed + errors.n_unknown > 0) {
		for (size_t i = 0; i < errors.n_items; i++)
			tell_error(c, &errors.items[i]);
		return -EINVAL;
	}

	*ret = config;
	config = (struct config){};
	return 0;
}

/* --- writing --- */

static bool is_changed(const struct change *c)
{
	if (!c->is_edited || (!c->text && !c->old))
		return false;
	return !c->text || !c->old || c->size != c->old_size ||
	       memcmp(c->text, c->old, c->size) != 0;
}

static int put(const struct fs *fs, const char *text, size_t size)
{
	return text ? fs_replace(fs, SET_PATH, text, size, 0644) : fs_remove(fs, SET_PATH);
}

static int write_keys(const struct change *c)
{
	return put(c->fs, c->text, c->size);
}

static int put_back_keys(const struct change *c)
{
	return put(c->fs, c->old, c->old_size);
}

static int write_preset(const struct change *c)
{
	return preset_write(c->fs, &c->preset);
}

static int put_back_preset(const struct change *c)
{
	return preset_put_back(c->fs, &c->preset);
}

static const struct step {
	const char *path;
	int (*write)(const struct change *c), (*put_back)(const struct change *c);
} keys_step = { SET_PATH, write_keys, put_back_keys },
  preset_step = { PRESET_PATH, write_preset, put_back_preset };

/* With one of the two files new and the other as it is. */
static bool is_valid_between(const struct change *c, const struct config_draft *draft)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	_cleanup_(config_done) struct config config = {};

	return config_files_load(c->fs, draft, 1, &files, &errors) >= 0 &&
	       config_merge(&files, &config, &errors) >= 0 &&
	       errors.n_malformed + errors.n_unknown == 0;
}

static bool is_preset_first(const struct change *c)
{
	const struct config_draft keys = { SET_NAME, c->text, c->size },
				  preset = { PRESET_NAME, c->preset.text, c->preset.size };

	return !is_valid_between(c, &keys) && is_valid_between(c, &preset);
}

/*
 * Two files cannot be replaced in one step: a rename of the folder would take along what others
 * write there. So the order is one in which the configuration is valid in between, after a power
 * cut, wherever there is one; and when the second file fails, the first is put back.
 */
static int write_all(const struct change *c)
{
	const struct step *steps[2], *first;
	size_t n = 0;
	int r = 0, r_back;

	if (is_changed(c))
		steps[n++] = &keys_step;
	if (c->preset.is_new)
		steps[n++] = &preset_step;
	if (n == 2 && is_preset_first(c))
		first = steps[0], steps[0] = steps[1], steps[1] = first;

	for (size_t i = 0; i < n; i++) {
		r = steps[i]->write(c);
		if (r >= 0)
			continue;
		log_error_errno(r, "/%s", steps[i]->path);
		r_back = i > 0 ? steps[0]->put_back(c) : 0;
		if (r_back < 0)
			log_error_errno(r_back, "/%s: cannot be put back, and is new",
					steps[0]->path);
		return r;
	}
	return n > 0;
}

static void tell_written(const struct change *c)
{
	for (size_t i = 0; i < c->n_items && is_changed(c); i++) {
		const struct assignment *a = &c->items[i];
		char buf[QUOTED_LEN];

		if (a->value)
			log_notice("/" SET_PATH ": [%s] %s=%s", a->section, a->key,
				   quoted(a->value, buf));
		else
			log_notice("/" SET_PATH ": [%s] %s= removed", a->section, a->key);
	}
	if (is_changed(c) && !c->text)
		log_notice("/" SET_PATH ": removed, for nothing is set in it");
	if (c->preset.is_new)
		log_notice("/" PRESET_PATH ": %s%s", c->preset.text ? "links " : "removed",
			   c->preset.text ? c->preset.target : "");
}

/* What was set and is not in force all the same. */
static int tell_overridden(const struct change *c)
{
	for (size_t i = 0; i < c->n_items; i++) {
		_cleanup_(dropin_place_done) struct dropin_place place = {};
		const struct assignment *a = &c->items[i];
		const struct config_file *file = NULL;
		char buf[QUOTED_LEN];
		int r;

		if (!a->value)
			continue;
		r = find_in_force(&c->files, a, &file, &place);
		if (r < 0)
			return r;
		if (r > 0 && !streq(file->path, "/" SET_PATH) && !streq(place.value, a->value))
			log_warning("%s.%s=%s is not in force: %s:%u comes later and says %s=%s",
				    a->section, a->key, a->value, file->path, place.line, a->key,
				    quoted(place.value, buf));
	}
	return 0;
}

/* Files of this name that were in force until there was one in /etc. */
static void tell_hidden(const struct change *c)
{
	static const char *const others[] = { "run", "usr/local/lib", "usr/lib" };
	char path[128];

	if (c->old || !c->text)
		return;
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		snprintf(path, sizeof(path), "%s/%s", others[i], strchr(SET_PATH, '/') + 1);
		if (fs_exists(c->fs, path))
			log_warning("/%s: is not in force any more, /" SET_PATH " hides it", path);
	}
}

static bool is_same_as_before(const struct fs *fs, const struct config *now)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config before = {};

	return config_load(fs, NULL, &before, &errors) >= 0 && errors.n_unknown == 0 &&
	       streq(before.hash, now->hash);
}

static int lock(const struct fs *fs)
{
	int fd = fs_lock(fs, SET_LOCK_PATH, 0);

	if (fd == -EWOULDBLOCK) {
		log_info("Another \"set\" or \"unset\" is running, waiting for its end");
		fd = fs_lock(fs, SET_LOCK_PATH, LOCK_LIMIT_USEC);
	}
	if (fd == -ETIMEDOUT)
		log_error(
			"Another \"set\" or \"unset\" has not ended in %d s: nothing was changed. "
			"\"fuser /" SET_LOCK_PATH "\" names the process",
			(int)(LOCK_LIMIT_USEC / USEC_PER_SEC));
	else if (fd < 0)
		log_error_errno(fd, "/" SET_LOCK_PATH);
	return fd;
}

static int run(struct change *c, struct set_result *ret)
{
	_cleanup_(config_done) struct config config = {};
	bool is_same;
	int r;

	r = parse_all(c);
	if (r >= 0 && c->req->with_preset)
		r = preset_find(c->fs, c->req->preset, &c->preset);
	c->is_edited = c->n_items > 0;
	if (r >= 0 && c->is_edited)
		r = read_old(c);
	if (r >= 0 && c->is_edited)
		r = make_text(c);
	if (r >= 0)
		r = validate(c, &config);
	if (r < 0)
		return r;

	is_same = is_same_as_before(c->fs, &config);
	r = write_all(c);
	if (r < 0)
		return r;
	if (r > 0)
		tell_written(c);
	tell_hidden(c);
	if (tell_overridden(c) < 0)
		log_warning("Whether other files override it is not known");

	*ret = (struct set_result){ config, is_same };
	config = (struct config){};
	return r;
}

int set_change(const struct fs *fs, const struct set_request *req, struct set_result *ret)
{
	_cleanup_(change_done) struct change c = { .fs = fs, .req = req };
	int fd, r;

	fd = lock(fs);
	if (fd < 0)
		return fd;
	r = run(&c, ret);
	fs_unlock(fs, SET_LOCK_PATH, fd);
	if (r < 0)
		log_error("Nothing was changed");
	return r;
}
