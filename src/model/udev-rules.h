/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Udev rules: the text that says which VFs are ours, so that networkd and NetworkManager keep off
 * them, and only them. What follows from that is the same on every node, and stands in
 * udev-rules/80-rdma-provision.rules.
 *
 * A rule of udev may run any program, so the file is out of the service's reach: its helper makes
 * the same text from the PCI addresses.
 *
 * A VF is known by the link from its PF to it, which the kernel makes before it makes the VF's
 * netdev (pci_iov_add_virtfn() in drivers/pci/iov.c): "*" in TEST is any one entry of the PF's
 * folder, one being virtfnN. The other way round, ATTR{device/physfn/uevent} would wait for the end
 * of the write that makes the VFs: from Linux 6.10 to 6.14, and in stable kernels of that time,
 * uevent_show() takes the device's lock.
 *
 * The property is set at every event but "remove", for the database of udev keeps only those of the
 * last one. VFs that are there already get it at their next event; none is made here, because
 * nothing is taken from a netdev that was set up before.
 */
#pragma once

#include "../base/util.h"

/*
 * The rules for the PFs whose addresses are in @text, in its order: between other characters, as in
 * "0000:3b:00.0\n", or in such rules. @ret: owned; NULL for no PF. Return: 0 or -ENOMEM.
 */
int udev_rules_make(const char *text, char **ret);
