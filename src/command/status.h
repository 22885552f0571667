/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: the node as people and programs see it, once or again at every change.
 *
 * Is what the last pass of the service left in the state file. Where there is none, or where the
 * service is not active and the caller is root, it is what a look shows now, and a line says so. A
 * look changes nothing. Whether the service is active is systemd's to say; where it cannot be asked
 * there is no line about it.
 */
#pragma once

#include "../model/node.h"
#include "../os/os.h"
#include "../show/tree.h"

struct status_request {
	const char *config; /* the file of --config, or NULL */
	bool is_json;
	enum tree_view view; /* without is_json */
};

/*
 * Prints the node. Problems are logged.
 * Return: 0 with the state in @ret, or -errno.
 */
int status_show(struct os *d, const struct status_request *req, enum node_state *ret);

/**
 * status_follow() - print the node, and again whenever that changes
 * @fs:      of the running system
 * @req:     with is_json one document a line
 * @ret:     the last state that was seen; NODE_STARTING when there was none
 *
 * By inotify, nothing is polled. On a terminal the picture is drawn in place, also after its size
 * changed; elsewhere a new one follows an empty line, and only when it is another. A state file
 * that is not there is waited for. Ends by SIGINT and SIGTERM, and when the reader is gone, also
 * while nothing changes.
 *
 * Return: 0 or -errno.
 */
int status_follow(const struct fs *fs, const struct status_request *req, enum node_state *ret);

/*
 * Adds the reason configuration-changed to the text of state.json where the configuration on disk
 * is another one; not where this user may not read that. Return: as output_add_config_changed().
 */
int status_add_config_changed(const struct fs *fs, char **state);

/* Says, in one line, which files the caller may not read: what they tell is missing. */
void status_tell_denied(const struct fs_unread *denied);
