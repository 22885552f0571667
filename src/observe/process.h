/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process: the processes of the node, as /proc shows them.
 *
 * Processes come and go while one looks: one that vanishes is left out, and that is no error. What
 * they call themselves (comm, cgroup names) is theirs to choose: it is made printable here.
 * Descriptors and namespaces of others can be seen with CAP_SYS_PTRACE: ptrace_may_access() in
 * kernel/ptrace.c. Links of descriptors are read, never followed: a stat() of a file on a dead NFS
 * server would not return (fs_is_other_device() does not ask it). Threads with descriptors or a
 * namespace of their own are not looked at.
 */
#pragma once

#include "../os/fs.h"

struct process {
	uint32_t pid, parent;
	uint64_t start; /* clock ticks after boot: of the oldest it is the smallest */
	uint64_t netns; /* inode of its network namespace; 0: it may not be seen */
	char command[32];
	bool is_closed; /* its descriptors may not be seen; known after process_walk() */
};

struct processes {
	struct process *items; /* owned, by pid */
	size_t n;
	uint32_t self;  /* our own pid */
	uint64_t netns; /* inode of our own network namespace; 0: not known */
};

/* Return: 0 or -errno (-ENOENT: there is no /proc). */
int processes_list(const struct fs *fs, struct processes *ret);
/*
 * Only those with this comm, without their network namespaces. Of the others no more is read than
 * the comm, and of threads of the kernel nothing, where /proc/2/task/2/children tells them
 * (CONFIG_PROC_CHILDREN): 90 of 132 processes of the test node, which has two processors.
 */
int processes_list_named(const struct fs *fs, const char *command, struct processes *ret);
void processes_done(struct processes *p);

const struct process *processes_find(const struct processes *p, uint32_t pid); /* NULL: none */

/* This process itself, or one that it started. */
bool process_is_ours(const struct processes *p, uint32_t pid);

/*
 * Calls @on_link with each open descriptor: @link is "proc/20/fd/3", @text where it leads:
 * "/dev/infiniband/uverbs0", "socket:[123]", "net:[4026531840]". Return: 0, also when it is gone or
 * closed to us (is_closed), -ENOMEM, or the first negative value of @on_link.
 */
int process_walk(const struct fs *fs, struct process *p,
		 int (*on_link)(void *userdata, const struct process *p, const char *link,
				const char *text),
		 void *userdata);

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

/* The number in "net:[4026531840]" or "socket:[123]"; false when @text is no such text. */
bool parse_inode(const char *text, const char *kind, uint64_t *ret);
