/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod: a pod that asks for the RDMA devices of exactly this node, as YAML. Pure.
 *
 * It is the pod of the page of the system that the resource belongs to; conf/kubernetes/pods has
 * them as they are for the usual node. Limits are one share, of VKE the larger of 4 and 2 that the
 * NICs are enough for, else one device of each NIC.
 *
 * rdma/hca uses the network of the node, unless [Route] IPv6=ra gives pods addresses of their own,
 * and so does NCCL on eRDMA. VKE's resource has one network for each device in the annotation
 * k8s.volcengine.com/pod-networks, or the pod has no RDMA network; SMC-R is switched on by an
 * annotation. With GPUs the pod asks for them and runs NCCL's test. With Type=none it is the same
 * pod, for the platform's own plugin, as the resource tells.
 */
#include "check.h"

#include "../model/module-options.h"
#include "../plugin/plugin-output.h"

#define VKE_RESOURCE   "vke.volcengine.com/rdma"
#define VKE_ANNOTATION "k8s.volcengine.com/pod-networks"
#define SMC_ANNOTATION "network.alibabacloud.com/erdma-smcr"
#define NCCL_PATH      "/usr/bin/rdma-nccl-env"

struct pod {
	size_t n_networks; /* of VKE: each a block of the annotation */
	size_t n_gpus;
	bool is_erdma, has_smc;
	bool has_node_network;
	bool has_sys_resource;
};

static size_t limit_of(const struct config *c, const struct forecast_pool *pool)
{
	if (streq(pool->resource, VKE_RESOURCE))
		return pool->n_nics >= 4 ? 4 : MIN(pool->n_nics, (size_t)2);
	return output_plugin_is_shared(c) || c->plugin.type == PLUGIN_NONE ? 1 : pool->n_nics;
}

/* Is SMC-R used: a plan that sets no PNETID, though one is wanted, says why. */
static bool has_smc(const struct config *c, const struct node *n, const struct plan *p)
{
	const enum driver_mode mode = node_driver_mode(c, n);

	if (c->smc.enable == SMC_NO || mode == DRIVER_MODE_OFED || mode == DRIVER_MODE_COMPAT ||
	    (mode == DRIVER_MODE_KEEP && module_options_is_compat(n)))
		return false;
	return !ANY(a, p->actions, p->n_actions, a->step == STEP_SMC && a->class != CLASS_CHANGE) &&
	       !ANY(r, p->reasons, p->n_reasons,
		    r->reason == REASON_SMC_IWARP || streq(r->target, SMC_MODULE));
}

static struct pod describe(const struct config *c, const struct node *n, const struct plan *p,
			   const struct forecast *fc)
{
	struct pod pod = { .n_gpus = node_count_gpus(n) };
	bool is_hca = output_plugin_is_shared(c);

	pod.is_erdma = ANY(d, p->devices, p->n_devices, d->is_handed_out && pci_is_erdma(d->pci));
	FOREACH(pool, fc->pools, fc->n_pools) {
		if (streq(pool->resource, VKE_RESOURCE))
			pod.n_networks = limit_of(c, pool);
		is_hca |= c->plugin.type == PLUGIN_NONE && streq(pool->resource, HCA_RESOURCE);
	}
	if (pod.n_networks > 0) /* a GPU beside each NIC, on one NUMA node if possible */
		pod.n_gpus = MIN(pod.n_gpus, pod.n_networks);
	pod.has_smc = pod.is_erdma && has_smc(c, n, p);
	pod.has_node_network = (is_hca && c->route.ipv6 != IPV6_RA) ||
			       (pod.is_erdma && pod.n_gpus > 0 && !pod.has_smc);
	pod.has_sys_resource = is_hca && c->plugin.type != PLUGIN_HCA;
	return pod;
}

static void print_head(FILE *f, const struct pod *pod)
{
	fputs("apiVersion: v1\nkind: Pod\nmetadata:\n  name: rdma\n", f);
	if (pod->n_networks > 0 || pod->has_smc)
		fputs("  annotations:\n", f);
	if (pod->has_smc)
		fputs("    " SMC_ANNOTATION ": \"true\"\n", f);
	if (pod->n_networks > 0)
		fputs("    " VKE_ANNOTATION ": |\n      [\n", f);
	for (size_t i = 0; i < pod->n_networks; i++)
		fprintf(f, "        {\"cniConf\": {\"name\": \"rdma\"}}%s\n",
			i + 1 < pod->n_networks ? "," : "");
	fprintf(f, "%sspec:\n", pod->n_networks > 0 ? "      ]\n" : "");
	if (pod->has_node_network)
		fputs("  hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet\n", f);
	if (pod->n_gpus > 0)
		fputs("  restartPolicy: Never\n  tolerations:\n  - operator: Exists\n", f);
}

static void print_container(FILE *f, const struct config *c, const struct pod *pod,
			    const struct forecast *fc)
{
	fprintf(f, "  containers:\n  - name: app\n    image: registry.example.com/%s:v1\n",
		pod->n_gpus > 0 ? "nccl-tests" : "rdma-app");
	if (pod->n_gpus > 0)
		fprintf(f,
			"    command: [\"rdma-nccl-env\", \"--exec\", \"all_reduce_perf\", \"-b\", "
			"\"8\", \"-e\", \"1G\", \"-f\", \"2\", \"-g\", \"%zu\"]\n"
			"    env:\n    - name: NCCL_DEBUG\n      value: INFO\n",
			pod->n_gpus);
	if (pod->is_erdma && pod->has_node_network)
		fputs("    securityContext:\n      privileged: true\n", f);
	else
		fprintf(f, "    securityContext:\n      capabilities:\n        add: [IPC_LOCK%s]\n",
			pod->has_sys_resource ? ", SYS_RESOURCE" : "");
	fputs("    resources:\n      limits:\n", f);
	if (pod->n_gpus > 0)
		fprintf(f, "        nvidia.com/gpu: %zu\n", pod->n_gpus);
	FOREACH(pool, fc->pools, fc->n_pools)
		if (pool->n_after > 0)
			fprintf(f, "        %s: %zu\n", pool->resource, limit_of(c, pool));
}

static void print_volumes(FILE *f, const struct pod *pod)
{
	const bool has_nccl = pod->n_gpus > 0;

	fprintf(f,
		"    volumeMounts:\n    - name: shm\n      mountPath: /dev/shm\n%s"
		"  volumes:\n  - name: shm\n    emptyDir:\n      medium: Memory\n"
		"      sizeLimit: 8Gi\n%s",
		has_nccl ? "    - name: rdma-nccl-env\n"
			   "      mountPath: /usr/local/bin/rdma-nccl-env\n      readOnly: true\n"
			 : "",
		has_nccl ? "  - name: rdma-nccl-env\n    hostPath:\n      path: " NCCL_PATH "\n"
			   "      type: File\n"
			 : "");
}

int output_pod(const struct config *c, const struct node *n, const struct plan *p,
	       const struct forecast *fc, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	size_t n_devices = 0;
	struct pod pod;

	for (size_t i = 0; i < fc->n_pools; i++)
		n_devices += fc->pools[i].n_after;
	if (n_devices == 0)
		return -ENODATA;
	if (stream_open(&out) < 0)
		return -ENOMEM;
	pod = describe(c, n, p, fc);
	print_head(out.f, &pod);
	print_container(out.f, c, &pod, fc);
	print_volumes(out.f, &pod);
	return stream_take(&out, ret);
}
