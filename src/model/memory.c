/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "metadata.h"
#include "outputs.h"

#define MAX_ERRNO   4095 /* include/linux/err.h */
#define MAX_ENTRIES 65536
#define MAX_PAUSE   (24 * 3600 * (int64_t)USEC_PER_SEC)

static const struct field moment_rows[] = {
	NUMBER(struct moment, "usec", usec),
	NUMBER(struct moment, "sec", sec),
};
static const struct fields moment_fields = FIELDS(moment_rows, struct moment);

#define GIVEN(prefix, m)                                                                           \
	FILE_NAME(struct device_memory, prefix "_name", m.name, .flags = FIELD_SPARSE),            \
		NAME(struct device_memory, prefix "_mac", m.mac, .flags = FIELD_SPARSE),           \
		NUMBER(struct device_memory, prefix "_mtu", m.mtu, .flags = FIELD_SPARSE),         \
		NAME(struct device_memory, prefix "_altnames", m.altnames, .flags = FIELD_SPARSE), \
		NAME(struct device_memory, prefix "_vf_mac", m.vf_mac, .flags = FIELD_SPARSE),     \
		NAME(struct device_memory, prefix "_addresses", m.addresses,                       \
		     .flags = FIELD_SPARSE),                                                       \
		NAME(struct device_memory, prefix "_routes", m.routes, .flags = FIELD_SPARSE),     \
		FILE_NAME(struct device_memory, prefix "_vrf", m.vrf, .flags = FIELD_SPARSE),      \
		NUMBER(struct device_memory, prefix "_vlan", m.vlan, .min = -1, .max = UINT16_MAX, \
		       .flags = FIELD_SPARSE),                                                     \
		NUMBER(struct device_memory, prefix "_trust", m.trust, .min = -1, .max = 1,        \
		       .flags = FIELD_SPARSE)

static const struct field device_rows[] = {
	FILE_NAME(struct device_memory, "pci", pci, .flags = FIELD_NEEDED),
	NAME(struct device_memory, "card", card),
	NUMBER(struct device_memory, "unsupported", unsupported),
	FLAG(struct device_memory, "rebuilt", was_rebuilt),
	FLAG(struct device_memory, "port", was_port, .flags = FIELD_SPARSE),
	FLAG(struct device_memory, "exclusive", was_exclusive, .flags = FIELD_SPARSE),
	FILE_NAME(struct device_memory, "ibdev", ibdev),
	FLAG(struct device_memory, "virtual", was_virtual),
	FILE_NAME(struct device_memory, "netdev", netdev),
	NUMBER(struct device_memory, "index", index, .flags = FIELD_NEEDED | FIELD_NONE),
	NUMBER(struct device_memory, "active_mtu", active_mtu),
	NUMBER(struct device_memory, "mtu", mtu),
	FLAG(struct device_memory, "usable", was_usable, .flags = FIELD_NEEDED),
	FLAG(struct device_memory, "lost", was_lost),
	NUMBER(struct device_memory, "no_carrier_usec", no_carrier_usec, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "usable_instance", usable_instance, .flags = FIELD_SPARSE),
	NAME(struct device_memory, "sick", sick, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "sick_pid", sick_pid, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "instance", instance, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "usable_usec", usable_usec, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "losses", losses.n, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "returns", losses.n_back, .flags = FIELD_SPARSE),
	FIELD(FIELD_ARRAY, struct device_memory, "lost_at", losses.last, .of = &moment_fields,
	      .count = offsetof(struct device_memory, losses.n_last),
	      .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct device_memory, "losses_of", losses.ifindex, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "carrier_downs", losses.carrier_downs, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "seen_usec", losses.seen_usec, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "grace_usec", losses.grace_usec, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "back_usec", losses.back_usec, .flags = FIELD_SPARSE),
	NUMBER(struct device_memory, "aer", aer, .flags = FIELD_SPARSE),
	GIVEN("given", given),
	GIVEN("now", seen),
	NUMBER(struct device_memory, "now_usec", seen_usec, .flags = FIELD_SPARSE),
	FLAG(struct device_memory, "out", is_out, .flags = FIELD_SPARSE),
	FILE_NAME(struct device_memory, "matched", matched, .flags = FIELD_SPARSE),
};

/* Drops bits that only another version knows. */
static bool complete_device(void *item)
{
	((struct device_memory *)item)->unsupported &= VF_SETTING_ALL;
	return true;
}

static const struct fields device_memory_fields = FIELDS(
	device_rows, struct device_memory, .is_valid = complete_device, .compare = compare_text);

