/* SPDX-License-Identifier: Apache-2.0 */
#include "preset.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../config/config-errors.h"
#include "../config/load.h"
#include "../metadata/metadata-apply.h"
#include "../model/paths.h"
#include "../pass/loop.h"
#include "session.h"

#include <fnmatch.h>

#define TYPE_USEC (12 * USEC_PER_SEC) /* the helper ends after 10 s */

void preset_done(struct preset *p)
{
	free(p->text);
	*p = (struct preset){};
}

/* Lists the presets, in order of their names. */
static int list_presets(const struct fs *fs, struct fs_names *ret)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	size_t kept = 0;
	int r = fs_list(fs, PRESET_FOLDER, &names);

	if (r < 0 && r != -ENOENT)
		return r;
	for (size_t i = 0; i < names.n_names; i++) {
		char *name = names.names[i];

		if (fnmatch("*.conf", name, FNM_PERIOD) != 0) {
			free(name);
			continue;
		}
		name[strlen(name) - strlen(".conf")] = '\0';
		names.names[kept++] = name;
	}
	names.n_names = kept;
	SORT(names.names, kept, compare_text_at);
	*ret = TAKE_STRUCT(names);
	return 0;
}

/*
 * "nodes of ...": the first sentence of a preset's file, behind its name. Return: 0, also for a
 * file without one, then @ret is ""; or -errno.
 */
static int describe(const struct fs *fs, const char *name, char *ret, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	char *rest = NULL;
	size_t n_text, n = 0;
	int r = fs_read_all(fs, FS_PATH(PRESET_FOLDER "/%s.conf", name), FILE_MAX_BYTES, false,
			    &text, &n_text);

	if (r < 0)
		return r;
	*ret = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *words = after(line, "# ");

		if (n == 0 && words)
			words = after(words, name) ? after(after(words, name), ": ") : NULL;
		if (words)
			n += (size_t)snprintf(ret + n, size - n, "%s%s", n > 0 ? " " : "", words);
		else if (n > 0)
			break;
		if (n >= size)
			return -EMSGSIZE;
	}
	return 0;
}

/* Is this preset linked? The link may be absolute or relative. */
static bool is_linked(const struct fs *fs, const char *name)
{
	char target[PATH_MAX];
	const char *file;

	if (fs_read_link(fs, PRESET_PATH, target, sizeof(target)) < 0 || !load_preset_path(target))
		return false;
	file = after(strrchr(target, '/') + 1, name);
	return file && streq(file, ".conf");
}

void preset_list(const struct fs *fs, const char *begin)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char text[1024] = "";
	int r = list_presets(fs, &names);

	for (size_t i = 0; i < names.n_names; i++)
		append_word(text, sizeof(text), ", ", "%s", names.names[i]);
	if (r < 0)
		log_error_errno(r, "/" PRESET_FOLDER);
	else if (*text)
		log_error("%s is not valid: use one of %s", begin, text);
	else
		log_error("%s is not valid: there are no presets in /" PRESET_FOLDER "%s", begin,
			  fs->is_live ? "" : " of the tree; plan --config=FILE tries a file");
}

static int read_preset(const struct fs *fs, const char *name, bool is_trial, struct preset *p)
{
	char path[PATH_MAX], begin[QUOTED_LEN + 16], buf[QUOTED_LEN];
	int r;

	if ((size_t)PRINT(path, PRESET_FOLDER "/%s.conf", name) >= sizeof(path) ||
	    strchr(name, '/') || !*name || *name == '.')
		r = -ENOENT;
	else
		r = load_preset(fs, path, is_trial, &p->text, &p->size);
	if (r == -ENOENT) {
		PRINT(begin, "--preset=%s", config_quoted(name, buf));
		preset_list(fs, begin);
		return r;
	}
	if (r < 0)
		return log_error_errno(r, "/%s", path);

	PRINT(p->target, "/" PRESET_FOLDER "/%s.conf", name);
	return 0;
}

/* Reads the link. Return: 1 when it has the target, 0 when it may be replaced, or -errno. */
static int look_at_link(const struct fs *fs, struct preset *p)
{
	char target[PATH_MAX], buf[QUOTED_LEN];
	int r = fs_read_link(fs, PRESET_PATH, target, sizeof(target));

	if (r >= 0 && load_preset_path(target)) {
		COPY(p->old, target);
		return p->text && streq(target, p->target);
	}
	if (r >= 0) {
		log_error("/" PRESET_PATH ": is a link to %s, which is no preset, and is left as "
			  "it is",
			  config_quoted(target, buf));
		return -EEXIST;
	}
	if (r != -ENOENT)
		return log_error_errno(r, "/" PRESET_PATH);
	if (fs_exists(fs, PRESET_PATH)) {
		log_error("/" PRESET_PATH ": is no link to a preset, and is left as it is");
		return -EEXIST;
	}
	if (!p->text) {
		log_error("/" PRESET_PATH ": is not there: no preset is linked");
		return -ENOENT;
	}
	return 0;
}

