/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: what is remembered beside the node itself, and the tables by which it is read and
 * written. Plain data.
 *
 * A table named after a list is that of an object with one key: os/memory-file.h has the files.
 */
#pragma once

#include "../base/fields.h"
#include "boots.h"
#include "ledger.h"

/*
 * The members that a pass leaves for the next one of this boot: boot_id, last_hash, devices, stuck,
 * stuck_pid, devlink_pid, last_plugin_path, was_held, was_wait_over, attempts. A malformed entry is
 * forgotten, the others are kept: what it noted is tried or done again, which does no harm.
 */
extern const struct fields pass_memory_fields;

/* The members of state.json, a file for others, that the next pass reads. */
struct state_head {
	char boot_id[40], config_hash[17];
	enum node_state state;
	uint32_t schema;
};
extern const struct fields state_head_fields;

/*
 * Makes what was read by that table fit for use: forgets it when it is of another boot than
 * @boot_id, and attempts and was_wait_over when they are of another configuration than @head, from
 * which last_state and last_hash are taken when that is of this boot.
 */
void memory_take(struct memory *m, const char *boot_id, const struct state_head *head);

/* "boots", over boots; of this boot when /var cannot be written: then all that are known. */
struct boots {
	struct boot *entries; /* owned */
	size_t n_entries;
};
extern const struct fields boots_fields;

/* "outputs", over boots; of this boot when /var cannot be written: files that we wrote. */
struct output_records {
	struct output_record *entries; /* owned */
	size_t n_entries;
};
extern const struct fields output_records_fields;

/*
 * "autoprobe", as the outputs: the PFs that have sriov_drivers_autoprobe off because of us. The
 * kernel switches it on for each new device, hence at boot: an entry of another boot is only a
 * leftover.
 */
struct autoprobe_entry {
	char boot_id[40], pci[PCI_LEN];
};
struct autoprobes {
	struct autoprobe_entry *entries; /* owned */
	size_t n_entries;
};
extern const struct fields autoprobes_fields;

/* "metadata", of this boot: what the cloud's service answered, as metadata_format() has it. */
struct metadata_answer {
	char mac[MAC_LEN], answer[128];
};
struct metadata_answers {
	struct metadata_answer *entries; /* owned */
	size_t n_entries;
};
extern const struct fields metadata_answers_fields;

/* "plugin_file", of this boot, one that is not in our own folder: "HASH PATH"; "": none.
 * "plugin_usec": CLOCK_BOOTTIME when the plugin's file was written last; 0: not known. */
struct plugin_record {
	char text[PATH_LEN + 32];
	uint64_t usec;
};
extern const struct fields plugin_record_fields;
void plugin_record_make(struct plugin_record *ret, const char *path, const char *text);

/* "manifest", over boots: path of the static pod that we wrote; "": none. */
struct manifest_record {
	char path[PATH_LEN];
};
extern const struct fields manifest_record_fields;
