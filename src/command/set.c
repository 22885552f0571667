/* SPDX-License-Identifier: Apache-2.0 */
#include "set.h"

#include "../base/log.h"
#include "../config/load.h"
#include "../config/reader.h"
#include "../model/kubelet.h"
#include "../model/paths.h"
#include "../os/manager.h"
#include "../os/target.h"
#include "../pass/loop.h"
#include "../show/actions.h"
#include "../show/check.h"
#include "../step/observers.h"
#include "preset.h"
#include "session.h"

#define HEADER                                                                                     \
	"# Written whole by \"rdma-provision set\" and \"unset\": they keep keys that were added " \
	"by hand, but no comments."
#define SECTION_MAX     50 /* as the reader takes it */
#define LOCK_LIMIT_USEC (30 * USEC_PER_SEC)
#define RELOAD_USEC     (60 * USEC_PER_SEC)

#define NO_NIC                                                                                     \
	"No [Device NAME] section manages a NIC of this node: link a preset (\"rdma-provision "    \
	"presets\" lists them), or add a section, for example \"Device "                           \
	"rdma.Match=driver:mlx5_core\""

struct assignment {
	char section[SECTION_MAX], key[SECTION_MAX];
	char *value; /* owned; NULL: to be unset */
};

/* A change of the settings: the present files, and those that will be written. */
struct setting_change {
	const struct fs *fs;
	const struct set_request *req;
	struct assignment *items; /* owned */
	size_t n_items;

	char *old; /* owned; 50-set.conf, NULL: there is none */
	size_t old_size;
	struct pairs pairs; /* what is to be set in it */
	bool is_changed;    /* it will be written or removed */
	char *text;         /* owned; the new one, NULL: there will be none */
	size_t size;
	struct preset preset;

	struct config_files files; /* all that will be in force */
};

static void change_done(struct setting_change *c)
{
	for (size_t i = 0; i < c->n_items; i++)
		free(c->items[i].value);
	free(c->items);
	pairs_done(&c->pairs);
	free(c->old);
	free(c->text);
	preset_done(&c->preset);
	config_files_done(&c->files);
}

/* --- what was asked for --- */

static int refuse_argument(const struct set_request *req, const char *argument)
{
	char buf[QUOTED_LEN], word[SECTION_MAX], hint[160] = "";
	const size_t n = strcspn(argument, "=");
	const char *meant, *dot = memrchr(argument, '.', n); /* ends the section */

	PRINT(word, "%.*s", (int)n, argument);
	meant = config_meant_by("", word);
	if (meant)
		PRINT(hint, "did you mean %s? ", meant);
	else if (streq(argument, "Device"))
		COPY(hint, "quotes are missing? write Device.rdma.Expect=4, or ");
	else if (dot && dot - argument >= SECTION_MAX)
		COPY(hint, "a section has at most 49 bytes: ");
	log_error("%s is not valid: %suse %s", config_quoted(argument, buf), hint,
		  req->is_unset ? "SECTION.KEY, for example Driver.Mode or \"Device nic.MTU\""
				: "SECTION.KEY=VALUE, for example Driver.Mode=compat or "
				  "\"Device nic.MTU=9000\"");
	return -EINVAL;
}

/* The label of VKE names the preset. */
static int refuse_label(const char *argument, const char *mode)
{
	char buf[QUOTED_LEN];

	log_error("%s: is a node label of VKE, did you mean --preset=vke-%s?",
		  config_quoted(argument, buf),
		  streq(mode, "exclusive") || streq(mode, "shared") || streq(mode, "shared-multi")
			  ? mode
			  : "MODE");
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

static bool is_plain_text(const char *text)
{
	return !reader_has_control(text) && config_is_utf8(text, strlen(text));
}

/* Both become part of a file: nothing in them may mean something else there. */
static bool is_plain(const struct assignment *a)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789";

	return *a->key && !a->key[strspn(a->key, letters)] && *a->section &&
	       !strpbrk(a->section, "[]:;=") && is_plain_text(a->section);
}

static int check_value(const struct assignment *a)
{
	const size_t n = strlen(a->value);
	char buf[QUOTED_LEN];

	if (is_plain_text(a->value) && (n == 0 || a->value[n - 1] != '\\'))
		return 0;
	log_error("%s.%s=%s is not valid: use a value that is one line of UTF-8, without control "
		  "characters and without a backslash at its end",
		  a->section, a->key, config_quoted(a->value, buf));
	return -EINVAL;
}

