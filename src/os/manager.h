/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manager: systemd over D-Bus, by its private socket so that no bus daemon is needed (as systemctl
 * does for root), else the system bus.
 */
#pragma once

#include "manager-unit.h"

/*
 * Starts a unit and waits for the end of its job.
 * Return: 0 when done (or nothing was to do), -ENOENT no such unit, -ERFKILL it is masked,
 * -EHOSTDOWN no systemd to ask, -ETIMEDOUT, or -EIO: the unit failed (its journal tells why);
 * ret_result, when not NULL, holds the job's result word.
 */
int manager_start_unit(const char *unit, uint64_t timeout_usec, char *ret_result, size_t size);

/*
 * Asks for one unit, loading it if need be. Return: 0 (exec is empty when there is no such unit),
 * -EHOSTDOWN no systemd to ask, -ETIMEDOUT, -ENOMEM, or another -errno.
 */
int manager_read_unit(const char *unit, uint64_t timeout_usec, struct manager_unit *ret);

/*
 * The word of a unit's ActiveState: "active", "activating", "failed".
 * Return: 0, -ENOENT: systemd knows no such unit, or never had a reason to load it, -EHOSTDOWN,
 * -ETIMEDOUT.
 */
int manager_unit_state(const char *unit, uint64_t timeout_usec, char *ret, size_t size);

/* The state of a unit, in systemd's words. */
struct manager_activity {
	char active[32]; /* ActiveState: "active", "activating", "inactive", "failed" */
	char load[32];   /* LoadState: "loaded", "masked", "not-found" */
	bool has_job;    /* a start or stop of it is queued */
};

struct manager_watch {
	struct sd_bus *bus; /* owned */
	char *path;         /* owned; of the unit */
};

/*
 * Follows a unit: manager_watch_fd() becomes readable when something of it changed, and then
 * manager_watch_look() reads its state. Return: 0 (fd), -EHOSTDOWN no systemd to ask, or another
 * -errno.
 */
int manager_watch_open(const char *unit, struct manager_watch *ret);
int manager_watch_fd(const struct manager_watch *w);
int manager_watch_look(struct manager_watch *w, struct manager_activity *ret);
void manager_watch_done(struct manager_watch *w);

/*
 * Reloads a unit and waits for it; one that cannot be reloaded (udevd before systemd 243), or whose
 * ExecReload= fails, gets SIGHUP, which means the same to it. Before systemd 250 udevd kills what
 * is left in its control group when it has nothing to do, and its own ExecReload= with it:
 * on_post() in src/udev/udevd.c of v247, seen on that of bullseye. A unit that does not run has
 * nothing to reload: 0. Else as manager_start_unit().
 */
int manager_reload_unit(const char *unit, uint64_t timeout_usec);

/*
 * systemd reads all unit files again and runs its generators, as "systemctl daemon-reload".
 * Return: 0, -EHOSTDOWN no systemd to ask, -ETIMEDOUT, or another -errno.
 */
int manager_reload(uint64_t timeout_usec);

/* When the main process of a service was started, CLOCK_REALTIME; 0: it does not run. */
int manager_get_start(const char *unit, uint64_t *ret_usec);

/* networkd reads its files again, and configures links for which they have changed (systemd 244).
 */
int manager_reload_networkd(uint64_t timeout_usec);
