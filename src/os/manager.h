/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manager: what this program wants of systemd, over D-Bus: by its private socket, so that no bus
 * daemon is needed (as systemctl does for root), else by the system bus.
 *
 * A process that reaches systemd asks it itself; one that does not, as the sandboxed service, has
 * the helper rdma-provision-manager.service ask. The helper accepts just these requests.
 */
#pragma once

#include "../base/util.h"

enum request {
	REQUEST_KUBELET, /* start rdma-provision-kubelet.service and wait; the answer is its job's
			    result word */
	REQUEST_UDEV,    /* reload systemd-udevd.service and wait */
	/* networkd reads its files again when it was started before a time, CLOCK_REALTIME in
	   microseconds: the argument. 0 also when it need not, or does not run. */
	REQUEST_NETWORKD,
	REQUEST_RELOAD, /* as manager_reload() */
	_REQUEST_N
};

/* A request will come soon: the helper's unit is started while the node is looked at. */
void manager_prepare(void);

/*
 * @argument: "" where none is named above. @ret_words: of the answer, empty for none; may be NULL.
 * Return: 0 when done (or nothing was to do), -ENOENT no such unit, -ERFKILL it is masked,
 * -EHOSTDOWN neither systemd nor the helper can be asked, -ETIMEDOUT, or -EIO: the unit failed (its
 * journal tells why).
 */
int manager_request(enum request what, const char *argument, char *ret_words, size_t size);

/*
 * The helper's side: does what a question says. Return: as the request; -EPERM: a unit that has no
 * kubelet; -EOPNOTSUPP: there is no such request.
 */
int manager_serve(const char *question, char **ret_answer);

/*
 * systemd reads all unit files again and runs its generators, as "systemctl daemon-reload".
 * Return: 0, -EHOSTDOWN no systemd to ask, -ETIMEDOUT, or another -errno.
 */
int manager_reload(uint64_t timeout_usec);

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
 * In manager-unit.c: what systemd has loaded of a service, as the answer of the helper to a program
 * that does not speak D-Bus.
 */

#define MANAGER_SOCKET        "/run/rdma-provision-manager.socket"
#define MANAGER_UNIT_QUESTION "unit"

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