static int parse(const struct set_request *req, const char *argument, struct assignment *ret)
{
	const char *equals = strchr(argument, '=');
	const size_t n = equals ? (size_t)(equals - argument) : strlen(argument);
	const char *dot = memrchr(argument, '.', n);
	const char *mode = after(argument, VKE_RDMA_MODE "=");
	size_t n_value;

	if (mode)
		return refuse_label(argument, mode);
	if (!dot || !equals != req->is_unset ||
	    !copy_stripped(ret->section, sizeof(ret->section), argument,
			   (size_t)(dot - argument)) ||
	    !copy_stripped(ret->key, sizeof(ret->key), dot + 1, n - (size_t)(dot + 1 - argument)) ||
	    !is_plain(ret))
		return refuse_argument(req, argument);
	reader_squeeze(ret->section);
	if (is_prefix(ret->section, "Device."))
		ret->section[strlen("Device")] = ' '; /* "Device.rdma.Expect" needs no quotes */
	if (req->is_unset)
		return 0;

	n_value = strlen(equals + 1);
	ret->value = malloc(n_value + 1);
	if (!ret->value)
		return -ENOMEM;
	copy_stripped(ret->value, n_value + 1, equals + 1, n_value);
	return check_value(ret);
}

static int parse_all(struct setting_change *c)
{
	for (size_t i = 0; i < c->req->n_keys; i++) {
		struct assignment *a = APPEND(c->items, c->n_items);
		int r = a ? parse(c->req, c->req->keys[i], a) : -ENOMEM;

		if (r < 0)
			return r;
		if (ANY(b, c->items, i, streq(b->section, a->section) && streq(b->key, a->key))) {
			log_error("%s.%s: is given twice: use each key once", a->section, a->key);
			return -EINVAL;
		}
	}
	return 0;
}

/* --- the new text --- */

static int read_old(struct setting_change *c)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(target_done) struct target t = TARGET_NONE;
	char target[QUOTED_LEN * 4], buf[QUOTED_LEN];
	int r;

	if (fs_read_link(c->fs, SET_PATH, target, sizeof(target)) >= 0) {
		log_error("/" SET_PATH ": is a link to %s%s: use a file of its own; "
			  "remove the link first",
			  config_quoted(target, buf),
			  streq(target, "/dev/null") ? ", so it is masked" : "");
		return -EEXIST;
	}
	r = target_open(c->fs, SET_PATH, FILE_MAX_BYTES, &t);
	if (r == -ENOENT)
		return 0;
	if (r == -EISDIR || r == -EINVAL)
		log_error("/" SET_PATH ": is no regular file, and is left as it is");
	else if (r < 0)
		log_error("/" SET_PATH ": %s", target_problem(r));
	if (r < 0)
		return r;
	c->old = TAKE(t.text);
	c->old_size = t.size;

	r = pairs_parse("/" SET_PATH, c->old, c->old_size, &c->pairs, &errors);
	for (size_t i = 0; i < errors.n_items; i++)
		log_error("%s", errors.items[i].text);
	return r < 0 ? r : errors.n_malformed > 0 ? -EBADMSG : 0;
}

struct set_place {
	const struct config_file *file;
	struct pairs pairs; /* of it */
	const struct pair *pair;
};

static void place_done(struct set_place *p)
{
	pairs_done(&p->pairs);
}

/* Where the key is set, of all files: the last one is the one in force. Return: 1, 0 or -ENOMEM. */
static int find_in_force(const struct config_files *files, const struct assignment *a,
			 struct set_place *ret)
{
	for (size_t i = files->n_items; i > 0; i--) {
		const struct config_file *f = &files->items[i - 1];
		_cleanup_(config_errors_done) struct config_errors errors = {};
		_cleanup_(place_done) struct set_place p = { .file = f };

		if (f->size > 0 && pairs_parse(f->path, f->data, f->size, &p.pairs, &errors) < 0)
			return -ENOMEM;
		p.pair = pairs_find(&p.pairs, a->section, a->key);
		if (!p.pair)
			continue;
		*ret = TAKE_STRUCT(p);
		return 1;
	}
	return 0;
}

