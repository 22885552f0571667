/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz: --root trees. The first line names a node of tests/nodes; the files of the input (fuzz.h)
 * are laid over its tree, "=== PATH -> TARGET" a link; then it is looked at, planned for, and all
 * is said of it that can be said. It is put back afterwards.
 *
 * A look does not fail whatever is in the files. Documents are JSON, state.json is read back, what
 * people read has no control characters, and a second look says the same.
 */
#include <jansson.h>

#include "../../src/base/log.h"
#include "../../src/config/load.h"
#include "../../src/nccl/nccl-output.h"
#include "../../src/outputs/documents-output.h"
#include "../../src/pass/loop.h"
#include "../../src/show/actions.h"
#include "../../src/show/explain.h"
#include "../../src/show/state.h"
#include "../../src/show/tree.h"
#include "../memory.h"
#include "place.h"

#define MAX_LAID 32

static const char *const bases[] = {
	"made-ecs-erdma",  "made-mlx5-crashed", "captured-igb-2numa",
	"kubelet-kubeadm", "kubelet-rke2",
};
static bool is_made[ELEMENTSOF(bases)];

/* --- the tree --- */

static const char *copy_from, *copy_to;

static int copy_entry(const char *path, const struct stat *st, _unused_ int type,
		      _unused_ struct FTW *ftw)
{
	_cleanup_(closep) int in = -EBADF, out = -EBADF;
	_cleanup_(freep) char *to = NULL, *data = NULL;
	char target[4096];
	ssize_t n;

	require(asprintf(&to, "%s%s", copy_to, path + strlen(copy_from)) > 0);
	if (S_ISDIR(st->st_mode))
		return mkdir(to, 0755);
	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		require(n > 0);
		target[n] = '\0';
		return symlink(target, to);
	}

	in = open(path, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	data = malloc((size_t)st->st_size + 1);
	require(in >= 0 && out >= 0 && data && read(in, data, (size_t)st->st_size) == st->st_size);
	return write(out, data, (size_t)st->st_size) == st->st_size ? 0 : -1;
}

/* The root of a node's copy, made at its first use. */
static char *root_of(size_t base)
{
	_cleanup_(freep) char *from = NULL;
	char *root = NULL;

	require(asprintf(&from, "%s/%s/root", NODES, bases[base]) > 0);
	require(asprintf(&root, "%s/%s", place(), bases[base]) > 0);
	if (!is_made[base]) {
		copy_from = from;
		copy_to = root;
		require(nftw(from, copy_entry, 16, FTW_PHYS) == 0);
		is_made[base] = true;
	}
	return root;
}

static int attic; /* where what was there before waits */

/* What was laid, to be taken away in the other order. */
struct laid {
	int folder; /* owned */
	char name[256], saved[32];
};

struct layer {
	const char *root;
	struct laid laid[MAX_LAID];
	size_t n;
};

static void lay_away(struct layer *layer, int folder, const char *name)
{
	struct laid *l = &layer->laid[layer->n++];

	l->folder = dup(folder);
	COPY(l->name, name);
	snprintf(l->saved, sizeof(l->saved), "saved-%zu", layer->n);
	if (renameat(folder, name, attic, l->saved) < 0)
		l->saved[0] = '\0';
}

static void take_up(struct layer *layer)
{
	while (layer->n > 0) {
		struct laid *l = &layer->laid[--layer->n];

		/* Folders that were made are taken up after what is in them. */
		if (unlinkat(l->folder, l->name, 0) < 0)
			unlinkat(l->folder, l->name, AT_REMOVEDIR);
		if (l->saved[0])
			require(renameat(attic, l->saved, l->folder, l->name) == 0);
		close(l->folder);
	}
}

static bool is_name(const char *name)
{
	return *name && strlen(name) < 256 && !streq(name, ".") && !streq(name, "..");
}

/* The folder of @path, one part after the other: a link that was laid leads nowhere from here. */
static int open_folder(struct layer *layer, char *path, const char **ret_name)
{
	int folder = open(layer->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;
	char *slash;

	require(folder >= 0);
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

		*slash = '\0';
		next = is_name(path) ? openat(folder, path, flags) : -1;
		if (next < 0 && is_name(path) && errno == ENOENT && layer->n < MAX_LAID) {
			lay_away(layer, folder, path);
			require(mkdirat(folder, path, 0755) == 0);
			next = openat(folder, path, flags);
		}
		close(folder);
		if (next < 0)
			return -1;
		folder = next;
	}
	*ret_name = path;
	return folder;
}

static void lay(struct layer *layer, const struct part *r)
{
	_cleanup_(closep) int folder = -EBADF, fd = -EBADF;
	char *arrow = strstr(r->name, " -> ");
	const char *name;

	if (arrow)
		*arrow = '\0';
	folder = open_folder(layer, r->name, &name);
	if (folder < 0 || !is_name(name) || layer->n == MAX_LAID)
		return;

	lay_away(layer, folder, name);
	if (arrow) {
		/* No target, or too long a one: nothing is there then. */
		if (symlinkat(arrow + strlen(" -> "), folder, name) < 0)
			return;
	} else {
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		require(fd >= 0 && write(fd, r->data, r->size) == (ssize_t)r->size);
	}
}

/* --- what is said of it --- */

static void require_json(char *json)
{
	json_auto_t *document = json_loads(json, 0, NULL);

	require(document != NULL);
	free(json);
}

