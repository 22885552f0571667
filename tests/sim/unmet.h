/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unmet: verbs and reasons that no life meets, by the test that does. A life that is taught one of
 * them takes it out of here: one that an early life meets fails the run.
 */
#pragma once

static const struct {
	const char *test; /* below tests/ */
	const char *const names[32];
} unmet[] = {
	{ "test-driver.c",
	  { "module-blacklisted", "module-unreadable", "module-symbol", "module-rebuilt",
	    "module-signature", "module-forbidden", "module-parameter", "module-no-device",
	    "driver-builtin", "driver-mode-kept", "option-stale", "not-ofed", "roce-port-busy",
	    "peermem-failed", "held" } },
	{ "test-modprobe.c", { "write-options", "remove-options" } },
	{ "test-table.c",
	  { "keep-neighbour", "probe-neighbour", "remove-neighbour", "no-ipv6-gid", "terway-eni",
	    "ipv6-erdma", "nic-in-use", "address-diverts" } },
	{ "test-output.c",
	  { "option-conflict", "autoprobe-off", "gpu-shared-multi", "worker-died",
	    "ready-timeout" } },
	{ "test-plan.c",
	  { "no-gid", "mtu-under-ipv6", "route-not-ranked", "vke-mode", "vke-mgpu", "plugin-twice",
	    "node-nic-unknown", "port-addressed", "no-address",
	    "probe-driver" /* by a line of the kernel's log */ } },
	{ "test-judge.c", { "not-recorded" } },
	{ "test-vf-precheck.c", { "vf-changing" } },
	{ "test-kubelet-start.c", { "kubelet-would-exit" } },
	{ "check-verify", { "label-unknown" } },
	{ "test-model.c", { "config-invalid", "config-unknown", "plugin-restart-needed" } },
	{ "netns/changes", { "configuration-changed", "config-ignored" } },
	{ "test-vf.c", { "vf-driver", "vf-foreign", "identity-unstable" } },
	{ "test-health.c",
	  { "gpu-without-nic", "pcie-slow", "pcie-errors", "rate-below-siblings", "memlock-limited",
	    "iommu-translates" } },
	{ "test-explain-plugin.c", { "plugin-name" } },
	{ "test-lint.c",
	  { "plugin-file", "plugin-class", "plugin-vfs-only", "plugin-pf-netdev", "plugin-ibdevs",
	    "plugin-two-pools", "plugin-foreign", "plugin-default-route", "vf-rdma-unknown" } },
	{ "test-files.c",
	  { "output-last", "output-foreign", "output-no-folder", "output-link", "nccl-none" } },
	{ "test-boots.c", { "boot-loop" } },
	{ "test-given.c", { "guid-twice" } },
};
