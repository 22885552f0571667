/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nl: the headers of libnl, for the files here that speak netlink.
 */
#pragma once

#include "netlink.h"

#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <netlink/version.h>
#include <sys/socket.h>

/* The list that a dump gave becomes the caller's, unless @r is an error. Return: @r, or 0. */
#define TAKE_LIST(r, items, n, ret, ret_n)                                                         \
	({                                                                                         \
		const int _r = (r);                                                                \
		if (_r >= 0) {                                                                     \
			*(ret) = TAKE(items);                                                      \
			*(ret_n) = (n);                                                            \
		}                                                                                  \
		MIN(_r, 0);                                                                        \
	})

/* Copies the struct of an attribute, which need not be aligned, and of another kernel may be
 * longer. False: absent or too short. */
#define GET(attr, ret)                                                                             \
	((attr) && (size_t)nla_len(attr) >= sizeof(*(ret)) &&                                      \
	 memcpy((ret), nla_data(attr), sizeof(*(ret))))

static inline size_t address_bytes(int family)
{
	return family == AF_INET ? 4 : 16;
}

/* "aa:bb:..."; empty when there is none, or none of a length anybody uses */
static inline void format_mac(const struct nlattr *a, char *ret, size_t size)
{
	const uint8_t *bytes = a ? nla_data(a) : NULL;
	size_t n = a ? (size_t)nla_len(a) : 0;

	for (size_t i = 0; i < n && n * 3 <= size; i++)
		snprintf(ret + i * 3, size - i * 3, "%02x%s", bytes[i], i + 1 < n ? ":" : "");
}

/* The address of a struct sockaddr_in or sockaddr_in6. Return: its family; 0: neither. */
static inline int get_sockaddr(const void *data, size_t size, uint8_t ret[static 16])
{
	struct sockaddr_in6 s = {};

	memcpy(&s, data, MIN(size, sizeof(s)));
	memset(ret, 0, 16);
	if (s.sin6_family == AF_INET6)
		memcpy(ret, &s.sin6_addr, sizeof(s.sin6_addr));
	else if (s.sin6_family == AF_INET)
		memcpy(ret, (const char *)&s + offsetof(struct sockaddr_in, sin_addr),
		       sizeof(struct in_addr));
	else
		return 0;
	return s.sin6_family;
}

static inline uint32_t get_u32(const struct nlattr *a, uint32_t otherwise)
{
	return a ? nla_get_u32(a) : otherwise;
}

/* netlink_put() of numbers and texts. */
static inline struct nl_msg *put_u8(struct nl_msg *m, int type, uint8_t value)
{
	return netlink_put(m, type, &value, sizeof(value));
}

static inline struct nl_msg *put_u32(struct nl_msg *m, int type, uint32_t value)
{
	return netlink_put(m, type, &value, sizeof(value));
}

static inline struct nl_msg *put_string(struct nl_msg *m, int type, const char *text)
{
	return netlink_put(m, type, text, strlen(text) + 1);
}

/* libnl 3.4 reads a policy, and does not say const. */
#if LIBNL_VER_NUM < LIBNL_VER(3, 6)
#define nla_parse_nested(tb, max, a, policy)                                                       \
	nla_parse_nested((tb), (max), (a), (struct nla_policy *)(policy))
#define nlmsg_parse(h, n, tb, max, policy)                                                         \
	nlmsg_parse((h), (n), (tb), (max), (struct nla_policy *)(policy))
#define genlmsg_parse(h, n, tb, max, policy)                                                       \
	genlmsg_parse((h), (n), (tb), (max), (struct nla_policy *)(policy))
#endif
