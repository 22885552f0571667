/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process: the processes of the node, as /proc shows them.
 *
 * Processes come and go while one looks: one that vanishes is left out, and that is no error. What
 * they call themselves (comm, cgroup names) is theirs to choose: it is made printable here.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

struct process {
	uint32_t pid;
	uint64_t start; /* clock ticks after boot: of the oldest it is the smallest */
	char command[32];
};

struct processes {
	struct process *items; /* owned, by pid */
	size_t n;
};

/*
 * Processes with this comm. Return: 0 or -errno (-ENOENT: there is no /proc). Of the others no more
 * is read than the comm.
 */
int processes_list_named(const struct fs *fs, const char *command, struct processes *ret);

/*
 * The instant of CLOCK_MONOTONIC at which this process was forked, which is before systemd made its
 * sandbox and the loader read its libraries; the present one where /proc does not show it. Whole
 * clock ticks (proc(5), starttime).
 */
uint64_t process_started_usec(const struct fs *fs);
uint64_t process_age_usec(const struct fs *fs, const char *pid); /* UINT64_MAX: not known */

/*
 * Names a process that has each of these sockets, by /proc/PID/fd. A caller who may not look into
 * one process looks into none: that takes CAP_SYS_PTRACE, which a person has and the service not.
 */
void process_name_socks(const struct fs *fs, struct sock *socks, size_t n);

/*
 * The container of a process, else its systemd unit, from /proc/PID/cgroup: see
 * parse_cgroup(). Empty when neither is known.
 */
void process_container(const struct fs *fs, uint32_t pid, char *ret, size_t size);

/*
 * The innermost container that the lines of a cgroup file tell: "docker-0123456789ab",
 * "cri-containerd-0123456789ab", or only the id where its own folder names no runtime, cut to the
 * 12 digits that "crictl ps" and "docker ps" print, with the pod; else the unit, "sshd.service",
 * "session-3.scope". Of cgroup v1 all lines count for containers, and name=systemd for units.
 * @text is changed.
 */
void parse_cgroup(char *text, char *ret, size_t size);
