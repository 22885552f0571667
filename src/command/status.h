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

#include "../os/os.h"

/*
 * Adds the reason configuration-changed to the text of state.json where the configuration on disk
 * is another one; not where this user may not read that. Return: as output_add_config_changed().
 */
int status_add_config_changed(const struct fs *fs, char **state);

/* Says, in one line, which files the caller may not read: what they tell is missing. */
void status_tell_denied(const struct fs_unread *denied);
