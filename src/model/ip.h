/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP: addresses of both families, in network order in 16 bytes, and their prefixes; and the GIDs of
 * RoCE, which are made of them.
 */
#pragma once

#include "../base/util.h"

struct address; /* node.h */
struct netdev;
struct port;

uint32_t ip_bits(int family); /* 32 or 128 */

/* The prefix of an address, host bits cleared. */
void ip_prefix(const struct address *a, uint8_t ret[static 16]);
bool ip_is_in_prefix(const uint8_t *bytes, const uint8_t *prefix, uint32_t prefix_len);

/* "10.0.0.2/24"; without the length when it is UINT32_MAX. */
void ip_format(int family, const uint8_t *bytes, uint32_t prefix_len, char *ret, size_t size);

/*
 * Where a URL or "HOST:PORT" leads: "fd00::1" of "https://user:x@[fd00::1]:6443/a". "": to no host.
 */
void ip_host(const char *url, char *ret, size_t size);
/* An address of either family, without a zone. */
bool ip_parse(const char *text, int *ret_family, uint8_t ret[static 16]);
bool ip_is_loopback(int family, const uint8_t *bytes);   /* 127.0.0.0/8, ::1 */
bool ip_is_link_local(int family, const uint8_t *bytes); /* fe80::/10; of IPv4 none */
/* Not unspecified, of the loopback, of the link (169.254/16 as well) or of a group, as
 * IsGlobalUnicast() of Go's net package says it. */
bool ip_is_unicast(int family, const uint8_t *bytes);

/* Is it a host's, and known beyond this link (169.254/16, but not fe80::/10) and this host? */
bool ip_is_of_host(int family, const uint8_t *bytes);
/* Is an IPv4 address the network's own or its broadcast? RFC 3021 knows none of these in a /31. */
bool ip_is_end(const uint8_t *bytes, uint32_t prefix_len);

#define GID_ROCE_V1 "IB/RoCE v1"
#define GID_ROCE_V2 "RoCE v2"

/* "0000:0000:0000:0000:0000:ffff:0a00:0102", as in sysfs. */
bool gid_parse(const char *text, uint8_t ret[static 16]);
bool gid_is_ipv4(const uint8_t gid[static 16]);        /* ::ffff:a.b.c.d */
bool gid_is_global_ipv6(const uint8_t gid[static 16]); /* no IPv4, none of the link alone */
bool gid_is_routable(const uint8_t gid[static 16]);    /* global IPv6, or IPv4 but 169.254/16 */
/* The link-local GID of a MAC, "52:54:00:aa:00:01": EUI-64 with the universal bit turned over. */
bool gid_is_of_mac(const uint8_t gid[static 16], const char *mac);

/*
 * The GID that the kernel makes of an address: of IFA_ADDRESS, which for IPv4 is the peer's where
 * there is one: drivers/infiniband/core/roce_gid_mgmt.c.
 */
void gid_of_address(const struct address *a, uint8_t ret[static 16]);

/* Has this port the RoCE v2 GID of an address of this netdev? */
bool gid_is_there(const struct port *p, const char *netdev, const struct address *a);

/*
 * The index of the RoCE v2 GID of a routable IPv4 address of this netdev, or of the bond that it is
 * a port of (NULL: none), the first one: what NCCL_IB_GID_INDEX means for this port. On a port
 * without such a one that of a global IPv6 address. -1: there is none.
 */
int gid_index_of(const struct port *p, const char *netdev, const struct netdev *bond);
