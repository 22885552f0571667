/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sock: the TCP, UDP, SCTP and RAW sockets of the caller's network namespace that are connected, or
 * bound to one address or to a netdev; none of 127.0.0.0/8 and ::1, and none in TIME_WAIT, which no
 * process has. An IPv4 address in a socket of IPv6 gives one of IPv4. SCTP gives one for each
 * address that a socket or an association has.
 *
 * RAW sockets of ICMP and ICMPv6 are left out: systemd-networkd binds one to each link on which it
 * listens to routers, icmp6_bind_router_message() in src/libsystemd-network/icmp6-util.c.
 *
 * Output is owned by the caller. Return: 0; -E2BIG: more than SOCKS_MAX; or -errno.
 */
#pragma once

#include "../model/use-facts.h"
#include "fs.h"
#include "netlink.h"

#define SOCKS_MAX 65536 /* more are not known, which is never none */

/*
 * By NETLINK_SOCK_DIAG; the kernel loads inet_diag, tcp_diag, udp_diag, raw_diag and sctp_diag when
 * it is asked, and says -ENOENT where it lacks one: inet_diag_dump() and inet_diag_lock_handler()
 * in net/ipv4/inet_diag.c.
 *
 * Such a table, and each where @nl is NULL, is read from /proc/net, which does not show the netdev
 * that a socket is bound to, get_tcp4_sock() in net/ipv4/tcp_ipv4.c, and nothing of SCTP in this
 * form. A kernel without IPv6 lacks the files of tcp6, udp6 and raw6, and until the module sctp is
 * loaded /proc/net/sctp: these are not asked for, since sctp_diag would load that in kernels before
 * 4.17, bf2ae2e4bf93.
 */
int sock_list(struct netlink *nl, const struct fs *fs, struct sock **ret, size_t *ret_n);
