/* SPDX-License-Identifier: Apache-2.0 */
#include "ip.h"

#include "node.h"

#include <arpa/inet.h>

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
	for (uint32_t bit = 0; bit < prefix_len; bit++)
		if ((bytes[bit / 8] ^ prefix[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
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
