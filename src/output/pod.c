/* SPDX-License-Identifier: Apache-2.0 */
#include "pod.h"

#include "plugin-output.h"

#define VKE_RESOURCE   "vke.volcengine.com/rdma"
#define VKE_ANNOTATION "k8s.volcengine.com/pod-networks"

static size_t limit_of(const struct config *c, const struct forecast_pool *pool)
{
	return output_plugin_is_shared(c) || c->plugin.type == PLUGIN_NONE ? 1 : pool->n_nics;
}

static void print_networks(FILE *f, size_t n)
{
	fputs("  annotations:\n    " VKE_ANNOTATION ": |\n      [\n", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "        {\"cniConf\": {\"name\": \"rdma\"}}%s\n", i + 1 < n ? "," : "");
	fputs("      ]\n", f);
}

static void print_head(FILE *f, const struct config *c, const struct forecast *fc)
{
	fputs("apiVersion: v1\nkind: Pod\nmetadata:\n  name: rdma\n", f);
	for (size_t i = 0; i < fc->n_pools; i++)
		if (streq(fc->pools[i].resource, VKE_RESOURCE))
			print_networks(f, limit_of(c, &fc->pools[i]));
	fputs("spec:\n", f);
	if (output_plugin_is_shared(c) && c->route.ipv6 != IPV6_RA)
		fputs("  hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet\n", f);
}

static void print_container(FILE *f, const struct config *c, const struct forecast *fc)
{
	fprintf(f,
		"  containers:\n  - name: app\n    image: registry.example.com/rdma-app:v1\n"
		"    securityContext:\n      capabilities:\n        add: [IPC_LOCK%s]\n"
		"    resources:\n      limits:\n",
		c->plugin.type == PLUGIN_RDMA_SHARED ? ", SYS_RESOURCE" : "");
	for (size_t i = 0; i < fc->n_pools; i++)
		if (fc->pools[i].n_after > 0)
			fprintf(f, "        %s: %zu\n", fc->pools[i].resource,
				limit_of(c, &fc->pools[i]));
	fputs("    volumeMounts:\n    - name: shm\n      mountPath: /dev/shm\n"
	      "  volumes:\n  - name: shm\n    emptyDir:\n      medium: Memory\n"
	      "      sizeLimit: 8Gi\n",
	      f);
}

int output_pod(const struct config *c, const struct forecast *fc, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	size_t n = 0;

	for (size_t i = 0; i < fc->n_pools; i++)
		n += fc->pools[i].n_after;
	if (n == 0)
		return -ENODATA;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	print_head(out.f, c, fc);
	print_container(out.f, c, fc);
	return stream_take(&out, ret);
}
