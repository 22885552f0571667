/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dra: the objects of dynamic resource allocation for the devices of this node.
 *
 * Pure text, for "kubectl apply". Of each resource (Resource=) a DeviceClass, whose
 * extendedResourceName serves pods that request the resource as they did with a device plugin, and
 * a ResourceClaimTemplate for a NIC, and a GPU where the node has one, below the same PCIe root.
 * For dra-driver-sriov also the SriovResourcePolicy, which it needs to publish a device, and its
 * DeviceAttributes. No ResourceSlice: those are the driver's.
 *
 * The fields are those of k8s.io/api/resource/v1, of demo/resource-policies in dra-driver-sriov,
 * and of pkg/apis/attributes.go in dranet. An attribute that a device lacks is an error in CEL,
 * which ends the scheduling of the pod: each expression asks first whether it is there.
 */

#include "plugin-output.h"

#include <ctype.h>

#define SRIOV       "sriovnetwork.k8snetworkplumbingwg.io"
#define SRIOV_HEAD  "apiVersion: " SRIOV "/v1alpha1\nkind: "
#define SRIOV_SPACE "  namespace: dra-driver-sriov\n"

/* LabelValueMaxLength of k8s.io/apimachinery and CELSelectorExpressionMaxLength of
 * k8s.io/api/resource/v1 */
#define MAX_LABEL      63
#define MAX_EXPRESSION (10 * 1024)
#define FOLDED         (3 * 8 + 1) /* what YAML has more of it: the indentation of its lines */

/* A resource and the names of its objects. */
struct dra_pool {
	const struct config *config;
	const struct plan *plan;
	const char *resource;    /* "rdma/hca" */
	char name[RESOURCE_LEN]; /* "rdma-hca" */
	bool is_sriov;
};

static bool is_in(const struct dra_pool *pool, size_t i)
{
	const struct device *d = &pool->plan->devices[i];

	/* dra-driver-sriov finds VFs alone, by the address of their PF. */
	return output_plugin_offers(d) && (!pool->is_sriov || *d->pci->physfn) &&
	       streq(output_plugin_resource(pool->config, d), pool->resource);
}

/* The PCI address that selects a device of the pool: its own, or with dra-driver-sriov its PF's. */
static const char *key_of(const struct dra_pool *pool, size_t i)
{
	const struct pci *pci = pool->plan->devices[i].pci;

	return pool->is_sriov ? pci->physfn : pci->address;
}

static bool has_none(const struct dra_pool *pool)
{
	for (size_t i = 0; i < pool->plan->n_devices; i++)
		if (is_in(pool, i))
			return false;
	return true;
}

static bool is_first(const struct dra_pool *pool, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_in(pool, i) && streq(key_of(pool, i), key_of(pool, at)))
			return false;
	return true;
}

/* Each key once: "0000:41:00.2", "0000:41:00.3" */
static void put_keys(FILE *f, const struct dra_pool *pool)
{
	const char *between = "";

	for (size_t i = 0; i < pool->plan->n_devices; i++)
		if (is_in(pool, i) && is_first(pool, i)) {
			fprintf(f, "%s\"%s\"", between, key_of(pool, i));
			between = ", ";
		}
}

static void put_policy(FILE *f, const struct dra_pool *pool)
{
	fprintf(f,
		"---\n" SRIOV_HEAD "DeviceAttributes\nmetadata:\n  name: %s\n" SRIOV_SPACE
		"  labels:\n    pool: %s\n"
		"spec:\n  attributes:\n    " SRIOV "/resourceName:\n      string: \"%s\"\n",
		pool->name, pool->name, pool->name);
	fprintf(f,
		"---\n" SRIOV_HEAD "SriovResourcePolicy\nmetadata:\n  name: %s\n" SRIOV_SPACE
		"spec:\n  configs:\n  - deviceAttributesSelector:\n      matchLabels:\n"
		"        pool: %s\n    resourceFilters:\n    - pfPciAddresses: [",
		pool->name, pool->name);
	put_keys(f, pool);
	fputs("]\n", f);
}

