/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait: until the state file says ready or degraded, by inotify, without asking the service.
 */
#pragma once

#include "doors/fs.h"
#include "model/node.h"

/* The state that state.json tells of this boot. Return: 0, -ENOENT when there is none, or -errno.
 */
int wait_read_state(const struct fs *fs, enum node_state *ret);

/* @timeout_usec: UINT64_MAX waits for ever. Return: 0, -ETIMEDOUT, or -errno. */
int wait_state(const struct fs *fs, uint64_t timeout_usec, enum node_state *ret);
