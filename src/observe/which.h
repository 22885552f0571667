/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which: the unit of this node that is, or has in it, a kubelet, and the kubelet's process.
 */
#pragma once

#include "unit.h"

/* The unit: one that runs before one that is enabled before one that is there. "": none. Return: 0.
 */
int which_unit(const struct fs *fs, char *ret, size_t size);

/* The first process of a unit that is, or has in it, a kubelet, or 0. Return: 0 or -ENOMEM. */
int which_process(const struct fs *fs, const char *unit, uint32_t *ret_pid);