static const struct field attempt_rows[] = {
	WORD_FIELD(struct attempt, "verb", verb, verb_name, _VERB_N, .flags = FIELD_NEEDED),
	NAME(struct attempt, "target", target),
	NAME(struct attempt, "subject", subject, .flags = FIELD_SPARSE),
	NAME(struct attempt, "to", to, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "ifindex", ifindex, .max = INT32_MAX, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "instance", instance),
	NUMBER(struct attempt, "value", value, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "result", result, .min = -MAX_ERRNO, .flags = FIELD_NEEDED),
	FLAG(struct attempt, "vain", is_vain, .flags = FIELD_SPARSE),
	NAME(struct attempt, "error", error, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "n", n, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "since_usec", since_usec, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "last_usec", last_usec, .flags = FIELD_SPARSE),
	NUMBER(struct attempt, "pause_usec", pause_usec, .max = MAX_PAUSE, .flags = FIELD_SPARSE),
};
static const struct fields attempt_fields = FIELDS(attempt_rows, struct attempt);

static const struct field pass_rows[] = {
	NAME(struct memory, "boot_id", boot_id, .flags = FIELD_FORGET),
	NAME(struct memory, "config_hash", last_hash, .flags = FIELD_FORGET),
	LIST(FIELD_LIST, struct memory, "devices", devices, device_memory_fields,
	     .max = MAX_ENTRIES, .flags = FIELD_FORGET),
	FILE_NAME(struct memory, "stuck", stuck, .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct memory, "stuck_pid", stuck_pid, .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct memory, "devlink_pid", devlink_pid, .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct memory, "net_hash", net_hash, .max = INT64_MAX,
	       .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct memory, "net_usec", net_usec, .max = INT64_MAX,
	       .flags = FIELD_FORGET | FIELD_SPARSE),
	FLAG(struct memory, "held", was_held, .flags = FIELD_FORGET | FIELD_SPARSE),
	FLAG(struct memory, "waited", was_wait_over, .flags = FIELD_FORGET | FIELD_SPARSE),
	NAME(struct memory, "plugin_path", last_plugin_path, .flags = FIELD_FORGET | FIELD_SPARSE),
	LIST(FIELD_LIST, struct memory, "attempts", attempts, attempt_fields, .max = MAX_ENTRIES,
	     .flags = FIELD_FORGET | FIELD_SPARSE),
};
const struct fields pass_memory_fields = FIELDS(pass_rows, struct memory);

static const struct field head_rows[] = {
	NUMBER(struct state_head, "schema", schema, .min = 1, .max = 1, .flags = FIELD_NEEDED),
	NAME(struct state_head, "boot_id", boot_id),
	NAME(struct state_head, "config_hash", config_hash, .flags = FIELD_FORGET),
	WORD_FIELD(struct state_head, "state", state, node_state_name, _NODE_STATE_N,
		   .flags = FIELD_NEEDED),
};
const struct fields state_head_fields = FIELDS(head_rows, struct state_head);

void memory_take(struct memory *m, const char *boot_id, const struct state_head *head)
{
	static const struct state_head none;

	if (!streq(m->boot_id, boot_id)) {
		memory_done(m);
		*m = (struct memory){};
	}
	if (!streq(head->boot_id, boot_id))
		head = &none;
	if (!streq(m->last_hash, head->config_hash)) {
		m->n_attempts = 0;
		m->was_wait_over = false;
	}
	COPY(m->last_hash, head->config_hash);
	m->last_state = head->state;
	/* Keep the first of several entries for one function. */
	KEEP(d, m->devices, m->n_devices, d == m->devices || !streq(d[-1].pci, d->pci));
	/* The path is ours, but may have been planted: only one below /run is taken. */
	if (!is_prefix(m->last_plugin_path, "/run/") || strstr(m->last_plugin_path, "/."))
		m->last_plugin_path[0] = '\0';
}

static const struct field step_rows[] = {
	WORD_FIELD(struct boot_step, "verb", verb, verb_name, _VERB_N, .flags = FIELD_NEEDED),
	NAME(struct boot_step, "target", target),
	NAME(struct boot_step, "to", to),
	NAME(struct boot_step, "config", config),
	NAME(struct boot_step, "driver", driver),
	NAME(struct boot_step, "firmware", firmware),
	NAME(struct boot_step, "program", program),
	NUMBER(struct boot_step, "result", result, .min = -MAX_ERRNO, .flags = FIELD_NEEDED),
	FLAG(struct boot_step, "skipped", is_skipped),
	NAME(struct boot_step, "card", card, .flags = FIELD_SPARSE),
};
static const struct fields step_fields = FIELDS(step_rows, struct boot_step);

