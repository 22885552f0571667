/* SPDX-License-Identifier: Apache-2.0 */
#include "rancher.h"

#include "../model/ip.h"
#include "sources.h"

#define MAX_PATH 256

/* The first that nobody's file comes behind. */
static const char *const own_names[] = { "99-rdma-provision.yaml", "zz-rdma-provision.yaml" };

#define OWN(name, kind, variable, member)                                                          \
	{ name, kind, variable, offsetof(struct rancher, member),                                  \
	  sizeof(((struct rancher *)0)->member) }

/* Settings that are no kubelet-arg; behind "K3S_" or "RKE2_" the variable that gives it, or "". */
static const struct own {
	const char *key;
	enum flag_kind flag;
	const char *variable;
	size_t offset, size;
} owns[] = {
	OWN("node-ip", FLAG_NODE_IP, "", node_ip),
	OWN("node-name", FLAG_NODE_NAME, "NODE_NAME", node_name),
	OWN("flannel-iface", FLAG_FLANNEL_IFACE, "", flannel_iface),
	OWN("server", FLAG_SERVER, "URL", server),
	OWN("data-dir", FLAG_DATA_DIR, "DATA_DIR", data_dir),
	OWN("config", FLAG_OWN_CONFIG, "CONFIG_FILE", config),
};

void rancher_done(struct rancher *r)
{
	flags_done(&r->flags);
}

bool rancher_reads_variable(const char *name)
{
	const char *rest = after(name, "K3S_") ?: after(name, "RKE2_");

	return rest && *rest && ANY(o, owns, ELEMENTSOF(owns), streq(rest, o->variable));
}

/* Sets it; @is_more: adds to what a list has. */
static void set_own(struct rancher *rn, const struct own *o, const char *text, bool is_more,
		    const char *path)
{
	char *value = (char *)rn + o->offset;
	const size_t n = is_more && o->flag == FLAG_NODE_IP ? strlen(value) : 0;

	if (o->flag == FLAG_SERVER)
		COPY(rn->server_path, path);
	snprintf(value + n, o->size - n, "%s%s", n > 0 ? "," : "", text);
}

/* A flag that is not read is noted as present; a URL leaves its host alone. */
static const char *kept_text(const struct yaml_item *item, char *host, size_t size)
{
	if (is_prefix(item->key, "kubelet-arg"))
		return flags_is_kubelets(item->text) ? item->text : "";
	ip_host(item->text, host, size);
	return streq(item->key, "server") ? host : item->text;
}

/* "node-ip+" adds to "node-ip". */
static bool is_key(const struct yaml_item *item, const char *key)
{
	const char *rest = after(item->key, key);

	return rest && (!*rest || streq(rest, "+"));
}

static const struct own *own_of(const struct yaml_item *item)
{
	return FIND(o, owns, ELEMENTSOF(owns), is_key(item, o->key));
}

/* A flag of the kubelet with a tag, or one that is cut: its value is not known. */
static bool is_odd_flag(const struct yaml_item *item)
{
	return item->is_odd && is_key(item, "kubelet-arg") &&
	       (*item->text ? flags_is_kubelets(item->text) : item->is_listed);
}

static bool is_one(const char *key)
{
	return !is_prefix(key, "kubelet-arg") && !is_prefix(key, "node-ip");
}

static void put_item(FILE *f, const struct yaml_item *item, uint32_t *line, const char **open)
{
	const bool is_first = !streq(*open, item->key);
	char host[sizeof(item->text)];
	const char *text = kept_text(item, host, sizeof(host));
	const size_t labels = flags_labels(text);

	if (is_first)
		fputs(**open && !is_one(*open) ? "]" : "", f);
	for (bool is_same = is_first && **open; *line < item->line || is_same; is_same = false) {
		fputc('\n', f);
		++*line;
	}
	if (is_first)
		fprintf(f, "%s: %s", item->key, is_one(item->key) ? "" : "[");
	fputs(item->is_odd ? "!!str '" : "'", f);
	for (size_t i = 0; text[i]; i++)
		if (flags_is_shown(text, labels, i))
			fprintf(f, text[i] == '\'' ? "''" : "%c", text[i]);
	fputs(is_one(item->key) ? "'" : "',", f);
	*open = item->key;
}

