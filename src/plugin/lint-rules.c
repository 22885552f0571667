/* SPDX-License-Identifier: Apache-2.0 */
#include "lint-rules.h"

#include "../base/document.h"
#include "../model/given.h"
#include "../model/module-options.h"
#include "plugin-output.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

struct linter {
	const struct config *config;
	const struct node *node;
	const struct plan *plan;
	struct lint *lint;
	size_t *at; /* by the number of the node's function: that of its first in lint.exposed, plus
		       one */
	bool is_short; /* there was no memory for something */
};

/* A function as the plugin finds it. */
struct function {
	const struct pci *pci;
	const struct ibdev *ibdev;
	const struct device *device; /* of the plan, or NULL */
	bool is_elsewhere;           /* in a pod, or on its way: it was all right before */
};

static void refuse(struct linter *l, enum reason reason, const char *detail)
{
	if (l->lint->refusal != REASON_NONE)
		return; /* the first one is the one the plugin exits with */
	l->lint->refusal = reason;
	COPY(l->lint->detail, detail);
}

static void add_finding(struct linter *l, enum reason reason, const char *target,
			const char *detail)
{
	struct diagnostic f = { .reason = reason };

	COPY(f.target, target);
	COPY(f.detail, detail);
	l->is_short |= ADD(l->lint->findings, l->lint->n_findings, f) < 0;
}

/* Plugins look below the function, where those of the kernel's erdma are not. */
static const struct ibdev *ibdev_below(const struct node *n, const char *pci)
{
	const struct ibdev *ib = node_ibdev_of(n, pci);

	return ib && !ib->is_virtual ? ib : NULL;
}

static struct function find_function(const struct linter *l, const struct pci *pci)
{
	struct function f = { .pci = pci,
			      .ibdev = ibdev_below(l->node, pci->address),
			      .device = plan_device(l->plan, pci) };

	f.is_elsewhere = f.device && output_plugin_offers(f.device) &&
			 (f.device->is_in_pod || f.device->is_lost);
	return f;
}

/* Selectors */

static bool has_text(const json_t *list, const char *text)
{
	return document_any(item, list,
			    json_is_string(item) && streq(json_string_value(item), text));
}

/* Names of netlink's encapsulation, not of sysfs' link_layer. */
static bool has_link_type(const struct linter *l, const struct function *f, const json_t *list)
{
	const struct netdev *nd = node_netdev_of(l->node, f->pci->address);

	/* A hardware address of 20 bytes is IPoIB's. */
	return nd && has_text(list, strlen(nd->mac) > 17 ? "infiniband" : "ether");
}

/* Any of one list; a list that is empty or not there asks for nothing. */
static bool is_listed(const struct linter *l, const struct function *f, const char *key,
		      const json_t *list)
{
	char id[PCI_ID_LEN];

	if (json_array_size(list) == 0)
		return true;
	if (streq(key, "ifNames"))
		return has_text(list, output_plugin_netdev(l->node, f->pci, f->device));
	if (streq(key, "linkTypes"))
		return has_link_type(l, f, list);
	if (streq(key, "drivers"))
		return has_text(list, f->pci->driver);
	if (streq(key, "pciAddresses"))
		return has_text(list, f->pci->address);

	pci_print_id(streq(key, "vendors") ? f->pci->vendor : f->pci->device, id);
	return has_text(list, id);
}

static const char *const *selectors_of(enum plugin_type type)
{
	static const char *const shared[] = { "vendors", "deviceIDs", "drivers",
					      "ifNames", "linkTypes", NULL };
	static const char *const sriov[] = { "vendors",      "devices",   "drivers",
					     "pciAddresses", "linkTypes", NULL };

	return type == PLUGIN_SRIOV ? sriov : shared;
}

/* IsEmptySelector() in pkg/utils/utils.go of the shared plugin: lists without words are none. */
static bool has_words(json_t *selectors)
{
	const char *name;
	json_t *list;

	json_object_foreach(selectors, name, list)
		if (json_array_size(list) > 0)
			return true;
	return false;
}