static void explain_all(const struct config *c, const struct node *n, const struct memory *memory,
			const struct plan *p)
{
	char *text = NULL;

	for (size_t i = 0; i < n->n_pcis && i < 4; i++) {
		require(output_explain(c, n, memory, p, &n->pcis[i], true, &text) == 0);
		require_json(text);
		require(output_explain(c, n, memory, p, &n->pcis[i], false, &text) == 0);
		require_plain(text);
		free(text);
	}
	require(output_explain_plugin(c, n, memory, p, false, true, &text) == 0);
	require_json(text);
	require(output_explain_plugin(c, n, memory, p, false, false, &text) == 0);
	require_plain(text);
	free(text);
	require(output_explain_kubelet(c, n, true, &text) == 0);
	require_json(text);
	require(output_explain_kubelet(c, n, false, &text) == 0);
	require_plain(text);
	free(text);
}

static void list_all(const struct config *c, const struct node *n, struct plan *p)
{
	struct nccl nccl = {};
	char *text = NULL;

	require(output_actions_json(p, &text) == 0);
	require_json(text);
	require(output_actions_text(p, &text) == 0);
	require_plain(text);
	free(text);
	require(nfd_text(c, n, p, NULL, &text) == 0);
	require_plain(text);
	free(text);
	require(metrics_text(c, n, p, &text) == 0);
	require_plain(text);
	free(text);
	if (p->plugin)
		require_json(strdup(p->plugin));

	require(nccl_choose(c, n, p, &nccl) == 0);
	text = NULL;
	if (nccl_text(&nccl, true, false, &text) == 0)
		require_plain(text);
	free(text);
	nccl_done(&nccl);
}

static char *look(const char *root)
{
	_cleanup_(config_done) struct config c = {};
	_cleanup_(memory_done) struct memory again = {};
	_cleanup_(inspection_done) struct inspection in = {};
	struct os d = {};
	char *state = NULL, *tree = NULL;
	int r;

	require(os_open(root, &d) == 0);
	require(load_config(&d.fs, NULL, &c) == 0);
	r = loop_plan(&d, &c, &in);
	os_close(&d);
	require(r != -ENOMEM);
	if (r < 0)
		return NULL;

	require(output_state(&c, &in.node, &in.memory, &in.plan, &state) == 0);
	require(take_next(&c, &in.node, &in.memory, &in.plan, in.node.boot_id, &again) == 0);
	require(output_tree(state, TREE_ALL, &(struct screen){ .width = 100 }, &tree) == 0);
	require_plain(tree);
	free(tree);
	list_all(&c, &in.node, &in.plan);
	explain_all(&c, &in.node, &in.memory, &in.plan);
	return state;
}

static size_t base_of(const char *text)
{
	const size_t length = strcspn(text, "\n");

	for (size_t i = 0; i < ELEMENTSOF(bases); i++)
		if (strlen(bases[i]) == length && is_prefix(text, bases[i]))
			return i;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = text_of(data, size), *root = root_of(base_of(text));
	_cleanup_(freep) char *first = NULL, *second = NULL;
	struct layer layer = { .root = root };
	struct part r;

	log_set_level((enum log_level)0);
	if (attic <= 0)
		attic = open(place(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	require(attic > 0);
	for (size_t at = 0; next_part(text, size, &at, &r);) {
		lay(&layer, &r);
		free(r.name);
	}

	first = look(root);
	if (first && size % 8 == 0) { /* it takes as long as everything else */
		second = look(root);
		require(second && streq(first, second));
	}
	take_up(&layer);
	return 0;
}

#ifdef HAVE_LIBFUZZER

/*
 * Most of what libFuzzer does to bytes would hit a path. So usually it is given the bytes of one
 * file, or that of the node itself, which becomes one of the input.
 */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static struct {
	char **paths;
	size_t n;
} files[ELEMENTSOF(bases)];
static size_t listed;

static int list_entry(const char *path, const struct stat *st, _unused_ int type,
		      _unused_ struct FTW *ftw)
{
	char **slot;

	if (!S_ISREG(st->st_mode))
		return 0;
	slot = APPEND(files[listed].paths, files[listed].n);
	require(slot && (*slot = strdup(path + strlen(copy_from) + 1)));
	return 0;
}

/* Appends a file of the node to the input, as it is. */
static size_t append_file(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	_cleanup_(freep) char *text = text_of(data, size), *path = NULL, *root = NULL;
	_cleanup_(closep) int fd = -EBADF;
	const size_t base = base_of(text);
	const char *name;
	ssize_t n;

	root = root_of(base);
	if (!files[base].n) {
		listed = base;
		copy_from = root;
		require(nftw(root, list_entry, 16, FTW_PHYS) == 0);
	}
	name = files[base].paths[seed % files[base].n];
	if (size + strlen(name) + 64 > max_size)
		return size;
	size += (size_t)sprintf((char *)data + size, "%s=== %s\n",
				size == 0 || data[size - 1] == '\n' ? "" : "\n", name);
	require(asprintf(&path, "%s/%s", root, name) > 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, data + size, max_size - size);
	return size + (size_t)MAX(n, 0);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = 0, at = 0, begin, length;
	struct part r;

	if (seed % 8 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 <= 2)
		size = append_file(data, size, max_size, seed / 8);

	text = text_of(data, size);
	while (next_part(text, size, &at, &r)) {
		free(r.name);
		n++;
	}
	if (n == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	/* A new one is the last. */
	n = seed % 8 <= 2 ? n - 1 : seed / 8 % n;
	for (at = 0; next_part(text, size, &at, &r); n--) {
		free(r.name);
		if (n == 0)
			break;
	}
	begin = (size_t)(r.data - text);
	length = LLVMFuzzerMutate(data + begin, r.size, max_size - (size - r.size) - 1);
	/* The newline before the next file stays. */
	if (begin + r.size < size && length > 0 && data[begin + length - 1] != '\n')
		data[begin + length++] = '\n';
	memcpy(data + begin + length, text + begin + r.size, size - begin - r.size);
	return begin + length + size - begin - r.size;
}

#endif