/* A copy with the keys that are read alone, each in its line. */
static int record(const struct fs *fs, const char *path, const struct yaml_items *items)
{
	_cleanup_(stream_done) struct stream out = {};
	const char *open = "";
	uint32_t line = 1;

	if (!fs->on_read)
		return 0;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	FOREACH(item, items->items, items->n_items)
		if (is_odd_flag(item) || (!item->is_odd && !item->is_null &&
					  (own_of(item) || is_key(item, "kubelet-arg"))))
			put_item(out.f, item, &line, &open);
	fputs(!*open ? "# left out\n" : is_one(open) ? "\n" : "]\n", out.f);
	return fs_record_stream(fs, path + 1, &out);
}

/* A key without "+" replaces what was said before, of a list with its head. */
static int take_item(struct rancher *rn, const struct yaml_item *item, const char *path)
{
	const bool is_added = item->is_listed || item->key[strlen(item->key) - 1] == '+';
	const struct own *o = own_of(item);

	if (o) {
		if (!item->is_odd || !is_added)
			set_own(rn, o, item->is_odd || item->is_null ? "" : item->text, is_added,
				path);
		return 0;
	}
	if (!is_added)
		flags_done(&rn->flags);
	return item->is_odd || item->is_null
		       ? 0
		       : flags_add_text(&rn->flags, item->text, path, item->line);
}

/* Return: would it win over a file of ours before it, as it replaces all flags before it or sets
 * one that we set? 1, 0 or -ENOMEM. */
static int read_config(struct rancher *rn, const struct fs *fs, const char *path)
{
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	char problem[256] = "";
	int is_rival = 0, r = source_read(fs, path, YAML_ANY, problem, &items);

	if (r < 0 && r != -ENODATA)
		problem_note(rn->problem, "%s", problem);
	if (r < 0)
		return r == -ENOMEM ? r : 0;

	for (size_t i = 0; i < items.n_items && r >= 0; i++) {
		const bool is_flag = is_key(&items.items[i], "kubelet-arg");
		const size_t n = rn->flags.n_flags;

		is_rival |= streq(items.items[i].key, "kubelet-arg");
		if (is_odd_flag(&items.items[i]))
			problem_note(rn->problem, "%.160s:%" PRIu32 ": a flag is not understood",
				     path, items.items[i].line);
		if (!items.items[i].sub[0] && (is_flag || own_of(&items.items[i])))
			r = take_item(rn, &items.items[i], path);
		is_rival |= rn->flags.n_flags > n && rn->flags.flags[n].kind >= FLAG_POLICY &&
			    rn->flags.flags[n].kind <= FLAG_RESERVED_CPUS;
	}
	if (r >= 0)
		r = record(fs, path, &items);
	return r < 0 ? r : is_rival;
}

static int read_folder(struct rancher *rn, const struct fs *fs, const char *folder)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char last[MAX_PATH] = "";
	int r = fs_list(fs, folder + 1, &names);

	if (r == -ENOMEM)
		return r;
	FOREACH(name, names.names, names.n_names) {
		const char *dot = strrchr(*name, '.');
		char path[2 * MAX_PATH];

		if (!dot || (strcasecmp(dot, ".yaml") != 0 && strcasecmp(dot, ".yml") != 0))
			continue;
		PRINT(path, "%s/%s", folder, *name);
		if (strlen(path) >= MAX_PATH)
			problem_note(rn->problem, "%.200s: too long a path", path);
		r = strlen(path) >= MAX_PATH ? 0 : read_config(rn, fs, path);
		if (r < 0)
			return r;
		if (r > 0)
			COPY(last, *name);
	}

	for (size_t i = 0; i < ELEMENTSOF(own_names) && !*rn->own_path; i++)
		if (strcmp(last, own_names[i]) <= 0)
			PRINT(rn->own_path, "%.200s/%s", folder, own_names[i]);
	if (!*rn->own_path)
		PRINT(rn->rival, "%.200s/%s", folder, last);
	return 0;
}

