/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Want: has a oneshot of systemd do what this process has no right to do, where the node shows
 * whether it was done.
 *
 * A wish is a file in /run/rdma-provision/want. The path unit rdma-provision-UNIT.path starts the
 * oneshot rdma-provision-UNIT.service for it, which first removes the file. While the oneshot runs,
 * systemd keeps the folder /run/rdma-provision-work/UNIT: RuntimeDirectory= of systemd.exec(5). It
 * removes it when the oneshot has ended and its path unit knows: service_enter_dead() in
 * src/core/service.c.
 *
 * From systemd 246 on a path unit looks for its files again when its oneshot has ended. Before, it
 * only sees what comes after that (path_trigger_notify() in src/core/path.c of 239): so a wish that
 * came while the oneshot ran is made once more when the folder goes.
 */
#pragma once

#include "fs.h"

enum want {
	WANT_KUBELET, /* kubelet-ensure runs */
	WANT_RULES,   /* udev reads its rules again, and networkd what this package brought */
	WANT_UNITS,   /* systemd reads all units again: "systemctl daemon-reload" */
	_WANT_N
};

/*
 * Makes a wish and waits for the end of the oneshot. How that went is not told: its journal has it,
 * and the next look sees the node.
 * Return: 0; -EHOSTDOWN: there is no systemd, or it did not start the oneshot in time, and the wish
 * is withdrawn; -ETIMEDOUT: the oneshot did not end; or another -errno.
 */
int want_make(const struct fs *fs, enum want what, uint64_t timeout_usec);

/* The oneshot's side. An inotify descriptor that does not block, readable when a wish comes; or
 * -errno.
 */
int want_watch(const struct fs *fs);

/* Return: 1 when there was such a wish, which is gone now, 0 for none, or -errno. */
int want_take(const struct fs *fs, enum want what);
