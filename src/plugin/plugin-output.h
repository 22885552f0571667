/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: the configuration of a device plugin for the devices that are handed out.
 *
 * Pure text. Is not the decision whether a plugin may be told yet, and writes no file. Devices of
 * one Resource= are a pool; pools stand in the order of their names' bytes, devices within them in
 * the order of the plan, so that equal nodes give equal bytes.
 *
 * Type=rdma-shared, k8s-rdma-shared-dev-plugin (pkg/resources/resources_manager.go,
 * pkg/types/types.go): selects by lists, any of one list, and all of the lists that are there. None
 * of them is a PCI address, so one entry has to say a whole pool:
 *
 * - By vendor, device and driver, when that takes no other function of the node that the plugin
 * would take, i.e. one with a driver, a uverbs and an umad node. It holds whatever the network
 * devices are called, and while one of them is in a pod. Where a usable device has no name for the
 * list below, an unusable one of the pool is taken beside it (plugin-foreign), unless it flaps.
 * - Else by the names of network devices, which is exact: of each function the name that the plugin
 * has for it, which may be a representor's. One in a pod keeps the name it had here, so that the
 * file does not change while pods come and go. A function without a network device of its own
 * (eRDMA: that is a PCI function of its own) is left out then.
 *
 * "periodicUpdateInterval" is 60 seconds, the plugin's default, said so that no other default
 * changes it: a card that comes back gets other character devices, and with 0 the plugin would go
 * on handing out those that are gone. It looks at the devices only, never again at its file.
 *
 * Type=sriov, sriov-network-device-plugin (pkg/types/types.go): by PCI addresses, with "isRdma".
 * Each device is one of the resource, VF or PF.
 *
 * Type=hca, k8s-rdma-sriov-dev-plugin: {"mode": "hca"}. It selects nothing, and hands out every
 * RDMA device of the node.
 */
#pragma once

#include <jansson.h>

#include "../model/paths.h"
#include "../model/plan.h"

/**
 * output_plugin() - the plugin's config.json
 * @c:    for the type, the resources ("rdma/hca": a prefix up to the '/', and a name) and shares
 * @n:    for the functions that no section matches
 * @p:    for the devices
 * @ret:  the text, equal for equal nodes; NULL when there is no device to write, as plugins take an
 * entry without selectors for an error: then no file may be there
 *
 * Return: 0, or -ENOMEM.
 */
int output_plugin(const struct config *c, const struct node *n, const struct plan *p, char **ret);

/**
 * output_plugin_has() - does that text hand out this device?
 * @d:  a device of @p
 *
 * False for a device that is handed out and usable means: the plugin's file has no words for it.
 */
bool output_plugin_has(const struct config *c, const struct node *n, const struct plan *p,
		       const struct device *d);

/* Does the device have a place in the file? It has if it is usable, or not to be missed yet. */
bool output_plugin_offers(const struct device *d);
/* Why a device that is handed out has no place in the file. */
enum reason output_plugin_reason(const struct device *d);
/* Does the plugin expose it now, by its own rules? */
bool output_plugin_exposes(const struct plan *p, const struct device *d);
/*
 * The name that the shared plugin has for a function (NewPciNetDevice()): of the netdevs below the
 * function itself, representors among them, the first in the order of bytes; "" without one. @d is
 * its device, or NULL.
 */
const char *output_plugin_netdev(const struct node *n, const struct pci *pci,
				 const struct device *d);
/*
 * How many of a resource the node offers, as "kubectl get node" shows it, when its pool has
 * @n_devices: one for each, or, where each share is of all of them, the number of shares. That is
 * Shares= of rdma-shared, and 1000 of hca (RdmaHcaMaxResources in the plugin's server.go).
 */
bool output_plugin_is_shared(const struct config *c);
uint32_t output_plugin_allocatable(const struct config *c, size_t n_devices);
/* The resource and its amount in words, for "resources" of state.json and "explain plugin". */
#define OUTPUT_PLUGIN_AMOUNT                                                                       \
	"{resource}: {allocatable}[{?shared}, each with {devices} [{?devices=1}device|devices]]"
/* Only a pool of both kinds of fabric says how many are of InfiniBand. */
#define OUTPUT_PLUGIN_MIX                                                                          \
	"[; {+infiniband} of InfiniBand, the others of Ethernet: a pod gets "                      \
	"[{?shared}both|either]]"
json_t *output_plugin_resource_item(const struct config *c, const char *resource, size_t n_devices,
				    size_t n_infiniband);
/* An item for each pool, with the devices that the plugin exposes, in the order of their names. */
json_t *output_plugin_resources(const struct config *c, const struct plan *p);

/* The pool of a device: its section's Resource=, or that of [DevicePlugin]. */
const char *output_plugin_resource(const struct config *c, const struct device *d);

/* The resource of usable devices that comes after @last in the order of bytes; NULL: none does. */
const char *output_plugin_next_resource(const struct config *c, const struct plan *p,
					const char *last);

/**
 * output_plugin_all() - all that a plugin is to read: for plan_make()
 *
 * Sets p->plugin, p->manifest and p->lint; of a DRA driver the last alone. Return: 0 or -ENOMEM.
 */
int output_plugin_all(const struct config *c, const struct node *n, struct plan *p);

/**
 * output_manifest() - the pod
 * @c:        for the type, the image and the folder of the plugin's file
 * @root_dir: of the kubelet: the way in which the plugin registers depends on it
 * @document: the text of that file, for the hash
 * @ret:      YAML, owned by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int output_manifest(const struct config *c, const char *root_dir, const char *document, char **ret);

/**
 * output_dra() - all of them, as a stream of YAML documents
 * @c: with Type=sriov or dra-sriov they are of dra-driver-sriov, else of dranet
 *
 * Return: 0, -ENODATA when no device of this node is usable by the driver, -EEXIST when two
 * resources would have objects of one name, -E2BIG when a name or an expression is longer than the
 * API takes, or -ENOMEM.
 */
int output_dra(const struct config *c, const struct node *n, const struct plan *p, char **ret);