static bool is_selected(const struct linter *l, const struct function *f, const json_t *pool)
{
	const char *const *keys = selectors_of(l->config->plugin.type);
	json_t *selectors = json_object_get(pool, "selectors");

	/* "devices" of the shared plugin is what ifNames was before. */
	if (l->config->plugin.type != PLUGIN_SRIOV && !has_words(selectors))
		return is_listed(l, f, "ifNames", json_object_get(pool, "devices"));

	for (; *keys; keys++)
		if (!is_listed(l, f, *keys, json_object_get(selectors, *keys)))
			return false;
	return true;
}

/* Devices */

/* A default route of the main table that has a device: plugins know no other table. */
static bool is_default(const struct route *r)
{
	return r->table == RT_TABLE_MAIN && r->prefix_len == 0 && r->ifindex > 0;
}

/*
 * The sriov plugin hides the NIC of each default route of IPv4, dranet those of the lowest metric
 * of each family: all rails, where the router of each advertises itself. Newer versions of dranet
 * hide also what has such a netdev as master, but none knows what is below a VLAN: the ports of a
 * bond may be handed out.
 */
static bool is_hiding(const struct linter *l, const struct route *r)
{
	if (!is_default(r) || l->config->plugin.type == PLUGIN_SRIOV)
		return is_default(r) && r->family == AF_INET;
	return !ANY(o, l->node->routes, l->node->n_routes,
		    is_default(o) && o->family == r->family && o->metric < r->metric);
}

static bool is_hidden(const struct linter *l, const struct function *f)
{
	FOREACH(r, l->node->routes, l->node->n_routes) {
		const struct netdev *nd = node_netdev(l->node, r->ifindex);

		if (nd && streq(nd->pci, f->pci->address) && is_hiding(l, r))
			return true;
	}
	return false;
}

static enum reason missing_node(const struct linter *l, const struct function *f)
{
	const struct ibdev *ib = f->ibdev;

	if (f->is_elsewhere)
		return REASON_NONE;
	if (!ib)
		return REASON_NO_IBDEV;
	if (l->config->plugin.type == PLUGIN_SRIOV) /* any of them is enough */
		return *ib->uverbs || *ib->umad || l->node->has_rdma_cm ? REASON_NONE
									: REASON_NO_UVERBS;
	if (!l->node->has_rdma_cm)
		return REASON_NO_RDMA_CM;
	if (!*ib->umad)
		return reason_without_umad(l->config, l->node, f->pci);
	return *ib->uverbs ? REASON_NONE : REASON_NO_UVERBS;
}

/* The rules for a device, whatever the selectors say, in the plugin's order. */
static enum reason broken_rule(const struct linter *l, const struct function *f)
{
	if (!pci_is_network(f->pci))
		return REASON_PLUGIN_CLASS;
	if (l->config->plugin.type == PLUGIN_SRIOV) {
		if (is_hidden(l, f))
			return REASON_PLUGIN_DEFAULT_ROUTE;
		if (f->pci->num_vfs > 0)
			return REASON_PLUGIN_PF_WITH_VFS;
	}
	if (!*f->pci->driver && !f->is_elsewhere)
		return REASON_NO_DRIVER;
	return missing_node(l, f);
}

static size_t count_ibdevs(const struct node *n, const struct pci *f)
{
	size_t count = 0;

	for (size_t i = 0; i < n->n_ibdevs; i++)
		count += streq(n->ibdevs[i].pci, f->address) && !n->ibdevs[i].is_virtual;
	return count;
}

static enum reason broken_dranet_rule(const struct linter *l, const struct function *f)
{
	if (!pci_is_network(f->pci) && !f->ibdev)
		return REASON_PLUGIN_CLASS;
	return is_hidden(l, f) ? REASON_PLUGIN_DEFAULT_ROUTE : REASON_NONE;
}

static enum reason broken_dra_sriov_rule(const struct linter *l, const struct function *f)
{
	const struct pci *pf = node_pci(l->node, f->pci->physfn);

