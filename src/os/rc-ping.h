/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RC ping: do messages go through an RDMA device?
 *
 * Two reliable-connected queue pairs of one device are connected to each other, and each sends a
 * message to the other. That takes memory registration, the GID, the send and the receive queue;
 * not the cable. Two devices of one host are not connected: the kernel resolves an address of the
 * host to the MAC of the sending device, addr_resolve() in drivers/infiniband/core/addr.c, so that
 * such packets never leave it. No port is opened, and no other host is contacted.
 *
 * Opening a device may wait for its driver: for a child process with a deadline.
 */
#pragma once

#include "../base/util.h"

#define RC_PING_BYTES 4096

/*
 * @gid_index: of the address; -1 on InfiniBand, where the LID is it. Each wait for a message is
 * 2 s at most. @ret_step: which step failed. Return: 0, -ENODEV when libibverbs does not list the
 * device, -ETIMEDOUT, or -errno.
 */
int rc_ping(const char *ibdev, uint8_t port, int gid_index, const char **ret_step);
