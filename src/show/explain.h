/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: why one device is or is not usable, from facts to verdict.
 *
 * Pure. What is not known is left out, or said to be not known: never guessed.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_explain_find() - the function that a person means
 * @name: a PCI address, with or without its domain; a netdev; an RDMA device. Of eRDMA, whose
 * netdev is another function, a netdev means the RDMA function. Names that a device had before it
 * went into a pod count as well
 *
 * Return: NULL when there is none. A virtual RDMA device (rxe) has no function.
 */
const struct pci *output_explain_find(const struct node *n, const struct plan *p, const char *name);

/* Names that output_explain_find() takes, one after the other: NULL at the end, "" for a gap. */
const char *output_explain_name(const struct node *n, size_t i);

/**
 * output_explain() - why a device is or is not usable, for people or as the document of "explain
 * --json"
 *
 * {
 *   "pci", "id": "15b3:101e", "numa_node": -1 when none is known, "pf": of a VF, else "",
 *   "section": the [Device NAME] that matched its PF, "" for none, "mode": its VirtualFunctions=,
 *   "sections": [ { "name", "match" } ]           all there are, in the order in which they count
 *   "vfs": { "wanted": -1 leaves them alone, "present", "possible",
 *       "words": which section says so, and before which others that match },
 *                                               for a VF of its PF, null when that is not there
 *   "driver": { "name": bound to, "" for none, "module", "state": "missing", "blacklisted",
 *       "available", "loaded", "builtin" or "" when not known,
 *       "path", "version", "srcversion": of the file,
 *       "loaded_version", "loaded_srcversion",
 *       "origin": "in-tree", "out-of-tree" or "", "evidence": how that is known,
 *       "stale": installed but not reloaded, "refcnt": -1 when not known, "holders",
 *       "parameters": [ { "name", "type", "value": in force, "" when that is not known,
 *           "source": "own-file", "file", "command-line", "default" (or given by hand: the kernel
 *           does not tell them apart), or "" when nothing is in force,
 *           "file", "line", "said": the last option there is for it, which is not in force when
 *           the source is "default"; "" and 0 for none } ] },
 *   "ibdev": { "name", "node_type", "node_guid", "uverbs", "umad", "rdma_cm": bool,
 *       "active_mtu": 0 when not known, "contexts": -1 when not known,
 *       "verbs": "opened", "not tried" or the error, "ports": as in state.json }, null without one
 *   "netdev": { "name", "mac", "perm_mac", "mtu", "up", "carrier", "master" },  null without one
 *   "netns_mode": "shared", "exclusive", "keep": not known, "copy": bool, "users_known",
 *   "users": [ { "target", "use", "pid", "command", "container", "detail" } ],
 *   "managed", "handed_out", "usable", "in_pod", "aside": code, when it is left to the host,
 *   "why_not": words, when it is usable and not handed out,
 *   "code", "meaning", "detail", "advice": why not usable, or "in-pod"; "" else, "actions": [ {
 *       "target", "verb", "subject", "from", "to", "class", "code", "detail", "advice" } ],
 *   "hints": [ { "code", "target", "detail", "meaning", "advice" } ], "health": the same, of it and
 *       of all, "pcie": { "speed", "width": as it is, "max_*": of the card, "slot_*": of the port
 *       above; MT/s; 0: not known }, null when nothing is, "iommu": type of its group,
 *   "kernel": lines of its log, "notes": what to know of such a device, "node_nic": why the node
 *   needs it, "nccl": which of its ports are listed, "qos": as in state.json
 * }
 *
 * Users, actions and hints are those of the function, its PF and its module.
 *
 * Return: 0, or -ENOMEM.
 */
int output_explain(const struct config *c, const struct node *n, const struct memory *memory,
		   const struct plan *p, const struct pci *pci, bool is_json, char **ret);

/**
 * output_explain_kubelet() - for people, or as the document of "explain kubelet --json"
 *
 * {
 *   "present", "unit", "version", "config", "config_dir": "" for none; "root_dir", "managed_by",
 *   "problem", "running", "deferred": it was started before our last edit, "since": that edit,
 *   "settings": [ { "key", "value", "source": "default", "file", "drop-in", "flag" or "unknown",
 *       "path", "line", "wanted": "" is left alone, "row": of the decision table, 0 for none,
 *       "outcome": as in state.json, "way": how it would be edited, "edits": the file, "code",
 *       "detail", "advice" } ],
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

/**
 * output_explain_plugin() - for people, or as the document of "explain plugin --json"
 * @n: with all processes of the plugin in plugin_processes, when has_processes
 *
 * {
 *   "type", "path", "devices": [ { "pci", "resource" } ], "excluded": [ { "target", "code",
 *       "meaning", "detail", "advice" } ]: as in "check --json"; the last two are empty with
 *       Type=none,
 *   "resources": [ { "resource", "devices" } ]: the pools of "devices", in the order of the file,
 *   "written": the file has what it should have, "waits": code of why it is not written, or "",
 *   "manifest": path of its static pod, "" without one,
 *   "processes_known", "processes": [ { "pid", "command", "container", "since_change": seconds from
 *       the last change of the file to its start, below 0: it has not read it; null: there is no
 *       file } ],
 *   "exposes": how many devices the running configuration comes to, without plugin-foreign,
 *   "code", "meaning", "detail", "advice": what is in the way of that; "" for nothing. Without any
 *       device to expose it is the reason of the first of "excluded", else of the item of the plan
 *       that there is none yet, else of the one for the file
 * }
 *
 * Return: 0 or -ENOMEM.
 */
int output_explain_plugin(const struct config *c, const struct node *n, const struct memory *memory,
			  const struct plan *p, bool has_processes, bool is_json, char **ret);
