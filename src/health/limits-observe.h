/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: what makes a card that works a slow one, or its memory impossible to register: the PCIe
 * link, the IOMMU, and how much memory containers may lock.
 *
 * PCIe: current_link_speed, current_link_width, max_link_speed and max_link_width of the PF, and
 * the last two of the port above it, which is the other end of the link. Words are those of
 * pci_speed_string() in drivers/pci/probe.c; "Unknown", a width of 0 (a function of the root
 * complex, most emulated ones) or of 255 (it does not answer) is not told. Not of VFs: their link
 * registers are reserved (SR-IOV 1.1, 3.5.9). Some devices train down while they idle; NICs keep
 * their speed, but for a look at the very moment of a reset. The errors of a card are those that
 * the kernel counted since it found the function: aer_stats_dev_attr() in drivers/pci/pcie/aer.c. A
 * corrected error costs a retry and nothing else, so those do not count.
 *
 * IOMMU: iommu_groups/N/type, the type of the default domain. "DMA" and "DMA-FQ" translate,
 * "identity" does not. Source: Documentation/ABI/testing/sysfs-kernel-iommu_groups.
 *
 * Locked memory: a container inherits RLIMIT_MEMLOCK from the runtime that starts it. That of the
 * running process counts (/proc/PID/limits, readable by everybody); its PID comes from the cgroup
 * of its unit, so that nobody has to be asked. Of a unit that does not run, LimitMEMLOCK= of its
 * files, else systemd's DefaultLimitMEMLOCK=, 8M unless it is set (systemd-system.conf(5)). Docker
 * counts where there is no other runtime, and the kubelet, which starts no containers itself, where
 * none is known at all.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

struct questions; /* plan.h */

/*
 * Fills iommu of PFs, and memlocks unless the answers of a capture had them. Wants RDMA devices and
 * netdevs. What cannot be read is not told.
 */
void observe_limits(const struct fs *fs, struct node *n);

/*
 * QUESTION_PCIE: fills link, max_link, max_slot and n_aer, also in a captured tree. The registers
 * of a link are read from the card.
 */
void observe_pcie(const struct fs *fs, const struct questions *q, struct node *n);

/* "16.0 GT/s PCIe" is 16000; 0 for what is no speed. */
uint32_t parse_link_speed(const char *s);

/* "64K", "8388608", "infinity", or the first of "8M:16M"; false for what is none of these. */
bool parse_memlock(const char *s, uint64_t *ret);

/* The soft limit in the text of /proc/PID/limits; false when it does not tell. */
bool parse_process_memlock(const char *text, uint64_t *ret);
