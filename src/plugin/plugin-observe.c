/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin-observe.h"

#include "../base/document.h"
#include "../base/log.h"
#include "../guard/process-observe.h"
#include "../model/memory.h"
#include "../model/paths.h"
#include "../model/plugin-facts.h"
#include "../os/memory-file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_BYTES (1u << 20)
#define STAND_IN  "# left out\n"

#define SOCKET           ".sock"
#define CHECKPOINT_BYTES (16u << 20)

/* The commands of plugins, as far as comm shows them. */
static const char *const commands[_PLUGIN_N] = {
	[PLUGIN_RDMA_SHARED] = "k8s-rdma-shared", [PLUGIN_SRIOV] = "sriovdp",
	[PLUGIN_HCA] = "k8s-rdma-sriov-",         [PLUGIN_DRANET] = "dranet",
	[PLUGIN_DRA_SRIOV] = "dra-driver-srio",
};

/* A file of another program may hold tokens: a capture records only that it exists. */
static void record(const struct fs *fs, const char *path, const char *text, bool is_own)
{
	fs_record(fs, RECORD_FILE, path, is_own ? text : STAND_IN,
		  strlen(is_own ? text : STAND_IN));
}

static bool is_recorded(const struct fs *fs, const char *path, const char *text)
{
	struct plugin_record record = {}, expected;

	plugin_record_make(&expected, path, text);
	return memory_read(fs, MEMORY_BOOT, &plugin_record_fields, &record) >= 0 &&
	       streq(record.text, expected.text);
}

/* ConfigFile= is below /run, whatever a record says: "revert" may remove more than the service. */
static bool is_ours(const struct fs *fs, const char *path, const char *text)
{
	return is_prefix(path, "/" PLUGIN_FOLDER) ||
	       (is_prefix(path, "/run/") && text && is_recorded(fs, path, text));
}

/* Reads the plugin's file, or its manifest, at the absolute @path. */
static void read_text(const struct fs *fs, const char *path, bool is_manifest, struct node *n,
		      char **ret)
{
	const int r = fs_read_all(fs, path + 1, MAX_BYTES, true, ret, NULL);

	if (node_note(n, r))
		record(fs, path + 1, *ret,
		       is_manifest ? is_prefix(*ret, MANIFEST_MARK) : is_ours(fs, path, *ret));
	else if (r != -ENOENT && r != -ENOMEM)
		log_debug_errno(r, "%s", path);
}

/* Finds the file that an earlier configuration of this boot wrote to another path. */
static void find_old_file(const struct fs *fs, const struct config *c, struct node *n,
			  const struct memory *memory)
{
	/* Without a record the path is unknown, but a file in our own folder can only be ours. */
	const char *last =
		*memory->last_plugin_path ? memory->last_plugin_path : "/" PLUGIN_CONFIG_PATH;
	_cleanup_(freep) char *text = NULL;

	if (streq(last, c->plugin.config_file) || !fs_exists(fs, last + 1))
		return;
	read_text(fs, last, false, n, &text);
	if (is_ours(fs, last, text))
		COPY(n->old_plugin_path, last);
}

/* Finds the static pod that an earlier configuration wrote in any boot, unless it was replaced. */
static void find_old_manifest(const struct fs *fs, const struct config *c, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	struct manifest_record record = {};
	const char *path = record.path;

	if (!node_note(n, memory_read(fs, MEMORY_NODE, &manifest_record_fields, &record)) ||
	    *path != '/' || strstr(path, "/../") || streq(path, c->plugin.manifest))
		return;

	read_text(fs, path, true, n, &text);
	if (text && is_prefix(text, MANIFEST_MARK))
		COPY(n->old_manifest_path, path);
}

/* When the file got its present content, by CLOCK_BOOTTIME: noted at the write; else by the
 * wall clock, where a time in the future tells nothing. */
