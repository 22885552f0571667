/* SPDX-License-Identifier: Apache-2.0 */
#include "memory-file.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../model/paths.h"

static const char *const paths[] = { MEMORY_BOOT_PATH, MEMORY_NODE_PATH, KUBELET_RECORD_PATH };
static const unsigned modes[] = { 0644, 0644, 0600 };

/* A text without any key of a table need not be parsed for it. A key may have escapes. */
static bool may_have(const char *text, const struct fields *s)
{
	return strstr(text, "\\u") || ANY(row, s->rows, s->n_rows, strstr(text, row->key));
}

/*
 * Reads a file; @ret is an object without keys where there is none, nor one of the keys of @only,
 * unless that is NULL. Return: 0 or -errno.
 */
static int load(const struct fs *fs, enum memory_lifetime l, bool is_told,
		const struct fields *only, json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *object = NULL;
	size_t size;
	int r = fs_read_all(fs, paths[l], MAX_MEMORY_BYTES, false, &text, &size);

	if (r < 0 && r != -ENOENT)
		return r;
	if (text && (!only || may_have(text, only)) &&
	    document_parse(text, size, JSON_REJECT_DUPLICATES, &object, NULL) == -ENOMEM)
		return -ENOMEM;
	if (!json_is_object(object)) {
		if (text && is_told)
			log_warning("/%s: is damaged and not used: what was there before our "
				    "changes, and what failed, is not known",
				    paths[l]);
		json_decref(object);
		object = json_object();
	}
	*ret = TAKE(object);
	return *ret ? 0 : -ENOMEM;
}

static int read_tables(const struct fs *fs, enum memory_lifetime l, bool is_told,
		       const struct memory_table *tables, size_t n)
{
	json_auto_t *object = NULL;
	int r = load(fs, l, is_told, is_told ? NULL : tables->fields, &object);

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = fields_parse(tables[i].fields, object, tables[i].ret, NULL);
		if (r > 0)
			log_warning("/%s: %d entries are damaged and not used", paths[l], r);
	}
	return MIN(r, 0);
}

int memory_read_tables(const struct fs *fs, enum memory_lifetime l,
		       const struct memory_table *tables, size_t n)
{
	int r = read_tables(fs, l, true, tables, n);

	if (r < 0 && r != -ENOMEM)
		log_debug_errno(r, "/%s: not used", paths[l]);
	return r == -ENOMEM ? r : 0;
}

int memory_read(const struct fs *fs, enum memory_lifetime l, const struct fields *s, void *ret)
{
	int r = read_tables(fs, l, false, &(struct memory_table){ s, ret }, 1);

	return r == -ENOMEM ? r : 0;
}

int memory_read_all(const struct fs *fs, enum memory_lifetime l, const struct fields *s, void *ret)
{
	return read_tables(fs, l, true, &(struct memory_table){ s, ret }, 1);
}

int memory_write(const struct fs *fs, enum memory_lifetime l, const struct fields *s,
		 const void *from)
{
	_cleanup_(closep) int fd = -EBADF;
	_cleanup_(freep) char *text = NULL;
	json_auto_t *object = NULL;
	int r;

	if (l != MEMORY_KUBELET) {
		fd = fs_lock(fs, MEMORY_LOCK_PATH, FS_LOCK_USEC);
		if (fd < 0)
			return fd;
	}
	r = load(fs, l, false, NULL, &object);
	if (r < 0)
		return r;
	if (fields_update(object, s, from) < 0)
		return -ENOMEM;
	json_object_del(object, "schema"); /* of versions up to 0.1.0 */
	/* Without blanks: only this program reads it, in each look. */
	r = json_object_size(object) > 0 ? document_dump(object, JSON_COMPACT, &text) : 0;
	if (r < 0)
		return r;
	if (text)
		r = fs_replace(fs, paths[l], text, strlen(text), modes[l]);
	else if (fs_exists(fs, paths[l]))
		r = fs_remove(fs, paths[l]);
	return MIN(r, 0);
}