static int tell_not_set(const struct setting_change *c, const struct assignment *a)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	_cleanup_(place_done) struct set_place place = {};
	int r = config_files_load(c->fs, NULL, 0, &files, &errors);

	if (r >= 0)
		r = find_in_force(&files, a, &place);
	if (r < 0)
		return r;
	if (r == 0)
		log_error("%s.%s: is not set in /" SET_PATH ", nor anywhere else", a->section,
			  a->key);
	else
		log_error("%s.%s: is not set in /" SET_PATH ", but in %s:%u: %s", a->section,
			  a->key, place.file->path, place.pair->line,
			  streq(place.file->path, "/" PRESET_PATH)
				  ? "\"set\" overrides it, \"unset --preset\" removes the preset"
				  : "\"set\" overrides it, only a person removes it there");
	return -ENOENT;
}

static int edit(struct setting_change *c)
{
	FOREACH(a, c->items, c->n_items) {
		int r = a->value ? pairs_set(&c->pairs, a->section, a->key, a->value)
				 : pairs_unset(&c->pairs, a->section, a->key);

		if (r == -ENOENT)
			return tell_not_set(c, a);
		if (r < 0)
			return r;
		c->is_changed |= !a->value || r > 0;
	}
	return 0;
}

static int make_text(struct setting_change *c)
{
	int r;

	if (!c->is_changed || c->pairs.n_items == 0)
		return 0;

	r = pairs_text(&c->pairs, HEADER, &c->text, &c->size);
	if (r < 0 || c->size <= FILE_MAX_BYTES)
		return r;
	log_error("/" SET_PATH ": would be too large: use at most %d bytes", FILE_MAX_BYTES);
	return -EFBIG;
}

/* --- is it valid with everything else? --- */

/* The settings of 50-set.conf among all files that will be in force. 0 or -ENOMEM. */
static int parse_set_file(const struct setting_change *c, struct pairs *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	const struct config_file *f = FIND(it, c->files.items, c->files.n_items,
					   it->size > 0 && streq(it->path, "/" SET_PATH));

	return f ? pairs_parse(f->path, f->data, f->size, ret, &errors) : 0;
}

/* The setting in this line of 50-set.conf as it will be, or is where it stays; NULL: none. */
static const struct pair *find_line(struct setting_change *c, unsigned line)
{
	if (c->pairs.n_items == 0 && parse_set_file(c, &c->pairs) < 0)
		return NULL;
	return FIND(item, c->pairs.items, c->pairs.n_items,
		    (c->text ? item->put : item->line) == line);
}

/* Lines of 50-set.conf are those of the file that is there. An empty value would clear what a
 * preset sets as well. */
static void tell_error(struct setting_change *c, const struct config_error *e)
{
	const char *where = e->line > 0 ? e->text + e->n_what : e->text;
	const bool is_of_set = is_prefix(where, " (/" SET_PATH ":");
	const int n = (int)e->n_what;
	const struct pair *pair = is_of_set ? find_line(c, e->line) : NULL;

	if (c->preset.is_new && is_prefix(where, " (/" PRESET_PATH ":")) {
		log_error("%.*s (%s:%u)", n, e->text, c->preset.target, e->line);
		return;
	}
	if (pair && pair->line > 0 && pair->key)
		log_error("%.*s (/" SET_PATH ":%u); to clear it first: "
			  "rdma-provision unset \"%s.%s\"",
			  n, e->text, pair->line, pair->section, pair->key);
	else if (!c->text || !is_of_set)
		log_error("%s", e->text);
	else if (pair && !strstr(e->text, " in [")) /* the section is not told yet */
		log_error("[%s] %.*s", pair->section, n, e->text);
	else
		log_error("%.*s", n, e->text);
}

static int validate(struct setting_change *c, struct config *ret)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_done) struct config config = {};
	struct config_draft drafts[2];
	size_t n = 0;
	int r;

	if (c->is_changed)
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

	*ret = TAKE_STRUCT(config);
	return 0;
}

/* --- writing --- */

/* Writes one of the two files as it will be, or as it was. */
static int put(const struct setting_change *c, bool is_preset, bool is_back)
{
	if (is_preset)
		return preset_put(c->fs, &c->preset, is_back);
	return is_back ? target_change(c->fs, SET_PATH, c->text, c->size, c->old, c->old_size)
		       : target_change(c->fs, SET_PATH, c->old, c->old_size, c->text, c->size);
}

