/* SPDX-License-Identifier: Apache-2.0 */
#include "sources.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>

#include "../model/kubelet.h"
#include "words.h"

#define MAX_DEPTH 8   /* of folders in the folder of drop-ins */
#define MAX_FILES 256 /* in it */

void sources_done(struct sources *l)
{
	for (size_t i = 0; i < l->n_sources; i++)
		yaml_items_done(&l->sources[i].items);
	free(l->sources);
	*l = (struct sources){};
}

/* Copies of the keys that are read */

#define CUT_BYTES (sizeof(((struct yaml_item *)0)->text) + 1)

/* Besides the settings of model/kubelet.h. NULL: all of a map. */
static const struct {
	const char *key, *sub;
} keys[] = {
	{ "apiVersion", "" },
	{ "kind", "" },
	{ "kubeReserved", "cpu" },
	{ "kubeReserved", "memory" },
	{ "kubeReserved", "ephemeral-storage" },
	{ "kubeReserved", "pid" },
	{ "kubeReservedCgroup", "" },
	{ "systemReserved", "cpu" },
	{ "systemReserved", "memory" },
	{ "systemReserved", "ephemeral-storage" },
	{ "systemReserved", "pid" },
	{ "systemReservedCgroup", "" },
	{ "topologyManagerPolicyOptions", NULL },
	{ "cpuManagerPolicyOptions", NULL },
	{ "featureGates", NULL },
	{ "memoryManagerPolicy", "" },
	{ "reservedMemory", "" },
	{ "evictionHard", "" },
	{ "evictionHard", "memory.available" },
	{ "evictionHard", "nodefs.available" },
	{ "evictionHard", "nodefs.inodesFree" },
	{ "evictionHard", "imagefs.available" },
	{ "evictionHard", "imagefs.inodesFree" },
	{ "evictionHard", "containerfs.available" },
	{ "evictionHard", "containerfs.inodesFree" },
	{ "evictionHard", "pid.available" },
	{ "mergeDefaultEvictionSettings", "" },
	{ "kubeletCgroups", "" },
	{ "staticPodPath", "" },
	/* of MicroShift's own file */
	{ "node", "nodeIP" },
	{ "node", "hostnameOverride" },
};

bool sources_are_read(const char *key, const char *sub)
{
	for (enum kubelet_setting s = 0; s < _KUBELET_SETTING_N; s++)
		if (streq(key, kubelet_key(s)))
			return !sub || !*sub;
	return ANY(k, keys, ELEMENTSOF(keys),
		   streq(key, k->key) && (!sub || !k->sub || streq(sub, k->sub)));
}

struct writer {
	FILE *f;
	bool is_json, has_any;
	uint32_t line;
};

/* Bytes that no value of a kubelet has are shown as "?", here as anywhere. */
static void put_quoted(const struct writer *w, const char *text, size_t pad_to)
{
	size_t n = 0;

	fputc('"', w->f);
	for (; *text; text++, n++)
		if (*text == '\n' || *text == '\t' || *text == '\r')
			fputs(*text == '\n' ? "\\n" : *text == '\t' ? "\\t" : "\\r", w->f);
		else if (*text == '"' || *text == '\\')
			fprintf(w->f, "\\%c", *text);
		else
			fputc(*text < ' ' || *text > '~' ? '?' : *text, w->f);
	for (; n > 0 && n < pad_to; n++)
		fputc('x', w->f);
	fputc('"', w->f);
}

/* Is it a number or a boolean? Any other plain word may as well be quoted. */
static bool is_bare(const struct yaml_item *item)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+";
	const char first = item->text[0];

	return item->is_plain && item->text[first == '-'] &&
	       !item->text[(first == '-') + strspn(item->text + (first == '-'), letters)];
}

/* An odd value stays odd in the copy: by a tag; in JSON, which has no tags, by its length. */
static void put_word(const struct writer *w, const struct yaml_item *item)
{
	if (item->is_null)
		fputs("null", w->f);
	else if (item->is_odd && !*item->text)
		fputs("{}", w->f);
	else if (is_bare(item) && !item->is_odd)
		fputs(item->text, w->f);
	else {
		fputs(item->is_odd && !w->is_json ? "!!str " : "", w->f);
		put_quoted(w, item->text, item->is_odd && w->is_json ? CUT_BYTES : 0);
	}
}

/* The words of each element are all that is read of it. */
static void put_list(const struct writer *w, const struct yaml_items *l,
		     const struct yaml_item *top)
{
	const struct yaml_item *item = top + 1, *end = l->items + l->n_items;

	for (fputc('[', w->f); item < end && item->is_listed; item++)
		fprintf(w->f, "%s[%s]", item > top + 1 ? ", " : "", item->is_odd ? item->text : "");
	fputc(']', w->f);
}

