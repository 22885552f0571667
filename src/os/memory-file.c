/* SPDX-License-Identifier: Apache-2.0 */
#include "memory-file.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/paths.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#define LOCK_LIMIT_USEC (5 * USEC_PER_SEC)

static const char *const paths[] = { MEMORY_BOOT_PATH, MEMORY_NODE_PATH };

/* --- files of versions up to 0.1.0 --- */

/* A line of two words, as an object with these keys. */
static json_t *pack_line(const char *line, const char *first_key, const char *second_key)
{
	const size_t n = strcspn(line, " ");
	_cleanup_(freep) char *first = strndup(line, n);
	json_auto_t *object = json_object();

	if (!first || json_object_set_new(object, first_key, document_name(first)) < 0 ||
	    json_object_set_new(object, second_key, document_name(line[n] ? line + n + 1 : "")) < 0)
		return NULL;
	return TAKE(object);
}

static json_t *pack_lines(char *text, const char *first_key, const char *second_key)
{
	json_auto_t *list = json_array();
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line &&
		    json_array_append_new(list, pack_line(line, first_key, second_key)) < 0)
			return NULL;
	return TAKE(list);
}

static json_t *convert_autoprobe(char *text)
{
	return pack_lines(text, "boot_id", "pci");
}

static json_t *convert_outputs(char *text)
{
	return pack_lines(text, "output", "path");
}

static json_t *convert_metadata(char *text)
{
	return pack_lines(text, "mac", "answer");
}

static json_t *convert_line(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return document_name(text);
}

/* What is no JSON is nothing. */
static json_t *convert_list(char *text)
{
	json_t *document = NULL;

	errno = 0;
	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	return document || errno == ENOMEM ? document : json_array();
}

static json_t *convert_boots(char *text)
{
	json_auto_t *document = convert_list(text);
	json_t *boots = json_object_get(document, "boots");

	if (boots && json_integer_value(json_object_get(document, "schema")) == 1)
		return json_incref(boots);
	return document ? json_array() : NULL;
}

static const struct {
	enum memory_lifetime lifetime;
	const char *path, *key;
	json_t *(*convert)(char *text); /* NULL when there is no memory */
} old_files[] = {
	{ MEMORY_BOOT, "run/rdma-provision/ledger.json", "changes", convert_list },
	{ MEMORY_BOOT, "run/rdma-provision/metadata", "metadata", convert_metadata },
	{ MEMORY_BOOT, "run/rdma-provision/plugin-file", "plugin_file", convert_line },
	{ MEMORY_BOOT, "run/rdma-provision/outputs", "outputs", convert_outputs },
	{ MEMORY_BOOT, "run/rdma-provision/autoprobe", "autoprobe", convert_autoprobe },
	{ MEMORY_NODE, "var/lib/rdma-provision/boots.json", "boots", convert_boots },
	{ MEMORY_NODE, "var/lib/rdma-provision/outputs", "outputs", convert_outputs },
	{ MEMORY_NODE, "var/lib/rdma-provision/manifest", "manifest", convert_line },
	{ MEMORY_NODE, "var/lib/rdma-provision/autoprobe", "autoprobe", convert_autoprobe },
};

static int add_old_file(const struct fs *fs, size_t i, json_t *object)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, old_files[i].path, MAX_MEMORY_BYTES, false, &text, &size);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return json_object_set_new(object, old_files[i].key, old_files[i].convert(text)) < 0
		       ? -ENOMEM
		       : 1;
}

/* Their state.json had what a pass tells the next one, as a member. */
static int add_old_state(const struct fs *fs, json_t *object)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	json_t *memory, *failures;
	size_t size;
	int r;

	r = fs_read_all(fs, STATE_PATH, MAX_STATE_BYTES, false, &text, &size);
	if (r >= 0)
		r = document_parse(text, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r == -ENOMEM)
		return r;
	memory = json_object_get(document, "memory");
	if (!json_is_object(memory) || !json_is_string(json_object_get(document, "boot_id")) ||
	    !json_is_string(json_object_get(document, "config_hash")))
		return 0;
	json_object_del(memory, "settled");
	failures = json_object_get(memory, "failures");
	return json_object_update(object, memory) < 0 ||
			       (failures && json_object_set(object, "attempts", failures) < 0) ||
			       json_object_set(object, "boot_id",
					       json_object_get(document, "boot_id")) < 0 ||
			       json_object_set(object, "config_hash",
					       json_object_get(document, "config_hash")) < 0
		       ? -ENOMEM
		       : 1;
}

/* Return: 1 when there are some, 0 or -errno. */
static int read_old_files(const struct fs *fs, enum memory_lifetime l, json_t *object)
{
	int n = l == MEMORY_BOOT ? add_old_state(fs, object) : 0;

	for (size_t i = 0; i < ELEMENTSOF(old_files) && n >= 0; i++) {
		int r = old_files[i].lifetime == l ? add_old_file(fs, i, object) : 0;

		if (r < 0)
			return r;
		n |= r;
	}
	return n;
}

