/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugin: writes and removes the device plugin's file and its static pod, with the texts of the
 * plan. When they are written, and whose a file is that is there, is plugin/plugin-plan.c.
 */
#include "../model/memory.h"
#include "../model/paths.h"
#include "../os/memory-file.h"
#include "../step/other-files.h"
#include "../step/verbs.h"

#define MAX_BYTES (1u << 20)

/* In our own folder all is ours. Elsewhere the record comes last, also of the same text, whose time
 * stays. */
int apply_write_plugin(struct work *w, const struct action *a)
{
	const char *text = w->plan->plugin;
	struct plugin_record record = {};
	int r;

	/* Paths of actions are absolute. Plugins run with a user of their own choice: readable for
	 * all. */
	r = fs_output(&w->os->fs, a->target + 1, text, strlen(text), 0644);
	if (r < 0)
		return r;
	memory_read(&w->os->fs, MEMORY_BOOT, &plugin_record_fields, &record);
	if (r > 0)
		record.usec = clock_usec(CLOCK_BOOTTIME);
	if (!is_prefix(a->target, "/" PLUGIN_FOLDER))
		plugin_record_make(&record, a->target, text);
	r = memory_write(&w->os->fs, MEMORY_BOOT, &plugin_record_fields, &record);
	if (r < 0)
		copy(w->error, CHILD_ERROR_LEN, "/" MEMORY_BOOT_PATH " cannot be written");
	return r;
}

int apply_remove_plugin(struct work *w, const struct action *a)
{
	static const struct plugin_record none;
	int r = fs_output_remove(&w->os->fs, a->target + 1);

	return r < 0 || is_prefix(a->target, "/" PLUGIN_FOLDER)
		       ? r
		       : memory_write(&w->os->fs, MEMORY_BOOT, &plugin_record_fields, &none);
}

/* Has the plugin's file its new text? There is no reason to start a plugin without it. */
static bool is_plugin_written(const struct work *w)
{
	_cleanup_(freep) char *text = NULL;

	return fs_read_all(&w->os->fs, w->plan->plugin_path + 1, MAX_BYTES, false, &text, NULL) >=
		       0 &&
	       streq(text, w->plan->plugin);
}

/* The manifest's path has to be known after a reboot, whatever the configuration says then. */
int apply_write_manifest(struct work *w, const struct action *a)
{
	struct manifest_record record;
	int r;

	if (!is_plugin_written(w)) {
		copy(w->error, CHILD_ERROR_LEN, "the device plugin's file could not be written");
		return -ENOENT;
	}

	COPY(record.path, a->target);
	r = memory_write(&w->os->fs, MEMORY_NODE, &manifest_record_fields, &record);
	if (r < 0) {
		copy(w->error, CHILD_ERROR_LEN, "/" MEMORY_NODE_PATH " cannot be written");
		return r;
	}
	return other_files_put(&w->os->fs, MANIFEST_NAME, a->target, w->plan->manifest);
}

int apply_remove_manifest(struct work *w, const struct action *a)
{
	static const struct manifest_record none;
	int r = other_files_put(&w->os->fs, MANIFEST_NAME, a->target, NULL);

	return r < 0 ? r : memory_write(&w->os->fs, MEMORY_NODE, &manifest_record_fields, &none);
}
