/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink: requests that wait for their answer. All files here that speak netlink send by it.
 *
 * Errors are the kernel's own negative errno, never -NLE_*; what it says in words (extended ACK) is
 * kept in struct netlink. -ENOMEM is always the want of memory in this process: where the kernel
 * answers it, it becomes -ENOBUFS.
 */
#pragma once

#include "../base/util.h"

struct nl_sock;
struct nl_msg;
struct nlmsghdr;

struct netlink {
	struct nl_sock *sock; /* owned; NULL: not open yet */
	int protocol;         /* NETLINK_ROUTE, NETLINK_RDMA */
	char error[160];      /* the kernel's words about the last request; empty: it had none */
	bool is_incomplete;   /* a list changed until netlink_list() gave up; stays set */
};

/* Opens at most once. Return: 0, or -errno (-EPROTONOSUPPORT: the kernel has no such protocol). */
int netlink_open(struct netlink *nl);
void netlink_done(struct netlink *nl);

void nlmsg_freep(struct nl_msg **m); /* for _cleanup_ */

/*
 * Sends @m, which is released in every case, and waits for the kernel's answer: 0 or -errno;
 * -ENOMEM when @m is NULL. Opens the socket.
 */
int netlink_ask(struct netlink *nl, struct nl_msg *m);

/*
 * The same for requests with an answer, for which it calls @on_message. A negative value from
 * @on_message ends it and is returned.
 */
int netlink_dump(struct netlink *nl, struct nl_msg *m,
		 int (*on_message)(struct nlmsghdr *h, void *userdata), void *userdata);

/*
 * The same for the answers of a dump, which @on_message appends to a list, whose count is @n. Where
 * the kernel says that a change interrupted the dump (NLM_F_DUMP_INTR), the count is set back and
 * the dump is asked for again, after pauses that grow, for 1 s. Then the list is what the last dump
 * gave, and @nl is marked as incomplete.
 */
int netlink_list(struct netlink *nl, struct nl_msg *m,
		 int (*on_message)(struct nlmsghdr *h, void *userdata), void *userdata, size_t *n);

/*
 * For announcements. netlink_drain() takes those that are pending, never waits, and hands each
 * datagram to @count, aligned for its messages. Return: the sum of what it returned, of
 * NETLINK_TURN_MAX datagrams at most, for in a storm there is always one more; or -errno, -ENOBUFS:
 * some were lost.
 */
#define NETLINK_TURN_MAX 64
int netlink_join(struct netlink *nl, int group);
int netlink_fd(const struct netlink *nl); /* owned by @nl */
int netlink_drain(struct netlink *nl, int (*count)(void *buf, int size, void *userdata),
		  void *userdata);

/*
 * NETLINK_GENERIC: the number of a family, which is given out at run time. The kernel may load a
 * module that has the family's name as an alias. Return: 0, -ENOENT when there is no such family,
 * or another -errno.
 */
int netlink_find_family(struct netlink *nl, const char *name, uint16_t *ret);
/* A request with a header of its own behind netlink's; NULL when there is no memory. */
struct nl_msg *netlink_make(int type, int flags, const void *header, size_t size);
/* The same of a family of NETLINK_GENERIC that has no header of its own. */
struct nl_msg *netlink_request(uint16_t family, uint8_t command, uint8_t version, int flags);
/*
 * Adds an attribute. Return: @m; NULL when it is NULL, and when there is no memory, which releases
 * it. So a request is made without a check for each of its attributes.
 */
struct nl_msg *netlink_put(struct nl_msg *m, int type, const void *data, size_t size);
