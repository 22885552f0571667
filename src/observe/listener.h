/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listener: the ports that are taken, in this and in other network namespaces.
 *
 * Of each namespace that a process is in, from /proc/PID/net of one of its processes. One that only
 * a mount holds is not looked into: that takes CAP_SYS_ADMIN.
 */
#pragma once

#include "../model/node.h"
#include "process.h"

/* By which inode a listener's socket is found among descriptors. */
struct socket_of {
	uint64_t inode;
	size_t listener; /* index in node.listeners */
};

struct sockets {
	struct socket_of *items; /* owned, by inode */
	size_t n;
};

/*
 * Appends to node.listeners: TCP sockets that listen on 1024 to 65535, and UDP sockets on 4791
 * (RoCE v2), each port of a namespace once. Processes are not filled in yet: listeners_claim()
 * does it for each "socket:[INODE]" that a process has, and listeners_sort() ends it.
 * Also fills local_ports and reserved_ports. Return: 0 or -ENOMEM.
 */
int observe_listeners(const struct fs *fs, const struct processes *p, struct node *n,
		      struct sockets *ret);
void listeners_claim(const struct fs *fs, const struct sockets *s, const struct process *p,
		     uint64_t inode, struct node *n);
void listeners_sort(struct node *n);
void sockets_done(struct sockets *s);
