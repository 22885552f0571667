/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: of the kubelet, from facts to verdict: how it is started, what its settings will be at
 * its next start, who decides that and since when, what is done about it and by which row of the
 * table, and whether the device plugin gives the topology manager anything to work with.
 *
 * Pure.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_explain_kubelet() - for people, or as the document of "explain kubelet --json"
 *
 * {
 *   "present", "unit", "version", "config", "config_dir": "" for none; "managed_by", "problem",
 *   "running", "deferred": it was started before our last edit, "since": that edit, "" for none,
 *   "settings": [ { "key", "value", "source": "default", "file", "drop-in", "flag" or "unknown",
 * "path", "line", "wanted": "" is left alone, "row": of the decision table, 0 for none, "outcome":
 *       as in state.json, "way": how it would be edited, "edits": the file, "code", "detail",
 *       "advice" } ],
 *   "cpus": { "reserved", "online", "checkpoint": policy of the state file, "" for none },
 *   "plugin", "hints": does the device plugin tell NUMA nodes
 * }
 *
 * Return: 0 or -ENOMEM. Release @ret with free().
 */
int output_explain_kubelet(const struct config *c, const struct node *n, bool is_json, char **ret);

/* The word of an item for programs: "pending" is what kubelet-ensure would change; "" for none. */
const char *output_kubelet_outcome(const struct kubelet_item *item);

/*
 * Does the chosen device plugin tell NUMA nodes? Without that the topology manager has nothing to
 * align: k8s-rdma-shared-dev-plugin reports no TopologyInfo at all, and the mode hca of
 * k8s-rdma-sriov-dev-plugin has 1000 numbers that are no devices (its server.go).
 */
bool output_has_hints(const struct config *c);
