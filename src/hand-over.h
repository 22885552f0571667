/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-over: what the service gives to the worker that it starts, in a memfd.
 *
 * The two programs are of one build (worker.h), so structs are handed over as they lie in memory,
 * and what they point to follows them. The configuration is the one that the service has read, not
 * that of the files as they are by now.
 */
#pragma once

#include "base/log.h"
#include "loop.h"
#include "model/link-log.h"

#include <sys/types.h>

struct hand_over {
	pid_t parent;          /* the service: a worker of another parent has lost it */
	int pipe;              /* messages of the worker go there */
	int gate;              /* an eventfd that one that is held waits for; else -EBADF */
	enum log_level level;  /* of the service */
	struct pass pass;      /* without goal and hooks */
	struct config *config; /* owned by the reader, as is the next: those of the pass */
	struct link_log *link_log;
};

/* @h: config and link_log are those of its pass. Return: a memfd, or -errno. */
int hand_over_write(const struct hand_over *h);

/*
 * @fd: to be read from its start. Return: 0; -EBADMSG: it was cut, is of another build, or is no
 * hand-over; -ENOMEM, or another -errno.
 */
int hand_over_read(int fd, struct hand_over *ret);
void hand_over_done(struct hand_over *h);
