/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespace: the network namespaces other than our own, with who holds them.
 */
#pragma once

#include "../model/node.h"
#include "process.h"

/*
 * Fills node.netnses: those of processes, and those that are mounted in our mount namespace
 * (/run/netns of ip-netns(8) and the CNI, /run/docker/netns), from /proc/self/mountinfo. The name
 * of one below /run/netns is its file name there, of another mount the path. One that only a thread
 * holds is not seen. Return: 0 or -ENOMEM.
 */
int observe_namespaces(const struct fs *fs, const struct processes *p, struct node *n);

/* One that a process holds by an open descriptor: added unless it is known. */
int namespace_add_open(const struct fs *fs, const struct processes *all, const struct process *p,
		       uint64_t inode, struct node *n);