/* With one of the two files new and the other as it is. */
static bool is_valid_between(const struct setting_change *c, const struct config_draft *draft)
{
	_cleanup_(config_errors_done) struct config_errors errors = {};
	_cleanup_(config_files_done) struct config_files files = {};
	_cleanup_(config_done) struct config config = {};

	return config_files_load(c->fs, draft, 1, &files, &errors) >= 0 &&
	       config_merge(&files, &config, &errors) >= 0 &&
	       errors.n_malformed + errors.n_unknown == 0;
}

static bool is_preset_first(const struct setting_change *c)
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
static int write_all(const struct setting_change *c)
{
	static const char *const paths[] = { "/" SET_PATH, "/" PRESET_PATH };
	const bool is_due[] = { c->is_changed, c->preset.is_new };
	bool is_preset = is_due[0] && is_due[1] && is_preset_first(c);

	for (int i = 0; i < 2; i++, is_preset = !is_preset) {
		int r = is_due[is_preset] ? put(c, is_preset, false) : 0;
		int r_back = r < 0 && i > 0 && is_due[!is_preset] ? put(c, !is_preset, true) : 0;

		if (r >= 0)
			continue;
		log_error("%s: %s", paths[is_preset], target_problem(r));
		if (r_back < 0)
			log_error_errno(r_back, "%s: cannot be put back, and is new",
					paths[!is_preset]);
		return r;
	}
	return is_due[0] || is_due[1];
}

static void tell_written(const struct setting_change *c)
{
	FOREACH_WHILE(a, c->items, c->n_items, c->is_changed) {
		char buf[QUOTED_LEN];

		if (a->value)
			log_notice("/" SET_PATH ": [%s] %s=%s", a->section, a->key,
				   config_quoted(a->value, buf));
		else
			log_notice("/" SET_PATH ": [%s] %s= removed", a->section, a->key);
	}
	if (c->is_changed && !c->text)
		log_notice("/" SET_PATH ": removed, for nothing is set in it");
	if (c->preset.is_new)
		log_notice("/" PRESET_PATH ": %s%s", c->preset.text ? "links " : "removed",
			   c->preset.text ? c->preset.target : "");
}

/* Logs settings that were set and another file overrides, or were removed and one still sets. */
static int tell_overridden(const struct setting_change *c)
{
	for (size_t i = 0; i < c->n_items; i++) {
		_cleanup_(place_done) struct set_place place = {};
		const struct assignment *a = &c->items[i];
		char buf[QUOTED_LEN];
		int r;

		r = find_in_force(&c->files, a, &place);
		if (r < 0)
			return r;
		if (r > 0 && !a->value)
			log_info("%s.%s: %s:%u says %s=%s", a->section, a->key, place.file->path,
				 place.pair->line, a->key, config_quoted(place.pair->value, buf));
		else if (r > 0 && !streq(place.file->path, "/" SET_PATH) &&
			 !streq(place.pair->value, a->value))
			log_warning("%s.%s=%s is not in force: %s:%u comes later and says %s=%s",
				    a->section, a->key, a->value, place.file->path,
				    place.pair->line, a->key,
				    config_quoted(place.pair->value, buf));
	}
	return 0;
}

/* Logs settings of before that a new preset does not replace. */
static int tell_kept(const struct setting_change *c)
{
	_cleanup_(pairs_done) struct pairs pairs = {};

	if (!c->preset.is_new || !c->preset.text)
		return 0;
	if (parse_set_file(c, &pairs) < 0)
		return -ENOMEM;
	FOREACH(p, pairs.items, pairs.n_items)
		if (p->key && !ANY(a, c->items, c->n_items,
				   streq(a->section, p->section) && streq(a->key, p->key)))
			log_warning("[%s] %s=%s stays in force over the preset; to clear it: "
				    "rdma-provision unset \"%s.%s\" (/" SET_PATH ":%u)",
				    p->section, p->key, p->value, p->section, p->key, p->line);
	return 0;
}

/* Files of this name that were in force until there was one in /etc. */
static void tell_hidden(const struct setting_change *c)
{
	static const char *const others[] = { "usr/local/lib", "usr/lib" };
	char path[128];

	if (c->old || !c->text)
		return;
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		PRINT(path, "%s/%s", others[i], strchr(SET_PATH, '/') + 1);
		if (fs_exists(c->fs, path) > 0)
			log_warning("/%s: is not in force any more, /" SET_PATH " hides it", path);
	}
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

