/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

/* FNV-1a, 128 bits, least significant first: the prime is 2^88 + 0x13b. */
static void add_byte(uint32_t h[static 4], unsigned char byte)
{
	const uint32_t low = h[0] ^ byte, next = h[1];
	const uint32_t shifted[4] = { 0, 0, low << 24, next << 24 | low >> 8 };
	uint64_t sum = 0;

	h[0] = low;
	for (size_t i = 0; i < 4; i++) {
		sum += (uint64_t)h[i] * 0x13b + shifted[i];
		h[i] = (uint32_t)sum;
		sum >>= 32;
	}
}

static void add_text(uint32_t h[static 4], const char *text)
{
	for (; *text; text++)
		add_byte(h, (unsigned char)*text);
}

void message_id(const char *name, char ret[static MESSAGE_ID_LEN])
{
	uint32_t h[4] = { 0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e };

	add_text(h, name);
	add_text(h, ", a message of rdma-provision");
	h[2] = (h[2] & 0xffff0fff) | 0x8000;     /* version */
	h[1] = (h[1] & 0x3fffffff) | 0x80000000; /* variant */
	snprintf(ret, MESSAGE_ID_LEN, "%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32, h[3],
		 h[2], h[1], h[0]);
}

const struct message_text messages[_MESSAGE_N] = {
	[MESSAGE_CHANGE] = { "change" },
	[MESSAGE_READY] = {
		"ready",
		"The RDMA devices of this node are ready",
		"All expected devices are usable, and what the configuration asks for is done. "
		"\"rdma-provision status\" shows them.",
	},
	[MESSAGE_DEGRADED] = {
		"degraded",
		"The node is not as the configuration asks for",
		"What is usable is handed out, and the kubelet starts unless Gate=strict holds it "
		"back. The reasons have lines of their own; \"rdma-provision status\" has all of "
		"them, with advice.",
	},
	[MESSAGE_OVER] = {
		"over",
		"@RDMA_TARGET@: @RDMA_CODE@ is over",
		"The deviation that was reported before no longer exists. Nothing to do.",
	},
};
