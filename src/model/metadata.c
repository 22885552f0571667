/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata.h"

#include "ip.h"

#include <arpa/inet.h>

/* Shorter ones are no network of a cloud, longer ones have no room for a gateway. */
#define PREFIX_MIN 8
#define PREFIX_MAX 30

/* Inside the prefix, and neither its first nor its last address. */
static bool is_inside(const uint8_t a[static 4], const uint8_t network[static 4], uint32_t len)
{
	return ip_is_in_prefix(a, network, len) && !ip_is_end(a, len);
}

static bool parse_length(const char *text, uint32_t *ret)
{
	return *text != '0' && take_number(&text, PREFIX_MAX, ret) && !*text && *ret >= PREFIX_MIN;
}

/* "10.0.1.0/24" */
static bool parse_prefix(const char *text, uint8_t ret[static 4], uint32_t *ret_len)
{
	const char *slash = strchr(text, '/');
	char address[INET_ADDRSTRLEN];

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return false;
	PRINT(address, "%.*s", (int)(slash - text), text);
	return inet_pton(AF_INET, address, ret) == 1 && parse_length(slash + 1, ret_len);
}

static const char *check(const char *address, const char *prefix, const char *gateway,
			 struct metadata *m)
{
	uint8_t network[4];

	if (inet_pton(AF_INET, address, m->address) != 1 || !ip_is_of_host(AF_INET, m->address))
		return "no address of a host";
	if (!parse_prefix(prefix, network, &m->prefix_len))
		return "no prefix of 8 to 30 bits";
	if (inet_pton(AF_INET, gateway, m->gateway) != 1 || !ip_is_of_host(AF_INET, m->gateway))
		return "no gateway";
	if (!is_inside(m->address, network, m->prefix_len))
		return "the address is outside its prefix";
	if (!is_inside(m->gateway, network, m->prefix_len))
		return "the gateway is outside the prefix";
	if (memcmp(m->address, m->gateway, sizeof(m->address)) == 0)
		return "the gateway is the address itself";
	return NULL;
}

int metadata_make(const char *address, const char *prefix, const char *gateway,
		  struct metadata *ret, char *problem, size_t size)
{
	struct metadata m = { .state = METADATA_KNOWN };
	const char *words = check(address, prefix, gateway, &m);

	if (words) {
		snprintf(problem, size, "%s: %.40s, %.40s, %.40s", words, address, prefix, gateway);
		return -EINVAL;
	}
	*ret = m;
	return 0;
}

void metadata_format(const struct metadata *m, char *ret, size_t size)
{
	char address[INET_ADDRSTRLEN] = "", gateway[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, m->address, address, sizeof(address));
	inet_ntop(AF_INET, m->gateway, gateway, sizeof(gateway));
	snprintf(ret, size, "%s/%" PRIu32 " %s", address, m->prefix_len, gateway);
}

int metadata_parse(const char *text, struct metadata *ret)
{
	char line[METADATA_LINE_LEN], address[INET_ADDRSTRLEN], problem[METADATA_LINE_LEN];
	char *gateway;
	size_t len;

	if (!COPY(line, text))
		return -EINVAL;
	gateway = strchr(line, ' ');
	len = strcspn(line, "/");
	if (!gateway || len >= sizeof(address) || line + len > gateway)
		return -EINVAL;
	*gateway++ = '\0';
	PRINT(address, "%.*s", (int)len, line);
	/* The address stands for its prefix. */
	return metadata_make(address, line, gateway, ret, problem, sizeof(problem));
}

bool metadata_is_mac(const char *mac)
{
	size_t i;

	for (i = 0; mac[i]; i++)
		if (i % 3 == 2 ? mac[i] != ':' : !strchr("0123456789abcdef", mac[i]))
			return false;
	/* Neither zero nor a group's: the lowest bit of the first byte. */
	return i == strlen("00:00:00:00:00:00") && !strchr("13579bdf", mac[1]) &&
	       strspn(mac, "0:") < i;
}

bool metadata_is_type(const char *type)
{
	const size_t n = strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789.-");

	return n > 0 && n < METADATA_TYPE_LEN && type[n] == '\0';
}
