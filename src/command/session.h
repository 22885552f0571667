/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session: what most verbs need: the root, the configuration, and how they print and end.
 */
#pragma once

#include "../model/config.h"
#include "../model/node.h"
#include "../os/os.h"
#include "command.h"

/* The objects that most verbs need, released together. */
struct session {
	struct os os;
	struct config config;
	struct fs_unread denied;
};

void session_done(struct session *s);

/* Opens --root, and with session_open() reads the configuration. Errors are logged. @ret: empty,
 * .os.fs.root = -EBADF; can be released either way. Return: 0 or -errno. */
int session_open_os(const struct command *cmd, struct session *ret);
int session_open(const struct command *cmd, struct session *ret);

/* Opens --root, for a verb that needs no session. Errors are logged. Return: 0 or -errno. */
int session_open_root(const struct command *cmd, struct os *ret);

/* Logs that --root cannot be opened. Return: @r */
int session_refuse_root(const struct command *cmd, int r);

/* As standard_print(). Return: an exit code. */
int session_print(const char *text);

/* Prints a text for people, or a document as it is. Return: an exit code. */
int session_show(const char *text, bool is_document);

/* This process becomes KUBELET_PROGRAM. Return: the exit code when it cannot. */
int session_become_kubelet(const struct command *cmd, bool is_failed);

int session_exit_code(enum node_state state);