static bool get_change(const struct fs *fs, const char *path, uint64_t *ret)
{
	/* A FIFO may have replaced the file since it was read. */
	_cleanup_(closep) int fd = fs_open(fs, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	const uint64_t now = clock_usec(CLOCK_BOOTTIME);
	struct plugin_record record = {};
	struct stat st;
	time_t age;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (memory_read(fs, MEMORY_BOOT, &plugin_record_fields, &record) >= 0 && record.usec > 0) {
		*ret = record.usec;
		return true;
	}
	age = time(NULL) - st.st_mtim.tv_sec;
	*ret = now - MIN(now, (uint64_t)age * USEC_PER_SEC);
	return age >= 0;
}

/* @usec: of CLOCK_BOOTTIME. CLOCK_MONOTONIC stands still while the machine sleeps. */
static uint64_t monotonic_usec(uint64_t usec)
{
	const uint64_t boot = clock_usec(CLOCK_BOOTTIME), now = now_usec();

	return now - MIN(now, boot - MIN(boot, usec));
}

/* @change: NULL when there is no file, or its time is not known. */
static void find_processes(const struct fs *fs, const char *command, const uint64_t *change,
			   struct node *n)
{
	const uint64_t tick_usec = USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	_owns_(struct processes, items) list = {};
	struct fs unrecorded = *fs; /* a capture has no files of processes */

	unrecorded.on_read = NULL;
	node_note(n, processes_list_named(&unrecorded, command, &list));
	FOREACH(p, list.items, list.n) {
		const uint64_t start = p->start * tick_usec;
		struct plugin_process found = { .pid = p->pid,
						.started_usec = monotonic_usec(start),
						.is_dated = change != NULL };

		if (change) { /* in seconds, and never 0 for an earlier start */
			found.since_change_sec =
				((int64_t)start - (int64_t)*change) / (int64_t)USEC_PER_SEC;
			if (start < *change && found.since_change_sec == 0)
				found.since_change_sec = -1;
		}
		COPY(found.command, p->command);
		process_container(&unrecorded, p->pid, found.container, sizeof(found.container));
		NODE_ADD(n, plugin_processes, found);
	}
}

/* Is it the socket of @resource? k8s-rdma-shared-dev-plugin and sriov-network-device-plugin name it
 * "hca.sock" or "rdma_hca.sock" for rdma/hca. */
static bool is_of_resource(const char *socket, const char *resource)
{
	const char *name = strchr(resource, '/');
	const size_t n = strlen(socket) - strlen(SOCKET), n_name = name ? strlen(name + 1) : 0;

	return n_name > 0 && n >= n_name && strncmp(socket + n - n_name, name + 1, n_name) == 0 &&
	       (n == n_name || socket[n - n_name - 1] == '_');
}

static bool is_ours_by_name(const struct config *c, const char *socket)
{
	return is_of_resource(socket, c->plugin.resource) ||
	       ANY(d, c->devices, c->n_devices, is_of_resource(socket, d->resource));
}

/* @c: only of its resources; NULL: all. */
static int add_sockets(const struct fs *fs, const struct config *c, const char *folder,
		       struct node *n, bool *has_kubelet)
{
	_cleanup_(fs_names_done) struct fs_names names = {};
	int r = fs_list(fs, folder, &names);

	for (size_t i = 0; i < names.n_names && r >= 0; i++) {
		const char *name = names.names[i], *dot = strrchr(name, '.');

		if (!dot || !streq(dot, SOCKET))
			continue;
		if (streq(name, "kubelet" SOCKET)) {
			*has_kubelet = true;
			continue;
		}
		if (c && !is_ours_by_name(c, name))
			continue;
		n->n_plugin_sockets++;
		append_word(n->plugin_sockets, sizeof(n->plugin_sockets), " ", "%s", name);
	}
	return r;
}

int observe_plugin_sockets(const struct fs *fs, const struct config *c, struct node *n,
			   bool *ret_has_kubelet)
{
	bool has_kubelet = false;
	int r;

	n->n_plugin_sockets = 0;
	n->plugin_sockets[0] = '\0';
	r = add_sockets(fs, NULL, PLUGIN_SOCKETS, n, &has_kubelet);
	if (r < 0)
		return r;
	r = add_sockets(fs, c, fs_bare(FS_PATH("%s/plugins_registry", n->kubelet.root_dir)), n,
			&(bool){ false });
	*ret_has_kubelet = has_kubelet;
	return r == -ENOMEM ? r : 0;
}

/* Records only this part of the checkpoint, which also lists the devices of pods. */
static void record_registered(const struct fs *fs, json_t *registered)
{
	json_auto_t *document = json_pack("{s:{s:O}}", "Data", "RegisteredDevices", registered);
	_cleanup_(freep) char *text = NULL;

	if (document && document_print(document, &text) >= 0)
		fs_record(fs, RECORD_FILE, PLUGIN_CHECKPOINT, text, strlen(text));
}

int observe_plugin_resources(const struct fs *fs, struct node *n)
{
	_cleanup_(freep) char *text = NULL;
	json_auto_t *document = NULL;
	json_t *registered, *ids;
	const char *name;
	size_t size;
	int r = fs_read_all(fs, PLUGIN_CHECKPOINT, CHECKPOINT_BYTES, true, &text, &size);

	if (r >= 0)
		r = document_parse(text, size, 0, &document, NULL);
	if (r < 0)
		return r;
	free(TAKE(n->plugin_resources));
	n->n_plugin_resources = 0;
	registered = json_object_get(json_object_get(document, "Data"), "RegisteredDevices");
	json_object_foreach(registered, name, ids) {
		struct plugin_resource p = { .n_devices = (uint32_t)json_array_size(ids) };

		COPY(p.name, name);
		NODE_ADD(n, plugin_resources, p);
	}
	if (registered)
		record_registered(fs, registered);
	return node_result(n);
}

/* The resources are unknown while there is no kubelet yet, or its file is being replaced. */
static void observe_registered(const struct fs *fs, const struct config *c, struct node *n)
{
	bool has_kubelet;
	int r = observe_plugin_sockets(fs, c, n, &has_kubelet);

	if (r >= 0 && n->n_plugin_sockets > 1)
		r = observe_plugin_resources(fs, n);
	if (!node_note(n, r) && r != -ENOENT && r != -ENOMEM)
		log_debug_errno(r, "/" PLUGIN_SOCKETS);
}

void observe_plugin(const struct fs *fs, const struct config *c, struct node *n,
		    const struct memory *memory)
{
	uint64_t change;

	find_old_file(fs, c, n, memory);
	find_old_manifest(fs, c, n);
	if (*c->plugin.config_file)
		read_text(fs, c->plugin.config_file, false, n, &n->plugin_file);
	n->is_plugin_foreign = *c->plugin.config_file && fs_exists(fs, c->plugin.config_file + 1) &&
			       !is_ours(fs, c->plugin.config_file, n->plugin_file);
	if (*c->plugin.manifest)
		read_text(fs, c->plugin.manifest, true, n, &n->manifest_file);
	if (plugin_has_file(c->plugin.type))
		observe_registered(fs, c, n);
	if (fs->is_live && c->plugin.type == PLUGIN_DRA_SRIOV)
		find_processes(fs, commands[c->plugin.type], NULL, n);
	else if (fs->is_live && plugin_has_file(c->plugin.type) && n->plugin_file)
		find_processes(fs, commands[c->plugin.type],
			       get_change(fs, c->plugin.config_file + 1, &change) ? &change : NULL,
			       n);
}

int observe_plugin_processes(const struct fs *fs, const struct config *c, struct node *n)
{
	uint64_t change;
	bool has_file;

	if (!fs->is_live || c->plugin.type == PLUGIN_NONE)
		return 0;
	free(TAKE(n->plugin_processes));
	n->n_plugin_processes = 0;
	has_file = plugin_has_file(c->plugin.type) && n->plugin_file &&
		   get_change(fs, c->plugin.config_file + 1, &change);
	find_processes(fs, commands[c->plugin.type], has_file ? &change : NULL, n);
	return node_result(n);
}
