/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: the configuration of k8s-rdma-shared-dev-plugin for the devices that are handed out.
 *
 * Pure text. Is not the decision whether a plugin may be told yet, and writes no file.
 *
 * The plugin (pkg/resources/resources_manager.go, pkg/types/types.go) selects by lists: any of one
 * list, and all of the lists that are there. None of them is a PCI address, and two entries of one
 * resource are not allowed, so one entry has to say it all:
 *
 * - Devices whose function has a network device are named by it in "ifNames", which is exact. One
 * in a pod keeps the name it had here, so that the file does not change while pods come and go.
 * - Devices whose function has none (eRDMA: its netdev is a PCI function of its own) can only be
 * told by vendor, device and driver. That is written when it selects no other managed function that
 * the plugin would take, i.e. one with a driver, a uverbs and an umad node; functions that no
 * [Device] section matches are not seen here.
 * - Both kinds at once do not fit into one entry. The named ones are written, as they are exact,
 * and the others left out.
 *
 * "periodicUpdateInterval" is 60 seconds, the plugin's default, said so that no other default
 * changes it: a card that comes back gets other character devices, and with 0 the plugin would go
 * on handing out those that are gone. It looks at the devices only, never again at its file.
 */
#pragma once

#include "../model/paths.h"
#include "../model/plan.h"

/**
 * output_plugin() - the plugin's config.json
 * @c:    for the resource ("rdma/hca": a prefix up to the last '/', and a name) and the shares
 * @p:    for the devices
 * @ret:  the text, equal for equal nodes; NULL when there is no device to write, as the plugin
 * takes an entry without selectors for an error: then no file may be there
 *
 * Return: 0, or -ENOMEM.
 */
int output_plugin(const struct config *c, const struct plan *p, char **ret);

/**
 * output_plugin_has() - does that text hand out this device?
 * @p:  the plan
 * @d:  a device of it
 *
 * False for a device that is handed out and usable means: the plugin's file has no words for it.
 */
bool output_plugin_has(const struct plan *p, const struct device *d);
