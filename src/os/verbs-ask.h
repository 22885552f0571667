/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs ask: what libibverbs can do with an RDMA device.
 *
 * A program of its own is asked, rdma-provision-verbs: the library and its providers take memory
 * and time, and a device is opened once in a boot. Opening one may wait for its driver.
 */
#pragma once

#include "../model/node.h"

#define VERBS_PROGRAM "/usr/lib/rdma-provision/rdma-provision-verbs"

struct verbs_answer {
	int result; /* 0: it could be opened; -ENODEV: libibverbs does not list it; or -errno */
	uint32_t active_mtu; /* of its first port in bytes; 0: not told */
};

/**
 * verbs_try() - is there a provider for each of these devices, and does its ABI fit?
 * @ret: one for each of @ibdevs, whose contexts are closed at once
 */
void verbs_try(const char (*ibdevs)[IBDEV_LEN], size_t n, struct verbs_answer *ret);