/* An address alone, as versions before this one wrote it, is a need as well. */
static const struct field need_rows[] = {
	NAME(struct boot_need, "pci", pci, .flags = FIELD_ALONE | FIELD_NEEDED),
	NAME(struct boot_need, "card", card, .flags = FIELD_SPARSE),
	NAME(struct boot_need, "of", of, .flags = FIELD_SPARSE),
	NAME(struct boot_need, "words", words, .flags = FIELD_SPARSE),
	NAME(struct boot_need, "pf", pf, .flags = FIELD_SPARSE),
};
static const struct fields need_fields = FIELDS(need_rows, struct boot_need);

static const struct field boot_rows[] = {
	NAME(struct boot, "boot_id", boot_id, .flags = FIELD_NEEDED),
	NUMBER(struct boot, "time", time, .max = INT64_MAX, .flags = FIELD_NEEDED),
	NAME(struct boot, "kernel", kernel),
	WORD_FIELD(struct boot, "state", state, node_state_name, _NODE_STATE_N,
		   .flags = FIELD_NEEDED),
	LIST(FIELD_ARRAY, struct boot, "steps", steps, step_fields, .flags = FIELD_FORGET),
	NAME(struct boot, "machine", machine, .flags = FIELD_SPARSE),
	LIST(FIELD_ARRAY, struct boot, "node_nics", needs, need_fields, .flags = FIELD_FORGET,
	     .has = offsetof(struct boot, has_needs)),
};
static const struct fields boot_fields = FIELDS(boot_rows, struct boot);

ENTRIES_FIELDS(boots_fields, struct boots, "boots", boot_fields);

static const struct field output_rows[] = {
	WORD_FIELD(struct output_record, "output", output, output_name, _OUTPUT_N,
		   .flags = FIELD_NEEDED),
	NAME(struct output_record, "path", path, .flags = FIELD_NEEDED),
};

static bool is_absolute(void *item)
{
	return ((const struct output_record *)item)->path[0] == '/';
}

static const struct fields output_fields =
	FIELDS(output_rows, struct output_record, .is_valid = is_absolute);

ENTRIES_FIELDS(output_records_fields, struct output_records, "outputs", output_fields);

static const struct field autoprobe_rows[] = {
	NAME(struct autoprobe_entry, "boot_id", boot_id, .flags = FIELD_NEEDED),
	FILE_NAME(struct autoprobe_entry, "pci", pci, .flags = FIELD_NEEDED),
};
static const struct fields autoprobe_fields = FIELDS(autoprobe_rows, struct autoprobe_entry);

ENTRIES_FIELDS(autoprobes_fields, struct autoprobes, "autoprobe", autoprobe_fields);

static const struct field answer_rows[] = {
	NAME(struct metadata_answer, "mac", mac, .flags = FIELD_NEEDED),
	NAME(struct metadata_answer, "answer", answer, .flags = FIELD_NEEDED),
};

/* Checks an answer again: the helper that gave it talks to a network. */
static bool is_answer(void *item)
{
	const struct metadata_answer *a = item;
	struct metadata m;

	return metadata_is_mac(a->mac) && metadata_parse(a->answer, &m) >= 0;
}

static const struct fields answer_fields =
	FIELDS(answer_rows, struct metadata_answer, .is_valid = is_answer);

ENTRIES_FIELDS(metadata_answers_fields, struct metadata_answers, "metadata", answer_fields);

static const struct field plugin_rows[] = {
	NAME(struct plugin_record, "plugin_file", text, .flags = FIELD_FORGET | FIELD_SPARSE),
	NUMBER(struct plugin_record, "plugin_usec", usec, .max = INT64_MAX,
	       .flags = FIELD_FORGET | FIELD_SPARSE),
};
const struct fields plugin_record_fields = FIELDS(plugin_rows, struct plugin_record);

void plugin_record_make(struct plugin_record *ret, const char *path, const char *text)
{
	PRINT(ret->text, "%016" PRIx64 " %s", hash_text(text), path);
}

static const struct field manifest_rows[] = {
	NAME(struct manifest_record, "manifest", path, .flags = FIELD_FORGET | FIELD_SPARSE),
};
const struct fields manifest_record_fields = FIELDS(manifest_rows, struct manifest_record);
