/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include "../base/log.h"
#include "../model/paths.h"
#include "../os/target.h"
#include "yaml-edit.h"
#include "yaml.h"

#define LOCK_USEC (120 * USEC_PER_SEC) /* longer than the process has: kubelet-main.c */

#define MAX_FLAGS_BYTES ((size_t)256 * 1024) /* of a file of variables or flags */
#define OWN_LINE        "# Made by rdma-provision as its [Kubelet] section says; edits are lost.\n"

void kubelet_undo_done(struct kubelet_undo *u)
{
	free(u->before);
	free(u->after);
	*u = (struct kubelet_undo){};
}

bool kubelet_is_own(enum kubelet_way way)
{
	return way == KUBELET_WAY_DROP_IN || way == KUBELET_WAY_RANCHER;
}

void kubelet_edit_add(struct kubelet_edit *e, enum kubelet_setting s, const char *value)
{
	e->pairs[e->n_pairs].setting = s;
	COPY(e->pairs[e->n_pairs].value, value);
	e->n_pairs++;
}

/*
 * Only one kubelet-ensure edits at a time; another one waits a few milliseconds. The lock is a file
 * that only root can open: a lock on the temporary file, which gets the mode of the real one, could
 * be held by any user who can read it.
 */
int kubelet_lock(const struct fs *fs)
{
	int fd = fs_lock(fs, KUBELET_LOCK_PATH, LOCK_USEC);

	return fd < 0 ? log_error_errno(fd, "/" KUBELET_LOCK_PATH) : fd;
}

/* Texts */

static int set_values(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		      size_t *ret_size)
{
	_cleanup_(freep) char *now = NULL;
	int is_changed = 0, r = 0;

	for (size_t i = 0; i < e->n_pairs && r >= 0; i++) {
		char *next;

		r = edit_set(now ?: text, size, kubelet_key(e->pairs[i].setting), e->pairs[i].value,
			     &next, &size);
		if (r < 0)
			return r;
		free(now);
		now = next;
		is_changed |= r;
	}
	*ret = TAKE(now);
	*ret_size = size;
	return is_changed;
}

/* The old value must still stand where it was seen. */
static int set_token(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		     size_t *ret_size)
{
	if (e->from > e->to || e->to > size || e->to - e->from != strlen(e->old) ||
	    memcmp(text + e->from, e->old, e->to - e->from) != 0)
		return -EAGAIN;
	return edit_replace(text, size, e->from, e->to, e->pairs[0].value, ret, ret_size);
}

static int print_flags(const struct kubelet_edit *e, const char *end, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_pairs && n < size; i++)
		n += (size_t)snprintf(ret + n, size - n, "%s--%s=%s", i > 0 ? end : "",
				      kubelet_flag(e->pairs[i].setting), e->pairs[i].value);
	return n < size ? 0 : -EOPNOTSUPP;
}

/* Into the variable, or as a line of its own at the end, which ends as the line before it did. */
static int add_flags(const char *text, size_t size, const struct kubelet_edit *e, char **ret,
		     size_t *ret_size)
{
	char flags[512], put[700];
	bool is_open;
	int r;

	if (e->bytes != size)
		return -EAGAIN;
	r = print_flags(e, *e->variable ? " " : "\n", flags, sizeof(flags));
	if (r < 0)
		return r;
	if (e->at != UINT32_MAX) {
		if (e->at > size)
			return -EAGAIN;
		snprintf(put, sizeof(put), "%s%s", e->is_empty ? "" : " ", flags);
		return edit_replace(text, size, e->at, e->at, put, ret, ret_size);
	}
	is_open = size > 0 && text[size - 1] != '\n';
	snprintf(put, sizeof(put), *e->variable ? "%s%s=\"%s\"%s" : "%s%s%s%s", is_open ? "\n" : "",
		 e->variable, flags, is_open ? "" : "\n");
	return edit_replace(text, size, size, size, put, ret, ret_size);
}

