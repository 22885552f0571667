/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker: a pass of the service in a child process, which tells its progress and its result over a
 * pipe.
 *
 * The main process makes no call that can wait for a driver; this one may. It ends with its pass,
 * and what the next one must know is in state.json. It is a fork of the service, with the
 * configuration that the service has at that moment, and closes what the service has open.
 *
 * A worker that is held looks at the node and then waits for worker_release() before it changes
 * anything. One that is not wanted any more can be killed until then.
 */
#pragma once

#include "../pass/loop.h"

#include <sys/types.h>

/* Beyond the deadlines of actions: how long a worker may look at the node. */
#define WORKER_MARGIN_USEC (60 * USEC_PER_SEC)

enum worker_message_kind {
	WORKER_LOOKED, /* one that is held: is_ready */
	WORKER_LOCKS,  /* before any action: it waits for another pass, or has waited for it: text,
			  deadline_usec */
	WORKER_STARTS, /* an action begins: text, deadline_usec */
	WORKER_WAITS,  /* it has nothing to do but to wait for the end of an action: text */
	WORKER_ENDS,   /* the pass is over: error, result */
};

/* Smaller than PIPE_BUF: messages arrive whole. */
struct worker_message {
	enum worker_message_kind kind;
	bool is_ready;          /* of WORKER_LOOKED: see struct pass */
	uint64_t deadline_usec; /* how long the action may take */
	int error;              /* of the pass as a whole: -errno */
	struct pass_result result;
	char text[192];   /* of all but the first and the last */
	char pf[PCI_LEN]; /* of WORKER_STARTS: whose VFs are being made; empty: none */
	uint32_t n_vfs;   /* how many of them there will be */
};

struct worker {
	pid_t pid; /* 0: none is running */
	int pipe;  /* owned; to read messages from, non-blocking */
	int gate;  /* owned; an eventfd that one that is held waits for; else -EBADF */
};

/* The hooks of @pass are the worker's own. Return: 0 or -errno. */
int worker_start(const struct pass *pass, bool is_held, struct worker *ret);
/* Lets a held worker go on, after its look or at once when it has looked already. */
int worker_release(struct worker *w);
/* Closes the descriptors; the process is left to its caller. */
void worker_done(struct worker *w);

/*
 * When a worker is given up, @now_usec being when its message came and @limit_usec when it would be
 * given up without that. Actions go on side by side, and none shortens the time of another; a wait
 * for the lock is over before the first of them.
 */
uint64_t worker_limit(const struct worker_message *m, uint64_t now_usec, uint64_t limit_usec);

/* Reads a message. Return: 1, 0 when there is none now, -EPIPE when the worker is gone, or
 * -errno. */
int worker_read(struct worker *w, struct worker_message *ret);