/* Would the device plugin refuse what is written for it? A node that cannot be looked at refuses
 * nothing. */
static int refuse(struct os *d, const struct config *c)
{
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *problem = NULL;
	const struct plan *seen = NULL;
	int r;

	if (c->plugin.type == PLUGIN_NONE)
		return 0;
	if (os_has_node(&d->fs) && loop_plan(d, c, &in) >= 0)
		seen = &in.plan;
	r = output_check_plugin(c, seen, &problem);
	if (problem)
		log_error("%s", problem);
	return r < 0 ? r : problem ? -EINVAL : 0;
}

static int run(struct setting_change *c, struct set_result *ret)
{
	_cleanup_(config_done) struct config config = {};
	bool is_same;
	int r = parse_all(c);

	if (r < 0)
		return r;
	if (c->req->with_preset)
		r = preset_find(c->fs, c->req->preset, c->req->is_trial, &c->preset);
	if (r < 0)
		return r;
	if (c->n_items > 0)
		r = read_old(c);
	if (r >= 0)
		r = edit(c);
	if (r >= 0)
		r = make_text(c);
	if (r >= 0)
		r = validate(c, &config);
	if (r < 0)
		return r;

	is_same = load_is_same(c->fs, &config);
	r = c->req->os && !is_same ? refuse(c->req->os, &config) : 0;
	if (r >= 0 && !c->req->is_trial)
		r = write_all(c);
	if (r < 0)
		return r;
	if (r > 0)
		tell_written(c);
	tell_hidden(c);
	if (tell_overridden(c) < 0 || tell_kept(c) < 0)
		log_warning("Whether other files override it is not known");

	*ret = (struct set_result){ TAKE_STRUCT(config), is_same };
	return r;
}

int set_change(const struct fs *fs, const struct set_request *req, struct set_result *ret)
{
	_cleanup_(change_done) struct setting_change c = { .fs = fs, .req = req };
	int fd, r;

	if (req->is_trial)
		return run(&c, ret);
	fd = lock(fs);
	if (fd < 0)
		return fd;
	r = run(&c, ret);
	fs_unlock(fs, SET_LOCK_PATH, fd);
	if (r < 0)
		log_error("Nothing was changed");
	return r;
}

/* --- the verbs, and what they say of the change --- */

/* Sections that match nothing, or none at all. */
static void tell_no_nic(const struct config *c)
{
	if (c->n_devices == 0)
		log_warning(NO_NIC);
	FOREACH(d, c->devices, c->n_devices)
		if (d->expect == 0)
			log_info("No NIC of this node matches [Device %s] Match=%s; Expect=0 does "
				 "not wait for one",
				 d->name, d->match ? d->match : "");
		else
			log_warning("No NIC of this node matches [Device %s] Match=%s", d->name,
				    d->match ? d->match : "");
}

/*
 * Prints the plan of a restart, or with @is_same only looks what of it is impossible. An error is
 * logged, and is no failure: the files are written; but what cannot be printed is one.
 * @ret_impossible: as output_impossible(), or output_check_kubelet(). Return: an exit code.
 */
static int tell_plan(const struct command *cmd, struct os *d, const struct config *c, bool is_same,
		     char **ret_impossible)
{
	_cleanup_(inspection_done) struct inspection in = {};
	_cleanup_(freep) char *text = NULL;
	int r = 0;

	if (!os_has_node(&d->fs) && !is_same)
		log_info("There is no node here to plan for: it takes effect when one boots");
	else if (os_has_node(&d->fs))
		r = loop_plan(d, c, &in);
	if (r >= 0 && os_has_node(&d->fs))
		r = cmd->is_json ? output_actions_json(&in.plan, &text)
				 : output_actions_text(&in.plan, &text);
	if (r < 0)
		log_warning_errno(r, "What a restart would do is not known");
	else if (os_has_node(&d->fs) && in.plan.n_devices == 0 && !is_same)
		tell_no_nic(c);
	if (!text)
		return cmd->is_json ? session_print("null\n") : EXIT_SUCCESS;
	if (output_impossible(&in.plan, ret_impossible) < 0 ||
	    (!*ret_impossible &&
	     ANY(a, cmd->arguments, cmd->n_arguments,
		 (is_prefix(*a, "Kubelet.TopologyManager") ||
		  is_prefix(*a, "Kubelet.CPUManager")) &&
			 strchr(*a, '=')) &&
	     output_check_kubelet(c, &in.plan, ret_impossible) < 0))
		return EXIT_FAILURE;
	if (is_same && !cmd->is_json)
		return EXIT_SUCCESS;

	if (in.plan.n_actions > 0)
		log_info("A restart would do this:");
	return session_show(text, cmd->is_json);
}

