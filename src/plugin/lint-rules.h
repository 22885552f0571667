/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lint: what a device plugin would make of its file on this node, by the plugin's own rules.
 *
 * Pure: it replays what the plugin does with any text in place of its file, ours or not. Published
 * plugins are quiet when a rule is broken: they expose less, or nothing. Rules, and where they are:
 *
 * k8s-rdma-shared-dev-plugin, pkg/resources/resources_manager.go: names of letters, digits and "_",
 * each once whatever its prefix; "devices" or "selectors", not both, not none; no start in the RDMA
 * namespace mode "exclusive"; only PCI class 02 with a bound driver; a device needs rdma_cm, umad
 * and uverbs; selectors are any of each list, and all of the lists; "ifNames" knows only the first
 * netdev of a function (pci_net_device.go). A device may be in several pools.
 *
 * sriov-network-device-plugin, cmd/sriovdp/manager.go and pkg/netdevice: names also of "-", each
 * once for a prefix; only PCI class 02 with a bound driver; not the NIC of the IPv4 default route,
 * not a PF with VFs; "isRdma" needs an RDMA device with a character device; the first pool that
 * selects a device has it.
 *
 * k8s-rdma-sriov-dev-plugin with {"mode": "hca"}: hands out all RDMA devices.
 *
 * dranet, a DRA driver, pkg/inventory/db.go and net.go: PCI class 02, or any function with an RDMA
 * device (kubernetes-sigs/dranet#238; versions before it see no eRDMA function); not what has a
 * default route of the lowest metric of its family in the main table, nor what is below that
 * (getDefaultGwInterfaces()); dra.net/rdma is true with an RDMA device.
 *
 * dra-driver-sriov, pkg/devicestate/discovery.go and state.go: VFs of PFs of class 02 that have a
 * netdev; a VF can be given to a pod with exactly one RDMA device, which has character devices. It
 * publishes what a SriovResourcePolicy selects, which is taken to be the PFs of our sections.
 *
 * Devices in a pod, and those that a second look has to confirm as lost, are taken for what they
 * were: the plugin has met them, and they come back.
 */
#pragma once

#include "../model/plan.h"

/**
 * output_lint() - replay the plugin's rules
 * @c:    for the type of the plugin
 * @n:    the node as it was observed
 * @p:    for the devices that are meant to be handed out
 * @text: the plugin's file, or anything at all; not looked at for a DRA driver
 * @ret:  release with lint_done()
 *
 * Each device of @p that has a place in the file and would not be exposed is a finding, with the
 * rule; so is each that would be exposed and has no such place (plugin-foreign), and one that two
 * pools select (plugin-two-pools).
 *
 * Return: 0, or -ENOMEM.
 */
int output_lint(const struct config *c, const struct node *n, const struct plan *p,
		const char *text, struct lint *ret);

/*
 * Finds a section that is a dead end on any node: eRDMA by name, in driver mode default, with a
 * plugin that asks for umad. Return: the reason, with the section's name in @detail; REASON_NONE.
 */
enum reason output_lint_config(const struct config *c, char *detail, size_t size);