/* Return: the length of its expression. */
static long put_class(FILE *f, const struct dra_pool *pool)
{
	long from;

	fprintf(f,
		"---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: %s\n"
		"spec:\n  extendedResourceName: %s\n  selectors:\n  - cel:\n"
		"      expression: >-\n",
		pool->name, pool->resource);
	from = ftell(f);
	if (pool->is_sriov) {
		fprintf(f,
			"        device.driver == \"" SRIOV "\" &&\n"
			"        \"resourceName\" in device.attributes[\"" SRIOV "\"] &&\n"
			"        device.attributes[\"" SRIOV "\"].resourceName == \"%s\"\n",
			pool->name);
		return ftell(f) - from;
	}
	fputs("        device.driver == \"dra.net\" && device.attributes[\"dra.net\"].rdma == true "
	      "&&\n"
	      "        \"pciAddress\" in device.attributes[\"dra.net\"] &&\n"
	      "        device.attributes[\"dra.net\"].pciAddress in [",
	      f);
	put_keys(f, pool);
	fputs("]\n", f);
	return ftell(f) - from;
}

static void put_claim(FILE *f, const struct dra_pool *pool, bool has_gpu)
{
	fprintf(f,
		"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
		"metadata:\n  name: %s\nspec:\n  spec:\n    devices:\n      requests:\n"
		"      - name: nic\n        exactly:\n          deviceClassName: %s\n",
		pool->name, pool->name);
	if (has_gpu)
		fputs("      - name: gpu\n        exactly:\n"
		      "          deviceClassName: gpu.nvidia.com\n",
		      f);
	fprintf(f,
		"      constraints:\n      - requests: [nic%s]\n"
		"        matchAttribute: resource.kubernetes.io/pcieRoot\n",
		has_gpu ? ", gpu" : "");
	if (pool->is_sriov)
		fprintf(f,
			"      config:\n      - requests: [nic]\n        opaque:\n"
			"          driver: " SRIOV "\n          parameters:\n"
			"            apiVersion: " SRIOV "/v1alpha1\n            kind: VfConfig\n"
			"            ifName: net1\n            netAttachDefName: %s\n",
			pool->name);
}

/* Names of objects consist of lower-case letters, digits, "-" and ".". */
static void set_name(struct dra_pool *pool)
{
	COPY(pool->name, pool->resource);
	for (char *c = pool->name; *c; c++)
		*c = *c == '/' || *c == '_' ? '-' : (char)tolower((unsigned char)*c);
}

/* Has a resource before this one objects of the same name? */
static bool is_named_twice(const struct dra_pool *pool)
{
	struct dra_pool other = *pool;

	other.resource = NULL;
	while ((other.resource =
			output_plugin_next_resource(pool->config, pool->plan, other.resource)) &&
	       !streq(other.resource, pool->resource)) {
		set_name(&other);
		if (!has_none(&other) && streq(other.name, pool->name))
			return true;
	}
	return false;
}

int output_dra(const struct config *c, const struct node *n, const struct plan *p, char **ret)
{
	_cleanup_(stream_done) struct stream out = {};
	struct dra_pool pool = { .config = c,
				 .plan = p,
				 .is_sriov = plugin_gives_vfs(c->plugin.type) };
	bool is_any = false;

	if (stream_open(&out) < 0)
		return -ENOMEM;
	fprintf(out.f, "# For nodes like this one, with %s: kubectl apply -f FILE\n",
		pool.is_sriov ? "dra-driver-sriov" : "dranet");
	while ((pool.resource = output_plugin_next_resource(c, p, pool.resource))) {
		if (has_none(&pool))
			continue;
		is_any = true;
		set_name(&pool);
		if (is_named_twice(&pool))
			return -EEXIST;
		if (pool.is_sriov && strlen(pool.name) > MAX_LABEL)
			return -E2BIG;
		if (pool.is_sriov)
			put_policy(out.f, &pool);
		if (put_class(out.f, &pool) > MAX_EXPRESSION + FOLDED)
			return -E2BIG;
		put_claim(out.f, &pool, node_count_gpus(n) > 0);
	}
	return is_any ? stream_take(&out, ret) : -ENODATA;
}
