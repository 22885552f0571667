/* SPDX-License-Identifier: Apache-2.0 */
#include "find-values.h"

#include <fcntl.h>
#include <limits.h>

#include "yaml.h"

#define MINOR_RESET     28 /* its drop-ins set what they do not say to the default */
#define K0S_DIR         "/var/lib/k0s"
#define MICROSHIFT_FILE "/var/lib/microshift/resources/kubelet/config/config.yaml"

/* Where configurations are when no unit says it, as distributions lay it out. Told by content, not
 * by name. */
static const char *const usual_files[] = {
	"/var/lib/kubelet/config.yaml",
	"/etc/kubernetes/kubelet-config.yaml",
	"/etc/kubernetes/kubelet/config.json",
	"/etc/kubernetes/kubelet/kubelet-config.json",
	"/etc/kubernetes/kubelet/config",
	"/home/kubernetes/kubelet-config.yaml",
	"/etc/default/kubeletconfig.json",
	"/opt/cloud/cce/kubernetes/kubelet/kubelet_config.yaml",
	"/etc/kubernetes/kubelet.conf",
};

/* In the order in which they are tried. */
static const char *const own_drop_ins[] = {
	"90-rdma-provision.conf",
	"99-rdma-provision.conf",
	"zz-rdma-provision.conf",
};

static const enum flag_kind setting_flags[] = {
	[KUBELET_TOPOLOGY_POLICY] = FLAG_POLICY,
	[KUBELET_TOPOLOGY_SCOPE] = FLAG_SCOPE,
	[KUBELET_CPU_POLICY] = FLAG_CPU_POLICY,
	[KUBELET_RESERVED_CPUS] = FLAG_RESERVED_CPUS,
};
_Static_assert(ELEMENTSOF(setting_flags) == _KUBELET_SETTING_N, "a flag for every setting");

void find_values_done(struct value_look *l)
{
	unit_done(&l->unit);
	unit_done(&l->process);
	flags_done(&l->flags);
	rancher_done(&l->rancher);
	sources_done(&l->sources);
}

/* Files and folders */

/* As they are written on command lines; what is more is not understood. */
static bool is_plain_path(const char *path)
{
	return *path == '/' && !path[strcspn(path, "$%\\*")] && !strstr(path, "/..");
}

static int read_file(struct value_look *l, struct kubelet_found *k, const char *path)
{
	int r;

	COPY(k->seen.file, path);
	l->sources.problem[0] = k->unknown[0] = '\0'; /* of another one of the usual files */
	r = sources_add_file(&l->sources, l->fs, path, "");
	if (r == -ENOMEM)
		return r;
	k->seen.has_file = r != -ENOENT;
	k->file_result = r;
	k->is_fixed = r >= 0 && l->sources.sources[0].items.is_fixed;
	r = k->is_fixed ? -EOPNOTSUPP : r;
	COPY(k->seen.file_problem, r < 0 ? yaml_problem(r) : "");
	COPY(k->unknown, l->sources.problem);
	return 0;
}

static int read_usual_file(struct value_look *l, struct kubelet_found *k)
{
	const char *refused = NULL;
	int r;

	for (size_t i = 0; i < ELEMENTSOF(usual_files); i++) {
		r = read_file(l, k, usual_files[i]);
		if (r < 0)
			return r;
		if (k->file_result == 0) {
			k->seen.is_there = true;
			return 0;
		}
		if (k->seen.has_file && !refused)
			refused = usual_files[i];
	}
	/* There is something, but nothing of a kubelet's. */
	k->seen.is_there = refused != NULL;
	return read_file(l, k, refused ? refused : usual_files[0]);
}

/* The folder of k0s: that of the kubelet is in it, and a file that is written before each start.
 * NULL: it is not k0s. Source: pkg/component/worker/kubelet.go. */
static const char *k0s_dir(const struct value_look *l, const struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_DATA_DIR);

	if (!is_prefix(k->seen.unit, "k0s"))
		return NULL;
	return f && !f->is_cut && is_plain_path(f->value) ? f->value : K0S_DIR;
}