static void remove_old_files(const struct fs *fs, enum memory_lifetime l)
{
	for (size_t i = 0; i < ELEMENTSOF(old_files); i++) {
		int r = old_files[i].lifetime == l ? fs_remove(fs, old_files[i].path) : 0;

		if (r < 0) /* it is not read any more */
			log_debug_errno(r, "/%s", old_files[i].path);
	}
}

/* --- the object --- */

static int parse(const char *path, const char *text, size_t size, json_t **ret)
{
	json_auto_t *object = NULL;
	int r;

	r = document_parse(text, size, JSON_REJECT_DUPLICATES, &object, NULL);
	if (r == -ENOMEM)
		return r;
	if (!json_is_object(object)) {
		log_warning("/%s: is damaged and not used: what was there before our changes, and "
			    "what failed, is not known",
			    path);
		json_decref(object);
		object = json_object();
	}
	*ret = TAKE(object);
	return *ret ? 0 : -ENOMEM;
}

/* A node with thousands of functions remembers a megabyte, and most keys are rarely there. */
static bool has_any(const struct fields *s, const char *text)
{
	char key[64];

	for (size_t i = 0; i < s->n_rows; i++) {
		snprintf(key, sizeof(key), "\"%s\"", s->rows[i].key);
		if (strstr(text, key))
			return true;
	}
	return false;
}

/*
 * With @s, a table that is read alone, nothing is parsed where the text has none of its keys.
 * Return: 1 when it was made of files of an earlier version, 0 or -errno.
 */
static int load(const struct fs *fs, enum memory_lifetime l, const struct fields *s, json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *object = NULL;
	size_t size;
	int r;

	r = fs_read_all(fs, paths[l], MAX_MEMORY_BYTES, false, &text, &size);
	if (r >= 0)
		return s && !has_any(s, text) ? 0 : parse(paths[l], text, size, ret);
	if (r != -ENOENT)
		return r;

	object = json_object();
	r = object ? read_old_files(fs, l, object) : -ENOMEM;
	if (r >= 0)
		*ret = TAKE(object);
	return r;
}

int memory_read_tables(const struct fs *fs, enum memory_lifetime l,
		       const struct memory_table *tables, size_t n)
{
	json_auto_t *object = NULL;
	int r, is_other;

	r = is_other = load(fs, l, n == 1 ? tables->fields : NULL, &object);
	if (r < 0 && r != -ENOMEM) {
		log_debug_errno(r, "/%s: not used", paths[l]);
		return 1;
	}
	for (size_t i = 0; i < n && r >= 0; i++) {
		r = fields_parse(tables[i].fields, object, tables[i].ret, NULL);
		if (r > 0)
			log_warning("/%s: %d entries are damaged and not used", paths[l], r);
		is_other |= r > 0;
	}
	return r < 0 ? r : is_other;
}

int memory_read(const struct fs *fs, enum memory_lifetime l, const struct fields *s, void *ret)
{
	return MIN(memory_read_tables(fs, l, &(struct memory_table){ s, ret }, 1), 0);
}

/*
 * Until it is closed. Not the folder, which any user may open and lock. Without SIGALRM, by which
 * helpers and verbs limit themselves; the lock is held for milliseconds, unless its holder was
 * stopped.
 */
static int lock(const struct fs *fs)
{
	_cleanup_(closep) int fd = fs_open(fs, MEMORY_LOCK_PATH, O_RDWR | O_CREAT | O_NOFOLLOW);
	const struct timespec rest = { .tv_nsec = 2 * 1000 * 1000 };
	const uint64_t until_usec = now_usec() + LOCK_LIMIT_USEC;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (now_usec() >= until_usec)
			return -ETIMEDOUT;
		nanosleep(&rest, NULL);
	}
	return TAKE_FD(fd);
}

int memory_write(const struct fs *fs, enum memory_lifetime l, const struct fields *s,
		 const void *from)
{
	_cleanup_(closep) int fd = lock(fs);
	_cleanup_(freep) char *text = NULL;
	json_auto_t *object = NULL;
	int r, has_old;

	if (fd < 0 && fd != -ENOENT)
		return fd;
	has_old = load(fs, l, NULL, &object);
	if (has_old < 0)
		return has_old;
	if (fields_update(object, s, from) < 0)
		return -ENOMEM;
	/* Without blanks: only this program reads it, in each look. */
	r = json_object_size(object) > 0 ? document_dump(object, JSON_COMPACT, &text) : 0;
	if (r < 0)
		return r;
	if (text) {
		r = fs_replace(fs, paths[l], text, strlen(text), 0644);
	} else if (fs_exists(fs, paths[l])) {
		/* A downgrade wrote old ones beside it: without it they would be read. */
		remove_old_files(fs, l);
		r = fs_remove(fs, paths[l]);
	}
	if (r < 0)
		return r;
	if (has_old > 0)
		remove_old_files(fs, l);
	return MIN(r, 0);
}
