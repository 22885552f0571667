/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nl: the headers of libnl, for the doors that speak netlink.
 */
#pragma once

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <netlink/version.h>

/* libnl 3.4 reads a policy, and does not say const. */
#if LIBNL_VER_NUM < LIBNL_VER(3, 6)
#define nla_parse_nested(tb, max, a, policy)                                                       \
	nla_parse_nested((tb), (max), (a), (struct nla_policy *)(policy))
#define nlmsg_parse(h, n, tb, max, policy)                                                         \
	nlmsg_parse((h), (n), (tb), (max), (struct nla_policy *)(policy))
#define genlmsg_parse(h, n, tb, max, policy)                                                       \
	genlmsg_parse((h), (n), (tb), (max), (struct nla_policy *)(policy))
#endif