static int find_file(struct value_look *l, struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_CONFIG);
	const char *k0s = k0s_dir(l, k);

	if (!*k->seen.unit)
		return read_usual_file(l, k);
	if (!f && (k0s || streq(k->seen.manager, "microshift")))
		return read_file(
			l, k, k0s ? FS_PATH("%.230s/kubelet-config.yaml", k0s) : MICROSHIFT_FILE);
	if (!f)
		return 0;
	if (f->is_cut || !is_plain_path(f->value)) {
		problem_note(k->seen.problem,
			     "%.120s:%" PRIu32 ": --config=%.120s is not understood", f->path,
			     f->line, f->value);
		return 0;
	}
	return read_file(l, k, f->value);
}

/* A link that does not end in "/" is not followed by the kubelet's walk: nothing is read. */
static int find_folder(struct value_look *l, struct kubelet_found *k)
{
	const struct flag *f = flags_last(&l->flags, FLAG_CONFIG_DIR);
	_cleanup_(closep) int fd = -EBADF;
	char path[sizeof(k->seen.folder)], link[PATH_MAX];
	size_t n;

	if (f)
		COPY(k->seen.folder, f->value);
	if (!*k->seen.folder)
		return 0;
	if (!is_plain_path(k->seen.folder)) {
		problem_note(k->seen.problem, "--config-dir is not understood");
		return 0;
	}

	COPY(path, k->seen.folder + 1);
	n = strlen(path);
	if (n == 0 || path[n - 1] != '/') {
		if (fs_read_link(l->fs, path, link, sizeof(link)) >= 0)
			return 0;
	}
	while (n > 0 && path[n - 1] == '/')
		path[--n] = '\0';
	fd = fs_open(l->fs, n > 0 ? path : ".", O_PATH | O_DIRECTORY);
	k->seen.has_folder = fd >= 0;
	k->seen.lacks_folder = fd < 0 && fs_exists(l->fs, path) == 0;
	k->needs_dir = f; /* k3s and RKE2 make their own */
	k->seen.folder[n + 1] = '\0';
	return k->seen.has_folder ? sources_add_folder(&l->sources, l->fs, k->seen.folder) : 0;
}

