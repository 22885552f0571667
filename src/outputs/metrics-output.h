/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: the text file for node_exporter's textfile collector.
 *
 * Pure text, in Prometheus' exposition format. It tells when and how the last pass was that changed
 * something, and is where that is kept: it outlives a reboot with the file. No other time is in it,
 * so a pass that changes nothing leaves its bytes as they are. A device in a pod is usable.
 *
 *     rdma_provision_ready                              0 or 1
 *     rdma_provision_state{state}                       1 for the one state, 0 for the others
 *     rdma_provision_devices{state, reason}             functions handed out: "usable" (reason
 *                                                       "none"), "unusable"; "missing": NICs
 *                                                       that Expect= asks for
 *     rdma_provision_reasons{code, severity, pci}       how many there are now of each code: of a
 *                                                       NIC with its VFs, or of the node (pci "")
 *     rdma_provision_changes{class}                     those that are not made, and why
 *     rdma_provision_resource_devices{resource}         devices that the plugin exposes
 *     rdma_provision_build_info{version}                1
 *     rdma_provision_virtual_functions_wanted{pci}      of each NIC, where a number is asked for
 *     rdma_provision_virtual_functions_present{pci}
 *     rdma_provision_health{target, code}               1 for each hint about health
 *     rdma_provision_link_losses_total{pci}             with [Health], of each NIC
 *     rdma_provision_link_returns_total{pci}
 *     rdma_provision_link_flapping{pci}
 *     rdma_provision_last_change_timestamp_seconds      the end of that pass
 *     rdma_provision_last_change_duration_seconds
 *     rdma_provision_last_change_steps                  changes made in it
 */
#pragma once

#include "../model/plan.h"

/* The whole file, with memory.last_change when there is one. Return: 0 or -ENOMEM. */
int metrics_text(const struct config *c, const struct node *n, const struct memory *memory,
		 const struct plan *p, char **ret);

/* The last change that a file of ours tells of. Return: 0, or -ENODATA when it tells of none. */
int metrics_read_change(const char *text, struct last_change *ret);
