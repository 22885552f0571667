/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sock: the TCP and UDP sockets of the caller's network namespace that are connected, or bound to
 * one address or to a netdev; none of 127.0.0.0/8 and ::1, and none in TIME_WAIT, which no process
 * has. An IPv4 address in a socket of IPv6 gives one of IPv4.
 *
 * Output is owned by the caller. Return: 0; -E2BIG: more than SOCKS_MAX; or -errno.
 */
#pragma once

#include "../model/use-facts.h"
#include "fs.h"
#include "netlink.h"

#define SOCKS_MAX 65536 /* more are not known, which is never none */

/*
 * By NETLINK_SOCK_DIAG; the kernel loads inet_diag, tcp_diag and udp_diag when it is asked.
 * -ENOENT: it has no such module. Source: inet_diag_dump() and inet_diag_lock_handler() in
 * net/ipv4/inet_diag.c
 */
int sock_list(struct netlink *nl, struct sock **ret, size_t *ret_n);

/*
 * By /proc/net/tcp, udp, tcp6 and udp6, which do not show the netdev that a socket is bound to.
 * Without IPv6 there are no tcp6 and udp6. Source: get_tcp4_sock() in net/ipv4/tcp_ipv4.c
 */
int sock_read(const struct fs *fs, struct sock **ret, size_t *ret_n);
