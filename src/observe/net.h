/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Net: links, addresses and routes of the caller's network namespace, each link with its PCI
 * function.
 *
 * A captured tree answers from its recorded answers (answers.h); a tree without them, such as a
 * mounted image or a plain copy of /sys, gives what sysfs tells: links only.
 */
#pragma once

#include "../doors/doors.h"
#include "../model/plan.h"

/*
 * Fills node.netdevs (unless recorded ones are there already), .addresses, .routes, .rules,
 * .neighbours, .all, .ledger and .now_usec.
 */
int observe_net(struct doors *d, struct node *n);

/*
 * Asks the kernel what the plan wants to know of it (plan.checks), into node.lookups. Return: how
 * many were asked, or -ENOMEM.
 */
int observe_lookups(struct doors *d, const struct plan *p, struct node *n);