	if (!pci_is_network(f->pci))
		return REASON_PLUGIN_CLASS;
	if (!pf)
		return REASON_PLUGIN_VFS_ONLY;
	if (!node_netdev_of(l->node, pf->address))
		return REASON_PLUGIN_PF_NETDEV;
	return count_ibdevs(l->node, f->pci) > 1 ? REASON_PLUGIN_IBDEVS : REASON_NONE;
}

/* The rules by which a DRA driver finds a function, and by which it can give it to a pod then. */
static enum reason broken_dra_rule(const struct linter *l, const struct function *f)
{
	const enum reason reason = l->config->plugin.type == PLUGIN_DRANET
					   ? broken_dranet_rule(l, f)
					   : broken_dra_sriov_rule(l, f);

	if (reason != REASON_NONE || f->is_elsewhere)
		return reason;
	if (!*f->pci->driver)
		return REASON_NO_DRIVER;
	if (!f->ibdev)
		return REASON_NO_IBDEV;
	return *f->ibdev->uverbs ? REASON_NONE : REASON_NO_UVERBS;
}

static void resource_of(const struct linter *l, const json_t *pool, char *ret, size_t size)
{
	const char *prefix = document_get_text(pool, "resourcePrefix");

	snprintf(ret, size, "%s/%s",
		 *prefix                                  ? prefix
		 : l->config->plugin.type == PLUGIN_SRIOV ? "intel.com"
							  : "rdma",
		 document_get_text(pool, "resourceName"));
}

/* Where the number of a function is kept; NULL for what is no function of the node. */
static size_t *place_of(const struct linter *l, const char *pci)
{
	const struct pci *f = node_pci(l->node, pci);

	return f ? &l->at[f - l->node->pcis] : NULL;
}

/* The number of a function among the exposed ones, from 1; 0: it is not exposed. */
static size_t number_of(const struct linter *l, const char *pci)
{
	const size_t *at = place_of(l, pci);

	if (at)
		return *at;
	for (size_t i = 0; i < l->lint->n_exposed; i++)
		if (streq(l->lint->exposed[i].pci, pci))
			return i + 1;
	return 0;
}

static void expose(struct linter *l, const char *pci, const char *resource)
{
	const size_t before = number_of(l, pci);
	struct exposed *e;
	char detail[256];

	if (before) {
		PRINT(detail, "%.100s and %.100s", l->lint->exposed[before - 1].resource, resource);
		add_finding(l, REASON_PLUGIN_TWO_POOLS, pci, detail);
		if (l->config->plugin.type == PLUGIN_SRIOV)
			return;
	}

	e = APPEND(l->lint->exposed, l->lint->n_exposed);
	l->is_short |= !e;
	if (!e)
		return;
	COPY(e->pci, pci);
	COPY(e->resource, resource);
	if (place_of(l, pci) && !before)
		*place_of(l, pci) = l->lint->n_exposed;
}

static void lint_pool(struct linter *l, const json_t *pool)
{
	char resource[RESOURCE_LEN];

	resource_of(l, pool, resource, sizeof(resource));
	/* No share is no device. */
	if (l->config->plugin.type == PLUGIN_RDMA_SHARED &&
	    document_get_number(pool, "rdmaHcaMax") == 0)
		return add_finding(l, REASON_PLUGIN_EMPTY, resource, "rdmaHcaMax is 0");

	for (size_t i = 0; i < l->node->n_pcis; i++) {
		const struct function f = find_function(l, &l->node->pcis[i]);

		if (broken_rule(l, &f) == REASON_NONE && is_selected(l, &f, pool))
			expose(l, f.pci->address, resource);
	}
}

/* Files */

static bool is_name(const char *name, enum plugin_type type)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return *name && !name[strspn(name, letters)] &&
	       (type == PLUGIN_SRIOV || !strchr(name, '-'));
}

