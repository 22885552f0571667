/* SPDX-License-Identifier: Apache-2.0 */
#include "servers.h"

#include "../model/ip.h"
#include "yaml-events.h"
#include "yaml.h"

#define MAX_DEPTH 64 /* of nested collections */

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
	for (size_t i = 0; i < k->n_servers; i++)
		if (streq(k->servers[i].host, host))
			return;
	if (!*host || k->n_servers == ELEMENTSOF(k->servers))
		return;
	COPY(k->servers[k->n_servers].host, host);
	COPY(k->servers[k->n_servers++].path, path);
}

/* A collection that is being read: the key it stands under, and its own last key. */
struct level {
	bool is_mapping, is_value;
	char name[24], key[24];
};

static void take_text(char *ret, size_t size, const yaml_event_t *e)
{
	const size_t n = e->data.scalar.length;

	ret[0] = '\0';
	if (n >= size)
		return;
	memcpy(ret, e->data.scalar.value, n);
	ret[n] = '\0';
}

static void on_scalar(struct level *top, const yaml_event_t *e, const char *path, struct kubelet *k)
{
	const char *parent = top->is_mapping ? top->name : "";
	const char *key = top->is_mapping ? top->key : top->name;
	char url[sizeof(k->servers[0].host) + 32];

	if (top->is_mapping && !top->is_value) {
		take_text(top->key, sizeof(top->key), e);
		return;
	}
	take_text(url, sizeof(url), e);
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (streq(key, keys[i].key) && (!keys[i].parent || streq(parent, keys[i].parent)))
			add(k, url, path);
}

/* Reads the first document. Return: 0 or -errno. */
static int read_events(struct yaml_events *s, const char *path, struct kubelet *k)
{
	struct level levels[MAX_DEPTH + 1] = {}, *top = levels;

	for (bool is_done = false; !is_done;) {
		_cleanup_(yaml_event_delete) yaml_event_t e = {};
		const int r = yaml_events_next(s, &e);

		if (r < 0)
			return r;
		is_done = e.type == YAML_DOCUMENT_END_EVENT || e.type == YAML_STREAM_END_EVENT;
		if (e.type == YAML_MAPPING_START_EVENT || e.type == YAML_SEQUENCE_START_EVENT) {
			if (top == levels + MAX_DEPTH)
				return -EOPNOTSUPP;
			top[1] = (struct level){ .is_mapping = e.type == YAML_MAPPING_START_EVENT };
			COPY(top[1].name, top->is_mapping ? top->key : top->name);
			top++;
			continue;
		}
		if (e.type == YAML_SCALAR_EVENT)
			on_scalar(top, &e, path, k);
		else if (e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT)
			top--;
		else if (e.type != YAML_ALIAS_EVENT)
			continue;
		top->is_value = !top->is_value;
	}
	return 0;
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
	if (stream_close(&out) < 0)
		return -ENOMEM;
	fs_record(fs, RECORD_FILE, fs_bare(path), out.text, out.size);
	return 0;
}

static int read_file(const struct fs *fs, const char *path, struct kubelet *k)
{
	_cleanup_(yaml_events_done) struct yaml_events events = {};
	_cleanup_(freep) char *text = NULL;
	struct kubelet found = {};
	uint32_t line;
	size_t size;
	int r;

	r = fs_read_all(fs, fs_bare(path), YAML_MAX_BYTES, true, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = yaml_events_check(text, size, &line);
	if (r >= 0)
		r = yaml_events_open(&events, text, size);
	if (r >= 0)
		r = read_events(&events, path, &found);
	if (r < 0)
		found.n_servers = 0;
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
	bool is_given = false;
	int r = rancher ? read_rancher(fs, rancher, ret) : 0;

	for (size_t i = 0; i < ELEMENTSOF(given) && r >= 0; i++)
		if (given[i] && *given[i]->value == '/') {
			is_given = true;
			r = read_file(fs, given[i]->value, ret);
		}
	for (size_t i = 0; i < ELEMENTSOF(usual_files) && r >= 0 && !is_given && !rancher; i++)
		r = read_file(fs, usual_files[i], ret);
	return r;
}
