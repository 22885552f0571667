/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cni: which devices a CNI plugin is at work on right now.
 *
 * sriov-cni holds a lock, flock(2), of /var/lib/cni/sriov/pci/ADDRESS from before it changes a
 * device until it exits: Lock() in its pkg/utils/pci_allocator.go. The kernel lists locks in
 * /proc/locks. Other plugins have no such sign.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/* Sets cni_pid of functions that are out, or back with other settings. Return: 0 or -ENOMEM. */
int observe_cni(const struct fs *fs, struct node *n, const struct memory *memory);
