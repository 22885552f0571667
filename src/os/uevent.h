/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uevent: learns that something changed; facts are read elsewhere.
 *
 * Listens to udev's own group ("udev"), so that what is announced has its nodes and its final name,
 * for the subsystems pci, net, infiniband, infiniband_verbs, infiniband_mad, module.
 */
#pragma once

#include "../base/util.h"

#define UEVENTS_TURN_MAX 64 /* in one turn: in a storm there is always one more */

struct udev;
struct udev_monitor;

struct uevents {
	struct udev *context;         /* owned; the monitor has no reference to it of its own */
	struct udev_monitor *monitor; /* owned */
	uint32_t n_ibdevs;            /* RDMA devices that were announced so far */
};

int uevents_open(struct uevents *u);
void uevents_done(struct uevents *u);
int uevents_fd(const struct uevents *u); /* owned by @u */

/* Takes what is there, a bounded number: what is left wakes the loop again, after the timers and
 * the watchdog had their turn. Return: how many were about more than virtual network devices, or
 * -errno; -ENOBUFS: some were lost, look at everything. */
int uevents_drain(struct uevents *u);
