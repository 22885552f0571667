/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revert: takes back the settings that were made in the kernel in this boot. Pure, and without a
 * configuration: routes and rules of ours are known by their protocol, files for others by their
 * records, all else by the ledger.
 */
#pragma once

#include "../model/plan.h"

/**
 * plan_revert() - list the steps back
 * @with_vfs: also VFs that were made in this boot, where no program uses them
 * @ret:      release with plan_done()
 *
 * Settings that another program has changed since then are left alone. VFs in use are refused.
 *
 * Return: 0, or -ENOMEM.
 */
int plan_revert(const struct node *n, const struct memory *memory, bool with_vfs, struct plan *ret);

/* Adds the steps back of metrics and sysctls of one netdev. Return: 0 or -ENOMEM. */
int plan_revert_netdev(const struct node *n, const struct memory *memory, struct plan *p,
		       uint32_t ifindex);
