/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: the files this service owns, below the root and hence without "/".
 *
 * Files in /run are of this boot alone, so no program reads the state of an earlier one.
 */
#pragma once

#define MAX_STATE_BYTES (16u << 20)

#define RUN_FOLDER         "run/rdma-provision"
#define LOCK_PATH          "run/rdma-provision/lock" /* held for one pass */
#define STATE_PATH         "run/rdma-provision/state.json"
#define DEGRADED_PATH      "run/rdma-provision/state.json.degraded" /* becomes it by rename */
#define READY_PATH         "run/rdma-provision/ready" /* there only while the node is ready */
#define PLUGIN_CONFIG_PATH "run/rdma-provision/device-plugin/config.json"
#define PLUGIN_FOLDER      "run/rdma-provision/device-plugin/"
/* The first line of a static pod that we wrote: none without it is ever replaced or removed. */
#define MANIFEST_MARK  "# Written by rdma-provision, and replaced when the node changes."
#define LAST_GOOD_PATH "var/lib/rdma-provision/last-good.conf"

/* The memory of this boot, and over boots: os/memory-file.h. */
#define MEMORY_BOOT_PATH "run/rdma-provision/memory.json"
#define MEMORY_NODE_PATH "var/lib/rdma-provision/memory.json"
#define MEMORY_LOCK_PATH "run/rdma-provision/memory.lock" /* held for one write of either */
#define LANES_LOCK_PATH  "run/rdma-provision/lanes.lock"  /* while a lane reads and writes it */
#define MAX_MEMORY_BYTES (16u << 20)

/* Files of "set": values, and a link to a preset. */
#define DROPIN_FOLDER "etc/rdma-provision/rdma-provision.conf.d"
#define SET_NAME      "50-set.conf"
#define SET_PATH      DROPIN_FOLDER "/" SET_NAME
#define PRESET_NAME   "10-preset.conf"
#define PRESET_PATH   DROPIN_FOLDER "/" PRESET_NAME
#define PRESET_FOLDER "usr/lib/rdma-provision/presets"
#define SET_LOCK_PATH "run/rdma-provision/set.lock" /* while "set" or "unset" runs */

/* The socket of the helper that speaks IP: rdma-provision-metadata.socket. */
#define METADATA_SOCKET_PATH "run/rdma-provision-metadata.socket"

/* Options of modules. The first of them hides the second, so there is a third: module-options.h
 * knows all.
 */
#define MODPROBE_BAKED_PATH "etc/modprobe.d/zz-rdma-provision.conf" /* of an image, by "bake" */
#define MODPROBE_PATH       "run/modprobe.d/zz-rdma-provision.conf" /* of this boot, by "early" */
#define MODPROBE_LAST_PATH  "run/modprobe.d/zzz-rdma-provision.conf"

#define RULES_PATH "run/udev/rules.d/79-rdma-provision.rules"

/* The kubelet: its version and command line, the lock and the record of edits. Files that
 * kubelet-ensure trusts are in folders that the service cannot write to. */
#define KUBELET_VERSION_PATH "run/rdma-provision-kubelet/version"
#define KUBELET_LOCK_PATH    "run/rdma-provision/kubelet.lock"
#define KUBELET_CMDLINE_PATH "var/lib/rdma-provision-kubelet/cmdline"
#define KUBELET_RECORD_PATH  "var/lib/rdma-provision-kubelet/record.json"

/* A request of "apply" to a running service, and the answer: apply-request.h. */
#define REQUEST_PATH "run/rdma-provision/request"
#define ANSWER_PATH  "run/rdma-provision/answer"

/* Wishes to systemd, and what it keeps while it carries them out: want.h. */
#define WANT_FOLDER "run/rdma-provision/want"
#define WORK_FOLDER "run/rdma-provision-work"

/* After "revert": a running service changes nothing until its next start, reload or "apply". */
#define HOLD_PATH "run/rdma-provision/hold"
