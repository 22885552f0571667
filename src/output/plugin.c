/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin.h"

#include "../model/wanted.h"
#include "document.h"

#define UPDATE_INTERVAL 60 /* seconds */

static bool is_offered(const struct device *d)
{
	return d->is_handed_out && (d->is_usable || d->is_lost);
}

/* The netdev the plugin finds below the function itself; empty: none. That of erdma is a function
 * of its own. */
static const char *own_name(const struct device *d)
{
	if (d->is_in_pod || d->is_lost)
		return is_erdma(d->pci) ? "" : d->netdev_name;
	if (d->netdev && streq(d->netdev->pci, d->pci->address))
		return d->netdev->name;
	return "";
}

/* Would the plugin take this function, once a selector matches it? */
static bool is_taken(const struct device *d)
{
	return *d->pci->driver &&
	       (is_offered(d) || (d->ibdev && *d->ibdev->uverbs && *d->ibdev->umad));
}

/* Any of each list: two kinds of devices can select a third one. */
static bool is_selected(const struct plan *p, const struct pci *f)
{
	bool vendor = false, device = false, driver = false;

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct pci *other = p->devices[i].pci;

		if (!is_offered(&p->devices[i]))
			continue;
		vendor = vendor || other->vendor == f->vendor;
		device = device || other->device == f->device;
		driver = driver || streq(other->driver, f->driver);
	}

	return vendor && device && driver;
}

static bool are_ids_exact(const struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];

		if (!is_offered(d) && is_taken(d) && is_selected(p, d->pci))
			return false;
	}

	return true;
}

/* The one way in which the whole entry speaks of its devices. */
enum kind {
	KIND_NONE,
	KIND_NAMES,
	KIND_IDS,
};

static enum kind kind_of(const struct plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (is_offered(&p->devices[i]) && *own_name(&p->devices[i]))
			return KIND_NAMES;

	return are_ids_exact(p) ? KIND_IDS : KIND_NONE;
}

static bool has(enum kind kind, const struct device *d)
{
	return is_offered(d) && kind != KIND_NONE && (kind == KIND_IDS || *own_name(d));
}

bool output_plugin_has(const struct plan *p, const struct device *d)
{
	return has(kind_of(p), d);
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
	json_t *list = json_object_get(selectors, key);

	if (list)
		return add_sorted(list, text);
	if (json_object_set_new(selectors, key, json_array()) < 0)
		return -ENOMEM;

	return add_sorted(json_object_get(selectors, key), text);
}

static int add_ids(json_t *selectors, const struct pci *f)
{
	char vendor[8], device[8]; /* "1ded": pkg/resources/device_selectors.go compares text */
	int r;

	snprintf(vendor, sizeof(vendor), "%04x", f->vendor);
	snprintf(device, sizeof(device), "%04x", f->device);

	r = add(selectors, "vendors", vendor);
	if (r >= 0)
		r = add(selectors, "deviceIDs", device);
	if (r >= 0)
		r = add(selectors, "drivers", f->driver);

	return r;
}

static int make_selectors(const struct plan *p, json_t **ret)
{
	json_auto_t *selectors = json_object();
	const enum kind kind = kind_of(p);

	if (!selectors)
		return -ENOMEM;

	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		int r;

		if (!has(kind, d))
			continue;

		r = kind == KIND_NAMES ? add(selectors, "ifNames", own_name(d))
				       : add_ids(selectors, d->pci);
		if (r < 0)
			return r;
	}

	*ret = TAKE(selectors);
	return 0;
}

int output_plugin(const struct config *c, const struct plan *p, char **ret)
{
	json_auto_t *selectors = NULL, *document = NULL;
	const char *resource = c->plugin.resource, *slash = strrchr(resource, '/');
	char prefix[sizeof(c->plugin.resource)];
	int r;

	r = make_selectors(p, &selectors);
	if (r < 0)
		return r;
	if (json_object_size(selectors) == 0) {
		*ret = NULL;
		return 0;
	}

	/* "" and no prefix at all mean "rdma" to the plugin. */
	snprintf(prefix, sizeof(prefix), "%.*s", slash ? (int)(slash - resource) : 0, resource);

	document = json_pack("{s:i, s:[{s:o, s:o, s:I, s:O}]}", "periodicUpdateInterval",
			     UPDATE_INTERVAL, "configList", "resourceName",
			     document_text(slash ? slash + 1 : resource), "resourcePrefix",
			     document_text(prefix), "rdmaHcaMax", (json_int_t)c->plugin.shares,
			     "selectors", selectors);

	return document ? document_print(document, ret) : -ENOMEM;
}
