/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: the files of the device plugin that are there, and the running plugin.
 *
 * Both published plugins read their file once, when they start (main.go of both), so one that was
 * started before the file changed knows nothing of it. Its process is known by its name: comm has
 * the first 15 letters. Start and change are compared as times after boot, to a second: the clock
 * may have been set in between, and then the file looks older or newer by that.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills plugin_file, is_plugin_foreign, manifest_file, old_plugin_path, old_manifest_path and, on
 * the running system, plugin_processes: those of the configured type, where there is a file. For a
 * configuration that names no files, what was written is old.
 *
 * A file is ours in the folder of PLUGIN_CONFIG_PATH, and elsewhere with the content that
 * struct plugin_record has the hash of.
 * Return: 0 or -ENOMEM: what cannot be read counts as absent.
 */
int observe_plugin(const struct fs *fs, const struct config *c, struct node *n,
		   const struct memory *memory);

/*
 * Fills plugin_processes again, also where there is no file: for a person who asks.
 * Return: 0, also for other than the running system, or -ENOMEM.
 */
int observe_plugin_processes(const struct fs *fs, const struct config *c, struct node *n);
