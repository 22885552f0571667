/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: state.json, what this service tells of a node, and what its next pass must know of this
 * one.
 *
 * Pure text, both ways. It has no time stamps: a finished node gives equal bytes at every pass.
 *
 * {
 *   "schema": 1,
 *   "boot_id", "config_hash",
 *   "state": "starting", "ready" or "degraded",
 *   "reasons": [ { "code", "target", "advice", "meaning", "detail" } ],
 *   "health": [ the same: hints about what works and could do better ],
 *   "devices": [ {                                each PF that is managed
 *       "pci", "driver", "numa_node": -1 when none is told, "netdev", "ibdev",
 *       "mtu": of the netdev, 0 without one,
 *       "active_mtu": of the RDMA port in bytes, as libibverbs told it; 0: not known,
 *       "ports": [ { "port", "state", "link_layer", "rate",
 *                    "gid_index": the first RoCE v2 GID of an IPv4 address of its netdev, or -1,
 *                    "gids": [ { "index", "gid", "type", "netdev" } ] } ],
 *       "mode": "keep", "exclusive", "shared" or "shared-multi", "section": NAME of [Device NAME],
 *       "handed_out", "usable", "in_pod", "code": why not usable, or "in-pod",
 *       "total_vfs",
 *       "vfs": [ the same without the last two ] } ],
 *   "plugin": { "type", "path", "written": the file has what it should have, "devices": how many
 * are in it, "resources": [ { "resource", "devices" } ], "left_out": [ usable functions that the
 * plugin's file has no words for ], "manifest": path of its static pod, "" without one },
 *   "kubelet": { "policy": in force at its next start, "scope", "cpu_policy", "source": who says
 * so, "path", "line", "outcome": what becomes of what was asked for, "code", "detail", "since":
 * when our edits began, "deferred": the running one was started before the last of them, "hints":
 * the device plugin tells NUMA nodes }, "memory": { "devices": [ { "pci", "card": permanent MAC,
 * "unsupported": bits, "rebuilt", "ibdev", "virtual", "netdev", "index", "active_mtu", "mtu",
 * "usable", "lost", and where there is one "usable_instance", "no_carrier_usec", "sick",
 * "sick_pid", "instance" } ], "settled", "stuck", "stuck_pid": where there is one, "plugin_path":
 * where the plugin's file was written, "failures": [ { "verb", "target", "to", "result", "error" }
 * ] }, "smc": { "enable": "no", "auto" or "yes", "loaded": the table could be read, "pnetids": [ {
 * "pnetid", "netdev", "ibdev", "port" } ] }, "boots": [ { "boot_id", "time": seconds since 1970,
 * "kernel", "state": the last one, "starting" when it came to no end, "steps": [ { "verb",
 * "target", "to", "outcome": "never-ended", "failed" or "skipped", "error" } ] } ]
 * }
 *
 * "health" is there only where there is one: of each NIC, and of units that start containers. "smc"
 * is there only where it is asked for or loaded. Each of its entries is of a netdev or of an
 * RDMA device, whosever it is; the other name is "", and the port of a netdev 0.
 *
 * "boots" is there only where one of the last three before this one did not end ready, or failed at
 * a step that can crash a machine: model/boots.h. The oldest comes first.
 *
 * A text that is not known is "". A target "" is the whole node. "memory" is for this service
 * alone.
 */
#pragma once

#include "../model/message.h"
#include "../model/plan.h"

/**
 * output_state() - all of state.json
 * @c:    what was asked for
 * @n:    the node as it was last seen
 * @p:    the plan for it; what was tried of it and failed becomes a reason
 * @ret:  the text
 *
 * Reasons come in this order, each code once for a target: configuration, devices that are handed
 * out and not usable, actions, hints.
 *
 * Memory: a function was usable when it is, or was before in this boot. Names of what is not seen
 * now are kept. "index" is of the ibdev that libibverbs opened, -1 for none. "stuck" is the target
 * of a PCI write that ended in -ETIMEDOUT, kept until the next boot.
 *
 * Return: 0, or -ENOMEM.
 */
int output_state(const struct config *c, const struct node *n, const struct plan *p, char **ret);

/**
 * output_parse_memory() - what an earlier pass of this boot left for this one
 * @json:     a text of output_state(), or anything at all
 * @boot_id:  of the present boot: nothing is taken from another
 * @n:        memories (sorted), last_state, last_hash, was_settled and stuck are filled
 *
 * An entry that is malformed is left out, and nothing else with it.
 *
 * Return: 0, also for another boot; -EINVAL for what is no such text, -ENOMEM: then @n is as it
 * was.
 */
int output_parse_memory(const char *json, const char *boot_id, struct node *n);

/*
 * The state that a text of output_state() tells, of this boot or, with NULL, of any. Nothing else
 * of the text is looked at. Return: 0, -ENOENT for another boot, or -EINVAL.
 */
int output_read_state(const char *json, const char *boot_id, enum node_state *ret);

/**
 * output_add_config_changed() - the reason configuration-changed, before all others
 * @hash: of the configuration on disk; NULL: it is malformed
 * @json: a text of output_state(); replaced where it is of another configuration: by the hash, or
 *        for NULL where it does not say config-invalid itself
 *
 * Return: 1 when it was added, 0 when the text is as it was, -EINVAL or -ENOMEM.
 */
int output_add_config_changed(const char *hash, char **json);

/**
 * output_degrade() - the same text, of a degraded node
 * @json:   a text of output_state()
 * @hash:   of the configuration in force; what is remembered of failures is of that one
 * @reason: why, before all others, and once
 *
 * Return: 0, -EINVAL for what is no such text of this boot, or -ENOMEM.
 */
int output_degrade(const char *json, const char *boot_id, const char *hash, enum reason reason,
		   const char *detail, char **ret);

/* A text of output_state() in one line, for readers of JSON lines. Return: 0, -EINVAL or -ENOMEM.
 */
int output_state_line(const char *json, char **ret);

/* "ports" of one device with this netdev; none for NULL. Return: NULL when there is no memory. */
struct json_t;
struct json_t *output_ports(const struct ibdev *d, const char *netdev);

/**
 * output_news() - what the journal has to be told when a state follows another
 * @before:  a text of output_state(), or NULL
 * @after:   another
 * @ret:     first what is over, then what is new, each in the order of its document; owned
 *
 * While a node starts, what it still lacks is no news: nothing comes of an @after that is starting,
 * and a @before that is, is no text, or of another boot, counts as one without reasons. New is
 * whatever differs, be it in its detail alone; over is a code that its target has not any more.
 *
 * Return: 0 or -ENOMEM.
 */
int output_news(const char *before, const char *after, struct news **ret, size_t *ret_n);