int preset_find(const struct fs *fs, const char *name, bool is_trial, struct preset *ret)
{
	_cleanup_(preset_done) struct preset p = {};
	int r = 0;

	if (name)
		r = read_preset(fs, name, is_trial, &p);
	if (r >= 0)
		r = look_at_link(fs, &p);
	if (r < 0)
		return r;

	p.is_new = r == 0;
	*ret = TAKE_STRUCT(p);
	return 0;
}

int preset_put(const struct fs *fs, const struct preset *p, bool is_back)
{
	const char *target = is_back ? p->old : p->target;
	int r;

	if (*target)
		return fs_replace_link(fs, PRESET_PATH, target);
	r = fs_remove(fs, PRESET_PATH);
	return r < 0 ? r : 1;
}

int preset_choose(struct os *d, struct preset_choice *ret, const char **ret_name)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(inspection_done) struct inspection in = {};
	char type[METADATA_TYPE_LEN] = "";
	int r;

	if (!os_has_node(&d->fs)) {
		log_error("--preset=auto: there is no node here to choose for");
		return -ENODEV;
	}
	r = load_config(&d->fs, NULL, &c);
	if (r >= 0)
		r = loop_plan(d, &c, &in);
	if (r < 0)
		return log_error_errno(r, "--preset=auto: the node cannot be looked at");
	plan_preset(&in.node, "", ret);
	if (ret->wants_type && d->fs.is_live) {
		r = metadata_ask_type("/" METADATA_SOCKET_PATH, TYPE_USEC, type);
		if (r == -EAGAIN)
			log_notice("--preset=auto: no metadata service answers");
		else if (r < 0)
			log_warning_errno(r, "--preset=auto: the metadata service cannot be asked "
					     "(rdma-provision-metadata.socket)");
		plan_preset(&in.node, type, ret);
	}
	if (!*ret->name) {
		log_error("--preset=auto: %s: %s", ret->why, ret->advice);
		return -ENODATA;
	}
	log_notice("--preset=auto: %s, for %s", ret->name, ret->why);
	*ret_name = ret->name;
	return 0;
}

static json_t *make_presets(const struct fs *fs, const struct fs_names *names)
{
	json_auto_t *list = json_array();
	for (size_t i = 0; i < names->n_names; i++) {
		const char *name = names->names[i];
		char text[1024];
		int r = describe(fs, name, text, sizeof(text));

		if (r == -ENOMEM)
			return NULL;
		if (r < 0) {
			log_warning_errno(r, "/" PRESET_FOLDER "/%s.conf: cannot be described",
					  name);
			*text = '\0';
		}
		if (json_array_append_new(list,
					  json_pack("{s:o, s:o, s:b}", "name", document_text(name),
						    "description", document_text(text), "linked",
						    is_linked(fs, name))) < 0)
			return NULL;
	}
	return json_pack("{s:O}", "presets", list);
}

static int print_presets(const struct command *cmd, const json_t *presets)
{
	_cleanup_(freep) char *text = NULL;

	if (cmd->is_json)
		return document_print(presets, &text) < 0 ? EXIT_FAILURE : session_print(text);
	if (json_array_size(json_object_get(presets, "presets")) == 0)
		log_info("There are no presets in /" PRESET_FOLDER);
	document_each(p, json_object_get(presets, "presets"))
		printf("%c %-17s %s\n", json_is_true(json_object_get(p, "linked")) ? '*' : ' ',
		       json_string_value(json_object_get(p, "name")),
		       json_string_value(json_object_get(p, "description")));
	return session_print("");
}

int command_presets(const struct command *cmd)
{
	_cleanup_(session_done) struct session s = { .os.fs.root = -EBADF };
	_cleanup_(fs_names_done) struct fs_names names = {};
	json_auto_t *presets = NULL;
	int r;

	if (session_open_os(cmd, &s) < 0)
		return EXIT_FAILURE;
	r = list_presets(&s.os.fs, &names);
	if (r < 0) {
		log_error_errno(r, "/" PRESET_FOLDER);
		return EXIT_FAILURE;
	}
	presets = make_presets(&s.os.fs, &names);
	return presets ? print_presets(cmd, presets) : EXIT_FAILURE;
}
