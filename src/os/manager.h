/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manager: what this program wants of systemd, over D-Bus: by its private socket, so that no bus
 * daemon is needed (as systemctl does for root), else by the system bus.
 *
 * A process that reaches systemd asks it itself. One that does not, as the sandboxed service, makes
 * a wish (want.h), which rdma-provision-reload.service carries out; that unit also answers what
 * systemd has loaded.
 */
#pragma once

#include "want.h"

/*
 * Return: 0 when done, or nothing was to do, or a wish was taken and its unit has ended; -EHOSTDOWN
 * no systemd can be asked, or the wish was not taken, -ENOENT no such unit, -ERFKILL it is masked,
 * -ETIMEDOUT, or -EIO: the unit failed (its journal tells why).
 */
int manager_request(const struct fs *fs, enum want what);

/*
 * Carries out the wishes that there are, but for that of the kubelet. Where @is_stale() is 0,
 * systemd has read its units meanwhile, as by "set": it answers nothing else while it does, so that
 * is not done twice. Return: how many, or the first -errno.
 */
int manager_serve_wants(const struct fs *fs, int (*is_stale)(const struct fs *fs));

/* A wish or a question will come soon: the helper's unit starts meanwhile. */
void manager_prepare(void);

/* Answers a question. Return: as manager_unit_ask(); -EPERM: a unit that has no kubelet;
 * -EOPNOTSUPP: no such question. */
int manager_serve(const char *question, char **ret_answer);

/*
 * systemd reads all unit files again and runs its generators, as "systemctl daemon-reload".
 * Return: 0, -EHOSTDOWN no systemd to ask, -ETIMEDOUT, or another -errno.
 */
int manager_reload(uint64_t timeout_usec);

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
 * In manager-unit.c: what systemd has loaded of a service, as the answer of
 * rdma-provision-reload.service to a program that does not speak D-Bus.
 */

#define MANAGER_SOCKET        "/run/rdma-provision-reload.socket"
#define MANAGER_UNIT_QUESTION "unit "

/* A service as systemd has loaded it. */
struct manager_unit {
	struct words exec;        /* of the first ExecStart=: specifiers are expanded,
				     variables not; the first word has no prefixes */
	struct words environment; /* "NAME=VALUE" */
	struct words inherited;   /* the same, of systemd itself: "systemctl set-environment" */
	struct words env_files;   /* "-/path" may be missing, "+/path" must be there */
	uint64_t start_usec;      /* CLOCK_MONOTONIC of its last start in this boot; 0: none */
};

void manager_unit_done(struct manager_unit *m);

int manager_unit_print(const struct manager_unit *m, char **ret); /* 0 or -ENOMEM */

/*
 * Asks the helper for one of the units that kubelets have, which systemd loads if need be. Return:
 * 0 (exec is empty when there is no such unit); -EHOSTDOWN: there is no helper, or no systemd, to
 * ask; -ETIMEDOUT, -ENOMEM, or another -errno.
 */
int manager_unit_ask(const char *unit, struct manager_unit *ret);
