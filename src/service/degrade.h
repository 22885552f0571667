/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Degrade: the state of a node whose pass cannot tell it: passes fail, or the time is over while
 * one goes on. The service does this itself, for it may be that no worker can be started.
 */
#pragma once

#include "../model/config.h"
#include "../model/reason.h"

/*
 * The last state becomes that of a degraded node with @reason, and what it remembers is kept.
 * Logs each reason of the new state: while a node is starting, its reasons are not logged.
 * Observes nothing, takes no lock, waits for nobody: a state that the pass writes between its
 * reading and its writing is lost until the next pass, which looks at everything again. Return: 0
 * or -errno.
 */
int degrade(const struct config *c, enum reason reason, const char *detail);