int kubelet_own_text(const struct kubelet_edit *e, char **ret)
{
	const bool is_drop_in = e->way == KUBELET_WAY_DROP_IN;
	_cleanup_(stream_done) struct stream out = {};

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs(OWN_LINE, out.f);
	fputs(is_drop_in ? "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
			 : "kubelet-arg+:\n",
	      out.f);
	for (size_t i = 0; i < e->n_pairs; i++)
		if (is_drop_in)
			fprintf(out.f, "%s: \"%s\"\n", kubelet_key(e->pairs[i].setting),
				e->pairs[i].value);
		else
			fprintf(out.f, "- \"%s=%s\"\n", kubelet_flag(e->pairs[i].setting),
				e->pairs[i].value);
	return stream_take(&out, ret);
}

/* Files */

static int edit_target(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *u)
{
	const bool is_file = e->way == KUBELET_WAY_FILE;
	_cleanup_(target_done) struct target t = TARGET_NONE;
	int r, is_changed;

	r = target_open(fs, e->path, is_file ? YAML_MAX_BYTES : MAX_FLAGS_BYTES, &t);
	if (r < 0)
		return r;
	if (is_file)
		r = set_values(t.text, t.size, e, &u->after, &u->after_size);
	else if (e->way == KUBELET_WAY_TOKEN)
		r = set_token(t.text, t.size, e, &u->after, &u->after_size);
	else
		r = add_flags(t.text, t.size, e, &u->after, &u->after_size);
	if (r < 0)
		return r;

	is_changed = r;
	r = edit_replace(t.text, t.size, 0, 0, "", &u->before, &u->before_size);
	if (r < 0)
		return r;
	t.on_written = e->on_written;
	r = is_changed ? target_replace(&t, u->after, u->after_size) : 0;
	return r < 0 ? r : is_changed;
}

/* The name of the temporary file of @path, as fs_remove() knows it. */
static const char *name_temporary(const char *path, char ret[static FS_PATH_LEN])
{
	const char *slash = strrchr(path, '/');
	const int n = slash ? (int)(slash + 1 - path) : 0;

	snprintf(ret, FS_PATH_LEN, "%.*s.%s.tmp", n, path, path + n);
	return ret;
}

int kubelet_remove_temporary(const struct fs *fs, const char *path)
{
	return fs_remove(fs, name_temporary(fs_bare(path), (char[FS_PATH_LEN]){}));
}

/* A file of ours, or one of variables that was not there. */
static int make_file(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *u)
{
	const char *path = fs_bare(e->path);
	char temporary[FS_PATH_LEN];
	struct stat written;
	int r;

	r = fs_read_all(fs, path, MAX_FLAGS_BYTES, true, &u->before, &u->before_size);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r >= 0 && !is_prefix(u->before, OWN_LINE))
		return -EEXIST;
	r = e->way == KUBELET_WAY_EXTRA ? add_flags("", 0, e, &u->after, &u->after_size)
					: kubelet_own_text(e, &u->after);
	if (r < 0)
		return r;
	u->after_size = strlen(u->after);
	if (u->before && streq(u->before, u->after))
		return 0;
	name_temporary(path, temporary);
	r = fs_replace(fs, temporary, u->after, u->after_size, 0644);
	if (r >= 0)
		r = fs_stat(fs, temporary, &written);
	if (r >= 0 && e->on_written)
		r = e->on_written(fs, e->path, &written);
	if (r >= 0)
		r = fs_rename(fs, temporary, path, e->way == KUBELET_WAY_EXTRA);
	if (r < 0)
		fs_remove(fs, temporary);
	return r < 0 ? r : 1;
}

int kubelet_edit(const struct fs *fs, const struct kubelet_edit *e, struct kubelet_undo *ret)
{
	_cleanup_(kubelet_undo_done) struct kubelet_undo u = {};
	int r;

	COPY(u.path, e->path);
	if (e->way == KUBELET_WAY_DROP_IN || e->way == KUBELET_WAY_RANCHER) {
		r = make_file(fs, e, &u);
	} else {
		r = edit_target(fs, e, &u);
		if (r == -ENOENT && e->way == KUBELET_WAY_EXTRA && e->bytes == 0)
			r = make_file(fs, e, &u);
	}
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(u);
	return r;
}

int kubelet_undo(const struct fs *fs, const struct kubelet_undo *u)
{
	return target_change(fs, u->path, u->after, u->after_size, u->before, u->before_size);
}

