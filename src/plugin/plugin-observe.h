/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: the files of the device plugin that are there, and the running plugin.
 *
 * Both published plugins read their file once, when they start (main.go of both), so one that was
 * started before the file changed knows nothing of it. Its process is known by its name: comm has
 * the first 15 letters. Start and change are compared as times after boot, which no setting of the
 * clock changes. A file without a record of that time has its mtime: unless that lies in the
 * future, the file looks older or newer by what the clock was set.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills plugin_file, is_plugin_foreign, manifest_file, old_plugin_path, old_manifest_path and, on
 * the running system, plugin_processes: those of the configured type, where there is a file; and,
 * with a type that has one, plugin_sockets and plugin_resources. For a
 * configuration that names no files, what was written is old.
 *
 * A file is ours in the folder of PLUGIN_CONFIG_PATH, and elsewhere with the content that
 * struct plugin_record has the hash of. What cannot be read counts as absent.
 */
void observe_plugin(const struct fs *fs, const struct config *c, struct node *n,
		    const struct memory *memory);

/*
 * Part of observe_plugin() where there are several sockets, and asked for by "verify": fills
 * plugin_resources with what is registered with the kubelet, by its checkpoint: {"Data":
 * {"RegisteredDevices": {"rdma/hca": ["0", ...]}}}, checkpoint.go of its devicemanager. It has a
 * resource for five minutes after its plugin is gone (GetCapacity() in manager.go there), and the
 * socket of a plugin that was killed stays longer. Return: 0 or -errno.
 */
#define PLUGIN_CHECKPOINT "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
int observe_plugin_resources(const struct fs *fs, struct node *n);

/*
 * Fills plugin_sockets and n_plugin_sockets, and whether the kubelet's own is there. A plugin has
 * one for each resource, in the fixed folder of device plugins, where the kubelet removes all when
 * it starts; or, as both published ones, in that of all kinds of plugins, where only those named
 * like @c's resources count: below the root directory of @n's kubelet. Return: 0 or -errno.
 */
#define PLUGIN_SOCKETS "var/lib/kubelet/device-plugins"
int observe_plugin_sockets(const struct fs *fs, const struct config *c, struct node *n,
			   bool *ret_has_kubelet);

/*
 * Fills plugin_processes again, also where there is no file: for a person who asks.
 * Return: 0, also for other than the running system, or -ENOMEM.
 */
int observe_plugin_processes(const struct fs *fs, const struct config *c, struct node *n);