/* In the order of the walk: a folder's content stands where its name does. */
static int compare_names(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

/* A name behind all that say something about our settings. */
static void find_drop_in(const struct value_look *l, struct kubelet_found *k)
{
	const char *last = "";

	for (size_t i = 0; i < l->sources.n_sources; i++)
		for (int s = 0; s < _KUBELET_SETTING_N; s++)
			if (!ANY(o, own_drop_ins, ELEMENTSOF(own_drop_ins),
				 streq(*o, l->sources.sources[i].name)) &&
			    yaml_find(&l->sources.sources[i].items,
				      kubelet_key((enum kubelet_setting)s), "") &&
			    *l->sources.sources[i].name)
				last = l->sources.sources[i].name;

	for (size_t i = 0; i < ELEMENTSOF(own_drop_ins) && !*k->drop_in; i++)
		if (compare_names(last, own_drop_ins[i]) < 0 &&
		    (size_t)snprintf(k->drop_in, sizeof(k->drop_in), "%s/%s", k->seen.folder,
				     own_drop_ins[i]) >= sizeof(k->drop_in))
			k->drop_in[0] = '\0';
}

/* 1.28 sets all that a drop-in does not say to its default: then only the last one counts. */
static void forget_reset(struct value_look *l, struct kubelet_found *k)
{
	struct sources *s = &l->sources;

	if (k->minor != MINOR_RESET || s->n_sources == 0 || !*s->sources[s->n_sources - 1].name)
		return;
	k->is_reset = true;
	for (size_t i = 0; i + 1 < s->n_sources; i++)
		yaml_items_done(&s->sources[i].items);
}

/* Values */

static bool is_blank(char c)
{
	return strchr(" \t\r\n", c) != NULL;
}

/* The rank of a misspelt value: "None", or "best-effort " in quotes, or nothing after "=". */
static uint32_t meant_rank(enum kubelet_setting s, const char *text)
{
	char word[64] = "";
	size_t n = 0;

	while (*text && is_blank(*text))
		text++;
	for (; *text && n < sizeof(word) - 1; text++)
		word[n++] = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
	while (n > 0 && is_blank(word[n - 1]))
		n--;
	word[n] = '\0';
	return n == 0 ? 1 : kubelet_rank(s, word);
}

static void set_text(struct kubelet_value *v, enum kubelet_setting s, const char *text,
		     bool may_be_empty)
{
	bool is_text;

	COPY(v->text, text);
	make_printable(v->text); /* values come from files, and are shown */
	is_text = streq(v->text, text);
	v->rank = is_text ? kubelet_rank(s, v->text) : 0;
	if (may_be_empty && !*v->text)
		v->rank = 1;
	if (v->rank == 0 && is_text && s != KUBELET_RESERVED_CPUS) {
		v->rank = meant_rank(s, v->text);
		v->is_misspelt = v->rank > 0;
	}
}

static void find_value(const struct value_look *l, struct kubelet_found *k, enum kubelet_setting s)
{
	const struct flag *f = flags_last(&l->flags, setting_flags[s]);
	struct kubelet_value *v = &k->seen.values[s];
	const struct yaml_item *item;
	const struct source *source;

	*v = (struct kubelet_value){ .rank = 1 };
	if (!f && *k->unknown) {
		*v = (struct kubelet_value){ .source = KUBELET_UNKNOWN };
		return;
	}
	if (f) {
		v->source = KUBELET_FLAG;
		set_text(v, s, f->is_cut ? "?" : f->value, false);
		COPY(v->path, f->path);
		v->line = f->line;
		if (f->is_editable && !f->is_cut) {
			k->words[s].from = f->from;
			k->words[s].to = f->to;
		}
		return;
	}

	item = sources_find(&l->sources, kubelet_key(s), "", &source);
	if (!item)
		return;
	v->source = *source->name ? KUBELET_DROP_IN : KUBELET_FILE;
	COPY(v->path, source->path);
	v->line = item->line;
	if (item->is_odd)
		set_text(v, s, *item->text ? item->text : "?", false);
	else
		set_text(v, s, item->is_null ? "" : item->text, true);
	if (item->is_odd)
		v->rank = 0;
}

static void find_settings(const struct value_look *l, struct kubelet_found *k)
{
	const struct flag *node_ip = flags_last(&l->flags, FLAG_NODE_IP);
	const struct flag *host_name = flags_last(&l->flags, FLAG_HOST_NAME);
	const struct flag *root_dir = flags_last(&l->flags, FLAG_ROOT_DIR);
	const char *k0s = k0s_dir(l, k);

	for (int s = 0; s < _KUBELET_SETTING_N; s++)
		find_value(l, k, (enum kubelet_setting)s);
	/* MicroK8s has variables of its wrapper in there. */
	k->seen.cpus.is_unclear = root_dir && (root_dir->is_cut || root_dir->value[0] != '/');
	COPY(k->seen.root_dir, root_dir && !k->seen.cpus.is_unclear ? root_dir->value
			       : k0s                                ? FS_PATH("%.180s/kubelet", k0s)
								    : KUBELET_ROOT_DIR);
	COPY(k->seen.node_ip, node_ip ? node_ip->value : "");
	COPY(k->seen.host_name, host_name ? host_name->value : "");
	COPY(k->seen.flannel_iface, l->rancher.flannel_iface);
	flags_map(&l->flags, FLAG_NODE_LABELS, VKE_RDMA_MODE, k->seen.vke_rdma_mode,
		  sizeof(k->seen.vke_rdma_mode));
	flags_map(&l->flags, FLAG_NODE_LABELS, VKE_GPU_SCHEDULE, k->seen.vke_gpu_schedule,
		  sizeof(k->seen.vke_gpu_schedule));
}

int find_values_files(struct value_look *l, struct kubelet_found *k)
{
	int r;

	r = find_file(l, k);
	return r < 0 ? r : find_folder(l, k);
}

void find_values(struct value_look *l, struct kubelet_found *k)
{
	if (!*k->unknown)
		problem_note(k->seen.problem, "%s", l->sources.problem);
	COPY(k->unknown, l->sources.problem);
	forget_reset(l, k);
	if (k->seen.has_folder || k->flavour == KUBELET_RANCHER)
		find_drop_in(l, k);
	find_settings(l, k);
}