/* Is there an earlier pool of that name? The shared plugin does not look at prefixes. */
static bool is_again(const struct linter *l, const json_t *pools, size_t at)
{
	const json_t *pool = json_array_get(pools, at);

	for (size_t i = 0; i < at; i++) {
		const json_t *other = json_array_get(pools, i);

		if (streq(document_get_text(other, "resourceName"),
			  document_get_text(pool, "resourceName")) &&
		    (l->config->plugin.type == PLUGIN_RDMA_SHARED ||
		     streq(document_get_text(other, "resourcePrefix"),
			   document_get_text(pool, "resourcePrefix"))))
			return true;
	}
	return false;
}

static void check_pool(struct linter *l, const json_t *pools, size_t at)
{
	const json_t *pool = json_array_get(pools, at);
	json_t *selectors = json_object_get(pool, "selectors");
	const size_t n_devices = json_array_size(json_object_get(pool, "devices"));
	const bool is_shared = l->config->plugin.type == PLUGIN_RDMA_SHARED;
	const char *name = document_get_text(pool, "resourceName");

	if (!is_name(name, l->config->plugin.type) || is_again(l, pools, at))
		return refuse(l, REASON_PLUGIN_NAME, *name ? name : "a resource without a name");
	if (is_shared && document_get_number(pool, "rdmaHcaMax") < 0)
		return refuse(l, REASON_PLUGIN_FILE, "rdmaHcaMax is below 0");
	if (is_shared && (n_devices > 0) == has_words(selectors))
		return refuse(l, REASON_PLUGIN_FILE, "neither or both of devices and selectors");
	if (!is_shared && !json_is_object(selectors))
		return refuse(l, REASON_PLUGIN_FILE, "a resource without selectors");
}

static void lint_pools(struct linter *l, const json_t *document, const char *key)
{
	const json_t *pools = json_object_get(document, key);
	const json_t *interval = json_object_get(document, "periodicUpdateInterval");

	if (json_array_size(pools) == 0)
		return refuse(l, REASON_PLUGIN_FILE, key);
	if (interval && (!json_is_integer(interval) || json_integer_value(interval) < 0))
		return refuse(l, REASON_PLUGIN_FILE, "periodicUpdateInterval");

	for (size_t i = 0; i < json_array_size(pools); i++)
		check_pool(l, pools, i);
	for (size_t i = 0; l->lint->refusal == REASON_NONE && i < json_array_size(pools); i++)
		lint_pool(l, json_array_get(pools, i));
}

static void lint_hca(struct linter *l, const json_t *document)
{
	if (!streq(document_get_text(document, "mode"), "hca"))
		return refuse(l, REASON_PLUGIN_FILE, "mode");

	FOREACH(ib, l->node->ibdevs, l->node->n_ibdevs) {
		/* A VF counts beside its PF, by address; the ibdevs of one function count once. */
		if (!ib->is_virtual && !number_of(l, *ib->pci ? ib->pci : ib->name))
			expose(l, *ib->pci ? ib->pci : ib->name, HCA_RESOURCE);
	}
	FOREACH(d, l->plan->devices, l->plan->n_devices)
		if (output_plugin_offers(d) && (d->is_in_pod || d->is_lost) &&
		    !number_of(l, d->pci->address))
			expose(l, d->pci->address, HCA_RESOURCE);
}

/* dranet finds all NICs; dra-driver-sriov publishes what a SriovResourcePolicy names: our PFs. */
static void lint_dra(struct linter *l)
{
	for (size_t i = 0; i < l->node->n_pcis; i++) {
		const struct function f = find_function(l, &l->node->pcis[i]);

		if ((f.device || l->config->plugin.type == PLUGIN_DRANET) &&
		    broken_dra_rule(l, &f) == REASON_NONE)
			expose(l, f.pci->address,
			       f.device ? output_plugin_resource(l->config, f.device)
					: l->config->plugin.resource);
	}
}

static void lint_document(struct linter *l, const json_t *document, const char *problem)
{
	if (!json_is_object(document))
		return refuse(l, REASON_PLUGIN_FILE, problem);

	switch (l->config->plugin.type) {
	case PLUGIN_SRIOV:
		return lint_pools(l, document, "resourceList");
	case PLUGIN_HCA:
		return lint_hca(l, document);
	default:
		return lint_pools(l, document, "configList");
	}
}

