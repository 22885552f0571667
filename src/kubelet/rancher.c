/* SPDX-License-Identifier: Apache-2.0 */
#include "rancher.h"

#include "sources.h"

#define MAX_PATH 256

/* The first that nobody's file comes behind. */
static const char *const own_names[] = { "99-rdma-provision.yaml", "zz-rdma-provision.yaml" };

void rancher_done(struct rancher *r)
{
	flags_done(&r->flags);
}

/* Of a flag that is not read only its presence is noted. */
static const char *kept_text(const struct yaml_item *item)
{
	return !is_prefix(item->key, "kubelet-arg") || flags_is_kubelets(item->text) ? item->text
										     : "";
}

static bool is_kept(const struct yaml_item *item)
{
	static const char *const keys[] = { "kubelet-arg", "kubelet-arg+", "data-dir", "node-ip" };

	for (size_t i = 0; i < ELEMENTSOF(keys) && !item->is_odd && !item->is_null; i++)
		if (streq(item->key, keys[i]))
			return true;
	return false;
}

static bool is_one(const char *key)
{
	return streq(key, "data-dir");
}

static void put_item(FILE *f, const struct yaml_item *item, uint32_t *line, const char **open)
{
	const bool is_first = !streq(*open, item->key);

	if (is_first)
		fputs(**open && !is_one(*open) ? "]" : "", f);
	for (bool is_same = is_first && **open; *line < item->line || is_same; is_same = false) {
		fputc('\n', f);
		++*line;
	}
	if (is_first)
		fprintf(f, "%s: %s", item->key, is_one(item->key) ? "" : "[");
	fputc('\'', f);
	for (const char *c = kept_text(item); *c; c++)
		fprintf(f, *c == '\'' ? "''" : "%c", *c);
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
	for (size_t i = 0; i < items->n_items; i++)
		if (is_kept(&items->items[i]))
			put_item(out.f, &items->items[i], &line, &open);
	fputs(!*open ? "# left out\n" : is_one(open) ? "\n" : "]\n", out.f);
	if (stream_close(&out) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, path + 1, out.text, out.size);
	return 0;
}

/* All that are given, as one flag of the kubelet: one of each family may stand in a line. */
static int add_node_ip(struct rancher *rn, const char *value, const char *path, uint32_t line)
{
	const struct flag *before = flags_last(&rn->flags, FLAG_NODE_IP);
	char text[128];

	snprintf(text, sizeof(text), "node-ip=%.50s%s%.50s", before ? before->value : "",
		 before ? "," : "", value);
	return flags_add_text(&rn->flags, text, path, line);
}

/* Return: has the file a word about the kubelet's flags? 1, 0 or -ENOMEM. */
static int read_config(struct rancher *rn, const struct fs *fs, const char *path, char *data_dir,
		       size_t size)
{
	_cleanup_(yaml_items_done) struct yaml_items items = {};
	const struct yaml_item *dir;
	int has_flags = 0, r;

	r = source_read(fs, path, YAML_ANY, &items);
	if (r == -ENOENT || r == -ENODATA || r == -ENOMEM)
		return r == -ENOMEM ? r : 0;
	if (r < 0) {
		if (!*rn->problem)
			snprintf(rn->problem, sizeof(rn->problem), "%s: %s", path, yaml_problem(r));
		return 0;
	}

	dir = yaml_find(&items, "data-dir", "");
	if (dir && !dir->is_odd && !dir->is_null)
		copy(data_dir, size, dir->text);
	for (size_t i = 0; i < items.n_items && r >= 0; i++) {
		const struct yaml_item *item = &items.items[i];

		if (streq(item->key, "node-ip") && !item->is_odd && !item->is_null)
			r = add_node_ip(rn, item->text, path, item->line);
		if (!streq(item->key, "kubelet-arg") && !streq(item->key, "kubelet-arg+"))
			continue;
		has_flags = 1;
		if (!item->is_listed && streq(item->key, "kubelet-arg"))
			flags_done(&rn->flags);
		if (!item->is_odd && !item->is_null)
			r = flags_add_text(&rn->flags, item->text, path, item->line);
	}
	if (r >= 0)
		r = record(fs, path, &items);
	return r < 0 ? r : has_flags;
}

static bool is_config_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (streq(dot, ".yaml") || streq(dot, ".yml"));
}

static int read_folder(struct rancher *rn, const struct fs *fs, const char *folder, char *data_dir,
		       size_t size)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	char last[MAX_PATH] = "";
	int r;

	r = fs_list(fs, folder + 1, &names);
	if (r == -ENOMEM)
		return r;
	for (size_t i = 0; i < names.n_names; i++) {
		char path[2 * MAX_PATH];

		if (!is_config_name(names.names[i]))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names.names[i]);
		r = strlen(path) >= MAX_PATH ? 0 : read_config(rn, fs, path, data_dir, size);
		if (r < 0)
			return r;
		if (r > 0)
			COPY(last, names.names[i]);
	}

	for (size_t i = 0; i < ELEMENTSOF(own_names) && !*rn->own_path; i++)
		if (strcmp(last, own_names[i]) <= 0)
			snprintf(rn->own_path, sizeof(rn->own_path), "%.200s/%s", folder,
				 own_names[i]);
	return 0;
}

int rancher_read(const struct fs *fs, const struct unit *u, const struct flags *own,
		 struct rancher *ret)
{
	_cleanup_(rancher_done) struct rancher rn = {};
	const char *name = is_prefix(u->name, "rke2") ? "rke2" : "k3s";
	char data_dir[MAX_PATH - 64];
	int r;

	snprintf(data_dir, sizeof(data_dir), "/var/lib/rancher/%s", name);
	r = read_config(&rn, fs, FS_PATH("/etc/rancher/%s/config.yaml", name), data_dir,
			sizeof(data_dir));
	if (r < 0)
		return r;
	r = read_folder(&rn, fs, FS_PATH("/etc/rancher/%s/config.yaml.d", name), data_dir,
			sizeof(data_dir));

	for (size_t i = 0; i < own->n_flags && r >= 0; i++) {
		const struct flag *f = &own->flags[i];

		if (f->kind == FLAG_DATA_DIR)
			COPY(data_dir, f->value);
		if (f->kind == FLAG_KUBELET_ARG)
			r = flags_add_text(&rn.flags, f->value, f->path, f->line);
		if (f->kind == FLAG_NODE_IP)
			r = add_node_ip(&rn, f->value, f->path, f->line);
	}
	if (r < 0)
		return r;

	snprintf(rn.folder, sizeof(rn.folder), "%s/agent/etc/kubelet.conf.d", data_dir);
	*ret = TAKE_STRUCT(rn);
	return 0;
}
