/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: what a cloud's metadata service may say of a NIC, as text and checked.
 *
 * Pure, and used on both sides of the helper's socket: the helper talks to a network, so the
 * service checks each address again.
 */
#pragma once

#include "node.h"

/* The answer of the cloud's metadata service for a NIC: only with [Route] Address=metadata. */
enum metadata_state {
	METADATA_WAITING, /* no answer yet, or none in time: asked again when the link comes up */
	METADATA_REFUSED, /* it answered with something that cannot be right */
	METADATA_KNOWN,   /* address, prefix_len and gateway are valid */
	_METADATA_STATE_N
};

struct metadata {
	char mac[MAC_LEN]; /* of the netdev that was asked about: netdev.mac */
	enum metadata_state state;
	uint8_t address[4]; /* IPv4 only, network order; inside the prefix */
	uint32_t prefix_len;
	uint8_t gateway[4]; /* inside the prefix; zero: it has none */
	char detail[192];   /* for people: what was refused, what is waited for */
};

#define METADATA_LINE_LEN 256 /* more than the longest line and its newline */

/*
 * The pieces as the service has them: "10.0.1.5", "10.0.1.0/24", "10.0.1.253".
 *
 * Return: 0 with state METADATA_KNOWN and no MAC; -EINVAL with words in @problem, for anything but
 * a host's address inside its prefix, and another one inside it as gateway.
 */
int metadata_make(const char *address, const char *prefix, const char *gateway,
		  struct metadata *ret, char *problem, size_t size);

/* "10.0.1.5/24 10.0.1.253", and back: -EINVAL for what metadata_make() would not have made. */
void metadata_format(const struct metadata *m, char *ret, size_t size);
int metadata_parse(const char *text, struct metadata *ret);

/* "ecs.scch5.16xlarge", as clouds name their instance types: of lower case, digits, "." and "-". */
#define METADATA_TYPE     "instance-type" /* the question */
#define METADATA_TYPE_LEN 64
bool metadata_is_type(const char *type);

/* "52:54:00:0a:bc:01": 6 bytes in lower case, of one netdev. It becomes part of an URL. */
bool metadata_is_mac(const char *mac);
