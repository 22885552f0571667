/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin-output.h"

#include "../base/document.h"
#include "lint-rules.h"

#define UPDATE_INTERVAL 60 /* seconds */

bool output_plugin_offers(const struct device *d)
{
	return d->is_handed_out && !d->is_excluded && (d->is_usable || d->is_lost);
}

enum reason output_plugin_reason(const struct device *d)
{
	return d->is_usable && d->is_excluded ? REASON_LINK_FLAPPING : d->reason;
}

bool output_plugin_exposes(const struct plan *p, const struct device *d)
{
	return ANY(e, p->lint.exposed, p->lint.n_exposed, streq(e->pci, d->pci->address));
}

bool output_plugin_is_shared(const struct config *c)
{
	return c->plugin.type == PLUGIN_RDMA_SHARED || c->plugin.type == PLUGIN_HCA;
}

uint32_t output_plugin_allocatable(const struct config *c, size_t n_devices)
{
	if (n_devices == 0 || !output_plugin_is_shared(c))
		return (uint32_t)n_devices;
	return c->plugin.type == PLUGIN_HCA ? HCA_SHARES : c->plugin.shares;
}

json_t *output_plugin_resource_item(const struct config *c, const char *resource, size_t n_devices,
				    size_t n_infiniband)
{
	json_auto_t *item = json_pack("{s:o, s:I, s:I, s:b}", "resource", document_text(resource),
				      "devices", (json_int_t)n_devices, "allocatable",
				      (json_int_t)output_plugin_allocatable(c, n_devices), "shared",
				      output_plugin_is_shared(c));

	if (n_infiniband > 0 && n_infiniband < n_devices &&
	    document_add_number(item, "infiniband", (int64_t)n_infiniband) < 0)
		return NULL;
	return TAKE(item);
}

const char *output_plugin_resource(const struct config *c, const struct device *d)
{
	return d->config && *d->config->resource ? d->config->resource : c->plugin.resource;
}

const char *output_plugin_netdev(const struct node *n, const struct pci *pci,
				 const struct device *d)
{
	const struct netdev *first = NULL;

	if (d && (d->is_in_pod || d->is_lost))
		return pci_is_erdma(pci) ? "" : d->netdev_name;
	FOREACH(nd, n->netdevs, n->n_netdevs)
		if (streq(nd->pci, pci->address) && (!first || strcmp(nd->name, first->name) < 0))
			first = nd;
	return first ? first->name : "";
}

/* A resource, and the plan that has its devices. */
struct pool {
	const struct config *config;
	const struct node *node;
	const struct plan *plan;
	const char *resource;
};

/* May the file select this device for the pool, usable or not? */
static bool is_asked_for(const struct pool *pool, const struct device *d)
{
	return d->is_handed_out && !d->is_excluded &&
	       streq(output_plugin_resource(pool->config, d), pool->resource);
}

static bool is_in(const struct pool *pool, const struct device *d)
{
	return output_plugin_offers(d) && is_asked_for(pool, d);
}

/* Would the shared plugin take this function, once a selector matches it? */
static bool is_taken(const struct pci *f, const struct ibdev *ib)
{
	return *f->driver && ib && *ib->uverbs && *ib->umad;
}

/* Any of each list: two kinds of devices can select a third one. */
static bool is_selected(const struct pool *pool, const struct pci *f)
{
	bool vendor = false, device = false, driver = false;

	for (size_t i = 0; i < pool->plan->n_devices; i++) {
		const struct pci *other = pool->plan->devices[i].pci;

		if (!is_in(pool, &pool->plan->devices[i]))
			continue;
		vendor = vendor || other->vendor == f->vendor;
		device = device || other->device == f->device;
		driver = driver || streq(other->driver, f->driver);
	}

	return vendor && device && driver;
}

/* The functions of a node are of few kinds: the one that was asked for last is not asked again. */
static bool is_new_selected(const struct pool *pool, const struct pci *f, const struct pci **last)
{
	if (*last && (*last)->vendor == f->vendor && (*last)->device == f->device &&
	    streq((*last)->driver, f->driver))
		return false;
	*last = f;
	return is_selected(pool, f);
}

