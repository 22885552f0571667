/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs: can libibverbs open this ibdev? The provider is there and its ABI fits.
 *
 * The context is closed at once. Never called by the service's main process: libibverbs keeps
 * memory.
 */
#pragma once

#include "../base/util.h"

/* @ret_active_mtu: of its first port in bytes, 0: not told. Return: 0, -ENODEV when libibverbs does
 * not list it (no provider), or -errno of the opening. */
int ibverbs_try(const char *ibdev, uint32_t *ret_active_mtu);
