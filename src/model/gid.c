/* SPDX-License-Identifier: Apache-2.0 */
#include "gid.h"

#include "ip.h"

#include <sys/socket.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gid_parse(const char *text, uint8_t ret[static 16])
{
	uint8_t bytes[16] = {};

	for (size_t i = 0; i < 32; i++) {
		int value = digit(*text);

		if (value < 0)
			return false;
		bytes[i / 2] |= (uint8_t)(value << (i % 2 ? 0 : 4));
		text++;
		if (i % 4 == 3 && i < 31 && *text++ != ':')
			return false;
	}
	if (*text)
		return false;
	memcpy(ret, bytes, sizeof(bytes));
	return true;
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

	for (size_t i = 0; i < p->n_gids; i++) {
		const struct gid *g = &p->gids[i];

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