/* @or_unusable: let them select unusable devices of the pool as well. */
static bool are_ids_exact(const struct pool *pool, bool or_unusable)
{
	const struct plan *p = pool->plan;
	const struct pci *last = NULL;

	return !ANY(d, p->devices, p->n_devices,
		    is_in(pool, d)
			    ? !*d->pci->driver
			    : !(or_unusable && is_asked_for(pool, d)) &&
				      (output_plugin_offers(d) || is_taken(d->pci, d->ibdev)) &&
				      is_new_selected(pool, d->pci, &last)) &&
	       !ANY(f, pool->node->pcis, pool->node->n_pcis,
		    !plan_device(p, f) && is_taken(f, node_ibdev_of(pool->node, f->address)) &&
			    is_new_selected(pool, f, &last));
}

static bool is_nameless(const struct pool *pool, const struct device *d)
{
	return is_in(pool, d) && !*output_plugin_netdev(pool->node, d->pci, d);
}

/* A port that is down must not take all other devices from the node. */
static bool is_by_ids(const struct pool *pool)
{
	return are_ids_exact(pool, true) &&
	       (are_ids_exact(pool, false) ||
		ANY(d, pool->plan->devices, pool->plan->n_devices, is_nameless(pool, d)));
}

/* The one way in which the whole entry of a pool speaks of its devices. */
enum kind {
	KIND_NAMES,
	KIND_IDS,
	KIND_ADDRESSES,
	KIND_ALL,
};

static enum kind kind_of(const struct pool *pool)
{
	switch (pool->config->plugin.type) {
	case PLUGIN_SRIOV:
		return KIND_ADDRESSES;
	case PLUGIN_HCA:
	case PLUGIN_DRANET:
	case PLUGIN_DRA_SRIOV:
		return KIND_ALL;
	default:
		return is_by_ids(pool) ? KIND_IDS : KIND_NAMES;
	}
}

static bool has(const struct pool *pool, enum kind kind, const struct device *d)
{
	return is_in(pool, d) && (kind != KIND_NAMES || !is_nameless(pool, d));
}

bool output_plugin_has(const struct config *c, const struct node *n, const struct plan *p,
		       const struct device *d)
{
	const struct pool pool = { c, n, p, output_plugin_resource(c, d) };

	return has(&pool, kind_of(&pool), d);
}

/* Each text once, in order of its bytes. */
static int add_sorted(json_t *list, const char *text)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		int order = strcmp(text, json_string_value(json_array_get(list, i)));

		if (order == 0)
			return 0;
		if (order < 0)
			break;
	}

	return json_array_insert_new(list, i, document_text(text)) < 0 ? -ENOMEM : 0;
}

static int add(json_t *selectors, const char *key, const char *text)
{
	if (!json_object_get(selectors, key) &&
	    json_object_set_new(selectors, key, json_array()) < 0)
		return -ENOMEM;
	return add_sorted(json_object_get(selectors, key), text);
}

static int add_ids(json_t *selectors, const struct pci *f)
{
	char vendor[PCI_ID_LEN], device[PCI_ID_LEN]; /* pkg/resources/device_selectors.go compares
							 text */
	int r;

	pci_print_id(f->vendor, vendor);
	pci_print_id(f->device, device);
	r = add(selectors, "vendors", vendor);
	if (r < 0)
		return r;
	r = add(selectors, "deviceIDs", device);
	return r < 0 ? r : add(selectors, "drivers", f->driver);
}

/* NULL when no device of the pool has a place in it. */
static int make_selectors(const struct pool *pool, json_t **ret)
{
	json_auto_t *selectors = json_object();
	const enum kind kind = kind_of(pool);

	if (!selectors)
		return -ENOMEM;

	FOREACH(d, pool->plan->devices, pool->plan->n_devices) {
		int r;

		if (!has(pool, kind, d))
			continue;

		switch (kind) {
		case KIND_NAMES:
			r = add(selectors, "ifNames", output_plugin_netdev(pool->node, d->pci, d));
			break;
		case KIND_IDS:
			r = add_ids(selectors, d->pci);
			break;
		default:
			r = add(selectors, "pciAddresses", d->pci->address);
		}
		if (r < 0)
			return r;
	}

	*ret = json_object_size(selectors) > 0 ? TAKE(selectors) : NULL;
	return 0;
}

static json_t *make_shared(const struct config *c, const char *prefix, const char *name,
			   json_t *selectors)
{
	return json_pack("{s:o, s:o, s:I, s:o}", "resourceName", document_text(name),
			 "resourcePrefix", document_text(prefix), "rdmaHcaMax",
			 (json_int_t)c->plugin.shares, "selectors", selectors);
}

