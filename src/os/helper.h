/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper: has a unit of its own do what this process has no right to do.
 *
 * The service reads what others wrote, so it has neither the capabilities for kernel modules and
 * for other processes' descriptors, nor a way to systemd. Each such thing is done by a unit
 * rdma-provision-NAME.service, which its socket /run/rdma-provision-NAME.socket starts for one
 * question. The unit runs once at a time: questions wait in the socket, in their order.
 *
 * A question is one datagram, with one end of a socket pair for the answer: connect(2) is not
 * called, so that the service needs no permission for it. The same call would reach systemd, the
 * message bus and container runtimes.
 */
#pragma once

#include "../base/util.h"

#include <sys/types.h>

#define HELPER_QUESTION_LEN 32768

/*
 * Does this process lack a capability (linux/capability.h)? Then a helper may have it; if there
 * is none, the caller does without.
 */
bool helper_is_needed(int capability);

/**
 * helper_ask() - ask one question and wait for the answer
 * @path:          of the socket
 * @deadline_usec: how long to wait. A question that no helper takes within a minute is given up
 * before: the one that runs is stuck, or none can be started
 * @ret_answer:    text of the answer, release with free(); may be NULL
 *
 * Return: what the helper's work returned, negative errno on failure; -EHOSTDOWN: there is no such
 * helper, or it is not for this user; -ETIMEDOUT; -EIO: it ended without an answer; -EBADMSG: it
 * answered what is no answer; -EMSGSIZE, -ENOMEM.
 */
int helper_ask(const char *path, const char *question, uint64_t deadline_usec, char **ret_answer);

/*
 * Starts the helper before it is needed: the question has no words, and its asker is gone. The
 * helper stays for five seconds, for the next question. Return: as helper_ask(), but for what a
 * helper answers.
 */
int helper_wake(const char *path);

/* A question as the helper takes it. */
struct helper_question {
	int fd; /* owned; where the answer goes */
	char text[HELPER_QUESTION_LEN];
};

/*
 * Takes the next question of a socket (SOCK_DGRAM), and tells the asker so. Return: 0; -ENOTSOCK;
 * -EAGAIN there is none; -ESRCH the asker is gone, nothing must be done for it any more; -EBADMSG
 * no question.
 */
int helper_take(int socket, struct helper_question *ret);
int helper_answer(const struct helper_question *q, int result, const char *text);
void helper_question_done(struct helper_question *q);
