/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message: what the journal knows a line of ours by, for ever.
 *
 * Every reason code is a message, and so are the few lines that are about none. MESSAGE_ID= is the
 * 128 bit FNV-1a hash of "NAME, a message of rdma-provision", where NAME is the code or the name of
 * the message, with the six bits that make a UUID of it (RFC 9562, version 8, variant 10). So an id
 * follows from its name alone and never changes while the name does not, and anybody can compute it
 * again. The name comes first because FNV spreads a letter over what follows it. Journal and
 * catalog write an id as 32 hexadecimal digits: systemd.journal-fields(7).
 */
#pragma once

#include "reason.h"

enum message {
	MESSAGE_CHANGE,   /* a change was made */
	MESSAGE_READY,    /* the node became ready */
	MESSAGE_DEGRADED, /* the node became degraded */
	MESSAGE_OVER,     /* a deviation that was told is there no more; RDMA_CODE= is its code */
	_MESSAGE_N
};

#define MESSAGE_ID_LEN 33

void message_id(const char *name, char ret[static MESSAGE_ID_LEN]);

extern const struct message_text {
	const char *name;    /* "change" */
	const char *subject; /* of the catalog, with @FIELD@ in it; or NULL */
	const char *body;    /* the same; sentences in one line */
} messages[_MESSAGE_N];

/* A deviation that is new in a state, or that was in the state before and is over. */
struct news {
	enum reason reason;
	bool is_over;
	char target[256]; /* "" is the whole node */
	char detail[512], advice[384];
};
