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