/*
 * Finds devices that have a place in the file and are not exposed, each with the rule that keeps it
 * out. A PF that loses its VFs by this plan is exposed after it. Return: is there one?
 */
static bool find_missing(struct linter *l)
{
	bool is_later = false;

	FOREACH(d, l->plan->devices, l->plan->n_devices) {
		const struct function f = find_function(l, d->pci);
		const struct action *vfs;
		enum reason reason;

		if (!output_plugin_offers(d) || number_of(l, d->pci->address))
			continue;
		vfs = plan_num_vfs(l->plan, d->pci->address);
		if (vfs && vfs->class == CLASS_CHANGE) {
			is_later = true;
			continue;
		}
		l->lint->n_withheld += d->is_usable;
		reason = l->config->plugin.type == PLUGIN_HCA      ? REASON_NO_IBDEV
			 : plugin_has_file(l->config->plugin.type) ? broken_rule(l, &f)
								   : broken_dra_rule(l, &f);
		add_finding(l, reason == REASON_NONE ? REASON_PLUGIN_NOT_SELECTED : reason,
			    d->pci->address, output_plugin_resource(l->config, d));
	}
	return is_later;
}

static void find_foreign(struct linter *l)
{
	FOREACH(e, l->lint->exposed, l->lint->n_exposed) {
		const struct pci *pci = node_pci(l->node, e->pci);
		const struct device *d = pci ? plan_device(l->plan, pci) : NULL;

		const enum reason why = !d                        ? REASON_NONE
					: d->aside != REASON_NONE ? d->aside
								  : d->reason;
		char detail[192];

		snprintf(detail, sizeof(detail), "%s%s%s", e->resource,
			 why != REASON_NONE ? ", " : "", reason_code(why));
		e->is_foreign = !d || !output_plugin_offers(d);
		l->lint->n_foreign += e->is_foreign;
		if (e->is_foreign)
			add_finding(l, REASON_PLUGIN_FOREIGN, e->pci, detail);
	}
}

int output_lint(const struct config *c, const struct node *n, const struct plan *p,
		const char *text, struct lint *ret)
{
	_cleanup_(lint_done) struct lint lint = {};
	_cleanup_(freep) size_t *at = calloc(n->n_pcis + 1, sizeof(*at));
	struct linter l = { .config = c, .node = n, .plan = p, .lint = &lint, .at = at };
	json_error_t error = {};
	json_auto_t *document = NULL;

	if (!at || (plugin_has_file(c->plugin.type) &&
		    document_parse(text, strlen(text), 0, &document, &error) == -ENOMEM))
		return -ENOMEM;
	if (!plugin_has_file(c->plugin.type))
		lint_dra(&l);
	else if (n->netns_mode == NETNS_MODE_EXCLUSIVE && c->plugin.type != PLUGIN_SRIOV)
		refuse(&l, REASON_NETNS_EXCLUSIVE, "");
	else
		lint_document(&l, document, error.text);
	if (lint.refusal == REASON_NONE) {
		const bool is_later = find_missing(&l);

		find_foreign(&l);
		if (lint.n_exposed == 0 && !is_later)
			refuse(&l, REASON_PLUGIN_EMPTY, "");
	}
	return GIVE(l.is_short ? -ENOMEM : 0, lint, ret);
}

static bool names_erdma(const char *match)
{
	return match && (given_has_word(match, "driver:erdma", "") ||
			 given_has_word(match, "id:1ded:107f", ""));
}

enum reason output_lint_config(const struct config *c, char *detail, size_t size)
{
	if (c->driver.mode != DRIVER_MODE_DEFAULT || c->plugin.type != PLUGIN_RDMA_SHARED)
		return REASON_NONE;

	for (size_t i = 0; i < c->n_devices; i++)
		if (names_erdma(c->devices[i].match)) {
			snprintf(detail, size, "[Device %s]", c->devices[i].name);
			return REASON_PLUGIN_NO_MAD;
		}
	return REASON_NONE;
}