static void read_variables(struct rancher *rn, const struct unit *u)
{
	const char *prefix = streq(rn->name, "k3s") ? "K3S_" : "RKE2_";

	for (size_t i = 0; i < ELEMENTSOF(owns); i++) {
		char name[32];
		const struct variable *v;

		PRINT(name, "%s%s", prefix, owns[i].variable);
		v = *owns[i].variable ? unit_variable(u, name) : NULL;
		if (v && *v->value)
			set_own(rn, &owns[i], v->value, false, name);
	}
}

/* Flags of the command line replace what files say, but add to kubelet-arg. */
static int read_own_flags(struct rancher *rn, const struct flags *own)
{
	bool has_ip = false;

	FOREACH(f, own->flags, own->n_flags) {
		if (f->kind == FLAG_KUBELET_ARG &&
		    flags_add_text(&rn->flags, f->value, f->path, f->line) < 0)
			return -ENOMEM;
		for (size_t k = 0; k < ELEMENTSOF(owns); k++)
			if (f->kind == owns[k].flag)
				set_own(rn, &owns[k], f->value, has_ip, f->path);
		has_ip |= f->kind == FLAG_NODE_IP;
	}
	return 0;
}

/* Settings that k3s and RKE2 hand to the kubelet before kubelet-arg. 0 or -ENOMEM. */
static int add_own_flags(struct rancher *rn)
{
	struct flags args = TAKE_STRUCT(rn->flags);
	char text[288];
	int r = 0;

	PRINT(text, "node-ip=%s", rn->node_ip);
	if (*rn->node_ip)
		r = flags_add_text(&rn->flags, text, "", 0);
	PRINT(text, "hostname-override=%s", rn->node_name);
	if (*rn->node_name && r >= 0)
		r = flags_add_text(&rn->flags, text, "", 0);
	for (size_t i = 0; i < args.n_flags && r >= 0; i++)
		r = ADD(rn->flags.flags, rn->flags.n_flags, args.flags[i]);
	flags_done(&args);
	return r;
}

int rancher_read(const struct fs *fs, const struct unit *u, const struct flags *own,
		 struct rancher *ret)
{
	_cleanup_(rancher_done) struct rancher rn = {};
	const struct flag *config = FIND(f, own->flags, own->n_flags,
					 f->kind == FLAG_CONFIG || f->kind == FLAG_OWN_CONFIG);
	char path[MAX_PATH];
	int r = 0;

	COPY(rn.name, is_prefix(u->name, "rke2") ? "rke2" : "k3s");
	PRINT(rn.data_dir, "/var/lib/rancher/%s", rn.name);
	PRINT(rn.config, "/etc/rancher/%s/config.yaml", rn.name);
	/* The first flag, and the variable before it: pkg/configfilearg/parser.go of k3s. */
	if (config)
		COPY(rn.config, config->is_cut ? "?" : config->value);
	read_variables(&rn, u);
	COPY(path, rn.config); /* no file names another */
	if (*path == '/')
		r = read_config(&rn, fs, path);
	else
		problem_note(rn.problem, "%s: its configuration is no file by a whole path",
			     u->name);
	if (r >= 0 && *path == '/')
		r = read_folder(&rn, fs, FS_PATH("%s.d", path));
	if (r >= 0)
		r = read_own_flags(&rn, own);
	if (r >= 0)
		r = add_own_flags(&rn);
	if (r < 0)
		return r;

	PRINT(rn.folder, "%s/agent/etc/kubelet.conf.d", rn.data_dir);
	*ret = TAKE_STRUCT(rn);
	return 0;
}
