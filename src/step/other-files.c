/* SPDX-License-Identifier: Apache-2.0 */
#include "other-files.h"

#include "../model/config.h"
#include "../model/paths.h"
#include "../model/udev-rules.h"
#include "../os/helper.h"
#include "../os/rdma.h"

#define FILES_SOCKET "/run/rdma-provision-files.socket"
#define LETTERS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define ASK_USEC     (20 * USEC_PER_SEC) /* below the deadline of the verbs */

int other_files_look(const struct fs *fs, const char *path, const char *mark)
{
	_cleanup_(freep) char *text = NULL;
	char target[PATH_LEN];
	int r;

	if (fs_read_link(fs, path, target, sizeof(target)) != -ENOENT)
		return -EEXIST;
	r = fs_read_all(fs, path, MAX_OUTPUT_BYTES, true, &text, NULL);
	if (r == -ENOENT)
		return 0;
	return r >= 0 && is_prefix(text, mark) ? 1 : -EEXIST;
}

/* Writes a file that all may read, since its readers run as other users; or removes it. */
static int put(const struct fs *fs, const char *path, const char *text)
{
	const int r = text ? fs_output(fs, path + 1, text, strlen(text), 0644)
			   : fs_output_remove(fs, path + 1);

	return MIN(r, 0);
}

/* @r: what the kernel said; the helper is asked only where this process may not write. */
static int ask(const struct fs *fs, int r, const char *name, const char *path, const char *text)
{
	_cleanup_(freep) char *question = NULL;
	int helped;

	if (r != -EROFS || !fs->is_live)
		return r;
	if (asprintf(&question, "%s %s\n%s", name, path, text ? text : "") < 0) {
		question = NULL;
		return -ENOMEM;
	}
	/* No helper runs, or it may not write this file either: then the first error counts. */
	helped = helper_ask(FILES_SOCKET, question, ASK_USEC, NULL);
	return helped == -EHOSTDOWN || helped == -EPERM ? r : helped;
}

int other_files_put(const struct fs *fs, const char *name, const char *path, const char *text)
{
	return ask(fs, put(fs, path, text), name, path, text);
}

static int set_roce(const struct fs *fs, const char *ibdev, const char *attribute,
		    const char *value)
{
	int r;

	if (value)
		return *attribute ? rdma_cm_set(fs, ibdev, attribute, value)
				  : rdma_cm_open(fs, ibdev);
	r = rdma_cm_close(fs, ibdev);
	return r < 0 ? r : rdma_cm_close_left(fs);
}

int other_files_set_roce(const struct fs *fs, const char *ibdev, const char *attribute,
			 const char *value)
{
	return ask(fs, set_roce(fs, ibdev, attribute, value), ROCE_NAME,
		   FS_PATH("%s/%s", ibdev, attribute), value);
}

/* Skips an address and the length of its prefix, or a value that is no path. */
static const char *skip_value(const char *line, const char *prefix)
{
	const char *range = after(line, "NCCL_IB_ADDR_RANGE="), *rest = after(line, prefix);

	if (!range || !rest)
		return rest ? rest + strspn(rest, LETTERS "=:,^.-") : NULL;
	range += strspn(range, "0123456789abcdef.:");
	return range + (*range == '/' ? 1 + strspn(range + 1, "0123456789") : 0);
}

/* Does the text consist of comments, and lines of a key that begins with @prefix? */
static bool has_only(const char *text, const char *prefix)
{
	while (*text) {
		const size_t n = strcspn(text, "\n");

		if (*text != '#' && skip_value(text, prefix) != text + n)
			return false;
		text += n + (text[n] != '\0');
	}
	return true;
}

/* A file that the helper writes; without @prefix it may only have the text @text. */
struct file_kind {
	const char *path, *mark, *prefix, *text;
};

static int find_kind(const struct file_request *allowed, const char *name, struct file_kind *ret)
{
	static const struct {
		enum output output;
		const char *prefix;
	} outputs[] = { { OUTPUT_NCCL, "NCCL_" }, { OUTPUT_NFD, NFD_PREFIX } };

	FOREACH(o, outputs, ELEMENTSOF(outputs))
		if (streq(name, output_name(o->output))) {
			*ret = (struct file_kind){ allowed->paths[o->output],
						   output_mark(o->output), o->prefix, NULL };
			return 0;
		}
	if (!streq(name, MANIFEST_NAME))
		return -EPERM;
	*ret = (struct file_kind){ allowed->manifest, MANIFEST_MARK "\n", NULL,
				   allowed->manifest_text };
	return 0;
}

static int may_write(const struct file_kind *kind, const char *path, const char *text)
{
	if (!kind->prefix && !kind->text)
		return -EPERM;
	if (!kind->path || !streq(path, kind->path))
		return -ESTALE;
	if (!kind->prefix)
		return streq(text, kind->text) ? 0 : -ESTALE;
	return is_prefix(text, kind->mark) && has_only(text, kind->prefix) ? 0 : -EPERM;
}

static int may_remove(const char *path)
{
	return (is_prefix(path, "/etc/") || is_prefix(path, "/var/lib/rancher/")) &&
			       !strstr(path, "/..")
		       ? 0
		       : -EPERM;
}

/* Udev rules are made here, from the addresses of PFs, whatever the configuration says. */
static int put_rules(const struct fs *fs, const char *path, const char *addresses)
{
	_cleanup_(freep) char *rules = NULL;
	int r = udev_rules_make(addresses, &rules);

	if (r < 0)
		return r;
	return streq(path, "/" RULES_PATH) && !rules == !*addresses ? put(fs, path, rules) : -EPERM;
}

static int put_roce(const struct fs *fs, char *path, const char *value)
{
	const char *ibdev = strsep(&path, "/");

	if (!path || !*ibdev || *ibdev == '.')
		return -EPERM;
	return set_roce(fs, ibdev, path, *value ? value : NULL);
}

int other_files_serve(const struct fs *fs, const struct file_request *allowed, const char *question)
{
	const char *blank = strchr(question, ' '), *text = strchr(question, '\n');
	char name[32], path[PATH_LEN];
	struct file_kind kind;
	int r;

	if (!blank || !text || blank > text || (size_t)(blank - question) >= sizeof(name) ||
	    (size_t)(text - blank) > sizeof(path))
		return -EBADMSG;
	PRINT(name, "%.*s", (int)(blank - question), question);
	PRINT(path, "%.*s", (int)(text - blank - 1), blank + 1);
	text++;

	if (streq(name, RULES_NAME))
		return put_rules(fs, path, text);
	if (streq(name, ROCE_NAME))
		return put_roce(fs, path, text);
	r = find_kind(allowed, name, &kind);
	if (r >= 0)
		r = allowed->unread;
	if (r >= 0)
		r = *text ? may_write(&kind, path, text) : may_remove(path);
	if (r < 0)
		return r;
	r = other_files_look(fs, path + 1, kind.mark);
	return r < 0 ? r : put(fs, path, *text ? text : NULL);
}
