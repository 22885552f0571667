/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service: the event loop of rdma-provision.service. Events mean "look again" and nothing more; the
 * work is one pass.
 *
 * Also serves "apply", which is the same loop until the node is finished, its passes run in the
 * process itself: workers are the service's alone.
 */
#pragma once

#include "../model/reason.h"

struct config;
struct pass;
struct pass_result;

/*
 * The service: passes until finished, READY=1, then hotplug, until SIGTERM. @file: --config, or
 * NULL. Return: 0 or -errno.
 */
int service_run(const char *file);

/*
 * Converges once, by passes that @run_pass makes, which returns 0 or -errno. Waits for events while
 * devices that changed or are new in this boot still come up, at most ReadyTimeoutSec=; a node that
 * was ready or degraded before and needs no change is not waited for. Return: an exit code
 * (report.h), or -errno.
 */
int service_apply(int (*run_pass)(void *userdata, const struct pass *pass, struct pass_result *ret),
		  void *userdata, const struct config *c, const char *file);

/**
 * degrade() - the state of a node whose pass cannot tell it
 *
 * Passes fail, or the time is over while one goes on. The service does this itself, for it may be
 * that no worker can be started.
 *
 * The last state becomes that of a degraded node with @reason, and what it remembers is kept.
 * Logs each reason of the new state: while a node is starting, its reasons are not logged.
 * Observes nothing, takes no lock, waits for nobody: a state that the pass writes between its
 * reading and its writing is lost until the next pass, which looks at everything again. Return: 0
 * or -errno.
 */
int degrade(const struct config *c, enum reason reason, const char *detail);