static json_t *make_sriov(const char *prefix, const char *name, json_t *selectors)
{
	if (json_object_set_new(selectors, "isRdma", json_true()) < 0) {
		json_decref(selectors);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:s, s:o}", "resourceName", document_text(name),
			 "resourcePrefix", document_text(prefix), "deviceType", "netDevice",
			 "selectors", selectors);
}

static int add_pool(json_t *list, const struct pool *pool)
{
	const char *slash = strrchr(pool->resource, '/');
	const char *name = slash ? slash + 1 : pool->resource;
	json_t *selectors = NULL, *entry;
	char prefix[RESOURCE_LEN];
	int r = make_selectors(pool, &selectors);

	if (r < 0 || !selectors)
		return r;

	/* "" and no prefix at all mean "rdma" to the shared plugin. */
	PRINT(prefix, "%.*s", slash ? (int)(slash - pool->resource) : 0, pool->resource);
	entry = pool->config->plugin.type == PLUGIN_SRIOV
			? make_sriov(prefix, name, selectors)
			: make_shared(pool->config, prefix, name, selectors);
	return json_array_append_new(list, entry) < 0 ? -ENOMEM : 0;
}

const char *output_plugin_next_resource(const struct config *c, const struct plan *p,
					const char *last)
{
	const char *next = NULL;

	for (size_t i = 0; i < p->n_devices; i++) {
		const char *resource = output_plugin_resource(c, &p->devices[i]);

		if (output_plugin_offers(&p->devices[i]) && (!last || strcmp(resource, last) > 0) &&
		    (!next || strcmp(resource, next) < 0))
			next = resource;
	}
	return next;
}

json_t *output_plugin_resources(const struct config *c, const struct plan *p)
{
	json_auto_t *list = json_array();
	const char *resource = NULL;

	while (p->lint.refusal == REASON_NONE &&
	       (resource = output_plugin_next_resource(c, p, resource))) {
		size_t n = 0, n_infiniband = 0;

		FOREACH(d, p->devices, p->n_devices) {
			if (!streq(output_plugin_resource(c, d), resource) ||
			    !output_plugin_offers(d) || !output_plugin_exposes(p, d))
				continue; /* the plugin may leave out what is in the file */
			n++;
			n_infiniband += device_is_infiniband(d);
		}
		if (n > 0 && json_array_append_new(list, output_plugin_resource_item(
								 c, resource, n, n_infiniband)) < 0)
			return NULL;
	}
	return TAKE(list);
}

static int print_hca(char **ret)
{
	json_auto_t *document = json_pack("{s:s}", "mode", "hca");

	return document ? document_print(document, ret) : -ENOMEM;
}

int output_plugin(const struct config *c, const struct node *n, const struct plan *p, char **ret)
{
	struct pool pool = { .config = c, .node = n, .plan = p };
	json_auto_t *document = NULL, *list = json_array();
	int r = 0;

	*ret = NULL;
	if (!list)
		return -ENOMEM;
	if (!plugin_has_file(c->plugin.type))
		return 0;
	if (c->plugin.type == PLUGIN_HCA && output_plugin_next_resource(c, p, NULL))
		return print_hca(ret);

	while ((pool.resource = output_plugin_next_resource(c, p, pool.resource)) && r >= 0)
		r = add_pool(list, &pool);
	if (r < 0 || json_array_size(list) == 0)
		return r;

	if (c->plugin.type == PLUGIN_SRIOV)
		document = json_pack("{s:O}", "resourceList", list);
	else
		document = json_pack("{s:i, s:O}", "periodicUpdateInterval", UPDATE_INTERVAL,
				     "configList", list);
	return document ? document_print(document, ret) : -ENOMEM;
}

int output_plugin_all(const struct config *c, const struct node *n, struct plan *p)
{
	int r;

	if (c->plugin.type == PLUGIN_NONE)
		return 0;

	if (!plugin_has_file(c->plugin.type))
		return output_plugin_next_resource(c, p, NULL) ? output_lint(c, n, p, "", &p->lint)
							       : 0;
	COPY(p->plugin_path, c->plugin.config_file);
	r = output_plugin(c, n, p, &p->plugin);
	if (r < 0 || !p->plugin)
		return r;
	r = output_lint(c, n, p, p->plugin, &p->lint);
	if (r < 0 || !*c->plugin.manifest)
		return r;
	return output_manifest(c, n->kubelet.root_dir, p->plugin, &p->manifest);
}