/* Takes our value back only where it still is the one that counts in the file. */
static int unset_value(const struct target *t, const struct kubelet_edit *e, bool was_there,
		       char **ret, size_t *ret_size)
{
	const char *key = kubelet_key(e->pairs[0].setting);
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	const struct yaml_item *item;
	struct yaml_fault fault;
	int r;

	r = yaml_read(t->text, t->size, YAML_KUBELET, &items, &fault);
	if (r < 0)
		return r;
	item = yaml_find(&items, key, "");
	if (!item || !streq(item->text, e->old))
		return 0;
	return was_there ? edit_set(t->text, t->size, key, e->pairs[0].value, ret, ret_size)
			 : edit_unset(t->text, t->size, key, ret, ret_size);
}

/* Widens to whole lines where only @rest is left; an open last line goes with the end before it. */
static void widen(const struct target *t, const char *rest, size_t *from, size_t *to)
{
	const size_t n = strlen(rest);
	size_t line = *from, end = *to;

	while (line > 0 && t->text[line - 1] != '\n')
		line--;
	while (end < t->size && t->text[end] != '\n')
		end++;
	if (*from - line + end - *to != n || memcmp(t->text + line, rest, *from - line) != 0 ||
	    memcmp(t->text + *to, rest + (*from - line), end - *to) != 0)
		return;
	*from = line > 0 && end == t->size ? line - 1 : line;
	*to = MIN(end + 1, t->size);
}

/*
 * The flag as it was added, with the blank before it, and with a variable that was added for it; a
 * second one like it is not ours.
 */
static int remove_flag(const struct target *t, const struct kubelet_edit *e, char **ret,
		       size_t *ret_size)
{
	char flag[160], rest[80];
	const char *at, *end;
	size_t from, to;
	int n = snprintf(flag, sizeof(flag), "--%s=%s", kubelet_flag(e->pairs[0].setting), e->old);

	at = memmem(t->text, t->size, flag, (size_t)n);
	if (!at || memmem(at + n, t->size - (size_t)(at + n - t->text), flag, (size_t)n))
		return 0;
	end = at + n;
	if (end < t->text + t->size && !strchr(" \t\r\n\"'", *end))
		return 0; /* it is longer now */
	from = (size_t)(at - t->text);
	to = (size_t)(end - t->text);
	if (from > 0 && t->text[from - 1] == ' ')
		from--;
	else if (*end == ' ')
		to++;
	snprintf(rest, sizeof(rest), "%s%s", e->variable, *e->variable ? "=\"\"" : "");
	widen(t, rest, &from, &to);
	return edit_replace(t->text, t->size, from, to, "", ret, ret_size);
}

/* Is nothing in it but a variable without a value? */
static bool is_hollow(const char *text, size_t size)
{
	const char *quote = memmem(text, size, "=\"\"\n", 4);

	return size == 0 || (quote && quote + 4 == text + size && !memchr(text, '\n', size - 1));
}

int kubelet_take_back(const struct fs *fs, const struct kubelet_edit *e, bool was_there,
		      bool is_created)
{
	_cleanup_(target_done) struct target t = TARGET_NONE;
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	int r;

	r = target_open(fs, e->path, YAML_MAX_BYTES, &t);
	if (r == -ENOENT) /* with what a crash left of making it */
		return is_created ? fs_remove(fs, fs_bare(e->path)) : 0;
	if (r < 0)
		return r;
	if (e->way == KUBELET_WAY_FILE)
		r = unset_value(&t, e, was_there, &text, &size);
	else if (e->way == KUBELET_WAY_TOKEN)
		r = e->from < e->to ? set_token(t.text, t.size, e, &text, &size) : 0;
	else
		r = remove_flag(&t, e, &text, &size);
	if (r <= 0)
		return r;

	r = target_replace(&t, is_created && is_hollow(text, size) ? NULL : text, size);
	return r < 0 ? r : 1;
}

bool kubelet_is_refusal(int r)
{
	return r < 0 && r != -ENOMEM && r != -ENOSPC && r != -EDQUOT && r != -EIO;
}