/* The kubelet's unit has other lines now: systemd reads them, and starts nothing. */
static void reload_units(void)
{
	int r = manager_reload(RELOAD_USEC);

	if (r < 0)
		log_warning_errno(r, "The kubelet's unit is as it was until \"systemctl "
				     "daemon-reload\"");
	else
		log_notice("kubelet.service: systemd has read its drop-ins again");
}

static int tell_change(const struct command *cmd, struct os *d, const struct set_result *res,
		       bool is_written)
{
	_cleanup_(freep) char *impossible = NULL;
	int r = EXIT_SUCCESS;

	if (res->is_same && is_written && res->config.n_devices == 0)
		log_warning(NO_NIC); /* defaults for no section are no values in force */
	else if (res->is_same)
		log_info(is_written ? "Nothing to change on the node: the same values were in "
				      "force before"
				    : "Nothing to change");
	r = tell_plan(cmd, d, &res->config, res->is_same, &impossible);
	if (is_written && observe_generated(&d->fs, &res->config) > 0)
		reload_units();
	if (!res->is_same && os_has_node(&d->fs))
		log_info("To put it into force: systemctl restart rdma-provision.service");
	if (impossible)
		log_error("%s", impossible);
	return impossible ? EXIT_FAILURE : r;
}

static int change_configuration(const struct command *cmd, struct set_request *req)
{
	struct preset_choice choice = {};
	struct set_result res = {};
	_cleanup_(os_close) struct os d = { .fs.root = -EBADF };
	int told = EXIT_SUCCESS, r = 0;

	if (session_open_root(cmd, &d) < 0)
		return EXIT_FAILURE;
	if (!req->is_unset)
		req->os = &d;

	if (req->preset && streq(req->preset, "auto"))
		r = preset_choose(&d, &choice, &req->preset);
	if (r < 0)
		log_error("Nothing was changed");
	else if (req->with_preset && req->preset && !*req->preset) {
		preset_list(&d.fs, "--preset without a name");
		r = -EINVAL;
	} else
		r = set_change(&d.fs, req, &res);
	if (r >= 0)
		told = tell_change(cmd, &d, &res, r > 0);
	config_done(&res.config);
	req->os = NULL; /* it ends here */
	return r < 0 ? EXIT_FAILURE : told;
}

/* "--preset NAME": the argument that is no KEY=VALUE. */
static void take_preset(struct set_request *req)
{
	for (size_t i = 0; i < req->n_keys; i++)
		if (!strchr(req->keys[i], '=')) {
			req->preset = req->keys[i];
			memmove(req->keys + i, req->keys + i + 1,
				(--req->n_keys - i) * sizeof(*req->keys));
			return;
		}
}

int command_set(const struct command *cmd)
{
	struct set_request req = {
		.keys = cmd->arguments,
		.n_keys = cmd->n_arguments,
		.with_preset = cmd->preset,
		.preset = cmd->preset,
	};

	if (cmd->n_arguments == 0 && !cmd->preset) {
		log_error("set takes SECTION.KEY=VALUE, for example Driver.Mode=compat or \"Device "
			  "nic.MTU=9000\", or --preset=NAME; \"rdma-provision set --help\" tells "
			  "more");
		return EXIT_FAILURE;
	}
	if (cmd->preset && !*cmd->preset)
		take_preset(&req);
	return change_configuration(cmd, &req);
}

int command_unset(const struct command *cmd)
{
	if (cmd->n_arguments == 0 && !cmd->preset) {
		log_error("unset takes SECTION.KEY, for example Driver.Mode or \"Device "
			  "nic.MTU\", or --preset; \"rdma-provision unset --help\" tells more");
		return EXIT_FAILURE;
	}
	if (cmd->preset && *cmd->preset) {
		log_error("--preset=%s: unset takes --preset without a name", cmd->preset);
		return EXIT_FAILURE;
	}
	return change_configuration(cmd, &(struct set_request){
						 .is_unset = true,
						 .keys = cmd->arguments,
						 .n_keys = cmd->n_arguments,
						 .with_preset = cmd->preset,
					 });
}
