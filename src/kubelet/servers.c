/* SPDX-License-Identifier: Apache-2.0 */
#include "servers.h"

#include "../model/ip.h"
#include "yaml-tree.h"

/* Where kubelets have a kubeconfig when no flag says it, by distribution. */
static const char *const usual_files[] = {
	"/etc/kubernetes/kubelet.conf", /* kubeadm, kubespray */
	"/etc/kubernetes/bootstrap-kubelet.conf",
	"/var/lib/kubelet/kubeconfig", /* EKS, GKE, AKS, OpenShift */
	"/var/lib/kubelet/bootstrap-kubeconfig",
	"/etc/kubernetes/kubeconfig",         /* OpenShift, before it has joined */
	"/etc/kubernetes/kubelet/kubeconfig", /* Bottlerocket */
	"/var/lib/k0s/kubelet.conf",
	"/var/lib/k0s/kubelet-bootstrap.conf",
	"/var/snap/microk8s/current/credentials/kubelet.config",
	"/var/snap/microk8s/current/args/traefik/provider.yaml",
};

/* A scalar that names a server, or a list of them: its key, and that of the mapping it is in. */
static const struct {
	const char *parent, *key;
} keys[] = {
	{ "cluster", "server" },
	{ NULL, "ServerURL" }, /* of the proxy of k3s and RKE2 */
	{ NULL, "ServerAddresses" },
	{ "servers", "address" }, /* of the proxy of MicroK8s */
};

static void add(struct kubelet *k, const char *url, const char *path)
{
	char host[sizeof(k->servers[0].host)];

	ip_host(url, host, sizeof(host));
	if (!*host || k->n_servers == ELEMENTSOF(k->servers) ||
	    ANY(it, k->servers, k->n_servers, streq(it->host, host)))
		return;
	COPY(k->servers[k->n_servers].host, host);
	COPY(k->servers[k->n_servers++].path, path);
}

/* @key: it stands under, of a list that the list does; @parent: the same of its mapping. */
static void walk(const struct yaml_tree *t, const struct yaml_node *n, const char *parent,
		 const char *key, const char *path, struct kubelet *k)
{
	const bool is_mapping = n->type == YAML_MAPPING_START_EVENT;
	const struct yaml_node *end = yaml_tree_next(t, n);

	if (n->type == YAML_SCALAR_EVENT)
		for (size_t i = 0; i < ELEMENTSOF(keys); i++)
			if (streq(key, keys[i].key) &&
			    (!keys[i].parent || streq(parent, keys[i].parent)))
				add(k, n->text, path);
	for (n++; n < end; n = yaml_tree_next(t, n)) {
		const char *name = n->text ?: "";

		if (is_mapping)
			n = yaml_tree_next(t, n);
		walk(t, n, is_mapping ? key : "", is_mapping ? name : key, path, k);
	}
}

/* In the form of a kubeconfig, whichever form the file has; without any it may be another file. */
static int record(const struct fs *fs, const char *path, const struct kubelet *k)
{
	_cleanup_(stream_done) struct stream out = {};

	if (!fs->on_read || k->n_servers == 0)
		return 0;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	fputs("# all but the servers is left out\nclusters:\n", out.f);
	for (size_t i = 0; i < k->n_servers; i++)
		fprintf(out.f, "- cluster: {server: 'https://[%s]'}\n", k->servers[i].host);
	return fs_record_stream(fs, fs_bare(path), &out);
}

static int read_file(const struct fs *fs, const char *path, struct kubelet *k)
{
	_cleanup_(yaml_tree_done) struct yaml_tree tree = {};
	_cleanup_(freep) char *text = NULL;
	struct kubelet found = {};
	size_t size;
	int r = fs_read_all(fs, fs_bare(path), YAML_MAX_BYTES, true, &text, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = yaml_tree_read(text, size, &tree);
	if (r >= 0)
		walk(&tree, tree.nodes, "", "", path, &found);
	for (size_t i = 0; i < found.n_servers; i++)
		add(k, found.servers[i].host, path);
	return r == -ENOMEM ? r : record(fs, path, &found);
}

static int read_rancher(const struct fs *fs, const struct rancher *rn, struct kubelet *k)
{
	int r;

	add(k, rn->server, rn->server_path);
	r = read_file(fs, FS_PATH("%s/agent/kubelet.kubeconfig", rn->data_dir), k);
	if (r < 0)
		return r;
	return read_file(
		fs, FS_PATH("%s/agent/etc/%s-agent-load-balancer.json", rn->data_dir, rn->name), k);
}

int servers_find(const struct fs *fs, const struct flags *flags, const struct rancher *rancher,
		 struct kubelet *ret)
{
	const struct flag *const given[] = { flags_last(flags, FLAG_KUBECONFIG),
					     flags_last(flags, FLAG_BOOTSTRAP_KUBECONFIG) };
	const struct flag *k0s = rancher ? NULL : flags_last(flags, FLAG_DATA_DIR);
	bool is_given = false;
	int r = rancher ? read_rancher(fs, rancher, ret) : 0;

	for (size_t i = 0; i < ELEMENTSOF(given) && r >= 0; i++)
		if (given[i] && *given[i]->value == '/') {
			/* A snap keeps what is behind its proxy beside it. */
			is_given |= !is_prefix(given[i]->value, SNAP_DIR);
			r = read_file(fs, given[i]->value, ret);
		}
	if (k0s && *k0s->value == '/' && !is_given && r >= 0)
		r = read_file(fs, FS_PATH("%s/kubelet.conf", k0s->value), ret);
	for (size_t i = 0; i < ELEMENTSOF(usual_files) && r >= 0 && !is_given && !rancher; i++)
		r = read_file(fs, usual_files[i], ret);
	return r;
}
