/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifest: a static pod of the device plugin, for the kubelet's folder of static pods.
 *
 * Pure text. The kubelet derives the identity of a static pod from the whole of it
 * (pkg/kubelet/config/common.go), so another hash in its annotation ends the old pod and starts a
 * new one, which reads the plugin's new file. What the containers need is what the published
 * DaemonSets of the plugins ask for.
 */
#include "plugin-output.h"

#define MOUNTS_MAX       5
#define PLUGINS_REGISTRY KUBELET_ROOT_DIR "/plugins_registry"

static const struct {
	const char *name;
	const char *folder;   /* where the plugin looks for its file */
	const char *argument; /* that names the file; NULL: there is none */
	const char *command;  /* where arguments would be it: an image without ENTRYPOINT */
	const char *mounts[MOUNTS_MAX]; /* folders of the host */
} plugins[] = {
	[PLUGIN_RDMA_SHARED] = { "rdma-shared-device-plugin",
				 "/k8s-rdma-shared-dev-plugin",
				 "--config-file",
				 "/bin/k8s-rdma-shared-dp",
				 { KUBELET_ROOT_DIR "/device-plugins", PLUGINS_REGISTRY, "/dev" } },
	[PLUGIN_SRIOV] = { "sriov-network-device-plugin",
			   "/etc/pcidp",
			   "--config-file",
			   NULL,
			   { KUBELET_ROOT_DIR "/device-plugins", PLUGINS_REGISTRY,
			     "/var/run/k8s.cni.cncf.io/devinfo/dp", "/dev" } },
	[PLUGIN_HCA] = { "rdma-hca-device-plugin",
			 "/k8s-rdma-sriov-dev-plugin",
			 NULL,
			 NULL,
			 { KUBELET_ROOT_DIR "/device-plugins", "/dev" } },
};

static void print_head(FILE *f, enum plugin_type type, const struct config *c, const char *document)
{
	fprintf(f,
		MANIFEST_MARK "\n"
			      "apiVersion: v1\n"
			      "kind: Pod\n"
			      "metadata:\n"
			      "  name: %s\n"
			      "  namespace: kube-system\n"
			      "  labels:\n"
			      "    app.kubernetes.io/name: %s\n"
			      "    app.kubernetes.io/managed-by: rdma-provision\n"
			      "  annotations:\n"
			      "    rdma-provision/config-hash: \"%016" PRIx64 "\"\n"
			      "spec:\n"
			      "  hostNetwork: true\n"
			      "  priorityClassName: system-node-critical\n"
			      "  tolerations:\n"
			      "  - operator: Exists\n"
			      "  containers:\n"
			      "  - name: device-plugin\n"
			      "    image: \"%s\"\n"
			      "    imagePullPolicy: IfNotPresent\n",
		plugins[type].name, plugins[type].name, hash_text(document), c->plugin.image);
}

/*
 * A plugin that sees PLUGINS_REGISTRY registers by a socket there, and tells the
 * kubelet its path in the container: GetInfo() in pkg/resources/server.go of both plugins. With
 * another --root-dir the kubelet has no such path. Without the folder they register by the socket
 * of the kubelet, whose path is fixed.
 */
static bool is_mounted(const char *mount, const char *root_dir)
{
	return !streq(mount, PLUGINS_REGISTRY) || streq(root_dir, KUBELET_ROOT_DIR);
}

static void print_container(FILE *f, enum plugin_type type, const char *file, const char *root_dir)
{
	const bool has_argument = /* they look for config.json by themselves */
		plugins[type].argument && !streq(file, "config.json");

	if (has_argument && plugins[type].command)
		fprintf(f, "    command: [\"%s\"]\n", plugins[type].command);
	if (has_argument)
		fprintf(f,
			"    args:\n"
			"    - \"%s=%s/%s\"\n",
			plugins[type].argument, plugins[type].folder, file);
	fprintf(f,
		"    securityContext:\n"
		"      privileged: true\n"
		"    volumeMounts:\n"
		"    - name: config\n"
		"      mountPath: %s\n"
		"      readOnly: true\n",
		plugins[type].folder);
	for (size_t i = 0; i < MOUNTS_MAX && plugins[type].mounts[i]; i++)
		if (is_mounted(plugins[type].mounts[i], root_dir))
			fprintf(f,
				"    - name: host-%zu\n"
				"      mountPath: %s\n",
				i, plugins[type].mounts[i]);
}

static void print_volumes(FILE *f, enum plugin_type type, const char *folder, const char *root_dir)
{
	fprintf(f,
		"  volumes:\n"
		"  - name: config\n"
		"    hostPath:\n"
		"      path: %s\n"
		"      type: Directory\n",
		folder);
	for (size_t i = 0; i < MOUNTS_MAX && plugins[type].mounts[i]; i++)
		if (is_mounted(plugins[type].mounts[i], root_dir))
			fprintf(f,
				"  - name: host-%zu\n"
				"    hostPath:\n"
				"      path: %s\n"
				"      type: DirectoryOrCreate\n",
				i, plugins[type].mounts[i]);
}

int output_manifest(const struct config *c, const char *root_dir, const char *document, char **ret)
{
	const char *slash = strrchr(c->plugin.config_file, '/');
	_cleanup_(stream_done) struct stream out = {};
	char folder[PATH_LEN];

	if (stream_open(&out) < 0)
		return -ENOMEM;

	PRINT(folder, "%.*s", slash ? (int)(slash - c->plugin.config_file) : 0,
	      c->plugin.config_file);
	print_head(out.f, c->plugin.type, c, document);
	print_container(out.f, c->plugin.type, slash ? slash + 1 : "", root_dir);
	print_volumes(out.f, c->plugin.type, folder, root_dir);
	return stream_take(&out, ret);
}