/* A map with the keys that are read; other collections are empty ones. */
static void put_value(const struct writer *w, const struct yaml_items *l,
		      const struct yaml_item *top)
{
	const char *mark = "{";

	FOREACH_WHILE(item, l->items, l->n_items, !*top->text && top->is_odd) {
		if (!streq(item->key, top->key) || !*item->sub ||
		    !sources_are_read(item->key, item->sub) ||
		    yaml_find(l, item->key, item->sub) != item)
			continue;
		fputs(mark, w->f);
		put_quoted(w, item->sub, 0);
		fputs(": ", w->f);
		put_word(w, item);
		mark = ", ";
	}
	if (streq(top->key, YAML_WITH_WORDS) && top->is_odd && !*top->text)
		put_list(w, l, top);
	else if (*mark == '{')
		put_word(w, top);
	else
		fputc('}', w->f);
}

static void begin(struct writer *w, uint32_t line)
{
	if (w->has_any)
		fputs(w->is_json ? "," : "\n", w->f);
	w->line += w->has_any && !w->is_json;
	w->has_any = true;
	for (; w->line < line; w->line++)
		fputc('\n', w->f);
}

static void put_key(struct writer *w, const char *key)
{
	fprintf(w->f, w->is_json ? "\"%s\": " : "%s: ", key);
}

/* A key that is there twice is fatal in a drop-in, whichever it is. */
static void put_duplicates(struct writer *w)
{
	for (int i = 0; i < 2; i++) {
		begin(w, w->line);
		put_key(w, "leftOut");
		fputs("null", w->f);
	}
}

int sources_write_kept(const struct yaml_items *l, struct stream *ret)
{
	struct writer w = { .is_json = l->is_json, .line = 1 };

	if (stream_open(ret) < 0)
		return -ENOMEM;
	w.f = ret->f;
	if (w.is_json)
		fputc('{', w.f);
	FOREACH(item, l->items, l->n_items) {
		/* Only the last of equal keys counts. */
		if (!sources_are_read(item->key, NULL) || yaml_find(l, item->key, "") != item)
			continue;
		begin(&w, item->line);
		put_key(&w, item->key);
		put_value(&w, l, item);
	}
	if (yaml_has_duplicates(l))
		put_duplicates(&w);
	if (l->is_fixed) { /* an alias makes the copy fixed, too */
		begin(&w, w.line);
		fputs("leftOut: [&leftOut ~, *leftOut]", w.f);
	}
	fputs(w.is_json ? "}\n" : "\n", w.f);
	return 0;
}

/* Reading */

#define BROKEN "] left out" /* of -EBADMSG; behind it stands where it was refused and why */

/*
 * Texts that are recorded in place of a refused file: each is refused for the same reason and tells
 * nothing else, but for where and why in that of -EBADMSG. That of -EFBIG stands behind as many
 * lines as make it too large.
 */
static const struct stand_in {
	int r;
	const char *format; /* of the tail */
} stand_ins[] = {
	{ -ENODATA, "# left out\n" },     { -EFBIG, "# left out\n" },
	{ -EILSEQ, "\x7F left out" },     { -EBADMSG, BROKEN "%s\n" },
	{ -EMEDIUMTYPE, "- left out\n" }, { -EOPNOTSUPP, "!leftOut kind: x\n" },
};

/* @line: where the file is refused, or 0. @tail: that and why, as people read it. */
static int record_refused(const struct fs *fs, const char *path, uint32_t line, const char *tail,
			  int why)
{
	const struct stand_in *row = FIND(it, stand_ins, ELEMENTSOF(stand_ins), it->r == why);
	_cleanup_(stream_done) struct stream out = {};

	if (fs->on_read && why == -EISDIR)
		fs_record(fs, RECORD_FOLDER, path, NULL, 0);
	if (!fs->on_read || !row)
		return 0;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	line = why == -EFBIG ? YAML_MAX_BYTES : why == -EBADMSG ? 0 : line;
	for (; line > 1; line--)
		if (fputc('\n', out.f) == EOF)
			return -ENOMEM;
	if (fprintf(out.f, row->format, tail) < 0)
		return -ENOMEM;
	return fs_record_stream(fs, path, &out);
}

static int record_understood(const struct fs *fs, const char *path, const struct yaml_items *items)
{
	_cleanup_(stream_done) struct stream kept = {};

	if (!fs->on_read)
		return 0;
	return sources_write_kept(items, &kept) < 0 ? -ENOMEM : fs_record_stream(fs, path, &kept);
}

