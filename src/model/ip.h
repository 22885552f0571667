/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP: addresses of both families, in network order in 16 bytes, and their prefixes.
 */
#pragma once

#include "../base/util.h"

struct address; /* node.h */

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
