/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: files of [Output], and the record of those that were written, so that they can be taken
 * back when the configuration does not name them any more.
 */
#include "../model/memory.h"
#include "../os/helper.h"
#include "../os/memory-file.h"
#include "apply.h"
#include "verbs.h"

#define NCCL_SOCKET "/run/rdma-provision-nccl.socket"
#define ASK_USEC    (20 * USEC_PER_SEC) /* below the deadline of the verbs */

static const struct plan_output *find_output(const struct work *w, const struct action *a,
					     enum output *ret)
{
	for (enum output o = 0; o < _OUTPUT_N; o++)
		if (w->plan->outputs[o].path && streq(w->plan->outputs[o].path, a->target)) {
			*ret = o;
			return &w->plan->outputs[o];
		}
	return NULL;
}

/* Is the file there one of ours? Another program may have replaced it since the look. Return: 1, 0
 * for no file, -EEXIST for a file of another program. */
static int look_again(const struct fs *fs, enum output o, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	char target[PATH_LEN];
	size_t size;
	int r;

	if (fs_read_link(fs, path, target, sizeof(target)) != -ENOENT)
		return -EEXIST;
	r = fs_read_all(fs, path, MAX_OUTPUT_BYTES, true, &text, &size);
	if (r == -ENOENT)
		return 0;
	return r >= 0 && is_own_output(o, text) ? 1 : -EEXIST;
}

static int change_record(const struct fs *fs, enum memory_lifetime lifetime,
			 const struct output_record *record, bool is_there)
{
	_cleanup_(output_records_done) struct output_records l = {};
	struct output_record *slot;
	size_t i;
	int r;

	r = memory_read(fs, lifetime, &output_records_fields, &l);
	if (r < 0)
		return r;
	for (i = 0; i < l.n_entries; i++)
		if (l.entries[i].output == record->output && streq(l.entries[i].path, record->path))
			break;
	if ((i < l.n_entries) == is_there)
		return 0;
	if (is_there) {
		slot = APPEND(l.entries, l.n_entries);
		if (!slot)
			return -ENOMEM;
		*slot = *record;
	} else {
		memmove(&l.entries[i], &l.entries[i + 1], (--l.n_entries - i) * sizeof(*l.entries));
	}
	return memory_write(fs, lifetime, &output_records_fields, &l);
}

/* Before a file is written, and after it is removed. */
static int record_file(const struct fs *fs, enum output o, const char *path, bool is_there)
{
	struct output_record record = { .output = o };
	int r, r_boot;

	COPY(record.path, path);
	r = change_record(fs, MEMORY_NODE, &record, is_there);
	if (is_there && r >= 0)
		return r;
	r_boot = change_record(fs, MEMORY_BOOT, &record, is_there); /* /var cannot be written */
	return is_there || r >= 0 ? r_boot : r;
}

/* For readers with users of their own: readable for all. @text: NULL removes the file. */
static int put(const struct fs *fs, const char *path, const char *text)
{
	return text ? fs_output(fs, path + 1, text, strlen(text), 0644)
		    : fs_output_remove(fs, path + 1);
}

/* /etc is read-only for the service: the helper writes there. */
static int put_anywhere(const struct fs *fs, enum output o, const char *path, const char *text)
{
	_cleanup_(freep) char *question = NULL;
	int r, helped;

	r = put(fs, path, text);
	if (r != -EROFS || o != OUTPUT_NCCL || !fs->is_live)
		return r;
	if (asprintf(&question, "%s\n%s", path, text ? text : "") < 0) {
		question = NULL;
		return -ENOMEM;
	}
	helped = helper_ask(NCCL_SOCKET, question, ASK_USEC, NULL);
	return helped == -EHOSTDOWN ? r : helped;
}

/* Comments, and settings of NCCL. */
static bool is_nccl(const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text != '\0')
		if (*text != '#' && !is_prefix(text, "NCCL_"))
			return false;
	return true;
}

int apply_nccl_file(const struct fs *fs, const char *configured, const char *question)
{
	char path[PATH_LEN];
	const char *text = strchr(question, '\n');
	int r;

	if (!text || (size_t)(text - question) >= sizeof(path))
		return -EBADMSG;
	snprintf(path, sizeof(path), "%.*s", (int)(text - question), question);
	text++;

	if (*text &&
	    (!streq(path, configured) || !is_own_output(OUTPUT_NCCL, text) || !is_nccl(text)))
		return -EPERM;
	if (!*text && (!is_prefix(path, "/etc/") || strstr(path, "/..")))
		return -EPERM;
	r = look_again(fs, OUTPUT_NCCL, path + 1);
	return r < 0 ? r : MIN(put(fs, path, *text ? text : NULL), 0);
}

int apply_write_output(struct work *w, const struct action *a)
{
	const struct fs *fs = &w->os->fs;
	const struct plan_output *wanted;
	enum output o;
	int r;

	wanted = find_output(w, a, &o);
	if (!wanted || !wanted->text)
		return -ENOENT; /* a plan that was not made for this */

	r = look_again(fs, o, a->target + 1);
	if (r >= 0)
		r = record_file(fs, o, a->target, true);
	if (r >= 0)
		r = put_anywhere(fs, o, a->target, wanted->text);
	return MIN(r, 0);
}

int apply_remove_output(struct work *w, const struct action *a)
{
	const struct fs *fs = &w->os->fs;
	int r;

	for (enum output o = 0; o < _OUTPUT_N; o++) {
		if (!streq(a->text.to, output_name(o)))
			continue;
		r = look_again(fs, o, a->target + 1);
		if (r > 0)
			r = put_anywhere(fs, o, a->target, NULL);
		else if (r == 0) /* a temporary one of a crash, perhaps, in nobody's way */
			put(fs, a->target, NULL);
		else if (r == -EEXIST)
			r = 0; /* another program's by now: it stays, and is not ours any more */
		return r < 0 ? r : record_file(fs, o, a->target, false);
	}
	return -EINVAL;
}
