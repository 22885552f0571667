/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manager unit: what systemd has loaded of a service, and the same as the answer of the manager
 * helper (request.h) to a program that does not speak D-Bus.
 */
#pragma once

#include "../base/util.h"

#define MANAGER_SOCKET        "/run/rdma-provision-manager.socket"
#define MANAGER_UNIT_QUESTION "unit"

struct manager_words {
	char **words; /* owned */
	size_t n;
};

/* A service as systemd has loaded it. */
struct manager_unit {
	struct manager_words exec;        /* of the first ExecStart=: specifiers are expanded,
					     variables not; the first word has no prefixes */
	struct manager_words environment; /* "NAME=VALUE" */
	struct manager_words inherited;   /* the same, of systemd itself: "systemctl
					     set-environment" */
	struct manager_words env_files;   /* "-/path" may be missing, "+/path" must be there */
	uint64_t start_usec; /* CLOCK_MONOTONIC of its last start in this boot; 0: none */
};

void manager_unit_done(struct manager_unit *m);

int manager_unit_print(const struct manager_unit *m, char **ret); /* 0 or -ENOMEM */

/*
 * Asks the helper for one of the units that kubelets have. Return: 0; -EHOSTDOWN: there is no
 * helper to ask; or as manager_read_unit().
 */
int manager_unit_ask(const char *unit, struct manager_unit *ret);
