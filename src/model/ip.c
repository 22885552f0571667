/* SPDX-License-Identifier: Apache-2.0 */
#include "ip.h"

#include "route-facts.h"

#include <arpa/inet.h>
#include <sys/socket.h>

uint32_t ip_bits(int family)
{
	return family == AF_INET ? 32 : 128;
}

void ip_prefix(const struct address *a, uint8_t ret[static 16])
{
	memset(ret, 0, 16);
	for (uint32_t bit = 0; bit < a->prefix_len; bit++)
		ret[bit / 8] |= a->peer[bit / 8] & (0x80 >> bit % 8);
}

bool ip_is_in_prefix(const uint8_t *bytes, const uint8_t *prefix, uint32_t prefix_len)
{
	const uint32_t n = prefix_len / 8, rest = prefix_len % 8;

	return memcmp(bytes, prefix, n) == 0 &&
	       (rest == 0 || (bytes[n] ^ prefix[n]) >> (8 - rest) == 0);
}

void ip_format(int family, const uint8_t *bytes, uint32_t prefix_len, char *ret, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, bytes, text, sizeof(text));
	if (prefix_len == UINT32_MAX)
		copy(ret, size, text);
	else
		snprintf(ret, size, "%s/%" PRIu32, text, prefix_len);
}

void ip_host(const char *url, char *ret, size_t size)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:";
	const char *scheme = strstr(url, "://"), *at = scheme ? scheme + 3 : url, *user, *colon;
	size_t n = strcspn(at, "/?#");

	user = memrchr(at, '@', n);
	n -= user ? (size_t)(user + 1 - at) : 0;
	at = user ? user + 1 : at;
	colon = memchr(at, ':', n);
	if (n > 0 && *at == '[')
		n = strcspn(++at, "]");
	else if (colon && colon == memrchr(at, ':', n)) /* several are of an address alone */
		n = (size_t)(colon - at);

	ret[0] = '\0';
	if (n < size && strspn(at, letters) >= n) {
		memcpy(ret, at, n);
		ret[n] = '\0';
	}
}

bool ip_parse(const char *text, int *ret_family, uint8_t ret[static 16])
{
	static const int families[] = { AF_INET, AF_INET6 };

	memset(ret, 0, 16);
	for (size_t i = 0; i < ELEMENTSOF(families); i++)
		if (inet_pton(families[i], text, ret) == 1) {
			*ret_family = families[i];
			return true;
		}
	return false;
}

bool ip_is_loopback(int family, const uint8_t *bytes)
{
	static const uint8_t loopback[16] = { [15] = 1 };

	return family == AF_INET ? bytes[0] == 127 : memcmp(bytes, loopback, 16) == 0;
}

bool ip_is_link_local(int family, const uint8_t *bytes)
{
	return family == AF_INET6 && bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}

bool ip_is_unicast(int family, const uint8_t *bytes)
{
	const bool is_ipv4 = family == AF_INET;

	return !is_zero(bytes) && !ip_is_loopback(family, bytes) &&
	       (is_ipv4 ? bytes[0] >> 4 != 14 && (bytes[0] != 169 || bytes[1] != 254)
			: bytes[0] != 0xff && !ip_is_link_local(family, bytes));
}

bool ip_is_of_host(int family, const uint8_t *b)
{
	const struct in6_addr *in6 = (const struct in6_addr *)b;

	if (family == AF_INET)
		return b[0] != 0 && b[0] != 127 && b[0] < 224 && !(b[0] == 169 && b[1] == 254);
	return !IN6_IS_ADDR_UNSPECIFIED(in6) && !IN6_IS_ADDR_LOOPBACK(in6) &&
	       !IN6_IS_ADDR_MULTICAST(in6) && !IN6_IS_ADDR_V4MAPPED(in6);
}

bool ip_is_end(const uint8_t *bytes, uint32_t prefix_len)
{
	const uint32_t mask = UINT32_MAX >> MIN(prefix_len, 31U);
	uint32_t host;

	memcpy(&host, bytes, sizeof(host));
	host = ntohl(host) & mask;
	return prefix_len < 31 && (host == 0 || host == mask);
}

bool gid_parse(const char *text, uint8_t ret[static 16])
{
	return strlen(text) == strlen("fe80:0000:0000:0000:0000:0000:0000:0000") &&
	       inet_pton(AF_INET6, text, ret) == 1;
}

bool gid_is_ipv4(const uint8_t gid[static 16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

bool gid_is_global_ipv6(const uint8_t gid[static 16])
{
	return !gid_is_ipv4(gid) && !is_zero(gid) && !ip_is_link_local(AF_INET6, gid);
}

bool gid_is_routable(const uint8_t gid[static 16])
{
	return gid_is_ipv4(gid) ? gid[12] != 169 || gid[13] != 254 : gid_is_global_ipv6(gid);
}

bool gid_is_of_mac(const uint8_t gid[static 16], const char *mac)
{
	uint8_t made[16] = { 0xfe, 0x80, [11] = 0xff, [12] = 0xfe };
	char *end;

	for (size_t i = 0; i < 6; i++) {
		made[i < 3 ? 8 + i : 10 + i] = (uint8_t)strtoul(mac, &end, 16);
		if (end != mac + 2 || *end != (i < 5 ? ':' : '\0'))
			return false;
		mac = end + 1;
	}
	made[8] ^= 2;
	return memcmp(gid, made, sizeof(made)) == 0;
}

void gid_of_address(const struct address *a, uint8_t ret[static 16])
{
	uint8_t gid[16] = { [10] = 0xff, [11] = 0xff };

	if (a->family == AF_INET)
		memcpy(gid + 12, a->peer, 4);
	else
		memcpy(gid, a->local, sizeof(gid));
	memcpy(ret, gid, sizeof(gid));
}

bool gid_is_there(const struct port *p, const char *netdev, const struct address *a)
{
	uint8_t wanted[16], have[16];

	gid_of_address(a, wanted);
	return ANY(g, p->gids, p->n_gids,
		   streq(g->type, GID_ROCE_V2) && streq(g->netdev, netdev) &&
			   gid_parse(g->gid, have) && memcmp(have, wanted, sizeof(have)) == 0);
}

int gid_index_of(const struct port *p, const char *netdev, const struct netdev *bond)
{
	uint8_t bytes[16];
	int ipv6 = -1;

	FOREACH(g, p->gids, p->n_gids) {
		if (!streq(g->type, GID_ROCE_V2) || !gid_parse(g->gid, bytes) ||
		    (!streq(g->netdev, netdev) && (!bond || !streq(g->netdev, bond->name))))
			continue;
		if (!gid_is_routable(bytes))
			continue;
		if (gid_is_ipv4(bytes))
			return (int)g->index;
		if (ipv6 < 0)
			ipv6 = (int)g->index;
	}
	return ipv6;
}