int source_read(const struct fs *fs, const char *path, enum yaml_kind kind,
		char problem[static 256], struct yaml_items *ret)
{
	_cleanup_(freep) char *text = NULL;
	struct yaml_fault fault = {};
	char at[32] = "", tail[160];
	size_t size;
	int r = fs_read_all(fs, fs_bare(path), YAML_MAX_BYTES, true, &text, &size);

	if (r == -ENOTDIR)
		r = -ENOENT;
	if (r >= 0)
		r = yaml_read(text, size, kind, ret, &fault);
	if (fault.line > 0)
		PRINT(at, fault.column > 0 ? ":%" PRIu32 ":%" PRIu32 : ":%" PRIu32, fault.line,
		      fault.column);
	if (r >= 0 || r == -ENOENT || r == -ENOMEM)
		return r;
	PRINT(tail, "%s: %.110s", at, *fault.why ? fault.why : yaml_problem(r));
	if (r == -EBADMSG && is_prefix(text, BROKEN))
		PRINT(tail, "%.*s", (int)strcspn(after(text, BROKEN), "\n"), after(text, BROKEN));
	problem_note(problem, "%.90s%s", path, tail);
	if (record_refused(fs, fs_bare(path), fault.line, tail, r) < 0)
		return -ENOMEM;
	return r;
}

int sources_add_file(struct sources *l, const struct fs *fs, const char *path, const char *name,
		     enum yaml_kind kind)
{
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	struct source *s;
	int r = source_read(fs, path, kind, l->problem, &items);

	if (r >= 0)
		r = record_understood(fs, fs_bare(path), &items);
	if (r < 0)
		return r;

	s = APPEND(l->sources, l->n_sources);
	if (!s)
		return -ENOMEM;
	COPY(s->path, path);
	COPY(s->name, name);
	s->items = TAKE_STRUCT(items);
	return 0;
}

static int add_drop_in(struct sources *l, const struct fs *fs, const char *path, const char *name)
{
	const size_t n = l->n_sources;
	int r;

	if (n == MAX_FILES) {
		problem_note(l->problem, "%s: too many drop-ins", path);
		return 0;
	}
	r = sources_add_file(l, fs, path, name, YAML_KUBELET);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT)
		problem_note(l->problem, "%s: leads nowhere", path);
	else if (r >= 0 && yaml_has_duplicates(&l->sources[n].items))
		problem_note(l->problem, "%s: a key is there twice", path);
	return 0;
}

/* filepath.WalkDir(): what is a folder by itself is gone into, links are not. */
static int walk(struct sources *l, const struct fs *fs, const char *folder, const char *below,
		int depth)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, fs_bare(folder), &names);

	if (r < 0)
		return r == -ENOMEM ? r : 0;

	for (size_t i = 0; i < names.n_names; i++) {
		const char *dot = strrchr(names.names[i], '.');
		char path[PATH_MAX], name[PATH_MAX], link[PATH_MAX];
		_cleanup_(closep) int fd = -EBADF;

		PRINT(path, "%s/%s", folder, names.names[i]);
		PRINT(name, "%s%s", below, names.names[i]);
		if (strlen(path) >= sizeof(l->sources->path)) {
			problem_note(l->problem, "%.200s: too long a path", path);
			continue;
		}
		if (fs_read_link(fs, fs_bare(path), link, sizeof(link)) < 0)
			fd = fs_open(fs, fs_bare(path), O_PATH | O_DIRECTORY);
		r = 0;
		if (fd >= 0 && depth == MAX_DEPTH) {
			problem_note(l->problem, "%s: too many folders in each other", path);
		} else if (fd >= 0) {
			strcat(name, "/");
			r = walk(l, fs, path, name, depth + 1);
		} else if (dot && streq(dot, ".conf")) {
			r = add_drop_in(l, fs, path, name);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int sources_add_folder(struct sources *l, const struct fs *fs, const char *folder)
{
	return walk(l, fs, folder, "", 0);
}

const struct yaml_item *sources_find(const struct sources *l, const char *key, const char *sub,
				     const struct source **ret)
{
	assert(sources_are_read(key, sub)); /* else a capture would tell something else */
	for (size_t i = l->n_sources; i-- > 0;) {
		const struct source *s = &l->sources[i];
		const struct yaml_item *top = yaml_find(&s->items, key, ""), *item = top;

		if (*sub && top && !top->is_null)
			item = yaml_find(&s->items, key, sub);
		if (!item)
			continue;
		/* In the file null is as good as nothing; in a drop-in it takes back. */
		if (item->is_null && *sub && item == top)
			return NULL;
		if (ret)
			*ret = s;
		return item;
	}
	return NULL;
}
