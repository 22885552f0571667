/* SPDX-License-Identifier: Apache-2.0 */
#include "stamped.h"

#include "../base/document.h"
#include "../model/paths.h"

int stamped_read(const struct fs *fs, const char *path, const struct fields *fields, void *ret,
		 struct stamps *ret_stamps)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	struct fs quiet = *fs;
	const char *lines;
	size_t size;
	int r;

	quiet.denied = NULL; /* who may not read it looks for himself, and misses nothing */
	r = fs_read_all(&quiet, path, MAX_STATE_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	size = strcspn(text, "\n");
	lines = text + size + (text[size] != '\0');
	if (!stamps_hold(lines, fs))
		return 0;
	r = document_parse(text, size, JSON_REJECT_DUPLICATES, &document, NULL);
	if (r >= 0)
		r = fields_parse(fields, document, ret, NULL);
	if (r >= 0 && ret_stamps)
		r = stamps_parse(lines, ret_stamps);
	return r == -ENOMEM ? r : r >= 0;
}

int stamped_write(const struct fs *fs, const char *path, const struct fields *fields,
		  const void *from, const struct stamps *stamps)
{
	_cleanup_(freep) char *text = NULL, *lines = NULL, *all = NULL;
	json_auto_t *document = NULL;
	int r;

	if (stamps->is_useless || stamps->n_items == 0)
		return 0;
	document = fields_pack(fields, from);
	r = document ? document_dump(document, JSON_COMPACT, &text) : -ENOMEM;
	if (r >= 0)
		r = stamps_print(stamps, &lines);
	if (r >= 0 && asprintf(&all, "%s%s", text, lines) < 0) {
		all = NULL;
		r = -ENOMEM;
	}
	return r < 0 ? r : fs_replace(fs, path, all, strlen(all), 0600);
}
